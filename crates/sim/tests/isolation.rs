//! What happens in one place changes no bit of what happens in another: trajectories with and without something a
//! hundred metres away.

use littoral_geom::math::{Mat3, Quat, Vec3};
use littoral_geom::mesh::{LineMesh, TriMesh};
use littoral_geom::shapes;
use littoral_sim::motion::{Keyframe, Motion};
use littoral_sim::scene::{
    ClothMaterial, Pin, Placement, RigidMaterial, RodMaterial, SceneBuilder, SoftMaterial,
};
use littoral_sim::settings::{ContactSettings, SolverSettings};
use littoral_sim::simulation::Simulation;

const STEP: f64 = 1.0 / 240.0;

fn named(name: &str) -> Placement {
    Placement { name: name.into(), ..Placement::default() }
}

fn lifted(mut mesh: TriMesh, by: Vec3) -> TriMesh {
    mesh.vertices.iter_mut().for_each(|p| *p += by);
    mesh
}

fn builder(iterations: u32) -> SceneBuilder {
    let solver = SolverSettings { iterations, step: Some(STEP), ..SolverSettings::default() };
    SceneBuilder::new(solver, ContactSettings::default())
}

fn rigid() -> RigidMaterial {
    RigidMaterial { density: 700.0, shell: None }
}

/// ```text
///      ════╤════     two plates close on a sheet, cross by 5 mm, stay, and open again
///      ~~~~~~~~~
///      ════╧════
/// ```
fn closing(s: &mut SceneBuilder, at: Vec3) {
    s.add_cloth(named("sheet"), lifted(shapes::grid([0.2, 0.2], [8, 8]), at), ClothMaterial::default());
    for sign in [1.0, -1.0] {
        let mesh = lifted(shapes::cuboid([0.15, 0.15, 0.02], [2, 2, 1]), at + Vec3::Z * (sign * 0.03));
        let key =
            |time, way: f64| Keyframe { time, position: Vec3::Z * (-sign * way), rotation: Quat::IDENTITY };
        let keys = vec![key(0.0, 0.0), key(0.1, 0.0225), key(0.2, 0.0225), key(0.3, 0.0)];
        let motion = Motion::Keyframes { keys, center: at };
        s.add_collider(named(if sign > 0.0 { "upper" } else { "lower" }), mesh, motion);
    }
}

/// Three crates one on the other, dropped by a millimetre.
fn stack(s: &mut SceneBuilder, at: Vec3) {
    s.add_collider(named("ground"), lifted(shapes::plane([2.0, 2.0]), at), Motion::Static);
    for k in 0..3 {
        let turn = Quat::from_rotation_z(0.2 * f64::from(k));
        let mut mesh = shapes::cuboid([0.2, 0.2, 0.2], [1, 1, 1]);
        let lift = at + Vec3::Z * (0.104 + 0.204 * f64::from(k));
        mesh.vertices.iter_mut().for_each(|p| *p = lift + turn * *p);
        s.add_rigid(named(&format!("crate {k}")), mesh, rigid());
    }
}

/// A body that tumbles at 30 rad/s from one wall to the other.
fn tumbling(s: &mut SceneBuilder, at: Vec3) {
    for (name, x) in [("left wall", -0.4), ("right wall", 0.4)] {
        let wall = lifted(shapes::cuboid([0.1, 2.0, 3.0], [1, 1, 1]), at + Vec3::X * x);
        s.add_collider(named(name), wall, Motion::Static);
    }
    let placement = Placement {
        velocity: Vec3::new(4.0, 0.0, 1.0),
        spin: Vec3::new(10.0, 25.0, -14.0),
        ..named("tumbler")
    };
    s.add_rigid(placement, lifted(shapes::cuboid([0.3, 0.1, 0.05], [1, 1, 1]), at), rigid());
}

