//! Sheets and open shells: cloth, belts, bowls, cups and tanks without thickness.

use super::builder::{patch, revolve};
use super::closed::cuboid;
use crate::math::Vec3;
use crate::mesh::TriMesh;
use std::f64::consts::{PI, TAU};

/// A rectangle of `size` [m] in the xy plane, normal +z, of `cells` quads with alternating diagonals.
/// Vertices are row-major, x fastest, from (−, −) to (+, +).
pub fn grid(size: [f64; 2], cells: [u32; 2]) -> TriMesh {
    patch(cells, [false; 2], |u, v| Vec3::new(size[0] * (u - 0.5), size[1] * (v - 0.5), 0.0))
}

/// A rectangle of `size` [m] in the xy plane, normal +z, of triangles in `cells[1]` rows along x, offset by half a
/// cell from row to row. With a = size[0]/cells[0] and b = size[1]/cells[1] they are equilateral when b = a √3/2,
/// and isosceles of base a and height b otherwise.
///
/// ```text
/// row 2   *-------*-------*      vertices at 0, a, 2a, …
///         | \   / \   / |
/// row 1   *---*-------*---*      at 0, a/2, 3a/2, …, size[0]
///         | /   \   /   \ |
/// row 0   *-------*-------*      at 0, a, 2a, …
/// ```
///
/// The borders are straight: each odd row of vertices has one more, and half triangles of base a/2 end the rows.
/// Vertices are row-major, x fastest.
pub fn triangle_grid(size: [f64; 2], cells: [u32; 2]) -> TriMesh {
    let [n, m] = cells.map(|c| c.max(1));
    let mut mesh = TriMesh::default();
    let mut lower = 0;
    for j in 0..=m {
        let first = mesh.vertices.len() as u32;
        let odd = j % 2 == 1;
        for i in 0..=n + u32::from(odd) {
            let cell = if odd { (f64::from(i) - 0.5).clamp(0.0, f64::from(n)) } else { f64::from(i) };
            let (u, v) = (cell / f64::from(n) - 0.5, f64::from(j) / f64::from(m) - 0.5);
            mesh.vertices.push(Vec3::new(size[0] * u, size[1] * v, 0.0));
        }
        if j > 0 {
            // The row of n + 2 vertices gives n + 1 bases, the other the n between them.
            for i in 0..=n {
                let (below, above) = (lower + i, first + i);
                mesh.triangles.push(if odd { [below, above + 1, above] } else { [below, below + 1, above] });
                if i < n {
                    let tip = if odd { above + 1 } else { below + 1 };
                    mesh.triangles.push(if odd { [below, below + 1, tip] } else { [above, tip, above + 1] });
                }
            }
        }
        lower = first;
    }
    mesh
}

/// A rectangle of two triangles, as ground or wall: [`grid`] of one cell.
pub fn plane(size: [f64; 2]) -> TriMesh {
    grid(size, [1, 1])
}

/// An open cylinder shell about z, outward oriented, `rings` quads high.
pub fn tube(radius: f64, height: f64, segments: u32, rings: u32) -> TriMesh {
    patch([segments, rings], [true, false], |u, v| {
        let a = TAU * u;
        Vec3::new(radius * a.cos(), radius * a.sin(), height * (v - 0.5))
    })
}

/// A strip rolled up around the y axis: an Archimedean spiral `r = inner_radius + pitch · θ/2π` of the given
/// `length` and `width` [m], `cells` along and across. Vertices are row-major, along the strip fastest, from
/// the inner end.
///
/// Points follow each other along the spiral at chords of exactly `length / cells[0]`, so every quad is a
/// true rectangle and the flat strip `grid([length, width], cells)` is its stress-free rest shape. The normal
/// points away from the axis. Layers are `pitch` apart less the sag `chord² / 8r` of the quads.
pub fn strip_spiral(length: f64, width: f64, inner_radius: f64, pitch: f64, cells: [u32; 2]) -> TriMesh {
    let cells = cells.map(|c| c.max(1));
    let chord = length / cells[0] as f64;
    let point = |a: f64| {
        let r = inner_radius + pitch * a / TAU;
        Vec3::new(r * a.cos(), 0.0, -r * a.sin())
    };
    let mut angle = 0.0;
    let mut profile = vec![point(angle)];
    for _ in 0..cells[0] {
        angle = next_at_distance(&point, angle, chord);
        profile.push(point(angle));
    }
    let n = cells[0] as f64;
    patch(cells, [false; 2], |u, v| profile[(u * n).round() as usize] + Vec3::Y * (width * (v - 0.5)))
}

/// The first angle after `a` whose point lies `chord` from the point at `a`, or half a turn when none is that
/// far.
fn next_at_distance(point: &impl Fn(f64) -> Vec3, a: f64, chord: f64) -> f64 {
    let start = point(a);
    // The distance grows with the angle over half a turn of an opening spiral: bisection to the last bit.
    let (mut low, mut high) = (a, a + PI);
    if point(high).distance(start) <= chord {
        return high;
    }
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return middle;
        }
        if point(middle).distance(start) < chord { low = middle } else { high = middle }
    }
}

