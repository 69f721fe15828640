//! The direction that divides a pair, and how much of its gap the two sides may share.

use super::{Budget, Plane};
use littoral_geom::math::Vec3;
use littoral_geom::pairs::Pair;

/// What a gap keeps against rounding, in units of the largest coordinate. A commit rounds each coordinate of a point
/// twice, which moves the two sides of a pair together by at most 2√3 ε of that; the rest is for the projections.
/// Without it a lasting load, which takes γ of the gap at every commit, ends below rounding and passes through.
const RESOLUTION: f64 = 16.0 * f64::EPSILON;

/// A normal that finds less than this share of the distance along itself has lost digits, and a better one is sought.
const ACCURATE: f64 = 0.999;

/// The smallest gap that rounding cannot close [m], for a pair of these points: relative to the largest coordinate
/// they may have until the next detection.
pub(crate) fn resolution(x: &[Vec3], frame: &[Vec3], budget: &[Budget], points: [u32; 4]) -> f64 {
    resolution_at(points.map(|v| {
        let v = v as usize;
        farthest(x[v], frame[v], &budget[v])
    }))
}

/// The same where the points come that far from the origin, as their largest coordinates [m].
#[inline]
pub(super) fn resolution_at(farthest: [f64; 4]) -> f64 {
    RESOLUTION * farthest.into_iter().fold(0.0, f64::max)
}

/// Largest coordinate that a point may have until the next detection [m].
#[inline]
pub(super) fn farthest(x: Vec3, frame: Vec3, budget: &Budget) -> f64 {
    (x.abs() + frame.abs() + budget.extent()).max_element()
}

/// Two convex primitives between the planes that touch them across a direction.
#[derive(Clone, Copy)]
struct Slab {
    normal: Vec3,
    /// Distance of the two planes [m]; not positive when the direction divides nothing.
    thickness: f64,
    behind: [f64; 4],
}

impl Slab {
    /// Points relative to the first, so that only the size of the pair limits the accuracy.
    fn across(normal: Vec3, y: &[Vec3; 4], split: usize) -> Self {
        let along = y.map(|p| normal.dot(p));
        // A's nearest point has the smallest coordinate of A, B's the largest of B.
        let low = along[..split].iter().copied().fold(f64::INFINITY, f64::min);
        let high = along[split..].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let behind = std::array::from_fn(|s| if s < split { along[s] - low } else { high - along[s] });
        Slab { normal, thickness: low - high, behind }
    }
}

/// The plane of a pair, with how far each point lies behind the closest point of its side. The gap is the room
/// between the two sides along the normal, never more than their distance, less the resolution [m].
pub(super) fn plane(x: &[Vec3], points: [u32; 4], side_a: u8, pair: &Pair, resolution: f64) -> Plane {
    let split = side_a as usize;
    let first = x[points[0] as usize];
    let y = points.map(|v| x[v as usize] - first);
    let mut slab = Slab::across(pair.normal, &y, split);
    if slab.thickness < ACCURATE * pair.gap {
        slab = thickest(&y, split, slab);
    }
    if slab.thickness <= 0.0 {
        // Touching, to rounding: no direction is known to part the two sides, so nothing of them moves.
        slab = Slab::across(Vec3::ZERO, &y, split);
    }
    let gap = (slab.thickness - resolution).max(0.0);
    Plane {
        normal: slab.normal,
        gap,
        points,
        behind: slab.behind,
        primitives: [pair.a, pair.b],
        surface: true,
        side_a,
        place: pair.place,
    }
}

/// The thickest slab across the common perpendiculars of any two features. That of the closest two is as thick as the
/// distance, and it comes from products that are accurate where the difference of two close points is not.
#[cold]
fn thickest(y: &[Vec3; 4], split: usize, start: Slab) -> Slab {
    let mut best = start;
    let mut consider = |n: Vec3| {
        let length = n.length();
        if length > 0.0 {
            for normal in [n / length, -n / length] {
                let slab = Slab::across(normal, y, split);
                if slab.thickness > best.thickness {
                    best = slab;
                }
            }
        }
    };
    let sides: [&[usize]; 2] = if split == 1 { [&[0], &[1, 2, 3]] } else { [&[0, 1], &[2, 3]] };
    let edges: &[[usize; 2]] = if split == 1 { &[[1, 2], [2, 3], [3, 1]] } else { &[[0, 1], [2, 3]] };
    let along = |e: [usize; 2]| y[e[1]] - y[e[0]];
    // Face and point, or edge and edge.
    let (u, w) = (along(edges[0]), along(edges[1]));
    let n = u.cross(w);
    consider(orthogonal(orthogonal(n / n.length(), orthogonal(w, u)), u));
    for &a in sides[0] {
        for &b in sides[1] {
            consider(y[a] - y[b]);
        }
    }
    // Edge and any point that is not on it.
    for &e in edges {
        for p in (0..4).filter(|p| !e.contains(p)) {
            consider(orthogonal(y[p] - y[e[0]], along(e)));
        }
    }
    best
}

/// The part of `v` orthogonal to `u`. The second round removes what the rounding of the first one left.
fn orthogonal(v: Vec3, u: Vec3) -> Vec3 {
    let uu = u.length_squared();
    if uu == 0.0 {
        return v;
    }
    let once = v - u * (v.dot(u) / uu);
    once - u * (once.dot(u) / uu)
}
