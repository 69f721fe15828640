//! Detection at safe positions: frames, budgets, and the pairs whose budgets could let them touch.
//!
//! Nothing but distance decides what is listed: every point–triangle pair without a common point, every edge pair
//! without a common end, and inside each tet its 4 point–face and 3 edge–edge pairs. Why this is enough, and why
//! budgets and frames lose no pair: `docs/derivations/detection.md`.

use super::divide::{plane, resolution};
use super::{Detection, Plane, SafePositions};
use crate::pairing::Pairing;
use littoral_geom::distance::{closest_edge_edge, closest_point_triangle};
use littoral_geom::math::{Aabb, Vec3};
use littoral_geom::pairs::{BroadPhase, Pair, Query, Surface};
use rayon::prelude::*;

/// What a detection must know of the model.
#[derive(Clone, Debug, Default)]
pub struct Geometry {
    /// Collision primitives as point indices.
    pub surface: Surface,
    /// Tets (k, 4).
    pub tets: Vec<[u32; 4]>,
    /// Connected component of each point (n), numbered from 0.
    pub component: Vec<u32>,
    /// Components of colliders: they never share a frame.
    pub prescribed: Vec<bool>,
    /// Points of simulated objects (n): pairs of collider points alone are not listed.
    pub active: Vec<bool>,
    /// Bounding triangles of each prescribed component, for the frame test.
    pub collider_triangles: Vec<Vec<u32>>,
    /// Rigid body of each point (n), or `u32::MAX`: pairs inside a body keep their distance by themselves, and are not
    /// listed. Empty without bodies.
    pub rigid: Vec<u32>,
    /// Number of fluid particles. They are the last points, and one component, which is marked as prescribed: it never
    /// has a frame.
    pub particles: usize,
    /// Number of edges that belong to no triangle: segments of rods. They are the last edges.
    pub lines: usize,
    /// Contact offset of each point (n) [m]; empty: half the contact radius for all.
    pub offset: Vec<f64>,
    /// Distance up to which pairs of particles and triangles are listed for their forces [m].
    pub particle_radius: f64,
    /// Pairs of objects whose contact the scene switched off: nothing keeps them apart.
    pub pairing: Pairing,
    /// Pairs of components that crossed at the start and are not apart yet, the lower first, sorted: nothing acts between
    /// them.
    pub entangled: Vec<[u32; 2]>,
}

impl Geometry {
    /// True when the components of the points `p` and `q` are entangled.
    #[inline]
    pub fn is_entangled(&self, p: u32, q: u32) -> bool {
        if self.entangled.is_empty() {
            return false;
        }
        let (a, b) = (self.component[p as usize], self.component[q as usize]);
        self.entangled.binary_search(&[a.min(b), a.max(b)]).is_ok()
    }

    /// Index of the first particle; the number of points where there is none.
    #[inline]
    pub fn first_particle(&self) -> usize {
        self.component.len() - self.particles
    }
}

/// What is expected to happen until the next detection.
#[derive(Clone, Copy, Debug)]
pub struct Prediction<'a> {
    /// Expected displacement (n) [m].
    pub wanted: &'a [Vec3],
    /// Room around it (n) [m].
    pub margin: &'a [f64],
    /// Contact radius [m]: pairs that may come this near are listed too, for their forces.
    pub contact_radius: f64,
    /// Which particles are there, from the first one on; absent ones meet nothing. Empty: all.
    pub present: &'a [bool],
}

impl Prediction<'_> {
    /// A point's share of the distance at which its pairs are listed [m].
    #[inline]
    fn share(&self, geometry: &Geometry, v: usize) -> f64 {
        let half = 0.5 * self.contact_radius;
        if v < geometry.first_particle() {
            geometry.offset.get(v).copied().unwrap_or(half)
        } else {
            (geometry.particle_radius - half).max(half)
        }
    }

    #[inline]
    fn is_present(&self, geometry: &Geometry, v: usize) -> bool {
        let first = geometry.first_particle();
        v < first || self.present.get(v - first).is_none_or(|p| *p)
    }
}

/// Share of the fastest motion in a component below which the remainder must fall for a frame to be worth its proof.
const FRAME_GAIN: f64 = 0.5;

