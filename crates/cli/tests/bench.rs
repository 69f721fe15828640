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
}
