//! The prescribed sets within a step: what is left of their way, and how far they came.

use crate::kinematic::{MEMORY, Progress};
use crate::model::Snapshot;
use crate::safe::{Detection, Displacement};
use crate::system::System;
use littoral_geom::math::Vec3;

/// Asks every acting prescribed set what is left of its way in this step.
pub(super) fn ask_prescribed(
    system: &System,
    state: &Snapshot,
    h: f64,
    x: &[Vec3],
    wanted: &mut [Vec3],
    aims: &mut Vec<Progress>,
) {
    aims.clear();
    for (set, memory) in system.prescribed.iter().zip(state.memory.chunks_exact(MEMORY)) {
        let progress = Progress::read(memory);
        aims.push(if set.acts(state.time) {
            set.wants(&progress, state.time, h, x, wanted)
        } else {
            progress
        });
    }
}

/// Moves each prescribed set on by the share of the way that was kept: a rigid one by that of all its points.
pub(super) fn advance_prescribed(
    system: &System,
    state: &mut Snapshot,
    aims: &[Progress],
    wanted: &[Vec3],
    dx: &Displacement,
    detection: &Detection,
) {
    for ((set, memory), aim) in system.prescribed.iter().zip(state.memory.chunks_exact_mut(MEMORY)).zip(aims)
    {
        if !set.acts(state.time) {
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
