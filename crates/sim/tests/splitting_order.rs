//! One step of each splitting against one of implicit Euler on everything at once: the mismatch falls with the fourth
//! power of the step with exact Hessians in the proxies, with the third when they are projected [Xie 2023, §4].

use littoral_geom::math::{Mat3, Vec3};
use littoral_geom::shapes;
use littoral_sim::model::Snapshot;
use littoral_sim::scene::{Liquid, LiquidMaterial, Placement, SceneBuilder, SoftMaterial};
use littoral_sim::settings::{
    ContactSettings, FluidSettings, Method, SolidResponse, SolverSettings, Splitting, Truncation,
};
use littoral_sim::simulation::Simulation;

/// Spacing [m].
const DX: f64 = 0.03;

/// What is solved with.
#[derive(Clone, Copy, Debug)]
struct Scheme {
    splitting: Splitting,
    exact: bool,
    response: SolidResponse,
}

/// A block of soft rubber under a slab of water that laps over its edges, where contacts turn as they give way. Nothing
/// is viscous and nothing rubs: those forces change within a step by a share that does not fall with it.
///
/// ```text
///   o o o o
///   o o o o
///   o o o o    spacing 3 cm
///    +---+
///    |   |     8 cm wide
///    +---+
/// ```
fn scene(scheme: Scheme) -> Simulation {
    let solver = SolverSettings {
        method: Method::Newton,
        iterations: 100,
        tolerance: 1e-11,
        truncation: Truncation::Ccd,
        ..SolverSettings::default()
    };
    let contact = ContactSettings { radius: 1e-3, friction: 0.0, ..ContactSettings::default() };
    let mut s = SceneBuilder::new(solver, contact);
    s.fluid = FluidSettings {
        splitting: scheme.splitting,
        exact_proxies: scheme.exact,
        response: scheme.response,
        artificial_viscosity: 0.0,
        tolerance: 1e-12,
        max_iterations: 5000,
        ..FluidSettings::default()
    };
    let block = shapes::tet_cuboid([0.08, 0.08, 0.1], [1, 1, 1]);
    let rubber =
        SoftMaterial { young: 1e4, poisson: 0.3, density: 800.0, damping: 0.0, ..SoftMaterial::default() };
    s.add_soft(Placement { name: "block".into(), ..Placement::default() }, block, rubber);
    let cell = |i: usize| Vec3::new((i % 4) as f64 - 1.52, (i / 4 % 4) as f64 - 1.47, (i / 16) as f64);
    s.add_liquid(Liquid {
        placement: Placement { name: "water".into(), ..Placement::default() },
        spacing: DX,
        particles: (0..48).map(|i| DX * cell(i) + Vec3::new(0.0, 0.0, 0.05 + 0.55 * DX)).collect(),
        gradient: Mat3::ZERO,
        emitters: Vec::new(),
        material: LiquidMaterial { viscosity: 0.0, stiffness: Some(2e3), ..LiquidMaterial::default() },
    });
    s.build().unwrap()
}

/// Water at a third of its stand-off, the block out of its shape, both moving.
fn start(sim: &Simulation) -> Snapshot {
    let mut state = sim.state().clone();
    let particles = sim.particles();
    assert_eq!(particles.len(), 48);
    for v in 0..state.x.len() {
        let p = state.x[v];
        let wave = |k: f64| (9.0 * p.x + 7.0 * p.y - 11.0 * p.z + k).sin();
        if particles.contains(&v) {
            state.x[v] =
                p + Vec3::new(0.0, 0.0, -0.2 * DX) + 0.02 * DX * Vec3::new(wave(0.0), wave(2.0), wave(4.0));
            state.v[v] = Vec3::new(0.1 + 0.05 * wave(1.0), 0.08 * wave(3.0), -0.2 + 0.05 * wave(5.0));
        } else {
            state.x[v] = p + 0.01 * DX * Vec3::new(wave(1.0), wave(3.0), wave(5.0));
            state.v[v] = 0.1 * Vec3::new(wave(0.5), wave(2.5), wave(4.5));
        }
    }
    state.v_before.clone_from(&state.v);
    state
}

/// Positions after one step of `h` [s].
fn step(scheme: Scheme, h: f64) -> Vec<Vec3> {
    let mut sim = scene(scheme);
    let state = start(&sim);
    sim.restore(state);
    let report = sim.step(h);
    assert!(report.contacts > 12, "{} contacts", report.contacts);
    // The tolerance, with what rounding leaves of 1e-17 m over h.
    assert!(report.residual < 1e-8, "{scheme:?}: {} m/s at the last iteration", report.residual);
    sim.state().x.clone()
}

/// Orders from one halving of the step to the next.
fn orders(scheme: Scheme) -> Vec<f64> {
    let steps = [1e-3, 5e-4, 2.5e-4, 1.25e-4, 6.25e-5];
    let reference = Scheme { splitting: Splitting::Joint, exact: false, response: SolidResponse::Elastic };
    let errors: Vec<f64> = steps
        .iter()
        .map(|&h| {
            let (found, joint) = (step(scheme, h), step(reference, h));
            found.iter().zip(&joint).map(|(a, b)| a.distance_squared(*b)).sum::<f64>().sqrt()
        })
        .collect();
    println!("{scheme:?}: {errors:?}");
    let orders = errors.windows(2).map(|e| (e[0] / e[1]).log2()).collect();
    println!("  orders {orders:?}");
    orders
}

#[test]
fn splittings_meet_the_joint_step_to_fourth_order_with_exact_hessians() {
    for splitting in [Splitting::Proxy, Splitting::ProxyThreePhase] {
        for response in [SolidResponse::Elastic, SolidResponse::Inertia] {
            let found = orders(Scheme { splitting, exact: true, response });
            assert!(found[3] > 3.7, "{splitting:?}, {response:?}: {found:?}");
        }
    }
}

/// And to no more than third: what is projected away is what the fourth order needs.
#[test]
fn splittings_meet_the_joint_step_to_third_order_with_projected_hessians() {
    for splitting in [Splitting::Proxy, Splitting::ProxyThreePhase] {
        for response in [SolidResponse::Elastic, SolidResponse::Inertia] {
            let found = orders(Scheme { splitting, exact: false, response });
            assert!(found[3] > 2.7 && found[3] < 3.4, "{splitting:?}, {response:?}: {found:?}");
        }
    }
}

/// Without a proxy the fluid phase knows no surfaces, so that their kernel volume presses on nothing: a force is missing.
#[test]
fn without_a_proxy_the_step_is_another_one() {
    let scheme = Scheme { splitting: Splitting::Baseline, exact: false, response: SolidResponse::Elastic };
    let found = orders(scheme);
    assert!((found[3] - 2.0).abs() < 0.3, "{found:?}");
}
