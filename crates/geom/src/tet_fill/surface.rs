//! A triangle surface that answers: how far, and inside or not.
//!
//! Inside is where the generalised winding number [Jacobson 2013] exceeds one half; distant triangles are
//! summed as dipoles over the nodes of a tree [Barill 2018].

use super::tree::BoxTree;
use crate::distance::closest_point_triangle;
use crate::math::{Aabb, Vec3};
use crate::mesh::{TriMesh, enclosed_volume, triangle_area};
use std::f64::consts::PI;

/// A node counts as distant from this many of its radii. The dipole's relative error falls as its square: at
/// 2.5 the winding number of closed meshes is right to a few hundredths, far from the threshold of one half.
const FAR: f64 = 2.5;

/// Triangles of a node as one dipole.
struct Dipole {
    /// Area-weighted centre [m].
    center: Vec3,
    /// Largest distance from the centre to the node's box [m].
    radius: f64,
    /// Sum of area times normal [m²].
    area_normal: Vec3,
}

/// The surface with its tree.
pub(super) struct Surface<'a> {
    mesh: &'a TriMesh,
    tree: BoxTree,
    dipoles: Vec<Dipole>,
    /// −1 when the surface is inside out, else 1.
    orientation: f64,
}

impl<'a> Surface<'a> {
    /// Indices must be valid and positions finite.
    pub(super) fn new(mesh: &'a TriMesh) -> Self {
        let corners = |t: u32| mesh.triangles[t as usize].map(|v| mesh.vertices[v as usize]);
        let boxes: Vec<Aabb> = (0..mesh.triangles.len() as u32).map(|t| Aabb::of(corners(t))).collect();
        let tree = BoxTree::new(&boxes);
        let dipoles = tree.nodes.iter().map(|node| {
            let (mut area, mut moment, mut area_normal) = (0.0, Vec3::ZERO, Vec3::ZERO);
            for &t in &tree.items[node.first as usize..(node.first + node.count) as usize] {
                let [a, b, c] = corners(t);
                let weight = triangle_area([a, b, c]);
                area += weight;
                moment += weight * (a + b + c) / 3.0;
                area_normal += 0.5 * (b - a).cross(c - a);
            }
            let center = if area > 0.0 { moment / area } else { node.bounds.center() };
            let radius = (node.bounds.max - center).max(center - node.bounds.min).length();
            Dipole { center, radius, area_normal }
        });
        let dipoles = dipoles.collect();
        let inside_out = enclosed_volume(&mesh.vertices, &mesh.triangles) < 0.0;
        Surface { mesh, tree, dipoles, orientation: if inside_out { -1.0 } else { 1.0 } }
    }

    fn corners(&self, t: u32) -> [Vec3; 3] {
        self.mesh.triangles[t as usize].map(|v| self.mesh.vertices[v as usize])
    }

    /// Box around the surface.
    pub(super) fn bounds(&self) -> Aabb {
        self.tree.nodes.first().map_or(Aabb::EMPTY, |n| n.bounds)
    }

    /// Generalised winding number [–]: 1 inside a closed surface, 0 outside, in between near holes.
    pub(super) fn winding_number(&self, p: Vec3) -> f64 {
        let mut solid_angle = 0.0;
        let mut stack = vec![0u32];
        while let Some(n) = stack.pop() {
            let (Some(node), dipole) = (self.tree.nodes.get(n as usize), &self.dipoles[n as usize]) else {
                break;
            };
            let r = dipole.center - p;
            let r_sq = r.length_squared();
            if r_sq > FAR * FAR * dipole.radius * dipole.radius {
                solid_angle += dipole.area_normal.dot(r) / (r_sq * r_sq.sqrt());
            } else if node.right == 0 {
                let items = &self.tree.items[node.first as usize..(node.first + node.count) as usize];
                solid_angle += items.iter().map(|&t| triangle_solid_angle(self.corners(t), p)).sum::<f64>();
            } else {
                stack.extend([node.right, n + 1]);
            }
        }
        self.orientation * solid_angle / (4.0 * PI)
    }

    /// True where the winding number exceeds one half.
    pub(super) fn is_inside(&self, p: Vec3) -> bool {
        self.winding_number(p) > 0.5
    }

    /// The nearest point of the surface.
    pub(super) fn closest_point(&self, p: Vec3) -> Vec3 {
        let distance_sq = |t: u32| closest_point_triangle(p, self.corners(t)).distance_sq;
        self.tree.nearest(p, distance_sq).map_or(p, |(t, _)| closest_point_triangle(p, self.corners(t)).point)
    }

    /// Distance to the surface [m], ≥ 0.
    pub(super) fn distance(&self, p: Vec3) -> f64 {
        self.closest_point(p).distance(p)
    }

    /// Distance to the surface [m], positive inside.
    pub(super) fn depth(&self, p: Vec3) -> f64 {
        if self.is_inside(p) { self.distance(p) } else { -self.distance(p) }
    }
}

/// Signed solid angle of a triangle seen from `p`, positive from behind its normal:
/// `tan(Ω/2) = a·(b×c) / (abc + (a·b)c + (b·c)a + (c·a)b)` [Van Oosterom 1983].
fn triangle_solid_angle(x: [Vec3; 3], p: Vec3) -> f64 {
    let [a, b, c] = x.map(|x| x - p);
    let (la, lb, lc) = (a.length(), b.length(), c.length());
    let numerator = a.dot(b.cross(c));
    let denominator = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
    2.0 * numerator.atan2(denominator)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::shapes;

    const SEED: u64 = 7;

    fn points(n: u32) -> impl Iterator<Item = Vec3> {
        let mut random = Random::new(SEED);
        (0..n).map(move |_| random.in_cube(1.0))
    }

    #[test]
    fn the_tree_finds_the_same_nearest_point_as_a_scan() {
        let mesh = shapes::torus(0.6, 0.25, 24, 12);
        let surface = Surface::new(&mesh);
        for p in points(500) {
            let scan = (0..mesh.triangles.len() as u32)
                .map(|t| closest_point_triangle(p, surface.corners(t)).point.distance(p))
                .fold(f64::INFINITY, f64::min);
            assert_eq!(surface.distance(p), scan);
        }
    }

    #[test]
    fn the_winding_number_agrees_with_the_full_sum_and_the_closed_form() {
        let mesh = shapes::torus(0.6, 0.25, 48, 24);
        let surface = Surface::new(&mesh);
        for p in points(500) {
            let full: f64 = (0..mesh.triangles.len() as u32)
                .map(|t| triangle_solid_angle(surface.corners(t), p))
                .sum::<f64>()
                / (4.0 * PI);
            assert!((surface.winding_number(p) - full).abs() < 0.1);
            let from_tube = ((p.x.hypot(p.y) - 0.6).powi(2) + p.z * p.z).sqrt() - 0.25;
            // The polygonal torus lies within 1 − cos(π/24) of its tube's radius and 1 − cos(π/48) of the
            // circle's.
            if from_tube.abs() > 0.006 {
                assert_eq!(surface.is_inside(p), from_tube < 0.0, "{p}");
            }
        }
    }

    #[test]
    fn an_inside_out_surface_has_the_same_inside() {
        let mut mesh = shapes::cuboid([1.0; 3], [2; 3]);
        mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        let surface = Surface::new(&mesh);
        assert!(surface.is_inside(Vec3::splat(0.3)) && !surface.is_inside(Vec3::splat(0.6)));
    }
}
