//! Stiffening of a membrane beyond a stretch: nothing below, steep above.
//!
//! With F the 3×2 deformation of the rest triangle, cₐ = σₐ² the eigenvalues of C = FᵀF and e = ½(c − (1+ε)²) their
//! excess over the limit, E = A₀t Σ ⅙ K e₊³: C², isotropic, and no force while no direction is stretched by more than
//! ε. A pulled membrane has a positive stress, so that the exact Hessian is positive semidefinite:
//!
//! ∂E/∂xᵢ = Σₐ 2φ′ₐ m_{ia} uₐ, and
//! ∂²E/∂xᵢ∂xⱼ = Σₐ [2φ′ₐ m_{ia}m_{ja} I + 4φ″ₐ m_{ia}m_{ja} uₐuₐᵀ] + 2g (m_{i2}u₁ + m_{i1}u₂)(m_{j2}u₁ + m_{j1}u₂)ᵀ,
//! uₐ = F nₐ, m_{ia} = ∇φᵢ·nₐ in the eigenvectors n of C, φ = ⅙Ke₊³ by c, and g = (φ′₁ − φ′₂)/(c₁ − c₂) ≥ 0.

use super::{ElementError, Potential, blocks, rest_area};
use littoral_geom::math::{Mat3, Vec3, outer};

/// K in units of Young's modulus over the limit. At a tenth of the limit beyond it the membrane is ten times as stiff as
/// before. Larger: a sharper limit that takes more iterations.
const STEEPNESS: f64 = 100.0;

/// A triangle that resists stretch beyond a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StrainLimit {
    /// Gradients ∇φᵢ of the shape functions in a rest frame of the plane [1/m].
    shape: [[f64; 2]; 3],
    /// (1 + ε)².
    limit: f64,
    /// A₀ t K [J].
    strength: f64,
}

/// The triangle in the eigenvectors of C.
struct Stretch {
    /// Excesses e₁ ≥ e₂, not below zero.
    excess: [f64; 2],
    /// uₐ.
    u: [Vec3; 2],
    /// m_{ia}.
    m: [[f64; 2]; 3],
    /// (φ′₁ − φ′₂)/(c₁ − c₂) over A₀tK.
    mixed: f64,
}

impl StrainLimit {
    /// Triangle with the rest shape `x_rest` [m], thickness t > 0 [m] and Young's modulus E > 0 [Pa], that may be
    /// stretched by `limit` ε > 0 [–].
    pub fn new(x_rest: [Vec3; 3], young: f64, thickness: f64, limit: f64) -> Result<Self, ElementError> {
        ElementError::check_positive("Young's modulus", young)?;
        ElementError::check_positive("thickness", thickness)?;
        ElementError::check_positive("strain limit", limit)?;
        let area = rest_area(&x_rest)?;
        let along = (x_rest[1] - x_rest[0]).normalize();
        let normal = (x_rest[1] - x_rest[0]).cross(x_rest[2] - x_rest[0]).normalize();
        let across = normal.cross(along);
        let shape = [0, 1, 2].map(|i| {
            // ∇φᵢ is the opposite edge, turned inwards by a quarter, over twice the area.
            let inward = normal.cross(x_rest[(i + 2) % 3] - x_rest[(i + 1) % 3]) / (2.0 * area);
            [inward.dot(along), inward.dot(across)]
        });
        let strength = STEEPNESS * young / limit * area * thickness;
        Ok(StrainLimit { shape, limit: (1.0 + limit) * (1.0 + limit), strength })
    }

    /// `None` while nothing is beyond the limit.
    #[inline]
    fn stretch(&self, x: &[Vec3; 3]) -> Option<Stretch> {
        let (a, b) = (x[1] - x[0], x[2] - x[0]);
        let [_, p, q] = self.shape;
        let f = [p[0] * a + q[0] * b, p[1] * a + q[1] * b];
        let (c11, c12, c22) = (f[0].length_squared(), f[0].dot(f[1]), f[1].length_squared());
        let (mean, half) = (0.5 * (c11 + c22), 0.5 * (c11 - c22));
        let radius = half.hypot(c12);
        if mean + radius <= self.limit {
            return None;
        }
        let (sin, cos) = (0.5 * c12.atan2(half)).sin_cos();
        let excess = [mean + radius, mean - radius].map(|c| (0.5 * (c - self.limit)).max(0.0));
        let mixed = if excess[1] > 0.0 {
            0.125 * (excess[0] + excess[1])
        } else {
            // e₂ ≤ 0 < e₁: the eigenvalues differ by 2e₁ at least.
            0.125 * excess[0] * excess[0] / radius
        };
        Some(Stretch {
            excess,
            u: [cos * f[0] + sin * f[1], cos * f[1] - sin * f[0]],
            m: self.shape.map(|m| [cos * m[0] + sin * m[1], cos * m[1] - sin * m[0]]),
            mixed,
        })
    }
}

