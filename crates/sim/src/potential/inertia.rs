//! Inertia of one point: the distance to where it would be without forces [Martin 2011; Chen 2024, Eq. 1].
//!
//! E = ½ (m/h²) |x − y|², y = xⁿ + h vⁿ + h² f/m.

use super::Potential;
use littoral_geom::math::{Mat3, Vec3};

/// Inertia of one point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inertia {
    /// m/h² [kg/s²], ≥ 0.
    pub weight: f64,
    /// Inertial target y [m].
    pub target: Vec3,
}

impl Inertia {
    /// Point of mass `m` [kg] in a step of length `h` [s] towards `target` [m].
    pub fn new(m: f64, h: f64, target: Vec3) -> Self {
        Inertia { weight: m / (h * h), target }
    }
}

impl Potential<1> for Inertia {
    fn value(&self, x: &[Vec3; 1]) -> f64 {
        0.5 * self.weight * (x[0] - self.target).length_squared()
    }

    fn gradient(&self, x: &[Vec3; 1]) -> [Vec3; 1] {
        [self.weight * (x[0] - self.target)]
    }

    fn hessian(&self, _x: &[Vec3; 1]) -> [[Mat3; 1]; 1] {
        [[Mat3::IDENTITY * self.weight]]
    }

    fn hessian_psd(&self, x: &[Vec3; 1]) -> [[Mat3; 1]; 1] {
        self.hessian(x)
    }

    #[inline]
    fn block(&self, x: &[Vec3; 1], _corner: usize) -> (Vec3, Mat3) {
        (self.weight * (x[0] - self.target), Mat3::IDENTITY * self.weight)
    }
}
