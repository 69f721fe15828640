//! `littoral new`: copies a scene that comes with littoral, to edit it.

use crate::answer;
use crate::args::NewArgs;
use crate::failure::Failure;
use littoral_io::scene::{SceneFile, Source, shipped_text};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Writes the scene to a file that did not exist.
pub fn new(args: &NewArgs) -> Result<(), Failure> {
    // Loading is what knows the nearest name.
    SceneFile::load(Source::Shipped(&args.name), &[])?;
    let text = shipped_text(&args.name).unwrap_or_default();
    let default = Path::new(&args.name).file_name().map(|name| PathBuf::from(name).with_extension("toml"));
    let path = args.output.clone().or(default).unwrap_or_else(|| "scene.toml".into());
    let write = || OpenOptions::new().write(true).create_new(true).open(&path)?.write_all(text.as_bytes());
    write().map_err(|e| match e.kind() {
        ErrorKind::AlreadyExists => Failure::Input(format!(
            "{} exists and is left as it is: choose another file with -o",
            path.display()
        )),
        _ => Failure::Io(format!("cannot write {}: {e}", path.display())),
    })?;
    answer::print(&path.display().to_string())
}
