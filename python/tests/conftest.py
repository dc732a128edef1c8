"""What tests share. Those that need ROM images, PyTorch, JAX or Captum are skipped where these are not installed; a
skipped test says so at the end of the run (-ra)."""

import numpy as np
import pytest

import diffvcs


def pytest_configure(config):
    config.addinivalue_line("markers", "roms: needs the ROM images of an installed ale-py")


def pytest_runtest_setup(item):
    if item.get_closest_marker("roms") and diffvcs.roms.get_rom_path("pong") is None:
        pytest.skip("no ROM images (pip install ale-py)")


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
