//! Joints of rigid bodies against closed forms: periods, torques, limits, weights, momentum; and a resumed run.

use littoral_geom::math::Vec3;
use littoral_geom::mesh::TriMesh;
use littoral_geom::shapes;
use littoral_sim::joint::{JointKind, Motor};
use littoral_sim::measure::{Axis, Measure, measure};
use littoral_sim::motion::Motion;
use littoral_sim::scene::{
    AttachTo, Attachment, ClothMaterial, JointSpec, Pin, Placement, RigidMaterial, SceneBuilder,
};
use littoral_sim::settings::{ContactSettings, SolverSettings};
use littoral_sim::simulation::Simulation;
use std::f64::consts::{PI, TAU};

const STEP: f64 = 1.0 / 480.0;
const G: f64 = 9.81;

fn scene(gravity: f64) -> SceneBuilder {
    let solver = SolverSettings { step: Some(STEP), iterations: 10, ..SolverSettings::default() };
    let mut scene = SceneBuilder::new(solver, ContactSettings::default());
    scene.gravity = Vec3::new(0.0, 0.0, -gravity);
    scene
}

fn named(name: &str) -> Placement {
    Placement { name: name.into(), ..Placement::default() }
}

fn block(size: [f64; 3], center: Vec3) -> TriMesh {
    let mut mesh = shapes::cuboid(size, [1; 3]);
    mesh.vertices.iter_mut().for_each(|p| *p += center);
    mesh
}

const MATERIAL: RigidMaterial = RigidMaterial { density: 1000.0, shell: None };

fn joint(first: &str, second: Option<&str>, at: Vec3, kind: JointKind) -> JointSpec {
    let objects = (first.to_owned(), second.map(str::to_owned));
    JointSpec { objects, at, to: at, kind, length: None }
}

fn hinge(axis: Vec3, limits: [f64; 2], motor: Option<Motor>) -> JointKind {
    JointKind::Hinge { axis, limits, motor }
}

const ENDLESS: [f64; 2] = [-1e9, 1e9];

fn run(sim: &mut Simulation, seconds: f64) {
    for _ in 0..(seconds / STEP).round() as usize {
        sim.step(STEP);
    }
    let verdict = sim.judge();
    assert!(verdict.crossings.is_empty() && verdict.non_finite == 0);
}

fn of(sim: &Simulation, object: usize, what: Measure) -> f64 {
    measure(sim, &sim.objects()[object], what)
}

fn center(sim: &Simulation, object: usize) -> Vec3 {
    let c = |axis| of(sim, object, Measure::Center(axis));
    Vec3::new(c(Axis::X), c(Axis::Y), c(Axis::Z))
}

/// A bar of length L hinged at its end: T = 2π √(2L/3g) for small swings.
#[test]
fn a_hinged_bar_swings_with_the_period_of_a_physical_pendulum() {
    let length = 0.6;
    let mut scene = scene(G);
    // Hanging along −z, released at rest from a small angle by leaning the gravity instead.
    let lean = 0.05_f64;
    scene.gravity = G * Vec3::new(lean.sin(), 0.0, -lean.cos());
    scene.add_rigid(named("bar"), block([0.02, 0.02, length], Vec3::new(0.0, 0.0, -0.5 * length)), MATERIAL);
    scene.joints.push(joint("bar", None, Vec3::ZERO, hinge(Vec3::Y, ENDLESS, None)));
    let mut sim = scene.build().expect("a valid scene");
    // It swings from the vertical over the lean and back: nearest to the start again after a period.
    let (mut before, mut last) = (0.0, 0.0);
    let found = loop {
        sim.step(STEP);
        let x = center(&sim, 0).x;
        let time = sim.state().time;
        if time > 0.5 && last < before && last < x {
            // The lowest point of the parabola through the last three.
            break time - STEP + 0.5 * STEP * (before - x) / (before - 2.0 * last + x);
        }
        (before, last) = (last, x);
        assert!(time < 3.0, "it does not swing");
    };
    // The section of 2 cm adds 1 + (0.02/0.6)² ≈ 1.001 to the inertia; amplitude 0.05 rad adds 1.5e-4.
    let expected = TAU * (2.0 * length / (3.0 * G)).sqrt();
    println!("period {found:.4} s against {expected:.4} s, gap {:.2e} m", of(&sim, 0, Measure::JointGap));
    // Implicit Euler lengthens it by (hω)²/3 and damps: far below half a per cent.
    assert!((found / expected - 1.0).abs() < 5e-3, "{found} s against {expected} s");
    assert!(of(&sim, 0, Measure::JointGap) < 1e-5);
}

