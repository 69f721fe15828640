//! Times the search for near pairs and the referee on crumpled stacks of sheets.
//!
//! `cargo run --release -p littoral-geom --example bench_broadphase [triangles …]`
//!
//! Prints the best of several runs in ms: `first` builds the trees, `again` is a later call on moved positions, which
//! refits them; `cpu` is the same as `again` in processor time of one thread, which other programs disturb less.

use littoral_geom::math::{Aabb, Vec3};
use littoral_geom::mesh::unique_edges;
use littoral_geom::pairs::{BroadPhase, Query, Surface};
use littoral_geom::random::Random;
use littoral_geom::referee::Referee;
use std::time::Instant;

/// Repetitions; the best counts.
const RUNS: usize = 7;

/// Sheets of edge length h = 1/cells, folded up to 70° steep, 0.5 h apart before folding, ruffled and jittered.
fn stack(triangles_wanted: usize, sheets: usize) -> (Vec<Vec3>, Vec<[u32; 3]>, f64) {
    let cells = (triangles_wanted as f64 / (2 * sheets) as f64).sqrt().round() as usize;
    let h = 1.0 / cells as f64;
    let mut random = Random::new(1);
    let (mut x, mut triangles) = (Vec::new(), Vec::new());
    for sheet in 0..sheets {
        let (mut along, mut up) = (0.0, 0.0);
        let mut profile = vec![(along, up)];
        for i in 0..cells {
            let angle = 1.2 * (12.0 * std::f64::consts::TAU * (i as f64 + 0.5) * h).sin();
            (along, up) = (along + h * angle.cos(), up + h * angle.sin());
            profile.push((along, up));
        }
        let first = x.len() as u32;
        for j in 0..=cells {
            let y = j as f64 * h;
            for &(along, up) in &profile {
                let ruffle = 0.02 * (15.0 * y + 9.0 * along).sin();
                let z = up + ruffle + 0.5 * h * sheet as f64;
                x.push(Vec3::new(along, y, z) + 0.05 * h * random.in_cube(1.0));
            }
        }
        let row = cells as u32 + 1;
        for j in 0..cells as u32 {
            for i in 0..cells as u32 {
                let k = first + j * row + i;
                triangles.push([k, k + 1, k + row + 1]);
                triangles.push([k, k + row + 1, k + row]);
            }
        }
    }
    (x, triangles, h)
}

/// Processor time of this thread so far [ms]; 0 where the system does not tell.
fn thread_cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|n| n.parse::<f64>().ok()).unwrap_or(0.0) / 1e6
}

/// Wall and processor time of one call [ms].
fn time(mut f: impl FnMut()) -> (f64, f64) {
    let (start, cpu) = (Instant::now(), thread_cpu());
    f();
    (start.elapsed().as_secs_f64() * 1e3, thread_cpu() - cpu)
}

fn main() {
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![10_000, 50_000, 200_000] } else { sizes };
    println!(
        "triangles sheets threads |  first  again    cpu        VT        EE | referee    cpu     tests crossings"
    );
    let stacks = sizes.into_iter().map(|size| (size, 10));
    for (size, sheets) in stacks.chain([(20_000, 1)]) {
        let (x, triangles, h) = stack(size, sheets);
        let n = x.len();
        let edges = unique_edges(&triangles);
        let surface = Surface { vertices: (0..n as u32).collect(), edges, triangles };
        let (reach, active) = (vec![0.1 * h; n], vec![true; n]);
        let referee = Referee::new(&surface.edges, &surface.triangles, &[], &active);
        // Positions of the next detection: moved by less than the reach.
        let mut random = Random::new(2);
        let moved: Vec<Vec3> = x.iter().map(|&p| p + 0.02 * h * random.in_cube(1.0)).collect();
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
            let (mut vt, mut ee) = (Vec::new(), Vec::new());
            let mut best = [f64::INFINITY; 5];
            let mut verdict = (Vec::new(), 0);
            let mut keep = |k: usize, t: f64| best[k] = best[k].min(t);
            for _ in 0..RUNS {
                pool.install(|| {
                    let mut broad_phase = BroadPhase::new(&surface, n);
                    for (call, x) in [&x, &moved, &x].into_iter().enumerate() {
                        let boxes: Vec<Aabb> = x.iter().map(|&p| Aabb::point(p).inflated(0.1 * h)).collect();
                        let query = Query {
                            x,
                            boxes: &boxes,
                            tubes: &[],
                            reach: &reach,
                            offset: 0.0,
                            active: &active,
                            rigid: &[],
                        };
                        let (wall, cpu) = time(|| broad_phase.detect(&surface, &query, &mut vt, &mut ee));
                        keep(call.min(1), wall);
                        keep(2, if call == 0 { f64::INFINITY } else { cpu });
                    }
                    let (wall, cpu) = time(|| verdict = referee.crossings(&x));
                    keep(3, wall);
                    keep(4, cpu);
                });
            }
            let [first, again, cpu, judged, judged_cpu] = best;
            println!(
                "{:9} {sheets:6} {threads:7} | {first:6.1} {again:6.1} {cpu:6.1} {:9} {:9} | {judged:7.1} {judged_cpu:6.1} {:9} {:9}",
                surface.triangles.len(),
                vt.len(),
                ee.len(),
                verdict.1,
                verdict.0.len()
            );
        }
    }
}
