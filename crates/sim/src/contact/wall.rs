//! Surfaces as a fluid particle sees them: the features whose cells it lies in, each with the share of the space
//! behind it that it really covers.

use super::{ContactModel, Kind, NONE};
use crate::safe::Geometry;
use littoral_geom::math::Vec3;
use littoral_geom::near::NearTriangle;

/// A feature of a surface near a particle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Meeting {
    /// Corners that move its nearest point; unused ones repeat the first, with weight 0.
    pub corners: [u32; 3],
    /// Their weights [–].
    pub weights: [f64; 3],
    /// Unit vector from the nearest point to the particle; zero when they coincide.
    pub normal: Vec3,
    /// Distance [m].
    pub distance: f64,
    /// Share of the half-space behind the nearest point that the surface hides from the particle [–]: 1 above a face,
    /// a half above the edge of a box or over the rim of a sheet, 0 beside the rim.
    pub cover: f64,
}

impl ContactModel {
    /// The features that the point `v` meets among the triangles `near` it, nearest first. Each is listed once, however
    /// many triangles share it, and only if the point lies in its cell: a flat surface is one wall, not one per triangle.
    pub fn meetings(
        &self,
        geometry: &Geometry,
        x: &[Vec3],
        v: u32,
        near: &[NearTriangle],
        out: &mut Vec<Meeting>,
    ) {
        out.clear();
        let mut seen: Vec<(Kind, [u32; 4])> = Vec::new();
        for n in near {
            let (kind, q, served) = self.classify_point(geometry, x, v, n.triangle);
            if !served || seen.contains(&(kind, q)) {
                continue;
            }
            seen.push((kind, q));
            let between = x[v as usize] - n.point;
            let normal = if n.distance > 0.0 { between / n.distance } else { Vec3::ZERO };
            let triangle = geometry.surface.triangles[n.triangle as usize];
            let cover = match kind {
                Kind::PointFace => 1.0,
                Kind::PointEdge => self.edge_cover(x, normal, [q[1], q[2]], n.triangle),
                Kind::PointPoint => self.point_cover(x, normal, if q[0] == v { q[1] } else { q[0] }),
                Kind::EdgeEdge => 0.0,
            };
            out.push(Meeting { corners: triangle, weights: n.bary, normal, distance: n.distance, cover });
        }
    }

    /// Mean over the two faces at the edge of (d·n)²; a face that is missing hides nothing. Exact above a flat edge (1),
    /// above a right-angled one (½), over a rim (½) and beside it (0).
    fn edge_cover(&self, x: &[Vec3], d: Vec3, ends: [u32; 2], triangle: u32) -> f64 {
        let [e0, e1] = ends.map(|e| x[e as usize]);
        let side = self.triangle_edges[triangle as usize]
            .iter()
            .find(|&&e| self.ends[e as usize] == [ends[0].min(ends[1]), ends[0].max(ends[1])]);
        let Some(&edge) = side else { return 0.0 };
        let faces = self.opposite[edge as usize].iter().filter(|&&c| c != NONE).map(|&c| {
            let normal = (e1 - e0).cross(x[c as usize] - e0).normalize_or_zero();
            d.dot(normal).powi(2)
        });
        0.5 * faces.sum::<f64>()
    }

    /// Mean over the edges at the point of (1 − (d·e)²)²: 1 where they lie flat, near 0 at the tip of a needle.
    fn point_cover(&self, x: &[Vec3], d: Vec3, w: u32) -> f64 {
        let around = self.neighbours.row(w as usize);
        let flat = around.iter().map(|&a| {
            let e = (x[a as usize] - x[w as usize]).normalize_or_zero();
            (1.0 - d.dot(e).powi(2)).powi(2)
        });
        flat.sum::<f64>() / around.len().max(1) as f64
    }
}
