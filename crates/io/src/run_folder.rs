//! The folder of a run: where its files are, and how they are written and read.
//!
//! ```text
//! scene.toml  topology.npz  frames/frame_000042.npz  stats.csv  report.json  checkpoint/
//! ```
//!
//! A folder is never overwritten: a run begins in an empty or absent one, or goes on in its own.

use crate::npz::{Npz, NpzError, NpzWriter};
use crate::report::Report;
use crate::whole_file::{FileError, write_whole};
use littoral_geom::math::Vec3;
use littoral_sim::model::ObjectKind;
use littoral_sim::simulation::Simulation;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The folder of a run.
#[derive(Clone, Debug)]
pub struct RunFolder {
    root: PathBuf,
}

/// What does not change during a run, as `topology.npz` holds it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Topology {
    /// Surface triangles (t, 3).
    pub triangles: Vec<[u32; 3]>,
    /// Tets (k, 4).
    pub tets: Vec<[u32; 4]>,
    /// Segments of rods (e, 2).
    pub edges: Vec<[u32; 2]>,
    /// Initial positions (n) [m].
    pub x0: Vec<Vec3>,
    /// Indices of fluid points (p).
    pub particles: Vec<u32>,
    /// Spacing of the particles [m]; `None` without fluid.
    pub spacing: Option<f64>,
    /// The objects, in point order.
    pub objects: Vec<ObjectRange>,
    /// Contact offset of each object [m]: of a rod, its radius. Empty without rods.
    pub offsets: Vec<f64>,
}

/// An object of a run: a contiguous range of points.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectRange {
    /// Name, unique in the scene.
    pub name: String,
    /// `cloth`, `soft`, `rod`, `rigid`, `collider`, `fluid`.
    pub kind: String,
    /// First point index.
    pub first: u32,
    /// Number of points.
    pub count: u32,
}

/// A frame, as `frames/frame_000042.npz` holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Time [s].
    pub time: f64,
    /// Positions (n) [m].
    pub x: Vec<Vec3>,
    /// Velocities (n) [m/s].
    pub v: Vec<Vec3>,
    /// Which particles (p) are part of the fluid: false for those that an emitter has yet to release or a sink has
    /// swallowed. `None` where all always are.
    pub present: Option<Vec<bool>>,
    /// Force of the other objects on each object (o) through contact [N]; empty where it was not measured.
    pub contact_force: Vec<Vec3>,
}

impl Frame {
    /// True for a particle, counted among the particles, that is part of the fluid.
    pub fn is_present(&self, particle: usize) -> bool {
        self.present.as_ref().is_none_or(|p| p.get(particle).copied().unwrap_or(true))
    }
}

/// Why a run's folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The operating system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// An array file is wrong.
    #[error(transparent)]
    Npz(#[from] NpzError),
    /// A new run may not begin where an old one lies.
    #[error("{} already holds a run: choose another folder, or continue it with --resume", path.display())]
    HoldsARun {
        /// The folder.
        path: PathBuf,
    },
    /// A new run may not begin between somebody's files.
    #[error("{} is not empty and not a run: choose another folder", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// There is no run here.
    #[error("{} is not the folder of a run: {what}", path.display())]
    NotARun {
        /// The folder.
        path: PathBuf,
        /// What was missing.
        what: String,
    },
    /// The run has no such frame.
    #[error("{} has no frame {frame}; it has {available}", path.display())]
    NoFrame {
        /// The folder.
        path: PathBuf,
        /// The frame asked for.
        frame: u64,
        /// The frames there are, in words.
        available: String,
    },
}

impl RunFolder {
    /// Begins a run in `root`, which must be absent or empty.
    pub fn create(root: &Path) -> Result<RunFolder, FolderError> {
        match fs::read_dir(root).map(|mut entries| entries.next().is_some()) {
            Ok(true) => {
                let path = root.to_path_buf();
                return Err(if RunFolder::open(root).is_ok() {
                    FolderError::HoldsARun { path }
                } else {
                    FolderError::NotEmpty { path }
                });
            }
            Ok(false) => {}
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            Err(e) => return Err(FileError::at("create", root)(e).into()),
        }
        let folder = RunFolder { root: root.to_path_buf() };
        let frames = root.join("frames");
        fs::create_dir_all(&frames).map_err(FileError::at("create", &frames))?;
        Ok(folder)
    }

