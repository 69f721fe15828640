//! The scene of a mesh that was given without one: it drops onto the ground.
//!
//! The scene is written as the text that a person would write, in the units and with the up axis of the mesh, and then read like
//! any other; so a run of it holds a `scene.toml` to go on from.

use crate::args::{MeshKind, RunArgs};
use crate::failure::Failure;
use littoral_geom::math::{Aabb, Vec3};
use littoral_io::mesh::{FORMATS, IntakeOptions, IntakeReport, MeshError, read_mesh};
use littoral_io::scene::{SceneFile, Source};
use std::path::Path;

/// The ground reaches this many sizes of the mesh, and of its drop, to every side.
const GROUND: f64 = 10.0;
/// Contact radius over mean edge, where that is less than the default of 2 mm: contact must not reach over a whole triangle.
const RADIUS_PER_EDGE: f64 = 0.25;
/// Time to come to rest after the fall [s].
const SETTLE: f64 = 2.0;

/// True when the name is that of a mesh file.
pub fn is_mesh(name: &str) -> bool {
    let extension = Path::new(name).extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    extension.is_some_and(|e| FORMATS.iter().any(|f| f.extension == e))
}

/// Reads the mesh and makes its scene.
pub fn load(name: &str, args: &RunArgs) -> Result<SceneFile, Failure> {
    let sets = &args.options.sets;
    // Whether the size is odd is judged by the scene, which knows the units.
    let options = IntakeOptions { units_given: true, ..IntakeOptions::default() };
    let (_, report) = read_mesh(Path::new(name), &options)?;
    let path = std::path::absolute(name).map_err(|e| Failure::Io(format!("{name}: {e}")))?;
    let frame = Frame {
        metres: match setting(sets, "units") {
            Some("cm") => 0.01,
            Some("mm") => 0.001,
            Some("in") => 0.0254,
            _ => 1.0,
        },
        up: usize::from(setting(sets, "up") != Some("y")) + 1,
    };
    let text = scene_text(&path.display().to_string(), &report, args.kind, args.drop, frame)?;
    let label = format!("the scene of {name}");
    Ok(SceneFile::load(Source::Text { label: &label, text: &text, base: Path::new("") }, sets)?)
}

/// How the numbers of a mesh file are meant.
#[derive(Clone, Copy)]
struct Frame {
    /// Length of a unit [m].
    metres: f64,
    /// Index of the upward axis.
    up: usize,
}

fn scene_text(
    path: &str,
    report: &IntakeReport,
    kind: Option<MeshKind>,
    drop: Option<f64>,
    frame: Frame,
) -> Result<String, Failure> {
    let kind = kind.unwrap_or(match report.tets > 0 || report.is_closed() {
        true => MeshKind::Soft,
        false => MeshKind::Cloth,
    });
    let table = match kind {
        MeshKind::Cloth => "cloth",
        MeshKind::Soft => "soft",
        MeshKind::Rigid => "rigid",
    };
    let Aabb { min, .. } = report.bounds;
    let (center, size) = (report.bounds.center(), report.bounds.extent());
    let height = size[frame.up].max(0.25 * size.max_element());
    let drop = drop.unwrap_or(0.5 * height);
    if !(drop > 0.0 && drop.is_finite()) {
        return Err(Failure::Input(format!(
            "--drop {drop}: expected a height above the ground, greater than 0"
        )));
    }
    let mut position: Vec3 = -center;
    position[frame.up] = drop - min[frame.up];
    let ground = 2.0 * GROUND * (size.max_element() + drop);
    let radius = RADIUS_PER_EDGE * report.mean_edge;
    let contact = match radius * frame.metres < 2e-3 {
        true => format!("\n[contact]\nradius = {radius:?}\n"),
        false => String::new(),
    };
    let fall = (2.0 * drop * frame.metres / 9.81).sqrt();
    let duration = (2.0 * (fall + SETTLE)).ceil() / 2.0;
    let name = Path::new(path).file_stem().unwrap_or_default().to_string_lossy();
    // The name of the ground is taken last, so a mesh may be called ground, too.
    let ground_name = if name == "ground" { "floor" } else { "ground" };
    Ok(format!(
        "version = 1\ntitle = {}\nduration = {duration:?}\n{contact}\n[[{table}]]\nname = {}\nmesh = {{ file = {} }}\n\
         position = [{:?}, {:?}, {:?}]\n\n[[collider]]\nname = \"{ground_name}\"\nmesh = {{ plane = {{ size = [{ground:?}, {ground:?}] }} }}\n",
        quoted(&format!("{name} dropped onto the ground")),
        quoted(&name),
        quoted(path),
        position.x,
        position.y,
        position.z,
    ))
}

/// A text as a basic string of TOML.
fn quoted(text: &str) -> String {
    let escaped: String = text
        .chars()
        .map(|c| match c {
            '"' => "\\\"".into(),
            '\\' => "\\\\".into(),
            c if c.is_control() => format!("\\u{:04X}", u32::from(c)),
            c => c.to_string(),
        })
        .collect();
    format!("\"{escaped}\"")
}

/// The value of the last `--set` of a top-level key, without quotes.
fn setting<'a>(sets: &'a [String], key: &str) -> Option<&'a str> {
    let mut values = sets.iter().filter_map(|set| set.split_once('=')).filter(|(k, _)| k.trim() == key);
    values.next_back().map(|(_, value)| value.trim().trim_matches(['"', '\'']))
}

impl From<MeshError> for Failure {
    fn from(error: MeshError) -> Self {
        match error.is_access() {
            true => Failure::Io(error.to_string()),
            false => Failure::Input(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meshes_are_known_by_their_extension() {
        assert!(is_mesh("a/b.OBJ") && is_mesh("x.stl") && is_mesh("x.vtk"));
        assert!(!is_mesh("cloth-drop") && !is_mesh("a.toml") && !is_mesh("obj"));
    }

    #[test]
    fn names_of_files_are_quoted_for_toml() {
        assert_eq!(quoted("a\"b\\c\n"), r#""a\"b\\c\u000A""#);
    }

    #[test]
    fn the_last_setting_counts() {
        let sets = ["units=cm", "solver.units=in", "units = \"mm\""].map(String::from);
        assert_eq!((setting(&sets, "units"), setting(&sets, "up")), (Some("mm"), None));
    }
}
