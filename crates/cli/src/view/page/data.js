// What the server sends, as typed arrays. `crates/cli/src/view/wire.rs` says how it is laid out.

/** Bytes before the positions of a frame. */
const FRAME_HEAD = 16;

/** Fetches a path of this server; the error carries what the server says. */
async function fetched(path, signal) {
  let response;
  try {
    response = await fetch(path, { signal });
  } catch (error) {
    throw new Error(error.name === "AbortError" ? "aborted" : "the viewer has ended: start littoral view again");
  }
  if (!response.ok) throw new Error((await response.text()).trim() || `status ${response.status}`);
  return response;
}

/** The frames there are, as an ascending list, the name of the folder, and the report. */
export async function fetchRun() {
  const { name, frames, report } = await (await fetched("run.json")).json();
  const numbers = [];
  for (const [first, last] of frames) for (let k = first; k <= last; k++) numbers.push(k);
  return { name, numbers, report };
}

/** What does not change: the header's fields, and `triangles`, `segments`, `x0`. */
export async function fetchTopology() {
  return decodeTopology(await (await fetched("topology.bin")).arrayBuffer());
}

export function decodeTopology(bytes) {
  const length = new DataView(bytes).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
  const triangles = new Uint32Array(bytes, 4 + length, 3 * header.triangles);
  const segments = new Uint32Array(bytes, triangles.byteOffset + triangles.byteLength, 2 * header.segments);
  const x0 = new Float32Array(bytes, segments.byteOffset + segments.byteLength, 3 * header.points);
  return { ...header, triangles, segments, x0 };
}

/** A frame: `time` [s], positions `x` [m], and the `speeds` of particles [m/s], negative for absent ones. */
export async function fetchFrame(number, signal) {
  return decodeFrame(number, await (await fetched(`frame/${number}.bin`, signal)).arrayBuffer());
}

/** Share of the particles that may be faster than the fastest colour: a few that fly off should not take it. */
const FASTEST = 0.98;

/** The speed that has the fastest colour in a frame [m/s]; 0 without particles. */
export function fastestOf({ speeds }) {
  const sorted = speeds.filter((speed) => speed >= 0).sort();
  return sorted[Math.floor(FASTEST * sorted.length)] ?? 0;
}

export function decodeFrame(number, bytes) {
  const head = new DataView(bytes);
  const points = head.getUint32(8, true);
  return {
    number,
    time: head.getFloat64(0, true),
    x: new Float32Array(bytes, FRAME_HEAD, 3 * points),
    speeds: new Float32Array(bytes, FRAME_HEAD + 12 * points, head.getUint32(12, true)),
    bytes: bytes.byteLength,
  };
}
