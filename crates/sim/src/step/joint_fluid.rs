//! The fluid within the joint solve: a Newton direction of the whole system is one solve of the fluid phase, with all
//! free points of solids as its nodes, their elasticity and contacts at the present iterate as what stands behind them,
//! and the particles' barriers there as links. Conjugate gradients, matrix-free in the fluid, with the diagonal blocks
//! of both as preconditioner [Xie 2023, §4: "joint optimization"].

use super::fluid_phase::{FluidPhase, Start, link_of, settings_of};
use crate::contact::barrier_set::Touch;
use crate::fluid::{Backing, NO_NODE, SolveSettings};
use crate::liquid::FluidSystem;
use crate::model::Snapshot;
use crate::report::FluidReport;
use crate::solver::sparse::BlockMatrix;
use crate::system::System;
use littoral_geom::math::{Mat3, Vec3};

/// h² times the quadratic model of elasticity and contacts of solids about an iterate.
#[derive(Debug, Default)]
pub(super) struct SolidModel {
    /// h² K [kg].
    pub matrix: BlockMatrix,
    /// h² g at the positions xⁿ [kg m].
    pub gradient: Vec<Vec3>,
    /// Mass of each node [kg].
    pub mass: Vec<f64>,
    inverse: Vec<Mat3>,
}

impl Backing for SolidModel {
    fn gradient(&self) -> &[Vec3] {
        &self.gradient
    }

    fn product(&self, p: &[Vec3], y: &mut Vec<Vec3>) {
        self.matrix.multiply(p, y);
    }

    fn factorise(&mut self, blocks: &[Mat3]) -> bool {
        self.inverse.clear();
        self.inverse.extend(blocks.iter().enumerate().map(|(i, b)| {
            (Mat3::from_diagonal(Vec3::splat(self.mass[i])) + self.matrix.diagonal(i) + *b).inverse()
        }));
        self.inverse.iter().all(|m| m.is_finite())
    }

    fn solve(&mut self, r: &[Vec3], z: &mut Vec<Vec3>) {
        z.clear();
        z.extend(self.inverse.iter().zip(r).map(|(m, r)| *m * *r));
    }
}

impl FluidPhase {
    /// Freezes the fluid at xⁿ; targets of particles become x̂ with the explicit part of viscosity.
    pub(super) fn begin_joint(
        &mut self,
        system: &System,
        start: &Start<'_>,
        state: &Snapshot,
        target: &mut [Vec3],
        wanted: &[Vec3],
    ) -> FluidReport {
        let Some(f) = &system.fluid else { return FluidReport::default() };
        self.prepare(system, f, start, state, wanted);
        self.fluid.begin_joint(&self.x_hat, &self.node_motion, SolveSettings::default().tension);
        for (i, x) in self.fluid.predicted().into_iter().enumerate().filter(|(i, _)| self.present[*i]) {
            target[f.first + i] = x;
        }
        let mut report = FluidReport::default();
        self.tell(&mut report);
        report
    }

    /// Nodes of the solve, as points.
    pub(super) fn node_points(&self) -> &[u32] {
        &self.unknowns.points
    }

    /// P [J] at the positions `x` [m] of all points.
    pub(super) fn potential(&self, x_n: &[Vec3], x: &[Vec3]) -> f64 {
        let first = x.len() - self.present.len();
        let nodes = self.unknowns.points.iter().map(|&v| x[v as usize] - x_n[v as usize]);
        self.fluid.potential(&x[first..], nodes)
    }

    /// The minimiser of the model of the whole objective about the positions `x` [m], written over them; `touches` are
    /// the barriers of particles there. Returns the iterations and the residual.
    pub(super) fn solve_joint(
        &mut self,
        f: &FluidSystem,
        start: &Start<'_>,
        touches: &[Touch],
        solids: &mut SolidModel,
        x: &mut [Vec3],
    ) -> (u32, f64) {
        let (x_n, first) = (start.x, f.first);
        self.links.clear();
        for t in touches {
            let mut link = link_of(t, x, 1.0, first, &self.unknowns, |v| x[v as usize] - x_n[v as usize]);
            // From the iterate back to xⁿ, where displacements are zero.
            let v = t.points[0] as usize;
            let corners = link.nodes.iter().zip(link.weights).filter(|(n, _)| **n != NO_NODE);
            let node = |n: u32| self.unknowns.points[n as usize] as usize;
            let point: Vec3 = corners.map(|(n, w)| w * (x[node(*n)] - x_n[node(*n)])).sum();
            link.gradient -= link.hessian * (x[v] - x_n[v] - link.motion - point);
            self.links.push(link);
        }
        let mut warm: Vec<Vec3> = self.x_hat.iter().enumerate().map(|(i, h)| x[first + i] - *h).collect();
        if warm.iter().zip(&self.x_hat).enumerate().all(|(i, _)| x[first + i] == x_n[first + i]) {
            warm.clone_from(&self.warm);
        } else {
            let nodes = self.unknowns.points.iter().zip(&self.node_motion);
            warm.extend(nodes.map(|(&v, m)| x[v as usize] - x_n[v as usize] - *m));
        }
        let solution = self.fluid.solve_backed(
            &self.x_hat,
            &self.node_motion,
            &self.links,
            &warm,
            &settings_of(f),
            Some(solids),
        );
        self.fluid.drop_links();
        for (i, p) in solution.x.iter().enumerate().filter(|(i, _)| self.present[*i]) {
            x[first + i] = *p;
        }
        for (&v, u) in self.unknowns.points.iter().zip(&solution.nodes) {
            x[v as usize] = x_n[v as usize] + *u;
        }
        self.last = solution;
        (self.last.report.iterations, self.last.report.residual)
    }

    /// Forces on objects, and what the next step starts from, at the end of a joint solve.
    pub(super) fn end_joint(&mut self, system: &System, start: &Start<'_>, x: &[Vec3], state: &mut Snapshot) {
        let Some(f) = &system.fluid else { return };
        self.links.clear();
        self.link_objects.clear();
        let solution = std::mem::take(&mut self.last);
        if !solution.x.is_empty() {
            self.add_forces(system, start, &solution);
        }
        self.remember(f, start.h, &x[f.first..], state);
    }
}
