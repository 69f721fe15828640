//! Meshes for the peers, as OBJ text that reads back to the same bits.

use littoral_geom::math::Vec3;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

/// Writes positions and triangles to `folder/name.obj`; the folder is made where there is none.
pub fn write(folder: &Path, name: &str, x: &[Vec3], triangles: &[[u32; 3]]) -> io::Result<()> {
    let mut text = String::new();
    for p in x {
        let _ = writeln!(text, "v {} {} {}", p.x, p.y, p.z);
    }
    for [a, b, c] in triangles.iter().map(|t| t.map(|k| k + 1)) {
        let _ = writeln!(text, "f {a} {b} {c}");
    }
    fs::create_dir_all(folder)?;
    fs::write(folder.join(format!("{name}.obj")), text)
}
