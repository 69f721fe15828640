//! A system and its state, ready to step: what the command line, the tests and later the bindings hold.

use crate::body::{BodyState, Pose, RigidBody};
use crate::model::{Object, Snapshot};
use crate::report::{OffPair, RodReport, StepReport, Verdict};
use crate::rod::Rods;
use crate::safe::{Geometry, SafePositions};
use crate::settings::{Method, SolverSettings};
use crate::solver::newton::LinearSystem;
use crate::step::{NewtonIpc, VbdDat};
use crate::system::System;
use crate::untangle::Untangle;
use littoral_geom::math::Vec3;
use littoral_geom::referee::Referee;
use littoral_geom::referee::edge_path::EdgePathReferee;
use littoral_geom::referee::path::PathReferee;
use std::time::Instant;

/// The step of the method that was chosen.
#[derive(Debug)]
enum Stepper {
    Vbd(Box<VbdDat>),
    Newton(Box<NewtonIpc>),
}

impl Stepper {
    fn new(system: &System, settings: &SolverSettings, safe: &SafePositions) -> Self {
        match settings.method {
            Method::Vbd => Stepper::Vbd(Box::new(VbdDat::new(system, settings.clone(), safe))),
            Method::Newton => Stepper::Newton(Box::new(NewtonIpc::new(system, settings.clone(), safe))),
        }
    }

    fn step(
        &mut self,
        system: &mut System,
        safe: &mut SafePositions,
        state: &mut Snapshot,
        h: f64,
    ) -> StepReport {
        match self {
            Stepper::Vbd(stepper) => stepper.step(system, safe, state, h),
            Stepper::Newton(stepper) => stepper.step(system, safe, state, h),
        }
    }

    fn trail(&self) -> &[Vec<Vec3>] {
        match self {
            Stepper::Vbd(stepper) => stepper.trail(),
            Stepper::Newton(stepper) => stepper.trail(),
        }
    }
}

/// A scene in motion.
#[derive(Debug)]
pub struct Simulation {
    system: System,
    settings: SolverSettings,
    safe: SafePositions,
    state: Snapshot,
    stepper: Stepper,
    referee: Referee,
    paths: Option<PathReferee>,
    untangle: Untangle,
    rod_paths: Option<(EdgePathReferee, PathReferee)>,
    contact_forces: Vec<Vec3>,
}

impl Simulation {
    /// Starts `system` at `state`.
    pub(crate) fn new(mut system: System, settings: SolverSettings, mut state: Snapshot) -> Self {
        let safe = SafePositions::trusted(state.x.clone());
        let stepper = Stepper::new(&system, &settings, &safe);
        let g = &system.geometry;
        let referee = Referee::new(&g.surface.edges, &g.surface.triangles, &g.tets, &g.active);
        let particles: Vec<u32> = (g.first_particle() as u32..g.component.len() as u32).collect();
        let (crossings, _) = rayon::scope(|_| referee.crossings(&state.x));
        let untangle = Untangle::new(&system, &state.x, &crossings, &mut state.memory);
        // What contacts remember comes last: its length varies.
        system.memory = state.memory.len();
        let paths = (!particles.is_empty()).then(|| PathReferee::new(&g.surface.triangles, &particles));
        let rod_paths = system.rods.as_ref().map(|rods| {
            let points: Vec<u32> = rods.chains.iter().flat_map(|c| &c.points).copied().collect();
            let edges = &g.surface.edges;
            let first = edges.len() - g.lines;
            (EdgePathReferee::new(edges, first), PathReferee::new(&g.surface.triangles, &points))
        });
        system.geometry.entangled = untangle.open(&state.memory);
        Simulation {
            system,
            settings,
            safe,
            state,
            stepper,
            referee,
            paths,
            rod_paths,
            untangle,
            contact_forces: Vec::new(),
        }
    }

    /// What is fixed during the run.
    #[cfg(test)]
    pub(crate) fn system(&self) -> &System {
        &self.system
    }

    /// The objects, in point order.
    pub fn objects(&self) -> &[Object] {
        &self.system.objects
    }

