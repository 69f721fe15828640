//! Three phases [Xie 2023, Eq. 26]:
//!
//! x*   = argmin ½|x − x̂|²_M  + h² [P + T₂[⅓C_sf; xⁿ]]
//! x**  = argmin ½|x − x*|²_M  + h² [Ψ + T₂[⅓C_sf; xⁿ] + T₂[½C_ss; xⁿ]]
//! xⁿ⁺¹ = argmin ½|x − x**|²_M + h² [⅓C_sf + ½C_ss + D]
//!
//! The solid phase has no barriers and needs no filter. The contact phase does not see elasticity, and truncation alone
//! keeps its elements from being inverted.

use crate::model::Snapshot;
use crate::report::StepReport;
use crate::safe::SafePositions;
use crate::solver::objective::Objective;
use crate::step::newton_ipc::NewtonIpc;
use crate::step::newton_phase::{HALVINGS, Phase, ROUNDING};
use crate::system::System;
use std::time::Instant;

/// Share of C_sf in each of the three phases.
const THIRD: f64 = 1.0 / 3.0;

/// Share of C_ss in the solid and the contact phase.
const HALF: f64 = 0.5;

impl NewtonIpc {
    /// The step; returns its last phase.
    pub(in crate::step) fn three_phase<'a>(
        &mut self,
        system: &System,
        x: &mut SafePositions,
        state: &mut Snapshot,
        h: f64,
        report: &mut StepReport,
    ) -> Phase<'a> {
        let whole = Phase::whole(h, state.time);
        // 1. Fluid.
        self.fluid_phase(system, x, state, h, THIRD, report);
        self.approach(system, x, state, h, report);
        // 2. Solids: x** is the next target.
        self.solid_phase(system, state, h, report);
        // 3. Contact.
        let phase = Phase { elastic: false, contact: HALF, of_particles: THIRD, ..whole };
        self.minimise(system, x, state, &phase, None, report);
        phase
    }

    /// Replaces the inertial target x* by x**.
    fn solid_phase(&mut self, system: &System, state: &Snapshot, h: f64, report: &mut StepReport) {
        let start = Instant::now();
        let first_particle = system.geometry.first_particle() as u32;
        // 1. What touches at xⁿ.
        self.barriers.touches(&state.x, &mut self.work.touches);
        let (of_particles, of_solids): (Vec<_>, Vec<_>) =
            self.work.touches.iter().partition(|t| t.points[0] >= first_particle);
        self.expansion.begin(&state.x);
        let exact = system.fluid.as_ref().is_some_and(|f| f.settings.exact_proxies);
        self.expansion.add(&of_particles, THIRD, exact);
        self.expansion.add(&of_solids, HALF, exact);
        // 2. Newton from xⁿ, with prescribed points where they have got.
        let friction = Default::default();
        let objective = Objective {
            mass: &system.mass,
            target: &self.work.target,
            inverse_h2: 1.0 / (h * h),
            elastic: Some(&system.elastic),
            neighbours: &system.neighbours,
            friction: &friction,
            x_n: &state.x,
            unknowns: &self.work.unknowns,
            expansion: Some(&self.expansion),
            elsewhere: None,
            beside: None,
        };
        let mut y = self.work.current.clone();
        let touches = &mut self.work.touches;
        let mut before = objective.value(&y, &[], touches);
        for _ in 0..self.settings.iterations {
            objective.derivatives(&y, &[], touches, &mut self.derivatives);
            let linear = self.settings.linear;
            self.direction.solve(objective.unknowns, &self.derivatives, linear, first_particle);
            report.iterations += 1;
            let mut share = 1.0;
            let from = y.clone();
            let lowered = (0..HALVINGS).any(|_| {
                for (&v, p) in objective.unknowns.points.iter().zip(&self.direction.p) {
                    y[v as usize] = from[v as usize] + share * *p;
                }
                share *= 0.5;
                let after = objective.value(&y, &[], touches);
                let fell = after.sum <= before.sum + ROUNDING * before.scale;
                if fell {
                    before = after;
                }
                fell
            });
            if !lowered {
                y = from;
                break;
            }
            if self.direction.longest() <= self.settings.tolerance * h {
                break;
            }
        }
        for &v in &self.work.unknowns.points {
            self.work.target[v as usize] = y[v as usize];
        }
        report.phases.forces += start.elapsed().as_secs_f64();
    }
}
