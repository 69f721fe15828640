// Which point of a frame is under the mouse.

import { ownerOf } from "./mesh.js";

/** How far a point may be from the mouse [half heights of the window]: about ten pixels. */
const NEAR = 0.03;

/** The nearest visible point at `place`: its number, object and position; `null` where there is none. */
export function pick(run, frame, camera, hidden, place) {
  const m = camera.viewProjection;
  const { x, speeds } = frame;
  let best = null;
  for (let p = 0; p < run.points; p++) {
    const [a, b, c] = [x[3 * p], x[3 * p + 1], x[3 * p + 2]];
    const depth = m[3] * a + m[7] * b + m[11] * c + m[15];
    if (!(depth > 0)) continue;
    const across = ((m[0] * a + m[4] * b + m[8] * c + m[12]) / depth) * camera.aspect;
    const above = (m[1] * a + m[5] * b + m[9] * c + m[13]) / depth;
    const apart = Math.hypot(across - place[0], above - place[1]);
    if (apart > NEAR) continue;
    // Among the points near the mouse the one in front; half a radius aside counts like that much of the depth.
    const cost = depth * (1 + apart);
    if (best && best.cost <= cost) continue;
    const object = ownerOf(run.objects, p);
    const isAbsent = run.objects[object].kind === "fluid" && speeds[p - run.first_particle] < 0;
    if (!hidden.has(object) && !isAbsent) best = { cost, point: p, object, position: [a, b, c] };
  }
  return best;
}
