//! Runs with fluid from outside: adaptive steps, particles that come and go, what the folder and the report say.

mod common;

use common::{Scratch, assert_same_frames, report};
use littoral_io::run_folder::RunFolder;
use std::fs;

/// A block of water falls apart in a cup, a jet joins it, a sink swallows what comes near: six frames.
const POUR: &str = r#"
version = 1
title = "Water in a cup"
duration = 0.25

[[fluid]]
name = "water"
spacing = 0.04
fill = { box = [[-0.3, -0.12, 0.04], [0.0, 0.12, 0.28]] }
velocity = [6, 0, 0]

[[fluid]]
name = "jet"
emitter = [{ center = [-0.2, 0, 0.5], radius = 0.06, speed = 2.0, start = 0.05, stop = 0.15 }]

[[sink]]
box = [[0.2, -1, -1], [1, 1, 1]]

[[collider]]
name = "cup"
mesh = { cup = { radius = 0.4, height = 0.5, segments = 16 } }
position = [0, 0, 0.25]

[[expect]]
object = "water"
measure = "leaked"
at_most = 0

[[expect]]
object = "water"
measure = "level"
at_least = 0.25
at_most = 0.31
time = 0.0
"#;

fn pour(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.write("pour.toml", POUR);
    scratch
}

/// The cells of a column of `stats.csv`.
fn column(table: &str, name: &str) -> Vec<f64> {
    let at = table.lines().next().unwrap().split(',').position(|c| c == name).unwrap();
    table.lines().skip(1).map(|row| row.split(',').nth(at).unwrap().parse().unwrap()).collect()
}

#[test]
fn frames_are_met_by_steps_that_follow_the_courant_number() {
    let scratch = pour("pour");
    scratch.run(&["run", "pour.toml", "--out", "out", "--strict"]).expect(0);
    let out = scratch.path().join("out");
    let folder = RunFolder::open(&out).unwrap();
    let topology = folder.read_topology().unwrap();
    assert_eq!(topology.spacing, Some(0.04));
    let kinds: Vec<&str> = topology.objects.iter().map(|o| o.kind.as_str()).collect();
    assert_eq!(kinds, ["collider", "fluid", "fluid"]);
    let first = topology.objects[1].first;
    assert_eq!(topology.particles, (first..topology.x0.len() as u32).collect::<Vec<_>>());

    let table = fs::read_to_string(out.join("stats.csv")).unwrap();
    let (h, time) = (column(&table, "h_s"), column(&table, "time_s"));
    // 0.4 × 0.04 m at 6 m/s take 2.7 ms: 16 steps of a frame's 41.7 ms; later steps grow up to those of the scene.
    assert!((h[0] - 1.0 / 24.0 / 16.0).abs() < 1e-12, "{h:?}");
    assert!(h.iter().all(|h| *h <= (1.0 + 1e-9) / 240.0), "{h:?}");
    for frame in 0..=6 {
        let there = folder.read_frame(frame).unwrap();
        assert!((there.time - frame as f64 / 24.0).abs() < 1e-10, "frame {frame} at {} s", there.time);
        assert!(frame == 0 || time.contains(&there.time));
    }
    let report = report(&out);
    assert_eq!(report["counts"]["particles"], topology.particles.len());
    let certificate = &report["certificate"];
    assert_eq!((&certificate["particles_leaked"], &certificate["held"]), (&0.into(), &true.into()));
    assert!(certificate["fluid_volume_error"].as_f64().unwrap().abs() < 0.05);
    assert!(certificate["fluid_compression_max"].as_f64() >= certificate["fluid_compression_mean"].as_f64());
    assert!(report["phases_s"]["fluid"].as_f64().unwrap() > 0.0);
    assert!(report["expectations"].as_array().unwrap().iter().all(|e| e["met"] == true), "{report:#}");
}

#[test]
fn particles_come_and_go_in_the_frames() {
    let scratch = pour("present");
    scratch.run(&["run", "pour.toml", "--out", "out"]).expect(0);
    let folder = RunFolder::open(&scratch.path().join("out")).unwrap();
    let topology = folder.read_topology().unwrap();
    let water = topology.objects[1].count as usize;
    let present = |frame: u64| {
        let present = folder.read_frame(frame).unwrap().present.unwrap();
        assert_eq!(present.len(), topology.particles.len());
        let count = |p: &[bool]| p.iter().filter(|p| **p).count();
        (count(&present[..water]), count(&present[water..]))
    };
    assert_eq!(present(0), (water, 0), "nothing is released at the start");
    let (water_left, jet) = present(6);
    assert_eq!(jet, topology.particles.len() - water, "the jet is out");
    assert!(water_left < water, "the sink took some");
}

#[test]
fn a_resumed_run_and_any_number_of_threads_give_the_same_bits() {
    let scratch = pour("resume");
    scratch.run(&["run", "pour.toml", "--out", "one", "--threads", "1"]).expect(0);
    scratch.run(&["run", "pour.toml", "--out", "two", "--threads", "2", "--frames", "2"]).expect(0);
    scratch.run(&["run", "pour.toml", "--out", "two", "--threads", "3", "--resume"]).expect(0);
    let (one, two) = (scratch.path().join("one"), scratch.path().join("two"));
    assert_same_frames(&one, &two);
    assert_eq!(report(&one)["certificate"], report(&two)["certificate"]);
    assert_eq!(report(&one)["expectations"], report(&two)["expectations"]);
}

#[test]
fn particles_without_room_are_left_out_with_a_warning() {
    let scratch = pour("overlap");
    let set = "fluid.water.fill=[{box=[[-0.3, -0.12, 0.04], [0.0, 0.12, 0.28]]}, {box=[[-0.1, 0, 0.1], [0.1, 0.08, 0.2]]}]";
    let said = scratch.run(&["run", "pour.toml", "--out", "out", "--frames", "1", "--set", set]).expect(0);
    assert!(said.stderr.contains("\"water\":") && said.stderr.contains("left out"), "{said:#?}");
    let warnings = report(&scratch.path().join("out"))["warnings"].clone();
    assert_eq!(warnings[0]["code"], "fluid-overlap", "{warnings}");
    assert!(warnings[0]["count"].as_u64().unwrap() > 0);
    let said = scratch.run(&["check", "pour.toml"]).expect(0);
    assert!(said.stdout.contains("particles 40.0 mm apart"), "{said:#?}");
}
