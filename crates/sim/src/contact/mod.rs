//! Contact forces: potentials whose element list is rebuilt at each detection [Chen 2025, OGC].
//!
//! Each surface point is served by one feature: a pair acts as face, edge or vertex contact by the region of its
//! closest point, and only if the other side lies in that feature's own (offset) cell. This choice is about forces
//! alone; the safety set of the detection knows no such filter.

pub mod barrier;
pub mod barrier_set;
pub mod lagged_friction;
pub mod law;
pub mod wall;

use crate::liquid::PARTICLE_COLOR;
use crate::safe::{Detection, Geometry, Plane};
use littoral_geom::distance::{
    TriangleRegion, closest_edge_edge, closest_point_edge, closest_point_triangle,
};
use littoral_geom::math::{Mat3, Vec3, outer};
use littoral_geom::mesh::Csr;
use rayon::prelude::*;
use std::collections::HashMap;

/// Features two of whose directions make a smaller angle with a face than this (as a sine) count as flat there, and
/// are left to the face: flat on flat is carried by points on faces alone. Larger values lose support at blunt
/// edges, smaller ones let rounding decide.
const FLAT: f64 = 1e-3;

/// Which features meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    PointPoint,
    PointEdge,
    PointFace,
    EdgeEdge,
}

/// One contact element.
#[derive(Clone, Copy, Debug)]
struct Contact {
    kind: Kind,
    /// Its points; unused slots repeat the first.
    points: [u32; 4],
    /// Contact radius of this pair [m].
    radius: f64,
    /// Stiffness k [N/m].
    stiffness: f64,
    /// Friction coefficient μ [–].
    friction: f64,
    /// Slot of a fluid particle in `points`, or 4.
    particle: u8,
    /// Inertia m/h² of that particle [N/m]; infinite without one.
    give: f64,
}

/// A contact at given positions: the bridge between the two sides.
#[derive(Clone, Copy, Debug)]
pub struct Bridge {
    /// Weights of the four points; positive on the first side, they sum to zero.
    pub weights: [f64; 4],
    /// Unit direction from the second side to the first.
    pub normal: Vec3,
    /// Distance [m].
    pub distance: f64,
}

impl Contact {
    fn used(&self) -> usize {
        match self.kind {
            Kind::PointPoint => 2,
            Kind::PointEdge => 3,
            Kind::PointFace | Kind::EdgeEdge => 4,
        }
    }

    /// Number of points on the first side.
    fn split(&self) -> usize {
        if self.kind == Kind::EdgeEdge { 2 } else { 1 }
    }

    #[inline]
    fn bridge(&self, x: &[Vec3]) -> Bridge {
        let p = self.points.map(|v| x[v as usize]);
        let (weights, between) = match self.kind {
            Kind::PointPoint => ([1.0, -1.0, 0.0, 0.0], p[0] - p[1]),
            Kind::PointEdge => {
                let c = closest_point_edge(p[0], p[1], p[2]);
                ([1.0, c.t - 1.0, -c.t, 0.0], p[0] - c.point)
            }
            Kind::PointFace => {
                let c = closest_point_triangle(p[0], [p[1], p[2], p[3]]);
                ([1.0, -c.bary[0], -c.bary[1], -c.bary[2]], p[0] - c.point)
            }
            Kind::EdgeEdge => {
                let c = closest_edge_edge(p[0], p[1], p[2], p[3]);
                ([1.0 - c.s, c.s, c.t - 1.0, -c.t], c.point_a - c.point_b)
            }
        };
        let distance = between.length();
        let normal = if distance > 0.0 { between / distance } else { Vec3::ZERO };
        Bridge { weights, normal, distance }
    }

    /// Curvature that a point of the solid side feels when it moves: the particle, whose block holds nothing else,
    /// gives way at once. This is the Schur complement of the particle's unknowns [Xie 2023, §5].
    #[inline]
    fn yielding(&self, curvature: f64) -> f64 {
        if self.give < f64::INFINITY && curvature > 0.0 {
            curvature * self.give / (curvature + self.give)
        } else {
            curvature
        }
    }
}

/// Contact of fluid particles.
#[derive(Clone, Debug, Default)]
pub struct ParticleContact {
    /// Distance at which it begins: the stand-off of half a spacing [m].
    pub radius: f64,
    /// Share of the contact energy that this phase holds [–]: the rest is in the fluid's.
    pub share: f64,
    /// Stiffness of each particle (p) [N/m].
    pub stiffness: Vec<f64>,
}

