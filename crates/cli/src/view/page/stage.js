// The picture: what is on the graphics card, and the order it is drawn in.

import { THEMES, FOAM, linear, paintOf } from "./colors.js";
import { gather, ownerOf, smoothNormals, surfaceOf } from "./mesh.js";
import { PROGRAMS, compiled } from "./shaders.js";

/** Sides of a tube. */
const SIDES = 14;
/** Highlights by kind; 0 for what has none. */
const GLOSS = { soft: 0.14, rigid: 0.12, rod: 0.05, fluid: 0.12, collider: 0.04 };
/** Distance that the grid reaches, in distances from eye to target. */
const GRID_REACH = 7;
/** Lowest height that throws a shadow, as a share of the distance to the target: less is lying on the ground. */
const LOWEST = 2e-4;
/** Pixels of the canvas to one of the page, at most: more cannot be told apart. */
const FINEST = 2;
/** Bytes of a number and of a point. */
const NUMBER = 4;
const POINT = 12;

/** The spacing among 1, 2, 5, 10 … that is next below [m]. */
export function roundSpacing(metres) {
  const power = 10 ** Math.floor(Math.log10(metres));
  const digit = metres / power;
  return (digit >= 5 ? 5 : digit >= 2 ? 2 : 1) * power;
}

/** Segments by object, and the range of segments of each. */
function segmentsOf({ objects, segments }) {
  const order = Array.from({ length: segments.length / 2 }, (_, k) => k);
  const owners = order.map((k) => ownerOf(objects, segments[2 * k]));
  order.sort((a, b) => owners[a] - owners[b] || a - b);
  const ends = Uint32Array.from(order.flatMap((k) => [segments[2 * k], segments[2 * k + 1]]));
  const ranges = objects.map(() => ({ first: 0, count: 0 }));
  order.forEach((k, place) => {
    const range = ranges[owners[k]];
    if (range.count++ === 0) range.first = place;
  });
  return { ends, ranges };
}

/** Two triangles a side of a prism of length 1: cosine, sine, end. */
function prism() {
  const ring = [];
  for (let k = 0; k < SIDES; k++) {
    const [a, b] = [k, k + 1].map((j) => (2 * Math.PI * j) / SIDES);
    const corner = (angle, end) => [Math.cos(angle), Math.sin(angle), end];
    ring.push(corner(a, 0), corner(b, 0), corner(b, 1), corner(a, 0), corner(b, 1), corner(a, 1));
  }
  return new Float32Array(ring.flat());
}

export class Stage {
  /** `run` is a topology; throws where WebGL2 is missing. */
  constructor(canvas, run, colors) {
    const wishes = { antialias: true, stencil: true, alpha: false, powerPreference: "high-performance" };
    const gl = canvas.getContext("webgl2", wishes);
    if (!gl) throw new Error("this browser gives no WebGL2, which the picture needs");
    Object.assign(this, { canvas, gl, run, colors });
    this.paints = run.objects.map((o, k) => paintOf(o.kind, colors[k]));
    this.programs = Object.fromEntries(Object.entries(PROGRAMS).map(([name, texts]) => [name, compiled(gl, texts)]));
    this.surface = surfaceOf(run);
    this.rods = segmentsOf(run);
    this.makeBuffers();
    this.makeArrays();
  }

