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
