//! Legacy VTK files, versions 1 to 5.1, text and binary: `POLYDATA` and `UNSTRUCTURED_GRID`. Point and cell data
//! are not read; reading stops where they start, since they stand last.

use super::cells::{Shape, push_cell};
use super::cursor::{Cursor, Encoding, Scalar};
use super::error::{MeshError, Place, Source, quote};
use super::raw::{RawMesh, vertex_index};
use super::report::FindingKind;

const HINT: &str = "save it again as legacy VTK (POLYDATA or UNSTRUCTURED_GRID)";

/// True when the file says that it is a legacy VTK file.
pub(super) fn sniff(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(b"# vtk DataFile")
}

/// Lists of point indices, one a cell.
#[derive(Default)]
struct Cells {
    indices: Vec<i64>,
    ends: Vec<usize>,
    place: Place,
}

/// What a list of POLYDATA means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    Vertices,
    Lines,
    Polygons,
    Strips,
}

/// Everything read before it is put together: points may stand behind cells.
#[derive(Default)]
struct Sections {
    lists: Vec<(List, Cells)>,
    cells: Option<Cells>,
    types: Vec<i64>,
}

/// Reads a file.
pub(super) fn read(source: &Source<'_>) -> Result<RawMesh, MeshError> {
    let mut cursor = Cursor::new(*source);
    let mut mesh = RawMesh::default();
    let (version, encoding) = header(&mut cursor)?;
    let variant = if encoding == Encoding::Text { "text" } else { "binary" };
    let mut sections = Sections::default();
    let mut dataset = String::new();
    while let Some(keyword) = cursor.word() {
        let place = cursor.place();
        let keyword = keyword.to_ascii_uppercase();
        let list = match keyword.as_slice() {
            b"POINT_DATA" | b"CELL_DATA" => break,
            b"DATASET" => {
                dataset =
                    String::from_utf8_lossy(cursor.need_word("a kind of dataset")?).to_ascii_uppercase();
                if dataset != "POLYDATA" && dataset != "UNSTRUCTURED_GRID" {
                    return Err(source.unsupported(place, format!("dataset {dataset} is not read"), HINT));
                }
                continue;
            }
            b"POINTS" => {
                points(&mut mesh, &mut cursor, encoding)?;
                continue;
            }
            b"CELLS" => {
                sections.cells = Some(cells(&mut cursor, version, encoding)?);
                continue;
            }
            b"CELL_TYPES" => {
                let n = cursor.count(Scalar::U64, "the number of cells")?;
                sections.types = integers(&mut cursor, encoding, Scalar::I32, n, "a cell type")?;
                continue;
            }
            b"METADATA" => {
                // Up to the first empty line.
                cursor.rest_of_line();
                while cursor.next_line().is_some_and(|line| !line.trim_ascii().is_empty()) {}
                continue;
            }
            b"FIELD" => {
                field(&mut cursor, encoding)?;
                continue;
            }
            b"VERTICES" => List::Vertices,
            b"LINES" => List::Lines,
            b"POLYGONS" => List::Polygons,
            b"TRIANGLE_STRIPS" => List::Strips,
            _ => return Err(source.malformed(place, "a section such as `POINTS`", quote(&keyword), HINT)),
        };
        let cells = cells(&mut cursor, version, encoding)?;
        sections.lists.push((list, cells));
    }
    mesh.format = format!("VTK legacy, {variant}, {}", dataset.to_ascii_lowercase());
    assemble(&mut mesh, source, &sections)?;
    Ok(mesh)
}

/// `# vtk DataFile Version 3.0`, a title, `ASCII` or `BINARY`. Returns the major version.
fn header(cursor: &mut Cursor<'_>) -> Result<(u32, Encoding), MeshError> {
    let source = cursor.source;
    let first = cursor.next_line().unwrap_or_default().trim_ascii();
    let major = first
        .strip_prefix(b"# vtk DataFile Version ")
        .and_then(|v| std::str::from_utf8(v).ok())
        .and_then(|v| v.trim().split('.').next()?.parse().ok())
        .filter(|major| (1..=5).contains(major));
    let Some(major) = major else {
        let expected = "`# vtk DataFile Version` 1.0 to 5.1";
        return Err(source.malformed(cursor.place(), expected, quote(first), HINT));
    };
    cursor.next_line();
    let word = cursor.need_word("`ASCII` or `BINARY`")?;
    let encoding = match word.to_ascii_uppercase().as_slice() {
        b"ASCII" => Encoding::Text,
        b"BINARY" => Encoding::Big,
        _ => return Err(source.malformed(cursor.place(), "`ASCII` or `BINARY`", quote(word), HINT)),
    };
    Ok((major, encoding))
}

