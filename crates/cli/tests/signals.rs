//! Interrupted and killed runs go on as if nothing had been.

#![cfg(unix)]

mod common;

use common::{Outcome, SMALL, Scratch, assert_same_frames, report};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Long enough for the slowest machine; a test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(120);

#[track_caller]
fn wait_for(what: &Path) {
    let began = Instant::now();
    while !what.exists() {
        assert!(began.elapsed() < PATIENCE, "{} never came", what.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn start(scratch: &Scratch, args: &[&str]) -> Child {
    scratch.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn send(signal: &str, child: &Child) {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}

/// [`SMALL`], but it goes on for hours.
fn endless(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.write("small.toml", SMALL.replace("duration = 0.25", "duration = 10000.0"));
    scratch
}

fn compare_with_uninterrupted(scratch: &Scratch) {
    let frames = (report(&scratch.path().join("out"))["frames"].as_u64().unwrap() + 2).to_string();
    scratch.run(&["run", "--out", "out", "--resume", "--frames", &frames]).expect(0);
    scratch.run(&["run", "small.toml", "--out", "whole", "--frames", &frames]).expect(0);
    assert_same_frames(&scratch.path().join("whole"), &scratch.path().join("out"));
    let certificate = |run: &str| report(&scratch.path().join(run))["certificate"].clone();
    assert_eq!(certificate("whole"), certificate("out"));
}

#[test]
fn an_interrupted_run_saves_itself_and_goes_on_bit_for_bit() {
    for signal in ["-INT", "-TERM"] {
        let scratch = endless("interrupt");
        let child = start(&scratch, &["run", "small.toml", "--out", "out"]);
        wait_for(&scratch.path().join("out/frames/frame_000002.npz"));
        send(signal, &child);
        let said = Outcome::of(&[], child.wait_with_output().unwrap()).expect(130);
        assert!(
            said.stderr.contains("interrupted:") && said.stderr.contains("--resume --out out"),
            "{said:#?}"
        );
        assert_eq!(report(&scratch.path().join("out"))["finished"], false);
        compare_with_uninterrupted(&scratch);
    }
}

#[test]
fn a_killed_run_has_a_report_and_goes_on_from_its_checkpoint_bit_for_bit() {
    let scratch = endless("kill");
    let mut child = start(&scratch, &["run", "small.toml", "--out", "out", "--quiet"]);
    wait_for(&scratch.path().join("out/checkpoint/newest.bin"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(report(&scratch.path().join("out"))["finished"], false);
    // What a writer killed halfway leaves behind.
    scratch.write("out/frames/frame_999999.npz.1.part", "half");
    compare_with_uninterrupted(&scratch);
    assert!(!scratch.path().join("out/frames/frame_999999.npz.1.part").exists());
}

#[test]
fn a_run_killed_before_its_first_checkpoint_begins_again() {
    let scratch = Scratch::with_scene("early");
    scratch.run(&["run", "small.toml", "--out", "whole"]).expect(0);
    scratch.run(&["run", "small.toml", "--out", "out", "--frames", "2"]).expect(0);
    std::fs::remove_dir_all(scratch.path().join("out/checkpoint")).unwrap();
    scratch.run(&["run", "small.toml", "--out", "out", "--resume"]).expect(0);
    assert_same_frames(&scratch.path().join("whole"), &scratch.path().join("out"));
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let scratch = Scratch::new("pipe");
    let script =
        format!("{} schema | head -c 10; test ${{PIPESTATUS[0]}} = 0", env!("CARGO_BIN_EXE_littoral"));
    let output = Command::new("bash").args(["-c", &script]).current_dir(scratch.path()).output().unwrap();
    let said = Outcome::of(&["schema"], output).expect(0);
    assert_eq!((said.stdout.len(), said.stderr.as_str()), (10, ""));
}
