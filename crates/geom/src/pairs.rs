//! The near pairs of a surface: every vertex–triangle and edge–edge pair that could touch before the next detection.
//!
//! The list is complete by construction: a pair is left out only because it shares a point, because nobody in it is
//! simulated, because both belong to the same rigid body, because its boxes are disjoint, or because its gap exceeds what its points can cover. There is no
//! neighbourhood filter, no feasible-region filter, no limit on the number of pairs.

use crate::bvh::{Bound, Bvh, DIAGONALS, NodePair};
use crate::distance::{EdgeRegion, TriangleRegion, closest_edge_edge, closest_point_triangle};
use crate::math::{Aabb, Vec3};
use glam::{Vec3A, Vec4};
use rayon::prelude::*;

/// Collision primitives as point indices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Points that collide with triangles.
    pub vertices: Vec<u32>,
    /// Edges that collide with edges; they need not belong to a triangle.
    pub edges: Vec<[u32; 2]>,
    /// Triangles that collide with vertices.
    pub triangles: Vec<[u32; 3]>,
}

/// A near pair. Vertex–triangle: `a` is a point index, `b` a triangle index. Edge–edge: `a < b` are edge indices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// Point index, or the smaller edge index.
    pub a: u32,
    /// Triangle index, or the larger edge index.
    pub b: u32,
    /// Distance of the two primitives [m], ≥ 0.
    pub gap: f64,
    /// Unit vector from b's closest point to a's; zero when the gap is zero.
    pub normal: Vec3,
}

/// What a detection is asked.
#[derive(Clone, Copy, Debug)]
pub struct Query<'q> {
    /// Positions (n) [m].
    pub x: &'q [Vec3],
    /// Per point: everywhere it may be until the next detection, already inflated (n).
    pub boxes: &'q [Aabb],
    /// Per point: how far it may move [m] (n).
    pub reach: &'q [f64],
    /// Added to the reaches: the contact radius [m].
    pub offset: f64,
    /// Per point: belongs to something that is simulated; pairs without an active point are not listed (n).
    pub active: &'q [bool],
    /// Per point: the rigid body it belongs to, or `u32::MAX`; pairs inside one body are not listed (n, or empty
    /// without bodies).
    pub rigid: &'q [u32],
}

impl Query<'_> {
    /// True for two points of one rigid body. All points of a primitive belong to the same.
    #[inline]
    fn is_rigid(&self, a: u32, b: u32) -> bool {
        match self.rigid.get(a as usize) {
            Some(&body) => body != u32::MAX && body == self.rigid[b as usize],
            None => false,
        }
    }
}

/// Parallel tasks per kind of pair. Enough to keep tens of threads busy to the end; each costs about 1 µs.
const TASKS: usize = 512;

/// Finds the near pairs. Keeps trees and buffers between calls; they change speed, never the result.
#[derive(Clone, Debug, Default)]
pub struct BroadPhase {
    vertices: Bvh,
    edges: Bvh,
    triangles: Bvh,
    points: Vec<PointBound>,
    vertex_slots: Vec<Slot<1>>,
    edge_slots: Vec<Slot<2>>,
    triangle_slots: Vec<Slot<3>>,
    vt: Search,
    ee: Search,
}

/// A primitive's index and points, in the order of the tree: neighbours in space are neighbours in memory.
#[derive(Clone, Copy, Debug)]
struct Slot<const N: usize> {
    index: u32,
    points: [u32; N],
}

/// Fits a tree and lists its slots.
fn fit_tree<const N: usize>(
    tree: &mut Bvh,
    primitives: impl Fn(u32) -> [u32; N] + Sync,
    count: usize,
    points: &[PointBound],
    slots: &mut Vec<Slot<N>>,
) {
    tree.fit(count, |i| bound_of(points, &primitives(i)));
    slots.clear();
    slots.extend(tree.order().iter().map(|&index| Slot { index, points: primitives(index) }));
}

