//! The body-centred cubic lattice: corners and centres of cubes, and the edges between them.
//!
//! Node `2c` is the lower corner of cube `c`, node `2c + 1` its centre. Edges between equal kinds are one
//! spacing long ("long"), between a corner and a centre √3/2 spacings ("short"). Around each edge between two
//! centres stand four tets.

use crate::math::{Aabb, Vec3};

/// Lattice edge from its owner by slot: 0–2 long along +x, +y, +z; 3–10 short from a centre to the corners of
/// its cube.
pub(super) const SLOTS: u32 = 11;

/// A box of `dims` cubes with the given edge length.
pub(super) struct Lattice {
    pub spacing: f64,
    pub dims: [u32; 3],
    origin: Vec3,
}

impl Lattice {
    /// Cubes around `bounds` with one empty layer, centred, so that a box of whole spacings has its sides on
    /// corners.
    pub(super) fn around(bounds: Aabb, spacing: f64) -> Lattice {
        // A size that is whole but for rounding needs no further layer.
        let inner = (bounds.extent() / spacing - Vec3::splat(1e-9)).ceil().max(Vec3::ONE);
        let origin = bounds.center() - 0.5 * spacing * (inner + Vec3::splat(2.0));
        // The last layer of corners closes the last cubes.
        Lattice { spacing, dims: inner.to_array().map(|n| n as u32 + 3), origin }
    }

    /// Number of nodes of a lattice around `bounds`, as a float because it may be huge.
    pub(super) fn node_count(bounds: Aabb, spacing: f64) -> f64 {
        let inner = (bounds.extent() / spacing).ceil() + Vec3::splat(3.0);
        2.0 * inner.x * inner.y * inner.z
    }

    pub(super) fn nodes(&self) -> u32 {
        2 * self.dims[0] * self.dims[1] * self.dims[2]
    }

    pub(super) fn cube(&self, c: [u32; 3]) -> u32 {
        (c[2] * self.dims[1] + c[1]) * self.dims[0] + c[0]
    }

    /// Cube coordinates of a node.
    pub(super) fn coordinates(&self, node: u32) -> [u32; 3] {
        let c = node / 2;
        let (row, i) = (c / self.dims[0], c % self.dims[0]);
        [i, row % self.dims[1], row / self.dims[1]]
    }

    /// Position of a node [m].
    pub(super) fn position(&self, node: u32) -> Vec3 {
        let half = 0.5 * (node % 2) as f64;
        let c = self.coordinates(node).map(|c| c as f64 + half);
        self.origin + self.spacing * Vec3::from_array(c)
    }

    /// True when `a` and `b` are of one kind, so that an edge between them is long.
    pub(super) fn is_long(a: u32, b: u32) -> bool {
        a % 2 == b % 2
    }

    /// The other end of a node's own edge; nothing outside the lattice or for a short edge of a corner.
    pub(super) fn edge_end(&self, node: u32, slot: u32) -> Option<u32> {
        let mut c = self.coordinates(node);
        let kind = if slot < 3 {
            c[slot as usize] += 1;
            node % 2
        } else if node.is_multiple_of(2) {
            return None;
        } else {
            (0..3).for_each(|d| c[d] += (slot - 3) >> d & 1);
            0
        };
        (0..3).all(|d| c[d] < self.dims[d]).then(|| 2 * self.cube(c) + kind)
    }

    /// All 14 edges of a node as (owner, slot), in a fixed order.
    pub(super) fn edges_around(&self, node: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let c = self.coordinates(node);
        let step_back = move |slot: u32| {
            let mut b = c;
            let d = slot as usize;
            b[d] = b[d].checked_sub(1)?;
            Some((2 * self.cube(b) + node % 2, slot))
        };
        let from_centers = move |slot: u32| {
            let mut b = c;
            for (d, b) in b.iter_mut().enumerate() {
                *b = b.checked_sub((slot - 3) >> d & 1)?;
            }
            Some((2 * self.cube(b) + 1, slot))
        };
        let long = (0..3).flat_map(move |slot| [Some((node, slot)), step_back(slot)]);
        let short =
            (3..SLOTS).map(move |slot| if node % 2 == 1 { Some((node, slot)) } else { from_centers(slot) });
        long.chain(short).flatten()
    }

