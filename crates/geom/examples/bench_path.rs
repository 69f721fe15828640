//! Time of the leak test on 100,000 particles:
//! `RAYON_NUM_THREADS=1 cargo run --release -p littoral-geom --example bench_path`.

use littoral_geom::math::{Quat, Vec3};
use littoral_geom::random::Random;
use littoral_geom::referee::path::PathReferee;
use littoral_geom::shapes;
use std::time::Instant;

fn main() {
    let dx = 0.02;
    let mut r = Random::new(1);
    let lattice = |i: usize| Vec3::new((i % 50) as f64, (i / 50 % 50) as f64, (i / 2500) as f64) + 0.5;
    let particles: Vec<Vec3> = (0..100_000).map(|i| dx * lattice(i) - Vec3::new(0.5, 0.5, 0.4)).collect();
    let steps: Vec<Vec3> = particles.iter().map(|_| 0.4 * dx * r.direction()).collect();
    // A tank of twelve triangles around them, at rest and turned, and a ball of 20,480 that drifts.
    let tank = shapes::cuboid([1.0, 1.0, 0.8], [1; 3]);
    let ball = shapes::sphere(0.2, 5);
    let turn = Quat::from_axis_angle(Vec3::new(1.0, 2.0, 3.0).normalize(), 0.6);
    for (name, mesh, turn, drift) in [
        ("tank", &tank, Quat::IDENTITY, Vec3::ZERO),
        ("turned tank", &tank, turn, Vec3::ZERO),
        ("turned tank that moves", &tank, turn, 0.1 * dx * Vec3::X),
        ("ball", &ball, turn, Vec3::ZERO),
        ("ball that moves", &ball, turn, 0.1 * dx * Vec3::X),
    ] {
        let surface = mesh.vertices.len() as u32;
        let x0: Vec<Vec3> = mesh.vertices.iter().chain(&particles).map(|p| turn * *p).collect();
        let moved =
            mesh.vertices.iter().map(|p| *p + drift).chain(particles.iter().zip(&steps).map(|(p, d)| p + d));
        let x1: Vec<Vec3> = moved.map(|p| turn * p).collect();
        let referee = PathReferee::new(&mesh.triangles, &(surface..x0.len() as u32).collect::<Vec<_>>());
        let start = Instant::now();
        let found = referee.crossings(&x0, &x1).0.len();
        println!("{name}: {:.1} ms, {found} crossings", 1e3 * start.elapsed().as_secs_f64());
    }
}
