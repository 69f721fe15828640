//! Which contacts serve rigid bodies, whose faces meet flat.
//!
//! Between flat faces the cells of faces, edges and corners meet in lines that rounding moves about: a corner exactly
//! above an edge may lie in no cell, or in two. A body has few corners, and each counts. So for bodies cells overlap a
//! little, and of the features of one surface that serve a point the largest one is kept: the face before its edges,
//! an edge before its ends.

use super::element::Kind;
use super::{ContactModel, FLAT, NONE};
use littoral_geom::math::Vec3;

/// Two edges whose directions make a smaller angle (as a sine) are parallel: their closest points may be anywhere along
/// them, and their ends carry what they would.
const PARALLEL: f64 = 0.02;

/// A found contact: features, points, whether they serve each other, gap [m], seams of its triangle.
pub(super) type Found = (Kind, [u32; 4], bool, f64, u8);

impl ContactModel {
    /// True when one of the points belongs to a rigid body.
    #[inline]
    pub(super) fn meets_body(&self, points: &[u32]) -> bool {
        !self.rigid.is_empty() && points.iter().any(|&v| self.rigid[v as usize])
    }

    /// Sines of the angles by which `d` leans away from the faces at `edge`; 1 where there is no face.
    fn leans(&self, x: &[Vec3], edge: u32, (d, p): (Vec3, Vec3)) -> [f64; 2] {
        self.opposite[edge as usize].map(|c| {
            if c == NONE {
                return 1.0;
            }
            let away = p - x[c as usize];
            let size = d.length() * away.length();
            if size > 0.0 { d.dot(away) / size } else { 0.0 }
        })
    }

    /// True when `d` leans into no face at `edge`.
    pub(super) fn serves_edge(&self, x: &[Vec3], edge: u32, at: (Vec3, Vec3)) -> bool {
        self.leans(x, edge, at).iter().all(|&l| l >= -FLAT)
    }

    /// True when `d` leans into no face at `edge`, and away from one: an edge inside a flat face is no edge.
    fn serves_crease(&self, x: &[Vec3], edge: u32, at: (Vec3, Vec3)) -> bool {
        let leans = self.leans(x, edge, at);
        leans.iter().all(|&l| l >= -FLAT) && leans.iter().any(|&l| l >= FLAT)
    }

    /// True when `d` leans towards no neighbour of the point `v`.
    pub(super) fn serves_point(&self, x: &[Vec3], v: u32, d: Vec3) -> bool {
        self.neighbours.row(v as usize).iter().all(|&w| {
            let away = x[v as usize] - x[w as usize];
            d.dot(away) >= -FLAT * d.length() * away.length()
        })
    }

    /// Whether two edges, `d` from the second's closest point to the first's, serve each other.
    pub(super) fn serve_edges(
        &self,
        x: &[Vec3],
        [a, b]: [u32; 2],
        q: [u32; 4],
        (d, ends): (Vec3, [Vec3; 2]),
    ) -> bool {
        let along = |i: usize, j: usize| x[q[j] as usize] - x[q[i] as usize];
        let (u, w) = (along(0, 1), along(2, 3));
        u.cross(w).length() > PARALLEL * u.length() * w.length()
            && self.serves_crease(x, a, (-d, ends[0]))
            && self.serves_crease(x, b, (d, ends[1]))
    }

    /// Drops what a larger feature serves already; `found` holds each contact once.
    pub(super) fn drop_doubled(&self, found: &mut Vec<Found>) {
        if self.rigid.is_empty() {
            return;
        }
        let mut edges: Vec<(u32, u32, u32)> = Vec::new();
        let mut points: Vec<(u32, u32)> = Vec::new();
        for (kind, [v, a, b, c], ..) in found.iter() {
            if *kind == Kind::PointFace && self.meets_body(&[*v, *a]) {
                edges.extend([(a, b), (b, c), (a, c)].map(|(a, b)| (*v, *a.min(b), *a.max(b))));
                points.extend([a, b, c].map(|p| (*v, *p)));
            }
        }
        edges.sort_unstable();
        found.retain(|(kind, [v, a, b, _], ..)| {
            *kind != Kind::PointEdge || edges.binary_search(&(*v, *a.min(b), *a.max(b))).is_err()
        });
        for (kind, [v, a, b, _], served, ..) in found.iter() {
            if *kind == Kind::PointEdge && *served && self.meets_body(&[*v, *a]) {
                points.extend([(*v, *a), (*v, *b)]);
            }
        }
        points.sort_unstable();
        found.retain(|(kind, [a, b, ..], ..)| {
            *kind != Kind::PointPoint
                || (points.binary_search(&(*a, *b)).is_err() && points.binary_search(&(*b, *a)).is_err())
        });
    }
}
