//! Water with solids: weights, levels, leaks, and the same bits whatever the threads.

mod common;
#[path = "common/steps.rs"]
mod steps;

use common::{block, liquid, named, tank};
use littoral_geom::math::{Aabb, Vec3};
use littoral_geom::mesh::{enclosed_volume, triangle_area};
use littoral_geom::shapes;
use littoral_sim::motion::Motion;
use littoral_sim::scene::{ClothMaterial, Emitter, Liquid, Pin, Placement, RigidMaterial, SoftMaterial};
use littoral_sim::settings::Truncation;
use littoral_sim::simulation::Simulation;
use steps::{advance, scene};

const G: f64 = 9.81;

fn speeds(sim: &Simulation) -> (f64, f64) {
    let v = &sim.state().v[sim.particles()];
    let mean = v.iter().map(|v| v.length()).sum::<f64>() / v.len() as f64;
    (mean, v.iter().map(|v| v.length()).fold(0.0, f64::max))
}

/// A cube of eight spacings in a tank that it fills.
fn column() -> (Simulation, f64) {
    let (n, dx) = (8, 0.05);
    let l = n as f64 * dx;
    let mut s = scene();
    s.add_collider(named("tank"), tank([l, l, 1.2], true), Motion::Static);
    s.add_liquid(liquid(dx, block([n, n, n], dx)));
    (s.build().unwrap(), l)
}

#[test]
fn a_column_weighs_what_it_weighs_and_comes_to_rest() {
    let (mut sim, l) = column();
    let (mut force, mut compression, mut steps) = (Vec3::ZERO, 0.0, 0.0);
    advance(&mut sim, 3.0, |_, report| {
        if report.time > 2.0 {
            force += report.fluid_forces[0];
            compression += report.fluid.unwrap().compression_mean;
            steps += 1.0;
        }
    });
    // By 1 % at the bottom, so by half of that in the mean; a tenth of it, for disorder. More than half of the water is at walls.
    let mean = compression / steps;
    assert!((mean / 5e-3 - 1.0).abs() < 0.1, "pressed together by {mean}");
    let weight = 1000.0 * l.powi(3) * G;
    let found = -force.z / steps;
    assert!((found / weight - 1.0).abs() < 5e-3, "{found} N for {weight} N");
    assert!(force.truncate().length() / steps < 5e-3 * weight, "sideways {force}");
    let (mean, largest) = speeds(&sim);
    // Of √(g l) = 2 m/s.
    assert!(mean < 0.02 && largest < 0.1, "{mean} {largest}");
}

/// Open defect: a settled heap of particles packs closer than the lattice that reads J = 1, by some 0.9 %, and its own
/// weight compresses it by 0.5 %.
#[test]
#[should_panic(expected = "the centre stands at")]
fn a_settled_column_keeps_its_level() {
    let (mut sim, l) = column();
    advance(&mut sim, 2.5, |_, _| {});
    let z: f64 = sim.state().x[sim.particles()].iter().map(|p| p.z).sum();
    let center = z / sim.particles().len() as f64;
    assert!((center / (0.5 * l) - 1.0).abs() < 0.01, "the centre stands at {center} of {}", 0.5 * l);
}

