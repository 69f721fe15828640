//! Rods of a scene: lines of points become chains of segments with frames, joints and masses.

use super::build::Assembly;
use super::{Placement, SceneError};
use crate::kinematic::PrescribedSet;
use crate::potential::rod::transport;
use crate::potential::{RodJoint, RodParameters, RodSegment};
use crate::rod::{Chain, Rods, group, shared};
use littoral_geom::math::{Quat, Vec3};
use littoral_geom::mesh::LineMesh;

/// The shape without strain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RodRest {
    /// Straight and without twist: the given shape is bent.
    Straight,
    /// As given: curvature and twist of the given shape are natural.
    AsGiven,
}

/// Material of a rod with a circular section.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RodMaterial {
    /// Radius r [m], > 0: of the section, and from the centre line to where contact begins.
    pub radius: f64,
    /// Mass per volume [kg/m³], > 0.
    pub density: f64,
    /// Young's modulus E [Pa], > 0.
    pub young: f64,
    /// Shear modulus G [Pa], > 0; `None` follows from ν = 0.5: G = E/3.
    pub shear: Option<f64>,
    /// Bending and twisting stiffness, over those of a solid section [–], > 0: below 1 for a rope, whose strands slide.
    pub flexural: f64,
    /// Rate damping: stress per strain rate over stress per strain [s], ≥ 0.
    pub damping: f64,
    /// The shape without strain.
    pub rest: RodRest,
}

impl Default for RodMaterial {
    /// A rubber cord of 1 cm.
    fn default() -> Self {
        RodMaterial {
            radius: 5e-3,
            density: 1000.0,
            young: 1e7,
            shear: None,
            flexural: 1.0,
            damping: 1e-3,
            rest: RodRest::Straight,
        }
    }
}

/// Parallel frames along a line: each is the one before, turned with the tangent.
fn parallel_frames(tangents: &[Vec3]) -> Vec<Quat> {
    let mut frames: Vec<Quat> = Vec::with_capacity(tangents.len());
    for (k, &t) in tangents.iter().enumerate() {
        frames.push(match frames.last() {
            Some(&before) => (transport(tangents[k - 1], t) * before).normalize(),
            None => transport(Vec3::Z, t),
        });
    }
    frames
}

/// The part of a rotation that turns about the third axis.
fn twist_of(q: Quat) -> Quat {
    let q = if q.w < 0.0 { -q } else { q };
    Quat::from_rotation_z(2.0 * q.z.atan2(q.w))
}

impl Assembly {
    /// Adds the lines of a rod whose points begin at `first`.
    pub(super) fn add_rod(
        &mut self,
        placement: &Placement,
        first: u32,
        mesh: &LineMesh,
        material: &RodMaterial,
    ) -> Result<(), SceneError> {
        let refuse = |what: String| SceneError::Object { object: placement.name.clone(), what };
        if !(material.density > 0.0 && material.density.is_finite()) {
            return Err(refuse(format!("density [kg/m³] must be positive, found {}", material.density)));
        }
        if mesh.lines.is_empty() {
            return Err(refuse("has no segments".into()));
        }
        let parameters = RodParameters {
            radius: material.radius,
            young: material.young,
            shear: material.shear.unwrap_or(material.young / 3.0),
            flexural: material.flexural,
            damping: material.damping,
        };
        for line in &mesh.lines {
            if let Some(i) = line.iter().find(|i| **i as usize >= mesh.vertices.len()) {
                let count = mesh.vertices.len();
                return Err(refuse(format!("refers to vertex {i}, but has {count} vertices")));
            }
            if line.len() < 2 {
                return Err(refuse("has a line of a single vertex".into()));
            }
            let is_closed = line.len() > 3 && line[0] == line[line.len() - 1];
            let points = &line[..line.len() - usize::from(is_closed)];
            let mut sorted = points.to_vec();
            sorted.sort_unstable();
            if sorted.windows(2).any(|w| w[0] == w[1]) {
                return Err(refuse(
                    "has a line that meets itself at a vertex: cut it in two there".to_string(),
                ));
            }
            let x = |i: usize| mesh.vertices[line[i] as usize];
            let edges: Vec<Vec3> = (1..line.len()).map(|i| x(i) - x(i - 1)).collect();
            let mut segments = Vec::new();
            for (k, e) in edges.iter().enumerate() {
                let failed = |e| refuse(format!("segment {}–{}: {e}", line[k], line[k + 1]));
                let segment = RodSegment::new(e.length(), &parameters).map_err(failed)?;
                let half = 0.5 * material.density * parameters.area() * segment.length;
                for v in [line[k], line[k + 1]] {
                    self.mass[(first + v) as usize] += half;
                    // What bends a segment across is what a contact must not be softer than: 12 EI/l³.
                    self.firmness[(first + v) as usize] +=
                        12.0 * parameters.bending() / segment.length.powi(3);
                }
                self.segments.push([first + line[k], first + line[k + 1]]);
                segments.push(segment);
            }
            self.chains.push(Chain {
                points: points.iter().map(|v| first + v).collect(),
                is_closed,
                first: self.chains.last().map_or(0, |c| c.first + c.segments.len()),
                clamps: vec![None; segments.len()],
                segments,
                joints: Vec::new(),
                frames: parallel_frames(&edges),
                group: 0,
            });
            self.rod_parameters.push((parameters, material.rest));
        }
        Ok(())
    }

    /// The rods once all pins are known: joints, and the groups of what is solved at once.
    pub(super) fn rods(&mut self, prescribed: &[PrescribedSet]) -> Option<Rods> {
        let mut chains = std::mem::take(&mut self.chains);
        if chains.is_empty() {
            return None;
        }
        let mut holder = vec![None; self.x.len()];
        for (k, set) in prescribed.iter().enumerate() {
            for &v in &set.points {
                holder[v as usize] = Some(k as u32);
            }
        }
        for (chain, (parameters, rest)) in chains.iter_mut().zip(&self.rod_parameters) {
            for k in 0..chain.segments.len() {
                let [a, b] = chain.points_of(k).map(|p| holder[p as usize]);
                chain.clamps[k] = a.filter(|_| a == b);
            }
            let count = chain.segments.len() - usize::from(!chain.is_closed);
            for k in 0..count {
                let [a, b] = chain.joined(k);
                // A held segment does not bend: its half belongs to nobody.
                let share = |s: usize| match chain.clamps[s] {
                    None => 0.5 * chain.segments[s].length,
                    Some(_) => 0.0,
                };
                let length = match share(a) + share(b) {
                    // Between two held segments nothing bends; any length will do.
                    0.0 => chain.segments[a].length,
                    length => length,
                };
                let p = chain.frames[a].conjugate() * chain.frames[b];
                let natural = match rest {
                    RodRest::AsGiven => p,
                    // Parallel frames have no twist but where a ring closes, and there it is none of the rod.
                    RodRest::Straight => twist_of(p),
                };
                // Lengths and parameters were checked when the segments were made.
                if let Ok(joint) = RodJoint::new(length, natural, parameters) {
                    chain.joints.push(joint);
                }
            }
            // Of the two quaternions of a rotation, the one near its neighbour's.
            for k in 1..chain.frames.len() {
                if chain.frames[k].dot(chain.frames[k - 1]) < 0.0 {
                    chain.frames[k] = -chain.frames[k];
                }
            }
        }
        let groups = group(&mut chains, self.x.len());
        let shared = shared(&chains, self.x.len());
        Some(Rods { chains, groups, shared, first_color: 0, memory: 0 })
    }
}
