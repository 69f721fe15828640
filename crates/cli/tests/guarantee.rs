//! What the exit status and the report say about crossings and expectations.

mod common;

use common::{SMALL, Scratch, report};

/// [`SMALL`], with a second sheet stuck upright through the first.
fn crossing() -> String {
    let upright = "[[cloth]]\nname = \"upright\"\nmesh = { grid = { size = [0.1, 0.1], cells = [2, 2] } }\n\
                   rotation = { axis = [1, 0, 0], angle_deg = 90 }\nposition = [0.1, 0.1, 0.07]\n";
    format!("{SMALL}\n{upright}")
}

#[test]
fn input_that_crosses_itself_goes_on_with_a_warning_and_is_refused_when_strict() {
    let scratch = Scratch::new("crossing");
    scratch.write("small.toml", crossing());
    let said = scratch
        .run(&["run", "small.toml", "--out", "strict", "--strict"])
        .refused(2, "must not cross itself");
    assert!(
        said.stderr.contains("\"sheet\" with \"upright\"") && said.stderr.contains("through triangle"),
        "{said:#?}"
    );
    assert!(!scratch.path().join("strict").exists());

    let said = scratch.run(&["check", "small.toml"]).expect(0);
    assert!(said.stdout.contains("\"sheet\" with \"upright\""), "{said:#?}");

    let said = scratch.run(&["run", "small.toml", "--out", "out"]).expect(0);
    assert!(said.stderr.contains("warning: the input crosses itself"), "{said:#?}");
    let report = report(&scratch.path().join("out"));
    let (initial, warning) = (&report["certificate"]["intersections_initial"], &report["warnings"][0]);
    assert!(initial.as_u64().unwrap() > 0);
    assert_eq!((&warning["code"], &warning["count"]), (&"initial-intersections".into(), initial));
    assert_eq!(report["certificate"]["intersections_new"], 0);
}

#[test]
fn without_truncation_the_guarantee_breaks_and_the_status_says_so() {
    let scratch = Scratch::new("broken");
    // Half the block's height in the first step of 1/72 s.
    scratch.write("small.toml", SMALL.replace("velocity = [0.0, 0.0, -0.5]", "velocity = [0.0, 0.0, -3.6]"));
    let args = ["run", "small.toml", "--out", "out", "--strict", "--set", "solver.truncation=none"];
    let said = scratch.run(&args).expect(3);
    assert!(said.stderr.contains("error: the guarantee did not hold"), "{said:#?}");
    assert!(said.stdout.starts_with("out\n") && said.stdout.contains("guarantee BROKEN"), "{said:#?}");
    let certificate = &report(&scratch.path().join("out"))["certificate"];
    assert!(certificate["intersections_new"].as_u64().unwrap() > 0);
    assert_eq!(certificate["held"], false);

    scratch.run(&["run", "small.toml", "--out", "safe", "--strict"]).expect(0);
}

#[test]
fn an_end_that_the_scene_did_not_expect_is_status_1() {
    let scratch = Scratch::new("expect");
    let expect = |text: &str| format!("{SMALL}\n[[expect]]\nobject = \"sheet\"\n{text}\n");
    // It has fallen: its lowest point is below where it began.
    scratch.write("met.toml", expect("measure = \"min_z\"\nat_most = 0.054"));
    scratch.run(&["run", "met.toml", "--out", "met"]).expect(0);
    let told = &report(&scratch.path().join("met"))["expectations"][0];
    assert_eq!(told["met"], true);
    assert!(told["found"].as_f64().unwrap() <= 0.06);

    scratch.write("unmet.toml", expect("measure = \"min_z\"\nat_least = 1.0\ntime = 0.125"));
    let said = scratch.run(&["run", "unmet.toml", "--out", "unmet"]).expect(1);
    assert!(
        said.stderr.contains("expected another end") && said.stderr.contains("min_z of \"sheet\""),
        "{said:#?}"
    );
    let report_unmet = report(&scratch.path().join("unmet"));
    assert_eq!(
        (&report_unmet["certificate"]["held"], &report_unmet["finished"]),
        (&true.into(), &true.into())
    );
    assert_eq!(report_unmet["expectations"][0]["met"], false);

    // Before its time nothing is said, and a resumed run finds the same as a whole one.
    scratch.run(&["run", "unmet.toml", "--out", "parts", "--frames", "2"]).expect(0);
    assert!(report(&scratch.path().join("parts"))["expectations"][0].get("met").is_none());
    scratch.run(&["run", "--out", "parts", "--resume", "--frames", "4"]).expect(1);
    scratch.run(&["run", "--out", "parts", "--resume"]).expect(1);
    assert_eq!(report(&scratch.path().join("parts"))["expectations"], report_unmet["expectations"]);
}
