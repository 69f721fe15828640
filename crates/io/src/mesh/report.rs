//! What a mesh file held, what was repaired, and what the person should know, as numbers and as sentences.

use std::fmt;
use std::path::PathBuf;

use littoral_geom::math::Aabb;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; nothing was changed that matters.
    Note,
    /// Something was wrong and was put right.
    Repair,
    /// Something may be wrong and was left.
    Warning,
}

macro_rules! finding_kinds {
    ($($(#[doc = $doc:literal])+ $kind:ident, $severity:ident, $code:literal, $what:literal;)+) => {
        /// What can be found in a mesh.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum FindingKind { $($(#[doc = $doc])+ $kind,)+ }

        impl FindingKind {
            /// Every kind.
            pub const ALL: &[FindingKind] = &[$(FindingKind::$kind,)+];

            /// How much it matters.
            pub fn severity(self) -> Severity {
                match self { $(FindingKind::$kind => Severity::$severity,)+ }
            }

            /// Its stable name in a run's report.
            pub fn code(self) -> &'static str {
                match self { $(FindingKind::$kind => $code,)+ }
            }

            fn what(self) -> &'static str {
                match self { $(FindingKind::$kind => $what,)+ }
            }
        }
    };
}

// Kind, severity, code, and its sentence: `{n}` is the count, `[one|many]` follows it.
finding_kinds! {
    /// The content is of another format than the extension says.
    ExtensionMismatch, Warning, "mesh-extension", "the extension does not fit the content, which decided the format";
    /// Lines that start with an unknown keyword were skipped (OBJ); examples are line numbers.
    UnknownLines, Warning, "mesh-unknown-lines", "{n} [line|lines] with an unknown keyword skipped";
    /// Curves and patches of OBJ were skipped; examples are line numbers.
    FreeForm, Warning, "mesh-free-form", "{n} free-form [curve or patch|curves or patches] skipped: export them as polygons";
    /// Bytes behind the last triangle of a binary STL; the example is their offset.
    TrailingBytes, Warning, "mesh-trailing-bytes", "{n} [byte|bytes] behind the last element ignored";
    /// Elements of order 2 and more lost their mid nodes; examples are element indices.
    HigherOrder, Warning, "mesh-higher-order", "{n} [element|elements] of higher order reduced to the corners";
    /// Elements of no use here (points, unknown PLY elements) were skipped.
    OtherElements, Note, "mesh-other-elements", "{n} [point or element|points or elements] of another kind skipped";
    /// Hexahedra, prisms and pyramids were split into tetrahedra.
    SplitCells, Note, "mesh-split-cells", "{n} [hexahedron, prism or pyramid|hexahedra, prisms or pyramids] split into tetrahedra";
    /// Faces of four and more corners were split into triangles.
    Polygons, Note, "mesh-polygons", "{n} [face|faces] of four or more corners split into triangles";
    /// Polygons that cross themselves, or have no area, have no proper triangles; examples are face indices.
    CrossedPolygons, Warning, "mesh-crossed-polygons", "{n} [face that crosses itself or has|faces that cross themselves or have] no area split as well as possible";
    /// Faces of fewer than three corners were dropped; examples are face indices.
    ShortFaces, Repair, "mesh-short-faces", "{n} [face|faces] with fewer than three different corners dropped";
    /// Corners of a format without shared vertices were joined.
    JoinedCorners, Note, "mesh-joined-corners", "{n} separate triangle [corner|corners] joined to the one with the same place";
    /// Coinciding vertices of open borders were welded; examples are vertex indices.
    WeldedVertices, Repair, "mesh-welded-vertices", "{n} [vertex|vertices] on seams welded to the one with the same place";
    /// Coinciding vertices of closed surfaces or of separate objects were left; examples are vertex indices.
    CoincidentVertices, Warning, "mesh-coincident-vertices", "{n} [vertex coincides|vertices coincide] with another of a closed surface, of tets or of another object: left apart, contact starts at distance zero there";
    /// Triangles without area were dropped; examples are face indices.
    FlatTriangles, Repair, "mesh-flat-triangles", "{n} [triangle|triangles] without area dropped";
    /// Triangles given twice were dropped; examples are face indices.
    DuplicateTriangles, Repair, "mesh-duplicate-triangles", "{n} [triangle|triangles] given before dropped";
    /// Triangles that are faces of tetrahedra were dropped.
    FacesOfTets, Note, "mesh-faces-of-tets", "{n} [triangle that is a face|triangles that are faces] of tets left to the tets";
    /// Triangles were turned to agree with their neighbours; examples are face indices.
    FlippedTriangles, Repair, "mesh-flipped-triangles", "{n} [triangle|triangles] turned to agree with the neighbours";
    /// Closed surfaces whose triangles all faced inward were turned; examples are face indices.
    InsideOut, Repair, "mesh-inside-out", "{n} closed [surface|surfaces] that faced inward turned outward";
    /// Closed surfaces inside another that face inward were kept as its cavities; examples are face indices.
    Cavities, Note, "mesh-cavities", "{n} closed [surface|surfaces] facing inward inside another kept as its [cavity|cavities]";
    /// One-sided surfaces; examples are face indices.
    OneSided, Warning, "mesh-one-sided", "{n} [surface has|surfaces have] only one side (like a Möbius strip): triangles left as they are";
    /// Edges of more than two triangles; examples are vertex indices, two an edge.
    NonManifoldEdges, Warning, "mesh-non-manifold-edges", "{n} [edge|edges] shared by more than two triangles kept";
    /// Edges of one triangle only.
    OpenEdges, Note, "mesh-open-edges", "{n} [edge|edges] on the border of an open surface";
    /// Tetrahedra with a repeated corner were dropped; examples are tet indices.
    DegenerateTets, Repair, "mesh-degenerate-tets", "{n} [tet|tets] with a repeated corner dropped";
    /// Tetrahedra given twice were dropped; examples are tet indices.
    DuplicateTets, Repair, "mesh-duplicate-tets", "{n} [tet|tets] given before dropped";
    /// Flat tetrahedra on the surface were dropped; examples are tet indices.
    FlatTets, Repair, "mesh-flat-tets", "{n} [tet|tets] without volume on the surface dropped";
    /// Tetrahedra of negative volume had two corners swapped; examples are tet indices.
    FlippedTets, Repair, "mesh-flipped-tets", "{n} [tet|tets] of negative volume turned";
    /// Faces with two tets on the same side, or more than two tets; examples are tet indices.
    OverlappingTets, Warning, "mesh-overlapping-tets", "{n} [face has|faces have] tets that overlap: the mesh is folded or was inverted";
    /// Segments without length were dropped; examples are segment indices.
    FlatSegments, Repair, "mesh-flat-segments", "{n} [segment|segments] without length dropped";
    /// Segments given twice were dropped; examples are segment indices.
    DuplicateSegments, Repair, "mesh-duplicate-segments", "{n} [segment|segments] given before dropped";
    /// Segments that are edges of triangles or tetrahedra were dropped.
    EdgesOfFaces, Note, "mesh-edges-of-faces", "{n} [segment that is an edge|segments that are edges] of triangles or tets left to them";
    /// Vertices of no element were dropped; examples are vertex indices.
    LooseVertices, Repair, "mesh-loose-vertices", "{n} [vertex|vertices] that no element uses dropped";
    /// The size suggests another unit.
    Size, Warning, "mesh-size", "unusual size";
}

