//! From a checked scene to a simulation: meshes are made, put in place and handed to the scene builder.

use super::check::{copy_names, objects};
use super::document::Document;
use super::error::SceneFileError;
use super::frame::Frame;
use super::meshes::{Maker, Note};
use super::spec::{Copies, GapSplit, Linear, Method, Scale, Scene, Truncation};
use super::spec_mesh::Mesh;
use super::spec_motion::{Motion, Pin, Rotation};
use crate::mesh::{FindingKind, size_warning};
use littoral_geom::math::{Aabb, Quat, Vec3};
use littoral_sim::motion as sim_motion;
use littoral_sim::scene::{Pin as SimPin, Placement, SceneBuilder, SceneError};
use littoral_sim::settings::{self, ContactSettings, SolverSettings};
use littoral_sim::simulation::Simulation;
use std::path::Path;

/// Something that a person should know and that does not stop a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneWarning {
    /// A word for programs, as `mesh-size`.
    pub code: &'static str,
    /// How often.
    pub count: u64,
    /// The object it is about.
    pub object: String,
    /// A sentence for people.
    pub text: String,
}

/// Everything `build` reads.
pub(crate) struct Build<'a> {
    pub scene: &'a Scene,
    pub document: &'a Document,
    pub frame: Frame,
    pub base: &'a Path,
    /// Step size [s].
    pub step: f64,
}

/// Where an object stands: `x ↦ position + rotation · x`, after scaling.
#[derive(Clone, Copy)]
pub(super) struct Pose {
    position: Vec3,
    rotation: Quat,
}

impl Pose {
    pub(super) fn apply(self, vertices: &[Vec3]) -> Vec<Vec3> {
        vertices.iter().map(|&v| self.position + self.rotation * v).collect()
    }
}

/// The place of an object and of each of its copies.
pub(super) struct Places {
    pub(super) factors: [f64; 3],
    pub(super) poses: Vec<Pose>,
}

