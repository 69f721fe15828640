//! Each repair does what it says, is counted, and leaves what is sound alone.

use std::fmt::Write;
use std::path::Path;

use littoral_geom::math::{Aabb, Vec3};
use littoral_io::mesh::{
    Finding, FindingKind, IntakeOptions, IntakeReport, Mesh, Weld, read_mesh_bytes, size_warning,
};

fn try_read(name: &str, text: &str, weld: Weld) -> Result<(Mesh, IntakeReport), String> {
    let options = IntakeOptions { weld, ..IntakeOptions::default() };
    read_mesh_bytes(Path::new(name), text.as_bytes(), &options).map_err(|e| e.to_string())
}

fn obj(text: &str) -> (Mesh, IntakeReport) {
    try_read("a.obj", text, Weld::Seams).unwrap_or_else(|e| panic!("{e}"))
}

/// Gmsh 2.2 text of tets, corners counted from 1.
fn tets(x: &[[f64; 3]], tets: &[[usize; 4]]) -> Result<(Mesh, IntakeReport), String> {
    let mut text = format!("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{}\n", x.len());
    for (i, p) in x.iter().enumerate() {
        writeln!(text, "{} {} {} {}", i + 1, p[0], p[1], p[2]).expect("a string");
    }
    writeln!(text, "$EndNodes\n$Elements\n{}", tets.len()).expect("a string");
    for (i, t) in tets.iter().enumerate() {
        writeln!(text, "{} 4 0 {} {} {} {}", i + 1, t[0], t[1], t[2], t[3]).expect("a string");
    }
    try_read("a.msh", &(text + "$EndElements\n"), Weld::Seams)
}

fn found(report: &IntakeReport, kind: FindingKind) -> (u64, Vec<u64>) {
    let none = Finding { kind, count: 0, examples: Vec::new(), detail: String::new() };
    let finding = report.findings.iter().find(|f| f.kind == kind).unwrap_or(&none);
    (finding.count, finding.examples.clone())
}

/// Vertices of a cube from `at`, side 1, numbered x fastest.
fn cube_vertices(at: [f64; 3]) -> String {
    let mut text = String::new();
    for i in 0..8 {
        let p = [i & 1, (i >> 1) & 1, (i >> 2) & 1].map(f64::from);
        writeln!(text, "v {} {} {}", at[0] + p[0], at[1] + p[1], at[2] + p[2]).expect("a string");
    }
    text
}

/// Quads of a cube, outward, from vertex number `first`, counted from 1.
fn cube_faces(first: usize) -> String {
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    quads
        .iter()
        .map(|q| format!("f {} {} {} {}\n", q[0] + first, q[1] + first, q[2] + first, q[3] + first))
        .collect()
}

/// Two squares that share an edge, its vertices given twice:
/// ```text
///   2───3 7───6
///   │   │ │   │
///   0───1 4───5
/// ```
#[test]
fn a_seam_is_welded_and_counted() {
    let text =
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nv 1 0 1e-12\nv 2 0 0\nv 2 1 0\nv 1 1 0\nf 1 2 4 3\nf 5 6 7 8\n";
    let (mesh, report) = obj(text);
    assert_eq!((mesh.vertices.len(), report.open_edges, report.bodies), (6, 6, 1));
    assert_eq!(found(&report, FindingKind::WeldedVertices), (2, vec![4, 7]));
    assert_eq!(report.count(FindingKind::LooseVertices), 0);
    assert_eq!(mesh.source_vertex, [0, 1, 2, 3, 5, 6]);
    let (mesh, report) = try_read("a.obj", text, Weld::Off).expect("two squares");
    assert_eq!((mesh.vertices.len(), report.bodies), (8, 2));
    assert_eq!(report.count(FindingKind::CoincidentVertices), 2);
}

#[test]
fn touching_closed_bodies_and_named_objects_stay_apart_with_a_warning() {
    let text = cube_vertices([0.0; 3]) + &cube_vertices([1.0, 0.0, 0.0]) + &cube_faces(1) + &cube_faces(9);
    let (mesh, report) = obj(&text);
    assert_eq!((mesh.vertices.len(), report.bodies), (16, 2));
    // A rounding error for each of 24 terms of size one.
    assert!(report.volume.is_some_and(|v| (v - 2.0).abs() < 1e-14));
    assert_eq!(report.count(FindingKind::CoincidentVertices), 4);
    let (mesh, report) = try_read("a.obj", &text, Weld::Within(1e-6)).expect("two cubes");
    // The wall between them is given twice now: one copy is left, with three faces at each of its edges.
    assert_eq!((mesh.vertices.len(), report.bodies), (12, 1));
    assert_eq!((report.count(FindingKind::DuplicateTriangles), report.non_manifold_edges), (2, 4));
    let square = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\n";
    let (_, report) = obj(&format!("o a\n{square}o b\n{square}"));
    assert_eq!((report.bodies, report.count(FindingKind::CoincidentVertices)), (2, 3));
}

