//! What an implicit step minimises: the incremental potential
//!
//! G(x) = ½/h² ‖x − x*‖²_M + Ψ(x) + Σ c B(x) + D(x)   [Li 2020, IPC; Xie 2023, Eq. 25]
//!
//! with the inertial target x*, elastic energy Ψ, barriers B that may be weighted or replaced by their second-order
//! models T₂[B], and lagged friction D; all in J.
//! The target need not be the free flight of the solids, and it need not be free of intersections: it stands in the
//! inertia only.

use super::assembly::{ElasticPlaces, elastic_pairs, elastic_value};
use super::beside::{Beside, add_levers, unknowns_of};
use super::expansion::Expansion;
use super::sparse::{BlockMatrix, NONE, Unknowns};
use crate::contact::barrier_set::{Barriers, Touch};
use crate::contact::lagged_friction::LaggedFriction;
use crate::elastic::Elastic;
use littoral_geom::math::{Mat3, Vec3};
use littoral_geom::mesh::Csr;
use rayon::prelude::*;

/// The objective. Everything in it is fixed while it is minimised, but for the lists of barriers.
#[derive(Clone, Copy, Debug)]
pub struct Objective<'a> {
    /// Mass (n) [kg].
    pub mass: &'a [f64],
    /// Inertial target x* (n) [m].
    pub target: &'a [Vec3],
    /// 1/h² [1/s²].
    pub inverse_h2: f64,
    /// Ψ; `None` in a phase that does not see it.
    pub elastic: Option<&'a Elastic>,
    /// Points that share an element with each point.
    pub neighbours: &'a Csr,
    /// D.
    pub friction: &'a LaggedFriction,
    /// Positions at the start of the step [m], from which slip is measured.
    pub x_n: &'a [Vec3],
    /// The points that move.
    pub unknowns: &'a Unknowns,
    /// Second-order models of contact energies.
    pub expansion: Option<&'a Expansion>,
    /// What is kept elsewhere. It counts in values only.
    pub elsewhere: Option<&'a dyn Elsewhere>,
    /// Unknowns that are no points: how points depend on them. Their own energies are not the objective's.
    pub beside: Option<Beside<'a>>,
}

/// Barriers with the factors c [–] that they are counted with.
#[derive(Clone, Copy, Debug)]
pub struct Weighted<'a> {
    /// The barriers.
    pub barriers: &'a Barriers,
    /// c of solids against solids.
    pub factor: f64,
    /// c of particles against solids.
    pub of_particles: f64,
    /// Index of the first particle.
    pub first_particle: u32,
}

impl Weighted<'_> {
    /// c of a barrier.
    #[inline]
    pub fn factor_of(&self, touch: &Touch) -> f64 {
        if touch.points[0] < self.first_particle { self.factor } else { self.of_particles }
    }
}

/// Energies that are kept elsewhere and belong to the objective all the same: a fluid's.
pub trait Elsewhere: std::fmt::Debug + Sync {
    /// Their sum [J] at `x` [m].
    fn value(&self, x: &[Vec3]) -> f64;
}

/// Values a decrease is judged by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value {
    /// G [J].
    pub sum: f64,
    /// Sum of the sizes of its parts [J]: what rounding is relative to.
    pub scale: f64,
}

/// Gradient, Hessian and what they are made with.
#[derive(Clone, Debug, Default)]
pub struct Derivatives {
    /// ∂G/∂x of every point [N]; of points that do not move, the force they are held with.
    pub gradient: Vec<Vec3>,
    /// The gradient by the unknowns that are no points, to be filled by those who know them.
    pub beside: Vec<Vec3>,
    /// Projected ∂²G/∂x² over the unknowns [N/m].
    pub matrix: BlockMatrix,
    places: ElasticPlaces,
    /// Unknowns that the pattern was made for.
    unknowns: Unknowns,
    /// Couplings asked for when the pattern was made, sorted.
    contact_pairs: Vec<(u32, u32)>,
    /// The next pattern must be the one that a new start would make.
    fresh: bool,
    /// Patterns made so far.
    pub patterns: u32,
}

