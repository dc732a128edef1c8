"""The explorer in a browser gives the same results as the native library."""

import gzip
import os
import random

import pytest
from axe_playwright_python.sync_playwright import Axe
from conftest import PAGE, ROOT, rom
from native import Machine

GAMES = ["space_invaders", "pong", "freeway", "seaquest", "pitfall"]
ACTIONS = ["NOOP", "FIRE", "UP", "RIGHT", "LEFT", "DOWN"]
SIZES = {"phone": (390, 844), "tablet": (820, 1180), "desktop": (1440, 900)}


def stream(seed: int, frames: int) -> list[str]:
    """Actions that are held for a while."""
    source, actions = random.Random(seed), []
    while len(actions) < frames:
        actions += [source.choice(ACTIONS)] * source.randint(4, 30)
    return actions[:frames]


def load(page, name: str | None) -> Machine:
    image = rom(name) if name else None
    info = page.evaluate("([image, name]) => explorer.load(image, name)", [list(image) if image else None, name or ""])
    return Machine(image, name, info["height"])


def test_it_plays_by_itself_and_says_which_frame(page):
    first = page.evaluate("explorer.frame")
    page.wait_for_function(f"explorer.frame > {first} + 30")
    assert "frame" in page.locator("#where").inner_text()
    assert "contour" in page.locator("#cartridge").inner_text().lower()


