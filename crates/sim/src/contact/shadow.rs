//! How much of its surroundings the surfaces near a particle hide from it, and which feature hides how much.
//!
//! A closed surface hides with the side that the particle is on, a sheet with either; its layers behind stand in the
//! shadow already. What the triangles of an object hide adds up, for they meet different rays. Of two objects the farther
//! one hides the less, the more it faces the same way.

use super::ContactModel;
use super::wall::Meeting;
use crate::fluid::{Kernel, Shadow};
use crate::safe::Geometry;
use littoral_geom::math::Vec3;
use littoral_geom::near::NearTriangle;

/// Triangles whose distances differ by less than this share are equally near: they meet at the nearest point.
const TIE: f64 = 1e-6;

/// A particle sees this share of the space around it at least [–], so that shares can be divided by what is left.
const OPEN: f64 = 0.1;

/// The kernel of a fluid, in its spacings.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    /// Kernel in spacings.
    pub kernel: &'a Kernel,
    /// Spacing [m].
    pub spacing: f64,
}

/// What a triangle near a particle hides.
struct Cast {
    object: u32,
    shadow: Shadow,
}

impl ContactModel {
    /// Shares out what the triangles `near` the point `v` hide among the meetings in `out`.
    pub(super) fn share_out(
        &self,
        sight: Sight<'_>,
        geometry: &Geometry,
        (x, v): (&[Vec3], u32),
        near: &[NearTriangle],
        out: &mut [Meeting],
    ) {
        let p = x[v as usize];
        let mut sides: Vec<(u32, f64, bool, f64)> = Vec::new();
        let mut casts = Vec::with_capacity(near.len());
        for n in near {
            let t = geometry.surface.triangles[n.triangle as usize];
            let corners = t.map(|c| (x[c as usize] - p) / sight.spacing);
            let Some(shadow) = Shadow::of(sight.kernel, corners, n.distance / sight.spacing) else {
                continue;
            };
            let object = self.object_of(t[0]);
            let lean = shadow.normal.dot(p - n.point);
            match sides.iter_mut().find(|s| s.0 == object) {
                None => sides.push((object, n.distance * (1.0 + TIE), shadow.in_front, lean)),
                // Where an edge or a corner is nearest, the face that it leans to most tells the side.
                Some(side) if n.distance <= side.1 && lean > side.3 => {
                    (side.2, side.3) = (shadow.in_front, lean);
                }
                Some(_) => {}
            }
            casts.push(Cast { object, shadow });
        }
        for Cast { object, shadow } in casts {
            if sides.iter().any(|s| s.0 == object && s.2 != shadow.in_front) {
                continue;
            }
            let faces = |m: &Meeting| shadow.normal.dot(m.normal);
            let mut best: Option<&mut Meeting> = None;
            for m in out.iter_mut().filter(|m| self.object_of(m.corners[0]) == object) {
                if best.as_ref().is_none_or(|b| faces(m) > faces(b)) {
                    best = Some(m);
                }
            }
            if let Some(m) = best {
                m.volume += shadow.volume;
                m.pull += shadow.area * shadow.normal;
            }
        }
        self.settle(p, out);
    }

    /// Turns shares of the space into walls whose volumes combine as 1 − Π(1 − γ).
    fn settle(&self, p: Vec3, out: &mut [Meeting]) {
        let mut total = 0.0;
        for k in 0..out.len() {
            let m = out[k];
            let place = p - m.distance * m.normal;
            let behind = out[..k].iter().filter(|o| {
                self.object_of(o.corners[0]) != self.object_of(m.corners[0])
                    && (place - (p - o.distance * o.normal)).dot(o.normal) < 0.0
            });
            let left = 1.0 - behind.map(|o| o.normal.dot(m.normal)).fold(0.0, f64::max);
            out[k].volume *= left;
            out[k].pull *= left;
            total += out[k].volume;
        }
        let open = (1.0 - total).max(OPEN);
        for m in out.iter_mut().filter(|m| m.volume > 0.0) {
            if m.volume == total && total <= 1.0 - OPEN {
                continue;
            }
            let open_of_own = open.powf(m.volume / total);
            m.volume = 1.0 - open_of_own;
            m.pull *= open_of_own / open;
        }
    }
}
