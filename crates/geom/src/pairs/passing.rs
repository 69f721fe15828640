//! Whether two primitives pass each other by: points in tubes stay apart where their boxes meet beside the ways.
//!
//! One direction is asked, that of the distance between what one primitive sweeps relative to the other and that other
//! one. Each may be anywhere on its own way, so that only the supports along that direction say whether it divides them.

use super::criterion::Criterion;
use crate::distance::{closest_edge_edge, closest_point_triangle};
use crate::math::Vec3;

/// The shortest of differences.
struct Shortest(Vec3, f64);

impl Shortest {
    fn none() -> Self {
        Shortest(Vec3::ZERO, f64::INFINITY)
    }

    fn try_also(&mut self, difference: Vec3, distance_sq: f64) {
        if distance_sq < self.1 {
            (self.0, self.1) = (difference, distance_sq);
        }
    }

    fn try_edges(&mut self, [a, b]: [Vec3; 2], [c, d]: [Vec3; 2]) {
        let near = closest_edge_edge(a, b, c, d);
        self.try_also(near.point_a - near.point_b, near.distance_sq);
    }
}

/// Mean way of the points relative to where they were detected [m].
#[inline]
fn way(near: &Criterion<'_>, points: &[u32]) -> Vec3 {
    points.iter().map(|&p| near.query.tubes[p as usize].way).sum::<Vec3>() / points.len() as f64
}

/// True only if the two primitives, `gap` apart [m], cannot touch; false where nothing goes a long way.
#[inline]
pub(super) fn pass_by(near: &Criterion<'_>, gap: f64, a: &[u32], b: &[u32]) -> bool {
    if near.query.tubes.is_empty() {
        return false;
    }
    let goes = |p: &u32| !near.query.tubes[*p as usize].is_none();
    // Cubes of all points that meet where they are now meet on any way.
    (a.iter().chain(b).any(goes)) && gap > least(near, a) + least(near, b) && have_way(near, a, b)
}

/// Room that all points have in all directions [m].
#[inline]
fn least(near: &Criterion<'_>, points: &[u32]) -> f64 {
    let room = |&p: &u32| {
        let box_room = near.drifts[p as usize].max.min(-near.drifts[p as usize].min).min_element();
        box_room.min(near.query.tubes[p as usize].room).max(0.0)
    };
    points.iter().map(room).fold(f64::INFINITY, f64::min)
}

/// True only if a direction across the ways divides what the points can reach.
#[cold]
fn have_way(near: &Criterion<'_>, a: &[u32], b: &[u32]) -> bool {
    let x = &near.query.x;
    let origin = x[a[0] as usize];
    let place = |p: u32| x[p as usize] - origin;
    let w = way(near, a) - way(near, b);
    let mut shortest = Shortest::none();
    match (a, b) {
        (&[v], &[t0, t1, t2]) => {
            let (from, triangle) = (place(v), [t0, t1, t2].map(place));
            for end in [from, from + w] {
                let c = closest_point_triangle(end, triangle);
                shortest.try_also(end - c.point, c.distance_sq);
            }
            for k in 0..3 {
                shortest.try_edges([from, from + w], [triangle[k], triangle[(k + 1) % 3]]);
            }
        }
        (&[a0, a1], &[b0, b1]) => {
            let ([a0, a1], edge) = ([a0, a1].map(place), [b0, b1].map(place));
            let (c0, c1) = (a0 + w, a1 + w);
            for side in [[a0, a1], [c0, c1], [a0, c0], [a1, c1]] {
                shortest.try_edges(side, edge);
            }
            for half in [[a0, a1, c1], [a0, c1, c0]] {
                for end in edge {
                    let c = closest_point_triangle(end, half);
                    shortest.try_also(c.point - end, c.distance_sq);
                }
            }
        }
        _ => unreachable!("a point and a triangle, or two edges"),
    }
    let n = shortest.0 / shortest.1.sqrt();
    if !n.is_finite() {
        return false;
    }
    let reach =
        |p: u32, n: Vec3| near.drifts[p as usize].support(n).min(near.query.tubes[p as usize].support(n));
    let low = a.iter().fold(f64::INFINITY, |m, &p| m.min(n.dot(place(p)) - reach(p, -n)));
    let high = b.iter().fold(f64::NEG_INFINITY, |m, &p| m.max(n.dot(place(p)) + reach(p, n)));
    low - high > near.pad
}
