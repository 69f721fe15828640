"""What self-contact of `newton` (SolverVBD on the CPU) costs in motion: the cases of our `motion` binary.

    python newton_motion.py DIR [--iterations 10]

DIR holds motion-{fall,swing,layers,slope}.obj. Material, step, contact radius and numbers are those of
`bench/src/bin/motion.rs`; the gap for detection is three quarters of the radius, as in the package's own twist example, and
what it lists is detected anew each step.
"""

import argparse
import math
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import newton
import numpy as np
import warp as wp

from common import read_obj, result
from newton_twist import add_sheet, contact_settings

STEP = 1.0 / 240.0
RADIUS = 1e-3
APART = 2e-3
G = 9.81


class Scene:
    """Sheets, given as (vertices, triangles, velocities), with or without self-contact."""

    def __init__(self, sheets, iterations, radius=RADIUS, contact=True, gravity=(0, 0, 0), held=(), ground=None):
        builder = newton.ModelBuilder(gravity=gravity)
        for x, triangles, _ in sheets:
            add_sheet(builder, x, triangles, tri_kd=0.0, edge_kd=0.0, particle_radius=radius)
        if ground is not None:
            builder.add_ground_plane(cfg=newton.ModelBuilder.ShapeConfig(mu=ground, ke=1e3, kd=1e-1, kf=1e3))
        builder.color()
        self.model = builder.finalize(device="cpu")
        self.model.soft_contact_ke = 1.0e3
        self.model.soft_contact_kd = 1.0e-1
        self.model.soft_contact_mu = 0.3 if ground is None else ground
        flags = self.model.particle_flags.numpy()
        flags[list(held)] &= ~int(newton.ParticleFlags.ACTIVE)
        self.model.particle_flags = wp.array(flags, device="cpu")
        more = contact_settings(radius) if contact else {}
        self.solver = newton.solvers.SolverVBD(
            self.model, iterations=iterations, particle_enable_self_contact=contact, **more
        )
        self.contact = contact
        self.states = [self.model.state(), self.model.state()]
        self.states[0].particle_q.assign(np.concatenate([s[0] for s in sheets]).astype(np.float32))
        self.states[0].particle_qd.assign(np.concatenate([s[2] for s in sheets]).astype(np.float32))
        self.states[1].particle_q.assign(self.states[0].particle_q)
        self.control = self.model.control()
        self.pipeline = newton.CollisionPipeline(self.model)
        self.contacts = self.pipeline.contacts()

    def step(self):
        self.pipeline.collide(self.states[0], self.contacts)
        if self.contact:
            self.solver.rebuild_bvh(self.states[0])
        self.states[0].clear_forces()
        self.solver.step(self.states[0], self.states[1], self.control, self.contacts, STEP)
        self.states.reverse()

    def run(self, seconds):
        for _ in range(round(seconds / STEP)):
            self.step()
        return self

    @property
    def x(self):
        return self.states[0].particle_q.numpy().astype(float)

    @property
    def v(self):
        return self.states[0].particle_qd.numpy().astype(float)


def still(sheet, z=0.0):
    x, triangles = sheet
    return x + [0.0, 0.0, z], triangles, np.zeros_like(x)


def fall(sheet, iterations, radius):
    scene = Scene([still(sheet)], iterations, radius, gravity=(0, 0, -G)).run(1.0)
    return -scene.v[:, 2].mean() / G


def swing(sheet, iterations):
    x = sheet[0]
    near = 0.98 * np.abs(x).max()
    held = np.flatnonzero((x[:, 0] < -near) & (np.abs(x[:, 1]) > near))

    def heights(contact):
        scene = Scene([still(sheet)], iterations, contact=contact, gravity=(0, 0, -G), held=held)
        out = []
        for _ in range(round(2.0 / STEP)):
            scene.step()
            out.append(scene.x[:, 2].mean())
        return np.array(out)

    free, cut = heights(False), heights(True)
    return 1.0 - np.abs(free - cut).max() / -free.min(), -free.min()


def layers(sheet, iterations, velocity, spin, contact=True):
    x, triangles = sheet
    v = np.cross([0.0, 0.0, spin], x) + velocity
    pair = [(x + [0.0, 0.0, z], triangles, v) for z in (0.0, APART)]
    scene = Scene(pair, iterations, contact=contact).run(0.5)
    n = len(x)
    return scene.x[:n], scene.v[:n], scene.x[n:]


def turning(x, v):
    return np.linalg.norm(np.cross(x - x.mean(axis=0), v).mean(axis=0))


def slope(sheet, iterations, friction):
    lean = math.atan(0.5)
    gravity = (G * math.sin(lean), 0.0, -G * math.cos(lean))
    scene = Scene([still(sheet, RADIUS)], iterations, contact=True, gravity=gravity, ground=friction)
    start = scene.x[:, 0].mean()
    scene.run(2.5)
    return 1e3 * (scene.x[:, 0].mean() - start), 1e3 * scene.x[:, 2].mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--iterations", type=int, default=10)
    o = parser.parse_args()
    wp.config.quiet = True
    wp.init()
    peer = "newton " + newton.__version__
    sheet = {name: read_obj(f"{o.folder}/motion-{name}.obj") for name in ("fall", "swing", "layers", "slope")}
    for radius in (5e-3, 1e-3, 2e-4):
        result(f"fall {1e3 * radius:g} mm", fall(sheet["fall"], o.iterations, radius), unit="of g t", peer=peer)
    kept, drop = swing(sheet["swing"], o.iterations)
    result("swing", kept, unit="kept", peer=peer, largest_drop_m=drop)
    x, v, upper = layers(sheet["layers"], o.iterations, np.array([0.0, 0.0, 50.0]), 0.0)
    gap = 1e3 * (upper[:, 2].mean() - x[:, 2].mean())
    result("layers", v[:, 2].mean() / 50.0, unit="kept", peer=peer, gap_mm=gap)
    cut, free = (turning(*layers(sheet["layers"], o.iterations, np.zeros(3), 20.0, c)[:2]) for c in (True, False))
    result("turn", cut / free, unit="kept", peer=peer)
    for friction in (0.51, 0.50, 0.49):
        way, height = slope(sheet["slope"], o.iterations, friction)
        result(f"slope {friction:.2f}", way, unit="mm", peer=peer, height_mm=height)


if __name__ == "__main__":
    main()
