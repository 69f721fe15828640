//! Ties points to the tets they lie in, so that a fine display mesh follows a coarse simulated one.

use crate::box_tree::BoxTree;
use crate::distance::closest_point_triangle;
use crate::math::{Aabb, Vec3};
use crate::mesh::{TetMesh, tet_volume};
use rayon::prelude::*;

/// For each point the corners of its tet and barycentric weights `w`, `Σ w = 1`, with `point = Σ w_i x_i`.
///
/// The tet is the one that contains the point, or outside the mesh the nearest one (some weights are then
/// negative: the point moves with the tet's affine motion). Among equals the first. Tets without volume are
/// passed over; without any tet the answer is corner 0 with weight 1 everywhere.
pub fn embed(points: &[Vec3], tets: &TetMesh) -> Vec<([u32; 4], [f64; 4])> {
    let corners = |k: u32| tets.tets[k as usize].map(|v| tets.vertices[v as usize]);
    let solid: Vec<u32> =
        (0..tets.tets.len() as u32).filter(|&k| tet_volume(corners(k)).abs() > 0.0).collect();
    let boxes: Vec<Aabb> = solid.iter().map(|&k| Aabb::of(corners(k))).collect();
    let tree = BoxTree::new(&boxes);
    let embed_one = |&p: &Vec3| {
        let distance_sq = |i: u32| tet_distance_sq(corners(solid[i as usize]), p);
        match tree.nearest(p, distance_sq) {
            Some((i, _)) => {
                (tets.tets[solid[i as usize] as usize], barycentric(corners(solid[i as usize]), p))
            }
            None => ([0; 4], [1.0, 0.0, 0.0, 0.0]),
        }
    };
    points.par_iter().map(embed_one).collect()
}

/// Weights of the corners: `w_i` is the signed volume of the tet with `p` in place of corner i, over the
/// whole volume.
fn barycentric(x: [Vec3; 4], p: Vec3) -> [f64; 4] {
    let volume = tet_volume(x);
    let mut w = [0.0; 4];
    for i in 1..4 {
        let mut y = x;
        y[i] = p;
        w[i] = tet_volume(y) / volume;
    }
    w[0] = 1.0 - w[1] - w[2] - w[3];
    w
}

/// Squared distance [m²] of a point to a tet, zero inside.
fn tet_distance_sq(x: [Vec3; 4], p: Vec3) -> f64 {
    if barycentric(x, p).iter().all(|&w| w >= 0.0) {
        return 0.0;
    }
    let faces = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];
    let to_face = |f: [usize; 3]| closest_point_triangle(p, f.map(|i| x[i])).distance_sq;
    faces.into_iter().map(to_face).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes;

    #[test]
    fn embedded_points_are_found_again_and_follow_an_affine_motion() {
        let block = shapes::tet_cuboid([1.0, 1.0, 1.0], [4, 4, 4]);
        let ball = shapes::sphere(0.62, 3); // partly outside the block
        let embedded = embed(&ball.vertices, &block);
        let affine = |p: Vec3| Vec3::new(1.5 * p.x + 0.2 * p.y, p.y - 0.3 * p.z, 0.8 * p.z) + Vec3::X;
        for (p, (corners, w)) in ball.vertices.iter().zip(&embedded) {
            let blend = |f: &dyn Fn(Vec3) -> Vec3| {
                (0..4).fold(Vec3::ZERO, |s, i| s + w[i] * f(block.vertices[corners[i] as usize]))
            };
            assert!(blend(&|x| x).distance(*p) < 1e-13);
            assert!(blend(&affine).distance(affine(*p)) < 1e-13);
            if p.abs().max_element() < 0.5 {
                assert!(w.iter().all(|&w| w > -1e-12), "{p} lies inside but has weights {w:?}");
            }
        }
    }

    #[test]
    fn without_tets_points_hang_on_corner_zero() {
        assert_eq!(embed(&[Vec3::X], &TetMesh::default()), [([0; 4], [1.0, 0.0, 0.0, 0.0])]);
    }
}
