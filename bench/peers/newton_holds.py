"""What contact of `newton` (SolverVBD on the CPU) holds: the cases of our `holds` binary.

    python newton_holds.py DIR

DIR holds holds-{pile,upright,drop,plate}.obj. Settings are those of `newton_motion.py`; plates are particles that are not
active and are put where they belong in each step.
"""

import argparse

import newton
import numpy as np
import warp as wp

from common import crossings, read_obj, result, rim, side_by_side
from newton_motion import APART, G, RADIUS, STEP, Scene, still

EVERY = 6
HEIGHT, OPEN, PAST = 0.2, 0.02, 2.5e-3


def follow(scene, seconds, sheets, before=None):
    """Runs on; crossings at the end and at most, and the fastest point of any step."""
    triangles = side_by_side(sheets)
    now = most = 0
    fastest = 0.0
    steps = round(seconds / STEP)
    for k in range(1, steps + 1):
        if before:
            before(scene, k * STEP)
        scene.step()
        v = np.linalg.norm(scene.v, axis=1)
        fastest = max(fastest, float(v.max())) if np.isfinite(v).all() else float("inf")
        if k % EVERY == 0 or k == steps:
            now = crossings(scene.x, triangles)
            most = max(most, now)
    return now, most, fastest


def pile(sheet, peer):
    sheets = [still(sheet, RADIUS + k * APART) for k in range(5)]
    scene = Scene(sheets, 10, gravity=(0, 0, -G), ground=0.3)
    n = len(sheet[0])
    top = lambda: 1e3 * scene.x[-n:, 2].mean()
    follow(scene, 1.0, sheets)
    early = top()
    _, most, _ = follow(scene, 2.0, sheets)
    result("pile", early - top(), unit="mm", peer=peer, height_mm=top(), crossings=most)


def crossed(flat, upright, peer):
    sheets = [still(flat), still(upright)]
    scene = Scene(sheets, 10)
    start = crossings(scene.x, side_by_side(sheets))
    now, _, fastest = follow(scene, 1.0, sheets)
    result("crossed", now, unit="crossings", peer=peer, start=start, fastest_m_per_s=fastest)


def drop(sheet, iterations, peer):
    sheets = [still(sheet), still(sheet, HEIGHT)]
    scene = Scene(sheets, iterations, gravity=(0, 0, -G), held=rim(sheet[0]))
    now, most, _ = follow(scene, 0.5, sheets)
    lowest = 1e3 * scene.x[:, 2].min()
    result(f"drop {iterations}", most, unit="crossings", peer=peer, end=now, lowest_mm=lowest)


def close(plate, sheet, peer):
    sheets = [still(plate, OPEN), still(plate, -OPEN), still(sheet)]
    n = len(plate[0])
    scene = Scene(sheets, 10, held=range(2 * n))

    def move(scene, time):
        share = np.interp(time, [0.0, 0.1, 0.15, 0.25], [0.0, 1.0, 1.0, 0.0])
        for state in scene.states:
            # Arrays of the CPU device share their memory with numpy.
            q = state.particle_q.numpy()
            q[:n, 2], q[n : 2 * n, 2] = OPEN - share * (OPEN + PAST), share * (OPEN + PAST) - OPEN

    # The plates may pass each other: they are parallel.
    now, most, fastest = follow(scene, 0.4, sheets, before=move)
    far = 1e3 * np.abs(scene.x[2 * n :, 2]).max()
    result("close", most, unit="crossings", peer=peer, end=now, farthest_mm=far, fastest_m_per_s=fastest)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    o = parser.parse_args()
    wp.config.quiet = True
    wp.init()
    peer = "newton " + newton.__version__
    mesh = {name: read_obj(f"{o.folder}/holds-{name}.obj") for name in ("pile", "upright", "drop", "plate")}
    pile(mesh["pile"], peer)
    crossed(mesh["pile"], mesh["upright"], peer)
    for iterations in (1, 2, 5, 20):
        drop(mesh["drop"], iterations, peer)
    close(mesh["plate"], mesh["pile"], peer)


if __name__ == "__main__":
    main()
