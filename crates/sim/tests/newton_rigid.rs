//! Rigid bodies by Newton's method: free flight, weights, stacks, joints, and that nothing passes through them.

use littoral_geom::math::{Quat, Vec3};
use littoral_geom::mesh::TriMesh;
use littoral_geom::shapes;
use littoral_sim::joint::JointKind;
use littoral_sim::motion::Motion;
use littoral_sim::scene::{
    AttachTo, Attachment, ClothMaterial, JointSpec, Placement, RigidMaterial, SceneBuilder, SoftMaterial,
};
use littoral_sim::settings::{ContactSettings, LinearSolver, Method, SolverSettings, Truncation};
use littoral_sim::simulation::Simulation;
use std::f64::consts::TAU;

const G: f64 = 9.81;
const H: f64 = 1.0 / 240.0;

fn newton(iterations: u32) -> SolverSettings {
    SolverSettings { method: Method::Newton, step: Some(H), iterations, ..SolverSettings::default() }
}

fn scene_with(solver: SolverSettings, friction: f64) -> SceneBuilder {
    SceneBuilder::new(solver, ContactSettings { friction, ..ContactSettings::default() })
}

fn scene(friction: f64) -> SceneBuilder {
    scene_with(newton(50), friction)
}

fn named(name: &str) -> Placement {
    Placement { name: name.into(), ..Placement::default() }
}

fn moved(mut mesh: TriMesh, to: Vec3, turn: Quat) -> TriMesh {
    mesh.vertices.iter_mut().for_each(|v| *v = to + turn * *v);
    mesh
}

fn material(density: f64) -> RigidMaterial {
    RigidMaterial { density, shell: None }
}

fn cube(scene: &mut SceneBuilder, name: &str, side: f64, at: Vec3, density: f64) {
    let mesh = moved(shapes::cuboid([side; 3], [1; 3]), at, Quat::IDENTITY);
    scene.add_rigid(named(name), mesh, material(density));
}

fn ground(scene: &mut SceneBuilder) {
    scene.add_collider(named("ground"), shapes::plane([4.0, 4.0]), Motion::Static);
}

fn soft_cube(scene: &mut SceneBuilder, side: f64, at: Vec3) {
    let mut mesh = shapes::tet_cuboid([side; 3], [2; 3]);
    mesh.vertices.iter_mut().for_each(|v| *v += at);
    let rubber =
        SoftMaterial { young: 2e5, poisson: 0.4, density: 1000.0, damping: 5e-3, ..Default::default() };
    scene.add_soft(named("jelly"), mesh, rubber);
}

fn centers(sim: &Simulation) -> Vec<Vec3> {
    sim.poses().iter().map(|p| p.center).collect()
}

/// Linear and angular momentum about the origin of all bodies.
fn momenta(sim: &Simulation) -> (Vec3, Vec3) {
    let (mut linear, mut angular) = (Vec3::ZERO, Vec3::ZERO);
    for (body, state) in sim.objects().iter().filter_map(|o| sim.body(o)) {
        linear += body.mass * state.velocity;
        angular += state.momentum + body.mass * state.pose.center.cross(state.velocity);
    }
    (linear, angular)
}

fn judge(sim: &Simulation) {
    let verdict = sim.judge();
    assert!(verdict.crossings.is_empty() && verdict.inverted.is_empty() && verdict.non_finite == 0);
}

#[test]
fn a_tumbling_racket_keeps_momentum_and_energy_in_free_flight() {
    let mut scene = scene(0.3);
    scene.gravity = Vec3::ZERO;
    let turn = Quat::from_rotation_x(0.3);
    let mesh = moved(shapes::cuboid([0.3, 0.05, 0.12], [1; 3]), Vec3::ZERO, turn);
    let spin = turn * Vec3::new(1e-3, 0.0, 12.0);
    let place = Placement { spin, velocity: Vec3::new(0.5, 0.0, 0.0), ..named("racket") };
    scene.add_rigid(place, mesh, RigidMaterial::default());
    let mut sim = scene.build().unwrap();
    let object = sim.objects()[0].clone();
    let (body, start) = sim.body(&object).map(|(b, s)| (b.clone(), s)).unwrap();
    let energy = body.kinetic(&start);
    for _ in 0..2400 {
        sim.step(H);
        let (_, state) = sim.body(&object).unwrap();
        assert!((body.kinetic(&state) / energy - 1.0).abs() < 1e-5);
        assert_eq!(state.momentum, start.momentum, "nothing but a torque changes it");
    }
    // Velocities are differences of places: ε |c| / h, some 1e-13, each step.
    assert!((sim.body(&object).unwrap().1.velocity - start.velocity).length() < 1e-11);
}

