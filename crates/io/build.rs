//! Lists the scenes that ship: a table of names and texts, from the folder `scenes` of the workspace.

use std::fmt::Write;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join("../../scenes");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut scenes = Vec::new();
    collect(&folder, "", &mut scenes)?;
    scenes.sort();
    let mut table = String::from("const SHIPPED: &[(&str, &str)] = &[\n");
    for (name, path) in scenes {
        println!("cargo::rerun-if-changed={}", path.display());
        writeln!(table, "    ({name:?}, include_str!({:?})),", path.canonicalize()?)?;
    }
    table.push_str("];\n");
    let out = PathBuf::from(std::env::var("OUT_DIR")?).join("shipped_scenes.rs");
    std::fs::write(out, table)?;
    Ok(())
}

/// Adds the scenes of a folder and of those in it; a scene in a subfolder is named `subfolder/name`.
fn collect(folder: &Path, prefix: &str, scenes: &mut Vec<(String, PathBuf)>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let Some(stem) = path.file_stem().and_then(|s| s.to_str()) else { continue };
        let name = format!("{prefix}{stem}");
        if path.is_dir() {
            println!("cargo::rerun-if-changed={}", path.display());
            collect(&path, &format!("{name}/"), scenes)?;
        } else if path.extension().is_some_and(|e| e == "toml") {
            scenes.push((name, path));
        }
    }
    Ok(())
}
