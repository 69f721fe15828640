//! What can be wrong with a mesh file, and where. Every text says what was expected, what was found, and what to try.

use std::fmt;
use std::path::Path;

/// Where in a file something stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Position {
    /// Not known, or the file as a whole.
    #[default]
    Unknown,
    /// Line number, from 1 (text formats).
    Line(u64),
    /// Byte offset, from 0 (binary formats).
    Byte(u64),
}

/// A place in a mesh file: a position, and the element that stands there, as far as they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Line or byte.
    pub position: Position,
    /// Kind and index, from 0, of the element.
    pub element: Option<(&'static str, u64)>,
}

impl Place {
    /// A line, from 1.
    pub fn line(line: u64) -> Self {
        Place { position: Position::Line(line), element: None }
    }

    /// A byte offset, from 0.
    pub fn byte(byte: usize) -> Self {
        Place { position: Position::Byte(byte as u64), element: None }
    }

    /// An element of a kind (`"face"`), by its index from 0.
    pub fn element(kind: &'static str, index: usize) -> Self {
        Place::default().with_element(kind, index)
    }

    /// The same place, naming the element that stands there.
    pub fn with_element(self, kind: &'static str, index: usize) -> Self {
        Place { element: Some((kind, index as u64)), ..self }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.position, self.element) {
            (Position::Line(line), None) => write!(f, "line {line}"),
            (Position::Line(line), Some((kind, i))) => write!(f, "line {line} ({kind} {i}, counted from 0)"),
            (Position::Byte(byte), None) => write!(f, "byte {byte}"),
            (Position::Byte(byte), Some((kind, i))) => write!(f, "byte {byte} ({kind} {i}, counted from 0)"),
            (Position::Unknown, Some((kind, i))) => write!(f, "{kind} {i} (counted from 0)"),
            (Position::Unknown, None) => write!(f, "the file"),
        }
    }
}

/// Why a mesh file was refused.
#[derive(Debug, thiserror::Error)]
pub enum MeshError {
    /// The operating system could not read or write it.
    #[error("{}: {cause}", .file.display())]
    Access {
        /// The file.
        file: Box<Path>,
        /// What the operating system said.
        cause: std::io::Error,
    },
    /// No format of the table fits the file.
    #[error("{}: {found}; {hint}", .file.display())]
    UnknownFormat {
        /// The file.
        file: Box<Path>,
        /// What the file seems to be.
        found: Box<str>,
        /// What to try.
        hint: Box<str>,
    },
    /// Something else stands where the format asks for a number, a keyword or a line.
    #[error("{}: {place}: expected {expected}, found {found}; {hint}", .file.display())]
    Malformed {
        /// The file.
        file: Box<Path>,
        /// Where in it.
        place: Place,
        /// What the format asks for.
        expected: Box<str>,
        /// What stands there.
        found: Box<str>,
        /// What to try.
        hint: Box<str>,
    },
    /// The file ends before what it promises.
    #[error("{}: {place}: the file is cut off: expected {expected}, found {found}; {hint}", .file.display())]
    Truncated {
        /// The file.
        file: Box<Path>,
        /// Where in it.
        place: Place,
        /// What should follow.
        expected: Box<str>,
        /// What is left.
        found: Box<str>,
        /// What to try.
        hint: Box<str>,
    },
    /// An element names a vertex that does not exist.
    #[error("{}: {place}: index {index} is out of range, there are {vertices} vertices; {hint}", .file.display())]
    Index {
        /// The file.
        file: Box<Path>,
        /// Where in it.
        place: Place,
        /// The index as the file writes it.
        index: i64,
        /// Number of vertices known at that place.
        vertices: usize,
        /// What to try.
        hint: Box<str>,
    },
    /// A coordinate is NaN or infinite.
    #[error("{}: {place}: vertex {vertex} (counted from 0) is at ({}, {}, {}); {HINT_FINITE}",
        .file.display(), .value[0], .value[1], .value[2])]
    NotFinite {
        /// The file.
        file: Box<Path>,
        /// Where in it.
        place: Place,
        /// Vertex index, from 0.
        vertex: usize,
        /// The coordinates.
        value: [f64; 3],
    },
    /// A coordinate is so large that lengths and volumes lose their meaning.
    #[error("{}: vertex {vertex} (counted from 0) is {distance:e} m from the origin, the limit is {limit:e} m; \
        check the units of the file, and move the mesh to the origin", .file.display())]
    TooFar {
        /// The file.
        file: Box<Path>,
        /// Vertex index, from 0.
        vertex: usize,
        /// Largest coordinate, after scaling [m].
        distance: f64,
        /// The limit [m].
        limit: f64,
    },
    /// The file holds no triangle, tetrahedron or line.
    #[error("{}: nothing to simulate: {found}; {hint}", .file.display())]
    Empty {
        /// The file.
        file: Box<Path>,
        /// What it does hold.
        found: Box<str>,
        /// What to try.
        hint: Box<str>,
    },
    /// A variant of the format, or an element of it, that is not read.
    #[error("{}: {place}: {found}; {hint}", .file.display())]
    Unsupported {
        /// The file.
        file: Box<Path>,
        /// Where in it.
        place: Place,
        /// What stands there.
        found: Box<str>,
        /// What to try.
        hint: Box<str>,
    },
    /// A tetrahedron without volume inside the body: it has no rest shape, and leaving it out would tear the body.
    #[error("{}: tet {tet} (counted from 0) has no volume and lies inside the body ({count} such tets); \
        remesh, or run an optimiser (`gmsh -optimize`) over the mesh", .file.display())]
    FlatTet {
        /// The file.
        file: Box<Path>,
        /// Index of the first, from 0, in the order of the file.
        tet: usize,
        /// How many there are.
        count: usize,
    },
    /// An option is out of its range.
    #[error("mesh option {option}: {found} given, {expected} expected")]
    Option {
        /// Its name.
        option: &'static str,
        /// The value.
        found: Box<str>,
        /// The range.
        expected: &'static str,
    },
}

