//! Phase 1 of the contact-proxy splitting [Xie 2023, Eq. 24]: fluid particles and the solid points near them, with
//! inertia, incompressibility, viscosity, and a second-order model of the contact energy.
//!
//! What comes out is x*: the inertial target of phase 2, where elasticity and contact act. Where phase 2 has barriers, each
//! phase holds half of the contact energy. In block descent this one models all of it, and its forces are taken out of the
//! targets again, because phase 2 puts the true ones in their place:
//!
//! x* = argmin ½|x − x̂|²_M + h² [P + T₂[C; xⁿ]],     xⁿ⁺¹ = argmin ½|x − x*|²_M + h² [Ψ + C − ∇T₂[C; xⁿ](x*)·x].
//!
//! At rest both end where they began. Two halves do not: the first lets a particle sink towards a wall that the second pushes
//! it off again, by h² F/2m, and the layer behind it is pressed together by as much. The
//! walls' kernel volume and the reaction on the solids are part of the same solve, so that the pressure which holds a
//! column up and the weight that a floor carries are the same number.

use crate::body::{NO_BODY, Pose};
use crate::contact::barrier;
use crate::contact::barrier_set::{BarrierModel, Barriers, Touch};
use crate::contact::law;
use crate::contact::shadow::Sight;
use crate::contact::wall::Meeting;
use crate::fluid::{ABSENT, Fluid, Link, NO_NODE, Node, Solution, SolveSettings, Stencil, Visibility, Wall};
use crate::liquid::{FluidSystem, PARTICLE_MEMORY, life};
use crate::model::Snapshot;
use crate::report::FluidReport;
use crate::safe::SafePositions;
use crate::settings::{SolidResponse, Splitting};
use crate::solver::body_backing::SolidBacking;
use crate::solver::sparse::Unknowns;
use crate::step::exact_proxy::stencil_of;
use crate::step::immersed::{Piece, pieces};
use crate::system::System;
use littoral_geom::math::{Aabb, Mat3, Vec3, outer};
use littoral_geom::near::NearTriangles;
use littoral_geom::particle_grid::ParticleGrid;
use rayon::prelude::*;

/// Nearer than this share of the stand-off to a surface, or of the spacing to a particle, what a nozzle releases would
/// appear inside of something: it is left out, and counted.
const NOZZLE_CLEARANCE: f64 = 0.5;

/// The phase and its memory. Dropping the memory between steps changes no result.
#[derive(Debug)]
pub struct FluidPhase {
    pub(super) fluid: Fluid,
    near: NearTriangles,
    /// Which particles are there (p).
    pub(super) present: Vec<bool>,
    /// Points of the particles that are there.
    points: Vec<u32>,
    kinds: Vec<u32>,
    /// Places of the particles in `points` (p), or `u32::MAX`.
    place: Vec<u32>,
    near_surface: Vec<bool>,
    /// Pieces of rods with water around them.
    immersed: Vec<Piece>,
    /// Points that are nodes.
    pub(super) unknowns: Unknowns,
    backing: SolidBacking,
    /// Force of the fluid on each node [N].
    force: Vec<Vec3>,
    /// Force [N] and torque about the centre [N m] of this phase on each rigid body.
    pushes: Vec<(Vec3, Vec3)>,
    /// Force of this phase on each object [N].
    on_objects: Vec<Vec3>,
    /// What may act on particles where the phase after has barriers.
    barriers: Barriers,
    /// Object of each wall and each link.
    wall_objects: Vec<u32>,
    pub(super) link_objects: Vec<u32>,
    /// Positions xⁿ of free points, final ones of prescribed points (n) [m].
    expanded_at: Vec<Vec3>,
    nodes: Vec<Node>,
    walls: Vec<Wall>,
    pub(super) links: Vec<Link>,
    /// How many links, the first ones, model contacts that the phase after has itself.
    lent: usize,
    /// What exact Hessians of the proxies have beside the links.
    stencils: Vec<Stencil>,
    pub(super) x_hat: Vec<Vec3>,
    pub(super) node_motion: Vec<Vec3>,
    pub(super) warm: Vec<Vec3>,
    /// The last solution of a joint solve.
    pub(super) last: Solution,
}

