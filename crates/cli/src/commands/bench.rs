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
    let tables = pool.install(|| match args.name {
        BenchName::Splitting => bench::splitting(&args.scene, args.frames, &args.sets),
    })?;
    if let Some(path) = &args.json {
        let json = serde_json::Value::Array(tables.iter().map(Table::json).collect());
        std::fs::write(path, format!("{json:#}\n"))
            .map_err(|e| Failure::Io(format!("cannot write {}: {e}", path.display())))?;
    }
    let text: Vec<String> = tables.iter().map(Table::text).collect();
    answer::print(&text.join("\n\n"))
}
