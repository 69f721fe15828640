//! The near pairs of a surface: every vertex–triangle and edge–edge pair that could touch before the next detection.
//!
//! The list is complete by construction: a pair is left out only because it shares a point, because nobody in it is
//! simulated, because both belong to the same rigid body, because a plane is known that all of its boxes stay on either
//! side of, or because its gap exceeds what its points can cover. There is no neighbourhood filter, no feasible-region
//! filter, no limit on the number of pairs.

mod criterion;
mod diagonals;
mod passing;

use crate::bvh::{Bound, Bvh, DIAGONALS, NO_GROUP, NodePair};
use crate::distance::TriangleRegion;
use crate::math::{Aabb, Vec3};
use crate::tube::Tube;
use criterion::{
    Criterion, drifts, edge_edge_pair, edges_surely_apart, least_room, vertex_surely_off,
    vertex_triangle_pair,
};
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
    /// Where the closest points lie.
    pub place: Place,
}

impl Pair {
    /// No pair, to be written over.
    const NONE: Pair = Pair { a: 0, b: 0, gap: 0.0, normal: Vec3::ZERO, place: Place::Inside };
}

/// Where the closest points of a pair lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Strictly inside both edges, or strictly inside the triangle.
    Inside,
    /// On this edge of the triangle, as in [`TriangleRegion`].
    Edge(u8),
    /// At this corner of the triangle.
    Corner(u8),
    /// At an end of one of two edges, or of both.
    End,
}

impl From<TriangleRegion> for Place {
    fn from(region: TriangleRegion) -> Place {
        match region {
            TriangleRegion::Face => Place::Inside,
            TriangleRegion::Edge(k) => Place::Edge(k),
            TriangleRegion::Vertex(k) => Place::Corner(k),
        }
    }
}

/// What a detection is asked.
#[derive(Clone, Copy, Debug)]
pub struct Query<'q> {
    /// Positions (n) [m].
    pub x: &'q [Vec3],
    /// Per point: everywhere it may be until the next detection, already inflated (n).
    pub boxes: &'q [Aabb],
    /// Per point: the tube that it stays in as well, inflated like its box (n, or empty without tubes).
    pub tubes: &'q [Tube],
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
    points: Vec<Bound>,
    drifts: Vec<Aabb>,
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
    (rigid, points): (&[u32], &[Bound]),
    slots: &mut Vec<Slot<N>>,
) {
    // All points of a primitive belong to the same body.
    let body = |i| rigid.get(primitives(i)[0] as usize).copied().unwrap_or(NO_GROUP);
    tree.fit(count, body, |i| bound_of(points, &primitives(i)));
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
    /// - gap ≤ largest reach of a's points + largest reach of b's points + offset,
    /// - the hulls of its points' boxes overlap along the axes, along the direction of the gap, along the common
    ///   perpendicular of its edges or that of its triangle, and along the diagonals of a cube, where a point goes no
    ///   farther than its reach and half the offset,
    /// - and, where points have tubes, along the distance of one primitive from what the other sweeps.
    ///
    /// Both lists come sorted by (a, b), the same on any number of threads.
    pub fn detect(&mut self, surface: &Surface, query: &Query, vt: &mut Vec<Pair>, ee: &mut Vec<Pair>) {
        let (pad, slack) = self.fit(surface, query);
        let BroadPhase { vertices, edges, triangles, vt: vt_search, ee: ee_search, drifts, .. } = self;
        let near = &Criterion { query, drifts, pad, least: least_room(drifts) };
        let (vertex_slots, edge_slots, triangle_slots) =
            (&self.vertex_slots, &self.edge_slots, &self.triangle_slots);
        vertices.split_cross(triangles, TASKS, &mut vt_search.tasks);
        edges.split_self(TASKS, &mut ee_search.tasks);
        rayon::join(
            || {
                ee_search.run(|task, found| {
                    edges.visit_self(task, &mut |s, t| {
                        let (a, b) = (edge_slots[s as usize], edge_slots[t as usize]);
                        if !edges_surely_apart(near, a.points, b.points) {
                            let (a, b) = (a.index.min(b.index), a.index.max(b.index));
                            let [p, q] = [a, b].map(|e| &surface.edges[e as usize]);
                            let surely = edges.bound(s).meets_by(edges.bound(t), slack);
                            let pair = edge_edge_pair(surface, near, a, b);
                            found.extend(pair.filter(|_| surely || !diagonals::are_apart(near, p, q)));
                        }
                    })
                });
                ee_search.gather(surface.edges.len(), ee);
            },
            || {
                vt_search.run(|task, found| {
                    vertices.visit_cross(triangles, task, &mut |s, t| {
                        let surely = vertices.bound(s).meets_by(triangles.bound(t), slack);
                        let (v, t) = (vertex_slots[s as usize].points[0], triangle_slots[t as usize]);
                        if !vertex_surely_off(near, v, t.points) {
                            let pair = vertex_triangle_pair(surface, near, v, t.index);
                            found.extend(
                                pair.filter(|_| surely || !diagonals::are_apart(near, &[v], &t.points)),
                            );
                        }
                    })
                });
                vt_search.gather(query.x.len(), vt);
            },
        );
    }

    /// Fits the three trees to the boxes; what rounding may take of a distance [m], and what single precision may add to
    /// two bounds along the diagonals, four times over.
    fn fit(&mut self, surface: &Surface, query: &Query) -> (f64, f32) {
        let (all, pad) = drifts(query, &mut self.drifts);
        // Near the scene, so that single precision resolves it.
        let origin = if all.min.is_finite() { all.center() } else { Vec3::ZERO };
        let point = |p: usize| point_bound(query, p, origin);
        let count = query.x.len();
        (0..count).into_par_iter().with_min_len(4096).map(point).collect_into_vec(&mut self.points);
        let reached = |p: usize| diagonal_pad(query, p, origin).1;
        let slack = (0..count).into_par_iter().with_min_len(4096).map(reached).reduce(|| 0.0, f64::max);
        let BroadPhase { vertices, edges, triangles, points, .. } = self;
        let (vertex_slots, edge_slots, triangle_slots) =
            (&mut self.vertex_slots, &mut self.edge_slots, &mut self.triangle_slots);
        let Surface { vertices: v, edges: e, triangles: t } = surface;
        let seen = (query.rigid, &points[..]);
        rayon::join(
            || fit_tree(edges, |i| e[i as usize], e.len(), seen, edge_slots),
            || {
                fit_tree(vertices, |i| [v[i as usize]], v.len(), seen, vertex_slots);
                fit_tree(triangles, |i| t[i as usize], t.len(), seen, triangle_slots);
            },
        );
        (pad, (8.0 * slack) as f32)
    }
}