/// The field of pressure at the moment the gate is gone is a sum of harmonics; the face at height z starts with
/// a = (4g/π) artanh e^{−πz/2a} for a tall column.
///
/// ```text
///  |oooo          |
///  |oooo →        |   a wide, 2a high
///  |oooo  →→      |
///  +--------------+
/// ```
#[test]
fn a_dam_breaks_as_potential_flow_says() {
    let (n, a) = (14, 0.5);
    let dx = a / n as f64;
    let mut s = scene();
    s.add_collider(named("tank"), tank([2.0, 4.0 * dx, 1.5], true), Motion::Static);
    s.add_liquid(liquid(dx, block([n, 4, 2 * n], dx)));
    let mut sim = s.build().unwrap();
    let first = sim.particles().start;
    let face: Vec<usize> = (0..n * 4 * 2 * n).filter(|i| i % n == n - 1).collect();
    let start: Vec<Vec3> = face.iter().map(|i| sim.state().x[first + i]).collect();
    advance(&mut sim, 0.04, |_, _| {});
    let time = sim.state().time;
    let (mut found, mut expected) = (0.0, 0.0);
    for (i, p) in face.iter().zip(&start).filter(|(_, p)| p.z < a) {
        found += sim.state().v[first + i].x / time;
        expected += 4.0 * G / std::f64::consts::PI * (-std::f64::consts::PI * p.z / (2.0 * a)).exp().atanh();
    }
    // The summed acceleration of the lower half of the face; a spacing is 7 % of its width.
    assert!((found / expected - 1.0).abs() < 0.1, "{found} for {expected}");
}

#[test]
fn a_ball_of_half_the_density_floats_half_immersed() {
    let dx = 0.05;
    let l = 16.0 * dx;
    let mut s = scene();
    s.add_collider(named("tank"), tank([l, l, 1.2], true), Motion::Static);
    let mut ball = shapes::tet_sphere(0.2, 0.1).unwrap();
    let volume: f64 = {
        let x = |c: u32| ball.vertices[c as usize];
        ball.tets
            .iter()
            .map(|t| (x(t[1]) - x(t[0])).dot((x(t[2]) - x(t[0])).cross(x(t[3]) - x(t[0]))) / 6.0)
            .sum()
    };
    ball.vertices.iter_mut().for_each(|p| *p += Vec3::new(0.5 * l, 0.5 * l, 0.5));
    s.add_soft(named("ball"), ball, SoftMaterial { density: 500.0, young: 2e5, ..SoftMaterial::default() });
    s.add_liquid(liquid(dx, block([16, 16, 10], dx)));
    let mut sim = s.build().unwrap();
    let water = sim.particles().len() as f64 * dx.powi(3);
    let (mut height, mut force, mut steps) = (0.0, 0.0, 0.0);
    advance(&mut sim, 3.0, |sim, report| {
        if report.time > 1.5 {
            let o = &sim.objects()[0];
            let m: f64 = sim.mass()[o.range()].iter().sum();
            height += o.range().map(|v| sim.mass()[v] * sim.state().x[v].z).sum::<f64>() / m;
            force += report.fluid_forces[0].z;
            steps += 1.0;
        }
    });
    // Half its volume lies below the level, its centre at the level.
    let level = (water + 0.5 * volume) / (l * l);
    assert!((height / steps - level).abs() < 0.05 * 0.2, "{} for {level}", height / steps);
    let weight = 500.0 * volume * G;
    assert!((force / steps / weight - 1.0).abs() < 0.02, "{} N for {weight} N", force / steps);
}

#[test]
fn a_light_membrane_holds_a_column() {
    let (n, dx) = (8, 0.05);
    let l = n as f64 * dx;
    let mut s = scene();
    s.add_collider(named("walls"), tank([l, l, 1.0], false), Motion::Static);
    let mut sheet = shapes::grid([1.25 * l, 1.25 * l], [20, 20]);
    sheet.vertices.iter_mut().for_each(|p| *p += Vec3::new(0.5 * l, 0.5 * l, -0.01));
    let outside = |p: Vec3| p.x < 0.0 || p.y < 0.0 || p.x > l || p.y > l;
    let rim: Vec<u32> =
        (0..sheet.vertices.len() as u32).filter(|&v| outside(sheet.vertices[v as usize])).collect();
    let pins = vec![Pin { vertices: rim, motion: Motion::Static, release: None }];
    let material = ClothMaterial { young: 5e6, thickness: 1e-3, density: 0.5, ..ClothMaterial::default() };
    s.add_cloth(Placement { pins, ..named("sheet") }, sheet, material);
    s.add_liquid(liquid(dx, block([n, n, 4], dx)));
    let mut sim = s.build().unwrap();
    let mut compression = 0.0_f64;
    advance(&mut sim, 2.0, |_, report| {
        compression = compression.max(report.fluid.unwrap().compression_mean);
    });
    let lowest = sim.state().x[sim.particles()].iter().map(|p| p.z).fold(f64::INFINITY, f64::min);
    let sheet = sim.objects()[0].range().map(|v| sim.state().x[v].z).fold(f64::INFINITY, f64::min);
    assert!(lowest > sheet, "a particle at {lowest} is under the sheet's lowest point {sheet}");
    assert!(compression < 0.02, "mean compression {compression}");
    let verdict = sim.judge();
    assert!(verdict.crossings.is_empty() && verdict.inverted.is_empty());
}

