//! How far a rigid body may go along its curve: the whole way is certified, not samples of it [Chen 2026, §4.4].
//!
//! A point r of a body that shifts by tΔ and turns by tθ about the axis a goes along
//! x(t) = c + tΔ + R(tθ a) r, so that its coordinate along a direction n is
//! s(t) = A + B t + C cos tθ + D sin tθ. Its second derivative is at most θ² M with M = √(C² + D²): between two times
//! w apart s stays below the larger of its two values and M (θw)²/8; and where its slope is surely negative, below the
//! first one. Intervals are halved until a bound is below the limit, or until an end of one is beyond it. What is returned is the end of a prefix all of which was bounded.
//!
//! A body that does not turn goes straight, which is the case θ = 0.

use super::shares::Shares;
use super::{CLEAR, Outcome, Rule};
use crate::body::{Bodies, Pose, exp};
use crate::safe::{Detection, Displacement};
use littoral_geom::math::{Aabb, Vec3};

/// Halvings of the way at most: a millionth of it is given away.
const HALVINGS: u32 = 20;

/// Intervals looked at for one plane at most: a way that grazes its limit ends here, earlier than it could.
const INTERVALS: u32 = 400;

/// The way of a body from its accepted pose to the proposed one.
#[derive(Clone, Copy, Debug)]
pub struct Curve {
    /// Where it starts.
    pub start: Pose,
    /// Shift of the centre Δ [m].
    pub shift: Vec3,
    /// Rotation vector θ a [rad], of any length.
    pub turn: Vec3,
}

impl Curve {
    /// The pose after the fraction `t` of the way.
    #[inline]
    pub fn at(&self, t: f64) -> Pose {
        Pose {
            center: self.start.center + t * self.shift,
            rotation: if self.turn == Vec3::ZERO {
                self.start.rotation
            } else {
                (exp(t * self.turn) * self.start.rotation).normalize()
            },
        }
    }

    /// How far the curved way of a point of the shape may leave the straight one [m]: |r⊥| θ²/8, never more than
    /// the diameter of its circle.
    pub fn bulge(&self, r: Vec3) -> f64 {
        let angle = self.turn.length();
        if angle == 0.0 {
            return 0.0;
        }
        let axis = self.turn / angle;
        let arm = axis.cross(self.start.rotation * r).length();
        arm * (angle * angle / 8.0).min(2.0)
    }

    /// The way of one point that counts from `anchor` [m].
    #[inline]
    pub fn of_point(&self, r: Vec3, anchor: Vec3) -> PointWay {
        let angle = self.turn.length();
        let axis = if angle > 0.0 { self.turn / angle } else { Vec3::ZERO };
        let arm = self.start.rotation * r;
        let along = axis * axis.dot(arm);
        let across = if angle > 0.0 { arm - along } else { Vec3::ZERO };
        PointWay {
            fixed: (self.start.center - anchor) + (arm - across),
            shift: self.shift,
            across,
            ahead: axis.cross(across),
            angle,
        }
    }
}

/// The way of a point as vectors: d(t) = fixed + t shift + cos(tθ) across + sin(tθ) ahead [m].
#[derive(Clone, Copy, Debug)]
pub struct PointWay {
    fixed: Vec3,
    shift: Vec3,
    across: Vec3,
    ahead: Vec3,
    angle: f64,
}

impl PointWay {
    /// The coordinate along `n` as a function of the time.
    #[inline]
    pub fn along(&self, n: Vec3) -> Wave {
        let (c, d) = (n.dot(self.across), n.dot(self.ahead));
        let swing = if self.angle == 0.0 { 0.0 } else { c.hypot(d) };
        Wave { a: n.dot(self.fixed), b: n.dot(self.shift), c, d, angle: self.angle, swing }
    }

    /// Velocity at the start [m], and the most that a later one differs from it.
    pub(super) fn velocity(&self) -> (Vec3, f64) {
        (self.shift + self.angle * self.ahead, self.angle * self.angle * self.across.length())
    }

    /// Largest certified t ≤ 1 for which the point stays inside the box on all of [0, t].
    pub(super) fn prefix_in_box(&self, budget: &Aabb) -> f64 {
        let mut t = 1.0;
        for axis in Vec3::AXES {
            let (low, high) = (axis.dot(budget.min), axis.dot(budget.max));
            t = self.along(axis).prefix(high, t).min(self.along(-axis).prefix(-low, t));
        }
        t
    }

