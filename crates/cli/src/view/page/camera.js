// The camera: an eye on a ball around a target, z up.

import { add, along, length, perspective, product, scale, sub, viewMatrix } from "./vector.js";

/** Steepest look up or down [rad]: just short of straight, where the horizon would spin. */
const STEEPEST = 1.55;
/** Closest and farthest eye from the target [m]. */
const CLOSEST = 1e-5;
const FARTHEST = 1e6;
/** Depths that are drawn, as shares of the distance from eye to target. */
const NEAR = 0.01;
const FAR = 100;
/** Share of the window that a framed box fills. */
const FILL = 0.85;
/** Smallest radius that is framed [m]: a single point is no reason to move into it. */
const SMALLEST = 1e-4;
/** Width over height that the first look is made for. */
const EXPECTED_ASPECT = 16 / 9;

export class Camera {
  /** Begins where the run's pictures are taken from. */
  constructor({ eye, target, fov }) {
    this.fov = fov;
    this.setWindow({ width: EXPECTED_ASPECT, height: 1 }, { left: 0, top: 0, width: EXPECTED_ASPECT, height: 1 });
    this.look(eye, target);
  }

  /** The size of the window, and the part of it that nothing covers: the target is in the middle of that. */
  setWindow({ width, height }, free) {
    this.aspect = width / height;
    this.free = { aspect: free.width / free.height, height: free.height / height };
    /** Middle of the free part, in shares of half of the window from its middle, y up. */
    this.shift = [(2 * free.left + free.width) / width - 1, 1 - (2 * free.top + free.height) / height];
  }

  look(eye, target) {
    const back = sub(eye, target);
    this.target = target;
    this.distance = Math.max(length(back), CLOSEST);
    this.yaw = Math.atan2(back[1], back[0]);
    this.pitch = Math.asin(Math.max(-1, Math.min(1, back[2] / this.distance)));
  }

  /** Steps back where the window is narrower than the first look expects. */
  fitWindow() {
    this.distance *= Math.max(1, EXPECTED_ASPECT / this.free.aspect) / this.free.height;
  }

  get back() {
    const level = Math.cos(this.pitch);
    return [level * Math.cos(this.yaw), level * Math.sin(this.yaw), Math.sin(this.pitch)];
  }

  get right() {
    return [-Math.sin(this.yaw), Math.cos(this.yaw), 0];
  }

  get up() {
    const rise = Math.sin(this.pitch);
    return [-rise * Math.cos(this.yaw), -rise * Math.sin(this.yaw), Math.cos(this.pitch)];
  }

  get eye() {
    return along(this.target, this.back, this.distance);
  }

  /** Turns around the target [rad]. */
  orbit(yaw, pitch) {
    this.yaw += yaw;
    this.pitch = Math.max(-STEEPEST, Math.min(STEEPEST, this.pitch + pitch));
  }

  /** Looks along a direction: yaw and pitch [rad]. */
  face(yaw, pitch) {
    this.yaw = yaw;
    this.pitch = Math.max(-STEEPEST, Math.min(STEEPEST, pitch));
  }

  /** Half of the window's height at the target [m]. */
  get reach() {
    return this.distance * Math.tan(this.fov / 2);
  }

  /** Moves sideways by shares of half of the window's height. */
  pan(x, y) {
    const shift = add(scale(this.right, -x * this.reach), scale(this.up, -y * this.reach));
    this.target = add(this.target, shift);
  }

  /** Comes closer, factor < 1, or goes away; what is seen at (x, y), in half heights from the middle, stays there. */
  zoom(factor, x, y) {
    const distance = Math.max(CLOSEST, Math.min(FARTHEST, this.distance * factor));
    const kept = (1 - distance / this.distance) * this.reach;
    const [right, up] = [(x - this.shift[0] * this.aspect) * kept, (y - this.shift[1]) * kept];
    this.target = add(this.target, add(scale(this.right, right), scale(this.up, up)));
    this.distance = distance;
  }

  /** Looks at a box from where the camera stands. */
  frame(box) {
    this.target = scale(add(box.min, box.max), 0.5);
    const radius = Math.max(length(sub(box.max, box.min)) / 2, SMALLEST);
    const part = Math.min(1, this.free.aspect) * this.free.height;
    const half = Math.atan(FILL * part * Math.tan(this.fov / 2));
    this.distance = radius / Math.sin(half);
  }

  get view() {
    return viewMatrix(this.eye, this.right, this.up, this.back);
  }

  get projection() {
    const matrix = perspective(this.fov, this.aspect, this.distance * NEAR, this.distance * FAR);
    [matrix[8], matrix[9]] = [-this.shift[0], -this.shift[1]];
    return matrix;
  }

  get viewProjection() {
    return product(this.projection, this.view);
  }
}