impl Stretch {
    /// φ′ₐ over A₀tK.
    #[inline]
    fn first(&self, a: usize) -> f64 {
        0.25 * self.excess[a] * self.excess[a]
    }

    #[inline]
    fn gradient(&self, i: usize) -> Vec3 {
        let m = self.m[i];
        (2.0 * self.first(0) * m[0]) * self.u[0] + (2.0 * self.first(1) * m[1]) * self.u[1]
    }

    #[inline]
    fn hessian(&self, i: usize, j: usize) -> Mat3 {
        let (m, n) = (self.m[i], self.m[j]);
        let mut h = Mat3::ZERO;
        for a in 0..2 {
            let both = m[a] * n[a];
            h += Mat3::from_diagonal(Vec3::splat(2.0 * self.first(a) * both));
            // 4φ″ = e
            h += outer(self.u[a], self.u[a]) * (self.excess[a] * both);
        }
        let side = |m: [f64; 2]| m[1] * self.u[0] + m[0] * self.u[1];
        h + outer(side(m), side(n)) * (2.0 * self.mixed)
    }
}

impl Potential<3> for StrainLimit {
    fn value(&self, x: &[Vec3; 3]) -> f64 {
        self.stretch(x).map_or(0.0, |s| {
            let [a, b] = s.excess;
            self.strength * (a * a * a + b * b * b) / 6.0
        })
    }

    fn gradient(&self, x: &[Vec3; 3]) -> [Vec3; 3] {
        self.stretch(x).map_or([Vec3::ZERO; 3], |s| [0, 1, 2].map(|i| self.strength * s.gradient(i)))
    }

    fn hessian(&self, x: &[Vec3; 3]) -> [[Mat3; 3]; 3] {
        self.stretch(x).map_or([[Mat3::ZERO; 3]; 3], |s| blocks(|i, j| s.hessian(i, j) * self.strength))
    }

    /// The exact one: it is positive semidefinite.
    fn hessian_psd(&self, x: &[Vec3; 3]) -> [[Mat3; 3]; 3] {
        self.hessian(x)
    }

    #[inline]
    fn block(&self, x: &[Vec3; 3], corner: usize) -> (Vec3, Mat3) {
        match self.stretch(x) {
            None => (Vec3::ZERO, Mat3::ZERO),
            Some(s) => {
                let h = s.hessian(corner, corner) * self.strength;
                (self.strength * s.gradient(corner), 0.5 * (h + h.transpose()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_resists_below_the_limit_and_a_pull_beyond_it_has_the_stress_of_the_law() {
        let (young, thickness, limit) = (1e6, 1e-3, 0.05);
        let rest = [Vec3::ZERO, Vec3::new(0.02, 0.0, 0.0), Vec3::new(0.007, 0.01, 0.0)];
        let element = StrainLimit::new(rest, young, thickness, limit).expect("a valid triangle");
        let pulled = |s: f64| rest.map(|p| Vec3::new(s * p.x, p.y, 0.3 * p.y));
        // The slope along y is stretched by √(1 + 0.09) = 1.044.
        assert_eq!(element.value(&pulled(1.049)), 0.0);
        let s = 1.07;
        // dE/ds = A₀t K ½e² s, e = ½(s² − 1.05²)
        let e = 0.5 * (s * s - 1.05 * 1.05);
        let expected = 1e-4 * thickness * STEEPNESS * young / limit * 0.5 * e * e * s;
        let g = element.gradient(&pulled(s));
        let slope: f64 = (0..3).map(|i| g[i].dot(Vec3::new(rest[i].x, 0.0, 0.0))).sum();
        // A dozen roundings, and e loses a digit.
        assert!((slope - expected).abs() < 1e-12 * expected, "{slope} against {expected}");
    }
}
