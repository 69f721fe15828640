//! Which pairs are listed: those that no direction is known to keep apart until the next detection.
//!
//! Every point stays in its box. Two primitives whose boxes lie on different sides of a plane cannot touch, whatever
//! their points do: four directions are tried, the axes, and that of their gap. Before the gap is known, the common
//! perpendicular of the two features says the same of most pairs of stacked layers at less cost. Points that go a long way
//! stay in tubes, too, which may pass each other by.

use super::passing::pass_by;
use super::{Pair, Place, Query, Surface};
use crate::distance::{EdgeRegion, TriangleRegion, closest_edge_edge, closest_point_triangle};
use crate::math::{Aabb, Vec3};

/// What rounding may take of a distance between points in their boxes, in units of the largest coordinate: positions,
/// boxes and their sums are rounded once each, on two sides, and projections of what is left are smaller.
const ROUNDING: f64 = 32.0 * f64::EPSILON;

/// The query with what is derived from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Criterion<'q> {
    pub query: &'q Query<'q>,
    /// The box of each point relative to it (n) [m].
    pub drifts: &'q [Aabb],
    /// What rounding may take of a distance [m].
    pub pad: f64,
    /// Room that every point has in all directions, at least [m]: two primitives nearer than twice that may touch.
    pub least: f64,
}

/// Smallest room of a point in its box, as in [`Criterion::least`]; boxes of absent points are not asked.
pub(super) fn least_room(drifts: &[Aabb]) -> f64 {
    let least = drifts.iter().map(|d| d.max.min(-d.min).min_element()).fold(f64::INFINITY, f64::min);
    if least.is_finite() { least.max(0.0) } else { 0.0 }
}

/// Less than one by far more than rounding takes of a distance: a quicker answer must be the one that the boxes give.
const SURELY: f64 = 1.0 - 1e-6;

/// The boxes relative to their points; the box of all that are finite, and what rounding may take of a distance [m].
pub(super) fn drifts(q: &Query, out: &mut Vec<Aabb>) -> (Aabb, f64) {
    out.clear();
    out.extend(q.boxes.iter().zip(q.x).map(|(b, &x)| Aabb { min: b.min - x, max: b.max - x }));
    let all = q
        .boxes
        .iter()
        .fold(Aabb::EMPTY, |sum, b| if b.min.is_finite() && b.max.is_finite() { sum.union(*b) } else { sum });
    let largest = all.min.abs().max(all.max.abs()).max_element();
    (all, if largest.is_finite() { ROUNDING * largest } else { 0.0 })
}

impl Criterion<'_> {
    /// True only if all boxes of `a` are beyond all boxes of `b` along the unit vector `n`, along which their `gap` lies [m].
    #[inline]
    fn are_apart(&self, (gap, n): (f64, Vec3), a: &[u32], b: &[u32]) -> bool {
        if gap <= 2.0 * SURELY * self.least {
            return false;
        }
        let origin = self.query.x[a[0] as usize];
        let place = |p: u32| n.dot(self.query.x[p as usize] - origin);
        let low =
            (a.iter()).fold(f64::INFINITY, |m, &p| m.min(place(p) - self.drifts[p as usize].support(-n)));
        let high =
            (b.iter()).fold(f64::NEG_INFINITY, |m, &p| m.max(place(p) + self.drifts[p as usize].support(n)));
        low - high > self.pad
    }

    /// True only if two planes at an offset `r` that both contain the directions u and w are farther apart than their
    /// points in `a` and `b` can cover, by reach or by box: |r·n| > limit with n = u × w.
    #[inline]
    fn planes_apart(&self, r: Vec3, (u, w): (Vec3, Vec3), a: &[u32], b: &[u32]) -> bool {
        let n = u.cross(w);
        let along = r.dot(n);
        let (size_sq, away_sq) = (n.length_squared(), along * along);
        // The computed r·n is off by less than e = 1e-14 |r| |u| |w|, so that |r·n| > limit |n| + e is proof; in squares,
        // (limit |n| + e)² ≤ 1.01 limit² n² + 101 e².
        let error_sq = 101.0 * 1e-28 * r.length_squared() * u.length_squared() * w.length_squared();
        let limit = reach(self.query, a) + reach(self.query, b) + self.query.offset;
        if away_sq > 1.01 * limit * limit * size_sq + error_sq {
            return true;
        }
        // The boxes cover twice the least room along any n.
        if away_sq <= 4.0 * SURELY * self.least * self.least * size_sq {
            return false;
        }
        // From a to b is along n, or against it.
        let n = if along < 0.0 { -n } else { n };
        let most = |points: &[u32], n: Vec3| {
            points.iter().fold(f64::NEG_INFINITY, |m: f64, &p| m.max(self.drifts[p as usize].support(n)))
        };
        let limit = (most(a, n) + most(b, -n)).max(0.0);
        // The same with pad |n| + e in the place of e.
        away_sq > 1.01 * limit * limit + 202.0 * self.pad * self.pad * size_sq + 2.0 * error_sq
    }
}

/// The pair of vertex `v` and triangle `t`, if its gap and boxes ask for it; its activity is the caller's business.
#[inline]
pub(super) fn vertex_triangle_pair(surface: &Surface, near: &Criterion<'_>, v: u32, t: u32) -> Option<Pair> {
    let q = near.query;
    let triangle = surface.triangles[t as usize];
    if triangle.contains(&v) || q.is_rigid(v, triangle[0]) {
        return None;
    }
    let (p, x) = (q.x[v as usize], triangle.map(|i| q.x[i as usize]));
    let limit = reach(q, &[v]) + reach(q, &triangle) + q.offset;
    let c = closest_point_triangle(p, x);
    if is_beyond(c.distance_sq, limit) || !hull(q, &[v]).overlaps(&hull(q, &triangle)) {
        return None;
    }
    let crossing = match c.region {
        TriangleRegion::Face => Some(([x[0], x[1], x[2], p], x[1] - x[0], x[2] - x[0])),
        TriangleRegion::Vertex(_) | TriangleRegion::Edge(_) => None,
    };
    let (gap, normal) = gap_and_normal(p - c.point, crossing);
    let place = c.region.into();
    let apart = near.are_apart((gap, normal), &[v], &triangle) || pass_by(near, gap, &[v], &triangle);
    (gap <= limit && !apart).then_some(Pair { a: v, b: t, gap, normal, place })
}

