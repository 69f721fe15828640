//! Detection at safe positions: frames, budgets, and the pairs whose budgets could let them touch.
//!
//! Nothing but distance decides what is listed: every point–triangle pair without a common point, every edge pair
//! without a common end, and inside each tet its 4 point–face and 3 edge–edge pairs. Why this is enough, and why
//! budgets and frames lose no pair: `docs/derivations/detection.md`.

use super::budget::Budget;
use super::divide::{farthest, plane, resolution_at};
use super::islands::{Survey, survey};
use super::tets::tet_planes;
use super::{Detection, Plane, SafePositions};
use crate::pairing::Pairing;
use littoral_geom::math::{Aabb, Vec3};
use littoral_geom::pairs::{BroadPhase, Pair, Query, Surface};
use littoral_geom::tube::Tube;
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
    /// Pairs of components that act on each other without touching: by joints, elements, a common motion.
    pub coupled: Vec<[u32; 2]>,
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
    pub(super) fn share(&self, geometry: &Geometry, v: usize) -> f64 {
        let half = 0.5 * self.contact_radius;
        if v < geometry.first_particle() {
            geometry.offset.get(v).copied().unwrap_or(half)
        } else {
            (geometry.particle_radius - half).max(half)
        }
    }

    #[inline]
    pub(super) fn is_present(&self, geometry: &Geometry, v: usize) -> bool {
        let first = geometry.first_particle();
        v < first || self.present.get(v - first).is_none_or(|p| *p)
    }
}

/// Smallest gap as a share of the contact radius. Ten times smaller and the direction of a bridge between points a
/// metre from the origin is lost in rounding at millimetre radii; larger, and pressed contacts lose their last room.
const FLOOR: f64 = 1e-5;

/// The broad phase with its reusable memory.
#[derive(Debug)]
pub struct Detector {
    broad: BroadPhase,
    boxes: Vec<Aabb>,
    tubes: Vec<Tube>,
    reach: Vec<f64>,
    /// Largest coordinate that each point may have (n) [m].
    farthest: Vec<f64>,
    point_triangle: Vec<Pair>,
    edge_edge: Vec<Pair>,
}

