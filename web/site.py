"""Writes the pages of the site into build-web/site: docs/ as it is, references of C and Python made from the sources, the
annotations of every game, the results pages of the paper and of the attribution benchmark, and a front page that shows the explorer.

The site has no files from outside docs/, so links to them become plain file names. A page that no group of NAVIGATION names
is listed under "More", so that no page is missing.
"""

import json
import pathlib
import re
import shutil

ROOT = pathlib.Path(__file__).resolve().parents[1]
SITE = ROOT / "build-web" / "site"
MEANINGS = "ram-meanings"  # the page of the annotations
NAVIGATION = {
    "Begin": ["tutorial", "web", "play", "python", "games", "glossary"],
    "Explain": [
        "explain",
        "truth",
        "gradients",
        "ste",
        "relaxed",
        "joystick",
        "steer",
        "edit",
        "annotations",
        MEANINGS,
    ],
    "Run": ["commands", "batch", "scale", "cuda", "debug", "sound"],
    "Project": [
        "architecture",
        "tia",
        "conformance",
        "benchmarks",
        "paper",
        "dependencies",
        "abi",
        "reliability",
        "platforms",
    ],
}
HEADERS = sorted(path.stem for path in (ROOT / "include" / "diffvcs").glob("*.h"))


def copy_docs() -> list[str]:
    names = []
    for source in sorted((ROOT / "docs").iterdir()):
        if source.suffix == ".md":
            text = re.sub(r"\[([^\]]*)\]\(\.\./([^)]*)\)", lambda m: f"`{m[2]}`", source.read_text(encoding="utf-8"))
            (SITE / source.name).write_text(text, encoding="utf-8")
            names.append(source.stem)
        elif source.is_file():
            shutil.copy(source, SITE)
    return names


def plain(comment: str) -> str:
    """The text of a C comment, whose lines are one paragraph unless an empty one or an indented list is between them."""
    lines = [re.sub(r"^ ?\* ?", "", line.strip()) for line in comment.strip()[2:-2].splitlines()]
    text = "\n".join(line if not line.startswith("  ") else f"    {line.strip()}" for line in lines).strip()
    return re.sub(r"\n(    )", r"\n\n\1", text, count=1)


def c_reference(name: str) -> str:
    """A header as a page: its sections, each comment as text, what it describes as code."""
    text = (ROOT / "include" / "diffvcs" / f"{name}.h").read_text(encoding="utf-8")
    text = text[: text.rindex("#ifdef __cplusplus")] if "#ifdef __cplusplus" in text else text
    page, code = [f"# {name}.h", ""], []

    def flush():
        if any(line.strip() for line in code):
            page.extend(["```c", *"\n".join(code).strip("\n").splitlines(), "```", ""])
        code.clear()

    lines, i = text.splitlines(), 0
    while i < len(lines):
        line = lines[i]
        title = re.match(r"/\* -+ (.*?) -+ \*/", line)
        if title:
            flush()
            page.extend([f"## {title[1]}", ""])
        elif line.startswith("/*"):
            flush()
            comment = [line]
            while "*/" not in lines[i]:
                i += 1
                comment.append(lines[i])
            page.extend([plain("\n".join(comment)), ""])
        elif line.startswith(
            (
                "#ifndef DIFFVCS_",
                "#define DIFFVCS_",
                'extern "C"',
                "#ifdef __cplusplus",
                "#endif",
                "#include",
                "#if ",
                "#else",
            )
        ):
            pass
        elif line == "}" and not code:
            pass
        else:
            code.append(line.replace("VCS_API ", ""))
        i += 1
    flush()
    return "\n".join(page)


def python_reference() -> str:
    modules = sorted(p.stem for p in (ROOT / "python" / "diffvcs").glob("*.py") if not p.stem.startswith("_"))
    return "# Python\n\n" + "\n\n".join(f"::: diffvcs.{module}" for module in modules) + "\n"


