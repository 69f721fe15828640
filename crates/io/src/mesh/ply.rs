//! PLY (Stanford): text and binary of either byte order, properties in any order and of any type. Read are the
//! elements `vertex` (x, y, z), `face` (vertex_indices), `tristrips` and `edge` (vertex1, vertex2); others are skipped.

use super::cursor::{Cursor, Encoding, Scalar};
use super::error::{MeshError, Source, quote};
use super::raw::{RawMesh, vertex_index};
use super::report::{Finding, FindingKind};

/// True when the file says that it is a PLY.
pub(super) fn sniff(bytes: &[u8]) -> bool {
    bytes.starts_with(b"ply\n") || bytes.starts_with(b"ply\r")
}

/// A property: one number, or a list with a count in front.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Property {
    count: Option<Scalar>,
    value: Scalar,
    role: Role,
}

/// What a property is to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// x, y, z, or first and second end of an edge.
    Number(usize),
    /// Corners of a face or strip.
    Corners,
    Unused,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Vertex,
    Face,
    Strip,
    Edge,
    Unused,
}

#[derive(Clone, Debug)]
struct Element {
    kind: Kind,
    name: String,
    count: usize,
    properties: Vec<Property>,
}

/// Reads a file.
pub(super) fn read(source: &Source<'_>) -> Result<RawMesh, MeshError> {
    let mut cursor = Cursor::new(*source);
    let (encoding, elements) = header(&mut cursor)?;
    cursor.encoding = encoding;
    let variant = match encoding {
        Encoding::Text => "text",
        Encoding::Little => "binary little endian",
        Encoding::Big => "binary big endian",
    };
    let mut mesh = RawMesh { format: format!("PLY, {variant}"), ..RawMesh::default() };
    for element in &elements {
        let binary: usize = element.properties.iter().map(|p| p.count.unwrap_or(p.value).size()).sum();
        cursor.check_count(element.count, element.properties.len(), binary, &element.name)?;
        if element.kind == Kind::Unused {
            Finding::add_many(&mut mesh.findings, FindingKind::OtherElements, element.count as u64, []);
        }
        if element.properties.is_empty() {
            continue;
        }
        body(&mut mesh, &mut cursor, element)?;
    }
    Ok(mesh)
}

fn header(cursor: &mut Cursor<'_>) -> Result<(Encoding, Vec<Element>), MeshError> {
    const HINT: &str = "the header is damaged: export the mesh again";
    let mut encoding = None;
    let mut elements: Vec<Element> = Vec::new();
    cursor.next_line();
    loop {
        let Some(line) = cursor.next_line() else {
            return Err(cursor.source.truncated(cursor.place(), "`end_header`", "the end of the file"));
        };
        let wrong = |expected: &str| cursor.source.malformed(cursor.place(), expected, quote(line), HINT);
        let words: Vec<&str> =
            std::str::from_utf8(line).map_err(|_| wrong("text"))?.split_ascii_whitespace().collect();
        match words[..] {
            ["end_header"] => break,
            [] | ["comment", ..] | ["obj_info", ..] => {}
            ["format", name, "1.0"] => {
                encoding = Some(match name {
                    "ascii" => Encoding::Text,
                    "binary_little_endian" => Encoding::Little,
                    "binary_big_endian" => Encoding::Big,
                    _ => return Err(wrong("format `ascii`, `binary_little_endian` or `binary_big_endian`")),
                });
            }
            ["element", name, count] => elements.push(Element {
                kind: match name {
                    "vertex" => Kind::Vertex,
                    "face" => Kind::Face,
                    "tristrips" => Kind::Strip,
                    "edge" => Kind::Edge,
                    _ => Kind::Unused,
                },
                name: name.into(),
                count: count.parse().map_err(|_| wrong("a count of elements"))?,
                properties: Vec::new(),
            }),
            ["property", ref kind @ .., name] => {
                let element = elements.last_mut().ok_or_else(|| wrong("an element before its properties"))?;
                let property = property(kind, name, element.kind).ok_or_else(|| wrong("a type of number"))?;
                element.properties.push(property);
            }
            _ => return Err(wrong("`element`, `property`, `comment` or `end_header`")),
        }
    }
    let place = cursor.place();
    let encoding =
        encoding.ok_or_else(|| cursor.source.malformed(place, "a line `format …`", "none", HINT))?;
    for element in &elements {
        let (missing, needed) = match element.kind {
            Kind::Vertex => (3, "properties x, y and z of vertex"),
            Kind::Edge => (2, "properties vertex1 and vertex2 of edge"),
            Kind::Face | Kind::Strip => (0, "a list property vertex_indices of face"),
            Kind::Unused => continue,
        };
        let has = |role| element.properties.iter().any(|p| p.role == role);
        let complete =
            if missing == 0 { has(Role::Corners) } else { (0..missing).all(|i| has(Role::Number(i))) };
        if !complete && element.count > 0 {
            return Err(cursor.source.malformed(place, needed, "other properties", HINT));
        }
    }
    Ok((encoding, elements))
}

