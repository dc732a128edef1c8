// memory.js: RAM as a map whose cells can be pointed at, and the cartridge as a map of bits that can be painted on.
import MEANINGS from "meanings";
import { PARTS, counted, element, hex } from "./why.js";

const byId = (id) => document.getElementById(id);
const CLASSES = ["idle", "state", "draws"]; // of cells, by what the byte does in this frame
const EFFECTS = ["does nothing in this frame", "changes RAM only", "moves pixels"];

export class RamMap {
  constructor(page) {
    this.page = page;
    this.last = null;
    this.cells = [];
    const map = byId("ram-map");
    for (let i = 0; i < 128; i++) {
      const cell = element("button", { type: "button", tabindex: i ? "-1" : "0" });
      for (const event of ["pointerenter", "focus"]) cell.addEventListener(event, () => this.point(i));
      cell.addEventListener("pointerleave", () => this.leave());
      cell.addEventListener("blur", () => this.leave());
      cell.addEventListener("keydown", (event) => this.move(event, i));
      this.cells.push(cell);
      map.append(cell);
    }
  }

  move(event, i) {
    const columns = getComputedStyle(byId("ram-map")).gridTemplateColumns.split(" ").length;
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[event.key];
    if (!by || i + by < 0 || i + by > 127) return;
    event.preventDefault();
    event.stopPropagation();
    this.cells[i].tabIndex = -1;
    this.cells[i + by].tabIndex = 0;
    this.cells[i + by].focus();
  }

  show(ram) {
    if (byId("ram").hidden) {
      this.last = ram;
      return;
    }
    this.cells.forEach((cell, i) => {
      cell.textContent = hex(ram[i]);
      cell.setAttribute("aria-label", `$${hex(0x80 + i)}: ${hex(ram[i])}`);
      cell.classList.toggle("changed", Boolean(this.last && this.last[i] !== ram[i]));
    });
    this.last = ram;
  }

  roles(roles) {
    this.found = roles;
    this.show(this.page.view.ram);
    this.cells.forEach((cell, i) => {
      cell.classList.remove(...CLASSES);
      cell.classList.add(CLASSES[roles[i]]);
      const meaning = this.meaning(i);
      cell.classList.toggle("known", Boolean(meaning));
      cell.setAttribute("aria-label", `$${hex(0x80 + i)}: ${hex(this.last[i])}, ${EFFECTS[roles[i]]}${meaning && `, ${meaning}`}`);
    });
  }

  // What the byte means in this game (docs/annotations.md), or "".
  meaning(i) {
    const known = MEANINGS[this.page.info.game];
    return (known && known[i]) || "";
  }

  async point(i) {
    const { page } = this;
    if (page.running || page.view.frame === page.view.first) {
      byId("ram-note").textContent = page.running ? "Pause (P): then the pixels that this byte moves light up." : "";
      return;
    }
    this.pointed = i;
    const { count, map } = await page.ask(0, "moves", { kind: "ram", index: i });
    if (this.pointed !== i) return;
    page.screen.map = map;
    page.screen.drawOverlay();
    const meaning = this.meaning(i);
    byId("ram-note").textContent = `$${hex(0x80 + i)} is ${hex(page.ramBefore()[i])} before this frame: its bits move ${counted(count, "pixel")}.${meaning && ` Meaning: ${meaning}.`}`;
  }

  leave() {
    this.pointed = null;
    this.page.screen.map = null;
    this.page.screen.drawOverlay();
  }
}

const COLUMN = 128; // bytes in a column of the map
const SCALE = 4;

export class RomMap {
  constructor(page) {
    this.page = page;
    this.canvas = byId("rom-map");
    this.kinds = null;
    this.canvas.addEventListener("click", (event) => page.guard(this.click(event)));
    this.canvas.addEventListener("pointermove", (event) => this.note(event));
    byId("undo").addEventListener("click", () => page.guard(this.write(page.original.slice())));
    byId("patch").addEventListener("click", () => page.guard(this.download()));
  }

  opened() {
    this.kinds = null;
    const columns = Math.ceil(this.page.image.length / COLUMN);
    this.canvas.width = columns * 9 * SCALE;
    this.canvas.height = COLUMN * SCALE;
    const changed = this.changes().length;
    byId("patch").disabled = byId("undo").disabled = !changed;
    this.draw();
  }