/// Rounds of merging components that travel together before frames are given up for this detection.
const FRAME_ROUNDS: usize = 6;

/// Smallest gap as a share of the contact radius. Ten times smaller and the direction of a bridge between points a
/// metre from the origin is lost in rounding at millimetre radii; larger, and pressed contacts lose their last room.
const FLOOR: f64 = 1e-5;

/// The broad phase with its reusable memory.
#[derive(Debug)]
pub struct Detector {
    broad: BroadPhase,
    boxes: Vec<Aabb>,
    reach: Vec<f64>,
    point_triangle: Vec<Pair>,
    edge_edge: Vec<Pair>,
}

impl Detector {
    /// A detector for one model.
    pub fn new(geometry: &Geometry) -> Self {
        Detector {
            broad: BroadPhase::new(&geometry.surface, geometry.active.len()),
            boxes: Vec::new(),
            reach: Vec::new(),
            point_triangle: Vec::new(),
            edge_edge: Vec::new(),
        }
    }

    /// Fills `out` with what there is at `x`.
    pub fn detect(
        &mut self,
        geometry: &Geometry,
        x: &SafePositions,
        prediction: &Prediction<'_>,
        out: &mut Detection,
    ) {
        let n = x.as_slice().len();
        out.epoch = x.epoch();
        out.floor = FLOOR * prediction.contact_radius;
        out.serial += 1;
        let translations = frames(geometry, x.as_slice(), prediction);
        out.frame.clear();
        out.frame.extend(geometry.component.iter().map(|&c| translations[c as usize]));
        let frame = &out.frame;
        (0..n)
            .into_par_iter()
            .with_min_len(1024)
            .map(|v| {
                let rest = prediction.wanted[v] - frame[v];
                Aabb::point(Vec3::ZERO).including(rest).inflated(prediction.margin[v])
            })
            .collect_into_vec(&mut out.budget);
        let x = x.as_slice();
        self.boxes.clear();
        self.boxes.extend(out.budget.iter().zip(x).enumerate().map(|(v, (b, &p))| {
            if !prediction.is_present(geometry, v) {
                // Overlaps nothing.
                return Aabb { min: Vec3::NAN, max: Vec3::NAN };
            }
            let b = b.inflated(prediction.share(geometry, v));
            Aabb { min: p + b.min, max: p + b.max }
        }));
        self.reach.clear();
        self.reach.extend(out.budget.iter().map(|b| b.max.max(-b.min).length()));
        // Particles feel surfaces from their own distance on: what it is more counts as reach.
        let more = (geometry.particle_radius - prediction.contact_radius).max(0.0);
        for r in self.reach.iter_mut().skip(geometry.first_particle()) {
            *r += more;
        }
        // So do thick objects.
        let solids = geometry.first_particle();
        for (r, offset) in self.reach[..solids].iter_mut().zip(&geometry.offset) {
            *r += (offset - 0.5 * prediction.contact_radius).max(0.0);
        }
        let query = Query {
            x,
            boxes: &self.boxes,
            reach: &self.reach,
            offset: prediction.contact_radius,
            active: &geometry.active,
            rigid: &geometry.rigid,
        };
        self.broad.detect(&geometry.surface, &query, &mut self.point_triangle, &mut self.edge_edge);
        self.leave_out(geometry);
        self.list(geometry, x, out);
        out.index(n);
    }

    /// Drops the pairs of objects whose contact the scene switched off, and of components that are entangled.
    fn leave_out(&mut self, geometry: &Geometry) {
        let (pairing, surface) = (&geometry.pairing, &geometry.surface);
        if !pairing.any_off() && geometry.entangled.is_empty() {
            return;
        }
        let meet = |p: u32, q: u32| pairing.off_pair(p, q).is_none() && !geometry.is_entangled(p, q);
        self.point_triangle.retain(|p| meet(p.a, surface.triangles[p.b as usize][0]));
        let first = |edge: u32| surface.edges[edge as usize][0];
        self.edge_edge.retain(|p| meet(first(p.a), first(p.b)));
    }

