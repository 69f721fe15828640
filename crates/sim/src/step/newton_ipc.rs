//! One step of projected Newton on the incremental potential [Li 2020, IPC; Xie 2023, phase 2 of Eq. 25].
//!
//! Every iterate is free of intersections: a direction is taken whole where conservative collision detection allows
//! it, else cut by the chosen truncation, and accepted where it lowers the objective. Where a cut that differs from
//! point to point does not, all points take the same fraction, which lowers it for sure when it is small. What is
//! prescribed moves first, inside the same guarantee, and goes on between iterations while it lags.
//!
//! With a fluid the step is one of the files of `splitting`; the iteration itself is in `newton_phase.rs`.

use super::bodies::BodyPhase;
use super::fluid_phase::{FluidPhase, Proxy, Start};
use super::newton_beside::{Couplings, chamber_energy};
use super::newton_phase::Phase;
use super::prescribed::{ask_prescribed, note_lags};
use crate::chamber::Chamber;
use crate::contact::barrier_set::{BarrierModel, Barriers, Touch};
use crate::contact::lagged_friction::LaggedFriction;
use crate::kinematic::Progress;
use crate::model::Snapshot;
use crate::report::StepReport;
use crate::safe::{Detection, Detector, Displacement, Geometry, SafePositions};
use crate::settings::{SolverSettings, Splitting, Truncation};
use crate::solver::bodies::BodySystem;
use crate::solver::expansion::Expansion;
use crate::solver::newton::{Direction, LinearSystem};
use crate::solver::objective::Derivatives;
use crate::solver::rod_frames::RodFrames;
use crate::solver::sparse::Unknowns;
use crate::system::System;
use crate::truncation::Truncator;
use littoral_geom::math::Vec3;
use std::time::Instant;

/// The stepper and its memory. Dropping the memory between steps changes no result.
#[derive(Debug)]
pub struct NewtonIpc {
    pub(super) settings: SolverSettings,
    /// The truncation asked for, the one for prescribed points, and one fraction for all.
    pub(super) truncator: Truncator,
    pub(super) planar: Truncator,
    pub(super) uniform: Truncator,
    pub(super) detector: Detector,
    /// The geometry with every component at rest: detections amid a solve have no frames, because a frame is
    /// executed whole and the length of a Newton step is not known beforehand.
    pub(super) still: Geometry,
    pub(super) detection: Detection,
    /// Barriers, and the step length that they were made for.
    pub(super) model: (f64, BarrierModel),
    pub(super) barriers: Barriers,
    pub(super) friction: LaggedFriction,
    pub(super) expansion: Expansion,
    pub(super) dx: Displacement,
    /// Collision detection has let points go, since the last detection, where its planes do not: they divide nothing
    /// any more, and before a truncation by planes comes another detection.
    pub(super) without_planes: bool,
    /// The last move was cut where not all unknowns are points: what room is left comes from another detection.
    pub(super) room_is_used: bool,
    pub(super) derivatives: Derivatives,
    pub(super) direction: Direction,
    pub(super) fluid: Option<FluidPhase>,
    pub(super) bodies: BodyPhase,
    /// Bodies that joints or elements hold: always unknowns.
    pub(super) tied: Vec<bool>,
    pub(super) body_system: BodySystem,
    pub(super) couplings: Couplings,
    pub(super) rods: RodFrames,
    /// Points of each closed membrane that holds something.
    pub(super) chamber_points: Vec<Vec<u32>>,
    pub(super) trail: Vec<Vec<Vec3>>,
    pub(super) work: Work,
}

/// Reusable arrays.
#[derive(Debug, Default)]
pub(super) struct Work {
    pub unknowns: Unknowns,
    /// Inertial target [m].
    pub target: Vec<Vec3>,
    pub wanted: Vec<Vec3>,
    pub margin: Vec<f64>,
    /// Safe position plus frame [m].
    pub base: Vec<Vec3>,
    /// Base plus accepted displacement [m].
    pub current: Vec<Vec3>,
    pub held: Vec<bool>,
    pub held_points: Vec<u32>,
    pub aims: Vec<Progress>,
    pub touches: Vec<Touch>,
    /// Particles that something is near, from the first one on: unknowns of this step.
    pub coupled: Vec<bool>,
    /// Bodies that something is near, or holds: unknowns of this step.
    pub coupled_bodies: Vec<bool>,
    /// Particles that are there, from the first one on.
    pub present: Vec<bool>,
}

