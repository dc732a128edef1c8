"""How a Python test reports that something it needs is missing; tests/need.h explains the scheme.

A skipped test has the reason `NEED: what is missing`. Where DIFFVCS_REQUIRE names the need, it fails instead. conftest.py
prints a line `SKIP: NEED: test: reason` for each skip, which tests/run_all.sh counts.
"""

import importlib
import os

import pytest


def missing(need, reason):
    """Ends a test, or the import of a module of tests."""
    required = os.environ.get("DIFFVCS_REQUIRE", "").split(",")
    if need in required or "all" in required:
        pytest.fail(f"REQUIRED BUT MISSING: {need}: {reason}", pytrace=False)
    pytest.skip(f"{need}: {reason}", allow_module_level=True)


def module(name, need=None):
    """The module, if it can be imported; `need` is the package that has it."""
    need = need or name.partition(".")[0]
    try:
        return importlib.import_module(name)
    except ImportError as problem:
        missing(need, f"{need} is not installed ({problem})")


def roms():
    import diffvcs

    if diffvcs.roms.get_rom_path("pong") is None:
        missing("roms", "no ROM images (pip install ale-py)")
