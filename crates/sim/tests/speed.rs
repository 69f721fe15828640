//! The guarantee is no speed limit: what truncation leaves of fast motions, against the same scene without it.

use littoral_geom::math::{Mat3, Quat, Vec3, skew};
use littoral_geom::mesh::TriMesh;
use littoral_geom::shapes;
use littoral_sim::motion::{Keyframe, Motion};
use littoral_sim::scene::{ClothMaterial, Pin, Placement, RigidMaterial, SceneBuilder, SoftMaterial};
use littoral_sim::settings::{ContactSettings, SolverSettings, Truncation};
use littoral_sim::simulation::Simulation;

const STEP: f64 = 1.0 / 240.0;

fn named(name: &str) -> Placement {
    Placement { name: name.into(), ..Placement::default() }
}

fn lifted(mut mesh: TriMesh, by: Vec3) -> TriMesh {
    mesh.vertices.iter_mut().for_each(|p| *p += by);
    mesh
}

/// Without truncation contact is as good as off, too: its radius is a nanometre.
fn scene(truncation: Truncation, iterations: u32) -> SceneBuilder {
    let radius = if truncation == Truncation::None { 1e-9 } else { 1e-3 };
    let contact = ContactSettings { radius, ..ContactSettings::default() };
    SceneBuilder::new(SolverSettings { iterations, truncation, ..SolverSettings::default() }, contact)
}

fn mean(sim: &Simulation, object: usize, f: impl Fn(usize) -> Vec3) -> Vec3 {
    let r = sim.objects()[object].range();
    let n = r.len() as f64;
    r.map(f).sum::<Vec3>() / n
}

/// Angular velocity of a rigid body with the same angular momentum and inertia [rad/s].
fn spin(sim: &Simulation, object: usize) -> Vec3 {
    let c = mean(sim, object, |i| sim.state().x[i]);
    let v = mean(sim, object, |i| sim.state().v[i]);
    let (mut momentum, mut inertia) = (Vec3::ZERO, Mat3::ZERO);
    for i in sim.objects()[object].range() {
        let (r, w) = (sim.state().x[i] - c, sim.state().v[i] - v);
        momentum += sim.mass()[i] * r.cross(w);
        inertia -= skew(r) * skew(r) * sim.mass()[i];
    }
    inertia.inverse() * momentum
}

/// A sheet on two corners swings down and back for two seconds: at every time its mean height is that of the sheet
/// whose contact is off, to 2 % of the largest drop.
#[test]
fn a_pinned_sheet_swings_as_with_contact_off() {
    let heights = |truncation| -> Vec<f64> {
        let mut s = scene(truncation, 10);
        let sheet = shapes::grid([1.0, 1.0], [16, 16]);
        let at = |v: &u32| sheet.vertices[*v as usize];
        let corners = (0..sheet.vertices.len() as u32).filter(|v| at(v).x < -0.49 && at(v).y.abs() > 0.49);
        let pins = vec![Pin { vertices: corners.collect(), motion: Motion::Static, release: None }];
        s.add_cloth(Placement { pins, ..named("sheet") }, sheet, ClothMaterial::default());
        let mut sim = s.build().unwrap();
        (0..480)
            .map(|_| {
                sim.step(STEP);
                mean(&sim, 0, |i| sim.state().x[i]).z
            })
            .collect()
    };
    let (free, cut) = (heights(Truncation::None), heights(Truncation::Planar));
    let drop = free.iter().copied().fold(0.0, f64::min).abs();
    assert!(drop > 0.3, "it swings by {drop} m");
    let apart = free.iter().zip(&cut).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(apart < 0.02 * drop, "{apart} m of {drop} m");
}

/// Implicit steps of 1/240 s brake a ball that turns by 0.4 rad in each; truncation must not add to that.
#[test]
fn a_soft_ball_at_100_radians_a_second_turns_as_without_truncation() {
    let turn = |truncation| {
        let mut s = scene(truncation, 20);
        s.gravity = Vec3::ZERO;
        let ball = shapes::tet_sphere(0.1, 0.05).unwrap();
        let placement = Placement { spin: Vec3::new(0.0, 0.0, 100.0), ..named("ball") };
        s.add_soft(placement, ball, SoftMaterial { young: 1e7, ..SoftMaterial::default() });
        let mut sim = s.build().unwrap();
        (0..24).for_each(|_| drop(sim.step(STEP)));
        spin(&sim, 0).length()
    };
    let (free, cut) = (turn(Truncation::None), turn(Truncation::Planar));
    assert!(free > 20.0 && (cut - free).abs() < 0.01 * free, "{cut} rad/s, without truncation {free}");
}

