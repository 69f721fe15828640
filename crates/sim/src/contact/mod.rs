//! Contact forces: potentials whose element list is rebuilt at each detection [Chen 2025, OGC].
//!
//! Each surface point is served by one feature: a pair acts as face, edge or vertex contact by the region of its
//! closest point, and only if the other side lies in that feature's own (offset) cell. This choice is about forces
//! alone; the safety set of the detection knows no such filter.

pub mod barrier;
pub mod barrier_set;
mod contacts;
mod element;
pub mod lagged_friction;
pub mod law;
mod line;
mod memory;
mod place;
mod retreat;
mod seam;
mod serve;
pub mod shadow;
pub mod wall;

pub use contacts::{Block, Contacts};
use element::Kind;
pub use element::{Bridge, Contact, NO_SLOT, Response, Slip};
pub use memory::ContactMemory;
use memory::Held;

use crate::pairing::Pairing;
use crate::safe::{Detection, Geometry, Plane};
use littoral_geom::bucket_sort::{buckets_for, sort_by_bucket};
use littoral_geom::distance::{closest_edge_edge, closest_point_triangle};
use littoral_geom::math::{Aabb, Vec3};
use littoral_geom::mesh::Csr;
use littoral_geom::pairs::Place;
use rayon::prelude::*;
use std::collections::HashMap;

/// Contacts that a parallel task finds.
const TASK: usize = 512;

/// Features two of whose directions make a smaller angle with a face than this (as a sine) count as flat there, and
/// are left to the face: flat on flat is carried by points on faces alone. Larger values lose support at blunt
/// edges, smaller ones let rounding decide.
const FLAT: f64 = 1e-3;

/// Contact of fluid particles.
#[derive(Clone, Debug, Default)]
pub struct ParticleContact {
    /// Distance at which it begins: the stand-off of half a spacing [m].
    pub radius: f64,
    /// Stiffness of each particle (p) [N/m].
    pub stiffness: Vec<f64>,
}