    fn list(&self, geometry: &Geometry, x: &[Vec3], out: &mut Detection) {
        let surface = &geometry.surface;
        let (frame, budget) = (&out.frame, &out.budget);
        let finest = |points: [u32; 4]| resolution(x, frame, budget, points);
        out.planes.clear();
        out.planes.par_extend(self.point_triangle.par_iter().with_min_len(1024).map(|p| {
            let t = surface.triangles[p.b as usize];
            let points = [p.a, t[0], t[1], t[2]];
            plane(x, points, 1, p, finest(points))
        }));
        out.planes.par_extend(self.edge_edge.par_iter().with_min_len(1024).map(|p| {
            let (a, b) = (surface.edges[p.a as usize], surface.edges[p.b as usize]);
            let points = [a[0], a[1], b[0], b[1]];
            plane(x, points, 2, p, finest(points))
        }));
        let reach = &self.reach;
        let inside: Vec<Plane> = geometry
            .tets
            .par_iter()
            .with_min_len(256)
            .flat_map_iter(|t| tet_planes(x, reach, *t, finest(*t)))
            .collect();
        out.planes.extend(inside);
    }
}

/// The pairs inside one tet that its points' budgets could close, with the resolution of its points [m].
fn tet_planes(x: &[Vec3], reach: &[f64], t: [u32; 4], finest: f64) -> impl Iterator<Item = Plane> {
    const FACES: [[usize; 4]; 4] = [[0, 1, 2, 3], [1, 0, 3, 2], [2, 0, 1, 3], [3, 0, 2, 1]];
    const EDGES: [[usize; 4]; 3] = [[0, 1, 2, 3], [0, 2, 1, 3], [0, 3, 1, 2]];
    let p = t.map(|v| x[v as usize]);
    let r = t.map(|v| reach[v as usize]);
    let most = r[0].max(r[1]).max(r[2]).max(r[3]);
    let volume6 = (p[1] - p[0]).dot((p[2] - p[0]).cross(p[3] - p[0])).abs();
    // Distances of the supporting planes and lines bound all seven gaps from below.
    let area2 = FACES
        .iter()
        .map(|f| (p[f[2]] - p[f[1]]).cross(p[f[3]] - p[f[1]]).length())
        .chain(EDGES.iter().map(|e| (p[e[1]] - p[e[0]]).cross(p[e[3]] - p[e[2]]).length()))
        .fold(0.0_f64, f64::max);
    let far = (2.0 * most + finest) * area2 < volume6;
    let pairs = if far { 0..0 } else { 0..7 };
    pairs.filter_map(move |k| {
        let (q, side_a) = if k < 4 { (FACES[k], 1) } else { (EDGES[k - 4], 2) };
        let (from_a, from_b) = if side_a == 1 {
            let c = closest_point_triangle(p[q[0]], [p[q[1]], p[q[2]], p[q[3]]]);
            (p[q[0]], c.point)
        } else {
            let c = closest_edge_edge(p[q[0]], p[q[1]], p[q[2]], p[q[3]]);
            (c.point_a, c.point_b)
        };
        let gap = (from_a - from_b).length();
        let normal = if gap > 0.0 { (from_a - from_b) / gap } else { Vec3::ZERO };
        let pair = Pair { a: 0, b: 0, gap, normal };
        let plane = Plane { surface: false, ..plane(x, q.map(|c| t[c]), side_a as u8, &pair, finest) };
        let reach_a = q[..side_a].iter().map(|&c| r[c]).fold(0.0_f64, f64::max);
        let reach_b = q[side_a..].iter().map(|&c| r[c]).fold(0.0_f64, f64::max);
        // The gap of the plane is proven, a distance is as good as its closest points.
        (reach_a + reach_b >= plane.gap).then_some(plane)
    })
}

