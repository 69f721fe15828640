//! A barrier against the collapse of a tetrahedron: zero above a small volume ratio, infinite at zero.
//!
//! Truncation keeps every tet positive, but an energy that lets it be flattened leaves it at the edge of that, where
//! nothing moves. With J the ratio of volume to rest volume and J₀ the ratio where it begins,
//! E = −κ V₀ (J − J₀)² ln(J/J₀) for J < J₀: the barrier of [Li 2020, IPC] in J, C² at J₀.

use super::{ElementError, Potential, blocks};
use littoral_geom::math::{Mat3, Vec3, outer, skew};
use littoral_geom::mesh::tet_volume;

/// Volume ratio J₀ below which the barrier acts. Larger: stiffer than the material already at moderate squeezing.
const BEGIN: f64 = 0.1;

/// κ in units of the stiffness λ + 2μ over J₀: at J₀/2 the pressure is then about that stiffness.
const STRENGTH: f64 = 1.0;

/// The barrier is not followed below this share of J₀, so that its derivatives stay finite.
const FLOOR: f64 = 1e-6;

/// The barrier of one tet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collapse {
    /// 1/(6 V₀) [1/m³].
    inverse: f64,
    /// κ V₀ [J].
    strength: f64,
}

impl Collapse {
    /// Barrier of the tet with the rest shape `x_rest` [m], Young's modulus E [Pa] and Poisson's ratio ν.
    pub fn new(x_rest: [Vec3; 4], young: f64, poisson: f64) -> Result<Self, ElementError> {
        let volume = tet_volume(x_rest);
        if volume.is_nan() || volume <= 0.0 {
            return Err(ElementError::NoVolume { volume });
        }
        // λ + 2μ = E (1−ν) / ((1+ν)(1−2ν))
        let modulus = young * (1.0 - poisson) / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
        Ok(Collapse { inverse: 1.0 / (6.0 * volume), strength: STRENGTH * modulus / BEGIN * volume })
    }

    #[inline]
    fn ratio(&self, x: &[Vec3; 4]) -> f64 {
        (x[1] - x[0]).dot((x[2] - x[0]).cross(x[3] - x[0])) * self.inverse
    }

    /// ∂J/∂x of one corner [1/m].
    #[inline]
    fn ratio_gradient(&self, x: &[Vec3; 4], corner: usize) -> Vec3 {
        let normal = match corner {
            0 => (x[3] - x[1]).cross(x[2] - x[1]),
            1 => (x[2] - x[0]).cross(x[3] - x[0]),
            2 => (x[3] - x[0]).cross(x[1] - x[0]),
            _ => (x[1] - x[0]).cross(x[2] - x[0]),
        };
        normal * self.inverse
    }

    /// First and second derivative of E by J [J].
    #[inline]
    fn slopes(&self, j: f64) -> (f64, f64) {
        let j = j.max(FLOOR * BEGIN);
        let (gap, log) = (j - BEGIN, (j / BEGIN).ln());
        let first = -self.strength * gap * (2.0 * log + gap / j);
        let second = -self.strength * (2.0 * log + 4.0 * gap / j - gap * gap / (j * j));
        (first, second)
    }

    /// ∂²J/∂xᵢ∂xⱼ [1/m²], linear in the positions: ± half of the skew matrix of the edge between the other two.
    fn ratio_hessian(&self, x: &[Vec3; 4]) -> [[Mat3; 4]; 4] {
        // det is trilinear in the edges e₁ e₂ e₃ from x₀: ∂²det/∂eₐ∂e_b = −[e_c]ₓ for (a b c) cyclic.
        let e = [x[1] - x[0], x[2] - x[0], x[3] - x[0]];
        let by_edges = |a: usize, b: usize| match (3 + b - a) % 3 {
            0 => Mat3::ZERO,
            1 => -skew(e[(a + 2) % 3]),
            _ => skew(e[(a + 1) % 3]),
        };
        blocks(|i, j| {
            let mut sum = Mat3::ZERO;
            for a in 0..3 {
                for b in 0..3 {
                    let factor = |corner: usize, edge: usize| match corner {
                        0 => -1.0,
                        c if c == edge + 1 => 1.0,
                        _ => 0.0,
                    };
                    sum += by_edges(a, b) * (factor(i, a) * factor(j, b) * self.inverse);
                }
            }
            sum
        })
    }
}

impl Potential<4> for Collapse {
    fn value(&self, x: &[Vec3; 4]) -> f64 {
        let j = self.ratio(x);
        if j >= BEGIN {
            return 0.0;
        }
        let j = j.max(FLOOR * BEGIN);
        -self.strength * (j - BEGIN) * (j - BEGIN) * (j / BEGIN).ln()
    }

    fn gradient(&self, x: &[Vec3; 4]) -> [Vec3; 4] {
        let j = self.ratio(x);
        if j >= BEGIN {
            return [Vec3::ZERO; 4];
        }
        let (first, _) = self.slopes(j);
        [0, 1, 2, 3].map(|c| first * self.ratio_gradient(x, c))
    }

    fn hessian(&self, x: &[Vec3; 4]) -> [[Mat3; 4]; 4] {
        let j = self.ratio(x);
        if j >= BEGIN {
            return [[Mat3::ZERO; 4]; 4];
        }
        let (first, _) = self.slopes(j);
        let psd = self.hessian_psd(x);
        let bent = self.ratio_hessian(x);
        blocks(|a, b| psd[a][b] + first * bent[a][b])
    }

    /// Gauss–Newton: E″ ∇J ∇Jᵀ.
    fn hessian_psd(&self, x: &[Vec3; 4]) -> [[Mat3; 4]; 4] {
        let j = self.ratio(x);
        if j >= BEGIN {
            return [[Mat3::ZERO; 4]; 4];
        }
        let (_, second) = self.slopes(j);
        let g = [0, 1, 2, 3].map(|c| self.ratio_gradient(x, c));
        blocks(|a, b| outer(g[a], g[b]) * second)
    }

    /// Exact: J is linear in a single corner.
    #[inline]
    fn block(&self, x: &[Vec3; 4], corner: usize) -> (Vec3, Mat3) {
        let j = self.ratio(x);
        if j >= BEGIN {
            return (Vec3::ZERO, Mat3::ZERO);
        }
        let (first, second) = self.slopes(j);
        let g = self.ratio_gradient(x, corner);
        (first * g, outer(g, g) * second)
    }
}
