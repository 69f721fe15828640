//! Coarse correction of block descent: the objective restricted to displacements that vary slowly along the mesh.
//!
//! A vertex update passes a force on by one edge, so sweeps take away what varies from edge to edge and leave what
//! varies slowly: a hanging sheet stretches, a pressed block lags. With u = P u_c between few nodes, the Newton step
//! u_c = −(Pᵀ H P)⁻¹ Pᵀ g takes that away at once. H are the projected element Hessians and the inertia at the start of
//! a step, and the curvature of the contacts, side by side, at each correction. The step of each component is
//! shortened where it does not lower its objective; the result is a proposal that is truncated like any other.

mod space;

use super::assembly::{ElasticPlaces, elastic_pairs};
use super::cholesky::Cholesky;
use super::descent::Objective;
use super::sparse::{BlockMatrix, NONE, Unknowns};
use crate::system::System;
use littoral_geom::math::{Mat3, Vec3};
use rayon::prelude::*;
use space::CoarseSpace;

/// Shares of the correction that are tried.
const SHARES: [f64; 3] = [1.0, 0.5, 0.2];

/// Points per parallel task.
const TASK: usize = 64;

/// Pairs of nodes that are gathered before repetitions are dropped.
const PAIRS: usize = 1 << 20;

/// The correction and its memory.
#[derive(Debug, Default)]
pub struct CoarseCorrection {
    /// Points that it moves.
    pub points: Vec<u32>,
    space: CoarseSpace,
    /// Hessian of the points.
    fine: BlockMatrix,
    unknowns: Unknowns,
    places: ElasticPlaces,
    /// Hessian of the nodes, and its part without contacts.
    coarse: BlockMatrix,
    elastic: Vec<Mat3>,
    cholesky: Cholesky,
    gradient: Vec<Vec3>,
    trial: Vec<Vec3>,
}

impl CoarseCorrection {
    /// Chooses the coarse space of a system.
    pub fn new(system: &System) -> Self {
        let space = CoarseSpace::new(system);
        let unknowns = Unknowns::new(system.mass.len(), |v| !space.entries(v).is_empty());
        let mut fine = BlockMatrix::default();
        fine.set_pattern(unknowns.len(), elastic_pairs(&system.neighbours, &unknowns));
        let mut places = ElasticPlaces::default();
        places.update(&system.elastic, &unknowns, &fine);
        let mut coarse = BlockMatrix::default();
        coarse.set_pattern(space.len(), node_pairs(system, &space, &unknowns));
        CoarseCorrection {
            points: unknowns.points.clone(),
            space,
            fine,
            unknowns,
            places,
            coarse,
            ..CoarseCorrection::default()
        }
    }

    /// Weighs the space in the shape `x` [m], and builds the elastic and inertial part of its Hessian there.
    pub fn begin(&mut self, system: &System, x: &[Vec3], held: &[bool], inverse_h2: f64) {
        self.space.weigh(x, held);
        self.fine.clear();
        self.places.add_hessian(&system.elastic, x, &mut self.fine);
        for (i, &v) in self.points.iter().enumerate() {
            let w = system.mass[v as usize] * inverse_h2;
            self.fine.add_diagonal(i as u32, Mat3::from_diagonal(Vec3::splat(w)));
        }
        let (space, coarse) = (&self.space, &self.coarse);
        let columns: Vec<Vec<Mat3>> = (0..space.len())
            .into_par_iter()
            .map_init(
                || (vec![NONE; self.points.len()], vec![NONE; space.len()]),
                |(slot_of, row_of), c| {
                    galerkin_column(space, &self.fine, &self.unknowns, coarse.column(c), c, slot_of, row_of)
                },
            )
            .collect();
        self.elastic.clear();
        self.elastic.extend(columns.into_iter().flatten());
    }

    /// Adds the correction to the displacements `dx`; `x` [m] are the present positions.
    pub fn propose(
        &mut self,
        system: &System,
        objective: &Objective<'_>,
        x: &[Vec3],
        held: &[bool],
        dx: &mut [Vec3],
    ) {
        let gradient = |&v: &u32| if held[v as usize] { Vec3::ZERO } else { objective.gradient(v, x) };
        self.points.par_iter().with_min_len(TASK).map(gradient).collect_into_vec(&mut self.gradient);
        self.coarse.set_values(&self.elastic);
        add_contacts(&self.space, objective, x, &mut self.coarse);
        let of_point = &self.unknowns.of_point;
        let pull = |(v, w): (u32, f64)| w * self.gradient[of_point[v as usize] as usize];
        let right: Vec<Vec3> =
            (0..self.space.len()).map(|c| -self.space.moved_by(c).map(pull).sum::<Vec3>()).collect();
        let mut solution = Vec::new();
        if self.cholesky.solve(&self.coarse, &right, &mut solution).is_err() {
            // Not a number somewhere: the sweeps go on alone.
            return;
        }
        let step = |&v: &u32| self.space.interpolate(v as usize, &solution);
        let steps: Vec<Vec3> = self.points.par_iter().with_min_len(TASK).map(step).collect();
        let share = self.shares(system, objective, x, held, &steps);
        for (&v, step) in self.points.iter().zip(&steps) {
            dx[v as usize] += share[system.geometry.component[v as usize] as usize] * *step;
        }
    }

