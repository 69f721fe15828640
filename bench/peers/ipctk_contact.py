"""Times the broad phase, additive CCD and planar filter of `ipctk` on the stack that our `contact` binary writes.

    python ipctk_contact.py DIR TRIANGLES [--repeats 3]

DIR holds stack-TRIANGLES.obj, stack-TRIANGLES-moved.obj (vertices only) and stack-TRIANGLES.json with the reach [m] by
which both sides inflate their boxes.
"""

import argparse
import json

import ipctk
import numpy as np

from common import cpu, read_obj, result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("triangles", type=int)
    parser.add_argument("--repeats", type=int, default=3)
    o = parser.parse_args()
    ipctk.set_num_threads(1)
    base = f"{o.folder}/stack-{o.triangles}"
    x, triangles = read_obj(base + ".obj")
    moved, _ = read_obj(base + "-moved.obj")
    with open(base + ".json") as file:
        reach = json.load(file)["reach"]
    x, moved = np.asfortranarray(x), np.asfortranarray(moved)
    faces = np.asfortranarray(triangles)
    mesh = ipctk.CollisionMesh(x, ipctk.edges(faces), faces)
    peer = "ipctk " + ipctk.__version__
    # 1. Broad phase.
    candidates = ipctk.Candidates()

    def build():
        candidates.build(mesh, x, reach, ipctk.LBVH())

    build()
    time = cpu(build, o.repeats)
    count = len(candidates)
    result(f"broad phase {o.triangles}", 1e3 * time, unit="ms", peer=peer, candidates=count)
    # 2. Additive CCD over those candidates.
    accd = ipctk.AdditiveCCD()
    step = []

    def sweep():
        step.append(candidates.compute_collision_free_stepsize(mesh, x, moved, 0.0, accd))

    time = cpu(sweep, o.repeats)
    result(f"additive CCD {o.triangles}", 1e9 * time / count, unit="ns/candidate", peer=peer, candidates=count, step=step[-1])
    # 3. Planar filter over the candidates of a trust region of the same reach.
    region = ipctk.ogc.TrustRegion(reach)
    region.trust_region_inflation_radius = 2.0 * reach
    collisions = ipctk.NormalCollisions()
    region.update(mesh, x, collisions, 0.0, ipctk.LBVH())
    count = len(region.candidates)
    for what, scale in (("planar", 1.0), ("planar, crowded", 10.0)):
        wanted = np.asfortranarray(scale * (moved - x))
        cut = []

        def planar():
            dx = wanted.copy(order="F")
            region.planar_filter_step(mesh, x, dx)
            cut.append(int((np.abs(dx - wanted).max(axis=1) > 1e-15).sum()))

        time = cpu(planar, o.repeats)
        result(f"{what} {o.triangles}", 1e9 * time / count, unit="ns/candidate", peer=peer, candidates=count, cut=cut[-1])


if __name__ == "__main__":
    main()
