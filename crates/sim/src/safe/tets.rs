//! The pairs inside tets: 4 of a corner and the opposite face, 3 of opposite edges. Kept apart, they keep the volume of a
//! tet from ever being 0.

use super::divide::plane;
use super::{Budget, Plane};
use littoral_geom::distance::{closest_edge_edge, closest_point_triangle};
use littoral_geom::math::{Aabb, Vec3};
use littoral_geom::pairs::{Pair, Place};

/// The first `SIDES[k]` of the four corners against the others.
const PAIRS: [[usize; 4]; 7] =
    [[0, 1, 2, 3], [1, 0, 3, 2], [2, 0, 1, 3], [3, 0, 2, 1], [0, 1, 2, 3], [0, 2, 1, 3], [0, 3, 1, 2]];

/// Corners on the first side of each pair.
const SIDES: [usize; 7] = [1, 1, 1, 1, 2, 2, 2];

/// The pairs of one tet that its points could close within their boxes `budget` [m]. `finest`: the resolution of its
/// points [m].
pub(super) fn tet_planes(
    x: &[Vec3],
    budget: &[Budget],
    t: [u32; 4],
    finest: f64,
) -> impl Iterator<Item = Plane> {
    let p = t.map(|v| x[v as usize]);
    let b = t.map(|v| budget[v as usize].around);
    let volume6 = (p[1] - p[0]).dot((p[2] - p[0]).cross(p[3] - p[0])).abs();
    // The planes or lines that carry a pair are 6V over this apart, and so is the pair at least.
    let across: [Vec3; 7] = std::array::from_fn(|k| {
        let q = PAIRS[k].map(|c| p[c]);
        if SIDES[k] == 1 { (q[2] - q[1]).cross(q[3] - q[1]) } else { (q[1] - q[0]).cross(q[3] - q[2]) }
    });
    let largest = across.iter().map(|n| n.length_squared()).fold(0.0, f64::max).sqrt();
    let room = volume6 - finest * largest;
    let most = b.iter().map(|b| b.max.max(-b.min).length_squared()).fold(0.0, f64::max).sqrt();
    let pairs = if 2.0 * most * largest < room { 0..0 } else { 0..7 };
    pairs.filter_map(move |k| {
        let (order, side_a, n) = (PAIRS[k], SIDES[k], across[k]);
        let q = order.map(|c| p[c]);
        // From the second side to the first.
        let n = if n.dot(q[0] - q[3]) < 0.0 { -n } else { n };
        let boxes = order.map(|c| &b[c]);
        let far = |side: &[&Aabb], n: Vec3| side.iter().map(|b| b.support(n)).fold(0.0, f64::max);
        if far(&boxes[..side_a], -n) + far(&boxes[side_a..], n) < room {
            return None;
        }
        let (from_a, from_b) = if side_a == 1 {
            let c = closest_point_triangle(q[0], [q[1], q[2], q[3]]);
            (q[0], c.point)
        } else {
            let c = closest_edge_edge(q[0], q[1], q[2], q[3]);
            (c.point_a, c.point_b)
        };
        let gap = (from_a - from_b).length();
        let normal = if gap > 0.0 { (from_a - from_b) / gap } else { Vec3::ZERO };
        let pair = Pair { a: 0, b: 0, gap, normal, place: Place::Inside };
        let plane = Plane { surface: false, ..plane(x, order.map(|c| t[c]), side_a as u8, &pair, finest) };
        // The gap of the plane is proven, a distance is as good as its closest points.
        plane.may_close(boxes).then_some(plane)
    })
}