    /// Displacement at time `t` [m].
    #[inline]
    pub fn at(&self, t: f64) -> Vec3 {
        let (s, c) = (t * self.angle).sin_cos();
        self.fixed + t * self.shift + c * self.across + s * self.ahead
    }
}

/// s(t) = a + b t + c cos(tθ) + d sin(tθ).
#[derive(Clone, Copy, Debug)]
pub struct Wave {
    a: f64,
    b: f64,
    c: f64,
    d: f64,
    angle: f64,
    /// Its amplitude √(c² + d²), if it turns.
    swing: f64,
}

impl Wave {
    /// Its value.
    #[inline]
    pub fn at(&self, t: f64) -> f64 {
        let (sin, cos) = (t * self.angle).sin_cos();
        self.a + self.b * t + self.c * cos + self.d * sin
    }

    /// Its value and its derivative.
    #[inline]
    fn sample(&self, t: f64) -> [f64; 2] {
        let (sin, cos) = (t * self.angle).sin_cos();
        [
            self.a + self.b * t + self.c * cos + self.d * sin,
            self.b + self.angle * (self.d * cos - self.c * sin),
        ]
    }

    /// True if it surely falls for a width `w` from where its derivative is `slope` on: what withdraws needs no bound on its
    /// rise.
    #[inline]
    fn falls(&self, slope: f64, w: f64) -> bool {
        slope + self.swing * self.angle * self.angle * w <= 0.0
    }

    /// How far it may rise above the larger of its ends within an interval of width `w`.
    #[inline]
    fn rise(&self, w: f64) -> f64 {
        self.swing * (0.125 * (self.angle * w).powi(2)).min(2.0)
    }

    /// Largest certified t ≤ `t_max` with s ≤ `limit` on all of [0, t]; s(0) counts as allowed.
    pub fn prefix(&self, limit: f64, t_max: f64) -> f64 {
        let (from, to) = (self.at(0.0), self.at(t_max));
        let limit = limit.max(from);
        if from.max(to) + self.rise(t_max) <= limit {
            return t_max;
        }
        if self.swing == 0.0 {
            // Straight, and its end is beyond: to > limit ≥ from.
            return (t_max * (limit - from) / (to - from)).clamp(0.0, t_max);
        }
        certified(
            t_max,
            |t| self.sample(t),
            |[low, slope], [high, _], w| {
                low.max(high) + self.rise(w) <= limit || (low <= limit && self.falls(slope, w))
            },
            |[s, _]| s <= limit,
        )
    }
}

/// Largest certified prefix of [0, `t_max`]: `holds` proves an interval of some width from what is known at its two ends,
/// `allowed` judges one time.
fn certified<S: Copy>(
    t_max: f64,
    sample: impl Fn(f64) -> S,
    holds: impl Fn(S, S, f64) -> bool,
    allowed: impl Fn(S) -> bool,
) -> f64 {
    // Intervals yet to prove, the earliest on top; each knows how often it was halved.
    let mut open = vec![((0.0, sample(0.0)), (t_max, sample(t_max)), 0)];
    let mut reached = 0.0;
    let mut looks = 0;
    while let Some((low, high, halvings)) = open.pop() {
        looks += 1;
        if looks > INTERVALS {
            break;
        }
        if holds(low.1, high.1, high.0 - low.0) {
            reached = high.0;
            continue;
        }
        if halvings == HALVINGS {
            break;
        }
        let middle = 0.5 * (low.0 + high.0);
        let middle = (middle, sample(middle));
        if allowed(middle.1) {
            open.push((middle, high, halvings + 1));
        } else {
            // The way ends before the middle: what lies behind it needs no proof.
            open.clear();
        }
        open.push((low, middle, halvings + 1));
    }
    reached
}

/// Largest certified t ≤ `t_max` for which the point stays within `radius` [m] of its anchor on all of [0, t].
pub fn prefix_in_ball(way: &PointWay, radius: f64, t_max: f64) -> f64 {
    let radius = radius.max(way.at(0.0).length());
    let arm = way.across.length();
    let rise = |w: f64| arm * (0.125 * (way.angle * w).powi(2)).min(2.0);
    certified(
        t_max,
        |t| way.at(t).length(),
        |low, high, w| low.max(high) + rise(w) <= radius,
        |d| d <= radius,
    )
}

