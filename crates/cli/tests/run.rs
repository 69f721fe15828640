//! A run from outside: its folder, its report, its exit status.

mod common;

use common::{FRAMES, STEPS_PER_FRAME, Scratch, assert_same_frames, report};
use littoral_io::npz::Npz;
use littoral_io::run_folder::RunFolder;
use std::fs;

#[test]
fn a_run_leaves_the_promised_folder() {
    let scratch = Scratch::with_scene("folder");
    let said = scratch.run(&["run", "small.toml", "--out", "out"]).expect(0);
    assert_eq!(said.stdout.lines().next(), Some("out"));
    assert!(said.stdout.contains("guarantee held"), "{said:#?}");
    let told: Vec<&str> = said.stderr.lines().filter(|l| l.starts_with("frame ")).collect();
    assert_eq!(told.len() as u64, FRAMES, "{said:#?}");
    assert!(!said.stderr.contains('\x1b') && !said.stdout.contains('\x1b'), "{said:#?}");

    let out = scratch.path().join("out");
    let topology = Npz::read(&out.join("topology.npz")).unwrap();
    let names: Vec<&str> = topology.names().collect();
    for array in
        ["triangles", "tets", "edges", "x0", "particles", "object_names", "object_first", "object_count"]
    {
        assert!(names.contains(&array), "{array} missing in {names:?}");
    }
    assert_eq!(topology.text("object_kind").unwrap(), ["cloth", "collider"]);
    let n = topology.get("x0").unwrap().shape[0];
    for k in 0..=FRAMES {
        let frame = Npz::read(&out.join(format!("frames/frame_{k:06}.npz"))).unwrap();
        assert_eq!(frame.get("x").unwrap().shape, [n, 3]);
        assert_eq!(frame.get("v").unwrap().shape, [n, 3]);
        assert_eq!(frame.get("pose").unwrap().shape, [0, 7]);
        // A step adds its size once: a rounding error a step, each below an ulp of 1 s.
        let time = frame.f64("time").unwrap()[0];
        assert!((time - k as f64 / 24.0).abs() < 18.0 * f64::EPSILON, "frame {k} at {time} s");
    }
    assert_eq!(RunFolder::open(&out).unwrap().frames(), (0..=FRAMES).collect::<Vec<_>>());
    assert!(fs::read_to_string(out.join("scene.toml")).unwrap().contains("A small sheet over a block"));
    let table = fs::read_to_string(out.join("stats.csv")).unwrap();
    assert_eq!(table.lines().count() as u64, 1 + FRAMES * STEPS_PER_FRAME);
    let columns = table.lines().next().unwrap().split(',').count();
    assert!(table.lines().all(|row| row.split(',').count() == columns));
    assert!(out.join("checkpoint/newest.bin").is_file());
}

#[test]
fn the_report_has_the_promised_fields_and_no_number_that_was_not_measured() {
    let scratch = Scratch::with_scene("report");
    scratch.run(&["run", "small.toml", "--out", "out", "--threads", "2", "--quiet"]).expect(0);
    let report = report(&scratch.path().join("out"));
    assert_eq!(report["littoral"], env!("CARGO_PKG_VERSION"));
    assert_eq!(report["scene"], "A small sheet over a block");
    assert_eq!((&report["threads"], &report["seed"]), (&2.into(), &0.into()));
    assert_eq!((&report["finished"], &report["strict"]), (&true.into(), &false.into()));
    assert_eq!(report["frames"], FRAMES);
    assert_eq!(report["steps"], FRAMES * STEPS_PER_FRAME);
    assert!((report["simulated_s"].as_f64().unwrap() - 0.25).abs() < 1e-12);
    assert!(report["wall_s"].as_f64().unwrap() > 0.0);
    assert_eq!((&report["counts"]["points"], &report["counts"]["triangles"]), (&89.into(), &140.into()));
    for key in ["tets", "rod_segments", "particles", "bodies"] {
        assert_eq!(report["counts"][key], 0, "{key}");
    }
    let certificate = &report["certificate"];
    for key in ["intersections_initial", "intersections_new", "inverted_elements", "non_finite"] {
        assert_eq!(certificate[key], 0, "{key}");
    }
    assert_eq!(certificate["held"], true);
    assert!(certificate["checks"].is_u64() && certificate["collider_lag_max_m"].is_f64());
    for key in ["detect", "forces", "truncate", "solve", "referee", "write"] {
        assert!(report["phases_s"][key].is_f64(), "{key}");
    }
    for (table, key) in
        [("certificate", "particles_leaked"), ("certificate", "fluid_volume_error"), ("phases_s", "fluid")]
    {
        assert!(report[table].get(key).is_none(), "{key} was not measured");
    }
    assert!(report["warnings"].is_array());
}

