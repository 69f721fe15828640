//! Reading scenes: what is right reads back the same, what is wrong says where and what to try.

use super::spec::*;
use super::spec_mesh::Mesh;
use super::*;

fn load(text: &str, sets: &[&str]) -> Result<SceneFile, SceneFileError> {
    let sets: Vec<String> = sets.iter().map(|s| s.to_string()).collect();
    SceneFile::load(Source::Text { label: "test.toml", text, base: Path::new("") }, &sets)
}

/// Message, line, marked text and help of an error.
fn failure(text: &str, sets: &[&str]) -> (String, usize, String, String) {
    let error = load(text, sets).and_then(|s| s.build().map(|_| s)).unwrap_err();
    match error {
        SceneFileError::Invalid { message, place, help } => {
            let marked = place.text.chars().skip(place.mark).take(place.width).collect();
            (message, place.line, marked, help.unwrap_or_default())
        }
        other => panic!("expected a place in the text, found {other}"),
    }
}

#[test]
fn an_empty_file_is_a_scene_with_defaults() {
    let file = load("", &[]).unwrap();
    assert_eq!(file.scene, Scene::default());
    assert_eq!(file.frames(), 48);
    let (n, h) = file.steps_per_frame();
    assert_eq!((n, h), (10, 1.0 / 240.0));
}

#[test]
fn steps_divide_a_frame_and_never_exceed_the_largest() {
    for (fps, step, n) in [
        (24.0, "\"auto\"", 10),
        (25.0, "\"auto\"", 10),
        (240.0, "\"auto\"", 1),
        (1000.0, "\"auto\"", 1),
        (60.0, "0.001", 17),
        (50.0, "0.001", 20),
        (24.0, "1", 1),
    ] {
        let file = load(&format!("fps = {fps}\n[solver]\nstep = {step}\n"), &[]).unwrap();
        let (steps, h) = file.steps_per_frame();
        assert_eq!(steps, n, "{fps} frames a second, step {step}");
        assert!((h * f64::from(steps) * fps - 1.0).abs() < 1e-15);
    }
}

#[test]
fn a_material_gives_ropes_and_rigid_bodies_what_they_leave_out() {
    let text = "[[rod]]\nmaterial = \"hemp-rope\"\nyoung = 1e8\n[[rod]]\n[[rigid]]\nmaterial = \"steel\"\n[[rigid]]\nmaterial \
        = \"steel\"\ndensity = 7800";
    let scene = load(text, &[]).unwrap().scene;
    let (hemp, unnamed) = (scene.rod[0].stuff(), scene.rod[1].stuff());
    assert_eq!((hemp.density, hemp.young, hemp.poisson, hemp.flexural), (900.0, 1e8, 0.3, 0.01));
    assert_eq!((unnamed.density, unnamed.young, unnamed.poisson, unnamed.flexural), (1000.0, 1e7, 0.4, 1.0));
    assert_eq!((scene.rigid[0].stuff(), scene.rigid[1].stuff()), (7850.0, 7800.0));
}

