#!/usr/bin/env python3
"""How quickly the explorer answers: opens out/web/index.html in headless Chromium and clicks pixels (`make bench-web`).

  first picture   from the start of loading the page, read from disk, to the first frame on the canvas
  RAM             from a click to the complete list of RAM bits that decide the pixel
  everything      from a click to register writes, instructions, RAM bits, ROM bytes and buttons, all complete
  speed           emulated seconds per second, with every frame drawn

Each number is the slowest of all clicks, five pixels in each game; the first click comes two seconds after the first
picture. Times are of this machine: close other programs first.
"""

import argparse
import os
import pathlib
import shutil
import sys

from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).resolve().parents[1]
GAMES = [None, "space_invaders", "pong", "seaquest", "qbert", "pitfall"]
PIXELS = [(79, 41), (40, 120), (120, 90), (60, 15), (38, 190)]
PARTS = ("ram", "writes", "rom", "inputs")
FRAMES = 300


def open_page(browser, url: str):
    page = browser.new_context().new_page()
    page.set_default_timeout(120000)
    page.goto(url)
    page.evaluate("explorer.ready")
    return page


def measure(page, image: bytes | None, name: str) -> tuple[float, float, float]:
    """Speed, and the slowest RAM answer and whole answer in milliseconds."""
    page.evaluate("([image, name]) => explorer.load(image, name)", [list(image) if image else None, name])
    milliseconds = page.evaluate(
        f"async () => {{ const began = performance.now(); await explorer.run({FRAMES}, 'RIGHT');"
        " return performance.now() - began; }"
    )
    times = [page.evaluate(f"explorer.explain({x}, {y})")["milliseconds"] for x, y in PIXELS]
    return FRAMES / 60 / (milliseconds / 1000), max(t["ram"] for t in times), max(t[p] for t in times for p in PARTS)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n")[0],
        epilog="example: build-web/venv/bin/python bench/web.py --roms folder/with/images",
    )
    parser.add_argument("--page", type=pathlib.Path, default=ROOT / "out" / "web" / "index.html")
    parser.add_argument(
        "--roms", type=pathlib.Path, default=os.environ.get("DIFFVCS_ROMS", ""), help="folder of ROM images"
    )
    options = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if not options.page.exists():
        print(f"bench-web: there is no {options.page}: run `make web` first", file=sys.stderr)
        return 1
    if not chromium:
        print("bench-web: Chromium is missing: apt-get install chromium", file=sys.stderr)
        return 1
    games = [game for game in GAMES if game is None or (options.roms / f"{game}.bin").exists()]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        url = options.page.resolve().as_uri()
        firsts = []
        for _ in range(3):
            page = open_page(browser, url)
            firsts.append(page.evaluate("explorer.firstPicture"))
            page.context.close()
        page = open_page(browser, url)
        page.wait_for_timeout(2000)
        print(f"{'game':<16} {'speed':>6} {'RAM ms':>7} {'everything ms':>14}")
        rows = []
        for game in games:
            image = (options.roms / f"{game}.bin").read_bytes() if game else None
            rows.append(measure(page, image, game or ""))
            speed, ram, everything = rows[-1]
            print(f"{game or 'contour':<16} {speed:6.0f} {ram:7.0f} {everything:14.0f}", flush=True)
        browser.close()
    print(
        f"web: first_picture_ms={max(firsts):.0f} (goal 1000) ram_ms={max(r[1] for r in rows):.0f} (goal 200) "
        f"everything_ms={max(r[2] for r in rows):.0f} (goal 2000) speed={min(r[0] for r in rows):.0f} (goal 10)"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
