// screen.js: the picture and what is drawn over it. One canvas has the picture, a pixel a pixel; a second one, of the size it
// has on the page, has boxes, outlines, the beam and the cursor, so that their lines stay thin.

const OBJECTS = ["P0", "P1", "M0", "M1", "BL", "PF"];
const PLAYFIELD = 5; // its blocks are outlined without a label each
const COLOURS = ["#ff6b6b", "#4dabf7", "#ffa94d", "#9775fa", "#fff3bf", "#63e6be"];

export class Screen {
  constructor(picture, overlay) {
    this.picture = picture;
    this.overlay = overlay;
    this.shown = null; // palette indices
    this.other = null; // the picture with something flipped
    this.map = null; // pixels to mark
    this.boxes = null;
    this.writes = null; // [x, y] of register writes
    this.beam = null; // {x, y}
    this.cursor = null;
    new ResizeObserver(() => this.drawOverlay()).observe(picture);
  }

  open(height, top, palette) {
    this.height = height;
    this.top = top;
    this.picture.width = 160;
    this.picture.height = height;
    this.colours = new Uint32Array(256);
    for (let i = 0; i < 256; i++) {
      const [r, g, b] = palette.subarray(3 * i, 3 * i + 3);
      this.colours[i] = 0xff000000 | (Math.round(b) << 16) | (Math.round(g) << 8) | Math.round(r);
    }
    this.image = new ImageData(160, height);
    this.words = new Uint32Array(this.image.data.buffer);
    this.clearMarks();
  }

  clearMarks() {
    Object.assign(this, { other: null, map: null, boxes: null, writes: null, beam: null });
  }

  css(index) {
    const c = this.colours[index & 255];
    return `rgb(${c & 255} ${(c >> 8) & 255} ${(c >> 16) & 255})`;
  }

  draw() {
    const from = this.other || this.shown;
    if (!from) return;
    const beam = this.beam ? this.beam.y * 160 + Math.max(0, this.beam.x) : Infinity;
    for (let i = 0; i < from.length; i++) {
      const c = this.colours[from[i]];
      this.words[i] = i < beam ? c : 0xff000000 | ((c >> 1) & 0x7f7f7f);
    }
    this.picture.getContext("2d").putImageData(this.image, 0, 0);
    this.drawOverlay();
  }

  drawOverlay() {
    const box = this.picture.getBoundingClientRect();
    const scale = window.devicePixelRatio || 1;
    const width = Math.round(box.width * scale);
    const height = Math.round(box.height * scale);
    if (!width || !this.shown) return;
    if (this.overlay.width !== width || this.overlay.height !== height) Object.assign(this.overlay, { width, height });
    const g = this.overlay.getContext("2d");
    const sx = width / 160;
    const sy = height / this.height;
    g.clearRect(0, 0, width, height);
    if (this.other) this.markChanged(g, sx, sy, (i) => this.other[i] !== this.shown[i], "rgb(255 255 255 / 0.9)");
    if (this.map) {
      g.fillStyle = "rgb(255 64 160 / 0.55)";
      for (let i = 0; i < this.map.length; i++) {
        if (this.map[i]) g.fillRect((i % 160) * sx, Math.floor(i / 160) * sy, Math.ceil(sx), Math.ceil(sy));
      }
      this.markChanged(g, sx, sy, (i) => this.map[i], "rgb(255 160 210)");
    }
    g.lineWidth = Math.max(1, scale);
    if (this.writes) {
      g.fillStyle = "rgb(255 212 59)";
      for (const [x, y] of this.writes) g.fillRect(x * sx, y * sy, Math.max(2, sx / 2), Math.max(2, sy / 2));
    }
    if (this.boxes) {
      g.font = `${Math.round(11 * scale)}px system-ui, sans-serif`;
      for (const [kind, x, y, w, h] of this.boxes) {
        g.strokeStyle = g.fillStyle = COLOURS[kind];
        g.strokeRect(x * sx + 0.5, y * sy + 0.5, w * sx, h * sy);
        if (kind !== PLAYFIELD) g.fillText(OBJECTS[kind], x * sx + 2, Math.max(10 * scale, y * sy - 3));
      }
    }
    if (this.beam) {
      g.strokeStyle = "rgb(255 255 255 / 0.8)";
      g.beginPath();
      g.moveTo(0, (this.beam.y + 0.5) * sy);
      g.lineTo(width, (this.beam.y + 0.5) * sy);
      g.moveTo((this.beam.x + 0.5) * sx, 0);
      g.lineTo((this.beam.x + 0.5) * sx, height);
      g.stroke();
    }
    if (this.cursor) {
      const { x, y } = this.cursor;
      g.lineWidth = 2 * scale;
      g.strokeStyle = "#000";
      g.strokeRect(x * sx - 2 * scale, y * sy - 2 * scale, sx + 4 * scale, sy + 4 * scale);
      g.strokeStyle = "#fff";
      g.strokeRect(x * sx - scale, y * sy - scale, sx + 2 * scale, sy + 2 * scale);
    }
  }

  // Outlines the pixels for which `is` holds.
  markChanged(g, sx, sy, is, colour) {
    const size = 160 * this.height;
    g.strokeStyle = colour;
    g.lineWidth = Math.max(1, window.devicePixelRatio || 1);
    g.beginPath();
    for (let i = 0; i < size; i++) {
      if (!is(i)) continue;
      const x = i % 160;
      const y = (i - x) / 160;
      if (x === 0 || !is(i - 1)) g.moveTo(x * sx, y * sy), g.lineTo(x * sx, (y + 1) * sy);
      if (x === 159 || !is(i + 1)) g.moveTo((x + 1) * sx, y * sy), g.lineTo((x + 1) * sx, (y + 1) * sy);
      if (y === 0 || !is(i - 160)) g.moveTo(x * sx, y * sy), g.lineTo((x + 1) * sx, y * sy);
      if (y === this.height - 1 || !is(i + 160)) g.moveTo(x * sx, (y + 1) * sy), g.lineTo((x + 1) * sx, (y + 1) * sy);
    }
    g.stroke();
  }

  // The pixel under a pointer.
  pixelAt(event) {
    const box = this.picture.getBoundingClientRect();
    const x = Math.floor(((event.clientX - box.left) / box.width) * 160);
    const y = Math.floor(((event.clientY - box.top) / box.height) * this.height);
    return { x: Math.min(159, Math.max(0, x)), y: Math.min(this.height - 1, Math.max(0, y)) };
  }
}
