"""What the intersection-free flex contact of `mujoco` (flag `ipc`) costs in motion: the cases of our `motion` binary.

    python mujoco_motion.py DIR

DIR holds motion-{fall,swing,layers,slope}.obj. Material and step are those of `bench/src/bin/motion.rs`. This contact has a
fixed band, so that the sheet falls at one radius only, and no friction, which the slope shows.
"""

import argparse
import math

import mujoco
import numpy as np

from common import read_obj, result

STEP = 1.0 / 240.0
DENSITY, YOUNG, POISSON, THICKNESS = 0.2, 0.8e6, 0.24, 3e-4
RADIUS = 5e-4
APART = 2e-3
G = 9.81


class Scene:
    """Sheets, given as (vertices, triangles, velocities)."""

    def __init__(self, sheets, contact=True, gravity=(0, 0, 0), held=(), ground=False, held_sheets=None):
        held_sheets = range(len(sheets)) if held_sheets is None else held_sheets
        area = lambda x: float(x[:, 0].max() - x[:, 0].min()) ** 2
        flex = "".join(
            f"""
              <flexcomp name="sheet{k}" type="direct" dim="2" point="{" ".join(repr(float(c)) for c in x.flatten())}"
                        element="{" ".join(str(c) for c in triangles.flatten())}" mass="{DENSITY * area(x)!r}" radius="{RADIUS}">
                <elasticity young="{YOUNG}" poisson="{POISSON}" thickness="{THICKNESS}" elastic2d="both"/>
                <contact selfcollide="{"auto" if contact else "none"}" contype="{int(contact)}" conaffinity="{int(contact)}"/>
                {f'<pin id="{" ".join(str(p) for p in held)}"/>' if len(held) and k in held_sheets else ""}
              </flexcomp>"""
            for k, (x, triangles, _) in enumerate(sheets)
        )
        plane = '<geom type="plane" size="4 4 1"/>' if ground else ""
        self.model = mujoco.MjModel.from_xml_string(f"""
            <mujoco>
              <size memory="2G"/>
              <option timestep="{STEP!r}" integrator="discrete" solver="Newton" tolerance="1e-6"
                      gravity="{" ".join(repr(float(g)) for g in gravity)}">
                <flag ipc="{"enable" if contact else "disable"}"/>
              </option>
              <worldbody>{plane}{flex}</worldbody>
            </mujoco>""")
        self.data = mujoco.MjData(self.model)
        v = np.concatenate([s[2] for s in sheets])
        body = self.model.flex_vertbodyid
        first = self.model.body_dofadr[body]
        for point, dof in enumerate(first):
            if self.model.body_dofnum[body[point]] == 3:
                self.data.qvel[dof : dof + 3] = v[point]
        self.first, self.moves = first, self.model.body_dofnum[body] == 3
        mujoco.mj_forward(self.model, self.data)

    def run(self, seconds):
        for _ in range(round(seconds / STEP)):
            mujoco.mj_step(self.model, self.data)
        mujoco.mj_forward(self.model, self.data)
        return self

    @property
    def x(self):
        return self.data.flexvert_xpos.copy()

    @property
    def v(self):
        out = np.zeros((len(self.first), 3))
        for point in np.flatnonzero(self.moves):
            out[point] = self.data.qvel[self.first[point] : self.first[point] + 3]
        return out


def still(sheet, z=0.0):
    x, triangles = sheet
    return x + [0.0, 0.0, z], triangles, np.zeros_like(x)


def swing(sheet):
    x = sheet[0]
    near = 0.98 * np.abs(x).max()
    held = np.flatnonzero((x[:, 0] < -near) & (np.abs(x[:, 1]) > near))

    def heights(contact):
        scene = Scene([still(sheet)], contact=contact, gravity=(0, 0, -G), held=held)
        return np.array([scene.run(STEP).x[:, 2].mean() for _ in range(round(2.0 / STEP))])

    free, cut = heights(False), heights(True)
    return 1.0 - np.abs(free - cut).max() / -free.min()


def layers(sheet, velocity, spin, contact=True):
    x, triangles = sheet
    v = np.cross([0.0, 0.0, spin], x) + velocity
    scene = Scene([(x + [0.0, 0.0, z], triangles, v) for z in (0.0, APART)], contact=contact).run(0.5)
    n = len(x)
    return scene.x[:n], scene.v[:n], scene.x[n:]


def turning(x, v):
    return np.linalg.norm(np.cross(x - x.mean(axis=0), v).mean(axis=0))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    o = parser.parse_args()
    peer = "mujoco " + mujoco.__version__
    sheet = {name: read_obj(f"{o.folder}/motion-{name}.obj") for name in ("fall", "swing", "layers", "slope")}
    scene = Scene([still(sheet["fall"])], gravity=(0, 0, -G)).run(1.0)
    result("fall 1 mm", -scene.v[:, 2].mean() / G, unit="of g t", peer=peer)
    result("swing", swing(sheet["swing"]), unit="kept", peer=peer)
    x, v, upper = layers(sheet["layers"], np.array([0.0, 0.0, 50.0]), 0.0)
    gap = 1e3 * (upper[:, 2].mean() - x[:, 2].mean())
    result("layers", v[:, 2].mean() / 50.0, unit="kept", peer=peer, gap_mm=gap)
    cut, free = (turning(*layers(sheet["layers"], np.zeros(3), 20.0, c)[:2]) for c in (True, False))
    result("turn", cut / free, unit="kept", peer=peer)
    lean = math.atan(0.5)
    gravity = (G * math.sin(lean), 0.0, -G * math.cos(lean))
    scene = Scene([still(sheet["slope"], 2.0 * RADIUS)], gravity=gravity, ground=True)
    start = scene.x[:, 0].mean()
    scene.run(2.5)
    result("slope 0.50", 1e3 * (scene.x[:, 0].mean() - start), unit="mm", peer=peer, height_mm=1e3 * scene.x[:, 2].mean())


if __name__ == "__main__":
    main()
