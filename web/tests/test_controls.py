"""Controls of the explorer: game pads, touch and keys, and its sound, as far as a browser without these devices can have them."""

import pytest

# A game pad in place of those that the browser finds: pushed to the right, its first button pressed.
GAMEPAD = """
window.pad = { axes: [0, 0], buttons: Array.from({ length: 16 }, () => ({ pressed: false })) };
navigator.getGamepads = () => [window.pad, null, null, null];
"""
# What the explorer's sound sends to the speakers is kept: the loudest sample of it.
LISTEN = """
window.loudest = 0;
const connect = AudioWorkletNode.prototype.connect;
AudioWorkletNode.prototype.connect = function (to) {
  const analyser = this.context.createAnalyser();
  connect.call(this, analyser);
  const samples = new Float32Array(analyser.fftSize);
  setInterval(() => {
    analyser.getFloatTimeDomainData(samples);
    for (const sample of samples) window.loudest = Math.max(window.loudest, Math.abs(sample));
  }, 20);
  return connect.call(this, to);
};
"""


def held(page) -> set[str]:
    """The left stick and the console's switches, as they were in the frames so far."""
    names = ["UP", "DOWN", "LEFT", "RIGHT", "FIRE"]
    link = page.evaluate("explorer.link()")
    masks = [int(stretch.split("-")[0], 36) for stretch in link.split("in=")[1].split(",")]
    bits = {bit for mask in masks for bit in range(16) if mask >> bit & 1}
    return {names[bit] if bit < 5 else {8: "RESET", 9: "SELECT"}[bit] for bit in bits}


def play_on(page, frames: int = 12) -> None:
    page.wait_for_function(f"explorer.frame >= {page.evaluate('explorer.frame')} + {frames}")


@pytest.mark.parametrize(
    ("set_pad", "expected"),
    [
        ("pad.axes[0] = 1", {"RIGHT"}),
        ("pad.axes[0] = -1; pad.axes[1] = -1", {"LEFT", "UP"}),
        ("pad.buttons[13].pressed = true; pad.buttons[0].pressed = true", {"DOWN", "FIRE"}),
        ("pad.buttons[8].pressed = true; pad.buttons[9].pressed = true", {"SELECT", "RESET"}),
        ("pad.axes[0] = 0.2", set()),
    ],
)
def test_a_game_pad_plays(open_page, set_pad, expected):
    page = open_page(before=GAMEPAD)
    page.evaluate("explorer.load(null)")
    page.evaluate(set_pad)
    page.evaluate("explorer.play()")
    play_on(page)
    page.evaluate("explorer.pause()")
    assert held(page) == expected


def test_fingers_play(open_page):
    page = open_page(390, 844, has_touch=True, is_mobile=True)
    page.evaluate("explorer.load(null)")
    page.evaluate("explorer.play()")
    touch = page.context.new_cdp_session(page)
    for name in ("right", "fire"):
        button = page.locator(f'[data-hold="{name}"]')
        button.scroll_into_view_if_needed()
        box = button.bounding_box()
        point = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [point]})
        play_on(page)
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        play_on(page, 3)
    page.evaluate("explorer.pause()")
    assert held(page) == {"RIGHT", "FIRE"}
    assert page.evaluate("explorer.link()").rsplit(",", 1)[1].startswith("0-"), "the finger was lifted"


def test_a_tap_explains_the_pixel_under_it(open_page):
    page = open_page(390, 844, has_touch=True, is_mobile=True)
    page.evaluate("explorer.load(null)")
    page.evaluate("explorer.run(60, 'RIGHT')")
    box = page.locator("#picture").bounding_box()
    page.touchscreen.tap(box["x"] + 0.497 * box["width"], box["y"] + 0.198 * box["height"])
    page.wait_for_selector("#why-ram h2")
    assert "Pixel 79,41" in page.locator("#why-summary").inner_text()


def test_the_sound_is_heard(open_page):
    page = open_page(before=LISTEN)
    page.evaluate("explorer.load(null)")
    page.click("#sound")
    page.wait_for_selector('#sound[aria-pressed="true"]')
    page.click("#run")
    page.keyboard.down("Space")
    page.keyboard.down("ArrowUp")
    page.wait_for_function("window.loudest > 0.01", timeout=30000)
    page.keyboard.up("Space")
    page.keyboard.up("ArrowUp")
    page.click("#sound")
    page.wait_for_selector('#sound[aria-pressed="false"]')


def test_space_fires_after_a_click_on_play(page):
    """The button that was clicked does not keep the focus, or SPACE would pause the game."""
    page.evaluate("explorer.load(null)")
    page.click("#run")
    page.keyboard.down("Space")
    play_on(page)
    page.keyboard.up("Space")
    assert page.evaluate("explorer.running")
    page.evaluate("explorer.pause()")
    assert "FIRE" in held(page)