/// What contact must know of the model, fixed for a run.
#[derive(Clone, Debug, Default)]
pub struct ContactModel {
    /// Edge index of each side of each triangle: side k runs from corner k to corner k+1.
    triangle_edges: Vec<[u32; 3]>,
    /// Ends of each edge, the lower index first.
    ends: Vec<[u32; 2]>,
    /// Up to two opposite corners of each edge.
    opposite: Vec<[u32; 2]>,
    /// Neighbours of each point along edges.
    neighbours: Csr,
    /// Object of each point.
    object: Vec<u32>,
    /// Friction coefficient of each object.
    friction: Vec<f64>,
    /// Points of moving colliders.
    driven: Vec<bool>,
    /// Mass of each point, 0 where prescribed for good [kg].
    mass: Vec<f64>,
    /// Elastic stiffness of each point at rest [N/m].
    elastic: Vec<f64>,
    /// Rest positions, for distances within one object [m].
    rest: Vec<Vec3>,
    /// Stiffness set by the user [N/m].
    stiffness: Option<f64>,
    /// Contact radius r_c [m].
    radius: f64,
    /// Contact of the particles, which are the last points.
    particles: ParticleContact,
}

/// No second triangle at an edge.
const NONE: u32 = u32::MAX;

/// A near pair whose features lie outside each other's cells is normally carried by its neighbours. Where they are not
/// pairs (around a common point) nothing would hold it apart, so it acts at this share of its radius all the same.
/// Larger: contacts are counted twice. Smaller: tight folds close further before they resist.
const LAST_RESORT: f64 = 0.1;

/// Such a pair is kept in the list up to this multiple of its radius.
const LAST_RESORT_REACH: f64 = 4.0;

/// A contact must stop a point of its mass within a step: k ≥ INERTIA · m/h².
/// Smaller: deeper compression of the offset at impact. Larger: slower convergence of stacks.
const INERTIA: f64 = 4.0;

/// ... and must not be much softer than what it pushes: k ≥ ELASTIC · (elastic stiffness of the point).
const ELASTIC: f64 = 0.2;

/// Contacts with moving colliders are stiffer by this factor, so that a pressing plate compresses the body, not the contact.
/// With 10 a plate that squeezes foam to a tenth lags by half the way, with 50 and 100 it does not.
const COLLIDER: f64 = 50.0;

/// Contacts with resting colliders are stiffer by this factor: they yield as little, but nothing drives them. With 10 a
/// block at the edge of sliding sticks in an unfinished solve.
const GROUND: f64 = 4.0;

/// Per-point numbers a contact model is made of.
#[derive(Clone, Debug, Default)]
pub struct ContactPoints {
    /// Object of each point.
    pub object: Vec<u32>,
    /// Points of moving colliders.
    pub driven: Vec<bool>,
    /// Mass [kg], 0 for colliders.
    pub mass: Vec<f64>,
    /// Elastic stiffness at rest [N/m].
    pub elastic: Vec<f64>,
    /// Rest position [m].
    pub rest: Vec<Vec3>,
}

impl ContactModel {
    /// Prepares adjacency; `friction` holds one coefficient an object.
    pub fn new(
        geometry: &Geometry,
        points: ContactPoints,
        friction: Vec<f64>,
        stiffness: Option<f64>,
        radius: f64,
    ) -> Self {
        let surface = &geometry.surface;
        // Look-ups only: the order of the map is never used.
        let index: HashMap<[u32; 2], u32> = surface
            .edges
            .iter()
            .enumerate()
            .map(|(k, e)| ([e[0].min(e[1]), e[0].max(e[1])], k as u32))
            .collect();
        let mut opposite = vec![[NONE; 2]; surface.edges.len()];
        let mut triangle_edges = Vec::with_capacity(surface.triangles.len());
        for t in &surface.triangles {
            let mut sides = [NONE; 3];
            for k in 0..3 {
                let (a, b) = (t[k], t[(k + 1) % 3]);
                let e = index[&[a.min(b), a.max(b)]];
                sides[k] = e;
                let o = &mut opposite[e as usize];
                let c = t[(k + 2) % 3];
                if o[0] == NONE {
                    o[0] = c;
                } else if o[1] == NONE {
                    o[1] = c;
                }
            }
            triangle_edges.push(sides);
        }
        let ends = surface.edges.iter().flat_map(|e| [(e[0], e[1]), (e[1], e[0])]);
        let neighbours = Csr::from_pairs(points.mass.len(), ends);
        ContactModel {
            ends: surface.edges.iter().map(|e| [e[0].min(e[1]), e[0].max(e[1])]).collect(),
            triangle_edges,
            opposite,
            neighbours,
            object: points.object,
            friction,
            driven: points.driven,
            mass: points.mass,
            elastic: points.elastic,
            rest: points.rest,
            stiffness,
            radius,
            particles: ParticleContact::default(),
        }
    }