/// Two sheets two millimetres apart turn about their common normal at 20 rad/s, 1.6 cm at the rim in a step.
#[test]
fn layers_that_turn_together_do_not_slow_each_other() {
    let run = |truncation| {
        let mut s = scene(truncation, 10);
        s.gravity = Vec3::ZERO;
        for (name, z) in [("lower", 0.0), ("upper", 2e-3)] {
            let sheet = lifted(shapes::grid([0.4, 0.4], [8, 8]), Vec3::Z * z);
            let placement = Placement { spin: Vec3::new(0.0, 0.0, 20.0), ..named(name) };
            s.add_cloth(placement, sheet, ClothMaterial::default());
        }
        let mut sim = s.build().unwrap();
        (0..120).for_each(|_| drop(sim.step(STEP)));
        let gap = mean(&sim, 1, |i| sim.state().x[i]).z - mean(&sim, 0, |i| sim.state().x[i]).z;
        (spin(&sim, 0).length(), gap)
    };
    let ((free, _), (cut, gap)) = (run(Truncation::None), run(Truncation::Planar));
    assert!((cut - free).abs() < 0.01 * free, "{cut} rad/s, without truncation {free}");
    assert!((gap - 2e-3).abs() < 2e-4, "the gap became {gap} m");
}

/// ```text
///        ■→ 30 m/s          a die flies over a pavement of 11 columns of cubes, 5 mm above it,
///  ▣▣▣▣▣▣▣▣▣▣▣▣▣▣▣▣        12 cm a step: how far it is after 7 steps from where it would be alone [m]
/// ```
fn lost_over_pavement(rows: u32, tilt: Quat) -> f64 {
    let mut s = scene(Truncation::Planar, 8);
    s.gravity = Vec3::ZERO;
    let mut add = |name: String, edge: f64, place: Vec3, velocity: Vec3| {
        let mut mesh = lifted(shapes::cuboid([edge; 3], [1; 3]), place);
        mesh.vertices.iter_mut().for_each(|p| *p = tilt * *p);
        let placement = Placement { velocity: tilt * velocity, ..named(&name) };
        s.add_rigid(placement, mesh, RigidMaterial { density: 700.0, shell: None });
    };
    for k in 0..11 * rows {
        let place = Vec3::new(f64::from(k % 11), f64::from(k / 11), 0.0) * 0.1012;
        add(format!("cube {k}"), 0.1, place, Vec3::ZERO);
    }
    let (start, velocity) = (Vec3::new(0.08, 0.37, 0.075), Vec3::X * 30.0);
    add("die".into(), 0.04, start, velocity);
    let mut sim = s.build().unwrap();
    for k in 0..7 {
        sim.step(STEP);
        assert_eq!(sim.judge().crossings.len(), 0, "step {k}");
    }
    let end = mean(&sim, 11 * rows as usize, |i| sim.state().x[i]);
    end.distance(tilt * (start + velocity * (7.0 * STEP)))
}

#[test]
fn a_die_that_flies_along_a_pavement_loses_nothing() {
    for tilt in [Vec3::ZERO, Vec3::new(0.3, 0.5, 0.2)] {
        for rows in [4, 12] {
            let lost = lost_over_pavement(rows, Quat::from_scaled_axis(tilt));
            assert!(lost < 1e-9, "{rows} rows, turned by {tilt}: {lost} m");
        }
    }
}

fn ridges(tilt: Quat) -> TriMesh {
    let mut slope = shapes::grid([2.4, 1.0], [96, 20]);
    for p in &mut slope.vertices {
        p.z = 0.02 * ((p.x / 0.025).round().rem_euclid(2.0)) - 0.024;
        *p = tilt * *p;
    }
    slope
}

/// ```text
///     ▬▬→ 30 m/s             a sheet or a soft block flies along a slope of ridges, 4 mm above them:
///   ⋀⋀⋀⋀⋀⋀⋀⋀⋀⋀⋀⋀⋀⋀          how far its points are from where they would be alone, at most [m]
/// ```
fn lost_over_ridges(add: impl Fn(&mut SceneBuilder, Quat, Vec3)) -> f64 {
    let tilt = Quat::from_scaled_axis(Vec3::new(0.4, 0.3, -0.6));
    let velocity = tilt * Vec3::new(29.0, 7.0, 0.0);
    let fly = |with_ridges: bool| {
        let mut s = scene(Truncation::Planar, 8);
        s.gravity = Vec3::ZERO;
        add(&mut s, tilt, velocity);
        if with_ridges {
            s.add_collider(named("ridges"), ridges(tilt), Motion::Static);
        }
        let mut sim = s.build().unwrap();
        for k in 0..10 {
            sim.step(STEP);
            assert_eq!(sim.judge().crossings.len(), 0, "step {k}");
        }
        sim.state().x[sim.objects()[0].range()].to_vec()
    };
    let (free, over) = (fly(false), fly(true));
    free.iter().zip(&over).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
}

#[test]
fn what_flies_along_a_slope_of_ridges_loses_nothing() {
    let place = Vec3::new(-0.9, -0.2, 0.0);
    let lost = lost_over_ridges(|s, tilt, velocity| {
        let mut sheet = lifted(shapes::grid([0.2, 0.2], [6, 6]), place);
        sheet.vertices.iter_mut().for_each(|p| *p = tilt * *p);
        s.add_cloth(Placement { velocity, ..named("sheet") }, sheet, ClothMaterial::default());
    });
    assert!(lost < 1e-6, "a sheet: {lost} m");
    let lost = lost_over_ridges(|s, tilt, velocity| {
        let mut block = shapes::tet_cuboid([0.1; 3], [2; 3]);
        block.vertices.iter_mut().for_each(|p| *p = tilt * (*p + place + 0.05 * Vec3::Z));
        s.add_soft(Placement { velocity, ..named("block") }, block, SoftMaterial::default());
    });
    assert!(lost < 1e-6, "a soft block: {lost} m");
}

