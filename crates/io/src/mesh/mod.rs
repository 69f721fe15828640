//! A person's own meshes: OBJ, PLY, STL, Gmsh MSH and legacy VTK in, one clean mesh and one report out.
//!
//! A reader hands on what the file holds ([`RawMesh`]); the repair makes of it what can be simulated ([`Mesh`]), and
//! counts every change ([`IntakeReport`]). What cannot be repaired is refused with file and place ([`MeshError`]).
//! Whether the mesh crosses itself is not asked here: that is the referee's question.
//!
//! To add a format, write its file and a row of [`FORMATS`]; the round-trip and fuzz tests go over the table.

mod cells;
mod cursor;
mod error;
mod msh;
mod obj;
mod orient;
mod ply;
mod polygon;
mod raw;
mod repair;
mod report;
mod stl;
mod tets;
mod vtk;
mod weld;
mod write;

use std::io::Read;
use std::path::Path;

use littoral_geom::math::{Aabb, Vec3};
use littoral_geom::mesh::{Polyline, TetMesh, TriMesh, boundary_triangles, tet_volume, triangle_area};

pub use error::{MeshError, Place, Position, Source};
pub use raw::{Faces, Part, RawMesh};
pub use report::{Finding, FindingKind, IntakeReport, SIZE_LARGEST, SIZE_SMALLEST, Severity, size_warning};

/// A file format.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Name, for messages.
    pub name: &'static str,
    /// Extension of its files, lower case.
    pub extension: &'static str,
    /// True when the content says by itself that it is of this format. OBJ cannot say.
    pub sniff: fn(&[u8]) -> bool,
    /// Reads the content of a file.
    pub read: fn(&Source<'_>) -> Result<RawMesh, MeshError>,
    /// Writes what the format can hold; of tets that it cannot hold, their surface.
    pub write: fn(&Mesh) -> Vec<u8>,
    /// True when it holds tetrahedra.
    pub holds_tets: bool,
    /// True when it holds line segments.
    pub holds_segments: bool,
    /// True when written numbers are read back bit for bit.
    pub exact: bool,
}

/// Every format, those that are known by their content first.
pub const FORMATS: &[Format] = &[
    Format {
        name: "PLY",
        extension: "ply",
        sniff: ply::sniff,
        read: ply::read,
        write: write::ply,
        holds_tets: false,
        holds_segments: true,
        exact: true,
    },
    Format {
        name: "Gmsh MSH",
        extension: "msh",
        sniff: msh::sniff,
        read: msh::read,
        write: write::msh,
        holds_tets: true,
        holds_segments: true,
        exact: true,
    },
    Format {
        name: "legacy VTK",
        extension: "vtk",
        sniff: vtk::sniff,
        read: vtk::read,
        write: write::vtk,
        holds_tets: true,
        holds_segments: true,
        exact: true,
    },
    Format {
        name: "STL",
        extension: "stl",
        sniff: stl::sniff,
        read: stl::read,
        write: write::stl,
        holds_tets: false,
        holds_segments: false,
        exact: false,
    },
    Format {
        name: "OBJ",
        extension: "obj",
        sniff: |_| false,
        read: obj::read,
        write: write::obj,
        holds_tets: false,
        holds_segments: true,
        exact: true,
    },
];

/// Which coinciding vertices become one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Weld {
    /// None.
    Off,
    /// Those on open borders of one object, within rounding (1e-9 of the diagonal; STL 1e-6). Closed bodies that touch,
    /// named objects and tets stay apart. The default.
    #[default]
    Seams,
    /// All within this fraction of the diagonal of the mesh [–], 0 to 0.1.
    Within(f64),
}

/// The axis of the file that points up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Up {
    /// z: coordinates are taken as they are. The default.
    #[default]
    Z,
    /// y: a quarter turn about x, (x, y, z) → (x, −z, y).
    Y,
}

/// How a mesh is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntakeOptions {
    /// Which coinciding vertices become one. Default: seams.
    pub weld: Weld,
    /// Length of one unit of the file [m], > 0. Default: 1.
    pub scale: f64,
    /// The file's upward axis. Default: z.
    pub up: Up,
    /// Turn every triangle round, after the repair. Default: false.
    pub flip: bool,
    /// Whether the scene or the person said what the unit is; if not, unusual sizes are questioned. Default: false.
    pub units_given: bool,
}