#[test]
fn a_resumed_run_equals_an_uninterrupted_one_bit_for_bit() {
    let scratch = Scratch::with_scene("resume");
    scratch.run(&["run", "small.toml", "--out", "whole"]).expect(0);
    scratch.run(&["run", "small.toml", "--out", "parts", "--frames", "2"]).expect(0);
    scratch.run(&["run", "small.toml", "--out", "parts", "--frames", "3", "--resume"]).expect(0);
    scratch.run(&["run", "--resume", "--out", "parts", "--threads", "1"]).expect(0);
    let (whole, parts) = (scratch.path().join("whole"), scratch.path().join("parts"));
    assert_same_frames(&whole, &parts);
    assert_eq!(fs::read(whole.join("scene.toml")).unwrap(), fs::read(parts.join("scene.toml")).unwrap());
    let (a, b) = (report(&whole), report(&parts));
    for key in ["certificate", "frames", "steps", "simulated_s", "finished", "expectations", "warnings"] {
        assert_eq!(a[key], b[key], "{key}");
    }
    // All but the columns of wall time.
    let physics = |run: &std::path::Path| -> Vec<String> {
        let table = fs::read_to_string(run.join("stats.csv")).unwrap();
        table.lines().map(|row| row.split(',').take(15).collect::<Vec<_>>().join(",")).collect()
    };
    assert_eq!(physics(&whole), physics(&parts));
}

#[test]
fn resuming_a_finished_run_changes_nothing() {
    let scratch = Scratch::with_scene("finished");
    scratch.run(&["run", "small.toml", "--out", "out", "--frames", "2"]).expect(0);
    let before = fs::read(scratch.path().join("out/report.json")).unwrap();
    let said = scratch.run(&["run", "small.toml", "--out", "out", "--frames", "2", "--resume"]).expect(0);
    assert_eq!(said.stdout.lines().next(), Some("out"));
    assert_eq!(fs::read(scratch.path().join("out/report.json")).unwrap(), before);
}

#[test]
fn resume_begins_where_there_is_nothing_yet() {
    let scratch = Scratch::with_scene("always");
    scratch.run(&["run", "small.toml", "--out", "out", "--frames", "1", "--resume"]).expect(0);
    assert_eq!(report(&scratch.path().join("out"))["frames"], 1);
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let scratch = Scratch::with_scene("threads");
    for n in ["1", "2", "3"] {
        scratch.run(&["run", "small.toml", "--out", n, "--threads", n]).expect(0);
    }
    assert_same_frames(&scratch.path().join("1"), &scratch.path().join("2"));
    assert_same_frames(&scratch.path().join("1"), &scratch.path().join("3"));
    assert_eq!(report(&scratch.path().join("3"))["threads"], 3);
}

#[test]
fn strict_judges_every_step_and_changes_no_bit() {
    let scratch = Scratch::with_scene("strict");
    scratch.run(&["run", "small.toml", "--out", "lax"]).expect(0);
    scratch.run(&["run", "small.toml", "--out", "strict", "--strict"]).expect(0);
    assert_same_frames(&scratch.path().join("lax"), &scratch.path().join("strict"));
    let checks = |run: &str| report(&scratch.path().join(run))["certificate"]["checks"].as_u64().unwrap();
    assert!(checks("strict") >= checks("lax"));
    let table = fs::read_to_string(scratch.path().join("strict/stats.csv")).unwrap();
    let column =
        table.lines().next().and_then(|head| head.split(',').position(|c| c == "referee_s")).unwrap();
    let judged = |row: &str| row.split(',').nth(column).is_some_and(|cell| !cell.is_empty());
    assert!(table.lines().skip(1).all(judged), "every step has a time of the referee");
}

#[test]
fn quiet_leaves_the_folder_on_standard_output_and_nothing_else() {
    let scratch = Scratch::with_scene("quiet");
    let said = scratch.run(&["run", "small.toml", "--frames", "1", "--quiet"]).expect(0);
    assert_eq!((said.stdout.as_str(), said.stderr.as_str()), ("runs/small-001\n", ""));
    let said = scratch.run(&["run", "small.toml", "--frames", "1", "--quiet"]).expect(0);
    assert_eq!(said.stdout, "runs/small-002\n");
}

