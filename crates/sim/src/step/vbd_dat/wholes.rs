//! What a step does with whole components: their rigid motions, and what their contacts end with.

use super::VbdDat;
use super::islands::those_of;
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

/// Newton steps of the rigid bodies within a time step, at least: where sweeps are fewer, each begins with some of the bodies
/// alone. A contact has curvature only while it acts, so that after one step alone what rests has fallen, and the next one
/// throws it up again. Gears and cards need 5 of them, an arch of 25 stones 10. Larger: slower where sweeps are few.
const BODY_STEPS: u32 = 10;

impl VbdDat {
    /// Newton steps of the bodies in a step; sweeps where there are none.
    pub(super) fn body_steps(&self) -> u32 {
        let sweeps = self.settings.iterations;
        if self.bodies.is_empty() { sweeps } else { sweeps.max(BODY_STEPS) }
    }

    /// How many of them lead a sweep: those that are more than sweeps are shared out evenly, the earlier sweeps first.
    pub(super) fn leads(&self, sweep: u32) -> u32 {
        let sweeps = self.settings.iterations;
        let more = self.body_steps() - sweeps;
        more / sweeps + u32::from(sweep < more % sweeps)
    }

    /// A Newton step of the bodies before those of a sweep. For their islands it counts like a sweep.
    pub(super) fn lead_bodies(
        &mut self,
        system: &System,
        x: &SafePositions,
        state: &Snapshot,
        h: f64,
        report: &mut StepReport,
    ) -> Cut {
        self.begin_lead();
        let cut = self.descend_bodies(system, x, state, h, report);
        self.end_lead();
        cut
    }

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
        let mut going = None;
        for _ in 0..BALANCE_ROUNDS {
            let (cut, moves) = self.correct_rigid(system, x, state, h, going.as_deref(), report);
            total = total.plus(cut);
            let asks: Vec<bool> =
                moves.iter().map(|way| *way >= BALANCED * system.contact.radius()).collect();
            going = self.going(&asks);
            if going.is_none() {
                break;
            }
        }
        total
    }

    /// One Newton step in the rigid motions of every free component, of those that go, truncated as one. Also the longest
    /// way that it asked of a point of each island [m], by its first component.
    pub(super) fn correct_rigid(
        &mut self,
        system: &System,
        x: &SafePositions,
        state: &Snapshot,
        h: f64,
        going: Option<&[bool]>,
        report: &mut StepReport,
    ) -> (Cut, Vec<f64>) {
        if !self.settings.rigid_correction || self.rigid.points.is_empty() {
            return (Cut::default(), vec![0.0; system.geometry.prescribed.len()]);
        }
        let going = going.filter(|going| going.contains(&false));
        let start = Instant::now();
        let (proposals, moved) = self.dx.edit_beside_sizes();
        let objective =
            super::objective(system, (&self.contacts, moved, &self.work.color_of), &self.work.y, &state.x, h);
        self.rigid.propose(system, &objective, &self.work.current, proposals);
        let whole = std::mem::take(&mut self.rigid.points);
        let part = going.map(|going| those_of(system, &whole, going));
        let moved = part.as_ref().unwrap_or(&whole);
        if let Some(going) = going {
            let stays: Vec<bool> = going.iter().map(|going| !going).collect();
            self.dx.withdraw(&those_of(system, &whole, &stays));
        }
        let request = Request {
            moved,
            groups: &system.geometry.component,
            group_count: system.geometry.prescribed.len(),
            ..Request::default()
        };
        let mut moves = vec![0.0; system.geometry.prescribed.len()];
        for &v in moved {
            let i = v as usize;
            let way = self.dx.proposed()[i].distance(self.dx.accepted()[i]);
            self.work.whole_move[i] = way;
            let longest: &mut f64 = &mut moves[self.island_of(system, v)];
            *longest = longest.max(way);
        }
        let cut = self.truncator.apply(x.as_slice(), &self.detection, &mut self.dx, &request);
        let mut waits = vec![false; moves.len()];
        if cut.bounded > 0 {
            self.note_bounded(system, moved);
            for (k, &v) in moved.iter().enumerate() {
                waits[self.island_of(system, v)] |= self.truncator.stopped_by_box(k);
            }
        }
        for &v in moved {
            let i = v as usize;
            if !waits[self.island_of(system, v)] {
                self.work.whole_move[i] = 0.0;
            }
            self.work.current[i] = self.work.base[i] + self.dx.accepted()[i];
        }
        self.rigid.points = whole;
        report.phases.forces += start.elapsed().as_secs_f64();
        (cut, moves)
    }

    /// Reports the forces of contacts on objects at the end of a step, and keeps what the next one must know of them.
    pub(super) fn remember(&mut self, system: &System, state: &mut Snapshot, report: &mut StepReport) {
        let (x, slip) = (&self.work.current, Slip { x_n: &state.x, targets: &[] });
        report.contact_forces = vec![Vec3::ZERO; system.objects.len()];
        self.contacts.add_solid_forces(&system.contact, x, &slip, &mut report.contact_forces);
        self.memory.take(&self.contacts, x, &slip);
        state.memory.truncate(system.memory);
        self.memory.write(&mut state.memory);
    }
}
