//! Times the fluid phase: a conjugate gradient iteration, the freezing of a step, and a dam break in an analytic box.
//!
//! `cargo run --release -p littoral-sim --example bench_fluid [kernels | dam [CELLS COURANT VOLUME_ERROR SECONDS]]`
//!
//! Prints processor time, which other programs disturb less than wall time: nanoseconds per particle and iteration
//! on one and two threads (everything in an iteration, not the two passes of the Hessian alone), nanoseconds per
//! particle of `prepare`, and processor seconds per simulated second of the dam break.

use littoral_geom::math::{Aabb, Vec3, outer};
use littoral_geom::particle_grid::ParticleGrid;
use littoral_geom::random::Random;
use littoral_sim::fluid::{Fluid, FluidMaterial, Link, SolveSettings, StepLimits, Wall, stiffness_for};
use std::time::Instant;

const G: f64 = 9.81;

/// Processor time of this process [s]; 0 where the system does not tell. Linux counts in ticks of 10 ms.
fn cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = text.rsplit(") ").next().unwrap_or_default();
    let ticks = |k: usize| after_name.split(' ').nth(k).and_then(|n| n.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

/// Processor time of all threads of this process [s], to the nanosecond where the system tells.
fn cpu_exact() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let time = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(path.join("schedstat")).unwrap_or_default();
        text.split(' ').next().and_then(|n| n.parse::<f64>().ok()).unwrap_or(0.0) * 1e-9
    };
    tasks.map(|task| time(task.path())).sum()
}

fn lattice(dx: f64, count: [usize; 3]) -> Vec<Vec3> {
    let [nx, ny, nz] = count;
    let point = |i: usize| Vec3::new((i % nx) as f64, (i / nx % ny) as f64, (i / nx / ny) as f64);
    (0..nx * ny * nz).map(|i| dx * (point(i) + 0.5)).collect()
}

fn kernels(side: usize, threads: usize, viscosity: f64) {
    let dx = 0.01;
    let mut random = Random::new(1);
    let x: Vec<Vec3> = lattice(dx, [side; 3]).iter().map(|p| *p + 0.1 * dx * random.in_cube(1.0)).collect();
    let x_hat: Vec<Vec3> = x.iter().map(|p| *p + 0.01 * dx * random.in_cube(1.0)).collect();
    let water = FluidMaterial { density: 1000.0, viscosity, stiffness: 1e7 };
    let mut fluid = Fluid::new(dx, 2.0, vec![water], vec![0; x.len()]).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let n = x.len() as f64;
    pool.install(|| {
        let solve = |fluid: &mut Fluid, iterations| {
            let settings =
                SolveSettings { tolerance: 1e-12, max_iterations: iterations, ..SolveSettings::default() };
            let (start, from) = (Instant::now(), cpu());
            let report = fluid.solve(&x_hat, &[], &[], &[], &settings).report;
            (report.iterations, start.elapsed().as_secs_f64(), cpu() - from)
        };
        fluid.prepare(&x, 2e-3, &[], &[], None);
        let runs = 2_000_000 / x.len() + 1;
        let from = cpu();
        let mut grid = ParticleGrid::default();
        for _ in 0..runs {
            grid.fit(&x, fluid.support());
        }
        let search = cpu() - from;
        let (start, from) = (Instant::now(), cpu());
        for _ in 0..runs {
            fluid.prepare(&x, 2e-3, &[], &[], None);
        }
        let frozen = (start.elapsed().as_secs_f64(), cpu() - from);
        // What a solve costs besides its iterations cancels in the difference.
        let (mut few, mut many) = ((0, 0.0, 0.0), (0, 0.0, 0.0));
        for _ in 0..8 {
            for (sum, iterations) in [(&mut few, 5), (&mut many, 65)] {
                let s = solve(&mut fluid, iterations);
                *sum = (sum.0 + s.0, sum.1 + s.1, sum.2 + s.2);
            }
        }
        let count = n * f64::from(many.0 - few.0);
        println!(
            "{:7} particles, {threads} threads, ν {viscosity}: iteration {:.0} ns wall, {:.0} ns cpu; \
             solve besides {:.0} ns cpu; prepare {:.0} ns wall, {:.0} ns cpu, of which neighbours {:.0}",
            x.len(),
            (many.1 - few.1) / count * 1e9,
            (many.2 - few.2) / count * 1e9,
            (few.2 / 8.0 - (many.2 - few.2) / f64::from(many.0 - few.0) * f64::from(few.0) / 8.0) / n * 1e9,
            frozen.0 / n / runs as f64 * 1e9,
            frozen.1 / n / runs as f64 * 1e9,
            search / n / runs as f64 * 1e9,
        );
    });
}

fn walls_of(inside: &Aabb, x: &[Vec3], support: f64) -> Vec<Wall> {
    let mut walls = Vec::new();
    for (i, p) in x.iter().enumerate() {
        for axis in 0..3 {
            for side in [1.0, -1.0] {
                let mut normal = Vec3::ZERO;
                normal[axis] = side;
                let distance =
                    if side > 0.0 { p[axis] - inside.min[axis] } else { inside.max[axis] - p[axis] };
                if distance < support {
                    walls.push(Wall::fixed(i as u32, distance, normal));
                }
            }
        }
    }
    walls
}

