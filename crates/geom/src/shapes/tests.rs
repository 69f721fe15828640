//! Every shape is checked for its topology, orientation and closed-form measures.

use super::*;
use crate::math::Vec3;
use crate::mesh::{TriMesh, boundary_triangles, hinges, tet_volume, triangle_area, unique_edges};
use std::f64::consts::PI;

/// What can be said of a surface without knowing what it is.
struct MeshQuality {
    euler: i64,
    /// Edges of one triangle.
    rim_edges: usize,
    /// Edges of more than two triangles, or of two that run the same way.
    bad_edges: usize,
    smallest_area: f64,
    smallest_angle: f64,
}

fn quality(mesh: &TriMesh) -> MeshQuality {
    let edges = unique_edges(&mesh.triangles);
    let mut sides: Vec<[u32; 2]> =
        mesh.triangles.iter().flat_map(|t| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]]).collect();
    sides.sort_unstable();
    let count = |e: [u32; 2]| sides.partition_point(|s| *s <= e) - sides.partition_point(|s| *s < e);
    let (mut rim_edges, mut bad_edges) = (0, 0);
    for &[a, b] in &edges {
        match (count([a, b]), count([b, a])) {
            (1, 1) => {}
            (1, 0) | (0, 1) => rim_edges += 1,
            _ => bad_edges += 1,
        }
    }
    let corners = |t: &[u32; 3]| t.map(|v| mesh.vertices[v as usize]);
    let angle = |t: &[u32; 3]| {
        let x = corners(t);
        (0..3).map(|i| (x[(i + 1) % 3] - x[i]).angle_between(x[(i + 2) % 3] - x[i])).fold(PI, f64::min)
    };
    MeshQuality {
        euler: mesh.vertices.len() as i64 - edges.len() as i64 + mesh.triangles.len() as i64,
        rim_edges,
        bad_edges,
        smallest_area: mesh.triangles.iter().map(|t| triangle_area(corners(t))).fold(f64::INFINITY, f64::min),
        smallest_angle: mesh.triangles.iter().map(angle).fold(PI, f64::min).to_degrees(),
    }
}

fn check_vertices(name: &str, mesh: &TriMesh) {
    let mut used = vec![false; mesh.vertices.len()];
    mesh.triangles.iter().flatten().for_each(|&v| used[v as usize] = true);
    assert!(used.iter().all(|&u| u), "{name}: a vertex without triangles");
    let key = |p: Vec3| p.to_array().map(|c| (c * 1e9).round() as i64); // a nanometre apart is not one vertex
    let mut keys: Vec<_> = mesh.vertices.iter().map(|&p| key(p)).collect();
    keys.sort_unstable();
    assert!(keys.windows(2).all(|w| w[0] != w[1]), "{name}: two vertices at one place");
}

fn check_closed(name: &str, mesh: &TriMesh, euler: i64, volume: f64, tolerance: f64) {
    let q = quality(mesh);
    assert_eq!((q.euler, q.rim_edges, q.bad_edges), (euler, 0, 0), "{name}");
    assert!(q.smallest_area > 0.0, "{name}");
    assert!(q.smallest_angle > 8.0, "{name}: a corner of {:.1}°", q.smallest_angle);
    check_vertices(name, mesh);
    let relative = mesh.enclosed_volume() / volume - 1.0;
    assert!(relative.abs() <= tolerance, "{name}: volume off by {:.2} %", 100.0 * relative);
}

fn check_open(name: &str, mesh: &TriMesh, euler: i64, rim_edges: usize, area: f64, tolerance: f64) {
    let q = quality(mesh);
    assert_eq!((q.euler, q.rim_edges, q.bad_edges), (euler, rim_edges, 0), "{name}");
    assert!(q.smallest_area > 0.0, "{name}");
    assert!(q.smallest_angle > 8.0, "{name}: a corner of {:.1}°", q.smallest_angle);
    check_vertices(name, mesh);
    let relative = mesh.area() / area - 1.0;
    assert!(relative.abs() <= tolerance, "{name}: area off by {:.2} %", 100.0 * relative);
}

