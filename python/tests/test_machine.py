"""Machines: fields by name, saving and restoring, pictures, what is refused."""

import gc
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import diffvcs
from diffvcs import Cartridge, Machine


def test_every_field_is_in_the_state_and_none_overlaps(machine):
    dtype = machine.state.dtype
    assert {"ram", "pc", "a", "pos", "colu", "swcha"} <= set(dtype.names)
    assert sum(dtype.fields[name][0].itemsize for name in dtype.names) == machine.cart.state_size


def test_state_is_seen_in_place(machine):
    state = machine.state
    assert np.shares_memory(state["ram"], machine.ram)
    before = int(state["instructions"])
    machine.act_on(0)
    assert int(state["instructions"]) > before


def test_state_outlives_the_machine():
    state = Machine("demo").state
    gc.collect()
    assert state["ram"].shape == (128,)


def test_set_writes_fields_and_refuses_what_cannot_be(machine):
    machine.set(a=7, ram=np.arange(128))
    assert int(machine.state["a"]) == 7 and machine.ram[100] == 100
    digest = machine.hash()
    with pytest.raises(diffvcs.BadArgument):
        machine.set(pos=[200] * 5)
    with pytest.raises(KeyError):
        machine.set(b=1)
    assert machine.hash() == digest


def test_state_cannot_be_written_past_the_check(machine):
    with pytest.raises(ValueError):
        machine.state["a"] = 1
    with pytest.raises(ValueError):
        machine.ram[0] = 1


def test_restore_makes_every_later_frame_the_same(machine):
    state = machine.save()
    first = [(machine.act_on(i % 18), machine.hash()) for i in range(50)]
    machine.restore(state)
    assert [(machine.act_on(i % 18), machine.hash()) for i in range(50)] == first


def test_a_state_of_another_cartridge_is_refused(machine):
    state = machine.save()
    state[:64] ^= 0xFF
    with pytest.raises(diffvcs.BadArgument):
        machine.restore(state)
    with pytest.raises(diffvcs.BadArgument):
        machine.restore(state[:100])


def test_save_files(machine, tmp_path):
    machine.save_file(tmp_path / "game.vcs")
    digest = machine.hash()
    machine.act_on("FIRE")
    assert machine.hash() != digest
    machine.load_file(tmp_path / "game.vcs")
    assert machine.hash() == digest
    with pytest.raises(diffvcs.VCSError):
        machine.load_file(tmp_path / "none")


def test_pictures_agree(machine):
    indices = machine.screen()
    assert np.array_equal(machine.cart.pixel_values("rgb")[indices].astype(np.uint8), machine.rgb())
    assert np.array_equal(machine.cart.pixel_values("luminance")[indices].astype(np.uint8), machine.gray())
    into = np.empty_like(indices)
    assert machine.screen(out=into) is into and np.array_equal(into, indices)
    with pytest.raises(TypeError):
        machine.rgb(out=into)


def test_arguments_are_checked(machine):
    for wrong in (-1, 18, "JUMP"):
        with pytest.raises(ValueError):
            machine.act(wrong)
    with pytest.raises(TypeError):
        Machine("demo", speed=3)
    with pytest.raises(diffvcs.BadArgument):
        machine.configure(frame_skip=0)
    assert machine.options["frame_skip"] == 1
    with pytest.raises(ValueError):
        Cartridge("demo", profile="stella")
    with pytest.raises(FileNotFoundError, match="ale-py"):
        Cartridge("no_such_game")


def test_machines_run_in_threads_at_the_same_time():
    def play(results, i):
        machine = Machine("demo")
        machine.reset()
        for _ in range(100):
            machine.act_on(i % 2)
        results[i] = machine.hash()

    results = {}
    threads = [threading.Thread(target=play, args=(results, i)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results[0] == results[2] and results[1] == results[3]


def test_disassembly_and_peek(machine):
    lines = machine.disassemble(count=5)
    assert len(lines) == 5 and all(lines)
    assert machine.peek(0x80) == machine.ram[0]


@pytest.mark.roms
def test_images_are_found_by_name():
    cart = Cartridge("pong")
    assert cart.game == "pong" and cart.controllers[0] == "paddles" and cart.height == 210
    assert Cartridge.find("pong") is Cartridge.find("pong")
    assert "pong" in diffvcs.roms.get_all_rom_ids()
    assert diffvcs.roms.name_to_rom_id("MsPacman") == "ms_pacman"


def test_numpy_is_enough():
    """What needs another package says which, and how to get it."""
    program = """
import sys
for name in ("gymnasium", "torch", "jax", "matplotlib", "captum", "pygame", "ale_py"):
    sys.modules[name] = None
import numpy as np
import diffvcs
machine = diffvcs.Machine("demo")
diffvcs.vjp(machine.cart, machine.save(), [0], dram=np.ones(128))
for module, package in dict(torch="torch", jax="jax", attr="captum", env="gymnasium", vector="gymnasium").items():
    try:
        getattr(diffvcs, module)
        sys.exit(f"{module} came without what it needs")
    except ImportError as problem:
        assert f"pip install {package}" in str(problem), problem
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_hints_name_packages_that_there_are():
    """What messages say to install is on PyPI, as pyproject.toml has it, or is the checkout itself; diffvcs is not on PyPI."""
    root = Path(__file__).resolve().parents[2]
    known = {*re.findall(r'"([a-z0-9-]+)>=', (root / "pyproject.toml").read_text()), "scipy", "."}
    sources = "".join(path.read_text() for path in (root / "python/diffvcs").glob("*.py"))
    hints = re.findall(r"pip install ([^`\"')]*)", sources)
    assert len(hints) > 10
    assert {name for hint in hints for name in hint.split()} <= known


def test_a_cartridge_keeps_its_profile():
    cart = diffvcs.Cartridge("demo", profile="xitari")
    for made in (diffvcs.Machine(cart), diffvcs.Machine(cart, "xitari"), diffvcs.Relaxed(cart)):
        assert made.cart is cart
    assert diffvcs.Machine("demo").cart.profile == "ale" and diffvcs.Machine("demo", "fixed").cart.profile == "fixed"
    for make in (diffvcs.Machine, diffvcs.Relaxed, diffvcs.Cartridge.find):
        with pytest.raises(ValueError, match="is not of profile 'ale'"):
            make(cart, "ale")
