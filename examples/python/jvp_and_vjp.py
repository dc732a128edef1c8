"""One derivative, computed in both directions through two frames of the whole machine.

The output is a number that grows when light moves to the right: the sum over all pixels of palette index times column.
Forwards (JVP): how does every pixel change if RIGHT is held in the first frame, and so the sum? Backwards (VJP): how does the
sum depend on every input, RAM bit and ROM bit at once? Both contain d(sum)/d(RIGHT), and it is the same number.

Output:
    forwards: 52 pixels change, the sum by -6300
    backwards: the sum by -6300
    backwards, in the same walk: 132 bits of RAM and 6300 bits of ROM matter
"""

import numpy as np

import diffvcs

machine = diffvcs.Machine("demo")
for _ in range(300):
    machine.act_on("NOOP")
cart, state, actions = machine.cart, machine.save(), ["NOOP"] * 2
column = np.broadcast_to(np.arange(160.0), (cart.height, 160))
right = diffvcs.INPUT_NAMES.index("right")

held = np.zeros((2, len(diffvcs.INPUT_NAMES)))
held[0, right] = 1
forwards = diffvcs.jvp(cart, state, actions, dinput=held, method="bit+fork").dframes[-1]
print(f"forwards: {np.count_nonzero(forwards)} pixels change, the sum by {(forwards * column).sum():g}")

backwards = diffvcs.vjp(cart, state, actions, dframes=column, method="bit+fork")
print(f"backwards: the sum by {backwards.dinput[0, right]:g}")
ram, rom = np.count_nonzero(backwards.dram), np.count_nonzero(backwards.drom)
print(f"backwards, in the same walk: {ram} bits of RAM and {rom} bits of ROM matter")
