//! Tet meshes of simple bodies: the block directly, round bodies by filling their surface.

use super::closed;
use crate::math::Vec3;
use crate::mesh::TetMesh;
use crate::tet_fill::{FillError, tet_fill};
use std::f64::consts::TAU;

/// A box of `size` [m] in `cells` blocks, each with a vertex at its centre: a body-centred cubic lattice.
///
/// Around the axis between two neighbouring centres stand four tets, on an outer side two with alternating
/// diagonals; in cubic cells all inner tets are congruent with dihedral angles of 60° and 90°. Chosen over
/// five tets a block because every inner vertex has the same 14 edges: stiffness and mass then do not
/// alternate from vertex to vertex. Vertices: the lattice corners, x fastest, then the centres, x fastest.
/// All tets are positively oriented.
pub fn tet_cuboid(size: [f64; 3], cells: [u32; 3]) -> TetMesh {
    let [nx, ny, nz] = cells.map(|c| c.max(1));
    let n = [nx, ny, nz];
    let place = |c: [f64; 3]| Vec3::from_array([0, 1, 2].map(|d| size[d] * (c[d] / n[d] as f64 - 0.5)));
    let corner = |c: [u32; 3]| (c[2] * (ny + 1) + c[1]) * (nx + 1) + c[0];
    let centers_from = (nx + 1) * (ny + 1) * (nz + 1);
    let center = |c: [u32; 3]| centers_from + (c[2] * ny + c[1]) * nx + c[0];
    let mut mesh = TetMesh::default();
    for (count, shift) in [([nx + 1, ny + 1, nz + 1], 0.0), (n, 0.5)] {
        for [i, j, k] in lattice(count) {
            mesh.vertices.push(place([i as f64 + shift, j as f64 + shift, k as f64 + shift]));
        }
    }
    for axis in 0..3 {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let mut levels = n;
        levels[axis] += 1;
        // Every side of every block, once: between two centres, or between a centre and the outside.
        for side in lattice(levels) {
            let at = |du: u32, dv: u32| {
                let mut c = side;
                c[u] += du;
                c[v] += dv;
                corner(c)
            };
            // Counter-clockwise seen from +axis.
            let ring = [at(0, 0), at(1, 0), at(1, 1), at(0, 1)];
            let above = (side[axis] < n[axis]).then(|| center(side));
            let below = (side[axis] > 0).then(|| {
                let mut c = side;
                c[axis] -= 1;
                center(c)
            });
            let odd = (side[0] + side[1] + side[2]) as usize % 2;
            match (below, above) {
                (Some(b), Some(a)) => mesh.tets.extend((0..4).map(|i| [b, ring[i], ring[(i + 1) % 4], a])),
                (Some(b), None) => mesh.tets.extend(half_pyramids(ring, odd).map(|[p, q, r]| [b, p, q, r])),
                (None, Some(a)) => mesh.tets.extend(half_pyramids(ring, odd).map(|[p, q, r]| [a, p, r, q])),
                (None, None) => {}
            }
        }
    }
    mesh
}

/// The two triangles of a side, its diagonal starting at the ring's corner 0 or 1.
fn half_pyramids(ring: [u32; 4], odd: usize) -> [[u32; 3]; 2] {
    let at = |i: usize| ring[(i + odd) % 4];
    [[at(0), at(1), at(2)], [at(0), at(2), at(3)]]
}

/// All `[i, j, k]` below `count`, `i` fastest.
fn lattice(count: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    let [nx, ny, nz] = count;
    (0..nz).flat_map(move |k| (0..ny).flat_map(move |j| (0..nx).map(move |i| [i, j, k])))
}

/// Segments around a circle so that they are not longer than half the tets' edges, within 12 … 2048.
fn segments(radius: f64, spacing: f64) -> u32 {
    (2.0 * TAU * radius / spacing).clamp(12.0, 2048.0).ceil() as u32
}

/// A ball of `radius` [m], filled with tets of edge length about `spacing` [m].
pub fn tet_sphere(radius: f64, spacing: f64) -> Result<TetMesh, FillError> {
    // An icosahedron's edge is about 1.05 radius and halves with each subdivision.
    let subdivisions = (2.0 * radius / spacing).log2().ceil().clamp(2.0, 6.0) as u32;
    tet_fill(&closed::sphere(radius, subdivisions), spacing)
}

/// A cylinder about z, filled with tets of edge length about `spacing` [m].
pub fn tet_cylinder(radius: f64, height: f64, spacing: f64) -> Result<TetMesh, FillError> {
    tet_fill(&closed::cylinder(radius, height, segments(radius, spacing), 1), spacing)
}

/// A torus about z, filled with tets of edge length about `spacing` [m].
pub fn tet_torus(major: f64, minor: f64, spacing: f64) -> Result<TetMesh, FillError> {
    let (around, across) = (segments(major + minor, spacing), segments(minor, spacing));
    tet_fill(&closed::torus(major, minor, around, across), spacing)
}