#[test]
fn every_mistake_is_shown_where_it_was_made() {
    // (text, line, what is marked, part of the message, part of the help)
    let cases: &[(&str, usize, &str, &str, &str)] = &[
        ("fsp = 24", 1, "fsp", "unknown key \"fsp\"", "did you mean \"fps\"?"),
        ("iterations = 5", 1, "iterations", "unknown key", "it belongs to [solver]"),
        ("[contact]\npin = 1", 2, "pin", "unknown key", "it belongs to [[cloth]], [[rod]], [[soft]]"),
        ("[solver]\nitreations = 5", 2, "itreations", "unknown key", "\"iterations\""),
        ("[[cloth]]\nmaterial = { desnity = 1 }", 2, "desnity", "unknown key", "\"density\""),
        ("[[cloth]]\nmaterial = \"coton\"", 2, "\"coton\"", "unknown material", "\"cotton\""),
        ("[[cloth]]\nmaterial = { preset = \"slik\" }", 2, "\"slik\"", "unknown material", "\"silk\""),
        ("[[rod]]\nmaterial = \"hmp-rope\"", 2, "\"hmp-rope\"", "unknown material", "\"hemp-rope\""),
        ("[[rigid]]\nmaterial = \"stel\"", 2, "\"stel\"", "unknown material", "\"steel\""),
        ("[[cloth]]\nmaterial = { thickness = -1e-3 }", 2, "-1e-3", "thickness must be above 0", ""),
        ("[[soft]]\nmaterial = { poisson = 0.5 }", 2, "0.5", "above -1 and below 0.5", ""),
        ("[[cloth]]\nmesh = { grdi = {} }", 2, "grdi", "unknown name \"grdi\"", "\"grid\""),
        ("[[cloth]]\nmesh = { grid = { cells = [4, 0] } }", 2, "0", "at least 1", ""),
        ("[[cloth]]\nmesh = { grid = { cells = [4] } }", 2, "[4]", "length 2, found length 1", ""),
        ("[[cloth]]\nposition = [0, 0, 0, 0]", 2, "[0, 0, 0, 0]", "length 3, found length 4", ""),
        ("[[cloth]]\nposition = [0, nan, 0]", 2, "nan", "expected a finite number", ""),
        ("fps = \"fast\"", 1, "\"fast\"", "expected a number, found the string", ""),
        ("fps = 0", 1, "0", "fps must be at least 0.001", ""),
        ("seed = -1", 1, "-1", "expected a whole number", ""),
        ("cloth = 3", 1, "3", "expected an array", ""),
        ("[solver]\nmethod = \"neuton\"", 2, "\"neuton\"", "unknown name", "newton"),
        ("[solver]\nstep = \"soon\"", 2, "\"soon\"", "a number of seconds or \"auto\"", ""),
        (
            "[solver]\nsplitting = \"joint\"",
            2,
            "\"joint\"",
            "this splitting needs method \"newton\"",
            "proxy",
        ),
        ("[solver]\nlinear = \"shur\"", 2, "\"shur\"", "unknown name", "schur"),
        ("[solver]\ntolerance = 0", 2, "0", "tolerance must be", ""),
        ("[solver]\nvolume_error = 0.5", 2, "0.5", "above 0 and below 0.5", ""),
        ("[solver]\ncourant = 0", 2, "0", "courant must be", ""),
        ("[[fluid]]\nmaterial = \"watter\"", 2, "\"watter\"", "unknown material", "\"water\""),
        ("[[fluid]]\nmaterial = { viscosity = -1 }", 2, "-1", "viscosity must be at least 0", ""),
        (
            "[[fluid]]\nmaterial = { young = 1 }",
            2,
            "young",
            "unknown key",
            "density, preset, stiffness, viscosity",
        ),
        ("[[fluid]]\nspaceing = 0.1", 2, "spaceing", "unknown key", "\"spacing\""),
        ("[[fluid]]\nspacing = 0", 2, "0", "spacing must be above 0", ""),
        ("[[fluid]]\nspacing = 0.1\n[[fluid]]\nspacing = 0.2", 4, "0.2", "have one spacing", "leave it out"),
        ("[[fluid]]\nspacing = 1e-5", 2, "1e-5", "at most 1e7", "larger spacing"),
        (
            "[[fluid]]\nspacing = 0.5\nfill = { box = [[0, 0, 0], [1, 1, 0.2]] }",
            3,
            "{ box = [[0, 0, 0], [1, 1, 0.2]] }",
            "no room for a particle",
            "smaller spacing",
        ),
        ("[[fluid]]\nfill = { }", 2, "{ }", "exactly one of box and inside", ""),
        ("[[fluid]]\nfill = 3", 2, "3", "a table with box or inside", ""),
        ("[[fluid]]\nfill = { bxo = 3 }", 2, "bxo", "unknown key", "\"box\""),
        ("[[fluid]]\nfill = []", 2, "[]", "fills nothing", ""),
        (
            "[[fluid]]\nfill = [{ box = [[0, 0, 0], [1, 1, 1]] }, { box = [[0, 0, 1], [1, 1, 0]] }]",
            2,
            "[[0, 0, 1], [1, 1, 0]]",
            "along z found 1 and 0",
            "",
        ),
        ("[[fluid]]\nfill = { inside = \"gone.obj\" }", 2, "\"gone.obj\"", "gone.obj", ""),
        ("[[fluid]]\nfill = { inside = \"sfere\" }", 2, "\"sfere\"", "unknown name", "\"sphere\""),
        ("[[fluid]]\nfill = { inside = { sphere = { radius = 0 } } }", 2, "0", "radius must be above 0", ""),
        ("[[fluid]]\nemitter = [{ direction = [0, 0, 0] }]", 2, "[0, 0, 0]", "a direction", ""),
        ("[[fluid]]\nemitter = [{ speed = 1, rate = 1 }]", 2, "{ speed = 1, rate = 1 }", "found both", ""),
        ("[[fluid]]\nemitter = [{ start = 1, stop = 0.5 }]", 2, "0.5", "stop must be above start", ""),
        ("[[sink]]\nbox = [[0, 0, 0], [1, 0, 1]]", 2, "[[0, 0, 0], [1, 0, 1]]", "along y", ""),
        ("[[rod]]\nmesh = { points = [[0, 0, 0]] }", 2, "[[0, 0, 0]]", "at least two points", ""),
        ("[[rod]]\nradius = 0", 2, "0", "radius must be above 0", ""),
        ("[[collider]]\nmotion = { keyframes = [] }", 2, "[]", "at least one keyframe", ""),
        (
            "[[collider]]\nmotion = { keyframes = [{ time = 1 }, { time = 0.5 }] }",
            2,
            "0.5",
            "must increase: found 0.5 after 1",
            "",
        ),
        ("[[collider]]\nmotion = { twist = { axis = [0, 0, 0] } }", 2, "[0, 0, 0]", "a direction", ""),
        ("[[collider]]\nrotation = { angle_deg = 3 }", 2, "{ angle_deg = 3 }", "needs an axis", ""),
        ("[[cloth]]\npin = [{ }]", 2, "{ }", "exactly one of box, vertices and all", ""),
        ("[[cloth]]\npin = [{ vertices = [99999] }]", 2, "99999", "there is no vertex 99999", ""),
        (
            "[[cloth]]\npin = [{ box = [[8, 8, 8], [9, 9, 9]] }]",
            2,
            "[[8, 8, 8], [9, 9, 9]]",
            "holds no vertex",
            "",
        ),
        ("[[cloth]]\nmesh = { file = \"gone.obj\" }", 2, "\"gone.obj\"", "gone.obj", ""),
        ("[[cloth]]\nmesh = { torus = { major = 1, minor = 2 } }", 2, "2", "minor must be below major", ""),
        (
            "[[cloth]]\nname = \"a\"\n[[collider]]\nname = \"a\"",
            4,
            "\"a\"",
            "already taken by cloth.0 (line 2)",
            "must differ",
        ),
        ("[[expect]]\nobject = \"a\"\nat_most = 1", 2, "\"a\"", "there is no object \"a\"", ""),
        ("[[cloth]]\nname = \"a\"\n[[expect]]\nobject = \"a\"", 3, "[[expect]]", "at_least, at_most", ""),
        ("a = [1, 2", 1, "", "", ""),
        ("{\"fps\": 24, \"clot\": []}", 1, "\"clot\"", "unknown key \"clot\"", "\"cloth\""),
        ("{\n \"fps\": 0\n}", 2, "0", "fps must be", ""),
    ];
    for (text, line, marked, message, help) in cases {
        let found = failure(text, &[]);
        assert_eq!(found.1, *line, "{text}: {found:?}");
        assert!(marked.is_empty() || found.2 == *marked, "{text}: {found:?}");
        assert!(found.0.contains(message) && found.3.contains(help), "{text}: {found:?}");
    }
}

