//! Who touches whom: elements around a point, connected parts, hinges across edges.
//!
//! Everything is found by sorting, so the answers do not depend on hash order.

/// Rows of indices of varying length, one after the other: row `i` is `items[offsets[i]..offsets[i+1]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Csr {
    /// Where each row starts; one more entry than there are rows.
    pub offsets: Vec<u32>,
    /// The rows' contents.
    pub items: Vec<u32>,
}

impl Csr {
    /// Sorts `(row, item)` pairs into `rows` rows; within a row the items keep the order of the pairs.
    /// The pairs are read twice. Rows must be below `rows`.
    pub fn from_pairs<I>(rows: usize, pairs: I) -> Csr
    where
        I: Iterator<Item = (u32, u32)> + Clone,
    {
        let mut offsets = vec![0u32; rows + 1];
        for (row, _) in pairs.clone() {
            offsets[row as usize + 1] += 1;
        }
        for row in 0..rows {
            offsets[row + 1] += offsets[row];
        }
        let mut next = offsets.clone();
        let mut items = vec![0u32; offsets[rows] as usize];
        for (row, item) in pairs {
            let slot = &mut next[row as usize];
            items[*slot as usize] = item;
            *slot += 1;
        }
        Csr { offsets, items }
    }

    /// The items of row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> &[u32] {
        &self.items[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }

    /// Number of rows.
    #[inline]
    pub fn rows(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }
}

/// Elements around each point: row `v` lists, ascending, the elements that have `v` as a corner.
fn elements_around<const N: usize>(points: usize, elements: &[[u32; N]]) -> Csr {
    let pairs = elements.iter().enumerate().flat_map(|(k, e)| e.iter().map(move |&c| (c, k as u32)));
    Csr::from_pairs(points, pairs)
}

/// Triangles around each of the `points` vertices, ascending.
pub fn vertex_triangles(points: usize, triangles: &[[u32; 3]]) -> Csr {
    elements_around(points, triangles)
}

/// Tets around each of the `points` vertices, ascending.
pub fn vertex_tets(points: usize, tets: &[[u32; 4]]) -> Csr {
    elements_around(points, tets)
}

/// For each point the smallest index of the points it is joined to by triangles and tets; a lone point
/// answers itself.
pub fn connected_components(points: usize, triangles: &[[u32; 3]], tets: &[[u32; 4]]) -> Vec<u32> {
    let mut parent: Vec<u32> = (0..points as u32).collect();
    for t in triangles {
        join(&mut parent, t[0], t[1]);
        join(&mut parent, t[0], t[2]);
    }
    for t in tets {
        for &corner in &t[1..] {
            join(&mut parent, t[0], corner);
        }
    }
    (0..points as u32).map(|v| root(&mut parent, v)).collect()
}

/// The representative of `v`, halving the path on the way.
fn root(parent: &mut [u32], mut v: u32) -> u32 {
    while parent[v as usize] != v {
        parent[v as usize] = parent[parent[v as usize] as usize];
        v = parent[v as usize];
    }
    v
}

/// Merges the sets of `a` and `b`; the smaller index represents both.
fn join(parent: &mut [u32], a: u32, b: u32) {
    let (a, b) = (root(parent, a), root(parent, b));
    parent[a.max(b) as usize] = a.min(b);
}

