//! Frames: the common translation of each island of components, executed whole at the commit.
//!
//! An island whose points move nearly alike travels together, after a proof that on its way it meets nothing that
//! travels otherwise: components whose swept boxes meet are merged, until none do. Why this loses no pair:
//! `docs/derivations/detection.md`.

use super::detect::{Geometry, Prediction};
use littoral_geom::math::{Aabb, Vec3};
use littoral_geom::sweep::overlapping;

/// Share of the fastest motion in a component below which the remainder must fall for a frame to be worth its proof.
const FRAME_GAIN: f64 = 0.5;

/// Rounds of merging components that travel together before frames are given up for this detection.
const FRAME_ROUNDS: usize = 6;

/// The translation of each component: components whose swept boxes meet travel together or not at all.
pub(super) fn frames(geometry: &Geometry, x: &[Vec3], prediction: &Prediction<'_>) -> Vec<Vec3> {
    let count = geometry.prescribed.len();
    let mut island: Vec<usize> = (0..count).collect();
    let mut still = geometry.prescribed.clone();
    let mut travel = vec![Vec3::ZERO; count];
    for round in 0..=FRAME_ROUNDS {
        // Mean motion of each island; islands whose points do not move alike stay in the resting frame.
        let mut sum = vec![(Vec3::ZERO, 0.0_f64); count];
        for (v, &c) in geometry.component.iter().enumerate() {
            let s = &mut sum[island[c as usize]];
            s.0 += prediction.wanted[v];
            s.1 += 1.0;
        }
        let mean: Vec<Vec3> = sum.iter().map(|(s, k)| if *k > 0.0 { *s / *k } else { Vec3::ZERO }).collect();
        let mut spread = vec![(0.0_f64, 0.0_f64); count];
        for (v, &c) in geometry.component.iter().enumerate() {
            let i = island[c as usize];
            let w = prediction.wanted[v];
            spread[i].0 = spread[i].0.max((w - mean[i]).length_squared());
            spread[i].1 = spread[i].1.max(w.length_squared());
        }
        for i in 0..count {
            still[i] |= spread[i].0 > FRAME_GAIN * FRAME_GAIN * spread[i].1;
        }
        for c in 0..count {
            travel[c] = if still[island[c]] { Vec3::ZERO } else { mean[island[c]] };
        }
        if travel.iter().all(|t| *t == Vec3::ZERO) || round == FRAME_ROUNDS {
            return vec![Vec3::ZERO; count];
        }
        let swept = swept_boxes(geometry, x, prediction, &travel);
        let mut changed = false;
        overlapping(&swept, |a, b| {
            let (i, j) = (root(&mut island, a), root(&mut island, b));
            if travel[a] != travel[b] && i != j && meet(geometry, x, prediction, &swept, a, b) {
                let (keep, gone) = (i.min(j), i.max(j));
                still[keep] |= still[gone];
                island[gone] = keep;
                changed = true;
            }
        });
        for c in 0..count {
            island[c] = root(&mut island, c);
        }
        if !changed {
            return travel;
        }
    }
    vec![Vec3::ZERO; count]
}

/// The first component of the island of `c`; those on the way there are set nearer to it.
fn root(island: &mut [usize], mut c: usize) -> usize {
    while island[c] != c {
        island[c] = island[island[c]];
        c = island[c];
    }
    c
}

/// Everywhere the points of each component may be while the frame moves, with the contact radius around.
fn swept_boxes(geometry: &Geometry, x: &[Vec3], prediction: &Prediction<'_>, travel: &[Vec3]) -> Vec<Aabb> {
    let mut boxes = vec![Aabb::EMPTY; travel.len()];
    for (v, &c) in geometry.component.iter().enumerate() {
        if prediction.is_present(geometry, v) {
            let b = &mut boxes[c as usize];
            *b = b.union(swept_point(geometry, x, prediction, travel[c as usize], v));
        }
    }
    boxes
}

fn swept_point(geometry: &Geometry, x: &[Vec3], prediction: &Prediction<'_>, travel: Vec3, v: usize) -> Aabb {
    let margin = prediction.margin[v] + prediction.share(geometry, v);
    let start = Aabb::point(x[v]).including(x[v] + prediction.wanted[v] - travel).inflated(margin);
    start.union(Aabb { min: start.min + travel, max: start.max + travel })
}

/// Overlapping boxes of two components meet, unless one is a collider none of whose triangles enters the other's
/// box, or the fluid none of whose particles does.
fn meet(
    geometry: &Geometry,
    x: &[Vec3],
    prediction: &Prediction<'_>,
    swept: &[Aabb],
    a: usize,
    b: usize,
) -> bool {
    let (collider, other) = match (geometry.prescribed[a], geometry.prescribed[b]) {
        (true, false) => (a, b),
        (false, true) => (b, a),
        (false, false) => return true,
        (true, true) => return false,
    };
    let first = geometry.first_particle();
    if geometry.component.get(first).is_some_and(|c| *c as usize == collider) {
        return (first..geometry.component.len()).any(|v| {
            prediction.is_present(geometry, v)
                && swept_point(geometry, x, prediction, Vec3::ZERO, v).overlaps(&swept[other])
        });
    }
    geometry.collider_triangles[collider].iter().any(|&t| {
        let corners = geometry.surface.triangles[t as usize];
        let around = corners
            .iter()
            .map(|&v| swept_point(geometry, x, prediction, Vec3::ZERO, v as usize))
            .fold(Aabb::EMPTY, Aabb::union);
        around.overlaps(&swept[other])
    })
}
