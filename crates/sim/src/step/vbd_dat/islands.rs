//! What each island decides for itself: when to look around, and what goes on then. Nothing that happens in one is
//! noticed in another.
//!
//! An island is known by its first component. What is counted by component is the same for all of an island.

use super::{BOUNDED, LAG, PATIENCE, VbdDat};
use crate::kinematic::{MEMORY, PrescribedSet, Progress};
use crate::model::Snapshot;
use crate::system::System;
use littoral_geom::math::Vec3;

/// Share of the points of a pile up to which bodies that were stopped in their guess leave the rest of it to the sweeps.
const FEW: f64 = 0.05;

/// Share of its own radius that a body may miss to leave it to the sweeps: what is faster would pass others in a step.
const SLOW: f64 = 0.25;

/// Components of an island from which on it is a pile. Where there are fewer, each one that is stopped matters, and looking around costs
/// little. A pile has no regular detection right after one that it asked for.
const PILE: u32 = 100;

/// Newton steps of the bodies of a pile that a detection is good for at least.
const PILE_PATIENCE: u32 = 4;

/// The islands within a step, by component.
#[derive(Debug, Default)]
pub(super) struct Islands {
    /// Points that descend.
    points: Vec<u32>,
    /// Components that are rigid bodies.
    bodies: Vec<bool>,
    /// Sweeps since its last detection.
    sweeps: Vec<u32>,
    /// The same with the Newton steps of bodies that come before sweeps, where there are bodies in its island.
    turns: Vec<u32>,
    /// Bodies that wait at their budgets for the next detection, by the first component of their island.
    waiting: Vec<u32>,
    /// The sweeps are to go on with a guess that few bodies were stopped in, by the first component of their island.
    left: Vec<bool>,
    /// Points that waited at their budgets in the last sweep, by the first component of their island.
    bounded: Vec<u32>,
}

impl Islands {
    /// Counts the points of the components.
    pub fn new(system: &System, body_points: &[u32]) -> Self {
        let count = system.geometry.prescribed.len();
        let mut points = vec![0; count];
        for &v in system.colors.iter().flatten().chain(body_points) {
            points[system.geometry.component[v as usize] as usize] += 1;
        }
        let mut bodies = vec![false; count];
        body_points.iter().for_each(|&v| bodies[system.geometry.component[v as usize] as usize] = true);
        let zeros = || vec![0; count];
        Islands {
            points,
            bodies,
            sweeps: zeros(),
            turns: zeros(),
            waiting: zeros(),
            left: vec![false; count],
            bounded: zeros(),
        }
    }

    /// All components.
    pub fn all(&self) -> Vec<bool> {
        vec![true; self.points.len()]
    }

    /// Begins a step.
    pub fn begin(&mut self) {
        self.bounded.fill(0);
        self.detected(&self.all());
    }

    /// The `seen` components were detected anew.
    pub fn detected(&mut self, seen: &[bool]) {
        for (c, _) in seen.iter().enumerate().filter(|(_, seen)| **seen) {
            (self.sweeps[c], self.turns[c], self.waiting[c], self.left[c]) = (0, 0, 0, false);
        }
    }

    /// The sweeps of these islands, by their first components, do not wait long to look around.
    pub fn leave(&mut self, islands: &[bool]) {
        self.left.iter_mut().zip(islands).for_each(|(left, now)| *left |= now);
    }

    /// Begins a sweep.
    pub fn begin_sweep(&mut self) {
        self.bounded.fill(0);
    }

    /// Ends a sweep.
    pub fn end_sweep(&mut self) {
        self.sweeps.iter_mut().chain(&mut self.turns).for_each(|s| *s += 1);
    }

    /// Sweeps since the last detection of a component.
    pub fn sweeps(&self, component: u32) -> u32 {
        self.sweeps[component as usize]
    }
}

impl VbdDat {
    /// First component of the island of the point `v`.
    #[inline]
    pub(super) fn island_of(&self, system: &System, v: u32) -> usize {
        self.detection.island[system.geometry.component[v as usize] as usize] as usize
    }

    /// Counts those of the points `moved` last that wait at their budgets.
    pub(super) fn note_bounded(&mut self, system: &System, moved: &[u32]) {
        for (k, &v) in moved.iter().enumerate() {
            if self.truncator.stopped_by_box(k) {
                let island = self.island_of(system, v);
                self.islands.bounded[island] += 1;
            }
        }
    }

