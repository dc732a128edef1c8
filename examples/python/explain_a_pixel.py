"""Which bits of RAM change one pixel of the next frame, found by flipping each of the 1,024.

`diffvcs explain` asks the same question of everything else the machine reads, and writes a page about it.

Output:
    pixel 80,100 has palette index 150
    RAM $85, bit 0: +92
    RAM $85, bit 3: +92
    RAM $85, bit 4: +92
"""

import numpy as np

import diffvcs

X, Y = 80, 100

machine = diffvcs.Machine("demo")
for _ in range(300):
    machine.act_on("NOOP")
print(f"pixel {X},{Y} has palette index {machine.screen()[Y, X]}")

bits = diffvcs.ram_places(machine.cart)  # 128 bytes, eight bits each, lowest first
found = diffvcs.truth(machine.cart, machine.save(), ["NOOP"], bits, values="index")
changes = found.dframes[:, 0, Y, X]
for place in np.flatnonzero(changes):
    print(f"RAM ${0x80 + place // 8:02X}, bit {place % 8}: {changes[place]:+g}")
