//! Wavefront OBJ: vertices, polygons and polylines. Texture coordinates, normals, groups and materials are read over;
//! free-form curves and patches are skipped with a warning.

use littoral_geom::math::Vec3;

use super::cursor::{Cursor, bad_number, parse_float, parse_integer};
use super::error::{MeshError, Place, Source, quote};
use super::raw::{Part, RawMesh, vertex_index};
use super::report::FindingKind;

/// Keywords that carry nothing for us.
const READ_OVER: &[&[u8]] = &[
    b"vt",
    b"vn",
    b"vp",
    b"g",
    b"s",
    b"mg",
    b"usemtl",
    b"mtllib",
    b"usemap",
    b"maplib",
    b"bevel",
    b"c_interp",
    b"d_interp",
    b"lod",
    b"shadow_obj",
    b"trace_obj",
    b"call",
    b"csh",
    b"deg",
    b"bmat",
    b"step",
    b"cstype",
    b"parm",
    b"trim",
    b"hole",
    b"scrv",
    b"sp",
    b"end",
    b"con",
    b"ctech",
    b"stech",
];

/// Reads a file.
pub(super) fn read(source: &Source<'_>) -> Result<RawMesh, MeshError> {
    let mut mesh = RawMesh { format: "OBJ".into(), ..RawMesh::default() };
    let mut cursor = Cursor::new(*source);
    let mut joined = Vec::new();
    let mut corners = Vec::new();
    while let Some(line) = cursor.next_line() {
        let (place, line_number) = (cursor.place(), cursor.line_read());
        let line = continued(line, &mut cursor, &mut joined);
        let mut words = words(line);
        let Some(keyword) = words.next() else { continue };
        match keyword {
            b"v" => vertex(&mut mesh, words, source, place)?,
            b"f" | b"fo" => {
                indices(&mut corners, words, mesh.vertices.len(), source, place)?;
                mesh.faces.push(&corners);
                mesh.face_lines.push(line_number);
            }
            b"l" => {
                indices(&mut corners, words, mesh.vertices.len(), source, place)?;
                mesh.push_polyline(&corners);
                mesh.segment_lines.resize(mesh.segments.len(), line_number);
            }
            b"p" => mesh.note(FindingKind::OtherElements, line_number),
            b"o" => mesh.parts.push(Part {
                name: String::from_utf8_lossy(line.trim_ascii()[1..].trim_ascii()).into_owned(),
                first_vertex: mesh.vertices.len() as u32,
            }),
            b"curv" | b"curv2" | b"surf" => mesh.note(FindingKind::FreeForm, line_number),
            _ if READ_OVER.contains(&keyword) => {}
            _ => mesh.note(FindingKind::UnknownLines, line_number),
        }
    }
    Ok(mesh)
}

/// Words up to a comment.
fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()).take_while(|w| w[0] != b'#')
}

/// The line, joined with those that follow while each ends with a backslash.
fn continued<'b>(line: &'b [u8], cursor: &mut Cursor<'_>, joined: &'b mut Vec<u8>) -> &'b [u8] {
    let Some(mut part) = line.trim_ascii_end().strip_suffix(b"\\") else { return line };
    joined.clear();
    loop {
        joined.extend_from_slice(part);
        joined.push(b' ');
        let Some(next) = cursor.next_line() else { break };
        let next = next.trim_ascii_end();
        match next.strip_suffix(b"\\") {
            Some(more) => part = more,
            None => {
                joined.extend_from_slice(next);
                break;
            }
        }
    }
    joined
}

fn vertex<'a>(
    mesh: &mut RawMesh,
    mut words: impl Iterator<Item = &'a [u8]>,
    source: &Source<'_>,
    place: Place,
) -> Result<(), MeshError> {
    let mut x = Vec3::ZERO.to_array();
    for (c, name) in x.iter_mut().zip(["x", "y", "z"]) {
        let expected = format!("coordinate {name} of vertex {}", mesh.vertices.len());
        let word = words.next().ok_or_else(|| {
            source.malformed(place, expected.as_str(), "the end of the line", "a vertex is `v x y z`")
        })?;
        *c = parse_float(word).ok_or_else(|| bad_number(source, place, &expected, word))?;
    }
    mesh.push_vertex(x, source, place)
}

/// Vertex indices of `f` and `l`: `7`, `7/1`, `7//3`, `7/1/3`, or negative, counted from the last vertex.
fn indices<'a>(
    corners: &mut Vec<u32>,
    words: impl Iterator<Item = &'a [u8]>,
    vertices: usize,
    source: &Source<'_>,
    place: Place,
) -> Result<(), MeshError> {
    corners.clear();
    for word in words {
        let digits = word.split(|&b| b == b'/').next().unwrap_or(word);
        let index = parse_integer(digits).ok_or_else(|| {
            source.malformed(
                place,
                "a vertex index",
                quote(word),
                "a corner is `v`, `v/vt`, `v//vn` or `v/vt/vn`",
            )
        })?;
        let from_zero = if index < 0 { index.saturating_add(vertices as i64) } else { index - 1 };
        corners.push(
            vertex_index(from_zero)
                .ok_or_else(|| source.index(place, index, vertices, "OBJ counts from 1, or back from −1"))?,
        );
    }
    Ok(())
}
