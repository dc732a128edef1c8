// app.js: the explorer's state: the game that is played, the view, and the current question.
//
// One worker plays; two more answer questions about the frame that is shown, so that neither the game nor the page waits for
// them. `Explorer` is the whole state; window.explorer is the part of it that pages and tests drive (docs/web.md).
import WORKER from "worker-text";
import { Engine, Student } from "./engine.js";
import { Controls, INPUTS, controlsOf } from "./controls.js";
import { Screen } from "./screen.js";
import { Sound } from "./sound.js";
import { decodeLink, encodeLink, idle } from "./link.js";
import { PARTS, Why, counted } from "./why.js";
import { RamMap, RomMap } from "./memory.js";
import { Code } from "./code.js";

const HORIZON = 8; // frames back in which buttons are tried
const RATE = 60; // frames a second
const byId = (id) => document.getElementById(id);

class Explorer {
  constructor() {
    this.player = new Engine(WORKER);
    this.students = null; // started when the first picture is there (warmUp)
    this.screen = new Screen(byId("picture"), byId("overlay"));
    this.controls = new Controls();
    this.sound = new Sound();
    this.why = new Why(byId("why-answer"), this);
    this.ram = new RamMap(this);
    this.rom = new RomMap(this);
    this.code = new Code(this);
    this.running = false;
    this.timeline = 0; // counts changes of the past, so that a frame number and it name a moment
    this.questions = 0; // how many were asked: the answer to an earlier one is not shown
    this.pixel = null;
    this.flipped = null;
    this.turn = Promise.resolve(); // calls that change the present come one after the other
    this.wire();
  }

  // ---- Cartridges ------------------------------------------------------------------------------------------------

  async open(cartridge, { keepPlace } = {}) {
    const opened = await this.player.call("open", cartridge);
    if (!keepPlace) this.original = opened.image;
    this.cartridge = cartridge;
    Object.assign(this, { info: opened.info, image: opened.image });
    this.screen.open(opened.info.height, opened.info.top, opened.palette);
    this.controls.paddles = opened.info.left === "paddles";
    this.timeline++;
    this.show(opened.view);
    const name = cartridge.image ? cartridge.name || "cartridge" : "Contour, our own cartridge";
    byId("cartridge").textContent = `${opened.info.game || name} · ${opened.info.size / 1024} KiB · ${opened.info.scheme} · ${opened.info.format}`;
    this.rom.opened();
    return opened.info;
  }

  // What a cartridge is called in links: the beginning of its image's SHA-256.
  get name() {
    return this.info.sha256.slice(0, 16);
  }

  async openFile(file) {
    try {
      const bytes = new Uint8Array(await file.arrayBuffer());
      await this.open({ image: bytes, patch: null, name: file.name.replace(/\.(bin|a26|rom)$/i, "") });
      this.say("");
      if (this.wanted && this.wanted.rom === this.name) await this.follow(this.wanted);
      else this.run(true);
    } catch (error) {
      this.say(`${file.name}: ${error.message}`);
    }
  }

  // Another image in the same console, as if it had been there for the last frame.
  async edit(image) {
    const run = await this.player.call("exportRun", { frames: 1 });
    const same = image.every((byte, i) => byte === this.original[i]);
    const patch = same ? null : await this.player.call("patch", { before: this.original, after: image });
    await this.open({ ...this.cartridge, patch }, { keepPlace: true });
    this.show(await this.player.call("importRun", { run }));
    this.timeline++;
    this.refresh();
    return patch;
  }

  say(message) {
    byId("message").hidden = !message;
    byId("message").textContent = message;
  }

  // ---- Time ------------------------------------------------------------------------------------------------------

  show(view) {
    this.view = view;
    this.code.beam = null;
    this.screen.shown = view.picture;
    this.screen.other = null;
    this.screen.beam = null;
    this.flipped = null;
    byId("caption").hidden = true;
    if (!this.running) this.screen.map = null;
    this.screen.draw();
    this.ram.show(view.ram);
    const slider = byId("timeline");
    slider.min = view.first;
    slider.max = view.end;
    slider.value = view.frame;
    slider.setAttribute("aria-valuetext", `frame ${view.frame} of ${view.end}`);
    this.showWhere();
  }

  showWhere() {
    const { beam } = this.code;
    const where = beam === null ? "" : ` · line ${Math.floor(beam / 228)} · clock ${beam % 228}`;
    byId("where").textContent = `frame ${this.view.frame}${where}`;
  }

  // Runs `change` after the changes before it.
  change(change) {
    const done = this.turn.then(change);
    this.turn = done.catch(() => {});
    return done;
  }