#[test]
fn flat_repeated_and_double_triangles_and_loose_vertices_are_dropped() {
    let text = "v 9 9 9\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0.5 0 0\nf 2 3 4\nf 2 3 5\nf 2 2 3\nf 2 3 3 4\nf 4 3 2\nl 5 5\nl 5 1\nl 1 5\n";
    let (mesh, report) = obj(text);
    assert_eq!((mesh.triangles.as_slice(), mesh.segments.len()), (&[[1, 2, 3]][..], 1));
    assert_eq!(found(&report, FindingKind::FlatTriangles), (1, vec![1]));
    assert_eq!(found(&report, FindingKind::ShortFaces), (1, vec![2]));
    assert_eq!(found(&report, FindingKind::DuplicateTriangles), (2, vec![3, 4]));
    assert_eq!(found(&report, FindingKind::FlatSegments), (1, vec![0]));
    assert_eq!(found(&report, FindingKind::DuplicateSegments), (1, vec![2]));
    let (_, report) = obj("v 7 7 7\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 2 3 4\n");
    assert_eq!(found(&report, FindingKind::LooseVertices), (1, vec![0]));
}

#[test]
fn a_thin_triangle_is_kept() {
    let (mesh, _) = obj("v 0 0 0\nv 1 0 0\nv 0.5 1e-12 0\nf 1 2 3\n");
    assert_eq!(mesh.triangles.len(), 1);
}

#[test]
fn an_n_gon_cube_is_closed_and_faces_outward_whichever_way_it_was_given() {
    let outward = obj(&(cube_vertices([0.0; 3]) + &cube_faces(1)));
    assert_eq!((outward.1.volume, outward.1.count(FindingKind::Polygons)), (Some(1.0), 6));
    assert!(outward.1.is_closed() && outward.1.of(littoral_io::mesh::Severity::Repair).next().is_none());
    let turned: String = cube_faces(1)
        .lines()
        .map(|l| {
            let mut words: Vec<&str> = l.split(' ').collect();
            words[1..].reverse();
            words.join(" ") + "\n"
        })
        .collect();
    let (_, report) = obj(&(cube_vertices([0.0; 3]) + &turned));
    assert_eq!((report.volume, report.count(FindingKind::InsideOut)), (Some(1.0), 1));
}

const CORNER: [[f64; 3]; 5] = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.], [1., 1., 1.]];

#[test]
fn negative_and_double_tets_are_repaired() {
    let (mesh, report) =
        tets(&CORNER, &[[1, 2, 4, 3], [2, 3, 4, 5], [3, 2, 4, 5], [1, 1, 2, 3]]).expect("two tets");
    assert_eq!(mesh.tets.len(), 2);
    assert_eq!(found(&report, FindingKind::FlippedTets), (1, vec![0]));
    assert_eq!(found(&report, FindingKind::DuplicateTets), (1, vec![2]));
    assert_eq!(found(&report, FindingKind::DegenerateTets), (1, vec![3]));
    assert_eq!(report.count(FindingKind::OverlappingTets), 0);
    // 1/6 and 1/3.
    assert!(report.volume.is_some_and(|v| (v - 0.5).abs() < 1e-15));
}

#[test]
fn overlapping_tets_are_named() {
    let x = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.], [0.1, 0.1, 2.0]];
    let (_, report) = tets(&x, &[[1, 2, 3, 4], [1, 2, 3, 5]]).expect("two tets");
    assert_eq!(found(&report, FindingKind::OverlappingTets), (1, vec![0]));
}

/// A flat tet on a face of another only splits that face; one between two others holds them together.
#[test]
fn a_flat_tet_is_dropped_on_the_surface_and_refused_inside() {
    let x = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.], [1., 1., 0.]];
    let (mesh, report) = tets(&x, &[[1, 2, 3, 4], [1, 2, 3, 5]]).expect("one tet is left");
    assert_eq!((mesh.tets.len(), mesh.vertices.len()), (1, 4));
    assert_eq!(found(&report, FindingKind::FlatTets), (1, vec![1]));
    // Four corners of a square, tets on all four faces of the flat one.
    let x = [[0., 0., 0.], [1., 0., 0.], [1., 1., 0.], [0., 1., 0.], [0.5, 0.5, 1.], [0.5, 0.5, -1.]];
    let around = [[1, 2, 3, 5], [1, 3, 4, 5], [1, 2, 4, 6], [2, 3, 4, 6], [1, 2, 3, 4]];
    let error = tets(&x, &around).expect_err("the flat tet is inside");
    assert!(error.contains("tet 4") && error.contains("no volume") && error.contains("remesh"), "{error}");
    let error = tets(&x, &[[1, 2, 3, 4]]).expect_err("nothing is left");
    assert!(error.contains("degenerate"), "{error}");
}

#[test]
fn sizes_beyond_ten_metres_and_below_a_millimetre_are_questioned() {
    let box_of = |side: f64| Aabb { min: Vec3::ZERO, max: Vec3::new(side, 0.1 * side, 0.0) };
    assert_eq!(size_warning(&box_of(10.0)), None);
    assert_eq!(size_warning(&box_of(1e-3)), None);
    assert!(size_warning(&box_of(20.0)).is_some_and(|t| t.contains("\"mm\" (0.02 m)")));
    assert!(size_warning(&box_of(5e-4)).is_some_and(|t| t.contains("5.000e-4 m")));
}
