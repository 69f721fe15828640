//! Rigid bodies: free flight, rest, rolling, and that nothing passes through them.

use littoral_geom::math::{Quat, Vec3};
use littoral_geom::mesh::TriMesh;
use littoral_geom::shapes;
use littoral_sim::motion::Motion;
use littoral_sim::scene::{Placement, RigidMaterial, SceneBuilder};
use littoral_sim::settings::{ContactSettings, SolverSettings};
use littoral_sim::simulation::Simulation;

const H: f64 = 1.0 / 240.0;

fn scene(iterations: u32, radius: f64, friction: f64) -> SceneBuilder {
    let solver = SolverSettings { step: Some(H), iterations, ..SolverSettings::default() };
    SceneBuilder::new(solver, ContactSettings { radius, friction, ..ContactSettings::default() })
}

fn named(name: &str) -> Placement {
    Placement { name: name.into(), ..Placement::default() }
}

fn moved(mut mesh: TriMesh, to: Vec3, turn: Quat) -> TriMesh {
    for v in &mut mesh.vertices {
        *v = to + turn * *v;
    }
    mesh
}

fn ground(scene: &mut SceneBuilder, size: f64) {
    scene.add_collider(named("ground"), shapes::plane([size, size]), Motion::Static);
}

fn cube(scene: &mut SceneBuilder, name: &str, side: f64, at: Vec3, density: f64) {
    let mesh = moved(shapes::cuboid([side; 3], [1; 3]), at, Quat::IDENTITY);
    scene.add_rigid(named(name), mesh, RigidMaterial { density, shell: None });
}

/// Largest distance of a point from the image of the shape it started with, for all bodies [m].
fn shape_error(sim: &Simulation) -> f64 {
    let mut worst = 0.0_f64;
    for object in sim.objects() {
        let Some((body, state)) = sim.body(object) else { continue };
        for (v, r) in body.points().zip(&body.shape) {
            worst = worst.max(sim.state().x[v].distance(state.pose.place(*r)));
        }
    }
    worst
}

fn center(sim: &Simulation, k: usize) -> Vec3 {
    sim.poses()[k].center
}

#[test]
fn a_tumbling_racket_keeps_momentum_and_energy_in_free_flight() {
    let mut scene = scene(5, 1e-3, 0.3);
    scene.gravity = Vec3::ZERO;
    let mesh = moved(shapes::cuboid([0.3, 0.05, 0.12], [1; 3]), Vec3::ZERO, Quat::from_rotation_x(0.3));
    let axis = Quat::from_rotation_x(0.3) * Vec3::new(1e-3, 0.0, 12.0);
    let placement = Placement { spin: axis, velocity: Vec3::new(0.5, 0.0, 0.0), ..named("racket") };
    scene.add_rigid(placement, mesh, RigidMaterial::default());
    let mut sim = scene.build().unwrap();
    let object = sim.objects()[0].clone();
    let (body, start) = sim.body(&object).map(|(b, s)| (b.clone(), s)).unwrap();
    let energy = body.kinetic(&start);
    let mut worst = 0.0_f64;
    for _ in 0..2400 {
        sim.step(H);
        let (_, state) = sim.body(&object).unwrap();
        worst = worst.max((body.kinetic(&state) / energy - 1.0).abs());
        assert_eq!(state.momentum, start.momentum, "nothing but a torque changes it");
    }
    assert!(worst < 1e-5, "energy off by {worst:e}");
    // Velocities are differences of places: ε |c| / h, some 1e-13, each step.
    assert!((sim.body(&object).unwrap().1.velocity - start.velocity).length() < 1e-11);
    assert!((center(&sim, 0).x - 5.0).abs() < 1e-9, "{}", center(&sim, 0));
    assert!(shape_error(&sim) < 1e-12, "{:e}", shape_error(&sim));
}

#[test]
fn free_fall_is_no_slower_for_a_body() {
    let mut scene = scene(3, 1e-3, 0.3);
    cube(&mut scene, "cube", 0.1, Vec3::ZERO, 1000.0);
    let mut sim = scene.build().unwrap();
    for _ in 0..240 {
        sim.step(H);
    }
    let speed = sim.body(&sim.objects()[0]).unwrap().1.velocity.z;
    assert!((speed + 9.81).abs() < 1e-9, "{speed}");
}