#[test]
fn an_error_looks_like_this() {
    let text = "title = \"t\"\n\n[[cloth]]\nmaterial = { desnity = 0.2 }\n";
    let shown = load(text, &[]).unwrap_err().to_string();
    assert_eq!(
        shown,
        "unknown key \"desnity\"\n \
         --> test.toml:4:14\n  \
           |\n\
         4 | material = { desnity = 0.2 }\n  \
           |              ^^^^^^^\n  \
           = did you mean \"density\"? known here: bending, damping, density, drag, model, poisson, preset, \
         strain_limit, thickness, yield_curvature, young"
    );
}

#[test]
fn set_changes_what_it_names() {
    let text = "[[cloth]]\nname = \"sheet\"\nmesh = { grid = { cells = [60, 60] } }\nmaterial = \"silk\"";
    let sets = [
        "solver.iterations=5",
        "cloth.0.mesh.grid.cells=[40, 20]",
        "cloth.sheet.material.density = 0.5",
        "solver.truncation=isotropic",
        "title=two words",
        "contact.radius=1e-3",
    ];
    let scene = load(text, &sets).unwrap().scene;
    assert_eq!(scene.solver.iterations, 5);
    assert_eq!(scene.solver.truncation, Truncation::Isotropic);
    assert_eq!(scene.title, "two words");
    assert_eq!(scene.contact.radius, Some(1e-3));
    let Mesh::Grid(grid) = &scene.cloth[0].mesh else { panic!("the mesh was a grid") };
    assert_eq!((grid.cells, grid.size), ([40, 20], [1.0, 1.0]));
    let material = scene.cloth[0].material.resolve(|l| l).unwrap();
    let silk = materials::cloth_preset("silk").unwrap();
    assert_eq!((material.density, material.young, material.bending), (0.5, silk.young, silk.bending));
}

