//! A frame of a run as a mesh for other programs: OBJ, PLY and legacy VTK, metres, z up.
//!
//! Particles that are not part of their fluid are left out, so the number of points may change from frame to frame.

use crate::run_folder::{Frame, Topology};
use littoral_geom::math::Vec3;
use std::fmt::Write;

/// A file format of [`FrameMesh::to_bytes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshFormat {
    /// Wavefront OBJ: objects by name, particles as points.
    Obj,
    /// PLY, binary: velocities as properties of vertices; particles are vertices of no face.
    Ply,
    /// Legacy VTK, binary: triangles, tets and particles as cells, velocity and object as data of points.
    Vtk,
}

impl MeshFormat {
    /// Extension of its files.
    pub fn extension(self) -> &'static str {
        match self {
            MeshFormat::Obj => "obj",
            MeshFormat::Ply => "ply",
            MeshFormat::Vtk => "vtk",
        }
    }
}

/// What a frame shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrameMesh {
    /// Positions (n) [m].
    pub x: Vec<Vec3>,
    /// Velocities (n) [m/s].
    pub v: Vec<Vec3>,
    /// Object of each point (n), counted from 0.
    pub objects: Vec<u32>,
    /// Names of the objects.
    pub names: Vec<String>,
    /// Surface triangles (t, 3).
    pub triangles: Vec<[u32; 3]>,
    /// Tets (k, 4).
    pub tets: Vec<[u32; 4]>,
    /// Segments of rods (e, 2).
    pub edges: Vec<[u32; 2]>,
    /// Points that are particles.
    pub particles: Vec<u32>,
}

impl FrameMesh {
    /// The frame of a run, without particles that are not part of their fluid.
    pub fn of(topology: &Topology, frame: &Frame) -> FrameMesh {
        let mut kept = vec![true; frame.x.len()];
        for (k, &p) in topology.particles.iter().enumerate() {
            if let Some(kept) = kept.get_mut(p as usize) {
                *kept = frame.is_present(k);
            }
        }
        let mut new_index = vec![0u32; kept.len() + 1];
        for (p, kept) in kept.iter().enumerate() {
            new_index[p + 1] = new_index[p] + u32::from(*kept);
        }
        let of_kept = |points: &[Vec3]| -> Vec<Vec3> {
            points.iter().zip(&kept).filter(|(_, k)| **k).map(|(p, _)| *p).collect()
        };
        let owner =
            |p: usize| topology.objects.partition_point(|o| o.first as usize <= p).saturating_sub(1) as u32;
        let is_kept = |p: &&u32| kept.get(**p as usize).copied().unwrap_or(false);
        FrameMesh {
            x: of_kept(&frame.x),
            v: of_kept(&frame.v),
            objects: (0..kept.len()).filter(|&p| kept[p]).map(owner).collect(),
            names: topology.objects.iter().map(|o| o.name.clone()).collect(),
            triangles: renumbered(&topology.triangles, &kept, &new_index),
            tets: renumbered(&topology.tets, &kept, &new_index),
            edges: renumbered(&topology.edges, &kept, &new_index),
            particles: topology.particles.iter().filter(is_kept).map(|&p| new_index[p as usize]).collect(),
        }
    }

    /// The content of a file.
    pub fn to_bytes(&self, format: MeshFormat) -> Vec<u8> {
        match format {
            MeshFormat::Obj => self.obj(),
            MeshFormat::Ply => self.ply(),
            MeshFormat::Vtk => self.vtk(),
        }
    }

    fn obj(&self) -> Vec<u8> {
        let mut out = String::new();
        // Writing to a string cannot fail.
        for x in &self.x {
            let _ = writeln!(out, "v {:?} {:?} {:?}", x.x, x.y, x.z);
        }
        for (object, name) in self.names.iter().enumerate() {
            let of_object = |p: u32| self.objects[p as usize] as usize == object;
            let _ = writeln!(out, "o {}", name.split_whitespace().collect::<Vec<_>>().join("_"));
            for t in self.triangles.iter().filter(|t| of_object(t[0])) {
                let _ = writeln!(out, "f {} {} {}", t[0] + 1, t[1] + 1, t[2] + 1);
            }
            let own: Vec<[u32; 2]> = self.edges.iter().filter(|e| of_object(e[0])).copied().collect();
            // Segments of one line after another make one element.
            for line in own.chunk_by(|a, b| a[1] == b[0]) {
                let _ = write!(out, "l {}", line[0][0] + 1);
                line.iter().for_each(|e| _ = write!(out, " {}", e[1] + 1));
                out.push('\n');
            }
            for p in self.particles.iter().filter(|p| of_object(**p)) {
                let _ = writeln!(out, "p {}", p + 1);
            }
        }
        out.into_bytes()
    }