def meanings() -> str:
    """What the bytes of RAM mean, a table for each game (docs/annotations.md)."""
    page = ["# What the bytes of RAM mean", ""]
    page += [
        "Found by changing each byte in many states ([how](annotations.md)); confidence is the part of the states that agree.",
        "Bytes without a role, and scratch, stack and unused ones, are left out.",
        "",
    ]
    for path in sorted((ROOT / "python" / "diffvcs" / "annotations_data").glob("*.json")):
        annotation = json.loads(path.read_text(encoding="utf-8"))
        page += [f"## {annotation['game']}", "", "| byte | role | object | pixels | confidence | control |"]
        page += ["|---|---|---|---|---:|---|"]
        for row in annotation["ram"]:
            for role in row["roles"]:
                if role["role"] in ("scratch", "stack", "unused"):
                    continue
                pixels = f"{role['slope']:g} * byte {role['offset']:+g}" if role.get("encoding") == "linear" else ""
                cells = [f"${0x80 + row['byte']:02X}", role["role"], role["object"] or "", pixels]
                cells += [f"{role['confidence']:.2f}", role.get("control") or ""]
                page += ["| " + " | ".join(cells) + " |"]
        page += [""]
    return "\n".join(page)


def front_page() -> str:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    readme = re.sub(r"\]\(docs/", "](", readme)
    readme = re.sub(r'src="docs/', 'src="', readme)
    readme = re.sub(
        r"\[([^\]]*)\]\(((?!https?:|#)[^)]*)\)",
        lambda m: m[0] if (SITE / m[2].split("#")[0]).exists() else f"`{m[2]}`",
        readme,
    )
    explorer = (
        '<iframe src="explorer/index.html" title="The explorer: click a pixel, see why" loading="lazy" allow="clipboard-write; '
        'gamepad" style="width:100%;height:46rem;border:1px solid #8886;border-radius:.5rem"></iframe>\n\n'
        "[Open the explorer alone](explorer/index.html){ .md-button } [What it does](web.md){ .md-button }\n\n"
    )
    head, _, rest = readme.partition("\n")
    return f"{head}\n\n{explorer}{rest}"


def main() -> None:
    shutil.rmtree(SITE, ignore_errors=True)
    SITE.mkdir(parents=True)
    names = copy_docs()
    for header in HEADERS:
        (SITE / f"c-{header}.md").write_text(c_reference(header), encoding="utf-8")
    (SITE / "api-python.md").write_text(python_reference(), encoding="utf-8")
    (SITE / "explorer").mkdir()
    explorer = (ROOT / "out" / "web" / "index.html").read_text(encoding="utf-8")
    explorer = explorer.replace('href="docs/" hidden', 'href="../index.html" target="_top"')
    (SITE / "explorer" / "index.html").write_text(explorer, encoding="utf-8")
    paper = ROOT / "out" / "paper"
    if (paper / "index.html").exists():
        shutil.copytree(paper, SITE / "paper-results", ignore=shutil.ignore_patterns("sections"))  # parts of the page
        with (SITE / "paper.md").open("a", encoding="utf-8") as page:
            page.write("\n[The paper's tables and figures, computed again](paper-results/index.html)\n")
    report = ROOT / "out" / "benchmark" / "quick.html"
    if report.exists():
        shutil.copy(report, SITE / "attribution-results.html")
        with (SITE / "attribution.md").open("a", encoding="utf-8") as page:
            page.write("\n[The benchmark's ranking, computed again](attribution-results.html)\n")
    (SITE / f"{MEANINGS}.md").write_text(meanings(), encoding="utf-8")
    with (SITE / "annotations.md").open("a", encoding="utf-8") as page:
        page.write(f"\n[What the bytes of RAM mean in every game]({MEANINGS}.md)\n")
    names.append(MEANINGS)
    (SITE / "index.md").write_text(front_page(), encoding="utf-8")

    listed = {page for pages in NAVIGATION.values() for page in pages}
    groups = dict(NAVIGATION, More=[name for name in names if name not in listed])
    lines = ["INHERIT: ../web/mkdocs.yml", "nav:", "  - index.md"]
    for title, pages in groups.items():
        present = [page for page in pages if page in names]
        if present:
            lines += [f"  - {title}:"] + [f"      - {page}.md" for page in present]
    lines += (
        ["  - Reference:"]
        + [f"      - {header}.h: c-{header}.md" for header in HEADERS]
        + ["      - Python: api-python.md"]
    )
    text = "\n".join(lines) + "\ndocs_dir: site\nsite_dir: ../out/site\n"
    (ROOT / "build-web" / "mkdocs.yml").write_text(text, encoding="utf-8")


main()
