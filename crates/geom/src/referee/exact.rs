//! The referee's predicates: signs of determinants, exact for all inputs, and what follows from them.

use crate::math::Vec3;

/// Exact sign of Shewchuk's orient3d(a, b, c, d) = −det(b − a, c − a, d − a).
#[inline]
pub(super) fn side(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> i32 {
    let [a, b, c, d] = [a, b, c, d].map(|p| robust::Coord3D { x: p.x, y: p.y, z: p.z });
    sign(robust::orient3d(a, b, c, d))
}

/// A point without one of its coordinates: an exact projection.
type Flat = [f64; 2];

#[inline]
fn drop_axis(p: Vec3, axis: usize) -> Flat {
    [p[(axis + 1) % 3], p[(axis + 2) % 3]]
}

/// Exact sign of the area of a, b, c: positive counterclockwise.
#[inline]
fn turn(a: Flat, b: Flat, c: Flat) -> i32 {
    let [a, b, c] = [a, b, c].map(|p| robust::Coord { x: p[0], y: p[1] });
    sign(robust::orient2d(a, b, c))
}

#[inline]
fn sign(value: f64) -> i32 {
    (value > 0.0) as i32 - (value < 0.0) as i32
}

/// True when all signs are ≥ 0 or all are ≤ 0.
#[inline]
fn agree(signs: [i32; 3]) -> bool {
    signs.iter().all(|&s| s >= 0) || signs.iter().all(|&s| s <= 0)
}

/// True when the closed segment and the closed triangle, of any shape, share a point.
pub(super) fn edge_meets_triangle([p, q]: [Vec3; 2], [a, b, c]: [Vec3; 3]) -> bool {
    if surely_one_side([p, q], [a, b, c]) {
        return false;
    }
    let (at_p, at_q) = (side(a, b, c, p), side(a, b, c, q));
    if at_p * at_q > 0 {
        return false;
    }
    if at_p == 0 && at_q == 0 {
        return coplanar_meet([p, q], [a, b, c]);
    }
    // The triangle has an area (else both sides were 0), and the line pq pierces its plane in one point, which is in
    // the triangle if pq passes all three edges on the same side.
    agree([side(p, q, a, b), side(p, q, b, c), side(p, q, c, a)])
}

/// True only if the edge is strictly on one side of the triangle's plane: what plain arithmetic can prove, for less
/// than the exact test costs.
#[inline]
pub(super) fn surely_one_side([p, q]: [Vec3; 2], [a, b, c]: [Vec3; 3]) -> bool {
    let (u, v, dp, dq) = (b - a, c - a, p - a, q - a);
    let n = u.cross(v);
    let (at_p, at_q) = (n.dot(dp), n.dot(dq));
    // A determinant has six products of three differences; each carries at most seven roundings of 1.1e-16. The last
    // term covers underflow.
    let largest = |d: Vec3| d.abs().max_element();
    let error = 1e-14 * largest(u) * largest(v) * largest(dp).max(largest(dq)) + 1e-290;
    at_p.min(at_q) > error || at_p.max(at_q) < -error
}

/// Whether they meet, for an edge in the plane of the triangle, or a triangle without area.
#[cold]
fn coplanar_meet([p, q]: [Vec3; 2], [a, b, c]: [Vec3; 3]) -> bool {
    for axis in 0..3 {
        let [fp, fq, fa, fb, fc] = [p, q, a, b, c].map(|v| drop_axis(v, axis));
        if turn(fa, fb, fc) == 0 {
            continue;
        }
        // The projection has an area, so it maps the plane one to one.
        let inside = |f: Flat| agree([turn(fa, fb, f), turn(fb, fc, f), turn(fc, fa, f)]);
        return inside(fp)
            || inside(fq)
            || [(fa, fb), (fb, fc), (fc, fa)].iter().any(|&(u, v)| flat_meet(fp, fq, u, v));
    }
    // All three projections, that is, all components of the triangle's normal, are exactly zero: it is the union of
    // its edges.
    [(a, b), (b, c), (c, a)].iter().any(|&(u, v)| segments_meet(p, q, u, v))
}

/// True when two closed segments in space, of any length, share a point.
fn segments_meet(p: Vec3, q: Vec3, u: Vec3, v: Vec3) -> bool {
    if side(p, q, u, v) != 0 {
        return false;
    }
    for axis in 0..3 {
        let [fp, fq, fu, fv] = [p, q, u, v].map(|w| drop_axis(w, axis));
        let turns = [turn(fp, fq, fu), turn(fp, fq, fv), turn(fu, fv, fp), turn(fu, fv, fq)];
        if turns != [0; 4] {
            return flat_meet(fp, fq, fu, fv);
        }
    }
    // All four on one line: they share a point if their boxes do.
    p.min(q).cmple(u.max(v)).all() && u.min(v).cmple(p.max(q)).all()
}

/// True when two closed segments in the plane, of any length, share a point: their boxes overlap, and neither lies
/// strictly on one side of the other's line.
fn flat_meet(p: Flat, q: Flat, u: Flat, v: Flat) -> bool {
    let overlap = |k: usize| p[k].min(q[k]) <= u[k].max(v[k]) && u[k].min(v[k]) <= p[k].max(q[k]);
    overlap(0) && overlap(1) && turn(p, q, u) * turn(p, q, v) <= 0 && turn(u, v, p) * turn(u, v, q) <= 0
}
