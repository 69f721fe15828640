//! The rows of joints in the Newton system of the bodies: augmented Lagrangians.
//!
//! A row c(pose) = 0 adds λ·c + ½K c² to the objective; after each sweep λ ← λ + K c, kept within the bounds of the row.
//! K is a multiple of the inertia of the two sides over h², so that a sweep leaves c a hundredth of what free motion
//! would make of it, and λ the rest: forces do not show as gaps. λ is a force [N] or torque [N m] and is remembered from
//! step to step.
//!
//! * Place: c = p_a − p_b.
//! * Turn, for fixed joints: c = log(R_a R_bᵀ).
//! * Axis, for hinges: c = n_b × n_a, across the axis. By the turn δ of a against b it changes by δ − (δ·n)n.
//! * Limits and motor: α, the angle about the axis, counted through whole turns; 0 ≤ λ for limits, |λ| ≤ torque for the
//!   motor, whose row is α − αⁿ − h ω.
//! * Distance: c = |p_a − p_b| − l, λ ≥ 0 for ropes.

mod energy;

use super::bodies::BodySystem;
use crate::body::{Bodies, Pose, log_near};
use crate::joint::{Joint, JointKind, Joints, Side};
use crate::potential::{Potential, Spring};
use littoral_geom::math::{Mat3, Vec3, outer};
use littoral_geom::svd::symmetric_eigen;
use std::f64::consts::TAU;

/// K in units of the inertia of both sides over h². Larger: gaps close in fewer sweeps, and large islands are solved
/// less exactly in each. Smaller: the reverse.
const STIFFNESS: f64 = 100.0;

/// Numbers that a joint remembers.
pub const JOINT_MEMORY: usize = 10;

/// What a joint remembers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Multipliers {
    /// Force at the place [N].
    place: Vec3,
    /// Torque, in the axes of the second side [N m].
    turn: Vec3,
    /// Angle of a hinge at the last step's end [rad].
    angle: f64,
    /// Torques of the upper less the lower limit [N m].
    limit: f64,
    /// Torque of the motor [N m].
    motor: f64,
    /// Pull of a distance [N].
    pull: f64,
}

impl Multipliers {
    fn read(m: &[f64]) -> Self {
        let v = |k: usize| Vec3::new(m[k], m[k + 1], m[k + 2]);
        Multipliers { place: v(0), turn: v(3), angle: m[6], limit: m[7], motor: m[8], pull: m[9] }
    }

    fn write(&self, m: &mut [f64]) {
        m[0..3].copy_from_slice(&self.place.to_array());
        m[3..6].copy_from_slice(&self.turn.to_array());
        m[6..10].copy_from_slice(&[self.angle, self.limit, self.motor, self.pull]);
    }
}

/// A joint in one place.
struct Stand {
    poses: [Pose; 2],
    /// Places in the world [m].
    at: [Vec3; 2],
    /// K of places [N/m] and turns [N m].
    stiff: (f64, f64),
}

/// The rows of all joints within a step.
#[derive(Clone, Debug, Default)]
pub struct JointRows {
    multipliers: Vec<Multipliers>,
    /// Angles of hinges at the start of the step [rad].
    angles: Vec<f64>,
    /// Springs, with the lengths at the start of the step.
    springs: Vec<Option<Spring>>,
    h: f64,
}

/// Angle of the first side against the second about the axis [rad], nearest to `near`.
fn angle(axis: Vec3, poses: &[Pose; 2], near: f64) -> f64 {
    let across = axis.any_orthonormal_vector();
    let (n, a, b) = (poses[1].rotation * axis, poses[0].rotation * across, poses[1].rotation * across);
    let raw = n.dot(b.cross(a)).atan2(a.dot(b));
    raw + TAU * ((near - raw) / TAU).round()
}

/// Torque of the limits [N m] at the angle, and whether it acts: positive at the upper one.
fn limited(limits: [f64; 2], angle: f64, multiplier: f64, stiffness: f64) -> (f64, bool) {
    let upper = multiplier.max(0.0) + stiffness * (angle - limits[1]);
    let lower = multiplier.min(0.0) + stiffness * (angle - limits[0]);
    if upper > 0.0 {
        (upper, true)
    } else if lower < 0.0 {
        (lower, true)
    } else {
        (0.0, false)
    }
}