#[test]
fn a_wrong_set_shows_the_argument() {
    let text = "[[cloth]]\nname = \"sheet\"";
    for (set, marked, message, help) in [
        ("solver.itreations=5", "itreations", "unknown key", "\"iterations\""),
        ("slover.iterations=5", "slover", "unknown key", "\"solver\""),
        ("cloth.1.position=[0,0,0]", "1", "there is no element", ""),
        ("cloth.shet.position=[0,0,0]", "shet", "the nearest name is \"sheet\"", ""),
        ("fluid.0.spacing=0.02", "fluid", "the scene has no [[fluid]]", ""),
        ("cloth.0.spacing=0.02", "spacing", "unknown key", ""),
        ("solver.iterations", "solver.iterations", "expected KEY=VALUE", "--set"),
        ("solver.iterations=0", "0", "at least 1", ""),
        ("solver.iterations=[", "[", "", ""),
        ("solver..iterations=1", "", "expected a key", ""),
        ("duration.x=1", "x", "", ""),
        ("=1", "", "expected a key", ""),
    ] {
        let found = failure(&format!("duration = 1\n{text}"), &[set]);
        assert!(marked.is_empty() || found.2 == marked, "{set}: {found:?}");
        assert!(found.0.contains(message) && found.3.contains(help), "{set}: {found:?}");
    }
}

#[test]
fn toml_and_json_of_the_same_structure_are_the_same_scene() {
    for (name, text) in shipped() {
        let table: toml::Table = text.parse().unwrap();
        let json = serde_json::to_string_pretty(&table).unwrap();
        let (a, b) = (load(text, &[]).unwrap(), load(&json, &[]).unwrap());
        assert_eq!(a.scene, b.scene, "{name}");
    }
}

