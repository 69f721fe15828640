//! The `littoral` command: reads arguments, hands them to one command, and turns what became of it into an exit status.

mod answer;
mod args;
mod balls;
mod bench;
mod commands;
mod crossings;
mod expectations;
mod failure;
mod interrupt;
mod mesh_scene;
mod process;
mod progress;
mod session;
mod shown;
mod source;
mod tally;
mod view;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    failure::explain_panics();
    match commands::dispatch(args::Args::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.print();
            failure.exit_code()
        }
    }
}
