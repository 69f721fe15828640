//! Rods against closed forms: cantilevers, hanging chains, twist; and against each other: nothing passes through.

use littoral_geom::math::{Quat, Vec3};
use littoral_geom::mesh::LineMesh;
use littoral_sim::motion::Motion;
use littoral_sim::scene::{Pin, Placement, RodMaterial, RodRest, SceneBuilder};
use littoral_sim::settings::{ContactSettings, SolverSettings};
use littoral_sim::simulation::Simulation;
use std::f64::consts::PI;

fn named(name: &str) -> Placement {
    Placement { name: name.into(), ..Placement::default() }
}

fn scene(iterations: u32) -> SceneBuilder {
    let solver = SolverSettings { iterations, step: Some(1.0 / 60.0), ..SolverSettings::default() };
    SceneBuilder::new(solver, ContactSettings::default())
}

fn held(vertices: &[u32]) -> Pin {
    Pin { vertices: vertices.to_vec(), motion: Motion::Static, release: None }
}

/// A line along x from 0 to `length`, with `before` segments more before 0.
fn line(length: f64, segments: u32, before: u32) -> LineMesh {
    let l = length / f64::from(segments);
    let vertices =
        (0..=segments + before).map(|k| Vec3::X * l * (f64::from(k) - f64::from(before))).collect();
    LineMesh { vertices, lines: vec![(0..=segments + before).collect()] }
}

/// Steps of `h` until nothing moves faster than `speed`, or for `most` of them.
fn settle(sim: &mut Simulation, h: f64, speed: f64, most: u32) {
    for _ in 0..most {
        sim.step(h);
        if sim.state().v.iter().all(|v| v.length() < speed) {
            return;
        }
    }
    panic!("still moves at {:?} m/s", sim.state().v.iter().map(|v| v.length()).fold(0.0, f64::max));
}

/// Drop over reach of a clamped rod of length 1 under its own weight, Γ = ρAgL³/EI, with a share of a bar's EI.
fn cantilever(gamma: f64, segments: u32, flexural: f64) -> f64 {
    let radius = 2e-3;
    let area = PI * radius * radius;
    let density = 1000.0;
    let bending = density * area * 9.81 / gamma;
    let young = bending / (0.25 * flexural * area * radius * radius);
    let mut s = scene(20);
    let material = RodMaterial { radius, density, young, flexural, damping: 0.0, ..RodMaterial::default() };
    let placement = Placement { pins: vec![held(&[0, 1])], ..named("rod") };
    s.add_rod(placement, line(1.0, segments, 1), material);
    let mut sim = s.build().unwrap();
    // Long steps of implicit Euler damp on their own.
    settle(&mut sim, 0.2, 1e-7, 2000);
    let tip = sim.state().x[segments as usize + 1];
    -tip.z / tip.x
}

#[test]
fn a_cantilever_drops_as_far_as_its_weight_says() {
    // Drop over reach for Γ, from the elastica.
    for (gamma, exact) in [(0.1, 0.0125), (1.0, 0.1246), (5.0, 0.5857), (20.0, 1.864), (100.0, 5.888)] {
        let found = cantilever(gamma, 100, 1.0);
        println!("gamma {gamma}: {found} against {exact}: {:+.3} %", 100.0 * (found / exact - 1.0));
        assert!((found / exact - 1.0).abs() < 0.02, "Γ = {gamma}: {found} against {exact}");
    }
}

/// A rope of a hundred yarns that slide has a hundredth of a bar's EI, and hangs as a bar of that EI does.
#[test]
fn a_rope_bends_by_its_own_share_of_a_bars_stiffness() {
    let found = cantilever(5.0, 100, 0.01);
    assert!((found / 0.5857 - 1.0).abs() < 0.02, "{found} against 0.5857");
}

