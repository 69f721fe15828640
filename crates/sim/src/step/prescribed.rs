//! The prescribed sets within a step: what is left of their way, and how far they came.

use crate::kinematic::{MEMORY, PrescribedSet, Progress};
use crate::model::Snapshot;
use crate::report::{ObjectLag, StepReport};
use crate::safe::{Detection, Displacement};
use crate::system::System;
use crate::truncation::Request;
use littoral_geom::math::Vec3;

/// Asks every acting prescribed set that is `asked` what is left of its way in this step. The others keep their aims.
pub(super) fn ask_prescribed(
    system: &System,
    state: &Snapshot,
    h: f64,
    x: &[Vec3],
    wanted: &mut [Vec3],
    aims: &mut Vec<Progress>,
    asked: impl Fn(&PrescribedSet) -> bool,
) {
    for (k, (set, memory)) in system.prescribed.iter().zip(state.memory.chunks_exact(MEMORY)).enumerate() {
        let progress = Progress::read(memory);
        if k == aims.len() {
            aims.push(progress);
        }
        if asked(set) {
            aims[k] =
                if set.acts(state.time) { set.wants(&progress, state.time, h, x, wanted) } else { progress };
        }
    }
}

/// Prescribed points come no nearer than this share of the contact radius. A point that is pressed closer backs off by
/// about its gap per sweep, so that a smaller share makes a pressing collider crawl; a larger one lets it push less. A barrier is some twenty times its
/// strength there.
const HELD_KEEP: f64 = 0.05;

/// Gap that prescribed points leave where they can [m].
pub(super) fn held_keep(system: &System) -> f64 {
    HELD_KEEP * system.contact.radius()
}

/// What truncation is asked where the `points` that are `held` alone go on, each set as one.
pub(super) fn held_request<'a>(system: &'a System, points: &'a [u32], held: &'a [bool]) -> Request<'a> {
    Request {
        moved: points,
        groups: &system.groups,
        group_count: system.prescribed.len(),
        held,
        held_keep: held_keep(system),
        ..Request::default()
    }
}

/// Moves each prescribed set that was `asked` on by the share of the way that was kept: a rigid one by that of all its points.
pub(super) fn advance_prescribed(
    system: &System,
    state: &mut Snapshot,
    aims: &[Progress],
    wanted: &[Vec3],
    dx: &Displacement,
    detection: &Detection,
    asked: impl Fn(&PrescribedSet) -> bool,
) {
    for ((set, memory), aim) in system.prescribed.iter().zip(state.memory.chunks_exact_mut(MEMORY)).zip(aims)
    {
        if !set.acts(state.time) || !asked(set) {
            continue;
        }
        let longest = |f: &dyn Fn(usize) -> Vec3| {
            set.points.iter().map(|&v| f(v as usize).length()).fold(0.0_f64, f64::max)
        };
        let asked = longest(&|v| wanted[v]);
        let came = longest(&|v| dx.accepted()[v] + detection.frame[v]);
        let kept = if asked > 0.0 { (came / asked).min(1.0) } else { 1.0 };
        Progress::read(memory).towards(aim, kept).write(memory);
    }
}

/// Notes how far what is prescribed is behind its motion at the end of a step that began at `time` [s].
pub(super) fn note_lags(system: &System, state: &mut Snapshot, time: f64, report: &mut StepReport) {
    for set in system.prescribed.iter().filter(|s| s.acts(time)) {
        let lag = set.lag(&state.x, state.time);
        report.lag = report.lag.max(lag);
        let most = &mut state.lag_max[set.object as usize];
        *most = most.max(lag);
        if set.top_speed == 0.0 {
            continue;
        }
        match report.lags.iter_mut().find(|l| l.object == set.object) {
            Some(known) => known.lag = known.lag.max(lag),
            None => report.lags.push(ObjectLag { object: set.object, lag }),
        }
    }
}