/// What contact must know of the model, fixed for a run.
#[derive(Clone, Debug, Default)]
pub struct ContactModel {
    /// Edge index of each side of each triangle: side k runs from corner k to corner k+1.
    triangle_edges: Vec<[u32; 3]>,
    /// Up to two opposite corners of each edge.
    opposite: Vec<[u32; 2]>,
    /// Neighbours of each point along edges.
    neighbours: Csr,
    /// Object of each point.
    object: Vec<u32>,
    /// Friction coefficient of each object.
    friction: Vec<f64>,
    /// Pairs of objects with a friction of their own.
    pairing: Pairing,
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
    /// Points that are tied together, the lower first, sorted, with their distance at rest [m].
    tied: Vec<([u32; 2], f64)>,
    /// Contact offset of each object [m]; empty: half the radius for all.
    offsets: Vec<f64>,
    /// Points of rods (n).
    line: Vec<bool>,
    /// First edge that belongs to no triangle: a segment of a rod.
    first_line: u32,
    /// Points of rigid bodies; empty without bodies.
    rigid: Vec<bool>,
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

/// Contacts with moving colliders are stiffer by this factor, and no load makes others stiffer than that, so that a pressing plate compresses the body, not the contact.
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
    /// Contact offset of each object [m]; empty: half the contact radius for all.
    pub offsets: Vec<f64>,
    /// Points of rigid bodies; empty without bodies.
    pub rigid: Vec<bool>,
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
        let first_line = surface.edges.len() - geometry.lines;
        let mut line = vec![false; points.mass.len()];
        surface.edges[first_line..].iter().flatten().for_each(|&v| line[v as usize] = true);
        let ends = surface.edges.iter().flat_map(|e| [(e[0], e[1]), (e[1], e[0])]);
        let neighbours = Csr::from_pairs(points.mass.len(), ends);
        ContactModel {
            triangle_edges,
            opposite,
            neighbours,
            object: points.object,
            friction,
            pairing: geometry.pairing.clone(),
            driven: points.driven,
            mass: points.mass,
            elastic: points.elastic,
            rest: points.rest,
            rigid: points.rigid,
            stiffness,
            radius,
            tied: Vec::new(),
            offsets: points.offsets,
            line,
            first_line: first_line as u32,
            particles: ParticleContact::default(),
        }
    }

    /// The same with fluid particles as the last points.
    pub fn with_particles(mut self, particles: ParticleContact) -> Self {
        self.particles = particles;
        self
    }

    /// The same with points that are tied together, as sorted pairs with their distances at rest [m].
    pub fn with_tied(mut self, tied: Vec<([u32; 2], f64)>) -> Self {
        self.tied = tied;
        self
    }

    /// Smallest distance at rest [m] of points of the two sides that are tied; infinite where none are. Contact does
    /// not push apart what an attachment pulls together.
    fn tied_distance(&self, a: &[u32], b: &[u32]) -> f64 {
        let pairs = a.iter().flat_map(|&p| b.iter().map(move |&q| [p.min(q), p.max(q)]));
        let found = pairs.filter_map(|pair| self.tied.binary_search_by_key(&pair, |t| t.0).ok());
        found.map(|k| self.tied[k].1).fold(f64::INFINITY, f64::min)
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

    /// Friction coefficient of a pair of objects [–].
    fn friction_between(&self, a: u32, b: u32) -> f64 {
        self.pairing.friction(a, b, self.friction[a as usize], self.friction[b as usize])
    }

    /// Contact radius r_c [m].
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Contact offset of an object [m].
    pub fn offset_of(&self, object: usize) -> f64 {
        self.offsets.get(object).copied().unwrap_or(0.5 * self.radius)
    }

    /// Distance at which points of two objects begin to push each other [m].
    fn radius_between(&self, a: u32, b: u32) -> f64 {
        match (self.offsets.get(a as usize), self.offsets.get(b as usize)) {
            (Some(a), Some(b)) => a + b,
            _ => self.radius,
        }
    }

    /// True when the direction `d` from the feature's point `p` does not lean towards `corner`; with `strict`, when it leans
    /// away from it.
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
            let t = plane.primitives[1];
            self.classify_region(geometry, x, (q[0], t, plane.place), || {
                let [v, a, b, c] = q.map(|v| x[v as usize]);
                closest_point_triangle(v, [a, b, c]).point
            })
        } else {
            let [a, b] = plane.primitives;
            let is_line = a.max(b) >= self.first_line;
            if plane.place != Place::Inside && !is_line {
                return (Kind::EdgeEdge, q, false);
            }
            let p = q.map(|v| x[v as usize]);
            let c = closest_edge_edge(p[0], p[1], p[2], p[3]);
            let d = c.point_a - c.point_b;
            let inner = |s: f64| s > 0.0 && s < 1.0;
            if is_line && !(inner(c.s) && inner(c.t)) {
                return self.classify_end(x, plane, (c.s, c.t), d);
            }
            if self.meets_body(&[q[0], q[2]]) {
                let serve = inner(c.s) && inner(c.t);
                let serve = serve && self.serve_edges(x, [a, b], q, (d, [c.point_a, c.point_b]));
                return (Kind::EdgeEdge, q, serve);
            }
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
        self.classify_region(geometry, x, (v, t, c.region.into()), || c.point)
    }

    /// The same where the point is closest to this `place` of the triangle; the `closest` point, as far as it is needed.
    #[inline]
    fn classify_region(
        &self,
        geometry: &Geometry,
        x: &[Vec3],
        (v, t, place): (u32, u32, Place),
        closest: impl Fn() -> Vec3,
    ) -> (Kind, [u32; 4], bool) {
        let [t0, t1, t2] = geometry.surface.triangles[t as usize];
        let p = x[v as usize];
        match place {
            Place::Inside | Place::End => (Kind::PointFace, [v, t0, t1, t2], true),
            Place::Edge(k) => {
                let point = closest();
                let d = p - point;
                let edge = self.triangle_edges[t as usize][k as usize];
                let [e0, e1] = geometry.surface.edges[edge as usize];
                let owned = if self.meets_body(&[v, e0]) {
                    self.serves_edge(x, edge, (d, point))
                } else {
                    self.owns_edge(x, (edge, [e0, e1]), (d, point), false, &[])
                };
                (Kind::PointEdge, [v, e0, e1, v], owned)
            }
            Place::Corner(k) => {
                let w = [t0, t1, t2][k as usize];
                let d = p - x[w as usize];
                let (a, b) = (v.min(w), v.max(w));
                // A point meets a point only where each lies in the other's cell.
                let owned = if self.meets_body(&[v, w]) {
                    self.serves_point(x, w, d) && self.serves_point(x, v, -d)
                } else {
                    self.owns_point(x, w, d) && self.owns_point(x, v, -d)
                };
                (Kind::PointPoint, [a, b, a, a], owned)
            }
        }
    }

    /// Whether the two sides are surely farther apart than `distance` [m] at rest, where they are that far along an axis.
    #[inline]
    fn rest_apart(&self, kind: Kind, q: [u32; 4], distance: f64) -> bool {
        let around = |points: &[u32]| Aabb::of(points.iter().map(|&v| self.rest[v as usize]));
        let (a, b) = (around(&q[..kind.split()]), around(&q[kind.split()..kind.used()]));
        (a.min - b.max).max(b.min - a.max).max_element() > distance
    }

    fn rest_distance(&self, kind: Kind, q: [u32; 4]) -> f64 {
        let contact = Contact { kind, points: q, ..Contact::NONE };
        contact.bridge(&self.rest).distance
    }

    /// The contact of a found pair, `None` if it is none. One that was there in the last step goes on from what it `held`.
    fn finish(
        &self,
        (kind, q, served, gap, seams): serve::Found,
        h: f64,
        held: impl FnOnce() -> Option<Held>,
    ) -> Option<Contact> {
        let (used, split) = (kind.used(), kind.split());
        if let Some((slot, p)) = (0..used).find_map(|s| Some((s, self.particle_at(q[s])?))) {
            let ParticleContact { radius, stiffness } = &self.particles;
            let radius = if served { *radius } else { LAST_RESORT * radius };
            if !served && gap > LAST_RESORT_REACH * radius {
                return None;
            }
            let give = self.mass[q[slot] as usize] / (h * h);
            let stiffness = stiffness[p];
            return Some(Contact {
                kind,
                points: q,
                radius,
                goal: radius,
                stiffness,
                particle: slot as u8,
                give,
                ..Contact::NONE
            });
        }
        let (a, b) = (self.object[q[0] as usize], self.object[q[split] as usize]);
        // Within one object nothing pushes that is already that near at rest.
        let radius = self.radius_between(a, b);
        let mut radius = if a == b { self.radius_within(kind, q, radius) } else { radius };
        if !self.tied.is_empty() {
            radius = radius.min(self.tied_distance(&q[..split], &q[split..used]));
        }
        let goal = if served { radius } else { LAST_RESORT * radius };
        if goal <= 0.0 {
            return None;
        }
        let next = (!self.meets_body(&q[..used])).then(held).flatten();
        let next = next.and_then(|held| held.next(served, goal, radius));
        let Held { radius, share, stiffness: asked } = next.unwrap_or(Held::fresh(goal));
        // What no feature serves any more lets go by and by; what none served is kept for its last resort.
        if !served && gap > LAST_RESORT_REACH * goal && (next.is_none() || gap >= radius) {
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
            let least = (INERTIA * strongest(&self.mass) / (h * h)).max(ELASTIC * strongest(&self.elastic));
            asked.clamp(scale * least, COLLIDER * least)
        });
        let stiffness = share * stiffness;
        let friction = self.friction_between(a, b);
        Some(Contact { kind, points: q, radius, goal, share, stiffness, friction, seams, ..Contact::NONE })
    }

    /// Gap [m] beyond which a pair whose features serve no cell is no contact, whatever it was in the last step.
    fn unserved_reach(&self, kind: Kind, q: [u32; 4]) -> f64 {
        if q[..kind.used()].iter().any(|&v| self.particle_at(v).is_some()) {
            LAST_RESORT_REACH * LAST_RESORT * self.particles.radius
        } else {
            self.radius_between(self.object[q[0] as usize], self.object[q[kind.split()] as usize])
        }
    }

    /// Builds the contacts of a detection at the positions `x` for steps of size `h` [s], with what they held at the end
    /// of the last one.
    pub fn activate(
        &self,
        geometry: &Geometry,
        detection: &Detection,
        x: &[Vec3],
        h: f64,
        memory: &ContactMemory,
        out: &mut Contacts,
    ) {
        let mut found: Vec<serve::Found> = detection
            .planes
            .par_iter()
            .with_min_len(512)
            .filter(|p| p.surface)
            .filter_map(|p| {
                let (kind, q, served) = self.classify(geometry, x, p);
                if !served && p.gap > self.unserved_reach(kind, q) {
                    return None;
                }
                let seams = if kind == Kind::PointFace { self.seams(x, p.primitives[1], q) } else { 0 };
                Some((kind, q, served, p.gap, seams))
            })
            .collect();
        // Edges and corners of a triangle are reached through each neighbour: one contact stands for all, with its
        // full radius if any of them says so.
        let buckets = buckets_for(found.len());
        let share = buckets as f64 / self.mass.len().max(1) as f64;
        let bucket = |c: &serve::Found| {
            c.0 as usize * buckets + ((f64::from(c.1[0]) * share) as usize).min(buckets - 1)
        };
        sort_by_bucket((&mut found, &mut out.spare), 4 * buckets, bucket, |a, b| {
            (a.0, a.1, !a.2).cmp(&(b.0, b.1, !b.2)).then(a.3.total_cmp(&b.3))
        });
        found.dedup_by_key(|c| (c.0, c.1));
        self.drop_doubled(&mut found);
        out.list.clear();
        out.list.par_extend(found.par_chunks(TASK).flat_map_iter(|found| {
            let mut held = memory.from(found[0].0, found[0].1);
            found.iter().filter_map(move |found| {
                let contact = self.finish(*found, h, || held.of(found.0, found.1))?;
                let frames = contact.points.map(|v| detection.frame[v as usize]);
                // What meets in two frames is not as far apart as it seems, nor what goes on beyond its triangle.
                let known = contact.seams == 0 && frames.iter().all(|f| *f == frames[0]);
                Some(if known { Contact { gap: found.3, ..contact } } else { contact })
            })
        }));
        out.index(self.mass.len());
        memory.give(self, x, out);
        self.share_places(x, &geometry.component, out);
    }
}
