//! One global step length from additive continuous collision detection [Li 2021, ACCD]: the filter of Newton-type
//! solvers, and for comparison.
//!
//! Points of rigid bodies go along curves, x(t) = d₀ + t Δ + cos(tθ) u + sin(tθ) v. Their velocity stays within θ² |u| of
//! what it is at the start, so that the same advancement holds with the velocities at the start and that much more.

use super::curved::{PointWay, Turns};
use crate::safe::{Detection, Displacement, resolution};
use littoral_geom::distance::{closest_edge_edge, closest_point_triangle};
use littoral_geom::math::Vec3;
use rayon::prelude::*;

/// Iterations of the conservative advancement; stopping early returns a shorter, still safe step.
const MAX_ADVANCES: usize = 10_000;

/// The largest common fraction of all increments that keeps (1−γ) of every gap's start value, and what rounding may
/// take, and every box.
pub(super) fn largest_step(
    x: &[Vec3],
    detection: &Detection,
    dx: &Displacement,
    moved: &[u32],
    gamma: f64,
    turns: Option<&Turns<'_>>,
) -> f64 {
    let bulge = turns.map_or(0.0, |t| t.largest_bulge(moved));
    let longest = dx.longest() + bulge;
    let way = |w: u32| {
        let (_, curve, r) = turns?.of(w as usize)?;
        Some(curve.of_point(r, turns?.base[w as usize]))
    };
    moved
        .par_iter()
        .with_min_len(64)
        .map(|&v| {
            let (a, p) = (dx.accepted()[v as usize], dx.proposed()[v as usize]);
            let budget = &detection.budget[v as usize];
            let mut t = way(v).map_or_else(|| budget.share_inside(a, p), |w| w.prefix_inside(budget, 1.0));
            for (k, slot) in detection.planes_of(v) {
                let plane = &detection.planes[k];
                // Points stay within L, the longest proposal, of where they were detected: the pair begins with at
                // most g + 2L and keeps at least g − 2L, which is its share (1−γ) of that. Wider ones follow.
                if 4.0 * longest <= gamma * plane.gap {
                    break;
                }
                // Each pair once, by the first of its points that moves.
                let is_turning = |w: u32| turns.is_some_and(|t| t.of(w as usize).is_some());
                let moves = |w: u32| dx.accepted()[w as usize] != dx.proposed()[w as usize] || is_turning(w);
                if plane.points[..slot].iter().any(|&w| moves(w)) {
                    continue;
                }
                let q = plane.points.map(|w| w as usize);
                let start = q.map(|w| x[w] + dx.accepted()[w]);
                let step = q.map(|w| dx.proposed()[w] - dx.accepted()[w]);
                let floor = resolution(x, &detection.frame, &detection.budget, plane.points);
                let keep = Keep { gamma, floor };
                t = if plane.points.iter().any(|&w| is_turning(w)) {
                    let ways: [Way; 4] = std::array::from_fn(|k| match way(plane.points[k]) {
                        Some(curve) => Way::Curved(x[q[k]], curve),
                        None => Way::Straight(start[k], step[k]),
                    });
                    along_curves(&ways, plane.side_a == 1, t, keep)
                } else {
                    additive(start, step, plane.side_a == 1, t, keep)
                };
            }
            t
        })
        .reduce(|| 1.0, f64::min)
}

/// What is kept of a gap d: (1−γ) of what exceeds the floor [m], and the floor.
#[derive(Clone, Copy)]
struct Keep {
    gamma: f64,
    floor: f64,
}

/// The way of one point.
#[derive(Clone, Copy)]
enum Way {
    /// From where, and how far [m].
    Straight(Vec3, Vec3),
    /// From where it was detected [m].
    Curved(Vec3, PointWay),
}

impl Way {
    fn at(&self, t: f64) -> Vec3 {
        match self {
            Way::Straight(start, step) => *start + t * *step,
            Way::Curved(x, way) => *x + way.at(t),
        }
    }

    /// Velocity at the start [m], and how far that may be from a later one.
    fn velocity(&self) -> (Vec3, f64) {
        match self {
            Way::Straight(_, step) => (*step, 0.0),
            Way::Curved(_, way) => way.velocity(),
        }
    }
}

/// The same along ways that may turn.
fn along_curves(ways: &[Way; 4], point_triangle: bool, t_max: f64, keep: Keep) -> f64 {
    let velocities = ways.map(|w| w.velocity());
    let mean = velocities.iter().map(|v| v.0).sum::<Vec3>() * 0.25;
    let speeds = velocities.map(|(v, more)| (v - mean).length() + more);
    let largest = |r: std::ops::Range<usize>| speeds[r].iter().copied().fold(0.0_f64, f64::max);
    let split = if point_triangle { 1 } else { 2 };
    let speed = largest(0..split) + largest(split..4);
    let distance = |t: f64| {
        let y: [Vec3; 4] = std::array::from_fn(|i| ways[i].at(t) - t * mean);
        apart(y, point_triangle)
    };
    advance(distance, speed, t_max, keep)
}

/// Distance of a pair [m].
fn apart(y: [Vec3; 4], point_triangle: bool) -> f64 {
    if point_triangle {
        closest_point_triangle(y[0], [y[1], y[2], y[3]]).distance_sq.sqrt()
    } else {
        closest_edge_edge(y[0], y[1], y[2], y[3]).distance_sq.sqrt()
    }
}

/// Conservative advancement of one pair up to `t_max`: stops where no more of the gap is left than is to be kept.
fn additive(start: [Vec3; 4], step: [Vec3; 4], point_triangle: bool, t_max: f64, keep: Keep) -> f64 {
    let mean = (step[0] + step[1] + step[2] + step[3]) * 0.25;
    let relative = step.map(|s| s - mean);
    let largest = |r: std::ops::Range<usize>| relative[r].iter().map(|s| s.length()).fold(0.0_f64, f64::max);
    let speed = if point_triangle { largest(0..1) + largest(1..4) } else { largest(0..2) + largest(2..4) };
    let distance = |t: f64| apart(std::array::from_fn(|i| start[i] + t * relative[i]), point_triangle);
    advance(distance, speed, t_max, keep)
}

/// Goes on as far as the distance allows at a speed that is never exceeded [m].
fn advance(distance: impl Fn(f64) -> f64, speed: f64, t_max: f64, keep: Keep) -> f64 {
    if speed == 0.0 {
        return t_max;
    }
    let gap = distance(0.0);
    if gap <= keep.floor {
        return 0.0;
    }
    let least = keep.floor + (1.0 - keep.gamma) * (gap - keep.floor);
    let mut t = 0.0;
    for _ in 0..MAX_ADVANCES {
        let room = distance(t) - least;
        let next = t + 0.9 * room / speed;
        if next >= t_max {
            return t_max;
        }
        // Below a thousandth of the floor further advances gain nothing.
        if room <= 1e-3 * least {
            return t;
        }
        t = next;
    }
    t
}
