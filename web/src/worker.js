// worker.js: one session of the library (web/native/explorer.c) in a worker. A message is {id, call, args}; the answer is
// {id, result} or {id, error}. Everything here is synchronous: the page stays free because this is another thread.
import createExplorer from "../../build-web/wasm/explorer.js";

const KINDS = { ram: 0, rom: 1, input: 2 };
const CONTROLS_BYTES = 28;

let wasm;
let session = 0;
let info;

const text = (pointer) => wasm.UTF8ToString(pointer);
const bytes = (pointer, size) => wasm.HEAPU8.slice(pointer, pointer + size);
const fail = () => {
  throw new Error(text(wasm._web_error(session)) || "the library gave no reason");
};

// Puts bytes into the library's memory for the length of a call.
function lend(data, use) {
  if (!data || data.length === 0) return use(0, 0);
  const pointer = wasm._web_alloc(data.length);
  if (!pointer) throw new Error(`there is no memory for ${data.length} bytes`);
  wasm.HEAPU8.set(data, pointer);
  try {
    return use(pointer, data.length);
  } finally {
    wasm._web_release(pointer);
  }
}

const lendText = (string, use) => lend(new TextEncoder().encode(string + "\0"), use);
const json = (pointer) => (pointer ? JSON.parse(text(pointer)) : fail());
const pixels = () => 160 * info.height;
const answer = () => bytes(wasm._web_bytes(session), wasm._web_byte_count(session));

// vcs_controls_t, byte by byte.
function packControls(controls) {
  const view = new DataView(new ArrayBuffer(CONTROLS_BYTES));
  view.setUint8(0, controls.held[0]);
  view.setUint8(1, controls.held[1]);
  for (let i = 0; i < 4; i++) view.setInt32(4 + 4 * i, controls.paddle[i], true);
  view.setUint16(20, controls.keys[0], true);
  view.setUint16(22, controls.keys[1], true);
  view.setUint8(24, controls.console);
  return new Uint8Array(view.buffer);
}

function readControls(data) {
  const view = new DataView(data.buffer);
  return {
    held: [view.getUint8(0), view.getUint8(1)],
    paddle: [0, 1, 2, 3].map((i) => view.getInt32(4 + 4 * i, true)),
    keys: [view.getUint16(20, true), view.getUint16(22, true)],
    console: view.getUint8(24),
  };
}

function view(sound) {
  const shown = {
    frame: wasm._web_frame_number(session),
    first: wasm._web_first(session),
    end: wasm._web_end(session),
    picture: bytes(wasm._web_picture(session), pixels()),
    ram: bytes(wasm._web_ram(session), 128),
  };
  if (sound) shown.sound = bytes(wasm._web_sound(session), wasm._web_sound_length(session));
  return shown;
}

const calls = {
  // The new session replaces the old one only when it could be opened.
  open({ image, patch, name }) {
    const opened = lend(image, (at, size) =>
      lend(patch, (patchAt, patchSize) =>
        lendText(name || "", (nameAt) => wasm._web_open(at, size, patchAt, patchSize, name ? nameAt : 0)),
      ),
    );
    if (!opened) {
      throw new Error(text(wasm._web_error(0)) || "the browser gives this page no more memory");
    }
    wasm._web_close(session);
    session = opened;
    info = json(wasm._web_info(session));
    const palette = new Float32Array(wasm.HEAPU8.slice(wasm._web_palette(session), wasm._web_palette(session) + 3072).buffer);
    return { info, palette, image: bytes(wasm._web_image(session), info.size), view: view() };
  },
  play({ controls, count = 1, sound = false }) {
    if (lend(packControls(controls), (at) => wasm._web_play(session, at, count)) < 0) fail();
    return view(sound);
  },
  // Frames of a list of [controls, count].
  playList({ list }) {
    for (const [controls, count] of list) {
      if (lend(packControls(controls), (at) => wasm._web_play(session, at, count)) < 0) fail();
    }
    return view();
  },
  go({ frame }) {
    wasm._web_go(session, frame);
    return view();
  },
  // What was held in each frame so far, equal frames together: [controls, count].
  inputs() {
    const list = [];
    let last = "";
    for (let f = wasm._web_first(session); f < wasm._web_frame_number(session); f++) {
      const data = bytes(wasm._web_controls(session, f), CONTROLS_BYTES);
      const key = data.join();
      if (key === last) list[list.length - 1][1]++;
      else list.push([readControls(data), 1]);
      last = key;
    }
    return { first: wasm._web_first(session), list };
  },
  hash: () => text(wasm._web_hash(session)),
  save: () => (wasm._web_save(session) ? answer() : fail()),
  load({ file }) {
    if (!lend(file, (at, size) => wasm._web_load(session, at, size))) fail();
    return view();
  },
  exportRun: ({ frames }) => (wasm._web_export(session, frames) ? answer() : fail()),
  importRun({ run }) {
    if (!lend(run, (at) => wasm._web_import(session, at))) fail();
    return view();
  },
  lookBack: ({ frames }) => wasm._web_look_back(session, frames),
  trace: () => json(wasm._web_trace(session)),
  // The clocks at which the frame writes to registers of the TIA.
  writes: () => json(wasm._web_trace(session)).filter((row) => row[3] >= 0).map((row) => row[2]),
  at({ row }) {
    const fields = json(wasm._web_at(session, row));
    return { fields, picture: bytes(wasm._web_map(session), pixels()) };
  },
  disassemble: ({ address, count }) => json(wasm._web_disassemble(session, address, count)),
  objects: () => json(wasm._web_objects(session)),
  romUses: () => (wasm._web_rom_uses(session) ? answer() : fail()),
  ramRoles: () => (wasm._web_ram_roles(session) ? bytes(wasm._web_map(session), 128) : fail()),
  explain: ({ target, parts, span = 1 }) => json(lendText(target, (at) => wasm._web_explain(session, at, parts, span))),
  flip({ kind, index, bit = 0, frame = 0 }) {
    const result = json(wasm._web_flip(session, KINDS[kind], index, bit, frame));
    result.picture = bytes(wasm._web_map(session), pixels());
    return result;
  },
  moves({ kind, index }) {
    const count = wasm._web_moves(session, KINDS[kind], index);
    if (count < 0) fail();
    return { count, map: bytes(wasm._web_map(session), pixels()) };
  },
  acts({ inputs }) {
    const count = wasm._web_acts(session, inputs);
    if (count < 0) fail();
    return { count, map: bytes(wasm._web_map(session), pixels()) };
  },
  patch({ before, after }) {
    const made = lend(before, (b) => lend(after, (a) => wasm._web_patch(session, b, a, before.length)));
    return made ? answer() : fail();
  },
};

const ready = createExplorer().then((module) => {
  wasm = module;
});

self.onmessage = async ({ data: { id, call, args } }) => {
  try {
    await ready;
    const result = calls[call](args || {});
    self.postMessage({ id, result });
  } catch (error) {
    self.postMessage({ id, error: String(error.message || error) });
  }
};