const EXACT: f64 = 1e-12; // sums of some thousand rounded terms

#[test]
fn round_closed_surfaces_have_their_topology_and_volume() {
    // A chord of angle δ loses about δ²/6 of the area of a circle's sector, a sphere's triangles about twice
    // that.
    check_closed("sphere", &sphere(0.5, 3), 2, 4.0 / 3.0 * PI * 0.125, 0.012);
    check_closed("ellipsoid", &ellipsoid([1.0, 0.5, 0.7], 3), 2, 4.0 / 3.0 * PI * 0.35, 0.012);
    check_closed("torus", &torus(1.0, 0.3, 64, 32), 0, 2.0 * PI * PI * 0.09, 0.01);
    let capsule_volume = PI * 0.04 * (0.5 + 4.0 / 3.0 * 0.2);
    check_closed("capsule", &capsule(0.2, 0.5, 48), 2, capsule_volume, 0.01);
    check_closed("capsule without wall", &capsule(0.2, 0.0, 48), 2, 4.0 / 3.0 * PI * 0.008, 0.015);
    check_closed("coarsest capsule", &capsule(0.2, 0.5, 0), 2, capsule_volume, 0.8);
    check_closed("thick bowl", &bowl(0.4, 0.1, 48), 2, 2.0 / 3.0 * PI * (0.064 - 0.027), 0.02);
}

#[test]
fn polygonal_bodies_have_their_exact_volume() {
    check_closed("cuboid", &cuboid([1.0, 2.0, 0.5], [3, 5, 2]), 2, 1.0, EXACT);
    check_closed("coarsest cuboid", &cuboid([1.0, 2.0, 0.5], [0, 0, 0]), 2, 1.0, EXACT);
    let polygon = |n: u32, r: f64| 0.5 * n as f64 * r * r * (2.0 * PI / n as f64).sin();
    check_closed("cylinder", &cylinder(0.3, 0.8, 40, 6), 2, polygon(40, 0.3) * 0.8, EXACT);
    check_closed("coarsest cylinder", &cylinder(0.3, 0.8, 0, 0), 2, polygon(3, 0.3) * 0.8, EXACT);
    for sides in [3, 4, 7, 32] {
        check_closed("prism", &prism(sides, 0.3, 0.2), 2, polygon(sides, 0.3) * 0.2, EXACT);
    }
    // Between the chords of two concentric polygons.
    let sector = |r: f64| 0.5 * r * r * 0.4_f64.sin();
    check_closed("wedge", &wedge(1.0, 1.3, 0.4, 0.0, 0.2), 2, (sector(1.3) - sector(1.0)) * 0.2, EXACT);
    for teeth in [3, 5, 12] {
        // Corners per tooth: root −¼, tip −0.15, tip 0.15, root ¼ of the pitch; the shoelace over the
        // outline.
        let pitch = 2.0 * PI / teeth as f64;
        let outline: Vec<[f64; 2]> = (0..teeth)
            .flat_map(|k| {
                [(-0.25, 0.36), (-0.15, 0.4), (0.15, 0.4), (0.25, 0.36)].map(|(f, r)| (k as f64 + f, r))
            })
            .map(|(p, r): (f64, f64)| [r * (p * pitch).cos(), r * (p * pitch).sin()])
            .collect();
        let shoelace = |i: usize| {
            let ([x0, y0], [x1, y1]) = (outline[i], outline[(i + 1) % outline.len()]);
            0.5 * (x0 * y1 - x1 * y0)
        };
        let section: f64 = (0..outline.len()).map(shoelace).sum();
        check_closed("gear", &gear(0.4, 0.36, teeth, 0.3, 3), 2, section * 0.3, EXACT);
    }
}

#[test]
fn a_prism_of_32_sides_has_66_vertices_and_128_triangles() {
    let p = prism(32, 0.1, 0.3);
    assert_eq!((p.vertices.len(), p.triangles.len()), (66, 128));
}

