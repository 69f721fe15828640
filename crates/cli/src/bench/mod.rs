//! The tables that `littoral bench` reproduces: one file each.

mod splitting;
mod table;

pub use splitting::splitting;
pub use table::Table;

use crate::process::fine_cpu_seconds;

/// Processor time of all threads of a call [s], 0 where the system does not tell, and its result.
fn timed<T>(call: impl FnOnce() -> T) -> (f64, T) {
    let before = fine_cpu_seconds();
    let result = call();
    let spent = fine_cpu_seconds().zip(before).map_or(0.0, |(now, then)| now - then);
    (spent, result)
}
