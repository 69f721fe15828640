//! Triangles near particles, and whether a triangle stands between two of them.
//!
//! The triangles go into a tree, the particles ask it one by one: few of many particles are near anything, and most
//! are turned away at the root. What the tree lets pass is first compared with the triangle's plane, in one product.
//!
//! Nothing here says on which side of a triangle a particle is, nor which triangles it should feel.

use crate::bvh::{Bound, Bvh, DIAGONALS, NO_GROUP};
use crate::distance::closest_point_triangle;
use crate::math::{Aabb, Vec3};
use glam::{Vec3A, Vec4};
use rayon::prelude::*;

/// Particles per parallel task; each has its own list, so the result does not depend on who works on it.
const CHUNK: usize = 1024;

/// A triangle near a particle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearTriangle {
    /// Index of the triangle.
    pub triangle: u32,
    /// Barycentric weights of the closest point, in [0, 1], summing to 1.
    pub bary: [f64; 3],
    /// The closest point of the triangle [m].
    pub point: Vec3,
    /// Distance of the particle from it [m], ≥ 0.
    pub distance: f64,
}

/// Lists of the triangles near each of many particles. Keeps its tree and buffers between calls; they change speed,
/// never the result.
#[derive(Clone, Debug, Default)]
pub struct NearTriangles {
    tree: Bvh,
    faces: Vec<Face>,
    positions: Vec<Vec3>,
    chunks: Vec<Chunk>,
    starts: Vec<u32>,
    entries: Vec<NearTriangle>,
}

/// What one task found: the entries of its particles, and where each particle's end.
#[derive(Clone, Debug, Default)]
struct Chunk {
    ends: Vec<u32>,
    entries: Vec<NearTriangle>,
}

/// A triangle and the slab around its plane, outside which no particle is near.
#[derive(Clone, Copy, Debug)]
struct Face {
    points: [u32; 3],
    x: [Vec3; 3],
    normal: Vec3,
    /// Square of the product of the normal with a difference to corner 0 above which the particle is off: this, and
    /// its rounding per squared length of the difference.
    limit_sq: f64,
    error_sq: f64,
}

impl NearTriangles {
    /// Lists, for each of the `points` (indices into `x`), every triangle at a distance ≤ `radius` [m]; the k-th list
    /// is that of `points[k]`. Triangles with the point as a corner are left out. A point or triangle with a
    /// coordinate that is not finite is near nothing.
    ///
    /// # Panics
    /// When an index has no point.
    pub fn fit(&mut self, x: &[Vec3], triangles: &[[u32; 3]], points: &[u32], radius: f64) {
        self.positions.clear();
        self.positions.extend(points.iter().map(|&p| x[p as usize]));
        self.search(x, triangles, radius, |k, corners| corners.contains(&points[k]));
    }

    /// [`NearTriangles::fit`] for particles at `positions` [m] that are not among the vertices `x` of the triangles.
    pub fn fit_positions(&mut self, x: &[Vec3], triangles: &[[u32; 3]], positions: &[Vec3], radius: f64) {
        self.positions.clear();
        self.positions.extend_from_slice(positions);
        self.search(x, triangles, radius, |_, _| false);
    }

    /// How many particles have a list.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// True when there is no particle.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// The triangles near the k-th particle, nearest first, equally near ones by index.
    #[inline]
    pub fn list(&self, k: usize) -> &[NearTriangle] {
        &self.entries[self.starts[k] as usize..self.starts[k + 1] as usize]
    }

    /// All lists one after the other.
    pub fn entries(&self) -> &[NearTriangle] {
        &self.entries
    }

    /// Where each list starts in [`NearTriangles::entries`], and where the last one ends: one more than there are
    /// particles.
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// Whether one of the listed triangles stands between the k-th and the l-th particle, as in [`segment_blocked`].
    /// Complete if they are no farther apart than twice the radius: a triangle that meets their segment is within
    /// half of its length of one of them.
    #[inline]
    pub fn is_blocked(&self, k: usize, l: usize) -> bool {
        let (near_a, near_b) = (self.list(k), self.list(l));
        if near_a.is_empty() && near_b.is_empty() {
            return false;
        }
        let (a, b) = (self.positions[k], self.positions[l]);
        // Distances are rounded by far less than a millionth.
        let half = 0.5 * (1.0 + 1e-6) * a.distance(b);
        let within = |list: &'_ [NearTriangle]| list.partition_point(|near| near.distance <= half);
        let lists = near_a[..within(near_a)].iter().chain(&near_b[..within(near_b)]);
        segment_blocked(a, b, lists.map(|near| self.faces[near.triangle as usize].x))
    }

