//! Projected Newton against closed forms, invariants, and block descent run to convergence.

use littoral_geom::math::Vec3;
use littoral_geom::mesh::{TetMesh, TriMesh};
use littoral_geom::shapes;
use littoral_sim::motion::{Keyframe, Motion};
use littoral_sim::scene::{ClothMaterial, Pin, Placement, SceneBuilder, SoftMaterial};
use littoral_sim::settings::{ContactSettings, LinearSolver, Method, SolverSettings, Truncation};
use littoral_sim::simulation::Simulation;

const G: f64 = 9.81;
const H: f64 = 1.0 / 240.0;

fn newton() -> SolverSettings {
    SolverSettings {
        method: Method::Newton,
        step: Some(H),
        iterations: 50,
        tolerance: 1e-6,
        ..SolverSettings::default()
    }
}

fn named(name: &str) -> Placement {
    Placement { name: name.into(), ..Placement::default() }
}

fn rubber() -> SoftMaterial {
    SoftMaterial { young: 2e5, poisson: 0.4, density: 1000.0, damping: 0.0, ..SoftMaterial::default() }
}

fn block(size: [f64; 3], cells: [u32; 3], shift: Vec3) -> TetMesh {
    let mut mesh = shapes::tet_cuboid(size, cells);
    for v in &mut mesh.vertices {
        *v += shift;
    }
    mesh
}

fn moved(mut mesh: TriMesh, f: impl Fn(Vec3) -> Vec3) -> TriMesh {
    for v in &mut mesh.vertices {
        *v = f(*v);
    }
    mesh
}

fn momentum(sim: &Simulation) -> Vec3 {
    sim.mass().iter().zip(&sim.state().v).map(|(m, v)| *m * *v).sum()
}

fn mean_velocity(sim: &Simulation, object: usize) -> Vec3 {
    let range = sim.objects()[object].range();
    let mass: f64 = range.clone().map(|v| sim.mass()[v]).sum();
    range.map(|v| sim.mass()[v] * sim.state().v[v]).sum::<Vec3>() / mass
}

/// A spinning, falling block held at one face: smooth, without damping or contact.
fn swinging_block(settings: SolverSettings) -> Simulation {
    let mesh = block([0.4, 0.1, 0.1], [8, 2, 2], Vec3::ZERO);
    let held: Vec<u32> =
        (0..mesh.vertices.len() as u32).filter(|&v| mesh.vertices[v as usize].x < -0.199).collect();
    let mut scene = SceneBuilder::new(settings, ContactSettings::default());
    let mut place = named("block");
    place.spin = Vec3::new(0.0, 8.0, 3.0);
    place.pins = vec![Pin { vertices: held, motion: Motion::Static, release: None }];
    scene.add_soft(place, mesh, rubber());
    scene.build().unwrap()
}

/// A sheet hanging by two corners, with drag and damping.
fn hanging_sheet(settings: SolverSettings) -> Simulation {
    let mut scene = SceneBuilder::new(settings, ContactSettings::default());
    let mut place = named("sheet");
    place.pins = vec![Pin { vertices: vec![0, 8], motion: Motion::Static, release: None }];
    let material = ClothMaterial { young: 1e5, drag: 0.1, damping: 1e-3, ..ClothMaterial::default() };
    scene.add_cloth(place, shapes::grid([0.4, 0.4], [8, 8]), material);
    scene.build().unwrap()
}

/// A block that flies apart: all in tension, where no element needs a projection and the Hessian is exact.
#[test]
fn newton_converges_quadratically_where_nothing_is_projected() {
    let residual = |iterations: u32| {
        let mut scene = SceneBuilder::new(
            SolverSettings { iterations, tolerance: 0.0, ..newton() },
            ContactSettings::default(),
        );
        scene.gravity = Vec3::ZERO;
        let mesh = block([0.1, 0.12, 0.2], [2, 2, 3], Vec3::ZERO);
        scene.add_soft(named("block"), mesh, rubber());
        let mut sim = scene.build().unwrap();
        let mut state = sim.state().clone();
        for (v, x) in state.v.iter_mut().zip(&state.x) {
            *v = Vec3::new(40.0, 30.0, 60.0) * *x;
        }
        sim.restore(state);
        sim.step(0.02).residual
    };
    let r: Vec<f64> = (1..=8).map(residual).collect();
    // The order from three residuals in a row, the last of them above the rounding of positions over h.
    let order = r
        .windows(3)
        .filter(|w| w[0] < 1.0 && w[2] > 1e-12)
        .map(|w| (w[2] / w[1]).ln() / (w[1] / w[0]).ln())
        .fold(0.0, f64::max);
    // Two in the limit; a third of the digits may still be pre-asymptotic.
    assert!(order > 1.7, "order {order}, residuals {r:?}");
    assert!(r[7] < 1e-12, "residuals {r:?}");
}