  makeBuffers() {
    const { surface, rods, run } = this;
    const vertices = surface.source.length;
    this.scratch = {
      positions: new Float32Array(3 * vertices),
      normals: new Float32Array(3 * vertices),
      faces: new Float32Array(surface.indices.length),
      ends: new Float32Array(3 * rods.ends.length),
    };
    this.buffers = {
      points: this.buffer(POINT * run.points),
      speeds: this.buffer(NUMBER * run.particles),
      positions: this.buffer(POINT * vertices),
      normals: this.buffer(POINT * vertices),
      ends: this.buffer(POINT * rods.ends.length),
      square: this.buffer(new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1])),
      prism: this.buffer(prism()),
      triangles: this.indexBuffer(surface.indices),
      edges: this.indexBuffer(surface.edges),
    };
  }

  buffer(content) {
    const { gl } = this;
    const buffer = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, content, typeof content === "number" ? gl.DYNAMIC_DRAW : gl.STATIC_DRAW);
    return buffer;
  }

  indexBuffer(content) {
    const { gl } = this;
    // An index buffer is remembered by the array that is bound, which shall be none.
    gl.bindVertexArray(null);
    const buffer = gl.createBuffer();
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, content, gl.STATIC_DRAW);
    return buffer;
  }

  makeArrays() {
    const { buffers: b, run, rods } = this;
    this.surfaceArray = this.array([[0, b.positions, 3], [1, b.normals, 3]], b.triangles);
    this.edgeArray = this.array([[0, b.positions, 3]], b.edges);
    this.lineArray = this.array([[0, b.ends, 3]]);
    this.gridArray = this.array([[0, b.square, 2]]);
    this.ballArrays = run.objects.map((o) => {
      if (o.radius === null || !o.count) return null;
      const places = [[0, b.square, 2], [1, b.points, 3, POINT, POINT * o.first]];
      // Rods have no speeds: the constant 0 stands for them.
      if (o.kind === "fluid") places.push([2, b.speeds, 1, NUMBER, NUMBER * (o.first - run.first_particle)]);
      return this.array(places);
    });
    this.tubeArrays = run.objects.map((o, k) => {
      const { first, count } = rods.ranges[k];
      if (o.radius === null || !count) return null;
      const at = 2 * POINT * first;
      return this.array([[0, b.prism, 3], [1, b.ends, 3, 2 * POINT, at], [2, b.ends, 3, 2 * POINT, at + POINT]]);
    });
  }

  /** A vertex array of attributes: place, buffer, numbers, and for one value an instance its stride and offset. */
  array(attributes, indices = null) {
    const { gl } = this;
    const array = gl.createVertexArray();
    gl.bindVertexArray(array);
    for (const [place, buffer, size, stride, offset] of attributes) {
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, size, gl.FLOAT, false, stride ?? 0, offset ?? 0);
      if (stride) gl.vertexAttribDivisor(place, 1);
    }
    if (indices) gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, indices);
    gl.bindVertexArray(null);
    return array;
  }

  /** Takes a frame to the graphics card. */
  show(frame) {
    const { surface, rods, scratch, buffers } = this;
    gather(surface.source, frame.x, scratch.positions);
    smoothNormals(surface.indices, scratch.positions, scratch.faces, scratch.normals);
    gather(rods.ends, frame.x, scratch.ends);
    this.fill(buffers.points, frame.x);
    this.fill(buffers.speeds, frame.speeds);
    this.fill(buffers.positions, scratch.positions);
    this.fill(buffers.normals, scratch.normals);
    this.fill(buffers.ends, scratch.ends);
  }

  fill(buffer, numbers) {
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, buffer);
    this.gl.bufferSubData(this.gl.ARRAY_BUFFER, 0, numbers);
  }

  /** Gives the canvas the size it has on the page. */
  resize() {
    const { canvas } = this;
    const finer = Math.min(window.devicePixelRatio || 1, FINEST);
    const width = Math.max(1, Math.round(canvas.clientWidth * finer));
    const height = Math.max(1, Math.round(canvas.clientHeight * finer));
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  }

  /** Draws; `look` has `hidden` (a set of objects), `wire`, `grid`, `shadow`, `into`, `theme`. */
  draw(camera, look) {
    const { gl } = this;
    this.shared = {
      uViewProjection: camera.viewProjection,
      uView: camera.view,
      uProjection: camera.projection,
      uEye: camera.eye,
      uGround: this.run.ground,
    };
    this.theme = THEMES[look.theme];
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(...this.theme.sky.map((c) => c ** (1 / 2.2)), 1);
    gl.clearStencil(0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    const seen = this.run.objects.map((_, k) => k).filter((k) => !look.hidden.has(k));
    this.drawSurfaces(seen, look);
    this.drawRods(seen);
    this.drawBalls(seen);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    gl.depthMask(false);
    if (look.wire) this.drawEdges(seen);
    if (look.shadow) this.drawShadows(seen, camera);
    if (look.grid) this.drawGrid(camera);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
  }

  /** Uses a program with the values that all share and its own. */
  use(name, values) {
    const { gl } = this;
    const { program, places } = this.programs[name];
    gl.useProgram(program);
    this.set(places, this.shared);
    this.set(places, values);
    return places;
  }

  set(places, values) {
    const { gl } = this;
    for (const [name, value] of Object.entries(values)) {
      const place = places[name];
      if (!place) continue;
      if (typeof value === "number") gl.uniform1f(place, value);
      else if (value.length === 16) gl.uniformMatrix4fv(place, false, value);
      else gl[`uniform${value.length}fv`](place, value);
    }
  }

  paint(k) {
    const { front, back } = this.paints[k];
    return { uFront: front, uBack: back, uGloss: GLOSS[this.run.objects[k].kind] ?? 0 };
  }

  drawSurfaces(seen, look) {
    const { gl, surface, run } = this;
    const places = this.use("surface", {});
    gl.bindVertexArray(this.surfaceArray);
    gl.cullFace(gl.FRONT);
    for (const k of seen) {
      const { first, count } = surface.ranges[k];
      if (!count) continue;
      this.set(places, this.paint(k));
      if (look.into && run.objects[k].container) gl.enable(gl.CULL_FACE);
      gl.drawElements(gl.TRIANGLES, count, gl.UNSIGNED_INT, NUMBER * first);
      gl.disable(gl.CULL_FACE);
    }
  }

  drawRods(seen) {
    const { gl, rods } = this;
    for (const k of seen) {
      const { first, count } = rods.ranges[k];
      if (!count) continue;
      if (this.tubeArrays[k]) {
        this.use("tube", { ...this.paint(k), uRadius: this.run.objects[k].radius });
        gl.bindVertexArray(this.tubeArrays[k]);
        gl.drawArraysInstanced(gl.TRIANGLES, 0, 6 * SIDES, count);
      } else {
        this.use("line", { uColor: [...this.colors[k].map((c) => c / 255), 1] });
        gl.bindVertexArray(this.lineArray);
        gl.drawArrays(gl.LINES, 2 * first, 2 * count);
      }
    }
  }

  drawBalls(seen) {
    const { gl, run } = this;
    for (const k of seen.filter((k) => this.ballArrays[k])) {
      const { kind, radius, count } = run.objects[k];
      const fastest = kind === "fluid" ? run.fastest : 0;
      this.use("ball", { ...this.paint(k), uRadius: radius, uFastest: fastest, uFoam: linear(FOAM) });
      gl.bindVertexArray(this.ballArrays[k]);
      gl.vertexAttrib1f(2, 0);
      gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, count);
    }
  }

  drawEdges(seen) {
    const { gl, surface } = this;
    this.use("line", { uColor: [...this.theme.line, 0.45] });
    gl.bindVertexArray(this.edgeArray);
    for (const k of seen) {
      const { first, count } = surface.edgeRanges[k];
      if (count) gl.drawElements(gl.LINES, count, gl.UNSIGNED_INT, NUMBER * first);
    }
  }

  /** Shadows on the ground; the stencil lets each pixel be darkened once. */
  drawShadows(seen, camera) {
    const { gl, surface, rods, run } = this;
    const values = { uLowest: LOWEST * camera.distance, uColor: [0, 0, 0, this.theme.shadow] };
    gl.enable(gl.STENCIL_TEST);
    gl.stencilFunc(gl.EQUAL, 0, 1);
    gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
    // A container would shade all that it holds, and what it holds throws no shadow through its walls.
    const isHeld = run.objects.some((o) => o.container);
    const throws = ({ container, kind }) => !container && !(isHeld && kind === "fluid");
    for (const k of seen.filter((k) => throws(run.objects[k]))) {
      const { radius, count } = run.objects[k];
      if (surface.ranges[k].count) {
        this.use("surfaceShadow", values);
        gl.bindVertexArray(this.surfaceArray);
        gl.drawElements(gl.TRIANGLES, surface.ranges[k].count, gl.UNSIGNED_INT, NUMBER * surface.ranges[k].first);
      }
      if (this.tubeArrays[k]) {
        this.use("tubeShadow", { ...values, uRadius: radius });
        gl.bindVertexArray(this.tubeArrays[k]);
        gl.drawArraysInstanced(gl.TRIANGLES, 0, 6 * SIDES, rods.ranges[k].count);
      }
      if (this.ballArrays[k]) {
        this.use("ballShadow", { ...values, uRadius: radius });
        gl.bindVertexArray(this.ballArrays[k]);
        gl.vertexAttrib1f(2, 0);
        gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, count);
      }
    }
    gl.disable(gl.STENCIL_TEST);
  }

  drawGrid(camera) {
    const { gl } = this;
    this.use("grid", {
      uTarget: camera.target,
      uReach: GRID_REACH * camera.distance,
      uSpacing: this.gridSpacing(camera),
      uLine: this.theme.grid,
    });
    gl.bindVertexArray(this.gridArray);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  }

  /** Distance of the lines of the ground [m]. */
  gridSpacing(camera) {
    return roundSpacing(camera.reach / 3);
  }
}
