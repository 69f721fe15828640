//! Times the steps of a twisting sheet, flat and wound up.
//!
//! `cargo run --release -p littoral-bench --bin solver -- [CELLS …] [--iterations 4,10] [--threads 1,2] [--steps 60]
//! [--case elastic|contact] [--wind SECONDS] [--states DIR] [--repeats 1] [--write DIR]`
//!
//! `elastic` is the first tenth of a second with a contact radius of 10 µm: nothing touches. `contact` goes on from a
//! sheet wound for some seconds, whose state is kept in DIR for the next run. One line a case: µs of processor and wall
//! time per vertex and iteration, and the share of each phase in the wall time of the steps. Of several repetitions the
//! median in processor time counts. `--write` leaves the sheets for the peers in DIR.

use littoral_bench::{machine, mesh_file, twist};
use littoral_sim::model::Snapshot;
use littoral_sim::report::{Phases, StepReport};
use littoral_sim::settings::SolverSettings;
use littoral_sim::simulation::Simulation;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Contact radius of the elastic case [m]: far below the distance of any two points of a flat sheet.
const TINY_RADIUS: f64 = 1e-5;
/// Steps before the clock starts: memory is allocated and the coarser winding has settled.
const WARM_UP: u32 = 10;

struct Options {
    cells: Vec<u32>,
    iterations: Vec<u32>,
    threads: Vec<usize>,
    steps: u32,
    wind: f64,
    elastic: bool,
    contact: bool,
    states: PathBuf,
    repeats: u32,
    write: Option<PathBuf>,
}

impl Options {
    fn read(mut arguments: impl Iterator<Item = String>) -> Result<Options, Box<dyn Error>> {
        let mut o = Options {
            cells: Vec::new(),
            iterations: vec![4, 10],
            threads: vec![1, 2],
            steps: 60,
            wind: 5.0,
            elastic: true,
            contact: true,
            states: "target/bench-states".into(),
            repeats: 1,
            write: None,
        };
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
            match argument.as_str() {
                "--iterations" => o.iterations = list(&value()?)?,
                "--threads" => o.threads = list(&value()?)?,
                "--steps" => o.steps = value()?.parse()?,
                "--wind" => o.wind = value()?.parse()?,
                "--repeats" => o.repeats = value()?.parse()?,
                "--write" => o.write = Some(value()?.into()),
                "--states" => o.states = value()?.into(),
                "--case" => {
                    let case = value()?;
                    (o.elastic, o.contact) = (case == "elastic", case == "contact");
                }
                cells => o.cells.push(cells.parse().map_err(|_| format!("not an option: {cells}"))?),
            }
        }
        if o.cells.is_empty() {
            o.cells = vec![50, 100];
        }
        Ok(o)
    }
}

fn list<T: std::str::FromStr>(text: &str) -> Result<Vec<T>, T::Err> {
    text.split(',').map(str::parse).collect()
}

/// What the timed steps add up to.
#[derive(Default)]
struct Sum {
    cpu: f64,
    wall: f64,
    phases: Phases,
    detections: u32,
    sweeps: u32,
    last: StepReport,
    crossings: usize,
}

/// The median of several runs from the same start.
fn time(simulation: &mut Simulation, options: &Options) -> Sum {
    let start = simulation.state().clone();
    let runs = (0..options.repeats.max(1)).map(|_| {
        simulation.restore(start.clone());
        time_once(simulation, options.steps)
    });
    let mut runs: Vec<Sum> = runs.collect();
    runs.sort_by(|a, b| a.cpu.total_cmp(&b.cpu));
    runs.swap_remove(runs.len() / 2)
}

fn time_once(simulation: &mut Simulation, steps: u32) -> Sum {
    for _ in 0..WARM_UP {
        simulation.step(twist::STEP);
    }
    let mut sum = Sum::default();
    let (cpu, start) = (machine::cpu_seconds(), Instant::now());
    for _ in 0..steps {
        let report = simulation.step(twist::STEP);
        sum.phases.detect += report.phases.detect;
        sum.phases.forces += report.phases.forces;
        sum.phases.truncate += report.phases.truncate;
        sum.phases.solve += report.phases.solve;
        sum.detections += report.detections;
        sum.sweeps += report.iterations;
        sum.last = report;
    }
    (sum.cpu, sum.wall) = (machine::cpu_seconds() - cpu, start.elapsed().as_secs_f64());
    sum.crossings = simulation.judge().crossings.len();
    sum
}