#[test]
fn a_cube_comes_to_rest_on_the_ground_and_stays() {
    let mut scene = scene(10, 2e-3, 0.5);
    ground(&mut scene, 2.0);
    cube(&mut scene, "cube", 0.2, Vec3::new(0.0, 0.0, 0.15), 1000.0);
    let mut sim = scene.build().unwrap();
    let mut crossings = 0;
    for _ in 0..480 {
        sim.step(H);
        crossings += sim.judge().crossings.len();
    }
    let z = center(&sim, 0).z;
    assert!((0.1..0.1021).contains(&z), "{z}");
    let state = sim.body(&sim.objects()[0]).unwrap().1;
    assert!(state.velocity.length() < 1e-3 && crossings == 0, "{state:?} {crossings}");
    assert!(shape_error(&sim) < 1e-12);
}

#[test]
fn a_thrown_cube_tumbles_and_never_crosses_anything() {
    for iterations in [1, 5, 20] {
        let mut scene = scene(iterations, 2e-3, 0.4);
        ground(&mut scene, 4.0);
        let mesh = moved(shapes::cuboid([0.4, 0.05, 0.1], [1; 3]), Vec3::new(0.0, 0.0, 0.6), Quat::IDENTITY);
        let placement = Placement {
            velocity: Vec3::new(1.0, 0.2, -3.0),
            spin: Vec3::new(5.0, 30.0, -8.0),
            ..named("bar")
        };
        scene.add_rigid(placement, mesh, RigidMaterial::default());
        cube(&mut scene, "other", 0.2, Vec3::new(0.3, 0.0, 0.11), 300.0);
        let mut sim = scene.build().unwrap();
        for step in 0..480 {
            sim.step(H);
            let verdict = sim.judge();
            assert!(
                verdict.crossings.is_empty(),
                "{iterations} iterations, step {step}: {:?}",
                verdict.crossings
            );
        }
        assert!(shape_error(&sim) < 1e-12);
    }
}

/// ```text
///      ◇  on its edge, turning      few sweeps begin with steps of the bodies alone: with one step, what rests
///     □ □  side by side             would fall for a step and be thrown up in the next, at h g / 2
///     □ □
/// ```
#[test]
fn bodies_alone_go_the_same_way_in_one_two_five_and_ten_sweeps_to_the_bit() {
    let run = |iterations: u32| {
        let mut scene = scene(iterations, 2e-3, 0.5);
        for k in 0..4 {
            let at = Vec3::new(0.15 * f64::from(k % 2), 0.0, 0.053 + 0.103 * f64::from(k / 2));
            cube(&mut scene, &format!("cube-{k}"), 0.1, at, 1000.0);
        }
        let turn = Quat::from_rotation_y(0.7) * Quat::from_rotation_z(0.3);
        let mesh = moved(shapes::cuboid([0.1; 3], [1; 3]), Vec3::new(0.06, 0.01, 0.4), turn);
        let placement = Placement { spin: Vec3::new(1.0, 2.0, 0.0), ..named("turned") };
        scene.add_rigid(placement, mesh, RigidMaterial { density: 1000.0, shell: None });
        ground(&mut scene, 2.0);
        let mut sim = scene.build().unwrap();
        let fast = (0..360).map(|_| {
            sim.step(H);
            // The first cube rests from the start but for what its contacts give way.
            sim.body(&sim.objects()[0]).map_or(f64::NAN, |(_, state)| state.velocity.length())
        });
        let fast = fast.collect::<Vec<f64>>();
        (sim.state().x.clone(), fast)
    };
    let (expected, speeds) = run(10);
    let last = speeds.iter().skip(350).fold(0.0_f64, |a, b| a.max(*b));
    // The scene has an end: a twentieth of the speed with which one step alone would throw it.
    assert!(last < 0.05 * 0.5 * H * 9.81, "{last} m/s");
    for iterations in [1, 2, 5] {
        assert_eq!(run(iterations).0, expected, "{iterations} sweeps");
    }
}