#[test]
fn sheets_and_shells_have_their_rims_and_areas() {
    check_open("grid", &grid([1.0, 0.5], [8, 6]), 1, 2 * (8 + 6), 0.5, EXACT);
    for rows in [1, 2, 7] {
        let rim = 2 * (8 + rows) + rows % 2;
        let depth = 0.125 * 0.75_f64.sqrt() * f64::from(rows);
        check_open("triangles", &triangle_grid([1.0, depth], [8, rows]), 1, rim as usize, depth, EXACT);
    }
    check_open("plane", &plane([3.0, 2.0]), 1, 4, 6.0, EXACT);
    let ring = |n: f64, r: f64| 2.0 * n * r * (PI / n).sin();
    check_open("tube", &tube(0.2, 0.5, 32, 6), 0, 64, ring(32.0, 0.2) * 0.5, EXACT);
    check_open("bowl", &bowl(0.3, 0.0, 48), 1, 48, 2.0 * PI * 0.09, 0.01);
    check_open("cup", &cup(0.04, 0.1, 48), 1, 48, PI * 0.0016 + 2.0 * PI * 0.04 * 0.1, 0.005);
    check_open("tank", &tank([0.4, 0.2, 0.3], [4, 2, 3]), 1, 12, 0.08 + 0.24 + 0.12, 1e-12);
    check_open("coarsest tank", &tank([0.4, 0.2, 0.3], [0; 3]), 1, 4, 0.08 + 0.24 + 0.12, 1e-12);
    check_open("coarsest cup", &cup(0.04, 0.1, 0), 1, 3, PI * 0.0016 + 2.0 * PI * 0.004, 0.4);
    check_open("spiral", &strip_spiral(5.0, 1.0, 0.1, 0.004, [199, 14]), 1, 2 * (199 + 14), 5.0, EXACT);
    let loop_length = 2.0 * (0.4_f64 * 0.4 - 0.05 * 0.05).sqrt()
        + 0.1 * (PI - 2.0 * (0.05_f64 / 0.4).asin())
        + 0.15 * (PI + 2.0 * (0.05_f64 / 0.4).asin());
    check_open("belt", &belt(0.15, 0.1, 0.4, 0.2, [320, 14]), 0, 640, loop_length * 0.2, 1e-3);
}

#[test]
fn a_grid_is_row_major_and_looks_up() {
    let g = grid([2.0, 1.0], [4, 2]);
    assert_eq!(g.vertices[0], Vec3::new(-1.0, -0.5, 0.0));
    assert_eq!(g.vertices[1], Vec3::new(-0.5, -0.5, 0.0));
    assert_eq!(g.vertices[5], Vec3::new(-1.0, 0.0, 0.0));
    for t in &g.triangles {
        let [a, b, c] = t.map(|v| g.vertices[v as usize]);
        assert!((b - a).cross(c - a).z > 0.0);
    }
}

/// ```text
/// *---*---*   edges inside are all of length a; at the sides half triangles
/// ```
#[test]
fn a_triangle_grid_is_equilateral_and_straight_at_its_sides() {
    let (a, rows) = (0.25, 6);
    let size = [5.0 * a, f64::from(rows) * a * 0.75_f64.sqrt()];
    let g = triangle_grid(size, [5, rows]);
    // Rows of 6 and 7 vertices, 11 triangles between them.
    assert_eq!((g.vertices.len(), g.triangles.len()), (4 * 6 + 3 * 7, 11 * 6));
    let at_side = |v: u32| (g.vertices[v as usize].x.abs() - 0.5 * size[0]).abs() < 1e-15;
    for t in &g.triangles {
        let [p, q, r] = t.map(|v| g.vertices[v as usize]);
        assert!((q - p).cross(r - p).z > 0.0);
        if t.iter().filter(|v| at_side(**v)).count() < 2 {
            for (from, to) in [(p, q), (q, r), (r, p)] {
                // One rounding of a coordinate of size 1.
                assert!((from.distance(to) - a).abs() < 1e-15, "{from} {to}");
            }
        }
    }
}