#[test]
fn no_folder_is_ever_written_over() {
    let scratch = Scratch::with_scene("taken");
    scratch.run(&["run", "small.toml", "--out", "out", "--frames", "1"]).expect(0);
    let before = fs::read(scratch.path().join("out/report.json")).unwrap();
    scratch.run(&["run", "small.toml", "--out", "out"]).refused(2, "already holds a run");
    assert_eq!(fs::read(scratch.path().join("out/report.json")).unwrap(), before);

    fs::create_dir(scratch.path().join("mine")).unwrap();
    scratch.write("mine/thesis.txt", "three years");
    scratch.run(&["run", "small.toml", "--out", "mine"]).refused(2, "not empty");
    scratch.run(&["run", "small.toml", "--out", "mine", "--resume"]).refused(2, "not the folder of a run");
    assert_eq!(fs::read_dir(scratch.path().join("mine")).unwrap().count(), 1);
}

#[test]
fn a_run_is_resumed_only_with_its_own_scene() {
    let scratch = Scratch::with_scene("other");
    scratch.run(&["run", "small.toml", "--out", "out", "--frames", "1"]).expect(0);
    let set = ["run", "small.toml", "--out", "out", "--resume", "--set", "solver.iterations=4"];
    scratch.run(&set).refused(2, "another scene");
    scratch.run(&["run", "--resume", "--out", "nowhere"]).refused(2, "no such folder");
    scratch.run(&["run", "small.toml", "--resume"]).refused(2, "--out");
}

#[test]
fn a_damaged_checkpoint_is_replaced_by_the_one_before_or_refused() {
    let scratch = Scratch::with_scene("damaged");
    scratch.run(&["run", "small.toml", "--out", "whole"]).expect(0);
    scratch.run(&["run", "small.toml", "--out", "out", "--frames", "1"]).expect(0);
    scratch.run(&["run", "small.toml", "--out", "out", "--frames", "3", "--resume"]).expect(0);
    let newest = scratch.path().join("out/checkpoint/newest.bin");
    let mut bytes = fs::read(&newest).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&newest, &bytes).unwrap();
    let said = scratch.run(&["run", "--out", "out", "--resume"]).expect(0);
    assert!(said.stderr.contains("warning") && said.stderr.contains("check sum"), "{said:#?}");
    assert_same_frames(&scratch.path().join("whole"), &scratch.path().join("out"));

    fs::write(&newest, &bytes[..middle]).unwrap();
    fs::write(scratch.path().join("out/checkpoint/previous.bin"), "").unwrap();
    let said = scratch.run(&["run", "--out", "out", "--frames", "9", "--resume"]).refused(4, "cut short");
    assert!(said.stderr.contains("newest.bin"), "{said:#?}");
}

#[test]
fn a_folder_that_cannot_be_written_is_status_4() {
    let scratch = Scratch::with_scene("unwritable");
    scratch.write("file", "not a folder");
    scratch.run(&["run", "small.toml", "--out", "file/out"]).refused(4, "file/out");
    scratch.run(&["run", "small.toml", "--out", "file"]).refused(4, "file");
    assert_eq!(fs::read_to_string(scratch.path().join("file")).unwrap(), "not a folder");

    let mut permissions = fs::metadata(scratch.path()).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(scratch.path(), permissions.clone()).unwrap();
    // An administrator may write anywhere; then there is nothing to refuse.
    if fs::write(scratch.path().join("probe"), "").is_err() {
        scratch.run(&["run", "small.toml", "--out", "out"]).refused(4, "out");
        scratch.run(&["run", "small.toml"]).refused(4, "runs");
    }
    #[expect(
        clippy::permissions_set_readonly_false,
        reason = "a scratch folder that is about to be removed"
    )]
    permissions.set_readonly(false);
    fs::set_permissions(scratch.path(), permissions).unwrap();
}

#[test]
fn info_says_what_a_run_did() {
    let scratch = Scratch::with_scene("info");
    scratch.run(&["run", "small.toml", "--out", "out", "--frames", "2"]).expect(0);
    let said = scratch.run(&["info", "out"]).expect(0);
    for part in
        ["A small sheet over a block", "89 points, 140 triangles", "2 frames, 6 steps", "guarantee held"]
    {
        assert!(said.stdout.contains(part), "no {part:?} in {said:#?}");
    }
    scratch.run(&["info", "small.toml"]).refused(2, "not the folder of a run");
    scratch.write("out/report.json", "{");
    scratch.run(&["info", "out"]).refused(2, "report.json");
}
