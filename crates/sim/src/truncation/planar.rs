//! Planar truncation: every point against its side's share of each gap [Chen 2026, Alg. 1].

use super::shares::Shares;
use super::{CLEAR, Outcome, Rule, free};
use crate::safe::{Detection, Displacement};
use littoral_geom::math::Vec3;

/// Cuts the increment of one point by all its planes and its box.
pub(super) fn cut(
    detection: &Detection,
    dx: &Displacement,
    rule: &Rule<'_>,
    shares: &Shares,
    v: u32,
    p: Vec3,
) -> Outcome {
    let i = v as usize;
    let a = dx.accepted()[i];
    let mut out = free(p);
    for (k, slot, limits) in shares.of(detection, dx, rule, v) {
        let plane = &detection.planes[k];
        if plane.normal == Vec3::ZERO {
            out.t = 0.0;
            out.by_plane = true;
            continue;
        }
        let side = usize::from(slot >= plane.side_a as usize);
        let limit = limits.at[side];
        out.leaned_on |= limits.leaned_on[side];
        let (from, to) = (plane.advance(slot, a), plane.advance(slot, p));
        if to > limit && to > from {
            let longest = p.length().max(a.length());
            let clear = CLEAR * (longest + plane.behind[slot]);
            let t = ((limit - clear - from) / (to - from)).clamp(0.0, 1.0);
            out.by_plane = true;
            out.far |= plane.gap > 2.0 * rule.keep;
            out.t = out.t.min(t);
        }
    }
    let s = detection.budget[i].share_inside(a, p);
    if s < out.t {
        out.t = s;
        out.by_box = true;
    }
    if out.t < 1.0 {
        out.kept = a + out.t * (p - a);
    }
    out
}
