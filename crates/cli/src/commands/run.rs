//! `littoral run`: simulates a scene or a mesh into a folder.
//!
//! A run never writes into somebody else's folder, nor over an older run: without `--out` it takes the next free number under
//! `runs/`, with `--out` the folder must be absent or empty, or hold this very run and `--resume` be given.

use crate::answer;
use crate::args::{RunArgs, RunOptions};
use crate::crossings;
use crate::failure::Failure;
use crate::interrupt;
use crate::progress::Progress;
use crate::session::{Ending, Plan, Session};
use crate::source::{self, LoadedScene};
use littoral_io::checkpoint::{Checkpoint, CheckpointError};
use littoral_io::report::{Report, Warning};
use littoral_io::run_folder::RunFolder;
use std::fs;
use std::path::Path;
use std::time::Instant;

/// Folder of the runs that were given none.
const DEFAULT_PARENT: &str = "runs";

/// Runs what the arguments name.
pub fn run(args: &RunArgs) -> Result<(), Failure> {
    simulate(&args.options, || source::load_for_run(args))
}

/// Runs the scene that `load` makes, on the threads asked for.
pub fn simulate(
    options: &RunOptions,
    load: impl FnOnce() -> Result<LoadedScene, Failure> + Send,
) -> Result<(), Failure> {
    let started = Instant::now();
    interrupt::listen();
    if options.resume && options.out.is_none() {
        return Err(Failure::Input("--resume needs the folder of the run: --out DIR".into()));
    }
    // Zero lets the pool take all cores.
    let threads = options.threads.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|e| Failure::Input(format!("cannot start {threads} threads: {e}")))?;
    pool.install(|| carry_out(options, load()?, started))
}

fn carry_out(options: &RunOptions, mut scene: LoadedScene, started: Instant) -> Result<(), Failure> {
    let plan = Plan {
        frames: options.frames.unwrap_or(scene.frames),
        strict: options.strict,
        threads: rayon::current_num_threads(),
        started,
    };
    let verdict = scene.sim.judge();
    let crossing = verdict.all_crossings();
    if !crossing.is_empty() {
        let text = crossings::describe(&scene.sim, &crossing);
        if options.strict {
            return Err(Failure::Input(format!(
                "with --strict the input must not cross itself, but it has {text}"
            )));
        }
        let text = format!(
            "the input crosses itself; the run goes on: parts that can come apart are let, and cross until they are; nothing else begins \
             to cross: {text}"
        );
        let count = crossing.len() as u64;
        scene.warnings.push(Warning { code: "initial-intersections".into(), count, text });
    }
    let progress = Progress::new(options.quiet);
    let (folder, mut session) = match place_for(options, &scene, plan.frames)? {
        Place::Done(folder, report) => return conclude(&folder, &report, options.quiet),
        Place::Fresh(folder) => (folder.clone(), Session::begin(scene, &verdict, folder, plan, progress)?),
        Place::Continued(folder, checkpoint, refused) => {
            let mut session = Session::resume(scene, *checkpoint, folder.clone(), plan, progress)?;
            if let Some(error) = refused {
                session.warn("checkpoint-damaged", 1, &format!("{error}; going on from the one before"));
            }
            (folder, session)
        }
    };
    let root = folder.root().display();
    match session.run()? {
        Ending::Complete => conclude(&folder, session.report(), options.quiet),
        Ending::Interrupted => Err(Failure::Interrupted(format!(
            "the state after step {} is saved; go on with: littoral run --resume --out {root}",
            session.report().steps,
        ))),
        Ending::NotFinite => Err(Failure::Guarantee(format!(
            "step {}: {} have a coordinate that is not a finite number; {root} holds what there is",
            session.report().steps,
            answer::count(session.report().certificate.non_finite as usize, "point"),
        ))),
    }
}

/// Where a run happens, and from where it goes on.
enum Place {
    /// From the beginning.
    Fresh(RunFolder),
    /// From a checkpoint; with what was wrong with a newer one.
    Continued(RunFolder, Box<Checkpoint>, Option<CheckpointError>),
    /// All frames are there already.
    Done(RunFolder, Box<Report>),
}

