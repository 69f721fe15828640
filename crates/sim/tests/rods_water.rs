//! Rods in water: what they weigh there, whether they float, and what they pass on.

mod common;
#[path = "common/steps.rs"]
mod steps;

use common::{block, liquid, named, tank};
use littoral_geom::math::Vec3;
use littoral_geom::mesh::LineMesh;
use littoral_sim::motion::Motion;
use littoral_sim::scene::{Pin, Placement, RodMaterial, SceneBuilder};
use littoral_sim::simulation::Simulation;
use steps::{advance, scene};

const G: f64 = 9.81;
const DX: f64 = 0.05;
const RADIUS: f64 = 0.01;
const LENGTH: f64 = 0.4;

/// A rope of eight segments along x, its middle at `at`.
fn add_rope(s: &mut SceneBuilder, at: Vec3, density: f64, place: Placement) {
    let vertices: Vec<Vec3> = (0..=8).map(|k| at + Vec3::X * LENGTH * (f64::from(k) / 8.0 - 0.5)).collect();
    let mesh = LineMesh { lines: vec![(0..9).collect()], vertices };
    s.add_rod(place, mesh, RodMaterial { radius: RADIUS, density, young: 1e7, ..RodMaterial::default() });
}

/// A tank of 0.6 × 0.3 m with 0.4 m of water and a rope of `density` in the middle of it.
fn rope_in_tank(density: f64, is_held: bool) -> Simulation {
    let mut s = scene();
    let all = (0..9).collect();
    let pins =
        if is_held { vec![Pin { vertices: all, motion: Motion::Static, release: None }] } else { vec![] };
    add_rope(&mut s, Vec3::new(0.3, 0.15, 0.21), density, Placement { pins, ..named("rope") });
    s.add_collider(named("tank"), tank([0.6, 0.3, 0.8], true), Motion::Static);
    s.add_liquid(liquid(DX, block([12, 6, 8], DX)));
    s.build().unwrap()
}

fn volume() -> f64 {
    std::f64::consts::PI * RADIUS * RADIUS * LENGTH
}

fn height(sim: &Simulation) -> f64 {
    let rope = sim.objects()[0].range();
    rope.clone().map(|v| sim.state().x[v].z).sum::<f64>() / rope.len() as f64
}

#[test]
fn a_held_rope_is_lifted_by_what_it_displaces_and_the_floor_carries_it() {
    let mut sim = rope_in_tank(2000.0, true);
    let (mut lift, mut floor, mut steps) = (0.0, 0.0, 0.0);
    advance(&mut sim, 2.0, |_, report| {
        if report.time > 1.0 {
            lift += report.fluid_forces[0].z;
            floor -= report.fluid_forces[1].z;
            steps += 1.0;
        }
    });
    let (lift, floor) = (lift / steps, floor / steps);
    let expected = 1000.0 * volume() * G;
    assert!((lift / expected - 1.0).abs() < 0.05, "{lift} N for {expected} N");
    // The water and what the rope displaces stand on the floor.
    let weight = 1000.0 * 0.6 * 0.3 * 0.4 * G + lift;
    assert!((floor / weight - 1.0).abs() < 5e-3, "{floor} N for {weight} N");
}

#[test]
fn a_light_rope_rises_and_floats() {
    let mut sim = rope_in_tank(500.0, false);
    advance(&mut sim, 2.5, |_, _| {});
    let level = 0.4;
    // A rope is in the water and in the air in equal parts where half of the kernel's support is.
    let z = height(&sim);
    assert!((z - level).abs() < DX, "it lies at {z} m, the level at {level} m");
    let rope = sim.objects()[0].range();
    let slowest = rope.map(|v| sim.state().v[v].length()).fold(0.0, f64::max);
    assert!(slowest < 0.05, "still at {slowest} m/s");
    assert_eq!(sim.judge().crossings.len(), 0);
}

/// A cylinder sinks at no more than √(π r g (s − 1)/c_n), c_n > 1, and the water that it drags along makes it no slower than
/// half of that.
#[test]
fn a_heavy_rope_sinks_as_drag_lets_it_and_lies_on_the_floor() {
    let mut sim = rope_in_tank(2000.0, false);
    let (start, mut fastest) = (height(&sim), 0.0_f64);
    let mut last = (0.0, start);
    advance(&mut sim, 2.0, |sim, report| {
        let z = height(sim);
        fastest = fastest.max((last.1 - z) / (report.time - last.0));
        last = (report.time, z);
    });
    let terminal = (std::f64::consts::PI * RADIUS * G).sqrt();
    assert!(fastest < terminal && fastest > 0.3 * terminal, "{fastest} m/s for at most {terminal} m/s");
    let z = height(&sim);
    assert!(z < 2.0 * RADIUS + 4e-3 && z > 0.0, "it lies at {z} m");
    assert_eq!(sim.judge().crossings.len(), 0);
}

#[test]
fn a_rope_shot_through_free_water_passes_on_its_momentum() {
    let mut s = scene();
    s.gravity = Vec3::ZERO;
    let place = Placement { velocity: Vec3::new(0.0, 1.0, 0.0), ..named("rope") };
    add_rope(&mut s, Vec3::new(0.3, 0.1, 0.21), 2000.0, place);
    s.add_liquid(liquid(DX, block([12, 8, 8], DX)));
    let mut sim = s.build().unwrap();
    let sum =
        |sim: &Simulation| -> Vec3 { (0..sim.mass().len()).map(|v| sim.mass()[v] * sim.state().v[v]).sum() };
    let own = |sim: &Simulation| -> Vec3 {
        sim.objects()[0].range().map(|v| sim.mass()[v] * sim.state().v[v]).sum()
    };
    let (before, own_before) = (sum(&sim), own(&sim).y);
    advance(&mut sim, 0.2, |_, _| {});
    let (after, own_after) = (sum(&sim), own(&sim).y);
    assert!(own_after < 0.8 * own_before, "it kept {own_after} of {own_before} N s");
    let lost = (after - before).length();
    // What the solve leaves: its residual is a thousandth.
    assert!(lost < 0.01 * own_before, "{lost} of {own_before} N s are gone");
}
