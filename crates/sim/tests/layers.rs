//! The order inside the crate: a module may use only those before it.

use std::fs;
use std::path::{Path, PathBuf};

/// Lowest first. Modules on one line may use each other.
const LAYERS: &[&[&str]] = &[
    &["settings", "motion", "model", "report", "pairing"],
    &["safe"],
    &["potential", "fluid"],
    &["body", "chamber", "elastic", "joint", "kinematic", "liquid", "plastic", "rod"],
    &["contact"],
    &["truncation"],
    &["system"],
    &["solver"],
    &["step"],
    &["untangle"],
    &["simulation"],
    &["measure"],
    &["scene"],
    &["soup"],
];

fn layer(module: &str) -> usize {
    LAYERS
        .iter()
        .position(|l| l.contains(&module))
        .unwrap_or_else(|| panic!("module \"{module}\" has no place in the order of layers"))
}

fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

#[test]
fn modules_use_only_lower_layers() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    let mut uses = 0;
    // Tests in files of their own may look upwards, as those below.
    let ships = |f: &&PathBuf| f.file_name().is_some_and(|n| n != "lib.rs" && n != "tests.rs");
    for file in files.iter().filter(ships) {
        let inside = file.strip_prefix(&src).unwrap();
        let module =
            inside.components().next().unwrap().as_os_str().to_str().unwrap().trim_end_matches(".rs");
        let text = fs::read_to_string(file).unwrap();
        // Tests may look upwards; the order binds the code that ships.
        let shipped = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        for part in shipped.split("crate::").skip(1) {
            let used: String = part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if used.is_empty() {
                continue;
            }
            uses += 1;
            assert!(
                layer(&used) <= layer(module),
                "{} uses crate::{used}, which lies above {module}",
                inside.display()
            );
        }
    }
    assert!(uses > 20, "the test found only {uses} uses: it looks in the wrong place");
}

#[test]
fn crates_depend_in_one_direction() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let order = ["geom", "sim", "io", "cli"];
    for (k, name) in order.iter().enumerate() {
        let manifest = fs::read_to_string(crates.join(name).join("Cargo.toml")).unwrap();
        for later in &order[k + 1..] {
            let forbidden = format!("littoral-{later}");
            assert!(!manifest.contains(&forbidden), "{name} must not depend on {later}");
        }
    }
}
