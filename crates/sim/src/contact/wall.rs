//! Surfaces as a fluid particle sees them: the features whose cells it lies in, each with what it hides of the space
//! around the particle.

use super::shadow::Sight;
use super::{ContactModel, Kind};
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
    /// Kernel volume behind it [–]; those of several combine as 1 − Π(1 − γ).
    pub volume: f64,
    /// Integral of the kernel over it times its normal, at that volume of the others [1/spacing].
    pub pull: Vec3,
}

impl ContactModel {
    /// The features that the point `v` meets among the triangles `near` it, nearest first. Each is listed once, however
    /// many triangles share it, and only if the point lies in its cell: a flat surface is one wall, not one per triangle.
    pub fn meetings(
        &self,
        sight: Sight<'_>,
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
            out.push(Meeting {
                corners: triangle,
                weights: n.bary,
                normal,
                distance: n.distance,
                volume: 0.0,
                pull: Vec3::ZERO,
            });
        }
        self.share_out(sight, geometry, (x, v), near, out);
    }
}
