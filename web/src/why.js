// why.js: the answer to a click, drawn as it arrives: objects and RAM first, then register writes, instructions, buttons and
// ROM, then the derivatives by each method. Every bit is a button: pressed, it shows the picture with that bit flipped.
import { INPUTS } from "./controls.js";

export const PARTS = { objects: 32, writes: 1, ram: 2, rom: 4, inputs: 8, methods: 16 };
export const OBJECTS = ["player 0", "player 1", "missile 0", "missile 1", "the ball", "the playfield"];
const LINES = 12; // rows of a table before "Show all"

// "1 pixel", "2 pixels".
export const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

export const hex = (number, digits = 2) => number.toString(16).toUpperCase().padStart(digits, "0");

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

export class Why {
  // `page` has screen, flip(place), goTo(clock) and ram: what the panel needs of the explorer.
  constructor(root, page) {
    this.root = root;
    this.page = page;
  }

  begin(pixel, value) {
    this.pixel = pixel;
    this.value = value;
    this.sections = {};
    this.root.replaceChildren();
    const summary = element("p", { class: "lead", id: "why-summary", role: "status" });
    this.root.append(summary);
    for (const name of ["writes", "instructions", "ram", "rom", "inputs", "methods"]) {
      this.sections[name] = element("div", { id: `why-${name}` });
      this.root.append(this.sections[name]);
    }
    this.summary = summary;
    this.say([]);
  }

  swatch(index) {
    return element("span", { class: "swatch", style: `background:${this.page.screen.css(index)}` });
  }

  say(objects) {
    const drawn = OBJECTS.filter((_, i) => objects[i]);
    const by = drawn.length ? `drawn by ${drawn.join(" and ")}` : objects.length ? "background: no object draws it" : "";
    this.summary.replaceChildren(this.swatch(this.value), `Pixel ${this.pixel.x},${this.pixel.y}, colour $${hex(this.value)}${by ? ", " + by : ""}.`);
  }

  section(name, title, count, ...children) {
    this.sections[name].replaceChildren(
      element("h2", {}, title, " ", element("span", { class: "count" }, count === null ? "" : `${count}`)), ...children);
  }

  // A table that scrolls sideways where the window is narrow, and shows its first rows until "all" is pressed.
  table(caption, head, rows, lines = LINES) {
    const body = element("tbody", {}, ...rows.slice(0, lines));
    const table = element("table", {}, element("caption", { class: "visually-hidden" }, caption),
      element("thead", {}, element("tr", {}, ...head.map((text) => element("th", { scope: "col" }, text)))), body);
    const wide = element("div", { class: "wide", role: "region", "aria-label": caption, tabindex: "0" }, table);
    if (rows.length <= lines) return wide;
    const more = element("button", { type: "button" }, `Show all ${rows.length}`);
    more.addEventListener("click", () => {
      body.append(...rows.slice(lines));
      more.remove();
    });
    return element("div", {}, wide, more);
  }

  // What the pixel becomes when a bit that is `set` or not is flipped, the truth being F(1) - F(0).
  other(truth, set) {
    return this.value + (set ? -truth : truth);
  }

  bit(place, name, truth, set) {
    if (!truth) return element("button", { type: "button", class: "none", disabled: true, "aria-label": `${name}: no effect` }, set ? "1" : "0");
    const other = this.other(truth, set);
    const button = element("button", {
      type: "button", "aria-pressed": "false", "data-place": JSON.stringify(place),
      "aria-label": `flip ${name}: the pixel becomes colour $${hex(other)}`, title: `${name}: ${set ? 1 : 0} becomes ${set ? 0 : 1}, the pixel becomes $${hex(other)}`,
      style: `border-bottom-color:${this.page.screen.css(other)}`,
    }, set ? "1" : "0");
    button.addEventListener("click", () => this.page.toggleFlip(place, name, button));
    return button;
  }

  bits(kind, index, name, truths, byte) {
    const row = element("span", { class: "bits" });
    for (let bit = 7; bit >= 0; bit--) row.append(this.bit({ kind, index, bit }, `${name} bit ${bit}`, truths[bit], (byte >> bit) & 1));
    return row;
  }

  showRam(answer, ram) {
    this.say(answer.objects);
    const rows = answer.ram.filter((r) => r.truth.some(Boolean)).map((r) => {
      const name = `$${hex(0x80 + r.index)}`;
      return element("tr", {}, element("td", { class: "mono" }, name), element("td", { class: "mono" }, hex(ram[r.index])),
        element("td", {}, this.bits("ram", r.index, name, r.truth, ram[r.index])));
    });
    this.section("ram", "RAM bits", rows.length ? counted(rows.length, "byte") : "none decides it in this frame",
      ...(rows.length ? [this.table("Bytes of RAM that decide this pixel", ["byte", "value", "bits: flip it and see"], rows)] : []));
  }

