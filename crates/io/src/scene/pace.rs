//! How steps divide frames: evenly and all alike, or with fluid as the Courant limit allows.

use littoral_sim::simulation::Simulation;

/// Share of a frame that may be left of it: times are sums of steps, each rounded.
const SLACK: f64 = 1e-9;

/// The steps of a scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Frames a second [1/s].
    pub fps: f64,
    /// Steps a frame; with fluid, the fewest.
    pub steps_per_frame: u64,
    /// Step size [s]; with fluid, the largest.
    pub step_size: f64,
}

impl Pace {
    /// True once the simulation is at a frame or beyond.
    pub fn has_reached(&self, sim: &Simulation, frame: u64) -> bool {
        match sim.largest_step() {
            None => sim.state().step >= frame * self.steps_per_frame,
            Some(_) => self.time_left(sim, frame) <= SLACK / self.fps,
        }
    }

    /// Size [s] of the next step on the way to a frame that is not reached yet: without fluid the step size; with fluid
    /// what is left of the frame in ⌈left / min(step size, largest step)⌉ equal parts.
    pub fn next_step(&self, sim: &Simulation, frame: u64) -> f64 {
        let Some(limit) = sim.largest_step() else { return self.step_size };
        let left = self.time_left(sim, frame);
        // A step that divides the frame does so up to a few rounding errors.
        let parts = (left / self.step_size.min(limit) * (1.0 - SLACK)).ceil().max(1.0);
        left / parts
    }

    /// True at the first step whose time reaches `time` [s], and from there on.
    pub fn has_passed(&self, sim: &Simulation, time: f64) -> bool {
        match sim.largest_step() {
            None => sim.state().step >= (time / self.step_size).round() as u64,
            Some(_) => time - sim.state().time <= SLACK / self.fps,
        }
    }

    /// How far the simulation has come, in frames.
    pub fn progress(&self, sim: &Simulation) -> f64 {
        match sim.largest_step() {
            None => sim.state().step as f64 / self.steps_per_frame as f64,
            Some(_) => sim.state().time * self.fps,
        }
    }

    fn time_left(&self, sim: &Simulation, frame: u64) -> f64 {
        frame as f64 / self.fps - sim.state().time
    }
}