/// A motor with torque τ brings a disc to its speed in I ω/τ.
#[test]
fn a_motor_accelerates_with_its_torque_and_then_keeps_its_speed() {
    let (speed, torque) = (20.0, 0.05);
    let mut scene = scene(0.0);
    let size = [0.2, 0.2, 0.05];
    scene.add_rigid(named("wheel"), block(size, Vec3::ZERO), MATERIAL);
    let motor = Some(Motor { speed, torque });
    scene.joints.push(joint("wheel", None, Vec3::ZERO, hinge(Vec3::Z, ENDLESS, motor)));
    let mut sim = scene.build().expect("a valid scene");
    let inertia = 2.0 * (0.2_f64.powi(2) + 0.2_f64.powi(2)) / 12.0;
    let corner = 0.5 * (0.2_f64.powi(2) + 0.2_f64.powi(2)).sqrt();
    let rate = |sim: &Simulation| of(sim, 0, Measure::MaxSpeed) / corner;
    let time = 0.5 * inertia * speed / torque;
    run(&mut sim, time);
    let expected = torque * sim.state().time / inertia;
    println!("rate {:.4} rad/s against {expected:.4}", rate(&sim));
    // A step's gain is 0.6 % of it; the rest is rounding.
    assert!((rate(&sim) / expected - 1.0).abs() < 0.01);
    run(&mut sim, time + 0.5);
    println!("rate {:.4} rad/s against {speed}", rate(&sim));
    assert!((rate(&sim) / speed - 1.0).abs() < 1e-3);
}

/// A flap falls about its hinge until its limit, and rests there.
#[test]
fn a_limit_stops_a_hinge_at_its_angle() {
    let mut scene = scene(G);
    scene.add_rigid(named("flap"), block([0.3, 0.2, 0.02], Vec3::new(0.15, 0.0, 0.0)), MATERIAL);
    let limit = PI / 3.0;
    // About y a positive turn lowers +x.
    scene.joints.push(joint("flap", None, Vec3::ZERO, hinge(Vec3::Y, [-limit, limit], None)));
    let mut sim = scene.build().expect("a valid scene");
    run(&mut sim, 2.0);
    let c = center(&sim, 0);
    let angle = (-c.z).atan2(c.x);
    println!("angle {angle:.5} rad against {limit:.5}, speed {:.2e}", of(&sim, 0, Measure::MaxSpeed));
    // A hundredth of a degree.
    assert!((angle - limit).abs() < 2e-4, "{angle}");
    assert!(of(&sim, 0, Measure::MaxSpeed) < 1e-3);
}

/// Ten cubes hang from one another by ball joints, a heavy one at the end.
#[test]
fn a_hanging_chain_holds_its_weight_without_a_gap() {
    let mut scene = scene(G);
    for k in 0..10 {
        let at = Vec3::new(0.0, 0.0, -0.06 * f64::from(k) - 0.03);
        let density = if k == 9 { 1e5 } else { 1000.0 };
        let material = RigidMaterial { density, shell: None };
        scene.add_rigid(named(&format!("cube{k}")), block([0.05; 3], at), material);
        let above = (k > 0).then(|| format!("cube{}", k - 1));
        let at = Vec3::new(0.0, 0.0, -0.06 * f64::from(k));
        scene.joints.push(joint(&format!("cube{k}"), above.as_deref(), at, JointKind::Ball));
    }
    let mut sim = scene.build().expect("a valid scene");
    run(&mut sim, 1.0);
    let worst = (0..10).map(|k| of(&sim, k, Measure::JointGap)).fold(0.0, f64::max);
    let sunk = center(&sim, 9).z + 0.57;
    println!("largest gap {worst:.2e} m, sunk by {sunk:.2e} m");
    // A weight of 12.5 kg under links of 0.125 kg: a tenth of a millimetre over 0.6 m.
    assert!(worst < 2e-5 && sunk.abs() < 1e-4, "{worst} {sunk}");
}