#[test]
fn a_scene_with_defaults_filled_in_reads_back_as_itself() {
    let more = [
        "units = \"in\"\nup = \"y\"\n[[cloth]]\n[[soft]]\nmaterial = { young = 2e5 }\n[[collider]]\nmotion = { keyframes = [{ time = 0 }] }",
        "units = \"cm\"\nup = \"y\"\n[[fluid]]\nspacing = 2\nfill = { box = [[0, 0, 0], [10, 20, 10]] }\nmaterial = { viscosity = 1e-3 }\n[[fluid]]\nfill = [{ inside = \"sphere\", position = [30, 0, 0], scale = 60 }]\nemitter = [{ center = [0, 50, 0], rate = 1e-3 }]\n[[sink]]",
        "[[fluid]]",
        "units = \"cm\"\n[[cloth]]\nmaterial = { thickness = 0.05 }\npin = [{ all = true, motion = { twist = { rate = 1 } } }]",
    ];
    for text in shipped().iter().map(|(_, text)| *text).chain(more) {
        let first = load(text, &[]).unwrap();
        let written = first.to_toml().unwrap();
        let second = load(&written, &[]).unwrap_or_else(|e| panic!("{e}\n{written}"));
        assert_eq!(second.to_toml().unwrap(), written);
        // The same bits of state, not only the same words.
        let (a, b) = (first.build().unwrap(), second.build().unwrap());
        assert_eq!(a.0.state(), b.0.state());
        assert_eq!(a.0.triangles(), b.0.triangles());
        assert_eq!(a.1, b.1);
        assert_eq!(first.steps_per_frame(), second.steps_per_frame());
        assert_eq!(first.expectations(), second.expectations());
        for (o, p) in first.scene.cloth.iter().zip(&second.scene.cloth) {
            let (f, g) = (first.frame(), second.frame());
            assert_eq!(o.material.resolve(|l| f.length(l)), p.material.resolve(|l| g.length(l)));
        }
    }
}

#[test]
fn units_and_axes_make_no_difference_to_what_is_simulated() {
    let metres = "[[cloth]]\nmesh = { grid = { size = [0.5, 0.25] } }\nposition = [0.125, 0.25, 0.5]\nvelocity = [1, 2, 3]";
    // y up: (x, y, z) of z up is (x, z, −y).
    let centimetres = "units = \"cm\"\nup = \"y\"\n[[cloth]]\nmesh = { grid = { size = [50, 25] } }\nposition = [12.5, 50, -25]\nvelocity = [1, 3, -2]";
    let (a, b) = (load(metres, &[]).unwrap(), load(centimetres, &[]).unwrap());
    assert_eq!(a.build().unwrap().0.state(), b.build().unwrap().0.state());
    let up =
        |m: &str| format!("{centimetres}\n[[expect]]\nobject = \"cloth0\"\nmeasure = \"{m}\"\nat_most = 0");
    for (measure, value) in [("min_y", 50.0), ("min_z", -37.5), ("max_z", -12.5), ("center_x", 12.5)] {
        let file = load(&up(measure), &[]).unwrap();
        let found = file.expectations()[0].value(&file.build().unwrap().0, &Seen::default());
        assert!((found - value).abs() < 1e-12, "{measure} is {found}");
    }
}

#[test]
fn fluids_are_filled_alike_in_any_unit_and_axes() {
    let metres = "[[fluid]]\nname = \"w\"\nspacing = 0.125\nfill = [{ box = [[0, 0, 0], [0.5, 0.25, 1]] }, \
        { inside = { box = { size = [0.5, 0.25, 0.25] } }, position = [0.25, 1.125, 0.125] }]\nvelocity = [1, 2, 3]\n\
        emitter = [{ center = [2, 0, 1], direction = [1, 0, 0], radius = 0.125, speed = 1, stop = 0.5 }]\n\
        [[sink]]\nbox = [[5, 5, 5], [6, 6, 6]]";
    // y up: (x, y, z) of z up is (x, z, −y).
    let centimetres = "units = \"cm\"\nup = \"y\"\n[[fluid]]\nname = \"w\"\nspacing = 12.5\nfill = [{ box = [[0, 0, -25], [50, 100, 0]] }, \
        { inside = { box = { size = [50, 25, 25] } }, position = [25, 12.5, -112.5] }]\nvelocity = [1, 3, -2]\n\
        emitter = [{ center = [200, 100, 0], direction = [2, 0, 0], radius = 12.5, rate = 0.078125, stop = 0.5 }]\n\
        [[sink]]\nbox = [[500, 500, -600], [600, 600, -500]]";
    let (a, b) = (load(metres, &[]).unwrap(), load(centimetres, &[]).unwrap());
    let ((a, _), (b, _)) = (a.build().unwrap(), b.build().unwrap());
    // Each box is a whole number of spacings wide; a layer of the nozzle has five particles, and four leave in 0.5 s.
    assert_eq!(a.particles().len(), 4 * 2 * 8 + 4 * 2 * 2 + 5 * 4);
    assert_eq!(a.state().x[0].to_array(), [0.0625; 3]);
    let order = |sim: &Simulation| {
        let mut x: Vec<[f64; 3]> = sim.state().x.iter().map(|p| p.to_array()).collect();
        x.sort_by(|a, b| a.partial_cmp(b).unwrap());
        x
    };
    assert_eq!(order(&a), order(&b));
    let (x, present) = (&a.state().x, a.particles().filter(|&p| a.is_present(p)).count());
    assert_eq!((present, x[84].x), (80, 2.0));
    assert_eq!(a.state().v[3].to_array(), [1.0, 2.0, 3.0]);
}

