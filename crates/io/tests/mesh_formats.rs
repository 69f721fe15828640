//! The table of formats: what is written is read back, hand-written files of every variant hold what they say, bad ones
//! are refused with the place and the reason.

use std::path::Path;

use littoral_geom::math::Vec3;
use littoral_io::mesh::{
    FORMATS, FindingKind, IntakeOptions, IntakeReport, Mesh, Up, Weld, read_mesh, read_mesh_bytes, write_mesh,
};

fn read(name: &str, bytes: &[u8]) -> Result<(Mesh, IntakeReport), String> {
    read_mesh_bytes(Path::new(name), bytes, &IntakeOptions::default()).map_err(|e| e.to_string())
}

fn good(name: &str, bytes: &[u8]) -> (Mesh, IntakeReport) {
    read(name, bytes).unwrap_or_else(|e| panic!("{e}"))
}

fn point(x: f64, y: f64, z: f64) -> Vec3 {
    Vec3::new(x, y, z)
}

/// Two tets on a common face, a square beside them, and a line of two segments; awkward decimals.
fn sample() -> Mesh {
    let vertices = vec![
        point(0.1, 0.0, -0.0),
        point(1.0 / 3.0, 1e-7, 0.0),
        point(0.0, 1.0, 0.0),
        point(0.0, 0.0, 1.0),
        point(1.0, 1.0, 1.0),
        point(3.0, 0.0, 0.0),
        point(4.0, 0.0, 0.1),
        point(4.0, 1.0, 0.0),
        point(3.0, 1.0, 0.0),
        point(5.0, 0.0, 0.0),
        point(5.0, 1.0, 0.0),
        point(5.0, 1.0, std::f64::consts::PI),
    ];
    Mesh {
        source_vertex: (0..vertices.len() as u32).collect(),
        vertices,
        triangles: vec![[5, 6, 7], [5, 7, 8]],
        tets: vec![[0, 1, 2, 3], [1, 2, 3, 4]],
        segments: vec![[9, 10], [10, 11]],
    }
}

#[test]
fn every_format_reads_back_what_it_writes() {
    let mesh = sample();
    for format in FORMATS {
        let name = format!("sample.{}", format.extension);
        let (back, report) = good(&name, &(format.write)(&mesh));
        assert_eq!(back.tets.len(), if format.holds_tets { 2 } else { 0 }, "{name}");
        assert_eq!(back.segments.len(), if format.holds_segments { 2 } else { 0 }, "{name}");
        let (expected, found) = (mesh.surface(), back.surface());
        assert_eq!(found.triangles.len(), 8, "{name}");
        if format.exact {
            assert_eq!(
                (&found, back.polyline()),
                (&expected, mesh.polyline()),
                "{name}: {:#?}",
                report.lines()
            );
        }
        if format.exact && format.holds_tets {
            assert_eq!(back, mesh, "{name}");
        }
        let corner =
            |m: &littoral_geom::mesh::TriMesh, t: usize, c: usize| m.vertices[m.triangles[t][c] as usize];
        for (t, c) in (0..8).flat_map(|t| (0..3).map(move |c| (t, c))) {
            // Single precision: 2⁻²⁴ of coordinates up to 5.
            assert!(corner(&found, t, c).distance(corner(&expected, t, c)) < 5e-7, "{name}: triangle {t}");
        }
    }
}

