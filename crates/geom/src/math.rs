//! Small vectors and matrices. `Vec3` and `Mat3` are `glam`'s `DVec3` and `DMat3`: plain scalar code,
//! so the same bits come out on every run and thread count.

use glam::{DMat3, DQuat, DVec3};

/// A point or vector in space [m], f64.
pub type Vec3 = DVec3;
/// A 3×3 matrix, column-major, f64.
pub type Mat3 = DMat3;
/// A unit quaternion (x, y, z, w), f64.
pub type Quat = DQuat;

/// Outer product `a bᵀ`.
#[inline]
pub fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// Cross-product matrix `[a]ₓ`, so that `[a]ₓ b = a × b`.
#[inline]
pub fn skew(a: Vec3) -> Mat3 {
    Mat3::from_cols(Vec3::new(0.0, a.z, -a.y), Vec3::new(-a.z, 0.0, a.x), Vec3::new(a.y, -a.x, 0.0))
}

/// An axis-aligned box; empty when any `min > max`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// Lower corner [m].
    pub min: Vec3,
    /// Upper corner [m].
    pub max: Vec3,
}

impl Aabb {
    /// The box that contains nothing.
    pub const EMPTY: Aabb = Aabb { min: Vec3::INFINITY, max: Vec3::NEG_INFINITY };

    /// The box of one point.
    #[inline]
    pub fn point(p: Vec3) -> Self {
        Aabb { min: p, max: p }
    }

    /// Smallest box around the points.
    pub fn of(points: impl IntoIterator<Item = Vec3>) -> Self {
        points.into_iter().fold(Aabb::EMPTY, |b, p| b.including(p))
    }

    /// Smallest box that also contains `p`.
    #[inline]
    pub fn including(self, p: Vec3) -> Self {
        Aabb { min: self.min.min(p), max: self.max.max(p) }
    }

    /// Smallest box around both.
    #[inline]
    pub fn union(self, o: Aabb) -> Self {
        Aabb { min: self.min.min(o.min), max: self.max.max(o.max) }
    }

    /// The box grown by `r` [m] on every side.
    #[inline]
    pub fn inflated(self, r: f64) -> Self {
        Aabb { min: self.min - Vec3::splat(r), max: self.max + Vec3::splat(r) }
    }

    /// True when the closed boxes share a point.
    #[inline]
    pub fn overlaps(&self, o: &Aabb) -> bool {
        self.min.cmple(o.max).all() && o.min.cmple(self.max).all()
    }

    /// Largest n·p of the points p of the box, its support function; infinite where that is not a number.
    #[inline]
    pub fn support(&self, n: Vec3) -> f64 {
        let (low, high) = (n * self.min, n * self.max);
        let s = low.x.max(high.x) + low.y.max(high.y) + low.z.max(high.z);
        if s.is_nan() { f64::INFINITY } else { s }
    }

    /// Edge lengths [m].
    #[inline]
    pub fn extent(&self) -> Vec3 {
        self.max - self.min
    }

    /// Midpoint [m].
    #[inline]
    pub fn center(&self) -> Vec3 {
        0.5 * (self.min + self.max)
    }
}
