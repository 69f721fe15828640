//! One step of projected Newton on the incremental potential [Li 2020, IPC; Xie 2023, phase 2 of Eq. 25].
//!
//! Every iterate is free of intersections: a direction is taken whole where conservative collision detection allows
//! it, else cut by the chosen truncation, and accepted where it lowers the objective. Where a cut that differs from
//! point to point does not, all points take the same fraction, which lowers it for sure when it is small. What is prescribed moves first, inside the same guarantee, and goes on
//! between iterations while it lags.

use super::vbd_dat::{advance_prescribed, ask_prescribed};
use crate::contact::barrier_set::{BarrierModel, Barriers, Touch};
use crate::contact::lagged_friction::LaggedFriction;
use crate::kinematic::{MEMORY, Progress};
use crate::model::Snapshot;
use crate::report::StepReport;
use crate::safe::{Detection, Detector, Displacement, Geometry, Prediction, SafePositions};
use crate::settings::{SolverSettings, Truncation};
use crate::solver::newton::Direction;
use crate::solver::objective::{Derivatives, Objective, Value, Weighted};
use crate::solver::sparse::Unknowns;
use crate::system::System;
use crate::truncation::{Cut, Request, Truncator};
use littoral_geom::math::Vec3;
use std::time::Instant;

/// Prescribed points come no nearer than this share of the range: the barrier of what they press is then some twenty
/// times its strength. A smaller share lets them press harder, a larger one makes them crawl.
const HELD_KEEP: f64 = 0.05;

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
const HALVINGS: u32 = 30;

/// An objective may seem to rise by rounding: this many units of its parts' last digit. Larger: energy could creep in
/// unseen. Smaller: the last iterations halve in vain.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// The stepper and its memory. Dropping the memory between steps changes no result.
#[derive(Debug)]
pub struct NewtonIpc {
    settings: SolverSettings,
    /// The truncation asked for, the one for prescribed points, and one fraction for all.
    truncator: Truncator,
    planar: Truncator,
    uniform: Truncator,
    detector: Detector,
    /// The geometry with every component at rest: detections amid a solve have no frames, because a frame is
    /// executed whole and the length of a Newton step is not known beforehand.
    still: Geometry,
    detection: Detection,
    /// Barriers, and the step length that they were made for.
    model: (f64, BarrierModel),
    barriers: Barriers,
    friction: LaggedFriction,
    dx: Displacement,
    derivatives: Derivatives,
    direction: Direction,
    work: Work,
}

/// Reusable arrays.
#[derive(Debug, Default)]
struct Work {
    unknowns: Unknowns,
    /// Inertial target [m].
    target: Vec<Vec3>,
    wanted: Vec<Vec3>,
    margin: Vec<f64>,
    /// Safe position plus frame [m].
    base: Vec<Vec3>,
    /// Base plus accepted displacement [m].
    current: Vec<Vec3>,
    held: Vec<bool>,
    held_points: Vec<u32>,
    aims: Vec<Progress>,
    touches: Vec<Touch>,
}

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

/// What a solve minimises beside the solids' own energies, so that a splitting can run it as its second phase.
#[derive(Clone, Copy, Debug)]
struct Phase {
    h: f64,
    time: f64,
    /// Factor of the barriers [–].
    factor: f64,
}

impl NewtonIpc {
    /// A stepper for one system.
    pub fn new(system: &System, settings: SolverSettings, x: &SafePositions) -> Self {
        let with = |truncation| Truncator::new(&SolverSettings { truncation, ..settings.clone() });
        let mut still = system.geometry.clone();
        still.prescribed.fill(true);
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
            dx: Displacement::zero(x),
            derivatives: Derivatives::default(),
            direction: Direction::default(),
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
        let phase = Phase { h, time: state.time, factor: 1.0 };
        // 1. Rates, friction and stiffness of contact are measured from here.
        system.lag(state, h);
        let system = &*system;
        if self.model.0 != h {
            self.model = (h, BarrierModel::new(&system.contact, &system.geometry, h));
        }
        // 2. Inertial target, and who is held.
        self.begin(system, x, state, h);
        // 3. Detect along the free flight; lag friction at xⁿ.
        self.flight_margins(system, h);
        self.detect(system, x, true, &mut report);
        self.barriers.touches(x.as_slice(), &mut self.work.touches);
        let epsilon = system.friction_speed * h;
        self.friction.lag(&system.contact, &self.work.touches, x.as_slice(), epsilon);
        // 4. What is prescribed goes ahead, then Newton.
        self.move_held(system, x, state, &mut report);
        self.minimise(system, x, state, &phase, &mut report);
        x.commit(&self.detection, &mut self.dx);
        finish(system, x, state, &phase, &mut report);
        let p = &mut report.phases;
        p.solve = (start.elapsed().as_secs_f64() - p.detect - p.forces - p.truncate).max(0.0);
        report
    }