/// The pair of edges `a < b`, if its gap and boxes ask for it; its activity is the caller's business.
#[inline]
pub(super) fn edge_edge_pair(surface: &Surface, near: &Criterion<'_>, a: u32, b: u32) -> Option<Pair> {
    let q = near.query;
    let (ea, eb) = (surface.edges[a as usize], surface.edges[b as usize]);
    if eb.contains(&ea[0]) || eb.contains(&ea[1]) || q.is_rigid(ea[0], eb[0]) {
        return None;
    }
    let [a0, a1] = ea.map(|i| q.x[i as usize]);
    let [b0, b1] = eb.map(|i| q.x[i as usize]);
    let limit = reach(q, &ea) + reach(q, &eb) + q.offset;
    let c = closest_edge_edge(a0, a1, b0, b1);
    if is_beyond(c.distance_sq, limit) || !hull(q, &ea).overlaps(&hull(q, &eb)) {
        return None;
    }
    let crossing = match (c.region_a, c.region_b) {
        (EdgeRegion::Interior, EdgeRegion::Interior) => Some(([b0, b1, a0, a1], a1 - a0, b1 - b0)),
        (EdgeRegion::Vertex(_), _) | (_, EdgeRegion::Vertex(_)) => None,
    };
    let (gap, normal) = gap_and_normal(c.point_a - c.point_b, crossing);
    let place = if crossing.is_some() { Place::Inside } else { Place::End };
    let apart = near.are_apart((gap, normal), &ea, &eb) || pass_by(near, gap, &ea, &eb);
    (gap <= limit && !apart).then_some(Pair { a, b, gap, normal, place })
}

/// True when the distance is surely above the limit; a gap that is recomputed more exactly gets the last word.
#[inline]
fn is_beyond(distance_sq: f64, limit: f64) -> bool {
    // Two formulas for a gap agree to far better than 1e-6 unless it is below the rounding of the coordinates.
    distance_sq > limit * limit * (1.0 + 1e-6)
}

/// Gap and unit normal from the difference of the closest points. Where both are interior (`crossing`: four points
/// and two directions u, w), the normal is also ±n/|n| with n = u × w, and the gap |D|/|n|, where
/// D = −orient3d(points) = difference · n is known to rounding error and its sign exactly: the side is right however
/// small the gap is.
#[inline]
fn gap_and_normal(difference: Vec3, crossing: Option<([Vec3; 4], Vec3, Vec3)>) -> (f64, Vec3) {
    let gap_sq = difference.length_squared();
    if let Some((points, u, w)) = crossing {
        let n = u.cross(w);
        let nn = n.length_squared();
        // With L the longer of u and w, the difference is good to εL/gap, n to ε/sine: take the better.
        // gap ≤ L sine ⇔ gap² min(u², w²) ≤ n²
        if nn > 0.0 && gap_sq * u.length_squared().min(w.length_squared()) <= nn {
            let [a, b, c, d] = points.map(|p| robust::Coord3D { x: p.x, y: p.y, z: p.z });
            let determinant = -robust::orient3d(a, b, c, d);
            if determinant == 0.0 {
                return (0.0, Vec3::ZERO);
            }
            let length = nn.sqrt();
            return (determinant.abs() / length, n * (determinant.signum() / length));
        }
    }
    let gap = gap_sq.sqrt();
    if gap > 0.0 { (gap, difference / gap) } else { (0.0, Vec3::ZERO) }
}

/// True only if the pair of these edges is not listed: they share a point, or their lines are too far apart.
#[inline]
pub(super) fn edges_surely_apart(near: &Criterion<'_>, a: [u32; 2], b: [u32; 2]) -> bool {
    let q = near.query;
    if b.contains(&a[0]) || b.contains(&a[1]) || q.is_rigid(a[0], b[0]) {
        return true;
    }
    let ([a0, a1], [b0, b1]) = (a.map(|p| q.x[p as usize]), b.map(|p| q.x[p as usize]));
    near.planes_apart(b0 - a0, (a1 - a0, b1 - b0), &a, &b)
}

/// True only if the pair of this vertex and triangle is not listed: they share a point, or the vertex is too far from
/// the triangle's plane.
#[inline]
pub(super) fn vertex_surely_off(near: &Criterion<'_>, v: u32, t: [u32; 3]) -> bool {
    let q = near.query;
    if t.contains(&v) || q.is_rigid(v, t[0]) {
        return true;
    }
    let (p, [a, b, c]) = (q.x[v as usize], t.map(|p| q.x[p as usize]));
    near.planes_apart(a - p, (b - a, c - a), &[v], &t)
}

/// Largest reach of the points [m].
#[inline]
fn reach(q: &Query, points: &[u32]) -> f64 {
    points.iter().fold(0.0, |r: f64, &p| r.max(q.reach[p as usize]))
}

/// Box of the points' boxes.
#[inline]
fn hull(q: &Query, points: &[u32]) -> Aabb {
    points.iter().fold(Aabb::EMPTY, |sum, &p| sum.union(q.boxes[p as usize]))
}