#[test]
fn newton_and_block_descent_have_the_same_minimiser() {
    for scene in [swinging_block as fn(SolverSettings) -> Simulation, hanging_sheet] {
        let mut exact = scene(newton());
        let descent = SolverSettings {
            method: Method::Vbd,
            step: Some(H),
            iterations: 4000,
            ..SolverSettings::default()
        };
        let mut converged = scene(descent);
        for sim in [&mut exact, &mut converged] {
            sim.step(H);
        }
        let pairs = exact.state().x.iter().zip(&converged.state().x);
        let error = pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        let way = exact.state().v.iter().map(|v| v.length() * H).fold(0.0, f64::max);
        // Block descent gains a digit in some hundred sweeps; its last one here is below 1e-7 of the motion.
        assert!(error < 1e-6 * way, "{error:e} of {way:e}");
    }
}

#[test]
fn conjugate_gradients_give_the_same_step_as_the_factorisation() {
    let run = |linear| {
        let mut sim = swinging_block(SolverSettings { linear, ..newton() });
        for _ in 0..3 {
            sim.step(H);
        }
        sim.state().x.clone()
    };
    let (a, b) = (run(LinearSolver::Cholesky), run(LinearSolver::ConjugateGradients));
    let error = a.iter().zip(&b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    // Both end with a step below the tolerance of 1e-6 m/s.
    assert!(error < 3.0 * 1e-6 * H, "{error:e}");
}

/// Two blocks fly at each other in empty space and bounce.
fn collision(settings: SolverSettings) -> Simulation {
    let mut scene =
        SceneBuilder::new(settings, ContactSettings { friction: 0.4, ..ContactSettings::default() });
    scene.gravity = Vec3::ZERO;
    for (k, side) in [-1.0, 1.0].into_iter().enumerate() {
        let mut place = named(["left", "right"][k]);
        place.velocity = Vec3::new(-side, 0.1 * side, 0.0);
        let shift = Vec3::new(0.08 * side, 0.02 * side, 0.011 * side);
        scene.add_soft(place, block([0.1; 3], [2, 2, 2], shift), rubber());
    }
    scene.build().unwrap()
}

#[test]
fn a_collision_keeps_the_momentum_and_gains_no_energy() {
    let mut sim = collision(newton());
    let (before, mass): (Vec3, f64) = (momentum(&sim), sim.mass().iter().sum());
    let first = sim.step(H).energies;
    let start = first.kinetic + first.elastic;
    let mut touched = false;
    for _ in 0..60 {
        let report = sim.step(H);
        touched |= report.contacts > 0;
        let energy = report.energies.kinetic + report.energies.elastic;
        // Barriers store some of it; implicit Euler only loses.
        assert!(energy < start * (1.0 + 1e-6), "energy {energy} of {start}");
    }
    assert!(touched && mean_velocity(&sim, 0).x < 0.0, "the blocks have not bounced");
    // The last Newton step of each of the 60 steps is whole: momentum errs by rounding only, about 1e-13 m/s a step.
    let drift = (momentum(&sim) - before).length() / mass;
    assert!(drift < 1e-10, "drift {drift:e} m/s");
    assert!(sim.judge().crossings.is_empty() && sim.judge().inverted.is_empty());
}

/// A block on the ground, started just above it.
fn block_on_ground(friction: f64, velocity: Vec3) -> Simulation {
    let contact = ContactSettings { radius: 2e-3, friction, ..ContactSettings::default() };
    let mut scene = SceneBuilder::new(newton(), contact);
    let mut place = named("block");
    place.velocity = velocity;
    let mesh = block([0.2, 0.2, 0.1], [3, 3, 2], Vec3::new(0.0, 0.0, 0.0516));
    scene.add_soft(place, mesh, SoftMaterial { young: 1e6, damping: 5e-3, ..rubber() });
    scene.add_collider(named("ground"), shapes::plane([4.0, 4.0]), Motion::Static);
    scene.build().unwrap()
}

#[test]
fn a_resting_block_is_carried_by_its_weight() {
    let mut sim = block_on_ground(0.5, Vec3::ZERO);
    for _ in 0..240 {
        sim.step(H);
    }
    // What changes the momentum is the weight less the contact force: at rest they are equal.
    for _ in 0..10 {
        let before = mean_velocity(&sim, 0);
        let report = sim.step(H);
        let force = (mean_velocity(&sim, 0) - before) / H + Vec3::new(0.0, 0.0, G);
        assert!((force.z - G).abs() < 0.005 * G, "contact force {} of {G} a kilogram", force.z);
        assert!(report.contacts > 0);
    }
    let lowest = sim.objects()[0].range().map(|v| sim.state().x[v].z).fold(f64::INFINITY, f64::min);
    assert!(lowest > 0.0 && lowest < 2e-3, "lowest point at {lowest}");
}

#[test]
fn a_sliding_block_stops_where_coulomb_says() {
    let mut sim = block_on_ground(0.3, Vec3::ZERO);
    // Let it come to rest first, so that only friction acts.
    for _ in 0..120 {
        sim.step(H);
    }
    let mut state = sim.state().clone();
    for v in sim.objects()[0].range() {
        state.v[v].x += 1.0;
        state.v_before[v].x += 1.0;
    }
    let center = |sim: &Simulation| {
        let r = sim.objects()[0].range();
        let n = r.len() as f64;
        r.map(|v| sim.state().x[v].x).sum::<f64>() / n
    };
    sim.restore(state);
    let start = center(&sim);
    for _ in 0..120 {
        sim.step(H);
    }
    // v²/2μg = 0.1699 m; the step adds about v h/2 and friction fades below 1 mm/s.
    let way = center(&sim) - start;
    assert!((way - 0.1699).abs() < 0.05 * 0.1699, "slid {way} m");
}

/// A sheet between a ball from above and the ground, with a plate that pushes from the side: everything at once.
fn crush(truncation: Truncation, iterations: u32) -> Simulation {
    let settings = SolverSettings { truncation, iterations, ..newton() };
    let mut scene =
        SceneBuilder::new(settings, ContactSettings { radius: 4e-3, ..ContactSettings::default() });
    let mut place = named("sheet");
    place.velocity = Vec3::new(0.0, 0.0, -3.0);
    let sheet = moved(shapes::grid([0.3, 0.3], [12, 12]), |p| p + Vec3::new(0.0, 0.0, 0.03));
    scene.add_cloth(place, sheet, ClothMaterial { young: 2e4, ..ClothMaterial::default() });
    let mut ball = named("ball");
    ball.velocity = Vec3::new(0.3, 0.0, -4.0);
    scene.add_soft(ball, block([0.08; 3], [2, 2, 2], Vec3::new(0.0, 0.0, 0.12)), rubber());
    scene.add_collider(named("ground"), shapes::plane([2.0, 2.0]), Motion::Static);
    let keys = vec![
        Keyframe { time: 0.0, position: Vec3::ZERO, rotation: Default::default() },
        Keyframe { time: 0.1, position: Vec3::new(0.25, 0.0, 0.0), rotation: Default::default() },
    ];
    let plate = moved(shapes::cuboid([0.02, 0.4, 0.2], [1, 4, 2]), |p| p + Vec3::new(-0.2, 0.0, 0.11));
    scene.add_collider(named("plate"), plate, Motion::Keyframes { center: Vec3::ZERO, keys });
    scene.build().unwrap()
}

#[test]
fn nothing_crosses_with_any_filter_even_when_the_iterations_run_out() {
    for truncation in [Truncation::Ccd, Truncation::Planar, Truncation::Isotropic] {
        for iterations in [1, 3, 20] {
            let mut sim = crush(truncation, iterations);
            for k in 0..36 {
                sim.step(H);
                let verdict = sim.judge();
                assert!(
                    verdict.crossings.is_empty() && verdict.inverted.is_empty() && verdict.non_finite == 0,
                    "{truncation:?} with {iterations} iterations, step {k}: {} crossings, {} inverted",
                    verdict.crossings.len(),
                    verdict.inverted.len()
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
            let mut sim = crush(Truncation::Planar, 20);
            for _ in 0..20 {
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
    let mut sim = crush(Truncation::Planar, 20);
    for _ in 0..12 {
        sim.step(H);
    }
    let mut again = crush(Truncation::Planar, 20);
    again.restore(sim.state().clone());
    for _ in 0..12 {
        sim.step(H);
        again.step(H);
    }
    assert!(sim.state() == again.state());
}
