//! The last word on the diagonals of a cube, in double precision.
//!
//! The trees ask the same in single precision, relative to the middle of all there is, and let through what rounding may
//! take there. What is listed must not depend on what else there is, far away: so a pair that they let through is asked
//! once more.

use super::criterion::Criterion;
use crate::math::Vec3;

/// Ball of a point along a diagonal, which is √3 long, rounded up.
const BALL: f64 = 1.74;

/// Lowest and highest value along the four diagonals.
type Spans = [[f64; 2]; 4];

/// Value of `v` along each of the [`crate::bvh::DIAGONALS`].
#[inline]
fn along(v: Vec3) -> [f64; 4] {
    [v.x + v.y + v.z, v.x + v.y - v.z, v.x - v.y + v.z, v.y + v.z - v.x]
}

/// True only if the points of `a` stay apart from those of `b` along a diagonal: each in its box, and no farther than its
/// reach and half the offset.
pub(super) fn are_apart(near: &Criterion<'_>, a: &[u32], b: &[u32]) -> bool {
    let origin = near.query.x[a[0] as usize];
    let (a, b) = (spans(near, a, origin), spans(near, b, origin));
    let pad = 2.0 * near.pad;
    a.iter().zip(&b).any(|(a, b)| a[0] - b[1] > pad || b[0] - a[1] > pad)
}

#[inline]
fn spans(near: &Criterion<'_>, points: &[u32], origin: Vec3) -> Spans {
    let mut spans = [[f64::INFINITY, f64::NEG_INFINITY]; 4];
    for &p in points {
        let i = p as usize;
        let (x, drift) = (near.query.x[i] - origin, near.drifts[i]);
        let half = drift.max - drift.min;
        let half = 0.5 * (half.x + half.y + half.z);
        let ball = BALL * (near.query.reach[i] + 0.5 * near.query.offset);
        let (middle, center) = (along(x), along(x + 0.5 * (drift.min + drift.max)));
        for k in 0..4 {
            let low = (center[k] - half).max(middle[k] - ball);
            let high = (center[k] + half).min(middle[k] + ball);
            spans[k] = [spans[k][0].min(low), spans[k][1].max(high)];
        }
    }
    spans
}