#[test]
fn the_flat_strip_is_the_rest_shape_of_the_spiral() {
    let cells = [100, 6];
    let wound = strip_spiral(3.0, 0.4, 0.1, 0.01, cells);
    let flat = grid([3.0, 0.4], cells);
    assert_eq!(wound.triangles, flat.triangles);
    for [a, b] in unique_edges(&flat.triangles) {
        let length = |m: &TriMesh| m.vertices[a as usize].distance(m.vertices[b as usize]);
        assert!((length(&wound) - length(&flat)).abs() < 1e-13);
    }
}

#[test]
fn layers_of_the_spiral_keep_their_pitch() {
    let (pitch, chord, inner) = (0.004, 5.0 / 199.0, 0.1);
    let wound = strip_spiral(5.0, 1.0, inner, pitch, [199, 14]);
    let path = &wound.vertices[..200];
    // Vertices against the segments of other turns, in the plane: never nearer than the pitch less the sag.
    let sag = chord * chord / (8.0 * inner);
    for (i, &p) in path.iter().enumerate() {
        for j in (0..199).filter(|&j: &usize| j.abs_diff(i) > 8) {
            let (a, b) = (path[j], path[j + 1]);
            let t = ((p - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
            assert!(p.distance(a.lerp(b, t)) > pitch - 1.1 * sag, "vertex {i}, segment {j}");
        }
    }
}

#[test]
fn a_belt_touches_its_drums_and_looks_outwards() {
    let b = belt(0.15, 0.1, 0.4, 0.2, [320, 4]);
    let gap = |p: Vec3, x: f64, r: f64| ((p.x - x).powi(2) + p.z * p.z).sqrt() - r;
    let nearest = |x: f64, r: f64| b.vertices.iter().map(|&p| gap(p, x, r)).fold(f64::INFINITY, f64::min);
    assert!(nearest(-0.2, 0.15).abs() < 1e-12 && nearest(0.2, 0.1).abs() < 1e-12);
    for t in &b.triangles {
        let [p, q, r] = t.map(|v| b.vertices[v as usize]);
        let middle = (p + q + r) / 3.0;
        assert!((q - p).cross(r - p).dot(Vec3::new(middle.x, 0.0, middle.z)) > 0.0);
    }
    // One drum inside the other has no tangents: the belt answers something finite all the same.
    assert!(belt(0.3, 0.1, 0.05, 0.2, [40, 2]).vertices.iter().all(|p| p.is_finite()));
}

#[test]
fn no_shape_bends_sharply_where_it_is_smooth() {
    for mesh in [torus(1.0, 0.3, 48, 24), sphere(1.0, 3), tube(0.2, 0.5, 48, 10)] {
        let normal = |[a, b, c]: [u32; 3]| {
            let [a, b, c] = [a, b, c].map(|v| mesh.vertices[v as usize]);
            (b - a).cross(c - a).normalize()
        };
        for [x0, x1, x2, x3] in hinges(&mesh.triangles) {
            assert!(normal([x0, x1, x2]).dot(normal([x1, x0, x3])) > 0.9);
        }
    }
}

#[test]
fn the_tet_block_fills_its_box_with_congruent_tets() {
    let block = tet_cuboid([1.0, 0.75, 0.5], [4, 3, 2]);
    assert_eq!(block.vertices.len(), 5 * 4 * 3 + 24);
    let volumes: Vec<f64> =
        block.tets.iter().map(|t| tet_volume(t.map(|v| block.vertices[v as usize]))).collect();
    let expected = 0.25_f64.powi(3) / 12.0;
    assert!(volumes.iter().all(|v| (v / expected - 1.0).abs() < EXACT));
    assert!((block.volume() / 0.375 - 1.0).abs() < EXACT);
    let surface = TriMesh { vertices: block.vertices.clone(), triangles: boundary_triangles(&block.tets) };
    let q = quality(&surface);
    assert_eq!((q.rim_edges, q.bad_edges), (0, 0));
    assert!((surface.area() / (2.0 * (0.75 + 0.5 + 0.375)) - 1.0).abs() < EXACT);
    assert_eq!(tet_cuboid([1.0; 3], [0; 3]).tets.len(), 12);
}
