//! What a segment of a rod costs per iteration: hanging ropes, alone and in a heap.
//!
//! `RAYON_NUM_THREADS=1 cargo run --release -p littoral-sim --example bench_rods`

use littoral_geom::math::Vec3;
use littoral_geom::shapes;
use littoral_sim::motion::Motion;
use littoral_sim::scene::{Pin, Placement, RodMaterial, SceneBuilder};
use littoral_sim::settings::{ContactSettings, SolverSettings};
use littoral_sim::simulation::Simulation;

/// Ropes of `segments` segments each, held at one end, far apart or close.
fn ropes(count: u32, segments: u32, apart: f64) -> Simulation {
    let solver = SolverSettings { iterations: 20, step: Some(1.0 / 240.0), ..SolverSettings::default() };
    let mut scene = SceneBuilder::new(solver, ContactSettings::default());
    for k in 0..count {
        let at = Vec3::new(0.0, apart * f64::from(k), 0.0);
        let mesh = shapes::segment_line(at, at + Vec3::X * 0.02 * f64::from(segments), segments);
        let pins = vec![Pin { vertices: vec![0], motion: Motion::Static, release: None }];
        let placement = Placement { name: format!("rope-{k}"), pins, ..Placement::default() };
        scene.add_rod(placement, mesh, RodMaterial { radius: 4e-3, ..RodMaterial::default() });
    }
    scene.build().expect("a valid scene")
}

fn main() {
    println!(
        "{:>28} {:>10} {:>10} {:>10} {:>10}   µs per segment and iteration",
        "", "all", "forces", "truncate", "detect"
    );
    for (name, count, segments, apart) in [
        ("one rope of 1000", 1, 1000, 1.0),
        ("10 ropes of 100, apart", 10, 100, 1.0),
        ("40 ropes of 50, 9 mm apart", 40, 50, 9e-3),
    ] {
        let mut sim = ropes(count, segments, apart);
        let (mut all, mut forces, mut truncate, mut detect, mut sweeps) = (0.0, 0.0, 0.0, 0.0, 0u32);
        let began = std::time::Instant::now();
        for step in 0..120 {
            let report = sim.step(1.0 / 240.0);
            // The first steps warm the memory up.
            if step >= 20 {
                let p = report.phases;
                forces += p.forces;
                truncate += p.truncate;
                detect += p.detect;
                all += p.forces + p.truncate + p.detect + p.solve;
                sweeps += report.iterations;
            }
        }
        let scale = 1e6 / (f64::from(sweeps) * f64::from(count * segments));
        println!(
            "{name:>28} {:>10.3} {:>10.3} {:>10.3} {:>10.3}   {:.1} s",
            all * scale,
            forces * scale,
            truncate * scale,
            detect * scale,
            began.elapsed().as_secs_f64()
        );
    }
}