/// What the phase reads besides the system.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// Positions xⁿ (n) [m].
    pub x: &'a [Vec3],
    /// Points whose motion is prescribed in this step (n).
    pub held: &'a [bool],
    /// Poses of the rigid bodies at xⁿ.
    pub poses: &'a [Pose],
    /// Step [s].
    pub h: f64,
    /// The barriers that are modelled, where the phase after has barriers; else contacts follow their law.
    pub proxy: Option<Proxy<'a>>,
}

/// T₂[c C_sf; xⁿ] [Xie 2023, Eq. 24].
#[derive(Clone, Copy, Debug)]
pub struct Proxy<'a> {
    /// The barriers.
    pub model: &'a BarrierModel,
    /// c [–]; at 0 this phase has no contacts.
    pub factor: f64,
    /// Every free point of a solid is a node, wet or dry: for the joint solve.
    pub whole: bool,
}

impl FluidPhase {
    /// The phase for a system with fluid; `None` for one without.
    pub fn new(system: &System) -> Option<Self> {
        let f = system.fluid.as_ref()?;
        let fluid = f.fluid();
        assert!(fluid.is_ok(), "the scene builder let a fluid pass that cannot be made: {:?}", fluid.err());
        Some(FluidPhase {
            fluid: fluid.ok()?,
            near: NearTriangles::default(),
            present: Vec::new(),
            points: Vec::new(),
            kinds: Vec::new(),
            place: Vec::new(),
            near_surface: Vec::new(),
            immersed: Vec::new(),
            unknowns: Unknowns::default(),
            backing: SolidBacking::default(),
            pushes: Vec::new(),
            force: Vec::new(),
            barriers: Barriers::default(),
            on_objects: Vec::new(),
            wall_objects: Vec::new(),
            link_objects: Vec::new(),
            expanded_at: Vec::new(),
            nodes: Vec::new(),
            walls: Vec::new(),
            links: Vec::new(),
            lent: 0,
            stencils: Vec::new(),
            x_hat: Vec::new(),
            node_motion: Vec::new(),
            warm: Vec::new(),
            last: Solution::default(),
        })
    }

    /// Force of this phase on each object in the last step [N].
    pub fn forces_on_objects(&self) -> &[Vec3] {
        &self.on_objects
    }

    /// Force [N] and torque about its centre [N m] of this phase on each rigid body; none where it met none.
    pub fn pushes(&self) -> &[(Vec3, Vec3)] {
        &self.pushes
    }

    /// Which particles are there, in their order.
    pub fn present(&self) -> &[bool] {
        &self.present
    }

    /// Lists the particles that are there.
    pub fn list(&mut self, system: &System, state: &Snapshot) {
        if let Some(f) = &system.fluid {
            self.list_present(f, state);
        }
    }

    /// Finds x* and writes it into the inertial targets `y` of particles and of the solid points near them; the
    /// particles' wanted displacements become x* − xⁿ. `wanted` holds those of prescribed points on entry.
    pub fn run(
        &mut self,
        system: &System,
        start: &Start<'_>,
        state: &mut Snapshot,
        y: &mut [Vec3],
        wanted: &mut [Vec3],
    ) -> FluidReport {
        let Some(f) = &system.fluid else { return FluidReport::default() };
        let mut report = FluidReport::default();
        self.prepare(system, f, start, state, wanted);
        let settings = settings_of(f);
        let bodies_are_nodes = self.predict_bodies(system, start.x, y);
        let elastic =
            (f.settings.response == SolidResponse::Elastic || bodies_are_nodes) && !self.unknowns.is_empty();
        if elastic {
            self.expanded_at.clear();
            self.expanded_at.extend_from_slice(&start.x[..f.first]);
            for (v, x) in self.expanded_at.iter_mut().enumerate().filter(|(v, _)| start.held[*v]) {
                *x += wanted[v];
            }
            self.backing.elastic.expand(system, self.unknowns.clone(), &self.expanded_at, start.h);
            self.backing.add_bodies(system, start.poses, &self.node_motion);
        }
        let solution = self.solve(&settings, elastic);
        for (i, present) in self.present.iter().enumerate() {
            let v = f.first + i;
            (y[v], wanted[v]) = match present {
                true => (solution.x[i], solution.x[i] - start.x[v]),
                false => (start.x[v], Vec3::ZERO),
            };
        }
        self.remember(f, start.h, &solution.x, state);
        self.add_forces(system, start, &solution);
        self.take_back(system, f, start, &solution, y);
        self.push_bodies(system, start);
        for (k, &v) in self.unknowns.points.iter().enumerate() {
            let v = v as usize;
            if system.bodies.of_point[v] != NO_BODY {
                continue;
            }
            // What the fluid does to a node joins its inertial target; elasticity itself is the next phase's.
            let pushed = start.h * start.h / system.mass[v] * self.force[k];
            y[v] = start.x[v] + self.node_motion[k] + pushed;
            if elastic {
                wanted[v] = solution.nodes[k];
            }
        }
        if start.proxy.is_some() && self.is_free() {
            self.balance(system, f, start, y, wanted);
        }
        self.tell(&mut report);
        report.iterations = solution.report.iterations;
        report.residual = solution.report.residual;
        report
    }

