//! The rigid bodies within a step: inertial targets, the initial guess, and their Newton step in each sweep.
//!
//! The target of a body is where it would be without contact: R* comes from its free rotation, followed in detail. What
//! a step does to the rotation is measured from there, R = exp(δ) R*, counted through whole turns; the angular momentum
//! changes by I δ/h and by nothing else, as the velocity changes by (c − c*)/h.

mod newton;

pub(super) use newton::Stand;

use crate::body::{BodyState, Pose, RigidBody, exp, free, log_near};
use crate::contact::{Contact, NO_SLOT};
use crate::model::Snapshot;
use crate::report::Energies;
use crate::safe::Detection;
use crate::solver::bodies::{BodyMove, BodySystem};
use crate::solver::body_terms::turn_gradient;
use crate::solver::descent::Objective;
use crate::solver::joints::JointRows;
use crate::system::System;
use crate::truncation::Truncator;
use crate::truncation::curved::{Curve, Turns};
use littoral_geom::math::{Mat3, Vec3};
use rayon::prelude::*;

/// Largest turn of one Newton step [rad]: beyond it the linear model of a turn says nothing.
const LARGEST_TURN: f64 = 0.5;

/// Bodies within a step. Forgetting it between steps changes no result.
#[derive(Debug, Default)]
pub struct BodyPhase {
    /// States at the start of the step.
    starts: Vec<BodyState>,
    /// Accepted poses, with the frames of the last detection.
    poses: Vec<Pose>,
    /// Poses of free flight.
    targets: Vec<Pose>,
    /// Centre of the initial guess [m]; its rotation is that of the target.
    guesses: Vec<Vec3>,
    /// Rotation vector from the target to the accepted pose [rad].
    left: Vec<Vec3>,
    /// Ways of the current proposal.
    curves: Vec<Option<Curve>>,
    /// All points of bodies.
    pub points: Vec<u32>,
    /// Those that belong to elastic elements.
    linked: Vec<u32>,
    newton: BodySystem,
    joints: JointRows,
    moves: Vec<BodyMove>,
    /// The step minimises an energy: a turn's inertia is the slope of that.
    has_energy: bool,
}

/// What one contact does to the bodies of its two sides.
struct Touch {
    sides: [Option<usize>; 2],
    ends: [Vec3; 2],
    gradient: Vec3,
    hessian: Mat3,
}

impl BodyPhase {
    /// Lists the points of bodies.
    pub fn new(system: &System) -> Self {
        let points: Vec<u32> = system.bodies.list.iter().flat_map(|b| b.points()).map(|v| v as u32).collect();
        let linked =
            points.iter().copied().filter(|&v| !system.neighbours.row(v as usize).is_empty()).collect();
        BodyPhase { points, linked, ..BodyPhase::default() }
    }

    /// True without bodies.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Targets and guesses of a step of size `h` [s]; the targets of the points go to `y` [m].
    pub fn begin(&mut self, system: &System, state: &Snapshot, h: f64, y: &mut [Vec3]) {
        let g = system.gravity;
        let size = g.length();
        let towards = if size > 0.0 { g / size } else { Vec3::ZERO };
        let bodies = &system.bodies;
        self.starts.clear();
        self.starts.extend((0..bodies.list.len()).map(|b| bodies.state(&state.memory, b)));
        (self.poses, self.targets, self.guesses, self.left) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (body, start) in bodies.list.iter().zip(&self.starts) {
            let BodyState { pose, velocity, momentum, velocity_before } = *start;
            // The part of gravity that the last step really followed, as for any other point.
            let a = (velocity - velocity_before) / h;
            let share = if size > 0.0 { (a.dot(towards) / size).clamp(0.0, 1.0) } else { 0.0 };
            let rotation = free::rotate(body, pose.rotation, momentum, h);
            let target = Pose { center: pose.center + h * velocity + h * h * g, rotation };
            self.guesses.push(pose.center + h * velocity + h * h * share * g);
            let spin = body.spin(pose.rotation, momentum);
            self.left.push(log_near(pose.rotation * rotation.conjugate(), -h * spin));
            self.poses.push(pose);
            self.targets.push(target);
            for (r, y) in body.shape.iter().zip(&mut y[body.points()]) {
                *y = target.place(*r);
            }
        }
        self.curves.clear();
        self.curves.resize(bodies.list.len(), None);
        self.joints.begin(&system.joints, &state.memory, &self.poses, &state.x, h);
    }

    /// Accepted poses, in the frames of the last detection.
    pub fn poses(&self) -> &[Pose] {
        &self.poses
    }