  step(controls, count = 1, sound = false) {
    return this.change(async () => {
      if (this.view.frame < this.view.end) this.timeline++;
      const view = await this.player.call("play", { controls, count, sound });
      if (sound) this.sound.play(view.sound, this.info.rate);
      this.show(view);
    });
  }

  goTo(frame) {
    return this.change(async () => this.show(await this.player.call("go", { frame })));
  }

  run(on) {
    this.running = on;
    byId("run").textContent = on ? "Pause" : "Play";
    byId("run").setAttribute("aria-pressed", String(on));
    if (on) {
      this.questions++;
      this.pixel = this.screen.cursor = this.screen.boxes = this.screen.writes = this.screen.map = null;
      this.due = performance.now();
      requestAnimationFrame((time) => this.tick(time));
    } else {
      this.refresh();
    }
  }

  // Once a refresh of the display: a frame if one is due. A page that was hidden does not catch up.
  async tick(time) {
    if (!this.running) return;
    requestAnimationFrame((next) => this.tick(next));
    if (time - this.due > 250) this.due = time;
    if (this.stepping || time < this.due) return;
    this.due += 1000 / RATE;
    this.stepping = true;
    try {
      await this.step(this.controls.take(), 1, this.sound.on);
      this.refreshSome();
    } finally {
      this.stepping = false;
    }
  }

  // ---- Questions -------------------------------------------------------------------------------------------------

  // The run that ends with the frame that is shown.
  setup(frames = HORIZON) {
    const moment = `${this.timeline}:${this.view.frame}:${frames}`;
    if (!this.exported || this.exported.moment !== moment) {
      this.exported = { moment, run: this.player.call("exportRun", { frames }) };
    }
    const { run } = this.exported;
    return { cartridge: this.cartridge, moment, frames, run: () => run };
  }

  ask(which, call, args) {
    this.warmUp();
    return this.students[which].ask(this.setup(), call, args);
  }

  // Starts the workers that answer.
  warmUp() {
    this.students ||= [new Student(WORKER), new Student(WORKER)];
  }

  // Asks both workers a question whose answer is not shown, so that the browser has compiled the library before the first click.
  async rehearse() {
    const target = "pixel:100,80";
    await this.turn;
    if (this.view.frame === this.view.first) return;
    await Promise.all([
      this.ask(0, "explain", { target, parts: PARTS.ram | PARTS.writes | PARTS.inputs }),
      this.ask(1, "explain", { target, parts: PARTS.rom }),
    ]);
  }

  // Explains a pixel, and draws each part of the answer when it arrives. RAM always comes; `parts` names what else does.
  async explain(pixel, parts = ["writes", "rom", "inputs", "methods"]) {
    if (this.view.frame === this.view.first) throw new Error("play a frame first: there is no past to look at");
    if (this.running) {
      this.run(false);
      await this.turn;
    }
    const question = ++this.questions;
    const { view } = this;
    const target = `pixel:${pixel.x},${pixel.y}`;
    const began = performance.now();
    const answer = { x: pixel.x, y: pixel.y, value: view.picture[pixel.y * 160 + pixel.x], milliseconds: {} };
    this.pixel = pixel;
    this.screen.cursor = pixel;
    this.screen.other = this.screen.map = this.flipped = null;
    byId("caption").hidden = true;
    this.screen.draw();
    this.select("why");
    this.why.begin(pixel, answer.value);
    const past = await this.player.call("inputs");
    this.held = past;
    const part = async (name, which, parts, draw) => {
      const result = await this.ask(which, "explain", { target, parts });
      answer.milliseconds[name] = Math.round(performance.now() - began);
      Object.assign(answer, result);
      if (question === this.questions) draw(result);
    };
    await part("ram", 0, PARTS.ram, (a) => this.why.showRam(a, this.ramBefore()));
    await Promise.all([
      parts.includes("writes") && part("writes", 0, PARTS.writes, (a) => this.why.showWrites(a)),
      parts.includes("rom") && part("rom", 1, PARTS.rom, (a) => this.why.showRom(a, this.image)),
      parts.includes("inputs") && part("inputs", 0, PARTS.inputs, (a) => this.why.showInputs(a, a.frames)),
    ]);
    if (parts.includes("methods")) {
      const methods = await this.ask(1, "explain", { target, parts: PARTS.ram | PARTS.methods });
      answer.milliseconds.methods = Math.round(performance.now() - began);
      answer.methods = methods.ram;
      if (question === this.questions) this.why.showMethods(methods);
    }
    return answer;
  }

