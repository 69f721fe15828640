//! The rigid bodies within a step of Newton's method, where they are unknowns beside the points.

use super::{BodyPhase, LARGEST_TURN};
use crate::body::Pose;
use crate::model::Snapshot;
use crate::safe::Detection;
use crate::solver::body_terms::BodyTerms;
use crate::solver::sparse::{NONE, Unknowns};
use crate::system::System;
use crate::truncation::Truncator;
use crate::truncation::curved::Curve;
use littoral_geom::math::Vec3;

/// Where bodies are, to come back to.
#[derive(Clone, Debug, Default)]
pub struct Stand {
    poses: Vec<Pose>,
    left: Vec<Vec3>,
}

impl BodyPhase {
    /// As `begin`; what is wanted is free flight, to the end.
    pub fn begin_newton(&mut self, system: &System, state: &Snapshot, h: f64, y: &mut [Vec3]) {
        self.has_energy = true;
        self.begin(system, state, h, y);
        self.guesses.clear();
        self.guesses.extend(self.targets.iter().map(|t| t.center));
    }

    /// Bodies that something other than contact acts on: joints, and elements at their points.
    pub fn tied(&self, system: &System) -> Vec<bool> {
        let mut tied = vec![false; system.bodies.list.len()];
        for b in system.joints.list.iter().flat_map(|j| j.sides.iter().filter_map(|s| s.body())) {
            tied[b] = true;
        }
        for (b, _) in self.linked.iter().filter_map(|&v| system.bodies.at(v as usize)) {
            tied[b] = true;
        }
        tied
    }

    /// Couplings between the unknowns of bodies: those of a body, and those of joints.
    pub fn couplings(&self, system: &System, unknowns: &Unknowns, pairs: &mut Vec<(u32, u32)>) {
        let of = |b: usize| unknowns.of_body[b];
        pairs.extend(unknowns.of_body.iter().filter(|u| **u != NONE).map(|&u| (u, u + 1)));
        for joint in &system.joints.list {
            let [Some(a), Some(b)] = joint.sides.map(|s| s.body()) else { continue };
            let (a, b) = (of(a).min(of(b)), of(a).max(of(b)));
            if b != NONE {
                pairs.extend([(a, b), (a, b + 1), (a + 1, b), (a + 1, b + 1)]);
            }
        }
    }

    /// Centres [m].
    pub fn centers(&self) -> Vec<Vec3> {
        self.poses.iter().map(|p| p.center).collect()
    }

    /// What the bodies add to the objective, in a step with 1/h² [1/s²].
    pub fn terms<'a>(&'a self, system: &'a System, inverse_h2: f64) -> BodyTerms<'a> {
        BodyTerms {
            bodies: &system.bodies,
            joints: &system.joints,
            rows: &self.joints,
            poses: &self.poses,
            targets: &self.targets,
            left: &self.left,
            inverse_h2,
        }
    }

    /// Joints hold something.
    pub fn has_joints(&self, system: &System) -> bool {
        !system.joints.list.is_empty()
    }

    /// Where they are.
    pub fn stand(&self) -> Stand {
        Stand { poses: self.poses.clone(), left: self.left.clone() }
    }

    /// Back to where they were.
    pub fn come_back(&mut self, stand: &Stand) {
        self.poses.clone_from(&stand.poses);
        self.left.clone_from(&stand.left);
        self.curves.fill(None);
    }

    /// Takes the ways of `bodies` back.
    pub fn stay(&mut self, bodies: &[bool]) {
        self.curves.iter_mut().zip(bodies).filter(|(_, stays)| **stays).for_each(|(c, _)| *c = None);
    }

    /// Largest share of the direction `p` in which no body turns farther than a linear model is good for [–].
    pub fn allowed_share(unknowns: &Unknowns, p: &[Vec3]) -> f64 {
        let turn = |u: u32| if u == NONE { 0.0 } else { p[u as usize + 1].length() };
        let largest = unknowns.of_body.iter().map(|&u| turn(u)).fold(0.0, f64::max);
        if largest > LARGEST_TURN { LARGEST_TURN / largest } else { 1.0 }
    }

    /// Sets the ways of a `share` of the direction `p`.
    pub fn set_ways(&mut self, unknowns: &Unknowns, p: &[Vec3], share: f64) {
        for ((curve, pose), &u) in self.curves.iter_mut().zip(&self.poses).zip(&unknowns.of_body) {
            *curve = None;
            if u != NONE {
                let (shift, turn) = (share * p[u as usize], share * p[u as usize + 1]);
                let moves = shift != Vec3::ZERO || turn != Vec3::ZERO;
                *curve = moves.then_some(Curve::new(*pose, shift, turn));
            }
        }
    }

    /// Longest way of a point of a body in the direction `p` [m].
    pub fn longest(&self, system: &System, unknowns: &Unknowns, p: &[Vec3]) -> f64 {
        let way = |(b, &u): (usize, &u32)| match u {
            NONE => 0.0,
            u => p[u as usize].length() + p[u as usize + 1].length() * system.bodies.list[b].radius(),
        };
        unknowns.of_body.iter().enumerate().map(way).fold(0.0, f64::max)
    }

    /// Writes where the ways end, from `x` [m].
    pub fn want_ways(&self, system: &System, x: &[Vec3], wanted: &mut [Vec3]) {
        for (body, curve) in system.bodies.list.iter().zip(&self.curves) {
            let Some(curve) = curve else { continue };
            let end = curve.at(1.0);
            for (r, v) in body.shape.iter().zip(body.points()) {
                wanted[v] = end.place(*r) - x[v];
            }
        }
    }

    /// All ways stay inside the budgets.
    pub fn fit(&self, system: &System, detection: &Detection, base: &[Vec3]) -> bool {
        system.bodies.list.iter().zip(&self.curves).all(|(body, curve)| {
            let Some(curve) = curve else { return true };
            let end = curve.at(1.0);
            body.shape.iter().zip(body.points()).all(|(r, v)| {
                let (from, to) = (curve.start.place(*r) - base[v], end.place(*r) - base[v]);
                detection.budget[v].holds_way((from, to), curve.bulge(*r))
            })
        })
    }

    /// True for bodies that have a way and did not go all of it.
    pub fn stopped(&self, truncator: &Truncator) -> Vec<bool> {
        let curves = self.curves.iter().enumerate();
        curves.map(|(b, c)| c.is_some() && truncator.body_fraction(b) < 1.0).collect()
    }
}
