//! Which barriers act: every pair of a detection that is nearer than its range, each closest feature once.
//!
//! *Points against surfaces.* A point near a surface would feel an edge through both triangles at it and a corner
//! through all of them. The sum over triangles, minus that over edges, plus that over corners,
//!
//! E = κA [ Σ_T b̄(d_T) − Σ_e (n_e − 1) b̄(d_e) + Σ_w c_w b̄(d_w) ],  c_w = 1 − n_w + Σ_{e∋w} (n_e − 1),
//!
//! with n_e and n_w the triangles at an edge and at a corner, counts a flat or convex surface exactly once wherever
//! the point is, and is as smooth as each distance: it is the number of separate pieces of the surface within reach.
//! A point of a shell is met from both sides alike.
//!
//! *Edges against edges* add a small share of that strength, in the same way:
//! E = κA [b̄(d) − Σ b̄(d of an end and the other edge) + Σ b̄(d of two ends)], times the mollifier. Where the closest
//! point is an end this vanishes, and the point's own sum acts alone: surfaces that lie flat on each other feel edges
//! only where they cross. Segments of rods meet whatever is nearest on other edges, each by itself: two rods with all of the
//! strength, a rod and an edge of a surface with that share.
//!
//! Within one object, ranges end below the distances at rest.

use super::ContactModel;
use super::barrier::{Barrier, Pair, mollified_below};
use crate::potential::Potential;
use crate::safe::{Detection, Geometry};
use littoral_geom::distance::{
    EdgeRegion, TriangleRegion, closest_edge_edge, closest_point_edge, closest_point_triangle,
};
use littoral_geom::math::{Aabb, Mat3, Vec3};
use littoral_geom::near::NearTriangle;
use littoral_geom::pairs::{BroadPhase, Query};
use rayon::prelude::*;

/// Strength of an edge pair in units of that of a point. Points carry surfaces that lie on each other; edges are there
/// for ridges that cross. Smaller: those come nearer before they resist. Larger: meshes that line up hold on to each
/// other: with 1/3 a block on a slope is trapped by 7 % of its weight where two vertices meet.
const EDGE_SHARE: f64 = 0.02;

/// A contact at half its range stops a point of its mass within a step: κA ≥ INERTIA · (m/h²) d̂. Smaller: impacts
/// come nearer. Larger: more iterations.
const INERTIA: f64 = 1.0;

/// ... and it is not much softer than what it pushes: κA ≥ ELASTIC · (elastic stiffness of the point) d̂.
const ELASTIC: f64 = 0.1;

/// s_q/dx²: area of the great disc of a sphere with the volume dx³, π (3/4π)^⅔.
const DISC: f64 = 1.208_993_965_512_352_3;

/// Points per parallel task.
const TASK: usize = 64;

/// What barriers must know of a model, for steps of one length.
#[derive(Clone, Debug, Default)]
pub struct BarrierModel {
    /// κA of each point [N], > 0 where it is simulated.
    pub strength: Vec<f64>,
    /// d̂ of each point against its like, and of particles against everything [m].
    pub range: Vec<f64>,
    /// d̂ of each point against its own object [m]: below the distance to its triangles at rest.
    pub own_range: Vec<f64>,
    /// Mean strength of each object [N]; 0 for colliders.
    of_object: Vec<f64>,
    /// Points that are tied to some of an object, and how far apart: see `tied_ranges`.
    tied: Vec<(u32, u32, f64)>,
}

/// A point and the triangles of one object near it, with what makes each feature count once.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    point: u32,
    strength: f64,
    range: f64,
    /// Ends of its rows in the lists of triangles, edges and corners.
    ends: [u32; 3],
}

/// Two edges.
#[derive(Clone, Copy, Debug)]
struct Edges {
    points: [u32; 4],
    barrier: Barrier<4>,
    /// One of them is a segment of a rod.
    is_line: bool,
}

/// The pairs of one detection that barriers may act between.
#[derive(Clone, Debug, Default)]
pub struct Barriers {
    groups: Vec<Group>,
    /// Triangle and its three edges.
    triangles: Vec<([u32; 3], [u32; 3])>,
    /// Edge, its ends and 1 − n_e.
    edges: Vec<(u32, [u32; 2], f64)>,
    /// Corner and c.
    corners: Vec<(u32, f64)>,
    edge_pairs: Vec<Edges>,
}

/// A barrier that acts.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    /// Its points; unused slots repeat the first.
    pub points: [u32; 4],
    /// What acts between them. The strength is negative where it corrects a sum.
    pub barrier: Barrier<4>,
}

