// engine.js: the page's end of a worker: every call is a promise.

let source; // one Blob for all workers: pages opened from a file may not start a worker from another file

export class Engine {
  constructor(workerText) {
    source ||= URL.createObjectURL(new Blob([workerText], { type: "text/javascript" }));
    this.worker = new Worker(source);
    this.waiting = new Map();
    this.next = 1;
    this.worker.onmessage = ({ data: { id, result, error } }) => {
      const { resolve, reject } = this.waiting.get(id);
      this.waiting.delete(id);
      if (error) reject(new Error(error));
      else resolve(result);
    };
    this.worker.onerror = (event) => {
      for (const { reject } of this.waiting.values()) reject(new Error(event.message || "the worker stopped"));
      this.waiting.clear();
    };
  }

  call(call, args) {
    return new Promise((resolve, reject) => {
      const id = this.next++;
      this.waiting.set(id, { resolve, reject });
      this.worker.postMessage({ id, call, args });
    });
  }

  get busy() {
    return this.waiting.size > 0;
  }
}

// A worker that answers questions about the run of the one that plays. It has a session of its own, opened with the same
// cartridge, and takes the run over when the question is about another frame than the last one.
export class Student extends Engine {
  constructor(workerText) {
    super(workerText);
    this.cartridge = null;
    this.moment = null;
    this.queue = Promise.resolve();
  }

  // `setup` is {cartridge: {image, patch, name}, moment: a text that names the moment, run: () => promise of bytes, frames}
  ask(setup, call, args) {
    const turn = this.queue.then(async () => {
      if (this.cartridge !== setup.cartridge) {
        await this.call("open", setup.cartridge);
        this.cartridge = setup.cartridge;
        this.moment = null;
      }
      if (this.moment !== setup.moment) {
        await this.call("importRun", { run: await setup.run() });
        await this.call("lookBack", { frames: setup.frames });
        this.moment = setup.moment;
      }
      return this.call(call, args);
    });
    this.queue = turn.catch(() => {});
    return turn;
  }
}
