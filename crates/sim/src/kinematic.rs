//! Points whose motion is prescribed: moving colliders and pinned vertices. They move inside the guarantee
//! [Chen 2026, animated degrees of freedom]: each asks for what is left of its way, is truncated like any other
//! point, lags where it must, and catches up.

use crate::motion::Motion;
use littoral_geom::math::{Quat, Vec3};

/// Points that share a motion.
#[derive(Clone, Debug)]
pub struct PrescribedSet {
    /// Its points.
    pub points: Vec<u32>,
    /// Where they start [m].
    pub x0: Vec<Vec3>,
    /// Their motion.
    pub motion: Motion,
    /// Time [s] from which they are free; infinite for never.
    pub release: f64,
    /// A collider: one fraction for all its points, so that it keeps its shape.
    pub rigid: bool,
    /// Object they belong to.
    pub object: u32,
    /// Fastest speed of its motion [m/s].
    pub top_speed: f64,
}

/// A lagging set may go this many times faster than it was ever meant to, to catch up.
const CATCH_UP: f64 = 2.0;

/// Largest turn asked for at once [rad]: points go straight, so that a longer one would shrink the collider on its way.
const LARGEST_TURN: f64 = 0.3;

/// Numbers a set remembers between steps.
pub const MEMORY: usize = 8;

/// Where a set stands on its way: the clock of a steady motion, or the pose of a keyframed collider.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Time of its own motion [s], for twists.
    pub clock: f64,
    /// Translation [m] and rotation, for keyframed colliders.
    pub pose: (Vec3, Quat),
}

impl Progress {
    /// Reads what `write` wrote.
    pub fn read(memory: &[f64]) -> Self {
        let m = memory;
        Progress { clock: m[0], pose: (Vec3::new(m[1], m[2], m[3]), Quat::from_xyzw(m[4], m[5], m[6], m[7])) }
    }

    /// Writes `MEMORY` numbers.
    pub fn write(&self, memory: &mut [f64]) {
        let (p, q) = self.pose;
        memory.copy_from_slice(&[self.clock, p.x, p.y, p.z, q.x, q.y, q.z, q.w]);
    }

    /// The progress after the fraction `kept` of the way to `aim`.
    pub fn towards(&self, aim: &Progress, kept: f64) -> Progress {
        Progress {
            clock: self.clock + kept * (aim.clock - self.clock),
            pose: (self.pose.0.lerp(aim.pose.0, kept), self.pose.1.slerp(aim.pose.1, kept)),
        }
    }
}

impl PrescribedSet {
    /// True while the motion acts.
    pub fn acts(&self, time: f64) -> bool {
        time < self.release
    }

    /// Where it stands before the first step.
    pub fn start(&self) -> Progress {
        Progress { clock: 0.0, pose: self.motion.keyframed_pose(0.0).unwrap_or((Vec3::ZERO, Quat::IDENTITY)) }
    }

    /// Writes what its points want to move [m] in a step from `time` to `time + h`, and returns the progress that
    /// would be.
    ///
    /// A steady turn goes on from where it stands, however late. Anything else heads for where it should be now, so
    /// that it turns back in time when its way is blocked.
    pub fn wants(&self, progress: &Progress, time: f64, h: f64, x: &[Vec3], wanted: &mut [Vec3]) -> Progress {
        let mut aim = *progress;
        let reach = CATCH_UP * self.top_speed * h;
        if self.rigid
            && let Motion::Keyframes { center, .. } = &self.motion
        {
            let target = self.motion.keyframed_pose(time + h).unwrap_or(progress.pose);
            let (from, to) = (progress.pose, target);
            let angle = from.1.angle_between(to.1);
            let way = from.0.distance(to.0) + angle * self.radius(*center);
            let share = 1.0_f64.min(reach / way).min(LARGEST_TURN / angle);
            // 0/0 where nothing is left to do.
            let share = if share.is_nan() { 1.0 } else { share };
            aim.pose = (from.0.lerp(to.0, share), from.1.slerp(to.1, share));
            for (&v, &p) in self.points.iter().zip(&self.x0) {
                wanted[v as usize] = *center + aim.pose.0 + aim.pose.1 * (p - *center) - x[v as usize];
            }
            return aim;
        }
        if self.rigid && matches!(self.motion, Motion::Twist { .. }) {
            aim.clock = (progress.clock + CATCH_UP * h).min(time + h);
            for (k, &v) in self.points.iter().enumerate() {
                wanted[v as usize] = self.target(k, aim.clock) - x[v as usize];
            }
            return aim;
        }
        aim.clock = time + h;
        for (k, &v) in self.points.iter().enumerate() {
            wanted[v as usize] = (self.target(k, aim.clock) - x[v as usize]).clamp_length_max(reach);
        }
        aim
    }

    fn radius(&self, center: Vec3) -> f64 {
        self.x0.iter().map(|p| p.distance(center)).fold(0.0, f64::max)
    }

    /// Target of its `k`-th point at time `t` of its motion [m].
    pub fn target(&self, k: usize, t: f64) -> Vec3 {
        self.motion.position(t, k, self.x0[k])
    }

    /// Largest distance of its points from their targets at time `t` [m].
    pub fn lag(&self, x: &[Vec3], t: f64) -> f64 {
        self.points
            .iter()
            .enumerate()
            .map(|(k, &v)| x[v as usize].distance(self.target(k, t)))
            .fold(0.0, f64::max)
    }
}
