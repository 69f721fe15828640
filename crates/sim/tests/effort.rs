//! What steps may take and what they give up: budgets of wall time, and who is late.

use littoral_geom::math::{Quat, Vec3};
use littoral_geom::shapes;
use littoral_sim::motion::{Keyframe, Motion};
use littoral_sim::scene::{ClothMaterial, Placement, SceneBuilder};
use littoral_sim::settings::{ContactSettings, SolverSettings};
use littoral_sim::simulation::Simulation;

const STEP: f64 = 1.0 / 240.0;

fn named(name: &str) -> Placement {
    Placement { name: name.into(), ..Placement::default() }
}

fn key(time: f64, z: f64) -> Keyframe {
    Keyframe { time, position: Vec3::Z * z, rotation: Quat::IDENTITY }
}

/// A plate comes down on a sheet that lies on another one, until it would be 3 mm below it, and goes up again.
///
/// ```text
///   ████ ↓
///  ──────── sheet
///   ████
/// ```
fn pressed(budget: Option<f64>) -> Simulation {
    let solver = SolverSettings { step: Some(STEP), budget, ..SolverSettings::default() };
    let mut scene = SceneBuilder::new(solver, ContactSettings::default());
    scene.add_cloth(named("sheet"), shapes::grid([0.3, 0.3], [12, 12]), ClothMaterial::default());
    let plate = |z: f64| {
        let mut plate = shapes::cuboid([0.2, 0.2, 0.02], [4, 4, 1]);
        plate.vertices.iter_mut().for_each(|p| p.z += z);
        plate
    };
    scene.add_collider(named("bed"), plate(-0.0125), Motion::Static);
    let keys = vec![key(0.0, 0.0), key(0.1, -0.01), key(0.2, -0.01), key(0.3, 0.0)];
    scene.add_collider(named("press"), plate(0.0145), Motion::Keyframes { center: Vec3::ZERO, keys });
    scene.build().unwrap()
}

fn assert_valid(sim: &Simulation) {
    let verdict = sim.judge();
    assert!(verdict.crossings.is_empty() && verdict.non_finite == 0, "{verdict:?}");
}

#[test]
fn a_budget_that_is_used_up_leaves_one_sweep_a_step_and_valid_states() {
    // A nanosecond of work a second.
    let mut sim = pressed(Some(1e-9));
    for _ in 0..96 {
        let report = sim.step(STEP);
        assert_eq!((report.iterations, report.sweeps_left), (1, 19));
        assert_valid(&sim);
    }
}

#[test]
fn a_budget_that_is_not_used_up_changes_no_bit() {
    let run = |budget| {
        let mut sim = pressed(budget);
        let left: u32 = (0..48).map(|_| sim.step(STEP).sweeps_left).sum();
        assert_eq!(left, 0);
        sim.state().clone()
    };
    assert!(run(None) == run(Some(1e9)));
}

#[test]
fn who_is_late_is_named_and_catches_up() {
    let mut sim = pressed(None);
    let mut most = 0.0_f64;
    for step in 0..96 {
        let report = sim.step(STEP);
        // The bed does not move: only the press can be late.
        let lags: Vec<(u32, f64)> = report.lags.iter().map(|l| (l.object, l.lag)).collect();
        assert_eq!(lags, [(2, report.lag)]);
        most = most.max(report.lag);
        if step == 95 {
            assert!(report.lag < 1e-12, "still late by {} m", report.lag);
        }
    }
    // It was asked to go 3 mm below the upper side of the bed.
    assert!(most > 2.5e-3 && most < 8e-3, "{most} m");
    assert_valid(&sim);
}