#[test]
fn files_are_written_and_read_by_their_extension() {
    let folder = std::env::temp_dir().join(format!("littoral-mesh-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    for format in FORMATS {
        let file = folder.join(format!("SAMPLE.{}", format.extension.to_uppercase()));
        write_mesh(&file, &sample()).unwrap_or_else(|e| panic!("{e}"));
        let (back, report) = read_mesh(&file, &IntakeOptions::default()).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(back.surface().triangles.len(), 8);
        assert!(report.lines()[0].contains("SAMPLE"));
    }
    assert!(write_mesh(&folder.join("a.fbx"), &sample()).is_err());
    let missing =
        read_mesh(&folder.join("missing.obj"), &IntakeOptions::default()).expect_err("no such file");
    assert!(missing.is_access() && missing.to_string().contains("missing.obj"), "{missing}");
    assert!(read_mesh(&folder, &IntakeOptions::default()).expect_err("a folder").is_access());
    std::fs::remove_dir_all(&folder).expect("the folder can be removed");
}

#[test]
fn the_content_decides_when_the_extension_is_wrong() {
    for format in FORMATS.iter().filter(|f| f.extension != "obj") {
        let (mesh, report) = good("sample.obj", &(format.write)(&sample()));
        assert_eq!(mesh.surface().triangles.len(), 8);
        assert_eq!(report.count(FindingKind::ExtensionMismatch), 1, "{}", format.name);
        let (_, report) = good("sample", &(format.write)(&sample()));
        assert_eq!(report.count(FindingKind::ExtensionMismatch), 0, "{}", format.name);
    }
}

#[test]
fn obj_reads_every_way_to_write_a_face() {
    let text = b"\xef\xbb\xbf# comment\r\nmtllib a.mtl\r\no one\r\nv 0 0 0\r\nv 1 0 0 1.0\r\nv 1 1 0 0.5 0.5 nan # colour\r\n\
        v 0 1 0\r\nvt 0 0\r\nvn 0 0 1\r\ng top\r\nusemtl red\r\ns 1\r\nf 1/1/1 2/1/1 3/1/1 4/1/1\r\nf -4//1 -3//1 \\\r\n -2//1\r\n\
        v 2 2 2\r\nv 3 3 3\r\nv 4 4 5\r\no two\r\nl 5 6 7\r\np 1\r\nusefoo x\r\nsurf 0 1 0 1\r\n";
    let (mesh, report) = good("a.obj", text);
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
    assert_eq!(mesh.segments, [[4, 5], [5, 6]]);
    assert_eq!(report.parts, ["one", "two"]);
    assert_eq!(report.bodies, 2);
    let found = |kind| report.findings.iter().find(|f| f.kind == kind).map(|f| (f.count, f.examples.clone()));
    assert_eq!(found(FindingKind::DuplicateTriangles), Some((1, vec![1])));
    assert_eq!(found(FindingKind::UnknownLines), Some((1, vec![22])));
    assert_eq!(found(FindingKind::FreeForm), Some((1, vec![23])));
}

#[test]
fn ply_reads_any_order_of_properties_and_skips_other_elements() {
    let head = b"ply\r\nformat ascii 1.0\r\ncomment x\r\nobj_info y\r\nelement material 1\r\nproperty list uchar float a\r\n\
        property uchar b\r\nelement face 1\r\nproperty uchar flag\r\nproperty list ushort short vertex_index\r\n\
        element vertex 4\r\nproperty float z\r\nproperty uchar red\r\nproperty double y\r\nproperty int x\r\n\
        element edge 1\r\nproperty int vertex1\r\nproperty int vertex2\r\nproperty float w\r\nend_header\r\n";
    let body =
        b"2 0.5 nan 3\r\n255 3 0 1 2\r\n0.5 255 0.0 0\r\n0.5 0 0 1\r\n0.5 0 1 0\r\n7 0 0 0\r\n0 3 1.5\r\n";
    let (mesh, report) = good("a.ply", &[&head[..], body].concat());
    assert_eq!(mesh.vertices[1], point(1.0, 0.0, 0.5));
    assert_eq!((mesh.triangles.len(), mesh.segments.len()), (1, 1));
    assert_eq!(report.count(FindingKind::OtherElements), 1);
}

#[test]
fn ply_reads_both_byte_orders_and_strips() {
    for (name, little) in [("binary_little_endian", true), ("binary_big_endian", false)] {
        let mut bytes = format!(
            "ply\nformat {name} 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n\
             element tristrips 1\nproperty list int int vertex_indices\nend_header\n"
        )
        .into_bytes();
        let order = |word: [u8; 4]| if little { word } else { [word[3], word[2], word[1], word[0]] };
        for c in [0.0_f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.25] {
            bytes.extend(order(c.to_le_bytes()));
        }
        for i in [5, 0, 1, 2, 3, -1_i32] {
            bytes.extend(order(i.to_le_bytes()));
        }
        let (mesh, _) = good("a.ply", &bytes);
        assert_eq!(mesh.triangles, [[0, 1, 2], [2, 1, 3]], "{name}");
        assert_eq!(mesh.vertices[3], point(1.0, 1.0, 0.25));
    }
}

const FACET: &str =
    "facet normal nan 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nVERTEX 0 1.0e0 0\nendloop\nendfacet\n";

#[test]
fn stl_reads_text_without_a_name_several_solids_and_binary_that_begins_with_solid() {
    let (mesh, _) = good("a.stl", format!("solid\n{FACET}endsolid\n").as_bytes());
    assert_eq!(mesh.triangles, [[0, 1, 2]]);
    let two = format!("solid one\n{FACET}endsolid one\nSOLID two\n{FACET}endsolid\n");
    let (mesh, report) = good("a.stl", two.as_bytes());
    // Coinciding solids stay two bodies, which is worth a warning.
    assert_eq!((mesh.triangles.len(), report.bodies), (2, 2));
    assert_eq!(report.parts, ["one", "two"]);
    assert_eq!(report.count(FindingKind::CoincidentVertices), 3);
    let stl = FORMATS.iter().find(|f| f.extension == "stl").expect("STL is in the table");
    let mut binary = (stl.write)(&sample());
    binary[..12].copy_from_slice(b"solid facet ");
    assert_eq!(good("a.stl", &binary).0.triangles.len(), 8);
    binary.extend([0; 7]);
    binary[..12].copy_from_slice(b"            ");
    assert_eq!(good("a.stl", &binary).1.count(FindingKind::TrailingBytes), 7);
}

#[test]
fn msh_reads_sparse_numbers_sections_to_skip_and_elements_of_order_two() {
    let two = b"$Comments\nfree $Nodes text\n$EndComments\n$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"a b\"\n\
        $EndPhysicalNames\n$Nodes\n5\n100 0 0 0\n7 1 0 0\n30 0 1 0\n4 0 0 1\n5 .5 0 0\n$EndNodes\n$Elements\n3\n1 15 2 0 1 7\n\
        2 4 2 0 1 100 7 30 4\n3 8 2 0 1 100 7 5\n$EndElements\n$NodeData\nanything\n$EndNodeData\n";
    let (mesh, report) = good("a.msh", two);
    assert_eq!((mesh.tets.clone(), report.volume), (vec![[0, 1, 2, 3]], Some(1.0 / 6.0)));
    assert_eq!(report.count(FindingKind::HigherOrder), 1);
    assert_eq!(report.count(FindingKind::EdgesOfFaces), 1);
    assert_eq!(report.count(FindingKind::LooseVertices), 1);
    let four = b"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 0 0\n$EndEntities\n$Nodes\n2 4 1 9\n1 1 1 2\n9\n2\n0 0 0 0.5\n\
        1 0 0 1.5\n2 1 0 2\n3\n4\n0 1 0\n1 1 0\n$EndNodes\n$Elements\n2 2 1 2\n1 1 1 1\n1 9 2\n2 1 3 1\n2 9 2 4 3\n$EndElements\n";
    let (mesh, report) = good("a.msh", four);
    assert_eq!(mesh.triangles, [[0, 1, 3], [0, 3, 2]]);
    assert_eq!((report.count(FindingKind::Polygons), report.count(FindingKind::EdgesOfFaces)), (1, 1));
}

/// A tetrahedron in binary MSH, of either version and byte order.
fn binary_msh(version: &str, little: bool) -> Vec<u8> {
    let mut out = format!("$MeshFormat\n{version} 1 8\n").into_bytes();
    let int = |out: &mut Vec<u8>, i: i32| out.extend(if little { i.to_le_bytes() } else { i.to_be_bytes() });
    let size = |out: &mut Vec<u8>, i: u64| out.extend(if little { i.to_le_bytes() } else { i.to_be_bytes() });
    let x = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0_f64]];
    let node = |out: &mut Vec<u8>, i: usize| {
        x[i].iter().for_each(|c| out.extend(if little { c.to_le_bytes() } else { c.to_be_bytes() }));
    };
    int(&mut out, 1);
    out.extend(b"\n$EndMeshFormat\n$Nodes\n");
    if version == "2.2" {
        out.extend(b"4\n");
        for i in 0..4 {
            int(&mut out, i + 1);
            node(&mut out, i as usize);
        }
        out.extend(b"\n$EndNodes\n$Elements\n1\n");
        [4, 1, 2, 1, 0, 1, 1, 2, 3, 4].iter().for_each(|&i| int(&mut out, i));
    } else {
        [1, 4, 1, 4].iter().for_each(|&i| size(&mut out, i));
        [3, 1, 0].iter().for_each(|&i| int(&mut out, i));
        [4, 1, 2, 3, 4].iter().for_each(|&i| size(&mut out, i));
        (0..4).for_each(|i| node(&mut out, i));
        out.extend(b"\n$EndNodes\n$Elements\n");
        [1, 1, 1, 1].iter().for_each(|&i| size(&mut out, i));
        [3, 1, 4].iter().for_each(|&i| int(&mut out, i));
        [1, 1, 1, 2, 3, 4].iter().for_each(|&i| size(&mut out, i));
    }
    out.extend(b"\n$EndElements\n");
    out
}