    /// The same with fluid particles as the last points.
    pub fn with_particles(mut self, particles: ParticleContact) -> Self {
        self.particles = particles;
        self
    }

    /// The contact of the particles.
    pub fn particles(&self) -> &ParticleContact {
        &self.particles
    }

    /// Object of point `v`.
    pub fn object_of(&self, v: u32) -> u32 {
        self.object[v as usize]
    }

    /// Number of the particle at point `v`.
    #[inline]
    fn particle_at(&self, v: u32) -> Option<usize> {
        let first = self.mass.len() - self.particles.stiffness.len();
        (v as usize).checked_sub(first)
    }

    /// Contact radius r_c [m].
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// True when the direction `d` from the feature's point `p` does not lean towards `corner`.
    fn beyond(x: &[Vec3], d: Vec3, p: Vec3, corner: u32, strict: bool) -> bool {
        if corner == NONE {
            return true;
        }
        let away = p - x[corner as usize];
        let lean = d.dot(away);
        lean >= if strict { FLAT * d.length() * away.length() } else { 0.0 }
    }

    /// True when `d` points away from the faces at `edge`. Faces that hold one of the `others` are not asked: the pair
    /// of that point and that face is no contact, so that nothing else would serve this one.
    fn owns_edge(
        &self,
        x: &[Vec3],
        (edge, ends): (u32, [u32; 2]),
        (d, p): (Vec3, Vec3),
        strict: bool,
        others: &[u32],
    ) -> bool {
        self.opposite[edge as usize].iter().all(|&c| {
            let adjacent = others.iter().any(|o| *o == c || ends.contains(o));
            adjacent || Self::beyond(x, d, p, c, strict)
        })
    }

    fn owns_point(&self, x: &[Vec3], v: u32, d: Vec3) -> bool {
        self.neighbours.row(v as usize).iter().all(|&w| Self::beyond(x, d, x[v as usize], w, false))
    }

    /// The features that meet in a listed surface pair, and whether they serve each other's cells.
    fn classify(&self, geometry: &Geometry, x: &[Vec3], plane: &Plane) -> (Kind, [u32; 4], bool) {
        let q = plane.points;
        if plane.side_a == 1 {
            self.classify_point(geometry, x, q[0], plane.primitives[1])
        } else {
            let p = q.map(|v| x[v as usize]);
            let c = closest_edge_edge(p[0], p[1], p[2], p[3]);
            let d = c.point_a - c.point_b;
            let inner = |s: f64| s > 0.0 && s < 1.0;
            let [a, b] = plane.primitives;
            let owned = inner(c.s)
                && inner(c.t)
                && self.owns_edge(x, (a, [q[0], q[1]]), (-d, c.point_a), true, &q[2..])
                && self.owns_edge(x, (b, [q[2], q[3]]), (d, c.point_b), true, &q[..2]);
            (Kind::EdgeEdge, q, owned)
        }
    }

    /// The feature of triangle `t` that the point `v` meets, and whether they serve each other's cells.
    fn classify_point(&self, geometry: &Geometry, x: &[Vec3], v: u32, t: u32) -> (Kind, [u32; 4], bool) {
        let [t0, t1, t2] = geometry.surface.triangles[t as usize];
        let p = x[v as usize];
        let c = closest_point_triangle(p, [x[t0 as usize], x[t1 as usize], x[t2 as usize]]);
        let d = p - c.point;
        match c.region {
            TriangleRegion::Face => (Kind::PointFace, [v, t0, t1, t2], true),
            TriangleRegion::Edge(k) => {
                let edge = self.triangle_edges[t as usize][k as usize];
                let [e0, e1] = geometry.surface.edges[edge as usize];
                let owned = self.owns_edge(x, (edge, [e0, e1]), (d, c.point), false, &[]);
                (Kind::PointEdge, [v, e0, e1, v], owned)
            }
            TriangleRegion::Vertex(k) => {
                let w = [t0, t1, t2][k as usize];
                let (a, b) = (v.min(w), v.max(w));
                // A point meets a point only where each lies in the other's cell.
                let owned = self.owns_point(x, w, d) && self.owns_point(x, v, -d);
                (Kind::PointPoint, [a, b, a, a], owned)
            }
        }
    }

