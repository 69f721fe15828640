//! Motion against closed forms. Pendulum, cantilevers and inclines are scenes: see `scenes/validation`.

use littoral_geom::math::Vec3;
use littoral_geom::mesh::TriMesh;
use littoral_geom::shapes;
use littoral_sim::motion::Motion;
use littoral_sim::scene::{ClothMaterial, Pin, Placement, SceneBuilder};
use littoral_sim::settings::{ContactSettings, SolverSettings, Truncation};
use littoral_sim::simulation::Simulation;

const G: f64 = 9.81;
const STEP: f64 = 1.0 / 240.0;

fn named(name: &str) -> Placement {
    Placement { name: name.into(), ..Placement::default() }
}

fn moved(mut mesh: TriMesh, f: impl Fn(Vec3) -> Vec3) -> TriMesh {
    for v in &mut mesh.vertices {
        *v = f(*v);
    }
    mesh
}

fn mean(sim: &Simulation, object: usize, f: impl Fn(usize) -> Vec3) -> Vec3 {
    let r = sim.objects()[object].range();
    let n = r.len() as f64;
    r.map(f).sum::<Vec3>() / n
}

/// Two sheets, one lying, one standing on its edge, fall one second in empty space.
#[test]
fn free_fall_reaches_g_at_any_contact_radius() {
    for radius in [5e-3, 1e-3, 2e-4] {
        let contact = ContactSettings { radius, ..ContactSettings::default() };
        let solver = SolverSettings { iterations: 5, ..SolverSettings::default() };
        let mut scene = SceneBuilder::new(solver, contact);
        let sheet = shapes::grid([1.0, 1.0], [25, 25]);
        scene.add_cloth(named("lying"), sheet.clone(), ClothMaterial::default());
        let standing = moved(sheet, |p| Vec3::new(p.x + 3.0, 0.1 * p.y, p.y));
        scene.add_cloth(named("standing"), standing, ClothMaterial::default());
        let mut sim = scene.build().unwrap();
        for _ in 0..240 {
            let report = sim.step(1.0 / 240.0);
            assert!(report.kept_motion > 0.999, "truncation took {} of the motion", 1.0 - report.kept_motion);
        }
        for object in 0..2 {
            let v = mean(&sim, object, |i| sim.state().v[i]);
            // The band asked for is 1 %; nothing acts but gravity, so only rounding may differ.
            assert!((v.z + G).abs() < 1e-6 * G, "radius {radius}: v = {v}");
        }
    }
}

/// A sheet and a ball fly on side by side, closer than they move in a step, at 50 m/s.
#[test]
fn layers_that_travel_together_keep_their_speed_and_gap() {
    let contact = ContactSettings { radius: 1e-3, ..ContactSettings::default() };
    let solver = SolverSettings { iterations: 5, ..SolverSettings::default() };
    let mut scene = SceneBuilder::new(solver, contact);
    scene.gravity = Vec3::ZERO;
    let velocity = Vec3::new(30.0, 0.0, 40.0);
    for (name, z) in [("lower", 0.0), ("upper", 0.004)] {
        let sheet = moved(shapes::grid([0.4, 0.4], [12, 12]), |p| p + Vec3::new(0.0, 0.0, z));
        scene.add_cloth(Placement { velocity, ..named(name) }, sheet, ClothMaterial::default());
    }
    let mut sim = scene.build().unwrap();
    for _ in 0..240 {
        sim.step(1.0 / 240.0);
    }
    let (lower, upper) = (mean(&sim, 0, |i| sim.state().x[i]), mean(&sim, 1, |i| sim.state().x[i]));
    // 50 m in steps of 0.2 m: rounding of positions of that size, 240 times.
    assert!((upper.z - lower.z - 0.004).abs() < 1e-10, "the gap became {}", upper.z - lower.z);
    for object in 0..2 {
        let v = mean(&sim, object, |i| sim.state().v[i]);
        assert!((v - velocity).length() < 1e-9 * velocity.length(), "v = {v}");
    }
}

/// A sheet in empty space, torn along by one edge: nothing is near, so only budgets could hold its points back.
#[test]
fn budgets_are_no_speed_limit_for_what_elasticity_pulls() {
    let run = |truncation: Truncation| {
        // Far more sweeps than this between regular detections: budgets alone say when to look again.
        let solver =
            SolverSettings { truncation, detect_every: 1000, step: Some(STEP), ..SolverSettings::default() };
        let contact = ContactSettings { radius: 2e-4, ..ContactSettings::default() };
        let mut scene = SceneBuilder::new(solver, contact);
        scene.gravity = Vec3::ZERO;
        let sheet = shapes::grid([0.5, 0.5], [10, 10]);
        let edge: Vec<u32> =
            (0..sheet.vertices.len() as u32).filter(|&v| sheet.vertices[v as usize].x < -0.24).collect();
        let motion = Motion::Twist {
            center: Vec3::ZERO,
            spin: Vec3::ZERO,
            velocity: Vec3::new(-5.0, 0.0, 0.0),
            start: 0.0,
            stop: f64::INFINITY,
        };
        let pins = vec![Pin { vertices: edge, motion, release: None }];
        scene.add_cloth(Placement { pins, ..named("sheet") }, sheet, ClothMaterial::default());
        let mut sim = scene.build().unwrap();
        for _ in 0..24 {
            sim.step(STEP);
        }
        sim.state().x.clone()
    };
    let (free, cut) = (run(Truncation::None), run(Truncation::Planar));
    let apart = free.iter().zip(&cut).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    // Of half a metre of way.
    assert!(apart < 5e-3, "truncation holds a point back by {apart} m");
}