#[test]
fn a_load_at_the_end_bends_as_the_elastica_says() {
    // The load is a line of fifty lengths of the same rod that hangs from the tip as from a ball joint: P = 50 ρAgL. The rod's
    // own weight adds a fiftieth of it, spread: 3/8 of that at the tip.
    let (radius, n, young) = (2e-3, 100, 1e6);
    let area = PI * radius * radius;
    let bending = 0.25 * young * area * radius * radius;
    for (load, u, w) in
        [(1.0, 0.0564, 0.3017), (2.0, 0.1606, 0.4935), (4.0, 0.3289, 0.6700), (10.0, 0.5550, 0.8106)]
    {
        let hung = 50.0;
        let density = load * bending / (hung + 0.375) / (area * 9.81);
        let mut mesh = line(1.0, n, 1);
        let tip = n + 1;
        let end = mesh.vertices[tip as usize];
        mesh.vertices.push(end - 0.5 * hung * Vec3::Z);
        mesh.vertices.push(end - hung * Vec3::Z);
        mesh.lines.push(vec![tip, tip + 1, tip + 2]);
        let mut s = scene(20);
        let material = RodMaterial { radius, density, young, damping: 0.0, ..RodMaterial::default() };
        s.add_rod(Placement { pins: vec![held(&[0, 1])], ..named("rod") }, mesh, material);
        let mut sim = s.build().unwrap();
        // The load is a pendulum of many seconds: longer steps still it.
        settle(&mut sim, 0.5, 1e-6, 8000);
        let x = sim.state().x[tip as usize];
        let (u, w) = ((1.0 - x.x) / u - 1.0, -x.z / w - 1.0);
        println!("load {load}: u {:+.3} %, w {:+.3} %", 100.0 * u, 100.0 * w);
        assert!(u.abs() < 0.02 && w.abs() < 0.02, "{load}: {x}");
    }
}

#[test]
fn a_hanging_chain_is_a_catenary() {
    let n = 100;
    // An arc of chord 1 and length 1.2: angle 2a with a / sin a = 1.2.
    let (mut low, mut high) = (0.1_f64, 3.0);
    for _ in 0..60 {
        let a = 0.5 * (low + high);
        if a / a.sin() > 1.2 { high = a } else { low = a }
    }
    let r = 0.5 / low.sin();
    let at = |k: u32| -low + 2.0 * low * f64::from(k) / f64::from(n);
    let vertices = (0..=n).map(|k| Vec3::new(r * at(k).sin(), 0.0, -r * at(k).cos())).collect();
    let mesh = LineMesh { vertices, lines: vec![(0..=n).collect()] };
    let material = RodMaterial { radius: 5e-4, young: 1e8, damping: 0.0, ..RodMaterial::default() };
    let weight = material.density * PI * material.radius.powi(2) * 9.81 * 1.2;
    let mut s = scene(10);
    s.add_rod(Placement { pins: vec![held(&[0]), held(&[n])], ..named("chain") }, mesh, material);
    let mut sim = s.build().unwrap();
    settle(&mut sim, 0.1, 1e-9, 8000);
    let chain = sim.objects()[0].clone();
    use littoral_sim::measure::{Measure, measure};
    let sag = measure(&sim, &chain, Measure::Sag);
    let tension = measure(&sim, &chain, Measure::Tension) / weight;
    println!("sag {sag} tension {tension} length {}", measure(&sim, &chain, Measure::Length));
    // Closed form of the catenary; the bending stiffness adds some 1e-4.
    assert!((sag / 0.2923 - 1.0).abs() < 0.005, "sag {sag}");
    // At the support, in weights of a metre; the last segment's own weight is below its middle.
    assert!((1.2 * tension / 0.7619 - 1.0).abs() < 0.015, "tension {tension} of the weight");
}

#[test]
fn a_turned_clamp_twists_the_rod_evenly() {
    let n = 50;
    let material = RodMaterial { radius: 5e-3, young: 1e7, damping: 0.0, ..RodMaterial::default() };
    let mut s = scene(5);
    s.gravity = Vec3::ZERO;
    let turn = 1.0;
    let spin = Motion::Twist {
        center: Vec3::ZERO,
        spin: Vec3::X * turn,
        velocity: Vec3::ZERO,
        start: 0.0,
        stop: 1.0,
    };
    let pins = vec![held(&[0, 1]), Pin { vertices: vec![n, n + 1], motion: spin, release: None }];
    s.add_rod(Placement { pins, ..named("rod") }, line(1.0, n + 1, 0), material);
    let mut sim = s.build().unwrap();
    for _ in 0..80 {
        sim.step(1.0 / 60.0);
    }
    // ½ GJ φ²/L over what is free between the clamps.
    let gj = 0.5 * (1e7 / 3.0) * PI * 5e-3_f64.powi(4);
    let length = f64::from(n - 1) / f64::from(n + 1);
    let exact = 0.5 * gj * turn * turn / length;
    let found = sim.rods().unwrap().energy(&sim.state().x, &sim.state().memory);
    // The sine of an angle of 1/50 at each joint.
    assert!((found / exact - 1.0).abs() < 1e-3, "{found} against {exact}");
}