#[test]
fn bodies_that_collide_keep_linear_and_angular_momentum() {
    let mut scene = scene_with(SolverSettings { tolerance: 1e-7, ..newton(100) }, 0.4);
    scene.gravity = Vec3::ZERO;
    for (k, side) in [-1.0, 1.0].into_iter().enumerate() {
        let place = Placement {
            velocity: Vec3::new(-2.0 * side, 0.1 * side, 0.0),
            spin: Vec3::new(3.0, side, 2.0),
            ..named(["left", "right"][k])
        };
        let mesh = shapes::cuboid([0.1, 0.2, 0.15], [1; 3]);
        let mesh = moved(mesh, Vec3::new(0.12 * side, 0.05 * side, 0.0), Quat::from_rotation_y(0.2 * side));
        scene.add_rigid(place, mesh, material(500.0));
    }
    let mut sim = scene.build().unwrap();
    let before = momenta(&sim);
    let kinetic = sim.step(H).energies.kinetic;
    let mut touched = false;
    // What implicit Euler makes of angular momentum, as centres move on with the velocity of the end: Σ m h v⁺ × v.
    let velocities = |sim: &Simulation| -> Vec<(f64, Vec3)> {
        sim.objects().iter().filter_map(|o| sim.body(o)).map(|(b, s)| (b.mass, s.velocity)).collect()
    };
    let mut turned = Vec3::ZERO;
    for _ in 0..60 {
        let last = velocities(&sim);
        let report = sim.step(H);
        for ((m, v), (_, next)) in last.iter().zip(velocities(&sim)) {
            turned += *m * H * next.cross(*v);
        }
        touched |= report.contacts > 0;
        assert!(report.energies.kinetic < kinetic * (1.0 + 1e-6), "{}", report.energies.kinetic);
        judge(&sim);
    }
    let after = momenta(&sim);
    assert!(touched, "they have not met");
    // A step ends with moves below 1e-7 m/s: 3 kg times that in each of the steps in touch.
    assert!((after.0 - before.0).length() < 1e-5, "{:?} {:?}", before.0, after.0);
    // Forces are lagged where they are friction's: their levers err by no more than the reach of contact, 2 mm times μ
    // times 6 N s.
    let off = (after.1 - before.1 - turned).length();
    assert!(off < 5e-3, "{:?} {:?} {turned:?}", before.1, after.1);
}

#[test]
fn a_cube_comes_to_rest_on_the_ground_and_presses_with_its_weight() {
    let mut scene = scene(0.5);
    ground(&mut scene);
    cube(&mut scene, "cube", 0.2, Vec3::new(0.0, 0.0, 0.15), 1000.0);
    let mut sim = scene.build().unwrap();
    let mut last = Vec::new();
    for _ in 0..480 {
        last = sim.step(H).contact_forces;
        judge(&sim);
    }
    let weight = 8.0 * G;
    assert!((last[0].z / weight - 1.0).abs() < 5e-3 && last[0].truncate_z() < 1e-3 * weight, "{last:?}");
    assert_eq!(last[0], -last[1], "what one gives the other takes");
    let z = centers(&sim)[0].z;
    assert!((0.1..0.1021).contains(&z), "{z}");
    assert!(sim.body(&sim.objects()[0]).unwrap().1.velocity.length() < 1e-3);
}

trait Flat {
    fn truncate_z(&self) -> f64;
}

