#!/usr/bin/env python3
"""maps.txt (a drawing) -> maps.inc, edges.inc (playfield tables for demo.asm).

    python3 demo/mkmap.py            rewrite them
    python3 demo/mkmap.py --check    exit 1 if they are not what maps.txt gives

The playfield is reflected, so on the right half every register reads backwards:

    column   0..3   4..11   12..19   20..27   28..35   36..39
    register PF0    PF1     PF2      PF2 '    PF1 '    PF0 '
    bits     4..7   7..0    0..7     7..0     0..7     7..4

One drawn row is two kernel rows (four scanlines). Kernel rows count down, 79 at the
top, so tables are written bottom row first. A map in which some survey mark cannot be
reached from the start is refused.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
COLS, ROWS, KROWS = 40, 40, 80
START_X, START_Y = 76, 66  # P0_START_X, P0_START_Y in demo.asm
BALLOON_W, BALLOON_H = 8, 10  # colour clocks, kernel rows


def read_maps(text):
    maps = []
    for line in text.splitlines():
        if line.startswith("map "):
            maps.append((line[4:].strip(), []))
        elif line.strip() and not line.startswith(";"):
            assert len(line) == COLS, f"{len(line)} columns: {line}"
            maps[-1][1].append(line)
    for name, rows in maps:
        assert len(rows) == ROWS, f"{name}: {len(rows)} rows"
        assert "".join(rows).count("o") == 8, f"{name}: eight marks, please"
        for r, row in enumerate(rows):
            row, first = row.replace("o", "."), maps[0][1][r].replace("o", ".")
            assert row[:4] == row[:35:-1], f"{name}, row {r}: edges are not mirror images"
            assert row[:4] == first[:4], f"{name}, row {r}: edges differ from the first map"
    return maps


def pack(row, columns):
    """Eight columns, most significant bit first, as a byte."""
    return sum((row[c] == "#") << (7 - i) for i, c in enumerate(columns))


REGISTERS = {
    "PF1L": range(4, 12),  # bit 7 is column 4
    "PF2L": range(19, 11, -1),  # bit 7 is column 19
    "PF2R": range(20, 28),  # reflected: bit 7 is column 20
    "PF1R": range(35, 27, -1),  # reflected: bit 7 is column 35
}


def kernel_rows(rows, columns):
    return [pack(rows[(KROWS - 1 - y) // 2], columns) for y in range(KROWS)]


def marks(rows):
    """(x of the ball, its bottom kernel row), in reading order."""
    return [(4 * c, KROWS - 2 - 2 * r) for r in range(ROWS) for c in range(COLS) if rows[r][c] == "o"]


def check_reachable(name, rows):
    """Flood fill over balloon positions, the balloon taken as a full rectangle."""

    def free(x, y):
        return all(
            rows[(KROWS - 1 - k) // 2][c] != "#"
            for k in range(max(y - 1, 0), y + BALLOON_H)
            for c in range(x // 4, (x + BALLOON_W - 1) // 4 + 1)
        )

    assert free(START_X, START_Y), f"{name}: the start is inside the land"
    seen, todo = {(START_X, START_Y)}, [(START_X, START_Y)]
    while todo:
        x, y = todo.pop()
        for p in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
            if 0 <= p[0] <= 151 and 1 <= p[1] <= 70 and p not in seen and free(*p):
                seen.add(p)
                todo.append(p)
    for mx, my in marks(rows):  # the basket must touch the mark, squarely
        assert any(x <= mx <= x + 4 and y - 1 <= my <= y + BALLOON_H - 1 for x, y in seen), (
            f"{name}: mark at column {mx // 4}, row {(KROWS - 2 - my) // 2} cannot be reached"
        )


def table(label, values):
    out = [label]
    for i in range(0, len(values), 16):
        out.append("        .byte " + ",".join(f"${v:02X}" for v in values[i : i + 16]))
    return out


def generate(maps):
    out = [
        "; maps.inc: written by mkmap.py from maps.txt; change the drawing, not this file.",
        "; Three 80-byte tables to a page, so that no kernel fetch crosses a page.",
    ]
    in_page = 3
    for n, (name, rows) in enumerate(maps):
        check_reachable(name, rows)
        out += ["", f"; map {n}: {name}"]
        for reg, columns in REGISTERS.items():
            if in_page == 3:
                out.append("        ALIGN 256")
                in_page = 0
            out += table(f"Map{n}_{reg}", kernel_rows(rows, columns))
            in_page += 1
    out += ["", "; pointers in the order of RAM pf1l, pf2l, pf2r, pf1r; eight bytes to a map", "MapPointers"]
    for n in range(len(maps)):
        out.append("        .word " + ", ".join(f"Map{n}_{reg}" for reg in REGISTERS))
    out += ["", "; the survey marks, eight to a map: colour clock, kernel row"]
    out += ["MarkX"] + ["        .byte " + ",".join(f"{x:3d}" for x, _ in marks(r)) for _, r in maps]
    out += ["MarkY"] + ["        .byte " + ",".join(f"{y:3d}" for _, y in marks(r)) for _, r in maps]
    return "\n".join(out) + "\n"


def edges(maps):
    """PF0, one table for every map; bit 4 is column 0."""
    return (
        "\n".join(
            ["; edges.inc: written by mkmap.py from maps.txt: PF0 for every map."]
            + table("EdgeTab", kernel_rows(maps[0][1], [3, 2, 1, 0]))
        )
        + "\n"
    )


def main():
    maps = read_maps((HERE / "maps.txt").read_text())
    stale = False
    for name, text in (("maps.inc", generate(maps)), ("edges.inc", edges(maps))):
        path = HERE / name
        if "--check" in sys.argv:
            if not path.exists() or path.read_text() != text:
                print(f"{path} is not what maps.txt gives: run mkmap.py")
                stale = True
        else:
            path.write_text(text)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