    /// One linear solve; another without stencils if they leave it without a solution.
    fn solve(&mut self, settings: &SolveSettings, elastic: bool) -> Solution {
        loop {
            self.fluid.set_stencils(&self.stencils);
            let solution = self.fluid.solve_backed(
                &self.x_hat,
                &self.node_motion,
                &self.links,
                &self.warm,
                settings,
                if elastic { Some(&mut self.backing) } else { None },
            );
            if solution.report.converged || self.stencils.is_empty() {
                return solution;
            }
            self.stencils.clear();
        }
    }

    /// Nothing that the fluid meets is prescribed or held.
    pub(super) fn is_free(&self) -> bool {
        let free = |nodes: &[u32; 3], weights: &[f64; 3]| {
            nodes.iter().zip(weights).all(|(n, w)| *n != NO_NODE || *w == 0.0)
        };
        self.walls.iter().all(|w| free(&w.nodes, &w.weights))
            && self.links.iter().all(|l| free(&l.nodes, &l.weights))
    }

    /// Shifts the particles as a whole until they and the nodes have together the momentum they started with: what the
    /// tolerance of the solve has left of it.
    fn balance(
        &self,
        system: &System,
        f: &FluidSystem,
        start: &Start<'_>,
        y: &mut [Vec3],
        wanted: &mut [Vec3],
    ) {
        let there = || (0..self.present.len()).filter(|&i| self.present[i]);
        let mass: f64 = there().map(|i| system.mass[f.first + i]).sum();
        let gained: Vec3 = there().map(|i| system.mass[f.first + i] * (y[f.first + i] - self.x_hat[i])).sum();
        let given = start.h * start.h * self.force.iter().sum::<Vec3>();
        let shift = (gained + given) / mass.max(f64::MIN_POSITIVE);
        for v in there().map(|i| f.first + i) {
            y[v] -= shift;
            wanted[v] -= shift;
        }
    }

    /// Neighbours, walls, nodes, links and predictors at xⁿ.
    pub(super) fn prepare(
        &mut self,
        system: &System,
        f: &FluidSystem,
        start: &Start<'_>,
        state: &Snapshot,
        wanted: &[Vec3],
    ) {
        self.list_present(f, state);
        self.near.fit(start.x, &system.geometry.surface.triangles, &self.points, self.fluid.support());
        self.immersed.clear();
        // The joint solve asks for its contacts anew in each iteration, and for nothing else; the baseline knows no solids.
        if f.settings.splitting.has_proxy() {
            self.immersed = pieces(system, &self.fluid, start.x, &self.points);
        }
        self.surroundings(system, f, start, wanted);
        self.lent = if start.proxy.is_none() { self.links.len() } else { 0 };
        self.tie_rods(system, f, start, state, wanted);
        let x = &start.x[f.first..];
        {
            let (near, place) = (&self.near, &self.place);
            let sees =
                |a: u32, b: u32| !near.is_blocked(place[a as usize] as usize, place[b as usize] as usize);
            let visibility = Visibility { near_surface: &self.near_surface, sees: &sees };
            self.fluid.prepare(x, start.h, &self.nodes, &self.walls, Some(&visibility));
        }
        self.predict(system, f, start, state);
    }