  // RAM before the last frame, where its bits are flipped.
  ramBefore() {
    return this.before || this.view.ram;
  }

  // Whether an input was held, `back` frames before the one shown (-1 is the last one).
  heldIn(input, back) {
    let frame = this.view.frame + back;
    let at = this.held.first;
    for (const [controls, count] of this.held.list) {
      if (frame < at + count) {
        if (input >= 10) return (controls.console >> (input - 10)) & 1;
        return (controls.held[Math.floor(input / 5)] >> input % 5) & 1;
      }
      at += count;
    }
    return 0;
  }

  // Shows the other picture; `place` is {kind: "ram" | "rom" | "input", index, bit, frame}.
  async flip(place) {
    const result = await this.ask(0, "flip", place);
    this.screen.other = result.picture;
    this.screen.map = null;
    this.screen.draw();
    return result;
  }

  unflip() {
    if (this.flipped) this.flipped.setAttribute("aria-pressed", "false");
    this.flipped = null;
    this.screen.other = null;
    byId("caption").hidden = true;
    this.screen.draw();
  }

  async toggleFlip(place, name, button) {
    const off = this.flipped === button;
    this.unflip();
    if (off) return;
    button.setAttribute("aria-pressed", "true");
    this.flipped = button;
    const result = await this.flip(place);
    if (this.flipped !== button) return;
    byId("picture").scrollIntoView({ block: "nearest" }); // on a phone it may be far above the switch
    byId("caption").hidden = false;
    byId("caption").textContent = `${name} flipped: ${counted(result.pixels, "pixel")} and ${counted(result.ram, "byte")} of RAM differ. Press again to go back.`;
  }

  // ---- What is drawn over the picture ------------------------------------------------------------------------------

  // While the game plays, an idle worker gets the question, and its answer is drawn even if it is late.
  async refreshSome() {
    const boxes = byId("show-boxes").checked;
    const beam = byId("show-beam").checked;
    const keys = byId("show-keys").checked && this.controls.mask;
    if (!keys && this.running) this.screen.map = null;
    if ((!boxes && !beam && !keys) || this.refreshing || this.view.frame === this.view.first) return;
    this.refreshing = true;
    try {
      // A box may have been cleared, or a key let go, before the answer is here.
      const found = boxes && (await this.ask(0, "objects"));
      if (boxes) this.screen.boxes = byId("show-boxes").checked ? found : null;
      const writes = beam && (await this.beamAtWrites());
      if (beam) this.screen.writes = byId("show-beam").checked ? writes : null;
      const acts = keys && (await this.ask(0, "acts", { inputs: keys }));
      if (keys) this.screen.map = byId("show-keys").checked && this.controls.mask ? acts.map : null;
      this.screen.drawOverlay();
    } finally {
      this.refreshing = false;
    }
  }

  // What is shown of a frame that stands still.
  async refresh() {
    if (this.running || !this.view || this.view.frame === this.view.first) return;
    const { moment } = this.setup();
    const here = () => !this.running && this.setup().moment === moment;
    const start = await this.ask(0, "at", { row: 0 });
    if (here()) this.before = Uint8Array.from(start.fields.ram);
    this.screen.boxes = byId("show-boxes").checked ? await this.ask(0, "objects") : null;
    this.screen.writes = byId("show-beam").checked ? await this.beamAtWrites() : null;
    if (here()) this.screen.drawOverlay();
    if (!byId("ram").hidden) this.ram.roles(await this.ask(0, "ramRoles"));
    if (!byId("rom").hidden) this.rom.uses(await this.ask(1, "romUses"));
    if (!byId("code").hidden) await this.code.refresh();
  }

  // The pixels at which the beam is when the frame writes to registers.
  async beamAtWrites() {
    return (await this.ask(0, "writes")).map((clock) => this.position(clock));
  }

  // The pixel at which the beam is at a clock of the frame.
  position(clock) {
    return [(clock % 228) - 68, Math.floor(clock / 228) - this.info.top];
  }

  // ---- Links -----------------------------------------------------------------------------------------------------

  async link() {
    const { first, list } = await this.player.call("inputs");
    if (first > 0) throw new Error("this game's beginning is no longer in memory: a link would not replay it");
    return encodeLink({ rom: this.name, frame: this.view.frame, pixel: this.pixel, view: this.selected, inputs: list });
  }