#[test]
fn a_jet_fills_what_it_should_and_a_sink_empties_it() {
    let dx = 0.02;
    let mut s = scene();
    let mut floor = shapes::plane([1.0, 1.0]);
    floor.vertices.iter_mut().for_each(|p| p.z = -0.5);
    s.add_collider(named("floor"), floor, Motion::Static);
    let jet = Emitter {
        center: Vec3::ZERO,
        direction: Vec3::NEG_Z,
        radius: 0.05,
        speed: 1.0,
        start: 0.0,
        stop: 0.2,
    };
    s.add_liquid(Liquid { emitters: vec![jet], ..liquid(dx, Vec::new()) });
    s.sinks = vec![Aabb { min: Vec3::new(-1.0, -1.0, -0.6), max: Vec3::new(1.0, 1.0, -0.42) }];
    let mut sim = s.build().unwrap();
    let all = sim.particles().len();
    // A disc of radius 2.5 dx holds 21 places of the lattice; one layer each time the jet has gone dx.
    assert_eq!(all, 21 * 10);
    let count = |sim: &Simulation| sim.particles().filter(|&v| sim.is_present(v)).count();
    assert_eq!(count(&sim), 0);
    advance(&mut sim, 0.1, |_, _| {});
    let half = count(&sim) as i64;
    assert!((half - all as i64 / 2).abs() <= 21, "{half} of {all}");
    advance(&mut sim, 0.2, |_, report| assert_eq!(report.fluid.unwrap().blocked, 0));
    assert_eq!(count(&sim), all);
    advance(&mut sim, 1.0, |_, _| {});
    assert_eq!(count(&sim), 0);
}

/// Particles wait at their emitter until they come: a sheet that falls through there passes nothing.
#[test]
fn what_passes_particles_that_have_not_come_yet_is_no_leak() {
    let mut s = scene();
    let mut floor = shapes::plane([1.0, 1.0]);
    floor.vertices.iter_mut().for_each(|p| p.z = -0.5);
    s.add_collider(named("floor"), floor, Motion::Static);
    let mut sheet = shapes::grid([0.3, 0.3], [8, 8]);
    sheet.vertices.iter_mut().for_each(|p| p.z += 0.1);
    s.add_cloth(named("sheet"), sheet, ClothMaterial::default());
    let (center, direction) = (Vec3::ZERO, Vec3::NEG_Z);
    let jet = Emitter { center, direction, radius: 0.05, speed: 1.0, start: 0.3, stop: 0.4 };
    s.add_liquid(Liquid { emitters: vec![jet], ..liquid(0.02, Vec::new()) });
    let mut sim = s.build().unwrap();
    let highest = |sim: &Simulation| {
        sim.objects()[1].range().map(|v| sim.state().x[v].z).fold(f64::NEG_INFINITY, f64::max)
    };
    advance(&mut sim, 0.28, |_, report| assert_eq!(report.fluid.unwrap().leaked, 0, "{} s", report.time));
    assert!(highest(&sim) < -0.1, "the sheet is still at {} m", highest(&sim));
    // Those that come later fall on it.
    advance(&mut sim, 0.8, |_, report| assert_eq!(report.fluid.unwrap().leaked, 0, "{} s", report.time));
    assert!(sim.particles().all(|v| sim.is_present(v)));
}