    fn ply(&self) -> Vec<u8> {
        let head = format!(
            "ply\nformat binary_little_endian 1.0\nelement vertex {}\nproperty double x\nproperty double y\n\
             property double z\nproperty double vx\nproperty double vy\nproperty double vz\nproperty int object\n\
             element face {}\nproperty list uchar uint vertex_indices\n{}end_header\n",
            self.x.len(),
            self.triangles.len(),
            match self.edges.len() {
                0 => String::new(),
                n => format!("element edge {n}\nproperty uint vertex1\nproperty uint vertex2\n"),
            }
        );
        let mut out = head.into_bytes();
        for ((x, v), object) in self.x.iter().zip(&self.v).zip(&self.objects) {
            x.to_array().iter().chain(&v.to_array()).for_each(|c| out.extend(c.to_le_bytes()));
            out.extend(object.to_le_bytes());
        }
        for t in &self.triangles {
            out.push(3);
            t.iter().for_each(|v| out.extend(v.to_le_bytes()));
        }
        self.edges.iter().flatten().for_each(|v| out.extend(v.to_le_bytes()));
        out
    }

    fn vtk(&self) -> Vec<u8> {
        // The surface of tets is drawn by their program; a second copy of it would only flicker.
        let mut has_tets = vec![false; self.names.len() + 1];
        self.tets.iter().for_each(|t| has_tets[self.objects[t[0] as usize] as usize] = true);
        let sheets = self.triangles.iter().filter(|t| !has_tets[self.objects[t[0] as usize] as usize]);
        // Type 1 is a point, 3 a line, 5 a triangle, 10 a tetrahedron.
        let cells: Vec<(u32, &[u32])> = (sheets.map(|t| (5, &t[..])))
            .chain(self.tets.iter().map(|t| (10, &t[..])))
            .chain(self.edges.iter().map(|e| (3, &e[..])))
            .chain(self.particles.chunks(1).map(|p| (1, p)))
            .collect();
        let size: usize = cells.iter().map(|(_, corners)| corners.len() + 1).sum();

        let mut out =
            b"# vtk DataFile Version 3.0\nframe of a run\nBINARY\nDATASET UNSTRUCTURED_GRID\n".to_vec();
        out.extend(format!("POINTS {} double\n", self.x.len()).bytes());
        let vectors = |out: &mut Vec<u8>, all: &[Vec3]| {
            all.iter().flat_map(|p| p.to_array()).for_each(|c| out.extend(c.to_be_bytes()));
        };
        vectors(&mut out, &self.x);
        out.extend(format!("\nCELLS {} {size}\n", cells.len()).bytes());
        for (_, corners) in &cells {
            out.extend((corners.len() as u32).to_be_bytes());
            corners.iter().for_each(|v| out.extend(v.to_be_bytes()));
        }
        out.extend(format!("\nCELL_TYPES {}\n", cells.len()).bytes());
        cells.iter().for_each(|(kind, _)| out.extend(kind.to_be_bytes()));
        out.extend(format!("\nPOINT_DATA {}\nVECTORS velocity double\n", self.x.len()).bytes());
        vectors(&mut out, &self.v);
        out.extend(b"\nSCALARS object int 1\nLOOKUP_TABLE default\n");
        self.objects.iter().for_each(|o| out.extend(o.to_be_bytes()));
        out.push(b'\n');
        out
    }
}

