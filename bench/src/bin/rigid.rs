//! Times rigid cubes that fall into a tank and pile up.
//!
//! `cargo run --release -p littoral-bench --bin rigid -- [CUBES …] [--iterations 8] [--steps 480] [--threads 2]`
//!
//! CUBES are dropped in layers of ten by ten, each turned another way. Steps a second of wall time and of processor
//! time over all the threads, for the whole run and for its last quarter, when they lie in a heap. What the heap is like then: mean
//! residual [m/s], kept motion [–], kinetic energy [J] and height of the cubes' centres [m], to tell a faster heap from one that hangs.

use littoral_bench::machine;
use littoral_geom::math::{Mat3, Quat, Vec3};
use littoral_geom::random::Random;
use littoral_geom::shapes;
use littoral_sim::motion::Motion;
use littoral_sim::report::Phases;
use littoral_sim::scene::{Placement, RigidMaterial, SceneBuilder, SceneError};
use littoral_sim::settings::{ContactSettings, SolverSettings};
use littoral_sim::simulation::Simulation;
use std::error::Error;
use std::time::Instant;

/// Time step [s].
const STEP: f64 = 1.0 / 240.0;
/// Edge of a cube [m].
const EDGE: f64 = 0.1;
/// Acceleration of free fall [m/s²].
const GRAVITY: f64 = 9.81;
/// Density of a cube [kg/m³].
const DENSITY: f64 = 500.0;
/// Distance of neighbours at the start [m]: more than the diagonal, so that any turn is free.
const APART: f64 = 0.18;

/// `count` cubes above a tank of ten by ten of them.
fn scene(count: u32, iterations: u32) -> Result<Simulation, SceneError> {
    let solver = SolverSettings { iterations, step: Some(STEP), ..SolverSettings::default() };
    let mut scene =
        SceneBuilder::new(solver, ContactSettings { friction: 0.4, ..ContactSettings::default() });
    scene.gravity = Vec3::new(0.0, 0.0, -GRAVITY);
    let mut random = Random::new(1);
    for k in 0..count {
        let place = [k % 10, k / 10 % 10, k / 100].map(|i| APART * (f64::from(i) + 0.5));
        let turn = random.direction() * (3.0 * random.unit());
        let turn = Mat3::from_quat(Quat::from_scaled_axis(turn));
        let mut mesh = shapes::cuboid([EDGE; 3], [1; 3]);
        for v in &mut mesh.vertices {
            *v = turn * *v + Vec3::from(place);
        }
        let placement = Placement { name: format!("cube-{k}"), ..Placement::default() };
        scene.add_rigid(placement, mesh, RigidMaterial { density: DENSITY, shell: None });
    }
    let side = 10.0 * APART;
    let mut tank = shapes::tank([side, side, 4.0], [1; 3]);
    for v in &mut tank.vertices {
        *v += Vec3::new(0.5 * side, 0.5 * side, 2.0);
    }
    scene.add_collider(Placement { name: "tank".into(), ..Placement::default() }, tank, Motion::Static);
    scene.build()
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut counts, mut iterations, mut steps, mut threads) = (Vec::new(), 8, 480, 2);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--iterations" => iterations = value()?.parse()?,
            "--steps" => steps = value()?.parse::<u32>()?.max(4),
            "--threads" => threads = value()?.parse()?,
            count => counts.push(count.parse::<u32>().map_err(|_| format!("not an option: {count}"))?),
        }
    }
    if counts.is_empty() {
        counts = vec![100, 1000];
    }
    println!("{}", machine::header());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    for count in counts {
        let mut simulation = scene(count, iterations)?;
        let (mut total, mut late) = ([0.0; 2], [0.0; 2]);
        let (mut contacts, mut detections, mut phases) = (0, 0, Phases::default());
        let (mut residual, mut kept, mut kinetic, mut height) = (0.0, 0.0, 0.0, 0.0);
        for step in 0..steps {
            let (start, cpu) = (Instant::now(), machine::cpu_seconds());
            let report = pool.install(|| simulation.step(STEP));
            let spent = [start.elapsed().as_secs_f64(), machine::cpu_seconds() - cpu];
            for k in 0..2 {
                total[k] += spent[k];
                late[k] += if step >= steps - steps / 4 { spent[k] } else { 0.0 };
            }
            contacts = report.contacts;
            if step >= steps - steps / 4 {
                detections += report.detections;
                phases.detect += report.phases.detect;
                phases.forces += report.phases.forces;
                phases.truncate += report.phases.truncate;
                phases.solve += report.phases.solve;
                residual += report.residual;
                kept += report.kept_motion;
                kinetic += report.energies.kinetic;
                height += report.energies.gravity / (GRAVITY * DENSITY * EDGE.powi(3) * f64::from(count));
            }
        }
        let all = f64::from(steps);
        let end = f64::from(steps / 4);
        let more = [
            ("per_cpu_second", all / total[1]),
            ("late", end / late[0]),
            ("late_per_cpu_second", end / late[1]),
            ("contacts", f64::from(contacts)),
            ("late_detections", f64::from(detections) / end),
            ("late_detect_ms", 1e3 * phases.detect / end),
            ("late_forces_ms", 1e3 * phases.forces / end),
            ("late_truncate_ms", 1e3 * phases.truncate / end),
            ("late_rest_ms", 1e3 * phases.solve / end),
            ("late_residual", residual / end),
            ("late_kept_motion", kept / end),
            ("late_kinetic_j", kinetic / end),
            ("late_height_m", height / end),
            ("crossings", simulation.judge().crossings.len() as f64),
        ];
        machine::result(&format!("cubes {count}"), all / total[0], "steps/s", &more);
    }
    Ok(())
}
