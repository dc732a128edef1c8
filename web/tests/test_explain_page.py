"""The page that `diffvcs explain` writes (docs/explain.md), in a browser."""

import os
import subprocess

import pytest
from axe_playwright_python.sync_playwright import Axe
from conftest import ROOT


@pytest.fixture(scope="module")
def explained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explain")
    program = os.environ.get("DIFFVCS", ROOT / "build" / "diffvcs")
    subprocess.run(
        [program, "explain", "demo", "--seed", "1", "--frame", "620", "--object", "P0", "--out", folder],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return (folder / "explain.html").as_uri()


@pytest.fixture
def open_at(browser, explained):
    contexts = []

    def open_at(width, **options):
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}, **options))
        page = contexts[-1].new_page()
        page.on("request", lambda request: requests.append(request.url))
        requests: list[str] = []
        page.goto(explained)
        page.wait_for_timeout(200)
        assert all(url.startswith(("file:", "data:")) for url in requests), "the page needs the network"
        return page

    yield open_at
    for context in contexts:
        context.close()


@pytest.mark.parametrize("width", [390, 900, 1280])
def test_nothing_is_cut_and_every_part_is_a_click_away(open_at, width):
    page = open_at(width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # a row of a table is as wide as its box, or the box scrolls
    assert page.evaluate(
        "[...document.querySelectorAll('.scroll')].every((b) => ['auto', 'scroll'].includes(getComputedStyle(b).overflowX))"
    )
    links = page.locator("nav a")
    assert links.all_inner_texts() == ["The picture", "Register writes", "Instructions", "RAM", "ROM", "Controls"]
    for link in links.all():
        link.click()
        part = page.locator(link.get_attribute("href"))
        assert part.locator("h2").is_visible()
    assert page.evaluate("document.documentElement.scrollHeight") < 12000


def test_the_last_row_of_every_table_can_be_reached(open_at):
    page = open_at(390)
    for row in page.locator("table.rows tbody tr:last-child").all():
        row.scroll_into_view_if_needed()
        assert row.bounding_box()["y"] < 900


def test_a_byte_opens_the_effect_of_each_of_its_bits(open_at):
    page = open_at(1280)
    details = page.locator("#ram details").first
    details.locator("summary").click()
    assert "bit" in details.locator("li").first.inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing_on_it(open_at, scheme, width):
    found = Axe().run(open_at(width, color_scheme=scheme)).response["violations"]
    assert not found, [(v["id"], [n["html"][:80] for n in v["nodes"][:3]]) for v in found]
