//! Rods in the fluid phase: lines that displace water by a force, not by contact.
//!
//! A rope is thinner than the spacing of the particles around it; as a surface it would displace a tube of half a spacing
//! more, many times its volume. So a piece of rod of the volume V = π r² ℓ is a point among particles, weighted by the
//! kernel, w_j = V₀ W_j. From them it takes the force that its volume of water would take, and the drag of its motion
//! relative to them, and gives both back: momentum stays, whatever the weights.
//!
//! ```text
//! Archimedes   F = ρ V Σ_j w_j a_j            a_j the acceleration of a particle by pressure, −g at rest, 0 in the air
//! drag         F = Σ_j w_j C (u_j − u),       C = ½ ρ ℓ 2r [c_n |u_n| (1 − t tᵀ) + π c_t |u_t| t tᵀ],  implicit in u
//! ```
//!
//! with c_n = 1 + 10 Re^(−2/3) across [White 1974] and c_t along the rod. The level does not rise by what a rod displaces.

use super::fluid_phase::Start;
use crate::fluid::{Fluid, Link, NO_NODE};
use crate::liquid::{FluidSystem, PARTICLE_MEMORY};
use crate::model::Snapshot;
use crate::solver::sparse::Unknowns;
use crate::system::System;
use littoral_geom::math::{Aabb, Mat3, Vec3, outer};
use littoral_geom::particle_grid::ParticleGrid;

/// Friction coefficient c_t of the skin of a rod along it [–]: a rough rope. Smaller lets ropes slip through water as
/// polished wires do, larger holds them as if they were hairy.
const SKIN: f64 = 0.01;

/// Speeds below this, in diameters a second, count as this much [1/s], so that Re^(−2/3) stays finite: slower than any
/// rope that is looked at moves.
const CREEP: f64 = 1e-3;

/// Pieces of rods that have less water around them than this share are dry [–].
const DRY: f64 = 1e-3;

/// A piece of a segment with water around it.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// Ends of the segment.
    pub ends: [u32; 2],
    /// Their weights at the middle of the piece [–].
    weights: [f64; 2],
    /// Radius of the rod [m].
    radius: f64,
    /// Length of the piece [m].
    length: f64,
    /// Particles, and their weights w_j, whose sum is the share of water around it, 1 at most [–].
    around: Vec<(u32, f64)>,
}

/// Lists the pieces of rods, no longer than a spacing, that have water around them. `points` are the particles that are
/// there.
pub fn pieces(system: &System, fluid: &Fluid, x: &[Vec3], points: &[u32]) -> Vec<Piece> {
    let mut found = Vec::new();
    let Some(rods) = &system.rods else { return found };
    let spacing = fluid.spacing();
    for chain in &rods.chains {
        for (k, segment) in chain.segments.iter().enumerate() {
            let ends = chain.points_of(k);
            let count = (segment.length / spacing).ceil().max(1.0);
            let length = segment.length / count;
            found.extend((0..count as usize).map(|i| {
                let s = (i as f64 + 0.5) / count;
                Piece { ends, weights: [1.0 - s, s], radius: segment.radius, length, around: Vec::new() }
            }));
        }
    }
    let middle = |p: &Piece| p.weights[0] * x[p.ends[0] as usize] + p.weights[1] * x[p.ends[1] as usize];
    let mut crowd: Vec<Vec3> = found.iter().map(middle).collect();
    let bounds = Aabb::of(crowd.iter().copied()).inflated(fluid.support());
    let near = |v: &&u32| {
        let p = x[**v as usize];
        bounds.min.cmple(p).all() && p.cmple(bounds.max).all()
    };
    let particles: Vec<u32> = points.iter().filter(near).copied().collect();
    if particles.is_empty() {
        return Vec::new();
    }
    crowd.extend(particles.iter().map(|&v| x[v as usize]));
    let mut grid = ParticleGrid::default();
    grid.fit(&crowd, fluid.support());
    for (slot, &c) in grid.order().iter().enumerate() {
        let Some(piece) = found.get_mut(c as usize) else { continue };
        for &n in grid.neighbors(slot as u32) {
            let Some(&v) = (grid.order()[n as usize] as usize)
                .checked_sub(crowd.len() - particles.len())
                .and_then(|k| particles.get(k))
            else {
                continue;
            };
            let r = crowd[c as usize].distance(x[v as usize]) / spacing;
            piece.around.push((v, fluid.kernel().value(r)));
        }
        piece.around.sort_unstable_by_key(|a| a.0);
        let sum: f64 = piece.around.iter().map(|a| a.1).sum();
        piece.around.iter_mut().for_each(|a| a.1 /= sum.max(1.0));
    }
    found.retain(|p| p.around.iter().map(|a| a.1).sum::<f64>() > DRY);
    found
}

impl Piece {
    /// What ties the piece to the particles around it during a step, as links, one a particle. `moved` tells how far
    /// points go that are no unknowns [m].
    pub fn links<'a>(
        &'a self,
        f: &'a FluidSystem,
        start: &Start<'_>,
        state: &'a Snapshot,
        unknowns: &Unknowns,
        moved: impl Fn(u32) -> Vec3,
    ) -> impl Iterator<Item = Link> + 'a {
        let [a, b] = self.ends.map(|v| v as usize);
        let tangent = (start.x[b] - start.x[a]).normalize_or_zero();
        let own = self.weights[0] * state.v[a] + self.weights[1] * state.v[b];
        let nodes = self.ends.map(|v| unknowns.of_point[v as usize]);
        let motion: Vec3 =
            (0..2).filter(|&k| nodes[k] == NO_NODE).map(|k| self.weights[k] * moved(self.ends[k])).sum();
        let sum: f64 = self.around.iter().map(|a| a.1).sum();
        let flow = self.around.iter().map(|(v, w)| *w * state.v[*v as usize]).sum::<Vec3>() / sum;
        let h = start.h;
        let volume = std::f64::consts::PI * self.radius * self.radius * self.length;
        self.around.iter().map(move |&(v, w)| {
            let i = v as usize - f.first;
            let material = &f.materials[f.kinds[i] as usize];
            let m = &state.memory[f.memory + PARTICLE_MEMORY * i..];
            let push = material.density * volume * w * Vec3::new(m[1], m[2], m[3]);
            let drag = w * self.drag(material.density, material.viscosity, tangent, flow - own);
            Link {
                particle: i as u32,
                nodes: [nodes[0], nodes[1], NO_NODE],
                weights: [self.weights[0], self.weights[1], 0.0],
                motion,
                // The piece feels the gradient, the particle its opposite.
                gradient: push,
                hessian: drag * (1.0 / h),
            }
        })
    }

    /// C [kg/s] at a velocity of the water relative to the piece [m/s].
    fn drag(&self, density: f64, viscosity: f64, tangent: Vec3, flow: Vec3) -> Mat3 {
        let along = flow.dot(tangent).abs();
        let width = 2.0 * self.radius;
        let across = (flow - flow.dot(tangent) * tangent).length().max(CREEP * width);
        let reynolds = across * width / viscosity.max(f64::MIN_POSITIVE);
        let normal = (1.0 + 10.0 * reynolds.powf(-2.0 / 3.0)) * across;
        let skin = std::f64::consts::PI * SKIN * along;
        let t = outer(tangent, tangent);
        0.5 * density * self.length * width * (normal * (Mat3::IDENTITY - t) + skin * t)
    }
}