impl Default for IntakeOptions {
    fn default() -> Self {
        IntakeOptions { weld: Weld::Seams, scale: 1.0, up: Up::Z, flip: false, units_given: false }
    }
}

impl IntakeOptions {
    fn check(&self) -> Result<(), MeshError> {
        if !(self.scale > 0.0 && self.scale.is_finite()) {
            let expected = "a positive number of metres a unit";
            return Err(MeshError::Option {
                option: "scale",
                found: self.scale.to_string().into(),
                expected,
            });
        }
        match self.weld {
            Weld::Within(fraction) if !(0.0..=0.1).contains(&fraction) => Err(MeshError::Option {
                option: "weld",
                found: fraction.to_string().into(),
                expected: "a fraction of the diagonal from 0 to 0.1",
            }),
            Weld::Within(_) | Weld::Off | Weld::Seams => Ok(()),
        }
    }
}

/// A mesh fit for use: finite, indices in range, every vertex used, no repeated or flat element, tets positive,
/// triangles of a surface turned alike.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Vertex positions (n) [m].
    pub vertices: Vec<Vec3>,
    /// Triangles (t, 3) that are not faces of tets.
    pub triangles: Vec<[u32; 3]>,
    /// Tetrahedra (k, 4), of positive volume.
    pub tets: Vec<[u32; 4]>,
    /// Segments (s, 2) that are not edges of triangles or tets.
    pub segments: Vec<[u32; 2]>,
    /// Index in the file, from 0, of each vertex (n).
    pub source_vertex: Vec<u32>,
}

impl Mesh {
    /// The tetrahedra with their vertices, in order; empty when there are none.
    pub fn tet_mesh(&self) -> TetMesh {
        let (vertices, tets) = with_vertices(&self.vertices, &self.tets);
        TetMesh { vertices, tets }
    }

    /// The surface with its vertices, in order: the boundary of the tets, outward, and the triangles beside them.
    pub fn surface(&self) -> TriMesh {
        let (vertices, triangles) = with_vertices(&self.vertices, &self.surface_triangles());
        TriMesh { vertices, triangles }
    }

    /// The segments with their vertices, in order; empty when there are none.
    pub fn polyline(&self) -> Polyline {
        let (vertices, segments) = with_vertices(&self.vertices, &self.segments);
        Polyline { vertices, segments }
    }

    fn surface_triangles(&self) -> Vec<[u32; 3]> {
        let mut triangles = boundary_triangles(&self.tets);
        triangles.extend_from_slice(&self.triangles);
        triangles
    }
}

/// Elements renumbered over the vertices that they use.
fn with_vertices<const N: usize>(x: &[Vec3], elements: &[[u32; N]]) -> (Vec<Vec3>, Vec<[u32; N]>) {
    let mut used = vec![false; x.len()];
    elements.iter().flatten().for_each(|&v| used[v as usize] = true);
    let mut index = vec![0; x.len()];
    let mut vertices = Vec::new();
    for v in (0..x.len()).filter(|&v| used[v]) {
        index[v] = vertices.len() as u32;
        vertices.push(x[v]);
    }
    (vertices, elements.iter().map(|e| e.map(|v| index[v as usize])).collect())
}

/// Reads a mesh file, repairs it, and says what was done.
pub fn read_mesh(file: &Path, options: &IntakeOptions) -> Result<(Mesh, IntakeReport), MeshError> {
    let bytes = load(file).map_err(|cause| MeshError::Access { file: file.into(), cause })?;
    read_mesh_bytes(file, &bytes, options)
}

/// As [`read_mesh`], of a content that is already at hand; `file` names it in errors, and its extension counts.
pub fn read_mesh_bytes(
    file: &Path,
    bytes: &[u8],
    options: &IntakeOptions,
) -> Result<(Mesh, IntakeReport), MeshError> {
    options.check()?;
    // Editors on Windows mark text by these three bytes.
    let source = Source { file, bytes: bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes) };
    let (format, surprising) = choose(&source)?;
    let mut raw = (format.read)(&source)?;
    raw.check_indices(&source)?;
    if surprising {
        raw.note(FindingKind::ExtensionMismatch, 0);
    }
    let mut report = describe_file(file, &raw);
    let (mesh, findings) = repair::repair(raw, options, source)?;
    report.findings = findings;
    describe_mesh(&mut report, &mesh);
    if let Some(detail) = size_warning(&report.bounds).filter(|_| !options.units_given) {
        report.findings.push(Finding { kind: FindingKind::Size, count: 1, examples: Vec::new(), detail });
    }
    report.findings.sort_by_key(|f| f.kind);
    Ok((mesh, report))
}

