//! A closed triangle surface that answers: inside or not, and how far.
//!
//! Inside is where the generalised winding number [Jacobson 2013] exceeds one half, so small holes, self-crossings
//! and doubled triangles do no harm; distant triangles are summed as dipoles over the nodes of a tree
//! [Barill 2018]. Which side is meant does not depend on the orientation of the surface as a whole, only on its
//! being consistent.

use crate::box_tree::{BoxTree, MAX_DEPTH};
use crate::distance::closest_point_triangle;
use crate::math::{Aabb, Vec3};
use crate::mesh::{enclosed_volume, triangle_area};
use rayon::prelude::*;
use std::f64::consts::PI;

/// A node counts as distant from this many of its radii. The dipole's relative error falls as its square: at
/// 2.5 the winding number of closed meshes is right to a few hundredths, far from the threshold of one half.
const FAR: f64 = 2.5;

/// The same where the first answer lies within [`UNSURE`] of the threshold: near holes. The error is 16 times smaller,
/// the cost some 16 times greater.
const FAR_CAREFUL: f64 = 10.0;

/// More than the error of a winding number with [`FAR`], and so little that closed meshes are never asked twice.
const UNSURE: f64 = 0.15;

/// Triangles of a node as one dipole.
#[derive(Clone, Debug)]
struct Dipole {
    /// Area-weighted centre [m].
    center: Vec3,
    /// Largest distance from the centre to the node's box [m].
    radius: f64,
    /// Sum of area times normal [m²].
    area_normal: Vec3,
}

/// A closed surface, or nearly closed, with its tree. It does not follow the mesh that it was made of.
#[derive(Clone, Debug)]
pub struct Solid {
    corners: Vec<[Vec3; 3]>,
    tree: BoxTree,
    dipoles: Vec<Dipole>,
    /// −1 when the surface is inside out, else 1.
    orientation: f64,
    volume: f64,
}