#[test]
fn msh_reads_binary_of_both_versions_and_byte_orders() {
    for (version, little) in [("2.2", true), ("2.2", false), ("4.1", true), ("4.1", false)] {
        let (mesh, report) = good("a.msh", &binary_msh(version, little));
        assert_eq!(mesh.tets, [[0, 1, 2, 3]], "{version} {little}");
        assert_eq!(report.volume, Some(1.0 / 6.0));
    }
}

#[test]
fn vtk_reads_old_and_new_cells_strips_and_fields() {
    let old = b"# vtk DataFile Version 2.0\ntitle with POINTS\nASCII\nDATASET POLYDATA\nFIELD FieldData 1\nTIME 1 1 double\n0.5\n\
        POINTS 7 float\n0 0 0 1 0 0\n0 1 0 1 1 0\n0 2 0 1 2 0\n 9 9 9\nVERTICES 1 2\n1 6\nLINES 1 3\n2 5 6\n\
        POLYGONS 1 5\n4 0 1 3 2\nTRIANGLE_STRIPS 1 5\n4 2 3 4 5\nPOINT_DATA 7\nSCALARS a float\nrubbish\n";
    let (mesh, report) = good("a.vtk", old);
    assert_eq!((mesh.triangles.len(), mesh.segments.len()), (4, 1));
    assert_eq!(report.count(FindingKind::FlippedTriangles), 0);
    let new = b"# vtk DataFile Version 5.1\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 6 double\n0 0 0 1 0 0 0 1 0 0 0 1 2 2 2 3 3 4\n\
        METADATA\nINFORMATION 1\nNAME L2 LOCATION vtk\n\nCELLS 3 6\nOFFSETS vtktypeint64\n0 4 6\nCONNECTIVITY vtktypeint64\n0 1 2 3\n4 5\n\
        CELL_TYPES 2\n10\n3\n";
    let (mesh, _) = good("a.vtk", new);
    assert_eq!((mesh.tets.as_slice(), mesh.segments.as_slice()), (&[[0, 1, 2, 3]][..], &[[4, 5]][..]));
}

