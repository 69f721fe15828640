//! `littoral scenes`: the scenes that come with littoral.

use crate::answer;
use crate::failure::Failure;
use littoral_io::scene::{description, shipped};

/// Prints a line a scene: its name, and what it says about itself.
pub fn scenes() -> Result<(), Failure> {
    let width = shipped().iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let lines: Vec<String> = (shipped().iter())
        .map(|(name, text)| format!("{name:width$}  {}", description(text)).trim_end().to_owned())
        .collect();
    answer::print(&lines.join("\n"))
}
