"""Could a neuroscientist understand a game console? Jonas and Kording's experiments (2017) with the truth beside every
answer.

They recorded a simulated 6502 playing Donkey Kong, Space Invaders and Pitfall, removed its transistors one by one, and
asked the methods of neuroscience how it works. Here are the same questions on the same games and more, with two
differences. **Ours are bits of the machine (RAM, registers, ROM), not transistors**: this machine has registers and
memory, and no gates inside them. And every answer is scored, because flipping a bit and running again gives the exact
effect.

    lesions   every bit of RAM, of the registers and of ROM is flipped, one at a time: does the game still run 30 frames later? A flip of
              RAM or a register happens once, and the game may overwrite it; a flip of ROM stays.
    tuning    correlation of each RAM bit with the brightness of the next picture, against the exact effect of flipping the bit on it
    granger   which RAM byte's past improves the prediction of another byte, against the bytes that change in the next frame
              when a bit of the first one is flipped
    nmf       parts that the activity of RAM bits factors into; bits of one part against bits that the machine connects
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import functional, study
from ..cartridge import Cartridge
from ..exact import jacobian
from ..functional import Run, ram_places, rom_places, state_places
from ..machine import Machine
from . import agents, scores

GAMES = ("donkey_kong", "space_invaders", "pitfall", "breakout", "ms_pacman")
START, FRAMES = 600, 30  # frames before the lesions, and after
LOOKS = (20, 25, 30)
RECORDED = 1024  # frames of a recording
PROBES = 8  # states in which the exact effects of one frame are computed
PARTS = 6
REGISTERS = {
    "CPU": ("a", "x", "y", "sp", "p", "pc"),
    "RIOT": ("timer", "timer_shift", "ddra", "port_a_out"),
    "TIA": (
        "vsync", "vblank", "nusiz", "colu", "ctrlpf", "reflect", "pf", "grp", "grp_old", "enam", "enabl", "enabl_old", "hm", "vdelp",
        "vdelbl", "resmp", "pos", "collisions",
    ),
}  # fmt: skip
KINDS = ("RAM", *REGISTERS, "ROM")
FATES = ("nothing", "changes", "stops")  # what a lesion does


def start(game: str, seed: int = 1, frame: int = START) -> tuple[Cartridge, np.ndarray]:
    """Returns a game after some frames of an action stream."""
    machine = Machine(Cartridge.find(game))
    machine.reset()
    for action in study.action_stream(seed, frame):
        machine.act_on(action)
    return machine.cart, machine.save()


# ---- lesions ---------------------------------------------------------------------------------------------------------


def parts(cart: Cartridge) -> dict[str, np.ndarray]:
    """Returns the places of every bit that is lesioned, by the part of the machine."""
    found = {"RAM": ram_places(cart)}
    for kind, fields in REGISTERS.items():
        found[kind] = np.concatenate([state_places(cart, name) for name in fields])
    found["ROM"] = rom_places(cart)
    return found


def fates(played: Run, places: np.ndarray, progress: Callable[[int, int], None] | None = None) -> np.ndarray:
    """Returns what each lesion does: the number of a fate, or -1 for a state that no machine can have.

    A game stops if its pictures 10, 5 and 0 frames before the end are equal although the healthy ones are not, or if
    more than half of the last picture's pixels are wrong. A lesion does nothing if RAM and picture are those of the
    healthy game at the end.
    """
    found = functional.truth(
        played.cart,
        played.before,
        played.actions.tolist(),
        places,
        horizons=LOOKS,
        maps=False,
        played=played,
        progress=progress,
    )
    rows, healthy = found.rows, found.base["screen_crc"]
    moves = (healthy != healthy[0]).any()
    frozen = moves & (rows["screen_crc"] == rows["screen_crc"][:, :1]).all(1)
    wrong = rows["pixels"][:, -1] > played.frames[-1].size / 2
    changes = (rows["pixels"][:, -1] > 0) | (rows["ram_bytes"][:, -1] > 0)
    return np.where(found.possible.all(1), np.where(frozen | wrong, 2, changes), -1)


def lesions(game: str, progress: Callable[[int, int], None] | None = None) -> dict[str, list[int]]:
    """Returns the fates of all lesions of a game, by the part of the machine. ROM bytes that the run never reads are
    not run."""
    cart, state = start(game)
    played = functional.run(cart, state, study.action_stream(1, START + FRAMES)[START:])
    read = np.flatnonzero(study.rom_uses(played)["kind"] != 0)
    found = {}
    for kind, places in parts(cart).items():
        chosen = np.isin(places["index"], read) if kind == "ROM" else np.ones(len(places), bool)
        fate = np.zeros(len(places), int)
        fate[chosen] = fates(played, places[chosen], progress)
        found[kind] = fate.tolist()
    return found


# ---- recordings ------------------------------------------------------------------------------------------------------


def record(game: str) -> Run:
    """Returns a recording of a game: its RAM and pictures over 1,024 frames."""
    cart, state = start(game)
    return functional.run(cart, state, study.action_stream(1, START + RECORDED)[START:])


def _standard(values: np.ndarray) -> np.ndarray:
    centred = values - values.mean(0)
    deviation = centred.std(0)
    return np.divide(centred, deviation, out=np.zeros_like(centred), where=deviation > 1e-12)


def bits(run: Run) -> np.ndarray:
    """Returns the RAM of a recording as bits, frames x 1,024."""
    return np.unpackbits(run.ram, axis=1, bitorder="little").astype(float)


def brightness(run: Run) -> np.ndarray:
    """Returns the mean grey value of each picture."""
    return agents.grey(run.cart)[run.frames].mean((1, 2))


def effects(game: str) -> dict[str, np.ndarray]:
    """Returns exact effects of one frame, over states of the recording.

    "brightness" (1,024): the largest change of the next picture's mean grey value when a bit is flipped.
    "bytes" (128 x 128): whether a flip of a bit of one byte changes another in the next frame.
    """
    cart, state = start(game)
    actions, grey = study.action_stream(1, START + RECORDED)[START:], agents.grey(cart)
    bright, linked = np.zeros(1024), np.zeros((128, 128), bool)
    done = 0
    for probe in range(PROBES):
        frame = probe * RECORDED // PROBES
        if frame > done:
            state, done = functional.run(cart, state, actions[done:frame]).state, frame
        found = jacobian(cart, state, actions[frame : frame + 1], wrt="ram", of=("screen", "ram"))
        drawn = found.output == 0
        change = grey[found.flipped[drawn]] - grey[found.base[drawn]]
        sums = np.bincount(found.column[drawn], change, 1024) / (cart.height * 160)
        bright = np.maximum(bright, np.abs(sums))
        linked[found.column[~drawn] // 8, found.index[~drawn]] = True
    np.fill_diagonal(linked, False)
    return {"brightness": bright, "bytes": linked}


# ---- the methods -----------------------------------------------------------------------------------------------------


def tuning(run: Run) -> np.ndarray:
    """Returns how strongly each RAM bit is tuned to brightness: the size of their correlation."""
    return np.abs(_standard(bits(run)[:-1]).T @ _standard(brightness(run)[1:])) / (len(run.ram) - 1)


def curves(run: Run, chosen: list[int], levels: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Returns brightness in `levels` ranges of equal share, and the share of frames in which bits are set in each
    range."""
    light, values = brightness(run)[1:], bits(run)[:-1, chosen]
    ranges = np.array_split(np.argsort(light, kind="stable"), levels)
    return np.array([light[part].mean() for part in ranges]), np.array([values[part].mean(0) for part in ranges])


