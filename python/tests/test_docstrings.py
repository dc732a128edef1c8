"""Every name that the package exports has a docstring, functions have an example in it, and the examples give what they show."""

import doctest
import inspect

import numpy as np
import pytest

import diffvcs
import needs

FACTS = {"roms", "slice"}  # a module; and slice, which is tested below under its module's name
NAMES = sorted(set(diffvcs.__all__) - FACTS)


def value(name):
    try:
        return getattr(diffvcs, name)
    except ImportError as problem:  # Gymnasium
        needs.missing("gymnasium", str(problem))


def members(item):
    """The public methods and properties of a class."""
    for name, member in vars(item).items():
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, (property, staticmethod))):
            yield name, member


@pytest.mark.parametrize("name", NAMES)
def test_exported_names_are_documented(name):
    item = value(name)
    if not callable(item):
        return
    assert item.__doc__ and len(item.__doc__) > 20, f"{name} has no docstring"
    if inspect.isfunction(item):
        assert ">>>" in item.__doc__, f"{name} has no example"


@pytest.mark.parametrize(
    "kind", [diffvcs.Machine, diffvcs.Cartridge, diffvcs.Debugger, diffvcs.Relaxed, diffvcs.History]
)
def test_methods_are_documented(kind):
    assert ">>>" in kind.__doc__
    for name, member in members(kind):
        assert inspect.getdoc(getattr(member, "__func__", member)), f"{kind.__name__}.{name} has no docstring"


@pytest.mark.parametrize("name", [*NAMES, "slice", "study.place_labels"])
def test_examples_give_what_they_show(name, tmp_path, monkeypatch):
    item = (
        diffvcs.study.place_labels
        if name == "study.place_labels"
        else diffvcs.slice
        if name == "slice"
        else value(name)
    )
    if not callable(item) or not (inspect.isfunction(item) or item.__module__.startswith("diffvcs")):
        return
    if name == "make":
        needs.module("gymnasium")
    monkeypatch.chdir(tmp_path)
    machine = diffvcs.Machine("demo")
    for _ in range(100):
        machine.act_on("NOOP")
    run = diffvcs.run("demo", machine.save(), ["NOOP"] * 8)
    names = {"diffvcs": diffvcs, "np": np, "machine": machine, "run": run, "state": machine.save()}
    names["debugger"] = diffvcs.Debugger(run)
    tests = [t for t in doctest.DocTestFinder(recurse=False).find(item, name, globs=names)]
    if inspect.isclass(item):
        tests += [
            t
            for n, m in members(item)
            for t in doctest.DocTestFinder(recurse=False).find(getattr(m, "__func__", m), n, globs=names)
        ]
    for test in tests:
        printed = []
        results = doctest.DocTestRunner().run(test, out=printed.append)
        assert results.failed == 0, "".join(printed)
