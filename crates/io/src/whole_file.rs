//! Files written whole or not at all: into a temporary file beside the target, synced, then renamed over it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Reading or writing a file failed.
#[derive(Debug, thiserror::Error)]
#[error("cannot {verb} {}: {source}", path.display())]
pub struct FileError {
    /// What was tried, as an infinitive: `read`, `write`, `create`.
    pub verb: &'static str,
    /// The file or folder.
    pub path: PathBuf,
    /// What the operating system said.
    #[source]
    pub source: io::Error,
}

impl FileError {
    /// Attaches a verb and a path to an error of the operating system: `.map_err(FileError::at("read", path))`.
    pub fn at(verb: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FileError + use<> {
        let path = path.to_path_buf();
        move |source| FileError { verb, path, source }
    }
}

/// Writes `bytes` to `path`: after a crash at any moment the path holds either what it held before or all of `bytes`.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let temporary = temporary_beside(path);
    let written = File::create(&temporary)
        .and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(&temporary, path))
        .and_then(|()| sync_folder(path));
    written.map_err(|source| {
        // The temporary file is ours; that it may be gone already is no further error.
        let _ = fs::remove_file(&temporary);
        FileError::at("write", path)(source)
    })
}

/// Reads a whole file.
pub fn read_whole(path: &Path) -> Result<Vec<u8>, FileError> {
    fs::read(path).map_err(FileError::at("read", path))
}

fn temporary_beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.part", std::process::id()));
    path.with_file_name(name)
}

/// Makes the rename itself durable. Only Unix lets a folder be opened and synced; elsewhere the rename is left to the system.
fn sync_folder(path: &Path) -> io::Result<()> {
    if cfg!(unix) {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_temporary_one() {
        let folder = std::env::temp_dir().join(format!("littoral-whole-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a.txt");
        write_whole(&path, b"first").unwrap();
        write_whole(&path, b"second").unwrap();
        assert_eq!(read_whole(&path).unwrap(), b"second");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);

        // A folder cannot be replaced by a file.
        let error = write_whole(&folder, b"x").unwrap_err();
        assert!(error.to_string().starts_with("cannot write"), "{error}");
        assert_eq!(read_whole(&path).unwrap(), b"second");
        fs::remove_dir_all(&folder).unwrap();
    }
}
