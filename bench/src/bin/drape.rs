//! Times a square sheet of 1 m that hangs from the vertex in its middle and falls into folds, on one thread.
//!
//! `cargo run --release -p littoral-bench --bin drape -- [SIDE …] [--iterations 10] [--steps 600] [--repeats 3]
//! [--write DIR]`
//!
//! SIDE is the number of vertices along an edge. Processor time of a step, the median over the repetitions, and how far
//! the edges are stretched at the end.

use littoral_bench::{machine, mesh_file};
use littoral_geom::math::Vec3;
use littoral_geom::shapes;
use littoral_sim::motion::Motion;
use littoral_sim::scene::{ClothMaterial, Pin, Placement, SceneBuilder, SceneError};
use littoral_sim::settings::{ContactSettings, SolverSettings};
use littoral_sim::simulation::Simulation;
use std::error::Error;
use std::path::PathBuf;

/// Time step [s].
const STEP: f64 = 1.0 / 600.0;
/// Contact radius [m]: the rest gap of the peer.
const RADIUS: f64 = 1e-3;

/// A sheet of `side` × `side` vertices, flat, held in the middle. No friction: the peer has none.
fn scene(side: u32, iterations: u32) -> Result<Simulation, SceneError> {
    let settings = SolverSettings { iterations, ..SolverSettings::default() };
    let contact = ContactSettings { radius: RADIUS, friction: 0.0, ..ContactSettings::default() };
    let mut scene = SceneBuilder::new(settings, contact);
    scene.gravity = Vec3::new(0.0, 0.0, -9.81);
    let mesh = shapes::grid([1.0, 1.0], [side - 1, side - 1]);
    let middle = (side / 2) * side + side / 2;
    let pin = Pin { vertices: vec![middle], motion: Motion::Static, release: None };
    let placement = Placement { name: "sheet".into(), pins: vec![pin], ..Placement::default() };
    scene.add_cloth(placement, mesh, ClothMaterial::default());
    scene.build()
}

/// Mean and largest ratio of an edge's length to its length at rest.
fn stretch(simulation: &Simulation) -> (f64, f64) {
    let length = |x: &[Vec3], e: &[u32; 2]| (x[e[1] as usize] - x[e[0] as usize]).length();
    let (x, rest) = (&simulation.state().x, simulation.x_rest());
    let ratios: Vec<f64> = simulation.edges().iter().map(|e| length(x, e) / length(rest, e)).collect();
    (ratios.iter().sum::<f64>() / ratios.len() as f64, ratios.iter().fold(0.0, |a, &b| a.max(b)))
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut sides, mut folder) = (Vec::new(), None);
    let (mut iterations, mut steps, mut repeats) = (10, 600, 3);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--iterations" => iterations = value()?.parse()?,
            "--steps" => steps = value()?.parse()?,
            "--repeats" => repeats = value()?.parse()?,
            "--write" => folder = Some(PathBuf::from(value()?)),
            side => sides.push(side.parse::<u32>().map_err(|_| format!("not an option: {side}"))?.max(2)),
        }
    }
    if sides.is_empty() {
        sides = vec![20, 50];
    }
    println!("{}", machine::header());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    for side in sides {
        let mut simulation = scene(side, iterations)?;
        let triangles = simulation.triangles().to_vec();
        if let Some(folder) = &folder {
            mesh_file::write(folder, &format!("drape-{side}"), &simulation.state().x, &triangles)?;
        }
        let mut times = Vec::new();
        for _ in 0..repeats {
            simulation = scene(side, iterations)?;
            let start = machine::cpu_seconds();
            pool.install(|| {
                for _ in 0..steps {
                    simulation.step(STEP);
                }
            });
            times.push((machine::cpu_seconds() - start) * 1e3 / f64::from(steps));
        }
        if let Some(folder) = &folder {
            mesh_file::write(folder, &format!("drape-{side}-littoral"), &simulation.state().x, &triangles)?;
        }
        let (mean, most) = stretch(&simulation);
        let lowest = simulation.state().x.iter().map(|p| p.z).fold(f64::INFINITY, f64::min);
        let more = [
            ("iterations", f64::from(iterations)),
            ("stretch", most),
            ("mean_stretch", mean),
            ("lowest", lowest),
            ("crossings", simulation.judge().crossings.len() as f64),
        ];
        machine::result(&format!("drape {}", side * side), machine::median(times), "ms/step", &more);
    }
    Ok(())
}
