// code.js: lists the instructions of the frame that is shown, and moves between them. A position in a frame is a colour clock;
// its machine is the state before the instruction that is executing then. A move in either direction runs the frame again up
// to the position.
import { element, hex } from "./why.js";

const byId = (id) => document.getElementById(id);
const AROUND = 12; // rows shown before and behind the present one

export class Code {
  constructor(page) {
    this.page = page;
    this.beam = null; // null: the frame is complete
    this.rows = [];
  }

  async trace() {
    this.rows = await this.page.ask(0, "trace");
    return this.rows;
  }

  // The instruction under way at a clock.
  rowAt(clock) {
    let low = 0;
    let high = this.rows.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.rows[middle][1] <= clock) low = middle;
      else high = middle;
    }
    return low;
  }

  get end() {
    return this.rows[this.rows.length - 1][2];
  }

  async refresh() {
    await this.trace();
    if (this.beam === null) this.list(this.rows.length - 1, null);
    else await this.goTo(this.beam);
  }

  async step(unit, direction) {
    const { page } = this;
    await this.trace();
    const from = this.beam === null ? this.end : this.beam;
    const row = this.beam === null ? this.rows.length : this.rowAt(from);
    let clock;
    if (unit === "instruction") clock = row + direction < this.rows.length && row + direction >= 0 ? this.rows[row + direction][1] : direction < 0 ? -1 : this.end + 1;
    else clock = from + direction * (unit === "line" ? 228 : 1);
    if (clock < this.rows[0][1]) {
      if (page.view.frame - 1 <= page.view.first) return this.goTo(this.rows[0][1]);
      await page.goTo(page.view.frame - 1);
      await this.trace();
      return this.goTo(unit === "instruction" ? this.rows[this.rows.length - 1][1] : this.end - 1);
    }
    if (clock >= this.end) {
      if (page.view.frame < page.view.end) await page.goTo(page.view.frame + 1);
      else await page.step(page.controls.take());
      await this.trace();
      return this.goTo(this.rows[0][1]);
    }
    return this.goTo(clock);
  }

  async goTo(clock) {
    const { page } = this;
    if (!this.rows.length) await this.trace();
    const row = this.rowAt(clock);
    const { fields, picture } = await page.ask(0, "at", { row });
    this.beam = clock;
    const [x, y] = page.position(clock);
    page.screen.beam = { x, y };
    page.screen.other = picture;
    page.screen.draw();
    page.showWhere();
    this.list(row, fields);
  }

  list(present, fields) {
    const first = Math.max(0, present - AROUND);
    const shown = this.rows.slice(first, present + AROUND + 1);
    byId("listing").replaceChildren(...shown.map(([pc, clock, , , text], i) => element("tr", first + i === present && fields ? { class: "here", "aria-current": "step" } : {},
      ...[Math.floor(clock / 228), clock % 228, hex(pc, 4), text].map((cell) => element("td", { class: "mono" }, String(cell))))));
    if (!fields) {
      byId("registers").textContent = `The frame is complete: ${this.rows.length} instructions. Step back by instruction, line or clock.`;
      return;
    }
    const flags = [..."NV1BDIZC"].map((name, i) => ((fields.p >> (7 - i)) & 1 ? name : ".")).join("");
    byId("registers").textContent = `A=${hex(fields.a)} X=${hex(fields.x)} Y=${hex(fields.y)} SP=${hex(fields.sp)} ${flags}  PC=${hex(fields.pc, 4)}`;
  }
}
