//! Newton's method where not all unknowns are points: rigid bodies go along curves.
//!
//! A direction is taken whole where conservative collision detection along the curves allows it, else cut by the chosen
//! truncation, each point and body along its own way, or by one fraction for all, whichever keeps more of it. Where what is
//! left does not lower the objective, one fraction for all does when it is small enough.

use super::bodies::{BodyPhase, Stand};
use super::newton_ipc::NewtonIpc;
use super::newton_phase::{HALVINGS, Phase, ROUNDING};
use crate::model::Snapshot;
use crate::report::StepReport;
use crate::safe::{Displacement, SafePositions};
use crate::settings::Truncation;
use crate::solver::beside::{Beside, Links};
use crate::solver::newton::Rank;
use crate::solver::objective::{Objective, Value};
use crate::solver::rod_frames::RodFrames;
use crate::solver::sparse::{NONE, Unknowns};
use crate::system::System;
use crate::truncation::{Cut, Request};
use littoral_geom::math::Vec3;
use std::time::Instant;

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
    rods: RodFrames,
}

impl NewtonIpc {
    /// Frames of rods, targets of the bodies, and what they want, for a step of `h` [s].
    pub(super) fn begin_beside(&mut self, system: &System, x: &[Vec3], state: &Snapshot, h: f64) {
        if let Some(rods) = &system.rods {
            self.rods.begin(rods, &system.prescribed, state, h);
            self.list_unknowns(system);
        }
        if self.bodies.is_empty() {
            return;
        }
        self.bodies.begin_newton(system, state, h, &mut self.work.target);
        self.bodies.want(system, x, &mut self.work.wanted, |_| true);
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
            if let Some(rods) = &system.rods {
                self.rods.couplings(rods, unknowns, &mut self.couplings.pairs);
            }
        }
    }

    /// Turns prescribed frames with their sets, and the others with what has moved their ends.
    pub(super) fn turn_frames(&mut self, system: &System, state: &Snapshot) {
        if let Some(rods) = &system.rods {
            self.rods.clamp(rods, &system.prescribed, state);
            self.rods.follow(rods, &self.work.current);
        }
    }

    /// Adds what the unknowns beside the points have of their own to the derivatives, and what closed membranes hold;
    /// returns what of that is no part of the sparse matrix.
    pub(super) fn add_beside(
        &mut self,
        system: &System,
        unknowns: &Unknowns,
        phase: &Phase<'_>,
    ) -> Vec<Rank> {
        let x = &self.work.current;
        if let Some(rods) = &system.rods {
            self.rods.add(rods, unknowns, x, &mut self.derivatives);
        }
        let mut ranks = Vec::new();
        for (chamber, points) in system.chambers.iter().zip(&self.chamber_points) {
            let law = chamber.law(chamber.volume(x));
            let mut slope = vec![Vec3::ZERO; unknowns.len()];
            for &v in points {
                let g = chamber.slope(v, x);
                self.derivatives.gradient[v as usize] += law.first * g;
                if let Some(s) = slope.get_mut(unknowns.of_point[v as usize] as usize) {
                    *s = g;
                }
            }
            ranks.push(Rank { stiffness: law.second, slope });
        }
        if unknowns.of_body.iter().any(|u| *u != NONE) {
            let terms = self.bodies.terms(system, 1.0 / (phase.h * phase.h));
            terms.add(unknowns, &self.work.current, &mut self.body_system, &mut self.derivatives);
        }
        ranks
    }

    /// Their part of the objective.
    pub(super) fn value_beside(&self, system: &System, phase: &Phase<'_>) -> Value {
        let (sum, scale) = match self.bodies.is_empty() {
            true => (0.0, 0.0),
            false => self.bodies.terms(system, 1.0 / (phase.h * phase.h)).value(&self.work.current),
        };
        let x = &self.work.current;
        let rods = system.rods.as_ref().map_or(0.0, |rods| self.rods.value(rods, x));
        let held = chamber_energy(system, x);
        Value { sum: sum + rods + held, scale: scale + rods + held.abs() }
    }

    /// Largest share of the direction in which nothing turns farther than a linear model is good for [–].
    pub(super) fn allowed_share(&self, system: &System, unknowns: &Unknowns) -> f64 {
        let p = &self.direction.p;
        let rods = system.rods.as_ref().map_or(1.0, |rods| self.rods.allowed_share(rods, unknowns, p));
        rods.min(BodyPhase::allowed_share(unknowns, p))
    }

    /// Longest move of the direction [m].
    pub(super) fn longest(&self, system: &System, unknowns: &Unknowns) -> f64 {
        let p = &self.direction.p;
        let points = p[unknowns.first..].iter().map(|p| p.length()).fold(0.0, f64::max);
        let rods = system.rods.as_ref().map_or(0.0, |rods| self.rods.longest(rods, unknowns, p));
        points.max(self.bodies.longest(system, unknowns, p)).max(rods)
    }

    fn save(&self) -> Saved {
        Saved { dx: self.dx.clone(), bodies: self.bodies.stand(), rods: self.rods.clone() }
    }

    fn come_back(&mut self, saved: &Saved) {
        self.dx.clone_from(&saved.dx);
        self.bodies.come_back(&saved.bodies);
        self.rods.clone_from(&saved.rods);
        self.place();
    }

    /// Proposes a share of the direction and takes what is left of it: one fraction for all, or what the chosen truncation
    /// leaves `each`.
    fn try_share(
        &mut self,
        system: &System,
        x: &SafePositions,
        unknowns: &Unknowns,
        (saved, share): (&Saved, f64),
        each: bool,
    ) -> Cut {
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
        let truncator = if each { &mut self.truncator } else { &mut self.uniform };
        let cut = truncator.apply(x.as_slice(), &self.detection, &mut self.dx, &request);
        self.bodies.accept(truncator, false);
        self.place();
        if let Some(rods) = &system.rods {
            self.rods.clone_from(&saved.rods);
            self.rods.advance(rods, unknowns, &self.direction.p, share);
            self.rods.follow(rods, &self.work.current);
        }
        cut
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
        let mut share = self.allowed_share(system, unknowns);
        let cut = self.try_whole(system, x, unknowns, (&mut saved, share), report);
        // Others have come near in the meantime: they are part of the next direction.
        let Some((cut, each)) = cut else { return (Cut::default(), None) };
        let is_whole = share == 1.0;
        for halving in 0..HALVINGS {
            if halving > 0 {
                self.come_back(&saved);
                share *= 0.5;
                let start = Instant::now();
                self.try_share(system, x, unknowns, (&saved, share), false);
                self.without_planes = true;
                report.phases.truncate += start.elapsed().as_secs_f64();
            }
            let start = Instant::now();
            let after = self.value(system, objective, phase);
            report.phases.forces += start.elapsed().as_secs_f64();
            if after.sum <= before.sum + ROUNDING * before.scale {
                self.leave_trail();
                if halving == 0 && is_whole && self.bodies.has_joints(system) {
                    let truncator = if each { &self.truncator } else { &self.uniform };
                    self.bodies.settle_joints(system, &self.work.current, truncator);
                    return (cut, Some(self.value(system, objective, phase)));
                }
                return (cut, Some(after));
            }
        }
        self.come_back(&saved);
        (cut, None)
    }

    /// Notes a turn of the way: between two moves that planes do not bound, points do not go straight.
    fn leave_trail(&mut self) {
        if !self.trail.is_empty() {
            self.trail.push(self.work.current.clone());
        }
    }

    /// Takes a `share` of the direction as far as one fraction for all or the chosen truncation lets it, whichever keeps
    /// more, and whether it was the latter; `None` if the detection that this needs has found more unknowns.
    fn try_whole(
        &mut self,
        system: &System,
        x: &mut SafePositions,
        unknowns: &Unknowns,
        (saved, share): (&mut Saved, f64),
        report: &mut StepReport,
    ) -> Option<(Cut, bool)> {
        let kept = |cut: &Cut| if cut.wanted > 0.0 { cut.kept / cut.wanted } else { 1.0 };
        let mut start = Instant::now();
        let mut cut = self.try_share(system, x, unknowns, (saved, share), false);
        let is_cut = cut.truncated + cut.bounded > 0;
        let mut each = false;
        if is_cut && self.settings.truncation != Truncation::Ccd {
            self.come_back(saved);
            report.phases.truncate += start.elapsed().as_secs_f64();
            if self.without_planes || self.room_is_used {
                self.detect_ahead(system, x, report);
                *saved = self.save();
                self.room_is_used = false;
                if self.work.unknowns != *unknowns {
                    return None;
                }
            }
            start = Instant::now();
            let for_each = self.try_share(system, x, unknowns, (saved, share), true);
            each = kept(&for_each) >= kept(&cut);
            if each {
                cut = for_each;
            } else {
                self.come_back(saved);
                cut = self.try_share(system, x, unknowns, (saved, share), false);
            }
        }
        self.room_is_used |= is_cut;
        self.without_planes |= !each;
        report.phases.truncate += start.elapsed().as_secs_f64();
        Some((cut, each))
    }
}

/// Energy of what closed membranes hold at `x` [J].
pub(super) fn chamber_energy(system: &System, x: &[Vec3]) -> f64 {
    system.chambers.iter().map(|c| c.law(c.volume(x)).energy).sum()
}

#[cfg(test)]
mod tests;