/// The other way round: what a scene moves along a sheet is not late, and the sheet does not notice.
#[test]
fn a_collider_that_flies_along_a_sheet_of_ridges_is_not_late() {
    let tilt = Quat::from_scaled_axis(Vec3::new(0.4, 0.3, -0.6));
    let mut s = scene(Truncation::Planar, 8);
    s.gravity = Vec3::ZERO;
    let sheet = ridges(tilt);
    s.add_cloth(named("ridges"), sheet.clone(), ClothMaterial::default());
    let mut board = lifted(shapes::cuboid([0.2, 0.2, 0.02], [1; 3]), Vec3::new(-0.9, -0.2, 0.01));
    board.vertices.iter_mut().for_each(|p| *p = tilt * *p);
    let velocity = tilt * Vec3::new(29.0, 7.0, 0.0);
    let motion =
        Motion::Twist { center: Vec3::ZERO, spin: Vec3::ZERO, velocity, start: 0.0, stop: f64::INFINITY };
    s.add_collider(named("board"), board, motion);
    let mut sim = s.build().unwrap();
    for k in 0..10 {
        let report = sim.step(STEP);
        assert_eq!(sim.judge().crossings.len(), 0, "step {k}");
        assert!(report.lag < 1e-9, "step {k}: late by {} m", report.lag);
    }
    let moved = sim.objects()[0].range().map(|i| sim.state().x[i].distance(sheet.vertices[i]));
    let moved = moved.fold(0.0, f64::max);
    assert!(moved < 1e-6, "the sheet moved by {moved} m");
}

/// ```text
///      ════╤════     two plates close on a sheet, cross by 5 mm, stay, and open again
///      ~~~~~~~~~
///      ════╧════
/// ```
fn plates(s: &mut SceneBuilder) {
    s.add_cloth(named("sheet"), shapes::grid([0.2, 0.2], [8, 8]), ClothMaterial::default());
    for sign in [1.0, -1.0] {
        let mesh = lifted(shapes::cuboid([0.15, 0.15, 0.02], [2, 2, 1]), Vec3::Z * (sign * 0.03));
        let key =
            |time, way: f64| Keyframe { time, position: Vec3::Z * (-sign * way), rotation: Quat::IDENTITY };
        let keys = vec![key(0.0, 0.0), key(0.2, 0.0225), key(0.4, 0.0225), key(0.6, 0.0)];
        let motion = Motion::Keyframes { keys, center: Vec3::ZERO };
        s.add_collider(named(if sign > 0.0 { "upper" } else { "lower" }), mesh, motion);
    }
}

/// They stop on the sheet; how far each lags is told in metres; once open they are where they should be.
#[test]
fn plates_that_cross_lag_and_recover() {
    let mut s = scene(Truncation::Planar, 10);
    plates(&mut s);
    let mut sim = s.build().unwrap();
    let (mut most, mut last) = (0.0_f64, f64::INFINITY);
    for k in 0..192 {
        let report = sim.step(STEP);
        let verdict = sim.judge();
        assert_eq!((verdict.crossings.len(), verdict.non_finite), (0, 0), "step {k}");
        (most, last) = (most.max(report.lag), report.lag);
    }
    // Each should go 2.5 mm beyond the middle, and may wait for the other side of the sheet as well.
    assert!((2.5e-3..6e-3).contains(&most), "largest lag {most} m");
    assert!(last < 1e-9, "lag at the end {last} m");
    assert!(sim.state().lag_max[1..].iter().all(|l| *l > 1e-3), "{:?}", sim.state().lag_max);
}

/// A body a hundred metres away moves as if the plates were not there, to the bit.
#[test]
fn an_unrelated_body_far_away_changes_no_bit() {
    let build = |with_plates: bool| {
        let mut s = scene(Truncation::Planar, 10);
        if with_plates {
            plates(&mut s);
        }
        let mut block = shapes::tet_cuboid([0.1; 3], [2; 3]);
        block.vertices.iter_mut().for_each(|p| *p += Vec3::new(100.0, 0.0, 0.3));
        let placement = Placement { spin: Vec3::new(1.0, 2.0, 3.0), ..named("far") };
        s.add_soft(placement, block, SoftMaterial::default());
        s.build().unwrap()
    };
    let (mut sim, mut alone) = (build(true), build(false));
    let far = sim.objects()[1].range();
    for k in 0..96 {
        sim.step(STEP);
        alone.step(STEP);
        let (a, b) = (&sim.state().x[far.clone()], &alone.state().x[..]);
        let apart = a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(apart == 0.0, "step {k}: an unrelated body changed the far one by {apart} m");
    }
}
