//! Scene files: TOML, or JSON of the same structure, in; a simulation out.
//!
//! Reading goes text → `document` (a tree that knows where everything is written) → `--set` edits → `decode`
//! into the types of `spec` → `ranges` and `check`. An error at any stage shows the line it is about.
//! `build` makes the meshes and fills the scene builder; lengths become metres and the up axis z there.

mod build;
mod check;
mod check_fluid;
mod decode;
mod document;
mod error;
mod expect;
mod fill;
mod fluid;
mod frame;
mod join;
mod joints;
mod json;
pub mod materials;
mod meshes;
mod nearest;
mod pace;
mod ranges;
mod rigid;
mod rods;
mod shipped;
pub mod spec;
pub mod spec_fluid;
pub mod spec_join;
pub mod spec_joint;
pub mod spec_mesh;
pub mod spec_motion;
pub mod spec_rigid;
pub mod spec_rod;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_shipped;

pub use build::SceneWarning;
pub use error::{Place, SceneFileError};
pub use expect::{Expectation, Seen};
pub use pace::Pace;
pub use shipped::{description, shipped, shipped_text};

use document::Document;
use frame::Frame;
use littoral_sim::simulation::Simulation;
use serde::Deserialize;
use spec::{Scene, Step, Units};
use std::path::{Path, PathBuf};

/// Largest step that "auto" takes [s].
const AUTO_STEP: f64 = 1.0 / 240.0;

/// Where a scene comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source<'a> {
    /// What a person typed: a file if there is one of that name, else a scene that ships.
    Argument(&'a str),
    /// A file.
    Path(&'a Path),
    /// A scene that ships.
    Shipped(&'a str),
    /// A text.
    Text {
        /// What errors call it.
        label: &'a str,
        /// The text.
        text: &'a str,
        /// Folder that paths in it are relative to.
        base: &'a Path,
    },
}

/// A scene that was read and checked.
#[derive(Clone, Debug)]
pub struct SceneFile {
    /// What the file says.
    pub scene: Scene,
    document: Document,
    base: PathBuf,
    steps: u32,
}

impl SceneFile {
    /// Reads a scene and applies `--set` arguments, each `KEY=VALUE`, in order.
    pub fn load(source: Source<'_>, sets: &[String]) -> Result<SceneFile, SceneFileError> {
        match source {
            Source::Text { label, text, base } => Self::from_text(label, text, base, sets),
            Source::Path(path) => Self::from_file(path, sets),
            Source::Shipped(name) => match shipped_text(name) {
                Some(text) => Self::from_text(name, text, Path::new(""), sets),
                None => Err(unknown_scene(name)),
            },
            Source::Argument(name) => {
                // A folder of the same name as a scene that ships is no scene.
                if Path::new(name).is_file() {
                    Self::from_file(Path::new(name), sets)
                } else if let Some(text) = shipped_text(name) {
                    Self::from_text(name, text, Path::new(""), sets)
                } else if name.ends_with(".toml") || name.ends_with(".json") {
                    Self::from_file(Path::new(name), sets)
                } else {
                    Err(unknown_scene(name))
                }
            }
        }
    }

    fn from_file(path: &Path, sets: &[String]) -> Result<SceneFile, SceneFileError> {
        let read = |source| SceneFileError::Read { path: path.to_owned(), source };
        let bytes = std::fs::read(path).map_err(read)?;
        let label = path.display().to_string();
        let text = std::str::from_utf8(&bytes).map_err(|e| {
            // Enough of the text to show the line; a mesh or a film may be very long.
            let start = e.valid_up_to();
            let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(start + 200)]).into_owned();
            SceneFileError::Invalid {
                message: "this is not a scene: expected text in UTF-8".to_owned(),
                place: Box::new(Place::of(&label, &shown, start, start + 1)),
                help: None,
            }
        })?;
        Self::from_text(&label, text, path.parent().unwrap_or(Path::new("")), sets)
    }

    fn from_text(label: &str, text: &str, base: &Path, sets: &[String]) -> Result<SceneFile, SceneFileError> {
        let mut document = Document::parse(label, text)?;
        sets.iter().try_for_each(|set| document.set(set))?;
        spec_fluid::spell_out(&mut document.root);
        let schema = schema();
        let scene = Scene::deserialize(&document.root).map_err(|e| {
            let homes = e.unknown_key.as_ref().map(|key| homes(&schema, key)).unwrap_or_default();
            let belongs = (!homes.is_empty()).then(|| format!("it belongs to {}", homes.join(", ")));
            // A word may be a key elsewhere and yet be meant for this table.
            let help: Vec<String> = belongs.into_iter().chain(e.help).collect();
            let help = (!help.is_empty()).then(|| help.join("; "));
            document.error(e.span.unwrap_or_default(), &e.message, help.as_deref())
        })?;
        ranges::check(&schema, &document.root).map_err(|(span, m)| document.error(span, &m, None))?;
        check::scene(&scene, &document)?;
        let steps = steps_per_frame(&scene).map_err(|m| document.error_at("solver.step", &m, None))?;
        Ok(SceneFile { scene, document, base: base.to_owned(), steps })
    }

    /// A line that says what is to be seen; may be empty.
    pub fn title(&self) -> &str {
        &self.scene.title
    }

    /// Frames a second [1/s].
    pub fn fps(&self) -> f64 {
        self.scene.fps
    }

    /// Simulated time [s].
    pub fn duration(&self) -> f64 {
        self.scene.duration
    }

    /// Number of frames after the first: duration × fps, rounded.
    pub fn frames(&self) -> u32 {
        (self.scene.duration * self.scene.fps).round().min(f64::from(u32::MAX)) as u32
    }

    /// Steps a frame, n = ⌈1 / (fps · max step)⌉, and their size h = 1 / (fps · n) [s]. With fluid, the fewest steps and
    /// the largest size.
    pub fn steps_per_frame(&self) -> (u32, f64) {
        (self.steps, 1.0 / (self.scene.fps * f64::from(self.steps)))
    }

    /// How steps divide frames.
    pub fn pace(&self) -> Pace {
        let (steps, step_size) = self.steps_per_frame();
        Pace { fps: self.scene.fps, steps_per_frame: u64::from(steps), step_size }
    }

    /// Makes the meshes and the simulation at time 0.
    pub fn build(&self) -> Result<(Simulation, Vec<SceneWarning>), SceneFileError> {
        let (scene, document, base) = (&self.scene, &self.document, self.base.as_path());
        build::Build { scene, document, frame: self.frame(), base, step: self.steps_per_frame().1 }.run()
    }

    /// Names of the fluids that have an emitter.
    pub fn emitting(&self) -> Vec<String> {
        let emits = |i: usize| self.scene.fluid.get(i).is_some_and(|o| !o.emitter.is_empty());
        let fluids = self.scene.fluid.iter().enumerate().filter(|(i, _)| emits(*i));
        fluids.map(|(i, o)| check::object_name("fluid", i, &o.name)).collect()
    }

    /// True when particles come or go during the run.
    pub fn particles_vary(&self) -> bool {
        !self.scene.fluid.is_empty() && (!self.scene.sink.is_empty() || !self.emitting().is_empty())
    }

    /// What must be true of the motion, for each object that it is said of.
    pub fn expectations(&self) -> Vec<Expectation> {
        expect::expectations(&self.scene, self.frame())
    }

    /// The scene with every default filled in and every path made absolute; reads back as the same scene.
    pub fn to_toml(&self) -> Result<String, SceneFileError> {
        let filled = fill::filled(&self.scene, &self.base);
        toml::to_string(&filled).map_err(|e| SceneFileError::Internal { message: e.to_string() })
    }

    fn frame(&self) -> Frame {
        Frame { units: self.scene.units.unwrap_or(Units::M), up: self.scene.up }
    }
}

