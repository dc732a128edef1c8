"""Load a cartridge, play 600 frames, print the score and a hash of the whole machine.

The hash is the same on every machine, with every compiler: the emulator is exact. With an argument, the program loads that
ROM image instead of the built-in cartridge.

Output:
    600 frames, reward 20, lives 3
    state b19ebafc198de5f0
"""

import sys

from diffvcs import Machine

machine = Machine(sys.argv[1] if len(sys.argv) > 1 else "demo")
reward = 0
for frame in range(600):
    reward += machine.act("RIGHTFIRE" if frame // 60 % 2 else "LEFT")
    if machine.over:
        machine.reset()
print(f"600 frames, reward {reward}, lives {machine.lives}")
print(f"state {machine.hash():016x}")
