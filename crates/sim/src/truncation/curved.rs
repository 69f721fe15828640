//! How far a rigid body may go along its curve: the whole way is certified, not samples of it [Chen 2026, §4.4].
//!
//! A point r of a body that shifts by tΔ and turns by tθ about the axis a goes along
//! x(t) = c + tΔ + R(tθ a) r, so that its coordinate along a direction n is
//! s(t) = A + B t + C cos tθ + D sin tθ. Its second derivative is at most θ² M with M = √(C² + D²): between two times
//! w apart s stays below the larger of its two values and M (θw)²/8, and after a time t it stays below
//! s(t) + s'(t) u + M (θu)²/2. Where this parabola meets the limit is the next time to look, which comes as near to the
//! first crossing as Newton's method does, from below. What is returned is the end of a prefix all of which was bounded.
//!
//! A body that does not turn goes straight, which is the case θ = 0.

use super::shares::Shares;
use super::{CLEAR, Outcome, Rule};
use crate::body::{Bodies, Pose, exp};
use crate::safe::{Budget, Detection, Displacement};
use littoral_geom::math::Vec3;

/// Looks at one plane at most: a way that grazes its limit ends here, earlier than it could.
const LOOKS: usize = 64;

/// Share of the way that may be given away at its end.
const GIVEN: f64 = 1e-6;

/// Halvings of the way to a ball's surface at most: a millionth of it is given away.
const HALVINGS: u32 = 20;

/// Intervals looked at for one ball at most.
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
    /// Its axis a, or zero, and angle θ [rad].
    spin: (Vec3, f64),
}

impl Curve {
    /// The way from `start` by a shift [m] and a rotation vector [rad].
    pub fn new(start: Pose, shift: Vec3, turn: Vec3) -> Self {
        let angle = turn.length();
        let axis = if angle > 0.0 { turn / angle } else { Vec3::ZERO };
        Curve { start, shift, turn, spin: (axis, angle) }
    }

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
        let (axis, angle) = self.spin;
        if angle == 0.0 {
            return 0.0;
        }
        let arm = axis.cross(self.start.rotation * r).length();
        arm * (angle * angle / 8.0).min(2.0)
    }

    /// The way of one point that counts from `anchor` [m].
    #[inline]
    pub fn of_point(&self, r: Vec3, anchor: Vec3) -> PointWay {
        let (axis, angle) = self.spin;
        let arm = self.start.rotation * r;
        let along = axis * axis.dot(arm);
        let across = if angle > 0.0 { arm - along } else { Vec3::ZERO };
        PointWay {
            fixed: (self.start.center - anchor) + (arm - across),
            shift: self.shift,
            across,
            ahead: axis.cross(across),
            angle,
            end: angle.sin_cos(),
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
    /// Sine and cosine of θ, which every plane of a point asks for.
    end: (f64, f64),
}

impl PointWay {
    /// The coordinate along `n` as a function of the time.
    #[inline]
    pub fn along(&self, n: Vec3) -> Wave {
        let (c, d) = (n.dot(self.across), n.dot(self.ahead));
        let swing = if self.angle == 0.0 { 0.0 } else { (c * c + d * d).sqrt() };
        Wave { a: n.dot(self.fixed), b: n.dot(self.shift), c, d, angle: self.angle, swing, end: self.end }
    }

    /// Velocity at the start [m], and the most that a later one differs from it.
    pub(super) fn velocity(&self) -> (Vec3, f64) {
        (self.shift + self.angle * self.ahead, self.angle * self.angle * self.across.length())
    }

    /// Largest certified t ≤ `t_max` for which the point stays inside its budget on all of [0, t].
    pub(super) fn prefix_inside(&self, budget: &Budget, t_max: f64) -> f64 {
        budget.planes().fold(t_max, |t, (n, limit)| self.along(n).prefix(limit, t))
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
    /// Sine and cosine of θ.
    end: (f64, f64),
}

impl Wave {
    /// Sine and cosine of tθ.
    #[inline]
    fn sin_cos(&self, t: f64) -> (f64, f64) {
        if t == 1.0 { self.end } else { (t * self.angle).sin_cos() }
    }

    /// Its value.
    #[inline]
    pub fn at(&self, t: f64) -> f64 {
        let (sin, cos) = self.sin_cos(t);
        self.a + self.b * t + self.c * cos + self.d * sin
    }

    /// Its value and its derivative.
    #[inline]
    fn sample(&self, t: f64) -> [f64; 2] {
        let (sin, cos) = self.sin_cos(t);
        [
            self.a + self.b * t + self.c * cos + self.d * sin,
            self.b + self.angle * (self.d * cos - self.c * sin),
        ]
    }

    /// How far it may rise above the larger of its ends within an interval of width `w`.
    #[inline]
    fn rise(&self, w: f64) -> f64 {
        self.swing * (0.125 * (self.angle * w).powi(2)).min(2.0)
    }

    /// Largest certified t ≤ `t_max` with s ≤ `limit` on all of [0, t]; s(0) counts as allowed.
    pub fn prefix(&self, limit: f64, t_max: f64) -> f64 {
        let (from, to) = (self.a + self.c, self.at(t_max));
        let limit = limit.max(from);
        if from.max(to) + self.rise(t_max) <= limit {
            return t_max;
        }
        let bend = self.swing * self.angle * self.angle;
        if bend == 0.0 {
            // Straight.
            return if to <= limit {
                t_max
            } else {
                (t_max * (limit - from) / (to - from)).clamp(0.0, t_max)
            };
        }
        let (mut t, mut s, mut slope) = (0.0, from, self.b + self.angle * self.d);
        for _ in 0..LOOKS {
            let left = t_max - t;
            if s.max(to) + self.rise(left) <= limit {
                return t_max;
            }
            // The larger root of slope u + bend u²/2 = room, of its two forms the one without cancellation.
            let room = (limit - s).max(0.0);
            let root = (slope * slope + 2.0 * bend * room).sqrt();
            let reach = if slope > 0.0 { 2.0 * room / (slope + root) } else { (root - slope) / bend };
            if reach >= left {
                return t_max;
            }
            // A little less, so that rounding does not put it beyond.
            let step = (1.0 - GIVEN) * reach;
            if step < GIVEN * t_max {
                break;
            }
            let [value, rate] = self.sample(t + step);
            if value > limit {
                break;
            }
            (t, s, slope) = (t + step, value, rate);
        }
        t
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
    let first = ((0.0, sample(0.0)), (t_max, sample(t_max)), 0);
    let mut open = [first; HALVINGS as usize + 2];
    let mut count = 1;
    let mut reached = 0.0;
    let mut looks = 0;
    while count > 0 {
        count -= 1;
        let (low, high, halvings) = open[count];
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
            open[count] = (middle, high, halvings + 1);
            count += 1;
        } else {
            // The way ends before the middle: what lies behind it needs no proof.
            count = 0;
        }
        open[count] = (low, middle, halvings + 1);
        count += 1;
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
        let (axis, angle) = curve.spin;
        if angle == 0.0 {
            return 0.0;
        }
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
    if budget.holds_way((a, p), bulge) {
        return out;
    }
    let t = way.prefix_inside(budget, out.t);
    if t < out.t {
        out.t = t;
        out.by_box = true;
    }
    out
}

#[cfg(test)]
#[path = "curved_tests.rs"]
mod tests;
