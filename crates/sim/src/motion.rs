//! Prescribed motion of colliders and pinned vertices, as a function of time.

use littoral_geom::math::{Quat, Vec3};

/// A pose of a keyframed motion: `x ↦ center + position + R (x − center)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Keyframe {
    /// Time [s].
    pub time: f64,
    /// Translation from the initial place [m].
    pub position: Vec3,
    /// Rotation about `Motion::Keyframes::center`.
    pub rotation: Quat,
}

/// Where a prescribed point goes.
#[derive(Clone, Debug, PartialEq)]
pub enum Motion {
    /// Stays where it starts.
    Static,
    /// Poses, linearly interpolated (rotations by slerp), held before the first and after the last.
    Keyframes {
        /// Centre of rotation [m].
        center: Vec3,
        /// Poses by increasing time; never empty.
        keys: Vec<Keyframe>,
    },
    /// Constant velocity and spin between two times: a screw motion.
    Twist {
        /// Centre of rotation at the start [m].
        center: Vec3,
        /// Angular velocity vector [rad/s].
        spin: Vec3,
        /// Linear velocity [m/s].
        velocity: Vec3,
        /// Begin [s].
        start: f64,
        /// End [s]; may be infinite.
        stop: f64,
    },
    /// Whole vertex positions at given times, linearly interpolated.
    Sequence {
        /// Times [s], increasing; never empty.
        times: Vec<f64>,
        /// Positions at each time (n of the moved points each) [m].
        positions: Vec<Vec<Vec3>>,
    },
}

impl Motion {
    /// Position at `time` of the moved point with index `i` that starts at `x0`.
    pub fn position(&self, time: f64, i: usize, x0: Vec3) -> Vec3 {
        match self {
            Motion::Static => x0,
            Motion::Keyframes { center, keys } => {
                let (p, q) = interpolate(keys, time);
                *center + p + q * (x0 - *center)
            }
            Motion::Twist { center, spin, velocity, start, stop } => {
                let t = (time.min(*stop) - start).max(0.0);
                *center + *velocity * t + Quat::from_scaled_axis(*spin * t) * (x0 - *center)
            }
            Motion::Sequence { times, positions } => {
                let k = times.partition_point(|&t| t <= time);
                if k == 0 {
                    return positions[0][i];
                }
                if k == times.len() {
                    return positions[k - 1][i];
                }
                let s = (time - times[k - 1]) / (times[k] - times[k - 1]);
                positions[k - 1][i].lerp(positions[k][i], s)
            }
        }
    }

    /// Pose (translation, rotation) of a keyframed motion at `time`: `x ↦ center + p + R (x − center)`; `None` for the
    /// other motions.
    pub fn keyframed_pose(&self, time: f64) -> Option<(Vec3, Quat)> {
        match self {
            Motion::Keyframes { keys, .. } => Some(interpolate(keys, time)),
            Motion::Static | Motion::Twist { .. } | Motion::Sequence { .. } => None,
        }
    }

    /// Rotation at `time` from the start; `None` where the points move each for itself.
    pub fn rotation(&self, time: f64) -> Option<Quat> {
        match self {
            Motion::Static => Some(Quat::IDENTITY),
            Motion::Keyframes { keys, .. } => Some(interpolate(keys, time).1),
            Motion::Twist { spin, start, stop, .. } => {
                Some(Quat::from_scaled_axis(*spin * (time.min(*stop) - start).max(0.0)))
            }
            Motion::Sequence { .. } => None,
        }
    }

    /// An upper estimate of the fastest speed [m/s] that any of the points starting at `x0` is meant to have.
    pub fn top_speed(&self, x0: &[Vec3]) -> f64 {
        let radius = |center: Vec3| x0.iter().map(|p| p.distance(center)).fold(0.0, f64::max);
        match self {
            Motion::Static => 0.0,
            Motion::Keyframes { center, keys } => keys
                .windows(2)
                .map(|k| {
                    let turn = k[0].rotation.angle_between(k[1].rotation) * radius(*center);
                    (k[0].position.distance(k[1].position) + turn) / (k[1].time - k[0].time)
                })
                .fold(0.0, f64::max),
            Motion::Twist { center, spin, velocity, .. } => {
                velocity.length() + spin.length() * radius(*center)
            }
            Motion::Sequence { times, positions } => times
                .windows(2)
                .zip(positions.windows(2))
                .map(|(t, p)| {
                    let farthest = p[0].iter().zip(&p[1]).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
                    farthest / (t[1] - t[0])
                })
                .fold(0.0, f64::max),
        }
    }

    /// True when no point ever moves.
    pub fn is_static(&self) -> bool {
        match self {
            Motion::Static => true,
            Motion::Keyframes { keys, .. } => keys.len() == 1,
            Motion::Twist { spin, velocity, .. } => *spin == Vec3::ZERO && *velocity == Vec3::ZERO,
            Motion::Sequence { times, .. } => times.len() == 1,
        }
    }
}

fn interpolate(keys: &[Keyframe], time: f64) -> (Vec3, Quat) {
    let k = keys.partition_point(|key| key.time <= time);
    if k == 0 {
        return (keys[0].position, keys[0].rotation);
    }
    if k == keys.len() {
        return (keys[k - 1].position, keys[k - 1].rotation);
    }
    let (a, b) = (&keys[k - 1], &keys[k]);
    let s = (time - a.time) / (b.time - a.time);
    (a.position.lerp(b.position, s), a.rotation.slerp(b.rotation, s))
}
