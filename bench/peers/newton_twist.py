"""Times SolverVBD of `newton` on the twisting sheet that our `solver` binary writes.

    python newton_twist.py DIR CELLS [--iterations 4] [--steps 30] [--repeats 3]

DIR holds twist-CELLS-{rest,wound,velocity}.obj. Two cases: `elastic`, from the flat sheet without self-contact, and
`contact`, from the wound sheet. Material, contact radius, step and the turning ends are those of `bench/src/twist.rs`;
contact buffers and the rest are those of the package's own twist example.
"""

import argparse
import math
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import newton
import numpy as np
import warp as wp

from common import cpu, read_obj, result, write_obj

STEP = 1.0 / 600.0
RATE = math.pi / 3.0
RADIUS = 2.5e-3
DENSITY = 0.2
# Young's modulus times thickness [N/m], Poisson's ratio.
STIFFNESS, POISSON = 0.8e6 * 3e-4, 0.24
WARM_UP = 10


def add_sheet(builder, vertices, triangles, **more):
    """Adds a sheet of our material."""
    builder.add_cloth_mesh(
        pos=wp.vec3(0.0, 0.0, 0.0),
        rot=wp.quat_identity(),
        scale=1.0,
        vel=wp.vec3(0.0, 0.0, 0.0),
        vertices=[wp.vec3(*p) for p in vertices],
        indices=triangles.flatten().tolist(),
        density=DENSITY,
        tri_ke=STIFFNESS / (2.0 * (1.0 + POISSON)),
        tri_ka=STIFFNESS * POISSON / (1.0 - POISSON**2),
        edge_ke=1.0e-3,
        **more,
    )


def contact_settings(radius):
    """Self-contact at `radius`; the rest is that of the package's own twist example."""
    return {
        "particle_self_contact_margin": radius,
        "particle_self_contact_gap": 0.75 * radius,
        "particle_vertex_contact_buffer_size": 64,
        "particle_edge_contact_buffer_size": 128,
    }


def build(rest, triangles, ends, iterations, contact):
    """Model and solver of a sheet whose `ends` are held."""
    builder = newton.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    add_sheet(builder, rest, triangles, tri_kd=2.0e-4, edge_kd=1.0e-2)
    builder.color()
    model = builder.finalize(device="cpu")
    model.soft_contact_ke = 1.0e3
    model.soft_contact_kd = 1.0e-1
    model.soft_contact_mu = 0.3
    flags = model.particle_flags.numpy()
    flags[ends] &= ~int(newton.ParticleFlags.ACTIVE)
    model.particle_flags = wp.array(flags, device="cpu")
    more = contact_settings(RADIUS) if contact else {}
    solver = newton.solvers.SolverVBD(
        model, iterations=iterations, particle_enable_self_contact=contact, **more
    )
    return model, solver


def turn(x, ends, angle):
    """The held ends, turned about the x axis: the left by +angle, the right by −angle."""
    p = x[ends].copy()
    a = np.where(p[:, 0] > 0.0, -angle, angle)
    c, s = np.cos(a), np.sin(a)
    y, z = p[:, 1].copy(), p[:, 2].copy()
    p[:, 1], p[:, 2] = c * y - s * z, s * y + c * z
    return p


def run(case, folder, cells, iterations, steps, repeats):
    """Times one case and keeps where it ended."""
    rest, triangles = read_obj(f"{folder}/twist-{cells}-rest.obj")
    contact = case == "contact"
    x, v = rest, np.zeros_like(rest)
    if contact:
        x, v = (read_obj(f"{folder}/twist-{cells}-{kind}.obj")[0] for kind in ("wound", "velocity"))
    end = np.abs(rest[:, 0]).max()
    ends = np.flatnonzero(np.abs(np.abs(rest[:, 0]) - end) < 1e-3)
    model, solver = build(rest, triangles, ends, iterations, contact)
    states = [model.state(), model.state()]
    states[0].particle_q.assign(x.astype(np.float32))
    states[0].particle_qd.assign(v.astype(np.float32))
    control = model.control()
    pipeline = newton.CollisionPipeline(model)
    contacts = pipeline.contacts()
    count = [0]

    def step():
        count[0] += 1
        for state in states:
            # Arrays of the CPU device share their memory with numpy.
            q = state.particle_q.numpy()
            q[ends] = turn(x, ends, RATE * STEP * count[0])
        if (count[0] - 1) % 10 == 0:
            pipeline.collide(states[0], contacts)
            solver.rebuild_bvh(states[0])
        states[0].clear_forces()
        solver.step(states[0], states[1], control, contacts, STEP)
        states.reverse()

    def many():
        for _ in range(steps):
            step()

    for _ in range(WARM_UP):
        step()
    time = cpu(many, repeats)
    q = states[0].particle_q.numpy()
    write_obj(f"{folder}/twist-{cells}-newton-{case}-{iterations}.obj", q, triangles)
    value = 1e6 * time / (steps * iterations * len(rest))
    result(f"twist {cells} {case} {iterations}", value, unit="µs/vertex/iteration", peer="newton " + newton.__version__)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("cells", type=int)
    parser.add_argument("--iterations", type=int, default=4)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--repeats", type=int, default=3)
    o = parser.parse_args()
    wp.config.quiet = True
    wp.init()
    for case in ("elastic", "contact"):
        run(case, o.folder, o.cells, o.iterations, o.steps, o.repeats)


if __name__ == "__main__":
    main()
