//! Frames: the common translation of each island of components, executed whole at the commit.
//!
//! An island whose points move nearly alike travels together, after a proof that on its way it meets nothing that
//! travels otherwise: components whose swept boxes meet are merged, until none do. Why this loses no pair:
//! `docs/derivations/detection.md`.

use super::detect::{Geometry, Prediction};
use super::islands::{root, unite};
use littoral_geom::math::{Aabb, Vec3};
use littoral_geom::sweep::overlapping;

/// Share of the fastest motion in a component below which the remainder must fall for a frame to be worth its proof.
const FRAME_GAIN: f64 = 0.5;

/// Rounds of merging components that travel together before they give up their frames for this detection.
const FRAME_ROUNDS: usize = 6;

/// The translation of each component: components whose swept boxes meet travel together or not at all. Of those `kept`
/// (by component, or empty) nothing is said.
pub(super) fn frames(
    geometry: &Geometry,
    x: &[Vec3],
    prediction: &Prediction<'_>,
    (mobile, kept): (&[bool], &[bool]),
) -> Vec<Vec3> {
    let count = geometry.prescribed.len();
    let mut island: Vec<u32> = (0..count as u32).collect();
    let mut still = geometry.prescribed.clone();
    still.iter_mut().zip(kept).for_each(|(still, kept)| *still |= kept);
    let mut travel = vec![Vec3::ZERO; count];
    // Islands that have changed since their boxes were compared.
    let mut open = vec![true; count];
    for round in 0..=FRAME_ROUNDS {
        means(geometry, prediction, &island, &mut still, &mut travel);
        if travel.iter().all(|t| *t == Vec3::ZERO) {
            break;
        }
        if round == FRAME_ROUNDS {
            give_up(geometry, x, prediction, (mobile, kept), &open, &mut travel);
            break;
        }
        let swept = swept_boxes(geometry, x, prediction, &travel, kept);
        let around = |v: usize| {
            prediction.is_present(geometry, v).then(|| swept_point(geometry, x, prediction, Vec3::ZERO, v))
        };
        open.fill(false);
        overlapping(&swept, |a, b| {
            let (i, j) = (root(&mut island, a) as usize, root(&mut island, b) as usize);
            if travel[a] != travel[b] && i != j && meet(geometry, around, &swept, a, b) {
                still[i.min(j)] |= still[i.max(j)];
                unite(&mut island, i, j);
                open[i] = true;
                open[j] = true;
            }
        });
        if !open.contains(&true) {
            break;
        }
        for c in 0..count {
            island[c] = root(&mut island, c);
            open[c] |= open[island[c] as usize];
        }
    }
    travel
}

/// Mean motion of each island; islands whose points do not move alike stay in the resting frame.
fn means(
    geometry: &Geometry,
    prediction: &Prediction<'_>,
    island: &[u32],
    still: &mut [bool],
    travel: &mut [Vec3],
) {
    let count = travel.len();
    let mut sum = vec![(Vec3::ZERO, 0.0_f64); count];
    for (v, &c) in geometry.component.iter().enumerate() {
        let s = &mut sum[island[c as usize] as usize];
        s.0 += prediction.wanted[v];
        s.1 += 1.0;
    }
    let mean: Vec<Vec3> = sum.iter().map(|(s, k)| if *k > 0.0 { *s / *k } else { Vec3::ZERO }).collect();
    let mut spread = vec![(0.0_f64, 0.0_f64); count];
    for (v, &c) in geometry.component.iter().enumerate() {
        let i = island[c as usize] as usize;
        let w = prediction.wanted[v];
        spread[i].0 = spread[i].0.max((w - mean[i]).length_squared());
        spread[i].1 = spread[i].1.max(w.length_squared());
    }
    for i in 0..count {
        still[i] |= spread[i].0 > FRAME_GAIN * FRAME_GAIN * spread[i].1;
    }
    for (c, travel) in travel.iter_mut().enumerate() {
        let i = island[c] as usize;
        *travel = if still[i] { Vec3::ZERO } else { mean[i] };
    }
}

