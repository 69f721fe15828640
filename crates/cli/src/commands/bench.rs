//! `littoral bench`: reproduces a table.

use crate::answer;
use crate::args::{BenchArgs, BenchName};
use crate::bench::{self, Table};
use crate::failure::Failure;

/// Measures and prints the tables, on one thread unless told otherwise.
pub fn bench(args: &BenchArgs) -> Result<(), Failure> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(usize::from(args.threads))
        .build()
        .map_err(|e| Failure::Io(format!("cannot start threads: {e}")))?;
    refuse_unused(args)?;
    let scene = args.scene.as_deref();
    let (tables, failure) = pool.install(|| -> Result<_, Failure> {
        Ok(match args.name {
            BenchName::Splitting => (bench::splitting(scene, args.frames, &args.sets)?, None),
            BenchName::Truncation => (bench::truncation(args.trials), None),
            BenchName::Convergence => (bench::convergence(scene, args.frames, &args.sets)?, None),
            BenchName::Validate => bench::validate(scene, &args.sets, args.quiet)?,
        })
    })?;
    if let Some(path) = &args.json {
        let json = serde_json::Value::Array(tables.iter().map(Table::json).collect());
        std::fs::write(path, format!("{json:#}\n"))
            .map_err(|e| Failure::Io(format!("cannot write {}: {e}", path.display())))?;
    }
    let text: Vec<String> = tables.iter().map(Table::text).collect();
    answer::print(&text.join("\n\n"))?;
    failure.map_or(Ok(()), Err)
}

/// An argument that a table has no use for is an error: it would be a figure of something else.
fn refuse_unused(args: &BenchArgs) -> Result<(), Failure> {
    let is = |name| args.name == name;
    let unused = [
        ("--trials", args.trials.is_some() && !is(BenchName::Truncation)),
        ("--scene", args.scene.is_some() && is(BenchName::Truncation)),
        ("--set", !args.sets.is_empty() && is(BenchName::Truncation)),
        ("--frames", args.frames.is_some() && (is(BenchName::Truncation) || is(BenchName::Validate))),
    ];
    match unused.into_iter().find(|(_, given)| *given) {
        Some((key, _)) => Err(Failure::Input(format!("this table has no use for {key}: leave it out"))),
        None => Ok(()),
    }
}
