// sound.js: the machine's samples, 8 bits and unsigned, as they come frame by frame, through an AudioWorklet that keeps a
// short queue. Browsers allow sound only after a click or a key, so it starts when it is switched on.

const WORKLET = `
registerProcessor("vcs", class extends AudioWorkletProcessor {
  constructor() {
    super();
    this.queue = [];
    this.at = 0;
    this.length = 0;
    this.last = 0;
    this.port.onmessage = ({ data }) => {
      this.queue.push(data.samples);
      this.step = data.rate / sampleRate;
      this.length += data.samples.length;
      while (this.length > 6000) this.length -= this.queue.shift().length;
    };
  }
  process(_, [[out]]) {
    for (let i = 0; i < out.length; i++) {
      while (this.queue.length && this.at >= this.queue[0].length) {
        this.at -= this.queue[0].length;
        this.length -= this.queue.shift().length;
      }
      if (this.queue.length) this.last = (this.queue[0][Math.floor(this.at)] - 128) / 160;
      if (this.queue.length) this.at += this.step;
      out[i] = this.last;
    }
    return true;
  }
});`;

export class Sound {
  constructor() {
    this.on = false;
    this.node = null;
  }

  static get possible() {
    return typeof AudioContext !== "undefined" && typeof AudioWorkletNode !== "undefined";
  }

  async set(on) {
    this.on = on && Sound.possible;
    if (this.on && !this.node) {
      this.context = new AudioContext();
      // Not a Blob: Chromium loads no worklet from one in a page that was opened from a disk.
      await this.context.audioWorklet.addModule(`data:text/javascript,${encodeURIComponent(WORKLET)}`);
      this.node = new AudioWorkletNode(this.context, "vcs", { outputChannelCount: [1] });
      this.node.connect(this.context.destination);
    }
    if (this.context) await (this.on ? this.context.resume() : this.context.suspend());
  }

  play(samples, rate) {
    if (this.on && this.node && samples) this.node.port.postMessage({ samples, rate });
  }
}