impl JointRows {
    /// Begins a step of `h` [s] at the given poses and points `x` [m].
    pub fn begin(&mut self, joints: &Joints, memory: &[f64], poses: &[Pose], x: &[Vec3], h: f64) {
        self.h = h;
        let numbers = &memory[joints.memory..];
        self.multipliers.clear();
        self.multipliers
            .extend(numbers.chunks_exact(JOINT_MEMORY).take(joints.list.len()).map(Multipliers::read));
        self.angles.clear();
        self.angles.extend(self.multipliers.iter().map(|m| m.angle));
        self.springs.clear();
        self.springs.extend(joints.list.iter().map(|joint| {
            let JointKind::Spring { length, stiffness, damping } = joint.kind else { return None };
            // The builder has made sure of the numbers.
            let mut spring = Spring::new(length, stiffness, damping).ok()?;
            spring.lag(&joint.ends(poses, x), h);
            Some(spring)
        }));
    }

    fn stand(&self, joint: &Joint, bodies: &Bodies, poses: &[Pose], x: &[Vec3]) -> Stand {
        let inertia = |side: &Side| match side.body() {
            Some(b) => (bodies.list[b].mass, bodies.list[b].moments.max_element()),
            None => (0.0, 0.0),
        };
        let (a, b) = (inertia(&joint.sides[0]), inertia(&joint.sides[1]));
        let scale = STIFFNESS / (self.h * self.h);
        Stand {
            poses: [joint.sides[0].pose(poses, x), joint.sides[1].pose(poses, x)],
            at: joint.ends(poses, x),
            stiff: (scale * (a.0 + b.0), scale * (a.1 + b.1)),
        }
    }

    /// Adds gradient and Hessian of every row at the given poses, with the points at `x` [m].
    pub fn add(&self, joints: &Joints, bodies: &Bodies, poses: &[Pose], x: &[Vec3], system: &mut BodySystem) {
        for (k, joint) in joints.list.iter().enumerate() {
            let s = self.stand(joint, bodies, poses, x);
            let m = &self.multipliers[k];
            let sides = [joint.sides[0].body(), joint.sides[1].body()];
            let mut place = |gradient: Vec3, hessian: &Mat3| {
                match sides {
                    [Some(a), Some(b)] => system.add_pair((a, s.at[0]), (b, s.at[1]), gradient, hessian),
                    [Some(a), None] => system.add_point(a, s.at[0], gradient, hessian),
                    [None, Some(b)] => system.add_point(b, s.at[1], -gradient, hessian),
                    [None, None] => {}
                }
                for (side, sign) in [(0, 1.0), (1, -1.0)] {
                    if let Some(b) = sides[side] {
                        let lever = s.at[side] - s.poses[side].center;
                        system.add_turn(b, Vec3::ZERO, &swing(sign * gradient, lever));
                    }
                }
            };
            match joint.kind {
                JointKind::Ball | JointKind::Fixed | JointKind::Hinge { .. } => {
                    let gradient = m.place + s.stiff.0 * (s.at[0] - s.at[1]);
                    place(gradient, &Mat3::from_diagonal(Vec3::splat(s.stiff.0)));
                }
                JointKind::Distance { length, slack } => {
                    let between = s.at[0] - s.at[1];
                    let (l, n) = (between.length(), between.normalize_or_zero());
                    let pull = m.pull + s.stiff.0 * (l - length);
                    if !(slack && pull <= 0.0) {
                        let nn = outer(n, n);
                        let across = (pull / l.max(f64::MIN_POSITIVE)).clamp(0.0, s.stiff.0);
                        place(pull * n, &(nn * s.stiff.0 + (Mat3::IDENTITY - nn) * across));
                    }
                }
                JointKind::Spring { .. } => {
                    if let Some(spring) = &self.springs[k] {
                        let (gradient, hessian) = spring.block(&s.at, 0);
                        place(gradient, &hessian);
                    }
                }
            }
            let mut turn = |gradient: Vec3, hessian: &Mat3| match sides {
                [Some(a), Some(b)] => system.add_turn_pair(a, b, gradient, hessian),
                [Some(a), None] => system.add_turn(a, gradient, hessian),
                [None, Some(b)] => system.add_turn(b, -gradient, hessian),
                [None, None] => {}
            };
            match joint.kind {
                JointKind::Fixed => {
                    let torque = s.poses[1].rotation * m.turn + s.stiff.1 * twist(&s.poses);
                    turn(torque, &Mat3::from_diagonal(Vec3::splat(s.stiff.1)));
                }
                JointKind::Hinge { axis, .. } => {
                    let n = s.poses[1].rotation * axis;
                    let off = n.cross(s.poses[0].rotation * axis);
                    let torque = s.poses[1].rotation * m.turn + s.stiff.1 * off;
                    turn(torque, &((Mat3::IDENTITY - outer(n, n)) * s.stiff.1));
                    let (about, stiffness) = self.about_axis(k, joint, &s);
                    if about != 0.0 || stiffness != 0.0 {
                        turn(about * n, &(outer(n, n) * stiffness));
                    }
                }
                JointKind::Ball | JointKind::Distance { .. } | JointKind::Spring { .. } => {}
            }
        }
    }

