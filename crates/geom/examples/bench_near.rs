//! Time of the search for triangles near 100,000 particles:
//! `RAYON_NUM_THREADS=1 cargo run --release -p littoral-geom --example bench_near`.

use littoral_geom::math::{Quat, Vec3};
use littoral_geom::near::NearTriangles;
use littoral_geom::shapes;
use std::time::Instant;

fn main() {
    let dx = 0.02;
    let particles: Vec<Vec3> = (0..100_000)
        .map(|i| dx * (Vec3::new((i % 50) as f64, (i / 50 % 50) as f64, (i / 2500) as f64) + 0.5))
        .map(|p| p - Vec3::new(0.5, 0.5, 0.4))
        .collect();
    // A tank of twelve triangles around them, straight and turned; and a ball of 20,480 among them.
    let tank = shapes::cuboid([1.0, 1.0, 0.8], [1; 3]);
    let ball = shapes::sphere(0.2, 5);
    let turn = Quat::from_axis_angle(Vec3::new(1.0, 2.0, 3.0).normalize(), 0.6);
    let turned = |points: &[Vec3]| points.iter().map(|p| turn * *p).collect::<Vec<_>>();
    for (name, x, triangles, particles) in [
        ("tank", tank.vertices.clone(), &tank.triangles, particles.clone()),
        ("turned tank", turned(&tank.vertices), &tank.triangles, turned(&particles)),
        ("ball", ball.vertices.clone(), &ball.triangles, particles.clone()),
        ("far ball", ball.vertices.iter().map(|p| p + Vec3::X).collect(), &ball.triangles, particles.clone()),
    ] {
        let mut near = NearTriangles::default();
        let mut best = f64::INFINITY;
        for _ in 0..10 {
            let start = Instant::now();
            near.fit_positions(&x, triangles, &particles, 1.5 * dx);
            best = best.min(start.elapsed().as_secs_f64());
        }
        println!("{name}: {:.2} ms, {} entries", 1e3 * best, near.entries().len());
    }
}