    /// The share of its correction that lowers the objective of each component most, among those tried; 0 if none does.
    fn shares(
        &mut self,
        system: &System,
        objective: &Objective<'_>,
        x: &[Vec3],
        held: &[bool],
        steps: &[Vec3],
    ) -> Vec<f64> {
        let (mut least, mut found) = (Vec::new(), Vec::new());
        values(system, objective, x, held, &mut least);
        let mut share = vec![0.0; least.len()];
        self.trial.clear();
        self.trial.extend(x);
        for s in SHARES {
            for (&v, step) in self.points.iter().zip(steps) {
                self.trial[v as usize] = x[v as usize] + s * *step;
            }
            values(system, objective, &self.trial, held, &mut found);
            for c in 0..least.len() {
                if found[c] < least[c] {
                    (least[c], share[c]) = (found[c], s);
                }
            }
        }
        share
    }
}

/// Pairs of nodes that some element couples.
fn node_pairs(system: &System, space: &CoarseSpace, unknowns: &Unknowns) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    for &v in &unknowns.points {
        for &w in system.neighbours.row(v as usize).iter().chain([&v]) {
            for a in space.entries(v as usize) {
                let of_a = space.node_of[a];
                let of_w = space.entries(w as usize).map(|b| space.node_of[b]);
                pairs.extend(of_w.filter(|&b| b >= of_a).map(|b| (of_a, b)));
            }
        }
        if pairs.len() > PAIRS {
            pairs.sort_unstable();
            pairs.dedup();
        }
    }
    pairs
}

/// Column `c` of Pᵀ H P, whose blocks have the given rows: first H P of this node, then Pᵀ of that. `slot_of` and `row_of`
/// are filled with `NONE` and left so in what is read.
fn galerkin_column(
    space: &CoarseSpace,
    fine: &BlockMatrix,
    unknowns: &Unknowns,
    rows: &[u32],
    c: usize,
    slot_of: &mut [u32],
    row_of: &mut [u32],
) -> Vec<Mat3> {
    let (mut reached, mut sums) = (Vec::new(), Vec::<Mat3>::new());
    for (v, w) in space.moved_by(c).filter(|(_, w)| *w != 0.0) {
        fine.for_each_in_row(unknowns.of_point[v as usize] as usize, |j, block| {
            let slot = &mut slot_of[j as usize];
            if *slot == NONE {
                *slot = sums.len() as u32;
                reached.push(j);
                sums.push(Mat3::ZERO);
            }
            // H_ji = H_ijᵀ
            sums[*slot as usize] += block.transpose() * w;
        });
    }
    for (k, &row) in rows.iter().enumerate() {
        row_of[row as usize] = k as u32;
    }
    let mut column = vec![Mat3::ZERO; rows.len()];
    for (&j, sum) in reached.iter().zip(&sums) {
        slot_of[j as usize] = NONE;
        for e in space.entries(unknowns.points[j as usize] as usize) {
            let (row, w) = (space.node_of[e], space.weights[e]);
            if row as usize >= c && w != 0.0 {
                column[row_of[row as usize] as usize] += *sum * w;
            }
        }
    }
    // A node that moves nothing has no equation.
    if column[0] == Mat3::ZERO {
        column[0] = Mat3::IDENTITY;
    }
    column
}

/// Adds the curvature of the contacts to the Hessian of the nodes. Two sides that both move do so without knowing of each
/// other: each then sees twice the curvature, which bounds what both do together.
fn add_contacts(space: &CoarseSpace, objective: &Objective<'_>, x: &[Vec3], coarse: &mut BlockMatrix) {
    let mut entries: Vec<(u32, f64)> = Vec::new();
    let moves = |side: &[u32]| side.iter().any(|&v| !space.entries(v as usize).is_empty());
    objective.contacts.for_each_acting(x, &objective.slip, |points, weights, split, hessian| {
        let both = if moves(&points[..split]) && moves(&points[split..]) { 2.0 } else { 1.0 };
        for side in [0..split, split..points.len()] {
            entries.clear();
            for s in side {
                for e in space.entries(points[s] as usize) {
                    let (node, w) = (space.node_of[e], weights[s] * space.weights[e]);
                    match entries.iter_mut().find(|p| p.0 == node) {
                        Some(p) => p.1 += w,
                        None => entries.push((node, w)),
                    }
                }
            }
            for &(a, wa) in &entries {
                for &(b, wb) in entries.iter().filter(|p| p.0 <= a) {
                    // The points of a side share an element, so that the pattern has all pairs of their nodes.
                    if let Some(place) = coarse.place(a, b) {
                        coarse.add_at(place, &(hessian * (both * wa * wb)));
                    }
                }
            }
        }
    });
}

/// The objective of each component [J], friction left out. A contact counts for both of its sides.
fn values(system: &System, objective: &Objective<'_>, x: &[Vec3], held: &[bool], sums: &mut Vec<f64>) {
    let component = &system.geometry.component;
    sums.clear();
    sums.resize(system.geometry.prescribed.len(), 0.0);
    for (v, &c) in component.iter().enumerate() {
        if !held[v] {
            let away = (x[v] - objective.y[v]).length_squared();
            sums[c as usize] += 0.5 * system.mass[v] * objective.inverse_h2 * away;
        }
    }
    system.elastic.value_by_component(x, component, sums);
    objective.contacts.for_each_energy(x, |points, split, energy| {
        let (a, b) = (component[points[0] as usize] as usize, component[points[split] as usize] as usize);
        sums[a] += energy;
        if a != b {
            sums[b] += energy;
        }
    });
}

#[cfg(test)]
mod tests;