#[test]
fn vtk_reads_big_endian_binary() {
    let mut bytes =
        b"# vtk DataFile Version 3.0\nt\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n".to_vec();
    let x = [0.0_f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    x.iter().for_each(|c| bytes.extend(c.to_be_bytes()));
    bytes.extend(b"\nCELLS 1 5\n");
    [4_i32, 0, 1, 2, 3].iter().for_each(|i| bytes.extend(i.to_be_bytes()));
    bytes.extend(b"\nCELL_TYPES 1\n");
    bytes.extend(10_i32.to_be_bytes());
    bytes.extend(b"\nCELL_DATA 1\nrubbish");
    assert_eq!(good("a.vtk", &bytes).0.tets, [[0, 1, 2, 3]]);
}

/// Name, content, and what the one-line error must say: place, found, what to try.
#[test]
fn bad_files_are_refused_with_place_reason_and_advice() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("a.obj", "", &["empty"]),
        ("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n", &["3 vertices, 0 faces", "point cloud"]),
        ("a.obj", "hello\n", &["0 vertices"]),
        ("a.obj", "v 0 0 0\nv 1 0\n", &["line 2", "coordinate z of vertex 1", "`v x y z`"]),
        ("a.obj", "v 0 0,5 0\n", &["line 1", "`0,5`", "decimals with a point"]),
        ("a.obj", "v 0 0 0\nv 1 nan 0\n", &["line 2", "vertex 1", "NaN", "finite"]),
        ("a.obj", "v 0 0 1e999\n", &["line 1", "inf", "finite"]),
        ("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n\nf 1 2 4\n", &["line 5 (face 0", "index 4", "3 vertices"]),
        ("a.obj", "v 0 0 0\nf 1 2 0\n", &["line 2", "index 0", "counts from 1"]),
        ("a.obj", "v 0 0 0\nf -1 -1 -2\n", &["line 2", "index -2"]),
        ("a.obj", "v 0 0 0\nf 1 x 1\n", &["line 2", "`x`", "v//vn"]),
        ("a.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", &["degenerate"]),
        ("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1e13 0\nf 1 2 3\n", &["vertex 2", "units"]),
        ("a.ply", "ply\nformat ascii 1.0\nelement vertex 1\n", &["line 3", "`end_header`"]),
        ("a.ply", "ply\nformat ascii 2.0\n", &["line 2", "`format ascii 2.0`"]),
        (
            "a.ply",
            "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nend_header\n0\n1\n",
            &["x, y and z"],
        ),
        (
            "a.ply",
            "ply\nformat binary_little_endian 1.0\nelement vertex 4000000000\nproperty float x\nproperty float y\n\
             property float z\nend_header\n",
            &["cut off", "4000000000 vertex", "0 bytes"],
        ),
        (
            "a.ply",
            "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\n\
             element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n3 0 0 -1\n",
            &["line 11 (face 0", "index -1", "1 vertices"],
        ),
        ("a.stl", "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 zero\n", &["line 4", "`zero`"]),
        (
            "a.stl",
            "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\n",
            &["cut off", "`vertex` or `endloop`"],
        ),
        ("a.stl", "solid a\nfacet normal 0 0 1\nouter ring\n", &["line 3", "`loop`", "`ring`"]),
        ("a.stl", "solid a\n", &["cut off", "`endsolid`"]),
        ("a.stl", "solid a\nendsolid a\n", &["0 faces"]),
        ("a.stl", "abc", &["84 bytes", "3 bytes"]),
        ("a.msh", "$MeshFormat\n4.0 0 8\n$EndMeshFormat\n", &["line 2", "`4.0`", "4.1", "msh22"]),
        ("a.msh", "(0 \"grid from another program\")\n", &["line 1", "section"]),
        (
            "a.msh",
            "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n1 4 0 1 1 1\n$EndElements\n",
            &["line 11", "a node number"],
        ),
        (
            "a.msh",
            "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n1 2 0 1 1 9\n$EndElements\n",
            &["line 10 (element 0", "index 9", "$Nodes"],
        ),
        (
            "a.msh",
            "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n2\n1 0 0 0\n1 1 0 0\n$EndNodes\n",
            &["1 twice"],
        ),
        (
            "a.msh",
            "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n99999999999\n1 0 0 0\n",
            &["cut off", "nodes"],
        ),
        ("a.vtk", "# vtk DataFile Version 9.0\n", &["line 1", "5.1"]),
        (
            "a.vtk",
            "# vtk DataFile Version 2.0\nt\nASCII\nDATASET STRUCTURED_GRID\n",
            &["line 4", "STRUCTURED_GRID"],
        ),
        (
            "a.vtk",
            "# vtk DataFile Version 2.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 1 float\n0 0 0\nPOLYGONS 1 4\n3 0 0 7\n",
            &["cell 0", "index 7", "1 vertices"],
        ),
        (
            "a.vtk",
            "# vtk DataFile Version 2.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 1 float\n0 0 0\nPOLYGONS 1 4\n9 0 0 7\n",
            &["line 7", "cell of 9 points"],
        ),
        (
            "a.vtk",
            "# vtk DataFile Version 2.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 float\n0 0 0\nCELLS 1 2\n1 0\nCELL_TYPES 1\n42\n",
            &["cell 0", "cell type 42"],
        ),
        ("a.glb", "glTF....", &["binary glTF", "OBJ or PLY"]),
        ("a.step", "something", &[".step", "OBJ"]),
        ("a.obj.gz", "\x1f", &[".gz"]),
    ];
    for &(name, content, says) in cases {
        let error = read(name, content.as_bytes()).expect_err(content);
        assert!(error.starts_with(name), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
        for words in says {
            assert!(error.contains(words), "`{words}` is not in: {error}");
        }
    }
}

