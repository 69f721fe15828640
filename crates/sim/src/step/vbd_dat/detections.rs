//! The detections of a step: those of its initial guess, and those after which the sweeps go on.

use super::islands::those_of;
use super::{VbdDat, Work};
use crate::kinematic::PrescribedSet;
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

/// The same of bodies in piles.
const PILE_MARGIN: f64 = 0.5;

/// Room for a point's next moves, as a multiple of its last one.
const MOVE_MARGIN: f64 = 3.0;

/// Room for the rigid motion of a component that budgets cut, as a multiple of what it asked for. A turn asks along its
/// tangent, so that less than the whole would cut it again, and much more lists pairs for nothing.
const WHOLE_MARGIN: f64 = 1.2;

/// Rings of points around what a collider presses that get room to follow, and the share of the room of the ring before.
const RINGS: usize = 3;
const BEHIND: f64 = 0.8;

/// For what islands look around.
#[derive(Clone, Copy, Debug)]
enum Look {
    /// The rest of the initial guess.
    Guess,
    /// The next sweeps.
    Sweeps,
}

impl VbdDat {
    /// Detects and applies the initial guess, going on where budgets or far pairs cut it.
    pub(super) fn guess(
        &mut self,
        system: &System,
        x: &mut SafePositions,
        state: &mut Snapshot,
        h: f64,
        report: &mut StepReport,
        cuts: &mut Cut,
    ) {
        let mut going = self.islands.all();
        self.ask(Look::Guess, system, x, state, h, &going);
        self.detect(system, x, h, &going, report);
        for round in 0..GUESS_ROUNDS {
            if round > 0 {
                self.look_again(Look::Guess, system, x, state, h, &mut going, report);
            }
            let start = Instant::now();
            let whole = !going.contains(&false);
            let part = if whole { Vec::new() } else { those_of(system, &self.work.all, &going) };
            let moved = if whole { &self.work.all } else { &part };
            let proposals = self.dx.edit();
            for &v in moved {
                let v = v as usize;
                proposals[v] = self.work.wanted[v] - self.detection.frame[v];
            }
            self.bodies.propose(system, &self.work.base, self.dx.edit());
            let request = Request {
                moved,
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
            let (asks, left) = self.stopped(system, moved);
            self.islands.leave(&left);
            self.bodies.accept(&self.truncator, true);
            self.place_all();
            self.advance(system, state, &going);
            report.phases.truncate += start.elapsed().as_secs_f64();
            match self.going(&asks) {
                Some(asking) => going = asking,
                None => return,
            }
        }
    }

    /// Commits what goes, detects it anew and lets prescribed points of it go on.
    pub(super) fn redetect(
        &mut self,
        system: &System,
        x: &mut SafePositions,
        state: &mut Snapshot,
        h: f64,
        mut going: Vec<bool>,
        report: &mut StepReport,
    ) -> Cut {
        self.look_again(Look::Sweeps, system, x, state, h, &mut going, report);
        let held = those_of(system, &self.work.held_points, &going);
        if held.is_empty() {
            return Cut::default();
        }
        let start = Instant::now();
        let proposals = self.dx.edit();
        for &v in &held {
            proposals[v as usize] = self.work.wanted[v as usize] - self.detection.frame[v as usize];
        }
        let request = held_request(system, &held, &self.work.held);
        let cut = self.truncator.apply(x.as_slice(), &self.detection, &mut self.dx, &request);
        self.place_all();
        self.advance(system, state, &going);
        report.phases.truncate += start.elapsed().as_secs_f64();
        cut
    }

    /// Moves the prescribed sets of what goes on by what was kept of their ways.
    fn advance(&self, system: &System, state: &mut Snapshot, going: &[bool]) {
        let goes = |set: &PrescribedSet| set.points.first().is_some_and(|&v| goes(system, going, v));
        let (aims, wanted) = (&self.work.aims, &self.work.wanted);
        advance_prescribed(system, state, aims, wanted, &self.dx, &self.detection, goes);
    }

    /// Commits what goes and detects it anew. What it may meet then goes as well.
    #[allow(clippy::too_many_arguments)]
    fn look_again(
        &mut self,
        look: Look,
        system: &System,
        x: &mut SafePositions,
        state: &Snapshot,
        h: f64,
        going: &mut [bool],
        report: &mut StepReport,
    ) {
        let mut next = going.to_vec();
        loop {
            if matches!(look, Look::Guess) {
                for v in 0..self.work.wanted.len() {
                    if goes(system, &next, v as u32) {
                        self.work.wanted[v] -= self.dx.accepted()[v] + self.detection.frame[v];
                    }
                }
            }
            if next.contains(&false) {
                x.commit_islands(&system.geometry, &mut self.detection, &mut self.dx, &next);
                self.leave_trail(system, x);
            } else {
                self.commit(system, x);
            }
            self.ask(look, system, x, state, h, &next);
            let met = self.detect(system, x, h, going, report);
            if met.is_empty() {
                return;
            }
            let mut asks = vec![false; going.len()];
            met.iter().for_each(|&c| asks[self.detection.island[c as usize] as usize] = true);
            for (c, &island) in self.detection.island.iter().enumerate() {
                next[c] = asks[island as usize];
                going[c] |= next[c];
            }
        }
    }

    /// Asks the components that go what they want, and how much room they need.
    fn ask(
        &mut self,
        look: Look,
        system: &System,
        x: &SafePositions,
        state: &Snapshot,
        h: f64,
        going: &[bool],
    ) {
        let in_piles = if matches!(look, Look::Sweeps) { self.in_piles() } else { Vec::new() };
        let work = &mut self.work;
        if matches!(look, Look::Guess) {
            self.bodies.want(system, x.as_slice(), &mut work.wanted, |v| goes(system, going, v));
            self.guess_margins(system, h, going);
            self.bodies.widen(system, &mut self.work.margin);
            return;
        }
        for (v, w) in work.wanted.iter_mut().enumerate() {
            if goes(system, going, v as u32) {
                *w = Vec3::ZERO;
            }
        }
        let asked = |set: &PrescribedSet| set.points.first().is_some_and(|&v| goes(system, going, v));
        ask_prescribed(system, state, h, x.as_slice(), &mut work.wanted, &mut work.aims, asked);
        let least = MARGIN * system.contact.radius().max(system.geometry.particle_radius);
        for v in 0..work.wanted.len() {
            if goes(system, going, v as u32) {
                let moving = system.moves(v) && !work.held[v];
                let expected = (MOVE_MARGIN * work.next_move[v]).max(WHOLE_MARGIN * work.whole_move[v]);
                let c = system.geometry.component[v] as usize;
                let wide = in_piles[c] && system.bodies.at(v).is_some();
                let least = if wide { PILE_MARGIN * system.contact.radius() } else { least };
                work.margin[v] = if moving { least.max(expected) } else { 0.0 };
            }
        }
    }

    /// Room for what the guess does not know: how differently neighbours move, and what gravity adds.
    fn guess_margins(&mut self, system: &System, h: f64, going: &[bool]) {
        let Work { wanted, margin, held, .. } = &mut self.work;
        margin.resize(wanted.len(), 0.0);
        let reach = system.contact.radius().max(system.geometry.particle_radius);
        let least = (MARGIN * reach).max(h * h * system.gravity.length());
        margin.par_iter_mut().enumerate().with_min_len(1024).for_each(|(v, margin)| {
            if !goes(system, going, v as u32) {
                return;
            }
            if !system.moves(v) || held[v] {
                *margin = 0.0;
                return;
            }
            let stretch = (system.neighbours.row(v).iter())
                .map(|&w| wanted[v].distance_squared(wanted[w as usize]))
                .fold(0.0, f64::max)
                .sqrt();
            *margin = least.max(stretch);
        });
        self.pressed_margins(system, going);
    }

    /// Room for what a collider presses: it gives way by as much as the collider comes on, until they do not touch, and what
    /// is behind it follows, an edge a sweep.
    fn pressed_margins(&mut self, system: &System, going: &[bool]) {
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
                if goes(system, going, v) && system.moves(i) && !held[i] && margin[i] < room {
                    margin[i] = room;
                    next.extend(system.neighbours.row(i).iter().map(|&w| (w, BEHIND * room)));
                }
            }
            ring = next;
        }
    }

    /// Detects the components that go. What else they may meet is the answer: then nothing was detected.
    fn detect(
        &mut self,
        system: &System,
        x: &SafePositions,
        h: f64,
        going: &[bool],
        report: &mut StepReport,
    ) -> Vec<u32> {
        let start = Instant::now();
        let prediction = Prediction {
            wanted: &self.work.wanted,
            margin: &self.work.margin,
            contact_radius: system.contact.radius(),
            present: self.fluid.as_ref().map_or(&[], FluidPhase::present),
        };
        let geometry = &system.geometry;
        if going.contains(&false) {
            let stays = |(going, mobile): (&bool, &bool)| !going && *mobile;
            let kept: Vec<bool> = going.iter().zip(&self.detection.mobile).map(stays).collect();
            let met = self.detector.renew(geometry, x, &prediction, &kept, &mut self.detection);
            if !met.is_empty() {
                return met;
            }
            self.dx.carry(geometry, &self.detection);
        } else {
            let was_spent = self.detection.is_spent();
            self.detector.detect(geometry, x, &prediction, &mut self.detection);
            if was_spent {
                self.dx.carry(geometry, &self.detection);
            }
        }
        self.bodies.enter_frames(system, &self.detection, |v| goes(system, going, v));
        let (memory, contacts) = (&self.memory, &mut self.contacts);
        system.contact.activate(geometry, &self.detection, x.as_slice(), h, memory, contacts);
        self.take_turns(system, x);
        self.work.base.clear();
        self.work.base.extend(x.as_slice().iter().zip(&self.detection.frame).map(|(p, f)| *p + *f));
        self.place_all();
        if system.fluid.is_some() && goes(system, going, geometry.first_particle() as u32) {
            self.list_wet(system);
        }
        report.detections += 1;
        report.candidates = report.candidates.max(self.detection.planes.len() as u32);
        report.min_gap = match (report.min_gap, self.detection.min_gap()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        self.islands.detected(going);
        report.phases.detect += start.elapsed().as_secs_f64();
        Vec::new()
    }
}

/// True if the component of the point `v` goes.
#[inline]
fn goes(system: &System, going: &[bool], v: u32) -> bool {
    going[system.geometry.component[v as usize] as usize]
}