    /// Begins a run in the first free one of `parent/name-001`, `parent/name-002`, …
    pub fn create_numbered(parent: &Path, name: &str) -> Result<RunFolder, FolderError> {
        fs::create_dir_all(parent).map_err(FileError::at("create", parent))?;
        let name = file_name_of(name);
        for number in 1u64.. {
            let root = parent.join(format!("{name}-{number:03}"));
            // Creating is what claims the number: two runs started at once get different ones.
            match fs::create_dir(&root) {
                Ok(()) => return RunFolder::create(&root),
                Err(e) if e.kind() == ErrorKind::AlreadyExists => continue,
                Err(e) => return Err(FileError::at("create", &root)(e).into()),
            }
        }
        unreachable!("a file system holds fewer than 2⁶⁴ folders")
    }

    /// Opens the folder of a run that has begun.
    pub fn open(root: &Path) -> Result<RunFolder, FolderError> {
        let folder = RunFolder { root: root.to_path_buf() };
        let not_a_run = |what: String| FolderError::NotARun { path: root.to_path_buf(), what };
        if !root.is_dir() {
            return Err(not_a_run("there is no such folder".into()));
        }
        for needed in [folder.report_path(), folder.scene_path()] {
            if !needed.is_file() {
                let name = needed.file_name().unwrap_or_default().to_string_lossy().into_owned();
                return Err(not_a_run(format!("it has no {name}")));
            }
        }
        Report::read(&folder.report_path()).map_err(|e| not_a_run(e.to_string()))?;
        Ok(folder)
    }

    /// Removes what a killed writer left: temporary files of ours that were never renamed into place.
    pub fn remove_leftovers(&self) -> Result<(), FolderError> {
        for folder in [self.root.clone(), self.frames_folder(), self.checkpoint_path()] {
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            for path in entries.flatten().map(|entry| entry.path()) {
                if path.extension().is_some_and(|e| e == "part") {
                    fs::remove_file(&path).map_err(FileError::at("remove", &path))?;
                }
            }
        }
        Ok(())
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }
    /// `scene.toml`: the scene as it was run.
    pub fn scene_path(&self) -> PathBuf {
        self.root.join("scene.toml")
    }
    /// `topology.npz`.
    pub fn topology_path(&self) -> PathBuf {
        self.root.join("topology.npz")
    }
    /// `frames/frame_000042.npz`.
    pub fn frame_path(&self, frame: u64) -> PathBuf {
        self.frames_folder().join(format!("frame_{frame:06}.npz"))
    }
    /// `stats.csv`.
    pub fn stats_path(&self) -> PathBuf {
        self.root.join("stats.csv")
    }
    /// `report.json`.
    pub fn report_path(&self) -> PathBuf {
        self.root.join("report.json")
    }
    /// `checkpoint/`.
    pub fn checkpoint_path(&self) -> PathBuf {
        self.root.join("checkpoint")
    }
    fn frames_folder(&self) -> PathBuf {
        self.root.join("frames")
    }

    /// Writes `scene.toml`.
    pub fn write_scene(&self, toml: &str) -> Result<(), FolderError> {
        Ok(write_whole(&self.scene_path(), toml.as_bytes())?)
    }

    /// Writes `topology.npz` of a simulation at time 0.
    pub fn write_topology(&self, sim: &Simulation) -> Result<(), FolderError> {
        let objects = sim.objects();
        let names: Vec<&str> = objects.iter().map(|o| o.name.as_str()).collect();
        let kinds: Vec<&str> = objects.iter().map(|o| kind_name(o.kind)).collect();
        let first: Vec<i32> = objects.iter().map(|o| o.first as i32).collect();
        let count: Vec<i32> = objects.iter().map(|o| o.count as i32).collect();
        let particles: Vec<i32> = sim.particles().map(|i| i as i32).collect();
        let mut npz = NpzWriter::new();
        npz.indices("triangles", sim.triangles())
            .indices("tets", sim.tets())
            .indices("edges", sim.rod_segments())
            .points("x0", &sim.state().x)
            .i32("particles", &[particles.len()], &particles)
            .text("object_names", &names)
            .i32("object_first", &[first.len()], &first)
            .i32("object_count", &[count.len()], &count)
            .text("object_kind", &kinds);
        if !sim.rod_segments().is_empty() {
            let offsets: Vec<f64> = (0..objects.len()).map(|o| sim.contact_offset(o)).collect();
            npz.f64("object_offset", &[offsets.len()], &offsets);
        }
        if let Some(spacing) = sim.spacing() {
            npz.f64("particle_spacing", &[], &[spacing]);
        }
        Ok(npz.write(&self.topology_path())?)
    }

