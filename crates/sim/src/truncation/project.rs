//! Divide and project: the nearest point of the allowed half-spaces in the metric of the vertex Hessian
//! [Chen 2026, App. B], found by Dykstra's method, then truncated for safety.

use super::{Outcome, Rule, planar};
use crate::safe::{Detection, Displacement};
use littoral_geom::math::{Mat3, Vec3};

/// Sweeps of Dykstra's method; the truncation afterwards makes any number safe. The published count.
const SWEEPS: usize = 20;

/// Projects the proposal of one point, then cuts the result.
pub(super) fn cut(
    detection: &Detection,
    dx: &Displacement,
    rule: &Rule,
    v: u32,
    p: Vec3,
    metric: &Mat3,
) -> Outcome {
    let planned = planar::cut(detection, dx, rule, v, p);
    if !planned.by_plane {
        return planned;
    }
    let inverse = metric.inverse();
    if !inverse.is_finite() {
        return planned;
    }
    // Half-spaces m·z ≤ b, with d = H⁻¹m and the dual of each.
    let mut spaces: Vec<(Vec3, f64, Vec3, f64, f64)> = Vec::new();
    for (k, slot) in detection.planes_of(v) {
        let plane = &detection.planes[k];
        if let Some(limits) = rule.limits(plane, dx) {
            let limit = limits[usize::from(slot >= plane.side_a as usize)];
            let m = plane.normal * plane.sign(slot);
            let d = inverse * m;
            spaces.push((m, limit + plane.behind[slot], d, m.dot(d), 0.0));
        }
    }
    let mut z = p;
    for _ in 0..SWEEPS {
        let mut change = 0.0_f64;
        for (m, b, d, md, dual) in &mut spaces {
            z += *dual * *d;
            let next = ((m.dot(z) - *b) / *md).max(0.0);
            z -= next * *d;
            change = change.max((next - *dual).abs());
            *dual = next;
        }
        if change == 0.0 {
            break;
        }
    }
    if !z.is_finite() {
        return planned;
    }
    // The planes were divided for the proposals; the projected point is held to the same shares.
    let a = dx.accepted()[v as usize];
    let mut t = super::stay_inside(&detection.budget[v as usize], a, z);
    let by_box = t < 1.0;
    for (k, slot) in detection.planes_of(v) {
        let plane = &detection.planes[k];
        let limit = match rule.limits(plane, dx) {
            Some(limits) => limits[usize::from(slot >= plane.side_a as usize)],
            // Nothing was divided here: stay within the advance the proposal would have had.
            None => {
                let side = slot >= plane.side_a as usize;
                let reach = |use_proposed: bool| {
                    (0..4)
                        .filter(|&s| (s >= plane.side_a as usize) == side)
                        .map(|s| {
                            let w = plane.points[s] as usize;
                            plane.advance(s, if use_proposed { dx.proposed()[w] } else { dx.accepted()[w] })
                        })
                        .fold(0.0_f64, f64::max)
                };
                reach(true).max(reach(false))
            }
        };
        let (from, to) = (plane.advance(slot, a), plane.advance(slot, z));
        if to > limit && to > from {
            t = t.min(((limit - from) / (to - from)).clamp(0.0, 1.0));
        }
    }
    Outcome { kept: a + t * (z - a), t: planned.t, by_plane: true, by_box, far: planned.far }
}
