//! The limits of pairs between the rounds of one truncation.
//!
//! Where most points of most pairs move, the limits of each pair are found once for all four of its points. After a
//! round only pairs with a point that was cut have other limits; points that see no such pair keep their outcome. Both
//! save work and change no result.

use super::rule::{Limits, Rule};
use super::{Outcome, TASK};
use crate::safe::{Detection, Displacement};
use rayon::prelude::*;

/// Pairs per parallel task.
const PAIRS: usize = 512;

/// What is known of the pairs in a round.
#[derive(Clone, Debug, Default)]
pub(super) struct Shares {
    /// Limits of the pairs that may bind, the nearest first; empty where each point finds its own.
    limits: Vec<Limits>,
    /// Points whose proposal was cut in the round before (n).
    cut: Vec<bool>,
    /// Number of pairs, nearest first, that may bind.
    near: usize,
    /// All outcomes are to be found anew.
    all: bool,
    /// Some points are marked as cut.
    marked: bool,
    /// Islands in which a withdrawal that somebody leans on was cut in the round before; empty in the first round, and
    /// where all is one island.
    open: Vec<bool>,
}

impl Shares {
    /// Begins with the first round of an application; there are so many `points`.
    pub fn begin(&mut self, points: usize) {
        self.limits.clear();
        if self.marked || self.cut.len() != points {
            self.cut.clear();
            self.cut.resize(points, false);
        }
        (self.all, self.marked) = (true, false);
        self.open.clear();
    }

    /// Notes after a round in which islands another one is due: what happens in one changes nothing in another.
    pub fn settle(&mut self, detection: &Detection, moved: &[u32], outcomes: &[Outcome]) {
        if detection.apart.is_empty() {
            return;
        }
        self.open.clear();
        self.open.resize(detection.island.len(), false);
        for (&v, _) in moved.iter().zip(outcomes).filter(|(_, o)| o.leaned_on && o.t < 1.0) {
            self.open[detection.apart[v as usize] as usize] = true;
        }
    }

    /// True if the point `v` needs no other round.
    #[inline]
    pub fn is_settled(&self, detection: &Detection, v: u32) -> bool {
        !self.open.is_empty() && !self.open[detection.apart[v as usize] as usize]
    }

    /// Finds which pairs may bind under the `rule`, and their limits where several of the `moved` points would ask for them.
    pub fn prepare(&mut self, detection: &Detection, dx: &Displacement, rule: &Rule<'_>, moved: &[u32]) {
        self.all |= !rule.leaning;
        self.near = detection.planes.partition_point(|p| !rule.is_wide(p.gap, dx.longest()));
        let offsets = &detection.offsets;
        let seen: u64 = moved.iter().map(|&v| u64::from(offsets[v as usize + 1] - offsets[v as usize])).sum();
        // Each pair is seen by two of its points or more, on average.
        if 2 * seen < detection.items.len() as u64 {
            return;
        }
        let known = if self.all { 0 } else { self.limits.len() };
        let (planes, cut) = (&detection.planes[..self.near], &self.cut);
        self.limits.resize(self.near, Limits::FREE);
        (planes, &mut self.limits, 0..self.near).into_par_iter().with_min_len(PAIRS).for_each(
            |(plane, limits, k)| {
                if k >= known || plane.points.iter().any(|&v| cut[v as usize]) {
                    *limits = rule.limits(plane, dx);
                }
            },
        );
    }

    /// The pairs of the point `v` that bind it or may come to, nearest first, with the point's slot and their limits.
    #[inline]
    pub fn of<'a>(
        &'a self,
        detection: &'a Detection,
        dx: &'a Displacement,
        rule: &'a Rule<'_>,
        v: u32,
    ) -> impl Iterator<Item = (usize, usize, Limits)> + 'a {
        detection.planes_of(v).take_while(|(k, _)| *k < self.near).filter_map(move |(k, slot)| {
            let limits = match self.limits.get(k) {
                Some(limits) => *limits,
                None => rule.limits(&detection.planes[k], dx),
            };
            (!limits.is_free()).then_some((k, slot, limits))
        })
    }

    /// True if the outcome of the point `v` may differ from that of the round before.
    #[inline]
    pub fn is_stale(&self, detection: &Detection, v: u32) -> bool {
        let near = || detection.planes_of(v).take_while(|(k, _)| *k < self.near);
        self.all
            || self.cut[v as usize]
            || near().any(|(k, _)| detection.planes[k].points.iter().any(|&p| self.cut[p as usize]))
    }

    /// Notes after a round which of the `moved` points were cut.
    pub fn note(&mut self, dx: &Displacement, moved: &[u32], outcomes: &[Outcome]) {
        for (&v, o) in moved.iter().zip(outcomes) {
            self.cut[v as usize] = o.t < 1.0 || o.kept != dx.proposed()[v as usize];
        }
        (self.all, self.marked) = (false, true);
    }

    /// Finds the outcomes that may have changed.
    pub fn run(
        &self,
        detection: &Detection,
        moved: &[u32],
        outcomes: &mut Vec<Outcome>,
        find: impl Fn(u32) -> Outcome + Sync,
    ) {
        if self.all {
            moved.par_iter().with_min_len(TASK).map(|&v| find(v)).collect_into_vec(outcomes);
            return;
        }
        (moved, outcomes).into_par_iter().with_min_len(TASK).for_each(|(&v, out)| {
            if self.is_stale(detection, v) {
                *out = find(v);
            }
        });
    }
}
