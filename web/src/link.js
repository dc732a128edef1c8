// link.js: the explorer's position as a URL fragment: cartridge, frame, pixel, view, and the controls of every frame so far,
// so that the link replays the game.
//
//   rom=9f2c66d1...&frame=600&pixel=80,100&view=ram&in=0-50,8-2g,0-7
//
// A run of equal frames is their controls, '-', and their number, both in base 36. The controls are one number if only the left
// stick and the console's switches are used, otherwise all numbers of vcs_controls_t, separated by points.

export const idle = () => ({ held: [0, 0], paddle: [0, 0, 0, 0], keys: [0, 0], console: 0 });

function encodeControls(c) {
  const plain = c.held[1] === 0 && c.paddle.every((p) => p === 0) && c.keys.every((k) => k === 0);
  const numbers = plain ? [c.held[0] | (c.console << 8)] : [...c.held, ...c.paddle, ...c.keys, c.console];
  return numbers.map((n) => n.toString(36)).join(".");
}

// The greatest values of vcs_controls_t, in its order; and of a link, whose frames are run before anything is shown.
const MOST = [0xff, 0xff, 0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff, 0xffff, 0xffff, 0xff];
const FRAMES_MOST = 1e6; // four and a half hours

const wrong = (text) => new Error(`the link's inputs have '${text.slice(0, 80)}' in them`);

function number(text, most) {
  const value = /^[0-9a-z]{1,8}$/.test(text) ? parseInt(text, 36) : NaN;
  if (!(value <= most)) throw wrong(text);
  return value;
}

function decodeControls(text) {
  const parts = text.split(".");
  if (parts.length !== 1 && parts.length !== 9) throw wrong(text);
  const n = parts.map((part, i) => number(part, parts.length === 1 ? 0xffff : MOST[i]));
  const c = idle();
  if (n.length === 1) {
    c.held[0] = n[0] & 255;
    c.console = n[0] >> 8;
    return c;
  }
  return { held: n.slice(0, 2), paddle: n.slice(2, 6), keys: n.slice(6, 8), console: n[8] };
}

export function encodeInputs(list) {
  return list.map(([controls, count]) => `${encodeControls(controls)}-${count.toString(36)}`).join(",");
}

export function decodeInputs(text) {
  if (!text) return [];
  let left = FRAMES_MOST;
  return text.split(",").map((stretch) => {
    const [held, count, more] = stretch.split("-");
    const frames = number(count || "", FRAMES_MOST);
    if (frames === 0 || more !== undefined) throw wrong(stretch);
    left -= frames;
    if (left < 0) throw new Error(`the link has more than ${FRAMES_MOST} frames`);
    return [decodeControls(held), frames];
  });
}

export function encodeLink({ rom, frame, pixel, view, inputs }) {
  const parts = [`rom=${rom}`, `frame=${frame}`];
  if (pixel) parts.push(`pixel=${pixel.x},${pixel.y}`);
  if (view) parts.push(`view=${view}`);
  if (inputs.length) parts.push(`in=${encodeInputs(inputs)}`);
  return "#" + parts.join("&");
}

export function decodeLink(hash) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  if (!given.has("rom")) return null;
  const pixel = /^(\d+),(\d+)$/.exec(given.get("pixel") || "");
  return {
    rom: given.get("rom"),
    frame: Number(given.get("frame") || 0),
    pixel: pixel && { x: Number(pixel[1]), y: Number(pixel[2]) },
    view: given.get("view"),
    inputs: decodeInputs(given.get("in")),
  };
}