impl Detector {
    /// A detector for one model.
    pub fn new(geometry: &Geometry) -> Self {
        Detector {
            broad: BroadPhase::new(&geometry.surface, geometry.active.len()),
            boxes: Vec::new(),
            tubes: Vec::new(),
            reach: Vec::new(),
            farthest: Vec::new(),
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
        let survey = survey(geometry, x.as_slice(), prediction, &[], out);
        self.fill(geometry, x, prediction, &[], survey, out);
    }

    /// Fills `out` with what there is at `x`, but for the `kept` components (by component), whose frames, budgets and
    /// pairs stay: whole islands that may move and were not committed since `out` was found.
    ///
    /// Answers the kept components that others may meet now. If there are any, `out` is unchanged, and they are to be
    /// committed as well.
    ///
    /// # Panics
    /// When a kept component was committed, or is a part of its island only.
    pub fn renew(
        &mut self,
        geometry: &Geometry,
        x: &SafePositions,
        prediction: &Prediction<'_>,
        kept: &[bool],
        out: &mut Detection,
    ) -> Vec<u32> {
        assert_eq!(out.epoch, x.epoch(), "the detection was made at other positions");
        for (c, _) in kept.iter().enumerate().filter(|(_, kept)| **kept) {
            assert!(!out.was_committed(c), "what is kept was committed");
            assert!(out.mobile[c] && kept[out.island[c] as usize], "what is kept is no whole island");
        }
        let survey = survey(geometry, x.as_slice(), prediction, kept, out);
        let mut mixed = vec![false; kept.len()];
        for (c, &island) in survey.island.iter().enumerate() {
            mixed[island as usize] |= !kept[c];
        }
        let met = |c: &u32| kept[*c as usize] && mixed[survey.island[*c as usize] as usize];
        let met: Vec<u32> = (0..kept.len() as u32).filter(met).collect();
        if met.is_empty() {
            self.fill(geometry, x, prediction, kept, survey, out);
        }
        met
    }

    fn fill(
        &mut self,
        geometry: &Geometry,
        x: &SafePositions,
        prediction: &Prediction<'_>,
        kept: &[bool],
        survey: Survey,
        out: &mut Detection,
    ) {
        let n = x.as_slice().len();
        let is_kept = |v: usize| !kept.is_empty() && kept[geometry.component[v] as usize];
        out.begin(x.epoch(), kept, FLOOR * prediction.contact_radius);
        out.frame.resize(n, Vec3::ZERO);
        out.budget.resize(n, Budget::UNLIMITED);
        for (v, (frame, &c)) in out.frame.iter_mut().zip(&geometry.component).enumerate() {
            if !is_kept(v) {
                *frame = survey.travel[c as usize];
            }
        }
        (out.island, out.mobile) = (survey.island, survey.mobile);
        out.part(&geometry.component);
        let frame = &out.frame;
        out.budget.par_iter_mut().enumerate().with_min_len(1024).for_each(|(v, budget)| {
            if !is_kept(v) {
                *budget = Budget::along(prediction.wanted[v] - frame[v], prediction.margin[v]);
            }
        });
        let x = x.as_slice();
        self.boxes.clear();
        self.boxes.extend(out.budget.iter().zip(x).enumerate().map(|(v, (b, &p))| {
            if !prediction.is_present(geometry, v) || is_kept(v) {
                // Overlaps nothing.
                return Aabb { min: Vec3::NAN, max: Vec3::NAN };
            }
            let b = b.around.inflated(prediction.share(geometry, v));
            Aabb { min: p + b.min, max: p + b.max }
        }));
        self.tubes.clear();
        if out.budget.iter().any(|b| !b.tube.is_none()) {
            let shared = |(v, b): (usize, &Budget)| b.tube.inflated(prediction.share(geometry, v));
            self.tubes.extend(out.budget.iter().enumerate().map(shared));
        }
        self.reach.clear();
        self.reach.extend(out.budget.iter().map(|b| b.extent().length()));
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
            tubes: &self.tubes,
            reach: &self.reach,
            offset: prediction.contact_radius,
            active: &geometry.active,
            rigid: &geometry.rigid,
        };
        self.broad.detect(&geometry.surface, &query, &mut self.point_triangle, &mut self.edge_edge);
        self.leave_out(geometry);
        self.farthest.clear();
        let places = x.iter().zip(&out.frame).zip(&out.budget);
        self.farthest.extend(places.map(|((x, frame), budget)| farthest(*x, *frame, budget)));
        self.list(geometry, x, (!kept.is_empty(), &is_kept), out);
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

    /// Lists the found pairs with their planes, those inside tets, and what was kept.
    fn list(
        &self,
        geometry: &Geometry,
        x: &[Vec3],
        (any_kept, is_kept): (bool, &(impl Fn(usize) -> bool + Sync)),
        out: &mut Detection,
    ) {
        let surface = &geometry.surface;
        let budget = &out.budget;
        let finest = |points: [u32; 4]| resolution_at(points.map(|v| self.farthest[v as usize]));
        let stays = |plane: &&Plane| plane.points.iter().any(|&v| is_kept(v as usize));
        let kept: Vec<Plane> =
            if any_kept { out.planes.iter().filter(stays).copied().collect() } else { Vec::new() };
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
        let inside: Vec<Plane> = geometry
            .tets
            .par_iter()
            .with_min_len(256)
            .filter(|t| !is_kept(t[0] as usize))
            .flat_map_iter(|t| tet_planes(x, budget, *t, finest(*t)))
            .collect();
        out.planes.extend(inside);
        out.planes.extend(kept);
    }
}