    /// Writes a frame; `present` tells which particles are part of the fluid, where they come or go.
    pub fn write_frame(
        &self,
        frame: u64,
        sim: &Simulation,
        present: Option<&[bool]>,
    ) -> Result<(), FolderError> {
        let mut npz = NpzWriter::new();
        let (state, poses) = (sim.state(), sim.poses());
        // Centre of mass, then the rotation from the start: a point stands at c + R (x0 − c0).
        let numbers: Vec<f64> = (poses.iter())
            .flat_map(|p| p.center.to_array().into_iter().chain(p.rotation.to_array()))
            .collect();
        npz.points("x", &state.x).points("v", &state.v).f64("time", &[], &[state.time]).f64(
            "pose",
            &[poses.len(), 7],
            &numbers,
        );
        let forces = sim.contact_forces();
        if !forces.is_empty() {
            let numbers: Vec<f64> = forces.iter().flat_map(|f| f.to_array()).collect();
            npz.f64("contact_force", &[forces.len(), 3], &numbers);
        }
        if let Some(present) = present {
            npz.flags("present", present);
        }
        Ok(npz.write(&self.frame_path(frame))?)
    }

    /// Reads `topology.npz`.
    pub fn read_topology(&self) -> Result<Topology, FolderError> {
        let npz = Npz::read(&self.topology_path())?;
        let (first, count) = (npz.i32("object_first")?, npz.i32("object_count")?);
        let (names, kinds) = (npz.text("object_names")?, npz.text("object_kind")?);
        let objects = (names.iter().zip(kinds).zip(first.iter().zip(count)))
            .map(|((name, kind), (first, count))| ObjectRange {
                name: name.clone(),
                kind: kind.clone(),
                first: *first as u32,
                count: *count as u32,
            })
            .collect();
        Ok(Topology {
            triangles: npz.indices("triangles")?,
            tets: npz.indices("tets")?,
            edges: npz.indices("edges")?,
            x0: npz.points("x0")?,
            particles: npz.i32("particles")?.iter().map(|i| *i as u32).collect(),
            spacing: match npz.names().any(|n| n == "particle_spacing") {
                true => npz.f64("particle_spacing")?.first().copied(),
                false => None,
            },
            offsets: match npz.names().any(|n| n == "object_offset") {
                true => npz.f64("object_offset")?.to_vec(),
                false => Vec::new(),
            },
            objects,
        })
    }

    /// Reads a frame.
    pub fn read_frame(&self, frame: u64) -> Result<Frame, FolderError> {
        let path = self.frame_path(frame);
        if !path.exists() {
            return Err(self.no_frame(frame));
        }
        let npz = Npz::read(&path)?;
        let time = npz.f64("time")?.first().copied().unwrap_or(0.0);
        let present = npz.names().any(|n| n == "present").then(|| npz.flags("present")).transpose()?;
        let contact_force = match npz.names().any(|n| n == "contact_force") {
            true => npz.points("contact_force")?,
            false => Vec::new(),
        };
        Ok(Frame { time, x: npz.points("x")?, v: npz.points("v")?, present, contact_force })
    }

    /// Numbers of the frames there are, ascending.
    pub fn frames(&self) -> Vec<u64> {
        let entries = fs::read_dir(self.frames_folder()).into_iter().flatten().flatten();
        let mut numbers: Vec<u64> = entries
            .filter_map(|entry| {
                let name = entry.file_name();
                name.to_str()?.strip_prefix("frame_")?.strip_suffix(".npz")?.parse().ok()
            })
            .collect();
        numbers.sort_unstable();
        numbers
    }

    /// The error that names the frames there are instead.
    pub fn no_frame(&self, frame: u64) -> FolderError {
        let available = match self.frames().as_slice() {
            [] => "none".to_string(),
            [only] => format!("only frame {only}"),
            [first, .., last] => format!("frames {first} to {last}"),
        };
        FolderError::NoFrame { path: self.root.clone(), frame, available }
    }
}