    fn rest_distance(&self, kind: Kind, q: [u32; 4]) -> f64 {
        let (radius, stiffness, friction) = (0.0, 0.0, 0.0);
        let contact =
            Contact { kind, points: q, radius, stiffness, friction, particle: 4, give: f64::INFINITY };
        contact.bridge(&self.rest).distance
    }

    fn finish(&self, kind: Kind, q: [u32; 4], served: bool, gap: f64, h: f64) -> Option<Contact> {
        let used = match kind {
            Kind::PointPoint => 2,
            Kind::PointEdge => 3,
            Kind::PointFace | Kind::EdgeEdge => 4,
        };
        let split = if kind == Kind::EdgeEdge { 2 } else { 1 };
        if let Some((slot, p)) = (0..used).find_map(|s| Some((s, self.particle_at(q[s])?))) {
            let ParticleContact { radius, share, stiffness } = &self.particles;
            let radius = if served { *radius } else { LAST_RESORT * radius };
            if !served && gap > LAST_RESORT_REACH * radius {
                return None;
            }
            let give = self.mass[q[slot] as usize] / (h * h);
            let stiffness = share * stiffness[p];
            return Some(Contact {
                kind,
                points: q,
                radius,
                stiffness,
                friction: 0.0,
                particle: slot as u8,
                give,
            });
        }
        let (a, b) = (self.object[q[0] as usize], self.object[q[split] as usize]);
        // Within one object nothing pushes that is already that near at rest.
        let mut radius = if a == b { self.radius.min(self.rest_distance(kind, q)) } else { self.radius };
        if !served {
            radius *= LAST_RESORT;
            if gap > LAST_RESORT_REACH * radius {
                return None;
            }
        }
        if radius <= 0.0 {
            return None;
        }
        let strongest = |f: &[f64]| q[..used].iter().map(|&v| f[v as usize]).fold(0.0_f64, f64::max);
        let firm = q[..used].iter().any(|&v| self.driven[v as usize]);
        let fixed = [&q[..split], &q[split..used]]
            .iter()
            .any(|side| side.iter().all(|&v| self.mass[v as usize] == 0.0));
        let scale = if firm {
            COLLIDER
        } else if fixed {
            GROUND
        } else {
            1.0
        };
        let stiffness = self.stiffness.unwrap_or_else(|| {
            scale * (INERTIA * strongest(&self.mass) / (h * h)).max(ELASTIC * strongest(&self.elastic))
        });
        let friction = (self.friction[a as usize] * self.friction[b as usize]).sqrt();
        let give = f64::INFINITY;
        Some(Contact { kind, points: q, radius, stiffness, friction, particle: 4, give })
    }

    /// Builds the contacts of a detection at the positions `x` for steps of size `h` [s].
    pub fn activate(
        &self,
        geometry: &Geometry,
        detection: &Detection,
        x: &[Vec3],
        h: f64,
        out: &mut Contacts,
    ) {
        let mut found: Vec<(Kind, [u32; 4], bool, f64)> = detection
            .planes
            .par_iter()
            .with_min_len(512)
            .filter(|p| p.surface)
            .map(|p| {
                let (kind, q, served) = self.classify(geometry, x, p);
                (kind, q, served, p.gap)
            })
            .collect();
        // Edges and corners of a triangle are reached through each neighbour: one contact stands for all, with its
        // full radius if any of them says so.
        found.sort_unstable_by(|a, b| (a.0, a.1, !a.2).cmp(&(b.0, b.1, !b.2)).then(a.3.total_cmp(&b.3)));
        found.dedup_by_key(|c| (c.0, c.1));
        out.list.clear();
        out.list.par_extend(
            found
                .par_iter()
                .with_min_len(512)
                .filter_map(|&(kind, q, served, gap)| self.finish(kind, q, served, gap, h)),
        );
        out.index(self.mass.len());
    }
}

/// The contacts between two detections.
#[derive(Clone, Debug, Default)]
pub struct Contacts {
    list: Vec<Contact>,
    offsets: Vec<u32>,
    items: Vec<u32>,
}

