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
    /** Size of the largest frame so far [bytes]. */
    this.largest = 1;
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
    // More than fits would push itself out.
    for (const number of this.wanted.slice(0, this.fitting)) {
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
    this.largest = Math.max(this.largest, frame.bytes);
    while (this.bytes > ROOM && this.frames.size > AT_ONCE) this.drop();
  }

  /** Frames that fit at the same time. */
  get fitting() {
    return Math.max(AT_ONCE, Math.floor(ROOM / this.largest));
  }

  /** Forgets the frame that is farthest from the most urgent one, wanted ones last: they would be asked for again. */
  drop() {
    const center = this.wanted[0] ?? 0;
    const distance = (number) => Math.abs(number - center) - (this.wanted.includes(number) ? Number.MAX_SAFE_INTEGER : 0);
    const farthest = [...this.frames.keys()].reduce((a, b) => (distance(b) > distance(a) ? b : a));
    this.bytes -= this.frames.get(farthest).bytes;
    this.frames.delete(farthest);
  }
}