    /// Inertial targets and the points that move.
    fn begin(&mut self, system: &System, x: &SafePositions, state: &Snapshot, h: f64) {
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
        work.unknowns = Unknowns::new(n, |v| system.mass[v] > 0.0 && !work.held[v]);
        work.target.clear();
        work.target.extend_from_slice(x.as_slice());
        work.wanted.clear();
        work.wanted.resize(n, Vec3::ZERO);
        for &v in &work.unknowns.points {
            let v = v as usize;
            work.wanted[v] = h * state.v[v] + h * h * system.gravity;
            work.target[v] += work.wanted[v];
        }
        ask_prescribed(system, state, h, x.as_slice(), &mut work.wanted, &mut work.aims);
        self.derivatives.begin();
    }

    /// Room around free flight: how differently neighbours move, and a share of the way.
    fn flight_margins(&mut self, system: &System, h: f64) {
        let Work { wanted, margin, unknowns, .. } = &mut self.work;
        let least = (MARGIN * system.contact.radius()).max(h * h * system.gravity.length());
        margin.clear();
        margin.resize(wanted.len(), 0.0);
        for &v in &unknowns.points {
            let i = v as usize;
            let apart = |&w: &u32| wanted[i].distance_squared(wanted[w as usize]);
            let stretch = system.neighbours.row(i).iter().map(apart).fold(0.0, f64::max).sqrt();
            margin[i] = least.max(stretch);
        }
    }

