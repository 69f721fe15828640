//! Planar truncation: every point against its side's share of each gap [Chen 2026, Alg. 1].

use super::{Outcome, Rule, TASK, free, stay_inside};
use crate::safe::{Detection, Displacement};
use littoral_geom::math::Vec3;
use rayon::prelude::*;

/// Notes which points left their free radius, and whose planes must be looked at because of it.
pub(super) fn mark_crowded(detection: &Detection, dx: &Displacement, rule: &Rule, moved: &[u32]) {
    moved.par_iter().with_min_len(TASK).for_each(|&v| {
        let i = v as usize;
        let bound = 0.5 * rule.room(2.0 * detection.free_radius[i]);
        if dx.proposed()[i].length_squared() > bound * bound && !dx.is_outside(v) {
            dx.set_outside(v);
            for (k, _) in detection.planes_of(v) {
                for &w in &detection.planes[k].points {
                    dx.set_crowded(w);
                }
            }
        }
    });
}

/// Cuts the increment of one point by all its planes and its box.
pub(super) fn cut(detection: &Detection, dx: &Displacement, rule: &Rule, v: u32, p: Vec3) -> Outcome {
    let i = v as usize;
    let a = dx.accepted()[i];
    let mut out = free(p);
    if dx.is_crowded(v) {
        for (k, slot) in detection.planes_of(v) {
            let plane = &detection.planes[k];
            if plane.normal == Vec3::ZERO {
                // Touching without a direction to part in: nothing moves.
                out.t = 0.0;
                out.by_plane = true;
                continue;
            }
            let Some(limits) = rule.limits(plane, dx) else { continue };
            let limit = limits[usize::from(slot >= plane.side_a as usize)];
            let (from, to) = (plane.advance(slot, a), plane.advance(slot, p));
            if to > limit && to > from {
                let t = ((limit - from) / (to - from)).clamp(0.0, 1.0);
                out.by_plane = true;
                out.far |= plane.gap > 2.0 * rule.keep;
                out.t = out.t.min(t);
            }
        }
    }
    let s = stay_inside(&detection.budget[i], a, p);
    if s < out.t {
        out.t = s;
        out.by_box = true;
    }
    if out.t < 1.0 {
        out.kept = a + out.t * (p - a);
    }
    out
}
