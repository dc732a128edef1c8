#!/usr/bin/env python3
"""docs.py [--long] [--list] [PAGE...]: runs the command lines of README.md and docs/*.md as they are printed.

A command line stands in a block ```sh, or begins with `$ `; after the latter, output is shown. Lines are run in order, page by page, in a
folder that has what the reader's checkout has (tests, examples, demo). Every `diffvcs` line must succeed and print what is shown: a line
`...` stands for any lines, `| head` and a trailing `...` for the rest, and numbers that the clock makes (frames/s) are not compared.
A line that opens a window runs for a few frames without a display, and lines `(diffvcs) command` are typed into the debugger.
Other programs' lines are checked, not run: a make target must exist, a file that is named must exist. Lines that take long run with --long.
$DIFFVCS is the program. Games need $DIFFVCS_ROMS; without it their lines are skipped, and counted. Exit status 1 if a line fails.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = Path(os.environ.get("DIFFVCS", ROOT / "build/diffvcs")).resolve()
ROMS = os.environ.get("DIFFVCS_ROMS", "")
# Lines that take more than some seconds, with why; --long runs them.
LONG = (
    ("diffvcs paper --out", "every table of the paper: half an hour"),
    ("score --all", "all games: half an hour"),
    ("score demo --frame", "all 1,024 bits by five methods"),
    ("score --summary", "of such a table"),
    ("score pong --bits 64", "every method over 64 bits"),
    ("--goal", "searches with thousands of runs"),
    ("--frames 10000", "a long record"),
    ("verify tests/golden", "5 x 6,000 frames"),
    ("--input right --horizon 8", "forks over eight frames"),
)
# Lines that a test cannot run as they are, with why.
NOT_RUN = (
    *([] if shutil.which("ffmpeg") else [(".mp4", "needs ffmpeg")]),
    ("GAME", "a placeholder"),
    ("annotate --all", "every game: hours, into the table that is committed"),
)
PROMPT = "(diffvcs) "
WINDOW = {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy"}
GAMES = re.compile(r"\b(pong|breakout|space_invaders|seaquest|ms_pacman|freeway|qbert|pitfall)\b")
TIMES = re.compile(r"\d[\d,.]* frames/s|\d+(\.\d+)? s(econds)?\b|file +/\S+")


def blocks(text):
    """(is it ```sh, lines) of each fenced or indented block."""
    for kind, body in re.findall(r"^```(\w*)\n(.*?)^```", text, re.S | re.M):
        if kind in ("sh", ""):
            yield kind == "sh", body.splitlines()
    indented = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    for body in re.findall(r"(?:^    .*\n?)+", indented, re.M):
        lines = [line[4:] for line in body.splitlines()]
        if any(line.startswith(("$ ", "diffvcs ")) for line in lines):
            yield lines[0].startswith("diffvcs "), lines


def commands(text):
    """(command line, shown output or None)."""
    for shell, lines in blocks(text):
        shown, found = None, []
        for line in lines:
            if line.startswith("$ "):
                shown = []
                found.append((line[2:], shown))
            elif shell and line.strip() and not line.lstrip().startswith("#"):
                if found and found[-1][0].endswith("\\"):
                    found[-1] = (found[-1][0][:-1] + line.strip(), None)
                else:
                    found.append((line, None))
            elif shown is not None:
                shown.append(line)
        yield from found


def matches(line, mask, start):
    """Whether a printed line is the shown one, or begins with it where that ends with `...`."""
    return line == mask if start is None else line.startswith(start)


def differs(shown, printed):
    """The first shown line that is not printed, or None."""
    at, free = 0, False
    for want in shown:
        if want.strip() == "...":
            free = True
            continue
        mask = TIMES.sub("#", want.rstrip())
        start = mask[:-3].rstrip() if mask.endswith("...") else None
        while at < len(printed) and not matches(TIMES.sub("#", printed[at].rstrip()), mask, start):
            if not free:
                return f"shown:   {want}\n    printed: {printed[at]}"
            at += 1
        if at == len(printed):
            return f"shown, and not printed: {want}"
        at, free = at + 1, False
    return None


def named(line):
    """Complaints about a line of another program, which is not run."""
    word = [part for part in line.split() if not part.startswith("-")]
    if word[0] == "make" and len(word) > 1 and "=" not in word[1]:
        target = re.search(rf"^[^\n:=]*\b{re.escape(word[1])}\b[^\n:]*:", (ROOT / "Makefile").read_text(), re.M)
        return None if target else f"the Makefile has no target {word[1]}"
    for part in word:
        if re.fullmatch(r"(tests|bench|python|docs|examples|demo|web)/[\w./-]+", part) and not list(ROOT.glob(part)):
            return f"there is no {part}"
    return None


def run(line, folder, typed):
    env = {**os.environ, **WINDOW, "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"}
    line = re.sub(r"\s+#.*$", "", line)
    if line.startswith("diffvcs play") and "--frames" not in line:
        line += " --frames 5 --fast"
    start = time.monotonic()
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        input=typed,
    )
    return done.returncode, done.stdout.splitlines(), done.stderr.strip(), time.monotonic() - start


def main():
    options = [a for a in sys.argv[1:] if a.startswith("--")]
    pages = [Path(a) for a in sys.argv[1:] if not a.startswith("--")]
    pages = pages or [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    count = {"ran": 0, "compared": 0, "checked": 0, "long": 0, "not run": 0, "no ROM images": 0}
    failures = 0
    for page in pages:
        with tempfile.TemporaryDirectory() as folder:
            for part in ("tests", "examples", "demo", "docs"):
                os.symlink(ROOT / part, Path(folder) / part)
            for line, shown in commands(page.read_text()):
                line = line.replace("build/diffvcs", "diffvcs")
                problem = None
                # `a | head` ends `a` by a closed pipe, which is no failure
                status_matters = "| head" not in line
                if not line.startswith("diffvcs "):
                    count["checked"] += 1
                    problem = named(line)
                elif any(part in line for part, _ in NOT_RUN):
                    count["not run"] += 1
                elif any(part in line for part, _ in LONG) and "--long" not in options:
                    count["long"] += 1
                elif GAMES.search(line) and not ROMS:
                    count["no ROM images"] += 1
                elif "--list" in options:
                    print(f"{page.name}: {line}")
                else:
                    typed = [text.removeprefix(PROMPT) for text in shown or [] if text.startswith(PROMPT)]
                    shown = [text for text in shown or [] if not text.startswith(PROMPT)]
                    status, printed, error, seconds = run(line, folder, "".join(f"{text}\n" for text in typed))
                    count["ran"] += 1
                    if status and status_matters:
                        problem = f"exit status {status}: {error[-300:]}"
                    elif shown:
                        count["compared"] += 1
                        problem = differs(shown, printed)
                    if "--times" in options:
                        print(f"{seconds:6.1f} s  {page.name}: {line}", flush=True)
                if problem:
                    failures += 1
                    print(f"not ok {page.name}: {line}\n    {problem}")
    print("docs:", ", ".join(f"{number} {name}" for name, number in count.items()) + f"; {failures} failed")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
