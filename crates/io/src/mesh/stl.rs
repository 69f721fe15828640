//! STL: separate triangles, text or binary. A binary file is known by its length, since some begin with `solid`.

use super::cursor::{Cursor, Encoding, Scalar};
use super::error::{MeshError, Place, Source, quote};
use super::raw::{Part, RawMesh};
use super::report::{Finding, FindingKind};

/// Bytes before the first triangle of a binary file: 80 of comment, 4 of count.
const HEAD: usize = 84;
/// Bytes of a triangle: normal, three corners, two bytes of anything.
const TRIANGLE: usize = 50;

/// Number of triangles that the head of a binary file promises.
fn promised(bytes: &[u8]) -> Option<usize> {
    let count = bytes.get(80..HEAD)?;
    Some(u32::from_le_bytes([count[0], count[1], count[2], count[3]]) as usize)
}

fn has_binary_length(bytes: &[u8]) -> bool {
    promised(bytes).is_some_and(|n| n > 0 && n.checked_mul(TRIANGLE) == Some(bytes.len() - HEAD))
}

fn is_text(bytes: &[u8]) -> bool {
    let start = bytes.trim_ascii_start();
    let solid = start.len() >= 5 && start[..5].eq_ignore_ascii_case(b"solid");
    // Zero bytes and the like never stand in a text.
    solid && !start.iter().take(512).any(|&b| b == 0)
}

/// True when the content looks like an STL.
pub(super) fn sniff(bytes: &[u8]) -> bool {
    has_binary_length(bytes) || is_text(bytes)
}

/// Reads a file.
pub(super) fn read(source: &Source<'_>) -> Result<RawMesh, MeshError> {
    if !has_binary_length(source.bytes) && is_text(source.bytes) { text(source) } else { binary(source) }
}

fn binary(source: &Source<'_>) -> Result<RawMesh, MeshError> {
    let size = source.bytes.len();
    let Some(count) = promised(source.bytes) else {
        return Err(source.malformed(
            Place::default(),
            "`solid`, or a binary head of 84 bytes",
            format!("{size} bytes, {}", quote(source.bytes)),
            "check that the file is an STL",
        ));
    };
    let mut mesh = RawMesh { format: "STL, binary".into(), soup: true, ..RawMesh::default() };
    let mut cursor = Cursor::new(*source);
    cursor.encoding = Encoding::Little;
    cursor.take(HEAD, "the head")?;
    cursor.check_count(count, 25, TRIANGLE, "triangles")?;
    for i in 0..count {
        cursor.take(12, "a normal")?;
        for corner in 0..3 {
            let mut x = [0.0; 3];
            for c in &mut x {
                *c = cursor.float(Scalar::F32, "a coordinate")?;
            }
            let place = Place::byte(HEAD + i * TRIANGLE + 12 + 12 * corner).with_element("triangle", i);
            mesh.push_vertex(x, source, place)?;
        }
        cursor.take(2, "two bytes of attributes")?;
        let n = mesh.vertices.len() as u32;
        mesh.faces.push(&[n - 3, n - 2, n - 1]);
    }
    let behind = cursor.remaining() as u64;
    Finding::add_many(&mut mesh.findings, FindingKind::TrailingBytes, behind, [size as u64 - behind]);
    Ok(mesh)
}

fn text(source: &Source<'_>) -> Result<RawMesh, MeshError> {
    let mut mesh = RawMesh { format: "STL, text".into(), soup: true, ..RawMesh::default() };
    let mut cursor = Cursor::new(*source);
    let mut inside = false;
    while let Some(word) = cursor.word() {
        let place = cursor.place();
        match word.to_ascii_lowercase().as_slice() {
            b"solid" if !inside => {
                let name = cursor.rest_of_line();
                let first_vertex = mesh.vertices.len() as u32;
                mesh.parts.push(Part {
                    name: String::from_utf8_lossy(name.trim_ascii()).into_owned(),
                    first_vertex,
                });
                inside = true;
            }
            b"endsolid" if inside => {
                cursor.rest_of_line();
                inside = false;
            }
            b"facet" if inside => facet(&mut mesh, &mut cursor)?,
            _ => {
                let expected = if inside { "`facet` or `endsolid`" } else { "`solid`" };
                let hint = "correct that line or export the mesh again";
                return Err(source.malformed(place, expected, quote(word), hint));
            }
        }
    }
    if inside {
        return Err(source.truncated(cursor.place(), "`facet` or `endsolid`", "the end of the file"));
    }
    Ok(mesh)
}

/// The rest of a facet: `normal … outer loop`, three or more `vertex x y z`, `endloop endfacet`.
fn facet(mesh: &mut RawMesh, cursor: &mut Cursor<'_>) -> Result<(), MeshError> {
    let source = cursor.source;
    expect(cursor, "normal")?;
    for _ in 0..3 {
        // Normals are not used, and some programs write `nan` into those of slivers.
        cursor.need_word("a normal")?;
    }
    expect(cursor, "outer")?;
    expect(cursor, "loop")?;
    let mut corners = Vec::with_capacity(3);
    loop {
        let word = cursor.need_word("`vertex` or `endloop`")?;
        if word.eq_ignore_ascii_case(b"endloop") {
            break;
        }
        if !word.eq_ignore_ascii_case(b"vertex") {
            let hint = "correct that line or export the mesh again";
            return Err(source.malformed(cursor.place(), "`vertex` or `endloop`", quote(word), hint));
        }
        let place = cursor.place().with_element("facet", mesh.faces.len());
        let mut x = [0.0; 3];
        for c in &mut x {
            *c = cursor.float(Scalar::F64, "a coordinate")?;
        }
        corners.push(mesh.vertices.len() as u32);
        mesh.push_vertex(x, &source, place)?;
    }
    expect(cursor, "endfacet")?;
    mesh.faces.push(&corners);
    Ok(())
}

fn expect(cursor: &mut Cursor<'_>, keyword: &str) -> Result<(), MeshError> {
    let expected = format!("`{keyword}`");
    let word = cursor.need_word(&expected)?;
    if word.eq_ignore_ascii_case(keyword.as_bytes()) {
        return Ok(());
    }
    let hint = "correct that line or export the mesh again";
    Err(cursor.source.malformed(cursor.place(), expected, quote(word), hint))
}
