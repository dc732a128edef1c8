"""python -m diffvcs demo: a short tour of the package, on our own cartridge or on a game whose image is installed.
python -m diffvcs roms: lists the games whose images are installed."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from . import INPUT_NAMES, Machine, __version__, flip, no_effect, png, roms, run
from .functional import input_places


def demo(game: str, frames: int, out: Path) -> None:
    """Plays, presses each input for a frame, and says what it does: exactly, and as a derivative predicts it."""
    machine = Machine(game)
    machine.reset()
    for _ in range(frames):
        machine.act_on("NOOP")
    state, horizon, names = machine.save(), 4, INPUT_NAMES[:5]
    print(f"{machine.cart}: {frames} frames, RAM {machine.ram[:8].tobytes().hex(' ')} ..., hash {machine.hash():016x}")
    actions = ["NOOP"] * horizon
    played = run(machine.cart, state, actions)
    places = input_places([0], names)
    exact = flip(machine.cart, state, actions, places, played=played)
    guess = flip(machine.cart, state, actions, places, method="bit+fork", played=played)
    print(f"what holding an input for one frame changes {horizon} frames later, in pixels:")
    print("  input    exact  estimate (bit+fork)")
    for name, place, pixels, predicted, agrees in zip(
        names, places, exact.pixels, guess.pixels, guess.agreement(exact), strict=True
    ):
        words = f"{agrees['right']} right, {agrees['missed']} missed, {agrees['too_many']} too many"
        print(f"  {name:6} {pixels:7} {predicted:9}  {words}")
        if not pixels:
            print(f"         0 because {no_effect(played, place)}")
    print(
        "Exact: the run with the input minus the run without it. The estimate is one forward pass; it misses what takes"
    )
    print("several decisions together, as a shot that appears.")
    shown = exact.dframe[int(np.argmax(exact.pixels))]
    picture = machine.cart.pixel_values("rgb")[played.frames[-1]].astype(np.uint8)
    picture[shown > 0], picture[shown < 0] = (255, 140, 0), (0, 140, 255)
    out.mkdir(parents=True, exist_ok=True)
    path = out / "python_demo.png"
    png.write(path, np.repeat(np.repeat(picture, 2, axis=0), 4, axis=1))
    print(f"wrote {path}: the picture then; the strongest input lights orange and darkens blue")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m diffvcs",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="examples:\n  python -m diffvcs demo\n  python -m diffvcs demo --game space_invaders --frames 1050\n"
        "  python -m diffvcs roms",
    )
    parser.add_argument("--version", action="version", version=f"diffvcs {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    shown = commands.add_parser("demo", help="play, differentiate, compare with the truth, leave a picture")
    shown.add_argument("--game", default="demo", help="default: our own cartridge")
    shown.add_argument("--frames", type=int, default=300, help="frames of nothing before; default 300")
    shown.add_argument("--out", type=Path, default=Path("out"), help="folder of the picture; default out")
    commands.add_parser("roms", help="list the games whose images are found")
    options = parser.parse_args(argv)
    try:
        if options.command == "demo":
            demo(options.game, max(options.frames, 0), options.out)
        else:
            print("\n".join(roms.get_all_rom_ids()) or "no ROM images: `pip install ale-py` brings 108")
    except (OSError, RuntimeError, ValueError) as problem:
        print(f"diffvcs: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