/// Everywhere a point may be, relative to an origin near the scene and in single precision.
///
/// - Boxes: x ↦ f32(x − origin) is monotone, so `a ≤ b` in `f64` stays `a ≤ b`, and boxes that overlap still do.
/// - Diagonals: of the box, and of the ball of its reach and half the offset, whichever ends first; wider by what rounding
///   may take. A point is in both, so that two primitives whose intervals are disjoint stay apart.
#[inline]
fn point_bound(q: &Query, p: usize, origin: Vec3) -> Bound {
    let (b, x) = (&q.boxes[p], q.x[p] - origin);
    let (low, high) = if q.active[p] { (0.0, 1.0) } else { (1.0, 0.0) };
    let local = |c: Vec3, lane: f32| Vec3A::from((c - origin).as_vec3()).extend(lane);
    // A box with a NaN overlaps nothing, as in `Aabb::overlaps`.
    if b.min.is_nan() || b.max.is_nan() {
        return Bound::EMPTY;
    }
    let mut bound = Bound {
        low: local(b.min, low),
        high: local(b.max, high),
        low_diagonal: Vec4::NEG_INFINITY,
        high_diagonal: Vec4::INFINITY,
    };
    let (from, to) = (b.min - origin, b.max - origin);
    let (far, pad) = diagonal_pad(q, p, origin);
    let ball = 1.74 * (q.reach[p] + 0.5 * q.offset);
    // Not finite, or out of the range of single precision: no use of the diagonals.
    if far < 1e20 && pad < 1e20 && ball >= 0.0 {
        let ends = DIAGONALS.map(|d| {
            let d = Vec3::from(d);
            let (one, other) = (d * from, d * to);
            let (low, high) = (one.min(other), one.max(other));
            let middle = d.dot(x);
            let low = (low.x + low.y + low.z).max(middle - ball) - pad;
            let high = (high.x + high.y + high.z).min(middle + ball) + pad;
            (low as f32, high as f32)
        });
        bound.low_diagonal = ends.map(|e| e.0).into();
        bound.high_diagonal = ends.map(|e| e.1).into();
    }
    bound
}

/// How far a point may be from the origin, as the sum of its coordinates [m], and what rounding may take of its
/// projection on a diagonal [m].
#[inline]
fn diagonal_pad(q: &Query, p: usize, origin: Vec3) -> (f64, f64) {
    // Single precision rounds a projection, at most |x|₁, by 2⁻²⁴ of itself; double precision by a few 2⁻⁵³ of the
    // coordinates.
    let size = |v: Vec3| v.x.abs() + v.y.abs() + v.z.abs();
    let (b, x) = (&q.boxes[p], q.x[p] - origin);
    let far = size((b.min - origin).abs().max((b.max - origin).abs()).max(x.abs()));
    (far, far / (1u64 << 22) as f64 + size(q.x[p]) / (1u64 << 46) as f64)
}

/// The bound of a primitive from those of its points.
#[inline]
fn bound_of(points: &[Bound], indices: &[u32]) -> Bound {
    indices.iter().fold(Bound::EMPTY, |sum, &p| sum.union(&points[p as usize]))
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
        out.resize(starts[count] as usize, Pair::NONE);
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

/// The same list by comparing everything with everything, without a look at the diagonals: the oracle of the tests.
pub fn detect_brute_force(surface: &Surface, query: &Query, vt: &mut Vec<Pair>, ee: &mut Vec<Pair>) {
    vt.clear();
    ee.clear();
    let mut boxes = Vec::new();
    let (_, pad) = drifts(query, &mut boxes);
    let near = &Criterion { query, drifts: &boxes, pad, least: 0.0 };
    let active = |points: &[u32]| points.iter().any(|&p| query.active[p as usize]);
    for &v in &surface.vertices {
        for (t, triangle) in surface.triangles.iter().enumerate() {
            if (active(&[v]) || active(triangle)) && !vertex_surely_off(near, v, *triangle) {
                vt.extend(vertex_triangle_pair(surface, near, v, t as u32));
            }
        }
    }
    for (a, first) in surface.edges.iter().enumerate() {
        for (b, second) in surface.edges.iter().enumerate().skip(a + 1) {
            if (active(first) || active(second)) && !edges_surely_apart(near, *first, *second) {
                ee.extend(edge_edge_pair(surface, near, a as u32, b as u32));
            }
        }
    }
    vt.sort_by_key(|p| (p.a, p.b));
}
