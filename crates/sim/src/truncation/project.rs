//! Proposals that turn aside instead of stopping short. A plain cut shortens the whole step of a point, its harmless part
//! along the plane as well; here it is replaced first by a point that keeps to the shares.
//!
//! *Project*: the nearest point of the allowed half-spaces in the metric of the vertex Hessian [Chen 2026, App. B], by
//! Dykstra's method. *Slide*: what is too much along each normal is taken away, a few times over. Neither is trusted:
//! the result is a proposal, and cut like any other.

use super::{CLEAR, Rule};
use crate::safe::{Detection, Displacement};
use littoral_geom::math::{Mat3, Vec3};

/// Sweeps of Dykstra's method. The published count.
const PROJECT_SWEEPS: usize = 20;

/// Sweeps of sliding. With one, a point in a corner between planes keeps to the last of them only; beyond three little
/// changes.
const SLIDE_SWEEPS: usize = 3;

/// Calls `visit(m, b)` for each half-space m·z ≤ b that binds or may bind the point `v`, m of unit length.
fn each_space(
    detection: &Detection,
    dx: &Displacement,
    rule: &Rule<'_>,
    v: u32,
    mut visit: impl FnMut(Vec3, f64),
) {
    let far = dx.proposed()[v as usize].length();
    for (k, slot) in detection.planes_of(v) {
        let plane = &detection.planes[k];
        if rule.is_wide(plane.gap, dx.longest()) {
            break;
        }
        let limit = rule.limits(plane, dx).at[usize::from(slot >= plane.side_a as usize)];
        // Where no direction is known to part a pair, nothing turns aside.
        if plane.normal != Vec3::ZERO && limit < f64::INFINITY {
            let b = limit + plane.behind[slot];
            visit(plane.normal * plane.sign(slot), b - CLEAR * (far + b.abs()));
        }
    }
}

/// The proposal `p` without what is too much of it along each normal.
pub(super) fn slid(detection: &Detection, dx: &Displacement, rule: &Rule<'_>, v: u32, p: Vec3) -> Vec3 {
    let mut spaces: Vec<(Vec3, f64)> = Vec::new();
    each_space(detection, dx, rule, v, |m, b| spaces.push((m, b)));
    let mut z = p;
    for _ in 0..SLIDE_SWEEPS {
        let start = z;
        for (m, b) in &spaces {
            z -= (m.dot(z) - *b).max(0.0) * *m;
        }
        if z == start {
            break;
        }
    }
    z
}

/// The point nearest to the proposal `p` in the allowed half-spaces.
pub(super) fn nearest(
    detection: &Detection,
    dx: &Displacement,
    rule: &Rule<'_>,
    v: u32,
    p: Vec3,
    metric: &Mat3,
) -> Vec3 {
    let inverse = metric.inverse();
    if !inverse.is_finite() {
        return p;
    }
    // Half-spaces m·z ≤ b, with d = H⁻¹m and the dual of each.
    let mut spaces: Vec<(Vec3, f64, Vec3, f64, f64)> = Vec::new();
    each_space(detection, dx, rule, v, |m, b| {
        let d = inverse * m;
        // Without a direction, nothing to turn along.
        if m.dot(d) > 0.0 {
            spaces.push((m, b, d, m.dot(d), 0.0));
        }
    });
    let mut z = p;
    for _ in 0..PROJECT_SWEEPS {
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
    if z.is_finite() { z } else { p }
}
