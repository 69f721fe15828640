// The page: fetches the run, and ties time, camera, picture and panel together.

import { Camera } from "./camera.js";
import { colorsOf } from "./colors.js";
import { fastestOf, fetchFrame, fetchRun, fetchTopology } from "./data.js";
import { Frames } from "./frames.js";
import { listenToKeys, placeIn, steer } from "./input.js";
import { element, listObjects, showReport, showSpeeds, spacingText } from "./panel.js";
import { pick } from "./pick.js";
import { Player, SPEEDS } from "./player.js";
import { Stage } from "./stage.js";
import { dot, emptyBox, holdsPoint, widen } from "./vector.js";

/** Rest between two looks for new frames [ms], while the run goes on and after: a finished run may be resumed. */
const POLL_RUNNING = 700;
const POLL_FINISHED = 5000;
/** Length of the arms of the axes [units of their picture]. */
const ARM = 19;
/** Windows narrower than this begin without the panel [pixels]. */
const NARROW = 800;
/** A panel that takes more than this share of the window lies over the picture, not beside it. */
const COVERS = 0.6;

const darkness = window.matchMedia("(prefers-color-scheme: dark)");

class Page {
  constructor(run, first) {
    this.run = run;
    this.colors = colorsOf(run.objects);
    this.hidden = new Set();
    this.look = { hidden: this.hidden, wire: false, grid: true, shadow: true, into: true, theme: "light" };
    this.stage = new Stage(element("canvas"), run, this.colors);
    this.camera = new Camera(run.camera);
    this.showPanel(window.innerWidth >= NARROW);
    this.resize();
    this.camera.fitWindow();
    this.frames = new Frames(fetchFrame, () => this.touch());
    this.player = new Player(this.frames);
    this.shown = null;
    this.isDirty = true;
    this.connect();
    this.begin(first);
  }

  /** Begins at the frame that the address names, at the newest of a run that goes on, or at the first. */
  begin(state) {
    this.update(state);
    const named = /^#frame=(\d+)$/.exec(location.hash);
    const index = named ? this.player.numbers.indexOf(Number(named[1])) : -1;
    if (index >= 0) this.player.seek(index);
    else this.player.follow(!state.report.finished);
    requestAnimationFrame((now) => this.tick(now));
    this.poll();
  }

  /** The run has become this. */
  update(state) {
    this.state = state;
    this.player.setNumbers(state.numbers);
    this.player.goesOn = !state.report.finished;
    this.player.following &&= this.player.goesOn;
    element("live").hidden = state.report.finished;
    element("timeline").max = this.player.last;
    showReport(state);
    this.touch();
  }

  async poll() {
    if (!document.hidden) {
      try {
        this.update(await fetchRun());
        this.trouble = "";
      } catch (error) {
        this.trouble = error.message;
      }
      this.touch();
    }
    setTimeout(() => this.poll(), this.state.report.finished && !this.trouble ? POLL_FINISHED : POLL_RUNNING);
  }

  /** Something that is seen has changed. */
  touch() {
    this.isDirty = true;
  }

  tick(now) {
    const seconds = (now - (this.before ?? now)) / 1000;
    this.before = now;
    if (this.player.playing) {
      this.player.advance(seconds);
      this.touch();
    }
    if (this.isDirty) {
      this.isDirty = false;
      this.refresh();
    }
    requestAnimationFrame((next) => this.tick(next));
  }

  refresh() {
    this.showFrame();
    this.resize();
    this.look.theme = darkness.matches ? "dark" : "light";
    this.stage.draw(this.camera, this.look);
    this.showTime();
    this.showScale();
    this.showMessage();
  }

  /** Learns the size of the window, and what panel and timeline leave of it. */
  resize() {
    this.stage.resize();
    const window = this.stage.canvas.getBoundingClientRect();
    const panel = element("panel").getBoundingClientRect();
    const isBeside = panel.width > 0 && panel.width < COVERS * window.width;
    const width = isBeside ? panel.left : window.width;
    this.camera.setWindow(window, { left: 0, top: 0, width, height: document.querySelector("footer").offsetTop });
  }

  /** Takes the frame of the player to the graphics card, if it is here. */
  showFrame() {
    const frame = this.frames.get(this.player.number);
    if (!frame || frame === this.shown) return;
    if (frame.x.length !== this.run.x0.length) {
      this.replaced = true;
      return;
    }
    if (this.shown) this.player.learnRate(this.shown, frame);
    // The server chose by the frames that there were.
    if (this.player.goesOn) this.run.fastest = Math.max(this.run.fastest, fastestOf(frame));
    this.shown = frame;
    this.stage.show(frame);
    this.showReadout();
  }

  showTime() {
    const { player } = this;
    element("timeline").value = player.index;
    const time = this.shown ? `${this.shown.time.toFixed(3)} s` : "–";
    const number = player.number ?? "–";
    const last = player.numbers[player.last] ?? "–";
    element("time").textContent = `frame ${number} / ${last} · ${time}`;
    element("play").ariaPressed = String(player.playing);
    element("live").ariaPressed = String(player.following);
    element("repeat").ariaPressed = String(player.repeating);
    element("speed").value = String(player.speed);
  }