    /// Fits the tree and fills the lists; `is_own` tells whether the k-th particle is one of three corners.
    fn search(
        &mut self,
        x: &[Vec3],
        triangles: &[[u32; 3]],
        radius: f64,
        is_own: impl Fn(usize, [u32; 3]) -> bool + Sync,
    ) {
        // What is compared with the radius in the end is rounded: let a little more come that far.
        let reach = radius * (1.0 + 1e-6);
        let face = |t: &[u32; 3]| Face::new(*t, t.map(|v| x[v as usize]), reach);
        self.faces.clear();
        self.faces.extend(triangles.iter().map(face));
        let boxes = self.faces.iter().filter(|f| f.x.iter().all(|p| p.is_finite()));
        let bounds = boxes.fold(Aabb::EMPTY, |sum, f| sum.union(Aabb::of(f.x)));
        // Near the triangles, so that single precision resolves them.
        let origin = if bounds.min.is_finite() { bounds.center() } else { Vec3::ZERO };
        let NearTriangles { tree, faces, positions, chunks, starts, entries } = self;
        tree.fit(faces.len(), |_| NO_GROUP, |t| bound_of(&faces[t as usize].x, origin, 0.0));

        chunks.resize_with(positions.len().div_ceil(CHUNK), Chunk::default);
        chunks.par_iter_mut().zip(positions.par_chunks(CHUNK)).enumerate().for_each(
            |(n, (chunk, positions))| {
                chunk.ends.clear();
                chunk.entries.clear();
                for (local, &p) in positions.iter().enumerate() {
                    let first = chunk.entries.len();
                    if p.is_finite() {
                        tree.visit(&bound_of(&[p], origin, reach), &mut |slot| {
                            let t = tree.order()[slot as usize];
                            let face = &faces[t as usize];
                            if !face.is_surely_off(p) && !is_own(n * CHUNK + local, face.points) {
                                chunk.entries.extend(near_triangle(p, t, face.x, radius));
                            }
                        });
                    }
                    chunk.entries[first..].sort_unstable_by(nearest_first);
                    chunk.ends.push(chunk.entries.len() as u32);
                }
            },
        );

        starts.clear();
        starts.push(0);
        entries.clear();
        for chunk in chunks.iter() {
            let first = entries.len() as u32;
            starts.extend(chunk.ends.iter().map(|end| first + end));
            entries.extend_from_slice(&chunk.entries);
        }
    }
}

/// The same lists by comparing everything with everything: the oracle of the tests.
pub fn near_triangles_brute_force(
    x: &[Vec3],
    triangles: &[[u32; 3]],
    points: &[u32],
    radius: f64,
) -> Vec<Vec<NearTriangle>> {
    let list = |&p: &u32| {
        let others = triangles.iter().enumerate().filter(|(_, t)| !t.contains(&p));
        let mut list: Vec<NearTriangle> = others
            .filter_map(|(t, c)| near_triangle(x[p as usize], t as u32, c.map(|v| x[v as usize]), radius))
            .collect();
        list.sort_by(nearest_first);
        list
    };
    points.iter().map(list).collect()
}

#[inline]
fn nearest_first(a: &NearTriangle, b: &NearTriangle) -> std::cmp::Ordering {
    a.distance.total_cmp(&b.distance).then(a.triangle.cmp(&b.triangle))
}

#[inline]
fn near_triangle(p: Vec3, triangle: u32, x: [Vec3; 3], radius: f64) -> Option<NearTriangle> {
    let c = closest_point_triangle(p, x);
    let distance = c.distance_sq.sqrt();
    (distance <= radius).then_some(NearTriangle { triangle, bary: c.bary, point: c.point, distance })
}

impl Face {
    fn new(points: [u32; 3], x: [Vec3; 3], reach: f64) -> Face {
        let (u, w) = (x[1] - x[0], x[2] - x[0]);
        let normal = u.cross(w);
        // A computed product r·n is off by less than e = 1e-14 |r| |u| |w|, so that |r·n| > reach |n| + e is proof; in
        // squares, (reach |n| + e)² ≤ 1.01 reach² n² + 101 e².
        let limit_sq = 1.01 * reach * reach * normal.length_squared();
        Face {
            points,
            x,
            normal,
            limit_sq,
            error_sq: 101.0 * 1e-28 * u.length_squared() * w.length_squared(),
        }
    }