impl Flat for Vec3 {
    fn truncate_z(&self) -> f64 {
        self.x.hypot(self.y)
    }
}

#[test]
fn forces_on_a_soft_block_carry_its_weight() {
    let mut scene = scene(0.5);
    ground(&mut scene);
    soft_cube(&mut scene, 0.1, Vec3::new(0.0, 0.0, 0.0515));
    let mut sim = scene.build().unwrap();
    let mut last = Vec::new();
    for _ in 0..480 {
        last = sim.step(H).contact_forces;
    }
    let weight = 1.0 * G;
    assert!((last[0].z / weight - 1.0).abs() < 5e-3, "{last:?}");
}

#[test]
fn a_stack_of_five_cubes_stands_and_each_carries_what_is_above() {
    let mut scene = scene(0.5);
    for k in 0..5 {
        cube(
            &mut scene,
            &format!("cube-{k}"),
            0.2,
            Vec3::new(0.0, 0.0, 0.103 + 0.203 * f64::from(k)),
            1000.0,
        );
    }
    ground(&mut scene);
    let mut sim = scene.build().unwrap();
    let mut last = Vec::new();
    for _ in 0..720 {
        last = sim.step(H).contact_forces;
    }
    judge(&sim);
    // The ground carries five cubes.
    assert!((-last[5].z / (40.0 * G) - 1.0).abs() < 5e-3, "{last:?}");
    let top = centers(&sim)[4];
    assert!((0.9..0.911).contains(&top.z) && top.truncate_z() < 1e-3, "{top}");
}

#[test]
fn a_soft_cube_rests_on_a_rigid_one_over_ten_coarse_seconds() {
    let solver = SolverSettings { step: Some(1.0 / 60.0), ..newton(30) };
    let mut scene = scene_with(solver, 0.5);
    cube(&mut scene, "base", 0.2, Vec3::new(0.0, 0.0, 0.102), 1000.0);
    soft_cube(&mut scene, 0.1, Vec3::new(0.0, 0.0, 0.255));
    ground(&mut scene);
    let mut sim = scene.build().unwrap();
    let mut last = Vec::new();
    for _ in 0..600 {
        last = sim.step(1.0 / 60.0).contact_forces;
    }
    judge(&sim);
    // Objects are numbered by kind: soft, rigid, collider.
    assert!((last[0].z / G - 1.0).abs() < 0.01, "{last:?}");
    assert!((-last[2].z / (9.0 * G) - 1.0).abs() < 0.01, "{last:?}");
}

/// A bar of length L hinged at its end: T = 2π √(2L/3g) for small swings.
#[test]
fn a_hinged_bar_swings_with_the_period_of_a_physical_pendulum() {
    let (length, h, lean) = (0.6, 1.0 / 480.0, 0.05_f64);
    let mut scene = scene_with(SolverSettings { step: Some(h), ..newton(30) }, 0.3);
    scene.gravity = G * Vec3::new(lean.sin(), 0.0, -lean.cos());
    let mesh = shapes::cuboid([0.02, 0.02, length], [1; 3]);
    scene.add_rigid(
        named("bar"),
        moved(mesh, Vec3::new(0.0, 0.0, -0.5 * length), Quat::IDENTITY),
        material(1000.0),
    );
    let kind = JointKind::Hinge { axis: Vec3::Y, limits: [-1e9, 1e9], motor: None };
    scene.joints.push(JointSpec {
        objects: ("bar".into(), None),
        at: Vec3::ZERO,
        to: Vec3::ZERO,
        kind,
        length: None,
    });
    let mut sim = scene.build().unwrap();
    let (mut before, mut last) = (0.0, 0.0);
    let found = loop {
        sim.step(h);
        let (x, time) = (centers(&sim)[0].x, sim.state().time);
        if time > 0.5 && last < before && last < x {
            break time - h + 0.5 * h * (before - x) / (before - 2.0 * last + x);
        }
        (before, last) = (last, x);
        assert!(time < 3.0, "it does not swing");
    };
    let expected = TAU * (2.0 * length / (3.0 * G)).sqrt();
    // Implicit Euler lengthens it by (hω)²/3; the section adds 0.1 % to the inertia.
    assert!((found / expected - 1.0).abs() < 5e-3, "{found} s against {expected} s");
    assert!(sim.joint_gap(&sim.objects()[0]).unwrap() < 1e-5);
}

