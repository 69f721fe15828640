//! Gmsh MSH 2.x and 4.1, text and binary of either byte order. Read are nodes and elements; physical groups,
//! entities, periodicity and fields are skipped. Elements of higher order keep their corners.

use super::cells::{Shape, push_cell};
use super::cursor::{Cursor, Encoding, Scalar};
use super::error::{MeshError, Place, Source, quote};
use super::raw::RawMesh;

const HINT: &str = "save it again with Gmsh (`gmsh IN -save -format msh22 -o OUT`)";

/// True when the file says that it is a Gmsh mesh.
pub(super) fn sniff(bytes: &[u8]) -> bool {
    let start = bytes.trim_ascii_start();
    start.starts_with(b"$MeshFormat") || start.starts_with(b"$Comments") || start.starts_with(b"$NOD")
}

/// Reads a file.
pub(super) fn read(source: &Source<'_>) -> Result<RawMesh, MeshError> {
    let mut reader = Reader {
        cursor: Cursor::new(*source),
        version: Version::Two,
        size: Scalar::U64,
        mesh: RawMesh::default(),
        tags: Tags::default(),
        elements: 0,
    };
    let mut has_format = false;
    while let Some(word) = reader.cursor.word() {
        let place = reader.cursor.place();
        match word {
            b"$MeshFormat" => {
                reader.format()?;
                has_format = true;
            }
            b"$NOD" => return Err(source.unsupported(place, "MSH version 1 is not read", HINT)),
            b"$ParametricNodes" => {
                let hint = "save without parametric coordinates (Mesh.SaveParametric = 0)";
                return Err(source.unsupported(place, "$ParametricNodes are not read", hint));
            }
            b"$Nodes" | b"$Elements" if !has_format => {
                return Err(source.malformed(place, "`$MeshFormat` first", quote(word), HINT));
            }
            b"$Nodes" => {
                reader.nodes()?;
                reader.end(b"$EndNodes")?;
            }
            b"$Elements" => {
                reader.elements()?;
                reader.end(b"$EndElements")?;
            }
            _ if word.len() > 1 && word[0] == b'$' => {
                let end = [b"$End", &word[1..]].concat();
                if !reader.cursor.skip_past_line(&end) {
                    return Err(source.truncated(
                        place,
                        format!("a line {}", quote(&end)),
                        "the end of the file",
                    ));
                }
            }
            _ => return Err(source.malformed(place, "a section such as `$Nodes`", quote(word), HINT)),
        }
    }
    if !has_format {
        let hint = "check that the file is a Gmsh mesh (other programs use .msh too)";
        return Err(source.malformed(Place::default(), "`$MeshFormat`", "no section", hint));
    }
    Ok(reader.mesh)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    Two,
    FourOne,
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    version: Version,
    /// Type of counts and tags in version 4.1.
    size: Scalar,
    mesh: RawMesh,
    tags: Tags,
    elements: usize,
}

