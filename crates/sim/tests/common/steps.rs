//! Steps of water by block descent, in which nothing may leak.

use littoral_sim::report::StepReport;
use littoral_sim::scene::SceneBuilder;
use littoral_sim::settings::{ContactSettings, SolverSettings};
use littoral_sim::simulation::Simulation;

pub fn scene() -> SceneBuilder {
    SceneBuilder::new(
        SolverSettings::default(),
        ContactSettings { radius: 4e-3, ..ContactSettings::default() },
    )
}

pub fn advance(sim: &mut Simulation, until: f64, mut see: impl FnMut(&Simulation, &StepReport)) {
    while sim.state().time < until {
        let h = sim.largest_step().unwrap().min(1.0 / 240.0).min(until - sim.state().time + 1e-9);
        let report = sim.step(h);
        assert_eq!(report.fluid.unwrap().leaked, 0, "a particle crossed a surface at {} s", report.time);
        see(sim, &report);
    }
}
