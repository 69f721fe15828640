//! `littoral demo`: the built-in demonstration.

use super::run::simulate;
use crate::args::DemoArgs;
use crate::failure::Failure;
use crate::source;

/// The shipped scene that is the demonstration.
const SCENE: &str = "demo";

/// Runs the demonstration.
pub fn demo(args: &DemoArgs) -> Result<(), Failure> {
    simulate(&args.options, || source::load_named(SCENE, &args.options.sets))
}