    /// Torque of limits and motor about the axis of a hinge [N m], as a gradient, and its stiffness [N m].
    fn about_axis(&self, k: usize, joint: &Joint, s: &Stand) -> (f64, f64) {
        let JointKind::Hinge { axis, limits, motor } = joint.kind else { return (0.0, 0.0) };
        let m = &self.multipliers[k];
        let now = angle(axis, &s.poses, m.angle);
        let (mut torque, acts) = limited(limits, now, m.limit, s.stiff.1);
        let mut stiffness = if acts { s.stiff.1 } else { 0.0 };
        if let Some(motor) = motor {
            let wanted = m.motor + s.stiff.1 * (now - self.angles[k] - self.h * motor.speed);
            torque += wanted.clamp(-motor.torque, motor.torque);
            if wanted.abs() < motor.torque {
                stiffness += s.stiff.1;
            }
        }
        (torque, stiffness)
    }

    /// Moves the multipliers of the joints whose bodies went where they were sent.
    pub fn update(
        &mut self,
        joints: &Joints,
        bodies: &Bodies,
        poses: &[Pose],
        x: &[Vec3],
        went: impl Fn(usize) -> bool,
    ) {
        for (k, joint) in joints.list.iter().enumerate() {
            let s = self.stand(joint, bodies, poses, x);
            let start = self.angles[k];
            let h = self.h;
            let m = &mut self.multipliers[k];
            if let JointKind::Hinge { axis, .. } = joint.kind {
                m.angle = angle(axis, &s.poses, m.angle);
            }
            // A body that something stops would wind the multipliers up.
            if !joint.sides.iter().filter_map(Side::body).all(&went) {
                continue;
            }
            match joint.kind {
                JointKind::Ball => m.place += s.stiff.0 * (s.at[0] - s.at[1]),
                JointKind::Fixed => {
                    m.place += s.stiff.0 * (s.at[0] - s.at[1]);
                    m.turn += s.poses[1].rotation.conjugate() * (s.stiff.1 * twist(&s.poses));
                }
                JointKind::Hinge { axis, limits, motor } => {
                    m.place += s.stiff.0 * (s.at[0] - s.at[1]);
                    let n = s.poses[1].rotation * axis;
                    let off = n.cross(s.poses[0].rotation * axis);
                    m.turn += s.poses[1].rotation.conjugate() * (s.stiff.1 * off);
                    m.turn -= m.turn.dot(axis) * axis;
                    m.limit = limited(limits, m.angle, m.limit, s.stiff.1).0;
                    if let Some(motor) = motor {
                        let wanted = m.motor + s.stiff.1 * (m.angle - start - h * motor.speed);
                        m.motor = wanted.clamp(-motor.torque, motor.torque);
                    }
                }
                JointKind::Distance { length, slack } => {
                    let pull = m.pull + s.stiff.0 * (s.at[0].distance(s.at[1]) - length);
                    m.pull = if slack { pull.max(0.0) } else { pull };
                }
                JointKind::Spring { .. } => {}
            }
        }
    }

    /// Writes what is remembered.
    pub fn finish(&self, joints: &Joints, memory: &mut [f64]) {
        let numbers = &mut memory[joints.memory..];
        for (m, numbers) in self.multipliers.iter().zip(numbers.chunks_exact_mut(JOINT_MEMORY)) {
            m.write(numbers);
        }
    }
}

