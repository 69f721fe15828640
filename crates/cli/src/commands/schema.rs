//! `littoral schema`: the JSON Schema of scene files.

use crate::answer;
use crate::failure::Failure;
use littoral_io::scene;

/// Prints the schema.
pub fn schema() -> Result<(), Failure> {
    answer::print(&format!("{:#}", scene::schema()))
}
