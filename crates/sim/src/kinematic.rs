//! Points whose motion is prescribed: moving colliders and pinned vertices. They move inside the guarantee
//! [Chen 2026, animated degrees of freedom]: each asks for what is left of its way, is truncated like any other
//! point, lags where it must, and catches up.

use crate::motion::Motion;
use littoral_geom::math::Vec3;

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
}

/// A lagging motion may run this many times faster than written to catch up.
const CATCH_UP: f64 = 2.0;

impl PrescribedSet {
    /// True while the motion acts.
    pub fn acts(&self, time: f64) -> bool {
        time < self.release
    }

    /// The time of its own motion that the set aims at for the end of a step from `time` to `time + h`, given the
    /// time of the motion it stands at.
    pub fn aim(&self, clock: f64, time: f64, h: f64) -> f64 {
        (clock + CATCH_UP * h).min(time + h)
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