def granger(run: Run) -> np.ndarray:
    """Returns how much the past of each byte adds to the prediction of each other byte by its own past (128 x 128):
    the logarithm of the ratio of residual variances, one frame back."""
    values = _standard(run.ram.astype(float))
    now, later = values[:-1], _standard(values[1:])
    own = (now * later).mean(0)
    rest = later - now * own
    found = np.zeros((128, 128))
    share = now.T @ now / len(now)
    for target in range(128):
        other = now - np.outer(now[:, target], share[target])
        norm = (other**2).sum(0)
        explained = np.divide((other.T @ rest[:, target]) ** 2, norm, out=np.zeros(128), where=norm > 1e-9)
        total = (rest[:, target] ** 2).sum()
        if total > 1e-9:
            found[:, target] = -np.log(np.maximum(1 - explained / total, 1e-12))
    np.fill_diagonal(found, 0)
    return found


def nmf(activity: np.ndarray, count: int = PARTS, seed: int = 0, rounds: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Returns the non-negative factors of an activity (Lee and Seung 1999): times x parts, and parts x bits."""
    random = np.random.default_rng(seed)
    times, loads = random.random((len(activity), count)) + 0.1, random.random((count, activity.shape[1])) + 0.1
    for _ in range(rounds):
        loads *= times.T @ activity / (times.T @ times @ loads + 1e-9)
        times *= activity @ loads.T / (times @ (loads @ loads.T) + 1e-9)
    return times, loads


def signals(run: Run) -> dict[str, np.ndarray]:
    """Returns signals of the game over time that a part may follow."""
    frames, light = np.arange(len(run.ram)), brightness(run)
    found = {
        "every second frame": frames % 2,
        "every fourth frame": frames % 4 < 2,
        "time": frames,
        "brightness": light,
        "joystick": run.inputs[:, :4].any(1),
        "button": run.inputs[:, 4],
        "reward": run.reward != 0,
    }
    return {name: np.asarray(signal, float) for name, signal in found.items()}


# ---- together --------------------------------------------------------------------------------------------------------


def _score(strength: np.ndarray, causes: np.ndarray) -> dict[str, float]:
    return {
        "auroc": scores.auroc(strength, causes),
        "ap": scores.average_precision(strength, causes),
        "chance": float(causes.mean()),
        "causes": int(causes.sum()),
        "of": len(causes),
    }


def examine(game: str, progress: Callable[[int, int], None] | None = None) -> dict[str, Any]:
    """Runs all experiments on a game; returns what json can keep."""
    run, exact = record(game), effects(game)
    flickers = (bits(run)[1:] != bits(run)[:-1]).astype(float)  # a bit that changes is a spike
    active = run.ram.std(0) > 0
    tuned, caused = tuning(run), exact["brightness"] > 0
    links, found = granger(run), exact["bytes"]
    pairs = np.outer(active, active) & ~np.eye(128, dtype=bool)
    times, loads = nmf(flickers)
    by_byte = loads.reshape(PARTS, 128, 8).sum(2)
    unit = by_byte / np.maximum(np.linalg.norm(by_byte, axis=0), 1e-12)
    names, known = list(signals(run)), np.stack(list(signals(run).values()), axis=1)[1:]
    against = np.abs(_standard(times).T @ _standard(known)) / len(times)
    followed = [{"signal": names[row.argmax()], "correlation": float(row.max())} for row in against]
    strongest = np.argsort(-tuned, kind="stable")[:5].tolist()
    light, shares = curves(run, strongest)
    return {
        "game": game,
        "lesions": lesions(game, progress),
        "tuning": {
            "score": _score(tuned, caused),
            "bits": strongest, "strength": tuned[strongest].tolist(), "matters": caused[strongest].tolist(),
            "brightness": light.tolist(), "curves": shares.T.tolist(),
            "all": tuned.round(4).tolist(), "effect": exact["brightness"].round(6).tolist(),
        },
        "granger": {
            "score": _score(links[pairs], found[pairs]),
            "strength": links.round(4).tolist(), "truth": found.astype(int).tolist(), "active": active.tolist(),
        },
        "nmf": {
            "score": _score((unit.T @ unit)[pairs], (found | found.T)[pairs]),
            "parts": by_byte.round(4).tolist(), "times": times[:240].round(4).tolist(), "followed": followed,
        },
        "raster": np.packbits(flickers[:240].astype(bool), axis=None).tolist(),
    }  # fmt: skip


def shares(found: dict[str, Any]) -> dict[str, list[int]]:
    """Returns how many lesions of each part of the machine do nothing, change something, and stop the game."""
    return {kind: [int(np.sum(np.equal(fate, i))) for i in range(3)] for kind, fate in found["lesions"].items()}


def overlap(examined: list[dict[str, Any]], kinds: tuple[str, ...] = ("RAM", *REGISTERS)) -> dict[str, int]:
    """Returns how many bits that games share (of RAM and registers) stop which of the games."""
    stops = [np.concatenate([np.equal(found["lesions"][kind], 2) for kind in kinds]) for found in examined]
    names = [found["game"] for found in examined]
    counted: dict[str, int] = {}
    for column in np.array(stops).T:
        if column.any():
            name = " + ".join(n for n, stopped in zip(names, column) if stopped)
            counted[name] = counted.get(name, 0) + 1
    return dict(sorted(counted.items(), key=lambda item: -item[1]))


def text_table(examined: list[dict[str, Any]]) -> str:
    """Returns the results as lines of text."""
    lines = [f"{'lesions that stop the game':28}" + "".join(f"{kind:>18}" for kind in KINDS)]
    for found in examined:
        counts = shares(found)
        lines.append(f"{found['game']:28}" + "".join(f"{counts[k][2]:>10} of {sum(counts[k]):5}" for k in KINDS))
    lines.append("")
    lines.append(f"{'':28}{'tuning':>27}{'granger':>27}{'nmf':>27}")
    lines.append(f"{'game':28}" + f"{'auroc':>9}{'ap':>9}{'chance':>9}" * 3)
    for found in examined:
        row = (found[name]["score"] for name in ("tuning", "granger", "nmf"))
        lines.append(f"{found['game']:28}" + "".join(f"{s['auroc']:9.2f}{s['ap']:9.2f}{s['chance']:9.2f}" for s in row))
    lines.append("")
    lines += [f"{count:5} bits stop {names}" for names, count in overlap(examined).items()]
    return "\n".join(lines)