impl Reader<'_> {
    /// `version file-type data-size`, and in a binary file the integer 1, which shows the byte order.
    fn format(&mut self) -> Result<(), MeshError> {
        let source = self.cursor.source;
        let version = self.cursor.need_word("a version")?;
        let place = self.cursor.place();
        self.version = match version {
            b"2" | b"2.0" | b"2.1" | b"2.2" => Version::Two,
            b"4.1" => Version::FourOne,
            _ => {
                let found = format!("MSH version {} is not read, 2.2 and 4.1 are", quote(version));
                return Err(source.unsupported(place, found, HINT));
            }
        };
        let binary = match self.cursor.need_word("0 for text or 1 for binary")? {
            b"0" => false,
            b"1" => true,
            word => return Err(source.malformed(place, "0 for text or 1 for binary", quote(word), HINT)),
        };
        self.size = match self.cursor.need_word("4 or 8 bytes")? {
            b"4" => Scalar::U32,
            b"8" => Scalar::U64,
            word => return Err(source.malformed(place, "4 or 8 bytes", quote(word), HINT)),
        };
        self.cursor.rest_of_line();
        let mut variant = "text";
        if binary {
            let one = self.cursor.take(4, "the integer 1")?;
            (self.cursor.encoding, variant) = match one {
                [1, 0, 0, 0] => (Encoding::Little, "binary little endian"),
                [0, 0, 0, 1] => (Encoding::Big, "binary big endian"),
                _ => return Err(source.malformed(self.cursor.place(), "the integer 1", "another", HINT)),
            };
        }
        self.mesh.format = format!("Gmsh MSH {}, {variant}", String::from_utf8_lossy(version));
        self.end(b"$EndMeshFormat")
    }

    fn end(&mut self, marker: &[u8]) -> Result<(), MeshError> {
        let expected = quote(marker);
        let word = self.cursor.need_word(&expected)?;
        if word == marker {
            return Ok(());
        }
        Err(self.cursor.source.malformed(self.cursor.place(), expected, quote(word), HINT))
    }

    fn is_binary(&self) -> bool {
        self.cursor.encoding != Encoding::Text
    }

    /// The count in front of the nodes or elements of version 2, which is text even in binary files.
    fn text_count(&mut self, expected: &str) -> Result<usize, MeshError> {
        let encoding = std::mem::replace(&mut self.cursor.encoding, Encoding::Text);
        let count = self.cursor.count(Scalar::U64, expected)?;
        self.cursor.encoding = encoding;
        if self.is_binary() {
            self.cursor.rest_of_line();
        }
        Ok(count)
    }

    fn nodes(&mut self) -> Result<(), MeshError> {
        let mut tags = Vec::new();
        match self.version {
            Version::Two => {
                let n = self.text_count("the number of nodes")?;
                self.cursor.check_count(n, 4, 28, "nodes")?;
                for _ in 0..n {
                    tags.push(self.cursor.integer(Scalar::I32, "a node number")?);
                    self.node(0)?;
                }
            }
            Version::FourOne => {
                if self.is_binary() {
                    self.cursor.rest_of_line();
                }
                let blocks = self.cursor.count(self.size, "the number of blocks")?;
                let n = self.cursor.count(self.size, "the number of nodes")?;
                self.cursor.count(self.size, "the smallest node tag")?;
                self.cursor.count(self.size, "the largest node tag")?;
                self.cursor.check_count(n, 4, 24 + self.size.size(), "nodes")?;
                self.cursor.check_count(blocks, 4, 12 + self.size.size(), "blocks")?;
                for _ in 0..blocks {
                    self.node_block(&mut tags)?;
                }
                self.announced(n, tags.len(), "nodes")?;
            }
        }
        let place = self.cursor.place();
        self.tags = Tags::new(&tags).map_err(|tag| {
            self.cursor.source.malformed(place, "node numbers that differ", format!("{tag} twice"), HINT)
        })?;
        Ok(())
    }

    fn node_block(&mut self, tags: &mut Vec<i64>) -> Result<(), MeshError> {
        let dimension = self.cursor.count(Scalar::I32, "the dimension of a block")?;
        self.cursor.integer(Scalar::I32, "the entity of a block")?;
        let parametric = self.cursor.integer(Scalar::I32, "0 or 1 for parametric")? != 0;
        let n = self.cursor.count(self.size, "the number of nodes in a block")?;
        self.cursor.check_count(n, 4, 24 + self.size.size(), "nodes")?;
        for _ in 0..n {
            tags.push(self.cursor.integer(self.size, "a node number")?);
        }
        for _ in 0..n {
            self.node(if parametric { dimension.min(3) } else { 0 })?;
        }
        Ok(())
    }

    /// Coordinates of a node; `extra` parameters on its entity follow them.
    fn node(&mut self, extra: usize) -> Result<(), MeshError> {
        let mut x = [0.0; 3];
        for c in &mut x {
            *c = self.cursor.float(Scalar::F64, "a coordinate")?;
        }
        let place = self.cursor.place();
        for _ in 0..extra {
            self.cursor.float(Scalar::F64, "a parameter")?;
        }
        let source = self.cursor.source;
        self.mesh.push_vertex(x, &source, place)
    }

    fn elements(&mut self) -> Result<(), MeshError> {
        match (self.version, self.is_binary()) {
            (Version::Two, false) => {
                let n = self.text_count("the number of elements")?;
                self.cursor.check_count(n, 3, 4, "elements")?;
                for _ in 0..n {
                    self.cursor.integer(Scalar::I32, "an element number")?;
                    let line = self.cursor.line_read();
                    let kind = self.cursor.integer(Scalar::I32, "an element type")?;
                    let tags = self.cursor.count(Scalar::I32, "a number of tags")?;
                    self.element_tags(tags)?;
                    self.element(kind, Scalar::I32)?;
                    self.same_line(line)?;
                }
            }
            (Version::Two, true) => {
                let n = self.text_count("the number of elements")?;
                self.cursor.check_count(n, 3, 4, "elements")?;
                let mut read = 0;
                while read < n {
                    let kind = self.cursor.integer(Scalar::I32, "an element type")?;
                    let count = self.cursor.count(Scalar::I32, "a number of elements")?;
                    let tags = self.cursor.count(Scalar::I32, "a number of tags")?;
                    if count == 0 || count > n - read {
                        let expected = format!("1 to {} elements in a block", n - read);
                        return Err(self.cursor.source.malformed(
                            self.cursor.place(),
                            expected,
                            count.to_string(),
                            HINT,
                        ));
                    }
                    for _ in 0..count {
                        self.cursor.integer(Scalar::I32, "an element number")?;
                        self.element_tags(tags)?;
                        self.element(kind, Scalar::I32)?;
                    }
                    read += count;
                }
            }
            (Version::FourOne, _) => self.elements_four()?,
        }
        Ok(())
    }

    fn elements_four(&mut self) -> Result<(), MeshError> {
        if self.is_binary() {
            self.cursor.rest_of_line();
        }
        let blocks = self.cursor.count(self.size, "the number of blocks")?;
        let n = self.cursor.count(self.size, "the number of elements")?;
        self.cursor.count(self.size, "the smallest element tag")?;
        self.cursor.count(self.size, "the largest element tag")?;
        self.cursor.check_count(blocks, 4, 12 + self.size.size(), "blocks")?;
        self.cursor.check_count(n, 2, 2 * self.size.size(), "elements")?;
        let before = self.elements;
        for _ in 0..blocks {
            self.cursor.integer(Scalar::I32, "the dimension of a block")?;
            self.cursor.integer(Scalar::I32, "the entity of a block")?;
            let kind = self.cursor.integer(Scalar::I32, "an element type")?;
            let count = self.cursor.count(self.size, "the number of elements in a block")?;
            self.cursor.check_count(count, 2, 2 * self.size.size(), "elements")?;
            for _ in 0..count {
                self.cursor.integer(self.size, "an element number")?;
                let line = self.cursor.line_read();
                self.element(kind, self.size)?;
                self.same_line(line)?;
            }
        }
        self.announced(n, self.elements - before, "elements")
    }

    fn element_tags(&mut self, tags: usize) -> Result<(), MeshError> {
        self.cursor.check_count(tags, 1, 4, "tags")?;
        for _ in 0..tags {
            self.cursor.integer(Scalar::I32, "a tag")?;
        }
        Ok(())
    }

    /// The nodes of an element.
    fn element(&mut self, kind: i64, scalar: Scalar) -> Result<(), MeshError> {
        let index = self.elements;
        let place = self.cursor.place().with_element("element", index);
        let Some((shape, count)) = element_type(kind) else {
            return Err(self.cursor.source.unsupported(place, format!("unknown element type {kind}"), HINT));
        };
        let mut nodes = [0; MOST_NODES];
        for node in &mut nodes[..count] {
            let tag = self.cursor.integer(scalar, "a node number")?;
            *node = self.tags.vertex(tag).ok_or_else(|| {
                let place = self.cursor.place().with_element("element", index);
                let hint = "$Nodes must hold that node, and stand before $Elements";
                self.cursor.source.index(place, tag, self.mesh.vertices.len(), hint)
            })?;
        }
        push_cell(&mut self.mesh, shape, &nodes[..count], index);
        self.elements += 1;
        Ok(())
    }

    /// In a text file, an element that is cut short would borrow the numbers of the next line.
    fn same_line(&self, line: u64) -> Result<(), MeshError> {
        if self.is_binary() || self.cursor.line_read() == line {
            return Ok(());
        }
        let place = Place::line(line).with_element("element", self.elements - 1);
        let expected = "as many nodes as its type has";
        Err(self.cursor.source.malformed(place, expected, "fewer on the line", HINT))
    }

    fn announced(&self, expected: usize, found: usize, what: &str) -> Result<(), MeshError> {
        if expected == found {
            return Ok(());
        }
        let expected = format!("{expected} {what}");
        Err(self.cursor.source.malformed(self.cursor.place(), expected, found.to_string(), HINT))
    }
}

