//! The budget of a point: where it stays, relative to its frame, until the next detection.
//!
//! A box around its predicted way and a margin; and where the way is long a tube around it as well, so that it is not
//! kept from passing others by. Both are convex and contain 0.

use littoral_geom::math::{Aabb, Vec3};
use littoral_geom::tube::Tube;

/// A way that is so many times the margin of its point is kept to by a tube. Below, its box is hardly wider.
const LONG: f64 = 4.0;

/// Room of a tube, as a multiple of the margin of its point. What slides on something is predicted to fall into it by about a
/// margin, and what holds it up takes that back, with as much again for what it pressed in. With one margin a block that
/// slides at 1 m/s stopped in a single sweep after 0.88 of its way.
const TUBE_MARGINS: f64 = 2.0;

/// Least room of a tube, as a share of its way: of what has no margin, far above rounding.
const LEAST_ROOM: f64 = 1e-6;

/// Where a point stays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// The box [m].
    pub around: Aabb,
    /// The tube, if there is one [m].
    pub tube: Tube,
}

impl Budget {
    /// Everywhere.
    pub const UNLIMITED: Budget =
        Budget { around: Aabb { min: Vec3::NEG_INFINITY, max: Vec3::INFINITY }, tube: Tube::NONE };

    /// That of a predicted way and a margin around it [m].
    pub fn along(way: Vec3, margin: f64) -> Self {
        let length_sq = way.length_squared();
        let tube = if length_sq > LONG * LONG * margin * margin {
            Tube { way, room: (TUBE_MARGINS * margin).max(LEAST_ROOM * length_sq.sqrt()) }
        } else {
            Tube::NONE
        };
        Budget { around: Aabb::point(Vec3::ZERO).including(way).inflated(margin), tube }
    }

    /// How far it reaches along each axis, in either direction [m].
    pub(crate) fn extent(&self) -> Vec3 {
        self.around.max.max(-self.around.min)
    }

    /// True only if a way from `a` to `p` that leaves the straight one by no more than `bulge` stays inside [m].
    pub(crate) fn holds_way(&self, (a, p): (Vec3, Vec3), bulge: f64) -> bool {
        let (low, high) = (a.min(p) - bulge, a.max(p) + bulge);
        let between =
            |(n, limit): (Vec3, f64)| n.dot(a).abs().max(n.dot(p).abs()) + bulge * n.length() <= limit;
        self.around.min.cmple(low).all()
            && high.cmple(self.around.max).all()
            && self.tube.sides().all(between)
    }

    /// Largest s in [0, 1] with `a + s·(p − a)` inside, as `a` is.
    #[inline]
    pub(crate) fn share_inside(&self, a: Vec3, p: Vec3) -> f64 {
        let s = share_in_box(&self.around, a, p);
        if self.tube.is_none() { s } else { s.min(self.tube.share_between(a, p)) }
    }

    /// The planes that bound it, as normals n and limits l: it is where n·d ≤ l for all.
    #[inline]
    pub(crate) fn planes(&self) -> impl Iterator<Item = (Vec3, f64)> + use<> {
        let Aabb { min, max } = self.around;
        let axes = Vec3::AXES.into_iter().enumerate();
        let of_box = axes.flat_map(move |(k, axis)| [(axis, max[k]), (-axis, -min[k])]);
        of_box.chain(self.tube.sides().flat_map(|(n, limit)| [(n, limit), (-n, limit)]))
    }
}

/// Largest s in [0, 1] with `a + s·(p − a)` inside the box that contains `a`.
#[inline]
fn share_in_box(around: &Aabb, a: Vec3, p: Vec3) -> f64 {
    if p.cmple(around.max).all() && p.cmpge(around.min).all() {
        return 1.0;
    }
    let mut s = 1.0_f64;
    for k in 0..3 {
        let step = p[k] - a[k];
        let room = if step > 0.0 { around.max[k] - a[k] } else { a[k] - around.min[k] };
        // Rounding may have left `a` outside.
        let room = room.max(0.0);
        if step.abs() > room {
            s = s.min(room / step.abs());
        }
    }
    s
}