/// Hinges `[x0, x1, x2, x3]`: the edge `x0 x1`, the opposite corner `x2` of the first triangle and `x3` of
/// the second.
///
/// ```text
///        x1
///      /  |  \        n1 = (x0−x2)×(x1−x2)
///    x2   |   x3      n2 = (x1−x3)×(x0−x3)      θ = angle from n1 to n2 about x1−x0; 0 when flat
///      \  |  /
///        x0
/// ```
///
/// The first triangle runs along its edge from `x0` to `x1`, so `n1` is its own normal; the second's
/// orientation does not enter, and a flat pair has θ = 0 even where neighbours are oriented inconsistently.
/// An edge of more than two triangles gives a hinge for each consecutive pair of them by index. Triangles
/// with repeated corners, and pairs that lie on the same three points, have no angle and give none. Sorted by
/// edge, then by triangle.
pub fn hinges(triangles: &[[u32; 3]]) -> Vec<[u32; 4]> {
    let mut sides: Vec<([u32; 2], u32, [u32; 3])> = Vec::with_capacity(3 * triangles.len());
    for (t, &[a, b, c]) in triangles.iter().enumerate() {
        if a == b || b == c || c == a {
            continue;
        }
        for [p, q, opposite] in [[a, b, c], [b, c, a], [c, a, b]] {
            sides.push(([p.min(q), p.max(q)], t as u32, [p, q, opposite]));
        }
    }
    sides.sort_unstable();
    sides
        .windows(2)
        .filter(|w| w[0].0 == w[1].0 && w[0].2[2] != w[1].2[2])
        .map(|w| [w[0].2[0], w[0].2[1], w[0].2[2], w[1].2[2]])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Vec3;
    use crate::shapes;

    /// The bending angle of a hinge, from the formula in the documentation of `hinges`.
    fn angle(points: &[Vec3], hinge: [u32; 4]) -> f64 {
        let [x0, x1, x2, x3] = hinge.map(|v| points[v as usize]);
        let (n1, n2) = ((x0 - x2).cross(x1 - x2), (x1 - x3).cross(x0 - x3));
        let edge = (x1 - x0).normalize();
        n1.cross(n2).dot(edge).atan2(n1.dot(n2))
    }

    #[test]
    fn rows_list_the_triangles_of_each_vertex_in_ascending_order() {
        let rows = vertex_triangles(5, &[[0, 1, 2], [2, 1, 3]]);
        assert_eq!(rows.rows(), 5);
        assert_eq!(rows.row(1), [0, 1]);
        assert_eq!(rows.row(3), [1]);
        assert!(rows.row(4).is_empty());
    }

    #[test]
    fn parts_are_named_by_their_smallest_point() {
        let labels = connected_components(9, &[[7, 2, 5]], &[[3, 4, 1, 8]]);
        assert_eq!(labels, [0, 1, 2, 1, 1, 2, 6, 2, 1]);
    }

    #[test]
    fn a_long_chain_is_one_part() {
        let n = 20_000;
        let chain: Vec<[u32; 3]> = (0..n - 2).rev().map(|i| [i, i + 1, i + 2]).collect();
        assert!(connected_components(n as usize, &chain, &[]).iter().all(|&label| label == 0));
    }

    #[test]
    fn a_flat_grid_has_one_flat_hinge_per_inner_edge() {
        let grid = shapes::grid([1.0, 0.7], [5, 4]);
        let found = hinges(&grid.triangles);
        let edges = crate::mesh::unique_edges(&grid.triangles).len();
        assert_eq!(found.len(), edges - 2 * (5 + 4)); // every edge but the rim
        assert!(found.iter().all(|&h| angle(&grid.vertices, h).abs() < 1e-12));
    }

    #[test]
    fn inconsistent_orientation_keeps_flat_hinges_flat() {
        let points = [Vec3::ZERO, Vec3::Y, -Vec3::X, Vec3::X];
        for second in [[1, 0, 3], [0, 1, 3]] {
            let found = hinges(&[[0, 1, 2], second]);
            assert_eq!(found, [[0, 1, 2, 3]]);
            assert_eq!(angle(&points, found[0]), 0.0);
        }
    }

    #[test]
    fn hinges_of_a_convex_surface_bend_alike() {
        let ball = shapes::sphere(1.0, 2);
        let angles: Vec<f64> = hinges(&ball.triangles).iter().map(|&h| angle(&ball.vertices, h)).collect();
        assert_eq!(angles.len(), 3 * ball.triangles.len() / 2);
        assert!(angles.iter().all(|&a| a.signum() == angles[0].signum() && (0.05..0.5).contains(&a.abs())));
    }

    #[test]
    fn three_sheets_at_one_edge_give_two_consecutive_hinges() {
        let found = hinges(&[[0, 1, 2], [1, 0, 3], [0, 1, 4]]);
        assert_eq!(found, [[0, 1, 2, 3], [1, 0, 3, 4]]);
    }

    #[test]
    fn degenerate_and_doubled_triangles_give_no_hinge() {
        assert!(hinges(&[[0, 1, 2], [2, 1, 0], [0, 0, 1]]).is_empty());
    }
}
