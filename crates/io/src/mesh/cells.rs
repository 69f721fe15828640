//! Finite elements of all shapes, reduced to polygons, tetrahedra and segments.
//!
//! Hexahedra, prisms and pyramids are split by the pulling triangulation: the corner of smallest index is joined to
//! every face that does not hold it, each face split from its own corner of smallest index. Neighbours share
//! their faces' corners, so they split a common face alike, and the tetrahedra fit together.
//! [Dompierre, Labbé, Vallet & Camarero 1999]

use super::raw::RawMesh;
use super::report::FindingKind;

/// The shape of an element, of whatever order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Point,
    Line,
    Triangle,
    Quad,
    Tet,
    Hex,
    Prism,
    Pyramid,
}

impl Shape {
    /// Number of corners; further nodes of an element are mid nodes.
    pub fn corners(self) -> usize {
        match self {
            Shape::Point => 1,
            Shape::Line => 2,
            Shape::Triangle => 3,
            Shape::Quad | Shape::Tet => 4,
            Shape::Pyramid => 5,
            Shape::Prism => 6,
            Shape::Hex => 8,
        }
    }

    /// Faces, corners anticlockwise seen from outside.
    fn faces(self) -> &'static [&'static [usize]] {
        match self {
            Shape::Hex => {
                &[&[0, 3, 2, 1], &[4, 5, 6, 7], &[0, 1, 5, 4], &[1, 2, 6, 5], &[2, 3, 7, 6], &[3, 0, 4, 7]]
            }
            Shape::Prism => &[&[0, 2, 1], &[3, 4, 5], &[0, 1, 4, 3], &[1, 2, 5, 4], &[2, 0, 3, 5]],
            Shape::Pyramid => &[&[0, 3, 2, 1], &[0, 1, 4], &[1, 2, 4], &[2, 3, 4], &[3, 0, 4]],
            Shape::Point | Shape::Line | Shape::Triangle | Shape::Quad | Shape::Tet => &[],
        }
    }
}

/// Appends an element by its nodes, corners first. At least `shape.corners()` nodes are needed.
pub(super) fn push_cell(mesh: &mut RawMesh, shape: Shape, nodes: &[u32], element: usize) {
    let corners = &nodes[..shape.corners()];
    if nodes.len() > corners.len() {
        mesh.note(FindingKind::HigherOrder, element as u64);
    }
    match shape {
        Shape::Point => mesh.note(FindingKind::OtherElements, element as u64),
        Shape::Line => mesh.segments.push([corners[0], corners[1]]),
        Shape::Triangle | Shape::Quad => mesh.faces.push(corners),
        Shape::Tet => mesh.tets.push([corners[0], corners[1], corners[2], corners[3]]),
        Shape::Hex | Shape::Prism | Shape::Pyramid => {
            mesh.note(FindingKind::SplitCells, element as u64);
            split(&mut mesh.tets, shape, corners);
        }
    }
}

fn split(tets: &mut Vec<[u32; 4]>, shape: Shape, corners: &[u32]) {
    let Some(&apex) = corners.iter().min() else { return };
    for face in shape.faces() {
        let face: Vec<u32> = face.iter().map(|&c| corners[c]).collect();
        if face.contains(&apex) {
            continue;
        }
        let first = (0..face.len()).min_by_key(|&i| face[i]).unwrap_or(0);
        let at = |i: usize| face[(first + i) % face.len()];
        tets.extend((1..face.len() - 1).map(|i| [apex, at(0), at(i), at(i + 1)]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use littoral_geom::math::Vec3;
    use littoral_geom::mesh::{boundary_triangles, tet_volume};

    /// Two unit cubes side by side, corner indices shuffled: conforming means that the boundary is the 2 × 1 × 1
    /// box's 10 squares and nothing between.
    #[test]
    fn neighbouring_hexahedra_split_into_tets_that_fit() {
        let order = [7_u32, 3, 11, 0, 5, 9, 1, 10, 2, 8, 4, 6];
        let mut x = vec![Vec3::ZERO; 12];
        let at = |i: usize, j: usize, k: usize| order[i + 3 * j + 6 * k];
        for k in 0..2 {
            for j in 0..2 {
                for i in 0..3 {
                    x[at(i, j, k) as usize] = Vec3::new(i as f64, j as f64, k as f64);
                }
            }
        }
        let mut mesh = RawMesh::default();
        for i in 0..2 {
            let hex = [
                at(i, 0, 0),
                at(i + 1, 0, 0),
                at(i + 1, 1, 0),
                at(i, 1, 0),
                at(i, 0, 1),
                at(i + 1, 0, 1),
                at(i + 1, 1, 1),
                at(i, 1, 1),
            ];
            push_cell(&mut mesh, Shape::Hex, &hex, i);
        }
        let volumes: Vec<f64> = mesh.tets.iter().map(|t| tet_volume(t.map(|v| x[v as usize]))).collect();
        assert!(volumes.iter().all(|&v| v > 0.0));
        assert_eq!(volumes.iter().sum::<f64>(), 2.0);
        assert_eq!(boundary_triangles(&mesh.tets).len(), 20);
    }

    #[test]
    fn prisms_and_pyramids_keep_their_volume_whichever_corner_is_smallest() {
        let prism = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.], [1., 0., 1.], [0., 1., 1.]];
        let pyramid = [[0., 0., 0.], [1., 0., 0.], [1., 1., 0.], [0., 1., 0.], [0.5, 0.5, 1.0]];
        let shapes: [(Shape, &[[f64; 3]], f64); 2] =
            [(Shape::Prism, &prism, 0.5), (Shape::Pyramid, &pyramid, 1.0 / 3.0)];
        for (shape, x, volume) in shapes {
            for shift in 0..x.len() {
                let indices: Vec<u32> = (0..x.len()).map(|i| ((i + shift) % x.len()) as u32).collect();
                let mut mesh = RawMesh::default();
                push_cell(&mut mesh, shape, &indices, 0);
                let point = |v: u32| Vec3::from_array(x[(v as usize + x.len() - shift) % x.len()]);
                let volumes: Vec<f64> = mesh.tets.iter().map(|t| tet_volume(t.map(point))).collect();
                assert!(volumes.iter().all(|&v| v > 0.0), "{shape:?} shifted by {shift}: {volumes:?}");
                assert!((volumes.iter().sum::<f64>() - volume).abs() < 1e-15);
            }
        }
    }
}