    /// Keeps the accelerations by pressure for the start of the next solve.
    pub(super) fn remember(&self, f: &FluidSystem, h: f64, x: &[Vec3], state: &mut Snapshot) {
        let memory = &mut state.memory[f.memory..];
        for i in (0..self.present.len()).filter(|&i| self.present[i]) {
            let push = (x[i] - self.x_hat[i]) / (h * h);
            memory[PARTICLE_MEMORY * i + 1..PARTICLE_MEMORY * (i + 1)].copy_from_slice(&push.to_array());
        }
    }

    /// Replaces the predicted displacements of points of bodies by those of free flight, to the targets `y` [m]. True if
    /// there are any.
    fn predict_bodies(&mut self, system: &System, x: &[Vec3], y: &[Vec3]) -> bool {
        let mut any = false;
        for (motion, &v) in self.node_motion.iter_mut().zip(&self.unknowns.points) {
            let v = v as usize;
            if system.bodies.of_point[v] != NO_BODY {
                *motion = y[v] - x[v];
                any = true;
            }
        }
        any
    }

    /// Sums the forces on the nodes of bodies.
    fn push_bodies(&mut self, system: &System, start: &Start<'_>) {
        self.pushes.clear();
        self.pushes.resize(system.bodies.list.len(), (Vec3::ZERO, Vec3::ZERO));
        for (force, &v) in self.force.iter().zip(&self.unknowns.points) {
            let b = system.bodies.of_point[v as usize];
            if b != NO_BODY {
                let push = &mut self.pushes[b as usize];
                push.0 += *force;
                push.1 += (start.x[v as usize] - start.poses[b as usize].center).cross(*force);
            }
        }
    }

    /// Lets particles in at nozzles, and takes those that are in a sink. Returns how many a nozzle held back.
    pub fn admit(&mut self, system: &System, x: &mut SafePositions, state: &mut Snapshot) -> u32 {
        let Some(f) = &system.fluid else { return 0 };
        let (places, lives) = (f.first.., f.memory);
        let life_at = |i: usize| lives + PARTICLE_MEMORY * i;
        for (i, v) in places.clone().take(f.kinds.len()).enumerate() {
            let p = state.x[v];
            let inside = |b: &Aabb| b.min.cmple(p).all() && p.cmple(b.max).all();
            if state.memory[life_at(i)] == life::PRESENT && f.sinks.iter().any(inside) {
                state.memory[life_at(i)] = life::GONE;
                (state.v[v], state.v_before[v]) = (Vec3::ZERO, Vec3::ZERO);
            }
        }
        let due: Vec<usize> = (0..f.kinds.len())
            .filter(|&i| state.memory[life_at(i)] == life::WAITING && f.births[i].time <= state.time)
            .collect();
        if due.is_empty() {
            return 0;
        }
        // Since it was due, a particle has gone on with its jet.
        let arrivals: Vec<(usize, Vec3, Vec3)> = due
            .iter()
            .map(|&i| {
                let velocity = f.births[i].velocity.unwrap_or(Vec3::ZERO);
                (i, state.x[f.first + i] + velocity * (state.time - f.births[i].time), velocity)
            })
            .collect();
        let places: Vec<Vec3> = arrivals.iter().map(|a| a.1).collect();
        self.near.fit_positions(
            x.as_slice(),
            &system.geometry.surface.triangles,
            &places,
            NOZZLE_CLEARANCE * f.stand_off(),
        );
        let there: Vec<Vec3> = (0..f.kinds.len())
            .filter(|&i| state.memory[life_at(i)] == life::PRESENT)
            .map(|i| state.x[f.first + i])
            .collect();
        let crowd: Vec<Vec3> = places.iter().chain(&there).copied().collect();
        let mut grid = ParticleGrid::default();
        grid.fit(&crowd, NOZZLE_CLEARANCE * f.spacing);
        let mut crowded = vec![false; crowd.len()];
        for (slot, &k) in grid.order().iter().enumerate() {
            let others = grid.neighbors(slot as u32).iter().map(|n| grid.order()[*n as usize] as usize);
            crowded[k as usize] = others.into_iter().any(|o| o >= places.len());
        }
        let mut blocked = 0;
        for (k, (i, place, velocity)) in arrivals.into_iter().enumerate() {
            if crowded[k] || !self.near.list(k).is_empty() {
                state.memory[life_at(i)] = life::GONE;
                blocked += 1;
                continue;
            }
            let v = f.first + i;
            state.memory[life_at(i)] = life::PRESENT;
            state.x[v] = place;
            state.v[v] = velocity;
            state.v_before[v] = velocity;
            x.place(v as u32, place);
        }
        blocked
    }

