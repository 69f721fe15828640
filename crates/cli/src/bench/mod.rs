//! The tables that `littoral bench` reproduces: one file each.

mod convergence;
mod splitting;
mod table;
mod truncation;
mod validate;

pub use convergence::convergence;
pub use splitting::splitting;
pub use table::{Cell, Table};
pub use truncation::truncation;
pub use validate::validate;

use crate::process::fine_cpu_seconds;
use crate::source::LoadedScene;
use littoral_sim::report::StepReport;
use std::ops::RangeInclusive;

/// Processor time of all threads of a call [s], 0 where the system does not tell, and its result.
fn timed<T>(call: impl FnOnce() -> T) -> (f64, T) {
    let before = fine_cpu_seconds();
    let result = call();
    let spent = fine_cpu_seconds().zip(before).map_or(0.0, |(now, then)| now - then);
    (spent, result)
}

/// Steps through these frames; `see` gets each step with the processor time it took [s].
fn advance(
    scene: &mut LoadedScene,
    frames: RangeInclusive<u64>,
    mut see: impl FnMut(&LoadedScene, f64, StepReport),
) {
    for frame in frames {
        while !scene.pace.has_reached(&scene.sim, frame) {
            let h = scene.pace.next_step(&scene.sim, frame);
            let (cpu, report) = timed(|| scene.sim.step(h));
            see(scene, cpu, report);
        }
    }
}
