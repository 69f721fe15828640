//! Contact of lines: what edges of triangles leave to the points and faces beside them, segments of rods do themselves.
//!
//! Between surfaces an edge pair whose closest points are ends is served by points and faces. A segment of a rod has no
//! face, so that there the pair is a contact of a point with an edge, or of two points. The pairs around a point name
//! it once each; the list of contacts holds it once.

use super::{ContactModel, Kind};
use crate::safe::Plane;
use littoral_geom::math::Vec3;

/// Points of one rod that are nearer than this at rest, in contact radii, are neighbours along it, which bend towards each
/// other: half a turn of a rod as tight as its contact radius allows.
const NEIGHBOURS: f64 = std::f64::consts::FRAC_PI_2;

/// Neighbours begin to push at this share of their distance at rest: a bend of a third of a turn between them.
const BENT: f64 = 0.5;

/// Sides at least this far apart at rest, in contact radii, are no neighbours, and push at the whole radius.
const FAR: f64 = 2.0;

impl ContactModel {
    /// The contact of an edge pair that touches an end: parameters (s, t) of the closest points, `d` from the second to
    /// the first.
    pub(super) fn classify_end(
        &self,
        x: &[Vec3],
        plane: &Plane,
        (s, t): (f64, f64),
        d: Vec3,
    ) -> (Kind, [u32; 4], bool) {
        let q = plane.points;
        let [a, b] = plane.primitives;
        let end = |s: f64, e: [u32; 2]| (s <= 0.0).then_some(e[0]).or((s >= 1.0).then_some(e[1]));
        let (first, second) = ([q[0], q[1]], [q[2], q[3]]);
        match (end(s, first), end(t, second)) {
            (Some(v), Some(w)) => {
                let owned = self.owns_point(x, v, -d) && self.owns_point(x, w, d);
                let (v, w) = (v.min(w), v.max(w));
                (Kind::PointPoint, [v, w, v, v], owned)
            }
            (Some(v), None) => {
                let owned = self.owns_point(x, v, -d)
                    && self.owns_edge(x, (b, second), (d, x[v as usize] - d), false, &[]);
                (Kind::PointEdge, [v, second[0], second[1], v], owned)
            }
            (None, Some(w)) => {
                let owned = self.owns_point(x, w, d)
                    && self.owns_edge(x, (a, first), (-d, x[w as usize] + d), false, &[]);
                (Kind::PointEdge, [w, first[0], first[1], w], owned)
            }
            (None, None) => (Kind::EdgeEdge, q, true),
        }
    }

    /// Distance at which points of one object begin to push each other, where `radius` is that of different ones [m].
    /// Nothing pushes that is already that near at rest; along a rod, only what is bent towards each other does.
    pub(super) fn radius_within(&self, kind: Kind, q: [u32; 4], radius: f64) -> f64 {
        if self.rest_apart(kind, q, FAR * radius) {
            return radius;
        }
        let rest = self.rest_distance(kind, q);
        if rest < NEIGHBOURS * radius && self.line[q[0] as usize] {
            return radius.min(BENT * rest);
        }
        radius.min(rest)
    }
}
