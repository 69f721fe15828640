//! From what a file holds to what can be simulated: polygons split, seams welded, useless elements dropped,
//! triangles and tetrahedra turned right. Every step counts what it changed; none moves a vertex, except that a welded
//! vertex takes the place of the one it is welded to.

use littoral_geom::math::{Aabb, Vec3};

use super::error::{MeshError, Source};
use super::orient::{by_edge, edge_uses, orient};
use super::polygon::{CORNERS_LIMIT, triangulate};
use super::raw::{Faces, RawMesh};
use super::report::{Finding, FindingKind};
use super::tets::{FACES, repair_tets};
use super::weld::weld;
use super::{IntakeOptions, Mesh, Up, Weld};

/// Largest coordinate [m]: beyond it the resolution of f64 is coarser than 0.1 mm.
const COORDINATE_LIMIT: f64 = 1e12;

/// Weld tolerance of formats without shared vertices, as a fraction of the diagonal: they store single precision,
/// whose steps are 6e-8 of the largest coordinate, and the same corner may be rounded twice.
const WELD_SOUP: f64 = 1e-6;

/// Weld tolerance of the other formats, as a fraction of the diagonal: seams are split exactly or by rounding in f64.
const WELD_SEAM: f64 = 1e-9;

/// A triangle whose height is below this fraction of its longest side has no normal worth the name: its area
/// is rounding error.
const FLAT_TRIANGLE: f64 = 1e-14;

/// Work in progress: elements with the index they have in the file.
pub(super) struct Repair<'a> {
    pub source: Source<'a>,
    pub x: Vec<Vec3>,
    pub triangles: Vec<([u32; 3], u32)>,
    pub tets: Vec<([u32; 4], u32)>,
    pub segments: Vec<([u32; 2], u32)>,
    /// Whether each vertex was welded to another.
    pub welded: Vec<bool>,
    pub findings: Vec<Finding>,
}

impl Repair<'_> {
    /// Counts what was found, with the first few places.
    pub fn note(&mut self, kind: FindingKind, where_found: &[u32]) {
        let examples = where_found.iter().map(|&i| i.into());
        Finding::add_many(&mut self.findings, kind, where_found.len() as u64, examples);
    }
}

/// Repairs a mesh. The mesh handed on has at least one element.
pub(super) fn repair(
    raw: RawMesh,
    options: &IntakeOptions,
    source: Source<'_>,
) -> Result<(Mesh, Vec<Finding>), MeshError> {
    let held = format!(
        "{} vertices, {} faces, {} tets, {} segments",
        raw.vertices.len(),
        raw.faces.len(),
        raw.tets.len(),
        raw.segments.len()
    );
    let parts: Vec<u32> = raw.parts.iter().map(|p| p.first_vertex).collect();
    let soup = raw.soup;
    let mut work = Repair {
        source,
        x: place(&raw.vertices, options, &source)?,
        triangles: Vec::new(),
        tets: raw.tets.into_iter().zip(0..).collect(),
        segments: raw.segments.into_iter().zip(0..).collect(),
        welded: vec![false; raw.vertices.len()],
        findings: raw.findings,
    };
    if raw.faces.is_empty() && work.tets.is_empty() && work.segments.is_empty() {
        let hint = "a mesh needs faces, tetrahedra or lines; a point cloud must be made into a surface first";
        return Err(source.empty(held, hint));
    }
    split_faces(&mut work, &raw.faces)?;
    weld_vertices(&mut work, options.weld, soup, &parts);
    drop_degenerate(&mut work);
    repair_tets(&mut work)?;
    drop_redundant(&mut work);
    turn(&mut work, options.flip);
    if work.triangles.is_empty() && work.tets.is_empty() && work.segments.is_empty() {
        let hint = "every element is degenerate: check the export, and the weld tolerance if one was given";
        return Err(source.empty(held, hint));
    }
    Ok(compact(work))
}

/// Coordinates in metres with z up.
fn place(x: &[Vec3], options: &IntakeOptions, source: &Source<'_>) -> Result<Vec<Vec3>, MeshError> {
    let mut placed = Vec::with_capacity(x.len());
    for (vertex, &p) in x.iter().enumerate() {
        let p = options.scale
            * match options.up {
                Up::Z => p,
                Up::Y => Vec3::new(p.x, -p.z, p.y),
            };
        let distance = p.abs().max_element();
        if distance > COORDINATE_LIMIT {
            return Err(MeshError::TooFar {
                file: source.file.into(),
                vertex,
                distance,
                limit: COORDINATE_LIMIT,
            });
        }
        placed.push(p);
    }
    Ok(placed)
}