    /// All surface triangles (t, 3), as point indices.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.system.geometry.surface.triangles
    }

    /// All surface edges (e, 2), as point indices.
    pub fn edges(&self) -> &[[u32; 2]] {
        &self.system.geometry.surface.edges
    }

    /// All tets (k, 4), as point indices.
    pub fn tets(&self) -> &[[u32; 4]] {
        &self.system.geometry.tets
    }

    /// Segments of rods (e, 2), as point indices: the last edges.
    pub fn rod_segments(&self) -> &[[u32; 2]] {
        let edges = self.edges();
        &edges[edges.len() - self.system.geometry.lines..]
    }

    /// The rods; `None` without any.
    pub fn rods(&self) -> Option<&Rods> {
        self.system.rods.as_ref()
    }

    /// Contact offset of an object [m], by its number: half the distance at which two like it begin to push each other.
    pub fn contact_offset(&self, object: usize) -> f64 {
        self.system.contact.offset_of(object)
    }

    /// Mass of each point (n) [kg]; 0 for colliders.
    pub fn mass(&self) -> &[f64] {
        &self.system.mass
    }

    /// Rest positions, where the run starts (n) [m].
    pub fn x_rest(&self) -> &[Vec3] {
        &self.system.x0
    }

    /// Force of the other objects on each object through contact at the end of the last step [N], as in its report; empty
    /// before the first step.
    pub fn contact_forces(&self) -> &[Vec3] {
        &self.contact_forces
    }

    /// Positions, velocities, time.
    pub fn state(&self) -> &Snapshot {
        &self.state
    }

    /// The rigid body that an object is, and its state; `None` for any other object.
    pub fn body(&self, object: &Object) -> Option<(&RigidBody, BodyState)> {
        let bodies = &self.system.bodies;
        let (b, _) = bodies.at(object.first as usize)?;
        Some((&bodies.list[b], bodies.state(&self.state.memory, b)))
    }

    /// Largest distance [m] by which the joints of a rigid body miss what they hold; `None` without any.
    pub fn joint_gap(&self, object: &Object) -> Option<f64> {
        let (b, _) = self.system.bodies.at(object.first as usize)?;
        self.system.joints.gap(b, &self.poses(), &self.state.x)
    }

    /// Poses of the rigid bodies in the order of their objects: centre of mass [m], rotation from the start.
    pub fn poses(&self) -> Vec<Pose> {
        let bodies = &self.system.bodies;
        (0..bodies.list.len()).map(|b| bodies.state(&self.state.memory, b).pose).collect()
    }

    /// The range of fluid particles among the points; empty without fluid. They come last.
    pub fn particles(&self) -> std::ops::Range<usize> {
        let n = self.state.x.len();
        self.system.fluid.as_ref().map_or(n..n, |f| f.first..n)
    }

    /// False for a particle that an emitter has yet to release or a sink has swallowed; true for every other point.
    pub fn is_present(&self, point: usize) -> bool {
        self.system.fluid.as_ref().is_none_or(|f| point < f.first || f.is_present(&self.state.memory, point))
    }

    /// Spacing of the fluid's particles [m]; `None` without fluid.
    pub fn spacing(&self) -> Option<f64> {
        self.system.fluid.as_ref().map(|f| f.spacing)
    }

    /// True if the fluid lifts rods and drags them along: with the splittings "proxy" and "proxy-three-phase".
    pub fn fluid_moves_rods(&self) -> bool {
        self.system.fluid.as_ref().is_some_and(|f| f.settings.splitting.has_proxy())
    }

    /// The largest step the fluid allows now [s]: the Courant limit of its fastest particle; `None` without fluid.
    pub fn largest_step(&self) -> Option<f64> {
        self.system.fluid.as_ref().map(|f| f.largest_step(&self.state))
    }

    /// Particles of each object that were left out because they overlapped something at the start.
    pub fn overlaps_removed(&self) -> &[u32] {
        self.system.fluid.as_ref().map_or(&[], |f| &f.removed)
    }

    /// Pressure of what an object holds over that outside [Pa], of its first closed part; `None` where it holds nothing.
    pub fn pressure(&self, object: usize) -> Option<f64> {
        let chamber = self.system.chambers.iter().find(|c| c.object as usize == object)?;
        Some(chamber.pressure(&self.state.x))
    }

    /// The solver's settings.
    pub fn settings(&self) -> &SolverSettings {
        &self.settings
    }

    /// Continues from a snapshot of the same system.
    ///
    /// # Panics
    /// When the snapshot has another number of points or motions.
    pub fn restore(&mut self, snapshot: Snapshot) {
        assert_eq!(snapshot.x.len(), self.state.x.len(), "the snapshot belongs to another system");
        assert!(snapshot.memory.len() >= self.system.memory, "the snapshot belongs to another system");
        self.safe = SafePositions::trusted(snapshot.x.clone());
        self.stepper = Stepper::new(&self.system, &self.settings, &self.safe);
        self.state = snapshot;
        self.contact_forces.clear();
        self.system.geometry.entangled = self.untangle.open(&self.state.memory);
    }

    /// Advances by one step of size `h` [s], > 0.
    pub fn step(&mut self, h: f64) -> StepReport {
        assert!(h > 0.0 && h.is_finite(), "a step needs a positive length, got {h}");
        let Simulation {
            system,
            safe,
            state,
            stepper,
            paths,
            rod_paths,
            referee,
            untangle,
            contact_forces,
            ..
        } = self;
        // Inside the pool from the start, so that no small loop pays for entering it.
        rayon::scope(|_| {
            let tangled = !system.geometry.entangled.is_empty();
            if untangle.is_active(&state.memory) {
                untangle.push(system, state, h);
            }
            let mut report = stepper.step(system, safe, state, h);
            contact_forces.clone_from(&report.contact_forces);
            if tangled {
                let (crossings, _) = referee.crossings(&state.x);
                untangle.settle(system, state, &crossings);
                system.geometry.entangled = untangle.open(&state.memory);
            }
            if let (Some(paths), Some(fluid)) = (&*paths, &mut report.fluid) {
                let began = Instant::now();
                // Who is there was settled when the step began.
                let is_there =
                    |p: u32| system.fluid.as_ref().is_some_and(|f| f.is_present(&state.memory, p as usize));
                (fluid.leaked, fluid.path_checks) = leaks(paths, stepper.trail(), is_there);
                report.phases.referee = began.elapsed().as_secs_f64();
            }
            if let Some((edges, points)) = rod_paths {
                let began = Instant::now();
                report.rods = Some(passages(edges, points, stepper.trail(), &system.geometry));
                report.phases.referee += began.elapsed().as_secs_f64();
            }
            report
        })
    }

    /// The last linear system that Newton's method solved, for timing its solvers; `None` with block descent.
    pub fn last_linear_system(&self) -> Option<LinearSystem<'_>> {
        match &self.stepper {
            Stepper::Vbd(_) => None,
            Stepper::Newton(stepper) => Some(stepper.last_system()),
        }
    }

    /// The referee's verdict on the current positions.
    pub fn judge(&self) -> Verdict {
        let start = Instant::now();
        let x = &self.state.x;
        let (mut crossings, checks) = rayon::scope(|_| self.referee.crossings(x));
        let off = self.sort_out(&mut crossings);
        let g = &self.system.geometry;
        let (entangled, crossings) = crossings.into_iter().partition(|&[e, t]: &[u32; 2]| {
            g.is_entangled(g.surface.edges[e as usize][0], g.surface.triangles[t as usize][0])
        });
        let inverted = rayon::scope(|_| self.referee.inverted(x));
        Verdict {
            crossings,
            entangled,
            off,
            checks: checks + self.tets().len() as u64,
            inverted,
            non_finite: self.referee.non_finite(x),
            seconds: start.elapsed().as_secs_f64(),
        }
    }
}

