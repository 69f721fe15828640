//! Times Newton iterations of two blocks of together 3,072 tets that rest on each other, and barrier Hessians.
//!
//! `cargo run --release -p littoral-bench --bin newton -- [--steps 20] [--threads 1,2]`
//!
//! Processor and wall time an iteration, everything in a step included: detection, assembly, factorisation, line
//! search, truncation. A barrier is timed as the projected 12×12 Hessian of one pair in reach.

use littoral_bench::machine;
use littoral_geom::math::Vec3;
use littoral_geom::random::Random;
use littoral_geom::shapes;
use littoral_sim::contact::barrier::{Barrier, Pair};
use littoral_sim::motion::Motion;
use littoral_sim::potential::Potential;
use littoral_sim::scene::{Placement, SceneBuilder, SceneError, SoftMaterial};
use littoral_sim::settings::{ContactSettings, Method, SolverSettings};
use littoral_sim::simulation::Simulation;
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

/// Steps before the clock starts: the blocks have come to rest on each other.
const WARM_UP: u32 = 40;
/// Time step [s].
const H: f64 = 1.0 / 240.0;
/// Pairs a barrier is timed on.
const PAIRS: u64 = 100_000;

fn main() -> Result<(), Box<dyn Error>> {
    let (mut steps, mut threads) = (20_u32, vec![1_usize, 2]);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let value = arguments.next().ok_or(format!("{argument} needs a value"))?;
        match argument.as_str() {
            "--steps" => steps = value.parse()?,
            "--threads" => threads = value.split(',').map(str::parse).collect::<Result<_, _>>()?,
            other => return Err(format!("not an option: {other}").into()),
        }
    }
    println!("{}", machine::header());
    for pair in [Pair::PointTriangle, Pair::EdgeEdge] {
        println!("{pair:?}: {:.3} µs a projected Hessian", time_barriers(pair));
    }
    for t in threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(t).build()?;
        pool.install(|| time_steps(t, steps))?;
    }
    Ok(())
}

/// Processor time of one projected Hessian [µs].
fn time_barriers(pair: Pair) -> f64 {
    let mut random = Random::new(1);
    let made: Vec<(Barrier<4>, [Vec3; 4])> = (0..1000)
        .map(|_| {
            let gap = Vec3::new(0.0, 0.0, 1e-3 * random.between(0.1, 0.9));
            let mut jitter = || 1e-3 * random.in_cube(1.0);
            let x = match pair {
                Pair::EdgeEdge => {
                    let (u, v) = (Vec3::new(0.01, 0.0, 0.0), Vec3::new(0.002, 0.01, 0.0));
                    [-u + jitter() * 0.1, u, -v - gap, v - gap]
                }
                _ => {
                    let corner = |k: f64| Vec3::new(0.01 * (2.1 * k).cos(), 0.01 * (2.1 * k).sin(), 0.0);
                    [gap + jitter() * 0.1, corner(0.0), corner(1.0), corner(2.0)]
                }
            };
            (Barrier { pair, strength: 1.0, range: 2e-3, epsilon: 1e-16 }, x)
        })
        .collect();
    let start = machine::thread_cpu_seconds();
    for k in 0..PAIRS {
        let (barrier, x) = &made[(k % 1000) as usize];
        black_box(barrier.hessian_psd(black_box(x)));
    }
    (machine::thread_cpu_seconds() - start) / PAIRS as f64 * 1e6
}

fn scene() -> Result<Simulation, SceneError> {
    let settings =
        SolverSettings { method: Method::Newton, step: Some(H), iterations: 30, ..SolverSettings::default() };
    let mut scene = SceneBuilder::new(settings, ContactSettings::default());
    for (k, turn) in [0.0_f64, 0.5].into_iter().enumerate() {
        let mut mesh = shapes::tet_cuboid([0.16, 0.16, 0.08], [8, 8, 2]);
        for v in &mut mesh.vertices {
            let (s, c) = turn.sin_cos();
            *v = Vec3::new(c * v.x - s * v.y, s * v.x + c * v.y, v.z + 0.042 + 0.083 * k as f64);
        }
        let name = ["below", "above"][k].into();
        let place = Placement { name, velocity: Vec3::new(0.2 * k as f64, 0.0, 0.0), ..Placement::default() };
        scene.add_soft(place, mesh, SoftMaterial { young: 2e5, ..SoftMaterial::default() });
    }
    let ground = Placement { name: "ground".into(), ..Placement::default() };
    scene.add_collider(ground, shapes::plane([2.0, 2.0]), Motion::Static);
    scene.build()
}

fn time_steps(threads: usize, steps: u32) -> Result<(), SceneError> {
    let mut sim = scene()?;
    for _ in 0..WARM_UP {
        sim.step(H);
    }
    let (mut iterations, mut contacts) = (0, 0);
    let (mut detect, mut forces, mut truncate, mut solve) = (0.0, 0.0, 0.0, 0.0);
    let (wall, cpu) = (Instant::now(), machine::cpu_seconds());
    for _ in 0..steps {
        let report = sim.step(H);
        iterations += report.iterations;
        contacts = contacts.max(report.contacts);
        let p = report.phases;
        detect += p.detect;
        forces += p.forces;
        truncate += p.truncate;
        solve += p.solve;
    }
    let per = 1e3 / f64::from(iterations.max(1));
    println!(
        "{} tets, {contacts} contacts, {threads} threads: {:.1} iterations a step, {:.2} ms wall and {:.2} ms cpu an \
         iteration (detect {:.2}, forces {:.2}, truncate {:.2}, rest {:.2})",
        sim.tets().len(),
        f64::from(iterations) / f64::from(steps),
        wall.elapsed().as_secs_f64() * per,
        (machine::cpu_seconds() - cpu) * per,
        detect * per,
        forces * per,
        truncate * per,
        solve * per,
    );
    Ok(())
}
