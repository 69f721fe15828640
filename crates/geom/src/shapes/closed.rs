//! Closed surfaces: outward oriented, every edge shared by two triangles.

use super::builder::{disc, extrude, patch, revolve, split_quad};
use crate::math::Vec3;
use crate::mesh::{TriMesh, unique_edges};
use std::f64::consts::{PI, TAU};

/// Deepest subdivision of the icosahedron: 1.3 million triangles.
const MAX_SUBDIVISIONS: u32 = 8;

/// A sphere: an icosahedron whose triangles are quartered `subdivisions` times (at most 8), 20·4ⁿ triangles.
pub fn sphere(radius: f64, subdivisions: u32) -> TriMesh {
    ellipsoid([radius; 3], subdivisions)
}

/// An ellipsoid with the given half axes [m]: a stretched [`sphere`].
pub fn ellipsoid(radii: [f64; 3], subdivisions: u32) -> TriMesh {
    let mut mesh = icosahedron();
    for _ in 0..subdivisions.min(MAX_SUBDIVISIONS) {
        mesh = quartered(&mesh);
        mesh.vertices.iter_mut().for_each(|p| *p = p.normalize());
    }
    mesh.vertices.iter_mut().for_each(|p| *p *= Vec3::from_array(radii));
    mesh
}

/// The regular icosahedron of radius one: three golden rectangles, faces are the triples of nearest corners.
fn icosahedron() -> TriMesh {
    let golden = 0.5 * (1.0 + 5.0_f64.sqrt());
    let mut corners = Vec::new();
    for [a, b] in [[1.0, golden], [1.0, -golden], [-1.0, golden], [-1.0, -golden]] {
        corners.extend([Vec3::new(0.0, a, b), Vec3::new(a, b, 0.0), Vec3::new(b, 0.0, a)]);
    }
    let near = |a: usize, b: usize| corners[a].distance_squared(corners[b]) < 5.0; // edges 2, next distance 2·golden
    let mut triangles = Vec::new();
    for a in 0..12 {
        for b in a + 1..12 {
            for c in (b + 1..12).filter(|&c| near(a, b) && near(b, c) && near(c, a)) {
                let outward = corners[a].dot(corners[b].cross(corners[c])) > 0.0;
                triangles.push(if outward { [a, b, c] } else { [a, c, b] }.map(|v| v as u32));
            }
        }
    }
    TriMesh { vertices: corners.iter().map(|p| p.normalize()).collect(), triangles }
}

/// Each triangle cut into four at its edge midpoints.
fn quartered(mesh: &TriMesh) -> TriMesh {
    let edges = unique_edges(&mesh.triangles);
    let first = mesh.vertices.len() as u32;
    let position = |v: u32| mesh.vertices[v as usize];
    let mut vertices = mesh.vertices.clone();
    vertices.extend(edges.iter().map(|&[a, b]| 0.5 * (position(a) + position(b))));
    let middle = |a: u32, b: u32| first + edges.partition_point(|&e| e < [a.min(b), a.max(b)]) as u32;
    let mut triangles = Vec::with_capacity(4 * mesh.triangles.len());
    for &[a, b, c] in &mesh.triangles {
        let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
        triangles.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
    }
    TriMesh { vertices, triangles }
}

/// The surface of a box of `size` [m], each side divided into its share of `cells`, vertices shared across
/// the edges.
pub fn cuboid(size: [f64; 3], cells: [u32; 3]) -> TriMesh {
    let cells = cells.map(|c| c.max(1));
    // Every side in lattice coordinates first; equal coordinates become one vertex.
    let mut quads: Vec<([[u32; 3]; 4], bool)> = Vec::new();
    for axis in 0..3 {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        for (level, outward) in [(0, false), (cells[axis], true)] {
            for j in 0..cells[v] {
                for i in 0..cells[u] {
                    let corner = |du: u32, dv: u32| {
                        let mut c = [0; 3];
                        (c[axis], c[u], c[v]) = (level, i + du, j + dv);
                        c
                    };
                    // u × v points along +axis.
                    let quad = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
                    let quad = if outward { quad } else { [quad[0], quad[3], quad[2], quad[1]] };
                    quads.push((quad, (i + j + level) % 2 == 0));
                }
            }
        }
    }
    let mut corners: Vec<[u32; 3]> = quads.iter().flat_map(|(quad, _)| *quad).collect();
    corners.sort_unstable_by_key(|&[i, j, k]| [k, j, i]);
    corners.dedup();
    let index = |c: [u32; 3]| corners.partition_point(|o| [o[2], o[1], o[0]] < [c[2], c[1], c[0]]) as u32;
    let place = |c: &[u32; 3]| {
        let at = [0, 1, 2].map(|d| size[d] * (c[d] as f64 / cells[d] as f64 - 0.5));
        Vec3::from_array(at)
    };
    let triangles = quads.iter().flat_map(|&(quad, first)| split_quad(quad.map(index), first)).collect();
    TriMesh { vertices: corners.iter().map(place).collect(), triangles }
}

