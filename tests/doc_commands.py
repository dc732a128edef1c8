"""The pages of docs/ show what the program prints.

Every page begins with a block of code in its first lines. In every block that begins with `$ diffvcs`, the commands that use
only our own cartridge are run, and their output is compared with the page, line by line. A line `...` stands for any further
lines; speeds are not compared. Lines `(diffvcs) command` are typed into the debugger.

    python3 tests/doc_commands.py PROGRAM [--update] [PAGE...]

With --update the pages are rewritten with the present output.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
FIRST_LINES = 16  # in which a page has its first block
BLOCK = re.compile(r"(?<=^```\n)\$ .*?(?=^```$)", re.M | re.S)


def runs_here(command):
    """Whether a command needs only the program and our own cartridge."""
    return re.search(r"(^|[|;&(]\s*)diffvcs (\w+ demo\b|--)", command) and "play" not in command.split()


def output_of(command, typed, program):
    with tempfile.TemporaryDirectory() as folder:
        path = f"{Path(program).resolve().parent}{os.pathsep}{os.environ['PATH']}"
        result = subprocess.run(
            command,
            shell=True,
            cwd=folder,
            env={**os.environ, "PATH": path},
            input=typed,
            capture_output=True,
            text=True,
        )
    return [line.rstrip() for line in result.stdout.splitlines()]


def shown(expected, found):
    """Whether the output is what the page shows."""
    if expected and expected[-1] == "...":
        expected, found = expected[:-1], found[: len(expected) - 1]
    fixed = [[line for line in lines if not line.startswith("speed ")] for lines in (expected, found)]
    return fixed[0] == fixed[1]


def check_block(block, program):
    """The block with the present output of its commands, and the commands whose output differs."""
    rewritten, wrong = "", []
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        command, *lines = part.splitlines()
        typed = [line.removeprefix("(diffvcs) ") for line in lines if line.startswith("(diffvcs) ")]
        expected = [line.rstrip() for line in lines if not line.startswith("(diffvcs) ")]
        if expected and runs_here(command):
            found = output_of(command, "\n".join([*typed, ""]) if typed else None, program)
            if not shown(expected, found):
                wrong.append((command, expected, found))
                if not typed:  # a dialogue is rewritten by hand
                    cut = len(expected) - 1 if expected[-1] == "..." else len(found)
                    lines = found[:cut] + (["..."] if expected[-1] == "..." else [])
        rewritten += "\n".join([f"$ {command}", *lines]) + "\n"
    return rewritten, wrong


def main():
    program, *names = sys.argv[1:]
    update, names = "--update" in names, [name for name in names if name != "--update"]
    failed = compared = 0
    for page in sorted(DOCS.glob("*.md")):
        if names and page.name not in names:
            continue
        text = page.read_text()
        if not any(line.startswith("```") for line in text.splitlines()[:FIRST_LINES]):
            print(f"{page.name}: no block of code in its first {FIRST_LINES} lines")
            failed = 1
        for block in BLOCK.findall(text):
            rewritten, wrong = check_block(block, program)
            compared += len(re.findall(r"^\$ ", block, re.M))
            for command, expected, found in wrong:
                print(f"{page.name}: {command}\n  shown: {expected[:12]}\n  prints: {found[:12]}")
                failed = 1
            text = text.replace(block, rewritten)
        if update:
            page.write_text(text)
    print(f"{compared} commands in {DOCS.name}/")
    return 1 if failed or compared < 5 else 0


if __name__ == "__main__":
    sys.exit(main())
