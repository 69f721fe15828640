//! One step of vertex block descent with divide-and-truncate [Chen 2026, Alg. 3].
//!
//! Beyond the published algorithm: budgets follow the predicted motion, islands carry a common frame, a guess that
//! was cut by far pairs or budgets is continued after a new detection, and only the points of the colour that moved
//! are truncated (the plane of a pair may be anywhere between what its sides have used; see `truncation`). What is
//! minimised, and why the guess and the rigid motions help: `docs/derivations/step.md`.

mod detections;
mod islands;
mod wholes;

use super::bodies::BodyPhase;
use super::budget::Budget;
use super::fluid_phase::{FluidPhase, Start};
use super::prescribed::{ask_prescribed, note_lags};
use super::temper::temper;
use crate::contact::{ContactMemory, Contacts, Slip};
use crate::elastic::WINDOW;
use crate::kinematic::Progress;
use crate::model::Snapshot;
use crate::report::StepReport;
use crate::safe::{Detection, Detector, Displacement, SafePositions};
use crate::settings::SolverSettings;
use crate::solver::coarse::CoarseCorrection;
use crate::solver::descent::Objective;
use crate::solver::rigid::RigidCorrection;
use crate::solver::rod::RodDescent;
use crate::system::System;
use crate::truncation::{Cut, Request, Truncator};
use islands::Islands;
use littoral_geom::math::{Mat3, Vec3};
use rayon::prelude::*;
use std::time::Instant;

/// Lag of a prescribed point, as a share of the contact radius, from which it tries again before the next sweep.
const LAG: f64 = 1e-3;

/// Share of the points that may wait at their budgets for the next regular detection. Smaller: more detections.
/// Larger: sudden motions spread over more sweeps. The published share of offset geometric contact.
const BOUNDED: f64 = 0.01;

/// Sweeps a detection is good for at least, however many points wait at their budgets.
const PATIENCE: u32 = 2;

/// A particle whose last move was shorter than this share of the spacing, and which touches nothing that is simulated,
/// has found its place for this step.
const SETTLED: f64 = 1e-6;

/// The stepper and its memory. Dropping the memory between steps changes no result.
#[derive(Debug)]
pub struct VbdDat {
    settings: SolverSettings,
    budget: Budget,
    truncator: Truncator,
    detector: Detector,
    detection: Detection,
    contacts: Contacts,
    memory: ContactMemory,
    dx: Displacement,
    rigid: RigidCorrection,
    coarse: CoarseCorrection,
    fluid: Option<FluidPhase>,
    rods: RodDescent,
    bodies: BodyPhase,
    trail: Vec<Vec<Vec3>>,
    islands: Islands,
    work: Work,
}

/// Reusable arrays (n each).
#[derive(Debug, Default)]
struct Work {
    /// Inertial target [m].
    y: Vec<Vec3>,
    /// What each point still wants to move in the initial guess [m].
    wanted: Vec<Vec3>,
    /// Room around the predicted motion [m].
    margin: Vec<f64>,
    /// Length of each point's last uncut move [m].
    last_move: Vec<f64>,
    /// Length of each point's next move, as far as can be told [m].
    next_move: Vec<f64>,
    /// Length of what each point was last asked to move with its whole component, where budgets cut that [m].
    whole_move: Vec<f64>,
    /// Position of the frame: safe position plus frame translation [m].
    base: Vec<Vec3>,
    /// Current positions: base plus accepted displacement [m].
    current: Vec<Vec3>,
    /// Motion is prescribed during this step.
    held: Vec<bool>,
    /// Outcome of a colour: new displacement and Hessian.
    moves: Vec<(Vec3, Mat3)>,
    metric: Vec<Mat3>,
    /// Where each prescribed set is heading.
    aims: Vec<Progress>,
    all: Vec<u32>,
    held_points: Vec<u32>,
    /// Particles that may meet something, or have not come to their target.
    wet: Vec<u32>,
    /// Colour of each point (n): of those that have a turn of their own, beyond all colours of the system.
    color_of: Vec<u32>,
    /// Points of the same colour that press each other, the higher first, sorted.
    rivals: Vec<[u32; 2]>,
    /// Points of each colour that move after the others of it.
    late: Vec<Vec<u32>>,
    /// Points that do not move with the others of their colour (n): held ones and late ones.
    waits: Vec<bool>,
    /// Positions one and two sweeps ago, for Chebyshev.
    before: [Vec<Vec3>; 2],
}

