"""The explorer in Firefox: it starts, plays as the native machine does, and answers as Chromium does."""

import firefox
import pytest
from conftest import PAGE
from native import Machine


@pytest.fixture(scope="module")
def browser():
    if not firefox.path():
        pytest.skip("firefox: Firefox is not installed")
    browser = firefox.Firefox()
    yield browser
    browser.close()


def test_firefox_plays_and_answers(browser):
    browser.open(PAGE.as_uri())
    browser.call("explorer.ready")
    browser.call("explorer.load(null)")
    browser.call("explorer.run(300, 'RIGHT')")
    machine = Machine(None)
    for _ in range(300):
        machine.play("RIGHT")
    assert browser.call("explorer.hash()") == machine.hash()
    answer = browser.call("explorer.explain(79, 41)")
    for part in ("ram", "writes", "rom", "inputs", "methods"):
        assert isinstance(answer[part], list)
    assert answer["value"] == machine.picture()[41 * 160 + 79]
    print(answer["milliseconds"])


def test_firefox_starts_the_sound(browser):
    """Without a device no sample may flow, so this only sees that the worklet loads: the page reports no error."""
    browser.open(PAGE.as_uri())
    browser.call("explorer.ready")
    browser.call("document.getElementById('sound').click()")
    text = "document.getElementById('message').textContent"
    assert browser.call(f"new Promise((done) => setTimeout(() => done({text}), 2000))") == ""