impl Solid {
    /// The solid inside a surface with vertices `x` [m]. Triangles with a coordinate that is not finite are left out.
    ///
    /// # Panics
    /// When a triangle refers to a vertex that does not exist.
    pub fn new(x: &[Vec3], triangles: &[[u32; 3]]) -> Solid {
        let is_finite = |t: &&[u32; 3]| t.iter().all(|&v| x[v as usize].is_finite());
        let triangles: Vec<[u32; 3]> = triangles.iter().filter(is_finite).copied().collect();
        let corners: Vec<[Vec3; 3]> = triangles.iter().map(|t| t.map(|v| x[v as usize])).collect();
        let boxes: Vec<Aabb> = corners.iter().map(|&c| Aabb::of(c)).collect();
        let tree = BoxTree::new(&boxes);
        let dipoles = tree.nodes.iter().map(|node| {
            let (mut area, mut moment, mut area_normal) = (0.0, Vec3::ZERO, Vec3::ZERO);
            for &t in tree.items_of(node) {
                let [a, b, c] = corners[t as usize];
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
        let volume = enclosed_volume(x, &triangles);
        let orientation = if volume < 0.0 { -1.0 } else { 1.0 };
        Solid { corners, tree, dipoles, orientation, volume: volume.abs() }
    }

    /// Box around the surface; empty without a triangle.
    pub fn bounds(&self) -> Aabb {
        self.tree.nodes.first().map_or(Aabb::EMPTY, |n| n.bounds)
    }

    /// Volume inside [m³], ≥ 0; of a surface with holes an estimate.
    pub fn volume(&self) -> f64 {
        self.volume
    }

    /// Generalised winding number [–]: 1 inside a closed surface, 0 outside, in between near holes; to within 0.1.
    pub fn winding_number(&self, p: Vec3) -> f64 {
        self.winding_number_from(p, FAR)
    }

    /// The winding number with nodes summed as dipoles from `far` of their radii on.
    fn winding_number_from(&self, p: Vec3, far: f64) -> f64 {
        let mut solid_angle = 0.0;
        // Of each level at most one node waits, and one of the next is pushed with it.
        let mut stack = [0u32; MAX_DEPTH + 1];
        let mut waiting = usize::from(!self.tree.nodes.is_empty());
        while waiting > 0 {
            waiting -= 1;
            let n = stack[waiting];
            let (node, dipole) = (&self.tree.nodes[n as usize], &self.dipoles[n as usize]);
            let r = dipole.center - p;
            let r_sq = r.length_squared();
            if r_sq > far * far * dipole.radius * dipole.radius {
                solid_angle += dipole.area_normal.dot(r) / (r_sq * r_sq.sqrt());
            } else if node.right == 0 {
                let angles = self.tree.items_of(node).iter();
                solid_angle +=
                    angles.map(|&t| triangle_solid_angle(self.corners[t as usize], p)).sum::<f64>();
            } else {
                stack[waiting] = node.right;
                stack[waiting + 1] = n + 1;
                waiting += 2;
            }
        }
        self.orientation * solid_angle / (4.0 * PI)
    }

    /// True where the winding number exceeds one half; false outside the box of the surface.
    pub fn contains(&self, p: Vec3) -> bool {
        let bounds = self.bounds();
        if !(p.cmpge(bounds.min).all() && p.cmple(bounds.max).all()) {
            return false;
        }
        let w = self.winding_number(p);
        if (w - 0.5).abs() < UNSURE { self.winding_number_from(p, FAR_CAREFUL) > 0.5 } else { w > 0.5 }
    }

    /// [`Solid::contains`] of many points, in parallel.
    pub fn contains_each(&self, points: &[Vec3]) -> Vec<bool> {
        points.par_iter().with_min_len(64).map(|&p| self.contains(p)).collect()
    }

    /// The nearest point of the surface; `p` itself without a triangle.
    pub fn closest_point(&self, p: Vec3) -> Vec3 {
        let closest = |t: u32| closest_point_triangle(p, self.corners[t as usize]);
        self.tree.nearest(p, |t| closest(t).distance_sq).map_or(p, |(t, _)| closest(t).point)
    }

    /// Distance to the surface [m], ≥ 0.
    pub fn distance(&self, p: Vec3) -> f64 {
        self.closest_point(p).distance(p)
    }

    /// Distance to the surface [m], positive inside.
    pub fn depth(&self, p: Vec3) -> f64 {
        if self.contains(p) { self.distance(p) } else { -self.distance(p) }
    }
}

/// Signed solid angle of a triangle seen from `p`, positive from behind its normal:
/// `tan(Ω/2) = a·(b×c) / (abc + (a·b)c + (b·c)a + (c·a)b)` [Van Oosterom 1983].
#[inline]
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
    use crate::mesh::TriMesh;
    use crate::random::Random;
    use crate::shapes;

    fn solid(mesh: &TriMesh) -> Solid {
        Solid::new(&mesh.vertices, &mesh.triangles)
    }

    fn points(n: u32, seed: u64) -> Vec<Vec3> {
        let mut random = Random::new(seed);
        (0..n).map(|_| random.in_cube(1.0)).collect()
    }

    fn full_sum(solid: &Solid, p: Vec3) -> f64 {
        solid.corners.iter().map(|&c| triangle_solid_angle(c, p)).sum::<f64>() / (4.0 * PI)
    }

    fn orient(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> f64 {
        let [a, b, c, d] = [a, b, c, d].map(|p| robust::Coord3D { x: p.x, y: p.y, z: p.z });
        robust::orient3d(a, b, c, d)
    }

    /// Inside by the parity of crossings of a segment that leaves the mesh, decided exactly; a segment that touches
    /// an edge or a corner is replaced by another.
    fn parity(mesh: &TriMesh, p: Vec3, random: &mut Random) -> bool {
        'another: loop {
            let q = p + 100.0 * random.direction();
            let mut crossings = 0;
            for t in &mesh.triangles {
                let [a, b, c] = t.map(|v| mesh.vertices[v as usize]);
                let sides = [orient(a, b, c, p), orient(a, b, c, q)];
                let turns = [orient(p, q, a, b), orient(p, q, b, c), orient(p, q, c, a)];
                if sides.contains(&0.0) || turns.contains(&0.0) {
                    continue 'another;
                }
                let pierced = turns.iter().all(|&s| s > 0.0) || turns.iter().all(|&s| s < 0.0);
                crossings += u32::from(sides[0] * sides[1] < 0.0 && pierced);
            }
            return crossings % 2 == 1;
        }
    }

    /// Points anywhere, and points at all small distances from the surface.
    fn hard_points(mesh: &TriMesh, n: u32, seed: u64) -> Vec<Vec3> {
        let mut random = Random::new(seed);
        let mut out = points(n, seed);
        for _ in 0..n {
            let t = mesh.triangles[random.below(mesh.triangles.len())];
            let [a, b, c] = t.map(|v| mesh.vertices[v as usize]);
            let (u, v) = (random.unit(), random.unit());
            let on = if random.chance(0.2) { a } else { a + (b - a) * u * (1.0 - v) + (c - a) * u * v };
            out.push(on + random.log_between(1e-9, 0.1) * random.direction());
        }
        out
    }

    #[test]
    fn inside_is_what_exact_ray_parity_says() {
        let meshes = [
            shapes::torus(0.6, 0.25, 24, 12),
            shapes::gear(0.9, 0.6, 8, 0.3, 2),
            shapes::cuboid([1.1, 0.7, 0.02], [5, 3, 1]),
            shapes::bowl(0.9, 0.05, 24),
        ];
        for (seed, mesh) in meshes.iter().enumerate() {
            let surface = solid(mesh);
            let points = hard_points(mesh, 400, seed as u64);
            let mut random = Random::new(99);
            let inside = surface.contains_each(&points);
            for (p, &found) in points.iter().zip(&inside) {
                let expected = parity(mesh, *p, &mut random);
                assert_eq!(found, expected, "mesh {seed}, {p}, {} from the surface", surface.distance(*p));
            }
            assert!(inside.iter().filter(|i| **i).count() > 80);
        }
    }

    #[test]
    fn the_tree_finds_the_same_nearest_point_as_a_scan() {
        let mesh = shapes::torus(0.6, 0.25, 24, 12);
        let surface = solid(&mesh);
        for p in points(500, 7) {
            let scan = (surface.corners.iter())
                .map(|&c| closest_point_triangle(p, c).point.distance(p))
                .fold(f64::INFINITY, f64::min);
            assert_eq!(surface.distance(p), scan);
        }
    }

    #[test]
    fn the_winding_number_agrees_with_the_full_sum_and_the_closed_form() {
        let mesh = shapes::torus(0.6, 0.25, 48, 24);
        let surface = solid(&mesh);
        for p in points(500, 7) {
            assert!((surface.winding_number(p) - full_sum(&surface, p)).abs() < 0.1);
            let from_tube = ((p.x.hypot(p.y) - 0.6).powi(2) + p.z * p.z).sqrt() - 0.25;
            // The polygonal torus lies within 1 − cos(π/24) of its tube's radius and 1 − cos(π/48) of the
            // circle's.
            if from_tube.abs() > 0.006 {
                assert_eq!(surface.contains(p), from_tube < 0.0, "{p}");
            }
        }
    }

    #[test]
    fn an_inside_out_surface_has_the_same_inside() {
        let mut mesh = shapes::cuboid([1.0; 3], [2; 3]);
        mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        let surface = solid(&mesh);
        assert!(surface.contains(Vec3::splat(0.3)) && !surface.contains(Vec3::splat(0.6)));
        assert!((surface.volume() - 1.0).abs() < 1e-14, "sums of a few hundred terms of order 0.01");
    }

    #[test]
    fn holes_and_doubled_patches_leave_the_inside_where_it_was() {
        let whole = shapes::sphere(0.8, 3);
        let mut torn = whole.clone();
        // Every 40th triangle is missing, every 31st is there twice.
        torn.triangles = (whole.triangles.iter().enumerate())
            .flat_map(|(k, &t)| vec![t; if k % 40 == 7 { 0 } else { 1 + usize::from(k % 31 == 3) }])
            .collect();
        let surface = solid(&torn);
        for p in points(2000, 8) {
            // A hole is some 0.09 wide; its influence ends at about that distance.
            if (p.length() - 0.8).abs() > 0.1 {
                assert_eq!(surface.contains(p), p.length() < 0.8, "{p}");
            }
        }
    }

    #[test]
    fn near_an_opening_the_answer_is_that_of_the_full_sum() {
        let mesh = shapes::cup(0.6, 0.9, 32);
        let surface = solid(&mesh);
        let mut inside = 0;
        for p in points(3000, 9) {
            let full = surface.orientation * full_sum(&surface, p);
            // The careful sum is right to 0.1/16.
            if (full - 0.5).abs() > 0.0063 && p.abs().cmple(Vec3::new(0.59, 0.59, 0.45)).all() {
                assert_eq!(surface.contains(p), full > 0.5, "{p}: {full}");
                inside += u32::from(full > 0.5);
            }
        }
        assert!(inside > 200, "{inside}");
    }

    #[test]
    fn nothing_is_inside_of_nothing_and_no_bad_point_is_inside() {
        let empty = Solid::new(&[], &[]);
        assert!(!empty.contains(Vec3::ZERO) && empty.distance(Vec3::ONE) == 0.0);
        let mesh = shapes::cuboid([1.0; 3], [1; 3]);
        let surface = solid(&mesh);
        let bad = [Vec3::NAN, Vec3::INFINITY, Vec3::new(0.0, f64::NAN, 0.0), Vec3::new(0.0, 0.0, f64::MAX)];
        assert_eq!(surface.contains_each(&bad), [false; 4]);
    }
}