    fn detect(&mut self, system: &System, x: &SafePositions, frames: bool, report: &mut StepReport) {
        let start = Instant::now();
        let prediction = Prediction {
            wanted: &self.work.wanted,
            margin: &self.work.margin,
            contact_radius: system.contact.radius(),
            present: &[],
        };
        let geometry = if frames { &system.geometry } else { &self.still };
        self.detector.detect(geometry, x, &prediction, &mut self.detection);
        self.barriers.list(&self.model.1, &system.contact, geometry, &self.detection);
        self.work.base.clear();
        self.work.base.extend(x.as_slice().iter().zip(&self.detection.frame).map(|(p, f)| *p + *f));
        self.place();
        report.detections += 1;
        report.candidates = report.candidates.max(self.detection.planes.len() as u32);
        report.min_gap = match (report.min_gap, self.detection.min_gap()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        report.phases.detect += start.elapsed().as_secs_f64();
    }

    fn place(&mut self) {
        self.work.current.clear();
        self.work.current.extend(self.work.base.iter().zip(self.dx.accepted()).map(|(b, d)| *b + *d));
    }

    /// Lets prescribed points go what the detection allows of their way; returns their longest move [m].
    fn move_held(
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
        let request = Request {
            moved: &self.work.held_points,
            groups: &system.groups,
            group_count: system.prescribed.len(),
            held: &self.work.held,
            held_keep: HELD_KEEP * system.contact.radius(),
            ..Request::default()
        };
        let truncator =
            if self.settings.truncation == Truncation::None { &mut self.uniform } else { &mut self.planar };
        truncator.apply(x.as_slice(), &self.detection, &mut self.dx, &request);
        self.place();
        advance_prescribed(system, state, &self.work.aims, &self.work.wanted, &self.dx, &self.detection);
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
        x.commit(&self.detection, &mut self.dx);
        let work = &mut self.work;
        work.wanted.fill(Vec3::ZERO);
        ask_prescribed(system, state, h, x.as_slice(), &mut work.wanted, &mut work.aims);
        let least = MARGIN * system.contact.radius();
        work.margin.fill(0.0);
        for (&v, p) in work.unknowns.points.iter().zip(&self.direction.p) {
            work.margin[v as usize] = least.max(p.length());
        }
        self.detect(system, x, false, report);
        self.move_held(system, x, state, report)
    }

    /// Newton's iteration, until a step is shorter than the tolerance or the iterations are used up.
    fn minimise(
        &mut self,
        system: &System,
        x: &mut SafePositions,
        state: &mut Snapshot,
        phase: &Phase,
        report: &mut StepReport,
    ) {
        let x_n = state.x.clone();
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
            let start = Instant::now();
            let unknowns = std::mem::take(&mut self.work.unknowns);
            let friction = std::mem::take(&mut self.friction);
            let target = std::mem::take(&mut self.work.target);
            let objective = Objective {
                mass: &system.mass,
                target: &target,
                inverse_h2: 1.0 / (phase.h * phase.h),
                elastic: &system.elastic,
                neighbours: &system.neighbours,
                friction: &friction,
                x_n: &x_n,
                unknowns: &unknowns,
            };
            let weighted = [Weighted { barriers: &self.barriers, factor: phase.factor }];
            report.contacts = objective.derivatives(
                &self.work.current,
                &weighted,
                &mut self.work.touches,
                &mut self.derivatives,
            );
            self.direction.solve(&unknowns, &self.derivatives, self.settings.linear);
            report.phases.forces += start.elapsed().as_secs_f64();
            report.iterations += 1;
            let longest = self.direction.longest();
            report.residual = longest / phase.h;
            if !self.fits(&unknowns) {
                self.detect_ahead(system, x, &unknowns, report);
            }
            let (cut, after) = self.descend(x, &objective, phase.factor, known, report);
            cuts = cuts.plus(cut);
            report.truncated = cut.truncated + cut.bounded;
            known = after;
            self.work.unknowns = unknowns;
            self.friction = friction;
            self.work.target = target;
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
    fn fits(&self, unknowns: &Unknowns) -> bool {
        unknowns.points.iter().zip(&self.direction.p).all(|(&v, p)| {
            let v = v as usize;
            let (to, budget) = (self.dx.accepted()[v] + *p, &self.detection.budget[v]);
            budget.min.cmple(to).all() && to.cmple(budget.max).all()
        })
    }

    /// Commits and detects along the direction; prescribed points wait.
    fn detect_ahead(
        &mut self,
        system: &System,
        x: &mut SafePositions,
        unknowns: &Unknowns,
        report: &mut StepReport,
    ) {
        x.commit(&self.detection, &mut self.dx);
        let work = &mut self.work;
        work.wanted.fill(Vec3::ZERO);
        work.margin.fill(0.0);
        let least = MARGIN * system.contact.radius();
        for (&v, p) in unknowns.points.iter().zip(&self.direction.p) {
            work.wanted[v as usize] = *p;
            work.margin[v as usize] = least.max(MOVE_MARGIN * p.length());
        }
        self.detect(system, x, false, report);
    }

    /// Moves along the direction as far as truncation and the objective allow. The value is `None` when nothing
    /// lowers it.
    fn descend(
        &mut self,
        x: &SafePositions,
        objective: &Objective<'_>,
        factor: f64,
        known: Option<Value>,
        report: &mut StepReport,
    ) -> (Cut, Option<Value>) {
        let points = &objective.unknowns.points;
        let weighted = [Weighted { barriers: &self.barriers, factor }];
        let touches = &mut self.work.touches;
        let before = known.unwrap_or_else(|| objective.value(&self.work.current, &weighted, touches));
        let saved = self.dx.clone();
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
            let after = objective.value(&self.work.current, &weighted, &mut self.work.touches);
            report.phases.forces += start.elapsed().as_secs_f64();
            if after.sum <= before.sum + ROUNDING * before.scale {
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

/// Velocities, lags and energies of the end of a step.
fn finish(system: &System, x: &SafePositions, state: &mut Snapshot, phase: &Phase, report: &mut StepReport) {
    let h = phase.h;
    std::mem::swap(&mut state.v, &mut state.v_before);
    state.v.clear();
    state.v.extend(x.as_slice().iter().zip(&state.x).map(|(now, before)| (*now - *before) / h));
    state.x.clear();
    state.x.extend(x.as_slice());
    state.time = phase.time + h;
    state.step += 1;
    for set in system.prescribed.iter().filter(|s| s.acts(phase.time)) {
        let lag = set.lag(&state.x, state.time);
        report.lag = report.lag.max(lag);
        let most = &mut state.lag_max[set.object as usize];
        *most = most.max(lag);
    }
    report.energies.elastic = system.elastic.value(&state.x);
    system.plastic.flow(&system.elastic, &state.x, &mut state.memory);
    for (v, &m) in system.mass.iter().enumerate() {
        report.energies.kinetic += 0.5 * m * state.v[v].length_squared();
        report.energies.gravity -= m * system.gravity.dot(state.x[v]);
    }
}