/// A column a × a × 2a in a tank 4a × a × 3a, free slip, with steps of `courant` spacings and at most 5 ms, and a
/// stiffness for `volume_error` at rest.
fn dam_break(cells: usize, courant: f64, volume_error: f64, seconds: f64) {
    let a = 0.5;
    let dx = a / cells as f64;
    let mut x = lattice(dx, [cells, cells, 2 * cells]);
    let n = x.len();
    let inside = Aabb { min: Vec3::ZERO, max: Vec3::new(4.0 * a, a, 3.0 * a) };
    let stiffness = stiffness_for(volume_error, 1000.0, G, 2.0 * a, 0.0);
    let water = FluidMaterial { density: 1000.0, viscosity: 1e-6, stiffness };
    let mut fluid = Fluid::new(dx, 2.0, vec![water], vec![0; n]).unwrap();
    let mut v = vec![Vec3::ZERO; n];
    let mut push = vec![Vec3::ZERO; n];
    let (mut time, mut steps, mut iterations, mut fill_max) = (0.0, 0, 0, 0.0_f64);
    let (mut preparing, mut solving) = (0.0, 0.0);
    let mut next_line = 0.1 * seconds;
    let from = cpu();
    while time < seconds {
        let h = StepLimits { courant, ..StepLimits::default() }.step(dx, &v, G).min(seconds - time + 1e-9);
        let walls = walls_of(&inside, &x, fluid.support());
        let start = cpu_exact();
        fluid.prepare(&x, h, &[], &walls, None);
        preparing += cpu_exact() - start;
        let k = stiffness * dx;
        let close = walls.iter().filter(|w| w.distance < 0.5 * dx);
        let link = |w: &Wall| {
            let gradient = k * (w.distance - 0.5 * dx) * w.normal;
            Link::fixed(w.particle, gradient, k * outer(w.normal, w.normal))
        };
        let links: Vec<Link> = close.map(link).collect();
        let x_hat: Vec<Vec3> = (0..n).map(|i| x[i] + h * v[i] - h * h * G * Vec3::Z).collect();
        let warm: Vec<Vec3> = push.iter().map(|a| h * h * *a).collect();
        let start = cpu_exact();
        let solution = fluid.solve(&x_hat, &[], &links, &warm, &SolveSettings::default());
        solving += cpu_exact() - start;
        for i in 0..n {
            // A bare projection in place of the contact phase: this is about the fluid's cost.
            let p = solution.x[i].clamp(inside.min + 0.01 * dx, inside.max - 0.01 * dx);
            push[i] = (solution.x[i] - x_hat[i]) / (h * h);
            v[i] = (p - x[i]) / h;
            x[i] = p;
        }
        time += h;
        steps += 1;
        iterations += solution.report.iterations;
        fill_max = fluid.fill().iter().fold(fill_max, |m, f| m.max(*f));
        if time >= next_line {
            next_line += 0.1 * seconds;
            let front = x.iter().map(|p| p.x).fold(0.0, f64::max) + 0.5 * dx;
            let fill = fluid.fill();
            let over = fill.iter().map(|f| (f - 1.0).max(0.0)).sum::<f64>() / n as f64;
            println!(
                "  t {time:.3} T {:.2} front {:.3} h {h:.5} steps {steps} iterations {:.1} compression mean {:.4} max {:.3} cpu {:.2} s",
                time * (2.0 * G / a).sqrt(),
                front / a,
                f64::from(iterations) / f64::from(steps),
                over,
                fill_max - 1.0,
                cpu() - from,
            );
        }
    }
    let spent = cpu() - from;
    let per_step = |seconds: f64| seconds / f64::from(steps) / n as f64 * 1e6;
    println!(
        "dam break, {n} particles, Courant {courant}, volume error {volume_error}: {:.2} cpu s per simulated s, {steps} steps, \
         {:.1} iterations a step, {:.2} µs a particle-step, of which prepare {:.2} and solve {:.2}",
        spent / seconds,
        f64::from(iterations) / f64::from(steps),
        per_step(spent),
        per_step(preparing),
        per_step(solving),
    );
}

fn main() {
    let only = std::env::args().nth(1);
    if only.as_deref() != Some("dam") {
        for threads in [1, 2] {
            for side in [27, 46] {
                kernels(side, threads, 0.0);
            }
            kernels(46, threads, 1e-3);
        }
    }
    if only.as_deref() != Some("kernels") {
        let number = |k: usize, default: f64| std::env::args().nth(k).map_or(default, |a| a.parse().unwrap());
        let sizes = if std::env::args().len() > 2 { vec![number(2, 22.0)] } else { vec![14.0, 22.0] };
        for cells in sizes {
            dam_break(cells as usize, number(3, 0.4), number(4, 0.01), number(5, 1.0));
        }
    }
}