    /// Adds what a fluid does to the bodies, force [N] and torque about the centre [N m], to their targets. It holds
    /// their weight, so that their guess is the target then.
    pub fn push(&mut self, system: &System, pushes: &[(Vec3, Vec3)], h: f64, y: &mut [Vec3]) {
        for (b, &(force, torque)) in pushes.iter().enumerate() {
            if force == Vec3::ZERO && torque == Vec3::ZERO {
                continue;
            }
            let body = &system.bodies.list[b];
            let target = &mut self.targets[b];
            target.center += (h * h / body.mass) * force;
            self.guesses[b] = target.center;
            let turn = h * h * (body.inertia(self.poses[b].rotation).inverse() * torque);
            target.rotation = (exp(turn) * target.rotation).normalize();
            self.starts[b].momentum += h * torque;
            let off = self.poses[b].rotation * target.rotation.conjugate();
            self.left[b] = log_near(off, self.left[b] - turn);
            for (r, y) in body.shape.iter().zip(&mut y[body.points()]) {
                *y = target.place(*r);
            }
        }
    }

    /// Writes what the points of the bodies that are `asked`, by their first points, want to move from `x` [m] to their
    /// guess, and sets the ways there.
    pub fn want(&mut self, system: &System, x: &[Vec3], wanted: &mut [Vec3], asked: impl Fn(u32) -> bool) {
        for (b, body) in system.bodies.list.iter().enumerate().filter(|(_, body)| asked(body.first)) {
            let (pose, guess) =
                (self.poses[b], Pose { center: self.guesses[b], rotation: self.targets[b].rotation });
            let curve = Curve::new(pose, guess.center - pose.center, -self.left[b]);
            let moves = curve.shift != Vec3::ZERO || curve.turn != Vec3::ZERO;
            self.curves[b] = (moves && curve.shift.is_finite() && curve.turn.is_finite()).then_some(curve);
            for (r, v) in body.shape.iter().zip(body.points()) {
                wanted[v] = if self.curves[b].is_some() { guess.place(*r) - x[v] } else { Vec3::ZERO };
            }
        }
    }

    /// Widens the margins [m] by what the wanted ways leave the straight ones.
    pub fn widen(&self, system: &System, margin: &mut [f64]) {
        for &v in &self.points {
            if let Some((b, r)) = system.bodies.at(v as usize)
                && let Some(curve) = &self.curves[b]
            {
                margin[v as usize] += curve.bulge(r);
            }
        }
    }

    /// Takes the frames of a new detection along, for the bodies it `sees` anew, by their first points.
    pub fn enter_frames(&mut self, system: &System, detection: &Detection, sees: impl Fn(u32) -> bool) {
        for (b, body) in system.bodies.list.iter().enumerate().filter(|(_, body)| sees(body.first)) {
            let frame = detection.frame[body.first as usize];
            self.poses[b].center += frame;
            if let Some(curve) = &mut self.curves[b] {
                curve.start = self.poses[b];
                curve.shift -= frame;
            }
        }
    }

    /// Proposes the ends of the ways.
    pub fn propose(&self, system: &System, base: &[Vec3], dx: &mut [Vec3]) {
        for (body, curve) in system.bodies.list.iter().zip(&self.curves) {
            let Some(curve) = curve else { continue };
            let end = curve.at(1.0);
            for (r, v) in body.shape.iter().zip(body.points()) {
                dx[v] = end.place(*r) - base[v];
            }
        }
    }