fn split_faces(work: &mut Repair<'_>, faces: &Faces) -> Result<(), MeshError> {
    let (mut short, mut crossed, mut polygons) = (Vec::new(), Vec::new(), 0);
    let (mut corners, mut triangles) = (Vec::new(), Vec::new());
    for (i, face) in (0_u32..).zip(faces.iter()) {
        corners.clear();
        corners.extend_from_slice(face);
        corners.dedup();
        while corners.len() > 1 && corners.first() == corners.last() {
            corners.pop();
        }
        if corners.len() < 3 {
            short.push(i);
            continue;
        }
        if corners.len() > CORNERS_LIMIT {
            let place = super::Place::element("face", i as usize);
            let found = format!("a face of {} corners, the limit is {CORNERS_LIMIT}", corners.len());
            return Err(work.source.unsupported(place, found, "triangulate it before export"));
        }
        triangles.clear();
        if !triangulate(&corners, &work.x, &mut triangles) {
            crossed.push(i);
        }
        polygons += u64::from(corners.len() > 3);
        work.triangles.extend(triangles.iter().map(|&t| (t, i)));
    }
    work.note(FindingKind::ShortFaces, &short);
    work.note(FindingKind::CrossedPolygons, &crossed);
    Finding::add_many(&mut work.findings, FindingKind::Polygons, polygons, []);
    Ok(())
}

fn weld_vertices(work: &mut Repair<'_>, option: Weld, soup: bool, parts: &[u32]) {
    let n = work.x.len();
    let used = used_vertices(work);
    let bounds = Aabb::of((0..n).filter(|&v| used[v]).map(|v| work.x[v]));
    let diagonal = bounds.extent().length();
    // Vertices of different named objects are not welded.
    let part = |v: u32| parts.partition_point(|&first| first <= v) as u32;
    let kind = if soup { FindingKind::JoinedCorners } else { FindingKind::WeldedVertices };
    let automatic = diagonal * if soup { WELD_SOUP } else { WELD_SEAM };
    let target = match option {
        Weld::Off => (0..n as u32).collect(),
        Weld::Seams => {
            let border = border_vertices(work);
            weld(&work.x, automatic, |v| border[v as usize].then(|| part(v)))
        }
        Weld::Within(fraction) => weld(&work.x, fraction * diagonal, |v| used[v as usize].then_some(0)),
    };
    let welded: Vec<u32> = (0..n as u32).filter(|&v| target[v as usize] != v).collect();
    if soup {
        Finding::add_many(&mut work.findings, kind, welded.len() as u64, []);
    } else {
        work.note(kind, &welded);
    }
    welded.iter().for_each(|&v| work.welded[v as usize] = true);
    let to = |v: u32| target[v as usize];
    work.triangles.iter_mut().for_each(|(t, _)| *t = t.map(to));
    work.tets.iter_mut().for_each(|(t, _)| *t = t.map(to));
    work.segments.iter_mut().for_each(|(s, _)| *s = s.map(to));
    let used = used_vertices(work);
    let apart = weld(&work.x, automatic, |v| used[v as usize].then_some(0));
    let apart: Vec<u32> = (0..n as u32).filter(|&v| apart[v as usize] != v).collect();
    work.note(FindingKind::CoincidentVertices, &apart);
}

fn used_vertices(work: &Repair<'_>) -> Vec<bool> {
    let mut used = vec![false; work.x.len()];
    let corners = work.triangles.iter().flat_map(|(t, _)| t);
    for &v in
        corners.chain(work.tets.iter().flat_map(|(t, _)| t)).chain(work.segments.iter().flat_map(|(s, _)| s))
    {
        used[v as usize] = true;
    }
    used
}

/// Vertices where a seam may run: ends of edges of one triangle, ends of polylines. Vertices of tets never.
fn border_vertices(work: &Repair<'_>) -> Vec<bool> {
    let mut border = vec![false; work.x.len()];
    let triangles: Vec<[u32; 3]> = work.triangles.iter().map(|&(t, _)| t).collect();
    for edge in by_edge(&edge_uses(&triangles)) {
        if let [only] = edge {
            only.ends.iter().for_each(|&v| border[v as usize] = true);
        }
    }
    let mut degree = vec![0_u32; work.x.len()];
    work.segments.iter().flat_map(|(s, _)| s).for_each(|&v| degree[v as usize] += 1);
    (0..border.len()).filter(|&v| degree[v] == 1).for_each(|v| border[v] = true);
    work.tets.iter().flat_map(|(t, _)| t).for_each(|&v| border[v as usize] = false);
    border
}

/// Drops triangles and segments without extent, then those given twice.
fn drop_degenerate(work: &mut Repair<'_>) {
    let x = &work.x;
    let flat = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| x[v as usize]);
        let longest_sq = (b - a).length_squared().max((c - b).length_squared()).max((a - c).length_squared());
        // Height of the triangle over its longest side, as a fraction of that side.
        (b - a).cross(c - a).length() <= FLAT_TRIANGLE * longest_sq
    };
    let flat_triangles = extract(&mut work.triangles, flat);
    let flat_segments = extract(&mut work.segments, |s| s[0] == s[1] || x[s[0] as usize] == x[s[1] as usize]);
    work.note(FindingKind::FlatTriangles, &flat_triangles);
    work.note(FindingKind::FlatSegments, &flat_segments);
    let duplicates = duplicates(&mut work.triangles);
    work.note(FindingKind::DuplicateTriangles, &duplicates);
    let duplicates = self::duplicates(&mut work.segments);
    work.note(FindingKind::DuplicateSegments, &duplicates);
}

