// Frames that were fetched, as many as fit, and those that will be wanted next.

/** Memory for frames [bytes]: three hundred of 100 000 particles. */
const ROOM = 480e6;
/** Requests at once: enough that reading, sending and decoding overlap. */
const AT_ONCE = 4;
/** Rest before a frame that failed is asked for again [ms]. */
const REST = 3000;

export class Frames {
  /** `fetchFrame(number)` promises a frame; `onChange(number)` is called when one came or failed. */
  constructor(fetchFrame, onChange) {
    this.fetchFrame = fetchFrame;
    this.onChange = onChange;
    this.frames = new Map();
    this.failures = new Map();
    this.asked = new Set();
    this.wanted = [];
    this.bytes = 0;
  }

  /** The frame, if it is here. */
  get(number) {
    return this.frames.get(number);
  }

  /** Why the frame could not be fetched, if that was so. */
  failure(number) {
    return this.failures.get(number)?.message;
  }

  /** What is wanted from here on, the most urgent first. */
  want(numbers) {
    this.wanted = numbers;
    this.pump();
  }

  pump() {
    for (const number of this.wanted) {
      if (this.asked.size >= AT_ONCE) return;
      const failed = this.failures.get(number);
      const rests = failed && performance.now() - failed.at < REST;
      if (this.frames.has(number) || this.asked.has(number) || rests) continue;
      this.ask(number);
    }
  }

  async ask(number) {
    this.asked.add(number);
    try {
      this.keep(await this.fetchFrame(number));
      this.failures.delete(number);
    } catch (error) {
      this.failures.set(number, { message: error.message, at: performance.now() });
    }
    this.asked.delete(number);
    this.onChange(number);
    this.pump();
  }

  keep(frame) {
    this.frames.set(frame.number, frame);
    this.bytes += frame.bytes;
    // What is farthest from the most urgent frame goes first.
    const center = this.wanted[0] ?? frame.number;
    while (this.bytes > ROOM && this.frames.size > AT_ONCE) {
      let farthest = frame.number;
      for (const number of this.frames.keys()) {
        if (Math.abs(number - center) > Math.abs(farthest - center)) farthest = number;
      }
      this.bytes -= this.frames.get(farthest).bytes;
      this.frames.delete(farthest);
    }
  }
}