/// The tasks of one kind of pair and what each of them found.
#[derive(Clone, Debug, Default)]
struct Search {
    tasks: Vec<NodePair>,
    found: Vec<Vec<Pair>>,
    starts: Vec<u32>,
}

impl BroadPhase {
    /// A broad phase for a surface over `points` points.
    ///
    /// # Panics
    /// When the surface refers to a point that does not exist.
    pub fn new(surface: &Surface, points: usize) -> Self {
        let indices = (surface.vertices.iter())
            .chain(surface.edges.as_flattened())
            .chain(surface.triangles.as_flattened());
        let largest = indices.max().map_or(0, |&i| i as usize + 1);
        assert!(largest <= points, "the surface refers to point {}, of {points}", largest - 1);
        BroadPhase::default()
    }

    /// Lists a pair if and only if
    /// - its primitives have no common point,
    /// - at least one of its points is active,
    /// - its primitives do not belong to the same rigid body,
    /// - the hull boxes of its points' boxes overlap,
    /// - gap ≤ largest reach of a's points + largest reach of b's points + offset.
    ///
    /// Both lists come sorted by (a, b), the same on any number of threads.
    pub fn detect(&mut self, surface: &Surface, query: &Query, vt: &mut Vec<Pair>, ee: &mut Vec<Pair>) {
        self.fit(surface, query);
        let BroadPhase { vertices, edges, triangles, vt: vt_search, ee: ee_search, .. } = self;
        let (vertex_slots, edge_slots, triangle_slots) =
            (&self.vertex_slots, &self.edge_slots, &self.triangle_slots);
        vertices.split_cross(triangles, TASKS, &mut vt_search.tasks);
        edges.split_self(TASKS, &mut ee_search.tasks);
        rayon::join(
            || {
                ee_search.run(|task, found| {
                    edges.visit_self(task, &mut |s, t| {
                        let (a, b) = (edge_slots[s as usize], edge_slots[t as usize]);
                        if !edges_surely_apart(query, a.points, b.points) {
                            let (a, b) = (a.index.min(b.index), a.index.max(b.index));
                            found.extend(edge_edge_pair(surface, query, a, b));
                        }
                    })
                });
                ee_search.gather(surface.edges.len(), ee);
            },
            || {
                vt_search.run(|task, found| {
                    vertices.visit_cross(triangles, task, &mut |s, t| {
                        let (v, t) = (vertex_slots[s as usize].points[0], triangle_slots[t as usize]);
                        if !vertex_surely_off(query, v, t.points) {
                            found.extend(vertex_triangle_pair(surface, query, v, t.index));
                        }
                    })
                });
                vt_search.gather(query.x.len(), vt);
            },
        );
    }

    /// Fits the three trees to the boxes.
    fn fit(&mut self, surface: &Surface, query: &Query) {
        let all = query.boxes.iter().fold(Aabb::EMPTY, |sum, b| {
            if b.min.is_finite() && b.max.is_finite() { sum.union(*b) } else { sum }
        });
        // Near the scene, so that single precision resolves it.
        let origin = if all.min.is_finite() { all.center() } else { Vec3::ZERO };
        let point = |p: usize| PointBound::new(query, p, origin);
        (0..query.x.len()).into_par_iter().with_min_len(4096).map(point).collect_into_vec(&mut self.points);
        let BroadPhase { vertices, edges, triangles, points, .. } = self;
        let (vertex_slots, edge_slots, triangle_slots) =
            (&mut self.vertex_slots, &mut self.edge_slots, &mut self.triangle_slots);
        let Surface { vertices: v, edges: e, triangles: t } = surface;
        rayon::join(
            || fit_tree(edges, |i| e[i as usize], e.len(), points, edge_slots),
            || {
                fit_tree(vertices, |i| [v[i as usize]], v.len(), points, vertex_slots);
                fit_tree(triangles, |i| t[i as usize], t.len(), points, triangle_slots);
            },
        );
    }
}