/// The name of a kind of object in `topology.npz`.
pub fn kind_name(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::Cloth => "cloth",
        ObjectKind::Soft => "soft",
        ObjectKind::Rod => "rod",
        ObjectKind::Rigid => "rigid",
        ObjectKind::Collider => "collider",
        ObjectKind::Fluid => "fluid",
    }
}

/// A name as part of a path: letters, digits, `-` and `_` stay, runs of anything else become one `-`.
pub fn file_name_of(name: &str) -> String {
    let kept: String =
        name.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '-' }).collect::<String>();
    let parts: Vec<&str> = kept.split('-').filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { "run".into() } else { parts.join("-") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use littoral_geom::mesh::TriMesh;
    use littoral_sim::scene::{ClothMaterial, Placement, SceneBuilder};
    use littoral_sim::settings::{ContactSettings, SolverSettings};

    fn scratch(name: &str) -> PathBuf {
        let root = std::env::temp_dir().join(format!("littoral-folder-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        root
    }

    fn one_triangle() -> Simulation {
        let mesh = TriMesh { vertices: vec![Vec3::ZERO, Vec3::X, Vec3::Y], triangles: vec![[0, 1, 2]] };
        let mut scene = SceneBuilder::new(SolverSettings::default(), ContactSettings::default());
        let placement = Placement { name: "sheet".into(), velocity: Vec3::Z, ..Placement::default() };
        scene.add_cloth(placement, mesh, ClothMaterial::default());
        scene.build().unwrap()
    }

    #[test]
    fn topology_and_frames_survive_a_round_trip() {
        let root = scratch("round");
        let folder = RunFolder::create(&root).unwrap();
        let sim = one_triangle();
        folder.write_topology(&sim).unwrap();
        folder.write_frame(0, &sim, None).unwrap();
        folder.write_frame(12, &sim, Some(&[true, false])).unwrap();
        let topology = folder.read_topology().unwrap();
        assert_eq!(topology.triangles, [[0, 1, 2]]);
        assert_eq!(topology.x0, sim.state().x);
        let sheet = ObjectRange { name: "sheet".into(), kind: "cloth".into(), first: 0, count: 3 };
        assert_eq!(topology.objects, [sheet]);
        let frame = folder.read_frame(12).unwrap();
        assert_eq!((&frame.x, &frame.v), (&sim.state().x, &sim.state().v));
        assert_eq!((frame.is_present(0), frame.is_present(1)), (true, false));
        assert_eq!(folder.read_frame(0).unwrap().present, None);
        assert_eq!(folder.frames(), [0, 12]);
        let error = folder.read_frame(7).unwrap_err().to_string();
        assert!(error.contains("no frame 7; it has frames 0 to 12"), "{error}");
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn a_folder_with_files_in_it_is_never_taken() {
        let root = scratch("taken");
        fs::create_dir_all(&root).unwrap();
        RunFolder::create(&root).unwrap();
        assert!(matches!(RunFolder::create(&root), Err(FolderError::NotEmpty { .. })));
        let folder = RunFolder { root: root.clone() };
        folder.write_scene("version = 1\n").unwrap();
        Report { littoral: "0.1.0".into(), ..Report::default() }.write(&folder.report_path()).unwrap();
        assert!(matches!(RunFolder::create(&root), Err(FolderError::HoldsARun { .. })));
        RunFolder::open(&root).unwrap();
        fs::write(folder.report_path(), "{").unwrap();
        assert!(matches!(RunFolder::create(&root), Err(FolderError::NotEmpty { .. })));
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn numbered_folders_take_the_first_free_number_and_tame_the_name() {
        let root = scratch("numbered");
        let made: Vec<String> = (0..3)
            .map(|_| RunFolder::create_numbered(&root, "My scene: a/b ../c").unwrap())
            .map(|f| f.root().file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        assert_eq!(made, ["My-scene-a-b-c-001", "My-scene-a-b-c-002", "My-scene-a-b-c-003"]);
        assert_eq!(file_name_of("…"), "run");
        fs::remove_dir_all(&root).unwrap();
    }
}