impl BarrierModel {
    /// For a model of contacts and steps of `h` [s].
    pub fn new(contact: &ContactModel, geometry: &Geometry, h: f64) -> Self {
        let n = contact.mass.len();
        let own = |v: usize| contact.radius_between(contact.object[v], contact.object[v]);
        let mut strength: Vec<f64> = (0..n)
            .map(|v| {
                let inertia = INERTIA * contact.mass[v] / (h * h);
                let stiffness = contact.stiffness.unwrap_or(inertia.max(ELASTIC * contact.elastic[v]));
                if contact.mass[v] > 0.0 { stiffness * own(v) } else { 0.0 }
            })
            .collect();
        let objects = contact.friction.len();
        let mut sums = vec![(0.0, 0.0_f64); objects];
        for (v, &o) in contact.object.iter().enumerate() {
            let s = &mut sums[o as usize];
            s.0 += strength[v];
            s.1 += 1.0;
        }
        let mut range: Vec<f64> = (0..n).map(own).collect();
        // Particles: κ = k_I over the great disc s_q, from the stand-off on [Xie 2023, §3.4].
        let particles = &contact.particles;
        let first = n - particles.stiffness.len();
        for (p, stiffness) in particles.stiffness.iter().enumerate() {
            let spacing = 2.0 * particles.radius;
            strength[first + p] = DISC * spacing * stiffness;
            range[first + p] = particles.radius;
        }
        BarrierModel {
            strength,
            range,
            own_range: own_ranges(contact, geometry),
            tied: tied_ranges(contact),
            of_object: sums.iter().map(|(s, k)| s / k.max(1.0)).collect(),
        }
    }

    /// κA and d̂ of a point against an object.
    fn of_point(&self, contact: &ContactModel, v: u32, object: u32) -> (f64, f64) {
        if contact.particle_at(v).is_some() {
            return (self.strength[v as usize], self.range[v as usize]);
        }
        let v = v as usize;
        let strength = self.strength[v].max(self.of_object[object as usize]);
        let own = contact.object[v];
        let range = if own == object { self.own_range[v] } else { contact.radius_between(own, object) };
        let tied = self.tied.binary_search_by_key(&(v as u32, object), |t| (t.0, t.1));
        let range = tied.map_or(range, |k| range.min(self.tied[k].2));
        (strength, range)
    }
}

/// Points that are tied to some of an object, that object, and their smallest distance at rest [m]; sorted.
fn tied_ranges(contact: &ContactModel) -> Vec<(u32, u32, f64)> {
    let both = contact.tied.iter().flat_map(|&([p, q], d)| [(p, q, d), (q, p, d)]);
    let mut ranges: Vec<(u32, u32, f64)> = both.map(|(p, q, d)| (p, contact.object[q as usize], d)).collect();
    ranges.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
    ranges.dedup_by_key(|r| (r.0, r.1));
    ranges
}

/// Ranges within objects: no point is pushed by what is that near at rest.
fn own_ranges(contact: &ContactModel, geometry: &Geometry) -> Vec<f64> {
    let (x, radius) = (&contact.rest, contact.radius);
    let own: Vec<f64> = contact.object.iter().map(|&o| contact.radius_between(o, o)).collect();
    let boxes: Vec<Aabb> = x.iter().zip(&own).map(|(&p, r)| Aabb::point(p).inflated(0.5 * r)).collect();
    let reach: Vec<f64> = own.iter().map(|r| (0.5 * (r - radius)).max(0.0)).collect();
    let query = Query {
        x,
        boxes: &boxes,
        tubes: &[],
        reach: &reach,
        offset: radius,
        active: &geometry.active,
        rigid: &geometry.rigid,
    };
    let (mut points, mut edges) = (Vec::new(), Vec::new());
    BroadPhase::new(&geometry.surface, x.len()).detect(&geometry.surface, &query, &mut points, &mut edges);
    let mut ranges = own;
    for p in points {
        let t = geometry.surface.triangles[p.b as usize];
        if contact.object[p.a as usize] == contact.object[t[0] as usize] {
            let range = &mut ranges[p.a as usize];
            *range = range.min(p.gap);
        }
    }
    ranges
}