/// The bodies that move in one truncation.
#[derive(Clone, Copy, Debug)]
pub struct Turns<'a> {
    /// The bodies of the system.
    pub bodies: &'a Bodies,
    /// Way of each body; `None` for those that rest.
    pub curves: &'a [Option<Curve>],
    /// Where the points stand without displacement (n) [m].
    pub base: &'a [Vec3],
}

impl<'a> Turns<'a> {
    /// The way of the point `v`, if it belongs to a body that moves.
    #[inline]
    pub(super) fn of(&self, v: usize) -> Option<(usize, &'a Curve, Vec3)> {
        let (b, r) = self.bodies.at(v)?;
        self.curves[b].as_ref().map(|c| (b, c, r))
    }

    /// Most that any of the `moved` points may leave its straight way [m].
    pub(super) fn largest_bulge(&self, moved: &[u32]) -> f64 {
        let bulge = |&v: &u32| self.of(v as usize).map_or(0.0, |(_, curve, r)| curve.bulge(r));
        moved.iter().map(bulge).fold(0.0, f64::max)
    }

    /// How far the way of the point `v` may rise above its ends along `n` [m].
    #[inline]
    pub(super) fn rise(&self, v: usize, n: Vec3) -> f64 {
        let Some((_, curve, r)) = self.of(v) else { return 0.0 };
        let angle = curve.turn.length();
        if angle == 0.0 {
            return 0.0;
        }
        let axis = curve.turn / angle;
        // |n⊥| |r⊥| is the amplitude √(C² + D²).
        let amplitude = axis.cross(n).length() * axis.cross(curve.start.rotation * r).length();
        amplitude * (0.125 * angle * angle).min(2.0)
    }
}

/// Cuts the way of one point of a body, and how far it leaves the straight one, by all its planes or by its `ball`, and
/// by its box.
pub(super) fn cut(
    detection: &Detection,
    dx: &Displacement,
    (rule, shares): (&Rule<'_>, &Shares),
    v: u32,
    (way, bulge): (PointWay, f64),
    ball: bool,
) -> Outcome {
    let i = v as usize;
    let (a, p) = (dx.accepted()[i], dx.proposed()[i]);
    let mut out = super::free(p);
    if ball {
        let bound = rule.free_bound(detection.free_radius[i]);
        if p.length().max(a.length()) + bulge > bound {
            out.t = prefix_in_ball(&way, bound, 1.0);
            out.by_plane = out.t < 1.0;
            out.far = out.by_plane && detection.free_radius[i] > rule.keep;
        }
    } else {
        for (k, slot, limits) in shares.of(detection, dx, rule, v) {
            let plane = &detection.planes[k];
            if plane.normal == Vec3::ZERO {
                out.t = 0.0;
                out.by_plane = true;
                continue;
            }
            let side = usize::from(slot >= plane.side_a as usize);
            out.leaned_on |= limits.leaned_on[side];
            if limits.at[side] == f64::INFINITY {
                continue;
            }
            let clear = CLEAR * (p.length().max(a.length()) + plane.behind[slot]);
            let limit = limits.at[side] + plane.behind[slot] - clear;
            let t = way.along(plane.sign(slot) * plane.normal).prefix(limit, out.t);
            if t < out.t {
                out.t = t;
                out.by_plane = true;
                out.far |= plane.gap > 2.0 * rule.keep;
            }
        }
    }
    let budget = &detection.budget[i];
    let (low, high) = (a.min(p) - bulge, a.max(p) + bulge);
    if budget.min.cmple(low).all() && high.cmple(budget.max).all() {
        return out;
    }
    for axis in Vec3::AXES {
        let (low, high) = (axis.dot(budget.min), axis.dot(budget.max));
        let t = way.along(axis).prefix(high, out.t).min(way.along(-axis).prefix(-low, out.t));
        if t < out.t {
            out.t = t;
            out.by_box = true;
        }
    }
    out
}

#[cfg(test)]
#[path = "curved_tests.rs"]
mod tests;
