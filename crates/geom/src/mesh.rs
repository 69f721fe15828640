//! Meshes: triangles, tetrahedra, polylines; their edges, boundaries and measures.
//!
//! Sums run in index order, so a measure has the same bits on every run. Nothing here repairs a mesh.

use crate::math::Vec3;

mod adjacency;
mod coloring;
mod lines;

pub use adjacency::{Csr, connected_components, hinges, vertex_tets, vertex_triangles};
pub use coloring::color_points;
pub use lines::LineMesh;

/// A triangle mesh: `triangles[t]` holds three indices into `vertices`. Nothing is assumed about its quality.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriMesh {
    /// Vertex positions (n) [m].
    pub vertices: Vec<Vec3>,
    /// Corner indices (t, 3).
    pub triangles: Vec<[u32; 3]>,
}

/// A tetrahedral mesh: positive orientation means `det(x1−x0, x2−x0, x3−x0) > 0`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TetMesh {
    /// Vertex positions (n) [m].
    pub vertices: Vec<Vec3>,
    /// Corner indices (k, 4).
    pub tets: Vec<[u32; 4]>,
}

/// A polyline mesh: `segments[s]` holds two indices into `vertices`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Polyline {
    /// Vertex positions (n) [m].
    pub vertices: Vec<Vec3>,
    /// End indices (s, 2).
    pub segments: Vec<[u32; 2]>,
}

/// The distinct undirected edges of the triangles, each as (smaller, larger) index, sorted.
pub fn unique_edges(triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let mut edges: Vec<[u32; 2]> = triangles
        .iter()
        .flat_map(|t| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]])
        .map(|[a, b]| [a.min(b), a.max(b)])
        .collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// Boundary faces of a tetrahedral mesh, outward oriented for positively oriented tets, in the order of the
/// tets.
pub fn boundary_triangles(tets: &[[u32; 4]]) -> Vec<[u32; 3]> {
    // Faces opposite corners 0..3, outward for positive orientation.
    const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];
    let mut keyed: Vec<([u32; 3], u32, [u32; 3])> = Vec::with_capacity(4 * tets.len());
    for (k, t) in tets.iter().enumerate() {
        for (f, face) in FACES.iter().enumerate() {
            let corners = face.map(|c| t[c]);
            let mut key = corners;
            key.sort_unstable();
            keyed.push((key, (4 * k + f) as u32, corners));
        }
    }
    keyed.sort_unstable();
    let mut out: Vec<(u32, [u32; 3])> = Vec::new();
    let mut i = 0;
    while i < keyed.len() {
        let mut j = i + 1;
        while j < keyed.len() && keyed[j].0 == keyed[i].0 {
            j += 1;
        }
        if j == i + 1 {
            out.push((keyed[i].1, keyed[i].2));
        }
        i = j;
    }
    out.sort_unstable();
    out.into_iter().map(|(_, t)| t).collect()
}

/// Signed volume of a tetrahedron [m³], positive for positive orientation.
#[inline]
pub fn tet_volume(x: [Vec3; 4]) -> f64 {
    (x[1] - x[0]).dot((x[2] - x[0]).cross(x[3] - x[0])) / 6.0
}

/// Lengths of the edges [m], in their order.
pub fn edge_lengths(points: &[Vec3], edges: &[[u32; 2]]) -> Vec<f64> {
    edges.iter().map(|e| points[e[0] as usize].distance(points[e[1] as usize])).collect()
}

/// Total area of the triangles [m²], each counted once whatever its orientation.
pub fn area(points: &[Vec3], triangles: &[[u32; 3]]) -> f64 {
    triangles.iter().map(|t| triangle_area(t.map(|c| points[c as usize]))).sum()
}

/// Signed volume [m³] that a closed surface encloses: `V = Σ (x₀−o)·((x₁−o)×(x₂−o)) / 6`, positive when
/// outward oriented. The reference point `o` is the first vertex: any choice gives the same volume for a
/// closed surface, and one near the surface keeps the digits that a distant origin would cancel. For an open
/// surface the value means nothing.
pub fn enclosed_volume(points: &[Vec3], triangles: &[[u32; 3]]) -> f64 {
    let Some(first) = triangles.first() else { return 0.0 };
    let o = points[first[0] as usize];
    let corner = |c: u32| points[c as usize] - o;
    triangles.iter().map(|t| corner(t[0]).dot(corner(t[1]).cross(corner(t[2]))) / 6.0).sum()
}

/// Number of directed edges without an opposite partner; 0 for a closed, consistently oriented surface, which has an inside.
pub fn open_edges(triangles: &[[u32; 3]]) -> usize {
    let mut sides: Vec<([u32; 2], bool)> = triangles
        .iter()
        .flat_map(|t| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]])
        .map(|[a, b]| ([a.min(b), a.max(b)], a < b))
        .collect();
    sides.sort_unstable();
    sides
        .chunk_by(|a, b| a.0 == b.0)
        .map(|same| same.len().abs_diff(2 * same.iter().filter(|s| s.1).count()))
        .sum()
}

impl TriMesh {
    /// Total area [m²].
    pub fn area(&self) -> f64 {
        area(&self.vertices, &self.triangles)
    }

    /// Signed enclosed volume [m³], see [`enclosed_volume`].
    pub fn enclosed_volume(&self) -> f64 {
        enclosed_volume(&self.vertices, &self.triangles)
    }

