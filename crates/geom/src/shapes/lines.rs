//! Lines: straight ones, helices, rings, knots, nets. Points are evenly spaced along each line.

use crate::math::Vec3;
use crate::mesh::LineMesh;
use std::f64::consts::{PI, TAU};

/// Pieces of a curve by which its length is measured, per segment: the spacing is then even to a millionth.
const PIECES: u32 = 64;

/// `segments` + 1 points along a curve over a range of its parameter, evenly spaced by arc length.
fn evenly(curve: impl Fn(f64) -> Vec3, from: f64, to: f64, segments: u32) -> Vec<Vec3> {
    let segments = segments.max(1);
    let count = PIECES * segments;
    let at = |k: u32| curve(from + (to - from) * f64::from(k) / f64::from(count));
    let mut lengths = vec![0.0];
    for k in 0..count {
        lengths.push(lengths[k as usize] + at(k).distance(at(k + 1)));
    }
    let whole = lengths[count as usize];
    let mut k = 0;
    let inner = (1..segments).map(|i| {
        let wanted = whole * f64::from(i) / f64::from(segments);
        while lengths[k as usize + 1] < wanted {
            k += 1;
        }
        let (low, high) = (lengths[k as usize], lengths[k as usize + 1]);
        at(k).lerp(at(k + 1), (wanted - low) / (high - low))
    });
    let inner: Vec<Vec3> = inner.collect();
    std::iter::once(at(0)).chain(inner).chain(std::iter::once(at(count))).collect()
}

/// The same for a closed curve: its last point is its first and left out.
fn around(curve: impl Fn(f64) -> Vec3, segments: u32) -> LineMesh {
    let mut points = evenly(curve, 0.0, TAU, segments.max(3));
    points.pop();
    LineMesh::through(points, true)
}

/// A straight line between two points.
pub fn segment_line(from: Vec3, to: Vec3, segments: u32) -> LineMesh {
    let n = segments.max(1);
    let points = (0..=n).map(|k| from.lerp(to, f64::from(k) / f64::from(n))).collect();
    LineMesh::through(points, false)
}

/// A helix about the vertical axis, its middle at the origin.
pub fn helix(radius: f64, height: f64, turns: f64, segments: u32) -> LineMesh {
    let curve = |t: f64| {
        let a = TAU * turns * t;
        Vec3::new(radius * a.cos(), radius * a.sin(), height * (t - 0.5))
    };
    LineMesh::through(evenly(curve, 0.0, 1.0, segments), false)
}

/// A horizontal ring.
pub fn circle(radius: f64, segments: u32) -> LineMesh {
    around(|a| Vec3::new(radius * a.cos(), radius * a.sin(), 0.0), segments)
}

/// A closed trefoil knot, flat, within the given radius; its strands pass each other at a third of it and more.
///
/// (sin t + 2 sin 2t, cos t − 2 cos 2t, −sin 3t), scaled.
pub fn trefoil(radius: f64, segments: u32) -> LineMesh {
    let s = radius / 3.0;
    around(
        |t| {
            let flat = Vec3::new(t.sin() + 2.0 * (2.0 * t).sin(), t.cos() - 2.0 * (2.0 * t).cos(), 0.0);
            s * (flat - Vec3::Z * (3.0 * t).sin())
        },
        segments,
    )
}

/// A loose overhand knot with straight ends along x, of the given length in all: an open trefoil.
///
/// (t⁵ − 10 t, t⁴ − 4t², t³ − 3t) knots the line [Shastri 1992]; the first is flattened.
pub fn overhand(length: f64, segments: u32) -> LineMesh {
    // Where the loops are over, straight ends go on along x.
    const END: f64 = 2.05;
    let knot = |t: f64| {
        let t2 = t * t;
        Vec3::new(0.25 * t * (t2 * t2 - 10.0), 0.5 * t * (t2 - 3.0), 0.5 * t2 * (t2 - 4.0))
    };
    // From the knot's own direction to along x by a parabola, then straight; the ends mirror each other.
    let bend = 1.5;
    let start = knot(END);
    let out = Vec3::new(19.58, 4.80, 9.03).normalize();
    let (turn, straight) = (start + bend * out, start + bend * (out + Vec3::X));
    let tail = |u: f64| match u < 1.0 {
        true => start.lerp(turn, u).lerp(turn.lerp(straight, u), u),
        false => straight + 2.0 * bend * (u - 1.0) * Vec3::X,
    };
    let curve = |t: f64| match t.abs() <= END {
        true => knot(t),
        false => tail(t.abs() - END) * Vec3::new(t.signum(), t.signum(), 1.0),
    };
    let unit = evenly(curve, -END - 4.0, END + 4.0, segments);
    let whole: f64 = unit.windows(2).map(|w| w[0].distance(w[1])).sum();
    LineMesh::through(unit.into_iter().map(|p| p * (length / whole)).collect(), false)
}