/// Something found, how often, and where first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What.
    pub kind: FindingKind,
    /// How often.
    pub count: u64,
    /// The first few places: indices counted from 0 in the order of the file, or lines where the kind says so.
    pub examples: Vec<u64>,
    /// A sentence more, or nothing.
    pub detail: String,
}

impl Finding {
    /// How many examples are kept.
    pub const EXAMPLES: usize = 4;

    /// Adds one to the finding of this kind, and its example while there is room.
    pub(super) fn add(findings: &mut Vec<Finding>, kind: FindingKind, example: u64) {
        Finding::add_many(findings, kind, 1, [example]);
    }

    /// Adds `count` to the finding of this kind; zero adds nothing.
    pub(super) fn add_many(
        findings: &mut Vec<Finding>,
        kind: FindingKind,
        count: u64,
        examples: impl IntoIterator<Item = u64>,
    ) {
        if count == 0 {
            return;
        }
        let at = findings.iter().position(|f| f.kind == kind).unwrap_or_else(|| {
            findings.push(Finding { kind, count: 0, examples: Vec::new(), detail: String::new() });
            findings.len() - 1
        });
        let finding = &mut findings[at];
        finding.count += count;
        let room = Finding::EXAMPLES - finding.examples.len();
        finding.examples.extend(examples.into_iter().take(room));
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&sentence(self.kind.what(), self.count))?;
        if !self.examples.is_empty() {
            let list: Vec<String> = self.examples.iter().map(u64::to_string).collect();
            let more = if self.count as usize > list.len() { ", …" } else { "" };
            write!(f, " ({}{more})", list.join(", "))?;
        }
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        Ok(())
    }
}

/// A sentence of the table with its count.
fn sentence(pattern: &str, count: u64) -> String {
    let mut text = String::new();
    let mut rest = pattern;
    while let Some((before, choice, after)) =
        rest.split_once('[').and_then(|(b, r)| r.split_once(']').map(|(c, a)| (b, c, a)))
    {
        let (one, many) = choice.split_once('|').unwrap_or((choice, choice));
        text.push_str(before);
        text.push_str(if count == 1 { one } else { many });
        rest = after;
    }
    (text + rest).replace("{n}", &count.to_string())
}