/// Elements all of whose points are kept, with the new numbers of their points.
fn renumbered<const N: usize>(all: &[[u32; N]], kept: &[bool], new_index: &[u32]) -> Vec<[u32; N]> {
    let is_kept = |v: &u32| kept.get(*v as usize).copied().unwrap_or(false);
    all.iter().filter(|e| e.iter().all(is_kept)).map(|e| e.map(|v| new_index[v as usize])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{FORMATS, IntakeOptions, read_mesh};
    use crate::run_folder::ObjectRange;

    /// A tet, a triangle and three particles of which the second is not there.
    fn sample() -> (Topology, Frame) {
        let object = |name: &str, kind: &str, first, count| ObjectRange {
            name: name.into(),
            kind: kind.into(),
            first,
            count,
        };
        let x: Vec<Vec3> = [
            [0.1, 0., 0.],
            [1., 0., 0.],
            [0., 1., 0.],
            [0., 0., 1.],
            [5., 0., 0.],
            [6., 0., 0.],
            [5., 1., 0.],
            [9., 0., 1. / 3.],
            [9., 9., 9.],
            [9., 1., -1e-17],
        ]
        .map(Vec3::from)
        .to_vec();
        let topology = Topology {
            triangles: vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2], [4, 5, 6]],
            tets: vec![[0, 1, 2, 3]],
            x0: x.clone(),
            particles: vec![7, 8, 9],
            spacing: Some(0.1),
            objects: vec![
                object("a body", "soft", 0, 4),
                object("sheet", "cloth", 4, 3),
                object("water", "fluid", 7, 3),
            ],
            ..Topology::default()
        };
        let v = x.iter().map(|p| 2.0 * *p).collect();
        let present = Some(vec![true, false, true]);
        (topology, Frame { time: 0.5, x, v, present, contact_force: Vec::new() })
    }

    #[test]
    fn a_particle_that_is_not_there_is_left_out() {
        let (topology, frame) = sample();
        let mesh = FrameMesh::of(&topology, &frame);
        assert_eq!((mesh.x.len(), mesh.particles.as_slice()), (9, &[7, 8][..]));
        assert_eq!((mesh.x[8], mesh.v[8]), (frame.x[9], frame.v[9]));
        assert_eq!(mesh.objects, [0, 0, 0, 0, 1, 1, 1, 2, 2]);
        assert_eq!((mesh.triangles.len(), mesh.tets.len()), (5, 1));
    }

    #[test]
    fn what_is_written_is_read_back_bit_for_bit() {
        let (topology, frame) = sample();
        let mesh = FrameMesh::of(&topology, &frame);
        for format in [MeshFormat::Obj, MeshFormat::Ply, MeshFormat::Vtk] {
            let name = format!("littoral-export-{}.{}", std::process::id(), format.extension());
            let path = std::env::temp_dir().join(name);
            std::fs::write(&path, mesh.to_bytes(format)).unwrap();
            // As one of our own mesh files: the points of the surfaces, in their order.
            let (read, _) = read_mesh(&path, &IntakeOptions::default()).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(read.vertices, frame.x[..7], "{format:?}");
            assert_eq!(read.tets.len(), usize::from(format == MeshFormat::Vtk), "{format:?}");
            assert_eq!(read.surface().triangles.len(), 5, "{format:?}");
            assert!(FORMATS.iter().any(|f| f.extension == format.extension()));
            std::fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn particles_are_points_of_their_own_in_every_format() {
        let (topology, frame) = sample();
        let mesh = FrameMesh::of(&topology, &frame);
        let obj = String::from_utf8(mesh.to_bytes(MeshFormat::Obj)).unwrap();
        assert!(obj.contains("v 9.0 1.0 -1e-17\n") && obj.ends_with("o water\np 8\np 9\n"), "{obj}");
        assert!(obj.contains("o a_body\nf 1 3 2\n"), "{obj}");
        let ply = mesh.to_bytes(MeshFormat::Ply);
        let body = ply.windows(11).position(|w| w == b"end_header\n").unwrap() + 11;
        let last = &ply[body + 8 * 52..][..52];
        let number = |k: usize| f64::from_le_bytes(last[8 * k..8 * k + 8].try_into().unwrap());
        assert_eq!([number(0), number(1), number(2), number(4)], [9.0, 1.0, -1e-17, 2.0]);
        assert_eq!(ply.len(), body + 9 * 52 + 5 * 13);
        let vtk = mesh.to_bytes(MeshFormat::Vtk);
        let text = String::from_utf8_lossy(&vtk).into_owned();
        // One triangle of the sheet, one tet, two particles.
        assert!(text.contains("CELLS 4 13\n") && text.contains("POINT_DATA 9\n"), "{text}");
    }

    #[test]
    fn rods_are_lines_in_every_format() {
        let (mut topology, frame) = sample();
        // In place of the sheet: a reader drops lines that are sides of triangles.
        topology.triangles.truncate(4);
        topology.edges = vec![[4, 5], [5, 6], [4, 6]];
        let mesh = FrameMesh::of(&topology, &frame);
        let obj = String::from_utf8(mesh.to_bytes(MeshFormat::Obj)).unwrap();
        assert!(obj.contains("l 5 6 7\nl 5 7\n"), "{obj}");
        for format in [MeshFormat::Obj, MeshFormat::Ply, MeshFormat::Vtk] {
            let name = format!("littoral-lines-{}.{}", std::process::id(), format.extension());
            let path = std::env::temp_dir().join(name);
            std::fs::write(&path, mesh.to_bytes(format)).unwrap();
            let (read, _) = read_mesh(&path, &IntakeOptions::default()).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(read.segments, topology.edges, "{format:?}");
            std::fs::remove_file(&path).unwrap();
        }
    }
}