    fn list_present(&mut self, f: &FluidSystem, state: &Snapshot) {
        let count = f.kinds.len();
        self.present.clear();
        self.present.extend((0..count).map(|i| f.life(&state.memory, i) == life::PRESENT));
        self.points.clear();
        self.place.clear();
        self.kinds.clear();
        for (i, &present) in self.present.iter().enumerate() {
            self.place.push(if present { self.points.len() as u32 } else { u32::MAX });
            self.kinds.push(if present { f.kinds[i] } else { ABSENT });
            if present {
                self.points.push((f.first + i) as u32);
            }
        }
        if self.fluid.kinds() != self.kinds {
            // Kinds are those of the scene, which names no fluid that does not exist.
            let known = self.fluid.set_kinds(self.kinds.clone());
            assert!(known.is_ok(), "a particle of an unknown fluid");
        }
    }

    /// Walls, nodes and contact models at xⁿ.
    fn surroundings(&mut self, system: &System, f: &FluidSystem, start: &Start<'_>, wanted: &[Vec3]) {
        let (near, points) = (&self.near, &self.points);
        self.near_surface.clear();
        self.near_surface.resize(self.present.len(), false);
        for (k, &v) in points.iter().enumerate() {
            self.near_surface[v as usize - f.first] = !near.list(k).is_empty();
        }
        self.walls.clear();
        self.links.clear();
        self.stencils.clear();
        self.wall_objects.clear();
        self.link_objects.clear();
        self.nodes.clear();
        self.unknowns = Unknowns::new(f.first, |_| false);
        if f.settings.splitting == Splitting::Baseline {
            return;
        }
        let mut touches = Vec::new();
        if let Some(proxy) = start.proxy.filter(|p| p.factor != 0.0) {
            let near = points.iter().enumerate().map(|(k, &v)| (v, near.list(k)));
            self.barriers.list_near(proxy.model, &system.contact, &system.geometry, near);
            self.barriers.touches(start.x, &mut touches);
        }
        let sight = Sight { kernel: self.fluid.kernel(), spacing: f.spacing };
        let meetings: Vec<(u32, Meeting)> = points
            .par_iter()
            .enumerate()
            .with_min_len(1024)
            .flat_map_iter(|(k, &v)| {
                let mut out = Vec::new();
                if !near.list(k).is_empty() {
                    system.contact.meetings(sight, &system.geometry, start.x, v, near.list(k), &mut out);
                }
                out.into_iter().map(move |m| (v, m))
            })
            .collect();
        self.choose_nodes(system, f, start, &meetings, &touches);
        for (v, m) in &meetings {
            let i = *v as usize - f.first;
            let nodes = m.corners.map(|c| self.unknowns.of_point[c as usize]);
            let motion: Vec3 = (0..3)
                .filter(|&k| nodes[k] == NO_NODE)
                .map(|k| m.weights[k] * wanted[m.corners[k] as usize])
                .sum();
            let kind = f.kinds[i];
            let (particle, weights) = (i as u32, m.weights);
            let object = system.contact.object_of(m.corners[0]);
            if m.volume > 0.0 {
                self.wall_objects.push(object);
                self.walls.push(Wall {
                    particle,
                    distance: m.distance,
                    normal: m.pull.normalize_or_zero(),
                    nodes,
                    weights,
                    velocity: motion / start.h,
                    hides: Some([m.volume, m.pull.length()]),
                    no_slip: f.no_slip[kind as usize],
                });
            }
            let radius = system.contact.particles().radius;
            if m.distance < radius && start.proxy.is_none() {
                let (force, curvature) =
                    law::force_and_curvature(m.distance, f.contact_stiffness(kind), radius);
                let gradient = -force * m.normal;
                let hessian: Mat3 = curvature * outer(m.normal, m.normal);
                self.link_objects.push(object);
                self.links.push(Link { particle, nodes, weights, motion, gradient, hessian });
            }
        }
        if let Some(proxy) = start.proxy {
            let moved = |v: u32| wanted[v as usize];
            for t in &touches {
                self.link_objects.push(system.contact.object_of(t.points[1]));
                self.links.push(link_of(t, start.x, proxy.factor, f.first, &self.unknowns, moved));
                if f.settings.exact_proxies {
                    let stencil = stencil_of(t, start.x, proxy.factor, f.first, &self.unknowns, moved);
                    self.stencils.push(stencil);
                }
            }
        }
    }