    /// True only if the particle is farther from the plane than the reach.
    #[inline]
    fn is_surely_off(&self, p: Vec3) -> bool {
        let r = p - self.x[0];
        r.dot(self.normal).powi(2) > self.limit_sq + self.error_sq * r.length_squared()
    }
}

/// A bound of the points, grown by `reach`, relative to the origin. Rounding to single precision is monotone, so boxes
/// that overlap still do; projections on the diagonals, of length √3, grow by their rounding as well.
#[inline]
fn bound_of(points: &[Vec3], origin: Vec3, reach: f64) -> Bound {
    let mut b = Bound::EMPTY;
    let mut size: f64 = 0.0;
    for &p in points {
        if !p.is_finite() {
            return Bound::EMPTY;
        }
        let local = p - origin;
        let single = |v: Vec3, lane: f32| Vec3A::from(v.as_vec3()).extend(lane);
        b.low = b.low.min(single(local - reach, 0.0));
        b.high = b.high.max(single(local + reach, 1.0));
        let projections: Vec4 = DIAGONALS.map(|d| Vec3::from(d).dot(local) as f32).into();
        (b.low_diagonal, b.high_diagonal) =
            (b.low_diagonal.min(projections), b.high_diagonal.max(projections));
        size = size.max(local.x.abs() + local.y.abs() + local.z.abs());
    }
    // Single precision rounds a projection, at most |x|₁, by 2⁻²⁴ of itself; 1.74 > √3.
    let grown = 1.74 * reach + size / (1u64 << 22) as f64;
    if grown < 1e30 {
        b.low_diagonal -= Vec4::splat(grown as f32);
        b.high_diagonal += Vec4::splat(grown as f32);
    } else {
        // Out of the range of single precision: no use of the diagonals.
        (b.low_diagonal, b.high_diagonal) = (Vec4::NEG_INFINITY, Vec4::INFINITY);
    }
    b
}

/// Whether the closed segment from `a` to `b` meets one of the closed triangles, decided exactly. Triangles without
/// area stand in nobody's way.
pub fn segment_blocked(a: Vec3, b: Vec3, triangles: impl IntoIterator<Item = [Vec3; 3]>) -> bool {
    triangles.into_iter().any(|t| segment_meets(a, b, t))
}

#[inline]
fn segment_meets(p: Vec3, q: Vec3, [a, b, c]: [Vec3; 3]) -> bool {
    let (at_p, at_q) = (side(a, b, c, p), side(a, b, c, q));
    if at_p * at_q > 0 {
        return false;
    }
    if at_p == 0 && at_q == 0 {
        return segment_meets_in_plane(p, q, [a, b, c]);
    }
    one_sign([side(p, q, a, b), side(p, q, b, c), side(p, q, c, a)])
}

/// The same for a segment in the plane of the triangle, seen along an axis in which the triangle has an area: an end
/// lies in the triangle, or the segment crosses a side. One in line with a side is met by the two others.
#[cold]
fn segment_meets_in_plane(p: Vec3, q: Vec3, [a, b, c]: [Vec3; 3]) -> bool {
    for axis in 0..3 {
        let flat = |v: Vec3| robust::Coord { x: v[(axis + 1) % 3], y: v[(axis + 2) % 3] };
        let turn = |u: Vec3, v: Vec3, w: Vec3| sign(robust::orient2d(flat(u), flat(v), flat(w)));
        if turn(a, b, c) == 0 {
            continue;
        }
        let contains = |r: Vec3| one_sign([turn(a, b, r), turn(b, c, r), turn(c, a, r)]);
        let crosses = |u: Vec3, v: Vec3| {
            let (at_u, at_v) = (turn(p, q, u), turn(p, q, v));
            (at_u, at_v) != (0, 0) && at_u * at_v <= 0 && turn(u, v, p) * turn(u, v, q) <= 0
        };
        return contains(p) || contains(q) || crosses(a, b) || crosses(b, c) || crosses(c, a);
    }
    false
}

/// Exact sign of −det(b − a, c − a, d − a).
#[inline]
fn side(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> i32 {
    let [a, b, c, d] = [a, b, c, d].map(|p| robust::Coord3D { x: p.x, y: p.y, z: p.z });
    sign(robust::orient3d(a, b, c, d))
}

#[inline]
fn sign(value: f64) -> i32 {
    i32::from(value > 0.0) - i32::from(value < 0.0)
}

/// True when all signs are ≥ 0 or all are ≤ 0.
#[inline]
fn one_sign(signs: [i32; 3]) -> bool {
    signs.iter().all(|&s| s >= 0) || signs.iter().all(|&s| s <= 0)
}