/// Dice that fly over a tilted block of n by n by n cubes, in free fall like themselves.
fn skimming(s: &mut SceneBuilder, at: Vec3, (n, speed, over): (u32, f64, f64)) {
    let tilt = Mat3::from_quat(Quat::from_scaled_axis(Vec3::new(0.3, 0.5, 0.2)));
    let mut add = |name: String, edge: f64, place: Vec3, speed: f64| {
        let mut mesh = lifted(shapes::cuboid([edge; 3], [1; 3]), place);
        mesh.vertices.iter_mut().for_each(|p| *p = at + tilt * *p);
        s.add_rigid(Placement { velocity: tilt * Vec3::X * speed, ..named(&name) }, mesh, rigid());
    };
    for k in 0..n.pow(3) {
        let place = Vec3::new(f64::from(k % n), f64::from(k / n % n), -f64::from(k / n / n)) * 0.1022;
        add(format!("cube {k} of {n}"), 0.1, place, 0.0);
    }
    for k in 0..n {
        let place = Vec3::new(-0.1 + 0.017 * f64::from(k), 0.1 * f64::from(k), 0.07 + over);
        add(format!("die {k} over {n}"), 0.04, place, speed);
    }
}

/// More things than it takes to be a pile, with slow dice.
fn crowd(s: &mut SceneBuilder, at: Vec3) {
    skimming(s, at, (5, 2.0, 2.5e-3));
}

/// Dice that fly far in a step: their guess goes on for as many rounds as there are.
fn dart(s: &mut SceneBuilder, at: Vec3) {
    skimming(s, at, (4, 15.0, 5e-3));
}

/// A soft block that spins and falls on a wheel that turns, and a rope across.
fn wheel(s: &mut SceneBuilder, at: Vec3) {
    let center = at - Vec3::Z * 0.25;
    let spin = Vec3::new(0.0, 12.0, 0.0);
    let motion = Motion::Twist { center, spin, velocity: Vec3::ZERO, start: 0.0, stop: 10.0 };
    s.add_collider(named("wheel"), lifted(shapes::cuboid([0.3, 0.3, 0.3], [1, 1, 1]), center), motion);
    let mut block = shapes::tet_cuboid([0.1; 3], [2; 3]);
    block.vertices.iter_mut().for_each(|p| *p += at + Vec3::Z * 0.1);
    let placement = Placement { spin: Vec3::new(1.0, 2.0, 3.0), ..named("block") };
    s.add_soft(placement, block, SoftMaterial::default());
    let line = LineMesh {
        vertices: (0..=20)
            .map(|k| at + Vec3::new(0.0, 0.05 * f64::from(k) - 0.5, 0.02 + 0.001 * f64::from(k)))
            .collect(),
        lines: vec![(0..=20).collect()],
    };
    let pins = vec![Pin { vertices: vec![0], motion: Motion::Static, release: None }];
    s.add_rod(Placement { pins, ..named("rope") }, line, RodMaterial::default());
}

type Place = fn(&mut SceneBuilder, Vec3);

/// A scene of these parts at these places.
fn build(solver: &SolverSettings, parts: &[(Place, Vec3)]) -> Simulation {
    let mut s = SceneBuilder::new(solver.clone(), ContactSettings::default());
    parts.iter().for_each(|(part, at)| part(&mut s, *at));
    s.build().unwrap()
}

/// Every object of `alone` is where it is in `together`, to the bit.
fn compare(alone: &Simulation, together: &Simulation, what: &str) {
    for object in alone.objects() {
        let other = together.objects().iter().find(|o| o.name == object.name).expect("the same objects");
        let (a, b) = (&alone.state().x[object.range()], &together.state().x[other.range()]);
        let apart = a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(a == b, "{what}: {} is {apart} m off", object.name);
    }
}

/// Both trajectories must be those of each alone, whichever comes first in the order of points.
fn check(solver: &SolverSettings, one: (Place, Vec3), other: (Place, Vec3), steps: usize) {
    let mut alone = [build(solver, &[one]), build(solver, &[other])];
    let mut together = [build(solver, &[one, other]), build(solver, &[other, one])];
    for k in 0..steps {
        alone.iter_mut().chain(&mut together).for_each(|sim| drop(sim.step(STEP)));
        for (order, sim) in together.iter().enumerate() {
            alone.iter().for_each(|alone| compare(alone, sim, &format!("step {k}, order {order}")));
        }
        assert_eq!(together[0].judge().all_crossings(), Vec::<[u32; 2]>::new(), "step {k}");
    }
}

fn far() -> Vec3 {
    Vec3::new(100.0, 3.0, 0.3)
}