    /// The ways of the proposal, for the truncation.
    pub fn turns<'a>(&'a self, system: &'a System, base: &'a [Vec3]) -> Option<Turns<'a>> {
        (!self.is_empty()).then_some(Turns { bodies: &system.bodies, curves: &self.curves, base })
    }

    /// Moves the poses by what was kept of each way. The whole of a `guess` ends on the target's rotation.
    pub fn accept(&mut self, truncator: &Truncator, guess: bool) {
        for (b, curve) in self.curves.iter_mut().enumerate() {
            let Some(curve) = curve.take() else { continue };
            let t = truncator.body_fraction(b);
            if t == 0.0 {
                continue;
            }
            if guess && t == 1.0 {
                self.poses[b] = Pose { center: self.guesses[b], rotation: self.targets[b].rotation };
                self.left[b] = Vec3::ZERO;
                continue;
            }
            self.poses[b] = curve.at(t);
            let off = self.poses[b].rotation * self.targets[b].rotation.conjugate();
            self.left[b] = log_near(off, self.left[b] + t * curve.turn);
        }
    }

    /// First points of the bodies that their budgets cut in the last truncation of all their points: the whole of each
    /// waits, however few its points were.
    pub fn waiting<'a>(
        &self,
        system: &'a System,
        truncator: &'a Truncator,
    ) -> impl Iterator<Item = u32> + use<'a> {
        let mut first = 0;
        let waits = move |body: &&RigidBody| {
            let points = first..first + body.points().len();
            first = points.end;
            points.into_iter().any(|k| truncator.stopped_by_box(k))
        };
        system.bodies.list.iter().filter(waits).map(|body| body.first)
    }

    /// Sets the ways of one Newton step of all bodies at the positions `x` [m].
    pub fn newton(&mut self, system: &System, objective: &Objective<'_>, x: &[Vec3]) {
        let bodies = &system.bodies;
        let (poses, targets) = (&self.poses, &self.targets);
        self.newton.begin(poses.iter().map(|p| p.center));
        for (b, body) in bodies.list.iter().enumerate() {
            let weight = body.mass * objective.inverse_h2;
            let inertia = body.inertia(poses[b].rotation) * objective.inverse_h2;
            let gradient = (weight * (poses[b].center - targets[b].center), inertia * self.left[b]);
            self.newton.add_inertia(b, gradient, weight, &inertia);
        }
        for &v in &self.linked {
            if let Some((b, _)) = bodies.at(v as usize) {
                let (gradient, hessian) = objective.elastic.block(v, x);
                self.newton.add_point(b, x[v as usize], gradient, &hessian);
            }
        }
        let touches: Vec<Option<Touch>> = objective
            .contacts
            .all()
            .par_iter()
            .with_min_len(256)
            .map(|contact| touch(system, objective, x, contact))
            .collect();
        for touch in touches.iter().flatten() {
            let Touch { sides, ends, gradient, hessian } = touch;
            match *sides {
                [Some(a), Some(b)] => self.newton.add_pair((a, ends[0]), (b, ends[1]), *gradient, hessian),
                [Some(a), None] => self.newton.add_point(a, ends[0], *gradient, hessian),
                [None, Some(b)] => self.newton.add_point(b, ends[1], -*gradient, hessian),
                [None, None] => {}
            }
        }
        self.joints.add(&system.joints, bodies, poses, x, &mut self.newton);
        self.newton.solve(&mut self.moves);
        for ((curve, m), pose) in self.curves.iter_mut().zip(&self.moves).zip(poses) {
            let moves = m.shift != Vec3::ZERO || m.turn != Vec3::ZERO;
            let share = (LARGEST_TURN / m.turn.length()).min(1.0);
            *curve = moves.then_some(Curve::new(*pose, share * m.shift, share * m.turn));
        }
    }

    /// After a Newton step: lets the forces of joints take over what was left open, where nothing stopped their bodies.
    pub fn settle_joints(&mut self, system: &System, x: &[Vec3], truncator: &Truncator) {
        let went = |b: usize| truncator.body_fraction(b) == 1.0;
        self.joints.update(&system.joints, &system.bodies, &self.poses, x, went);
    }

    /// What turns a body away from its target, times h [kg m²].
    fn gained(&self, system: &System, b: usize) -> Vec3 {
        match self.has_energy {
            true => turn_gradient(&system.bodies, b, &self.targets[b], self.left[b]),
            false => system.bodies.list[b].inertia(self.poses[b].rotation) * self.left[b],
        }
    }

    /// Writes the states at the end of the step, the velocities of the points [m/s] and the energies [J].
    pub fn finish(&self, system: &System, state: &mut Snapshot, h: f64, energies: &mut Energies) {
        for (b, body) in system.bodies.list.iter().enumerate() {
            let (pose, start) = (self.poses[b], &self.starts[b]);
            let momentum = if self.left[b] == Vec3::ZERO {
                start.momentum
            } else {
                start.momentum + self.gained(system, b) / h
            };
            let velocity = (pose.center - start.pose.center) / h;
            let next = BodyState { pose, velocity, momentum, velocity_before: start.velocity };
            let spin = body.spin(pose.rotation, momentum);
            for (r, v) in body.shape.iter().zip(body.points()) {
                state.v[v] = velocity + spin.cross(pose.rotation * *r);
            }
            energies.kinetic += body.kinetic(&next);
            energies.gravity -= body.mass * system.gravity.dot(pose.center);
            system.bodies.write(&mut state.memory, b, &next);
        }
        self.joints.finish(&system.joints, &mut state.memory);
    }
}

/// What a contact does to bodies; `None` if it does not act, or touches none.
fn touch(system: &System, objective: &Objective<'_>, x: &[Vec3], contact: &Contact) -> Option<Touch> {
    let points = contact.points();
    let side = |v: u32| system.bodies.at(v as usize).map(|(b, _)| b);
    let sides = [side(points[0]), side(points[contact.split()])];
    if sides == [None, None] {
        return None;
    }
    if contact.is_beyond(objective.moved) {
        return None;
    }
    let bridge = contact.bridge(x);
    let response = contact.response(&bridge, x, &objective.slip, NO_SLOT)?;
    let ends = contact.ends(&bridge, x);
    Some(Touch { sides, ends, gradient: response.gradient, hessian: response.hessian })
}