/// Two blocks on a spring: 2π √(m/2k).
#[test]
fn a_spring_joint_has_the_period_of_the_reduced_mass() {
    let mut scene = scene(0.0);
    for (name, x) in [("left", -0.15), ("right", 0.15)] {
        scene.add_rigid(named(name), block([0.1; 3], Vec3::new(x, 0.0, 0.0)), MATERIAL);
    }
    let stiffness = 80.0;
    let kind = JointKind::Spring { length: 0.0, stiffness, damping: 0.0 };
    let objects = ("left".to_owned(), Some("right".to_owned()));
    let (at, to) = (Vec3::new(-0.15, 0.0, 0.0), Vec3::new(0.15, 0.0, 0.0));
    scene.joints.push(JointSpec { objects, at, to, kind, length: Some(0.28) });
    let mut sim = scene.build().expect("a valid scene");
    let expected = TAU * (1.0_f64 / (2.0 * stiffness)).sqrt();
    let mut before = center(&sim, 1).x;
    let found = loop {
        sim.step(STEP);
        let x = center(&sim, 1).x;
        if x > before {
            break 2.0 * (sim.state().time - STEP);
        }
        before = x;
        assert!(sim.state().time < expected, "it does not turn");
    };
    println!("period {found:.4} s against {expected:.4} s");
    assert!((found - expected).abs() < 4.0 * STEP);
    let drift = center(&sim, 0) + center(&sim, 1);
    // Equal and opposite forces, solved to rounding.
    assert!(drift.length() < 1e-12, "{drift}");
}

/// Two cubes fixed to each other tumble as one: their distance and their momentum stay.
#[test]
fn a_fixed_pair_tumbles_as_one_body() {
    let mut scene = scene(0.0);
    let spin = Vec3::new(1.0, 2.0, 3.0);
    for (name, x) in [("left", -0.06), ("right", 0.06)] {
        let place = Vec3::new(x, 0.0, 0.0);
        let placement = Placement { velocity: spin.cross(place), spin, ..named(name) };
        scene.add_rigid(placement, block([0.1; 3], place), MATERIAL);
    }
    scene.joints.push(joint("left", Some("right"), Vec3::ZERO, JointKind::Fixed));
    let mut sim = scene.build().expect("a valid scene");
    run(&mut sim, 2.0);
    let (a, b) = (center(&sim, 0), center(&sim, 1));
    let gap = of(&sim, 0, Measure::JointGap);
    println!("distance {:.6} m, gap {gap:.2e} m, drift {:.1e} m", a.distance(b), (a + b).length());
    assert!((a.distance(b) - 0.12).abs() < 1e-5 && gap < 1e-5);
    assert!((a + b).length() < 1e-9);
}

/// A rope holds when it is taut and not before.
#[test]
fn a_rope_catches_what_falls_at_its_length() {
    let mut scene = scene(G);
    scene.add_rigid(named("weight"), block([0.1; 3], Vec3::ZERO), MATERIAL);
    let kind = JointKind::Distance { length: 0.0, slack: true };
    let objects = ("weight".to_owned(), None);
    let to = Vec3::new(0.0, 0.0, 0.2);
    scene.joints.push(JointSpec { objects, at: Vec3::ZERO, to, kind, length: Some(0.4) });
    let mut sim = scene.build().expect("a valid scene");
    run(&mut sim, 0.15);
    let fallen = -center(&sim, 0).z;
    // Implicit Euler falls ½g(t² + ht).
    let t = sim.state().time;
    assert!((fallen - 0.5 * G * (t * t + STEP * t)).abs() < 1e-9, "{fallen}");
    run(&mut sim, 2.0);
    let hangs = center(&sim, 0).z;
    println!("hangs at {hangs:.6} m");
    assert!((hangs + 0.2).abs() < 1e-4, "{hangs}");
}

/// A block fixed to a collider that turns and rises goes with it.
#[test]
fn a_body_fixed_to_a_moving_collider_goes_with_it() {
    let mut scene = scene(G);
    scene.add_rigid(named("block"), block([0.1; 3], Vec3::new(0.2, 0.0, 0.0)), MATERIAL);
    let motion = Motion::Twist {
        center: Vec3::ZERO,
        spin: Vec3::new(0.0, 0.0, 2.0),
        velocity: Vec3::new(0.0, 0.0, 0.3),
        start: 0.0,
        stop: f64::INFINITY,
    };
    scene.add_collider(named("hub"), block([0.1; 3], Vec3::ZERO), motion.clone());
    scene.joints.push(joint("block", Some("hub"), Vec3::new(0.1, 0.0, 0.0), JointKind::Fixed));
    let mut sim = scene.build().expect("a valid scene");
    run(&mut sim, 1.0);
    let there = motion.position(sim.state().time, 0, Vec3::new(0.2, 0.0, 0.0));
    let off = center(&sim, 0).distance(there);
    println!("off by {off:.2e} m, gap {:.2e} m", of(&sim, 0, Measure::JointGap));
    // The forces of the steady turn are found once; what is left is how they change in a step.
    assert!(off < 1e-5 && of(&sim, 0, Measure::JointGap) < 1e-5, "{off}");
}