/// A data type by its name in the file.
fn scalar(cursor: &mut Cursor<'_>) -> Result<Scalar, MeshError> {
    let word = cursor.need_word("a data type")?;
    Ok(match word.to_ascii_lowercase().as_slice() {
        b"unsigned_char" => Scalar::U8,
        b"char" => Scalar::I8,
        b"unsigned_short" => Scalar::U16,
        b"short" => Scalar::I16,
        b"unsigned_int" => Scalar::U32,
        b"int" => Scalar::I32,
        b"unsigned_long" | b"vtktypeuint64" => Scalar::U64,
        b"long" | b"vtktypeint64" | b"vtkidtype" => Scalar::I64,
        b"float" => Scalar::F32,
        b"double" => Scalar::F64,
        _ => {
            let expected = "a data type such as `float`";
            return Err(cursor.source.malformed(cursor.place(), expected, quote(word), HINT));
        }
    })
}

/// Runs `read` with the data's encoding, from the line below the section's head.
fn in_data<T>(
    cursor: &mut Cursor<'_>,
    encoding: Encoding,
    read: impl FnOnce(&mut Cursor<'_>) -> Result<T, MeshError>,
) -> Result<T, MeshError> {
    if encoding != Encoding::Text {
        cursor.rest_of_line();
    }
    cursor.encoding = encoding;
    let result = read(cursor);
    cursor.encoding = Encoding::Text;
    result
}

fn integers(
    cursor: &mut Cursor<'_>,
    encoding: Encoding,
    scalar: Scalar,
    n: usize,
    what: &str,
) -> Result<Vec<i64>, MeshError> {
    in_data(cursor, encoding, |cursor| {
        cursor.check_count(n, 1, scalar.size(), what)?;
        (0..n).map(|_| cursor.integer(scalar, what)).collect()
    })
}

fn points(mesh: &mut RawMesh, cursor: &mut Cursor<'_>, encoding: Encoding) -> Result<(), MeshError> {
    let n = cursor.count(Scalar::U64, "the number of points")?;
    let scalar = scalar(cursor)?;
    let source = cursor.source;
    in_data(cursor, encoding, |cursor| {
        cursor.check_count(n, 3, 3 * scalar.size(), "points")?;
        for i in 0..n {
            let mut x = [0.0; 3];
            for c in &mut x {
                *c = cursor.float(scalar, "a coordinate")?;
            }
            mesh.push_vertex(x, &source, cursor.place().with_element("point", i))?;
        }
        Ok(())
    })
}

/// Lists of indices: up to version 4 `count i j k …` a cell, from version 5 all ends, then all indices.
fn cells(cursor: &mut Cursor<'_>, version: u32, encoding: Encoding) -> Result<Cells, MeshError> {
    let first = cursor.count(Scalar::U64, "the number of cells")?;
    let size = cursor.count(Scalar::U64, "the length of the list of cells")?;
    let place = cursor.place();
    let source = cursor.source;
    let wrong = |expected: &str, found: String| source.malformed(place, expected, found, HINT);
    if version >= 5 {
        let (mut offsets, mut indices) = (Vec::new(), Vec::new());
        for (name, n, list) in [("OFFSETS", first, &mut offsets), ("CONNECTIVITY", size, &mut indices)] {
            let word = cursor.need_word(name)?;
            if !word.eq_ignore_ascii_case(name.as_bytes()) {
                return Err(source.malformed(cursor.place(), format!("`{name}`"), quote(word), HINT));
            }
            let scalar = scalar(cursor)?;
            *list = integers(cursor, encoding, scalar, n, name)?;
        }
        let rising = offsets.windows(2).all(|w| w[0] <= w[1]);
        let ends: Option<Vec<usize>> = offsets.iter().skip(1).map(|&o| usize::try_from(o).ok()).collect();
        let last = offsets.last().copied().unwrap_or(0);
        return match ends {
            Some(ends) if rising && offsets.first().is_none_or(|&o| o == 0) && last == size as i64 => {
                Ok(Cells { indices, ends, place })
            }
            _ => Err(wrong("offsets that rise from 0 to the length of the list", format!("up to {last}"))),
        };
    }
    let list = integers(cursor, encoding, Scalar::I32, size, "a cell")?;
    let mut cells = Cells { place, ..Cells::default() };
    let mut rest = &list[..];
    while let Some((&n, tail)) = rest.split_first() {
        let Some((cell, after)) = usize::try_from(n).ok().and_then(|n| tail.split_at_checked(n)) else {
            let found = format!("a cell of {n} points with {} numbers left", tail.len());
            return Err(wrong("cells that fill the list", found));
        };
        cells.indices.extend_from_slice(cell);
        cells.ends.push(cells.indices.len());
        rest = after;
    }
    if cells.ends.len() != first {
        return Err(wrong(&format!("{first} cells"), cells.ends.len().to_string()));
    }
    Ok(cells)
}

/// Skips `FIELD name n`, then `name components tuples type` and the numbers of each array.
fn field(cursor: &mut Cursor<'_>, encoding: Encoding) -> Result<(), MeshError> {
    cursor.need_word("the name of a field")?;
    let arrays = cursor.count(Scalar::U64, "the number of arrays")?;
    for _ in 0..arrays {
        cursor.need_word("the name of an array")?;
        let components = cursor.count(Scalar::U64, "the number of components")?;
        let tuples = cursor.count(Scalar::U64, "the number of tuples")?;
        let scalar = scalar(cursor)?;
        let n = components.saturating_mul(tuples);
        in_data(cursor, encoding, |cursor| {
            cursor.check_count(n, 1, scalar.size(), "field values")?;
            (0..n).try_for_each(|_| cursor.float(scalar, "a field value").map(drop))
        })?;
    }
    Ok(())
}

fn assemble(mesh: &mut RawMesh, source: &Source<'_>, sections: &Sections) -> Result<(), MeshError> {
    for (list, cells) in &sections.lists {
        for_each_cell(cells, mesh.vertices.len(), source, |i, cell| {
            match list {
                List::Vertices => mesh.note(FindingKind::OtherElements, i as u64),
                List::Lines => mesh.push_polyline(cell),
                List::Polygons => mesh.faces.push(cell),
                List::Strips => mesh.push_strip(cell),
            }
            Ok(())
        })?;
    }
    let Some(cells) = &sections.cells else { return Ok(()) };
    if sections.types.len() != cells.ends.len() {
        let expected = format!("{} cell types", cells.ends.len());
        return Err(source.malformed(cells.place, expected, sections.types.len().to_string(), HINT));
    }
    for_each_cell(cells, mesh.vertices.len(), source, |i, cell| {
        push(mesh, source, sections.types[i], cell, i)
    })
}

fn for_each_cell(
    cells: &Cells,
    vertices: usize,
    source: &Source<'_>,
    mut visit: impl FnMut(usize, &[u32]) -> Result<(), MeshError>,
) -> Result<(), MeshError> {
    let mut cell = Vec::new();
    let mut start = 0;
    for (i, &end) in cells.ends.iter().enumerate() {
        cell.clear();
        for &index in &cells.indices[start..end] {
            let known = vertex_index(index).filter(|&v| (v as usize) < vertices);
            cell.push(known.ok_or_else(|| {
                source.index(
                    Place::element("cell", i),
                    index,
                    vertices,
                    "VTK counts from 0; export the mesh again",
                )
            })?);
        }
        start = end;
        visit(i, &cell)?;
    }
    Ok(())
}

/// Appends a cell of an unstructured grid. [VTK, vtkCellType.h]
fn push(mesh: &mut RawMesh, source: &Source<'_>, kind: i64, cell: &[u32], i: usize) -> Result<(), MeshError> {
    let shape = match kind {
        0..=2 => {
            mesh.note(FindingKind::OtherElements, i as u64);
            return Ok(());
        }
        4 => {
            mesh.push_polyline(cell);
            return Ok(());
        }
        6 => {
            mesh.push_strip(cell);
            return Ok(());
        }
        7 => {
            mesh.faces.push(cell);
            return Ok(());
        }
        3 | 21 | 35 | 68 | 75 => Shape::Line,
        5 | 22 | 34 | 69 | 76 => Shape::Triangle,
        8 | 9 | 23 | 28 | 30 | 70 | 77 => Shape::Quad,
        10 | 24 | 71 | 78 => Shape::Tet,
        11 | 12 | 25 | 29 | 33 | 72 | 79 => Shape::Hex,
        13 | 26 | 31 | 32 | 73 | 80 => Shape::Prism,
        14 | 27 | 37 | 74 | 81 => Shape::Pyramid,
        _ => {
            let hint = "convert it to triangles or tetrahedra";
            let found = format!("cell type {kind} is not read");
            return Err(source.unsupported(Place::element("cell", i), found, hint));
        }
    };
    if cell.len() < shape.corners() {
        let expected = format!("{} points in a cell of type {kind}", shape.corners());
        let hint = "export the mesh again";
        return Err(source.malformed(Place::element("cell", i), expected, cell.len().to_string(), hint));
    }
    // Pixels and voxels run row by row; wedges have their first triangle turned inward.
    match kind {
        8 => push_cell(mesh, shape, &[0, 1, 3, 2].map(|c| cell[c]), i),
        11 => push_cell(mesh, shape, &[0, 1, 3, 2, 4, 5, 7, 6].map(|c| cell[c]), i),
        13 => push_cell(mesh, shape, &[0, 2, 1, 3, 5, 4].map(|c| cell[c]), i),
        _ => push_cell(mesh, shape, cell, i),
    }
    Ok(())
}