/// What a mesh file held and what was done to it. Counts are those of the mesh handed on.
#[derive(Clone, Debug, PartialEq)]
pub struct IntakeReport {
    /// The file.
    pub file: PathBuf,
    /// Format and variant.
    pub format: String,
    /// Vertices in the file.
    pub vertices_in_file: usize,
    /// Faces in the file, of any number of corners.
    pub faces_in_file: usize,
    /// Vertices.
    pub vertices: usize,
    /// Triangles.
    pub triangles: usize,
    /// Tetrahedra.
    pub tets: usize,
    /// Line segments.
    pub segments: usize,
    /// Connected bodies: sets of elements linked by shared vertices.
    pub bodies: usize,
    /// Named objects in the file.
    pub parts: Vec<String>,
    /// Edges of one triangle only; 0 for a closed surface.
    pub open_edges: usize,
    /// Edges of more than two triangles.
    pub non_manifold_edges: usize,
    /// Box around the vertices [m].
    pub bounds: Aabb,
    /// Area of the surface, that of tets included [m²].
    pub area: f64,
    /// Volume [m³]: of the tets, else inside the triangles if they are closed.
    pub volume: Option<f64>,
    /// Shortest edge of any element [m].
    pub shortest_edge: f64,
    /// Mean edge of all elements, an edge counted once an element [m].
    pub mean_edge: f64,
    /// Repairs, warnings and notes.
    pub findings: Vec<Finding>,
}

impl IntakeReport {
    /// How often something was found.
    pub fn count(&self, kind: FindingKind) -> u64 {
        self.findings.iter().find(|f| f.kind == kind).map_or(0, |f| f.count)
    }

    /// True when the triangles bound a volume: no open edge, no edge of more than two triangles.
    pub fn is_closed(&self) -> bool {
        self.triangles > 0 && self.open_edges == 0 && self.non_manifold_edges == 0
    }

    /// The findings of one severity.
    pub fn of(&self, severity: Severity) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |f| f.kind.severity() == severity)
    }

    /// The report as sentences: the first says what it is, the others what was repaired, what to mind, what to know.
    pub fn lines(&self) -> Vec<String> {
        let plural = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
        let mut holds = vec![plural(self.vertices, "vertex", "vertices")];
        let kinds = [
            (self.triangles, "triangle", "triangles"),
            (self.tets, "tet", "tets"),
            (self.segments, "segment", "segments"),
        ];
        holds.extend(kinds.iter().filter(|k| k.0 > 0).map(|&(n, one, many)| plural(n, one, many)));
        holds.push(plural(self.bodies, "body", "bodies"));
        if self.triangles > 0 {
            let word = match (self.open_edges, self.non_manifold_edges) {
                (0, 0) => "closed",
                (0, _) => "without border",
                (_, _) => "open",
            };
            holds.push(word.into());
        }
        let e = self.bounds.extent();
        holds.push(format!("{} × {} × {} m", short(e.x), short(e.y), short(e.z)));
        if let Some(volume) = self.volume {
            holds.push(format!("{} m³", short(volume)));
        }
        let mut lines = vec![format!("{}: {}: {}", self.file.display(), self.format, holds.join(", "))];
        let groups =
            [(Severity::Repair, "repaired"), (Severity::Warning, "warning"), (Severity::Note, "note")];
        for (severity, word) in groups {
            lines.extend(self.of(severity).map(|finding| format!("  {word}: {finding}")));
        }
        lines
    }
}

/// A number in four significant digits.
fn short(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude != 0.0 && !(1e-3..1e5).contains(&magnitude) {
        return format!("{value:.3e}");
    }
    let digits = if magnitude == 0.0 { 0.0 } else { magnitude.log10().floor() };
    let text = format!("{value:.*}", (3.0 - digits).max(0.0) as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

/// Largest side from which a mesh without `units` is questioned [m]. People simulate rooms, not streets.
pub const SIZE_LARGEST: f64 = 10.0;
/// Largest side below which a mesh without `units` is questioned [m].
pub const SIZE_SMALLEST: f64 = 1e-3;

/// A sentence for a mesh larger than 10 m or smaller than 1 mm, read as metres because no `units` were given.
pub fn size_warning(bounds: &Aabb) -> Option<String> {
    let side = bounds.extent().max_element();
    if side > SIZE_LARGEST {
        let units = [("cm", 0.01), ("mm", 0.001), ("in", 0.0254)];
        let options: Vec<String> =
            units.iter().map(|(name, metres)| format!("\"{name}\" ({} m)", short(side * metres))).collect();
        return Some(format!(
            "its largest side is {} m; if the file is not in metres, say units = {}",
            short(side),
            options.join(" or ")
        ));
    }
    (0.0..SIZE_SMALLEST).contains(&side).then(|| {
        format!(
            "its largest side is {} m; check the units of the file, or give a scale (1000 for kilometres)",
            short(side)
        )
    })
}