const HINT_FINITE: &str =
    "coordinates must be finite: export the mesh again, or remove that vertex and its faces";

impl MeshError {
    /// True when the operating system failed, false when the content of the file was refused.
    pub fn is_access(&self) -> bool {
        matches!(self, MeshError::Access { .. })
    }
}

/// A file's name and content, as every reader gets it.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Name, for errors and for the extension.
    pub file: &'a Path,
    /// Whole content.
    pub bytes: &'a [u8],
}

impl Source<'_> {
    pub(super) fn malformed(
        &self,
        place: Place,
        expected: impl Into<Box<str>>,
        found: impl Into<Box<str>>,
        hint: impl Into<Box<str>>,
    ) -> MeshError {
        MeshError::Malformed {
            file: self.file.into(),
            place,
            expected: expected.into(),
            found: found.into(),
            hint: hint.into(),
        }
    }

    pub(super) fn truncated(
        &self,
        place: Place,
        expected: impl Into<Box<str>>,
        found: impl Into<Box<str>>,
    ) -> MeshError {
        let hint = "copy or export the file again".into();
        MeshError::Truncated {
            file: self.file.into(),
            place,
            expected: expected.into(),
            found: found.into(),
            hint,
        }
    }

    pub(super) fn unsupported(
        &self,
        place: Place,
        found: impl Into<Box<str>>,
        hint: impl Into<Box<str>>,
    ) -> MeshError {
        MeshError::Unsupported { file: self.file.into(), place, found: found.into(), hint: hint.into() }
    }

    pub(super) fn index(
        &self,
        place: Place,
        index: i64,
        vertices: usize,
        hint: impl Into<Box<str>>,
    ) -> MeshError {
        MeshError::Index { file: self.file.into(), place, index, vertices, hint: hint.into() }
    }

    pub(super) fn empty(&self, found: impl Into<Box<str>>, hint: impl Into<Box<str>>) -> MeshError {
        MeshError::Empty { file: self.file.into(), found: found.into(), hint: hint.into() }
    }
}

/// Bytes of a file as a short quotation for an error text.
pub(super) fn quote(bytes: &[u8]) -> String {
    const LONGEST: usize = 40;
    let text: String = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * LONGEST)])
        .chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .take(LONGEST)
        .collect();
    if bytes.is_empty() {
        "nothing".into()
    } else if text.len() < bytes.len() {
        format!("`{text}…`")
    } else {
        format!("`{text}`")
    }
}