fn place_for(options: &RunOptions, scene: &LoadedScene, frames: u64) -> Result<Place, Failure> {
    let root = match &options.out {
        None => return Ok(Place::Fresh(RunFolder::create_numbered(Path::new(DEFAULT_PARENT), &scene.name)?)),
        // So that a script may always pass --resume, it begins a run where there is none.
        Some(root) if !options.resume || is_absent_or_empty(root) => {
            return Ok(Place::Fresh(RunFolder::create(root)?));
        }
        Some(root) => root,
    };
    let folder = RunFolder::open(root)?;
    let stored = fs::read_to_string(folder.scene_path())
        .map_err(|e| Failure::Io(format!("cannot read {}: {e}", folder.scene_path().display())))?;
    if let Some(difference) = first_difference(&stored, &scene.toml) {
        return Err(Failure::Input(format!(
            "{} holds a run of another scene: {difference}\n\
             Leave out the scene and every --set to continue that run, or choose another --out",
            root.display()
        )));
    }
    folder.remove_leftovers()?;
    match Checkpoint::read(&folder.checkpoint_path()) {
        Ok((checkpoint, refused)) => {
            let report = Report::read(&folder.report_path())?;
            if report.finished && report.frames >= frames {
                return Ok(Place::Done(folder, Box::new(report)));
            }
            Ok(Place::Continued(folder, Box::new(checkpoint), refused))
        }
        // Killed before its first checkpoint: begins again, over its own frames.
        Err(CheckpointError::None { .. }) => Ok(Place::Fresh(folder)),
        Err(error) => Err(Failure::Io(format!("{error}; start anew in another folder"))),
    }
}

fn is_absent_or_empty(root: &Path) -> bool {
    fs::read_dir(root).map_or(!root.exists(), |mut entries| entries.next().is_none())
}

/// The first line in which two scenes differ, in words.
fn first_difference(stored: &str, asked: &str) -> Option<String> {
    let (mut a, mut b) = (stored.lines(), asked.lines());
    loop {
        match (a.next(), b.next()) {
            (None, None) => return None,
            (x, y) if x == y => {}
            (x, y) => {
                let shown =
                    |line: Option<&str>| line.map_or("nothing more".into(), |l| format!("`{}`", l.trim()));
                return Some(format!("it says {}, asked for is {}", shown(x), shown(y)));
            }
        }
    }
}

/// Prints the answer and turns the report into an exit status.
fn conclude(folder: &RunFolder, report: &Report, quiet: bool) -> Result<(), Failure> {
    let root = folder.root().display();
    match quiet {
        true => answer::print(&root.to_string())?,
        false => answer::print(&format!("{root}\n{}", super::info::summary(report)))?,
    }
    let c = &report.certificate;
    if !c.held {
        return Err(Failure::Guarantee(format!(
            "the guarantee did not hold: {} new intersections, {} inverted elements, {} points not finite{}{}",
            c.intersections_new,
            c.inverted_elements,
            c.non_finite,
            c.particles_leaked.map(|n| format!(", {n} particles leaked")).unwrap_or_default(),
            c.rods_passed.map(|n| format!(", rods passed {n} times")).unwrap_or_default(),
        )));
    }
    let unmet: Vec<String> = (report.expectations.iter().filter(|e| e.met == Some(false)))
        .map(|e| format!("  {}, found {}", e.text, e.found.map_or("nothing".into(), |x| x.to_string())))
        .collect();
    match unmet.is_empty() {
        true => Ok(()),
        false => Err(Failure::Expectation(format!("the scene expected another end:\n{}", unmet.join("\n")))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenes_are_compared_by_their_first_differing_line() {
        assert_eq!(first_difference("a\nb\n", "a\nb"), None);
        let said = first_difference("fps = 24\n", "fps = 30\nx\n").unwrap();
        assert_eq!(said, "it says `fps = 24`, asked for is `fps = 30`");
        assert_eq!(first_difference("a", "a\n b").unwrap(), "it says nothing more, asked for is `b`");
    }
}
