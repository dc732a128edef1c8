"""Writes the meanings of RAM bytes that the explorer shows: python/diffvcs/annotations_data as one JavaScript module.

A module is {game: {byte: text}}. Roles that say nothing about the game (scratch, stack, unused) and roles below CONFIDENCE are
left out. Argument: the file.
"""

import json
import pathlib
import sys

DATA = pathlib.Path(__file__).resolve().parents[1] / "python" / "diffvcs" / "annotations_data"
PLAIN = {"scratch", "stack", "unused"}
CONFIDENCE = 0.8


def text(role: dict) -> str:
    words = [role["object"] or "", role["role"]]
    return " ".join(word for word in words if word) + (f" (moved by {role['control']})" if role.get("control") else "")


def main() -> None:
    games = {}
    for path in sorted(DATA.glob("*.json")):
        annotation = json.loads(path.read_text(encoding="utf-8"))
        meanings = {}
        for row in annotation["ram"]:
            roles = [text(r) for r in row["roles"] if r["role"] not in PLAIN and r["confidence"] >= CONFIDENCE]
            if roles:
                meanings[row["byte"]] = ", ".join(roles)
        games[annotation["game"]] = meanings
    module = "export default " + json.dumps(games, separators=(",", ":")) + ";\n"
    pathlib.Path(sys.argv[1]).write_text(module, encoding="utf-8")


main()
