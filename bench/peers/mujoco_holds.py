"""What the intersection-free flex contact of `mujoco` (flag `ipc`) holds: the cases of our `holds` binary.

    python mujoco_holds.py DIR

DIR holds holds-{pile,upright,drop}.obj. Iterations of the drop are those of the solver, at most. Sheets whose points are all
prescribed cannot be moved, so that nothing closes on a sheet.
"""

import argparse

import mujoco
import numpy as np

from common import crossings, read_obj, result, rim, side_by_side
from mujoco_motion import APART, G, RADIUS, STEP, Scene, still

EVERY = 6
HEIGHT = 0.2


def follow(scene, seconds, sheets):
    """Runs on; crossings at the end and at most, and the fastest point of any count."""
    triangles = side_by_side(sheets)
    now = most = 0
    fastest = 0.0
    for _ in range(round(seconds / STEP / EVERY)):
        scene.run(EVERY * STEP)
        v = np.linalg.norm(scene.v, axis=1)
        fastest = max(fastest, float(v.max())) if np.isfinite(v).all() else float("inf")
        now = crossings(scene.x, triangles)
        most = max(most, now)
    return now, most, fastest


def pile(sheet, peer):
    sheets = [still(sheet, 2.0 * RADIUS + k * APART) for k in range(5)]
    scene = Scene(sheets, gravity=(0, 0, -G), ground=True)
    n = len(sheet[0])
    top = lambda: 1e3 * scene.x[-n:, 2].mean()
    follow(scene, 1.0, sheets)
    early = top()
    _, most, _ = follow(scene, 2.0, sheets)
    result("pile", early - top(), unit="mm", peer=peer, height_mm=top(), crossings=most)


def crossed(flat, upright, peer):
    sheets = [still(flat), still(upright)]
    scene = Scene(sheets)
    start = crossings(scene.x, side_by_side(sheets))
    now, _, fastest = follow(scene, 1.0, sheets)
    result("crossed", now, unit="crossings", peer=peer, start=start, fastest_m_per_s=fastest)


def drop(sheet, iterations, peer):
    sheets = [still(sheet), still(sheet, HEIGHT)]
    scene = Scene(sheets, gravity=(0, 0, -G), held=rim(sheet[0]), held_sheets=(0,))
    scene.model.opt.iterations = iterations
    now, most, _ = follow(scene, 0.5, sheets)
    lowest = 1e3 * scene.x[:, 2].min()
    result(f"drop {iterations}", most, unit="crossings", peer=peer, end=now, lowest_mm=lowest)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    o = parser.parse_args()
    peer = "mujoco " + mujoco.__version__
    mesh = {name: read_obj(f"{o.folder}/holds-{name}.obj") for name in ("pile", "upright", "drop")}
    pile(mesh["pile"], peer)
    crossed(mesh["pile"], mesh["upright"], peer)
    for iterations in (1, 2, 5, 20):
        drop(mesh["drop"], iterations, peer)


if __name__ == "__main__":
    main()