impl Objective<'_> {
    /// G at `x` [m]. `touches` receives the barriers that act there.
    pub fn value(&self, x: &[Vec3], barriers: &[Weighted<'_>], touches: &mut Vec<Touch>) -> Value {
        let inertia: f64 = self
            .unknowns
            .points
            .iter()
            .map(|&v| {
                let v = v as usize;
                0.5 * self.mass[v] * self.inverse_h2 * x[v].distance_squared(self.target[v])
            })
            .sum();
        let elastic =
            self.elastic.map_or(0.0, |e| elastic_value(e, x)) + self.elsewhere.map_or(0.0, |e| e.value(x));
        let mut sum = inertia + elastic;
        let mut scale = inertia + elastic.abs();
        for b in barriers {
            b.barriers.touches(x, touches);
            let values: Vec<f64> = touches.par_iter().with_min_len(256).map(|t| t.value(x)).collect();
            let (mut sums, mut scales) = ([0.0; 2], [0.0; 2]);
            for (t, v) in touches.iter().zip(&values) {
                let k = usize::from(t.points[0] >= b.first_particle);
                sums[k] += v;
                scales[k] += v.abs();
            }
            sum += b.factor * sums[0] + b.of_particles * sums[1];
            scale += b.factor * scales[0] + b.of_particles * scales[1];
        }
        if let Some(expansion) = self.expansion {
            let value = expansion.value(x);
            sum += value;
            scale += value.abs();
        }
        let friction: f64 = self.friction.list.iter().map(|s| self.friction.value(s, x, self.x_n)).sum();
        Value { sum: sum + friction, scale: scale + friction }
    }

    /// Gradient and Hessian at `x` [m]; returns how many barriers act.
    pub fn derivatives(
        &self,
        x: &[Vec3],
        barriers: &[Weighted<'_>],
        touches: &mut Vec<Touch>,
        out: &mut Derivatives,
    ) -> u32 {
        let mut found: Vec<(Touch, f64)> = Vec::new();
        for b in barriers {
            b.barriers.touches(x, touches);
            found.extend(touches.iter().map(|t| (*t, b.factor_of(t))).filter(|t| t.1 != 0.0));
        }
        out.prepare(self, &found);
        out.gradient.clear();
        out.gradient.resize(x.len(), Vec3::ZERO);
        out.matrix.clear();
        for (i, &v) in self.unknowns.points.iter().enumerate() {
            let v = v as usize;
            let weight = self.mass[v] * self.inverse_h2;
            out.gradient[v] = weight * (x[v] - self.target[v]);
            let i = self.unknowns.first + i;
            out.matrix.add_diagonal(i as u32, Mat3::from_diagonal(Vec3::splat(weight)));
        }
        out.beside.clear();
        out.beside.resize(self.unknowns.first, Vec3::ZERO);
        if let Some(elastic) = self.elastic {
            out.places.add(elastic, x, &mut out.gradient, &mut out.matrix);
            if let Some(beside) = &self.beside {
                beside.links.for_each(elastic, x, |points, h| {
                    out.add_blocks(self, x, points, true, |i, j| h[i][j]);
                });
            }
        }
        out.add_touches(self, x, &found);
        if let Some(expansion) = self.expansion {
            out.add_expansion(self, x, expansion);
        }
        out.add_friction(self, x);
        found.len() as u32
    }
}

/// Calls `f` for the pairs of unknowns of some points.
fn pairs_of(points: &[u32], objective: &Objective<'_>, mut f: impl FnMut(u32, u32)) {
    let unknowns = objective.unknowns;
    let bodies = objective.beside.as_ref().map(|b| b.bodies);
    for (i, &p) in points.iter().enumerate() {
        for &q in &points[..i] {
            for a in unknowns_of(unknowns, bodies, p) {
                for b in unknowns_of(unknowns, bodies, q) {
                    if a != NONE && b != NONE && a != b {
                        f(a.min(b), a.max(b));
                    }
                }
            }
        }
    }
}

impl Derivatives {
    /// Begins a step: a pattern that holds more than is needed is not kept from one to the next, so that a run that is
    /// taken up again orders its unknowns like one that was never stopped.
    pub fn begin(&mut self) {
        self.fresh = true;
    }

    /// Makes a new pattern where the old one lacks a coupling or belongs to other unknowns.
    fn prepare(&mut self, objective: &Objective<'_>, touches: &[(Touch, f64)]) {
        let unknowns = objective.unknowns;
        let mut wanted = Vec::new();
        for (t, _) in touches.iter().filter(|t| t.0.barrier.strength > 0.0) {
            pairs_of(&t.points[..t.used()], objective, |a, b| wanted.push((a, b)));
        }
        for s in objective.friction.list.iter().filter(|s| LaggedFriction::drags(s)) {
            pairs_of(&s.points, objective, |a, b| wanted.push((a, b)));
        }
        for m in objective.expansion.iter().flat_map(|e| &e.models) {
            pairs_of(m.points(), objective, |a, b| wanted.push((a, b)));
        }
        if let (Some(beside), Some(elastic)) = (&objective.beside, objective.elastic) {
            wanted.extend_from_slice(beside.pairs);
            beside.links.for_each_points(elastic, |points| {
                pairs_of(points, objective, |a, b| wanted.push((a, b)));
            });
        }
        wanted.par_sort_unstable();
        wanted.dedup();
        let holds = || wanted.iter().all(|&(a, b)| self.matrix.slot(b, a).is_some());
        let fits = self.unknowns == *unknowns
            && self.patterns > 0
            && if self.fresh { wanted == self.contact_pairs } else { holds() };
        self.fresh = false;
        if !fits {
            let mut pairs = elastic_pairs(objective.neighbours, unknowns);
            pairs.extend(&wanted);
            self.matrix.set_pattern(unknowns.len(), pairs);
            self.unknowns.clone_from(unknowns);
            self.contact_pairs = wanted;
            self.patterns += 1;
        }
        if let Some(elastic) = objective.elastic {
            self.places.update(elastic, unknowns, &self.matrix);
        }
    }

    /// Adds to the gradient by an unknown that is no point [N m]; nothing for `NONE`.
    pub(super) fn add_turn(&mut self, unknown: u32, gradient: Vec3) {
        if let Some(g) = self.beside.get_mut(unknown as usize) {
            *g += gradient;
        }
    }

    /// Adds the block of two unknowns, for which the pattern must have a place; nothing for `NONE`.
    pub(super) fn add_block(&mut self, row: u32, column: u32, block: &Mat3) {
        if let Some(place) = self.matrix.place(row, column) {
            self.matrix.add_at(place, block);
        }
    }

    fn add_touches(&mut self, objective: &Objective<'_>, x: &[Vec3], touches: &[(Touch, f64)]) {
        let computed: Vec<([Vec3; 4], [[Mat3; 4]; 4])> =
            touches.par_iter().with_min_len(128).map(|(t, _)| t.derivatives(x)).collect();
        for ((t, factor), (g, h)) in touches.iter().zip(&computed) {
            let points = &t.points[..t.used()];
            for (&v, g) in points.iter().zip(g) {
                self.gradient[v as usize] += *factor * *g;
            }
            if t.barrier.strength > 0.0 {
                self.add_blocks(objective, x, points, false, |i, j| h[i][j] * *factor);
            }
        }
    }

    fn add_expansion(&mut self, objective: &Objective<'_>, x: &[Vec3], expansion: &Expansion) {
        for m in &expansion.models {
            let gradient = expansion.gradient(m, x);
            for (&v, g) in m.points().iter().zip(&gradient) {
                self.gradient[v as usize] += *g;
            }
            self.add_blocks(objective, x, m.points(), false, |i, j| m.hessian[i][j]);
        }
    }

    fn add_friction(&mut self, objective: &Objective<'_>, x: &[Vec3]) {
        let friction = objective.friction;
        for s in &friction.list {
            let (g, h) = friction.derivatives(s, x, objective.x_n);
            let weight = |slot| LaggedFriction::weight(s, slot);
            for (slot, &v) in s.points.iter().enumerate() {
                self.gradient[v as usize] += weight(slot) * g;
            }
            if !LaggedFriction::drags(s) {
                continue;
            }
            let used = (0..4).rev().find(|&k| weight(k) != 0.0).map_or(0, |k| k + 1);
            self.add_blocks(objective, x, &s.points[..used], false, |i, j| h * (weight(i) * weight(j)));
        }
    }

    /// Adds the blocks of some points; with `levers_only`, those of points of bodies.
    fn add_blocks(
        &mut self,
        objective: &Objective<'_>,
        x: &[Vec3],
        points: &[u32],
        levers_only: bool,
        block: impl Fn(usize, usize) -> Mat3,
    ) {
        let unknowns = objective.unknowns;
        for (i, &p) in points.iter().enumerate() {
            for (j, &q) in points[..=i].iter().enumerate() {
                let (a, b) = (unknowns.of_point[p as usize], unknowns.of_point[q as usize]);
                if let Some(beside) = objective.beside.as_ref().filter(|_| a == NONE || b == NONE) {
                    let columns = [p, q].map(|v| beside.columns(unknowns, x, v));
                    add_levers(&mut self.matrix, &columns, i == j, &block(i, j));
                } else if levers_only {
                    continue;
                } else if let Some(place) = self.matrix.place(a, b) {
                    // The pattern was made for these pairs.
                    self.matrix.add_at(place, &block(i, j));
                }
            }
        }
    }
}
