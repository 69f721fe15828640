"""Times the intersection-free flex contact of `mujoco` (flag `ipc`) on the sheet that our `drape` binary writes.

    python mujoco_drape.py DIR SIDE [--steps 600] [--repeats 3]

DIR/drape-SIDE.obj is a flat square sheet of SIDE × SIDE vertices, held at the vertex in its middle. Material and step
are those of `bench/src/bin/drape.rs`. This contact has no friction, a fixed band of 3 mm and a rest gap of 1 mm.
"""

import argparse

import mujoco
import numpy as np

from common import cpu, read_obj, result, stretch, unique_edges, write_obj

STEP = 1.0 / 600.0
DENSITY, YOUNG, POISSON, THICKNESS, DAMPING = 0.2, 0.8e6, 0.24, 3e-4, 1e-3
RADIUS = 5e-4


def model_of(x, triangles, side):
    """The sheet as a model."""
    middle = (side // 2) * side + side // 2
    area = float(x[:, 0].max() - x[:, 0].min()) ** 2
    points = " ".join(repr(float(c)) for c in x.flatten())
    elements = " ".join(str(c) for c in triangles.flatten())
    return mujoco.MjModel.from_xml_string(f"""
        <mujoco>
          <size memory="2G"/>
          <option timestep="{STEP!r}" integrator="discrete" solver="Newton" tolerance="1e-6">
            <flag ipc="enable"/>
          </option>
          <worldbody>
            <flexcomp name="sheet" type="direct" dim="2" point="{points}" element="{elements}"
                      mass="{DENSITY * area!r}" radius="{RADIUS}">
              <elasticity young="{YOUNG}" poisson="{POISSON}" thickness="{THICKNESS}" damping="{DAMPING}"
                          elastic2d="both"/>
              <contact selfcollide="auto"/>
              <pin id="{middle}"/>
            </flexcomp>
          </worldbody>
        </mujoco>""")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("side", type=int)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--repeats", type=int, default=3)
    o = parser.parse_args()
    x, triangles = read_obj(f"{o.folder}/drape-{o.side}.obj")
    model = model_of(x, triangles, o.side)
    data = mujoco.MjData(model)

    def drape():
        mujoco.mj_resetData(model, data)
        for _ in range(o.steps):
            mujoco.mj_step(model, data)

    time = cpu(drape, o.repeats)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_flex(model, data)
    end = data.flexvert_xpos.copy()
    mean, most = stretch(x, end, unique_edges(triangles))
    write_obj(f"{o.folder}/drape-{o.side}-mujoco.obj", end, triangles)
    warnings = int(sum(w.number for w in data.warning))
    result(
        f"drape {o.side * o.side}",
        1e3 * time / o.steps,
        unit="ms/step",
        peer="mujoco " + mujoco.__version__,
        stretch=round(most, 4),
        mean_stretch=round(mean, 4),
        lowest=round(float(end[:, 2].min()), 4),
        warnings=warnings,
    )
    assert np.isfinite(end).all()


if __name__ == "__main__":
    main()
