//! How a command can end other than well, and the exit status of each way.

use littoral_io::checkpoint::CheckpointError;
use littoral_io::npz::NpzError;
use littoral_io::report::ReportError;
use littoral_io::run_folder::FolderError;
use littoral_io::whole_file::FileError;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

/// Why a command did not end well. The text is for people: what, where, what to try.
#[derive(Debug, PartialEq)]
pub enum Failure {
    /// The run is complete and the guarantee held, but the scene expected another end state. Status 1.
    Expectation(String),
    /// The input is wrong. Status 2.
    Input(String),
    /// The guarantee did not hold. Status 3.
    Guarantee(String),
    /// Reading or writing failed. Status 4.
    Io(String),
    /// Stopped by a signal; the state is saved. Status 130.
    Interrupted(String),
}

impl Failure {
    /// The exit status.
    pub fn status(&self) -> u8 {
        match self {
            Failure::Expectation(_) => 1,
            Failure::Input(_) => 2,
            Failure::Guarantee(_) => 3,
            Failure::Io(_) => 4,
            Failure::Interrupted(_) => 130,
        }
    }

    /// The exit status, for `main`.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.status())
    }

    /// The message.
    pub fn text(&self) -> &str {
        match self {
            Failure::Expectation(text)
            | Failure::Input(text)
            | Failure::Guarantee(text)
            | Failure::Io(text)
            | Failure::Interrupted(text) => text,
        }
    }

    /// Prints the one message to standard error.
    pub fn print(&self) {
        let label = match self {
            Failure::Interrupted(_) => "interrupted",
            Failure::Expectation(_) | Failure::Input(_) | Failure::Guarantee(_) | Failure::Io(_) => "error",
        };
        let (bold, plain) = if use_colour() { ("\x1b[1;31m", "\x1b[0m") } else { ("", "") };
        // Nothing is left to tell anybody when standard error is gone.
        let _ = writeln!(std::io::stderr(), "{bold}{label}{plain}: {}", self.text());
    }
}

/// True when standard error is a terminal whose user did not ask for plain text.
pub fn use_colour() -> bool {
    let asked_plain = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    !asked_plain && std::io::stderr().is_terminal()
}

/// A panic is a defect of this program: says so in one line instead of a stack of technicalities.
pub fn explain_panics() {
    std::panic::set_hook(Box::new(|info| {
        let text = info.payload_as_str().unwrap_or("no message");
        let place = info.location().map(|l| format!(" ({}:{})", l.file(), l.line())).unwrap_or_default();
        let _ = writeln!(
            std::io::stderr(),
            "internal error: {text}{place}\nThis is a defect of littoral, not of your input; please report it with the scene."
        );
    }));
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Failure::Io(error.to_string())
    }
}

impl From<NpzError> for Failure {
    fn from(error: NpzError) -> Self {
        Failure::Io(error.to_string())
    }
}

impl From<ReportError> for Failure {
    fn from(error: ReportError) -> Self {
        Failure::Io(error.to_string())
    }
}

impl From<CheckpointError> for Failure {
    fn from(error: CheckpointError) -> Self {
        Failure::Io(error.to_string())
    }
}

impl From<FolderError> for Failure {
    fn from(error: FolderError) -> Self {
        let text = error.to_string();
        match error {
            FolderError::File(_) | FolderError::Npz(_) => Failure::Io(text),
            FolderError::HoldsARun { .. }
            | FolderError::NotEmpty { .. }
            | FolderError::NotARun { .. }
            | FolderError::NoFrame { .. } => Failure::Input(text),
        }
    }
}
