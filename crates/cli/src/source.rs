//! Where a simulation comes from: a scene file, a scene that comes with littoral, or a mesh.

use crate::answer::count;
use crate::args::RunArgs;
use crate::failure::Failure;
use crate::mesh_scene;
use littoral_io::report::Warning;
use littoral_io::run_folder::RunFolder;
use littoral_io::scene::{Expectation, Pace, SceneFile, SceneFileError, Source};
use littoral_sim::model::Object;
use littoral_sim::simulation::Simulation;
use std::path::Path;

/// A scene, ready to run.
#[derive(Debug)]
pub struct LoadedScene {
    /// Short name, for the run's folder.
    pub name: String,
    /// Title, for people.
    pub title: String,
    /// The scene with all defaults filled in.
    pub toml: String,
    /// Seed of everything random.
    pub seed: u64,
    /// Frames of the whole scene.
    pub frames: u64,
    /// How steps divide frames.
    pub pace: Pace,
    /// Names of the fluids with an emitter.
    pub emitting: Vec<String>,
    /// True when particles come or go during the run.
    pub particles_vary: bool,
    /// What the scene expects of its motion.
    pub expectations: Vec<Expectation>,
    /// What is worth knowing but did not stop the loading.
    pub warnings: Vec<Warning>,
    /// The simulation, at time 0.
    pub sim: Simulation,
}

/// Loads what the arguments of `run` name: a mesh, a scene, or the scene of the run to be resumed.
pub fn load_for_run(args: &RunArgs) -> Result<LoadedScene, Failure> {
    let sets = &args.options.sets;
    let Some(name) = args.scene.as_deref() else {
        // The parser lets the scene be absent only beside --out.
        let folder = RunFolder::open(args.options.out.as_deref().unwrap_or(Path::new(".")))?;
        let path = folder.scene_path();
        return ready(SceneFile::load(Source::Path(&path), sets)?, short_name(&path.display().to_string()));
    };
    if Path::new(name).is_dir() {
        return Err(Failure::Input(match RunFolder::open(Path::new(name)) {
            Ok(_) => {
                format!("{name} is the folder of a run: continue it with littoral run --resume --out {name}")
            }
            Err(_) => format!("{name} is a folder; expected a scene file, a mesh, or the name of a scene"),
        }));
    }
    if mesh_scene::is_mesh(name) {
        return ready(mesh_scene::load(name, args)?, short_name(name));
    }
    if args.kind.is_some() || args.drop.is_some() {
        return Err(Failure::Input(format!("--as and --drop are for meshes, but {name} is a scene")));
    }
    load_named(name, sets)
}

/// Loads a scene file or a scene that comes with littoral, with changes.
pub fn load_named(name: &str, sets: &[String]) -> Result<LoadedScene, Failure> {
    ready(SceneFile::load(Source::Argument(name), sets)?, short_name(name))
}

/// Builds a scene that was read.
pub fn ready(file: SceneFile, name: String) -> Result<LoadedScene, Failure> {
    let (sim, noticed) = file.build()?;
    let overlaps = overlaps(&sim);
    let title = if file.title().is_empty() { name.clone() } else { file.title().to_owned() };
    Ok(LoadedScene {
        name,
        title,
        toml: file.to_toml()?,
        seed: u64::from(file.scene.seed),
        frames: u64::from(file.frames()),
        pace: file.pace(),
        emitting: file.emitting(),
        particles_vary: file.particles_vary(),
        expectations: file.expectations(),
        warnings: (noticed.into_iter())
            .map(|w| Warning { code: w.code.into(), count: 1, text: format!("\"{}\": {}", w.object, w.text) })
            .chain(overlaps)
            .collect(),
        sim,
    })
}

/// Fluids that lost particles because there was no room for them, each with the number.
fn overlaps(sim: &Simulation) -> Vec<Warning> {
    let removed = sim.objects().iter().zip(sim.overlaps_removed()).filter(|(_, n)| **n > 0);
    let warning = |(o, n): (&Object, &u32)| Warning {
        code: "fluid-overlap".into(),
        count: u64::from(*n),
        text: format!(
            "\"{}\": {} left out, which overlapped a surface or other particles at the start",
            o.name,
            count(*n as usize, "particle")
        ),
    };
    removed.map(warning).collect()
}

/// The last part of a path without its extension.
fn short_name(name: &str) -> String {
    Path::new(name).file_stem().map_or_else(|| name.to_owned(), |stem| stem.to_string_lossy().into_owned())
}

impl From<SceneFileError> for Failure {
    fn from(error: SceneFileError) -> Self {
        match error.is_read_failure() {
            true => Failure::Io(error.to_string()),
            false => Failure::Input(error.to_string()),
        }
    }
}