    /// The edge between two neighbours as (owner, slot).
    pub(super) fn edge_between(&self, a: u32, b: u32) -> (u32, u32) {
        // The owner of a long edge is its lower end, of a short edge the centre.
        let (owner, other) = if Self::is_long(a, b) {
            (a.min(b), a.max(b))
        } else if a % 2 == 1 {
            (a, b)
        } else {
            (b, a)
        };
        let (o, e) = (self.coordinates(owner), self.coordinates(other));
        if Self::is_long(a, b) {
            let axis = (0..3).find(|&d| e[d] != o[d]).unwrap_or(0);
            (owner, axis as u32)
        } else {
            (owner, 3 + (e[0] - o[0]) + 2 * (e[1] - o[1]) + 4 * (e[2] - o[2]))
        }
    }

    /// The twelve tets that stand around the edges from the centre of a cube to the next centres along +x,
    /// +y, +z; positively oriented, the long edges between corners 0 and 3, and 1 and 2. Fewer at the end of
    /// the lattice.
    pub(super) fn tets_of(&self, c: [u32; 3]) -> impl Iterator<Item = [u32; 4]> + '_ {
        (0..3).flat_map(move |axis| {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            let mut next = c;
            next[axis] += 1;
            // The corners of the shared side need cubes to stand for them.
            let complete = (0..3).all(|d| next[d] + 1 < self.dims[d]);
            let corner = move |du: u32, dv: u32| {
                let mut q = next;
                q[u] += du;
                q[v] += dv;
                2 * self.cube(q)
            };
            (0..if complete { 4 } else { 0 }).map(move |i| {
                let ring = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
                [2 * self.cube(c) + 1, ring[i], ring[(i + 1) % 4], 2 * self.cube(next) + 1]
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::tet_volume;

    fn small() -> Lattice {
        Lattice::around(Aabb { min: Vec3::ZERO, max: Vec3::new(0.2, 0.3, 0.1) }, 0.1)
    }

    #[test]
    fn a_box_of_whole_spacings_has_its_corner_on_a_lattice_corner() {
        let lattice = small();
        assert_eq!(lattice.dims, [5, 6, 4]);
        assert!(lattice.position(2 * lattice.cube([1, 1, 1])).length() < 1e-15);
    }

    #[test]
    fn the_edges_of_every_lattice_tet_are_found_again() {
        let lattice = small();
        let mut count = 0;
        for cube in 0..lattice.nodes() / 2 {
            for tet in lattice.tets_of(lattice.coordinates(2 * cube)) {
                count += 1;
                let volume = tet_volume(tet.map(|n| lattice.position(n)));
                assert!((volume * 12e3 - 1.0).abs() < 1e-9); // a twelfth of a cube
                for (i, j) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
                    let (a, b) = (tet[i], tet[j]);
                    assert_eq!(Lattice::is_long(a, b), (i, j) == (0, 3) || (i, j) == (1, 2));
                    let (owner, slot) = lattice.edge_between(a, b);
                    let end = lattice.edge_end(owner, slot).unwrap();
                    assert!((owner == a && end == b) || (owner == b && end == a));
                    for n in [a, b] {
                        assert!(lattice.edges_around(n).any(|e| e == (owner, slot)));
                    }
                }
            }
        }
        // Pairs of centres along x, y, z in a block of 4 × 5 × 3 cubes, four tets each.
        assert_eq!(count, 4 * (3 * 5 * 3 + 4 * 4 * 3 + 4 * 5 * 2));
    }
}