/// Drops the elements that `bad` selects; returns their indices in the file.
pub(super) fn extract<const N: usize>(
    elements: &mut Vec<([u32; N], u32)>,
    mut bad: impl FnMut(&[u32; N]) -> bool,
) -> Vec<u32> {
    let mut dropped = Vec::new();
    elements.retain(|(corners, origin)| {
        let drop = bad(corners);
        if drop {
            dropped.push(*origin);
        }
        !drop
    });
    dropped
}

/// Drops all but the first of the elements with the same corners in any order; returns their indices in the file.
pub(super) fn duplicates<const N: usize>(elements: &mut Vec<([u32; N], u32)>) -> Vec<u32> {
    let mut keys: Vec<([u32; N], u32)> =
        elements.iter().zip(0..).map(|((c, _), i)| (sorted(*c), i)).collect();
    keys.sort_unstable();
    let mut repeated = vec![false; elements.len()];
    keys.windows(2).filter(|w| w[0].0 == w[1].0).for_each(|w| repeated[w[1].1 as usize] = true);
    let mut flags = repeated.into_iter();
    extract(elements, |_| flags.next().unwrap_or(false))
}

pub(super) fn sorted<const N: usize>(mut corners: [u32; N]) -> [u32; N] {
    corners.sort_unstable();
    corners
}

/// Drops triangles that are faces of tets, and segments that are edges of triangles or tets: meshers write the
/// boundary of what they mesh, too.
fn drop_redundant(work: &mut Repair<'_>) {
    if !work.tets.is_empty() {
        let mut faces: Vec<[u32; 3]> =
            work.tets.iter().flat_map(|(t, _)| FACES.map(|f| sorted(f.map(|c| t[c])))).collect();
        faces.sort_unstable();
        let dropped = extract(&mut work.triangles, |t| faces.binary_search(&sorted(*t)).is_ok());
        Finding::add_many(&mut work.findings, FindingKind::FacesOfTets, dropped.len() as u64, []);
    }
    if !work.segments.is_empty() {
        const EDGES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
        let of_tets = work.tets.iter().flat_map(|(t, _)| EDGES.map(|e| sorted(e.map(|c| t[c]))));
        let of_triangles = work
            .triangles
            .iter()
            .flat_map(|(t, _)| [[0, 1], [0, 2], [1, 2]].map(|e| sorted(e.map(|c: usize| t[c]))));
        let mut edges: Vec<[u32; 2]> = of_tets.chain(of_triangles).collect();
        edges.sort_unstable();
        let dropped = extract(&mut work.segments, |s| edges.binary_search(&sorted(*s)).is_ok());
        Finding::add_many(&mut work.findings, FindingKind::EdgesOfFaces, dropped.len() as u64, []);
    }
}

fn turn(work: &mut Repair<'_>, flip: bool) {
    let mut triangles: Vec<[u32; 3]> = work.triangles.iter().map(|&(t, _)| t).collect();
    let uses = edge_uses(&triangles);
    let turned = orient(&work.x, &mut triangles, &uses);
    let origin = |list: &[u32]| -> Vec<u32> { list.iter().map(|&t| work.triangles[t as usize].1).collect() };
    let found = [
        (FindingKind::FlippedTriangles, origin(&turned.flipped)),
        (FindingKind::InsideOut, origin(&turned.inside_out)),
        (FindingKind::Cavities, origin(&turned.cavities)),
        (FindingKind::OneSided, origin(&turned.one_sided)),
    ];
    for (kind, list) in found {
        work.note(kind, &list);
    }
    for ((t, _), oriented) in work.triangles.iter_mut().zip(triangles) {
        *t = oriented;
        if flip {
            t.swap(1, 2);
        }
    }
}

/// Drops the vertices that no element uses.
fn compact(mut work: Repair<'_>) -> (Mesh, Vec<Finding>) {
    let used = used_vertices(&work);
    let mut index = vec![u32::MAX; used.len()];
    let mut mesh = Mesh::default();
    for v in (0..used.len()).filter(|&v| used[v]) {
        index[v] = mesh.vertices.len() as u32;
        mesh.vertices.push(work.x[v]);
        mesh.source_vertex.push(v as u32);
    }
    let to = |v: u32| index[v as usize];
    mesh.triangles = work.triangles.iter().map(|(t, _)| t.map(to)).collect();
    mesh.tets = work.tets.iter().map(|(t, _)| t.map(to)).collect();
    mesh.segments = work.segments.iter().map(|(s, _)| s.map(to)).collect();
    // Welded vertices are unused too, and already counted.
    let loose: Vec<u32> =
        (0..used.len()).filter(|&v| !used[v] && !work.welded[v]).map(|v| v as u32).collect();
    work.note(FindingKind::LooseVertices, &loose);
    (mesh, work.findings)
}
