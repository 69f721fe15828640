//! Fluid and solids by Newton's method, with every splitting: no leaks, no crossings, momentum, the same bits.

mod common;

use common::{block, liquid, named, tank};
use littoral_geom::math::Vec3;
use littoral_geom::shapes;
use littoral_sim::motion::Motion;
use littoral_sim::report::StepReport;
use littoral_sim::scene::{ClothMaterial, Pin, SceneBuilder, SoftMaterial};
use littoral_sim::settings::{
    ContactSettings, FluidSettings, LinearSolver, Method, SolverSettings, Splitting, Truncation,
};
use littoral_sim::simulation::Simulation;

const ALL: [Splitting; 4] =
    [Splitting::Proxy, Splitting::ProxyThreePhase, Splitting::Baseline, Splitting::Joint];

/// A cubic lattice of `count` cells of edge `dx` from `corner`.
fn lattice(count: [usize; 3], dx: f64, corner: Vec3) -> Vec<Vec3> {
    block(count, dx).into_iter().map(|p| corner + p).collect()
}

fn scene(splitting: Splitting, solver: SolverSettings) -> SceneBuilder {
    let contact = ContactSettings { radius: 4e-3, ..ContactSettings::default() };
    let mut s = SceneBuilder::new(SolverSettings { method: Method::Newton, ..solver }, contact);
    s.fluid = FluidSettings { splitting, ..FluidSettings::default() };
    s
}

/// Water falls on a sheet that hangs by two corners over a soft block in a tank.
fn everything(splitting: Splitting, solver: SolverSettings) -> Simulation {
    let mut s = scene(splitting, solver);
    let dx = 0.03;
    s.add_collider(named("tank"), tank([0.4, 0.3, 0.5], true), Motion::Static);
    let mut sheet = shapes::grid([0.24, 0.24], [6, 6]);
    sheet.vertices.iter_mut().for_each(|p| *p += Vec3::new(0.2, 0.15, 0.17));
    let mut place = named("sheet");
    place.pins = vec![Pin { vertices: vec![0, 6], motion: Motion::Static, release: None }];
    s.add_cloth(place, sheet, ClothMaterial { young: 3e4, density: 0.3, ..ClothMaterial::default() });
    let mut block = shapes::tet_cuboid([0.08; 3], [2, 2, 2]);
    block.vertices.iter_mut().for_each(|p| *p += Vec3::new(0.25, 0.15, 0.05));
    let rubber = SoftMaterial { young: 1e5, poisson: 0.4, density: 600.0, ..SoftMaterial::default() };
    s.add_soft(named("block"), block, rubber);
    let mut water = liquid(dx, lattice([5, 5, 4], dx, Vec3::new(0.11, 0.06, 0.19)));
    water.placement.velocity = Vec3::new(0.3, 0.0, -1.5);
    s.add_liquid(water);
    s.build().unwrap()
}

/// Steps within the Courant limit; every step is judged.
fn advance(sim: &mut Simulation, until: f64, what: &str, mut see: impl FnMut(&Simulation, &StepReport)) {
    while sim.state().time < until {
        let h = sim.largest_step().unwrap().min(1.0 / 240.0);
        let report = sim.step(h);
        let verdict = sim.judge();
        assert_eq!(
            report.fluid.unwrap().leaked,
            0,
            "{what}: a particle crossed a surface at {} s",
            report.time
        );
        assert!(
            verdict.crossings.is_empty() && verdict.inverted.is_empty() && verdict.non_finite == 0,
            "{what} at {} s: {} crossings, {} inverted, {} not finite",
            report.time,
            verdict.crossings.len(),
            verdict.inverted.len(),
            verdict.non_finite
        );
        see(sim, &report);
    }
}

#[test]
fn nothing_leaks_or_crosses_with_any_splitting_and_filter() {
    for splitting in ALL {
        for truncation in [Truncation::Planar, Truncation::Ccd] {
            let what = format!("{splitting:?}, {truncation:?}");
            let mut sim = everything(splitting, SolverSettings { truncation, ..SolverSettings::default() });
            let mut touched = 0;
            advance(&mut sim, 0.15, &what, |_, report| touched += report.contacts);
            assert!(touched > 100, "{what}: {touched} contacts");
        }
    }
}

/// A drop flies through a loose sheet's way in empty space.
#[test]
fn the_momentum_of_water_and_a_loose_sheet_stays() {
    for splitting in ALL {
        let mut s = scene(splitting, SolverSettings { iterations: 60, ..SolverSettings::default() });
        s.gravity = Vec3::ZERO;
        let dx = 0.03;
        s.add_cloth(named("sheet"), shapes::grid([0.16, 0.16], [4, 4]), ClothMaterial::default());
        let mut water = liquid(dx, lattice([3, 3, 3], dx, Vec3::new(-0.04, -0.05, 0.02)));
        water.placement.velocity = Vec3::new(0.1, 0.0, -1.0);
        s.add_liquid(water);
        let mut sim = s.build().unwrap();
        let momentum =
            |sim: &Simulation| -> Vec3 { sim.mass().iter().zip(&sim.state().v).map(|(m, v)| *m * *v).sum() };
        let (before, size) = (momentum(&sim), 27.0 * 1000.0 * dx.powi(3));
        let mut touched = 0;
        advance(&mut sim, 0.06, &format!("{splitting:?}"), |_, report| touched += report.contacts);
        assert!(touched > 20, "{splitting:?}: {touched} contacts");
        // Roundings of positions over h, 1e-14 m/s a step and point.
        let drift = (momentum(&sim) - before).length() / size;
        assert!(drift < 1e-11, "{splitting:?}: {drift:e} m/s");
    }
}

#[test]
fn the_bits_do_not_depend_on_the_threads() {
    for splitting in ALL {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut sim = everything(splitting, SolverSettings::default());
                for _ in 0..17 {
                    sim.step(1.0 / 240.0);
                }
                sim.state().clone()
            })
        };
        let one = run(1);
        assert!(one == run(2) && one == run(3), "{splitting:?}");
    }
}

#[test]
fn a_restored_run_goes_on_bit_for_bit() {
    for splitting in ALL {
        let mut sim = everything(splitting, SolverSettings::default());
        for _ in 0..14 {
            sim.step(1.0 / 240.0);
        }
        let mut again = everything(splitting, SolverSettings::default());
        again.restore(sim.state().clone());
        for _ in 0..4 {
            sim.step(1.0 / 240.0);
            again.step(1.0 / 240.0);
        }
        assert!(sim.state() == again.state(), "{splitting:?}");
    }
}

#[test]
fn the_decomposed_system_gives_the_same_step_as_the_whole() {
    let run = |linear| {
        let settings =
            SolverSettings { linear, tolerance: 1e-6, iterations: 200, ..SolverSettings::default() };
        let mut sim = everything(Splitting::Proxy, settings);
        let mut converged = true;
        // Until just after the sheet is hit.
        for _ in 0..13 {
            converged &= sim.step(1.0 / 240.0).residual < 1e-6;
        }
        assert!(converged, "{linear:?}");
        sim.state().x.clone()
    };
    let reference = run(LinearSolver::Schur);
    for linear in [LinearSolver::Cholesky, LinearSolver::ConjugateGradients] {
        let other = run(linear);
        let error = reference.iter().zip(&other).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        // Steps end within 1e-6 m/s of the minimum; what that moves may grow tenfold in what follows.
        assert!(error < 10.0 * 13.0 * 1e-6 / 240.0, "{linear:?}: {error:e}");
    }
}
