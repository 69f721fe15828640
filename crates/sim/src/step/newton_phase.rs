//! One phase of projected Newton: from the safe xⁿ, or where an earlier phase has got, towards an inertial target that
//! need not be safe. Potentials and their factors are the phase's; the filter is the step's.
//!
//! Particles that nothing is near go straight to their target and are no unknowns: the first to meet a wall would
//! otherwise hold back all the water [Xie 2023, §4.3].

use super::newton_ipc::{NewtonIpc, Work};
use super::prescribed::{advance_prescribed, ask_prescribed, held_request};
use super::splitting::joint::Joint;
use crate::contact::barrier_set::Barriers;
use crate::contact::lagged_friction::LaggedFriction;
use crate::kinematic::{MEMORY, Progress};
use crate::model::Snapshot;
use crate::report::StepReport;
use crate::safe::{Prediction, SafePositions};
use crate::settings::Truncation;
use crate::solver::expansion::Expansion;
use crate::solver::objective::{Elsewhere, Objective, Value, Weighted};
use crate::solver::sparse::Unknowns;
use crate::system::System;
use crate::truncation::{Cut, Request};
use littoral_geom::math::Vec3;
use std::time::Instant;

/// Smallest margin of a budget, as a share of the range: room for the last iterations without a new detection.
const MARGIN: f64 = 0.1;

/// Margin of a budget as a share of the move that is known: later iterations turn aside by about that.
const MOVE_MARGIN: f64 = 0.25;

/// Lag of a prescribed point, as a share of the range, from which it tries again.
const LAG: f64 = 1e-3;

/// Where there is friction, Newton ends at this share of its regularisation speed at the latest: from rest its first
/// step sees the stiffness of sticking, and is short whatever pulls. Larger: slow slides stick. Smaller: an iteration
/// or two more.
const STICK: f64 = 0.01;

/// Friction is lagged anew, at the solution, where it has grown by this factor in the step: what has just touched
/// would slide freely for a step. Smaller: more solves. Larger: landings slip.
const GROWN: f64 = 1.1;

/// How often at most.
const RELAGS: u32 = 3;

/// Halvings of a step before the iteration is given up: 2⁻³⁰ of a step is below rounding.
pub(super) const HALVINGS: u32 = 30;

/// An objective may seem to rise by rounding: this many units of its parts' last digit. Larger: energy could creep in
/// unseen. Smaller: the last iterations halve in vain.
pub(super) const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// How a direction is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// All of it, or the fraction that fits, when the truncation asks for no better.
    Whole,
    /// Each point as far as the chosen truncation lets it.
    EachPoint,
    /// One fraction for all, halved until the objective falls.
    Fraction,
}

/// What a phase minimises: ½/h² |x − target|²_M + Ψ + c_ss C_ss + c_sf C_sf + D, and what models other phases' parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Phase<'a> {
    /// Step [s].
    pub h: f64,
    /// Time at its start [s].
    pub time: f64,
    /// With Ψ.
    pub elastic: bool,
    /// c_ss [–].
    pub contact: f64,
    /// c_sf [–].
    pub of_particles: f64,
    /// Second-order models.
    pub expansion: Option<&'a Expansion>,
}

impl Phase<'_> {
    /// Everything, with contacts of particles too.
    pub fn whole(h: f64, time: f64) -> Self {
        Phase { h, time, elastic: true, contact: 1.0, of_particles: 1.0, expansion: None }
    }
}

impl NewtonIpc {
    /// Room around the predicted motion: how differently neighbours move, and a share of the way.
    pub(super) fn flight_margins(&mut self, system: &System, h: f64) {
        let least = (MARGIN * reach(system)).max(h * h * system.gravity.length());
        let Work { wanted, margin, unknowns, .. } = &mut self.work;
        margin.clear();
        margin.resize(wanted.len(), 0.0);
        for &v in &unknowns.points {
            let i = v as usize;
            let apart = |&w: &u32| wanted[i].distance_squared(wanted[w as usize]);
            let stretch = system.neighbours.row(i).iter().map(apart).fold(0.0, f64::max).sqrt();
            margin[i] = least.max(stretch);
        }
        for v in system.geometry.first_particle()..self.work.wanted.len() {
            if self.is_present(system, v) {
                self.work.margin[v] = least;
            }
        }
        for &v in &self.bodies.points {
            self.work.margin[v as usize] = least;
        }
        self.bodies.widen(system, &mut self.work.margin);
    }

