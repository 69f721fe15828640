//! Polygons into triangles: ears are clipped in the plane that fits best, the fattest first; of a quadrilateral the
//! shorter of the possible diagonals is taken. Holes are allowed where a polygon visits a bridge twice.

use littoral_geom::math::Vec3;

/// Most corners a polygon may have. Clipping takes quadratic time: 10⁸ steps at this limit.
pub(super) const CORNERS_LIMIT: usize = 10_000;

/// Twice an area below this fraction of the polygon's size squared counts as none: a rounding error, not a corner.
const FLAT: f64 = 1e-12;

/// Two diagonals of a quadrilateral that differ by less than this fraction count as equal, so that rounding does not
/// make a pattern on a regular grid.
const DIAGONAL_TIE: f64 = 1e-6;

/// A point in the plane of the polygon.
type Point = [f64; 2];

/// Appends the triangles of a polygon, turning as it does. False when the polygon crosses itself or has no area:
/// then the triangles cover it in some way.
pub(super) fn triangulate(corners: &[u32], x: &[Vec3], out: &mut Vec<[u32; 3]>) -> bool {
    if corners.len() <= 3 {
        out.extend(corners.first_chunk::<3>());
        return true;
    }
    let points: Vec<Vec3> = corners.iter().map(|&c| x[c as usize]).collect();
    let Some(points) = project(&points) else {
        out.extend((1..corners.len() - 1).map(|i| [corners[0], corners[i], corners[i + 1]]));
        return false;
    };
    let mut ears = Vec::with_capacity(corners.len() - 2);
    let clean = clip(&points, &mut ears);
    out.extend(ears.iter().map(|e| e.map(|i| corners[i])));
    clean
}

/// The points in the plane normal to the vector area, scaled to size one; `None` when that is zero.
fn project(points: &[Vec3]) -> Option<Vec<Point>> {
    let origin = points[0];
    let size = points.iter().map(|p| (*p - origin).abs().max_element()).fold(0.0, f64::max);
    let local: Vec<Vec3> = points.iter().map(|p| (*p - origin) / size).collect();
    // Newell: n = ½ Σ pᵢ × pᵢ₊₁
    let normal: Vec3 = (0..local.len()).map(|i| 0.5 * local[i].cross(local[(i + 1) % local.len()])).sum();
    if size == 0.0 || normal.length() < FLAT {
        return None;
    }
    let (u, v) = normal.normalize().any_orthonormal_pair();
    // u × v = n keeps the turn of the polygon.
    let v = if u.cross(v).dot(normal) > 0.0 { v } else { -v };
    Some(local.iter().map(|p| [u.dot(*p), v.dot(*p)]).collect())
}

/// Twice the signed area of a triangle.
fn area2(a: Point, b: Point, c: Point) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

fn distance_sq(a: Point, b: Point) -> f64 {
    (b[0] - a[0]).powi(2) + (b[1] - a[1]).powi(2)
}

/// Clips ears until a quadrilateral is left.
fn clip(points: &[Point], out: &mut Vec<[usize; 3]>) -> bool {
    let mut clean = true;
    let mut ring: Vec<usize> = (0..points.len()).collect();
    let mut quality: Vec<Option<f64>> = (0..ring.len()).map(|i| ear(points, &ring, i)).collect();
    while ring.len() > 4 {
        let mut best = fattest(&quality);
        if best.is_none() {
            // A corner that became convex may free ears that were blocked.
            quality = (0..ring.len()).map(|i| ear(points, &ring, i)).collect();
            best = fattest(&quality);
        }
        clean &= best.is_some();
        let i = best.unwrap_or(0);
        let n = ring.len();
        out.push([ring[(i + n - 1) % n], ring[i], ring[(i + 1) % n]]);
        ring.remove(i);
        quality.remove(i);
        let n = n - 1;
        for neighbour in [(i + n - 1) % n, i % n] {
            quality[neighbour] = ear(points, &ring, neighbour);
        }
    }
    split_quad(points, [ring[0], ring[1], ring[2], ring[3]], out) && clean
}

fn fattest(quality: &[Option<f64>]) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for (i, q) in quality.iter().enumerate() {
        if let Some(q) = *q
            && best.is_none_or(|(_, b)| q > b)
        {
            best = Some((i, q));
        }
    }
    best.map(|(i, _)| i)
}

/// Quality (area over longest side squared) of the ear at ring position `i`; `None` when it is no ear: the corner is
/// not convex, or another corner that is not convex lies in the triangle.
fn ear(points: &[Point], ring: &[usize], i: usize) -> Option<f64> {
    let n = ring.len();
    let corner = |i: usize| points[ring[i % n]];
    let (a, b, c) = (corner(i + n - 1), corner(i), corner(i + 1));
    let area = area2(a, b, c);
    if area <= FLAT {
        return None;
    }
    let blocked = (0..n).any(|j| {
        let p = corner(j);
        let is_corner = p == a || p == b || p == c;
        !is_corner
            && area2(a, b, p) >= -FLAT
            && area2(b, c, p) >= -FLAT
            && area2(c, a, p) >= -FLAT
            && area2(corner(j + n - 1), p, corner(j + 1)) <= FLAT
    });
    (!blocked).then(|| area / distance_sq(a, b).max(distance_sq(b, c)).max(distance_sq(c, a)))
}

