// controls.js: converts keyboard, game pads and touch to vcs_controls_t. Where a player has paddles, LEFT and RIGHT turn
// the first of them, a step a frame, as environments do.
import { idle } from "./link.js";

export const INPUTS = ["up", "down", "left", "right", "fire", "up2", "down2", "left2", "right2", "fire2", "reset", "select"];

const KEYS = {
  ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right", Space: "fire",
  KeyW: "up2", KeyS: "down2", KeyA: "left2", KeyD: "right2", KeyF: "fire2",
  F1: "select", F2: "reset",
};
const PADDLE = { step: 23000, low: 27450, high: 790196 };

// The game pads; none where the browser has no such thing, or where a page that embeds this one does not allow them.
function gamepads() {
  try {
    return navigator.getGamepads();
  } catch {
    return [];
  }
}

export class Controls {
  constructor() {
    this.down = new Set(); // names of INPUTS that keys and fingers hold
    this.pad = new Set(); // ... that game pads hold
    this.paddles = false;
    this.knob = [(PADDLE.low + PADDLE.high) >> 1, (PADDLE.low + PADDLE.high) >> 1];
  }

  // Whether the key is one of ours.
  key(code, pressed) {
    const name = KEYS[code];
    if (!name) return false;
    if (pressed) this.down.add(name);
    else this.down.delete(name);
    return true;
  }

  press(name, pressed) {
    if (pressed) this.down.add(name);
    else this.down.delete(name);
  }

  release() {
    this.down.clear();
  }

  readPads() {
    this.pad.clear();
    [...gamepads()].filter(Boolean).slice(0, 2).forEach((pad, player) => {
      const hold = (on, name) => on && this.pad.add(name + (player ? "2" : ""));
      const button = (i) => pad.buttons[i] && pad.buttons[i].pressed;
      hold(button(12) || pad.axes[1] < -0.5, "up");
      hold(button(13) || pad.axes[1] > 0.5, "down");
      hold(button(14) || pad.axes[0] < -0.5, "left");
      hold(button(15) || pad.axes[0] > 0.5, "right");
      hold(button(0) || button(1), "fire");
      if (button(8)) this.pad.add("select");
      if (button(9)) this.pad.add("reset");
    });
  }

  has(name) {
    return this.down.has(name) || this.pad.has(name);
  }

  // The inputs that are held, a bit each.
  get mask() {
    return INPUTS.reduce((mask, name, i) => (this.has(name) ? mask | (1 << i) : mask), 0);
  }

  // What is held in the next frame.
  take() {
    this.readPads();
    const controls = idle();
    for (let player = 0; player < 2; player++) {
      ["up", "down", "left", "right", "fire"].forEach((name, bit) => {
        if (this.has(name + (player ? "2" : ""))) controls.held[player] |= 1 << bit;
      });
    }
    if (this.paddles) {
      for (let player = 0; player < 2; player++) {
        const held = controls.held[player];
        const turn = (held & 4 ? PADDLE.step : 0) - (held & 8 ? PADDLE.step : 0);
        this.knob[player] = Math.min(PADDLE.high, Math.max(PADDLE.low, this.knob[player] + turn));
        controls.held[player] = held & 16;
        controls.paddle[player] = this.knob[player];
      }
      if (controls.held[1]) controls.held[0] |= 32;
      controls.held[1] = 0;
    }
    controls.console = (this.has("reset") ? 1 : 0) | (this.has("select") ? 2 : 0);
    return controls;
  }
}

const ACTIONS = ["NOOP", "FIRE", "UP", "RIGHT", "LEFT", "DOWN", "UPRIGHT", "UPLEFT", "DOWNRIGHT", "DOWNLEFT", "UPFIRE",
  "RIGHTFIRE", "LEFTFIRE", "DOWNFIRE", "UPRIGHTFIRE", "UPLEFTFIRE", "DOWNRIGHTFIRE", "DOWNLEFTFIRE"];

// Controls of an action: a name, a number, or controls themselves.
export function controlsOf(action) {
  if (action && typeof action === "object") return { ...idle(), ...action };
  const name = typeof action === "number" ? ACTIONS[action] : String(action ?? "NOOP").toUpperCase();
  if (!ACTIONS.includes(name)) throw new Error(`no action '${action}'; there are ${ACTIONS.join(", ")}`);
  const controls = idle();
  ["UP", "DOWN", "LEFT", "RIGHT", "FIRE"].forEach((part, bit) => {
    if (name.includes(part)) controls.held[0] |= 1 << bit;
  });
  return controls;
}