impl Barriers {
    /// Lists what barriers may act between, from all pairs of a detection.
    pub fn list(
        &mut self,
        model: &BarrierModel,
        contact: &ContactModel,
        geometry: &Geometry,
        detection: &Detection,
    ) {
        let surface = &geometry.surface;
        let object = |v: u32| contact.object[v as usize];
        let mut near: Vec<(u32, u32, u32)> = detection
            .planes
            .par_iter()
            .with_min_len(2048)
            .filter(|p| p.surface && p.side_a == 1)
            .map(|p| (p.primitives[0], object(p.points[1]), p.primitives[1]))
            .collect();
        near.par_sort_unstable();
        self.clear();
        for row in near.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (point, other, _) = row[0];
            let (strength, range) = model.of_point(contact, point, other);
            if strength > 0.0 && range > 0.0 {
                let triangles = row.iter().map(|r| {
                    let t = r.2 as usize;
                    (surface.triangles[t], contact.triangle_edges[t])
                });
                self.add_group(point, strength, range, triangles, &surface.edges);
            }
        }
        let pairs = detection.planes.par_iter().with_min_len(1024);
        self.edge_pairs.par_extend(
            pairs.filter(|p| p.surface && p.side_a == 2).filter_map(|p| edge_pair(model, contact, p.points)),
        );
        self.edge_pairs.par_sort_unstable_by_key(|e| e.points);
    }

    /// Lists what may act on particles alone, from the triangles near each of them, where no detection is made: points
    /// in ascending order with their lists.
    pub fn list_near<'n>(
        &mut self,
        model: &BarrierModel,
        contact: &ContactModel,
        geometry: &Geometry,
        particles: impl Iterator<Item = (u32, &'n [NearTriangle])>,
    ) {
        let surface = &geometry.surface;
        self.clear();
        let mut near: Vec<(u32, u32)> = Vec::new();
        for (point, list) in particles {
            let reach = model.range[point as usize];
            near.clear();
            near.extend(list.iter().filter(|t| t.distance < reach).map(|t| {
                let corner = surface.triangles[t.triangle as usize][0];
                (contact.object_of(corner), t.triangle)
            }));
            near.sort_unstable();
            for row in near.chunk_by(|a, b| a.0 == b.0) {
                let (strength, range) = model.of_point(contact, point, row[0].0);
                let triangles = row
                    .iter()
                    .map(|&(_, t)| (surface.triangles[t as usize], contact.triangle_edges[t as usize]));
                self.add_group(point, strength, range, triangles, &surface.edges);
            }
        }
    }

    fn clear(&mut self) {
        self.groups.clear();
        self.triangles.clear();
        self.edges.clear();
        self.corners.clear();
        self.edge_pairs.clear();
    }

    /// Adds a point against triangles of one object.
    fn add_group(
        &mut self,
        point: u32,
        strength: f64,
        range: f64,
        triangles: impl Iterator<Item = ([u32; 3], [u32; 3])>,
        ends: &[[u32; 2]],
    ) {
        let first = self.triangles.len();
        self.triangles.extend(triangles);
        let triangles = &self.triangles[first..];
        let mut edges: Vec<u32> = triangles.iter().flat_map(|t| t.1).collect();
        edges.sort_unstable();
        let mut corners: Vec<(u32, f64)> = triangles.iter().flat_map(|t| t.0).map(|w| (w, -1.0)).collect();
        for same in edges.chunk_by(|a, b| a == b).filter(|s| s.len() > 1) {
            let (edge, shared) = (same[0], same.len() as f64 - 1.0);
            let ends = ends[edge as usize];
            self.edges.push((edge, ends, -shared));
            corners.extend(ends.map(|w| (w, shared)));
        }
        // Small whole numbers: their sums are exact in any order.
        corners.sort_unstable_by_key(|c| c.0);
        for same in corners.chunk_by(|a, b| a.0 == b.0) {
            let count = 1.0 + same.iter().map(|c| c.1).sum::<f64>();
            if count != 0.0 {
                self.corners.push((same[0].0, count));
            }
        }
        let ends = [self.triangles.len(), self.edges.len(), self.corners.len()].map(|k| k as u32);
        self.groups.push(Group { point, strength, range, ends });
    }

    /// The barriers that act at the positions `x` [m].
    pub fn touches(&self, x: &[Vec3], out: &mut Vec<Touch>) {
        out.clear();
        let found: Vec<Vec<Touch>> = (0..self.groups.len().div_ceil(TASK))
            .into_par_iter()
            .map(|task| {
                let mut found = Vec::new();
                let mut features = Features::default();
                for k in task * TASK..self.groups.len().min((task + 1) * TASK) {
                    self.touch_group(k, x, &mut features, &mut found);
                }
                found
            })
            .collect();
        found.iter().for_each(|f| out.extend_from_slice(f));
        let pairs = self.edge_pairs.par_iter().with_min_len(256);
        let found: Vec<Vec<Touch>> = pairs
            .fold_chunks(256, Vec::new, |mut found, e| {
                touch_edges(e, x, &mut found);
                found
            })
            .collect();
        found.iter().for_each(|f| out.extend_from_slice(f));
    }

    fn touch_group(&self, k: usize, x: &[Vec3], features: &mut Features, found: &mut Vec<Touch>) {
        let starts = if k > 0 { self.groups[k - 1].ends } else { [0; 3] }.map(|i| i as usize);
        let group = &self.groups[k];
        let ends = group.ends.map(|i| i as usize);
        let (p, reach) = (x[group.point as usize], group.range * group.range);
        features.clear();
        let barrier = |pair, count: f64| Barrier {
            pair,
            strength: count * group.strength,
            range: group.range,
            epsilon: 0.0,
        };
        let v = group.point;
        let mut any = false;
        for (t, sides) in &self.triangles[starts[0]..ends[0]] {
            let c = closest_point_triangle(p, t.map(|w| x[w as usize]));
            if c.distance_sq >= reach {
                continue;
            }
            any = true;
            match c.region {
                TriangleRegion::Face => found.push(Touch {
                    points: [v, t[0], t[1], t[2]],
                    barrier: barrier(Pair::PointTriangle, 1.0),
                }),
                TriangleRegion::Edge(k) => {
                    let k = k as usize;
                    features.edge(sides[k], [t[k], t[(k + 1) % 3]], 1.0);
                }
                TriangleRegion::Vertex(k) => features.corner(t[k as usize], 1.0),
            }
        }
        if !any {
            return;
        }
        for &(edge, ends, count) in &self.edges[starts[1]..ends[1]] {
            let c = closest_point_edge(p, x[ends[0] as usize], x[ends[1] as usize]);
            if c.distance_sq < reach {
                match c.region {
                    EdgeRegion::Interior => features.edge(edge, ends, count),
                    EdgeRegion::Vertex(k) => features.corner(ends[k as usize], count),
                }
            }
        }
        for &(w, count) in &self.corners[starts[2]..ends[2]] {
            if p.distance_squared(x[w as usize]) < reach {
                features.corner(w, count);
            }
        }
        for &(_, [a, b], count) in features.edges.iter().filter(|e| e.2 != 0.0) {
            found.push(Touch { points: [v, a, b, v], barrier: barrier(Pair::PointEdge, count) });
        }
        for &(w, count) in features.corners.iter().filter(|c| c.1 != 0.0) {
            found.push(Touch { points: [v, w, v, v], barrier: barrier(Pair::PointPoint, count) });
        }
    }
}