/// A closed cylinder about z: `segments` around, the wall `rings` quads high, caps of concentric rings.
pub fn cylinder(radius: f64, height: f64, segments: u32, rings: u32) -> TriMesh {
    let segments = segments.max(3);
    // Rings one edge length apart: radius / (2π radius / segments).
    let cap_rings = (segments as f64 / TAU).round() as u32;
    extrude(&disc(radius, even_angles(segments), cap_rings), height, rings)
}

/// A regular prism about z of `sides` sides, its corners at `radius`; each cap is a fan around its centre, so
/// a prism has 2·sides + 2 vertices and 4·sides triangles.
pub fn prism(sides: u32, radius: f64, height: f64) -> TriMesh {
    extrude(&disc(radius, even_angles(sides.max(3)), 1), height, 1)
}

fn even_angles(count: u32) -> Vec<f64> {
    (0..count).map(|i| TAU * i as f64 / count as f64).collect()
}

/// A stone of an arch about y, its middle above the centre of the arch: the sector of `angle` [rad] between two radii,
/// less half a `gap` on either side, so that neighbouring stones face each other in parallel that far apart. Its faces
/// are flat: the vertices are at the radii.
pub fn wedge(inner: f64, outer: f64, angle: f64, gap: f64, depth: f64) -> TriMesh {
    let (sin, cos) = (0.5 * angle).sin_cos();
    let mut mesh = cuboid([2.0; 3], [1; 3]);
    for p in &mut mesh.vertices {
        let (side, r) = (p.x, if p.z > 0.0 { outer } else { inner });
        *p = Vec3::new(side * (r * sin - 0.5 * gap * cos), 0.5 * depth * p.y, r * cos + 0.5 * gap * sin);
    }
    mesh
}

/// A capsule about z: a straight part of `height` [m] between two half spheres of `radius`, so `height + 2
/// radius` long.
pub fn capsule(radius: f64, height: f64, segments: u32) -> TriMesh {
    let segments = segments.max(3);
    let cap_rings = (segments / 4).max(1);
    let step = TAU * radius / segments as f64;
    let wall_rings = if height > 0.0 { ((height / step).round() as u32).clamp(1, 4 * segments) } else { 0 };
    let half = 0.5 * height.max(0.0);
    let mut profile = vec![[0.0, -half - radius]];
    let arc = |k: u32| 0.5 * PI * k as f64 / cap_rings as f64;
    profile.extend((1..cap_rings).map(|k| [radius * arc(k).sin(), -half - radius * arc(k).cos()]));
    profile.push([radius, -half]);
    profile.extend((1..=wall_rings).map(|k| [radius, -half + height * k as f64 / wall_rings as f64]));
    profile.extend((1..cap_rings).map(|k| [radius * arc(k).cos(), half + radius * arc(k).sin()]));
    profile.push([0.0, half + radius]);
    revolve(&profile, segments)
}

/// A torus about z: a tube of radius `minor` around a circle of radius `major`.
pub fn torus(major: f64, minor: f64, segments_major: u32, segments_minor: u32) -> TriMesh {
    patch([segments_major, segments_minor], [true, true], |u, v| {
        let (a, b) = (TAU * u, TAU * v);
        let r = major + minor * b.cos();
        Vec3::new(r * a.cos(), r * a.sin(), minor * b.sin())
    })
}

/// A gear about z with `teeth` trapezoidal teeth (at least 3) between `root_radius` and `outer_radius`,
/// extruded over `height` in `layers`.
///
/// Of each tooth's angle the tip takes 30 %, the two flanks 10 % each and the valley the rest, so two equal
/// gears mesh with play at a centre distance of `outer_radius + root_radius`. Tooth 0 is centred on +x.
pub fn gear(outer_radius: f64, root_radius: f64, teeth: u32, height: f64, layers: u32) -> TriMesh {
    let teeth = teeth.max(3);
    let pitch = TAU / teeth as f64;
    let (half_root, half_tip) = (0.25 * pitch, 0.15 * pitch);
    let at = |tooth: u32, offset: f64| pitch * tooth as f64 + offset;
    // The core: a disc whose rim has the two root corners of every tooth.
    let root_angles = (0..teeth).flat_map(|k| [at(k, -half_root), at(k, half_root)]).collect();
    let mut section = disc(root_radius, root_angles, (2.0 * teeth as f64 / TAU).round() as u32);
    let root = std::mem::take(&mut section.rim);
    for k in 0..teeth {
        let [before, after] = [root[2 * k as usize], root[2 * k as usize + 1]];
        let tip = section.points.len() as u32;
        for a in [at(k, -half_tip), at(k, half_tip)] {
            section.points.push([outer_radius * a.cos(), outer_radius * a.sin()]);
        }
        section.triangles.extend(split_quad([before, tip, tip + 1, after], k % 2 == 0));
        section.rim.extend([before, tip, tip + 1, after]);
    }
    extrude(&section, height, layers)
}
