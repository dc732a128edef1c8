#!/usr/bin/env python3
"""Prints the share of each parser's lines that the inputs of a fuzzing run have reached.

    fuzz/coverage.py BUILD [HARNESS...] [-v]      -v: the functions with lines that were not reached

A parser is a list of functions of a file: those that read untrusted input. All functions of the file count, unless it also has
functions with another purpose (picture.c also writes). Exit status 1 if a parser is below 90 %.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

PARSERS = {
    "expression": {
        "src/study/expression.c": ".",
        "src/study/breakpoint.c": ".",
        "src/study/target.c": "^(read|after|vcs_target_parse|vcs_place_parse)",
    },
    "patch": {"src/study/patch.c": "."},
    "symbols": {"src/study/symbols.c": "."},
    "png": {"src/host/picture.c": "^vcs_png_read"},
    "save": {
        "src/host/save.c": "^(check_|get|bad_table|find_field|read_table|complete|restore|vcs_env_load_from|vcs_save_info|vcs_machine_is|.*possible)"
    },
    "record": {
        "src/study/record.c": "^(next_row|bad_row|is_checksum|read_(play|cpu)_row|start_as|verify_(play|cpu)|check_cpu_row|is_cpu|vcs_verify$)"
    },
    "batch": {"src/host/batch.c": "^(check|refuse|valid|vcs_batch_(create|reset|step|send|receive|defaults))"},
    "rom": {
        "src/host/cart_detect.c": "^(vcs_scheme_(detect|check)|vcs_cart_setup|all_|has_|halves|occurs|first_signed|complain)",
        "src/host/cartridge.c": "^(vcs_cart_load|probe_format|set_console)",
    },
}


def tool(name):
    for candidate in (name, *(f"{name}-{version}" for version in range(22, 13, -1))):
        if shutil.which(candidate):
            return candidate
    return None


def functions(build, harness):
    """{file: [(name, lines, lines that were not reached)]}, from llvm-cov's export in the format of lcov."""
    profile = f"-instr-profile={build}/profiles/{harness}.profdata"
    command = [tool("llvm-cov"), "export", "-format=lcov", f"{build}/fuzz/harness_{harness}", profile]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = {}
    for section in text.split("end_of_record"):
        name = re.search(r"^SF:(.*)$", section, re.M)
        if not name:
            continue
        starts = sorted(
            (int(line), word.split(":")[-1]) for line, word in re.findall(r"^FN:(\d+),(.*)$", section, re.M)
        )
        rows = {start: [word, 0, 0] for start, word in starts}
        for line, count in re.findall(r"^DA:(\d+),(\d+)", section, re.M):
            start = max((start for start, _ in starts if start <= int(line)), default=None)
            if start is not None:
                rows[start][1] += 1
                rows[start][2] += count == "0"
        found[name[1]] = [tuple(row) for row in rows.values()]
    return found


def main():
    build, names = Path(sys.argv[1]), [a for a in sys.argv[2:] if a != "-v"] or list(PARSERS)
    if not (tool("llvm-cov") and tool("llvm-profdata")):
        print("SKIP: llvm: coverage: llvm-cov and llvm-profdata are not installed (on Debian: apt-get install llvm)")
        return 0
    print(f"{'parser':12} {'file':26} {'lines':>6} {'reached':>8}")
    low = 0
    for name in names:
        raw = build / "profiles" / f"{name}.profraw"
        if not raw.exists():
            continue
        subprocess.run([tool("llvm-profdata"), "merge", "-sparse", raw, "-o", raw.with_suffix(".profdata")], check=True)
        found = functions(build, name)
        for source, pattern in PARSERS[name].items():
            file = next(path for path in found if path.endswith(source))
            rows = [row for row in found[file] if re.search(pattern, row[0])]
            lines, missed = sum(row[1] for row in rows), sum(row[2] for row in rows)
            share = 100 * (lines - missed) / lines if lines else 0
            print(f"{name:12} {source:26} {lines:6} {share:7.1f}%")
            for function, total, out in sorted(rows, key=lambda row: -row[2]):
                if out and "-v" in sys.argv:
                    print(f"{'':14}{function}: {out} of {total} lines not reached")
            low += share < 90
    return low > 0


if __name__ == "__main__":
    sys.exit(main())