/// How often each edge and corner counts for one point: some ten entries, in the order in which they were met.
#[derive(Default)]
struct Features {
    edges: Vec<(u32, [u32; 2], f64)>,
    corners: Vec<(u32, f64)>,
}

impl Features {
    fn clear(&mut self) {
        self.edges.clear();
        self.corners.clear();
    }

    fn edge(&mut self, edge: u32, ends: [u32; 2], count: f64) {
        match self.edges.iter_mut().find(|e| e.0 == edge) {
            Some(e) => e.2 += count,
            None => self.edges.push((edge, ends, count)),
        }
    }

    fn corner(&mut self, w: u32, count: f64) {
        match self.corners.iter_mut().find(|c| c.0 == w) {
            Some(c) => c.1 += count,
            None => self.corners.push((w, count)),
        }
    }
}

/// What acts between two edges: each of their nine features as often as it counts.
fn touch_edges(edges: &Edges, x: &[Vec3], found: &mut Vec<Touch>) {
    let p = edges.points.map(|v| x[v as usize]);
    let reach = edges.barrier.range * edges.barrier.range;
    let c = closest_edge_edge(p[0], p[1], p[2], p[3]);
    if c.distance_sq >= reach {
        return;
    }
    if edges.is_line {
        // Nothing else stands for the ends of segments: they count where they are nearest, for each segment there.
        let pair = match (c.region_a, c.region_b) {
            (EdgeRegion::Interior, EdgeRegion::Interior) => Pair::EdgeEdge,
            (EdgeRegion::Vertex(i), EdgeRegion::Interior) => Pair::EndEdge(i),
            (EdgeRegion::Interior, EdgeRegion::Vertex(j)) => Pair::EndEdge(2 + j),
            (EdgeRegion::Vertex(i), EdgeRegion::Vertex(j)) => Pair::EndEnd(i, 2 + j),
        };
        found.push(Touch { points: edges.points, barrier: Barrier { pair, ..edges.barrier } });
        return;
    }
    let (mut whole, mut at_end, mut at_ends) = (0.0, [0.0; 4], [[0.0; 2]; 2]);
    match (c.region_a, c.region_b) {
        (EdgeRegion::Interior, EdgeRegion::Interior) => whole += 1.0,
        (EdgeRegion::Vertex(i), EdgeRegion::Interior) => at_end[i as usize] += 1.0,
        (EdgeRegion::Interior, EdgeRegion::Vertex(j)) => at_end[2 + j as usize] += 1.0,
        (EdgeRegion::Vertex(i), EdgeRegion::Vertex(j)) => at_ends[i as usize][j as usize] += 1.0,
    }
    for (k, count) in at_end.iter_mut().enumerate() {
        let (a, b) = if k < 2 { (2, 3) } else { (0, 1) };
        let c = closest_point_edge(p[k], p[a], p[b]);
        if c.distance_sq < reach {
            match c.region {
                EdgeRegion::Interior => *count -= 1.0,
                EdgeRegion::Vertex(j) if k < 2 => at_ends[k][j as usize] -= 1.0,
                EdgeRegion::Vertex(i) => at_ends[i as usize][k - 2] -= 1.0,
            }
        }
    }
    let mut push = |pair, count: f64| {
        if count != 0.0 {
            let barrier = Barrier { pair, strength: count * edges.barrier.strength, ..edges.barrier };
            found.push(Touch { points: edges.points, barrier });
        }
    };
    push(Pair::EdgeEdge, whole);
    for (k, count) in at_end.into_iter().enumerate() {
        push(Pair::EndEdge(k as u8), count);
    }
    for (i, row) in at_ends.into_iter().enumerate() {
        for (j, count) in row.into_iter().enumerate() {
            let within = p[i].distance_squared(p[2 + j]) < reach;
            push(Pair::EndEnd(i as u8, 2 + j as u8), count + f64::from(u8::from(within)));
        }
    }
}