    /// Links of particles to the rods that they flow around.
    fn tie_rods(
        &mut self,
        system: &System,
        f: &FluidSystem,
        start: &Start<'_>,
        state: &Snapshot,
        wanted: &[Vec3],
    ) {
        for piece in &self.immersed {
            let object = system.contact.object_of(piece.ends[0]);
            let links = piece.links(f, start, state, &self.unknowns, |v| wanted[v as usize]);
            self.links.extend(links);
            self.link_objects.resize(self.links.len(), object);
        }
    }

    /// Nodes: with elasticity every free point of a body that the fluid meets, without it the points it meets.
    fn choose_nodes(
        &mut self,
        system: &System,
        f: &FluidSystem,
        start: &Start<'_>,
        meetings: &[(u32, Meeting)],
        touches: &[Touch],
    ) {
        let component = &system.geometry.component;
        let mut met = vec![false; f.first];
        let mut wet = vec![false; system.geometry.prescribed.len()];
        let touched = touches.iter().flat_map(|t| &t.points[1..t.used()]).copied();
        let immersed = self.immersed.iter().flat_map(|p| p.ends);
        for c in meetings.iter().flat_map(|(_, m)| m.corners).chain(touched).chain(immersed) {
            met[c as usize] = true;
            wet[component[c as usize] as usize] = true;
        }
        let elastic = f.settings.response == SolidResponse::Elastic;
        let whole = start.proxy.is_some_and(|p| p.whole);
        self.unknowns = Unknowns::new(f.first, |v| {
            // A body answers with all of its points.
            let of_one = elastic || system.bodies.of_point[v] != NO_BODY;
            let counts = if of_one { wet[component[v] as usize] } else { met[v] };
            (counts || whole) && system.moves(v) && !start.held[v]
        });
        self.nodes.extend(self.unknowns.points.iter().map(|&v| match system.bodies.at(v as usize) {
            Some((b, _)) => Node { mass: SolidBacking::lump(system, b) },
            None => Node { mass: system.mass[v as usize] },
        }));
    }

    /// Sums the forces of walls and contacts on the nodes.
    pub(super) fn add_forces(&mut self, system: &System, start: &Start<'_>, solution: &Solution) {
        self.force.clear();
        self.force.resize(self.nodes.len(), Vec3::ZERO);
        let first = start.x.len() - self.present.len();
        self.on_objects.clear();
        self.on_objects.resize(system.objects.len(), Vec3::ZERO);
        for ((wall, force), object) in self.walls.iter().zip(&solution.wall_forces).zip(&self.wall_objects) {
            self.on_objects[*object as usize] += *force;
            for (node, weight) in wall.nodes.iter().zip(wall.weights).filter(|(n, _)| **n != NO_NODE) {
                self.force[*node as usize] += weight * *force;
            }
        }
        for (link, object) in self.links.iter().zip(&self.link_objects).skip(self.lent) {
            let force = link_force(link, first, start.x, solution);
            self.on_objects[*object as usize] += force;
            for (node, weight) in link.nodes.iter().zip(link.weights).filter(|(n, _)| **n != NO_NODE) {
                self.force[*node as usize] += weight * force;
            }
        }
        self.add_stencil_forces(first, start.x, solution);
    }

    /// Takes the forces of modelled contacts out of the particles' targets again: the next phase has the contacts themselves.
    fn take_back(
        &self,
        system: &System,
        f: &FluidSystem,
        start: &Start<'_>,
        solution: &Solution,
        y: &mut [Vec3],
    ) {
        for link in &self.links[..self.lent] {
            let v = f.first + link.particle as usize;
            y[v] += start.h * start.h / system.mass[v] * link_force(link, f.first, start.x, solution);
        }
    }