/// Most nodes of a type in the table.
const MOST_NODES: usize = 125;

/// Shape and number of nodes of a Gmsh element type. [Gmsh manual, "Node ordering"]
fn element_type(kind: i64) -> Option<(Shape, usize)> {
    Some(match kind {
        15 => (Shape::Point, 1),
        1 => (Shape::Line, 2),
        8 => (Shape::Line, 3),
        26 => (Shape::Line, 4),
        27 => (Shape::Line, 5),
        28 => (Shape::Line, 6),
        2 => (Shape::Triangle, 3),
        9 => (Shape::Triangle, 6),
        20 => (Shape::Triangle, 9),
        21 => (Shape::Triangle, 10),
        22 => (Shape::Triangle, 12),
        23 => (Shape::Triangle, 15),
        24 => (Shape::Triangle, 15),
        25 => (Shape::Triangle, 21),
        3 => (Shape::Quad, 4),
        10 => (Shape::Quad, 9),
        16 => (Shape::Quad, 8),
        36 => (Shape::Quad, 16),
        37 => (Shape::Quad, 25),
        4 => (Shape::Tet, 4),
        11 => (Shape::Tet, 10),
        29 => (Shape::Tet, 20),
        30 => (Shape::Tet, 35),
        31 => (Shape::Tet, 56),
        5 => (Shape::Hex, 8),
        12 => (Shape::Hex, 27),
        17 => (Shape::Hex, 20),
        92 => (Shape::Hex, 64),
        93 => (Shape::Hex, 125),
        6 => (Shape::Prism, 6),
        13 => (Shape::Prism, 18),
        18 => (Shape::Prism, 15),
        7 => (Shape::Pyramid, 5),
        14 => (Shape::Pyramid, 14),
        19 => (Shape::Pyramid, 13),
        _ => return None,
    })
}

