// Surfaces for drawing: corners that share a smooth normal become one vertex, as they lie at the start.

/** Faces that meet at less than this angle are smoothed together [cos of 40°]: a box keeps its edges. */
const CREASE = 0.766;
/** Corners of a triangle. */
const THREE = 3;
/** More points than any frame that fits: two indices are one number below 2⁵³, up to which numbers are exact. */
const MOST_POINTS = 2 ** 26;

/** The object of a point: objects are contiguous ranges of points in order. */
export function ownerOf(objects, point) {
  let low = 0;
  let high = objects.length;
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if (objects[middle].first <= point) low = middle;
    else high = middle;
  }
  return low;
}

/** Triangles by object: their corners, and the range of corners of each object. */
function sortedByObject(objects, triangles) {
  const count = triangles.length / THREE;
  const owners = new Uint32Array(count);
  const ranges = objects.map(() => ({ first: 0, count: 0 }));
  for (let t = 0; t < count; t++) {
    owners[t] = ownerOf(objects, triangles[THREE * t]);
    ranges[owners[t]].count += THREE;
  }
  let first = 0;
  const next = ranges.map((range) => {
    range.first = first;
    first += range.count;
    return range.first;
  });
  const corners = new Uint32Array(triangles.length);
  for (let t = 0; t < count; t++) {
    corners.set(triangles.subarray(THREE * t, THREE * t + THREE), next[owners[t]]);
    next[owners[t]] += THREE;
  }
  return { corners, ranges };
}

/** Normals of the triangles, as long as twice their areas, at corners that refer to points `x`. */
function areas(corners, x, out = new Float32Array(corners.length)) {
  for (let c = 0; c < corners.length; c += THREE) {
    const a = 3 * corners[c];
    const b = 3 * corners[c + 1];
    const d = 3 * corners[c + 2];
    const ux = x[b] - x[a], uy = x[b + 1] - x[a + 1], uz = x[b + 2] - x[a + 2];
    const vx = x[d] - x[a], vy = x[d + 1] - x[a + 1], vz = x[d + 2] - x[a + 2];
    out[c] = uy * vz - uz * vy;
    out[c + 1] = uz * vx - ux * vz;
    out[c + 2] = ux * vy - uy * vx;
  }
  return out;
}

/** Corners around each point, as one list with offsets. */
function cornersAround(corners, points) {
  const first = new Uint32Array(points + 1);
  for (const p of corners) first[p + 1]++;
  for (let p = 0; p < points; p++) first[p + 1] += first[p];
  const next = first.slice();
  const around = new Uint32Array(corners.length);
  corners.forEach((p, c) => { around[next[p]++] = c; });
  return { first, around };
}

/** True when the triangles of two corners of a point share another point. */
function shareEdge(corners, a, b) {
  const ta = a - (a % THREE);
  const tb = b - (b % THREE);
  for (let i = 0; i < THREE; i++) {
    if (corners[ta + i] === corners[a]) continue;
    for (let k = 0; k < THREE; k++) if (corners[tb + k] === corners[ta + i]) return true;
  }
  return false;
}

/** Groups corners of a point whose triangles meet smoothly: the number of the group of each, from 0. */
function smoothGroups(corners, normals, ring) {
  const group = ring.map((_, k) => k);
  const root = (k) => { while (group[k] !== k) k = group[k]; return k; };
  for (let i = 0; i < ring.length; i++) {
    for (let k = 0; k < i; k++) {
      if (root(i) === root(k) || !shareEdge(corners, ring[i], ring[k])) continue;
      const a = ring[i] - (ring[i] % THREE);
      const b = ring[k] - (ring[k] % THREE);
      const along = normals[a] * normals[b] + normals[a + 1] * normals[b + 1] + normals[a + 2] * normals[b + 2];
      const lengths = Math.hypot(normals[a], normals[a + 1], normals[a + 2])
        * Math.hypot(normals[b], normals[b + 1], normals[b + 2]);
      if (along >= CREASE * lengths) group[root(i)] = root(k);
    }
  }
  return ring.map((_, k) => root(k));
}

/**
 * The surface of a run: `source` tells the point of each vertex, `indices` the vertices of the triangles sorted by
 * object, `ranges` the indices of each object; `edges` and `edgeRanges` the same for lines.
 */
export function surfaceOf({ objects, triangles, x0 }) {
  const { corners, ranges } = sortedByObject(objects, triangles);
  const normals = areas(corners, x0);
  const points = x0.length / 3;
  const { first, around } = cornersAround(corners, points);
  const indices = new Uint32Array(corners.length);
  const source = [];
  for (let p = 0; p < points; p++) {
    const ring = Array.from(around.subarray(first[p], first[p + 1]));
    const vertices = new Map();
    smoothGroups(corners, normals, ring).forEach((group, k) => {
      if (!vertices.has(group)) vertices.set(group, source.push(p) - 1);
      indices[ring[k]] = vertices.get(group);
    });
  }
  const { edges, edgeRanges } = edgesOf(corners, indices, ranges);
  return { source: Uint32Array.from(source), indices, ranges, edges, edgeRanges };
}

/** Each edge once, by object. */
function edgesOf(corners, indices, ranges) {
  const edges = [];
  const edgeRanges = ranges.map((range) => {
    const begin = edges.length;
    const seen = new Set();
    for (let c = range.first; c < range.first + range.count; c++) {
      const other = c % THREE === THREE - 1 ? c - 2 : c + 1;
      const [low, high] = corners[c] < corners[other] ? [corners[c], corners[other]] : [corners[other], corners[c]];
      const key = low * MOST_POINTS + high;
      if (seen.has(key)) continue;
      seen.add(key);
      edges.push(indices[c], indices[other]);
    }
    return { first: begin, count: edges.length - begin };
  });
  return { edges: Uint32Array.from(edges), edgeRanges };
}

/** Takes positions of points to the vertices. */
export function gather(source, x, out) {
  for (let v = 0; v < source.length; v++) {
    const p = 3 * source[v];
    out[3 * v] = x[p];
    out[3 * v + 1] = x[p + 1];
    out[3 * v + 2] = x[p + 2];
  }
}

/** Normals at vertices with positions `x`: those of the triangles around, weighed by area; of any length. */
export function smoothNormals(indices, x, faces, out) {
  areas(indices, x, faces);
  out.fill(0);
  for (let c = 0; c < indices.length; c++) {
    const v = 3 * indices[c];
    const t = c - (c % THREE);
    out[v] += faces[t];
    out[v + 1] += faces[t + 1];
    out[v + 2] += faces[t + 2];
  }
}
