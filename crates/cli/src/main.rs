//! The `littoral` command.
fn main() {}
