//! Two phases without a proxy, for comparison [Xie 2023, §4.1]: the fluid knows nothing of walls and contacts,
//!
//! x_f* = argmin ½|x_f − x̂_f|²_M + h² P
//! xⁿ⁺¹ = argmin ½|x − (x_f*, x̂_s)|²_M + h² [Ψ + C_ss + C_sf + D]
//!
//! Each particle then meets the wall by itself; viscous fluid sticks to it.

use crate::model::Snapshot;
use crate::report::StepReport;
use crate::safe::SafePositions;
use crate::step::newton_ipc::NewtonIpc;
use crate::step::newton_phase::Phase;
use crate::system::System;

impl NewtonIpc {
    /// The step; returns its last phase.
    pub(in crate::step) fn baseline<'a>(
        &mut self,
        system: &System,
        x: &mut SafePositions,
        state: &mut Snapshot,
        h: f64,
        report: &mut StepReport,
    ) -> Phase<'a> {
        let phase = Phase::whole(h, state.time);
        self.fluid_phase(system, x, state, h, 0.0, report);
        self.approach(system, x, state, h, report);
        self.minimise(system, x, state, &phase, None, report);
        phase
    }
}
