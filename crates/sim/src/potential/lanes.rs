//! Two numbers at once: the same operation on both lanes, each rounded as if alone, so that the bits are the same on
//! every machine. On x86-64 it is one SSE2 instruction.

use littoral_geom::math::Vec3;
use std::ops::{Add, Div, Mul, Neg, Sub};
use wide::f64x2;

/// Two f64.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair(f64x2);

impl Pair {
    #[inline(always)]
    pub(crate) fn new(low: f64, high: f64) -> Self {
        Pair(f64x2::new([low, high]))
    }

    #[inline(always)]
    pub(crate) fn low(self) -> f64 {
        self.0.to_array()[0]
    }

    #[inline(always)]
    pub(crate) fn high(self) -> f64 {
        self.0.to_array()[1]
    }

    #[inline(always)]
    pub(crate) fn sqrt(self) -> Self {
        Pair(self.0.sqrt())
    }

    /// The smaller number of each lane; neither may be NaN.
    #[inline(always)]
    pub(crate) fn min(self, o: Self) -> Self {
        Pair(self.0.fast_min(o.0))
    }

    /// The larger number of each lane; neither may be NaN.
    #[inline(always)]
    pub(crate) fn max(self, o: Self) -> Self {
        Pair(self.0.fast_max(o.0))
    }

    /// Smaller in both lanes.
    #[inline(always)]
    pub(crate) fn is_less(self, o: Self) -> bool {
        self.0.simd_lt(o.0).to_bitmask() == 3
    }

    /// (high lane of `before`, low lane of `self`).
    #[inline(always)]
    pub(crate) fn after(self, before: Self) -> Self {
        Pair::new(before.high(), self.low())
    }
}

impl Add for Pair {
    type Output = Pair;
    #[inline(always)]
    fn add(self, o: Pair) -> Pair {
        Pair(self.0 + o.0)
    }
}

impl Sub for Pair {
    type Output = Pair;
    #[inline(always)]
    fn sub(self, o: Pair) -> Pair {
        Pair(self.0 - o.0)
    }
}

impl Mul for Pair {
    type Output = Pair;
    #[inline(always)]
    fn mul(self, o: Pair) -> Pair {
        Pair(self.0 * o.0)
    }
}

impl Div for Pair {
    type Output = Pair;
    #[inline(always)]
    fn div(self, o: Pair) -> Pair {
        Pair(self.0 / o.0)
    }
}

impl Neg for Pair {
    type Output = Pair;
    #[inline(always)]
    fn neg(self) -> Pair {
        Pair(-self.0)
    }
}

impl Pair {
    /// The same number in both lanes.
    #[inline(always)]
    pub(crate) fn splat(s: f64) -> Self {
        Pair::new(s, s)
    }

    #[inline(always)]
    pub(crate) fn abs(self) -> Self {
        self.max(-self)
    }

    /// Sum of the lanes.
    #[inline(always)]
    pub(crate) fn sum(self) -> f64 {
        self.low() + self.high()
    }
}

impl Mul<Pair> for f64 {
    type Output = Pair;
    #[inline(always)]
    fn mul(self, o: Pair) -> Pair {
        Pair::splat(self) * o
    }
}

/// Two vectors at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair3 {
    pub(crate) x: Pair,
    pub(crate) y: Pair,
    pub(crate) z: Pair,
}

impl Pair3 {
    #[inline(always)]
    pub(crate) fn new(low: Vec3, high: Vec3) -> Self {
        Pair3 { x: Pair::new(low.x, high.x), y: Pair::new(low.y, high.y), z: Pair::new(low.z, high.z) }
    }

    #[inline(always)]
    pub(crate) fn dot(self, o: Self) -> Pair {
        self.x * o.x + self.y * o.y + self.z * o.z
    }

    #[inline(always)]
    pub(crate) fn cross(self, o: Self) -> Self {
        Pair3 {
            x: self.y * o.z - self.z * o.y,
            y: self.z * o.x - self.x * o.z,
            z: self.x * o.y - self.y * o.x,
        }
    }

    /// (high lane of `before`, low lane of `self`).
    #[inline(always)]
    pub(crate) fn after(self, before: Self) -> Self {
        Pair3 { x: self.x.after(before.x), y: self.y.after(before.y), z: self.z.after(before.z) }
    }
}

impl Add for Pair3 {
    type Output = Pair3;
    #[inline(always)]
    fn add(self, o: Pair3) -> Pair3 {
        Pair3 { x: self.x + o.x, y: self.y + o.y, z: self.z + o.z }
    }
}

impl Sub for Pair3 {
    type Output = Pair3;
    #[inline(always)]
    fn sub(self, o: Pair3) -> Pair3 {
        Pair3 { x: self.x - o.x, y: self.y - o.y, z: self.z - o.z }
    }
}

impl Mul<Pair3> for Pair {
    type Output = Pair3;
    #[inline(always)]
    fn mul(self, o: Pair3) -> Pair3 {
        Pair3 { x: self * o.x, y: self * o.y, z: self * o.z }
    }
}

impl Neg for Pair3 {
    type Output = Pair3;
    #[inline(always)]
    fn neg(self) -> Pair3 {
        Pair3 { x: -self.x, y: -self.y, z: -self.z }
    }
}