/// A point's box, projections and reach, relative to an origin near the scene and in single precision.
///
/// The bounds made of these leave no listed pair out:
/// - Boxes: x ↦ f32(x − origin) is monotone, so `a ≤ b` in `f64` stays `a ≤ b`, and boxes that overlap still do.
/// - Diagonals: the projections of two primitives on a direction of length √3 differ by at most √3 gap, and each
///   grows by its share of the limit, √3 (reach + offset/2), rounded up, and by `pad` for all other rounding.
#[derive(Clone, Copy, Debug)]
struct PointBound {
    /// Lower corner and activity, upper corner and activity, as in [`Bound`].
    low: Vec4,
    high: Vec4,
    projections: Vec4,
    /// √3 (reach + offset/2), rounded up.
    reach: f32,
    pad: f32,
}

impl PointBound {
    #[inline]
    fn new(q: &Query, p: usize, origin: Vec3) -> PointBound {
        let (b, x) = (&q.boxes[p], q.x[p] - origin);
        let (low, high) = if q.active[p] { (0.0, 1.0) } else { (1.0, 0.0) };
        let local = |c: Vec3, lane: f32| Vec3A::from((c - origin).as_vec3()).extend(lane);
        // A box with a NaN overlaps nothing, as in `Aabb::overlaps`.
        let (low, high) = if b.min.is_nan() || b.max.is_nan() {
            (Vec4::INFINITY, Vec4::NEG_INFINITY)
        } else {
            (local(b.min, low), local(b.max, high))
        };
        // Single precision rounds a projection, at most |x|₁, by 2⁻²⁴ of itself; double precision the gap, by a few
        // 2⁻⁵³ of the coordinates.
        let size = |v: Vec3| v.x.abs() + v.y.abs() + v.z.abs();
        let pad = size(x) / (1u64 << 22) as f64 + size(q.x[p]) / (1u64 << 46) as f64;
        let reach = 1.74 * (q.reach[p] + 0.5 * q.offset);
        if reach < 1e30 && pad < 1e20 {
            let projections = DIAGONALS.map(|d| Vec3::from(d).dot(x) as f32).into();
            PointBound { low, high, projections, reach: reach as f32, pad: pad as f32 }
        } else {
            // Not finite, or out of the range of single precision: no use of the diagonals.
            PointBound { low, high, projections: Vec4::ZERO, reach: f32::INFINITY, pad: 0.0 }
        }
    }
}

/// The bound of a primitive from those of its points.
#[inline]
fn bound_of(points: &[PointBound], indices: &[u32]) -> Bound {
    let mut b = Bound::EMPTY;
    let (mut reach, mut pad) = (0.0f32, 0.0f32);
    for &p in indices {
        let p = &points[p as usize];
        (b.low, b.high) = (b.low.min(p.low), b.high.max(p.high));
        b.low_diagonal = b.low_diagonal.min(p.projections);
        b.high_diagonal = b.high_diagonal.max(p.projections);
        // The limit of a pair counts the largest reach of each primitive's points.
        (reach, pad) = (reach.max(p.reach), pad.max(p.pad));
    }
    b.low_diagonal -= Vec4::splat(reach + pad);
    b.high_diagonal += Vec4::splat(reach + pad);
    b
}

impl Search {
    /// Runs the tasks in parallel; each writes to its own list.
    fn run(&mut self, task: impl Fn(NodePair, &mut Vec<Pair>) + Sync) {
        self.found.resize_with(self.tasks.len().max(self.found.len()), Vec::new);
        self.found.iter_mut().for_each(Vec::clear);
        self.tasks.par_iter().zip(&mut self.found).with_max_len(1).for_each(|(&t, found)| task(t, found));
    }