    /// Adds the forces of the stencils on the nodes.
    fn add_stencil_forces(&mut self, first: usize, x: &[Vec3], solution: &Solution) {
        for s in &self.stencils {
            let i = s.particle as usize;
            let corner = |k: usize| match s.nodes[k] {
                NO_NODE => s.motion[k],
                node => solution.nodes[node as usize],
            };
            let q = [solution.x[i] - x[first + i], corner(0), corner(1), corner(2)];
            for (node, g) in s.nodes.iter().zip(&s.gradient(&q)[1..]).filter(|(n, _)| **n != NO_NODE) {
                self.force[*node as usize] -= *g;
            }
        }
    }

    /// Predictors x̂ = xⁿ + h vⁿ + h² g, and the warm start.
    fn predict(&mut self, system: &System, f: &FluidSystem, start: &Start<'_>, state: &Snapshot) {
        let (h, g) = (start.h, system.gravity);
        self.x_hat.clear();
        self.warm.clear();
        for (i, &present) in self.present.iter().enumerate() {
            let v = f.first + i;
            if !present {
                self.x_hat.push(start.x[v]);
                self.warm.push(Vec3::ZERO);
                continue;
            }
            self.x_hat.push(start.x[v] + h * state.v[v] + h * h * g);
            let m = &state.memory[f.memory + PARTICLE_MEMORY * i..];
            self.warm.push(h * h * Vec3::new(m[1], m[2], m[3]));
        }
        self.node_motion.clear();
        self.node_motion.extend(self.unknowns.points.iter().map(|&v| h * state.v[v as usize] + h * h * g));
    }

    /// Compression and volume at xⁿ.
    pub(super) fn tell(&self, report: &mut FluidReport) {
        let fill = self.fluid.fill();
        let there = || fill.iter().zip(&self.present).filter(|(_, p)| **p).map(|(f, _)| f.max(1.0));
        let count = self.points.len().max(1) as f64;
        report.particles = self.points.len() as u32;
        report.compression_mean = there().map(|f| f - 1.0).sum::<f64>() / count;
        report.compression_max = there().map(|f| f - 1.0).fold(0.0, f64::max);
        report.volume_error = there().map(|f| 1.0 / f - 1.0).sum::<f64>() / count;
    }
}

/// Force of a link on its corners at the solution [N]; its particle, points from `first` on, gets the opposite.
fn link_force(link: &Link, first: usize, x: &[Vec3], solution: &Solution) -> Vec3 {
    let corners = link.nodes.iter().zip(link.weights).filter(|(n, _)| **n != NO_NODE);
    let point: Vec3 = corners.map(|(n, w)| w * solution.nodes[*n as usize]).sum();
    let i = link.particle as usize;
    let relative = solution.x[i] - x[first + i] - link.motion - point;
    link.gradient + link.hessian * relative
}

/// How the linear system is solved.
pub(super) fn settings_of(f: &FluidSystem) -> SolveSettings {
    SolveSettings {
        tolerance: f.settings.tolerance,
        max_iterations: f.settings.max_iterations,
        ..SolveSettings::default()
    }
}

/// The model of a particle's barrier at `x` [m], times `factor`, as a link about the displacements since the start of the
/// step; `motion` says how far corners go that are no unknowns. Weights and normal stay as they are at `x`.
pub(super) fn link_of(
    touch: &Touch,
    x: &[Vec3],
    factor: f64,
    first: usize,
    unknowns: &Unknowns,
    motion: impl Fn(u32) -> Vec3,
) -> Link {
    let (closest, force) = touch.barrier.pull(&touch.gather(x));
    let (_, curvature) = barrier::slopes(closest.distance, touch.barrier.range);
    let n = closest.normal;
    let mut link = Link::fixed(
        touch.points[0] - first as u32,
        -factor * force * n,
        // Corrections of sums would make it negative.
        outer(n, n) * (factor * touch.barrier.strength.max(0.0) * curvature),
    );
    for k in 1..touch.used() {
        let corner = touch.points[k];
        link.weights[k - 1] = -closest.weights[k];
        link.nodes[k - 1] = unknowns.of_point[corner as usize];
        if link.nodes[k - 1] == NO_NODE {
            link.motion -= closest.weights[k] * motion(corner);
        }
    }
    link
}