/// A block hangs by springs from a strip of cloth: Σ k (l − l̄) is its weight, and the pinned rim bears both.
#[test]
fn a_block_tied_to_cloth_hangs_by_its_weight() {
    let mut scene = scene(G);
    let mut strip = shapes::grid([0.1, 0.1], [4, 4]);
    strip.vertices.iter_mut().for_each(|p| *p = Vec3::new(p.x, 0.0, p.y + 0.05));
    let at = |strip: &TriMesh, z: f64| {
        let near = |v: &u32| (strip.vertices[*v as usize].z - z).abs() < 1e-9;
        (0..25).filter(near).collect::<Vec<u32>>()
    };
    let (top, rim) = (at(&strip, 0.1), at(&strip, 0.0));
    let pins = vec![Pin { vertices: top, motion: Motion::Static, release: None }];
    let material = ClothMaterial { damping: 1e-2, ..ClothMaterial::default() };
    scene.add_cloth(Placement { pins, ..named("strip") }, strip, material);
    let size = [0.1, 0.1, 0.02];
    scene.add_rigid(named("block"), block(size, Vec3::new(0.0, 0.0, -0.02)), MATERIAL);
    let stiffness = 200.0;
    scene.attachments = vec![Attachment {
        objects: ["strip".into(), "block".into()],
        from: Some(rim.clone()),
        to: AttachTo::Surface,
        stiffness: Some(stiffness),
        damping: 0.05,
        ..Attachment::default()
    }];
    let mut sim = scene.build().expect("a valid scene");
    run(&mut sim, 3.0);
    let x = &sim.state().x;
    // The block stays level: the springs hang to its upper face.
    let face = x[25..].iter().map(|p| p.z).fold(f64::NEG_INFINITY, f64::max);
    let pull: f64 = rim.iter().map(|&v| stiffness * (x[v as usize].z - face - 0.01)).sum();
    let weight = G * 1000.0 * size.iter().product::<f64>();
    println!("pull {pull:.4} N against {weight:.4} N");
    // Tilts and sideways pulls are of second order; a per cent is for what is left of the swing.
    assert!((pull / weight - 1.0).abs() < 0.01, "{pull} N against {weight} N");
}

#[test]
fn joints_are_remembered_by_a_resumed_run_to_the_bit() {
    let make = || {
        let mut scene = scene(G);
        scene.add_rigid(named("a"), block([0.3, 0.05, 0.05], Vec3::new(0.16, 0.0, 0.0)), MATERIAL);
        scene.add_rigid(named("b"), block([0.3, 0.05, 0.05], Vec3::new(0.48, 0.0, 0.0)), MATERIAL);
        let motor = Some(Motor { speed: 3.0, torque: 0.5 });
        scene.joints.push(joint("a", None, Vec3::ZERO, hinge(Vec3::Y, [-1.0, 2.0], motor)));
        scene.joints.push(joint("b", Some("a"), Vec3::new(0.32, 0.0, 0.0), JointKind::Ball));
        scene.build().expect("a valid scene")
    };
    let mut whole = make();
    run(&mut whole, 0.3);
    let kept = whole.state().clone();
    run(&mut whole, 0.3);
    let mut resumed = make();
    resumed.restore(kept);
    run(&mut resumed, 0.3);
    assert_eq!(whole.state(), resumed.state());
}

#[test]
fn joints_that_cannot_be_made_say_why() {
    let refused = |spec: JointSpec| {
        let mut scene = scene(G);
        scene.add_rigid(named("a"), block([0.1; 3], Vec3::ZERO), MATERIAL);
        scene.joints.push(spec);
        scene.build().expect_err("an error").to_string()
    };
    assert!(refused(joint("a", Some("c"), Vec3::ZERO, JointKind::Ball)).contains("no object \"c\""));
    assert!(refused(joint("a", Some("a"), Vec3::ZERO, JointKind::Ball)).contains("to itself"));
    let crooked = hinge(Vec3::ZERO, ENDLESS, None);
    assert!(refused(joint("a", None, Vec3::ZERO, crooked)).contains("axis must have a length"));
    let rod = JointKind::Distance { length: 0.0, slack: false };
    assert!(refused(joint("a", None, Vec3::ZERO, rod)).contains("length [m] must be positive"));
}