  async follow(link) {
    this.wanted = link;
    if (link.rom !== this.name) {
      this.run(false);
      this.say(`This link is about a cartridge whose SHA-256 begins with ${link.rom}. Drop its image here to follow it.`);
      return;
    }
    this.wanted = null;
    this.run(false);
    await this.open(this.cartridge);
    await this.change(async () => this.show(await this.player.call("playList", { list: link.inputs })));
    if (link.frame < this.view.frame) await this.goTo(link.frame);
    if (link.view && byId(`tab-${link.view}`)) this.select(link.view);
    if (link.pixel && link.pixel.x < 160 && link.pixel.y < this.info.height) {
      await this.explain(link.pixel);
      if (link.view) this.select(link.view);
    }
    this.refresh();
  }

  // ---- The page ----------------------------------------------------------------------------------------------------

  select(name) {
    this.selected = name;
    for (const tab of document.querySelectorAll('[role="tab"]')) {
      const on = tab.id === `tab-${name}`;
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
      byId(tab.getAttribute("aria-controls")).hidden = !on;
    }
  }

  async stepBy(direction) {
    const unit = byId("unit").value;
    if (this.running) this.run(false);
    await this.turn;
    if (unit === "frame") {
      if (direction < 0) await this.goTo(this.view.frame - 1);
      else if (this.view.frame < this.view.end) await this.goTo(this.view.frame + 1);
      else await this.step(this.controls.take());
      await this.refresh();
    } else {
      this.select("code");
      await this.code.step(unit, direction);
    }
  }

  async goToClock(clock) {
    this.select("code");
    await this.code.goTo(clock);
  }

  keyDown(event) {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== "checkbox";
    if (event.ctrlKey || event.metaKey || event.altKey || typing) return;
    if (event.code === "KeyP") return this.run(!this.running);
    if (event.code === "Escape") return this.unflip();
    const { activeElement } = document;
    if (!this.running && activeElement === byId("picture")) {
      const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.code];
      if (move) {
        const at = this.screen.cursor || { x: 80, y: this.info.height >> 1 };
        this.screen.cursor = { x: (at.x + move[0] + 160) % 160, y: (at.y + move[1] + this.info.height) % this.info.height };
        this.screen.drawOverlay();
        return event.preventDefault();
      }
      if (event.code === "Enter" && this.screen.cursor) return this.guard(this.explain(this.screen.cursor));
    }
    // Space presses a button or ticks a box; arrows scroll a region that has the focus, unless the game plays.
    const pressed = activeElement && /^(BUTTON|INPUT)$/.test(activeElement.tagName);
    const region = !pressed && activeElement && activeElement !== document.body && activeElement !== byId("picture");
    if (pressed && event.code === "Space") return;
    if (region && !this.running && (event.code === "Space" || event.code.startsWith("Arrow"))) return;
    if (this.controls.key(event.code, true)) {
      event.preventDefault();
      if (!this.running) this.refreshSome();
    }
  }

  guard(promise) {
    return promise.catch((error) => this.say(error.message));
  }

  wire() {
    document.body.classList.toggle("touch", navigator.maxTouchPoints > 0);
    const on = (id, event, act) => byId(id).addEventListener(event, (e) => this.guard(Promise.resolve(act(e))));
    on("run", "click", () => this.run(!this.running));
    on("back", "click", () => this.stepBy(-1));
    on("forward", "click", () => this.stepBy(1));
    on("sound", "click", async () => {
      await this.sound.set(!this.sound.on);
      byId("sound").setAttribute("aria-pressed", String(this.sound.on));
    });
    byId("sound").disabled = !Sound.possible;
    on("timeline", "input", async (e) => {
      if (this.running) this.run(false);
      await this.goTo(Number(e.target.value));
      await this.refresh();
    });
    for (const id of ["show-boxes", "show-beam", "show-keys"]) on(id, "change", () => {
      if (this.running && !byId("show-boxes").checked) this.screen.boxes = null;
      if (this.running && !byId("show-beam").checked) this.screen.writes = null;
      return this.refresh();
    });
    on("picture", "click", async (e) => {
      const pixel = this.screen.pixelAt(e);
      if (byId("paint").checked) await this.rom.paintPixel(pixel);
      else await this.explain(pixel);
    });
    // After a click on a control while the game plays, keys play: SPACE fires and does not press the control again.
    document.querySelector(".screen").addEventListener("click", (e) => {
      if (e.detail && this.running) byId("picture").focus({ preventScroll: true });
    });
    on("open", "click", () => byId("file").click());
    on("file", "change", (e) => e.target.files[0] && this.openFile(e.target.files[0]));
    on("link", "click", async () => {
      const link = await this.link();
      history.replaceState(null, "", link);
      const text = location.href;
      if (navigator.clipboard) await navigator.clipboard.writeText(text).catch(() => {});
      byId("link").textContent = "Link copied";
      setTimeout(() => (byId("link").textContent = "Copy link"), 1500);
    });
    const tabs = [...document.querySelectorAll('[role="tab"]')];
    tabs.forEach((tab, i) => {
      tab.addEventListener("click", () => {
        this.select(tab.getAttribute("aria-controls"));
        this.guard(this.refresh());
      });
      tab.addEventListener("keydown", (e) => {
        const next = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
        if (!next) return;
        e.stopPropagation();
        const other = tabs[(i + next + tabs.length) % tabs.length];
        other.focus();
        other.click();
      });
    });
    for (const button of document.querySelectorAll("[data-hold]")) {
      const hold = (pressed) => (e) => {
        e.preventDefault();
        this.controls.press(button.dataset.hold, pressed);
      };
      button.addEventListener("pointerdown", hold(true));
      for (const event of ["pointerup", "pointercancel", "pointerleave"]) button.addEventListener(event, hold(false));
    }
    document.addEventListener("keydown", (e) => this.keyDown(e));
    document.addEventListener("keyup", (e) => {
      this.controls.key(e.code, false);
      if (!this.running && this.screen.map && byId("show-keys").checked) {
        this.screen.map = null;
        this.screen.drawOverlay();
      }
    });
    window.addEventListener("blur", () => this.controls.release());
    const followHash = async () => {
      const link = decodeLink(location.hash);
      if (link) await this.follow(link);
    };
    window.addEventListener("hashchange", () => this.guard(followHash()));
    document.addEventListener("dragover", (e) => {
      e.preventDefault();
      document.body.classList.add("drop");
    });
    document.addEventListener("dragleave", (e) => e.relatedTarget || document.body.classList.remove("drop"));
    document.addEventListener("drop", (e) => {
      e.preventDefault();
      document.body.classList.remove("drop");
      if (e.dataTransfer.files[0]) this.openFile(e.dataTransfer.files[0]);
    });
  }
}

