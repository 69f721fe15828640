//! The three ways every surface here is made: a mapped patch, a stack of rings, an extruded outline.

use crate::math::Vec3;
use crate::mesh::TriMesh;
use std::f64::consts::TAU;

/// Maps a grid of `cells` over the unit square by `f(u, v)`; the normal is `∂u × ∂v`. A wrapped direction
/// joins its last column to its first. Vertices are row-major, `u` fastest; diagonals alternate like a
/// chessboard.
pub(super) fn patch(cells: [u32; 2], wrap: [bool; 2], f: impl Fn(f64, f64) -> Vec3) -> TriMesh {
    // A wrapped direction of fewer than three cells would fold onto itself.
    let cells = [0, 1].map(|d| cells[d].max(if wrap[d] { 3 } else { 1 }));
    let count = [0, 1].map(|d| if wrap[d] { cells[d] } else { cells[d] + 1 });
    let mut mesh = TriMesh::default();
    for j in 0..count[1] {
        for i in 0..count[0] {
            mesh.vertices.push(f(i as f64 / cells[0] as f64, j as f64 / cells[1] as f64));
        }
    }
    let vertex = |i: u32, j: u32| (j % count[1]) * count[0] + i % count[0];
    for j in 0..cells[1] {
        for i in 0..cells[0] {
            let quad = [vertex(i, j), vertex(i + 1, j), vertex(i + 1, j + 1), vertex(i, j + 1)];
            mesh.triangles.extend(split_quad(quad, (i + j) % 2 == 0));
        }
    }
    mesh
}

/// Two triangles of a quad, divided from its corner 0 to 2, or from 1 to 3.
pub(super) fn split_quad([a, b, c, d]: [u32; 4], from_first: bool) -> [[u32; 3]; 2] {
    if from_first { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] }
}

/// A closed row of vertices around an axis: the index of its first and the ascending angles of all [rad].
pub(super) struct Ring {
    pub first: u32,
    pub angles: Vec<f64>,
}

impl Ring {
    /// `count` equal steps from angle zero.
    pub(super) fn even(first: u32, count: u32) -> Ring {
        Ring { first, angles: (0..count).map(|i| TAU * i as f64 / count as f64).collect() }
    }

    fn len(&self) -> usize {
        self.angles.len()
    }

    fn vertex(&self, i: usize) -> u32 {
        self.first + (i % self.len()) as u32
    }

    fn angle(&self, i: usize) -> f64 {
        self.angles[i % self.len()] + TAU * (i / self.len()) as f64
    }
}

/// Joins two rings by a band of triangles with normal `∂angle × (upper − lower)`. A ring of one vertex is a
/// pole. The band always closes the shorter diagonal in angle; equal ones alternate, starting as `odd` says.
pub(super) fn stitch(lower: &Ring, upper: &Ring, odd: bool, triangles: &mut Vec<[u32; 3]>) {
    let steps = |ring: &Ring| if ring.len() == 1 { 0 } else { ring.len() };
    let (n, m) = (steps(lower), steps(upper));
    let (mut i, mut j) = (0, 0);
    while i < n || j < m {
        let advance_lower = if i == n || j == m {
            i < n
        } else {
            let by_lower = (lower.angle(i + 1) - upper.angle(j)).abs();
            let by_upper = (upper.angle(j + 1) - lower.angle(i)).abs();
            // Angles differ by rounding alone when rings are alike; a real difference is far above a
            // nanoradian.
            if (by_lower - by_upper).abs() > 1e-9 {
                by_lower < by_upper
            } else {
                (i + j / 2) % 2 == odd as usize
            }
        };
        let (a, b) = (lower.vertex(i), upper.vertex(j));
        if advance_lower {
            i += 1;
            triangles.push([a, lower.vertex(i), b]);
        } else {
            j += 1;
            triangles.push([a, upper.vertex(j), b]);
        }
    }
}

