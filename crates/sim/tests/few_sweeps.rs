//! Where a step has few sweeps: what presses is answered at once, and scenes end where they should.

use littoral_geom::math::{Quat, Vec3};
use littoral_geom::shapes;
use littoral_sim::motion::{Keyframe, Motion};
use littoral_sim::scene::{ClothMaterial, Pin, Placement, SceneBuilder, SoftMaterial};
use littoral_sim::settings::{ContactSettings, SolverSettings};
use littoral_sim::simulation::Simulation;

const STEP: f64 = 1.0 / 240.0;

fn named(name: &str) -> Placement {
    Placement { name: name.into(), ..Placement::default() }
}

fn scene(iterations: u32) -> SceneBuilder {
    let solver = SolverSettings { iterations, step: Some(STEP), ..SolverSettings::default() };
    SceneBuilder::new(solver, ContactSettings::default())
}

/// ```text
///     ┬ pinned        a ball at 10 m/s meets the lower edge of a sheet;
///  ●→ │               at 0.3 s it should be 2.5 m behind it
/// ```
fn ball_and_curtain(iterations: u32) -> Simulation {
    let mut s = scene(iterations);
    let mut sheet = shapes::grid([0.8, 0.8], [20, 20]);
    for v in &mut sheet.vertices {
        *v = Vec3::new(0.0, v.y, 0.8 + v.x);
    }
    let top = (0..sheet.vertices.len() as u32).filter(|&v| sheet.vertices[v as usize].z > 1.199).collect();
    let pins = vec![Pin { vertices: top, motion: Motion::Static, release: None }];
    s.add_cloth(Placement { pins, ..named("sheet") }, sheet, ClothMaterial::default());
    let mut ball = shapes::sphere(0.1, 3);
    let center = Vec3::new(-0.5, 0.0, 0.44);
    ball.vertices.iter_mut().for_each(|p| *p += center);
    let (spin, velocity) = (Vec3::ZERO, Vec3::new(10.0, 0.0, 0.0));
    s.add_collider(named("ball"), ball, Motion::Twist { center, spin, velocity, start: 0.0, stop: 0.3 });
    s.build().unwrap()
}

/// What a late collider pressed last would hold the sheet on it for good, were its friction remembered.
#[test]
fn a_sheet_slips_off_a_ball_that_flies_through_it() {
    for iterations in [5, 20] {
        let mut sim = ball_and_curtain(iterations);
        let late = (0..240).map(|_| sim.step(STEP).lag).last().unwrap();
        assert!(late < 1e-6, "{iterations} sweeps: the ball is {late} m late");
    }
}

/// A plate squeezes a block to half in a second, and is not late.
#[test]
fn a_plate_that_squeezes_a_block_is_not_late() {
    let mut s = scene(5);
    let mut block = shapes::tet_cuboid([0.2; 3], [5; 3]);
    block.vertices.iter_mut().for_each(|p| p.z += 0.103);
    s.add_soft(named("block"), block, SoftMaterial { young: 5e4, density: 200.0, ..SoftMaterial::default() });
    s.add_collider(named("ground"), shapes::plane([2.0, 2.0]), Motion::Static);
    let mut plate = shapes::cuboid([0.6, 0.6, 0.02], [1; 3]);
    plate.vertices.iter_mut().for_each(|p| p.z += 0.22);
    let key = |time, z| Keyframe { time, position: Vec3::Z * z, rotation: Quat::IDENTITY };
    let motion = Motion::Keyframes { keys: vec![key(0.0, 0.0), key(1.0, -0.105)], center: Vec3::ZERO };
    s.add_collider(named("plate"), plate, motion);
    let mut sim = s.build().unwrap();
    let latest = (0..264).map(|_| sim.step(STEP).lag).fold(0.0, f64::max);
    // A tenth of what it comes down in a step, 0.4 mm.
    assert!(latest < 4e-5, "it was {latest} m late");
}

/// At one sweep a step a plate is late, and a block that gives way by a twentieth of what it is pressed for would hold it
/// half way.
#[test]
fn a_plate_squeezes_a_block_to_a_tenth_at_one_sweep_a_step() {
    let mut s = scene(1);
    let mut block = shapes::tet_cuboid([0.2; 3], [7; 3]);
    block.vertices.iter_mut().for_each(|p| p.z += 0.103);
    let foam = SoftMaterial { young: 2e4, poisson: 0.3, density: 200.0, ..SoftMaterial::default() };
    s.add_soft(named("block"), block, foam);
    s.add_collider(named("ground"), shapes::plane([2.0, 2.0]), Motion::Static);
    let mut plate = shapes::cuboid([0.6, 0.6, 0.02], [1; 3]);
    plate.vertices.iter_mut().for_each(|p| p.z += 0.22);
    let key = |time, z| Keyframe { time, position: Vec3::Z * z, rotation: Quat::IDENTITY };
    let keys = vec![key(0.0, 0.0), key(0.1, 0.0), key(1.1, -0.186)];
    s.add_collider(named("plate"), plate, Motion::Keyframes { keys, center: Vec3::ZERO });
    let mut sim = s.build().unwrap();
    let lag = (0..540).map(|_| sim.step(STEP).lag).last().unwrap();
    // A tenth of the block's height and two contact radii.
    let top = sim.state().x[sim.objects()[0].range()].iter().map(|p| p.z).fold(0.0, f64::max);
    assert!(top < 0.026, "its top is at {top} m, the plate {lag} m late");
}
