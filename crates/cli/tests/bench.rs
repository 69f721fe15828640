//! `littoral bench`: tables whose cells were measured, and nothing where nothing was.

mod common;

use common::Scratch;
use serde_json::Value;
use std::fs;

#[test]
fn the_splittings_are_set_side_by_side_and_written_as_json() {
    let scratch = Scratch::new("bench");
    let few = ["--frames", "3", "--set", "fluid.0.spacing=0.03", "--json", "table.json"];
    let said = scratch.run(&[&["bench", "splitting"][..], &few].concat()).expect(0);
    let text = fs::read_to_string(scratch.path().join("table.json")).unwrap();
    let tables: Value = serde_json::from_str(&text).unwrap();
    let rows = tables[0]["rows"].as_array().unwrap();
    for name in
        ["proxy", "proxy, bare nodes", "proxy, three phases", "baseline", "proxy, block descent", "joint"]
    {
        assert!(said.stdout.contains(name), "{}", said.stdout);
        let row = rows.iter().find(|r| r["name"] == name).unwrap();
        assert!(row["steps"].as_f64().unwrap() > 0.0 && row["leaked"] == 0.0, "{row}");
        // Sweeps have no tolerance that they could miss.
        assert_eq!(row.get("unconverged %").is_none(), name == "proxy, block descent", "{row}");
    }
    // The water has reached the jelly: both solvers had systems, and found the same.
    let systems = &tables[1];
    assert!(systems["rows"][1]["first [ms]"].as_f64().unwrap() > 0.0, "{systems}");
    let note = systems["notes"][0].as_str().unwrap();
    let difference: f64 = note.split([' ', ';']).find_map(|w| w.parse().ok()).unwrap();
    assert!(difference < 1e-8, "{note}");
    assert!(!text.contains("null"), "{text}");
}

#[test]
fn a_table_that_cannot_be_made_is_status_2() {
    let scratch = Scratch::new("bench-refused");
    scratch.run(&["bench", "splitting", "--scene", "cloth-drop"]).refused(2, "no fluid");
    scratch.run(&["bench", "splitting", "--scene", "jelly"]).refused(2, "jelly");
    scratch.run(&["bench", "splittings"]).refused(2, "splitting");
    scratch.run(&["bench", "truncation", "--scene", "cup"]).refused(2, "no use for --scene");
    scratch.run(&["bench", "validate", "--trials", "3"]).refused(2, "no use for --trials");
    scratch.run(&["bench", "convergence", "--scene", "cup"]).refused(2, "fluid");
    fs::write(
        scratch.path().join("mute.toml"),
        "version = 1\n[[collider]]\nmesh = { plane = { size = [1, 1] } }\n",
    )
    .unwrap();
    scratch.run(&["bench", "validate", "--scene", "mute.toml"]).refused(2, "expects nothing");
}

#[test]
fn planes_keep_more_of_a_motion_than_spheres_and_one_step_for_all() {
    let scratch = Scratch::new("bench-truncation");
    scratch.run(&["bench", "truncation", "--trials", "1", "--json", "table.json"]).expect(0);
    let text = fs::read_to_string(scratch.path().join("table.json")).unwrap();
    let tables: Value = serde_json::from_str(&text).unwrap();
    for row in tables[0]["rows"].as_array().unwrap() {
        let kept = ["water-filling %", "planar %", "isotropic %", "CCD %"].map(|c| row[c].as_f64().unwrap());
        assert!(kept.is_sorted_by(|a, b| a > b), "{row}");
        assert_eq!(row["crossings"], 0.0);
    }
}

#[test]
fn a_step_comes_nearer_to_its_solution_with_each_sweep() {
    let scratch = Scratch::new("bench-convergence");
    let which = ["--scene", "soft-drop", "--frames", "10", "--json", "table.json"];
    scratch.run(&[&["bench", "convergence"][..], &which].concat()).expect(0);
    let text = fs::read_to_string(scratch.path().join("table.json")).unwrap();
    let tables: Value = serde_json::from_str(&text).unwrap();
    let rows = tables[0]["rows"].as_array().unwrap();
    for name in ["planar", "slide", "project", "isotropic", "ccd"] {
        let row = rows.iter().find(|r| r["name"] == name).unwrap();
        let error = |sweeps: &str| row[sweeps].as_f64().unwrap();
        assert!(error("100") < error("20") && error("20") < error("1"), "{row}");
        assert!(error("1") < rows[0]["1"].as_f64().unwrap(), "{row}");
    }
}

#[test]
fn what_a_scene_expects_is_set_beside_what_was_found() {
    let scratch = Scratch::new("bench-validate");
    let free_fall =
        ["bench", "validate", "--quiet", "--scene", "validation/free-fall", "--json", "table.json"];
    let said = scratch.run(&free_fall).expect(0);
    assert!(said.stdout.contains("held in every frame"), "{}", said.stdout);
    let text = fs::read_to_string(scratch.path().join("table.json")).unwrap();
    let tables: Value = serde_json::from_str(&text).unwrap();
    for row in tables[0]["rows"].as_array().unwrap() {
        assert!(row["met"] == true && row["found"].is_number(), "{row}");
    }
    // Under half the gravity the sheet misses what is expected, and the table says so.
    let half = [&free_fall[..], &["--set", "gravity=[0,0,-5]"]].concat();
    let said = scratch.run(&half).expect(1);
    assert!(said.stdout.contains(" NO"), "{}", said.stdout);
}