/// Revolves a profile of `(radius, z)` about the z axis; the normal is `∂angle × ∂profile`, so a profile that
/// climbs outside looks outwards. A radius of zero at an end makes a pole. Rings thin out with their radius,
/// so that triangles near a pole keep their size: `count = segments · radius / largest radius`, at least
/// `min(6, segments)`.
pub(super) fn revolve(profile: &[[f64; 2]], segments: u32) -> TriMesh {
    let segments = segments.max(3);
    let largest = profile.iter().fold(0.0_f64, |r, p| r.max(p[0]));
    let mut mesh = TriMesh::default();
    let mut lower: Option<Ring> = None;
    for (row, &[radius, z]) in profile.iter().enumerate() {
        let first = mesh.vertices.len() as u32;
        let wanted = (segments as f64 * radius / largest).round() as u32;
        let count = if radius == 0.0 { 1 } else { wanted.max(segments.min(6)) };
        let ring = Ring::even(first, count);
        mesh.vertices.extend(ring.angles.iter().map(|a| Vec3::new(radius * a.cos(), radius * a.sin(), z)));
        if let Some(lower) = &lower {
            stitch(lower, &ring, row % 2 == 0, &mut mesh.triangles);
        }
        lower = Some(ring);
    }
    mesh
}

/// A planar mesh with one rim: the cross-section of an extruded body.
pub(super) struct Section {
    /// Points in the plane [m].
    pub points: Vec<[f64; 2]>,
    /// Counter-clockwise triangles.
    pub triangles: Vec<[u32; 3]>,
    /// The rim, counter-clockwise.
    pub rim: Vec<u32>,
}

/// A disc-like section whose rim has the given angles, at `radius`, filled by `rings` rings around a centre
/// point.
pub(super) fn disc(radius: f64, angles: Vec<f64>, rings: u32) -> Section {
    let rim_count = angles.len() as u32;
    let rings = rings.max(1);
    let mut points = vec![[0.0, 0.0]];
    let mut inward = Vec::new();
    let mut inner = Ring { first: 0, angles: vec![0.0] };
    for k in 1..=rings {
        let first = points.len() as u32;
        let outer = if k == rings {
            Ring { first, angles: angles.clone() }
        } else {
            Ring::even(first, (rim_count * k / rings).max(rim_count.min(6)))
        };
        let r = radius * k as f64 / rings as f64;
        points.extend(outer.angles.iter().map(|a| [r * a.cos(), r * a.sin()]));
        stitch(&inner, &outer, k % 2 == 0, &mut inward);
        inner = outer;
    }
    // Going outwards, ∂angle × ∂radius points to −z: turn the triangles over.
    let triangles = inward.into_iter().map(|[a, b, c]| [a, c, b]).collect();
    let rim = (points.len() as u32 - rim_count..points.len() as u32).collect();
    Section { points, triangles, rim }
}

/// The closed body over a section, from `z = −height/2` to `height/2`, its wall divided into `layers`.
/// Vertices: bottom section, top section, then the rims between them.
pub(super) fn extrude(section: &Section, height: f64, layers: u32) -> TriMesh {
    let layers = layers.max(1);
    let count = section.points.len() as u32;
    let level = |k: u32| height * (k as f64 / layers as f64 - 0.5);
    let lift = |p: [f64; 2], k: u32| Vec3::new(p[0], p[1], level(k));
    let mut mesh = TriMesh::default();
    for k in [0, layers] {
        mesh.vertices.extend(section.points.iter().map(|&p| lift(p, k)));
    }
    for k in 1..layers {
        mesh.vertices.extend(section.rim.iter().map(|&v| lift(section.points[v as usize], k)));
    }
    mesh.triangles.extend(section.triangles.iter().map(|&[a, b, c]| [a, c, b]));
    mesh.triangles.extend(section.triangles.iter().map(|t| t.map(|v| v + count)));
    let n = section.rim.len() as u32;
    let wall = |i: u32, k: u32| match k {
        0 => section.rim[(i % n) as usize],
        k if k == layers => section.rim[(i % n) as usize] + count,
        k => 2 * count + (k - 1) * n + i % n,
    };
    for k in 0..layers {
        for i in 0..n {
            let quad = [wall(i, k), wall(i + 1, k), wall(i + 1, k + 1), wall(i, k + 1)];
            mesh.triangles.extend(split_quad(quad, (i + k) % 2 == 0));
        }
    }
    mesh
}
