//! Symmetric 3×3 sums of scaled identities and outer products: six numbers where a full matrix has nine.

use littoral_geom::math::{Mat3, Vec3};

/// A symmetric 3×3 matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sym {
    pub(crate) xx: f64,
    pub(crate) yy: f64,
    pub(crate) zz: f64,
    pub(crate) xy: f64,
    pub(crate) yz: f64,
    pub(crate) zx: f64,
}

impl Sym {
    /// `s I`.
    #[inline(always)]
    pub(crate) fn identity(s: f64) -> Self {
        Sym { xx: s, yy: s, zz: s, xy: 0.0, yz: 0.0, zx: 0.0 }
    }

    /// `self + s v vᵀ`.
    #[inline(always)]
    pub(crate) fn plus(self, s: f64, v: Vec3) -> Self {
        let w = s * v;
        Sym {
            xx: self.xx + w.x * v.x,
            yy: self.yy + w.y * v.y,
            zz: self.zz + w.z * v.z,
            xy: self.xy + w.x * v.y,
            yz: self.yz + w.y * v.z,
            zx: self.zx + w.z * v.x,
        }
    }

    /// As a full matrix.
    #[inline(always)]
    pub(crate) fn full(self) -> Mat3 {
        Mat3::from_cols(
            Vec3::new(self.xx, self.xy, self.zx),
            Vec3::new(self.xy, self.yy, self.yz),
            Vec3::new(self.zx, self.yz, self.zz),
        )
    }
}
