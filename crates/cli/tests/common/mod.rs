//! What the end-to-end tests share: a scratch folder, the built binary, a small scene.

#![allow(dead_code)] // each test file uses its part

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A sheet that falls on a block: six frames of three steps.
pub const SMALL: &str = r#"
version = 1
title = "A small sheet over a block"
duration = 0.25

[solver]
step = 0.014
iterations = 3

[[cloth]]
name = "sheet"
mesh = { grid = { size = [0.3, 0.3], cells = [8, 8] } }
position = [0.01, 0.02, 0.054]
velocity = [0.0, 0.0, -0.5]

[[collider]]
name = "block"
mesh = { box = { size = [0.1, 0.1, 0.1] } }
"#;

/// Frames of [`SMALL`].
pub const FRAMES: u64 = 6;
/// Steps of a frame of [`SMALL`].
pub const STEPS_PER_FRAME: u64 = 3;

/// A folder that is gone after the test.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Scratch {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let unique = format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(format!("littoral-cli-{name}-{unique}"));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    /// A scratch folder with [`SMALL`] as `small.toml`.
    pub fn with_scene(name: &str) -> Scratch {
        let scratch = Scratch::new(name);
        scratch.write("small.toml", SMALL);
        scratch
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        path
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_littoral"));
        command.args(args).current_dir(&self.0).stdin(Stdio::null());
        command
    }

    pub fn run(&self, args: &[&str]) -> Outcome {
        Outcome::of(args, self.command(args).output().unwrap())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What a command said.
#[derive(Debug)]
pub struct Outcome {
    pub args: Vec<String>,
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Outcome {
    pub fn of(args: &[&str], output: Output) -> Outcome {
        Outcome {
            args: args.iter().map(|s| s.to_string()).collect(),
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The command ended with this status.
    #[track_caller]
    pub fn expect(self, status: i32) -> Outcome {
        assert_eq!(self.status, status, "{self:#?}");
        self
    }

    /// The command was refused with this status, one error that says `what`, no answer and no panic.
    #[track_caller]
    pub fn refused(self, status: i32, what: &str) -> Outcome {
        let said = self.expect(status);
        assert_eq!(said.stdout, "", "{said:#?}");
        assert_eq!(said.stderr.matches("error:").count(), 1, "{said:#?}");
        assert!(said.stderr.contains(what), "no {what:?} in {said:#?}");
        assert!(!said.stderr.contains("panic") && !said.stderr.contains("internal error"), "{said:#?}");
        said
    }
}

/// The bytes of frame after frame.
pub fn frames(run: &Path) -> Vec<(String, Vec<u8>)> {
    let mut out: Vec<(String, Vec<u8>)> = fs::read_dir(run.join("frames"))
        .unwrap()
        .map(|e| e.unwrap())
        .map(|e| (e.file_name().into_string().unwrap(), fs::read(e.path()).unwrap()))
        .collect();
    out.sort();
    out
}

/// Panics with the names of the first frames that differ; byte strings would fill the screen.
#[track_caller]
pub fn assert_same_frames(a: &Path, b: &Path) {
    let (a, b) = (frames(a), frames(b));
    let names = |f: &[(String, Vec<u8>)]| f.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&a), names(&b));
    for ((name, x), (_, y)) in a.iter().zip(&b) {
        assert!(x == y, "{name} differs");
    }
}

pub fn report(run: &Path) -> serde_json::Value {
    serde_json::from_slice(&fs::read(run.join("report.json")).unwrap()).unwrap()
}