    /// Counts the bodies that wait at their budgets.
    pub(super) fn note_waiting(&mut self, system: &System) {
        self.islands.waiting.fill(0);
        for v in self.bodies.waiting(system, &self.truncator) {
            let c = system.geometry.component[v as usize] as usize;
            self.islands.waiting[self.detection.island[c] as usize] += 1;
        }
    }

    /// Islands with bodies, by their first components.
    fn with_bodies(&self) -> Vec<bool> {
        let mut found = vec![false; self.islands.bodies.len()];
        for (c, &island) in self.detection.island.iter().enumerate() {
            found[island as usize] |= self.islands.bodies[c];
        }
        found
    }

    /// Begins a Newton step of the bodies before a sweep.
    pub(super) fn begin_lead(&mut self) {
        for (i, _) in self.with_bodies().iter().enumerate().filter(|(_, bodies)| **bodies) {
            self.islands.bounded[i] = 0;
        }
    }

    /// Ends it.
    pub(super) fn end_lead(&mut self) {
        let with_bodies = self.with_bodies();
        for (c, &island) in self.detection.island.iter().enumerate() {
            self.islands.turns[c] += u32::from(with_bodies[island as usize]);
        }
    }

    /// The components of the islands that ask, by their first ones; all of them where nothing else may move.
    pub(super) fn going(&self, asks: &[bool]) -> Option<Vec<bool>> {
        let Detected { island, mobile } = self.detected();
        let going: Vec<bool> = island.iter().map(|&i| asks[i as usize]).collect();
        if going.iter().zip(mobile).all(|(going, mobile)| *going || !mobile) {
            return asks.contains(&true).then(|| self.islands.all());
        }
        going.contains(&true).then_some(going)
    }

