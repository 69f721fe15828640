//! The twist of [Chen 2026, Fig. 10]: a square sheet whose ends turn against each other by ±π/3 rad/s.
//!
//! Cells of 1 cm, cotton, contact radius 2.5 mm, no gravity. A wound state is expensive to reach, so it can be kept in
//! a file, as raw little-endian numbers in the order of `Snapshot`.

use littoral_geom::math::Vec3;
use littoral_geom::shapes;
use littoral_sim::model::Snapshot;
use littoral_sim::motion::Motion;
use littoral_sim::scene::{ClothMaterial, Pin, Placement, SceneBuilder, SceneError};
use littoral_sim::settings::{ContactSettings, SolverSettings};
use littoral_sim::simulation::Simulation;
use std::fs;
use std::io;
use std::path::Path;

/// Length of a cell [m].
pub const CELL: f64 = 0.01;
/// Contact radius of the paper's scene [m].
pub const RADIUS: f64 = 2.5e-3;
/// Time step of the paper's scene [s].
pub const STEP: f64 = 1.0 / 600.0;
/// Angular speed of each end [rad/s].
pub const RATE: f64 = std::f64::consts::FRAC_PI_3;

/// A sheet of `cells` × `cells`, flat and at rest, its two ends about to turn.
pub fn scene(cells: u32, contact_radius: f64, settings: SolverSettings) -> Result<Simulation, SceneError> {
    let contact = ContactSettings { radius: contact_radius, ..ContactSettings::default() };
    let mut scene = SceneBuilder::new(settings, contact);
    scene.gravity = Vec3::ZERO;
    let side = f64::from(cells) * CELL;
    let mesh = shapes::grid([side, side], [cells, cells]);
    let pins = [-1.0, 1.0].map(|sign| {
        let end = 0.5 * sign * side;
        let at_end = |k: &u32| (mesh.vertices[*k as usize].x - end).abs() < 0.1 * CELL;
        Pin {
            vertices: (0..mesh.vertices.len() as u32).filter(at_end).collect(),
            motion: Motion::Twist {
                center: Vec3::new(end, 0.0, 0.0),
                spin: Vec3::new(-sign * RATE, 0.0, 0.0),
                velocity: Vec3::ZERO,
                start: 0.0,
                stop: f64::INFINITY,
            },
            release: None,
        }
    });
    let placement = Placement { name: "sheet".into(), pins: pins.into(), ..Placement::default() };
    let material = ClothMaterial { bending: Some(6e-6), ..ClothMaterial::default() };
    scene.add_cloth(placement, mesh, material);
    scene.build()
}

/// Winds a sheet for `seconds` and returns its state.
pub fn wind(cells: u32, seconds: f64, mut progress: impl FnMut(&Simulation)) -> Result<Snapshot, SceneError> {
    /// Coarser than the timed steps: a wound sheet is wanted, not this path to it.
    const WINDING_STEP: f64 = 1.0 / 300.0;
    let mut simulation = scene(cells, RADIUS, SolverSettings { iterations: 8, ..SolverSettings::default() })?;
    let steps = (seconds / WINDING_STEP).round() as u32;
    for step in 1..=steps {
        simulation.step(WINDING_STEP);
        if step % 150 == 0 {
            progress(&simulation);
        }
    }
    Ok(simulation.state().clone())
}

/// Writes a state to a file.
pub fn save(path: &Path, state: &Snapshot) -> io::Result<()> {
    let mut numbers = vec![state.time, state.step as f64];
    numbers.extend([state.x.len(), state.lag_max.len(), state.memory.len()].map(|n| n as f64));
    for field in [&state.x, &state.v, &state.v_before] {
        numbers.extend(field.iter().flat_map(|p| p.to_array()));
    }
    numbers.extend(state.lag_max.iter().chain(&state.memory));
    fs::write(path, numbers.iter().flat_map(|f| f.to_le_bytes()).collect::<Vec<u8>>())
}

/// Reads what `save` wrote; `None` when there is no such file or it is another kind.
pub fn load(path: &Path) -> Option<Snapshot> {
    let bytes = fs::read(path).ok()?;
    let all: Vec<f64> = bytes.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect();
    let mut at = 5;
    let mut take = |n: usize| {
        at += n;
        all.get(at - n..at)
    };
    let count = |k: usize| all.get(k).map(|f| *f as usize);
    let (n, objects, memory) = (count(2)?, count(3)?, count(4)?);
    let vectors = |f: &[f64]| f.as_chunks::<3>().0.iter().map(|p| Vec3::from_array(*p)).collect();
    Some(Snapshot {
        time: all[0],
        step: all[1] as u64,
        x: vectors(take(3 * n)?),
        v: vectors(take(3 * n)?),
        v_before: vectors(take(3 * n)?),
        lag_max: take(objects)?.to_vec(),
        memory: take(memory)?.to_vec(),
    })
}
