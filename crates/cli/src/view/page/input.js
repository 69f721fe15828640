// Mouse, touch and keys.

/** Turn of a drag over the whole height of the window [rad]. */
const TURN = Math.PI;
/** Zoom of a step of the wheel, and of its lines and pages in pixels. */
const WHEEL = 0.0013;
const WHEEL_UNITS = [1, 30, 400];
/** Longest wheel step that counts [pixels]: some mice send a whole turn at once. */
const WHEEL_MOST = 240;

/** Where an event is, in half heights from the middle of an element, y up. */
export function placeIn(target, event) {
  const { left, top, width, height } = target.getBoundingClientRect();
  const half = height / 2;
  return [(event.clientX - left - width / 2) / half, (half - (event.clientY - top)) / half];
}

/** Turns, moves and zooms the camera; `changed` is called after each change. */
export function steer(canvas, camera, changed) {
  const pointers = new Map();
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, placeIn(canvas, event));
  });
  for (const end of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(end, (event) => pointers.delete(event.pointerId));
  }
  canvas.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const place = placeIn(canvas, event);
    const others = [...pointers].filter(([id]) => id !== event.pointerId);
    if (others.length === 1) pinch(camera, others[0][1], before, place);
    else if (!others.length) drag(camera, event, before, place);
    pointers.set(event.pointerId, place);
    changed();
  });
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const pixels = event.deltaY * WHEEL_UNITS[event.deltaMode];
    const step = Math.max(-WHEEL_MOST, Math.min(WHEEL_MOST, pixels));
    camera.zoom(Math.exp(WHEEL * step), ...placeIn(canvas, event));
    changed();
  }, { passive: false });
}

function drag(camera, event, before, place) {
  const [x, y] = [place[0] - before[0], place[1] - before[1]];
  const moves = event.shiftKey || (event.buttons & 6) !== 0;
  if (moves) camera.pan(x, y);
  else camera.orbit((-x * TURN) / 2, (-y * TURN) / 2);
}

/** Two fingers: their middle moves the scene, their distance zooms. */
function pinch(camera, other, before, place) {
  const middle = (a) => [(a[0] + other[0]) / 2, (a[1] + other[1]) / 2];
  const apart = (a) => Math.hypot(a[0] - other[0], a[1] - other[1]);
  const [m, n] = [middle(before), middle(place)];
  camera.pan(n[0] - m[0], n[1] - m[1]);
  if (apart(place) > 0) camera.zoom(apart(before) / apart(place), ...n);
}

/** Calls `actions[key](event)`; letters in lower case. */
export function listenToKeys(actions) {
  window.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]") || event.target instanceof HTMLSelectElement) return;
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action(event);
  });
  // Space on a button that was clicked would press it again, after it has been a key.
  window.addEventListener("keyup", (event) => {
    if (event.key === " " && event.target instanceof HTMLButtonElement && actions[" "]) event.preventDefault();
  });
}