/// A cube on a rope: the rope holds its length, and the cube swings as a point mass.
#[test]
fn a_cube_on_a_rope_swings_and_the_rope_does_not_give() {
    let h = 1.0 / 480.0;
    let mut scene = scene_with(SolverSettings { step: Some(h), ..newton(30) }, 0.3);
    let at = Vec3::new(0.05, 0.0, -1.0);
    cube(&mut scene, "bob", 0.05, at, 1000.0);
    let kind = JointKind::Distance { length: 1.0, slack: true };
    let length = Some(at.length());
    scene.joints.push(JointSpec { objects: ("bob".into(), None), at, to: Vec3::ZERO, kind, length });
    let mut sim = scene.build().unwrap();
    let mut crossed = None;
    for _ in 0..480 {
        sim.step(h);
        if crossed.is_none() && centers(&sim)[0].x < 0.0 {
            crossed = Some(sim.state().time);
        }
        assert!(sim.joint_gap(&sim.objects()[0]).unwrap() < 1e-4);
    }
    // A quarter of the period.
    let quarter = 0.25 * TAU * (at.length() / G).sqrt();
    assert!((crossed.unwrap() / quarter - 1.0).abs() < 0.01, "{crossed:?} against {quarter}");
}

#[test]
fn a_sheet_tied_to_a_bar_carries_it() {
    let mut scene = scene(0.3);
    let mut place = named("sheet");
    let top = vec![0, 1, 2, 3, 4];
    place.pins = vec![littoral_sim::scene::Pin { vertices: top, motion: Motion::Static, release: None }];
    let mut sheet = shapes::grid([0.2, 0.2], [4, 4]);
    // Hanging in the plane y = 0, its first row on top.
    sheet.vertices.iter_mut().for_each(|p| *p = Vec3::new(p.x, 0.0, -p.y));
    let low = sheet.vertices.iter().map(|p| p.z).fold(f64::INFINITY, f64::min);
    let ends: Vec<u32> = (0..25).filter(|&v| sheet.vertices[v as usize].z < low + 1e-6).collect();
    scene.add_cloth(place, sheet, ClothMaterial { young: 1e6, damping: 1e-2, ..ClothMaterial::default() });
    let mesh =
        moved(shapes::cuboid([0.2, 0.02, 0.02], [4, 1, 1]), Vec3::new(0.0, 0.0, low - 0.02), Quat::IDENTITY);
    scene.add_rigid(named("bar"), mesh, material(1000.0));
    scene.attachments.push(Attachment {
        objects: ["sheet".into(), "bar".into()],
        from: Some(ends),
        to: AttachTo::Surface,
        reach: 0.05,
        damping: 0.02,
        ..Attachment::default()
    });
    let mut sim = scene.build().unwrap();
    for _ in 0..960 {
        sim.step(H);
    }
    judge(&sim);
    let (_, state) = sim.body(&sim.objects()[1]).unwrap();
    assert!(state.velocity.length() < 2e-3, "{:?}", state.velocity);
    assert!(state.pose.center.z > low - 0.03 && state.pose.center.z < low, "{}", state.pose.center.z);
}