fn splash() -> Simulation {
    let dx = 0.05;
    let mut s = scene();
    s.add_collider(named("tank"), tank([0.8, 0.4, 1.0], true), Motion::Static);
    let mut sheet = shapes::grid([0.3, 0.3], [8, 8]);
    sheet.vertices.iter_mut().for_each(|p| *p += Vec3::new(0.6, 0.2, 0.1));
    s.add_cloth(named("sheet"), sheet, ClothMaterial::default());
    let mut crate_ = shapes::cuboid([0.12, 0.12, 0.12], [1, 1, 1]);
    crate_.vertices.iter_mut().for_each(|p| *p += Vec3::new(0.2, 0.2, 0.5));
    let falling = Placement { velocity: -2.0 * Vec3::Z, spin: Vec3::new(1.0, 2.0, 0.5), ..named("crate") };
    s.add_rigid(falling, crate_, RigidMaterial { density: 400.0, shell: None });
    s.add_liquid(liquid(dx, block([8, 8, 8], dx)));
    s.build().unwrap()
}

#[test]
fn threads_and_a_restart_change_no_bit() {
    let run = |threads: usize, restart: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut sim = splash();
            for step in 0..40 {
                if restart && step == 20 {
                    let snapshot = sim.state().clone();
                    sim = splash();
                    sim.restore(snapshot);
                }
                let h = sim.largest_step().unwrap().min(1.0 / 240.0);
                sim.step(h);
            }
            sim.state().x.iter().flat_map(|p| p.to_array().map(f64::to_bits)).collect::<Vec<u64>>()
        })
    };
    let one = run(1, false);
    assert!(one == run(3, false), "three threads differ from one");
    assert!(one == run(2, true), "a restart differs");
}

/// A plate a tenth of a spacing thick, two sheets, under a block of water that arrives at 40 m/s, with steps of four
/// spacings. Returns how many particles leaked, and in how many steps the fastest went more than three spacings.
fn block_onto_plate(truncation: Truncation) -> (u32, u32) {
    let dx = 0.05;
    let mut s = scene();
    s.solver.truncation = truncation;
    s.fluid.courant = 4.0;
    let mut plate = shapes::cuboid([1.0, 1.0, 0.1 * dx], [1, 1, 1]);
    plate.vertices.iter_mut().for_each(|p| p.z -= 0.2);
    s.add_collider(named("plate"), plate, Motion::Static);
    let mut water = liquid(dx, block([6, 6, 6], dx));
    water.particles.iter_mut().for_each(|p| *p -= Vec3::new(0.15, 0.15, 0.0));
    water.placement.velocity = Vec3::new(0.0, 0.0, -40.0);
    s.add_liquid(water);
    let mut sim = s.build().unwrap();
    let (mut leaked, mut long) = (0, 0);
    while sim.state().time < 0.05 {
        let h = sim.largest_step().unwrap();
        long += u32::from(h * speeds(&sim).1 > 3.0 * dx);
        leaked += sim.step(h).fluid.unwrap().leaked;
    }
    (leaked, long)
}

#[test]
fn a_thin_plate_lets_nothing_through_and_without_truncation_the_referee_counts_what_it_lets() {
    let (leaked, long) = block_onto_plate(Truncation::Planar);
    assert!(leaked == 0 && long > 5, "{leaked} leaked, {long} long steps");
    let (leaked, _) = block_onto_plate(Truncation::None);
    assert!(leaked > 10, "only {leaked}: the referee does not see what goes through");
}