/// A loose reef knot: two ropes of the given length, both ends of the first at −x, both of the second at +x. They are a
/// thirtieth of the length apart or more.
///
/// Each is a bight through which both legs of the other pass side by side: seen from above, the first lies over the second
/// at both bights and under it in the middle.
pub fn reef(length: f64, segments: u32) -> LineMesh {
    // In units of half the breadth of a bight: its arc begins at x = 0.8, its legs come in at y = 0.35 and cross the
    // other's arc at x = 2.02, where they are farthest from the middle plane.
    const ARC: f64 = 0.8;
    const LEG: f64 = 0.35;
    const CROSSING: f64 = 2.02;
    const TAIL: f64 = 5.0;
    const LIFT: f64 = 0.6;
    let flat = |t: f64| {
        let s = t.abs();
        if s <= 1.0 {
            let (sin, cos) = (0.5 * PI * s).sin_cos();
            return (ARC + 1.3 * cos, sin);
        }
        let x = ARC - (TAIL + ARC) * (s - 1.0);
        let u = (0.5 * (x / ARC + 1.0)).clamp(0.0, 1.0);
        (x, LEG + (1.0 - LEG) * u * u * (3.0 - 2.0 * u))
    };
    let bight = |t: f64| {
        let (x, y) = flat(t);
        let z = -LIFT * (PI * (x / CROSSING).clamp(-1.0, 1.0)).cos();
        Vec3::new(x, y * if t < 0.0 { -1.0 } else { 1.0 }, z)
    };
    let unit = evenly(bight, -2.0, 2.0, segments);
    let whole: f64 = unit.windows(2).map(|w| w[0].distance(w[1])).sum();
    let first: Vec<Vec3> = unit.into_iter().map(|p| p * (length / whole)).collect();
    // The second is the first turned half about y.
    let second = first.iter().map(|p| Vec3::new(-p.x, p.y, -p.z));
    let count = first.len() as u32;
    let vertices = first.iter().copied().chain(second).collect();
    LineMesh { vertices, lines: vec![(0..count).collect(), (count..2 * count).collect()] }
}

/// A horizontal net: cords along x and y that share their crossings, `cells` meshes wide, each side of a mesh of `segments`
/// segments.
pub fn net(size: [f64; 2], cells: [u32; 2], segments: u32) -> LineMesh {
    let (cells, n) = (cells.map(|c| c.max(1)), segments.max(1));
    let step = [0, 1].map(|a| size[a] / f64::from(cells[a] * n));
    let mut vertices = Vec::new();
    let mut number = std::collections::BTreeMap::new();
    let mut at = |i: u32, j: u32| {
        *number.entry((i, j)).or_insert_with(|| {
            let (x, y) = (step[0] * f64::from(i), step[1] * f64::from(j));
            vertices.push(Vec3::new(x - 0.5 * size[0], y - 0.5 * size[1], 0.0));
            vertices.len() as u32 - 1
        })
    };
    let mut lines: Vec<Vec<u32>> = Vec::new();
    for row in 0..=cells[1] {
        lines.push((0..=cells[0] * n).map(|i| at(i, row * n)).collect());
    }
    for column in 0..=cells[0] {
        lines.push((0..=cells[1] * n).map(|j| at(column * n, j)).collect());
    }
    LineMesh { vertices, lines }
}

/// A rope bridge along x: two hand ropes and two foot ropes that hang in parabolas, tied by ropes across and upright at
/// every `segments`-th point of `spans` spans. Lengths of the bridge, its width, its height and its sag.
pub fn bridge([length, width, height, sag]: [f64; 4], spans: u32, segments: u32) -> LineMesh {
    let (spans, n) = (spans.max(1), segments.max(1));
    let count = spans * n;
    let mut vertices = Vec::new();
    let mut lines: Vec<Vec<u32>> = Vec::new();
    for (side, level) in [(-0.5, 0.0), (0.5, 0.0), (-0.5, 1.0), (0.5, 1.0)] {
        let first = vertices.len() as u32;
        for k in 0..=count {
            let t = 2.0 * f64::from(k) / f64::from(count) - 1.0;
            vertices.push(Vec3::new(0.5 * length * t, side * width, level * height - sag * (1.0 - t * t)));
        }
        lines.push((first..first + count + 1).collect());
    }
    // Between the ropes, at inner ties only: the ends are held.
    let mut tie = |from: u32, to: u32| {
        let (a, b) = (vertices[from as usize], vertices[to as usize]);
        let mut line = vec![from];
        for k in 1..n {
            vertices.push(a.lerp(b, f64::from(k) / f64::from(n)));
            line.push(vertices.len() as u32 - 1);
        }
        line.push(to);
        lines.push(line);
    };
    for k in 1..spans {
        let rope = |r: u32| r * (count + 1) + k * n;
        tie(rope(0), rope(1));
        tie(rope(0), rope(2));
        tie(rope(1), rope(3));
    }
    LineMesh { vertices, lines }
}

