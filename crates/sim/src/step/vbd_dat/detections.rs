//! The detections of a step: those of its initial guess, and those after which the sweeps go on.

use super::{VbdDat, Work};
use crate::model::Snapshot;
use crate::report::StepReport;
use crate::safe::{Prediction, SafePositions};
use crate::step::fluid_phase::FluidPhase;
use crate::step::prescribed::{advance_prescribed, ask_prescribed, held_keep, held_request};
use crate::system::System;
use crate::truncation::{Cut, Request};
use littoral_geom::math::Vec3;
use rayon::prelude::*;
use std::time::Instant;

/// Detections the initial guess may take. One suffices unless budgets or far pairs bind.
const GUESS_ROUNDS: usize = 4;

/// Share of the contact radius that the initial guess leaves free where it can.
const GUESS_KEEP: f64 = 0.5;

/// Smallest margin of a budget, as a share of the contact radius: room for small corrections between detections.
/// Smaller: more detections near rest. Larger: more pairs to look at.
const MARGIN: f64 = 0.1;

/// Room for a point's next moves, as a multiple of its last one.
const MOVE_MARGIN: f64 = 3.0;

/// Room for the rigid motion of a component that budgets cut, as a multiple of what it asked for. A turn asks along its
/// tangent, so that less than the whole would cut it again, and much more lists pairs for nothing.
const WHOLE_MARGIN: f64 = 1.2;

/// Rings of points around what a collider presses that get room to follow, and the share of the room of the ring before.
const RINGS: usize = 3;
const BEHIND: f64 = 0.8;

impl VbdDat {
    /// Detects and applies the initial guess, going on while budgets or far pairs cut it.
    pub(super) fn guess(
        &mut self,
        system: &System,
        x: &mut SafePositions,
        state: &mut Snapshot,
        h: f64,
        report: &mut StepReport,
        cuts: &mut Cut,
    ) {
        for round in 0..GUESS_ROUNDS {
            self.bodies.want(system, x.as_slice(), &mut self.work.wanted);
            self.guess_margins(system, h);
            self.bodies.widen(system, &mut self.work.margin);
            self.detect(system, x, h, report);
            let start = Instant::now();
            for (p, (w, f)) in
                self.dx.edit().iter_mut().zip(self.work.wanted.iter().zip(&self.detection.frame))
            {
                *p = *w - *f;
            }
            self.bodies.propose(system, &self.work.base, self.dx.edit());
            let request = Request {
                moved: &self.work.all,
                turns: self.bodies.turns(system, &self.work.base),
                groups: &system.groups,
                group_count: system.prescribed.len(),
                keep: GUESS_KEEP * system.contact.radius(),
                held: &self.work.held,
                held_keep: held_keep(system),
                metric: &[],
            };
            let cut = self.truncator.apply(x.as_slice(), &self.detection, &mut self.dx, &request);
            *cuts = cuts.plus(cut);
            self.bodies.accept(&self.truncator, true);
            self.place_all();
            advance_prescribed(system, state, &self.work.aims, &self.work.wanted, &self.dx, &self.detection);
            report.phases.truncate += start.elapsed().as_secs_f64();
            if (cut.bounded == 0 && cut.cut_far == 0) || round + 1 == GUESS_ROUNDS {
                return;
            }
            for (w, (d, f)) in
                self.work.wanted.iter_mut().zip(self.dx.accepted().iter().zip(&self.detection.frame))
            {
                *w -= *d + *f;
            }
            self.commit(system, x);
        }
    }

