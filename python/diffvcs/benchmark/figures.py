"""The pages of the two studies: Jonas and Kording's experiments, and the saliency maps of agents. One HTML file each.

Figures are drawn as theirs are: what each lesion does, tuning curves, causal maps, parts and their time courses. Next
to each answer stands the exact one.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import maps, neuroscience
from .report import STYLE, image

FATE_COLOURS = ("#d8d8d8", "#e0a030", "#b3003c")  # of neuroscience.FATES
LINE_COLOURS = ("#2563a8", "#c2571a", "#2b8a4b", "#8a4fa3", "#666666", "#b3003c")


def _text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}'>{html.escape(words)}</text>"


def _svg(width: int, height: int, parts: Sequence[str], title: str) -> str:
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' role='img' "
        f"aria-label='{html.escape(title)}'><style>text{{font:12px system-ui,sans-serif}}</style>{''.join(parts)}</svg>"
    )


def _page(title: str, body: Sequence[str]) -> str:
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>{html.escape(title)}</title><style>{STYLE}</style><h1>{html.escape(title)}</h1>{''.join(body)}</html>\n"
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["<tr>" + "".join(f"<th>{html.escape(cell)}</th>" for cell in head) + "</tr>"]
    lines += ["<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows]
    return f"<div class=wide><table>{''.join(lines)}</table></div>"


# ---- Jonas and Kording -----------------------------------------------------------------------------------------------


def lesions(examined: list[dict[str, Any]]) -> str:
    """Returns bars: the shares of each part's bits whose lesion does nothing, changes something, stops the game."""
    left, width, step = 190, 460, 18
    parts = [_text(left, 16, "single-bit lesions: what becomes of the game after 30 frames")]
    for i, (fate, colour) in enumerate(zip(("nothing", "RAM or picture changes", "the game stops"), FATE_COLOURS)):
        parts.append(f"<rect x='{left + 180 * i}' y='24' width='10' height='10' fill='{colour}'/>")
        parts.append(_text(left + 180 * i + 15, 33, fate))
    y = 44
    for found in examined:
        for kind, counts in neuroscience.shares(found).items():
            parts.append(_text(left - 8, y + 13, f"{found['game']} {kind}", "end"))
            x, total = float(left), max(1, sum(counts))
            for count, colour in zip(counts, FATE_COLOURS):
                parts.append(
                    f"<rect x='{x:.1f}' y='{y}' width='{width * count / total:.1f}' height='{step - 4}' fill='{colour}'/>"
                )
                x += width * count / total
            parts.append(_text(left + width + 8, y + 13, f"{counts[2]} of {total:,} stop it"))
            y += step
        y += 8
    return _svg(820, y + 6, parts, "lesions")


def lesion_map(found: dict[str, Any]) -> np.ndarray:
    """Returns a dot for each RAM bit, 32 x 32, in the colour of its fate."""
    colours = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in FATE_COLOURS], np.uint8)
    return colours[np.maximum(found["lesions"]["RAM"], 0)].reshape(32, 32, 3)


def tuning(found: dict[str, Any]) -> str:
    """Returns five tuning curves; a curve of a bit that does not matter is dashed."""
    data, size, gap = found["tuning"], 120, 36
    light, parts = (
        np.array(data["brightness"]),
        [_text(0, 14, f"{found['game']}: the five bits most tuned to brightness")],
    )
    span = max(float(np.ptp(light)), 1e-9)
    for i, (bit, curve, matters, strength) in enumerate(
        zip(data["bits"], data["curves"], data["matters"], data["strength"])
    ):
        x, y = (size + gap) * i, 34
        points = " ".join(
            f"{x + size * (a - light.min()) / span:.1f},{y + size * (1 - b):.1f}" for a, b in zip(light, curve)
        )
        dashes = "" if matters else " stroke-dasharray='4 3'"
        colour = FATE_COLOURS[2] if matters else "#888"
        parts.append(f"<rect x='{x}' y='{y}' width='{size}' height='{size}' fill='none' stroke='#ccc'/>")
        parts.append(f"<polyline points='{points}' fill='none' stroke='{colour}' stroke-width='2'{dashes}/>")
        parts.append(_text(x, y - 4, f"${0x80 + bit // 8:02X}.{bit % 8}  r = {strength:.2f}"))
        parts.append(_text(x, y + size + 15, "matters" if matters else "no effect"))
    parts.append(
        _text(0, 34 + size + 34, "across: brightness of the next picture; up: share of frames in which the bit is set")
    )
    return _svg((size + gap) * 5, 34 + size + 42, parts, f"tuning curves of {found['game']}")


def _dots(marked: np.ndarray) -> np.ndarray:
    """A picture that is black where something is marked."""
    return np.repeat(np.where(marked, 0, 255)[..., None], 3, 2).astype(np.uint8)


