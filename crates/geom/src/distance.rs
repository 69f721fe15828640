//! Closest points between points, edges and triangles, with the region in which they lie.
//!
//! Well-shaped input takes the textbook route [Ericson 2005, §5.1]. Slivers, nearly parallel and zero-length edges
//! take a slower one that compares every candidate on the boundary with an interior solution computed from cross
//! products and corrected once by its own residual. Whatever the input, the returned points lie on the primitives
//! (up to the rounding of one multiply–add), so the returned distance is never below the true one by more than that.

use crate::math::Vec3;

/// Where on an edge a closest point lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeRegion {
    /// At end 0 or 1.
    Vertex(u8),
    /// Strictly between the ends.
    Interior,
}

/// Where on a triangle a closest point lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriangleRegion {
    /// At corner 0, 1 or 2.
    Vertex(u8),
    /// On edge i, which runs from corner i to corner (i+1) mod 3.
    Edge(u8),
    /// Strictly inside.
    Face,
}

/// The point of an edge that is closest to a given point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointEdge {
    /// Parameter on the edge, in [0, 1]; 0 at `a`.
    pub t: f64,
    /// The closest point `a + t (b − a)` [m].
    pub point: Vec3,
    /// Squared distance [m²].
    pub distance_sq: f64,
    /// Where on the edge.
    pub region: EdgeRegion,
}

/// The point of a triangle that is closest to a given point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointTriangle {
    /// Barycentric coordinates of the closest point, in [0, 1], summing to 1.
    pub bary: [f64; 3],
    /// The closest point [m].
    pub point: Vec3,
    /// Squared distance [m²].
    pub distance_sq: f64,
    /// Where on the triangle.
    pub region: TriangleRegion,
}

/// The closest points of two edges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EdgeEdge {
    /// Parameter on edge a, in [0, 1]; 0 at `a0`.
    pub s: f64,
    /// Parameter on edge b, in [0, 1]; 0 at `b0`.
    pub t: f64,
    /// Closest point of edge a [m].
    pub point_a: Vec3,
    /// Closest point of edge b [m].
    pub point_b: Vec3,
    /// Squared distance [m²].
    pub distance_sq: f64,
    /// Where on edge a.
    pub region_a: EdgeRegion,
    /// Where on edge b.
    pub region_b: EdgeRegion,
}

/// Triangles whose altitude is below this fraction of their longest edge, and edge pairs whose angle has a sine
/// below it, take the careful route. The short route loses a factor 1/sine of the 1e-16 rounding, so it still places
/// closest points to 1e-14 of the primitives' size. Smaller: less accurate just above the limit. Larger: more pairs
/// pay the two to three times dearer route.
const THIN: f64 = 0.02;

/// Closest point of the segment from `a` to `b`, which may have length zero.
#[inline]
pub fn closest_point_edge(p: Vec3, a: Vec3, b: Vec3) -> PointEdge {
    let u = b - a;
    let along = (p - a).dot(u);
    let length_sq = u.dot(u);
    // Written so that a zero-length edge answers with its end a.
    let (t, point, region) = if along > 0.0 && length_sq > 0.0 {
        if along >= length_sq {
            (1.0, b, EdgeRegion::Vertex(1))
        } else {
            let t = along / length_sq;
            (t, a + u * t, EdgeRegion::Interior)
        }
    } else {
        (0.0, a, EdgeRegion::Vertex(0))
    };
    PointEdge { t, point, distance_sq: p.distance_squared(point), region }
}

/// Closest point of a triangle of any shape, degenerate ones included.
#[inline]
pub fn closest_point_triangle(p: Vec3, triangle: [Vec3; 3]) -> PointTriangle {
    let [a, b, c] = triangle;
    let (ab, ac) = (b - a, c - a);
    let longest_sq = ab.length_squared().max(ac.length_squared()).max(b.distance_squared(c));
    // |ab × ac| = longest edge × its altitude.
    let n = ab.cross(ac);
    if n.length_squared() > THIN * THIN * longest_sq * longest_sq {
        closest_by_regions(p, triangle, n)
    } else {
        closest_by_candidates(p, triangle)
    }
}