/// The JSON Schema of scene files.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Scene).to_value()
}

/// The tables of a scene that have a key of this name: `iterations` belongs to `[solver]`.
fn homes(schema: &serde_json::Value, key: &str) -> Vec<String> {
    let Some(tables) = schema.get("properties").and_then(|p| p.as_object()) else { return Vec::new() };
    let has_key = |target: &serde_json::Value| {
        let definition = target.as_str().and_then(|t| schema.pointer(t.trim_start_matches('#')));
        definition.is_some_and(|d| d.pointer(&format!("/properties/{key}")).is_some())
    };
    (tables.iter())
        .filter_map(|(table, value)| match (value.get("$ref"), value.pointer("/items/$ref")) {
            (Some(target), _) if has_key(target) => Some(format!("[{table}]")),
            (_, Some(target)) if has_key(target) => Some(format!("[[{table}]]")),
            _ => None,
        })
        .collect()
}

fn steps_per_frame(scene: &Scene) -> Result<u32, String> {
    // Steps a frame beyond this are a slip of digits, not a scene.
    const STEPS_MAX: f64 = 1e7;
    // 1/(fps·h) of a step that divides a frame is whole up to a few rounding errors.
    const ROUNDING: f64 = 1e-9;
    let largest = match scene.solver.step {
        Step::Auto(_) => AUTO_STEP,
        Step::Seconds(h) => h,
    };
    let steps = 1.0 / (scene.fps * largest);
    if steps > STEPS_MAX {
        return Err(format!(
            "a frame would take {steps:.1e} steps of {largest} s; at most {STEPS_MAX:.0e} are taken"
        ));
    }
    Ok((steps * (1.0 - ROUNDING)).ceil().max(1.0) as u32)
}

fn unknown_scene(name: &str) -> SceneFileError {
    let nearest = nearest::nearest(name, shipped().iter().map(|(n, _)| *n)).map(str::to_owned);
    SceneFileError::Unknown { name: name.to_owned(), nearest }
}
