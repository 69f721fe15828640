//! What contact holds: a pile of sheets, sheets that cross at the start, few iterations, plates that close on a sheet.
//!
//! `cargo run --release -p littoral-bench --bin holds -- [--write DIR]`
//!
//! | case | number |
//! |---|---|
//! | `pile` | five sheets on the ground: how far the mean height of the uppermost sinks from 1 s to 3 s [mm] |
//! | `crossed` | two sheets that cross at right angles at the start, without gravity: crossings after 1 s |
//! | `drop K` | a sheet that falls on another one held at its rim, K iterations a step: most crossings seen in 0.5 s |
//! | `close` | a sheet between two plates that close, pass each other by 5 mm and open again: most crossings of the sheet |
//!
//! `--write` leaves the meshes for the peers in DIR.

use littoral_bench::{machine, mesh_file};
use littoral_geom::math::{Quat, Vec3};
use littoral_geom::mesh::TriMesh;
use littoral_geom::shapes;
use littoral_sim::motion::{Keyframe, Motion};
use littoral_sim::scene::{ClothMaterial, Pin, Placement, SceneBuilder, SceneError};
use littoral_sim::settings::{ContactSettings, SolverSettings};
use littoral_sim::simulation::Simulation;
use std::error::Error;
use std::path::PathBuf;

/// Time step [s].
const STEP: f64 = 1.0 / 240.0;
/// Contact radius [m].
const RADIUS: f64 = 1e-3;
/// Distance of the sheets of the pile at the start [m].
const APART: f64 = 2e-3;
/// Iterations a step where the case names none.
const ITERATIONS: u32 = 10;
/// Steps between two counts of crossings.
const EVERY: u32 = 6;

/// A sheet's side [m] and cells along it.
const PILE: (f64, u32) = (0.2, 10);
const DROP: (f64, u32) = (0.4, 16);
const PLATE: (f64, u32) = (0.3, 2);

/// Height of the drop, and of the plates above and below the sheet at the start [m].
const HEIGHT: f64 = 0.2;
const OPEN: f64 = 0.02;
/// How far each plate is past the middle when they are closed [m].
const PAST: f64 = 2.5e-3;

fn sheet((size, cells): (f64, u32), z: f64) -> TriMesh {
    let mut mesh = shapes::grid([size, size], [cells, cells]);
    mesh.vertices.iter_mut().for_each(|p| p.z += z);
    mesh
}

fn upright(shape: (f64, u32)) -> TriMesh {
    let mut mesh = sheet(shape, 0.0);
    // A little aside, so that no edges meet in a point.
    mesh.vertices.iter_mut().for_each(|p| *p = Vec3::new(p.x + 0.003, p.z + 0.007, p.y + 0.005));
    mesh
}

fn named(name: &str) -> Placement {
    Placement { name: name.into(), ..Placement::default() }
}

fn scene(iterations: u32, gravity: f64) -> SceneBuilder {
    let settings = SolverSettings { iterations, ..SolverSettings::default() };
    let contact = ContactSettings { radius: RADIUS, friction: 0.3, ..ContactSettings::default() };
    let mut scene = SceneBuilder::new(settings, contact);
    scene.gravity = gravity * Vec3::NEG_Z;
    scene
}

fn object(simulation: &Simulation, name: &str) -> std::ops::Range<usize> {
    let found = simulation.objects().iter().find(|o| o.name == name);
    found.map_or(0..0, |o| o.range())
}

/// What a run showed.
#[derive(Default)]
struct Seen {
    /// Crossings at the end, and at most.
    crossings: [usize; 2],
    /// Fastest point of any step [m/s].
    fastest: f64,
}

/// Runs on, and counts every now and then.
fn run(simulation: &mut Simulation, seconds: f64) -> Seen {
    let steps = (seconds / STEP).round() as u32;
    let mut seen = Seen::default();
    for step in 1..=steps {
        simulation.step(STEP);
        let fastest = simulation.state().v.iter().map(|v| v.length()).fold(0.0, f64::max);
        seen.fastest = seen.fastest.max(fastest);
        if step % EVERY == 0 || step == steps {
            let now = simulation.judge().all_crossings().len();
            seen.crossings = [now, now.max(seen.crossings[1])];
        }
    }
    seen
}