  showWrites(answer) {
    const text = new Map(answer.instructions.map(([row, pc, , instruction]) => [row, `${hex(pc, 4)} ${instruction}`]));
    const rows = answer.writes.map((w) => {
      const line = Math.floor(w.clock / 228);
      const go = element("button", { type: "button", "aria-label": `go to line ${line}, clock ${w.clock % 228}` }, `${line}:${w.clock % 228}`);
      go.addEventListener("click", () => this.page.goToClock(w.clock));
      const bits = w.value < 0 ? "" : [7, 6, 5, 4, 3, 2, 1, 0].map((b) => ((w.bits >> b) & 1 ? (w.value >> b) & 1 : "·")).join("");
      return element("tr", {}, element("td", { class: "mono" }, w.register), element("td", { class: "mono" }, w.value < 0 ? "" : `$${hex(w.value)}`),
        element("td", { class: "mono" }, bits), element("td", {}, go), element("td", { class: "mono" }, text.get(w.row) || ""));
    });
    this.section("writes", "Register writes", rows.length ? "" : "none in this frame",
      ...(rows.length ? [this.table("Register writes that decide this pixel", ["register", "value", "bits", "line:clock", "instruction"], rows)] : []));
    const list = answer.instructions.map(([, pc, clock, instruction]) => element("tr", {},
      element("td", { class: "mono" }, `${Math.floor(clock / 228)}:${clock % 228}`), element("td", { class: "mono" }, hex(pc, 4)), element("td", { class: "mono" }, instruction)));
    this.section("instructions", "Instructions", `${list.length} computed those values`,
      ...(list.length ? [this.table("Instructions that computed the values", ["line:clock", "address", "instruction"], list, 4)] : []));
  }

  showInputs(answer, frames) {
    const held = (input, frame) => this.page.heldIn(input, frame - frames);
    const rows = answer.inputs.filter((r) => r.truth[0]).map((r) => {
      const input = r.index % INPUTS.length;
      const frame = Math.floor(r.index / INPUTS.length);
      const back = frames - frame;
      const was = held(input, frame);
      const ago = `${counted(back - 1, "frame")} ago`;
      const name = `${INPUTS[input].toUpperCase()} ${back === 1 ? "in this frame" : ago}`;
      return element("tr", {}, element("td", {}, `${INPUTS[input].toUpperCase()}`), element("td", {}, back === 1 ? "this frame" : ago),
        element("td", {}, was ? "held" : "free"),
        element("td", {}, element("span", { class: "bits" }, this.bit({ kind: "input", index: input, frame }, name, r.truth[0], was))));
    });
    this.section("inputs", "Buttons", rows.length ? "" : `none of the last ${frames} frames decides it`,
      ...(rows.length ? [this.table("Buttons that decide this pixel", ["button", "when", "it was", "flip it and see"], rows)] : []));
  }

  showRom(answer, image) {
    const kinds = ["", "data", "operand", "opcode"];
    const rows = answer.rom.filter((r) => r.truth.some(Boolean)).map((r) => {
      const [kind, where, what] = answer.uses[r.index];
      return element("tr", {}, element("td", { class: "mono" }, where), element("td", { class: "mono" }, hex(image[r.index])),
        element("td", {}, this.bits("rom", r.index, `ROM ${where}`, r.truth, image[r.index])), element("td", { class: "mono" }, what || kinds[kind]));
    });
    this.section("rom", "ROM bytes", `${rows.length}`,
      ...(rows.length ? [this.table("Bytes of ROM that decide this pixel", ["address", "value", "bits: flip it and see", "use"], rows)] : []));
  }

  showMethods(answer) {
    const number = (n) => (n === null ? "overflow" : n ? String(Number(n.toPrecision(3))) : "0");
    const rows = [];
    for (const r of answer.ram) {
      for (let bit = 7; bit >= 0; bit--) {
        if (!r.truth[bit] && !r["bit+fork"][bit] && !r.ste[bit]) continue;
        rows.push(element("tr", {}, ...[`$${hex(0x80 + r.index)}.${bit}`, number(r.truth[bit]), number(r["bit+fork"][bit]), number(r.ste[bit])]
          .map((cell) => element("td", { class: "mono" }, cell))));
      }
    }
    this.section("methods", "Methods beside the truth", rows.length ? "the pixel with the bit set minus with it clear" : "nothing to compare",
      ...(rows.length ? [this.table("Derivatives by RAM bits", ["RAM bit", "truth", "bit+fork", "ste"], rows)] : []));
  }

  failed(name, error) {
    this.section(name, name, "", element("p", {}, error.message));
  }
}
