"""What the peer scripts share: meshes, clocks, and the line each result is printed on."""

import json
import statistics
import time

import numpy as np


def read_obj(path):
    """Vertices (n, 3) and triangles (m, 3) of an OBJ file as our binaries write it."""
    vertices, triangles = [], []
    with open(path) as file:
        for line in file:
            words = line.split()
            if words and words[0] == "v":
                vertices.append([float(w) for w in words[1:4]])
            elif words and words[0] == "f":
                triangles.append([int(w) - 1 for w in words[1:4]])
    return np.array(vertices).reshape(-1, 3), np.array(triangles, dtype=np.int32).reshape(-1, 3)


def write_obj(path, vertices, triangles):
    """The inverse of `read_obj`."""
    with open(path, "w") as file:
        for v in vertices:
            file.write("v %r %r %r\n" % tuple(float(c) for c in v))
        for t in triangles:
            file.write("f %d %d %d\n" % tuple(int(c) + 1 for c in t))


def unique_edges(triangles):
    """Sorted edges (e, 2) of a triangle mesh."""
    pairs = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    return np.unique(np.sort(pairs, axis=1), axis=0)


def crossings(x, triangles):
    """Pairs of an edge and a triangle without a common point that cross, in double precision."""
    edges = unique_edges(triangles)
    corner = x[triangles]
    low, high = corner.min(axis=1), corner.max(axis=1)
    edge_0, edge_1, edge_2 = corner[:, 0], corner[:, 1], corner[:, 2]
    side = lambda p, q, r, s: np.einsum("ij,ij->i", np.cross(q - p, r - p), s - p)
    count = 0
    for a, b in edges:
        p, q = x[a], x[b]
        near = (low <= np.maximum(p, q)).all(axis=1) & (high >= np.minimum(p, q)).all(axis=1)
        near &= ~((triangles == a) | (triangles == b)).any(axis=1)
        t = np.flatnonzero(near)
        if not len(t):
            continue
        u, v, w = edge_0[t], edge_1[t], edge_2[t]
        start, end = np.broadcast_to(p, u.shape), np.broadcast_to(q, u.shape)
        apart = side(u, v, w, start) * side(u, v, w, end) < 0.0
        turns = np.stack([side(start, u, v, end), side(start, v, w, end), side(start, w, u, end)])
        count += int((apart & ((turns > 0.0).all(axis=0) | (turns < 0.0).all(axis=0))).sum())
    return count


def side_by_side(sheets):
    """Triangles of all the sheets, given as (vertices, triangles, …), over their points one sheet after the other."""
    firsts = np.cumsum([0] + [len(sheet[0]) for sheet in sheets])
    return np.concatenate([sheet[1] + first for sheet, first in zip(sheets, firsts)])


def rim(x):
    """Points on the rim of a square sheet about the origin."""
    return np.flatnonzero(np.abs(x[:, :2]).max(axis=1) > 0.998 * x.max())


def stretch(rest, x, edges):
    """Mean and largest ratio of an edge's length to its length at rest."""
    length = lambda p: np.linalg.norm(p[edges[:, 0]] - p[edges[:, 1]], axis=1)
    ratio = length(x) / length(rest)
    return float(ratio.mean()), float(ratio.max())


def cpu(function, repeats=3):
    """Median processor time of a call [s], user and system, all threads."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return statistics.median(times)


def result(key, value, **more):
    """Prints one result: `table.py` reads these lines."""
    print("RESULT " + json.dumps({"key": key, "value": value, **more}), flush=True)