fn pile() -> Result<(), SceneError> {
    let mut scene = scene(ITERATIONS, 9.81);
    scene.add_collider(named("ground"), shapes::grid([4.0, 4.0], [1, 1]), Motion::Static);
    for k in 0..5 {
        let z = RADIUS + f64::from(k) * APART;
        scene.add_cloth(named(&format!("sheet-{k}")), sheet(PILE, z), ClothMaterial::default());
    }
    let mut simulation = scene.build()?;
    let top = object(&simulation, "sheet-4");
    let height =
        |s: &Simulation| 1e3 * s.state().x[top.clone()].iter().map(|p| p.z).sum::<f64>() / top.len() as f64;
    run(&mut simulation, 1.0);
    let early = height(&simulation);
    let seen = run(&mut simulation, 2.0);
    let late = height(&simulation);
    let more = [("height_mm", late), ("crossings", seen.crossings[1] as f64)];
    machine::result("pile", early - late, "mm", &more);
    Ok(())
}

fn crossed() -> Result<(), SceneError> {
    let mut scene = scene(ITERATIONS, 0.0);
    scene.add_cloth(named("flat"), sheet(PILE, 0.0), ClothMaterial::default());
    scene.add_cloth(named("upright"), upright(PILE), ClothMaterial::default());
    let mut simulation = scene.build()?;
    let start = simulation.judge().all_crossings().len();
    let seen = run(&mut simulation, 1.0);
    let more = [("start", start as f64), ("fastest_m_per_s", seen.fastest)];
    machine::result("crossed", seen.crossings[0] as f64, "crossings", &more);
    Ok(())
}

fn drop(iterations: u32) -> Result<(), SceneError> {
    let mut scene = scene(iterations, 9.81);
    let lower = sheet(DROP, 0.0);
    let edge = 0.499 * DROP.0;
    let rim =
        (0..lower.vertices.len() as u32).filter(|&v| lower.vertices[v as usize].abs().max_element() > edge);
    let pins = vec![Pin { vertices: rim.collect(), motion: Motion::Static, release: None }];
    scene.add_cloth(Placement { pins, ..named("lower") }, lower, ClothMaterial::default());
    scene.add_cloth(named("upper"), sheet(DROP, HEIGHT), ClothMaterial::default());
    let mut simulation = scene.build()?;
    let seen = run(&mut simulation, 0.5);
    let lowest = simulation.state().x.iter().map(|p| p.z).fold(f64::INFINITY, f64::min);
    let more = [("end", seen.crossings[0] as f64), ("lowest_mm", 1e3 * lowest)];
    machine::result(&format!("drop {iterations}"), seen.crossings[1] as f64, "crossings", &more);
    Ok(())
}

fn close() -> Result<(), SceneError> {
    let mut scene = scene(ITERATIONS, 0.0);
    for (name, side) in [("above", 1.0), ("below", -1.0)] {
        let closed = -side * (OPEN + PAST);
        let key = |time, z| Keyframe { time, position: Vec3::new(0.0, 0.0, z), rotation: Quat::IDENTITY };
        let keys = vec![key(0.0, 0.0), key(0.1, closed), key(0.15, closed), key(0.25, 0.0)];
        let motion = Motion::Keyframes { center: Vec3::ZERO, keys };
        scene.add_collider(named(name), sheet(PLATE, side * OPEN), motion);
    }
    scene.add_cloth(named("sheet"), sheet(PILE, 0.0), ClothMaterial::default());
    let mut simulation = scene.build()?;
    let cloth = object(&simulation, "sheet");
    let seen = run(&mut simulation, 0.4);
    let z = simulation.state().x[cloth].iter().map(|p| p.z.abs()).fold(0.0, f64::max);
    let more =
        [("end", seen.crossings[0] as f64), ("farthest_mm", 1e3 * z), ("fastest_m_per_s", seen.fastest)];
    machine::result("close", seen.crossings[1] as f64, "crossings", &more);
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut folder = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--write" => folder = Some(PathBuf::from(arguments.next().ok_or("--write needs a folder")?)),
            other => return Err(format!("not an option: {other}").into()),
        }
    }
    if let Some(folder) = &folder {
        let meshes = [
            ("pile", sheet(PILE, 0.0)),
            ("upright", upright(PILE)),
            ("drop", sheet(DROP, 0.0)),
            ("plate", sheet(PLATE, 0.0)),
        ];
        for (name, mesh) in meshes {
            mesh_file::write(folder, &format!("holds-{name}"), &mesh.vertices, &mesh.triangles)?;
        }
    }
    println!("{}", machine::header());
    pile()?;
    crossed()?;
    for iterations in [1, 2, 5, 20] {
        drop(iterations)?;
    }
    close()?;
    Ok(())
}
