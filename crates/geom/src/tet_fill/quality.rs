//! How good a tet mesh is for simulation.

use crate::math::Vec3;
use crate::mesh::{TetMesh, tet_volume};
use std::f64::consts::PI;

/// Measures of a tet mesh. A regular tet has dihedral angles of 70.5°.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TetQuality {
    /// Smallest dihedral angle [rad], in [0, π]; near 0 the stiffness matrix is badly conditioned. π without
    /// tets.
    pub min_dihedral: f64,
    /// Largest dihedral angle [rad], in [0, π]; near π gradients are badly interpolated. 0 without tets.
    pub max_dihedral: f64,
    /// Smallest volume of a tet [m³], ≤ 0 when one is flat or inverted; +∞ without tets.
    pub min_volume: f64,
    /// Total volume [m³].
    pub volume: f64,
    /// Shortest edge [m]; +∞ without tets.
    pub min_edge: f64,
    /// Longest edge [m]; 0 without tets.
    pub max_edge: f64,
}

/// Measures all tets of a mesh.
pub fn tet_quality(mesh: &TetMesh) -> TetQuality {
    let mut q = TetQuality {
        min_dihedral: PI,
        max_dihedral: 0.0,
        min_volume: f64::INFINITY,
        volume: 0.0,
        min_edge: f64::INFINITY,
        max_edge: 0.0,
    };
    for t in &mesh.tets {
        let x = t.map(|v| mesh.vertices[v as usize]);
        for angle in dihedral_angles(x) {
            q.min_dihedral = q.min_dihedral.min(angle);
            q.max_dihedral = q.max_dihedral.max(angle);
        }
        for [a, b] in EDGES {
            let length = x[a].distance(x[b]);
            q.min_edge = q.min_edge.min(length);
            q.max_edge = q.max_edge.max(length);
        }
        let volume = tet_volume(x);
        q.min_volume = q.min_volume.min(volume);
        q.volume += volume;
    }
    q
}

/// Edges of a tet, in the order of [`dihedral_angles`].
const EDGES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

/// The six dihedral angles [rad] at the edges 01, 02, 03, 12, 13, 23: between the half planes through the
/// edge that hold the other two corners. A corner on the edge's line gives 0.
pub(super) fn dihedral_angles(x: [Vec3; 4]) -> [f64; 6] {
    EDGES.map(|[a, b]| {
        let edge = x[b] - x[a];
        let [c, d] = [[2, 3], [1, 3], [1, 2], [0, 3], [0, 2], [0, 1]]
            [EDGES.iter().position(|e| *e == [a, b]).unwrap_or(0)];
        let (n1, n2) = (edge.cross(x[c] - x[a]), edge.cross(x[d] - x[a]));
        n1.cross(n2).length().atan2(n1.dot(n2))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_regular_tet_has_equal_dihedral_angles() {
        let corners = [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]];
        for angle in dihedral_angles(corners.map(Vec3::from_array)) {
            assert!((angle - (1.0_f64 / 3.0).acos()).abs() < 1e-14);
        }
    }

    #[test]
    fn the_corner_tet_has_three_right_angles() {
        let mesh =
            TetMesh { vertices: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z], tets: vec![[0, 1, 2, 3]] };
        let angles = dihedral_angles([Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z]);
        assert!(angles[..3].iter().all(|a| (a - 0.5 * PI).abs() < 1e-15));
        let q = tet_quality(&mesh);
        assert!((q.min_dihedral - (1.0 / 3.0_f64.sqrt()).acos()).abs() < 1e-14);
        assert_eq!((q.min_edge, q.max_edge), (1.0, 2.0_f64.sqrt()));
        assert_eq!(q.min_volume, q.volume);
    }
}