#[test]
fn units_up_axis_and_flip_are_applied() {
    let text = b"v 0 0 0\nv 1000 0 0\nv 0 500 0\nf 1 2 3\n";
    let read =
        |options: &IntakeOptions| read_mesh_bytes(Path::new("a.obj"), text, options).expect("a triangle");
    let millimetres = IntakeOptions { scale: 0.001, up: Up::Y, flip: true, ..IntakeOptions::default() };
    let (mesh, report) = read(&millimetres);
    assert_eq!(mesh.vertices, [point(0.0, 0.0, 0.0), point(1.0, 0.0, 0.0), point(0.0, 0.0, 0.5)]);
    assert_eq!(mesh.triangles, [[0, 2, 1]]);
    assert_eq!(report.count(FindingKind::Size), 0);
    let (_, report) = read(&IntakeOptions::default());
    assert!(
        report.lines().iter().any(|l| l.contains("1000 m") && l.contains("\"mm\" (1 m)")),
        "{:?}",
        report.lines()
    );
    assert_eq!(
        read(&IntakeOptions { units_given: true, ..IntakeOptions::default() }).1.count(FindingKind::Size),
        0
    );
    for options in [
        IntakeOptions { scale: 0.0, ..IntakeOptions::default() },
        IntakeOptions { scale: f64::NAN, ..IntakeOptions::default() },
        IntakeOptions { weld: Weld::Within(-1.0), ..IntakeOptions::default() },
    ] {
        assert!(read_mesh_bytes(Path::new("a.obj"), text, &options).is_err());
    }
}