/// The barrier of two edges; `None` where nothing may push.
fn edge_pair(model: &BarrierModel, contact: &ContactModel, points: [u32; 4]) -> Option<Edges> {
    let q = points.map(|v| v as usize);
    let (a, b) = (contact.object[q[0]], contact.object[q[2]]);
    let rest = q.map(|v| contact.rest[v]);
    let range = contact.radius_between(a, b);
    let range = if a == b {
        range.min(closest_edge_edge(rest[0], rest[1], rest[2], rest[3]).distance_sq.sqrt())
    } else {
        range
    };
    let range = range.min(contact.tied_distance(&points[..2], &points[2..]));
    let strongest = q.map(|v| model.strength[v]).into_iter().fold(0.0, f64::max);
    if range <= 0.0 || strongest <= 0.0 {
        return None;
    }
    let epsilon = mollified_below(rest[0].distance(rest[1]), rest[2].distance(rest[3]));
    // Two rods have nothing but their segments to meet with.
    let lines = [q[0], q[2]].map(|v| contact.line[v]);
    let share = if lines == [true, true] { 1.0 } else { EDGE_SHARE };
    let barrier = Barrier { pair: Pair::EdgeEdge, strength: share * strongest, range, epsilon };
    Some(Edges { points, barrier, is_line: lines.contains(&true) })
}

impl Touch {
    /// Number of its points.
    #[inline]
    pub fn used(&self) -> usize {
        self.barrier.pair.points()
    }

    /// Positions of its points [m].
    #[inline]
    pub fn gather(&self, x: &[Vec3]) -> [Vec3; 4] {
        self.points.map(|v| x[v as usize])
    }

    /// Energy [J] at `x` [m].
    #[inline]
    pub fn value(&self, x: &[Vec3]) -> f64 {
        self.barrier.value(&self.gather(x))
    }

    /// Gradient [N] and projected Hessian [N/m] at `x` [m], of the first `used` points.
    #[inline]
    pub fn derivatives(&self, x: &[Vec3]) -> ([Vec3; 4], [[Mat3; 4]; 4]) {
        let p = self.gather(x);
        (self.barrier.gradient(&p), self.barrier.hessian_psd(&p))
    }
}

#[cfg(test)]
mod tests;