// ---- window.explorer: for pages that embed it, and for tests (docs/web.md) --------------------------------------------

const page = new Explorer();
const placeOf = (place) => {
  if ("ram" in place) return { kind: "ram", index: place.ram >= 0x80 ? place.ram - 0x80 : place.ram, bit: place.bit || 0 };
  if ("rom" in place) return { kind: "rom", index: place.rom, bit: place.bit || 0 };
  const index = INPUTS.indexOf(String(place.input).toLowerCase());
  if (index < 0) throw new Error(`a place is {ram, bit}, {rom, bit} or {input, back}; inputs are ${INPUTS.join(", ")}`);
  return { kind: "input", index, frame: Math.min(HORIZON, page.view.frame - page.view.first) - (place.back || 1) };
};

window.explorer = {
  async load(bytes, name = "") {
    const image = bytes ? Uint8Array.from(bytes) : null;
    page.run(false);
    await page.turn;
    const info = await page.open({ image, patch: null, name });
    return info;
  },
  async run(frames, actions = "NOOP") {
    page.run(false);
    await page.turn;
    const list = Array.isArray(actions) ? actions : [actions];
    for (let i = 0; i < frames; ) {
      const action = list[Math.min(i, list.length - 1)];
      let count = 1;
      while (i + count < frames && list[Math.min(i + count, list.length - 1)] === action) count++;
      await page.step(controlsOf(action), count);
      i += count;
    }
    return page.view.frame;
  },
  hash: () => page.change(() => page.player.call("hash")),
  explain: (x, y, { parts } = {}) => page.explain({ x, y }, parts),
  async flip(place) {
    page.run(false);
    await page.turn;
    const result = await page.flip(placeOf(place));
    return result;
  },
  objects: () => page.ask(0, "objects"),
  picture: () => page.view.picture.slice(),
  save: () => page.change(() => page.player.call("save")),
  restore: (file) => page.change(async () => page.show(await page.player.call("load", { file: Uint8Array.from(file) }))),
  link: () => page.link(),
  play: () => page.run(true),
  pause: () => page.run(false),
  get frame() {
    return page.view ? page.view.frame : 0;
  },
  get running() {
    return page.running;
  },
};

window.explorer.ready = (async () => {
  await page.open({ image: null, patch: null, name: "" });
  window.explorer.firstPicture = performance.now();
  page.warmUp();
  const link = decodeLink(location.hash);
  if (link) await page.follow(link);
  else page.run(true);
  setTimeout(() => page.rehearse().catch(() => {}), 100);
})().catch((error) => page.say(`The explorer could not start: ${error.message}`));
