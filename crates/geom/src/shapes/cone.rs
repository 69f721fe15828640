//! Cones and frusta: spikes, pins and funnels.

use super::builder::split_quad;
use crate::math::Vec3;
use crate::mesh::TriMesh;
use std::f64::consts::TAU;

/// A cone about z, its middle at the origin: a polygon of `segments` sides with its corners at `radius` below, at `top`
/// above; a `top` of 0 is a point. With `open` only its wall: a funnel. Radii and height in metres.
pub fn cone(radius: f64, top: f64, height: f64, segments: u32, open: bool) -> TriMesh {
    let n = segments.max(3);
    let at = |r: f64, i: u32, z: f64| {
        let a = TAU * f64::from(i) / f64::from(n);
        Vec3::new(r * a.cos(), r * a.sin(), z)
    };
    let (low, high) = (-0.5 * height, 0.5 * height);
    let mut mesh = TriMesh { vertices: (0..n).map(|i| at(radius, i, low)).collect(), triangles: Vec::new() };
    if top == 0.0 {
        mesh.vertices.push(high * Vec3::Z);
        mesh.triangles.extend((0..n).map(|i| [i, (i + 1) % n, n]));
    } else {
        mesh.vertices.extend((0..n).map(|i| at(top, i, high)));
        for i in 0..n {
            let j = (i + 1) % n;
            mesh.triangles.extend(split_quad([i, j, n + j, n + i], i % 2 == 0));
        }
    }
    if open {
        return mesh;
    }
    let mut cap = |z: f64, first: u32, up: bool| {
        let center = mesh.vertices.len() as u32;
        mesh.vertices.push(z * Vec3::Z);
        mesh.triangles.extend((0..n).map(|i| {
            let (a, b) = (first + i, first + (i + 1) % n);
            if up { [center, a, b] } else { [center, b, a] }
        }));
    };
    cap(low, 0, false);
    if top > 0.0 {
        cap(high, n, true);
    }
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{enclosed_volume, open_edges};

    #[test]
    fn a_cone_encloses_what_its_polygon_says_and_a_funnel_is_open_at_both_ends() {
        for (top, n) in [(0.0, 4), (0.0, 24), (0.03, 24), (0.2, 7)] {
            let (radius, height) = (0.1, 0.3);
            let mesh = cone(radius, top, height, n, false);
            assert_eq!(open_edges(&mesh.triangles), 0);
            let polygon = 0.5 * f64::from(n) * (TAU / f64::from(n)).sin();
            let volume = polygon * height / 3.0 * (radius * radius + radius * top + top * top);
            let found = enclosed_volume(&mesh.vertices, &mesh.triangles);
            // A hundred terms of rounding.
            assert!((found / volume - 1.0).abs() < 1e-13, "{found} for {volume}");
        }
        assert_eq!(open_edges(&cone(0.1, 0.02, 0.2, 12, true).triangles), 24);
        assert_eq!(open_edges(&cone(0.1, 0.0, 0.2, 12, true).triangles), 12);
    }
}
