//! Everything at once, as a reference [Xie 2023, §4]: implicit Euler on the whole system,
//!
//! xⁿ⁺¹ = argmin ½|x − x̂|²_M + h² [P + Ψ + C_sf + C_ss + D],
//!
//! by projected Newton with a filter over all particles.

use crate::contact::barrier_set::Touch;
use crate::model::Snapshot;
use crate::report::StepReport;
use crate::safe::SafePositions;
use crate::solver::objective::{Derivatives, Elsewhere, Objective, Weighted};
use crate::solver::sparse::Unknowns;
use crate::step::fluid_phase::{FluidPhase, Proxy, Start};
use crate::step::joint_fluid::SolidModel;
use crate::step::newton_ipc::NewtonIpc;
use crate::step::newton_phase::Phase;
use crate::system::System;
use littoral_geom::math::Vec3;
use std::time::Instant;

/// What gives directions and the fluid's energy.
#[derive(Debug)]
pub(in crate::step) struct Joint<'a> {
    system: &'a System,
    fluid: &'a mut FluidPhase,
    start: Start<'a>,
    /// Free points of solids.
    nodes: Unknowns,
    /// Inertia is the fluid solve's.
    no_mass: Vec<f64>,
    solids: SolidModel,
    touches: Vec<Touch>,
    /// Iterations of all linear solves, and the last residual.
    iterations: u32,
    residual: f64,
}

impl<'a> Joint<'a> {
    fn new(system: &'a System, fluid: &'a mut FluidPhase, start: Start<'a>) -> Self {
        let points = fluid.node_points();
        let mut solids = SolidModel::default();
        solids.mass.extend(points.iter().map(|&v| system.mass[v as usize]));
        let n = start.x.len();
        let nodes = Unknowns::new(n, |v| points.binary_search(&(v as u32)).is_ok());
        Joint {
            system,
            fluid,
            start,
            nodes,
            no_mass: vec![0.0; n],
            solids,
            touches: Vec::new(),
            iterations: 0,
            residual: 0.0,
        }
    }

    /// The direction p of each unknown at `x` [m]; returns how many barriers act.
    pub fn direction(
        &mut self,
        objective: &Objective<'_>,
        weighted: &Weighted<'_>,
        x: &[Vec3],
        derivatives: &mut Derivatives,
        p: &mut Vec<Vec3>,
    ) -> u32 {
        let Some(f) = &self.system.fluid else { return 0 };
        // 1. Solids without their inertia: h² [g + K (u − u_k)].
        let of_solids = Objective { mass: &self.no_mass, unknowns: &self.nodes, ..*objective };
        let apart = [Weighted { of_particles: 0.0, ..*weighted }];
        let mut acting = of_solids.derivatives(x, &apart, &mut self.touches, derivatives);
        let (h2, x_n) = (self.start.h * self.start.h, self.start.x);
        self.solids.matrix.clone_from(&derivatives.matrix);
        self.solids.matrix.scale(h2);
        let moved = |v: &u32| x[*v as usize] - x_n[*v as usize];
        let u: Vec<Vec3> = self.nodes.points.iter().map(moved).collect();
        let mut stiff = Vec::new();
        self.solids.matrix.multiply(&u, &mut stiff);
        self.solids.gradient.clear();
        let gradients = self.nodes.points.iter().zip(&stiff);
        self.solids.gradient.extend(gradients.map(|(&v, s)| h2 * derivatives.gradient[v as usize] - *s));
        // 2. Particles against solids.
        weighted.barriers.touches(x, &mut self.touches);
        self.touches.retain(|t| t.points[0] >= weighted.first_particle);
        acting += self.touches.len() as u32;
        // 3. One solve.
        let mut y = x.to_vec();
        let (iterations, residual) =
            self.fluid.solve_joint(f, &self.start, &self.touches, &mut self.solids, &mut y);
        self.iterations += iterations;
        self.residual = residual;
        p.clear();
        p.extend(objective.unknowns.points.iter().map(|&v| y[v as usize] - x[v as usize]));
        if self.is_free() {
            balance(objective, x, p);
        }
        acting
    }

    /// Nothing is prescribed that anything meets.
    fn is_free(&self) -> bool {
        let mass = &self.system.mass;
        let moves = |v: &u32| mass[*v as usize] > 0.0 && !self.start.held[*v as usize];
        self.start.held.iter().all(|h| !h)
            && self.touches.iter().all(|t| t.points[..t.used()].iter().all(moves))
            && self.fluid.is_free()
    }
}

/// Shifts the direction as a whole, so that the momentum is what it was whatever the tolerance of the linear solve.
fn balance(objective: &Objective<'_>, x: &[Vec3], p: &mut [Vec3]) {
    let points = || objective.unknowns.points.iter().map(|&v| v as usize);
    let mass: f64 = points().map(|v| objective.mass[v]).sum();
    let moved: Vec3 =
        points().zip(p.iter()).map(|(v, p)| objective.mass[v] * (x[v] + *p - objective.target[v])).sum();
    p.iter_mut().for_each(|p| *p -= moved / mass);
}

impl Elsewhere for Joint<'_> {
    fn value(&self, x: &[Vec3]) -> f64 {
        self.fluid.potential(self.start.x, x)
    }
}

impl NewtonIpc {
    /// The step; returns its last phase.
    pub(in crate::step) fn joint<'a>(
        &mut self,
        system: &System,
        x: &mut SafePositions,
        state: &mut Snapshot,
        h: f64,
        report: &mut StepReport,
    ) -> Phase<'a> {
        let phase = Phase::whole(h, state.time);
        let Some(mut fluid) = self.fluid.take() else { return phase };
        let began = Instant::now();
        let (x_n, held) = (x.as_slice().to_vec(), self.work.held.clone());
        let proxy = Some(Proxy { model: &self.model.1, factor: 0.0, whole: true });
        let start = Start { x: &x_n, held: &held, poses: &[], h, proxy };
        let mut told = fluid.begin_joint(system, &start, state, &mut self.work.target, &self.work.wanted);
        report.phases.fluid += began.elapsed().as_secs_f64();
        // Particles are all unknowns, wherever they are.
        self.work.coupled.copy_from_slice(&self.work.present);
        self.list_unknowns(system);
        self.approach(system, x, state, h, report);
        let start = Start { x: &x_n, held: &held, poses: &[], h, proxy: None };
        let mut joint = Joint::new(system, &mut fluid, start);
        self.minimise(system, x, state, &phase, Some(&mut joint), report);
        (told.iterations, told.residual) = (joint.iterations, joint.residual);
        fluid.end_joint(system, &start, &self.work.current, state);
        report.fluid = Some(told);
        self.fluid = Some(fluid);
        phase
    }
}