/// A wall that starts at 10 m/s half a spacing from a block of water, with steps of 5 ms: a spacing and more a step.
#[test]
fn a_piston_that_starts_fast_leaves_nothing_behind() {
    let dx = 0.04;
    let mut s = scene();
    s.fluid.courant = 100.0;
    s.add_collider(named("tank"), tank([2.0, 6.0 * dx, 1.0], true), Motion::Static);
    let mut piston = shapes::plane([0.8, 8.0 * dx]);
    // Upright, across the tank: it reaches beyond the walls, which colliders may.
    piston.vertices.iter_mut().for_each(|p| *p = Vec3::new(0.5, 3.0 * dx + p.y, 0.3 + p.x));
    let motion = Motion::Twist {
        center: Vec3::ZERO,
        spin: Vec3::ZERO,
        velocity: Vec3::new(10.0, 0.0, 0.0),
        start: 0.0,
        stop: 0.08,
    };
    s.add_collider(named("piston"), piston, motion);
    let mut water = liquid(dx, block([8, 6, 8], dx));
    water.particles.iter_mut().for_each(|p| p.x += 0.5);
    s.add_liquid(water);
    let mut sim = s.build().unwrap();
    let first = sim.objects()[1].first as usize;
    // What splashes over the upper edge of the wall, at 0.7 m, may come down behind it.
    let mut over = vec![false; sim.particles().len()];
    while sim.state().time < 0.2 {
        let report = sim.step(5e-3);
        assert_eq!(report.fluid.unwrap().leaked, 0, "at {} s", report.time);
        let wall = sim.state().x[first].x;
        let x = &sim.state().x;
        for (o, v) in over.iter_mut().zip(sim.particles()) {
            *o |= x[v].z > 0.7;
        }
        let behind = sim.particles().zip(&over).filter(|(v, over)| {
            let p = x[*v];
            p.x < wall && p.z < 0.6 && p.z > 0.0 && !**over
        });
        assert_eq!(behind.count(), 0, "behind the piston at {} s", report.time);
    }
}

/// Mean depth of the lowest point of a rigid ball below the level of a tank of 0.8 × 0.8 m, over the diameter; and the mean
/// force of the water on it over its weight. `density` is its mean one [kg/m³], `shell` the thickness of a hollow one [m].
///
/// ```text
/// │     ___     │
/// │~~~~/   \~~~~│  level
/// │    \___/    │  ↕ depth
/// │             │
/// ```
fn afloat(density: f64, shell: Option<f64>, start: f64) -> (f64, f64) {
    let dx = 0.05;
    let (l, radius) = (16.0 * dx, 0.2);
    let mut s = scene();
    let mut ball = shapes::sphere(radius, 3);
    ball.vertices.iter_mut().for_each(|p| *p += Vec3::new(0.5 * l, 0.5 * l, start));
    let volume = enclosed_volume(&ball.vertices, &ball.triangles);
    // A wall so thick of a matter so dense weighs as much as the whole ball would.
    let area: f64 = ball.triangles.iter().map(|t| triangle_area(t.map(|c| ball.vertices[c as usize]))).sum();
    let mass = density * volume;
    let matter = shell.map_or(density, |t| mass / (area * t));
    s.add_rigid(named("ball"), ball, RigidMaterial { density: matter, shell });
    s.add_collider(named("tank"), tank([l, l, 1.2], true), Motion::Static);
    s.add_liquid(liquid(dx, block([16, 16, 10], dx)));
    let mut sim = s.build().unwrap();
    let water = sim.particles().len() as f64 * dx.powi(3);
    let (mut depth, mut force, mut steps) = (0.0, 0.0, 0.0);
    advance(&mut sim, 3.0, |sim, report| {
        if report.time > 1.5 {
            let o = &sim.objects()[0];
            let z = o.range().map(|v| sim.state().x[v].z);
            let low = z.fold(f64::INFINITY, f64::min);
            // What it displaces stands in the tank beside it.
            let level = |below: f64| (water + below) / (l * l);
            let mut surface = level(0.0);
            for _ in 0..50 {
                let h = (surface - low).clamp(0.0, 2.0 * radius);
                let cap = std::f64::consts::PI * h * h * (radius - h / 3.0);
                surface = level(cap * volume / (4.0 / 3.0 * std::f64::consts::PI * radius.powi(3)));
            }
            depth += (surface - low) / (2.0 * radius);
            force += report.fluid_forces[0].z;
            steps += 1.0;
        }
    });
    // Nothing is inside of it, neither from the start nor since; the corners of the surface lie on the ball.
    let ball = sim.objects()[0].range();
    let center = ball.clone().map(|v| sim.state().x[v]).sum::<Vec3>() / ball.len() as f64;
    let inside = |v: usize| sim.is_present(v) && sim.state().x[v].distance(center) < 0.98 * radius;
    assert_eq!(sim.particles().filter(|v| inside(*v)).count(), 0);
    assert_eq!(sim.judge().crossings.len(), 0);
    (depth / steps, force / steps / (mass * G))
}