  changes() {
    const { image, original } = this.page;
    const list = [];
    for (let i = 0; i < image.length; i++) if (image[i] !== original[i]) list.push(i);
    return list;
  }

  uses(kinds) {
    this.kinds = kinds;
    this.draw();
  }

  draw() {
    const style = getComputedStyle(document.documentElement);
    const ink = ["--idle", "--data", "--operand", "--opcode"].map((name) => style.getPropertyValue(name));
    const warm = style.getPropertyValue("--warm");
    const g = this.canvas.getContext("2d");
    g.clearRect(0, 0, this.canvas.width, this.canvas.height);
    const { image, original } = this.page;
    for (let i = 0; i < image.length; i++) {
      const x = Math.floor(i / COLUMN) * 9;
      const y = i % COLUMN;
      g.fillStyle = ink[this.kinds ? this.kinds[i] & 15 : 0];
      for (let bit = 0; bit < 8; bit++) if ((image[i] >> (7 - bit)) & 1) g.fillRect((x + bit) * SCALE, y * SCALE, SCALE, SCALE - 1);
      if (image[i] === original[i]) continue;
      g.fillStyle = warm;
      g.fillRect((x + 8) * SCALE, y * SCALE, SCALE - 1, SCALE);
    }
  }

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = Math.floor(((event.clientX - box.left) / box.width) * (this.canvas.width / SCALE));
    const y = Math.floor(((event.clientY - box.top) / box.height) * COLUMN);
    const index = Math.floor(x / 9) * COLUMN + y;
    return x % 9 < 8 && index < this.page.image.length ? { index, bit: 7 - (x % 9) } : null;
  }

  note(event) {
    const at = this.at(event);
    const kinds = ["not used in the last frames", "data", "operand", "opcode"];
    if (at) byId("rom-note").textContent = `byte $${hex(at.index, 4)} is $${hex(this.page.image[at.index])}, bit ${at.bit}${this.kinds ? ": " + kinds[this.kinds[at.index] & 15] : ""}`;
  }

  async click(event) {
    const at = this.at(event);
    if (!at) return;
    if (byId("paint").checked) return this.paint(at);
    const { count, map } = await this.page.ask(0, "moves", { kind: "rom", index: at.index });
    this.page.screen.map = map;
    this.page.screen.drawOverlay();
    byId("rom-note").textContent = `byte $${hex(at.index, 4)} is $${hex(this.page.image[at.index])}: its bits move ${counted(count, "pixel")}.`;
  }

  paint({ index, bit }) {
    const image = this.page.image.slice();
    image[index] ^= 1 << bit;
    return this.write(image);
  }

  // Paints on the picture: of the data bits that decide the pixel, the one that moves the fewest pixels is flipped.
  async paintPixel({ x, y }) {
    const { page } = this;
    if (page.running) page.run(false);
    await page.turn;
    const answer = await page.ask(1, "explain", { target: `pixel:${x},${y}`, parts: PARTS.rom });
    let best = null;
    for (const { index, truth } of answer.rom) {
      if (answer.uses[index][0] !== 1) continue;
      for (let bit = 0; bit < 8; bit++) {
        if (!truth[bit]) continue;
        const { pixels } = await page.ask(0, "flip", { kind: "rom", index, bit });
        if (!best || pixels < best.pixels) best = { index, bit, pixels };
      }
    }
    if (!best) throw new Error("no byte of data in the cartridge decides this pixel: it cannot be painted");
    await this.paint(best);
    byId("rom-note").textContent = `byte $${hex(best.index, 4)} bit ${best.bit} flipped: ${counted(best.pixels, "pixel")} of this frame change${best.pixels === 1 ? "s" : ""}.`;
  }

  async write(image) {
    await this.page.edit(image);
    const changed = this.changes().length;
    byId("rom-note").textContent = changed ? `${counted(changed, "byte")} differ${changed === 1 ? "s" : ""} from the original.` : "The image is the original again.";
  }

  async download() {
    const { page } = this;
    const patch = await page.player.call("patch", { before: page.original, after: page.image });
    const link = element("a", { download: `${page.cartridge.name || "contour"}.ips`, href: URL.createObjectURL(new Blob([patch])) });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
}
