//! Meshes: triangles, tetrahedra, polylines; their edges, boundaries and measures.

use crate::math::Vec3;

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

/// Boundary faces of a tetrahedral mesh, outward oriented for positively oriented tets, in the order of the tets.
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

/// Area of a triangle [m²].
#[inline]
pub fn triangle_area(x: [Vec3; 3]) -> f64 {
    0.5 * (x[1] - x[0]).cross(x[2] - x[0]).length()
}