/// Within 5 % of the radius of the `depth` over the diameter, and carried by the water alone.
fn floats(density: f64, shell: Option<f64>, depth: f64, start: f64) {
    let (found, lift) = afloat(density, shell, start);
    assert!((lift - 1.0).abs() < 0.02, "{density} kg/m³: {lift} of the weight");
    assert!((found - depth).abs() < 0.025, "{density} kg/m³ lies at {found} for {depth}");
}

#[test]
fn light_rigid_balls_float_as_deep_as_archimedes_says() {
    floats(200.0, None, 0.287, 0.58);
    floats(500.0, None, 0.5, 0.5);
}

#[test]
fn a_hollow_ball_floats_as_a_solid_one_of_its_weight() {
    floats(500.0, Some(2e-3), 0.5, 0.5);
}

#[test]
fn a_heavy_rigid_ball_floats_as_deep_as_archimedes_says() {
    floats(900.0, None, 0.804, 0.38);
}

/// A body of a wall without thickness, some of its water in it, falls by 5 mm onto a table and carries its water there.
fn vessel(open: bool) {
    let dx = 0.05;
    let mut s = scene();
    let l = 6.0 * dx;
    let mut wall =
        if open { tank([l, l, 2.0 * l], true) } else { shapes::cuboid([l, l, 2.0 * l], [1, 1, 1]) };
    let shift = if open { Vec3::ZERO } else { Vec3::new(0.5 * l, 0.5 * l, l) };
    wall.vertices.iter_mut().for_each(|p| *p += shift);
    s.add_rigid(named("vessel"), wall, RigidMaterial { density: 2500.0, shell: Some(2e-3) });
    let mut table = shapes::plane([2.0, 2.0]);
    table.vertices.iter_mut().for_each(|p| p.z = -0.009);
    s.add_collider(named("table"), table, Motion::Static);
    s.add_liquid(liquid(dx, block([6, 6, 6], dx)));
    let mut sim = s.build().unwrap();
    assert_eq!(sim.particles().len(), 216, "what fills a vessel was taken for an overlap");
    advance(&mut sim, 1.5, |_, _| {});
    let x = &sim.state().x;
    let low = sim.objects()[0].range().map(|v| x[v].z).fold(f64::INFINITY, f64::min);
    // It stands on the table, 4 mm of contact above it or what the weight leaves of that, and upright.
    assert!((-9e-3..-4.9e-3).contains(&low), "it stands at {low}");
    let tilt = sim.objects()[0].range().map(|v| x[v].distance(sim.x_rest()[v])).fold(0.0, f64::max);
    assert!(tilt < 0.012, "a corner went by {tilt} m");
    let inside = |p: Vec3| p.x > -0.01 && p.y > -0.01 && p.x < l + 0.01 && p.y < l + 0.01 && p.z > low;
    assert!(sim.particles().all(|v| inside(x[v])), "water outside");
}

#[test]
fn an_open_rigid_vessel_holds_the_water_it_is_filled_with() {
    vessel(true);
}

#[test]
fn a_closed_hollow_body_holds_the_water_it_is_filled_with() {
    vessel(false);
}