/// A property from the words between `property` and its name.
fn property(kind: &[&str], name: &str, element: Kind) -> Option<Property> {
    let (count, value) = match *kind {
        ["list", count, value] => (Some(scalar(count).filter(|s| !s.is_float())?), scalar(value)?),
        [value] => (None, scalar(value)?),
        _ => return None,
    };
    let role = match (element, name, count.is_some()) {
        (Kind::Vertex, "x", false) | (Kind::Edge, "vertex1", false) => Role::Number(0),
        (Kind::Vertex, "y", false) | (Kind::Edge, "vertex2", false) => Role::Number(1),
        (Kind::Vertex, "z", false) => Role::Number(2),
        (Kind::Face | Kind::Strip, "vertex_indices" | "vertex_index", true) => Role::Corners,
        _ => Role::Unused,
    };
    Some(Property { count, value, role })
}

fn scalar(name: &str) -> Option<Scalar> {
    Some(match name {
        "char" | "int8" => Scalar::I8,
        "uchar" | "uint8" => Scalar::U8,
        "short" | "int16" => Scalar::I16,
        "ushort" | "uint16" => Scalar::U16,
        "int" | "int32" => Scalar::I32,
        "uint" | "uint32" => Scalar::U32,
        "int64" => Scalar::I64,
        "uint64" => Scalar::U64,
        "float" | "float32" => Scalar::F32,
        "double" | "float64" => Scalar::F64,
        _ => return None,
    })
}

/// Reads all instances of one element.
fn body(mesh: &mut RawMesh, cursor: &mut Cursor<'_>, element: &Element) -> Result<(), MeshError> {
    let source = cursor.source;
    let mut corners = Vec::new();
    let vertices = mesh.vertices.len();
    for i in 0..element.count {
        let mut x = [0.0; 3];
        corners.clear();
        for property in &element.properties {
            let value = property.value;
            match (property.count, property.role) {
                (None, Role::Number(k)) if element.kind == Kind::Vertex => {
                    x[k] = cursor.float(value, "a coordinate")?;
                }
                (None, Role::Number(_) | Role::Corners) => {
                    corner(cursor, value, element, i, vertices, &mut corners)?
                }
                (None, Role::Unused) => {
                    cursor.float(value, &element.name)?;
                }
                (Some(count), role) => {
                    let count = cursor.count(count, "the length of a list")?;
                    cursor.check_count(count, 1, value.size(), "list entries")?;
                    for _ in 0..count {
                        match role {
                            Role::Corners => corner(cursor, value, element, i, vertices, &mut corners)?,
                            Role::Number(_) | Role::Unused => {
                                cursor.float(value, &element.name)?;
                            }
                        }
                    }
                }
            }
        }
        match element.kind {
            Kind::Vertex => mesh.push_vertex(x, &source, cursor.place().with_element("vertex", i))?,
            Kind::Face => mesh.faces.push(&corners),
            // A negative index ends a strip.
            Kind::Strip => corners.split(|&c| c == u32::MAX).for_each(|strip| mesh.push_strip(strip)),
            Kind::Edge => mesh.push_polyline(&corners),
            Kind::Unused => {}
        }
    }
    Ok(())
}

fn corner(
    cursor: &mut Cursor<'_>,
    value: Scalar,
    element: &Element,
    i: usize,
    vertices: usize,
    corners: &mut Vec<u32>,
) -> Result<(), MeshError> {
    let index = cursor.integer(value, "a vertex index")?;
    if element.kind == Kind::Strip && index == -1 {
        corners.push(u32::MAX);
        return Ok(());
    }
    corners.push(vertex_index(index).ok_or_else(|| {
        let kind = if element.kind == Kind::Edge { "edge" } else { "face" };
        cursor.source.index(cursor.place().with_element(kind, i), index, vertices, "PLY counts from 0")
    })?);
    Ok(())
}