    /// Centre of mass of the sheet [m], of uniform mass per area: `Σ A_t (x₀+x₁+x₂)/3 / Σ A_t`.
    /// A mesh without area answers the mean of its vertices, an empty one the origin.
    pub fn center_of_mass(&self) -> Vec3 {
        let weighted = self.triangles.iter().map(|t| {
            let x = t.map(|c| self.vertices[c as usize]);
            (triangle_area(x), (x[0] + x[1] + x[2]) / 3.0)
        });
        weighted_mean(weighted).unwrap_or_else(|| mean(&self.vertices))
    }
}

impl TetMesh {
    /// Total volume [m³]; inverted tets count negative.
    pub fn volume(&self) -> f64 {
        self.tets.iter().map(|t| tet_volume(t.map(|c| self.vertices[c as usize]))).sum()
    }

    /// Centre of mass [m], of uniform mass per volume: `Σ V_k (x₀+x₁+x₂+x₃)/4 / Σ V_k`.
    /// A mesh without volume answers the mean of its vertices, an empty one the origin.
    pub fn center_of_mass(&self) -> Vec3 {
        let weighted = self.tets.iter().map(|t| {
            let x = t.map(|c| self.vertices[c as usize]);
            (tet_volume(x), 0.25 * (x[0] + x[1] + x[2] + x[3]))
        });
        weighted_mean(weighted).unwrap_or_else(|| mean(&self.vertices))
    }
}

/// `Σ w x / Σ w`, or nothing when the weights do not add to a positive number.
fn weighted_mean(items: impl Iterator<Item = (f64, Vec3)>) -> Option<Vec3> {
    let (weight, sum) = items.fold((0.0, Vec3::ZERO), |(w, s), (wi, xi)| (w + wi, s + wi * xi));
    (weight > 0.0).then(|| sum / weight)
}

fn mean(points: &[Vec3]) -> Vec3 {
    points.iter().fold(Vec3::ZERO, |s, &p| s + p) / (points.len().max(1) as f64)
}

/// Area of a triangle [m²].
#[inline]
pub fn triangle_area(x: [Vec3; 3]) -> f64 {
    0.5 * (x[1] - x[0]).cross(x[2] - x[0]).length()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corner_tet() -> TetMesh {
        TetMesh { vertices: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z], tets: vec![[0, 1, 2, 3]] }
    }

    #[test]
    fn measures_of_the_corner_tet_match_the_closed_form() {
        let tet = corner_tet();
        let faces = boundary_triangles(&tet.tets);
        let surface = TriMesh { vertices: tet.vertices.clone(), triangles: faces };
        let eps = 1e-15; // a handful of rounding errors on numbers of order one
        assert!((tet.volume() - 1.0 / 6.0).abs() < eps);
        assert!((surface.enclosed_volume() - 1.0 / 6.0).abs() < eps);
        assert!((surface.area() - (1.5 + 0.75_f64.sqrt())).abs() < eps);
        assert!(tet.center_of_mass().distance(Vec3::splat(0.25)) < eps);
    }

    #[test]
    fn enclosed_volume_does_not_change_when_the_surface_moves() {
        let tet = corner_tet();
        let triangles = boundary_triangles(&tet.tets);
        let moved: Vec<Vec3> = tet.vertices.iter().map(|&p| p + Vec3::new(512.0, -64.0, 1024.0)).collect();
        // The shifts are powers of two, so differences of coordinates are exact and so is the volume.
        assert_eq!(enclosed_volume(&moved, &triangles), enclosed_volume(&tet.vertices, &triangles));
    }

    #[test]
    fn center_of_mass_of_two_equal_triangles_is_the_middle_of_the_square() {
        let vertices = vec![Vec3::ZERO, Vec3::X, Vec3::X + Vec3::Y, Vec3::Y];
        let square = TriMesh { vertices, triangles: vec![[0, 1, 2], [0, 2, 3]] };
        assert!(square.center_of_mass().distance(Vec3::new(0.5, 0.5, 0.0)) < 1e-15);
        assert_eq!(TriMesh::default().center_of_mass(), Vec3::ZERO);
    }

    #[test]
    fn open_edges_are_those_without_a_partner_that_runs_the_other_way() {
        let faces = boundary_triangles(&corner_tet().tets);
        assert_eq!(open_edges(&faces), 0);
        assert_eq!(open_edges(&faces[1..]), 3);
        // One face turned over: each of its edges runs twice the same way.
        let mut turned = faces.clone();
        turned[0].swap(1, 2);
        assert_eq!(open_edges(&turned), 6);
    }

    #[test]
    fn edge_lengths_follow_the_order_of_the_edges() {
        let points = [Vec3::ZERO, Vec3::X, 3.0 * Vec3::Y];
        assert_eq!(edge_lengths(&points, &[[0, 2], [0, 1]]), vec![3.0, 1.0]);
    }

    #[test]
    fn boundary_of_two_glued_tets_has_six_faces() {
        let tets = [[0, 1, 2, 3], [1, 2, 3, 4]];
        let faces = boundary_triangles(&tets);
        assert_eq!(faces.len(), 6);
        assert!(faces.iter().all(|f| f.contains(&0) || f.contains(&4)));
    }
}
