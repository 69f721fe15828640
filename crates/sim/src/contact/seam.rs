//! Seams: edges inside of a flat face, over which a contact with a rigid body goes on as if they were not there.
//!
//! Between two detections a point may leave the triangle it was found on. On the nearest place of that triangle, its edge,
//! the contact would lean over and let go by and by: a block that slides over a plate of many triangles fell by a tenth of
//! its contact radius at a seam, and lost half of its speed when it was caught. Beyond a seam the face is the plane of its
//! triangle, so the contact is measured from that plane.

use super::element::{Bridge, Contact};
use super::{ContactModel, FLAT, NONE};
use littoral_geom::distance::TriangleRegion;
use littoral_geom::math::Vec3;

impl ContactModel {
    /// Seams of the triangle `t` with the corners `q[1..]`, which the point `q[0]` meets at the positions `x` [m]: bit k for
    /// side k. None but where a rigid body meets what is none.
    ///
    /// Corners of two bodies that meet flat, as stones of an arch, may hang over the rim just behind a seam. The plane would carry them until
    /// the next detection lets them go: an arch took five seconds to come to rest, one without.
    pub(super) fn seams(&self, x: &[Vec3], t: u32, q: [u32; 4]) -> u8 {
        if self.rigid.is_empty() || self.rigid[q[0] as usize] == self.rigid[q[1] as usize] {
            return 0;
        }
        let corners = [q[1], q[2], q[3]];
        let [a, b, c] = corners.map(|v| x[v as usize]);
        let normal = (b - a).cross(c - a);
        let flat = |k: usize| {
            let across = self.opposite[self.triangle_edges[t as usize][k] as usize];
            let Some(&other) = across.iter().find(|o| !corners.contains(o)) else { return false };
            if other == NONE {
                return false;
            }
            let away = x[other as usize] - x[corners[k] as usize];
            normal.dot(away).abs() <= FLAT * normal.length() * away.length()
        };
        (0..3).map(|k| u8::from(flat(k)) << k).sum()
    }
}

impl Contact {
    /// The bridge of a point that lies beyond its triangle in this `region`, where it came there over seams alone.
    #[inline]
    pub(super) fn beyond_seam(&self, region: TriangleRegion, p: [Vec3; 4]) -> Option<Bridge> {
        let seam = |k: u8| self.seams & (1 << k) != 0;
        let over = match region {
            TriangleRegion::Face => false,
            TriangleRegion::Edge(k) => seam(k),
            // The two sides at corner k are k and the one before.
            TriangleRegion::Vertex(k) => seam(k) && seam((k + 2) % 3),
        };
        if !over {
            return None;
        }
        let [v, a, b, c] = p;
        let (u, w) = (b - a, c - a);
        let n = u.cross(w);
        let size = n.length();
        if size == 0.0 {
            return None;
        }
        let height = n.dot(v - a) / size;
        let normal = n / size * height.signum();
        // Barycentric coordinates of the foot of the point, beyond the triangle.
        let away = v - a;
        let (s, t) = (away.cross(w).dot(n) / (size * size), u.cross(away).dot(n) / (size * size));
        Some(Bridge { weights: [1.0, s + t - 1.0, -s, -t], normal, distance: height.abs() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::element::Kind;
    use super::*;

    /// ```text
    ///   3
    ///   │ ╲  • 0      side 1, from 2 to 3, is a seam
    ///   1───2
    /// ```
    #[test]
    fn beyond_a_seam_the_plane_goes_on_and_beyond_a_rim_it_ends() {
        let at = |x: f64, y: f64| {
            vec![Vec3::new(x, y, 2e-3), Vec3::ZERO, Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0)]
        };
        let contact = Contact { kind: Kind::PointFace, points: [0, 1, 2, 3], seams: 0b010, ..Contact::NONE };
        let inside = contact.bridge(&at(0.3, 0.3));
        let over = contact.bridge(&at(0.51, 0.5));
        // Rounding of products of lengths up to one.
        assert!((over.distance - inside.distance).abs() < 1e-15 && over.normal.distance(Vec3::Z) < 1e-15);
        let ends = contact.ends(&over, &at(0.51, 0.5));
        assert!(ends[1].distance(Vec3::new(0.51, 0.5, 0.0)) < 1e-15, "{}", ends[1]);
        let off = contact.bridge(&at(0.3, -0.01));
        assert!(off.distance > 0.01, "the other sides are rims: {} m", off.distance);
    }
}