impl Work {
    /// Puts point `i`, the `k`-th of those truncated last, in its place, and tells how far it may go next.
    fn take(&mut self, k: usize, i: usize, truncator: &Truncator, dx: &Displacement) {
        let before = self.current[i];
        self.current[i] = self.base[i] + dx.accepted()[i];
        // What a plane stopped would be stopped by its successor, too: no room is needed for the rest of the way.
        self.next_move[i] =
            if truncator.stopped_by_plane(k) { self.current[i].distance(before) } else { self.last_move[i] };
    }
}

impl VbdDat {
    /// A stepper for one system.
    pub fn new(system: &System, settings: SolverSettings, x: &SafePositions) -> Self {
        let bodies = BodyPhase::new(system);
        VbdDat {
            budget: Budget::new(settings.budget),
            truncator: Truncator::new(&settings),
            detector: Detector::new(&system.geometry),
            detection: Detection::unlimited(x),
            contacts: Contacts::default(),
            memory: ContactMemory::default(),
            dx: Displacement::zero(x),
            rigid: RigidCorrection::default(),
            coarse: if settings.coarse { CoarseCorrection::new(system) } else { CoarseCorrection::default() },
            fluid: FluidPhase::new(system),
            rods: RodDescent::default(),
            islands: Islands::new(system, &bodies.points),
            bodies,
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
        let mut cuts = Cut::default();
        let time = state.time;
        self.budget.begin(h);
        system.lag(state, h);
        let system = &*system;
        let epoch = x.epoch();
        let blocked = self.fluid.as_mut().map_or(0, |fluid| fluid.admit(system, x, state));
        if x.epoch() != epoch {
            self.dx = Displacement::zero(x);
        }
        self.memory.read(&state.memory[system.memory..], &state.x, &state.v, h);
        self.trail.clear();
        self.islands.begin();
        if let Some(rods) = &system.rods {
            self.rods.begin(rods, state, h);
        }
        self.leave_trail(system, x);
        self.begin(system, x, state, h, &mut report);
        if let Some(fluid) = &mut report.fluid {
            fluid.blocked = blocked;
        }
        self.guess(system, x, state, h, &mut report, &mut cuts);

        let mut last = Cut::default();
        let points = system.colors.iter().map(Vec::len).sum::<usize>() + self.bodies.points.len();
        let mut turn = 0;
        for sweep in 0..self.settings.iterations {
            if points == 0 && self.work.wet.is_empty() && self.work.held_points.is_empty() {
                break;
            }
            if !self.budget.allows(sweep) {
                report.sweeps_left = self.settings.iterations - sweep;
                break;
            }
            let leads = self.leads(sweep);
            for lead in 0..=leads {
                if let Some(going) = self.asking(system, state, turn, (lead == 0).then_some(sweep)) {
                    let cut = self.redetect(system, x, state, h, going, &mut report);
                    cuts = cuts.plus(cut);
                }
                turn += 1;
                if lead < leads {
                    cuts = cuts.plus(self.lead_bodies(system, x, state, h, &mut report));
                }
            }
            if !self.coarse.points.is_empty() {
                cuts = cuts.plus(self.correct(system, x, state, h, sweep, &mut report));
            }
            last = self.sweep(system, x, state, h, &mut report);
            cuts = cuts.plus(last);
            report.iterations += 1;
        }
        cuts = cuts.plus(self.balance(system, x, state, h, &mut report));
        // Contacts are remembered as the sweeps left them: a last advance of a collider is answered by nothing in this step.
        self.remember(system, state, &mut report);
        // What was in the way of a collider may have moved on: with few sweeps this is its only other chance.
        if let Some(going) = self.lagging(system, state) {
            cuts = cuts.plus(self.redetect(system, x, state, h, going, &mut report));
        }
        // What the solids did last is answered once more.
        cuts = cuts.plus(self.descend_wet(system, x, state, h, &mut report));
        report.truncated = last.truncated + last.bounded;
        report.contacts = self.contacts.active(&self.work.current).0;
        if let Some(fluid) = &self.fluid {
            report.fluid_forces = fluid.forces_on_objects().to_vec();
            let forces = &mut report.fluid_forces;
            self.contacts.add_particle_forces(&system.contact, &self.work.current, forces);
        }
        let moves: f64 =
            system.colors.iter().flatten().map(|&v| self.work.last_move[v as usize].powi(2)).sum();
        let moves = (self.bodies.points.iter())
            .map(|&v| self.work.last_move[v as usize].powi(2))
            .fold(moves, |a, b| a + b);
        report.residual = (moves / points.max(1) as f64).sqrt() / h;
        self.commit(system, x);
        self.finish(system, x, state, time, h, &mut report);
        if cuts.wanted > 0.0 {
            report.kept_motion = (cuts.kept / cuts.wanted).min(1.0);
        }
        self.budget.end(h);
        let p = &mut report.phases;
        p.solve = (start.elapsed().as_secs_f64() - p.detect - p.forces - p.truncate - p.fluid).max(0.0);
        report
    }

    fn commit(&mut self, system: &System, x: &mut SafePositions) {
        x.commit(&self.detection, &mut self.dx);
        self.leave_trail(system, x);
    }

    fn leave_trail(&mut self, system: &System, x: &SafePositions) {
        if self.fluid.is_some() || system.rods.is_some() {
            self.trail.push(x.as_slice().to_vec());
        }
    }

    /// Positions at the start of the last step and after each of its commits, for the judgement of paths; empty
    /// without fluid and rods. Between two of them every point goes straight.
    pub fn trail(&self) -> &[Vec<Vec3>] {
        &self.trail
    }

    /// Inertial targets, the initial guess, and who is held.
    fn begin(
        &mut self,
        system: &System,
        x: &SafePositions,
        state: &mut Snapshot,
        h: f64,
        report: &mut StepReport,
    ) {
        let n = x.as_slice().len();
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
        work.all = (0..n as u32).collect();
        let g = system.gravity;
        let size = g.length();
        let towards = if size > 0.0 { g / size } else { Vec3::ZERO };
        work.y.clear();
        work.wanted.clear();
        for (v, &p) in x.as_slice().iter().enumerate() {
            if system.mass[v] == 0.0 || work.held[v] {
                work.y.push(p);
                work.wanted.push(Vec3::ZERO);
                continue;
            }
            work.y.push(p + h * state.v[v] + h * h * g);
            // Adaptive guess: the part of gravity that the last step really followed [Chen 2024, VBD §3.4].
            let a = (state.v[v] - state.v_before[v]) / h;
            let share = if size > 0.0 { (a.dot(towards) / size).clamp(0.0, 1.0) } else { 0.0 };
            work.wanted.push(h * state.v[v] + h * h * share * g);
        }
        ask_prescribed(system, state, h, x.as_slice(), &mut work.wanted, &mut work.aims, |_| true);
        if !self.bodies.is_empty() {
            self.bodies.begin(system, state, h, &mut work.y);
            self.bodies.want(system, x.as_slice(), &mut work.wanted, |_| true);
        }
        if let Some(fluid) = &mut self.fluid {
            let began = Instant::now();
            let poses = self.bodies.poses();
            let start = Start { x: x.as_slice(), held: &work.held, poses, h, proxy: None };
            report.fluid = Some(fluid.run(system, &start, state, &mut work.y, &mut work.wanted));
            self.bodies.push(system, fluid.pushes(), h, &mut work.y);
            report.phases.fluid += began.elapsed().as_secs_f64();
        }
        work.last_move.clear();
        work.last_move.resize(n, 0.0);
        work.next_move.clear();
        work.next_move.resize(n, 0.0);
        work.whole_move.clear();
        work.whole_move.resize(n, 0.0);
        self.rigid.begin(system, &self.work.held);
        if self.settings.tempered {
            let Work { y, wanted, held, .. } = &mut self.work;
            temper(system, &self.rods, (x.as_slice(), y, held), h, wanted);
        }
    }

    /// Lists the particles that phase 2 has anything to do for: all others are at x* already.
    fn list_wet(&mut self, system: &System) {
        let Work { wet, y, current, .. } = &mut self.work;
        wet.clear();
        let Some(fluid) = &self.fluid else { return };
        let first = system.geometry.first_particle();
        let contacts = &self.contacts;
        wet.extend((first as u32..).zip(fluid.present()).filter(|(_, p)| **p).map(|(v, _)| v).filter(|&v| {
            let i = v as usize;
            contacts.touches(v) || current[i] != y[i]
        }));
    }

    /// One pass over the particles that have not come to rest against what they touch.
    fn descend_wet(
        &mut self,
        system: &System,
        x: &SafePositions,
        state: &Snapshot,
        h: f64,
        report: &mut StepReport,
    ) -> Cut {
        let mut wet = std::mem::take(&mut self.work.wet);
        if wet.is_empty() {
            return Cut::default();
        }
        let cut = self.descend(system, x, state, h, (&wet, None), report);
        let settled = SETTLED * system.fluid.as_ref().map_or(0.0, |f| f.spacing);
        let (contacts, last_move) = (&self.contacts, &self.work.last_move);
        wet.retain(|&v| last_move[v as usize] > settled || contacts.meets_simulated(v, &system.color_of));
        self.work.wet = wet;
        cut
    }

    /// Gives a turn of its own to what would move at once with a point of the same colour that it presses.
    fn take_turns(&mut self, system: &System, x: &SafePositions) {
        let Work { color_of, late, waits, held, rivals, .. } = &mut self.work;
        let colors = system.rods.as_ref().map_or(system.colors.len(), |rods| rods.first_color);
        self.contacts.rivals(x.as_slice(), &system.color_of, colors as u32, rivals);
        color_of.clone_from(&system.color_of);
        waits.clone_from(held);
        late.resize(colors, Vec::new());
        late.iter_mut().for_each(Vec::clear);
        // The lower of two points was decided before.
        for &[p, q] in &*rivals {
            let (own, other) = (color_of[p as usize], color_of[q as usize]);
            if own == other && (own as usize) < colors && !held[p as usize] && !held[q as usize] {
                late[own as usize].push(p);
                color_of[p as usize] = colors as u32 + own;
                waits[p as usize] = true;
            }
        }
    }

    fn place_all(&mut self) {
        self.work.current.clear();
        self.work.current.extend(self.work.base.iter().zip(self.dx.accepted()).map(|(b, d)| *b + *d));
    }

    /// One sweep over all colours.
    fn sweep(
        &mut self,
        system: &System,
        x: &SafePositions,
        state: &Snapshot,
        h: f64,
        report: &mut StepReport,
    ) -> Cut {
        let mut total = Cut::default();
        self.islands.begin_sweep();
        total = total.plus(self.correct_rigid(system, x, state, h, None, report).0);
        if !self.bodies.is_empty() {
            total = total.plus(self.descend_bodies(system, x, state, h, report));
        }
        // Particles before each colour: what touches them counts on their having given way.
        total = total.plus(self.descend_wet(system, x, state, h, report));
        for (k, color) in system.colors.iter().enumerate() {
            if k > 0 {
                total = total.plus(self.descend_wet(system, x, state, h, report));
            }
            total = total.plus(match system.rods.as_ref().and_then(|r| r.group_of(k)) {
                Some(group) => self.descend_rods(system, x, state, h, group, report),
                None => self.descend(system, x, state, h, (color, Some(k)), report),
            });
            if self.work.late.get(k).is_some_and(|late| !late.is_empty()) {
                let late = std::mem::take(&mut self.work.late[k]);
                total = total.plus(self.descend(system, x, state, h, (&late, None), report));
                self.work.late[k] = late;
            }
        }
        if self.settings.chebyshev > 0.0 {
            total = total.plus(self.accelerate(system, x));
        }
        self.islands.end_sweep();
        total
    }

    /// One Newton step of every point of a colour, or of particles, truncated.
    fn descend(
        &mut self,
        system: &System,
        x: &SafePositions,
        state: &Snapshot,
        h: f64,
        (points, color): (&[u32], Option<usize>),
        report: &mut StepReport,
    ) -> Cut {
        let start = Instant::now();
        let Work { current, held, waits, moves, y, color_of, .. } = &mut self.work;
        let (current, held) = (&*current, if color.is_some() { &*waits } else { &*held });
        let objective = objective(system, (&self.contacts, self.dx.sizes(), color_of), y, &state.x, h);
        moves.resize(points.len(), (Vec3::ZERO, Mat3::ZERO));
        let windows = points.par_chunks(WINDOW).zip(moves.par_chunks_mut(WINDOW)).enumerate();
        windows.for_each(|(window, (points, moves))| {
            let window = color.map(|color| (color, window));
            objective.newton_steps((points, window), current, held, moves);
        });
        for chamber in &system.chambers {
            chamber.press(points, current, held, moves);
        }
        self.take_moves(system, x, points, start, report)
    }

    /// One Newton step of every rod of a group, truncated.
    fn descend_rods(
        &mut self,
        system: &System,
        x: &SafePositions,
        state: &Snapshot,
        h: f64,
        group: usize,
        report: &mut StepReport,
    ) -> Cut {
        let Some(rods) = &system.rods else { return Cut::default() };
        let start = Instant::now();
        self.rods.clamp(rods, &system.prescribed, state);
        let Work { current, held, moves, y, color_of, .. } = &mut self.work;
        let objective = objective(system, (&self.contacts, self.dx.sizes(), color_of), y, &state.x, h);
        self.rods.descend(rods, group, &objective, current, held, moves);
        self.take_moves(system, x, &rods.groups[group], start, report)
    }

    /// Proposes the moves of a colour and truncates them.
    fn take_moves(
        &mut self,
        system: &System,
        x: &SafePositions,
        color: &[u32],
        start: Instant,
        report: &mut StepReport,
    ) -> Cut {
        let proposals = self.dx.edit();
        for (&v, (step, _)) in color.iter().zip(&self.work.moves) {
            proposals[v as usize] += *step;
            self.work.last_move[v as usize] = step.length();
        }
        self.work.metric.clear();
        if self.settings.truncation == crate::settings::Truncation::Project {
            self.work.metric.extend(self.work.moves.iter().map(|m| m.1));
        }
        let middle = Instant::now();
        report.phases.forces += (middle - start).as_secs_f64();
        let cut = self.truncate_color(system, x, color);
        report.phases.truncate += middle.elapsed().as_secs_f64();
        cut
    }

    /// One Newton step of all rigid bodies, truncated along their curves.
    fn descend_bodies(
        &mut self,
        system: &System,
        x: &SafePositions,
        state: &Snapshot,
        h: f64,
        report: &mut StepReport,
    ) -> Cut {
        let start = Instant::now();
        let objective = objective(
            system,
            (&self.contacts, self.dx.sizes(), &self.work.color_of),
            &self.work.y,
            &state.x,
            h,
        );
        self.bodies.newton(system, &objective, &self.work.current);
        self.bodies.propose(system, &self.work.base, self.dx.edit());
        for &v in &self.bodies.points {
            let v = v as usize;
            self.work.last_move[v] = self.dx.proposed()[v].distance(self.dx.accepted()[v]);
        }
        let middle = Instant::now();
        report.phases.forces += (middle - start).as_secs_f64();
        let request = Request {
            moved: &self.bodies.points,
            turns: self.bodies.turns(system, &self.work.base),
            ..Request::default()
        };
        let cut = self.truncator.apply(x.as_slice(), &self.detection, &mut self.dx, &request);
        self.note_waiting(system);
        self.bodies.accept(&self.truncator, false);
        let points = std::mem::take(&mut self.bodies.points);
        if cut.bounded > 0 {
            self.note_bounded(system, &points);
        }
        for (k, &v) in points.iter().enumerate() {
            self.work.take(k, v as usize, &self.truncator, &self.dx);
        }
        self.bodies.points = points;
        self.bodies.settle_joints(system, &self.work.current, &self.truncator);
        report.phases.truncate += middle.elapsed().as_secs_f64();
        cut
    }

    /// The coarse correction before a sweep, truncated point by point.
    fn correct(
        &mut self,
        system: &System,
        x: &SafePositions,
        state: &Snapshot,
        h: f64,
        sweep: u32,
        report: &mut StepReport,
    ) -> Cut {
        let start = Instant::now();
        let held = &self.work.held;
        if sweep == 0 {
            self.coarse.begin(system, &self.work.current, held, 1.0 / (h * h));
        }
        let (proposals, moved) = self.dx.edit_beside_sizes();
        let objective =
            objective(system, (&self.contacts, moved, &self.work.color_of), &self.work.y, &state.x, h);
        self.coarse.propose(system, &objective, &self.work.current, held, proposals);
        let request = Request { moved: &self.coarse.points, ..Request::default() };
        let cut = self.truncator.apply(x.as_slice(), &self.detection, &mut self.dx, &request);
        self.place_all();
        report.phases.forces += start.elapsed().as_secs_f64();
        cut
    }

    fn truncate_color(&mut self, system: &System, x: &SafePositions, color: &[u32]) -> Cut {
        let request = Request { moved: color, metric: &self.work.metric, ..Request::default() };
        let cut = self.truncator.apply(x.as_slice(), &self.detection, &mut self.dx, &request);
        if cut.bounded > 0 {
            self.note_bounded(system, color);
        }
        for (k, &v) in color.iter().enumerate() {
            self.work.take(k, v as usize, &self.truncator, &self.dx);
        }
        cut
    }

    /// Chebyshev semi-iteration over whole sweeps; points in contact are left out [Chen 2024, VBD §3.8].
    fn accelerate(&mut self, system: &System, x: &SafePositions) -> Cut {
        let rho = self.settings.chebyshev;
        let component = &system.geometry.component;
        let sweeps = |v: u32| self.islands.sweeps(component[v as usize]);
        let mut omegas = vec![1.0, 2.0 / (2.0 - rho * rho)];
        while omegas.len() <= self.settings.iterations as usize {
            omegas.push(4.0 / (4.0 - rho * rho * omegas[omegas.len() - 1]));
        }
        // Two sweeps are to look back to.
        let goes_on = |&v: &u32| sweeps(v) >= 2 && !self.work.held[v as usize] && !self.contacts.touches(v);
        let free: Vec<u32> = system.colors.iter().flatten().copied().filter(goes_on).collect();
        let mut cut = Cut::default();
        if !free.is_empty() {
            let proposals = self.dx.edit();
            for &v in &free {
                let i = v as usize;
                let (old, omega) = (self.work.before[1][i], omegas[sweeps(v) as usize]);
                proposals[i] = omega * (self.work.current[i] - old) + old - self.work.base[i];
            }
            self.work.metric.clear();
            cut = self.truncate_color(system, x, &free);
        }
        let [one, two] = &mut self.work.before;
        std::mem::swap(one, two);
        one.clear();
        one.extend(&self.work.current);
        cut
    }

    fn finish(
        &mut self,
        system: &System,
        x: &SafePositions,
        state: &mut Snapshot,
        time: f64,
        h: f64,
        report: &mut StepReport,
    ) {
        std::mem::swap(&mut state.v, &mut state.v_before);
        state.v.clear();
        state.v.extend(x.as_slice().iter().zip(&state.x).map(|(now, before)| (*now - *before) / h));
        state.x.clear();
        state.x.extend(x.as_slice());
        state.time = time + h;
        state.step += 1;
        note_lags(system, state, time, report);
        report.energies.elastic = system.elastic.value(&state.x);
        for chamber in &system.chambers {
            report.energies.elastic += chamber.law(chamber.volume(&state.x)).energy;
        }
        system.plastic.flow(&system.elastic, &state.x, &mut state.memory);
        if let Some(rods) = &system.rods {
            self.rods.clamp(rods, &system.prescribed, state);
            self.rods.finish(rods, state);
            report.energies.elastic += rods.energy(&state.x, &state.memory);
        }
        let present = self.fluid.as_ref().map_or(&[][..], FluidPhase::present);
        let first = system.geometry.first_particle();
        for (v, &m) in system.mass.iter().enumerate() {
            if v >= first && !present[v - first] {
                continue;
            }
            report.energies.kinetic += 0.5 * m * state.v[v].length_squared();
            report.energies.gravity -= m * system.gravity.dot(state.x[v]);
        }
        self.bodies.finish(system, state, h, &mut report.energies);
    }
}

/// The objective of a step of size `h` [s] from `x_n` [m].
fn objective<'a>(
    system: &'a System,
    (contacts, moved, color_of): (&'a Contacts, &'a [f64], &'a [u32]),
    y: &'a [Vec3],
    x_n: &'a [Vec3],
    h: f64,
) -> Objective<'a> {
    Objective {
        elastic: &system.elastic,
        contacts,
        slip: Slip { x_n, targets: y },
        moved,
        color_of,
        mass: &system.mass,
        y,
        inverse_h2: 1.0 / (h * h),
    }
}
