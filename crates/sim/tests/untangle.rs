//! Input that crosses or touches itself: what parts, how gently, and what stays guarded meanwhile.

use littoral_geom::math::Vec3;
use littoral_geom::mesh::TetMesh;
use littoral_geom::shapes;
use littoral_sim::motion::Motion;
use littoral_sim::scene::{ClothMaterial, Placement, SceneBuilder, SoftMaterial};
use littoral_sim::settings::{ContactSettings, SolverSettings};
use littoral_sim::simulation::Simulation;

const STEP: f64 = 1.0 / 240.0;
const RADIUS: f64 = 2e-3;

fn named(name: &str) -> Placement {
    Placement { name: name.into(), ..Placement::default() }
}

fn scene() -> SceneBuilder {
    let contact = ContactSettings { radius: RADIUS, ..ContactSettings::default() };
    SceneBuilder::new(SolverSettings { iterations: 10, ..SolverSettings::default() }, contact)
}

fn cube(at: Vec3) -> TetMesh {
    let mut mesh = shapes::tet_cuboid([0.1; 3], [4; 3]);
    mesh.vertices.iter_mut().for_each(|p| *p += at);
    mesh
}

fn floor(scene: &mut SceneBuilder) {
    scene.add_collider(named("floor"), shapes::plane([2.0, 2.0]), Motion::Static);
}

fn fastest(sim: &Simulation) -> f64 {
    sim.state().v.iter().map(|v| v.length()).fold(0.0, f64::max)
}

fn lowest(sim: &Simulation, object: usize) -> f64 {
    sim.objects()[object].range().map(|i| sim.state().x[i].z).fold(f64::INFINITY, f64::min)
}

/// Steps, and checks at each that nothing crosses but what did, and that nothing turned over; the crossings at the end.
fn play(sim: &mut Simulation, steps: usize, guard: bool) -> usize {
    let known = sim.judge().all_crossings();
    for k in 0..steps {
        sim.step(STEP);
        let verdict = sim.judge();
        assert_eq!((verdict.inverted.len(), verdict.non_finite), (0, 0), "step {k}");
        let new = verdict.crossings.iter().filter(|c| known.binary_search(c).is_err()).count();
        assert!(!guard || new == 0, "step {k}: {new} new crossings");
    }
    sim.judge().all_crossings().len()
}

/// ```text
///   ┌─────┐
///   │  ┌──┼──┐     by a third of their size in all three directions
///   └──┼──┘  │
///      └─────┘
/// ═══════════════
/// ```
#[test]
fn two_cubes_that_cross_part_gently_and_for_good() {
    let mut s = scene();
    s.add_soft(named("lower"), cube(Vec3::Z * 0.06), SoftMaterial::default());
    s.add_soft(named("upper"), cube(Vec3::new(0.06, 0.055, 0.13)), SoftMaterial::default());
    floor(&mut s);
    let mut sim = s.build().unwrap();
    assert!(!sim.judge().entangled.is_empty());
    let mut speed = 0.0_f64;
    for k in 0..480 {
        sim.step(STEP);
        let verdict = sim.judge();
        assert_eq!((verdict.crossings.len(), verdict.inverted.len()), (0, 0), "step {k}");
        speed = speed.max(fastest(&sim));
    }
    assert_eq!(sim.judge().all_crossings().len(), 0);
    // A fall from the height of a cube gives 1.4 m/s; parting must not add an explosion to it.
    assert!(speed < 2.5, "{speed} m/s");
}

/// What lies exactly on a plane, on a sheet or on another body is not glued to it.
#[test]
fn what_touches_exactly_comes_free() {
    let mut s = scene();
    let sheet = |z: f64, at: f64| {
        let mut mesh = shapes::grid([0.1, 0.1], [4, 4]);
        mesh.vertices.iter_mut().for_each(|p| *p += Vec3::new(at, 0.0, z));
        mesh
    };
    s.add_cloth(named("on the floor"), sheet(0.0, -0.4), ClothMaterial::default());
    s.add_soft(named("cube"), cube(Vec3::Z * 0.05), SoftMaterial::default());
    s.add_soft(named("cube on it"), cube(Vec3::Z * 0.15), SoftMaterial::default());
    floor(&mut s);
    let mut sim = s.build().unwrap();
    assert!(!sim.judge().all_crossings().is_empty());
    assert_eq!(play(&mut sim, 240, true), 0);
    // They rest on their contact radius, and did not hop on the way.
    for object in 0..2 {
        let z = lowest(&sim, object);
        assert!((0.0..=RADIUS).contains(&z), "object {object} at {z}");
    }
    let z = lowest(&sim, 2);
    assert!((z - 0.1).abs() < 0.02, "the upper cube at {z}");
    let cubes = sim.objects()[1].first as usize..sim.objects()[3].first as usize;
    let speed = sim.state().v[cubes].iter().map(|v| v.length()).fold(0.0, f64::max);
    // After a second at rest; ten sweeps leave a millimetre a second.
    assert!(speed < 5e-3, "{speed} m/s");
}

/// ```text
///  ───────╲  ╱────   a strip whose end was folded through it
///          ╲╱
///          ╱╲
///          ╲╱
/// ```
/// A component that crosses itself says nothing about the way out: the crossings stay as they are, the rest drapes.
#[test]
fn a_sheet_that_crosses_itself_drapes_without_a_new_crossing() {
    let mut s = scene();
    let mut mesh = shapes::grid([0.6, 0.1], [48, 8]);
    for p in &mut mesh.vertices {
        // A loop: it goes down, round and up through itself.
        let t = p.x / 0.6 * 2.0;
        let loops = (1.0 - t * t).max(0.0);
        let z = 0.25 * t * (t * t - 0.4);
        *p = Vec3::new(0.3 * (t * t * t - 0.55 * t), p.y + 0.02 * t, 0.2 - 0.15 * loops + 0.2 * z);
    }
    s.add_cloth(named("strip"), mesh, ClothMaterial::default());
    s.add_collider(named("ball"), shapes::sphere(0.03, 2), Motion::Static);
    s.add_collider(named("floor"), shapes::plane([4.0, 4.0]), Motion::Static);
    let mut sim = s.build().unwrap();
    let before = sim.judge().all_crossings().len();
    assert!(before > 0);
    let after = play(&mut sim, 240, true);
    assert!(after <= before, "{before} became {after}");
}

/// A run that is stopped while two bodies part goes on as if it had not.
#[test]
fn parting_survives_a_restart_to_the_bit() {
    let make = || {
        let mut s = scene();
        s.add_soft(named("a"), cube(Vec3::Z * 0.06), SoftMaterial::default());
        s.add_soft(named("b"), cube(Vec3::new(0.05, 0.04, 0.13)), SoftMaterial::default());
        s.build().unwrap()
    };
    let (mut whole, mut first) = (make(), make());
    for _ in 0..10 {
        first.step(STEP);
    }
    let mut second = make();
    second.restore(first.state().clone());
    for k in 0..60 {
        whole.step(STEP);
        if k >= 10 {
            second.step(STEP);
        }
    }
    assert_eq!(whole.state(), second.state());
}
