//! What a scene expects of its motion, measured when its time has come.

use crate::source::LoadedScene;
use littoral_io::report::Expectation;
use littoral_io::scene::Seen;

/// Measures those of the scene's expectations that are due and were not yet, into `told`, in their order; at the end
/// (`is_over`) all that are left.
pub fn measure(scene: &LoadedScene, seen: &Seen, is_over: bool, told: &mut [Expectation]) {
    for (expected, told) in scene.expectations.iter().zip(told) {
        let is_due = is_over || expected.time.is_some_and(|time| scene.pace.has_passed(&scene.sim, time));
        if is_due && told.met.is_none() {
            let value = expected.value(&scene.sim, seen);
            told.found = Some(value).filter(|x| x.is_finite());
            told.met = Some(expected.holds(value));
        }
    }
}