def test_keys_played_for_600_frames_give_the_native_hash(page):
    """Real key events; what was held in each frame is then played natively."""
    page.evaluate("explorer.pause()")
    page.evaluate("explorer.load(null)")
    page.evaluate("explorer.play()")
    source = random.Random(7)
    while page.evaluate("explorer.frame") < 600:
        key = source.choice(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Space"])
        page.keyboard.down(key)
        page.wait_for_timeout(source.randint(50, 300))
        page.keyboard.up(key)
    page.evaluate("explorer.pause()")
    shown = page.evaluate("explorer.hash()")
    link = page.evaluate("explorer.link()")
    machine, played = Machine(None), 0
    for stretch in link.split("in=")[1].split(","):
        held, count = stretch.split("-")
        names = [name for bit, name in enumerate(["UP", "DOWN", "LEFT", "RIGHT", "FIRE"]) if int(held, 36) >> bit & 1]
        for _ in range(int(count, 36)):
            machine.play("".join(names))
            played += 1
    assert played == page.evaluate("explorer.frame") >= 600
    assert ",8-" in link or ",4-" in link or ",g-" in link, "no key was seen"
    assert shown == machine.hash()


@pytest.mark.parametrize("game", [None, *GAMES])
def test_run_gives_the_native_hash(page, game):
    machine = load(page, game)
    actions = stream(1, 600)
    page.evaluate("(actions) => explorer.run(actions.length, actions)", actions)
    for action in actions:
        machine.play(action)
    assert page.evaluate("explorer.hash()") == machine.hash()
    assert bytes(page.evaluate("[...explorer.picture()]")) == machine.picture()


def test_save_files_are_the_native_ones(page):
    machine = load(page, None)
    assert bytes(page.evaluate("explorer.save().then((file) => [...file])"))[:8] == b"VCSSAVE\n"
    page.evaluate("explorer.run(90, 'RIGHT')")
    file = bytes(page.evaluate("explorer.save().then((file) => [...file])"))
    assert machine.hash_of_save(file) == page.evaluate("explorer.hash()")
    fresh = Machine(None)
    page.evaluate("(file) => explorer.restore(file)", list(fresh.save()))
    assert page.evaluate("explorer.hash()") == fresh.hash()


@pytest.mark.parametrize("game", GAMES)
def test_answers_and_flips_are_the_truth_for_20_pixels(page, game):
    """All 1,024 RAM bits flipped natively, each with a run of its own, against the page's answers and other pictures."""
    machine = load(page, game)
    actions = stream(2, 300)
    page.evaluate("(actions) => explorer.run(actions.length, actions)", actions)
    for action in actions[:-1]:
        machine.play(action)
    before = machine.saved()
    machine.play(actions[-1])
    base = machine.picture()
    others = []
    for place in range(1024):
        machine.restore(before)
        machine.flip_ram(place // 8, place % 8)
        machine.play(actions[-1])
        others.append(machine.picture())
    sets = [before[0][machine.ram + place // 8] >> place % 8 & 1 for place in range(1024)]
    source = random.Random(game)
    moved = 0
    for other in set(others):
        moved |= int.from_bytes(base, "little") ^ int.from_bytes(other, "little")
    decided = [i for i, byte in enumerate(moved.to_bytes(len(base), "little")) if byte]
    flips = 0
    for turn in range(20):
        at = source.choice(decided) if decided and turn % 2 else source.randrange(len(base))
        answer = page.evaluate("([x, y]) => explorer.explain(x, y, { parts: [] })", [at % 160, at // 160])
        answered = {(r["index"], bit): r["truth"][bit] for r in answer["ram"] for bit in range(8) if r["truth"][bit]}
        true = {
            (place // 8, place % 8): (other[at] - base[at]) * (-1 if sets[place] else 1)
            for place, other in enumerate(others)
            if other[at] != base[at]
        }
        assert answered == true
        assert answer["value"] == base[at]
        places = sorted(true) or [(source.randrange(128), source.randrange(8))]
        index, bit = source.choice(places)
        flip = page.evaluate(
            "([ram, bit]) => explorer.flip({ ram, bit }).then((r) => ({ ...r, picture: [...r.picture] }))", [index, bit]
        )
        assert bytes(flip["picture"]) == others[8 * index + bit]
        assert flip["pixels"] == sum(a != b for a, b in zip(base, others[8 * index + bit]))
        flips += bool(true)
    assert flips > 0


FLIP = "(place) => explorer.flip(place).then((r) => ({ ...r, picture: [...r.picture] }))"
INPUTS = ["up", "down", "left", "right", "fire", "up2", "down2", "left2", "right2", "fire2", "reset", "select"]
HORIZON = 8  # frames back in which the page tries buttons


@pytest.mark.parametrize("game", [None, *GAMES])
def test_rom_bits_and_buttons_are_the_truth(page, game):
    """Bits of ROM and buttons of the last eight frames, as listed and flipped by the page, against native runs: with the
    changed image in the same console, and with the button the other way round in one frame."""
    machine = load(page, game)
    actions = stream(4, 240)
    page.evaluate("(actions) => explorer.run(actions.length, actions)", actions)
    starts = {}
    for frame, action in enumerate(actions):
        if frame >= len(actions) - HORIZON:
            starts[frame] = machine.saved()
        machine.play(action)
    base, last = machine.picture(), len(actions) - 1
    source = random.Random(game)

    def with_rom(index, bit):
        other = machine.with_rom_bit(index, bit)
        other.restore(starts[last])
        other.play(actions[last])
        return other.picture()

    def with_button(button, frame):
        machine.restore(starts[frame])
        for f in range(frame, last + 1):
            machine.play(actions[f], button if f == frame else None)
        return machine.picture()

    pressed = {(button, frame): with_button(button, frame) for button in range(len(INPUTS)) for frame in starts}
    moved = sorted({at for other in pressed.values() for at in range(len(base)) if base[at] != other[at]})
    pixels = [source.randrange(len(base)) for _ in range(3)] + [source.choice(moved) for _ in range(3) if moved]
    listed = 0
    for at in pixels:
        answer = page.evaluate(
            "([x, y]) => explorer.explain(x, y, { parts: ['rom', 'inputs'] })", [at % 160, at // 160]
        )
        answered = {row["index"]: row["truth"][0] for row in answer["inputs"] if row["truth"][0]}
        first = len(actions) - HORIZON
        names = ["UP", "DOWN", "LEFT", "RIGHT", "FIRE"]
        true = {}
        for (button, frame), other in pressed.items():
            held = button < 5 and names[button] in actions[frame]
            effect = (other[at] - base[at]) * (-1 if held else 1)
            if effect:
                true[(frame - first) * len(INPUTS) + button] = effect
        assert answered == true
        rows = source.sample(answer["rom"], min(4, len(answer["rom"])))
        for row in rows:
            bit = source.choice([b for b in range(8) if row["truth"][b]] or [0])
            other = with_rom(row["index"], bit)
            is_set = machine.image[row["index"]] >> bit & 1
            assert row["truth"][bit] == (other[at] - base[at]) * (-1 if is_set else 1)
            assert bytes(page.evaluate(FLIP, {"rom": row["index"], "bit": bit})["picture"]) == other
        listed += len(rows)
        button, frame = source.choice(sorted(pressed))
        shown = page.evaluate(FLIP, {"input": INPUTS[button], "back": last + 1 - frame})["picture"]
        assert bytes(shown) == pressed[button, frame]
    assert listed > 0


def test_clicking_a_pixel_answers_in_the_page(page):
    page.evaluate("explorer.load(null)")
    page.evaluate("explorer.run(120, 'NOOP')")
    box = page.locator("#picture").bounding_box()
    page.mouse.click(box["x"] + 0.49 * box["width"], box["y"] + 0.2 * box["height"])
    page.wait_for_selector("#why-methods h2")
    for part in ("writes", "ram", "inputs", "rom", "instructions"):
        assert page.locator(f"#why-{part} h2").count() == 1
    switch = page.locator("#why-ram button[data-place]").first
    switch.click()
    page.wait_for_selector("#caption:not([hidden])")
    assert "pixels" in page.locator("#caption").inner_text()
    assert switch.get_attribute("aria-pressed") == "true"
    switch.click()
    assert not page.locator("#caption").is_visible()


def test_it_is_small():
    assert len(gzip.compress(PAGE.read_bytes(), 9)) < 1.5e6


def test_a_link_reopens_the_same_state(page, open_page):
    page.evaluate("explorer.load(null)")
    page.evaluate("(actions) => explorer.run(actions.length, actions)", stream(3, 200))
    page.evaluate("explorer.explain(79, 41, { parts: [] })")
    page.click("#tab-ram")
    link, state = page.evaluate("explorer.link()"), page.evaluate("explorer.hash()")
    assert "view=ram" in link
    other = open_page(hash=link)
    assert other.evaluate("explorer.hash()") == state
    assert other.evaluate("explorer.frame") == 200
    assert other.locator("#ram").is_visible() and not other.locator("#why").is_visible()
    assert "79,41" in other.locator("#why-summary").text_content()


def test_a_link_keeps_stretches_of_every_length(page, open_page):
    """Numbers of links are in base 36: 33 frames are one letter, 1,188 two."""
    page.evaluate("explorer.load(null)")
    for frames, action in ((33, "RIGHT"), (1188, "NOOP"), (35, "LEFT"), (1, "FIRE")):
        page.evaluate("([frames, action]) => explorer.run(frames, action)", [frames, action])
    link, state = page.evaluate("explorer.link()"), page.evaluate("explorer.hash()")
    other = open_page(hash=link)
    assert (other.evaluate("explorer.frame"), other.evaluate("explorer.hash()")) == (33 + 1188 + 35 + 1, state)


def test_a_link_to_another_cartridge_asks_for_it(open_page):
    page = open_page(hash="#rom=0123456789abcdef&frame=3&in=0-3")
    assert "0123456789abcdef" in page.locator("#message").inner_text()


def test_a_broken_rom_says_so_and_changes_nothing(page):
    page.evaluate("explorer.load(null)")
    before = page.evaluate("explorer.hash()")
    page.set_input_files("#file", {"name": "broken.bin", "mimeType": "application/octet-stream", "buffer": b"\1\2\3"})
    page.wait_for_selector("#message:not([hidden])")
    assert "broken.bin" in page.locator("#message").inner_text()
    assert page.evaluate("explorer.hash()") == before


def test_a_dropped_rom_is_played(page):
    image = rom("pong")
    page.evaluate(
        """(bytes) => { const data = new DataTransfer(); data.items.add(new File([Uint8Array.from(bytes)], "pong.bin"));
        document.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true })); }""",
        list(image),
    )
    page.wait_for_function("document.getElementById('cartridge').textContent.startsWith('pong')")


@pytest.mark.parametrize("unit", ["frame", "line", "instruction", "clock"])
def test_steps_back_undo_steps_forward(page, unit):
    page.evaluate("explorer.load(null)")
    page.evaluate("explorer.run(60, 'RIGHT')")
    page.select_option("#unit", unit)
    page.click("#back")
    page.wait_for_function("document.getElementById('where').textContent !== 'frame 60'")
    there = page.locator("#where").inner_text()
    page.click("#back")
    page.wait_for_function(f"document.getElementById('where').textContent !== {there!r}")
    page.click("#forward")
    page.wait_for_function(f"document.getElementById('where').textContent === {there!r}")


def test_scrubbing_shows_the_earlier_frame(page):
    machine = load(page, None)
    page.evaluate("explorer.run(100, 'RIGHT')")
    for _ in range(40):
        machine.play("RIGHT")
    page.locator("#timeline").fill("40")
    page.wait_for_function("explorer.frame === 40")
    assert page.evaluate("explorer.hash()") == machine.hash()


def test_pointing_at_ram_marks_pixels(page):
    page.evaluate("explorer.load(null)")
    page.evaluate("explorer.run(60, 'RIGHT')")
    page.click("#tab-ram")
    page.wait_for_selector("#ram-map .draws")
    page.locator("#ram-map .draws").first.hover()
    page.wait_for_function("/move [1-9]/.test(document.getElementById('ram-note').textContent)")


def test_ram_has_the_meanings_of_the_annotations(page):
    """Byte 49 of Pong is the ball's column in the committed annotations (docs/annotations.md)."""
    load(page, "pong")
    page.evaluate("explorer.run(120, 'FIRE')")
    page.click("#tab-ram")
    page.wait_for_selector("#ram-map .known")
    page.locator("#ram-map button").nth(49).hover()
    page.wait_for_function("/Meaning: ball x/.test(document.getElementById('ram-note').textContent)")


def test_painting_changes_rom_bytes_and_exports_a_patch(page):
    page.evaluate("explorer.load(null)")
    page.evaluate("explorer.run(60, 'NOOP')")
    before = page.evaluate("[...explorer.picture()]")
    page.click("#tab-rom")
    page.check("#paint")
    box = page.locator("#picture").bounding_box()
    page.mouse.click(box["x"] + 0.535 * box["width"], box["y"] + 0.05 * box["height"])
    page.wait_for_selector("#patch:not([disabled])")
    assert page.evaluate("[...explorer.picture()]") != before
    with page.expect_download() as download:
        page.click("#patch")
    patch = download.value.path().read_bytes()
    machine = Machine(None)
    for _ in range(59):
        machine.play("NOOP")
    patched = machine.with_patch(patch)
    patched.restore(machine.saved())
    patched.play("NOOP")
    assert bytes(page.evaluate("[...explorer.picture()]")) == patched.picture()
    page.click("#undo")
    page.wait_for_selector("#patch[disabled]")
    assert page.evaluate("[...explorer.picture()]") == before


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(open_page, scheme):
    page = open_page(color_scheme=scheme)
    page.evaluate("explorer.load(null)")
    page.evaluate("explorer.run(60, 'RIGHT')")
    page.evaluate("explorer.explain(79, 41)")
    for tab in ("why", "ram", "rom", "code"):
        page.click(f"#tab-{tab}")
        page.wait_for_timeout(300)
        found = Axe().run(page).response["violations"]
        assert not found, [(v["id"], [n["html"][:80] for n in v["nodes"][:3]]) for v in found]


@pytest.mark.parametrize("size", SIZES)
def test_nothing_is_wider_than_the_window(open_page, size):
    width, height = SIZES[size]
    page = open_page(width, height, has_touch=size != "desktop", is_mobile=size == "phone")
    page.evaluate("explorer.load(null)")
    page.evaluate("explorer.run(50, 'RIGHT')")
    x, y, w, h = next(
        box for kind, *box in page.evaluate("explorer.objects()") if kind == 0 and box[1] > 20
    )  # the balloon
    page.evaluate(f"explorer.explain({x + w // 2}, {y + h // 4})")
    pictures = os.environ.get("DIFFVCS_WEB_PICTURES")
    if pictures:
        page.screenshot(path=f"{pictures}/web-{size}.png")
    for tab in ("why", "ram", "rom", "code"):
        page.click(f"#tab-{tab}")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator(".pad").is_visible() == (size != "desktop")


def test_the_notebook_widget_shows_the_machine(browser, tmp_path, monkeypatch):
    """What diffvcs.widget gives a notebook, in a page as a notebook shows it: an iframe with the machine's state."""
    monkeypatch.setenv("DIFFVCS_LIBRARY", str(ROOT / "build" / "libdiffvcs_python.so"))
    monkeypatch.syspath_prepend(str(ROOT / "python"))
    from diffvcs import Machine as PythonMachine
    from diffvcs import widget

    machine = PythonMachine("demo")
    for _ in range(45):
        machine.act("RIGHT")
    cell = tmp_path / "cell.html"
    cell.write_text(f"<!DOCTYPE html><title>A cell</title>{widget.explorer(machine)._repr_html_()}")
    page = browser.new_page()
    page.goto(cell.as_uri())
    frame = page.frames[1]
    frame.wait_for_function("window.explorer && explorer.ready")
    expected = f"{machine.hash():016x}"
    frame.wait_for_function(f"explorer.hash().then((hash) => hash === '{expected}')", timeout=60000)
    page.close()


def test_it_plays_embedded_without_permissions(browser, tmp_path):
    """In a frame of another origin, which may not use game pads: two files on a disk are two origins."""
    outer = tmp_path / "outer.html"
    outer.write_text(
        f'<!DOCTYPE html><title>Embedded</title><iframe src="{PAGE.as_uri()}" width=900 height=800></iframe>'
    )
    page, errors = browser.new_page(), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(outer.as_uri())
    page.frames[1].wait_for_function("window.explorer && explorer.frame > 30", timeout=60000)
    page.close()
    assert not errors


@pytest.mark.parametrize("game", [None, "space_invaders", "pitfall"])
def test_objects_are_the_native_ones(page, game):
    machine = load(page, game)
    actions = stream(5, 200)
    page.evaluate("(actions) => explorer.run(actions.length, actions)", actions)
    for action in actions[:-1]:
        machine.play(action)
    objects = machine.play_for_objects(actions[-1])
    assert any(kind < 2 for kind, *_ in objects)
    assert page.evaluate("explorer.objects()") == objects
