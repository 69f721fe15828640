// Time: which frame is shown, and which come next. Knows neither the page nor WebGL.

/** Speeds that can be chosen: seconds of the scene a second. */
export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];
/** Frames a second where the run does not tell yet. */
const USUAL_RATE = 24;
/** Frames that are fetched ahead. */
const AHEAD = 12;
/** Longest time between two pictures that counts [s]: after a pause of the window, playing goes on where it was. */
const LONGEST_TICK = 1;
/** Stops short of the next frame by this much where that is not here yet [frames]. */
const SHORT = 1e-3;

export class Player {
  constructor(frames) {
    this.frames = frames;
    /** Numbers of the frames there are. */
    this.numbers = [];
    /** Where in `numbers`; the fraction is time that has passed since. */
    this.position = 0;
    this.playing = false;
    this.following = false;
    /** True while more frames may come. */
    this.goesOn = false;
    this.repeating = false;
    this.speed = 1;
    this.rate = USUAL_RATE;
  }

  get last() {
    return Math.max(0, this.numbers.length - 1);
  }

  get index() {
    return Math.min(Math.floor(this.position), this.last);
  }

  /** Number of the frame to show; undefined where there is none. */
  get number() {
    return this.numbers[this.index];
  }

  /** The frames of the run have become these. */
  setNumbers(numbers) {
    const shown = this.number;
    this.numbers = numbers;
    const place = numbers.indexOf(shown);
    if (this.following) this.position = this.last;
    else if (place >= 0 && place !== this.index) this.position = place;
    this.want();
  }

  /** Learns how many frames a second of the scene has, from two frames that differ. */
  learnRate(a, b) {
    const rate = (b.number - a.number) / (b.time - a.time);
    if (rate > 0 && Number.isFinite(rate)) this.rate = rate;
  }

  seek(index) {
    this.position = Math.max(0, Math.min(index, this.last));
    this.following = this.following && this.index === this.last;
    this.want();
  }

  step(frames) {
    this.playing = false;
    this.seek(this.index + frames);
  }

  toggle() {
    this.playing = !this.playing;
    if (!this.playing) return;
    this.following = false;
    if (this.index === this.last) this.seek(0);
  }

  follow(on) {
    this.following = on;
    if (!on) return;
    this.playing = false;
    this.seek(this.last);
  }

  /** Lets time pass [s]. */
  advance(seconds) {
    if (!this.playing) return;
    const tick = Math.min(seconds, LONGEST_TICK);
    const wanted = this.position + tick * this.speed * this.rate;
    const index = Math.floor(wanted);
    if (index > this.last) {
      this.reachEnd();
    } else if (index === this.index || this.isReady(index)) {
      this.position = wanted;
    } else {
      // Time waits for the frame.
      this.position = this.index + 1 - SHORT;
    }
    this.want(Math.min(index, this.last));
  }

  reachEnd() {
    if (this.goesOn) {
      this.follow(true);
    } else if (this.repeating) {
      this.position = 0;
    } else {
      this.position = this.last;
      this.playing = false;
    }
  }

  isReady(index) {
    const number = this.numbers[index];
    return this.frames.get(number) !== undefined || this.frames.failure(number) !== undefined;
  }

  /** Tells what is needed: a frame, then those behind it, around the end where it repeats. */
  want(index = this.index) {
    const count = this.numbers.length;
    const ahead = Math.min(count, AHEAD + 1);
    const places = Array.from({ length: ahead }, (_, k) => index + k);
    const inside = places.filter((k) => k < count || this.repeating).map((k) => k % count);
    this.frames.want(inside.map((k) => this.numbers[k]));
  }
}