  showScale() {
    const { camera } = this;
    showSpeeds(this.run, this.colors);
    element("grid-label").textContent = this.look.grid ? spacingText(this.stage.gridSpacing(camera)) : "";
    const axes = { x: [1, 0, 0], y: [0, 1, 0], z: [0, 0, 1] };
    for (const [name, axis] of Object.entries(axes)) {
      const [x, y] = [dot(axis, camera.right) * ARM, -dot(axis, camera.up) * ARM];
      const group = document.querySelector(`#axes .${name}`);
      const [line, text] = group.children;
      line.setAttribute("x2", x);
      line.setAttribute("y2", y);
      text.setAttribute("x", 1.35 * x);
      text.setAttribute("y", 1.35 * y);
    }
  }

  showMessage() {
    const failed = this.frames.failure(this.player.number);
    const replaced = this.replaced && "this folder holds another run than before: load the page again";
    const text = this.trouble || replaced || failed || "";
    element("message").textContent = text;
    element("message").hidden = !text;
  }

  /** Frames what is shown. */
  frame() {
    const box = emptyBox();
    const { run, shown, hidden } = this;
    if (!shown) return;
    const seen = run.objects.map((_, k) => k).filter((k) => !hidden.has(k));
    const moving = seen.filter((k) => run.objects[k].kind !== "collider");
    for (const k of moving.length ? moving : seen) {
      const { first, count, kind } = run.objects[k];
      const isThere = kind === "fluid" ? (p) => shown.speeds[p - run.first_particle] >= 0 : undefined;
      widen(box, shown.x, first, first + count, isThere);
    }
    if (holdsPoint(box)) this.camera.frame(box);
    this.touch();
  }

  pickAt(event) {
    if (!this.shown) return;
    const place = placeIn(this.stage.canvas, event);
    this.picked = pick(this.run, this.shown, this.camera, this.hidden, place);
    if (this.picked) this.camera.target = this.picked.position;
    this.showReadout();
    this.touch();
  }

  /** Tells where the picked point is in the frame that is shown. */
  showReadout() {
    const readout = element("readout");
    readout.hidden = !this.picked;
    if (!this.picked) return;
    const { point, object } = this.picked;
    const { x, speeds } = this.shown;
    const place = Array.from(x.subarray(3 * point, 3 * point + 3), (c) => c.toFixed(4)).join(", ");
    const { name, kind } = this.run.objects[object];
    const speed = kind === "fluid" ? speeds[point - this.run.first_particle] : -1;
    readout.textContent = `${name}, point ${point}: (${place}) m${speed >= 0 ? `, ${speed.toPrecision(3)} m/s` : ""}`;
  }

  /** Ties the page's controls to what they do. */
  connect() {
    const { player, camera, stage } = this;
    const act = (action) => (event) => { action(event); this.touch(); };
    const turn = (yaw, pitch) => act(() => camera.face(yaw, pitch));
    const flip = (id) => act(() => this.set(id, !this.look[id]));
    const step = (way) => act((event) => player.step(way * (event.shiftKey ? 10 : 1)));
    const speed = (way) => act(() => {
      const next = SPEEDS.indexOf(player.speed) + way;
      player.speed = SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, next))];
    });
    const repeat = act(() => { player.repeating = !player.repeating; });
    const live = act(() => player.follow(!player.following && !this.state.report.finished));
    const panel = () => this.showPanel(element("panel").hidden);
    const help = () => element("help").showModal();
    const play = act(() => player.toggle());
    const [first, last] = [act(() => player.seek(0)), act(() => player.seek(player.last))];
    const start = act(() => {
      camera.look(this.run.camera.eye, this.run.camera.target);
      camera.fitWindow();
    });
    listenToKeys({
      " ": play, ArrowLeft: step(-1), ArrowRight: step(1), Home: first, End: last,
      "[": speed(-1), "]": speed(1), r: repeat, l: live, f: () => this.frame(), 0: start,
      1: turn(-Math.PI / 2, 0), 2: turn(0, 0), 3: turn(-Math.PI / 2, Math.PI / 2),
      w: flip("wire"), g: flip("grid"), s: flip("shadow"), c: flip("into"), p: panel, "?": help,
    });
    const clicks = {
      play, first, last, back: step(-1), next: step(1), repeat, live, "help-button": help, "panel-button": panel,
    };
    for (const [id, action] of Object.entries(clicks)) element(id).addEventListener("click", action);
    for (const id of ["wire", "grid", "shadow", "into"]) {
      element(id).addEventListener("change", act((event) => this.set(id, event.target.checked)));
    }
    element("into-label").hidden = !this.run.objects.some((o) => o.container);
    element("timeline").addEventListener("input", act((event) => player.seek(Number(event.target.value))));
    element("speed").replaceChildren(...SPEEDS.map((s) => new Option(`${s}×`, String(s))));
    element("speed").addEventListener("change", act((event) => { player.speed = Number(event.target.value); }));
    steer(stage.canvas, camera, () => this.touch());
    stage.canvas.addEventListener("dblclick", (event) => this.pickAt(event));
    stage.canvas.addEventListener("webglcontextlost", () => {
      this.trouble = "the graphics card was taken away: load the page again";
    });
    listObjects(this.run, this.colors, this.hidden, () => this.touch());
    for (const event of ["resize", "focus"]) window.addEventListener(event, () => this.touch());
    darkness.addEventListener("change", () => this.touch());
  }

  set(id, on) {
    this.look[id] = on;
    element(id).checked = on;
  }

  showPanel(on) {
    element("panel").hidden = !on;
    element("panel-button").ariaExpanded = String(on);
    this.touch();
  }
}

async function main() {
  try {
    const [topology, run] = await Promise.all([fetchTopology(), fetchRun()]);
    new Page(topology, run);
  } catch (error) {
    element("message").textContent = error.message;
    element("message").hidden = false;
  }
}

main();