impl NewtonIpc {
    /// A stepper for one system.
    pub fn new(system: &System, settings: SolverSettings, x: &SafePositions) -> Self {
        let with = |truncation| Truncator::new(&SolverSettings { truncation, ..settings.clone() });
        let mut still = system.geometry.clone();
        still.prescribed.fill(true);
        let bodies = BodyPhase::new(system);
        NewtonIpc {
            truncator: Truncator::new(&settings),
            planar: with(Truncation::Planar),
            uniform: with(if settings.truncation == Truncation::None {
                Truncation::None
            } else {
                Truncation::Ccd
            }),
            detector: Detector::new(&system.geometry),
            still,
            detection: Detection::unlimited(x),
            model: (0.0, BarrierModel::default()),
            barriers: Barriers::default(),
            friction: LaggedFriction::default(),
            expansion: Expansion::default(),
            dx: Displacement::zero(x),
            without_planes: false,
            room_is_used: false,
            derivatives: Derivatives::default(),
            direction: Direction::default(),
            fluid: FluidPhase::new(system),
            tied: bodies.tied(system),
            bodies,
            body_system: BodySystem::default(),
            couplings: Couplings::new(system),
            rods: RodFrames::default(),
            chamber_points: system.chambers.iter().map(Chamber::points).collect(),
            trail: Vec::new(),
            work: Work::default(),
            settings,
        }
    }

    /// Advances `state`, whose positions are those of `x`, by `h` [s].
    pub fn step(
        &mut self,
        system: &mut System,
        x: &mut SafePositions,
        state: &mut Snapshot,
        h: f64,
    ) -> StepReport {
        let start = Instant::now();
        let mut report = StepReport { h, time: state.time + h, kept_motion: 1.0, ..StepReport::default() };
        // 1. Rates, friction and stiffness of contact are measured from here.
        system.lag(state, h);
        let system = &*system;
        if self.model.0 != h {
            self.model = (h, BarrierModel::new(&system.contact, &system.geometry, h));
        }
        let blocked = self.admit(system, x, state);
        self.trail.clear();
        if self.fluid.is_some() || system.rods.is_some() {
            self.trail.push(x.as_slice().to_vec());
        }
        // 2. Inertial target, and who is held.
        self.begin(system, x, state, h);
        // 3. The phases.
        let phase = match system.fluid.as_ref().map(|f| f.settings.splitting) {
            None => self.solids(system, x, state, h, &mut report),
            Some(Splitting::Proxy) => self.proxy(system, x, state, h, &mut report),
            Some(Splitting::Baseline) => self.baseline(system, x, state, h, &mut report),
            Some(Splitting::ProxyThreePhase) => self.three_phase(system, x, state, h, &mut report),
            Some(Splitting::Joint) => self.joint(system, x, state, h, &mut report),
        };
        self.commit(x);
        report.contact_forces = self.contact_forces(system, x.as_slice(), &state.x);
        if let Some(fluid) = &mut report.fluid {
            fluid.blocked = blocked;
            self.add_fluid_forces(system, &phase, &mut report);
        }
        self.finish(system, x, state, &phase, &mut report);
        let p = &mut report.phases;
        p.solve = (start.elapsed().as_secs_f64() - p.detect - p.forces - p.truncate - p.fluid).max(0.0);
        report
    }

