//! What self-contact costs in motion: sheets that fall, swing, fly and turn, and one that lies on a slope.
//!
//! `cargo run --release -p littoral-bench --bin motion -- [--iterations 10] [--write DIR]`
//!
//! Each case has one number that would be 1 (or 0 mm on the slope) if contact cost nothing:
//!
//! | case | number |
//! |---|---|
//! | `fall R` | speed of a sheet in empty space after 1 s, over g t, at a contact radius of R |
//! | `swing` | a sheet on two corners for 2 s: 1 − the largest difference of its mean height from that of a sheet without contact, over the largest drop |
//! | `layers` | two sheets 2 mm apart at 50 m/s along their normal for 0.5 s: speed kept |
//! | `turn` | the same two at 20 rad/s about their normal for 0.5 s: angular momentum kept, over what is kept without contact |
//! | `slope MU` | way of a sheet on a slope of tan⁻¹ 0.5 in 2.5 s [mm] |
//!
//! `--write` leaves the sheets for the peers in DIR.

use littoral_bench::{machine, mesh_file};
use littoral_geom::math::Vec3;
use littoral_geom::mesh::TriMesh;
use littoral_geom::shapes;
use littoral_sim::motion::Motion;
use littoral_sim::scene::{ClothMaterial, Pin, Placement, SceneBuilder, SceneError};
use littoral_sim::settings::{ContactSettings, SolverSettings, Truncation};
use littoral_sim::simulation::Simulation;
use std::error::Error;
use std::path::PathBuf;

/// Time step [s].
const STEP: f64 = 1.0 / 240.0;
/// Contact radius where the case names none [m].
const RADIUS: f64 = 1e-3;
/// A contact radius at which nothing touches [m]. It goes with no truncation.
const OFF: f64 = 1e-9;
/// Distance of the two layers [m].
const APART: f64 = 2e-3;

/// A sheet's side [m] and cells along it.
const FALL: (f64, u32) = (0.5, 20);
const SWING: (f64, u32) = (1.0, 16);
const LAYERS: (f64, u32) = (0.4, 8);
const SLOPE: (f64, u32) = (0.2, 10);

fn sheet((size, cells): (f64, u32), z: f64) -> TriMesh {
    let mut mesh = shapes::grid([size, size], [cells, cells]);
    mesh.vertices.iter_mut().for_each(|p| p.z += z);
    mesh
}

fn named(name: &str) -> Placement {
    Placement { name: name.into(), ..Placement::default() }
}

/// An empty scene; a radius of `OFF` is one without contact.
fn scene(iterations: u32, radius: f64, friction: f64) -> SceneBuilder {
    let truncation = if radius == OFF { Truncation::None } else { Truncation::Planar };
    let settings = SolverSettings { iterations, truncation, ..SolverSettings::default() };
    let mut scene =
        SceneBuilder::new(settings, ContactSettings { radius, friction, ..ContactSettings::default() });
    scene.gravity = Vec3::ZERO;
    scene
}

fn run(simulation: &mut Simulation, seconds: f64) {
    for _ in 0..(seconds / STEP).round() as u32 {
        simulation.step(STEP);
    }
}

/// Mean over the points of an object.
fn mean(simulation: &Simulation, object: usize, of: impl Fn(usize) -> Vec3) -> Vec3 {
    let range = simulation.objects()[object].range();
    let count = range.len() as f64;
    range.map(of).sum::<Vec3>() / count
}

fn fall(iterations: u32, radius: f64) -> Result<f64, SceneError> {
    let mut scene = scene(iterations, radius, 0.3);
    scene.gravity = Vec3::new(0.0, 0.0, -9.81);
    scene.add_cloth(named("sheet"), sheet(FALL, 0.0), ClothMaterial::default());
    let mut simulation = scene.build()?;
    run(&mut simulation, 1.0);
    Ok(-mean(&simulation, 0, |i| simulation.state().v[i]).z / 9.81)
}

