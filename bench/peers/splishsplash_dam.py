"""Times a dam break by DFSPH with the package `pysplishsplash`, on the set-up of our scene `dam-break`.

    python splishsplash_dam.py [CELLS] [--seconds 0.4] [--courant 0.4] [--folder DIR]

A column a × a × 2a, a = 0.5 m, of particles a/CELLS apart in a tank 4a × a × 3a with free slip; steps of at most 5 ms.
The walls are the package's volume maps. Processor time of all threads, after the scene has been set up.
"""

import argparse
import json
import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import pysplishsplash as sph

from common import result, write_obj

A = 0.5
# A box of edge 1 about the origin, normals outwards.
CORNERS = [[x - 0.5, y - 0.5, z - 0.5] for z in (0, 1) for y in (0, 1) for x in (0, 1)]
FACES = [[0, 2, 3], [0, 3, 1], [4, 5, 7], [4, 7, 6], [0, 1, 5], [0, 5, 4]]
FACES += [[2, 6, 7], [2, 7, 3], [0, 4, 6], [0, 6, 2], [1, 3, 7], [1, 7, 5]]


def scene(cells, courant, box):
    """The scene, y upwards. A particle has the diameter of a spacing; the block holds exactly the lattice."""
    dx = A / cells
    size = [4 * A, 3 * A, A]
    # The package fills a block with one particle less in each direction than it is diameters long, centred.
    low = [-2 * A - 0.5 * dx, -0.5 * dx, -0.5 * A - 0.5 * dx]
    high = [low[0] + A + dx, low[1] + 2 * A + dx, low[2] + A + dx]
    return {
        "Configuration": {
            "particleRadius": 0.5 * dx,
            "simulationMethod": 4,
            "gravitation": [0, -9.81, 0],
            "timeStepSize": 1e-3,
            "cflMethod": 1,
            # The factor is relative to 0.4 diameters a step.
            "cflFactor": courant / 0.4,
            "cflMaxTimeStepSize": 5e-3,
            "boundaryHandlingMethod": 2,
            "numberOfStepsPerRenderUpdate": 1,
            "enableDivergenceSolver": True,
                    },
        "RigidBodies": [
            {
                "geometryFile": box,
                "translation": [0, 0.5 * size[1], 0],
                "scale": size,
                "isDynamic": False,
                "isWall": True,
                "mapInvert": True,
                "mapThickness": 0.0,
                "mapResolution": [30, 25, 20],
            }
        ],
        "FluidModels": [],
        "FluidBlocks": [
            {"denseMode": 0, "start": low, "end": high, "translation": [0, 0, 0], "scale": [1, 1, 1]}
        ],
        "Materials": [{"id": "Fluid", "viscosityMethod": 0, "surfaceTensionMethod": 0}],
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cells", type=int, nargs="?", default=22)
    parser.add_argument("--seconds", type=float, default=0.4)
    parser.add_argument("--courant", type=float, default=0.4)
    parser.add_argument("--folder", default="target/bench-data")
    options = parser.parse_args()
    folder = os.path.abspath(options.folder)
    os.makedirs(folder, exist_ok=True)
    box = os.path.join(folder, "box.obj")
    write_obj(box, CORNERS, FACES)
    path = os.path.join(folder, "dam.json")
    with open(path, "w") as file:
        json.dump(scene(options.cells, options.courant, box), file)

    base = sph.Exec.SimulatorBase()
    base.init(useGui=False, sceneFile=path, outputDir=folder, initialPause=False)
    base.setValueFloat(base.STOP_AT, options.seconds)
    base.initSimulation()
    clock = sph.TimeManager.getCurrent()
    # Processor time and simulated time after each step; the maps of the walls are made before the first.
    marks = []
    base.setTimeStepCB(lambda: marks.append((time.process_time(), clock.getTime())))
    base.runSimulation()
    fluid = sph.Simulation.getCurrent().getFluidModel(0)
    count = fluid.numActiveParticles()
    steps = len(marks) - 1
    spent, seconds = (marks[-1][k] - marks[0][k] for k in (0, 1))
    out = [p for p in (fluid.getPosition(i) for i in range(count)) if outside(p, A)]
    print(
        f"{count} particles, {steps} steps, {seconds:.3f} s: {spent / seconds:.2f} cpu s per simulated s, "
        f"{spent / steps / count * 1e6:.2f} us a particle-step, {len(out)} particles outside"
    )
    key = f"dam break {options.cells} courant {options.courant:g}"
    result(key, spent / seconds, unit="cpu s/s", peer="splishsplash", particles=count, steps=steps, outside=len(out))


def outside(p, a):
    """Whether a particle has left the tank."""
    return not (abs(p[0]) < 2 * a and -1e-6 < p[1] < 3 * a and abs(p[2]) < 0.5 * a)


if __name__ == "__main__":
    main()
