//! Times the fluid's linear solve: matrix-free, with the matrix assembled, and factorised.
//!
//! `cargo run --release -p littoral-bench --bin fluid -- [SIDE …] [--factorise-up-to PARTICLES]`
//!
//! A cube of water of SIDE³ particles in a box, the first step under gravity, on one thread; processor times. A "solve"
//! starts from a prepared step: matrix-free it is the residuals, the preconditioner and the iterations; assembled, the
//! products of conjugate gradients to the same tolerance with the explicit matrix in single precision (`assembly` is
//! timed apart, and not optimised); factorised, an elimination order by dissection of space, the analysis and the
//! numbers.

use littoral_bench::{direct, machine};
use littoral_geom::math::Vec3;
use littoral_geom::random::Random;
use littoral_sim::fluid::{Assembled, Fluid, FluidMaterial, SolveSettings, Wall, stiffness_for};
use std::error::Error;

const G: f64 = 9.81;
/// Applications to time.
const RUNS: u32 = 20;

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let (mut sides, mut largest) = (Vec::new(), 30_000);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--factorise-up-to" => {
                largest = arguments.next().ok_or("--factorise-up-to needs a number")?.parse()?;
            }
            side => sides.push(side.parse().map_err(|_| format!("not an option: {side}"))?),
        }
    }
    if sides.is_empty() {
        sides = vec![27, 46];
    }
    println!("{}", machine::header());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    for side in sides {
        pool.install(|| compare(side, largest))?;
    }
    Ok(())
}

/// Processor time of one call [s], and its result.
fn time<T>(call: impl FnOnce() -> T) -> (f64, T) {
    let start = machine::thread_cpu_seconds();
    let result = call();
    (machine::thread_cpu_seconds() - start, result)
}

/// A prepared cube of water, half a metre wide, and its predictor.
fn cube(side: usize) -> (Fluid, Vec<Vec3>) {
    let (width, h) = (0.5, 2.5e-3);
    let dx = width / side as f64;
    let mut random = Random::new(1);
    let mut x = Vec::new();
    for k in 0..side {
        for j in 0..side {
            for i in 0..side {
                x.push(dx * (Vec3::new(i as f64, j as f64, k as f64) + 0.5 + 0.1 * random.in_cube(1.0)));
            }
        }
    }
    let stiffness = stiffness_for(0.01, 1000.0, G, width, 0.0);
    let water = FluidMaterial { density: 1000.0, viscosity: 0.0, stiffness };
    let mut fluid = Fluid::new(dx, 2.0, vec![water], vec![0; x.len()]).expect("a valid material");
    let mut walls = Vec::new();
    for (i, p) in x.iter().enumerate() {
        for axis in 0..3 {
            let normal = Vec3::AXES[axis];
            walls.push(Wall::fixed(i as u32, p[axis], normal));
            if axis < 2 {
                walls.push(Wall::fixed(i as u32, width - p[axis], -normal));
            }
        }
    }
    fluid.prepare(&x, h, &[], &walls, None);
    let fall = |p: &Vec3| *p + h * 0.1 * random.in_cube(1.0) - h * h * G * Vec3::Z;
    let x_hat = x.iter().map(fall).collect();
    (fluid, x_hat)
}

fn compare(side: usize, largest: usize) -> Result<(), Box<dyn Error + Send + Sync>> {
    let (mut fluid, x_hat) = cube(side);
    let n = x_hat.len() as f64;
    let settings =
        |tolerance, max_iterations| SolveSettings { tolerance, max_iterations, ..Default::default() };
    let mut solve = |tolerance, limit| {
        let (seconds, solution) = time(|| fluid.solve(&x_hat, &[], &[], &[], &settings(tolerance, limit)));
        (seconds, solution.report.iterations, solution.x)
    };
    // What a solve costs besides its iterations cancels in the difference.
    let (mut few, mut many) = (0.0, 0.0);
    for _ in 0..5 {
        few += solve(1e-12, 5).0 / 5.0;
        many += solve(1e-12, 65).0 / 5.0;
    }
    let free_application = (many - few) / 60.0;
    let (free, iterations, _) = solve(1e-3, 1000);
    let (_, _, exact) = solve(1e-9, 5000);
    let (assembly, matrix) = time(|| fluid.assemble());
    let per_row = matrix.columns.len() as f64 / n;
    println!("\n{n} particles, {iterations} iterations to 1e-3; {per_row:.0} blocks a row when assembled");
    let ns = |seconds: f64| seconds / n * 1e9;
    println!("  iteration matrix-free         {:9.0} ns a particle", ns(free_application));
    let application = time_matrix(&matrix);
    println!("  product with the matrix       {:9.0} ns a particle", ns(application));
    println!("  assembly                      {:9.0} ns a particle", ns(assembly));
    println!("  solve matrix-free             {:9.3} s", free);
    let (_, with) = matrix.solve(1e-3, 1000);
    let with_matrix = f64::from(with) * application;
    println!(
        "  {with:3} products with the matrix {with_matrix:9.3} s, {:.1} × matrix-free",
        with_matrix / free
    );
    let key = |name: &str| format!("fluid {name} {side}^3");
    machine::result(&key("iteration"), ns(free_application), "ns/particle", &[]);
    machine::result(&key("assembled product"), ns(application), "ns/particle", &[]);
    if x_hat.len() > largest {
        println!("  not factorised: more than {largest} particles");
        return Ok(());
    }
    let (ordering, order) = time(|| direct::dissect(&matrix));
    let (analysis, direct) = time(|| direct::Direct::analyse(&matrix, &order));
    let mut direct = direct?;
    let (numbers, d) = time(|| direct.solve(&matrix.right));
    let d = d?;
    let total = ordering + analysis + numbers;
    println!(
        "  factorised                    {total:9.3} s, {:.1} × matrix-free: order {ordering:.3}, analysis \
         {analysis:.3}, numbers {numbers:.3}; {:.0} M entries",
        total / free,
        direct.fill() as f64 * 1e-6
    );
    let gap = |(d, i): (&Vec3, &u32)| (exact[*i as usize] - x_hat[*i as usize]).distance(*d);
    let gap = d.iter().zip(&matrix.particles).map(gap).fold(0.0, f64::max);
    println!("  largest difference to matrix-free at 1e-9: {:.1e} spacings", gap / fluid.spacing());
    machine::result(&key("factorised / matrix-free"), total / free, "", &[]);
    Ok(())
}

/// Processor time of a product with the matrix in single precision [s].
fn time_matrix(matrix: &Assembled) -> f64 {
    let narrow = direct::Narrow::of(matrix);
    let p: Vec<[f32; 4]> = matrix.right.iter().map(|v| [v.x as f32, v.y as f32, v.z as f32, 0.0]).collect();
    let mut out = p.clone();
    narrow.times(&p, &mut out);
    let (seconds, ()) = time(|| {
        for _ in 0..RUNS {
            narrow.times(std::hint::black_box(&p), &mut out);
        }
    });
    seconds / f64::from(RUNS)
}