impl Simulation {
    /// Takes the crossings of objects whose contact is switched off out of the list, and counts them a pair.
    fn sort_out(&self, crossings: &mut Vec<[u32; 2]>) -> Vec<OffPair> {
        let Geometry { pairing, surface, .. } = &self.system.geometry;
        let name = |o: u32| self.system.objects[o as usize].name.clone();
        let mut off: Vec<OffPair> =
            pairing.off().iter().map(|pair| OffPair { objects: pair.map(name), crossings: 0 }).collect();
        if off.is_empty() {
            return off;
        }
        crossings.retain(|&[e, t]| {
            let (p, q) = (surface.edges[e as usize][0], surface.triangles[t as usize][0]);
            let pair = pairing.off_pair(p, q);
            if let Some(k) = pair {
                off[k].crossings += 1;
            }
            pair.is_none()
        });
        off
    }
}

/// Particles that are there and whose way crossed a triangle, commit by commit, and the number of exact tests. Where one
/// waits that has not come yet, or was left out, anything may pass.
fn leaks(paths: &PathReferee, trail: &[Vec<Vec3>], is_there: impl Fn(u32) -> bool) -> (u32, u64) {
    let mut leaked = Vec::new();
    let mut tests = 0;
    for way in trail.windows(2) {
        let (crossings, made) = paths.crossings(&way[0], &way[1]);
        leaked.extend(crossings.into_iter().map(|[particle, _]| particle).filter(|p| is_there(*p)));
        tests += made;
    }
    leaked.sort_unstable();
    leaked.dedup();
    (leaked.len() as u32, tests)
}

/// Pairs of edges, and of points and triangles, that rods passed through, commit by commit; pairs whose contact is switched
/// off do not count.
fn passages(
    edges: &EdgePathReferee,
    points: &PathReferee,
    trail: &[Vec<Vec3>],
    geometry: &Geometry,
) -> RodReport {
    let Geometry { pairing, surface, .. } = geometry;
    let first = |e: u32| surface.edges[e as usize][0];
    let mut report = RodReport::default();
    for way in trail.windows(2) {
        let (passed, tests) = edges.passages(&way[0], &way[1]);
        let (pierced, more) = points.crossings(&way[0], &way[1]);
        let passed = passed.iter().map(|&[a, b]| (first(a), first(b)));
        let pierced = pierced.iter().map(|&[p, t]| (p, surface.triangles[t as usize][0]));
        report.passed +=
            passed.chain(pierced).filter(|&(p, q)| pairing.off_pair(p, q).is_none()).count() as u32;
        report.path_checks += tests + more;
    }
    report
}