#[test]
fn a_curved_rod_keeps_the_shape_it_was_given_and_a_straight_one_springs_open() {
    let n = 40;
    let arc = |k: u32| {
        let a = 1.5 * PI * f64::from(k) / f64::from(n);
        0.2 * Vec3::new(a.cos(), a.sin(), 0.1 * a)
    };
    let mesh = LineMesh { vertices: (0..=n).map(arc).collect(), lines: vec![(0..=n).collect()] };
    let width = |rest: RodRest| {
        let mut s = scene(5);
        s.gravity = Vec3::ZERO;
        s.add_rod(named("rod"), mesh.clone(), RodMaterial { rest, ..RodMaterial::default() });
        let mut sim = s.build().unwrap();
        for _ in 0..800 {
            sim.step(0.02);
        }
        let x = &sim.state().x;
        x[0].distance(x[n as usize])
    };
    let given = arc(0).distance(arc(n));
    // Rounding of forces of a rod of 10 MPa.
    assert!((width(RodRest::AsGiven) - given).abs() < 1e-9);
    let length: f64 = (0..n).map(|k| arc(k).distance(arc(k + 1))).sum();
    let straight = width(RodRest::Straight);
    assert!((straight / length - 1.0).abs() < 1e-3, "{straight} of {length}");
}

/// A rod thrown at another at `speed` [m/s]; the number of passages.
fn thrown(speed: f64, iterations: u32, closed: bool) -> u32 {
    let mut s = scene(iterations);
    let material = RodMaterial { radius: 4e-3, ..RodMaterial::default() };
    let ends = Placement { pins: vec![held(&[0]), held(&[40])], ..named("held") };
    let mut fixed = line(1.0, 40, 0);
    fixed.vertices.iter_mut().for_each(|p| p.x -= 0.5);
    s.add_rod(ends, fixed, material);
    let n = 24;
    let shape = |k: u32| match closed {
        true => {
            let a = 2.0 * PI * f64::from(k) / f64::from(n);
            0.1 * Vec3::new(a.cos(), a.sin(), 0.0) + Vec3::Z * 0.1
        }
        false => Vec3::new(0.013, (f64::from(k) / f64::from(n) - 0.47) * 0.6, 0.05),
    };
    let mut lines: Vec<u32> = (0..n + u32::from(!closed)).collect();
    if closed {
        lines.push(0);
    }
    let count = n + u32::from(!closed);
    let mesh = LineMesh { vertices: (0..count).map(shape).collect(), lines: vec![lines] };
    let velocity = Vec3::new(0.0, 0.0, -speed);
    s.add_rod(Placement { velocity, ..named("thrown") }, mesh, material);
    let mut sim = s.build().unwrap();
    let mut passed = 0;
    let mut contacts = 0;
    for _ in 0..60 {
        let report = sim.step(1.0 / 240.0);
        let rods = report.rods.unwrap();
        passed += rods.passed;
        contacts += report.contacts;
        assert!(sim.state().x.iter().all(|x| x.is_finite()));
    }
    assert!(contacts > 0, "they never came near each other");
    passed
}

#[test]
fn rods_do_not_pass_through_each_other() {
    for speed in [1.0, 10.0, 100.0] {
        for iterations in [1, 5, 20] {
            for closed in [false, true] {
                assert_eq!(thrown(speed, iterations, closed), 0, "{speed} m/s, {iterations} iterations");
            }
        }
    }
}

