//! Two phases with a contact proxy [Xie 2023, Eq. 23–25]:
//!
//! x*   = argmin ½|x − x̂|²_M + h² [P + T₂[½C_sf; xⁿ]]
//! xⁿ⁺¹ = argmin ½|x − x*|²_M + h² [Ψ + C_ss + ½C_sf + D]
//!
//! Fluid and wall meet in both phases, so that what is viscous slides off a wall with its neighbours instead of being
//! stopped there grain by grain.

use crate::model::Snapshot;
use crate::report::StepReport;
use crate::safe::SafePositions;
use crate::step::newton_ipc::NewtonIpc;
use crate::step::newton_phase::Phase;
use crate::system::System;

/// Share of C_sf in each of the two phases.
const HALF: f64 = 0.5;

impl NewtonIpc {
    /// The step; returns its last phase.
    pub(in crate::step) fn proxy<'a>(
        &mut self,
        system: &System,
        x: &mut SafePositions,
        state: &mut Snapshot,
        h: f64,
        report: &mut StepReport,
    ) -> Phase<'a> {
        let phase = Phase { of_particles: HALF, ..Phase::whole(h, state.time) };
        self.fluid_phase(system, x, state, h, HALF, report);
        self.approach(system, x, state, h, report);
        self.minimise(system, x, state, &phase, None, report);
        phase
    }
}