/// [Ericson 2005, §5.1.5]: walks the Voronoi regions of corners, edges and face.
#[inline]
fn closest_by_regions(p: Vec3, [a, b, c]: [Vec3; 3], n: Vec3) -> PointTriangle {
    let (ab, ac) = (b - a, c - a);
    let answer = |bary: [f64; 3], point: Vec3, region| PointTriangle {
        bary,
        point,
        distance_sq: p.distance_squared(point),
        region,
    };
    let ap = p - a;
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return answer([1.0, 0.0, 0.0], a, TriangleRegion::Vertex(0));
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return answer([0.0, 1.0, 0.0], b, TriangleRegion::Vertex(1));
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let t = d1 / (d1 - d3);
        return answer([1.0 - t, t, 0.0], a + ab * t, TriangleRegion::Edge(0));
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return answer([0.0, 0.0, 1.0], c, TriangleRegion::Vertex(2));
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let t = d2 / (d2 - d6);
        return answer([1.0 - t, 0.0, t], a + ac * t, TriangleRegion::Edge(2));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        let t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return answer([0.0, 1.0 - t, t], b + (c - b) * t, TriangleRegion::Edge(1));
    }
    // v = vb / (va + vb + vc), from cross products: their error is ε/thinness, that of vb is ε/thinness².
    let per_nn = 1.0 / n.length_squared();
    let v = clamp_unit(ap.cross(ac).dot(n) * per_nn);
    let w = clamp_unit(ab.cross(ap).dot(n) * per_nn);
    answer([(1.0 - v - w).max(0.0), v, w], a + ab * v + ac * w, TriangleRegion::Face)
}

/// The best of the three edges and, where there is one, the foot of the perpendicular inside the face.
#[cold]
#[inline(never)]
fn closest_by_candidates(p: Vec3, x: [Vec3; 3]) -> PointTriangle {
    let mut best = None::<PointTriangle>;
    for i in 0..3u8 {
        let (from, to) = (i as usize, (i as usize + 1) % 3);
        let e = closest_point_edge(p, x[from], x[to]);
        if best.is_none_or(|b| e.distance_sq < b.distance_sq) {
            let mut bary = [0.0; 3];
            bary[from] = 1.0 - e.t;
            bary[to] = e.t;
            let region = match e.region {
                EdgeRegion::Vertex(0) => TriangleRegion::Vertex(i),
                EdgeRegion::Vertex(_) => TriangleRegion::Vertex(to as u8),
                EdgeRegion::Interior => TriangleRegion::Edge(i),
            };
            best = Some(PointTriangle { bary, point: e.point, distance_sq: e.distance_sq, region });
        }
    }
    let face = foot_on_thin_face(p, x);
    match (best, face) {
        (Some(b), Some(f)) if f.distance_sq < b.distance_sq => f,
        (Some(b), _) => b,
        (None, _) => unreachable!("a triangle has three edges"),
    }
}

/// The foot of the perpendicular from `p`, if it lies in the triangle, in the frame of the longest edge and its
/// altitude: the only frame of a sliver that is not itself nearly singular.
fn foot_on_thin_face(p: Vec3, x: [Vec3; 3]) -> Option<PointTriangle> {
    let length_sq = |i: usize| x[i].distance_squared(x[(i + 1) % 3]);
    let i = (1..3).fold(0, |best, i| if length_sq(i) > length_sq(best) { i } else { best });
    let (a, e, f) = (x[i], x[(i + 1) % 3] - x[i], x[(i + 2) % 3] - x[i]);
    let ee = e.dot(e);
    let s = e.dot(f) / ee;
    let altitude = f - e * s;
    let hh = altitude.dot(altitude);
    // point(u, w) = a + u e + w f = a + (u + s w) e + w altitude
    // Each round solves for the residual, with an error of ε/thinness times its length. Starting on the longest
    // edge, the first residual is already ⟂ e, and no longer than the distance of p from that edge.
    let (mut u, mut w) = ((p - a).dot(e) / ee, 0.0);
    for _ in 0..2 {
        let r = p - (a + e * u + f * w);
        let dw = r.dot(altitude) / hh;
        u += r.dot(e) / ee - s * dw;
        w += dw;
    }
    // Comparisons fail on NaN, that is, on triangles without area.
    if !(u > 0.0 && w > 0.0 && u + w < 1.0) {
        return None;
    }
    let mut bary = [0.0; 3];
    bary[i] = 1.0 - u - w;
    bary[(i + 1) % 3] = u;
    bary[(i + 2) % 3] = w;
    let point = a + e * u + f * w;
    Some(PointTriangle { bary, point, distance_sq: p.distance_squared(point), region: TriangleRegion::Face })
}