#[test]
fn a_fluid_without_a_spacing_has_ten_thousand_particles_or_a_nozzle_eight_wide() {
    let particles = |text: &str| load(text, &[]).unwrap().build().unwrap().0.particles().len() as f64;
    // Along each axis the number is rounded: 22 cubed.
    assert!((particles("[[fluid]]") / 1e4 - 1.0).abs() < 0.1);
    let jet = "duration = 1\n[[fluid]]\nemitter = [{ radius = 0.04, speed = 0.1 }]";
    // Ten layers of a disc of radius four spacings.
    assert_eq!(particles(jet), 10.0 * 49.0);
}

#[test]
fn measures_of_a_fluid_are_in_units_and_axes_of_the_file() {
    let text = |m: &str| {
        format!(
            "units = \"cm\"\nup = \"y\"\n[[fluid]]\nspacing = 2\nfill = {{ box = [[0, 0, 0], [20, 12, 20]] }}\n\
             [[expect]]\nobject = \"fluid0\"\nmeasure = \"{m}\"\nat_most = 0"
        )
    };
    for (measure, value) in [
        ("front_x", 20.0),
        ("front_y", 12.0),
        ("front_z", 20.0),
        ("min_z", 1.0),
        ("max_z", 19.0),
        ("center_y", 6.0),
        ("volume", 4800.0),
        ("leaked", 0.0),
        ("max_speed", 0.0),
    ] {
        let file = load(&text(measure), &[]).unwrap();
        let found = file.expectations()[0].value(&file.build().unwrap().0, &Seen::default());
        assert!((found - value).abs() < 1e-9, "{measure} is {found}");
    }
    let file = load(&text("level"), &[]).unwrap();
    let found = file.expectations()[0].value(&file.build().unwrap().0, &Seen::default());
    assert!((found - 12.0).abs() < 0.02, "level is {found}: a hundredth of a spacing");
}

#[test]
fn copies_are_moved_on_and_named_and_expected_of_each() {
    let text = "[[cloth]]\nname = \"s\"\nmesh = { grid = { cells = [1, 1] } }\ncopies = { count = 3, offset = [0, 0, 0.5] }\npin = [{ box = [[0, 0, 0], [1, 1, 0]] }]\n[[expect]]\nobject = \"s\"\nat_least = 0.25";
    let file = load(text, &[]).unwrap();
    let (sim, _) = file.build().unwrap();
    let names: Vec<&str> = sim.objects().iter().map(|o| o.name.as_str()).collect();
    assert_eq!(names, ["s-0", "s-1", "s-2"]);
    let values: Vec<f64> = file.expectations().iter().map(|e| e.value(&sim, &Seen::default())).collect();
    assert_eq!(values, [0.0, 0.5, 1.0]);
    let holds: Vec<bool> = file.expectations().iter().zip(&values).map(|(e, &v)| e.holds(v)).collect();
    assert_eq!(holds, [false, true, true]);
}

#[test]
fn a_size_beyond_reason_without_units_is_a_warning() {
    let text = |head: &str, size: f64| {
        format!("{head}\n[[cloth]]\nmesh = {{ grid = {{ size = [{size}, {size}] }} }}")
    };
    for (head, size, count) in
        [("", 1.0, 0), ("", 50.0, 1), ("", 5e-4, 1), ("units = \"m\"", 50.0, 0), ("units = \"cm\"", 50.0, 0)]
    {
        let (_, warnings) = load(&text(head, size), &[]).unwrap().build().unwrap();
        assert_eq!(warnings.len(), count, "{head} {size}: {warnings:?}");
    }
}