/// Curvature by the turn of a body of the work of a gradient `f` [N] at the lever `r` [m]: as it turns, the place moves by
/// θ × r + ½ θ × (θ × r), which gives ½(f rᵀ + r fᵀ) − (f·r) 1. Its positive part: a link under tension swings back like
/// a pendulum, which is far stiffer than its inertia once the tension is that of many links.
fn swing(f: Vec3, r: Vec3) -> Mat3 {
    let whole = (outer(f, r) + outer(r, f)) * 0.5 - Mat3::from_diagonal(Vec3::splat(f.dot(r)));
    let (values, axes) = symmetric_eigen(whole);
    axes * Mat3::from_diagonal(values.max(Vec3::ZERO)) * axes.transpose()
}

/// Rotation vector of the first side against the second [rad].
fn twist(poses: &[Pose; 2]) -> Vec3 {
    log_near(poses[0].rotation * poses[1].rotation.conjugate(), Vec3::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::exp;
    use std::f64::consts::PI;

    #[test]
    fn the_angle_of_a_hinge_is_counted_through_whole_turns() {
        let axis = Vec3::new(0.2, -0.5, 1.0).normalize();
        let second = Pose { center: Vec3::ZERO, rotation: exp(Vec3::new(0.3, 1.0, -0.4)) };
        let mut near = 0.0;
        for k in 0..200 {
            let turned = 0.1 * f64::from(k);
            let first = Pose { center: Vec3::ZERO, rotation: second.rotation * exp(turned * axis) };
            near = angle(axis, &[first, second], near);
            // Roundings of unit quaternions, over sums up to 20.
            assert!((near - turned).abs() < 1e-13, "{near} against {turned}");
        }
    }

    #[test]
    fn a_limit_pushes_back_only_beyond_it_and_lets_go_again() {
        let limits = [-0.5, PI];
        assert_eq!(limited(limits, 0.2, 0.0, 10.0), (0.0, false));
        assert_eq!(limited(limits, PI + 0.1, 0.0, 10.0).0, 10.0 * (PI + 0.1 - PI));
        assert!(limited(limits, -0.6, 0.0, 10.0).0 < 0.0);
        // A remembered torque is given up when the hinge has swung away by what it stands for.
        assert_eq!(limited(limits, PI - 0.2, 1.0, 10.0), (0.0, false));
        assert!(limited(limits, PI - 0.05, 1.0, 10.0).0 > 0.0);
    }

    /// The curvature of f·(exp(θ) r) by θ, where it is positive.
    #[test]
    fn a_pull_along_the_lever_swings_like_a_pendulum_and_a_push_not_at_all() {
        let r = Vec3::new(0.3, -0.1, 0.2);
        let n = r.normalize();
        let pulled = swing(-5.0 * n, r);
        let expected = (Mat3::IDENTITY - outer(n, n)) * (5.0 * r.length());
        assert!(pulled.abs_diff_eq(expected, 1e-14), "{pulled}");
        assert!(swing(5.0 * n, r).abs_diff_eq(Mat3::ZERO, 1e-14));
        // Elsewhere it bounds the second difference from above.
        let f = Vec3::new(-4.0, 2.0, 1.0);
        let (curvature, e) = (swing(f, r), 1e-4);
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            let work = |t: f64| f.dot(exp(t * axis) * r);
            let second = (work(e) - 2.0 * work(0.0) + work(-e)) / (e * e);
            // Rounding of the difference: 1e-16 over 1e-8.
            assert!(second <= axis.dot(curvature * axis) + 1e-6, "{second}");
        }
    }

    #[test]
    fn what_a_joint_remembers_survives_to_the_bit() {
        let m = Multipliers {
            place: Vec3::new(1.0, -2.0, 0.1),
            turn: Vec3::new(0.3, 0.2, -0.7),
            angle: 7.1,
            limit: -0.2,
            motor: 0.4,
            pull: 3.0,
        };
        let mut numbers = [0.0; JOINT_MEMORY];
        m.write(&mut numbers);
        assert_eq!(Multipliers::read(&numbers), m);
    }
}
