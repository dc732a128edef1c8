"""Tries an installed diffvcs: runs, a derivative and its truth on the built-in cartridge, with NumPy and nothing else."""

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
print(f"diffvcs {diffvcs.__version__} runs: hash {machine.hash():016x}")