fn print(case: &str, cells: u32, threads: usize, steps: u32, sum: &Sum) {
    let n = f64::from((cells + 1) * (cells + 1));
    let micro = 1e6 / (n * f64::from(sum.sweeps));
    let p = &sum.phases;
    let share = |t: f64| 100.0 * t / (p.detect + p.forces + p.truncate + p.solve);
    println!(
        "{case:8} {cells:5} {:5} {threads:7} | {:7.3} {:7.3} | {:6.1} {:6.1} {:8.1} {:5.1} | {:7.2} {:8} {:8}",
        sum.last.iterations,
        micro * sum.cpu,
        micro * sum.wall,
        share(p.detect),
        share(p.forces),
        share(p.truncate),
        share(p.solve),
        f64::from(sum.detections) / f64::from(steps),
        sum.last.candidates,
        sum.last.contacts,
    );
    if threads == 1 {
        let key = format!("twist {cells} {case} {}", sum.last.iterations);
        machine::result(&key, micro * sum.cpu, "µs/vertex/iteration", &[("crossings", sum.crossings as f64)]);
    }
}

/// The sheet at rest, wound up, and its velocities, as three meshes.
fn write(folder: &Path, cells: u32, state: &Snapshot) -> Result<(), Box<dyn Error>> {
    let flat = twist::scene(cells, twist::RADIUS, SolverSettings::default())?;
    for (kind, x) in [("rest", flat.x_rest()), ("wound", &state.x), ("velocity", &state.v)] {
        mesh_file::write(folder, &format!("twist-{cells}-{kind}"), x, flat.triangles())?;
    }
    Ok(())
}

/// The wound state, from its file or made anew.
fn wound(options: &Options, cells: u32) -> Result<Snapshot, Box<dyn Error>> {
    let path = options.states.join(format!("twist-{cells}-{}s.state", options.wind));
    if let Some(state) = twist::load(&path) {
        let mut simulation = twist::scene(cells, twist::RADIUS, SolverSettings::default())?;
        simulation.restore(state.clone());
        let crossings = simulation.judge().crossings.len();
        if crossings > 0 {
            return Err(format!("{}: {crossings} crossings: delete it, to wind anew", path.display()).into());
        }
        return Ok(state);
    }
    let state = twist::wind(cells, options.wind, |simulation| {
        eprintln!("winding {cells}×{cells}: {:.2} s of {}", simulation.state().time, options.wind);
    })?;
    std::fs::create_dir_all(&options.states)?;
    twist::save(&path, &state)?;
    Ok(state)
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read(std::env::args().skip(1))?;
    println!("{}", machine::header());
    println!("case     cells  iter threads | µs/vertex/iteration | % of the wall time of a step  | a step");
    println!(
        "                             |   cpu    wall       | detect forces truncate other  | detect. candidates contacts"
    );
    for &cells in &options.cells {
        let state = if options.contact { Some(wound(&options, cells)?) } else { None };
        if let (Some(folder), Some(state)) = (&options.write, &state) {
            write(folder, cells, state)?;
        }
        for &iterations in &options.iterations {
            for &threads in &options.threads {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
                let settings = SolverSettings { iterations, ..SolverSettings::default() };
                if options.elastic {
                    let mut simulation = twist::scene(cells, TINY_RADIUS, settings.clone())?;
                    let sum = pool.install(|| time(&mut simulation, &options));
                    print("elastic", cells, threads, options.steps, &sum);
                }
                if let Some(state) = &state {
                    let mut simulation = twist::scene(cells, twist::RADIUS, settings)?;
                    simulation.restore(state.clone());
                    let sum = pool.install(|| time(&mut simulation, &options));
                    print("contact", cells, threads, options.steps, &sum);
                }
            }
        }
    }
    Ok(())
}