/// Closest points of two segments in any position: crossing, parallel, collinear, of length zero.
///
/// Where several pairs of points are equally close (parallel edges), one of them is returned, always the same.
#[inline]
pub fn closest_edge_edge(a0: Vec3, a1: Vec3, b0: Vec3, b1: Vec3) -> EdgeEdge {
    let (u, w, r) = (a1 - a0, b1 - b0, b0 - a0);
    let (uu, ww, uw) = (u.dot(u), w.dot(w), u.dot(w));
    let (ur, wr) = (u.dot(r), w.dot(r));
    let n = u.cross(w);
    let nn = n.dot(n);
    // |u × w| = |u| |w| sine(angle)
    if nn > THIN * THIN * uu * ww {
        // [Ericson 2005, §5.1.9]: best on the lines; then clamp s, best t for it; clamp t, best s for it.
        // r = s u − t w + d n, hence s = (r × w)·n / n². As a quotient of dot products it would lose ε/sine².
        let mut s = clamp_unit(r.cross(w).dot(n) / nn);
        let mut t = (uw * s - wr) / ww;
        if t <= 0.0 {
            t = 0.0;
            s = clamp_unit(ur / uu);
        } else if t >= 1.0 {
            t = 1.0;
            s = clamp_unit((uw + ur) / uu);
        }
        return edge_edge_at(a0, a1, b0, b1, s, t);
    }
    // The best of the four ends against the other edge (NaN of a zero length clamps to 0) …
    let (per_uu, per_ww) = (1.0 / uu, 1.0 / ww);
    let mut best = edge_edge_at(a0, a1, b0, b1, 0.0, clamp_unit(-wr * per_ww));
    for (s, t) in [
        (1.0, clamp_unit((uw - wr) * per_ww)),
        (clamp_unit(ur * per_uu), 0.0),
        (clamp_unit((uw + ur) * per_uu), 1.0),
    ] {
        let e = edge_edge_at(a0, a1, b0, b1, s, t);
        if e.distance_sq < best.distance_sq {
            best = e;
        }
    }
    // … and, unless they are exactly parallel, of the closest points of the two lines.
    if nn > 0.0 { better_on_the_lines(best, a0, b0, u, w, n) } else { best }
}

/// Clamps to [0, 1]; 0 for NaN.
#[inline]
#[allow(clippy::manual_clamp, reason = "f64::clamp would pass NaN on")]
fn clamp_unit(s: f64) -> f64 {
    s.max(0.0).min(1.0)
}

/// The pair of points at the parameters `s`, `t` in [0, 1]; the ends themselves at 0 and 1.
#[inline]
fn edge_edge_at(a0: Vec3, a1: Vec3, b0: Vec3, b1: Vec3, s: f64, t: f64) -> EdgeEdge {
    let place = |p: Vec3, q: Vec3, s: f64| {
        if s <= 0.0 {
            (p, EdgeRegion::Vertex(0))
        } else if s >= 1.0 {
            (q, EdgeRegion::Vertex(1))
        } else {
            (p + (q - p) * s, EdgeRegion::Interior)
        }
    };
    let (point_a, region_a) = place(a0, a1, s);
    let (point_b, region_b) = place(b0, b1, t);
    let distance_sq = point_a.distance_squared(point_b);
    EdgeEdge { s, t, point_a, point_b, distance_sq, region_a, region_b }
}

/// The closest points of two lines at a small angle if they lie inside the edges and are closer than `best`.
fn better_on_the_lines(best: EdgeEdge, a0: Vec3, b0: Vec3, u: Vec3, w: Vec3, n: Vec3) -> EdgeEdge {
    let nn = n.dot(n);
    // Each round solves for the residual, with an error of ε/sine times its length; `best` makes the first one short.
    let (mut s, mut t) = (best.s, best.t);
    for _ in 0..2 {
        let q = (b0 + w * t) - (a0 + u * s);
        s += q.cross(w).dot(n) / nn;
        t += q.cross(u).dot(n) / nn;
    }
    if s > 0.0 && s < 1.0 && t > 0.0 && t < 1.0 {
        let (point_a, point_b) = (a0 + u * s, b0 + w * t);
        let distance_sq = point_a.distance_squared(point_b);
        if distance_sq < best.distance_sq {
            let interior = EdgeRegion::Interior;
            return EdgeEdge { s, t, point_a, point_b, distance_sq, region_a: interior, region_b: interior };
        }
    }
    best
}