def causes(found: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Returns two square pictures of the bytes that vary: what Granger causality says, and the truth."""
    active = np.flatnonzero(found["granger"]["active"])
    said = np.array(found["granger"]["strength"])[np.ix_(active, active)]
    true = np.array(found["granger"]["truth"], float)[np.ix_(active, active)]
    chosen = np.sort(said.ravel())[::-1][: max(1, int(true.sum()))][-1]  # as many links as there are
    return _dots(said >= max(chosen, 1e-12)), _dots(true > 0)


def parts_figure(found: dict[str, Any]) -> str:
    """Returns the time courses of the parts of the factorization, and what each follows best."""
    times = np.array(found["nmf"]["times"])
    lines = [_text(0, 14, f"{found['game']}: activity of {times.shape[1]} parts over {len(times)} frames")]
    for part in range(times.shape[1]):
        y, values = 30 + 44 * part, times[:, part] / max(times[:, part].max(), 1e-12)
        points = " ".join(f"{2 * t:.0f},{y + 34 * (1 - v):.1f}" for t, v in enumerate(values))
        lines.append(f"<polyline points='{points}' fill='none' stroke='{LINE_COLOURS[part % 6]}' stroke-width='1'/>")
        known = found["nmf"]["followed"][part]
        lines.append(_text(490, y + 22, f"{known['signal']}, r = {known['correlation']:.2f}"))
    return _svg(680, 30 + 44 * times.shape[1] + 6, lines, f"parts of {found['game']}")


def raster(found: dict[str, Any]) -> np.ndarray:
    """Returns the recording: a row for each RAM bit, a column for each frame, black where the bit has changed."""
    spikes = np.unpackbits(np.array(found["raster"], np.uint8))[: 240 * 1024].reshape(240, 1024).T
    return _dots(spikes[::4] > 0)


def neuroscience_page(examined: list[dict[str, Any]]) -> str:
    """Returns the page of the experiments."""
    body = [
        "<p>Jonas and Kording (2017) asked what the methods of neuroscience find out about a microprocessor, and had to judge the answers by "
        "what they knew of it. Here each answer is scored by running the machine again. <b>The parts are bits of RAM, registers and ROM, "
        "not transistors.</b> A lesion of RAM or of a register is one flip, which the game may overwrite; a lesion of ROM stays.</p>",
        "<h2>Lesions</h2>", lesions(examined),
        "<p>Each RAM bit, 32 in a row: grey does nothing, yellow changes something, red stops the game.</p><div class=row>",
        *(image(lesion_map(found), found["game"], 6) for found in examined), "</div>",
        "<h3>Bits that only one game needs</h3>",
        _table(("bits of RAM and registers that stop", "how many"), [(n, str(c)) for n, c in neuroscience.overlap(examined).items()]),
        "<h2>Tuning curves</h2><p>A bit that follows brightness need not cause it.</p>", *(tuning(found) for found in examined),
        "<h2>Granger causality</h2><p>Left: as many of the strongest links as there are; right: the links that there are. A row for each "
        "byte that varies, a column for each byte that it changes in the next frame.</p><div class=row>",
    ]  # fmt: skip
    for found in examined:
        said, true = causes(found)
        body += [image(said, f"{found['game']}: Granger", 3), image(true, "exact", 3)]
    body.append("</div><h2>Non-negative factorization</h2>")
    body += [parts_figure(found) for found in examined]
    head = ("game", *(f"{m} {s}" for m in ("tuning", "Granger", "NMF") for s in ("AUROC", "AP", "chance")))
    rows = [
        (
            f["game"],
            *(f"{f[m]['score'][s]:.2f}" for m in ("tuning", "granger", "nmf") for s in ("auroc", "ap", "chance")),
        )
        for f in examined
    ]
    body += [
        "<h2>Scores</h2>",
        _table(head, rows),
        "<h2>Recordings</h2><p>Every fourth RAM bit over 240 frames; black: the bit changes.</p>",
    ]
    body += [image(raster(found), found["game"], 2) for found in examined[:2]]
    return _page("Could a neuroscientist understand a game console?", body)


# ---- agents ----------------------------------------------------------------------------------------------------------


def _intervals(row: dict[str, Any]) -> list[str]:
    """The scores of a map as text."""
    scores = (row[name] for name in maps.SCORES)
    return [f"{s[0]:.2f} ({s[1]:.2f} to {s[2]:.2f})" if s else "-" for s in scores]


def agents_page(games: dict[str, list[dict[str, Any]]]) -> str:
    """Returns the page of the agents' maps: a table for each game, and one decision with its maps."""
    body = [
        "<p>Maps of what makes an agent act, scored by flipping each bit of RAM 15 frames before the decision and running. <b>where</b>: AUROC "
        "between cells that can matter and those that cannot. <b>how much</b>: rank correlation among those that can. <b>shuffled</b>: rank "
        "correlation with the map of a network with shuffled weights, which is near 1 for a map that does not depend on what was learned. "
        "<b>objects</b>: share of pairs of objects in the right order. Means over decisions, with 95 % intervals.</p>"
    ]
    for game, explained in games.items():
        bits, matter = (np.mean([found[name] for found in explained]) for name in ("bits", "matter"))
        body.append(
            f"<h2>{html.escape(game)}</h2><p>{len(explained)} decisions; on average {bits:.0f} of 1,024 bits of RAM change the "
            f"action, and {matter:.0f} of {maps.CELLS} cells can matter.</p>"
        )
        rows = [[row["map"], *_intervals(row)] for row in maps.summarize(explained)]
        body.append(_table(("map", *maps.SCORES), rows))
        decision = maps.decisions(game, 1, seed=2)[0]
        effects, _ = maps.truth(decision)
        shown = [image(maps.overlay(decision, effects), "truth", 1)]
        shown += [image(maps.overlay(decision, values), name, 1) for name, values in maps.maps(decision).items()]
        body.append(f"<div class=row>{''.join(shown)}</div>")
    return _page("What makes an agent act?", body)


__all__ = ["agents_page", "neuroscience_page"]
