//! One file per command.

mod bench;
mod check;
mod demo;
mod export;
mod info;
mod new;
mod render;
mod run;
mod scenes;
mod schema;
mod view;

use crate::args::Command;
use crate::failure::Failure;

/// Runs a command.
pub fn dispatch(command: Command) -> Result<(), Failure> {
    match command {
        Command::Demo(args) => demo::demo(&args),
        Command::Run(args) => run::run(&args),
        Command::Check(args) => check::check(&args),
        Command::Scenes => scenes::scenes(),
        Command::New(args) => new::new(&args),
        Command::Info(args) => info::info(&args),
        Command::Export(args) => export::export(&args),
        Command::View(args) => view::view(&args),
        Command::Render(args) => render::render(&args),
        Command::Schema => schema::schema(),
        Command::Bench(args) => bench::bench(&args),
    }
}
