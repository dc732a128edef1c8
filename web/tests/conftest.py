"""Fixtures: a browser with the explorer loaded. Debian's Chromium, driven by Playwright, opens out/web/index.html from the disk."""

import os
import pathlib
import shutil

import pytest
from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = pathlib.Path(os.environ.get("DIFFVCS_WEB", ROOT / "out" / "web")) / "index.html"
ROMS = os.environ.get("DIFFVCS_ROMS", "")


def chromium_path():
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def pytest_terminal_summary(terminalreporter):
    """`SKIP: NEED: test: reason` for each skipped test (tests/need.h)."""
    for report in terminalreporter.stats.get("skipped", []):
        need, _, reason = str(report.longrepr[2]).removeprefix("Skipped: ").partition(": ")
        terminalreporter.write_line(f"SKIP: {need}: {report.nodeid}: {reason}")


@pytest.fixture(scope="session")
def browser():
    if not chromium_path():
        pytest.skip("chromium: there is no Chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser):
    """Opens the explorer at a size; fails if the page reports an error."""
    contexts, errors = [], []

    def open_page(width=1280, height=860, hash="", url=None, before=None, **options):
        """`before` is a script that runs before those of the page."""
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        if before:
            context.add_init_script(before)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(120000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto((url or PAGE.as_uri()) + hash)
        page.evaluate("explorer.ready")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not errors


@pytest.fixture
def page(open_page):
    return open_page()


def rom(name: str) -> bytes:
    path = pathlib.Path(ROMS) / f"{name}.bin"
    if not ROMS or not path.exists():
        pytest.skip("roms: there are no ROM images (DIFFVCS_ROMS)")
    return path.read_bytes()