    /// Commits, detects anew and lets prescribed points go on.
    pub(super) fn redetect(
        &mut self,
        system: &System,
        x: &mut SafePositions,
        state: &mut Snapshot,
        h: f64,
        report: &mut StepReport,
    ) -> Cut {
        self.commit(system, x);
        let work = &mut self.work;
        work.wanted.fill(Vec3::ZERO);
        ask_prescribed(system, state, h, x.as_slice(), &mut work.wanted, &mut work.aims);
        let least = MARGIN * system.contact.radius().max(system.geometry.particle_radius);
        work.margin.clear();
        for v in 0..work.wanted.len() {
            let moving = system.moves(v) && !work.held[v];
            let expected = (MOVE_MARGIN * work.next_move[v]).max(WHOLE_MARGIN * work.whole_move[v]);
            work.margin.push(if moving { least.max(expected) } else { 0.0 });
        }
        self.detect(system, x, h, report);
        if self.work.held_points.is_empty() {
            return Cut::default();
        }
        let start = Instant::now();
        let proposals = self.dx.edit();
        for &v in &self.work.held_points {
            proposals[v as usize] = self.work.wanted[v as usize] - self.detection.frame[v as usize];
        }
        let request = held_request(system, &self.work.held_points, &self.work.held);
        let cut = self.truncator.apply(x.as_slice(), &self.detection, &mut self.dx, &request);
        self.place_all();
        advance_prescribed(system, state, &self.work.aims, &self.work.wanted, &self.dx, &self.detection);
        report.phases.truncate += start.elapsed().as_secs_f64();
        cut
    }

    /// Room for what the guess does not know: how differently neighbours move, and what gravity adds.
    fn guess_margins(&mut self, system: &System, h: f64) {
        let Work { wanted, margin, held, .. } = &mut self.work;
        let reach = system.contact.radius().max(system.geometry.particle_radius);
        let least = (MARGIN * reach).max(h * h * system.gravity.length());
        (0..wanted.len())
            .into_par_iter()
            .with_min_len(1024)
            .map(|v| {
                if !system.moves(v) {
                    return 0.0;
                }
                let stretch = system
                    .neighbours
                    .row(v)
                    .iter()
                    .map(|&w| wanted[v].distance_squared(wanted[w as usize]))
                    .fold(0.0, f64::max)
                    .sqrt();
                if held[v] { 0.0 } else { least.max(stretch) }
            })
            .collect_into_vec(margin);
        self.pressed_margins(system);
    }

    /// Room for what a collider presses: it gives way by as much as the collider comes on, until they do not touch, and what
    /// is behind it follows, an edge a sweep.
    fn pressed_margins(&mut self, system: &System) {
        let Work { wanted, margin, held, .. } = &mut self.work;
        let radius = system.contact.radius();
        let mut ring: Vec<(u32, f64)> = Vec::new();
        self.memory.for_each_driven(&system.contact, |v, collider| {
            ring.push((v, wanted[collider as usize].length().min(radius)));
        });
        for _ in 0..=RINGS {
            let mut next = Vec::new();
            for &(v, room) in &ring {
                let i = v as usize;
                if system.moves(i) && !held[i] && margin[i] < room {
                    margin[i] = room;
                    next.extend(system.neighbours.row(i).iter().map(|&w| (w, BEHIND * room)));
                }
            }
            ring = next;
        }
    }

    fn detect(&mut self, system: &System, x: &SafePositions, h: f64, report: &mut StepReport) {
        let start = Instant::now();
        let prediction = Prediction {
            wanted: &self.work.wanted,
            margin: &self.work.margin,
            contact_radius: system.contact.radius(),
            present: self.fluid.as_ref().map_or(&[], FluidPhase::present),
        };
        self.detector.detect(&system.geometry, x, &prediction, &mut self.detection);
        self.bodies.enter_frames(system, &self.detection);
        system.contact.activate(
            &system.geometry,
            &self.detection,
            x.as_slice(),
            h,
            &self.memory,
            &mut self.contacts,
        );
        self.work.base.clear();
        self.work.base.extend(x.as_slice().iter().zip(&self.detection.frame).map(|(p, f)| *p + *f));
        self.place_all();
        self.list_wet(system);
        report.detections += 1;
        report.candidates = report.candidates.max(self.detection.planes.len() as u32);
        report.min_gap = match (report.min_gap, self.detection.min_gap()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        (self.work.sweeps, self.work.waiting) = (0, 0);
        for b in &mut self.work.before {
            b.clear();
        }
        report.phases.detect += start.elapsed().as_secs_f64();
    }
}
