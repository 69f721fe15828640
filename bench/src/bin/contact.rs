//! Times the broad phase, additive CCD and the planar truncation on crumpled stacks of sheets, on one thread.
//!
//! `cargo run --release -p littoral-bench --bin contact -- [TRIANGLES …] [--write DIR]`
//!
//! Processor times, the median of five. `detect` is the broad phase with the division plane of every pair; the two
//! truncations are per listed pair, for motions that stay well inside the gaps and for ten times as much.

use littoral_bench::{machine, mesh_file, stack};
use littoral_geom::math::{Aabb, Vec3};
use littoral_geom::mesh::connected_components;
use littoral_geom::pairs::{BroadPhase, Query};
use littoral_sim::safe::{Detection, Detector, Displacement, Geometry, Prediction, SafePositions};
use littoral_sim::settings::{SolverSettings, Truncation};
use littoral_sim::truncation::{Request, Truncator};
use std::error::Error;
use std::path::{Path, PathBuf};

/// Repetitions of each measurement.
const RUNS: usize = 5;
/// Pairs to truncate under one reading of the clock, whose ticks are of some milliseconds.
const CLOCKED_PAIRS: f64 = 5e6;

fn main() -> Result<(), Box<dyn Error>> {
    let (mut sizes, mut folder) = (Vec::new(), None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--write" => folder = Some(PathBuf::from(arguments.next().ok_or("--write needs a folder")?)),
            size => sizes.push(size.parse().map_err(|_| format!("not an option: {size}"))?),
        }
    }
    if sizes.is_empty() {
        sizes = vec![10_000, 50_000, 200_000];
    }
    println!("{}", machine::header());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    for size in sizes {
        let stack = stack::crumpled(size);
        if let Some(folder) = &folder {
            write(folder, size, &stack)?;
        }
        pool.install(|| {
            broad_phase(size, &stack);
            truncations(size, &stack);
        });
    }
    Ok(())
}

fn write(folder: &Path, size: u32, stack: &stack::Stack) -> Result<(), Box<dyn Error>> {
    mesh_file::write(folder, &format!("stack-{size}"), &stack.x, &stack.surface.triangles)?;
    mesh_file::write(folder, &format!("stack-{size}-moved"), &stack.moved, &[])?;
    let json = format!("{{\"reach\": {}}}\n", stack.reach);
    Ok(std::fs::write(folder.join(format!("stack-{size}.json")), json)?)
}

/// Processor time of one call [s].
fn time(call: impl FnOnce()) -> f64 {
    let start = machine::thread_cpu_seconds();
    call();
    machine::thread_cpu_seconds() - start
}

/// Building the trees and searching them, and searching again after a motion.
fn broad_phase(size: u32, stack: &stack::Stack) {
    let n = stack.x.len();
    let (reach, active) = (vec![stack.reach; n], vec![true; n]);
    let (mut vt, mut ee) = (Vec::new(), Vec::new());
    let (mut first, mut again) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let mut broad_phase = BroadPhase::new(&stack.surface, n);
        for (x, times) in [(&stack.x, &mut first), (&stack.moved, &mut again)] {
            let boxes: Vec<Aabb> = x.iter().map(|&p| Aabb::point(p).inflated(stack.reach)).collect();
            let query = Query {
                x,
                boxes: &boxes,
                tubes: &[],
                reach: &reach,
                offset: 0.0,
                active: &active,
                rigid: &[],
            };
            times.push(time(|| broad_phase.detect(&stack.surface, &query, &mut vt, &mut ee)));
        }
    }
    let (first, again) = (1e3 * machine::median(first), 1e3 * machine::median(again));
    let pairs = (vt.len() + ee.len()) as f64;
    machine::result(&format!("broad phase {size}"), again, "ms", &[("first", first), ("candidates", pairs)]);
}

fn truncations(size: u32, stack: &stack::Stack) {
    // 1. Detection, with all that the truncations need.
    let n = stack.x.len();
    let component = connected_components(n, &stack.surface.triangles, &[]);
    let count = component.iter().max().map_or(0, |&c| c as usize + 1);
    let geometry = Geometry {
        surface: stack.surface.clone(),
        tets: Vec::new(),
        component,
        prescribed: vec![false; count],
        active: vec![true; n],
        collider_triangles: vec![Vec::new(); count],
        ..Geometry::default()
    };
    let safe = SafePositions::trusted(stack.x.clone());
    let mut detection = Detection::unlimited(&safe);
    let (wanted, margin) = (vec![Vec3::ZERO; n], vec![stack.reach; n]);
    let prediction =
        Prediction { wanted: &wanted, margin: &margin, contact_radius: 0.1 * stack.reach, present: &[] };
    let mut detector = Detector::new(&geometry);
    let mut detect = || time(|| detector.detect(&geometry, &safe, &prediction, &mut detection));
    let detect = 1e3 * machine::median((0..RUNS).map(|_| detect()).collect());
    let pairs = detection.planes.len() as f64;
    machine::result(&format!("detect {size}"), detect, "ms", &[("candidates", pairs)]);
    // 2. All points at once.
    let moved: Vec<u32> = (0..n as u32).collect();
    let cases = [
        ("planar", Truncation::Planar, 1.0),
        ("planar, crowded", Truncation::Planar, 10.0),
        ("additive CCD", Truncation::Ccd, 1.0),
    ];
    for (what, truncation, scale) in cases {
        let mut truncator = Truncator::new(&SolverSettings { truncation, ..SolverSettings::default() });
        let step = stack.moved.iter().zip(&stack.x).map(|(&b, &a)| scale * (b - a));
        let proposals: Vec<Vec3> = step.collect();
        let mut cut = 0;
        let mut times = Vec::new();
        let calls = (CLOCKED_PAIRS / pairs).ceil().max(1.0);
        for _ in 0..RUNS {
            let mut dx: Vec<Displacement> = (0..calls as usize).map(|_| Displacement::zero(&safe)).collect();
            dx.iter_mut().for_each(|dx| dx.edit().copy_from_slice(&proposals));
            let request = Request { moved: &moved, ..Request::default() };
            times.push(time(|| {
                for dx in &mut dx {
                    cut = truncator.apply(safe.as_slice(), &detection, dx, &request).truncated;
                }
            }));
        }
        let nanoseconds = 1e9 * machine::median(times) / (pairs * calls);
        let more = [("candidates", pairs), ("cut", f64::from(cut))];
        machine::result(&format!("{what} {size}"), nanoseconds, "ns/candidate", &more);
    }
}