/// A folder for one test, removed when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("littoral-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn meshes_are_read_from_files_beside_the_scene() {
    let folder = Folder::new("meshes");
    let square = |z: i32| format!("v 0 0 {z}\nv 100 0 {z}\nv 100 100 {z}\nv 0 100 {z}\nf 1 2 3 4\n");
    std::fs::write(folder.0.join("a.obj"), square(0)).unwrap();
    std::fs::write(folder.0.join("b.obj"), square(50)).unwrap();
    let tet = crate::mesh::Mesh {
        vertices: [[0., 0., 0.], [10., 0., 0.], [0., 10., 0.], [0., 0., 10.]].map(|p| p.into()).to_vec(),
        tets: vec![[0, 1, 2, 3]],
        ..Default::default()
    };
    crate::mesh::write_mesh(&folder.0.join("t.msh"), &tet).unwrap();
    let text = "units = \"cm\"\n[[cloth]]\nmesh = { file = \"a.obj\" }\nposition = [0, 0, 20]\n\
        [[soft]]\nmesh = { file = \"t.msh\" }\n[[collider]]\nmesh = { file = \"a.obj\" }\n\
        motion = { sequence = { files = [\"a.obj\", \"b.obj\"], interval = 0.5 } }";
    std::fs::write(folder.0.join("scene.toml"), text).unwrap();
    let file = SceneFile::load(Source::Path(&folder.0.join("scene.toml")), &[]).unwrap();
    let (sim, warnings) = file.build().unwrap();
    assert_eq!(warnings, []);
    assert_eq!(sim.state().x[2].to_array(), [1.0, 1.0, 0.2]);
    assert_eq!((sim.objects()[1].count, sim.tets().len()), (4, 1));
    // The run's copy stands in another folder and still finds them.
    let copy = load(&file.to_toml().unwrap(), &[]).unwrap();
    assert_eq!(copy.build().unwrap().0.state(), sim.state());
    let broken = text.replace("b.obj", "c.obj");
    std::fs::write(folder.0.join("scene.toml"), broken).unwrap();
    let file = SceneFile::load(Source::Path(&folder.0.join("scene.toml")), &[]).unwrap();
    let error = file.build().unwrap_err();
    assert_eq!(error.place().map(|p| (p.line, p.column)), Some((9, 43)), "{error}");
}

#[test]
fn a_file_that_is_no_text_is_an_error_at_its_first_bad_byte() {
    let folder = Folder::new("bytes");
    let path = folder.0.join("s.toml");
    std::fs::write(&path, b"fps = 24\ntitle = \"\xff\xfe\"\n").unwrap();
    let error = SceneFile::load(Source::Path(&path), &[]).unwrap_err();
    assert_eq!(error.place().map(|p| (p.line, p.column)), Some((2, 10)), "{error}");
}

#[test]
fn an_unknown_scene_suggests_the_nearest() {
    let error = SceneFile::load(Source::Argument("cloth-dorp"), &[]).unwrap_err();
    assert!(error.to_string().contains("did you mean \"cloth-drop\"?"), "{error}");
    let error = SceneFile::load(Source::Argument("no/such.toml"), &[]).unwrap_err();
    assert!(error.is_read_failure(), "{error}");
}

#[test]
fn the_schema_describes_every_key_and_bounds_every_number() {
    let schema = schema();
    let mut stack = vec![&schema];
    let mut keys = 0;
    while let Some(node) = stack.pop() {
        if let Some(properties) = node.get("properties").and_then(|p| p.as_object()) {
            for (key, value) in properties {
                keys += 1;
                let target = value.get("$ref").and_then(|r| r.as_str());
                let target = target.and_then(|r| schema.pointer(r.trim_start_matches('#')));
                // A shape or an alternative is described beside its key.
                let alternative = Some(node).filter(|n| n.get("required").is_some());
                let described = [Some(value), target, alternative]
                    .into_iter()
                    .flatten()
                    .any(|v| v.get("description").is_some());
                assert!(described, "{key} has no description: {value}");
            }
        }
        match node {
            serde_json::Value::Object(map) => stack.extend(map.values()),
            serde_json::Value::Array(items) => stack.extend(items),
            _ => {}
        }
    }
    assert!(keys > 100, "only {keys} keys");
    assert_eq!(schema.pointer("/properties/fps/minimum").and_then(|m| m.as_f64()), Some(0.001));
}

