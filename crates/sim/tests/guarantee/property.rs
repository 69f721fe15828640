//! Random cases: every truncation against every kind of scene.

use crate::play::play;
use rayon::prelude::*;
use std::ops::Range;

/// Cases of the ordinary run. `LITTORAL_CASES` sets another number, `LITTORAL_SEED` plays a single one.
const CASES: u64 = 100_000;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn play_all(seeds: Range<u64>) {
    let cases = seeds.end - seeds.start;
    let failures: Vec<String> = seeds.into_par_iter().filter_map(|seed| play(seed).err()).collect();
    let shown = failures.iter().take(10).cloned().collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{} of {cases} cases fail, the first:\n{shown}", failures.len());
}

#[test]
fn no_accepted_path_touches_anything() {
    match number("LITTORAL_SEED") {
        Some(seed) => play_all(seed..seed + 1),
        None => play_all(0..number("LITTORAL_CASES").unwrap_or(CASES)),
    }
}

#[test]
#[ignore = "an hour on two cores"]
fn no_accepted_path_of_ten_million_touches_anything() {
    play_all(0..10_000_000);
}