/// What friction measures from.
#[derive(Clone, Copy, Debug)]
pub struct Slip<'a> {
    /// Positions at the start of the step (n) [m].
    pub x_n: &'a [Vec3],
    /// Slip below which friction is regularised, ε_v h [m].
    pub epsilon: f64,
}

impl Slip<'_> {
    /// f₁(y)/y [1/m] of the regularised Coulomb law for a slip y [m]: f₁ = y/ε (2 − y/ε) below ε, 1 above.
    #[inline]
    fn softened(&self, y: f64) -> f64 {
        if y < self.epsilon { (2.0 - y / self.epsilon) / self.epsilon } else { 1.0 / y }
    }
}

impl Contacts {
    fn index(&mut self, n: usize) {
        self.offsets.clear();
        self.offsets.resize(n + 1, 0);
        for c in &self.list {
            for &v in &c.points[..c.used()] {
                self.offsets[v as usize + 1] += 1;
            }
        }
        for v in 0..n {
            self.offsets[v + 1] += self.offsets[v];
        }
        self.items.clear();
        self.items.resize(self.offsets[n] as usize, 0);
        for (k, c) in self.list.iter().enumerate() {
            for (slot, &v) in c.points[..c.used()].iter().enumerate() {
                self.items[self.offsets[v as usize] as usize] = (4 * k + slot) as u32;
                self.offsets[v as usize] += 1;
            }
        }
        for v in (1..=n).rev() {
            self.offsets[v] = self.offsets[v - 1];
        }
        self.offsets[0] = 0;
    }

    /// True when point `v` belongs to some contact element.
    #[inline]
    pub fn touches(&self, v: u32) -> bool {
        self.offsets[v as usize] < self.offsets[v as usize + 1]
    }

    /// True when point `v` shares a contact element with a simulated point of a solid.
    pub fn meets_simulated(&self, v: u32, color_of: &[u32]) -> bool {
        let row = self.offsets[v as usize] as usize..self.offsets[v as usize + 1] as usize;
        self.items[row].iter().any(|item| {
            let contact = &self.list[(item >> 2) as usize];
            contact.points[..contact.used()].iter().any(|&p| color_of[p as usize] < PARTICLE_COLOR)
        })
    }

    /// Gradient [N] and positive semidefinite Hessian block [N/m] of all contacts at point `v`.
    ///
    /// Points of the same colour move at once: their shares of a contact are added to this point's curvature, so
    /// that simultaneous moves do not overshoot.
    pub fn block(&self, v: u32, x: &[Vec3], slip: &Slip<'_>, color_of: &[u32]) -> (Vec3, Mat3) {
        let mut gradient = Vec3::ZERO;
        let mut hessian = Mat3::ZERO;
        let row = self.offsets[v as usize] as usize..self.offsets[v as usize + 1] as usize;
        for &item in &self.items[row] {
            let (contact, slot) = (&self.list[(item >> 2) as usize], (item & 3) as usize);
            let bridge = contact.bridge(x);
            let w = bridge.weights[slot];
            if bridge.distance >= contact.radius || w == 0.0 {
                continue;
            }
            let (force, curvature) =
                law::force_and_curvature(bridge.distance, contact.stiffness, contact.radius);
            let curvature =
                if slot == contact.particle as usize { curvature } else { contact.yielding(curvature) };
            let together: f64 = (0..contact.used())
                .filter(|&s| color_of[contact.points[s] as usize] == color_of[v as usize])
                .map(|s| bridge.weights[s].abs())
                .sum();
            let share = w.abs() * together;
            let n = bridge.normal;
            gradient -= (w * force) * n;
            hessian += outer(n, n) * (share * curvature);
            let pull = contact.friction * force;
            if pull > 0.0 {
                let mut u = Vec3::ZERO;
                for s in 0..contact.used() {
                    let p = contact.points[s] as usize;
                    u += bridge.weights[s] * (x[p] - slip.x_n[p]);
                }
                u -= n.dot(u) * n;
                let f1_over_y = slip.softened(u.length());
                gradient += (w * pull * f1_over_y) * u;
                hessian += (Mat3::IDENTITY - outer(n, n)) * (share * pull * f1_over_y);
            }
        }
        (gradient, hessian)
    }