/// Writes a mesh in the format of the file's extension.
pub fn write_mesh(file: &Path, mesh: &Mesh) -> Result<(), MeshError> {
    let extension = extension(file);
    let Some(format) = FORMATS.iter().find(|f| f.extension == extension) else {
        let found = format!("no mesh format has the extension `{extension}`");
        let hint = readable().into();
        return Err(MeshError::UnknownFormat { file: file.into(), found: found.into(), hint });
    };
    std::fs::write(file, (format.write)(mesh)).map_err(|cause| MeshError::Access { file: file.into(), cause })
}

/// Largest file [byte]: 4 GiB. More vertices than memory holds are no mesh to simulate, and devices never end.
const FILE_LIMIT: u64 = 1 << 32;

fn load(file: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(file)?.take(FILE_LIMIT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_LIMIT {
        return Err(std::io::Error::other("the file is larger than 4 GiB: split or simplify the mesh"));
    }
    Ok(bytes)
}

fn extension(file: &Path) -> String {
    file.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}

fn readable() -> String {
    let list: Vec<String> = FORMATS.iter().map(|f| format!("{} (.{})", f.name, f.extension)).collect();
    format!("formats are {}", list.join(", "))
}

/// The format by content, else by extension; true when they disagree.
fn choose(source: &Source<'_>) -> Result<(&'static Format, bool), MeshError> {
    let extension = extension(source.file);
    let named = FORMATS.iter().find(|f| f.extension == extension);
    if source.bytes.trim_ascii().is_empty() {
        return Err(source.empty("the file is empty", "export the mesh again"));
    }
    let unknown = |found: String, hint: String| MeshError::UnknownFormat {
        file: source.file.into(),
        found: found.into(),
        hint: hint.into(),
    };
    if let Some((name, hint)) = foreign(source.bytes) {
        return Err(unknown(format!("this is {name}"), hint.into()));
    }
    if let Some(format) = named.filter(|f| (f.sniff)(source.bytes)) {
        return Ok((format, false));
    }
    if let Some(format) = FORMATS.iter().find(|f| (f.sniff)(source.bytes)) {
        return Ok((format, named.is_some_and(|n| n.name != format.name)));
    }
    match named {
        Some(format) => Ok((format, false)),
        None if extension.is_empty() => Err(unknown("the content is of no known format".into(), readable())),
        None => Err(unknown(format!("files named .{extension} are not read"), readable())),
    }
}

/// Formats that people have but that are not read: how they start, what they are, what to do.
const FOREIGN: &[(&[u8], &str, &str)] = &[
    (b"\x1f\x8b", "a gzip archive", "unpack it first"),
    (b"PK\x03\x04", "a zip archive (or 3MF, USDZ)", "unpack it, or export the mesh as OBJ or PLY"),
    (b"\xff\xfe", "a text in UTF-16", "save it as UTF-8"),
    (b"\xfe\xff", "a text in UTF-16", "save it as UTF-8"),
    (b"glTF", "a binary glTF", "export the mesh as OBJ or PLY"),
    (b"Kaydara FBX", "an FBX file", "export the mesh as OBJ or PLY"),
    (b"; FBX", "an FBX file", "export the mesh as OBJ or PLY"),
    (b"BLENDER", "a Blender file", "export the mesh as OBJ or PLY"),
    (b"PXR-USDC", "a USD file", "export the mesh as OBJ or PLY"),
    (b"#usda", "a USD file", "export the mesh as OBJ or PLY"),
    (b"Ogawa", "an Alembic file", "export the mesh as OBJ or PLY"),
    (b"ISO-10303-21", "a STEP file", "mesh it, for instance with Gmsh, and save as MSH or STL"),
    (b"<?xml", "an XML file (VTU, COLLADA …)", "save it as legacy VTK or OBJ"),
    (b"<VTKFile", "a VTK XML file", "save it as legacy VTK"),
    (b"OFF", "an OFF file", "convert it to OBJ or PLY"),
    (b"\x89PNG", "a picture", "give a mesh"),
    (b"\x89HDF", "an HDF5 file", "export the mesh as OBJ, PLY or MSH"),
];

fn foreign(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    FOREIGN.iter().find(|(start, ..)| bytes.starts_with(start)).map(|&(_, name, hint)| (name, hint))
}

fn describe_file(file: &Path, raw: &RawMesh) -> IntakeReport {
    IntakeReport {
        file: file.into(),
        format: raw.format.clone(),
        vertices_in_file: raw.vertices.len(),
        faces_in_file: raw.faces.len(),
        vertices: 0,
        triangles: 0,
        tets: 0,
        segments: 0,
        bodies: 0,
        parts: raw.parts.iter().map(|p| p.name.clone()).collect(),
        open_edges: 0,
        non_manifold_edges: 0,
        bounds: Aabb::EMPTY,
        area: 0.0,
        volume: None,
        shortest_edge: 0.0,
        mean_edge: 0.0,
        findings: Vec::new(),
    }
}

fn describe_mesh(report: &mut IntakeReport, mesh: &Mesh) {
    let x = |v: u32| mesh.vertices[v as usize];
    report.vertices = mesh.vertices.len();
    report.triangles = mesh.triangles.len();
    report.tets = mesh.tets.len();
    report.segments = mesh.segments.len();
    report.bounds = Aabb::of(mesh.vertices.iter().copied());
    report.bodies = bodies(mesh);

    let uses = orient::edge_uses(&mesh.triangles);
    let mut folded = Vec::new();
    for edge in orient::by_edge(&uses) {
        report.open_edges += usize::from(edge.len() == 1);
        if edge.len() > 2 {
            report.non_manifold_edges += 1;
            folded.extend(edge[0].ends.map(|v| u64::from(mesh.source_vertex[v as usize])));
        }
    }
    let findings = &mut report.findings;
    Finding::add_many(findings, FindingKind::OpenEdges, report.open_edges as u64, []);
    Finding::add_many(findings, FindingKind::NonManifoldEdges, report.non_manifold_edges as u64, folded);

    report.area = mesh.surface_triangles().iter().map(|t| triangle_area(t.map(x))).sum::<f64>() + 0.0;
    if !mesh.tets.is_empty() {
        report.volume = Some(mesh.tets.iter().map(|t| tet_volume(t.map(x))).sum());
    } else if report.is_closed() {
        let centre = report.bounds.center();
        report.volume =
            Some(mesh.triangles.iter().map(|t| tet_volume([centre, x(t[0]), x(t[1]), x(t[2])])).sum());
    }

    let lengths = edges(mesh).map(|[a, b]| x(a).distance(x(b)));
    let (mut count, mut sum, mut least) = (0_u64, 0.0, f64::INFINITY);
    for length in lengths {
        (count, sum, least) = (count + 1, sum + length, f64::min(least, length));
    }
    report.shortest_edge = least;
    report.mean_edge = sum / count as f64;
}

/// The edges of all elements, once an element.
fn edges(mesh: &Mesh) -> impl Iterator<Item = [u32; 2]> {
    const PAIRS: [[usize; 2]; 6] = [[0, 1], [1, 2], [2, 0], [0, 3], [1, 3], [2, 3]];
    let of_triangles = mesh.triangles.iter().flat_map(|t| [0, 1, 2].map(|e: usize| PAIRS[e].map(|c| t[c])));
    let of_tets = mesh.tets.iter().flat_map(|t| PAIRS.map(|e| e.map(|c| t[c])));
    of_triangles.chain(of_tets).chain(mesh.segments.iter().copied())
}

/// Number of sets of elements linked by shared vertices. Every vertex belongs to an element.
fn bodies(mesh: &Mesh) -> usize {
    let mut parent: Vec<u32> = (0..mesh.vertices.len() as u32).collect();
    fn root(parent: &mut [u32], mut v: u32) -> u32 {
        while parent[v as usize] != v {
            parent[v as usize] = parent[parent[v as usize] as usize];
            v = parent[v as usize];
        }
        v
    }
    for [a, b] in edges(mesh) {
        let (a, b) = (root(&mut parent, a), root(&mut parent, b));
        parent[a.max(b) as usize] = a.min(b);
    }
    (0_u32..).zip(&parent).filter(|&(v, &p)| v == p).count()
}
