//! Gravity on one point: E = −m g·x.

use super::Potential;
use littoral_geom::math::{Mat3, Vec3};

/// Weight of one point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gravity {
    /// m g [N].
    pub weight: Vec3,
}

impl Gravity {
    /// Point of mass `m` [kg] under the acceleration `g` [m/s²].
    pub fn new(m: f64, g: Vec3) -> Self {
        Gravity { weight: m * g }
    }
}

impl Potential<1> for Gravity {
    fn value(&self, x: &[Vec3; 1]) -> f64 {
        -self.weight.dot(x[0])
    }

    fn gradient(&self, _x: &[Vec3; 1]) -> [Vec3; 1] {
        [-self.weight]
    }

    fn hessian(&self, _x: &[Vec3; 1]) -> [[Mat3; 1]; 1] {
        [[Mat3::ZERO]]
    }

    fn hessian_psd(&self, x: &[Vec3; 1]) -> [[Mat3; 1]; 1] {
        self.hessian(x)
    }

    #[inline]
    fn block(&self, _x: &[Vec3; 1], _corner: usize) -> (Vec3, Mat3) {
        (-self.weight, Mat3::ZERO)
    }
}
