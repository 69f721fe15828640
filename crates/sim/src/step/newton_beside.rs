//! Newton's method where not all unknowns are points: rigid bodies go along curves.
//!
//! The filter is the chosen truncation, each point and body as far as it may, along its own way; where that does not lower
//! the objective, one fraction of the direction for all, which does when it is small enough.

use super::bodies::{BodyPhase, Stand};
use super::newton_ipc::NewtonIpc;
use super::newton_phase::{HALVINGS, Phase, ROUNDING};
use crate::model::Snapshot;
use crate::report::StepReport;
use crate::safe::{Displacement, SafePositions};
use crate::solver::beside::{Beside, Links};
use crate::solver::objective::{Objective, Value};
use crate::solver::sparse::{NONE, Unknowns};
use crate::system::System;
use crate::truncation::{Cut, Request};
use littoral_geom::math::Vec3;
use std::time::Instant;

/// A fraction for all is tried a little below the one that fitted.
const BELOW: f64 = 0.9;

/// ... and never less than this share of the last one: what stops a body altogether is looked at anew.
const LEAST: f64 = 0.01;

/// What the unknowns beside the points are made of, while a direction is found.
#[derive(Debug, Default)]
pub(super) struct Couplings {
    links: Links,
    centers: Vec<Vec3>,
    pairs: Vec<(u32, u32)>,
}

impl Couplings {
    /// The springs and tethers at bodies.
    pub fn new(system: &System) -> Self {
        Couplings { links: Links::new(&system.elastic, &system.bodies), ..Couplings::default() }
    }

    /// For an objective; `None` where all unknowns are points.
    pub fn beside<'a>(&'a self, system: &'a System, unknowns: &Unknowns) -> Option<Beside<'a>> {
        (unknowns.first > 0).then_some(Beside {
            bodies: &system.bodies,
            centers: &self.centers,
            links: &self.links,
            pairs: &self.pairs,
        })
    }
}

/// Where a step has got, to come back to.
struct Saved {
    dx: Displacement,
    bodies: Stand,
}

impl NewtonIpc {
    /// Targets of the bodies, and what they want, for a step of `h` [s].
    pub(super) fn begin_bodies(&mut self, system: &System, x: &[Vec3], state: &Snapshot, h: f64) {
        if self.bodies.is_empty() {
            return;
        }
        self.bodies.begin_newton(system, state, h, &mut self.work.target);
        self.bodies.want(system, x, &mut self.work.wanted);
        self.work.coupled_bodies.clone_from(&self.tied);
        self.list_unknowns(system);
    }

    /// Bodies that a detection finds near something become unknowns and stay so; true if there are more than before.
    pub(super) fn couple_bodies(&mut self, system: &System) -> bool {
        let offsets = &self.detection.offsets;
        let mut changed = false;
        for (body, coupled) in system.bodies.list.iter().zip(&mut self.work.coupled_bodies) {
            let points = body.points();
            let near = offsets[points.start] < offsets[points.end];
            changed |= near && !*coupled;
            *coupled |= near;
        }
        changed
    }

    /// Bodies that meet nothing go to their targets.
    pub(super) fn let_bodies_go(&mut self, system: &System, x: &SafePositions) {
        if self.work.coupled_bodies.iter().all(|c| *c) {
            return;
        }
        self.bodies.stay(&self.work.coupled_bodies);
        self.bodies.propose(system, &self.work.base, self.dx.edit());
        let request = Request {
            moved: &self.bodies.points,
            turns: self.bodies.turns(system, &self.work.base),
            ..Request::default()
        };
        self.planar.apply(x.as_slice(), &self.detection, &mut self.dx, &request);
        for (coupled, stopped) in self.work.coupled_bodies.iter_mut().zip(self.bodies.stopped(&self.planar)) {
            *coupled |= stopped;
        }
        self.bodies.accept(&self.planar, true);
        self.place();
        self.list_unknowns(system);
    }

    /// Lists the couplings of the unknowns that are no points.
    pub(super) fn list_couplings(&mut self, system: &System, unknowns: &Unknowns) {
        self.couplings.pairs.clear();
        self.couplings.centers.clear();
        if unknowns.first > 0 {
            self.couplings.centers = self.bodies.centers();
            self.bodies.couplings(system, unknowns, &mut self.couplings.pairs);
        }
    }

    /// Adds what the unknowns beside the points have of their own to the derivatives.
    pub(super) fn add_beside(&mut self, system: &System, unknowns: &Unknowns, phase: &Phase<'_>) {
        if unknowns.of_body.iter().any(|u| *u != NONE) {
            let terms = self.bodies.terms(system, 1.0 / (phase.h * phase.h));
            terms.add(unknowns, &self.work.current, &mut self.body_system, &mut self.derivatives);
        }
    }

