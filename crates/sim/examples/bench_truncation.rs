//! Cost of the planar truncation per listed pair, one thread, on a crumpled stack of sheets.
//!
//! `cargo run --release -p littoral-sim --example bench_truncation [sheets] [cells]`

use littoral_geom::math::Vec3;
use littoral_geom::mesh::{connected_components, unique_edges};
use littoral_geom::pairs::Surface;
use littoral_geom::random::Random;
use littoral_geom::shapes;
use littoral_sim::safe::{Detection, Detector, Displacement, Geometry, Prediction, SafePositions};
use littoral_sim::settings::SolverSettings;
use littoral_sim::truncation::{Request, Truncator};
use std::time::Instant;

fn main() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    pool.install(run);
}

fn run() {
    let mut arguments = std::env::args().skip(1).map(|a| a.parse::<u32>().expect("a number"));
    let (sheets, cells) = (arguments.next().unwrap_or(8), arguments.next().unwrap_or(80));
    // 1. Sheets of 1 m, 4 mm apart, in common folds.
    let (mut x, mut triangles) = (Vec::new(), Vec::new());
    let mut r = Random::new(1);
    for k in 0..sheets {
        let sheet = shapes::grid([1.0, 1.0], [cells, cells]);
        let first = x.len() as u32;
        x.extend(sheet.vertices.iter().map(|p| {
            let folds = 0.05 * (9.0 * p.x).sin() * (7.0 * p.y).cos() + 0.02 * (23.0 * p.x + 17.0 * p.y).sin();
            *p + Vec3::Z * (folds + 4e-3 * k as f64) + r.in_cube(1e-3)
        }));
        triangles.extend(sheet.triangles.iter().map(|t| t.map(|c| c + first)));
    }
    let n = x.len();
    let component = connected_components(n, &triangles, &[]);
    let surface = Surface { vertices: (0..n as u32).collect(), edges: unique_edges(&triangles), triangles };
    let count = component.iter().max().map_or(0, |&c| c as usize + 1);
    let (prescribed, collider_triangles) = (vec![false; count], vec![Vec::new(); count]);
    let geometry = Geometry {
        surface,
        tets: Vec::new(),
        component,
        prescribed,
        active: vec![true; n],
        collider_triangles,
        ..Geometry::default()
    };
    // 2. One detection: everything within 4 mm.
    let safe = SafePositions::trusted(x);
    let mut detection = Detection::unlimited(&safe);
    let (wanted, margin) = (vec![Vec3::ZERO; n], vec![1e-3; n]);
    let prediction = Prediction { wanted: &wanted, margin: &margin, contact_radius: 2e-3, present: &[] };
    let mut detector = Detector::new(&geometry);
    detector.detect(&geometry, &safe, &prediction, &mut detection);
    let planes = detection.planes.len();
    println!("{n} points, {} triangles, {planes} candidates", geometry.surface.triangles.len());
    // 3. All points at once, by more than their gaps and by far less.
    let mut truncator = Truncator::new(&SolverSettings::default());
    let moved: Vec<u32> = (0..n as u32).collect();
    for (what, length) in [("crowded: moves of 3 mm", 3e-3), ("typical: moves of 0.02 mm", 2e-5)] {
        let proposals: Vec<Vec3> = moved.iter().map(|_| r.direction() * length).collect();
        let mut best = f64::INFINITY;
        let mut cut = 0;
        for _ in 0..20 {
            let mut dx = Displacement::zero(&safe);
            dx.edit().copy_from_slice(&proposals);
            let start = Instant::now();
            let request = Request { moved: &moved, ..Request::default() };
            cut = truncator.apply(safe.as_slice(), &detection, &mut dx, &request).truncated;
            best = best.min(start.elapsed().as_secs_f64());
        }
        println!(
            "{what}: {:.1} ns a candidate, {:.2} ms, {cut} points cut",
            1e9 * best / planes as f64,
            1e3 * best
        );
    }
}