    /// The whole step without a fluid.
    fn solids<'a>(
        &mut self,
        system: &System,
        x: &mut SafePositions,
        state: &mut Snapshot,
        h: f64,
        report: &mut StepReport,
    ) -> Phase<'a> {
        let phase = Phase::whole(h, state.time);
        self.approach(system, x, state, h, report);
        self.minimise(system, x, state, &phase, None, report);
        phase
    }

    /// Detects along the predicted motion, lags friction at xⁿ, and lets what is prescribed and particles that meet
    /// nothing go ahead.
    pub(super) fn approach(
        &mut self,
        system: &System,
        x: &mut SafePositions,
        state: &mut Snapshot,
        h: f64,
        report: &mut StepReport,
    ) {
        self.flight_margins(system, h);
        self.detect(system, x, true, report);
        self.barriers.touches(x.as_slice(), &mut self.work.touches);
        let epsilon = system.friction_speed * h;
        self.friction.lag(&system.contact, &self.work.touches, x.as_slice(), epsilon);
        self.let_go(system, x);
        self.let_bodies_go(system, x);
        self.move_held(system, x, state, report);
    }

    /// x* of the fluid, and of the solids near it, with T₂[c C_sf; xⁿ], c the `factor`: it becomes the inertial target
    /// and, of the fluid, the wanted displacement.
    pub(super) fn fluid_phase(
        &mut self,
        system: &System,
        x: &SafePositions,
        state: &mut Snapshot,
        h: f64,
        factor: f64,
        report: &mut StepReport,
    ) {
        let began = Instant::now();
        let Some(fluid) = &mut self.fluid else { return };
        let proxy = Some(Proxy { model: &self.model.1, factor, whole: false });
        let poses = self.bodies.poses();
        let start = Start { x: x.as_slice(), held: &self.work.held, poses, h, proxy };
        report.fluid = Some(fluid.run(system, &start, state, &mut self.work.target, &mut self.work.wanted));
        self.bodies.push(system, fluid.pushes(), h, &mut self.work.target);
        self.bodies.want(system, x.as_slice(), &mut self.work.wanted, |_| true);
        report.phases.fluid += began.elapsed().as_secs_f64();
    }

    /// Lets particles in and out; returns how many a nozzle held back.
    fn admit(&mut self, system: &System, x: &mut SafePositions, state: &mut Snapshot) -> u32 {
        let Some(fluid) = &mut self.fluid else { return 0 };
        let epoch = x.epoch();
        let blocked = fluid.admit(system, x, state);
        fluid.list(system, state);
        self.work.present.clear();
        self.work.present.extend(fluid.present());
        if x.epoch() != epoch {
            self.dx = Displacement::zero(x);
        }
        blocked
    }

    pub(super) fn commit(&mut self, x: &mut SafePositions) {
        x.commit(&self.detection, &mut self.dx);
        if !self.trail.is_empty() {
            self.trail.push(x.as_slice().to_vec());
        }
    }

    /// Positions at the start of the last step and after each of its commits, for the judgement of paths; empty
    /// without fluid and rods. Between two of them every point goes straight.
    pub fn trail(&self) -> &[Vec<Vec3>] {
        &self.trail
    }

    /// The last linear system of the last step, for timing its solvers; that of the joint splitting is none of these.
    pub fn last_system(&self) -> LinearSystem<'_> {
        self.direction.system(&self.derivatives)
    }

    /// True for particles that are there.
    pub(super) fn is_present(&self, system: &System, v: usize) -> bool {
        let first = system.geometry.first_particle();
        v < first || self.work.present[v - first]
    }

    /// Inertial targets of free flight, and the points that move.
    pub(super) fn begin(&mut self, system: &System, x: &SafePositions, state: &Snapshot, h: f64) {
        let n = x.as_slice().len();
        let first = system.geometry.first_particle();
        let work = &mut self.work;
        work.held.clear();
        work.held.resize(n, false);
        work.held_points.clear();
        for set in system.prescribed.iter().filter(|s| s.acts(state.time)) {
            for &v in &set.points {
                work.held[v as usize] = true;
            }
            work.held_points.extend(&set.points);
        }
        work.coupled.clear();
        work.coupled.resize(n - first, false);
        work.unknowns = Unknowns::new(n, |v| v < first && system.mass[v] > 0.0 && !work.held[v]);
        work.target.clear();
        work.target.extend_from_slice(x.as_slice());
        work.wanted.clear();
        work.wanted.resize(n, Vec3::ZERO);
        for v in 0..n {
            let moves = system.mass[v] > 0.0 && !self.work.held[v];
            if moves && self.is_present(system, v) {
                let free_flight = h * state.v[v] + h * h * system.gravity;
                self.work.wanted[v] = free_flight;
                self.work.target[v] += free_flight;
            }
        }
        let work = &mut self.work;
        ask_prescribed(system, state, h, x.as_slice(), &mut work.wanted, &mut work.aims, |_| true);
        self.derivatives.begin();
        self.room_is_used = false;
        self.begin_beside(system, x.as_slice(), state, h);
    }

    /// Forces of the fluid on each object: those of its phase, and those of the particles' barriers at the end.
    fn add_fluid_forces(&mut self, system: &System, phase: &Phase<'_>, report: &mut StepReport) {
        let Some(fluid) = &self.fluid else { return };
        report.fluid_forces = fluid.forces_on_objects().to_vec();
        let first = system.geometry.first_particle() as u32;
        let x = self.trail.last().map_or(&[][..], Vec::as_slice);
        self.barriers.touches(x, &mut self.work.touches);
        for t in self.work.touches.iter().filter(|t| t.points[0] >= first) {
            let (closest, force) = t.barrier.pull(&t.gather(x));
            let object = system.contact.object_of(t.points[1]) as usize;
            report.fluid_forces[object] -= phase.of_particles * force * closest.normal;
        }
    }

    /// Velocities, lags and energies of the end of a step.
    fn finish(
        &mut self,
        system: &System,
        x: &SafePositions,
        state: &mut Snapshot,
        phase: &Phase<'_>,
        report: &mut StepReport,
    ) {
        let h = phase.h;
        std::mem::swap(&mut state.v, &mut state.v_before);
        state.v.clear();
        state.v.extend(x.as_slice().iter().zip(&state.x).map(|(now, before)| (*now - *before) / h));
        state.x.clear();
        state.x.extend(x.as_slice());
        state.time = phase.time + h;
        state.step += 1;
        note_lags(system, state, phase.time, report);
        report.energies.elastic = system.elastic.value(&state.x) + chamber_energy(system, &state.x);
        if let Some(rods) = &system.rods {
            self.rods.clamp(rods, &system.prescribed, state);
            self.rods.finish(rods, state);
            report.energies.elastic += rods.energy(&state.x, &state.memory);
        }
        system.plastic.flow(&system.elastic, &state.x, &mut state.memory);
        for (v, &m) in system.mass.iter().enumerate().filter(|(v, _)| self.is_present(system, *v)) {
            report.energies.kinetic += 0.5 * m * state.v[v].length_squared();
            report.energies.gravity -= m * system.gravity.dot(state.x[v]);
        }
        self.bodies.finish(system, state, h, &mut report.energies);
    }
}