    fn detected(&self) -> Detected<'_> {
        Detected { island: &self.detection.island, mobile: &self.detection.mobile }
    }

    /// The components that look around before the step `turn` of the bodies, if there are any; it is the first of a `sweep`, or
    /// of none. Islands without bodies know of sweeps alone.
    pub(super) fn asking(
        &self,
        system: &System,
        state: &Snapshot,
        turn: u32,
        sweep: Option<u32>,
    ) -> Option<Vec<bool>> {
        let every = self.settings.detect_every;
        let turns = self.body_steps();
        let leads = turns > self.settings.iterations;
        let with_bodies = if leads { self.with_bodies() } else { Vec::new() };
        let has_bodies = |i: usize| with_bodies.get(i) == Some(&true);
        // How many came before, where it is the turn of an island at all.
        let count = |i: usize| if has_bodies(i) { Some(turn) } else { sweep };
        let mut asks = vec![false; self.islands.points.len()];
        if turn > 0 {
            self.mark_lagging(system, state, &mut asks);
            asks.iter_mut().enumerate().for_each(|(i, asks)| *asks &= count(i).is_some_and(|n| n > 0));
        }
        let (points, things) = self.sizes();
        // Particles are one component.
        let wet = self.work.wet.first().map(|&v| self.island_of(system, v));
        let is_regular = |n: Option<u32>| n.is_some_and(|n| n > 0 && n.is_multiple_of(every));
        let regular = is_regular(sweep) || (leads && is_regular(Some(turn)));
        // Where nothing is listed, budgets alone say when to look again; particles between resting walls, too.
        let listed = if regular { self.listed(system) } else { Vec::new() };
        for i in 0..asks.len() {
            let wet = if wet == Some(i) { self.work.wet.len() } else { 0 };
            let patience = (BOUNDED * (points[i] as usize + wet) as f64) as u32;
            let Islands { turns: since, waiting, bounded, left, .. } = &self.islands;
            // Without a regular detection within the step a body would wait from step to step.
            let waits = bounded[i] > patience || left[i] || (turns <= every && waiting[i] > 0);
            let regular = is_regular(count(i)) && points[i] > 0 && listed[i];
            let rested = since[i] >= if things[i] < PILE { PATIENCE } else { PILE_PATIENCE };
            asks[i] |= (regular && (rested || things[i] < PILE)) || (waits && rested && count(i).is_some());
        }
        self.going(&asks)
    }

    /// How far the point `i` is from where it wants to go [m].
    fn missing(&self, i: usize) -> f64 {
        (self.work.wanted[i] - self.dx.accepted()[i] - self.detection.frame[i]).length()
    }

    /// Components that are in a pile.
    pub(super) fn in_piles(&self) -> Vec<bool> {
        let (_, things) = self.sizes();
        self.detection.island.iter().map(|&i| things[i as usize] >= PILE).collect()
    }

    /// How many points descend in each island, and of how many things it is, by its first component.
    fn sizes(&self) -> (Vec<u32>, Vec<u32>) {
        let count = self.islands.points.len();
        let (mut points, mut things) = (vec![0; count], vec![0; count]);
        for (c, &island) in self.detection.island.iter().enumerate() {
            points[island as usize] += self.islands.points[c];
            things[island as usize] += 1;
        }
        (points, things)
    }

    /// The islands whose initial guess goes on after a detection: far pairs or budgets stopped any of the points `moved` last.
    /// Then those that leave it to the sweeps: where only a few slow bodies of a pile were stopped.
    pub(super) fn stopped(&self, system: &System, moved: &[u32]) -> (Vec<bool>, Vec<bool>) {
        let count = self.islands.points.len();
        let (mut asks, mut hit) = (vec![false; count], vec![false; count]);
        for (k, &v) in moved.iter().enumerate() {
            if self.truncator.stopped_by_box(k) || self.truncator.stopped_far(k) {
                let i = v as usize;
                let is_slow =
                    |(b, _): (usize, Vec3)| self.missing(i) <= SLOW * system.bodies.list[b].radius();
                hit[system.geometry.component[i] as usize] = true;
                asks[self.island_of(system, v)] |= !system.bodies.at(i).is_some_and(is_slow);
            }
        }
        let (points, things) = self.sizes();
        let mut stopped = vec![0; count];
        for (c, &i) in self.detection.island.iter().enumerate() {
            stopped[i as usize] += if hit[c] { self.islands.points[c] } else { 0 };
        }
        let mut left = vec![false; count];
        for i in (0..count).filter(|&i| stopped[i] > 0) {
            let few = things[i] >= PILE && f64::from(stopped[i]) <= FEW * f64::from(points[i]);
            asks[i] |= !few;
            left[i] = !asks[i];
        }
        (asks, left)
    }

    /// Whether any pair of surfaces is listed in each island.
    fn listed(&self, system: &System) -> Vec<bool> {
        let mut listed = vec![false; self.islands.points.len()];
        let Detected { island, mobile } = self.detected();
        let mut left = (0..listed.len()).filter(|&c| mobile[c] && island[c] as usize == c).count();
        for plane in self.detection.planes.iter().filter(|p| p.surface) {
            for v in [plane.points[0], plane.points[plane.side_a as usize]] {
                let i = self.island_of(system, v);
                left -= usize::from(mobile[i] && !listed[i]);
                listed[i] = true;
            }
            if left == 0 {
                break;
            }
        }
        listed
    }

    /// The components of the islands in which something prescribed lags, if there are any.
    pub(super) fn lagging(&self, system: &System, state: &Snapshot) -> Option<Vec<bool>> {
        let mut asks = vec![false; self.islands.points.len()];
        self.mark_lagging(system, state, &mut asks);
        self.going(&asks)
    }

    /// Marks the islands in which some prescribed point was held back and has a way to go in this step.
    fn mark_lagging(&self, system: &System, state: &Snapshot, asks: &mut [bool]) {
        let tolerance = LAG * system.contact.radius();
        let sets = system.prescribed.iter().zip(state.memory.chunks_exact(MEMORY)).zip(&self.work.aims);
        for ((set, memory), aim) in sets {
            let Some(&first) = set.points.first() else { continue };
            if set.acts(state.time) && set.top_speed > 0.0 && self.lags(set, memory, aim, tolerance) {
                asks[self.island_of(system, first)] = true;
            }
        }
    }

    fn lags(&self, set: &PrescribedSet, memory: &[f64], aim: &Progress, tolerance: f64) -> bool {
        if set.rigid {
            let now = Progress::read(memory);
            return now.clock + f64::EPSILON * aim.clock < aim.clock
                || now.pose.0.distance(aim.pose.0) > tolerance;
        }
        set.points.iter().map(|&v| self.missing(v as usize)).fold(0.0, f64::max) > tolerance
    }
}

/// The components as the last detection has them.
struct Detected<'a> {
    island: &'a [u32],
    mobile: &'a [bool],
}

/// Those of the `points` whose components go.
pub(super) fn those_of(system: &System, points: &[u32], going: &[bool]) -> Vec<u32> {
    let goes = |v: &u32| going[system.geometry.component[*v as usize] as usize];
    points.iter().copied().filter(goes).collect()
}
