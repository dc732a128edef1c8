"""What one input does, exactly: the run is executed with it and without it, and compared.

This is the definition that every derivative is scored against. A horizon is a number of frames after which the two runs are
compared.

Output:
    after 1 frame: 0 pixels and 2 bytes of RAM differ
    after 2 frames: 52 pixels and 2 bytes of RAM differ
    after 8 frames: 52 pixels and 2 bytes of RAM differ
"""

import diffvcs

machine = diffvcs.Machine("demo")
for _ in range(300):
    machine.act_on("NOOP")
right = diffvcs.input_places([0], ["right"])
horizons = [1, 2, 8]
found = diffvcs.truth(machine.cart, machine.save(), ["NOOP"] * 8, right, horizons=horizons)
for horizon, row in zip(horizons, found.rows[0]):
    frames = "1 frame" if horizon == 1 else f"{horizon} frames"
    print(f"after {frames}: {row['pixels']} pixels and {row['ram_bytes']} bytes of RAM differ")
