"""What the explorer shows beside the answer to a click: overlays, memory maps, the listing, the methods (docs/web.md)."""

import pytest
from native import Machine

# Pixels of the overlay's canvas that are not transparent.
MARKS = """(() => { const c = document.getElementById("overlay");
  const { data } = c.getContext("2d").getImageData(0, 0, c.width, c.height);
  let n = 0; for (let i = 3; i < data.length; i += 4) n += data[i] > 0; return n; })()"""


@pytest.fixture
def paused(page):
    """The page, standing still 60 frames after Contour began."""
    page.evaluate("explorer.load(null)")
    page.evaluate("explorer.run(60, 'RIGHT')")
    assert page.evaluate(MARKS) == 0
    return page


def test_a_pointed_byte_of_ram_is_drawn_on_the_screen(paused):
    paused.click("#tab-ram")
    paused.wait_for_selector("#ram-map .draws")
    paused.locator("#ram-map .draws").first.hover()
    paused.wait_for_function(f"{MARKS} > 0")
    paused.mouse.move(5, 5)
    paused.wait_for_function(f"{MARKS} === 0")


def test_ram_has_a_role_for_every_byte(paused):
    """Natively: a byte draws if one of its bits, flipped before the last frame, moves a pixel of it."""
    machine = Machine(None)
    for _ in range(59):
        machine.play("RIGHT")
    before = machine.saved()
    machine.play("RIGHT")
    picture = machine.picture()
    draws = []
    for byte in range(128):
        moved = False
        for bit in range(8):
            machine.restore(before)
            machine.flip_ram(byte, bit)
            machine.play("RIGHT")
            moved = moved or machine.picture() != picture
        draws.append(moved)
    assert any(draws) and not all(draws)
    paused.click("#tab-ram")
    paused.wait_for_selector("#ram-map .draws")
    classes = paused.locator("#ram-map button").evaluate_all("(cells) => cells.map((c) => c.className.split(' '))")
    assert all(len({"draws", "state", "idle"} & set(names)) == 1 for names in classes)
    assert ["draws" in names for names in classes] == draws


def test_while_it_plays_pointing_at_ram_says_to_pause(page):
    page.click("#tab-ram")
    page.locator("#ram-map button").first.hover()
    assert "Pause" in page.locator("#ram-note").inner_text()


def test_a_held_key_shows_where_it_acts(paused):
    """The box is ticked with the mouse, so it has the focus: arrows still belong to the game."""
    paused.check("#show-keys")
    paused.keyboard.down("ArrowUp")
    paused.wait_for_function(f"{MARKS} > 0")
    paused.keyboard.up("ArrowUp")
    paused.wait_for_function(f"{MARKS} === 0")
    paused.click("#run")
    paused.keyboard.down("ArrowUp")
    paused.wait_for_function(f"{MARKS} > 0")
    paused.keyboard.up("ArrowUp")


@pytest.mark.parametrize("box", ["#show-boxes", "#show-beam"])
def test_overlays_are_drawn_when_paused_and_while_it_plays(paused, box):
    paused.check(box)
    paused.wait_for_function(f"{MARKS} > 0")
    paused.uncheck(box)
    paused.wait_for_function(f"{MARKS} === 0")
    paused.click("#run")
    paused.check(box)
    paused.wait_for_function(f"{MARKS} > 0")
    paused.uncheck(box)
    paused.wait_for_function(f"{MARKS} === 0")


def test_the_rom_map_shows_the_bits_of_the_image(paused):
    """Each set bit of the image is a square of the map; the colours tell what the frame used the byte for."""
    paused.click("#tab-rom")
    squares = """(() => { const c = document.getElementById("rom-map"), g = c.getContext("2d");
      const { data } = g.getImageData(0, 0, c.width, c.height), bits = [], colours = new Set();
      for (let byte = 0; byte < 4096; byte++) for (let bit = 0; bit < 8; bit++) {
        const x = (Math.floor(byte / 128) * 9 + bit) * 4 + 1, y = (byte % 128) * 4 + 1, at = 4 * (y * c.width + x);
        bits.push(data[at + 3] > 0 ? 1 : 0);
        if (data[at + 3]) colours.add(data.slice(at, at + 3).join());
      }
      return { bits: bits.join(""), colours: colours.size }; })()"""
    paused.wait_for_function(f"{squares}.colours === 4")
    image = Machine(None).image
    assert paused.evaluate(squares)["bits"] == "".join(f"{byte:08b}" for byte in image)


def test_a_click_on_the_rom_map_shows_what_the_byte_moves(paused):
    paused.click("#tab-rom")
    answer = paused.evaluate("explorer.explain(79, 41, { parts: ['rom'] })")
    index = answer["rom"][0]["index"]
    paused.click("#tab-rom")
    column, row = index // 128, index % 128
    paused.locator("#rom-map").click(position={"x": (9 * column + 3) * 4 + 2, "y": 4 * row + 2})
    paused.wait_for_function("/move [1-9]/.test(document.getElementById('rom-note').textContent)")
    assert not paused.locator("#message").is_visible()
    assert paused.evaluate(MARKS) > 0


def test_a_click_on_the_rom_map_flips_a_bit_with_paint_on(paused):
    paused.click("#tab-rom")
    paused.check("#paint")
    paused.locator("#rom-map").click(position={"x": 4 * 3 + 2, "y": 4 * 5 + 2})  # byte 5, the fourth bit from the left
    paused.wait_for_selector("#patch:not([disabled])")
    assert paused.locator("#rom-note").inner_text() == "1 byte differs from the original."
    with paused.expect_download() as download:
        paused.click("#patch")
    image = Machine(None).image
    changed = bytes([image[5] ^ 0x10])
    assert download.value.path().read_bytes() == b"PATCH" + b"\0\0\5" + b"\0\1" + changed + b"EOF"


def test_the_listing_follows_the_steps(paused):
    paused.select_option("#unit", "instruction")
    paused.click("#back")
    paused.wait_for_selector("#listing .here")
    seen = []
    for _ in range(4):
        row = paused.locator("#listing .here")
        assert row.count() == 1
        cells = row.locator("td").all_inner_texts()
        registers = paused.locator("#registers").inner_text()
        assert f"PC={cells[2]}" in registers
        seen.append(cells)
        where = paused.locator("#where").inner_text()
        assert where.endswith(f"line {cells[0]} · clock {cells[1]}")
        paused.click("#back")
        paused.wait_for_function(f"document.getElementById('where').textContent !== {where!r}")
    clocks = [int(cells[0]) * 228 + int(cells[1]) for cells in seen]
    assert clocks == sorted(set(clocks), reverse=True)


def test_a_register_write_leads_to_its_instruction(paused):
    paused.evaluate("explorer.explain(79, 41)")
    button = paused.locator("#why-writes td button").first
    at = button.inner_text().split(":")
    button.click()
    paused.wait_for_selector("#listing .here")
    assert paused.locator("#where").inner_text().endswith(f"line {at[0]} · clock {at[1]}")


def test_the_methods_stand_beside_the_truth(paused):
    answer = paused.evaluate("explorer.explain(79, 41)")
    heads = paused.locator("#why-methods th").all_inner_texts()
    assert heads == ["RAM bit", "truth", "bit+fork", "ste"]
    truths = {(row["index"], bit): row["truth"][bit] for row in answer["ram"] for bit in range(8) if row["truth"][bit]}
    listed = {(r["index"], b): r["truth"][b] for r in answer["methods"] for b in range(8) if r["truth"][b]}
    assert listed == truths and truths
