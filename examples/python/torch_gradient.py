"""A gradient through PyTorch: which bits of the cartridge make the bottom of the picture bright?

`diffvcs.torch.run` is a PyTorch operator: bits in, pixels and bits out, with `backward` by the whole machine.

Output:
    brightness 55.46
    1438 bits of the image matter
"""

import diffvcs
import diffvcs.torch as vt

machine = diffvcs.Machine("demo")
for _ in range(300):
    machine.act_on("NOOP")
rom = vt.rom_bits(machine.cart).requires_grad_()
pixels, _ = vt.run(machine.cart, vt.machine_bits(machine), vt.held("NOOP", "NOOP"), rom, values="luminance")
brightness = pixels[-1, 150:].mean()
brightness.backward()
print(f"brightness {brightness.item():.2f}")
print(f"{int(rom.grad.count_nonzero())} bits of the image matter")
