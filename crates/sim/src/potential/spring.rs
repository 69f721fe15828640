//! A spring with rate damping: E = ½k(l − l̄)² + ½(β/h)k(l − lⁿ)², l = |x₁ − x₀|.
//!
//! Not for folds in a rod or for contact: it is a two-point law only.

use super::{ElementError, Potential, blocks};
use littoral_geom::math::{Mat3, Vec3};

use super::sym::Sym;

/// A spring between two points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// Stiffness k [N/m].
    stiffness: f64,
    /// Rest length l̄ [m].
    rest: f64,
    /// Rate damping β [s].
    damping: f64,
    /// β/h of the present step [–].
    ratio: f64,
    /// Length lⁿ at the start of the step [m].
    lagged: f64,
}

/// Force, stiffness along the spring and across it.
pub(super) struct Pull {
    pub(super) direction: Vec3,
    pub(super) tension: f64,
    pub(super) along: f64,
    pub(super) across: f64,
}

impl Pull {
    /// ∂²E/∂e∂e by the vector e between the ends [N/m], with its negative eigenvalues set to zero if `clamp`.
    pub(super) fn hessian(&self, clamp: bool) -> Mat3 {
        let across = if clamp { self.across.max(0.0) } else { self.across };
        Sym::identity(across).plus(self.along - across, self.direction).full()
    }
}

impl Spring {
    /// Spring of the given rest length l̄ ≥ 0 [m], stiffness k > 0 [N/m] and rate damping β ≥ 0 [s].
    pub fn new(rest: f64, stiffness: f64, damping: f64) -> Result<Self, ElementError> {
        ElementError::check_not_negative("rest length", rest)?;
        ElementError::check_positive("stiffness", stiffness)?;
        ElementError::check_not_negative("damping", damping)?;
        Ok(Spring { stiffness, rest, damping, ratio: 0.0, lagged: rest })
    }

    /// Sets the rest length l̄ ≥ 0 [m].
    pub fn set_rest(&mut self, rest: f64) {
        self.rest = rest;
    }

    /// What a vector `e` [m] between the ends is pulled with.
    #[inline]
    pub(super) fn pull(&self, e: Vec3) -> Pull {
        let l = e.length();
        let tension = self.stiffness * ((l - self.rest) + self.ratio * (l - self.lagged));
        let along = self.stiffness * (1.0 + self.ratio);
        // Ends that coincide have no direction: any one is right, none is worse than another.
        let (direction, across) = if l > 0.0 { (e / l, tension / l) } else { (Vec3::ZERO, along) };
        Pull { direction, tension, along, across }
    }

    fn blocks(&self, x: &[Vec3; 2], clamp: bool) -> [[Mat3; 2]; 2] {
        let h = self.pull(x[1] - x[0]).hessian(clamp);
        blocks(|i, j| if i == j { h } else { -h })
    }

    /// Energy [J] at the length l [m].
    pub(super) fn energy(&self, l: f64) -> f64 {
        0.5 * self.stiffness * ((l - self.rest).powi(2) + self.ratio * (l - self.lagged).powi(2))
    }

    pub(super) fn lag_length(&mut self, l: f64, h: f64) {
        self.lagged = l;
        self.ratio = self.damping / h;
    }
}

impl Potential<2> for Spring {
    fn value(&self, x: &[Vec3; 2]) -> f64 {
        self.energy((x[1] - x[0]).length())
    }

    fn gradient(&self, x: &[Vec3; 2]) -> [Vec3; 2] {
        let p = self.pull(x[1] - x[0]);
        let g = p.tension * p.direction;
        [-g, g]
    }

    fn hessian(&self, x: &[Vec3; 2]) -> [[Mat3; 2]; 2] {
        self.blocks(x, false)
    }

    fn hessian_psd(&self, x: &[Vec3; 2]) -> [[Mat3; 2]; 2] {
        self.blocks(x, true)
    }

    #[inline]
    fn block(&self, x: &[Vec3; 2], corner: usize) -> (Vec3, Mat3) {
        let p = self.pull(x[1] - x[0]);
        let across = p.across.max(0.0);
        let sign = if corner == 0 { -1.0 } else { 1.0 };
        (sign * p.tension * p.direction, Sym::identity(across).plus(p.along - across, p.direction).full())
    }

    fn lag(&mut self, x_n: &[Vec3; 2], h: f64) {
        self.lag_length(x_n[0].distance(x_n[1]), h);
    }
}