/// The translation of each component: components whose swept boxes meet travel together or not at all.
fn frames(geometry: &Geometry, x: &[Vec3], prediction: &Prediction<'_>) -> Vec<Vec3> {
    let count = geometry.prescribed.len();
    let mut island: Vec<usize> = (0..count).collect();
    let mut still = geometry.prescribed.clone();
    let mut travel = vec![Vec3::ZERO; count];
    for round in 0..=FRAME_ROUNDS {
        // Mean motion of each island; islands whose points do not move alike stay in the resting frame.
        let mut sum = vec![(Vec3::ZERO, 0.0_f64); count];
        for (v, &c) in geometry.component.iter().enumerate() {
            let s = &mut sum[island[c as usize]];
            s.0 += prediction.wanted[v];
            s.1 += 1.0;
        }
        let mean: Vec<Vec3> = sum.iter().map(|(s, k)| if *k > 0.0 { *s / *k } else { Vec3::ZERO }).collect();
        let mut spread = vec![(0.0_f64, 0.0_f64); count];
        for (v, &c) in geometry.component.iter().enumerate() {
            let i = island[c as usize];
            let w = prediction.wanted[v];
            spread[i].0 = spread[i].0.max((w - mean[i]).length_squared());
            spread[i].1 = spread[i].1.max(w.length_squared());
        }
        for i in 0..count {
            still[i] |= spread[i].0 > FRAME_GAIN * FRAME_GAIN * spread[i].1;
        }
        for c in 0..count {
            travel[c] = if still[island[c]] { Vec3::ZERO } else { mean[island[c]] };
        }
        if travel.iter().all(|t| *t == Vec3::ZERO) || round == FRAME_ROUNDS {
            return vec![Vec3::ZERO; count];
        }
        let swept = swept_boxes(geometry, x, prediction, &travel);
        let mut changed = false;
        for a in 0..count {
            for b in a + 1..count {
                if travel[a] != travel[b]
                    && island[a] != island[b]
                    && swept[a].overlaps(&swept[b])
                    && meet(geometry, x, prediction, &swept, a, b)
                {
                    let (keep, gone) = (island[a].min(island[b]), island[a].max(island[b]));
                    still[keep] |= still[gone];
                    for i in &mut island {
                        if *i == gone {
                            *i = keep;
                        }
                    }
                    changed = true;
                }
            }
        }
        if !changed {
            return travel;
        }
    }
    vec![Vec3::ZERO; count]
}

/// Everywhere the points of each component may be while the frame moves, with the contact radius around.
fn swept_boxes(geometry: &Geometry, x: &[Vec3], prediction: &Prediction<'_>, travel: &[Vec3]) -> Vec<Aabb> {
    let mut boxes = vec![Aabb::EMPTY; travel.len()];
    for (v, &c) in geometry.component.iter().enumerate() {
        if prediction.is_present(geometry, v) {
            let b = &mut boxes[c as usize];
            *b = b.union(swept_point(geometry, x, prediction, travel[c as usize], v));
        }
    }
    boxes
}

fn swept_point(geometry: &Geometry, x: &[Vec3], prediction: &Prediction<'_>, travel: Vec3, v: usize) -> Aabb {
    let margin = prediction.margin[v] + prediction.share(geometry, v);
    let start = Aabb::point(x[v]).including(x[v] + prediction.wanted[v] - travel).inflated(margin);
    start.union(Aabb { min: start.min + travel, max: start.max + travel })
}

/// Overlapping boxes of two components meet, unless one is a collider none of whose triangles enters the other's
/// box, or the fluid none of whose particles does.
fn meet(
    geometry: &Geometry,
    x: &[Vec3],
    prediction: &Prediction<'_>,
    swept: &[Aabb],
    a: usize,
    b: usize,
) -> bool {
    let (collider, other) = match (geometry.prescribed[a], geometry.prescribed[b]) {
        (true, false) => (a, b),
        (false, true) => (b, a),
        (false, false) => return true,
        (true, true) => return false,
    };
    let first = geometry.first_particle();
    if geometry.component.get(first).is_some_and(|c| *c as usize == collider) {
        return (first..geometry.component.len()).any(|v| {
            prediction.is_present(geometry, v)
                && swept_point(geometry, x, prediction, Vec3::ZERO, v).overlaps(&swept[other])
        });
    }
    geometry.collider_triangles[collider].iter().any(|&t| {
        let corners = geometry.surface.triangles[t as usize];
        let around = corners
            .iter()
            .map(|&v| swept_point(geometry, x, prediction, Vec3::ZERO, v as usize))
            .fold(Aabb::EMPTY, Aabb::union);
        around.overlaps(&swept[other])
    })
}
