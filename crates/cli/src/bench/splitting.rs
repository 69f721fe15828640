//! The splittings side by side on one scene, and the solvers of the solids' linear systems [Xie 2023, Tables 2 and 3].

use super::{Cell, Table, advance, timed};
use crate::failure::Failure;
use crate::source::{LoadedScene, load_named};
use littoral_io::scene::{SceneFile, Source};
use littoral_sim::solver::cholesky::Cholesky;
use littoral_sim::solver::schur::Schur;

/// Frames of the scene to run: the water has fallen and spreads.
const FRAMES: u64 = 15;

/// Everything at once, which the others are measured against, with as many iterations as it takes.
const JOINT: [&str; 3] = ["solver.method=newton", "solver.splitting=joint", "solver.iterations=100"];

/// What is compared with it: a name and the keys that make it so. The first sets the volume error.
const WAYS: [(&str, &[&str]); 5] = [
    ("proxy", &["solver.method=newton", "solver.splitting=proxy"]),
    ("proxy, bare nodes", &["solver.method=newton", "solver.splitting=proxy", "solver.response=inertia"]),
    ("proxy, three phases", &["solver.method=newton", "solver.splitting=proxy-three-phase"]),
    ("baseline", &["solver.method=newton", "solver.splitting=baseline"]),
    ("proxy, block descent", &["solver.method=vbd", "solver.splitting=proxy"]),
];

/// What one way did.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    steps: f64,
    time: f64,
    cpu: f64,
    newton: f64,
    products: f64,
    mean: f64,
    volume: f64,
    leaked: u32,
    unconverged: f64,
}

impl Sums {
    /// Processor time a simulated second [–].
    fn cost(&self) -> f64 {
        self.cpu / self.time
    }

    /// In the mean [–].
    fn compression(&self) -> f64 {
        self.mean / self.steps
    }

    /// The row of a way; block descent has no end but its number of sweeps.
    fn row(&self, reference: f64, is_solved: bool) -> Vec<Cell> {
        let per_step = 1.0 / self.steps;
        let mut row = [
            self.cost(),
            reference / self.cost(),
            self.steps,
            self.newton * per_step,
            self.products * per_step,
            100.0 * self.compression(),
            100.0 * self.volume * per_step,
            f64::from(self.leaked),
        ]
        .map(Cell::from)
        .to_vec();
        row.push(is_solved.then_some(100.0 * self.unconverged * per_step).into());
        row
    }
}

/// Scene that is run unless another is named.
const SCENE: &str = "water-on-jelly";

/// Both tables for a scene that comes with littoral, with further changes to its keys.
pub fn splitting(scene: Option<&str>, frames: Option<u64>, sets: &[String]) -> Result<Vec<Table>, Failure> {
    let (scene, frames) = (scene.unwrap_or(SCENE), frames.unwrap_or(FRAMES));
    let load = |keys: &[&str]| {
        let keys: Vec<String> = sets.iter().cloned().chain(keys.iter().map(|k| k.to_string())).collect();
        load_named(scene, &keys)
    };
    let sim = load(&JOINT)?.sim;
    if sim.particles().is_empty() {
        let what = format!(
            "\"{scene}\" holds no fluid, so that there is nothing to split; try water-on-jelly, cup or float"
        );
        return Err(Failure::Input(what));
    }
    let counts = format!("{} particles, {} other points", sim.particles().len(), sim.particles().start);
    let mut runs = Vec::new();
    for (name, keys) in WAYS {
        let is_solved = !keys.contains(&"solver.method=vbd");
        runs.push((name.to_owned(), run(&mut load(keys)?, frames, |_| ()), is_solved));
    }
    let joint = run(&mut load(&JOINT)?, frames, |_| ());
    runs.push(("joint".into(), joint, true));
    // At the same volume error: k_I is the inverse of what may be compressed.
    let ratio = runs[0].1.compression() / joint.compression();
    let mut reference = joint;
    if ratio < 1.0 {
        let error = SceneFile::load(Source::Argument(scene), sets)?.scene.solver.volume_error * ratio;
        let key = format!("solver.volume_error={error}");
        reference = run(&mut load(&[&JOINT[..], &[&key]].concat())?, frames, |_| ());
        runs.push((format!("joint, volume_error = {error:.4}"), reference, true));
    }
    let rows = runs.into_iter().map(|(name, s, solved)| (name, s.row(reference.cost(), solved))).collect();
    let ways = Table {
        title: format!("Splittings: {scene}, {counts}, frames 1 to {frames}"),
        columns: vec![
            ("cpu s/s", 1),
            ("× as fast", 2),
            ("steps", 0),
            ("iterations", 1),
            ("CG products", 1),
            ("compression %", 3),
            ("volume error %", 3),
            ("leaked", 0),
            ("unconverged %", 0),
        ],
        rows,
        notes: vec![
            "Processor time a simulated second; iterations (sweeps, with block descent) and products with the fluid's \
             matrix a step; compression and volume error in the mean over particles and steps; share of steps that used \
             up their iterations. Ratios are to the last row."
                .into(),
        ],
    };
    Ok(vec![ways, solvers(load(WAYS[0].1)?, frames)])
}

