//! What a step does with whole components: their rigid motions, and what their contacts end with.

use super::VbdDat;
use crate::contact::Slip;
use crate::model::Snapshot;
use crate::report::StepReport;
use crate::safe::SafePositions;
use crate::system::System;
use crate::truncation::{Cut, Request};
use littoral_geom::math::Vec3;
use std::time::Instant;

/// Rounds of rigid motions after the last sweep, at most. Friction follows the normal force only from one to the next.
const BALANCE_ROUNDS: u32 = 3;

/// Rigid motions shorter than this share of the contact radius are the last of a step: what is left of them is the error that
/// a step makes in the momentum of a body, 0.1 mm/s at 2 mm and 1/240 s.
const BALANCED: f64 = 2e-4;

impl VbdDat {
    /// The rigid motions once more after the last sweep. Sweeps that were not run to their end leave forces inside of bodies
    /// out of balance, which would push the whole body; here they cancel, so that momentum changes by outer forces alone.
    pub(super) fn balance(
        &mut self,
        system: &System,
        x: &SafePositions,
        state: &Snapshot,
        h: f64,
        report: &mut StepReport,
    ) -> Cut {
        let mut total = Cut::default();
        for _ in 0..BALANCE_ROUNDS {
            total = total.plus(self.correct_rigid(system, x, state, h, report));
            if self.work.rigid_move < BALANCED * system.contact.radius() {
                break;
            }
        }
        total
    }

    /// One Newton step in the rigid motions of every free component, truncated as one.
    pub(super) fn correct_rigid(
        &mut self,
        system: &System,
        x: &SafePositions,
        state: &Snapshot,
        h: f64,
        report: &mut StepReport,
    ) -> Cut {
        if !self.settings.rigid_correction || self.rigid.points.is_empty() {
            self.work.rigid_move = 0.0;
            return Cut::default();
        }
        let start = Instant::now();
        let objective = super::objective(system, &self.contacts, &self.work.y, &state.x, h);
        self.rigid.propose(system, &objective, &self.work.current, self.dx.edit());
        let request = Request {
            moved: &self.rigid.points,
            groups: &system.geometry.component,
            group_count: system.geometry.prescribed.len(),
            ..Request::default()
        };
        self.work.rigid_move = 0.0;
        for &v in &self.rigid.points {
            let i = v as usize;
            let way = self.dx.proposed()[i].distance(self.dx.accepted()[i]);
            self.work.whole_move[i] = way;
            self.work.rigid_move = self.work.rigid_move.max(way);
        }
        let cut = self.truncator.apply(x.as_slice(), &self.detection, &mut self.dx, &request);
        if cut.bounded == 0 {
            self.work.whole_move.fill(0.0);
        }
        for &v in &self.rigid.points {
            let i = v as usize;
            self.work.current[i] = self.work.base[i] + self.dx.accepted()[i];
        }
        report.phases.forces += start.elapsed().as_secs_f64();
        cut
    }

    /// Reports the forces of contacts on objects at the end of a step, and keeps what the next one must know of them.
    pub(super) fn remember(&mut self, system: &System, state: &mut Snapshot, report: &mut StepReport) {
        let (x, slip) = (&self.work.current, Slip { x_n: &state.x });
        report.contact_forces = vec![Vec3::ZERO; system.objects.len()];
        self.contacts.add_solid_forces(&system.contact, x, &slip, &mut report.contact_forces);
        self.memory.take(&self.contacts, x, &slip);
        state.memory.truncate(system.memory);
        self.memory.write(&mut state.memory);
    }
}