fn sweeps(iterations: u32) -> SolverSettings {
    SolverSettings { iterations, step: Some(STEP), ..SolverSettings::default() }
}

#[test]
fn a_stack_stands_as_it_does_without_a_body_that_tumbles_far_away() {
    check(&sweeps(10), (stack, Vec3::ZERO), (tumbling, far()), 120);
}

#[test]
fn plates_that_close_are_noticed_by_nothing_far_away() {
    check(&sweeps(10), (closing, Vec3::ZERO), (wheel, far()), 96);
    check(&sweeps(10), (closing, far()), (stack, Vec3::ZERO), 48);
}

/// A pile leaves what is missing of a guess to the sweeps, while the guess goes on elsewhere.
#[test]
fn a_crowd_goes_its_way_whatever_happens_far_away() {
    check(&sweeps(8), (crowd, Vec3::ZERO), (dart, far()), 10);
}

#[test]
fn nothing_is_noticed_at_one_sweep_a_step_and_with_acceleration() {
    check(&sweeps(1), (closing, Vec3::ZERO), (wheel, far()), 96);
    let fast = SolverSettings { chebyshev: 0.9, ..sweeps(15) };
    check(&fast, (closing, Vec3::ZERO), (wheel, far()), 24);
}

#[test]
fn nothing_is_noticed_with_a_coarse_correction() {
    let sheet: Place = |s, at| {
        let corners = vec![Pin { vertices: vec![0, 15], motion: Motion::Static, release: None }];
        let mesh = lifted(shapes::grid([0.3; 2], [15, 15]), at);
        s.add_cloth(Placement { pins: corners, ..named("hung") }, mesh, ClothMaterial::default());
    };
    let coarse = SolverSettings { coarse: true, ..sweeps(4) };
    check(&coarse, (sheet, Vec3::ZERO), (closing, far()), 24);
}

/// ```text
///   ●→ 20 m/s      ▒ sheet      ←● 20 m/s
/// ```
fn shot(threads: usize) -> Vec<Vec3> {
    let mut s = builder(8);
    s.gravity = Vec3::ZERO;
    let mut sheet = shapes::grid([0.6, 0.6], [12, 12]);
    sheet.vertices.iter_mut().for_each(|v| *v = Vec3::new(0.0, v.y, v.x));
    s.add_cloth(named("sheet"), sheet, ClothMaterial::default());
    for (name, sign) in [("from the left", -1.0), ("from the right", 1.0)] {
        let mut ball = shapes::tet_sphere(0.08, 0.04).unwrap();
        ball.vertices.iter_mut().for_each(|p| *p += Vec3::new(sign, 0.02 * sign, 0.0));
        let placement = Placement { velocity: Vec3::new(-20.0 * sign, 0.0, 0.0), ..named(name) };
        s.add_soft(placement, ball, SoftMaterial::default());
    }
    let mut sim = s.build().unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        for k in 0..40 {
            sim.step(STEP);
            let verdict = sim.judge();
            assert_eq!((verdict.crossings.len(), verdict.inverted.len()), (0, 0), "step {k}");
        }
    });
    sim.state().x.clone()
}

/// Three islands become one in flight, within a step of 8 cm, and stay free of crossings.
#[test]
fn islands_that_come_together_in_flight_pass_through_nothing() {
    let one = shot(1);
    assert!(one == shot(8), "threads change bits");
    // The balls have met the sheet between them and each other: neither came through to the other side.
    let mean = |r: std::ops::Range<usize>| r.clone().map(|v| one[v].x).sum::<f64>() / r.len() as f64;
    let sheet = 13 * 13;
    let half = (one.len() - sheet) / 2;
    assert!(mean(sheet..sheet + half) < mean(sheet + half..one.len()), "they went through each other");
}

/// Two scenes at once on one thread and on eight.
#[test]
fn islands_take_the_same_bits_on_any_number_of_threads() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut sim = build(&sweeps(6), &[(closing, Vec3::ZERO), (stack, far()), (wheel, -far())]);
        pool.install(|| (0..60).for_each(|_| drop(sim.step(STEP))));
        sim.state().clone()
    };
    assert!(run(1) == run(8), "threads change bits");
}