/// A bar and a cube thrown onto the ground among a sheet and a soft cube.
fn thrown(truncation: Truncation, iterations: u32, linear: LinearSolver) -> Simulation {
    let mut scene = scene_with(SolverSettings { truncation, linear, ..newton(iterations) }, 0.4);
    let place =
        Placement { velocity: Vec3::new(1.0, 0.2, -3.0), spin: Vec3::new(5.0, 30.0, -8.0), ..named("bar") };
    let bar = moved(shapes::cuboid([0.4, 0.05, 0.1], [1; 3]), Vec3::new(0.0, 0.0, 0.6), Quat::IDENTITY);
    scene.add_rigid(place, bar, material(1000.0));
    cube(&mut scene, "cube", 0.2, Vec3::new(0.3, 0.0, 0.11), 300.0);
    let sheet = moved(shapes::grid([0.5, 0.5], [6, 6]), Vec3::new(0.0, 0.0, 0.35), Quat::IDENTITY);
    scene.add_cloth(named("sheet"), sheet, ClothMaterial { young: 2e4, ..ClothMaterial::default() });
    soft_cube(&mut scene, 0.1, Vec3::new(-0.1, 0.05, 0.06));
    ground(&mut scene);
    scene.build().unwrap()
}

#[test]
fn thrown_bodies_never_cross_anything_even_when_the_iterations_run_out() {
    for truncation in [Truncation::Planar, Truncation::Slide, Truncation::Isotropic, Truncation::Ccd] {
        for iterations in [1, 4, 20] {
            let mut sim = thrown(truncation, iterations, LinearSolver::Auto);
            for step in 0..120 {
                sim.step(H);
                let v = sim.judge();
                assert!(
                    v.crossings.is_empty() && v.inverted.is_empty() && v.non_finite == 0,
                    "{truncation:?}, {iterations} iterations, step {step}: {v:?}"
                );
            }
        }
    }
}

#[test]
fn the_bits_do_not_depend_on_the_threads() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut sim = thrown(Truncation::Planar, 10, LinearSolver::Auto);
            for _ in 0..60 {
                sim.step(H);
            }
            sim.state().clone()
        })
    };
    let one = run(1);
    assert!(one == run(2) && one == run(3));
}

#[test]
fn a_restored_run_goes_on_bit_for_bit() {
    let mut sim = thrown(Truncation::Planar, 10, LinearSolver::Auto);
    for _ in 0..50 {
        sim.step(H);
    }
    let mut again = thrown(Truncation::Planar, 10, LinearSolver::Auto);
    again.restore(sim.state().clone());
    for _ in 0..30 {
        sim.step(H);
        again.step(H);
    }
    assert!(sim.state() == again.state());
}

#[test]
fn conjugate_gradients_give_the_same_motion_as_the_factorisation() {
    let run = |linear| {
        let mut sim = thrown(Truncation::Planar, 40, linear);
        for _ in 0..20 {
            sim.step(H);
        }
        centers(&sim)
    };
    let (a, b) = (run(LinearSolver::Cholesky), run(LinearSolver::ConjugateGradients));
    let error = a.iter().zip(&b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    // Steps end with moves below the tolerance of 1e-3 m/s, some in touch.
    assert!(error < 20.0 * 1e-3 * H, "{error:e}");
}

/// What comes near in the middle of an iteration, after its direction was solved for, joins from the next one on.
#[test]
fn cubes_that_fall_in_a_heap_join_the_solve_one_after_the_other() {
    let mut scene = scene_with(newton(20), 0.4);
    ground(&mut scene);
    for k in 0..12 {
        let (column, layer) = (f64::from(k % 3), f64::from(k / 3));
        let at = Vec3::new(0.12 * column + 0.03 * layer, 0.02 * column - 0.02 * layer, 0.12 + 0.15 * layer);
        let turn = Quat::from_axis_angle(Vec3::new(1.0, 2.0, 1.0).normalize(), 0.3 * f64::from(k));
        let mesh = moved(shapes::cuboid([0.1; 3], [1; 3]), at, turn);
        scene.add_rigid(named(&format!("cube-{k}")), mesh, material(500.0));
    }
    let mut sim = scene.build().unwrap();
    for _ in 0..240 {
        sim.step(H);
        judge(&sim);
    }
    let highest = centers(&sim).iter().map(|c| c.z).fold(0.0, f64::max);
    // The topmost began 0.57 m high; on the ground a cube's centre is half a side high at least.
    assert!(highest < 0.4 && centers(&sim).iter().all(|c| c.z > 0.049), "{:?}", centers(&sim));
}