/// Writhe of a line: the mean over all directions of its signed crossings with itself [–], by the solid angles of its pairs
/// of segments [Klenin 2000]. A closed knot that moves without passing through itself changes it smoothly.
pub fn writhe(points: &[Vec3], is_ring: bool) -> f64 {
    let n = if is_ring { points.len() } else { points.len().saturating_sub(1) };
    let end = |k: usize| points[k % points.len()];
    let mut sum = 0.0;
    for i in 0..n {
        for j in i + 2..n {
            if is_ring && i == 0 && j == n - 1 {
                continue;
            }
            sum += pair_writhe([end(i), end(i + 1)], [end(j), end(j + 1)]);
        }
    }
    2.0 * sum
}

/// Linking number of two rings [–]: whole, up to rounding.
pub fn linking(a: &[Vec3], b: &[Vec3]) -> f64 {
    let mut sum = 0.0;
    for i in 0..a.len() {
        for j in 0..b.len() {
            sum += pair_writhe([a[i], a[(i + 1) % a.len()]], [b[j], b[(j + 1) % b.len()]]);
        }
    }
    sum
}

/// Ω/4π of two segments, signed.
fn pair_writhe([p, q]: [Vec3; 2], [r, s]: [Vec3; 2]) -> f64 {
    let (r13, r14, r23, r24) = (r - p, s - p, r - q, s - q);
    let normals =
        [r13.cross(r14), r14.cross(r24), r24.cross(r23), r23.cross(r13)].map(Vec3::normalize_or_zero);
    let angle = |k: usize| normals[k].dot(normals[(k + 1) % 4]).clamp(-1.0, 1.0).asin();
    let area: f64 = (0..4).map(angle).sum();
    let sign = (s - r).cross(q - p).dot(r13);
    area * sign.signum() / (4.0 * PI) * f64::from(u8::from(sign != 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_evenly_spaced_and_rings_close() {
        for mesh in [circle(0.3, 30), trefoil(0.3, 200), helix(0.1, 0.5, 3.0, 150), overhand(1.0, 300)] {
            let line = &mesh.lines[0];
            let lengths: Vec<f64> = line
                .windows(2)
                .map(|w| mesh.vertices[w[0] as usize].distance(mesh.vertices[w[1] as usize]))
                .collect();
            let mean = lengths.iter().sum::<f64>() / lengths.len() as f64;
            // A chord is shorter than its arc by the square of the bend.
            assert!(lengths.iter().all(|l| (l / mean - 1.0).abs() < 0.1), "{lengths:?}");
        }
        assert!(
            (overhand(2.0, 200).vertices.windows(2).map(|w| w[0].distance(w[1])).sum::<f64>() - 2.0).abs()
                < 1e-9
        );
    }

    #[test]
    fn a_trefoil_writhes_as_trefoils_do_and_linked_rings_link_once() {
        let w = writhe(&trefoil(1.0, 300).vertices, true);
        // Ideal trefoils have 3.4; every trefoil seen from most directions has three crossings of one sign.
        assert!((w.abs() - 3.4).abs() < 0.4, "{w}");
        let ring = circle(1.0, 60).vertices;
        let other: Vec<Vec3> = ring.iter().map(|p| Vec3::new(p.x + 1.0, p.z, p.y)).collect();
        assert!((linking(&ring, &other).abs() - 1.0).abs() < 1e-9);
        let far: Vec<Vec3> = other.iter().map(|p| *p + 3.0 * Vec3::X).collect();
        assert!(linking(&ring, &far).abs() < 1e-9);
        assert!(writhe(&ring, true).abs() < 1e-9);
    }

    #[test]
    fn the_ropes_of_a_reef_knot_keep_apart_and_cross_six_times() {
        let mesh = reef(1.0, 200);
        let (a, b) = mesh.vertices.split_at(201);
        let length = |p: &[Vec3]| p.windows(2).map(|w| w[0].distance(w[1])).sum::<f64>();
        assert!((length(a) - 1.0).abs() < 1e-12 && (length(b) - 1.0).abs() < 1e-12);
        let nearest = a.iter().flat_map(|p| b.iter().map(|q| p.distance(*q))).fold(f64::INFINITY, f64::min);
        assert!(nearest > 1.0 / 30.0, "{nearest}");
        // Seen from above: the sides of a's segments on which b's lie, and which of them is higher.
        let cross = |p: Vec3, q: Vec3, r: Vec3| (q - p).truncate().perp_dot((r - p).truncate());
        let mut over = Vec::new();
        for s in a.windows(2) {
            for t in b.windows(2) {
                let (c, d) = (cross(s[0], s[1], t[0]), cross(s[0], s[1], t[1]));
                if c * d < 0.0 && cross(t[0], t[1], s[0]) * cross(t[0], t[1], s[1]) < 0.0 {
                    over.push(s[0].z > t[0].z);
                }
            }
        }
        // Going along the first: over, under, over, over, under, over.
        assert_eq!(over, [true, false, true, true, false, true]);
    }

    #[test]
    fn cords_of_a_net_share_their_crossings() {
        let mesh = net([2.0, 1.0], [4, 2], 3);
        assert_eq!(mesh.lines.len(), 3 + 5);
        // 15 crossings, and two points on each of 3·4 + 5·2 sides.
        assert_eq!(mesh.vertices.len(), 15 + 2 * 22);
    }
}