impl Build<'_> {
    /// The simulation at time 0 and what was noticed.
    pub fn run(self) -> Result<(Simulation, Vec<SceneWarning>), SceneFileError> {
        let mut builder = SceneBuilder::new(self.solver(), self.contact());
        builder.gravity = match self.scene.gravity {
            Some(g) => self.frame.vector(g),
            None => Vec3::new(0.0, 0.0, -9.81),
        };
        let mut warnings = Vec::new();
        let names: Vec<(String, Vec<String>)> = objects(self.scene)
            .into_iter()
            .map(|(path, name, copies)| (path, copy_names(&name, copies)))
            .collect();
        let mut named = names.iter();
        self.add_cloths(&mut builder, &mut named, &mut warnings)?;
        self.add_softs(&mut builder, &mut named, &mut warnings)?;
        self.add_rods(&mut builder, &mut named, &mut warnings)?;
        self.add_rigids(&mut builder, &mut named, &mut warnings)?;
        self.add_colliders(&mut builder, &mut named, &mut warnings)?;
        builder.fluid = self.fluid_settings();
        builder.sinks = self.sinks();
        self.add_fluids(&mut builder, &mut named, &mut warnings)?;
        self.note_what_fluids_miss(&names, &mut warnings);
        self.add_attachments(&mut builder)?;
        self.add_joints(&mut builder)?;
        self.add_pairs(&mut builder, &mut warnings);
        let sim = builder.build().map_err(|e| self.scene_error(e, &names))?;
        Ok((sim, warnings))
    }

    fn solver(&self) -> SolverSettings {
        let s = &self.scene.solver;
        SolverSettings {
            step: Some(self.step),
            method: match s.method {
                Method::Vbd => settings::Method::Vbd,
                Method::Newton => settings::Method::Newton,
            },
            iterations: s.iterations,
            budget: s.budget_ms.map(|ms| 1e-3 * ms * self.scene.fps),
            detect_every: s.detect_every,
            truncation: match s.truncation {
                Truncation::Planar => settings::Truncation::Planar,
                Truncation::Slide => settings::Truncation::Slide,
                Truncation::Isotropic => settings::Truncation::Isotropic,
                Truncation::Project => settings::Truncation::Project,
                Truncation::Ccd => settings::Truncation::Ccd,
                Truncation::None => settings::Truncation::None,
            },
            gap_split: match s.gap_split {
                GapSplit::Proportional => settings::GapSplit::Proportional,
                GapSplit::WaterFilling => settings::GapSplit::WaterFilling,
            },
            relaxation: s.relaxation,
            chebyshev: s.chebyshev,
            coarse: s.coarse,
            tolerance: s.tolerance,
            linear: match s.linear {
                Linear::Auto => settings::LinearSolver::Auto,
                Linear::Cholesky => settings::LinearSolver::Cholesky,
                Linear::Schur => settings::LinearSolver::Schur,
                Linear::Pcg => settings::LinearSolver::ConjugateGradients,
            },
            ..SolverSettings::default()
        }
    }

    fn contact(&self) -> ContactSettings {
        let (c, d) = (&self.scene.contact, ContactSettings::default());
        ContactSettings {
            radius: c.radius.map_or(d.radius, |r| self.frame.length(r)),
            friction: c.friction.unwrap_or(d.friction),
            stiffness: c.stiffness,
            friction_speed: c.friction_speed.unwrap_or(d.friction_speed),
        }
    }

    fn add_cloths<'n>(
        &self,
        builder: &mut SceneBuilder,
        named: &mut impl Iterator<Item = &'n (String, Vec<String>)>,
        warnings: &mut Vec<SceneWarning>,
    ) -> Result<(), SceneFileError> {
        for (o, (path, names)) in self.scene.cloth.iter().zip(named) {
            let places = self.places(o.position, &o.rotation, o.scale, &o.copies);
            let made = self.maker().surface(&o.mesh, places.factors);
            let (mesh, notes) = made.map_err(|m| self.mesh_error(path, &o.mesh, &m))?;
            self.note(path, names, &mesh.vertices, notes, warnings);
            let Some(material) = o.material.resolve(|l| self.frame.length(l)) else { continue };
            let chosen = self.chosen(path, &o.pin, &places, &mesh.vertices)?;
            for (name, &pose) in names.iter().zip(&places.poses) {
                let mut placement = self.placement(name, o.velocity, o.spin, o.friction, o.offset);
                placement.pins = self.pins(path, &o.pin, &chosen, pose, &places)?;
                placement.filling = o.pressure.as_ref().and_then(|p| p.filling());
                let mut copy = mesh.clone();
                copy.vertices = pose.apply(&mesh.vertices);
                builder.add_cloth(placement, copy, material.clone());
            }
        }
        Ok(())
    }

    fn add_softs<'n>(
        &self,
        builder: &mut SceneBuilder,
        named: &mut impl Iterator<Item = &'n (String, Vec<String>)>,
        warnings: &mut Vec<SceneWarning>,
    ) -> Result<(), SceneFileError> {
        for (o, (path, names)) in self.scene.soft.iter().zip(named) {
            let places = self.places(o.position, &o.rotation, o.scale, &o.copies);
            let fill = o.fill.map(|f| self.frame.length(f));
            let made = self.maker().solid(&o.mesh, fill, places.factors);
            let (mesh, notes) = made.map_err(|m| self.mesh_error(path, &o.mesh, &m))?;
            self.note(path, names, &mesh.vertices, notes, warnings);
            let Some(material) = o.material.resolve() else { continue };
            let chosen = self.chosen(path, &o.pin, &places, &mesh.vertices)?;
            for (name, &pose) in names.iter().zip(&places.poses) {
                let mut placement = self.placement(name, o.velocity, o.spin, o.friction, o.offset);
                placement.pins = self.pins(path, &o.pin, &chosen, pose, &places)?;
                let mut copy = mesh.clone();
                copy.vertices = pose.apply(&mesh.vertices);
                builder.add_soft(placement, copy, material.clone());
            }
        }
        Ok(())
    }

    fn add_colliders<'n>(
        &self,
        builder: &mut SceneBuilder,
        named: &mut impl Iterator<Item = &'n (String, Vec<String>)>,
        warnings: &mut Vec<SceneWarning>,
    ) -> Result<(), SceneFileError> {
        for (o, (path, names)) in self.scene.collider.iter().zip(named) {
            let places = self.places(o.position, &o.rotation, o.scale, &o.copies);
            let made = self.maker().surface(&o.mesh, places.factors);
            let (mesh, notes) = made.map_err(|m| self.mesh_error(path, &o.mesh, &m))?;
            self.note(path, names, &mesh.vertices, notes, warnings);
            let all: Vec<u32> = (0..mesh.vertices.len() as u32).collect();
            for (name, &pose) in names.iter().zip(&places.poses) {
                let placement = self.placement(name, [0.0; 3], [0.0; 3], o.friction, o.offset);
                let motion = self.motion(&format!("{path}.motion"), &o.motion, &all, pose, &places)?;
                let mut copy = mesh.clone();
                copy.vertices = pose.apply(&mesh.vertices);
                builder.add_collider(placement, copy, motion);
            }
        }
        Ok(())
    }

    pub(super) fn maker(&self) -> Maker<'_> {
        Maker { frame: self.frame, base: self.base }
    }

    pub(super) fn placement(
        &self,
        name: &str,
        velocity: [f64; 3],
        spin: [f64; 3],
        friction: Option<f64>,
        offset: Option<f64>,
    ) -> Placement {
        Placement {
            name: name.to_owned(),
            velocity: self.frame.vector(velocity),
            spin: self.frame.vector(spin),
            pins: Vec::new(),
            friction,
            filling: None,
            offset: offset.map(|o| self.frame.length(o)),
        }
    }

    pub(super) fn places(
        &self,
        position: [f64; 3],
        rotation: &Rotation,
        scale: Scale,
        copies: &Option<Copies>,
    ) -> Places {
        let (position, rotation) = (self.frame.point(position), self.frame.rotation(rotation));
        let copies = copies.clone().unwrap_or_default();
        let (offset, turn) = (self.frame.point(copies.offset), copies.turn_deg.to_radians());
        let poses = (0..copies.count)
            .map(|k| Pose {
                position: position + offset * f64::from(k),
                // The first copy keeps its bits.
                rotation: if k == 0 {
                    rotation
                } else {
                    Quat::from_rotation_z(turn * f64::from(k)) * rotation
                },
            })
            .collect();
        Places { factors: self.frame.extents(scale.factors()), poses }
    }

    /// The vertices each pin holds. A box chooses on the first copy, the others follow.
    pub(super) fn chosen(
        &self,
        path: &str,
        pins: &[Pin],
        places: &Places,
        vertices: &[Vec3],
    ) -> Result<Vec<Vec<u32>>, SceneFileError> {
        let count = vertices.len() as u32;
        let world = places.poses.first().map(|p| p.apply(vertices)).unwrap_or_default();
        let mut chosen = Vec::new();
        for (k, pin) in pins.iter().enumerate() {
            if let Some(indices) = &pin.vertices {
                if let Some(i) = indices.iter().position(|&v| v >= count) {
                    let message =
                        format!("there is no vertex {}: the mesh has {count}, counted from 0", indices[i]);
                    return Err(self.document.error_at(
                        &format!("{path}.pin.{k}.vertices.{i}"),
                        &message,
                        None,
                    ));
                }
                let mut indices = indices.clone();
                indices.sort_unstable();
                indices.dedup();
                chosen.push(indices);
                continue;
            }
            let Some([a, b]) = pin.inside else {
                chosen.push((0..count).collect());
                continue;
            };
            let (a, b) = (self.frame.point(a), self.frame.point(b));
            let (min, max) = (a.min(b), a.max(b));
            let inside = |p: Vec3| p.cmpge(min).all() && p.cmple(max).all();
            let indices: Vec<u32> = (0..count).filter(|&v| inside(world[v as usize])).collect();
            if indices.is_empty() {
                let bounds = Aabb::of(world.iter().copied());
                let message = format!(
                    "this box holds no vertex; with z up, in metres, the object reaches from {} to {}",
                    bounds.min, bounds.max
                );
                return Err(self.document.error_at(&format!("{path}.pin.{k}.box"), &message, None));
            }
            chosen.push(indices);
        }
        Ok(chosen)
    }

    pub(super) fn pins(
        &self,
        path: &str,
        pins: &[Pin],
        chosen: &[Vec<u32>],
        pose: Pose,
        places: &Places,
    ) -> Result<Vec<SimPin>, SceneFileError> {
        let mut out = Vec::new();
        for (k, (pin, vertices)) in pins.iter().zip(chosen).enumerate() {
            let motion =
                self.motion(&format!("{path}.pin.{k}.motion"), &pin.motion, vertices, pose, places)?;
            out.push(SimPin { vertices: vertices.clone(), motion, release: pin.release });
        }
        Ok(out)
    }

    fn motion(
        &self,
        path: &str,
        motion: &Motion,
        vertices: &[u32],
        pose: Pose,
        places: &Places,
    ) -> Result<sim_motion::Motion, SceneFileError> {
        // A centre of its own is moved on with the copies as the object is.
        let first = places.poses.first().map_or(pose.position, |p| p.position);
        let center = motion.center.map_or(pose.position, |c| self.frame.point(c) + (pose.position - first));
        if let Some(keys) = &motion.keyframes {
            let keys = (keys.iter())
                .map(|k| sim_motion::Keyframe {
                    time: k.time,
                    position: self.frame.point(k.position),
                    rotation: self.frame.rotation(&k.rotation),
                })
                .collect();
            return Ok(sim_motion::Motion::Keyframes { center, keys });
        }
        if let Some(twist) = &motion.twist {
            let stop = twist.stop.unwrap_or(f64::INFINITY);
            let rate = match twist.turns {
                Some(turns) => turns * std::f64::consts::TAU / (stop - twist.start),
                None => twist.rate.unwrap_or(0.0),
            };
            let spin = self.frame.vector(twist.axis).normalize() * rate;
            let velocity = self.frame.vector(twist.velocity);
            return Ok(sim_motion::Motion::Twist { center, spin, velocity, start: twist.start, stop });
        }
        let Some(sequence) = &motion.sequence else { return Ok(sim_motion::Motion::Static) };
        let mut positions = Vec::new();
        for (k, file) in sequence.files.iter().enumerate() {
            let at = format!("{path}.sequence.files.{k}");
            let made = self.maker().surface(&Mesh::File(file.clone()), places.factors);
            let (mesh, _) = made.map_err(|m| self.document.error_at(&at, &m, None))?;
            let moved = pose.apply(&mesh.vertices);
            let picked: Option<Vec<Vec3>> =
                vertices.iter().map(|&v| moved.get(v as usize).copied()).collect();
            positions.push(picked.ok_or_else(|| {
                let message = format!("this mesh has {} vertices, fewer than the object", moved.len());
                self.document.error_at(&at, &message, None)
            })?);
        }
        let times = (0..positions.len()).map(|k| sequence.start + sequence.interval * k as f64).collect();
        Ok(sim_motion::Motion::Sequence { times, positions })
    }

    /// Notes of the mesh's making, and a size that hints at a forgotten unit.
    pub(super) fn note(
        &self,
        path: &str,
        names: &[String],
        vertices: &[Vec3],
        notes: Vec<Note>,
        warnings: &mut Vec<SceneWarning>,
    ) {
        let object = names.first().cloned().unwrap_or_else(|| path.to_owned());
        let mut warn = |note: Note| {
            let Note { code, count, text } = note;
            warnings.push(SceneWarning { code, count, object: object.clone(), text });
        };
        notes.into_iter().for_each(&mut warn);
        let bounds = Aabb::of(vertices.iter().copied());
        if self.scene.units.is_none()
            && let Some(text) = size_warning(&bounds)
        {
            warn(Note { code: FindingKind::Size.code(), count: 1, text: format!("\"{object}\": {text}") });
        }
    }

    pub(super) fn mesh_error(&self, path: &str, mesh: &Mesh, message: &str) -> SceneFileError {
        self.document.error_at(&format!("{path}.mesh.{}", mesh.key()), message, None)
    }

    /// Gives an error of the simulation its place in the file.
    fn scene_error(&self, error: SceneError, names: &[(String, Vec<String>)]) -> SceneFileError {
        let path = match &error {
            SceneError::Object { object, .. } => {
                names.iter().find(|(_, names)| names.contains(object)).map_or("", |(path, _)| path.as_str())
            }
            SceneError::Attachment { .. } => "attach.0",
            SceneError::Joint { .. } => "joint.0",
            SceneError::Pair { .. } => "pair.0",
            SceneError::Setting { key, .. } => key,
        };
        self.document.error_at(path, &error.to_string(), None)
    }
}