    /// Sorts everything found by (a, b) into `out`, with a < `count`: a counting sort by a, then each short run by b.
    fn gather(&mut self, count: usize, out: &mut Vec<Pair>) {
        let starts = &mut self.starts;
        starts.clear();
        starts.resize(count + 1, 0);
        for pair in self.found.iter().flatten() {
            starts[pair.a as usize + 1] += 1;
        }
        for i in 0..count {
            starts[i + 1] += starts[i];
        }
        out.clear();
        out.resize(starts[count] as usize, Pair { a: 0, b: 0, gap: 0.0, normal: Vec3::ZERO });
        for pair in self.found.iter().flatten() {
            let place = &mut starts[pair.a as usize];
            out[*place as usize] = *pair;
            *place += 1;
        }
        // Placing moved each start to the start of the next run.
        let mut from = 0;
        for &to in &starts[..count] {
            out[from..to as usize].sort_unstable_by_key(|p| p.b);
            from = to as usize;
        }
    }
}

/// The same list by comparing everything with everything: the oracle of the tests.
pub fn detect_brute_force(surface: &Surface, query: &Query, vt: &mut Vec<Pair>, ee: &mut Vec<Pair>) {
    vt.clear();
    ee.clear();
    let active = |points: &[u32]| points.iter().any(|&p| query.active[p as usize]);
    for &v in &surface.vertices {
        for (t, triangle) in surface.triangles.iter().enumerate() {
            if active(&[v]) || active(triangle) {
                vt.extend(vertex_triangle_pair(surface, query, v, t as u32));
            }
        }
    }
    for (a, first) in surface.edges.iter().enumerate() {
        for (b, second) in surface.edges.iter().enumerate().skip(a + 1) {
            if active(first) || active(second) {
                ee.extend(edge_edge_pair(surface, query, a as u32, b as u32));
            }
        }
    }
    vt.sort_by_key(|p| (p.a, p.b));
}

/// The pair of vertex `v` and triangle `t`, if its gap and boxes ask for it; its activity is the caller's business.
#[inline]
fn vertex_triangle_pair(surface: &Surface, q: &Query, v: u32, t: u32) -> Option<Pair> {
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
    (gap <= limit).then_some(Pair { a: v, b: t, gap, normal })
}

/// The pair of edges `a < b`, if its gap and boxes ask for it; its activity is the caller's business.
#[inline]
fn edge_edge_pair(surface: &Surface, q: &Query, a: u32, b: u32) -> Option<Pair> {
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
    (gap <= limit).then_some(Pair { a, b, gap, normal })
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
fn edges_surely_apart(q: &Query, a: [u32; 2], b: [u32; 2]) -> bool {
    if b.contains(&a[0]) || b.contains(&a[1]) || q.is_rigid(a[0], b[0]) {
        return true;
    }
    let ([a0, a1], [b0, b1]) = (a.map(|p| q.x[p as usize]), b.map(|p| q.x[p as usize]));
    planes_apart(b0 - a0, a1 - a0, b1 - b0, reach(q, &a) + reach(q, &b) + q.offset)
}

/// True only if the pair of this vertex and triangle is not listed: they share a point, or the vertex is too far from
/// the triangle's plane.
#[inline]
fn vertex_surely_off(q: &Query, v: u32, t: [u32; 3]) -> bool {
    if t.contains(&v) || q.is_rigid(v, t[0]) {
        return true;
    }
    let (p, [a, b, c]) = (q.x[v as usize], t.map(|p| q.x[p as usize]));
    planes_apart(p - a, b - a, c - a, reach(q, &[v]) + reach(q, &t) + q.offset)
}

/// True only if two planes at an offset `r` that both contain the directions u and w are farther apart than `limit`:
/// |r·n| > limit |n| with n = u × w.
#[inline]
fn planes_apart(r: Vec3, u: Vec3, w: Vec3, limit: f64) -> bool {
    let n = u.cross(w);
    // The computed r·n is off by less than e = 1e-14 |r| |u| |w|, so that |r·n| > limit |n| + e is proof; in squares,
    // (limit |n| + e)² ≤ 1.01 limit² n² + 101 e².
    let error_sq = 101.0 * 1e-28 * r.length_squared() * u.length_squared() * w.length_squared();
    r.dot(n).powi(2) > 1.01 * limit * limit * n.length_squared() + error_sq
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
