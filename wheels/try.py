"""Tries an installed diffvcs: a run, a derivative and its truth on the built-in cartridge, with NumPy and nothing else.

The line that it prints is the same on every platform (tests/platforms.sh, docs/platforms.md).
"""

import zlib

import numpy as np

import diffvcs

machine = diffvcs.Machine("demo")
for action in range(60):
    machine.act(action % 18)
state = machine.save()
assert machine.screen().shape[1] == 160 and len(np.unique(machine.screen())) > 1
again = diffvcs.Machine("demo")
again.restore(state)
assert again.hash() == machine.hash()
for played in (machine, again):
    for _ in range(10):
        played.act("RIGHT")
assert again.hash() == machine.hash()

run = machine.cart, state, [0, 3, 1]
pixels = np.zeros((machine.cart.height, 160), np.float32)
pixels[90:110, 70:90] = 1
product = diffvcs.vjp(*run, dframes=pixels)
truth = diffvcs.truth(*run, diffvcs.ram_places(machine.cart, [3, 4]))
assert np.abs(product.drom).sum() > 0
digest = zlib.crc32(truth.rows.tobytes(), zlib.crc32(product.drom.tobytes(), zlib.crc32(product.dstate.tobytes())))
print(f"diffvcs {diffvcs.__version__}: hash {machine.hash():016x}, derivatives and truths {digest:08x}")