#[test]
fn without_truncation_the_referee_sees_rods_pass() {
    let mut s = scene(1);
    s.solver.truncation = littoral_sim::settings::Truncation::None;
    let material = RodMaterial { radius: 1e-4, ..RodMaterial::default() };
    let mut low = line(1.0, 10, 0);
    low.vertices.iter_mut().for_each(|p| *p = Quat::from_rotation_z(1.0) * (*p - 0.5 * Vec3::X));
    s.add_rod(Placement { pins: vec![held(&[0]), held(&[10])], ..named("low") }, low, material);
    let mut high = line(1.0, 10, 0);
    high.vertices.iter_mut().for_each(|p| *p += 0.1 * Vec3::Z - 0.53 * Vec3::X);
    s.add_rod(Placement { velocity: -20.0 * Vec3::Z, ..named("high") }, high, material);
    let mut sim = s.build().unwrap();
    let passed: u32 = (0..10).map(|_| sim.step(1.0 / 240.0).rods.unwrap().passed).sum();
    assert!(passed > 0);
}

#[test]
fn a_run_that_is_taken_up_again_gives_the_same_bits() {
    let build = || {
        let mut s = scene(4);
        let pins = vec![held(&[0, 1])];
        s.add_rod(Placement { pins, ..named("rod") }, line(0.5, 20, 0), RodMaterial::default());
        s.build().unwrap()
    };
    let (mut whole, mut half) = (build(), build());
    for _ in 0..20 {
        whole.step(0.01);
    }
    for _ in 0..11 {
        half.step(0.01);
    }
    let mut rest = build();
    rest.restore(half.state().clone());
    for _ in 0..9 {
        rest.step(0.01);
    }
    assert_eq!(whole.state(), rest.state());
}

/// Height at which a rod comes to rest on a plate whose offset is `plate` [m].
fn resting_height(plate: Option<f64>) -> f64 {
    let mut s = scene(20);
    let material = RodMaterial { radius: 6e-3, ..RodMaterial::default() };
    let mut mesh = line(0.3, 15, 0);
    mesh.vertices.iter_mut().for_each(|p| *p += Vec3::new(-0.15, 0.01, 0.03));
    s.add_rod(named("rod"), mesh, material);
    let ground = littoral_geom::shapes::grid([1.0, 1.0], [3, 3]);
    s.add_collider(Placement { offset: plate, ..named("ground") }, ground, Motion::Static);
    let mut sim = s.build().unwrap();
    settle(&mut sim, 1.0 / 120.0, 1e-5, 600);
    sim.state().x[..16].iter().map(|x| x.z).sum::<f64>() / 16.0
}

#[test]
fn contact_begins_at_the_sum_of_both_offsets() {
    // A rod of 6 mm on a plate that stands proud by half the scene's radius of 2 mm, by nothing, and by 4 mm. Contact yields
    // to a weight by m g/k with k of at least four m/h²: a quarter of g h², 0.17 mm.
    for (plate, exact) in [(None, 7e-3), (Some(0.0), 6e-3), (Some(4e-3), 10e-3)] {
        let found = resting_height(plate);
        assert!(found < exact && exact - found < 0.25 * 9.81 / 120.0_f64.powi(2), "{found} against {exact}");
    }
}

#[test]
fn a_pulled_knot_keeps_its_strands_in_order() {
    // A closed trefoil that shrinks by its own stretch: its writhe stays that of a trefoil of the same hand.
    let mesh = littoral_geom::shapes::trefoil(0.3, 120);
    let hand = littoral_geom::shapes::writhe(&mesh.vertices, true).signum();
    for iterations in [1, 5] {
        let mut s = scene(iterations);
        s.gravity = Vec3::ZERO;
        let material = RodMaterial { radius: 5e-3, ..RodMaterial::default() };
        s.add_rod(Placement { spin: 3.0 * Vec3::Z, ..named("knot") }, mesh.clone(), material);
        let mut sim = s.build().unwrap();
        let passed: u32 = (0..120).map(|_| sim.step(1.0 / 60.0).rods.unwrap().passed).sum();
        let writhe = littoral_geom::shapes::writhe(&sim.state().x, true);
        assert_eq!(passed, 0);
        // Three crossings of one sign from most directions, whatever its shape.
        assert!(writhe * hand > 2.0, "{writhe}");
    }
}
