//! Random cases: every truncation against every kind of scene.

use crate::play::play;
use rayon::prelude::*;

/// Cases of the ordinary run. `LITTORAL_CASES` sets another number, `LITTORAL_SEED` plays a single one.
const CASES: u64 = 100_000;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn no_accepted_path_touches_anything() {
    if let Some(seed) = number("LITTORAL_SEED") {
        return play(seed).unwrap_or_else(|e| panic!("{e}"));
    }
    let cases = number("LITTORAL_CASES").unwrap_or(CASES);
    let failures: Vec<String> = (0..cases).into_par_iter().filter_map(|seed| play(seed).err()).collect();
    let shown = failures.iter().take(10).cloned().collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{} of {cases} cases fail, the first:\n{shown}", failures.len());
}
