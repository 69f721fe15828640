//! A person's own mesh, no scene file; and pictures of what became of it.

mod common;

use common::{Scratch, assert_same_frames, report};
use littoral_io::run_folder::RunFolder;
use std::fs;

const SHEET: &str = "v 0 0 0\nv 100 0 0\nv 0 100 0\nv 100 100 5\nf 1 2 3\nf 2 4 3\n";
const TETRAHEDRON: &str = "v 1 1 1\nv 2 1 1\nv 1 2 1\nv 1 1 2\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";

#[test]
fn an_open_mesh_drops_as_cloth_and_a_run_of_it_can_be_resumed() {
    let scratch = Scratch::new("sheet");
    scratch.write("my sheet \"1\".obj", SHEET);
    let mesh = "my sheet \"1\".obj";
    let args = ["run", mesh, "--set", "units=mm", "--drop", "20", "--frames", "2", "--out"];
    scratch.run(&[&args[..], &["whole"]].concat()).expect(0);
    let folder = RunFolder::open(&scratch.path().join("whole")).unwrap();
    let topology = folder.read_topology().unwrap();
    let sheet = &topology.objects[0];
    assert_eq!((sheet.name.as_str(), sheet.kind.as_str()), ("my sheet \"1\"", "cloth"));
    // In millimetres: 0.1 m wide, its lowest point 20 mm above the ground.
    let lowest = topology.x0[..4].iter().map(|p| p.z).fold(f64::INFINITY, f64::min);
    assert!((lowest - 0.02).abs() < 1e-15, "{lowest}");
    assert!((topology.x0[0].x + 0.05).abs() < 1e-15 && (topology.x0[1].x - 0.05).abs() < 1e-15);

    scratch
        .run(&["run", mesh, "--set", "units=mm", "--drop", "20", "--frames", "1", "--out", "parts"])
        .expect(0);
    scratch.run(&["run", "--resume", "--frames", "2", "--out", "parts"]).expect(0);
    assert_same_frames(&scratch.path().join("whole"), &scratch.path().join("parts"));
}

#[test]
fn a_closed_mesh_drops_as_a_soft_body_along_the_axis_that_is_up() {
    let scratch = Scratch::new("closed");
    scratch.write("tetrahedron.obj", TETRAHEDRON);
    scratch
        .run(&["run", "tetrahedron.obj", "--set", "up=y", "--frames", "1", "--out", "out", "--quiet"])
        .expect(0);
    let folder = RunFolder::open(&scratch.path().join("out")).unwrap();
    let topology = folder.read_topology().unwrap();
    assert_eq!(topology.objects[0].kind, "soft");
    assert!(report(folder.root())["counts"]["tets"].as_u64().unwrap() > 0);
    let first = folder.read_frame(1).unwrap();
    let body = 0..topology.objects[0].count as usize;
    assert!(topology.x0[body.clone()].iter().all(|p| p.z > 0.0), "above the ground, frames have z up");
    // Free fall for one frame.
    let fallen = topology.x0[body.start].z - first.x[body.start].z;
    assert!((fallen - 0.5 * 9.81 / 576.0).abs() < 2e-3, "{fallen}");
}

#[test]
fn check_says_what_is_in_a_mesh() {
    let scratch = Scratch::new("check");
    scratch.write("sheet.obj", SHEET);
    let said = scratch.run(&["check", "sheet.obj"]).expect(0);
    for part in ["4 vertices, 2 triangles", "open", "100 × 100 × 5 m", "units", "crosses itself nowhere"] {
        assert!(said.stdout.contains(part), "no {part:?} in {said:#?}");
    }
    assert_eq!(said.stderr, "");

    // A sheet of two triangles, and a third one upright through the first of them.
    let upright = "v 20 20 -10\nv 20 30 10\nv 30 20 10\nf 5 6 7\n";
    scratch.write("cross.obj", format!("{SHEET}{upright}"));
    let said = scratch.run(&["check", "cross.obj"]).expect(0);
    assert!(
        said.stdout.contains("crosses itself: ") && said.stdout.contains("through triangle"),
        "{said:#?}"
    );
}

#[test]
fn frames_are_drawn_alone_and_side_by_side() {
    let scratch = Scratch::with_scene("render");
    scratch.run(&["run", "small.toml", "--out", "out", "--frames", "3"]).expect(0);
    let size = |name: &str| {
        let png = fs::read(scratch.path().join(name)).unwrap();
        assert!(png.starts_with(b"\x89PNG"));
        let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
        (number(16), number(20))
    };
    let said = scratch.run(&["render", "out", "--frame", "2", "-o", "two.png"]).expect(0);
    assert_eq!((said.stdout.as_str(), said.stderr.as_str()), ("two.png\n", ""));
    assert_eq!(size("two.png"), (1280, 720));
    scratch.run(&["render", "out", "-o", "all.png", "--every", "1"]).expect(0);
    let (width, height) = size("all.png");
    assert!(width >= 2 * 640 && height >= 2 * 360, "four pictures in two rows: {width} × {height}");

    scratch.run(&["render", "out", "--frame", "9", "-o", "x.png"]).refused(2, "frames 0 to 3");
    scratch.run(&["render", "out", "-o", "nowhere/x.png"]).refused(4, "nowhere/x.png");
    let frame = scratch.path().join("out/frames/frame_000001.npz");
    let bytes = fs::read(&frame).unwrap();
    fs::write(&frame, &bytes[..bytes.len() / 2]).unwrap();
    scratch.run(&["render", "out", "--frame", "1", "-o", "x.png"]).refused(4, "frame_000001.npz");
    assert!(!scratch.path().join("x.png").exists());
}

#[test]
fn scenes_and_schema_are_printed_whole() {
    let scratch = Scratch::new("print");
    let said = scratch.run(&["scenes"]).expect(0);
    assert!(said.stdout.lines().any(|line| line.starts_with("cloth-drop ")), "{said:#?}");
    let said = scratch.run(&["schema"]).expect(0);
    let schema: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert!(schema["properties"]["cloth"].is_object());
}