    /// Their part of the objective.
    pub(super) fn value_beside(&self, system: &System, phase: &Phase<'_>) -> Value {
        let (sum, scale) = match self.bodies.is_empty() {
            true => (0.0, 0.0),
            false => self.bodies.terms(system, 1.0 / (phase.h * phase.h)).value(&self.work.current),
        };
        Value { sum, scale }
    }

    /// Longest move of the direction [m].
    pub(super) fn longest(&self, system: &System, unknowns: &Unknowns) -> f64 {
        let p = &self.direction.p;
        let points = p[unknowns.first..].iter().map(|p| p.length()).fold(0.0, f64::max);
        points.max(self.bodies.longest(system, unknowns, p))
    }

    fn save(&self) -> Saved {
        Saved { dx: self.dx.clone(), bodies: self.bodies.stand() }
    }

    fn come_back(&mut self, saved: &Saved) {
        self.dx.clone_from(&saved.dx);
        self.bodies.come_back(&saved.bodies);
        self.place();
    }

    /// Proposes a share of the direction and takes what truncation leaves of it; the second number is the smallest
    /// fraction that anything kept [–].
    fn try_share(
        &mut self,
        system: &System,
        x: &SafePositions,
        unknowns: &Unknowns,
        (saved, share): (&Saved, f64),
    ) -> (Cut, f64) {
        let p = &self.direction.p;
        let proposals = self.dx.edit();
        for (&v, p) in unknowns.points.iter().zip(&p[unknowns.first..]) {
            proposals[v as usize] = saved.dx.accepted()[v as usize] + share * *p;
        }
        self.bodies.set_ways(unknowns, p, share);
        self.bodies.propose(system, &self.work.base, self.dx.edit());
        let mut moved = unknowns.points.clone();
        let of_body = unknowns.of_body.iter().zip(&system.bodies.list).filter(|(u, _)| **u != NONE);
        moved.extend(of_body.flat_map(|(_, body)| body.points().map(|v| v as u32)));
        let request = Request {
            moved: &moved,
            turns: self.bodies.turns(system, &self.work.base),
            ..Request::default()
        };
        let cut = self.truncator.apply(x.as_slice(), &self.detection, &mut self.dx, &request);
        let mut kept = self.bodies.least_kept(&self.truncator);
        for (&v, p) in unknowns.points.iter().zip(&p[unknowns.first..]) {
            let way = share * p.length();
            if way > 0.0 {
                let v = v as usize;
                kept = kept.min(self.dx.accepted()[v].distance(saved.dx.accepted()[v]) / way);
            }
        }
        self.bodies.accept(&self.truncator, false);
        self.place();
        (cut, kept)
    }

    /// Moves along the direction as far as truncation and the objective allow. The value is `None` when nothing
    /// lowers it.
    pub(super) fn descend_beside(
        &mut self,
        system: &System,
        x: &mut SafePositions,
        objective: &Objective<'_>,
        phase: &Phase<'_>,
        known: Option<Value>,
        report: &mut StepReport,
    ) -> (Cut, Option<Value>) {
        let unknowns = objective.unknowns;
        let before = known.unwrap_or_else(|| self.value(system, objective, phase));
        let mut saved = self.save();
        let whole = BodyPhase::allowed_share(unknowns, &self.direction.p);
        let (mut share, mut first, mut cut) = (whole, None, Cut::default());
        for _ in 0..HALVINGS {
            let start = Instant::now();
            let (trial, kept) = self.try_share(system, x, unknowns, (&saved, share));
            let is_cut = trial.truncated + trial.bounded > 0;
            report.phases.truncate += start.elapsed().as_secs_f64();
            cut = *first.get_or_insert(trial);
            let start = Instant::now();
            let after = self.value(system, objective, phase);
            report.phases.forces += start.elapsed().as_secs_f64();
            self.room_is_used |= is_cut;
            if after.sum <= before.sum + ROUNDING * before.scale {
                if share == 1.0 && self.bodies.has_joints(system) {
                    self.bodies.settle_joints(system, &self.work.current, &self.truncator);
                    return (cut, Some(self.value(system, objective, phase)));
                }
                return (cut, Some(after));
            }
            self.come_back(&saved);
            // Room that was used up is found anew.
            if is_cut && share == whole && self.dx.accepted().iter().any(|d| *d != Vec3::ZERO) {
                self.detect_ahead(system, x, report);
                self.room_is_used = false;
                saved = self.save();
                if self.work.unknowns != *unknowns {
                    return (cut, None);
                }
                continue;
            }
            share *= if is_cut { (BELOW * kept).max(LEAST) } else { 0.5 };
        }
        (cut, None)
    }
}

#[cfg(test)]
mod tests;
