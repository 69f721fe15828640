//! Wrong input of many kinds: one clear error, the right exit status, no folder left behind, never a panic.

mod common;

use common::{SMALL, Scratch};
use std::fs;

const TRIANGLE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";

#[test]
fn a_wrong_command_line_is_status_2() {
    let scratch = Scratch::with_scene("arguments");
    let cases: [(&[&str], &str); 12] = [
        (&["run"], "SCENE|MESH"),
        (&["redner", "small.toml"], "render"),
        (&["run", "small.toml", "--theads", "2"], "--threads"),
        (&["run", "small.toml", "--threads", "0"], "1..=1024"),
        (&["run", "small.toml", "--threads", "many"], "many"),
        (&["run", "small.toml", "--frames", "-1"], "-1"),
        (&["run", "small.toml", "--as", "jelly"], "cloth"),
        (&["run", "small.toml", "--as", "cloth"], "for meshes"),
        (&["run", "small.toml", "--set", "solver.iterations"], "solver.iterations"),
        (&["render", "nowhere", "-o", "x.png"], "no such folder"),
        (&["check"], "FILE"),
        (&["new", "cloth-dorp"], "cloth-drop"),
    ];
    for (args, what) in cases {
        scratch.run(args).refused(2, what);
    }
    assert!(!scratch.path().join("runs").exists());
}

#[test]
fn a_wrong_scene_is_status_2_with_its_line() {
    let change = |old: &str, new: &str| {
        assert!(SMALL.contains(old), "{old}");
        SMALL.replace(old, new)
    };
    let cases = [
        (change("iterations = 3", "itertions = 3"), "iterations"),
        (change("iterations = 3", "iterations = 0"), "iterations"),
        (change("iterations = 3", "iterations = \"three\""), "three"),
        (change("duration = 0.25", "duration = -1.0"), "duration"),
        (change("duration = 0.25", "duration = nan"), "duration"),
        (change("version = 1", "version = 7"), "version"),
        (change("cells = [8, 8]", "cells = [8]"), "cells"),
        (change("cells = [8, 8]", "cells = [0, 8]"), "cells"),
        (change("grid =", "gird ="), "grid"),
        (change("[[collider]]", "[[colider]]"), "collider"),
        (change("[[cloth]]\n", "[[cloth]]\nmaterial = \"coton\"\n"), "cotton"),
        (change("[[cloth]]\n", "[[cloth]]\nmaterial = { thickness = -0.001 }\n"), "thickness"),
        (change("[[cloth]]\n", "[[cloth]]\nmaterial = { poisson = 0.5 }\n"), "poisson"),
        (change("name = \"block\"", "name = \"sheet\""), "sheet"),
        (change("name = \"block\"", "name = \"blo"), "small.toml:"),
        (change("duration = 0.25", "duration = 0.25\nduration = 0.5"), "duration"),
        (change("box = { size = [0.1, 0.1, 0.1] }", "file = \"broken.obj\""), "broken.obj"),
    ];
    for (text, what) in cases {
        let scratch = Scratch::new("scene");
        scratch.write("small.toml", &text);
        scratch.write("broken.obj", "v 0 0 0\nv 1 0 nan\nv 0 1 0\nf 1 2 3\n");
        let said = scratch.run(&["run", "small.toml"]).refused(2, what);
        assert!(said.stderr.contains("small.toml:"), "no line in {said:#?}");
        assert!(!scratch.path().join("runs").exists(), "{said:#?}");
        scratch.run(&["check", "small.toml"]).refused(2, what);
    }
}

#[test]
fn a_scene_that_is_not_there_is_named_with_its_neighbour() {
    let scratch = Scratch::new("unknown");
    scratch.run(&["run", "cloth-dorp"]).refused(2, "cloth-drop");
    scratch.run(&["run", "zzzzzzzzzzzz"]).refused(2, "littoral scenes");
    scratch.run(&["run", "nowhere/scene.toml"]).refused(4, "nowhere/scene.toml");
    scratch.run(&["run", "nowhere.obj"]).refused(4, "nowhere.obj");
    scratch.run(&["run", "."]).refused(2, "folder");
    scratch.write("picture.toml", b"\x89PNG\r\n\x1a\n\x00\xff");
    scratch.run(&["run", "picture.toml"]).refused(2, "picture.toml");
}

#[test]
fn a_wrong_mesh_is_status_2_with_its_place() {
    let cases: [(&str, &[u8], &str); 9] = [
        ("empty.obj", b"", "empty"),
        ("nan.obj", b"v 0 0 0\nv nan 0 0\nv 0 1 0\nf 1 2 3\n", "line 2"),
        ("index.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", "line 4"),
        ("word.obj", b"v 0 0 zero\n", "line 1"),
        ("points.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\n", "nothing to simulate"),
        ("cut.stl", b"solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\n", "cut.stl"),
        ("cut.ply", b"ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\n", "cut.ply"),
        ("binary.msh", b"$MeshFormat\n4.1 1 8\n\x01\x00", "binary.msh"),
        ("photo.obj", b"\x89PNG\r\n\x1a\n", "picture"),
    ];
    let scratch = Scratch::new("mesh");
    for (name, bytes, what) in cases {
        scratch.write(name, bytes);
        scratch.run(&["run", name]).refused(2, what);
        scratch.run(&["check", name]).refused(2, what);
    }
    scratch.write("sheet.obj", TRIANGLE);
    scratch.run(&["run", "sheet.obj", "--drop", "-1"]).refused(2, "--drop");
    scratch.run(&["run", "sheet.obj", "--drop", "nan"]).refused(2, "--drop");
    scratch.run(&["run", "sheet.obj", "--as", "rigid"]).refused(2, "rigid");
    scratch.run(&["run", "sheet.obj", "--as", "soft"]).refused(2, "sheet.obj");
    assert!(!scratch.path().join("runs").exists());
}

#[test]
fn check_goes_on_after_a_wrong_file_and_says_so_in_its_status() {
    let scratch = Scratch::with_scene("several");
    scratch.write("bad.obj", "v 0 0 zero\n");
    scratch.write("good.obj", TRIANGLE);
    let said = scratch.run(&["check", "bad.obj", "good.obj", "nowhere.obj", "small.toml"]).expect(4);
    assert_eq!(said.stderr.matches("error:").count(), 2, "{said:#?}");
    assert!(said.stdout.contains("good.obj: OBJ") && said.stdout.contains("A small sheet"), "{said:#?}");
}

#[test]
fn new_never_writes_over_a_file() {
    let scratch = Scratch::new("new");
    let said = scratch.run(&["new", "cloth-drop"]).expect(0);
    assert_eq!(said.stdout, "cloth-drop.toml\n");
    let text = fs::read_to_string(scratch.path().join("cloth-drop.toml")).unwrap();
    scratch.write("cloth-drop.toml", "mine");
    scratch.run(&["new", "cloth-drop"]).refused(2, "exists");
    assert_eq!(fs::read_to_string(scratch.path().join("cloth-drop.toml")).unwrap(), "mine");
    scratch.run(&["new", "cloth-drop", "-o", "other.toml"]).expect(0);
    assert_eq!(fs::read_to_string(scratch.path().join("other.toml")).unwrap(), text);
    scratch.run(&["new", "cloth-drop", "-o", "nowhere/other.toml"]).refused(4, "nowhere/other.toml");
}