/// Runs some frames; `see` looks at the scene after each step, outside the clock.
fn run(scene: &mut LoadedScene, frames: u64, mut see: impl FnMut(&LoadedScene)) -> Sums {
    let mut sums = Sums::default();
    let most = scene.sim.settings().iterations;
    let frames = 1..=frames.min(scene.frames);
    advance(scene, frames, |scene, cpu, report| {
        sums.cpu += cpu;
        sums.steps += 1.0;
        sums.time += report.h;
        sums.newton += f64::from(report.iterations);
        sums.unconverged += f64::from(u8::from(report.iterations >= most));
        if let Some(fluid) = report.fluid {
            sums.products += f64::from(fluid.iterations);
            sums.mean += fluid.compression_mean;
            sums.volume += fluid.volume_error.abs();
            sums.leaked += fluid.leaked;
        }
        see(scene);
    });
    sums
}

/// Times the solvers on the last system of every step. What is kept from one system to the next is kept, as in a step;
/// the second solve of the same system is what an iteration costs whose contacts are those of the one before.
fn solvers(mut scene: LoadedScene, frames: u64) -> Table {
    let (mut whole, mut parts) = (Cholesky::default(), Schur::default());
    let mut x = Vec::new();
    // Of the first and of the second solve, by each solver.
    let (mut times, mut systems, mut particles, mut solids) = ([[0.0; 2]; 2], 0.0, 0.0, 0.0);
    let (mut error, mut failed) = (0.0_f64, 0);
    run(&mut scene, frames, |scene| {
        let Some(s) = scene.sim.last_linear_system().filter(|s| s.matrix.len() > s.solids) else { return };
        systems += 1.0;
        solids += s.solids as f64;
        particles += (s.matrix.len() - s.solids) as f64;
        for [of_whole, of_parts] in &mut times {
            let (time, solved) = timed(|| whole.solve(s.matrix, s.right, &mut x));
            *of_whole += time;
            let reference = x.clone();
            let (time, split) = timed(|| parts.solve(s.matrix, s.right, s.solids, &mut x));
            *of_parts += time;
            if solved.is_ok() && split.is_ok() {
                let size = reference.iter().map(|v| v.length()).fold(f64::MIN_POSITIVE, f64::max);
                let apart = reference.iter().zip(&x).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
                error = error.max(apart / size);
            } else {
                failed += 1;
            }
        }
    });
    let per = 1e3 / f64::max(systems, 1.0);
    let row = |k: usize| {
        let [first, again] = times;
        let ratios = [first[0] / first[k], again[0] / again[k]];
        [per * first[k], per * again[k], ratios[0], ratios[1]]
            .map(|v| Cell::from((systems > 0.0).then_some(v)))
            .to_vec()
    };
    let note = if systems > 0.0 {
        format!(
            "Largest relative difference of the two directions: {error:.1e}; {failed} not compared, for a solve failed."
        )
    } else {
        "No particle touched a solid: there was no system to solve.".into()
    };
    Table {
        title: format!(
            "Linear systems of solids and the particles that touch them: {systems} of {:.0} points and {:.0} particles",
            solids / f64::max(systems, 1.0),
            particles / f64::max(systems, 1.0)
        ),
        columns: vec![("first [ms]", 2), ("again [ms]", 2), ("× first", 2), ("× again", 2)],
        rows: vec![("whole".into(), row(0)), ("decomposed".into(), row(1))],
        notes: vec![note],
    }
}
