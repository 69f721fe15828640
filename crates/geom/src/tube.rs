//! Tubes: where a point stays that goes a long way nearly straight.
//!
//! All points within `room`, along each axis, of a segment from 0 to `way`. The box around a slanted way is much larger
//! than the way itself; a tube of the same room is not. It is the box of way and room, cut by three pairs of planes
//! along the way, across n = axis × way, that |n·d| ≤ room |n|₁ lies between.

use crate::math::Vec3;

/// A segment with a cube around each of its points; without a way it bounds nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tube {
    /// Where the segment ends; it starts at 0 [m].
    pub way: Vec3,
    /// Half the edge of the cubes [m].
    pub room: f64,
}

/// Sum of the sizes of the coordinates.
#[inline]
fn size(n: Vec3) -> f64 {
    n.x.abs() + n.y.abs() + n.z.abs()
}

impl Tube {
    /// Everywhere.
    pub const NONE: Tube = Tube { way: Vec3::ZERO, room: f64::INFINITY };

    /// True if it bounds nothing.
    #[inline]
    pub fn is_none(&self) -> bool {
        self.way == Vec3::ZERO
    }

    /// With more room [m].
    #[inline]
    pub fn inflated(self, by: f64) -> Self {
        Tube { room: self.room + by, ..self }
    }

    /// Largest n·d of its points d, its support function [m]; infinite where there is none, or it is not a number.
    #[inline]
    pub fn support(&self, n: Vec3) -> f64 {
        if self.is_none() {
            return f64::INFINITY;
        }
        let s = n.dot(self.way).max(0.0) + self.room * size(n);
        if s.is_nan() { f64::INFINITY } else { s }
    }

    /// The planes along its way, as normals n and limits l: within the box of way and room it is where |n·d| ≤ l [m²].
    #[inline]
    pub fn sides(&self) -> impl Iterator<Item = (Vec3, f64)> + use<> {
        let Tube { way: w, room } = *self;
        let normals = [Vec3::new(0.0, -w.z, w.y), Vec3::new(w.z, 0.0, -w.x), Vec3::new(-w.y, w.x, 0.0)];
        // A way along an axis has two pairs of such planes, the box has the others.
        normals.into_iter().map(move |n| (n, room * size(n))).filter(|(n, _)| *n != Vec3::ZERO)
    }

    /// True if `d` is between the planes along the way.
    #[inline]
    pub fn has_between(&self, d: Vec3) -> bool {
        self.sides().all(|(n, limit)| n.dot(d).abs() <= limit)
    }

    /// Largest s in [0, 1] with `a + s (p − a)` between the planes along the way, as `a` is.
    #[inline]
    pub fn share_between(&self, a: Vec3, p: Vec3) -> f64 {
        self.sides().fold(1.0, |s: f64, (n, limit)| {
            let (from, to) = (n.dot(a), n.dot(p));
            if to.abs() <= limit {
                return s;
            }
            // Rounding may have left `a` outside.
            let room = (if to > 0.0 { limit - from } else { limit + from }).max(0.0);
            s.min(room / (to - from).abs().max(room))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Aabb;
    use crate::random::Random;

    fn any(r: &mut Random) -> Tube {
        let mut way = r.in_cube(1.0);
        if r.chance(0.3) {
            way[r.below(3)] = 0.0;
        }
        Tube { way, room: r.log_between(1e-4, 1.0) }
    }

    /// A point of it, and another one near its surface.
    fn point(t: &Tube, r: &mut Random) -> Vec3 {
        let corner = r.chance(0.5);
        let of = |r: &mut Random| if corner { [-1.0, 1.0][r.below(2)] } else { r.between(-1.0, 1.0) };
        let around = Vec3::new(of(r), of(r), of(r)) * t.room;
        t.way * if r.chance(0.3) { [0.0, 1.0][r.below(2)] } else { r.unit() } + around
    }

    #[test]
    fn its_points_are_between_its_planes_and_below_its_support() {
        for seed in 0..2000 {
            let mut r = Random::new(seed);
            let t = any(&mut r);
            for _ in 0..20 {
                let (d, n) = (point(&t, &mut r), r.direction());
                let slack = 1e-15 * (1.0 + t.room);
                assert!(Tube { room: t.room + slack, ..t }.has_between(d), "seed {seed}: {d} in {t:?}");
                assert!(n.dot(d) <= t.support(n) + slack, "seed {seed}: {d} along {n}");
            }
        }
    }

    /// The other way round: what is in the box and between the planes is near a point of the way.
    #[test]
    fn what_is_between_its_planes_and_in_its_box_is_near_its_way() {
        let mut seen = 0;
        for seed in 0..20_000 {
            let mut r = Random::new(seed);
            let t = any(&mut r);
            let d = t.way * r.between(-0.5, 1.5) + r.in_cube(2.0 * t.room);
            let in_box = Aabb::point(Vec3::ZERO).including(t.way).inflated(t.room);
            if !in_box.overlaps(&Aabb::point(d)) || !t.has_between(d) {
                continue;
            }
            seen += 1;
            // |d − s way| ≤ room along each axis: an interval of s for each.
            let (mut low, mut high) = (0.0_f64, 1.0_f64);
            for k in 0..3 {
                let (w, d) = (t.way[k], d[k]);
                if w != 0.0 {
                    let (one, other) = ((d - t.room) / w, (d + t.room) / w);
                    (low, high) = (low.max(one.min(other)), high.min(one.max(other)));
                }
            }
            assert!(low <= high + 1e-12, "seed {seed}: {d} is not in {t:?}");
        }
        assert!(seen > 2000, "{seen}");
    }

    #[test]
    fn a_share_ends_on_a_plane() {
        let mut cut = 0;
        for seed in 0..20_000 {
            let mut r = Random::new(seed);
            let t = any(&mut r);
            let (a, p) = (point(&t, &mut r), 2.0 * r.in_cube(1.0));
            let s = t.share_between(a, p);
            let slack = 1e-14 * (1.0 + t.room);
            let end = a + s * (p - a);
            assert!(Tube { room: t.room + slack, ..t }.has_between(end), "seed {seed}: {end} of {t:?}");
            if s < 1.0 {
                cut += 1;
                let on = |(n, limit): (Vec3, f64)| n.dot(end).abs() >= limit - slack;
                assert!(t.sides().any(on), "seed {seed}: stopped at {s} for nothing");
            }
        }
        assert!(cut > 5000, "{cut}");
        assert_eq!(Tube::NONE.share_between(Vec3::ZERO, Vec3::ONE), 1.0);
        assert_eq!(Tube::NONE.support(Vec3::X), f64::INFINITY);
    }
}