/// A closed belt over two parallel drums of `radius1` at x = −distance/2 and `radius2` at x = +distance/2,
/// axes along y, `width` wide along y, open at its sides; `cells` around and across. The normal points
/// outwards.
///
/// Vertices lie on the drums' circles and on the straight tangents between them, at equal steps of arc
/// length; the quads on a drum dip below its circle by `step² / 8 radius`, so give the belt a radius that
/// leaves this and the contact radius free. Vertices are row-major, around fastest.
pub fn belt(radius1: f64, radius2: f64, distance: f64, width: f64, cells: [u32; 2]) -> TriMesh {
    let cells = [cells[0].max(3), cells[1].max(1)];
    // Outer tangents exist while neither drum contains the other.
    let distance = distance.max((radius1 - radius2).abs());
    let lean = if distance > 0.0 { ((radius1 - radius2) / distance).asin() } else { 0.0 };
    let straight = distance * lean.cos();
    let (arc1, arc2) = (radius1 * (PI + 2.0 * lean), radius2 * (PI - 2.0 * lean));
    let total = arc1 + arc2 + 2.0 * straight;
    // Directions in the xz plane, angle from +x towards −z, so that around × y points outwards.
    let direction = |a: f64| Vec3::new(a.cos(), 0.0, -a.sin());
    let (center1, center2) = (Vec3::X * (-0.5 * distance), Vec3::X * (0.5 * distance));
    // The tangent points see both centres at angle ±(π/2 − lean).
    let tangent = 0.5 * PI - lean;
    let at = |s: f64| {
        if s < arc2 {
            return center2 + radius2 * direction(-tangent + s / radius2);
        }
        let s = s - arc2;
        if s < straight {
            let (from, to) = (center2 + radius2 * direction(tangent), center1 + radius1 * direction(tangent));
            return from.lerp(to, s / straight);
        }
        let s = s - straight;
        if s < arc1 {
            return center1 + radius1 * direction(tangent + s / radius1);
        }
        let (from, to) = (center1 + radius1 * direction(-tangent), center2 + radius2 * direction(-tangent));
        // Touching drums have no straight part: rounding alone leads here.
        from.lerp(to, ((s - arc1) / straight.max(f64::MIN_POSITIVE)).min(1.0))
    };
    patch(cells, [true, false], |u, v| at(u * total) + Vec3::Y * (width * (v - 0.5)))
}

/// A hemispherical bowl about z, open to +z, its sphere's centre at the origin. With `thickness` > 0 a closed
/// body with a flat rim and an inner radius of `radius − thickness`; otherwise an open shell whose normal
/// points out of the bowl.
pub fn bowl(radius: f64, thickness: f64, segments: u32) -> TriMesh {
    let rings = (segments / 4).max(2);
    let at = |r: f64, k: u32| {
        let a = 0.5 * PI * k as f64 / rings as f64;
        // The pole and the rim exactly.
        match k {
            0 => [0.0, -r],
            k if k == rings => [r, 0.0],
            _ => [r * a.sin(), -r * a.cos()],
        }
    };
    let mut profile: Vec<[f64; 2]> = (0..=rings).map(|k| at(radius, k)).collect();
    if thickness > 0.0 && thickness < radius {
        profile.extend((0..=rings).rev().map(|k| at(radius - thickness, k)));
    }
    revolve(&profile, segments)
}

/// A cup about z without thickness: a wall from `z = −height/2` to `height/2`, open at the top, and a floor.
/// The normal points out of the cup.
pub fn cup(radius: f64, height: f64, segments: u32) -> TriMesh {
    let segments = segments.max(3);
    let step = TAU * radius / segments as f64;
    let floor_rings = ((radius / step).round() as u32).clamp(1, segments);
    let wall_rings = ((height / step).round() as u32).clamp(1, 4 * segments);
    let bottom = -0.5 * height;
    let floor = (0..=floor_rings).map(|k| [radius * k as f64 / floor_rings as f64, bottom]);
    let wall = (1..=wall_rings).map(|k| [radius, bottom + height * k as f64 / wall_rings as f64]);
    revolve(&floor.chain(wall).collect::<Vec<_>>(), segments)
}

/// A tank of `size` [m] without thickness: a [`cuboid`] whose top is open. The normal points out of the tank.
pub fn tank(size: [f64; 3], cells: [u32; 3]) -> TriMesh {
    let TriMesh { vertices, mut triangles } = cuboid(size, cells);
    let top = 0.5 * size[2];
    triangles.retain(|t| t.iter().any(|v| vertices[*v as usize].z != top));
    // Vertices inside the top belong to nothing any more.
    let mut new_index = vec![u32::MAX; vertices.len()];
    triangles.iter().flatten().for_each(|v| new_index[*v as usize] = 0);
    let mut kept = Vec::new();
    for (v, index) in new_index.iter_mut().enumerate().filter(|(_, index)| **index == 0) {
        *index = kept.len() as u32;
        kept.push(vertices[v]);
    }
    let triangles = triangles.iter().map(|t| t.map(|v| new_index[v as usize])).collect();
    TriMesh { vertices: kept, triangles }
}