    pub(super) fn detect(
        &mut self,
        system: &System,
        x: &SafePositions,
        frames: bool,
        report: &mut StepReport,
    ) {
        let start = Instant::now();
        let prediction = Prediction {
            wanted: &self.work.wanted,
            margin: &self.work.margin,
            contact_radius: system.contact.radius(),
            present: &self.work.present,
        };
        let geometry = if frames { &system.geometry } else { &self.still };
        self.detector.detect(geometry, x, &prediction, &mut self.detection);
        self.barriers.list(&self.model.1, &system.contact, geometry, &self.detection);
        self.work.base.clear();
        self.work.base.extend(x.as_slice().iter().zip(&self.detection.frame).map(|(p, f)| *p + *f));
        if frames {
            self.bodies.enter_frames(system, &self.detection, |_| true);
        }
        self.place();
        self.couple(system);
        self.without_planes = false;
        report.detections += 1;
        report.candidates = report.candidates.max(self.detection.planes.len() as u32);
        report.min_gap = match (report.min_gap, self.detection.min_gap()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        report.phases.detect += start.elapsed().as_secs_f64();
    }

    pub(super) fn place(&mut self) {
        self.work.current.clear();
        self.work.current.extend(self.work.base.iter().zip(self.dx.accepted()).map(|(b, d)| *b + *d));
    }

    /// Particles that a detection finds near something become unknowns and stay so.
    fn couple(&mut self, system: &System) {
        let first = system.geometry.first_particle();
        let mut changed = self.couple_bodies(system);
        for (p, coupled) in self.work.coupled.iter_mut().enumerate() {
            let near = self.detection.offsets[first + p] < self.detection.offsets[first + p + 1];
            changed |= near && !*coupled;
            *coupled |= near;
        }
        if changed {
            self.list_unknowns(system);
        }
    }

    /// Free points of solids, and particles that are coupled.
    pub(super) fn list_unknowns(&mut self, system: &System) {
        let first = system.geometry.first_particle();
        let (coupled, held) = (&self.work.coupled, &self.work.held);
        let moves = |v: usize| match v.checked_sub(first) {
            Some(p) => coupled[p],
            None => system.mass[v] > 0.0 && !held[v],
        };
        let bodies = self.work.coupled_bodies.iter().copied();
        self.work.unknowns = Unknowns::beside(held.len(), moves, bodies, self.rods.moving());
    }

    /// Particles that meet nothing go to x*.
    pub(super) fn let_go(&mut self, system: &System, x: &SafePositions) {
        let first = system.geometry.first_particle();
        let lone = |v: &usize| !self.work.coupled[*v - first] && self.is_present(system, *v);
        let lone: Vec<u32> = (first..self.work.wanted.len()).filter(lone).map(|v| v as u32).collect();
        if lone.is_empty() {
            return;
        }
        for &v in &lone {
            self.dx.edit()[v as usize] = self.work.wanted[v as usize];
        }
        let request = Request { moved: &lone, ..Request::default() };
        self.planar.apply(x.as_slice(), &self.detection, &mut self.dx, &request);
        self.place();
    }

    /// Lets prescribed points go what the detection allows of their way; returns their longest move [m].
    pub(super) fn move_held(
        &mut self,
        system: &System,
        x: &SafePositions,
        state: &mut Snapshot,
        report: &mut StepReport,
    ) -> f64 {
        if self.work.held_points.is_empty() {
            return 0.0;
        }
        let start = Instant::now();
        let proposals = self.dx.edit();
        for &v in &self.work.held_points {
            proposals[v as usize] = self.work.wanted[v as usize] - self.detection.frame[v as usize];
        }
        let request = held_request(system, &self.work.held_points, &self.work.held);
        let truncator =
            if self.settings.truncation == Truncation::None { &mut self.uniform } else { &mut self.planar };
        truncator.apply(x.as_slice(), &self.detection, &mut self.dx, &request);
        self.place();
        advance_prescribed(
            system,
            state,
            &self.work.aims,
            &self.work.wanted,
            &self.dx,
            &self.detection,
            |_| true,
        );
        report.phases.truncate += start.elapsed().as_secs_f64();
        let moved = |v: &u32| self.dx.accepted()[*v as usize].length();
        self.work.held_points.iter().map(moved).fold(0.0, f64::max)
    }

    /// Commits, detects anew and lets prescribed points go on; returns their longest move [m].
    fn go_on(
        &mut self,
        system: &System,
        x: &mut SafePositions,
        state: &mut Snapshot,
        h: f64,
        report: &mut StepReport,
    ) -> f64 {
        self.commit(x);
        self.move_margins(system, 1.0);
        let work = &mut self.work;
        work.wanted.fill(Vec3::ZERO);
        ask_prescribed(system, state, h, x.as_slice(), &mut work.wanted, &mut work.aims, |_| true);
        self.detect(system, x, false, report);
        self.move_held(system, x, state, report)
    }

    /// Room for the next moves: a `share` of the last ones.
    fn move_margins(&mut self, system: &System, share: f64) {
        let least = MARGIN * reach(system);
        let work = &mut self.work;
        work.margin.fill(0.0);
        for &v in &work.unknowns.points {
            work.margin[v as usize] = least;
        }
        let (p, of) = (&self.direction.p, &self.direction.of);
        for (&v, p) in of.points.iter().zip(p.iter().skip(of.first)) {
            work.margin[v as usize] = least.max(share * p.length());
        }
        let last = self.bodies.longest(system, of, p);
        for &v in &self.bodies.points {
            work.margin[v as usize] = least.max(share * last);
        }
    }

    /// Newton's iteration, until a step is shorter than the tolerance or the iterations are used up.
    pub(super) fn minimise(
        &mut self,
        system: &System,
        x: &mut SafePositions,
        state: &mut Snapshot,
        phase: &Phase<'_>,
        mut joint: Option<&mut Joint<'_>>,
        report: &mut StepReport,
    ) {
        let x_n = state.x.clone();
        let first_particle = system.geometry.first_particle() as u32;
        let mut cuts = Cut::default();
        let (mut known, mut relags) = (None, RELAGS);
        let mut tolerance = self.settings.tolerance * phase.h;
        if !self.friction.list.is_empty() {
            tolerance = tolerance.min(STICK * system.friction_speed * phase.h);
        }
        for _ in 0..self.settings.iterations {
            let mut arrived = true;
            if report.iterations > 0 && self.lagging(system, state) {
                let moved = self.go_on(system, x, state, phase.h, report);
                arrived = moved <= tolerance;
                known = None;
            }
            self.turn_frames(system, state);
            let mut start = Instant::now();
            let unknowns = self.work.unknowns.clone();
            self.list_couplings(system, &unknowns);
            let couplings = std::mem::take(&mut self.couplings);
            let friction = std::mem::take(&mut self.friction);
            let target = std::mem::take(&mut self.work.target);
            let objective = Objective {
                mass: &system.mass,
                target: &target,
                inverse_h2: 1.0 / (phase.h * phase.h),
                elastic: phase.elastic.then_some(&system.elastic),
                neighbours: &system.neighbours,
                friction: &friction,
                x_n: &x_n,
                unknowns: &unknowns,
                expansion: phase.expansion,
                elsewhere: None,
                beside: couplings.beside(system, &unknowns),
            };
            let weighted = [weigh(&self.barriers, phase, first_particle)];
            if let Some(joint) = &mut joint {
                let work = &mut self.work;
                let p = &mut self.direction.p;
                report.contacts =
                    joint.direction(&objective, &weighted[0], &work.current, &mut self.derivatives, p);
            } else {
                report.contacts = objective.derivatives(
                    &self.work.current,
                    &weighted,
                    &mut self.work.touches,
                    &mut self.derivatives,
                );
                let ranks = self.add_beside(system, &unknowns, phase);
                // The linear solve counts as solving.
                report.phases.forces += start.elapsed().as_secs_f64();
                let linear = self.settings.linear;
                self.direction.solve(&unknowns, &self.derivatives, linear, first_particle);
                self.direction.add_ranks(&self.derivatives, &ranks);
                start = Instant::now();
            }
            let objective =
                Objective { elsewhere: joint.as_deref().map(|j| j as &dyn Elsewhere), ..objective };
            self.direction.of.clone_from(&unknowns);
            report.phases.forces += start.elapsed().as_secs_f64();
            report.iterations += 1;
            let longest = self.longest(system, &unknowns);
            report.residual = longest / phase.h;
            if !self.fits(system, &unknowns) {
                self.detect_ahead(system, x, report);
            }
            let (cut, after) = match unknowns.first {
                0 => self.descend(system, x, &objective, phase, known, report),
                _ => self.descend_beside(system, x, &objective, phase, known, report),
            };
            cuts = cuts.plus(cut);
            report.truncated = cut.truncated + cut.bounded;
            known = after;
            self.friction = friction;
            self.work.target = target;
            self.couplings = couplings;
            // Particles and bodies that have come near something since take part from here on.
            if self.work.unknowns.len() != unknowns.len() {
                known = None;
                continue;
            }
            let stalled = after.is_none();
            if arrived && (longest <= tolerance || stalled) {
                if relags == 0 || !self.relag(system, phase.h) {
                    break;
                }
                relags -= 1;
                known = None;
                tolerance = tolerance.min(STICK * system.friction_speed * phase.h);
            }
        }
        if cuts.wanted > 0.0 {
            report.kept_motion = (cuts.kept / cuts.wanted).min(1.0);
        }
    }

    /// Takes friction from the contacts as they are now, if it has grown much since it was lagged.
    fn relag(&mut self, system: &System, h: f64) -> bool {
        self.barriers.touches(&self.work.current, &mut self.work.touches);
        let mut now = LaggedFriction::default();
        now.lag(&system.contact, &self.work.touches, &self.work.current, system.friction_speed * h);
        let grown = now.total() > GROWN * self.friction.total();
        if grown {
            self.friction = now;
        }
        grown
    }

    /// The whole direction stays inside the budgets.
    fn fits(&mut self, system: &System, unknowns: &Unknowns) -> bool {
        let share = self.allowed_share(system, unknowns);
        let p = &self.direction.p;
        self.bodies.set_ways(unknowns, p, share);
        let points = unknowns.points.iter().zip(&p[unknowns.first..]).all(|(&v, p)| {
            let v = v as usize;
            let to = self.dx.accepted()[v] + *p;
            self.detection.budget[v].holds_way((to, to), 0.0)
        });
        points && self.bodies.fit(system, &self.detection, &self.work.base)
    }

    /// Commits and detects along the direction; prescribed points wait.
    pub(super) fn detect_ahead(&mut self, system: &System, x: &mut SafePositions, report: &mut StepReport) {
        self.commit(x);
        self.move_margins(system, MOVE_MARGIN);
        let work = &mut self.work;
        work.wanted.fill(Vec3::ZERO);
        let (p, of) = (&self.direction.p, &self.direction.of);
        for (&v, p) in of.points.iter().zip(&p[of.first..]) {
            work.wanted[v as usize] = *p;
        }
        let share = self.allowed_share(system, of);
        let (work, p) = (&mut self.work, &self.direction.p);
        self.bodies.set_ways(&self.direction.of, p, share);
        self.bodies.want_ways(system, x.as_slice(), &mut work.wanted);
        self.bodies.widen(system, &mut work.margin);
        self.detect(system, x, false, report);
    }

    /// Moves along the direction as far as truncation and the objective allow. The value is `None` when nothing
    /// lowers it.
    fn descend(
        &mut self,
        system: &System,
        x: &mut SafePositions,
        objective: &Objective<'_>,
        phase: &Phase<'_>,
        known: Option<Value>,
        report: &mut StepReport,
    ) -> (Cut, Option<Value>) {
        let points = &objective.unknowns.points;
        let before = known.unwrap_or_else(|| self.value(system, objective, phase));
        let mut saved = self.dx.clone();
        let request = Request { moved: points, ..Request::default() };
        let mut increments = self.direction.p.clone();
        // One fraction for all is a descent direction; the chosen truncation has its turn where that is cut short.
        let mut stage = Stage::Whole;
        let mut cut = Cut::default();
        for _ in 0..HALVINGS {
            let start = Instant::now();
            for (&v, d) in points.iter().zip(&increments) {
                self.dx.edit()[v as usize] = saved.accepted()[v as usize] + *d;
            }
            let truncator = if stage == Stage::EachPoint { &mut self.truncator } else { &mut self.uniform };
            let trial = truncator.apply(x.as_slice(), &self.detection, &mut self.dx, &request);
            let is_cut = trial.truncated + trial.bounded > 0;
            report.phases.truncate += start.elapsed().as_secs_f64();
            if stage == Stage::Whole && is_cut && self.settings.truncation != Truncation::Ccd {
                stage = Stage::EachPoint;
                self.dx.clone_from(&saved);
                if self.without_planes {
                    self.detect_ahead(system, x, report);
                    saved.clone_from(&self.dx);
                }
                continue;
            }
            if stage != Stage::Fraction {
                cut = trial;
            }
            for &v in points {
                let v = v as usize;
                self.work.current[v] = self.work.base[v] + self.dx.accepted()[v];
            }
            let start = Instant::now();
            let after = self.value(system, objective, phase);
            report.phases.forces += start.elapsed().as_secs_f64();
            if after.sum <= before.sum + ROUNDING * before.scale {
                self.without_planes |= stage != Stage::EachPoint;
                return (cut, Some(after));
            }
            if stage != Stage::EachPoint {
                for (&v, d) in points.iter().zip(&mut increments) {
                    *d = 0.5 * (self.dx.accepted()[v as usize] - saved.accepted()[v as usize]);
                }
            }
            stage = Stage::Fraction;
            self.dx.clone_from(&saved);
        }
        self.place();
        (cut, None)
    }

    /// The objective where things are.
    pub(super) fn value(&mut self, system: &System, objective: &Objective<'_>, phase: &Phase<'_>) -> Value {
        let first_particle = system.geometry.first_particle() as u32;
        let weighted = [weigh(&self.barriers, phase, first_particle)];
        let value = objective.value(&self.work.current, &weighted, &mut self.work.touches);
        let beside = self.value_beside(system, phase);
        Value { sum: value.sum + beside.sum, scale: value.scale + beside.scale }
    }

    /// Some prescribed point was held back and has a way to go in this step.
    fn lagging(&self, system: &System, state: &Snapshot) -> bool {
        let tolerance = LAG * system.contact.radius();
        let sets = system.prescribed.iter().zip(state.memory.chunks_exact(MEMORY)).zip(&self.work.aims);
        sets.filter(|((set, _), _)| set.acts(state.time) && set.top_speed > 0.0).any(
            |((set, memory), aim)| {
                if set.rigid {
                    let now = Progress::read(memory);
                    now.clock + f64::EPSILON * aim.clock < aim.clock
                        || now.pose.0.distance(aim.pose.0) > tolerance
                } else {
                    // Pins move on straight ways: what is left is the way to the target.
                    set.points.iter().enumerate().any(|(k, &v)| {
                        self.work.current[v as usize].distance(set.target(k, aim.clock)) > tolerance
                    })
                }
            },
        )
    }
}

/// Range of the contacts there are: of solids, and of particles [m].
fn reach(system: &System) -> f64 {
    system.contact.radius().max(system.geometry.particle_radius)
}

/// The barriers with the factors of a phase.
pub(super) fn weigh<'a>(barriers: &'a Barriers, phase: &Phase<'_>, first_particle: u32) -> Weighted<'a> {
    Weighted { barriers, factor: phase.contact, of_particles: phase.of_particles, first_particle }
}