/// Node numbers, which need be neither dense nor sorted, to vertex indices.
#[derive(Default)]
struct Tags {
    sorted: Vec<(i64, u32)>,
    /// First tag, when they are consecutive and in order.
    first: Option<i64>,
}

impl Tags {
    /// Refuses a number that is given twice.
    fn new(tags: &[i64]) -> Result<Self, i64> {
        let consecutive = tags.windows(2).all(|w| w[0].checked_add(1) == Some(w[1]));
        let mut sorted: Vec<(i64, u32)> = tags.iter().zip(0..).map(|(&tag, i)| (tag, i)).collect();
        sorted.sort_unstable();
        if let Some(w) = sorted.windows(2).find(|w| w[0].0 == w[1].0) {
            return Err(w[0].0);
        }
        Ok(Tags { sorted, first: tags.first().copied().filter(|_| consecutive) })
    }

    fn vertex(&self, tag: i64) -> Option<u32> {
        if let Some(first) = self.first {
            let i = tag.checked_sub(first).and_then(|i| u32::try_from(i).ok())?;
            return ((i as usize) < self.sorted.len()).then_some(i);
        }
        let at = self.sorted.binary_search_by_key(&tag, |&(t, _)| t).ok()?;
        Some(self.sorted[at].1)
    }
}