/// SplitMix64: the same cases on every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

#[test]
fn no_bytes_make_reading_panic() {
    const PIECES: [&str; 16] = [
        "-1",
        "0",
        "1e308",
        "nan",
        "inf",
        "[",
        "]",
        "{",
        "}",
        "\"",
        "\n",
        "=",
        ".",
        "[[cloth]]",
        "\u{fffd}",
        "99999999999",
    ];
    let mut random = Random(7);
    let mut read = 0;
    for case in 0..3000 {
        let (_, text) = shipped()[random.below(shipped().len())];
        let mut text = if case % 3 == 0 {
            serde_json::to_string(&text.parse::<toml::Table>().unwrap()).unwrap()
        } else {
            text.to_owned()
        };
        for _ in 0..1 + random.below(4) {
            let mut at = random.below(text.len() + 1);
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            match random.below(3) {
                0 => text.truncate(at),
                1 => text.insert_str(at, PIECES[random.below(PIECES.len())]),
                _ => {
                    if let Some(c) = text[at..].chars().next() {
                        let other = char::from(32 + random.below(95) as u8).to_string();
                        text.replace_range(at..at + c.len_utf8(), &other);
                    }
                }
            }
        }
        match load(&text, &[]) {
            Ok(file) => {
                read += 1;
                file.to_toml().unwrap();
            }
            Err(e) => assert!(!e.to_string().is_empty()),
        }
    }
    assert!((300..2900).contains(&read), "{read} of 3000 mutated scenes were still scenes");
    for _ in 0..300 {
        let bytes: Vec<u8> = (0..random.below(200)).map(|_| random.next() as u8).collect();
        let _ = load(&String::from_utf8_lossy(&bytes), &[]);
    }
}

#[test]
fn a_fill_of_an_open_surface_is_told() {
    let text = |shape: &str| {
        format!("version = 1\n[[fluid]]\nspacing = 0.02\nfill = {{ inside = {{ {shape} }} }}\n")
    };
    let codes = |shape: &str| {
        let (_, warnings) = load(&text(shape), &[]).unwrap().build().unwrap();
        warnings.iter().map(|w| w.code).collect::<Vec<_>>()
    };
    assert_eq!(codes("cup = { radius = 0.1, height = 0.2 }"), ["fill-open"]);
    assert_eq!(codes("sphere = { radius = 0.1 }"), Vec::<&str>::new());
}

#[test]
fn what_a_fluid_misses_is_told_and_only_beside_a_fluid() {
    let rope = "[[rod]]\nname = \"rope\"\nmesh = { line = {} }\nposition = [0, 0, 2]\n";
    let crate_ =
        "[[rigid]]\nname = \"crate\"\nmesh = { box = { size = [0.1, 0.1, 0.1] } }\nposition = [0, 0, 1]\n";
    let water = "[[fluid]]\nspacing = 0.05\n";
    let codes = |text: String| {
        let (_, warnings) = load(&text, &[]).unwrap().build().unwrap();
        warnings.iter().map(|w| w.code).collect::<Vec<_>>()
    };
    let baseline = "[solver]\nsplitting = \"baseline\"\n";
    assert_eq!(codes(format!("{rope}{crate_}{water}")), Vec::<&str>::new());
    assert_eq!(codes(format!("{baseline}{crate_}{water}")), ["fluid-rigid"]);
    assert_eq!(codes(format!("{crate_}{water}")), Vec::<&str>::new());
    assert_eq!(codes(format!("{rope}{crate_}")), Vec::<&str>::new());
}