    /// Calls `visit(side, other, point, gradient, hessian)` for both sides of every acting contact between different
    /// components: the contact point on that side, gradient [N] and positive semidefinite Hessian [N/m] there.
    pub fn for_each_side(
        &self,
        x: &[Vec3],
        slip: &Slip<'_>,
        component: &[u32],
        mut visit: impl FnMut(u32, u32, Vec3, Vec3, Mat3),
    ) {
        for contact in &self.list {
            let split = contact.split();
            let (a, b) = (component[contact.points[0] as usize], component[contact.points[split] as usize]);
            if a == b {
                continue;
            }
            let bridge = contact.bridge(x);
            if bridge.distance >= contact.radius {
                continue;
            }
            let (force, curvature) =
                law::force_and_curvature(bridge.distance, contact.stiffness, contact.radius);
            let n = bridge.normal;
            let (mut slid, mut point_a, mut point_b) = (Vec3::ZERO, Vec3::ZERO, Vec3::ZERO);
            for s in 0..contact.used() {
                let (w, p) = (bridge.weights[s], contact.points[s] as usize);
                slid += w * (x[p] - slip.x_n[p]);
                if s < split {
                    point_a += w * x[p];
                } else {
                    point_b -= w * x[p];
                }
            }
            slid -= n.dot(slid) * n;
            let drag = contact.friction * force * slip.softened(slid.length());
            let gradient = drag * slid - force * n;
            let nn = outer(n, n);
            // A particle never moves as a body: what is visited here is the solid it touches.
            let curvature = contact.yielding(curvature);
            let hessian = nn * curvature + (Mat3::IDENTITY - nn) * drag;
            visit(a, b, point_a, gradient, hessian);
            visit(b, a, point_b, -gradient, hessian);
        }
    }

    /// Adds the force of particles on each object [N] at the positions `x` [m].
    pub fn add_particle_forces(&self, model: &ContactModel, x: &[Vec3], out: &mut [Vec3]) {
        for contact in self.list.iter().filter(|c| c.particle < 4) {
            let bridge = contact.bridge(x);
            if bridge.distance >= contact.radius {
                continue;
            }
            let (force, _) = law::force_and_curvature(bridge.distance, contact.stiffness, contact.radius);
            let slot = contact.particle as usize;
            // The weight of the particle tells which way the normal points.
            let away = bridge.weights[slot] * bridge.normal;
            let other = contact.points[if slot == 0 { 1 } else { 0 }];
            out[model.object_of(other) as usize] -= force * away;
        }
    }

    /// Calls `visit(points, weights, split, hessian)` for every acting contact: its points, the first `split` of them on
    /// the first side, and their weights w; the Hessian of the points s and t is w_s w_t times the given one [N/m].
    pub fn for_each_acting(
        &self,
        x: &[Vec3],
        slip: &Slip<'_>,
        mut visit: impl FnMut(&[u32], &[f64], usize, Mat3),
    ) {
        for contact in &self.list {
            let bridge = contact.bridge(x);
            if bridge.distance >= contact.radius {
                continue;
            }
            let (force, curvature) =
                law::force_and_curvature(bridge.distance, contact.stiffness, contact.radius);
            let (n, used) = (bridge.normal, contact.used());
            let mut slid = Vec3::ZERO;
            for (&p, &w) in contact.points[..used].iter().zip(&bridge.weights) {
                slid += w * (x[p as usize] - slip.x_n[p as usize]);
            }
            slid -= n.dot(slid) * n;
            let drag = contact.friction * force * slip.softened(slid.length());
            let nn = outer(n, n);
            let hessian = nn * curvature + (Mat3::IDENTITY - nn) * drag;
            visit(&contact.points[..used], &bridge.weights[..used], contact.split(), hessian);
        }
    }

    /// Calls `visit(points, split, energy)` for every acting contact: as above, and its energy [J] without friction.
    pub fn for_each_energy(&self, x: &[Vec3], mut visit: impl FnMut(&[u32], usize, f64)) {
        for c in &self.list {
            let d = c.bridge(x).distance;
            if d < c.radius {
                visit(&c.points[..c.used()], c.split(), law::energy(d, c.stiffness, c.radius));
            }
        }
    }

    /// Number of contacts closer than their radius at `x`, and their energy [J].
    pub fn active(&self, x: &[Vec3]) -> (u32, f64) {
        let mut count = 0;
        let mut energy = 0.0;
        for c in &self.list {
            let d = c.bridge(x).distance;
            if d < c.radius {
                count += 1;
                energy += law::energy(d, c.stiffness, c.radius);
            }
        }
        (count, energy)
    }
}
