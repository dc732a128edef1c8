"""Which bits of RAM change one pixel of the next frame, found by flipping each of the 1,024.

`diffvcs explain` asks the same question of everything else the machine reads, and writes a page about it.

Output:
    pixel (100, 80) has palette index 150
    RAM $85, bit 0: +92
    RAM $85, bit 3: +92
    RAM $85, bit 4: +92
"""

import numpy as np

import diffvcs

ROW, COLUMN = 100, 80

machine = diffvcs.Machine("demo", profile="xitari")
for _ in range(300):
    machine.act_on("NOOP")
print(f"pixel ({ROW}, {COLUMN}) has palette index {machine.screen()[ROW, COLUMN]}")

bits = diffvcs.ram_places(machine.cart)  # 128 bytes, eight bits each, lowest first
found = diffvcs.truth(machine.cart, machine.save(), ["NOOP"], bits, values="index")
changes = found.dframes[:, 0, ROW, COLUMN]
for place in np.flatnonzero(changes):
    print(f"RAM ${0x80 + place // 8:02X}, bit {place % 8}: {changes[place]:+g}")
