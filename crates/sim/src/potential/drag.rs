//! Air drag on a triangle: pressure against the normal velocity, implicit in the step.
//!
//! The dissipation potential of a step is E = c/(2h) ∫ u² dA over the triangle at xⁿ, where u is the displacement
//! since xⁿ along the normal nⁿ, linear between the corners: E = c A/(24h) [Σ uᵢ² + (Σ uᵢ)²].
//! A triangle moving with normal velocity v feels −c A v nⁿ; tangential motion is free.

use super::sym::Sym;
use super::{ElementError, Potential, blocks};
use littoral_geom::math::{Mat3, Vec3, outer};

/// Air drag on one triangle. Without `lag` it is zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drag {
    /// Drag coefficient c [kg/(m² s)], ≥ 0.
    coefficient: f64,
    /// Start of the step [m].
    x_n: [Vec3; 3],
    /// Unit normal at the start of the step; zero for a triangle without area.
    normal: Vec3,
    /// c A / (12 h) [kg/s²].
    weight: f64,
}

impl Drag {
    /// Triangle with drag coefficient c [kg/(m² s)], ≥ 0: force per area against the normal velocity.
    pub fn new(coefficient: f64) -> Result<Self, ElementError> {
        ElementError::check_not_negative("drag", coefficient)?;
        Ok(Drag { coefficient, x_n: [Vec3::ZERO; 3], normal: Vec3::ZERO, weight: 0.0 })
    }

    /// Normal displacements uᵢ [m] and their sum.
    #[inline]
    fn normal_displacements(&self, x: &[Vec3; 3]) -> ([f64; 3], f64) {
        let along = |i: usize| self.normal.dot(x[i] - self.x_n[i]);
        let u = [along(0), along(1), along(2)];
        (u, u[0] + u[1] + u[2])
    }
}

impl Potential<3> for Drag {
    fn value(&self, x: &[Vec3; 3]) -> f64 {
        let (u, sum) = self.normal_displacements(x);
        0.5 * self.weight * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2] + sum * sum)
    }

    fn gradient(&self, x: &[Vec3; 3]) -> [Vec3; 3] {
        let (u, sum) = self.normal_displacements(x);
        u.map(|u| self.weight * (u + sum) * self.normal)
    }

    fn hessian(&self, _x: &[Vec3; 3]) -> [[Mat3; 3]; 3] {
        let nn = outer(self.normal, self.normal) * self.weight;
        blocks(|i, j| if i == j { 2.0 * nn } else { nn })
    }

    fn hessian_psd(&self, x: &[Vec3; 3]) -> [[Mat3; 3]; 3] {
        self.hessian(x)
    }

    #[inline]
    fn block(&self, x: &[Vec3; 3], corner: usize) -> (Vec3, Mat3) {
        let (u, sum) = self.normal_displacements(x);
        let force = self.weight * (u[corner] + sum) * self.normal;
        (force, Sym::identity(0.0).plus(2.0 * self.weight, self.normal).full())
    }

    fn lag(&mut self, x_n: &[Vec3; 3], h: f64) {
        let double_area = (x_n[1] - x_n[0]).cross(x_n[2] - x_n[0]);
        self.x_n = *x_n;
        self.normal = double_area.normalize_or_zero();
        self.weight = self.coefficient * 0.5 * double_area.length() / (12.0 * h);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drag_force_is_coefficient_times_area_times_normal_velocity() {
        let x_n = [Vec3::ZERO, Vec3::new(0.2, 0.0, 0.0), Vec3::new(0.0, 0.1, 0.0)];
        let (c, area, h, v) = (3.0, 0.01, 0.004, Vec3::new(5.0, -2.0, 0.7));
        let mut drag = Drag::new(c).expect("valid coefficient");
        drag.lag(&x_n, h);
        let g = drag.gradient(&x_n.map(|p| p + h * v));
        let force = -(g[0] + g[1] + g[2]);
        // A few rounding errors of h v, relative.
        assert!((force - Vec3::new(0.0, 0.0, -c * area * v.z)).length() < 1e-14);
    }
}