fn split_quad(points: &[Point], q: [usize; 4], out: &mut Vec<[usize; 3]>) -> bool {
    let p = q.map(|i| points[i]);
    let first = area2(p[0], p[1], p[2]) > FLAT && area2(p[0], p[2], p[3]) > FLAT;
    let second = area2(p[0], p[1], p[3]) > FLAT && area2(p[1], p[2], p[3]) > FLAT;
    let longer = distance_sq(p[0], p[2]) > distance_sq(p[1], p[3]) * (1.0 + DIAGONAL_TIE);
    if second && (!first || longer) {
        out.extend([[q[0], q[1], q[3]], [q[1], q[2], q[3]]]);
    } else {
        out.extend([[q[0], q[1], q[2]], [q[0], q[2], q[3]]]);
    }
    first || second
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(x: &[Vec3], triangles: &[[u32; 3]]) -> (f64, f64) {
        let areas: Vec<f64> = triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|i| x[i as usize]);
                0.5 * (b - a).cross(c - a).z
            })
            .collect();
        (areas.iter().sum(), areas.iter().copied().fold(f64::INFINITY, f64::min))
    }

    fn flat(points: &[[f64; 2]]) -> Vec<Vec3> {
        points.iter().map(|p| Vec3::new(p[0], p[1], 0.0)).collect()
    }

    fn check(points: &[[f64; 2]], expected: f64) {
        let x = flat(points);
        for shift in 0..x.len() {
            let corners: Vec<u32> = (0..x.len()).map(|i| ((i + shift) % x.len()) as u32).collect();
            let mut out = Vec::new();
            assert!(triangulate(&corners, &x, &mut out), "{points:?} from {shift}");
            assert_eq!(out.len(), x.len() - 2);
            let (sum, least) = area(&x, &out);
            assert!((sum - expected).abs() < 1e-12 && least > 1e-12, "{points:?}: {sum} {least} {out:?}");
        }
    }

    /// A dart, an L, a comb, a triangle with midpoints on its sides, and a square frame opened by a bridge.
    #[test]
    fn non_convex_polygons_are_covered_without_overlap() {
        check(&[[0., 0.], [2., 1.], [0., 2.], [1., 1.]], 1.0);
        check(&[[0., 0.], [2., 0.], [2., 1.], [1., 1.], [1., 2.], [0., 2.]], 3.0);
        check(&[[0., 0.], [5., 0.], [5., 3.], [4., 1.], [3., 3.], [2., 1.], [1., 3.], [0., 1.]], 10.0);
        check(&[[0., 0.], [1., 0.], [2., 0.], [1., 1.], [0., 2.], [0., 1.]], 2.0);
        check(
            &[
                [0., 0.],
                [3., 0.],
                [3., 3.],
                [0., 3.],
                [0., 0.],
                [1., 1.],
                [1., 2.],
                [2., 2.],
                [2., 1.],
                [1., 1.],
            ],
            8.0,
        );
    }

    #[test]
    fn a_square_on_a_slope_keeps_its_first_diagonal_and_a_rhombus_takes_the_shorter() {
        let slope = |p: &[[f64; 2]]| -> Vec<Vec3> {
            p.iter().map(|p| Vec3::new(0.6 * p[0], p[1], 0.8 * p[0])).collect()
        };
        let mut out = Vec::new();
        triangulate(&[0, 1, 2, 3], &slope(&[[0., 0.], [1., 0.], [1., 1.], [0., 1.]]), &mut out);
        assert_eq!(out, [[0, 1, 2], [0, 2, 3]]);
        out.clear();
        triangulate(&[0, 1, 2, 3], &slope(&[[0., 0.], [2., 1.], [4., 0.], [2., -1.]]), &mut out);
        assert_eq!(out, [[0, 1, 3], [1, 2, 3]]);
    }

    #[test]
    fn a_crossed_polygon_is_named_and_still_gives_triangles() {
        let x = flat(&[[0., 0.], [1., 1.], [1., 0.], [0., 1.]]);
        let mut out = Vec::new();
        assert!(!triangulate(&[0, 1, 2, 3], &x, &mut out));
        assert_eq!(out.len(), 2);
    }

    /// Stars with random radii have the area ½ Σ rᵢ rᵢ₊₁ sin(2π/n).
    #[test]
    fn random_stars_have_their_area() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 40) as f64 / (1 << 24) as f64
        };
        for n in 5..200 {
            let radii: Vec<f64> = (0..n).map(|_| 0.05 + random()).collect();
            let step = std::f64::consts::TAU / n as f64;
            let x: Vec<Vec3> = (0..n)
                .map(|i| {
                    let (s, c) = (i as f64 * step).sin_cos();
                    Vec3::new(radii[i] * c, radii[i] * s, 0.0)
                })
                .collect();
            let expected: f64 = (0..n).map(|i| 0.5 * radii[i] * radii[(i + 1) % n] * step.sin()).sum();
            let corners: Vec<u32> = (0..n as u32).collect();
            let mut out = Vec::new();
            assert!(triangulate(&corners, &x, &mut out), "{n} corners");
            let (sum, least) = area(&x, &out);
            // Rounding of n terms of size one.
            assert!(
                (sum - expected).abs() < 1e-13 * n as f64 && least > 0.0,
                "{n} corners: {sum} {expected}"
            );
        }
    }
}