/// Takes the frames away from what is `open`, and from all that these could meet with any frame or without.
fn give_up(
    geometry: &Geometry,
    x: &[Vec3],
    prediction: &Prediction<'_>,
    (mobile, kept): (&[bool], &[bool]),
    open: &[bool],
    travel: &mut [Vec3],
) {
    let resting = swept_boxes(geometry, x, prediction, &vec![Vec3::ZERO; travel.len()], kept);
    let moving = swept_boxes(geometry, x, prediction, travel, kept);
    let either: Vec<Aabb> = resting.iter().zip(&moving).map(|(a, b)| a.union(*b)).collect();
    let mut group: Vec<u32> = (0..travel.len() as u32).collect();
    overlapping(&either, |a, b| {
        if mobile[a] && mobile[b] {
            unite(&mut group, a, b);
        }
    });
    let mut gives_up = vec![false; travel.len()];
    for c in 0..travel.len() {
        group[c] = root(&mut group, c);
        gives_up[group[c] as usize] |= open[c];
    }
    for (travel, group) in travel.iter_mut().zip(&group) {
        if gives_up[*group as usize] {
            *travel = Vec3::ZERO;
        }
    }
}

/// Everywhere the points of each component may be while the frame moves, with the contact radius around; empty for what
/// is `kept`.
pub(super) fn swept_boxes(
    geometry: &Geometry,
    x: &[Vec3],
    prediction: &Prediction<'_>,
    travel: &[Vec3],
    kept: &[bool],
) -> Vec<Aabb> {
    let mut boxes = vec![Aabb::EMPTY; travel.len()];
    let is_kept = |c: u32| kept.get(c as usize).is_some_and(|k| *k);
    for (v, &c) in geometry.component.iter().enumerate() {
        if prediction.is_present(geometry, v) && !is_kept(c) {
            let b = &mut boxes[c as usize];
            *b = b.union(swept_point(geometry, x, prediction, travel[c as usize], v));
        }
    }
    boxes
}

/// Everywhere one point may be while the frame moves.
pub(super) fn swept_point(
    geometry: &Geometry,
    x: &[Vec3],
    prediction: &Prediction<'_>,
    travel: Vec3,
    v: usize,
) -> Aabb {
    let margin = prediction.margin[v] + prediction.share(geometry, v);
    let start = Aabb::point(x[v]).including(x[v] + prediction.wanted[v] - travel).inflated(margin);
    start.union(Aabb { min: start.min + travel, max: start.max + travel })
}

/// Overlapping boxes of two components meet, unless one is a collider none of whose triangles enters the other's
/// box, or the fluid none of whose particles does. `around` is where a point of either may be, if it is there.
pub(super) fn meet(
    geometry: &Geometry,
    around: impl Fn(usize) -> Option<Aabb>,
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
    if is_fluid(geometry, collider) {
        return particles_enter(geometry, around, &swept[other]);
    }
    geometry.collider_triangles[collider].iter().any(|&t| {
        let corners = geometry.surface.triangles[t as usize];
        let around = corners.iter().filter_map(|&v| around(v as usize)).fold(Aabb::EMPTY, Aabb::union);
        around.overlaps(&swept[other])
    })
}

/// True for the component of the particles.
pub(super) fn is_fluid(geometry: &Geometry, component: usize) -> bool {
    geometry.component.get(geometry.first_particle()).is_some_and(|c| *c as usize == component)
}

/// True if any particle may be in the box.
pub(super) fn particles_enter(
    geometry: &Geometry,
    around: impl Fn(usize) -> Option<Aabb>,
    swept: &Aabb,
) -> bool {
    let particles = geometry.first_particle()..geometry.component.len();
    particles.filter_map(around).any(|around| around.overlaps(swept))
}
