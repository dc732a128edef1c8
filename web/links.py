"""Checks the links of a built site: every target inside it exists, and so does every anchor. Argument: the folder."""

import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag != "base":
            self.links += [given[name] for name in ("href", "src") if given.get(name)]


def main() -> int:
    root = pathlib.Path(sys.argv[1]).resolve()
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(root.rglob("*.html"))}
    checked, broken = 0, []
    for path, page in pages.items():
        if path.name == "404.html":  # its links begin at the root of the host
            continue
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            checked += 1
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            anchor = urllib.parse.unquote(parts.fragment)
            if not target.exists():
                broken.append(f"{path.relative_to(root)}: {link}: there is no such file")
            elif anchor and target in pages and anchor not in pages[target].anchors and not anchor.startswith("__"):
                broken.append(f"{path.relative_to(root)}: {link}: there is no such anchor")
    print("\n".join(broken[:40]) + ("\n" if broken else "") + f"site: {checked} links, {len(broken)} broken")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
