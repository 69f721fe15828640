// Vectors as arrays [x, y, z], matrices as 16 numbers by columns, as WebGL wants them.

export const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const scale = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const length = (a) => Math.hypot(a[0], a[1], a[2]);

/** a + s b. */
export const along = (a, b, s) => add(a, scale(b, s));

/** The matrix that looks from `eye` with these unit axes; `back` points from the scene to the eye. */
export function viewMatrix(eye, right, up, back) {
  return new Float32Array([
    right[0], up[0], back[0], 0,
    right[1], up[1], back[1], 0,
    right[2], up[2], back[2], 0,
    -dot(right, eye), -dot(up, eye), -dot(back, eye), 1,
  ]);
}

/** Perspective with a vertical opening angle [rad]. */
export function perspective(fov, aspect, near, far) {
  const f = 1 / Math.tan(fov / 2);
  const depth = 1 / (near - far);
  return new Float32Array([
    f / aspect, 0, 0, 0,
    0, f, 0, 0,
    0, 0, (near + far) * depth, -1,
    0, 0, 2 * near * far * depth, 0,
  ]);
}

/** a b. */
export function product(a, b) {
  const out = new Float32Array(16);
  for (let column = 0; column < 4; column++) {
    for (let row = 0; row < 4; row++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += a[4 * k + row] * b[4 * column + k];
      out[4 * column + row] = sum;
    }
  }
  return out;
}

/** A box that holds nothing. */
export const emptyBox = () => ({ min: [Infinity, Infinity, Infinity], max: [-Infinity, -Infinity, -Infinity] });

/** True when the box holds a point. */
export const holdsPoint = (box) => box.min.every((low, axis) => low <= box.max[axis]);

/** Widens the box by the points `first` to `end` of `x` that are finite and that `isThere` keeps. */
export function widen(box, x, first, end, isThere = () => true) {
  for (let p = first; p < end; p++) {
    const point = [x[3 * p], x[3 * p + 1], x[3 * p + 2]];
    if (!point.every(Number.isFinite) || !isThere(p)) continue;
    for (let axis = 0; axis < 3; axis++) {
      box.min[axis] = Math.min(box.min[axis], point[axis]);
      box.max[axis] = Math.max(box.max[axis], point[axis]);
    }
  }
}
