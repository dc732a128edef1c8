"""The page of the benchmark: one HTML file without anything outside it, and the same ranking as text.

The page begins with an overview, the average precision of every method on every track. Each track has a table, a plot
of average precision with intervals, and one of average precision against cost. Worked examples follow: a picture with
the output's box, and what the truth and some methods say about each source.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import png
from .._c import WIDTH
from . import scores, suite
from .methods import METHODS

COLOURS = {
    "gradient": "#2563a8", "occlusion": "#c2571a", "sampling": "#2b8a4b", "watching": "#8a4fa3", "baseline": "#666666",
    "yours": "#b3003c",
}  # fmt: skip
COLUMNS = ("auroc", "ap", "precision", "f", "cosine", "pearson")
HEADINGS = {
    "auroc": "AUROC", "ap": "average precision", "precision": "precision at k", "f": "F", "cosine": "signed cosine",
    "pearson": "Pearson of sizes",
}  # fmt: skip
EXAMPLE_METHODS = (
    "saliency/ste",
    "saliency/bit+fork",
    "integrated-gradients/bit+fork",
    "occlusion/zero",
    "lime/near",
    "random",
)
STYLE = """body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
table{border-collapse:collapse;font-size:13px;margin:1rem 0}th,td{padding:.15rem .6rem;text-align:right;border-bottom:1px solid #ddd;white-space:nowrap}
th:first-child,td:first-child{text-align:left}tr.truth{color:#777}small{color:#777}figure{margin:1rem 0}
.row{display:flex;flex-wrap:wrap;gap:1rem}.row figure{margin:0}img{image-rendering:pixelated;border:1px solid #ccc}
.wide{overflow-x:auto}svg{max-width:100%;height:auto}svg text{font:12px system-ui,sans-serif}@media(max-width:50rem){body{overflow-x:auto}}"""


def _number(value: tuple[float, float, float] | None, tasks: int) -> str:
    """A mean with its interval; one task has none."""
    if value is None:
        return "-"
    return f"{value[0]:.2f}" + (f" <small>{value[1]:.2f} to {value[2]:.2f}</small>" if tasks > 1 else "")


def count_tasks(count: int, kind: str = "") -> str:
    """Returns "1 task", "2 test tasks"."""
    return f"{count} {kind}{' ' if kind else ''}task{'' if count == 1 else 's'}"


def text_table(results: Sequence[dict[str, Any]], track: str, names: set[str] | None = None) -> str:
    """Returns the ranking of a track as lines of text."""
    rows = [row for row in scores.table(results, track) if names is None or row["method"] in names]
    if not rows:
        return f"\n{track}: no tasks"
    kind = "test" if any(r["split"] == "test" and r["track"] == track for r in results) else "development"
    lines = [f"\n{track}, {count_tasks(rows[0]['of'], kind)}"]
    lines.append(f"{'method':38} tasks auroc    ap  low high  p@k     f  cosine equal    frames")
    for row in rows:
        f = f"{row['f'][0]:5.2f}" if row["f"] else "    -"
        equal = f"{row['equal'][0]:5.2f}" if row["equal"] else "    -"
        ap, low, high = row["ap"]
        lines.append(
            f"{row['method']:38} {row['tasks']:5} {row['auroc'][0]:5.2f} {ap:5.2f} {low:4.2f} {high:4.2f} "
            f"{row['precision'][0]:4.2f} {f} {row['cosine'][0]:7.2f} {equal} {row['cost']:9.0f}"
        )
    return "\n".join(lines)


def _plain(value: tuple[float, float, float], tasks: int) -> str:
    """A mean with its interval; one task has none."""
    return f"{value[0]:.2f}" + (f" ({value[1]:.2f}-{value[2]:.2f})" if tasks > 1 else "")


def markdown(results: Sequence[dict[str, Any]]) -> str:
    """Returns the table of all methods and tracks as Markdown: average precision with its interval; then, over all
    tracks, the average precision with the shared budget, and the mean cost in frames."""
    ranked = {track: rows for track in suite.TRACKS if (rows := scores.table(results, track))}
    found = {(row["method"], track): row for track, rows in ranked.items() for row in rows}
    whole = sorted(scores.table(results), key=lambda row: (-row["ap"][0], row["method"]))
    lines = [
        "| method | " + " | ".join(ranked) + " | equal budget | frames |",
        "|---|" + "---|" * len(ranked) + "---:|---:|",
    ]
    for row in whole:
        cells = []
        for track in ranked:
            one = found.get((row["method"], track))
            cells.append("" if one is None else _plain(one["ap"], one["tasks"]))
        equal = "" if row["equal"] is None else f"{row['equal'][0]:.2f}"
        lines.append(f"| `{row['method']}` | " + " | ".join(cells) + f" | {equal} | {row['cost']:,.0f} |")
    return "\n".join(lines)


def _html_table(rows: list[dict[str, Any]]) -> str:
    head = "".join(f"<th>{HEADINGS[column]}</th>" for column in COLUMNS)
    lines = [f"<tr><th>method</th><th>tasks</th>{head}<th>equal budget (AP)</th><th>cost, frames</th></tr>"]
    for row in rows:
        cells = "".join(f"<td>{_number(row[column], row['tasks'])}</td>" for column in COLUMNS)
        mark = " class=truth" if row["is_truth"] else ""
        lines.append(
            f"<tr{mark}><td><span style='color:{COLOURS.get(row['family'], '#b3003c')}'>&#9632;</span> {html.escape(row['method'])}"
            f"{' (the truth itself)' if row['is_truth'] else ''}</td><td>{row['tasks']} of {row['of']}</td>{cells}"
            f"<td>{_number(row['equal'], row['tasks'])}</td><td>{row['cost']:,.0f}</td></tr>"
        )
    return f"<div class=wide><table>{''.join(lines)}</table></div>"


def _overview(ranked: dict[str, list[dict[str, Any]]]) -> str:
    """The average precision of every method on every track, and its mean over tracks; the best method first."""
    found: dict[str, dict[str, float]] = {}
    for track, rows in ranked.items():
        for row in rows:
            found.setdefault(row["method"], {})[track] = row["ap"][0]
    order = sorted(found, key=lambda name: (-float(np.mean(list(found[name].values()))), name))
    head = "".join(f"<th><a href='#{track}'>{track}</a></th>" for track in ranked)
    lines = [f"<tr><th>method</th>{head}<th>mean</th></tr>"]
    for name in order:
        cells = []
        for track in ranked:
            value = found[name].get(track)
            shade = "" if value is None else f" style='background:rgba(37,99,168,{0.45 * value:.2f})'"
            cells.append(f"<td{shade}>{'-' if value is None else f'{value:.2f}'}</td>")
        mean = np.mean(list(found[name].values()))
        lines.append(f"<tr><td>{html.escape(name)}</td>{''.join(cells)}<td>{mean:.2f}</td></tr>")
    return f"<div class=wide><table>{''.join(lines)}</table></div>"


def _legend(families: Sequence[str], y: int) -> str:
    parts = []
    for i, family in enumerate(families):
        x = 260 + 105 * i
        colour = COLOURS.get(family, "#b3003c")
        parts.append(
            f"<circle cx='{x}' cy='{y}' r='4' fill='{colour}'/><text x='{x + 8}' y='{y + 4}'>{html.escape(family)}</text>"
        )
    return "".join(parts)


def _ranking_plot(rows: list[dict[str, Any]], title: str, chance: float) -> str:
    """Average precision with its interval, a line for each method, and a dashed one at chance."""
    left, width, step = 260, 560, 17
    bottom = 50 + step * len(rows)
    parts = [f"<text x='{left}' y='16' font-weight='600'>{html.escape(title)}</text>", _legend(_families(rows), 32)]
    for tick in np.linspace(0, 1, 6):
        x = left + width * tick
        parts.append(
            f"<line x1='{x}' y1='42' x2='{x}' y2='{bottom}' stroke='#ddd'/><text x='{x}' y='{bottom + 16}' text-anchor='middle'>{tick:.1f}</text>"
        )
    at = left + width * chance
    parts.append(f"<line x1='{at:.1f}' y1='42' x2='{at:.1f}' y2='{bottom}' stroke='#b3003c' stroke-dasharray='4 3'/>")
    for i, row in enumerate(rows):
        y, colour = 54 + step * i, COLOURS.get(row["family"], "#b3003c")
        mean, low, high = (left + width * value for value in row["ap"])
        parts.append(
            f"<text x='{left - 8}' y='{y + 4}' text-anchor='end'>{html.escape(row['method'])}</text>"
            f"<line x1='{low:.1f}' y1='{y}' x2='{high:.1f}' y2='{y}' stroke='{colour}' stroke-width='2'/>"
            f"<circle cx='{mean:.1f}' cy='{y}' r='4' fill='{colour}'/>"
        )
    parts.append(
        f"<text x='{left + width / 2}' y='{bottom + 34}' text-anchor='middle'>average precision, mean and 95 % interval over tasks; dashed: chance</text>"
    )
    return f"<svg viewBox='0 0 860 {bottom + 44}' width='860' role='img' aria-label='{html.escape(title)}'>{''.join(parts)}</svg>"


def _cost_plot(rows: list[dict[str, Any]], title: str) -> str:
    """Average precision against cost, on a logarithmic axis."""
    left, top, width, height = 260, 50, 560, 300
    exponents = range(1, 7)

    def across(cost: float) -> float:
        return left + width * (np.log10(max(cost, 10)) - 1) / 5

    parts = [f"<text x='{left}' y='16' font-weight='600'>{html.escape(title)}</text>", _legend(_families(rows), 32)]
    for exponent in exponents:
        x = across(10.0**exponent)
        parts.append(
            f"<line x1='{x}' y1='{top}' x2='{x}' y2='{top + height}' stroke='#ddd'/><text x='{x}' y='{top + height + 16}' text-anchor='middle'>{10**exponent:,}</text>"
        )
    for tick in np.linspace(0, 1, 6):
        y = top + height * (1 - tick)
        parts.append(
            f"<line x1='{left}' y1='{y}' x2='{left + width}' y2='{y}' stroke='#ddd'/><text x='{left - 8}' y='{y + 4}' text-anchor='end'>{tick:.1f}</text>"
        )
    for row in rows:
        x, y = across(row["cost"]), top + height * (1 - row["ap"][0])
        parts.append(
            f"<circle cx='{x:.1f}' cy='{y:.1f}' r='5' fill='{COLOURS.get(row['family'], '#b3003c')}' fill-opacity='.75'><title>{html.escape(row['method'])}: {row['ap'][0]:.2f}, {row['cost']:,.0f} frames</title></circle>"
        )
    parts.append(
        f"<text x='{left + width / 2}' y='{top + height + 36}' text-anchor='middle'>cost of one attribution, emulated frames (10 and less at the left)</text>"
    )
    parts.append(
        f"<text x='{left - 50}' y='{top + height / 2}' text-anchor='middle' transform='rotate(-90 {left - 50} {top + height / 2})'>average precision</text>"
    )
    return f"<svg viewBox='0 0 860 {top + height + 46}' width='860' role='img' aria-label='{html.escape(title)}'>{''.join(parts)}</svg>"


def _families(rows: list[dict[str, Any]]) -> list[str]:
    return [family for family in COLOURS if any(row["family"] == family for row in rows)]


def image(picture: np.ndarray, caption: str, scale: int) -> str:
    """Returns a figure with a picture (height x width x 3) enlarged `scale` times."""
    data = base64.b64encode(png.encode(picture)).decode()
    width, height = picture.shape[1] * scale, picture.shape[0] * scale
    return (
        f"<figure><img src='data:image/png;base64,{data}' width='{width}' height='{height}' alt='{html.escape(caption)}'>"
        f"<figcaption>{html.escape(caption)}</figcaption></figure>"
    )


def _map(values: np.ndarray, width: int) -> np.ndarray:
    """Sources as a picture, a row for each byte or frame: orange raises the output, blue lowers it."""
    values = values / max(np.abs(values).max(initial=0), 1e-300)
    values = np.pad(values, (0, -len(values) % width)).reshape(-1, width)
    strength = np.sqrt(np.abs(values))[..., None]
    colour = np.where(values[..., None] > 0, (220, 110, 0), (0, 90, 220))
    return (255 - strength * (255 - colour)).astype(np.uint8)


def _example(task: suite.Task) -> str:
    problem = suite.Problem(task)
    picture = problem.cart.pixel_values("rgb")[problem.played.frames[-1]].astype(np.uint8)
    x, y, width, height = task.box
    if width:
        right, low = min(x + width, WIDTH - 1), min(y + height, problem.cart.height - 1)
        picture[[max(y - 1, 0), low], max(x - 1, 0) : right + 1] = (255, 0, 80)
        picture[max(y - 1, 0) : low + 1, [max(x - 1, 0), right]] = (255, 0, 80)
    columns = 12 if task.sources == "inputs" else 8
    parts = [
        image(np.repeat(picture, 2, axis=1), "last picture; the output is the box" if width else "last picture", 1)
    ]
    effects = suite.exact_effects(problem)
    parts.append(image(_map(effects, columns), f"truth: {np.count_nonzero(effects)} of {len(effects)} matter", 5))
    for name in EXAMPLE_METHODS:
        found = METHODS[name].function(suite.Problem(task))
        if found is not None:
            score = scores.score_task(found, effects)["ap"]
            parts.append(image(_map(np.asarray(found, float), columns), f"{name}: AP {score:.2f}", 5))
    row = "frame, a column for each input" if task.sources == "inputs" else "byte, a column for each bit"
    return (
        f"<h3>{html.escape(task.name)}</h3><p>After {task.frame} frames; {task.frames} frames later. A row for each {row}; "
        f"orange raises the output, blue lowers it.</p><div class=row>{''.join(parts)}</div>"
    )


def page(results: Sequence[dict[str, Any]], suite_name: str) -> str:
    """Returns the page of a suite's results. Raises ValueError if there are none."""
    if not results:
        raise ValueError(
            f"there are no results of the suite {suite_name}: `python -m diffvcs.benchmark run --suite {suite_name}` makes them"
        )
    tested = any(result["split"] == "test" for result in results)
    games = sorted({result["game"] for result in results if not tested or result["split"] == "test"})
    body = [
        f"<h1>Attribution methods on an exact machine: suite {html.escape(suite_name)}</h1>",
        f"<p>{count_tasks(len(results))}. Scores are means over the {'test' if tested else 'development'} games "
        f"({', '.join(games)}) with 95 % bootstrap intervals over tasks. "
        + (
            "F uses thresholds that were fitted on the development games. "
            if tested
            else "Without test games there is no F. "
        )
        + "Methods marked as the truth itself flip every source and run again; they are here to show that the score is 1.</p>",
    ]
    ranked = {track: rows for track in suite.TRACKS if (rows := scores.table(results, track))}
    body.append(
        "<h2>Overview</h2><p>Average precision. A method that does not apply to a track has no number there.</p>"
    )
    body.append(_overview(ranked))
    for track, rows in ranked.items():
        counted = [r for r in results if r["track"] == track and (r["split"] == "test" or not tested)]
        chance = float(np.mean([r["causes"] / r["sources"] for r in counted]))
        body.append(
            f"<h2 id='{track}'>{track}</h2><p>{count_tasks(len(counted))}. On average {chance:.1%} of the sources matter, which is the "
            "average precision of chance.</p>"
        )
        body += [
            _html_table(rows),
            _ranking_plot(rows, f"{track}: ranking", chance),
            _cost_plot(rows, f"{track}: quality and cost"),
        ]
    body.append("<h2>Worked examples</h2>")
    shown = {result["task"] for result in results}
    for track in ("ram-screen", "inputs-screen", "ram-action"):
        for task in [t for t in suite.tasks(suite_name, (track,)) if t.name in shown][-1:]:
            body.append(_example(task))
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>Attribution benchmark: {html.escape(suite_name)}</title><style>{STYLE}</style>{''.join(body)}</html>\n"
    )
