"""What tests share. Tests that need ROM images, PyTorch, JAX or Captum are skipped where these are not installed
(needs.py); the end of the run lists what was skipped."""

import os
from types import SimpleNamespace

import numpy as np
import pytest

import diffvcs
import needs


os.environ.setdefault("RAY_worker_niceness", "0")  # not 15: the tests' workers would starve beside other work


def pytest_configure(config):
    config.addinivalue_line("markers", "roms: needs the ROM images of an installed ale-py")


def pytest_runtest_setup(item):
    if item.get_closest_marker("roms"):
        needs.roms()


def pytest_terminal_summary(terminalreporter):
    """`SKIP: NEED: test: reason` for each skipped test or module."""
    for report in terminalreporter.stats.get("skipped", []):
        need, _, reason = str(report.longrepr[2]).removeprefix("Skipped: ").partition(": ")
        terminalreporter.write_line(f"SKIP: {need}: {report.nodeid}: {reason}")


@pytest.fixture
def machine():
    """Our own cartridge, some way into its game."""
    machine = diffvcs.Machine("demo")
    machine.reset()
    for i in range(200):
        machine.act_on(i // 9 % 18)
    return machine


@pytest.fixture
def random():
    return np.random.default_rng(7)


@pytest.fixture
def linear(machine, random):
    """Where first order has to be exact, because a bit comes to the screen by one table or none: cells of RAM that choose a
    glyph, a lamp or a row (score, lives, variation, marks, the mark's row), and bytes of maps, glyphs and colour tables in the
    image ($F700 to $FAF0 of demo.asm). With weights of the pixels of one frame, and the truth: whole numbers, so that
    equal means equal."""
    cart, state = machine.cart, machine.save()
    weights = random.integers(-8, 9, (cart.height, 160)).astype(np.float32)
    cells, offsets = [0x00, 0x01, 0x02, 0x04, 0x06, 0x13], np.arange(0x700, 0xAF1, 7)
    effects = []
    for places in (diffvcs.ram_places(cart, cells), diffvcs.rom_places(cart, offsets)):
        exact = diffvcs.truth(cart, state, [0], places)
        effects.append(np.einsum("phw,hw->p", exact.dframes[:, 0], weights).reshape(-1, 8))
        assert np.count_nonzero(effects[-1]) > 24
    return SimpleNamespace(weights=weights, cells=cells, offsets=offsets, dram=effects[0], drom=effects[1])


@pytest.fixture
def every_bit_of_ram(machine, random):
    """The same for all 1,024 bits of RAM. Most of them go through sums, loops and branches: there is a rate, and it is
    printed. rate(gradient, printing) is the share of bits whose effect on the weighed pixels the gradient has exactly."""
    cart, state = machine.cart, machine.save()
    weights = random.integers(-8, 9, (cart.height, 160)).astype(np.float32)
    exact = diffvcs.truth(cart, state, [0], diffvcs.ram_places(cart))
    effects = np.einsum("phw,hw->p", exact.dframes[:, 0], weights)

    def rate(gradient, capsys):
        same, moves = gradient.reshape(-1) == effects, effects != 0
        with capsys.disabled():
            print(
                f"\n  gradient and truth are equal for {same.mean():.1%} of the bits of RAM, for {same[moves].mean():.1%} "
                f"of the {moves.sum()} that move something, and for {same[~moves].mean():.1%} of all other bits"
            )
        return same.mean()

    return SimpleNamespace(weights=weights, rate=rate)
