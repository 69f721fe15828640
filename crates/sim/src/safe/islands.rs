//! Islands: what nothing else may touch before the next detection.
//!
//! Every component stays in its swept box until then, the way of its frame included. Those whose boxes meet are one
//! island, and so are those that the step couples by other means. What cannot move at all joins nothing. Why an island
//! may be committed and detected anew on its own: `docs/derivations/detection.md`.

use super::Detection;
use super::detect::{Geometry, Prediction};
use super::frames::{frames, is_fluid, meet, particles_enter, swept_point};
use littoral_geom::math::{Aabb, Vec3};
use littoral_geom::sweep::overlapping;

/// What is known of the components before anything is listed.
#[derive(Clone, Debug, Default)]
pub(super) struct Survey {
    /// Translation of each component [m].
    pub travel: Vec<Vec3>,
    /// Whether any of its points may move.
    pub mobile: Vec<bool>,
    /// First component of the island of each component.
    pub island: Vec<u32>,
}

/// Looks at all components but those `kept` (by component, or empty), which stay as the detection `out` has them.
pub(super) fn survey(
    geometry: &Geometry,
    x: &[Vec3],
    prediction: &Prediction<'_>,
    kept: &[bool],
    out: &Detection,
) -> Survey {
    let count = geometry.prescribed.len();
    let mut mobile = vec![false; count];
    for (v, &c) in geometry.component.iter().enumerate() {
        mobile[c as usize] |= prediction.wanted[v] != Vec3::ZERO || prediction.margin[v] != 0.0;
    }
    for (m, _) in mobile.iter_mut().zip(kept).filter(|(_, kept)| **kept) {
        *m = true;
    }
    let travel = frames(geometry, x, prediction, (&mobile, kept));
    let mut island: Vec<u32> = (0..count as u32).collect();
    if mobile.iter().filter(|m| **m).count() > 1 {
        let is_kept = |v: usize| kept.get(geometry.component[v] as usize).is_some_and(|k| *k);
        // What is kept stays within its budgets, whatever is predicted now.
        let around = |v: usize| {
            prediction.is_present(geometry, v).then(|| {
                if is_kept(v) {
                    return swept_budget(
                        x[v],
                        &out.budget[v].around,
                        out.frame[v],
                        prediction.share(geometry, v),
                    );
                }
                swept_point(geometry, x, prediction, travel[geometry.component[v] as usize], v)
            })
        };
        let mut swept = vec![Aabb::EMPTY; count];
        for (v, &c) in geometry.component.iter().enumerate() {
            if let Some(around) = around(v) {
                let b = &mut swept[c as usize];
                *b = b.union(around);
            }
        }
        join(geometry, around, (&mobile, &swept), &mut island);
    }
    Survey { travel, mobile, island }
}

/// Everywhere a point at `p` [m] may be that stays in its budget while its frame moves, with its share around.
fn swept_budget(p: Vec3, budget: &Aabb, frame: Vec3, share: f64) -> Aabb {
    let around = budget.inflated(share);
    let start = Aabb { min: p + around.min, max: p + around.max };
    start.union(Aabb { min: start.min + frame, max: start.max + frame })
}

/// Joins what meets, and what is coupled.
fn join(
    geometry: &Geometry,
    around: impl Fn(usize) -> Option<Aabb>,
    (mobile, swept): (&[bool], &[Aabb]),
    island: &mut [u32],
) {
    let may_meet = |a: usize, b: usize| {
        // Particles meet colliders, too.
        for (c, other) in [(a, b), (b, a)] {
            if is_fluid(geometry, c) {
                return particles_enter(geometry, &around, &swept[other]);
            }
        }
        // A collider without triangles is judged by its box.
        let bare = |c: usize| geometry.prescribed[c] && geometry.collider_triangles[c].is_empty();
        bare(a) || bare(b) || meet(geometry, &around, swept, a, b)
    };
    overlapping(swept, |a, b| {
        if mobile[a] && mobile[b] && root(island, a) != root(island, b) && may_meet(a, b) {
            unite(island, a, b);
        }
    });
    for &[a, b] in &geometry.coupled {
        if mobile[a as usize] && mobile[b as usize] {
            unite(island, a as usize, b as usize);
        }
    }
    for c in 0..island.len() {
        island[c] = root(island, c);
    }
}

/// The smaller number leads.
pub(super) fn unite(island: &mut [u32], a: usize, b: usize) {
    let (a, b) = (root(island, a), root(island, b));
    island[a.max(b) as usize] = a.min(b);
}

/// The first component of the island of `c`; those on the way there are set nearer to it.
pub(super) fn root(island: &mut [u32], c: usize) -> u32 {
    let mut c = c as u32;
    while island[c as usize] != c {
        island[c as usize] = island[island[c as usize] as usize];
        c = island[c as usize];
    }
    c
}
