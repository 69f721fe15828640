//! Rigid bodies in contact against closed forms: rolling, sliding, stacks, and the torture of thin and fast ones.

use littoral_geom::math::{Quat, Vec3};
use littoral_geom::mesh::TriMesh;
use littoral_geom::random::Random;
use littoral_geom::shapes;
use littoral_sim::motion::Motion;
use littoral_sim::scene::{ClothMaterial, Pin, Placement, RigidMaterial, SceneBuilder};
use littoral_sim::settings::{ContactSettings, SolverSettings, Truncation};
use littoral_sim::simulation::Simulation;

const H: f64 = 1.0 / 240.0;
const G: f64 = 9.81;

fn scene(iterations: u32, radius: f64, friction: f64) -> SceneBuilder {
    let solver = SolverSettings { step: Some(H), iterations, ..SolverSettings::default() };
    let contact = ContactSettings { radius, friction, friction_speed: 1e-4, ..ContactSettings::default() };
    SceneBuilder::new(solver, contact)
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

fn body(scene: &mut SceneBuilder, name: &str, mesh: TriMesh, density: f64) {
    scene.add_rigid(named(name), mesh, RigidMaterial { density, shell: None });
}

fn ground(scene: &mut SceneBuilder, size: f64) {
    scene.add_collider(named("ground"), shapes::plane([size, size]), Motion::Static);
}

fn tilted(angle: f64) -> Vec3 {
    G * Vec3::new(angle.sin(), 0.0, -angle.cos())
}

/// Steps and judges; returns the largest number of crossings seen.
fn run(sim: &mut Simulation, steps: usize) -> usize {
    (0..steps)
        .map(|_| {
            sim.step(H);
            sim.judge().crossings.len()
        })
        .max()
        .unwrap_or(0)
}

/// ```text
///      ( )→   a = 5/7 g sin θ
/// ______|_____
/// ```
#[test]
fn a_sphere_rolls_down_a_slope_with_five_sevenths() {
    let angle = 15.0_f64.to_radians();
    let mut scene = scene(10, 2e-3, 0.5);
    scene.gravity = tilted(angle);
    ground(&mut scene, 8.0);
    let sphere = shapes::sphere(0.2, 5);
    body(&mut scene, "ball", moved(sphere, Vec3::new(-1.5, 0.0, 0.2019), Quat::IDENTITY), 1000.0);
    let mut sim = scene.build().unwrap();
    let mut speeds = Vec::new();
    for step in 0..240 {
        sim.step(H);
        if step % 40 == 39 {
            speeds.push(sim.body(&sim.objects()[0]).unwrap().1.velocity.x);
        }
    }
    let a = (speeds[5] - speeds[1]) / (160.0 * H);
    let expected = 5.0 / 7.0 * G * angle.sin();
    // Facets of 0.04 rad: each of them takes a little of the energy.
    assert!((a / expected - 1.0).abs() < 0.03, "{a} against {expected}");
    let state = sim.body(&sim.objects()[0]).unwrap().1;
    let body = sim.body(&sim.objects()[0]).unwrap().0;
    let spin = body.spin(state.pose.rotation, state.momentum).y;
    assert!(
        (spin * 0.2 / state.velocity.x - 1.0).abs() < 0.02,
        "it rolls: {} {}",
        spin * 0.2,
        state.velocity.x
    );
}

#[test]
fn a_cube_slides_on_a_slope_by_coulombs_law() {
    let angle = 0.5_f64.atan();
    let travel = |friction: f64| {
        let mut scene = scene(10, 2e-3, friction);
        scene.gravity = tilted(angle);
        ground(&mut scene, 4.0);
        let cube = shapes::cuboid([0.2, 0.2, 0.1], [1; 3]);
        body(&mut scene, "block", moved(cube, Vec3::new(0.0, 0.0, 0.0519), Quat::IDENTITY), 1000.0);
        let mut sim = scene.build().unwrap();
        assert_eq!(run(&mut sim, 600), 0);
        sim.poses()[0].center.x
    };
    let slides = travel(0.45);
    let expected = 0.5 * G * (angle.sin() - 0.45 * angle.cos()) * 2.5 * 2.5;
    assert!((slides / expected - 1.0).abs() < 0.05, "{slides} against {expected}");
    assert!(travel(0.55) < 5e-3);
}

#[test]
fn ten_tonnes_stand_on_a_kilogram() {
    let mut scene = scene(10, 2e-3, 0.5);
    ground(&mut scene, 4.0);
    let light = shapes::cuboid([0.5, 0.5, 0.1], [1; 3]);
    let heavy = shapes::cuboid([0.5, 0.5, 0.5], [1; 3]);
    body(&mut scene, "light-0", moved(light.clone(), Vec3::new(0.0, 0.0, 0.053), Quat::IDENTITY), 40.0);
    body(&mut scene, "light-1", moved(light, Vec3::new(0.0, 0.0, 0.156), Quat::IDENTITY), 40.0);
    body(&mut scene, "heavy", moved(heavy, Vec3::new(0.0, 0.0, 0.459), Quat::IDENTITY), 80_000.0);
    let mut sim = scene.build().unwrap();
    let mut crossings = 0;
    for _ in 0..480 {
        sim.step(H);
        crossings += sim.judge().crossings.len();
    }
    let state = sim.body(&sim.objects()[2]).unwrap().1;
    assert_eq!(crossings, 0);
    assert!(state.pose.center.z > 0.449 && state.velocity.length() < 1e-3, "{state:?}");
}

/// ```text
///     __
///   /`  `\\     25 stones, corner to corner
///  |      |
/// ```
/// Which contacts serve a joint changes by roundings. Where each added its own stiffness the stones went on rocking at 40 mm/s.
#[test]
fn an_arch_comes_to_rest_at_any_number_of_sweeps() {
    for iterations in [5, 20] {
        let mut scene = scene(iterations, 2e-3, 0.5);
        let angle = 7.2_f64.to_radians();
        for k in 0..25 {
            let stone = shapes::wedge(1.0, 1.25, angle, 2e-3, 0.3);
            let turn = Quat::from_rotation_y((f64::from(k) - 12.0) * angle);
            body(&mut scene, &format!("stone-{k}"), moved(stone, Vec3::ZERO, turn), 2400.0);
        }
        let mut plane = shapes::plane([6.0, 4.0]);
        plane.vertices.iter_mut().for_each(|p| p.z -= 1e-3);
        scene.add_collider(named("ground"), plane, Motion::Static);
        let mut sim = scene.build().unwrap();
        (0..720).for_each(|_| drop(sim.step(H)));
        let fastest = sim.state().v.iter().map(|v| v.length()).fold(0.0, f64::max);
        assert!(fastest < 1e-3, "{iterations} sweeps: {fastest} m/s after 3 s");
        assert!(sim.judge().crossings.is_empty());
    }
}

/// Bars of every slenderness thrown at one another, spinning up to 100 rad/s, at few iterations and with each truncation.
#[test]
fn spinning_needles_and_plates_never_cross() {
    for (seed, truncation, iterations) in [
        (1, Truncation::Planar, 1),
        (2, Truncation::Planar, 4),
        (3, Truncation::Isotropic, 4),
        (4, Truncation::Project, 4),
        (5, Truncation::Planar, 8),
    ] {
        let mut random = Random::new(seed);
        let mut scene = scene(iterations, 1e-3, 0.3);
        scene.solver.truncation = truncation;
        scene.gravity = Vec3::ZERO;
        for k in 0..14 {
            let size = [
                random.log_between(0.004, 0.4),
                random.log_between(0.01, 0.1),
                random.log_between(0.02, 0.3),
            ];
            let at = Vec3::new((k % 3) as f64 - 1.0, ((k / 3) % 3) as f64 - 1.0, (k / 9) as f64 - 0.5) * 0.5;
            let turn = Quat::from_scaled_axis(random.in_cube(1.5));
            let placement = Placement {
                velocity: -3.0 * at + random.in_cube(1.0),
                spin: random.direction() * random.log_between(1.0, 100.0),
                ..named(&format!("bar-{k}"))
            };
            scene.add_rigid(
                placement,
                moved(shapes::cuboid(size, [1; 3]), at, turn),
                RigidMaterial::default(),
            );
        }
        let mut sim = scene.build().unwrap();
        let before = sim.judge().crossings.len();
        let mut worst = before;
        for _ in 0..120 {
            sim.step(H);
            worst = worst.max(sim.judge().crossings.len());
        }
        assert!(worst <= before, "seed {seed}: {worst} crossings, {before} at the start");
    }
}

#[test]
fn a_ball_falls_into_a_sheet_and_is_carried() {
    let mut scene = scene(20, 2e-3, 0.3);
    let sheet = moved(shapes::grid([1.0, 1.0], [24, 24]), Vec3::ZERO, Quat::IDENTITY);
    let rim = |p: &Vec3| p.x.abs() > 0.499 || p.y.abs() > 0.499;
    let vertices = (0..sheet.vertices.len() as u32).filter(|&v| rim(&sheet.vertices[v as usize])).collect();
    let pins = vec![Pin { vertices, motion: Motion::Static, release: None }];
    scene.add_cloth(Placement { pins, ..named("sheet") }, sheet, ClothMaterial::default());
    body(
        &mut scene,
        "ball",
        moved(shapes::sphere(0.15, 3), Vec3::new(0.02, 0.0, 0.3), Quat::IDENTITY),
        150.0,
    );
    let mut sim = scene.build().unwrap();
    assert_eq!(run(&mut sim, 480), 0);
    let state = sim.body(&sim.objects()[1]).unwrap().1;
    assert!(state.pose.center.z > -0.2 && state.velocity.length() < 0.5, "{state:?}");
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let play = || {
        let mut random = Random::new(3);
        let mut scene = scene(4, 2e-3, 0.4);
        ground(&mut scene, 3.0);
        for k in 0..30 {
            let at = Vec3::new(
                0.15 * f64::from(k % 3),
                0.15 * f64::from(k / 3 % 3),
                0.15 + 0.17 * f64::from(k / 9),
            );
            let turn = Quat::from_scaled_axis(random.in_cube(1.0));
            body(&mut scene, &format!("cube-{k}"), moved(shapes::cuboid([0.08; 3], [1; 3]), at, turn), 500.0);
        }
        let mut sim = scene.build().unwrap();
        for _ in 0..80 {
            sim.step(H);
        }
        sim
    };
    let on = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(play);
    let (one, four) = (on(1), on(4));
    assert_eq!(one.state(), four.state());
    // And a simulation that is restored from its snapshot goes on as if nothing had been.
    let (mut whole, mut resumed) = (on(2), play());
    let snapshot = whole.state().clone();
    resumed.restore(snapshot);
    for _ in 0..20 {
        whole.step(H);
        resumed.step(H);
    }
    assert_eq!(whole.state(), resumed.state());
}
