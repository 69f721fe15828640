//! Writers: OBJ, PLY (binary), STL (binary), MSH 2.2 (text) and legacy VTK (text). Text holds the shortest decimals
//! that read back to the same bits.

use std::fmt::Write;

use littoral_geom::math::Vec3;

use super::Mesh;

/// `writeln!` to a `String`, which cannot fail.
macro_rules! line {
    ($out:expr, $($words:tt)+) => { let _ = writeln!($out, $($words)+); };
}

fn vertex(out: &mut String, head: std::fmt::Arguments<'_>, x: Vec3) {
    line!(out, "{head}{:?} {:?} {:?}", x.x, x.y, x.z);
}

pub(super) fn obj(mesh: &Mesh) -> Vec<u8> {
    let mut out = String::new();
    mesh.vertices.iter().for_each(|x| vertex(&mut out, format_args!("v "), *x));
    for t in mesh.surface_triangles() {
        line!(out, "f {} {} {}", t[0] + 1, t[1] + 1, t[2] + 1);
    }
    for s in &mesh.segments {
        line!(out, "l {} {}", s[0] + 1, s[1] + 1);
    }
    out.into_bytes()
}

pub(super) fn ply(mesh: &Mesh) -> Vec<u8> {
    let triangles = mesh.surface_triangles();
    let mut out = format!(
        "ply\nformat binary_little_endian 1.0\nelement vertex {}\nproperty double x\nproperty double y\n\
         property double z\nelement face {}\nproperty list uchar uint vertex_indices\n",
        mesh.vertices.len(),
        triangles.len()
    );
    if !mesh.segments.is_empty() {
        line!(out, "element edge {}\nproperty uint vertex1\nproperty uint vertex2", mesh.segments.len());
    }
    let mut out = (out + "end_header\n").into_bytes();
    mesh.vertices.iter().flat_map(|x| x.to_array()).for_each(|c| out.extend(c.to_le_bytes()));
    for t in triangles {
        out.push(3);
        t.iter().for_each(|v| out.extend(v.to_le_bytes()));
    }
    mesh.segments.iter().flatten().for_each(|v| out.extend(v.to_le_bytes()));
    out
}

pub(super) fn stl(mesh: &Mesh) -> Vec<u8> {
    let triangles = mesh.surface_triangles();
    let mut out = vec![b' '; 80];
    out.extend((triangles.len() as u32).to_le_bytes());
    for t in triangles {
        let [a, b, c] = t.map(|v| mesh.vertices[v as usize]);
        let normal = (b - a).cross(c - a).normalize_or_zero();
        let numbers = [normal, a, b, c].into_iter().flat_map(|p| p.to_array());
        numbers.for_each(|n| out.extend((n as f32).to_le_bytes()));
        out.extend([0, 0]);
    }
    out
}

pub(super) fn msh(mesh: &Mesh) -> Vec<u8> {
    let mut out = String::from("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n");
    line!(out, "{}", mesh.vertices.len());
    for (i, x) in mesh.vertices.iter().enumerate() {
        vertex(&mut out, format_args!("{} ", i + 1), *x);
    }
    let count = mesh.segments.len() + mesh.triangles.len() + mesh.tets.len();
    line!(out, "$EndNodes\n$Elements\n{count}");
    // Type 1 is a line, 2 a triangle, 4 a tetrahedron; each with two tags.
    let kinds = (mesh.segments.iter().map(|s| (1, &s[..])))
        .chain(mesh.triangles.iter().map(|t| (2, &t[..])))
        .chain(mesh.tets.iter().map(|t| (4, &t[..])));
    for (i, (kind, corners)) in kinds.enumerate() {
        let _ = write!(out, "{} {kind} 2 0 1", i + 1);
        corners.iter().for_each(|v| {
            let _ = write!(out, " {}", v + 1);
        });
        out.push('\n');
    }
    out.push_str("$EndElements\n");
    out.into_bytes()
}

pub(super) fn vtk(mesh: &Mesh) -> Vec<u8> {
    let mut out = String::from("# vtk DataFile Version 3.0\nmesh\nASCII\nDATASET UNSTRUCTURED_GRID\n");
    line!(out, "POINTS {} double", mesh.vertices.len());
    mesh.vertices.iter().for_each(|x| vertex(&mut out, format_args!(""), *x));
    // Type 3 is a line, 5 a triangle, 10 a tetrahedron.
    let kinds = [
        (3, mesh.segments.iter().map(|s| &s[..]).collect::<Vec<_>>()),
        (5, mesh.triangles.iter().map(|t| &t[..]).collect()),
        (10, mesh.tets.iter().map(|t| &t[..]).collect()),
    ];
    let count: usize = kinds.iter().map(|(_, cells)| cells.len()).sum();
    let size: usize = kinds.iter().flat_map(|(_, cells)| cells).map(|c| c.len() + 1).sum();
    line!(out, "CELLS {count} {size}");
    for corners in kinds.iter().flat_map(|(_, cells)| cells) {
        let words: Vec<String> = corners.iter().map(u32::to_string).collect();
        line!(out, "{} {}", corners.len(), words.join(" "));
    }
    line!(out, "CELL_TYPES {count}");
    for (kind, cells) in &kinds {
        out.push_str(&format!("{kind}\n").repeat(cells.len()));
    }
    out.into_bytes()
}