/// Mean height after each step.
fn heights(iterations: u32, radius: f64) -> Result<Vec<f64>, SceneError> {
    let mut scene = scene(iterations, radius, 0.3);
    scene.gravity = Vec3::new(0.0, 0.0, -9.81);
    let mesh = sheet(SWING, 0.0);
    let near = 0.49 * SWING.0;
    let corner = |p: &Vec3| p.x < -near && p.y.abs() > near;
    let corners = (0..mesh.vertices.len() as u32).filter(|v| corner(&mesh.vertices[*v as usize]));
    let pins = vec![Pin { vertices: corners.collect(), motion: Motion::Static, release: None }];
    scene.add_cloth(Placement { pins, ..named("sheet") }, mesh, ClothMaterial::default());
    let mut simulation = scene.build()?;
    let steps = (2.0 / STEP).round() as u32;
    Ok((0..steps)
        .map(|_| {
            simulation.step(STEP);
            mean(&simulation, 0, |i| simulation.state().x[i]).z
        })
        .collect())
}

fn swing(iterations: u32) -> Result<f64, SceneError> {
    let (free, cut) = (heights(iterations, OFF)?, heights(iterations, RADIUS)?);
    let drop = free.iter().copied().fold(0.0, f64::min).abs();
    let apart = free.iter().zip(&cut).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    Ok(1.0 - apart / drop)
}

fn layers(iterations: u32, radius: f64, velocity: Vec3, spin: Vec3) -> Result<Simulation, SceneError> {
    let mut scene = scene(iterations, radius, 0.3);
    for (name, z) in [("lower", 0.0), ("upper", APART)] {
        let placement = Placement { velocity, spin, ..named(name) };
        scene.add_cloth(placement, sheet(LAYERS, z), ClothMaterial::default());
    }
    let mut simulation = scene.build()?;
    run(&mut simulation, 0.5);
    Ok(simulation)
}

/// Angular momentum of the lower sheet about its own centre, per mass of a point; all but the rim's weigh the same.
fn spin(simulation: &Simulation) -> f64 {
    let state = simulation.state();
    let centre = mean(simulation, 0, |i| state.x[i]);
    mean(simulation, 0, |i| (state.x[i] - centre).cross(state.v[i])).length()
}

/// Way of a sheet on a slope [mm]: the ground is level, and gravity leans.
fn slope(iterations: u32, friction: f64) -> Result<f64, SceneError> {
    let mut scene = scene(iterations, RADIUS, friction);
    let lean = 0.5_f64.atan();
    scene.gravity = 9.81 * Vec3::new(lean.sin(), 0.0, -lean.cos());
    scene.add_collider(named("ground"), shapes::grid([4.0, 4.0], [1, 1]), Motion::Static);
    scene.add_cloth(named("sheet"), sheet(SLOPE, RADIUS), ClothMaterial::default());
    let mut simulation = scene.build()?;
    let sheet = simulation.objects().iter().position(|o| o.name == "sheet").unwrap_or(0);
    let at = |s: &Simulation| mean(s, sheet, |i| s.state().x[i]).x;
    let from = at(&simulation);
    run(&mut simulation, 2.5);
    Ok(1e3 * (at(&simulation) - from))
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut iterations, mut folder) = (10, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--iterations" => iterations = value()?.parse()?,
            "--write" => folder = Some(PathBuf::from(value()?)),
            other => return Err(format!("not an option: {other}").into()),
        }
    }
    if let Some(folder) = &folder {
        for (name, shape) in [("fall", FALL), ("swing", SWING), ("layers", LAYERS), ("slope", SLOPE)] {
            let mesh = sheet(shape, 0.0);
            mesh_file::write(folder, &format!("motion-{name}"), &mesh.vertices, &mesh.triangles)?;
        }
    }
    println!("{}", machine::header());
    for radius in [5e-3, 1e-3, 2e-4] {
        machine::result(&format!("fall {} mm", 1e3 * radius), fall(iterations, radius)?, "of g t", &[]);
    }
    machine::result("swing", swing(iterations)?, "kept", &[]);
    let fast = layers(iterations, RADIUS, 50.0 * Vec3::Z, Vec3::ZERO)?;
    let height = |object| mean(&fast, object, |i| fast.state().x[i]).z;
    let kept = mean(&fast, 0, |i| fast.state().v[i]).z / 50.0;
    machine::result("layers", kept, "kept", &[("gap_mm", 1e3 * (height(1) - height(0)))]);
    let [cut, free] =
        [RADIUS, OFF].map(|radius| layers(iterations, radius, Vec3::ZERO, 20.0 * Vec3::Z).map(|s| spin(&s)));
    machine::result("turn", cut? / free?, "kept", &[]);
    for friction in [0.51, 0.50, 0.49] {
        machine::result(&format!("slope {friction:.2}"), slope(iterations, friction)?, "mm", &[]);
    }
    Ok(())
}
