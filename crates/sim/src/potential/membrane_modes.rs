//! Hessian of an isotropic membrane energy ψ(I, J), I = |F|², J = |f₁×f₂|, projected to positive semidefinite in
//! closed form; F = [f₁ f₂] is the 3×2 deformation gradient.
//!
//! With F = U Σ Vᵀ (singular values σ₁ ≥ σ₂ ≥ 0, n the normal) ∂²ψ/∂F² has six eigenpairs:
//! * scaling, two: eigenpairs q of A, A₁₁ = 2ψ_I + 4ψ_II σ₁² + ψ_JJ σ₂², A₁₂ = 4ψ_II J + ψ_JJ J + ψ_J, modes U diag(q) Vᵀ;
//! * twist and flip: 2ψ_I ± ψ_J, modes (u₁v₂ᵀ ∓ u₂v₁ᵀ)/√2;
//! * out of the plane: 2ψ_I + ψ_J σ₂/σ₁ with n v₁ᵀ, 2ψ_I + ψ_J σ₁/σ₂ with n v₂ᵀ.

use super::blocks;
use littoral_geom::math::{Mat3, Vec3, outer};

/// First and second derivatives of ψ(I, J), with ψ_IJ = 0.
pub(super) struct MembraneLaw {
    /// 2 ψ_I.
    pub i: f64,
    /// 4 ψ_II.
    pub ii: f64,
    /// ψ_J.
    pub j: f64,
    /// ψ_JJ.
    pub jj: f64,
}

/// The projected Hessian with respect to the corners `x`; `shape` holds ∇φ of each corner in a rest frame, `law`
/// takes I and J.
pub(super) fn membrane_hessian_psd(
    shape: [[f64; 2]; 3],
    x: &[Vec3; 3],
    law: impl Fn(f64, f64) -> MembraneLaw,
) -> [[Mat3; 3]; 3] {
    let column = |c: usize| shape[0][c] * x[0] + shape[1][c] * x[1] + shape[2][c] * x[2];
    let s = singular_triplets(column(0), column(1));
    let (s1, s2) = (s.sigma[0], s.sigma[1]);
    let law = law(s1 * s1 + s2 * s2, s1 * s2);

    let a12 = (law.ii + law.jj) * (s1 * s2) + law.j;
    let a11 = law.i + law.ii * s1 * s1 + law.jj * s2 * s2;
    let a22 = law.i + law.ii * s2 * s2 + law.jj * s1 * s1;
    let (values, [c, d]) = symmetric_2x2(a11, a12, a22);

    // Modes as coefficients of (u₁v₁ᵀ, u₁v₂ᵀ, u₂v₁ᵀ, u₂v₂ᵀ, nv₁ᵀ, nv₂ᵀ).
    const H: f64 = std::f64::consts::FRAC_1_SQRT_2;
    let ratio = if s1 > 0.0 { s2 / s1 } else { 1.0 };
    // ψ_J σ₁/σ₂ with σ₂ = 0: minus infinity for a barrier, and then projected to zero.
    let steep = if s2 > 0.0 { law.j * s1 / s2 } else { f64::NEG_INFINITY };
    let modes = [
        (values[0], [c, 0.0, 0.0, d, 0.0, 0.0]),
        (values[1], [-d, 0.0, 0.0, c, 0.0, 0.0]),
        (law.i + law.j, [0.0, H, -H, 0.0, 0.0, 0.0]),
        (law.i - law.j, [0.0, H, H, 0.0, 0.0, 0.0]),
        (law.i + law.j * ratio, [0.0, 0.0, 0.0, 0.0, 1.0, 0.0]),
        (law.i + steep, [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]),
    ];

    let mut h = [[Mat3::ZERO; 3]; 3];
    for (value, m) in modes {
        if value <= 0.0 {
            continue;
        }
        // Mode times ∇φ of each corner.
        let arm = shape.map(|g| {
            let (p, q) = (s.v[0][0] * g[0] + s.v[0][1] * g[1], s.v[1][0] * g[0] + s.v[1][1] * g[1]);
            s.u[0] * (m[0] * p + m[1] * q) + s.u[1] * (m[2] * p + m[3] * q) + s.normal * (m[4] * p + m[5] * q)
        });
        let part: [[Mat3; 3]; 3] = blocks(|i, j| outer(arm[i], arm[j]) * value);
        for (row, part) in h.iter_mut().zip(part) {
            for (block, part) in row.iter_mut().zip(part) {
                *block += part;
            }
        }
    }
    h
}

/// F = Σ σ_k u_k v_kᵀ with a right-handed (u₁, u₂, n).
struct Triplets {
    u: [Vec3; 2],
    normal: Vec3,
    sigma: [f64; 2],
    v: [[f64; 2]; 2],
}

fn singular_triplets(f1: Vec3, f2: Vec3) -> Triplets {
    let (_, [c, s]) = symmetric_2x2(f1.length_squared(), f1.dot(f2), f2.length_squared());
    let (a1, a2) = (c * f1 + s * f2, c * f2 - s * f1);
    let sigma1 = a1.length();
    let u1 = if sigma1 > 0.0 { a1 / sigma1 } else { Vec3::X };
    let rest = a2 - u1 * u1.dot(a2);
    let sigma2 = rest.length();
    let u2 = if sigma2 > f64::EPSILON * sigma1 { rest / sigma2 } else { u1.any_orthonormal_vector() };
    Triplets { u: [u1, u2], normal: u1.cross(u2), sigma: [sigma1, sigma2], v: [[c, s], [-s, c]] }
}

/// Eigenvalues, larger first, of [[a, b], [b, d]] and the unit eigenvector (c, s) of the first; (−s, c) is the other.
fn symmetric_2x2(a: f64, b: f64, d: f64) -> ([f64; 2], [f64; 2]) {
    let half = 0.5 * (a - d);
    let radius = half.hypot(b);
    let mean = 0.5 * (a + d);
    // The half-angle from the larger of the two candidates, so that nothing cancels.
    let (c, s) = if half >= 0.0 { (half + radius, b) } else { (b.abs(), (radius - half).copysign(b)) };
    let norm = c.hypot(s);
    let vector = if norm > 0.0 { [c / norm, s / norm] } else { [1.0, 0.0] };
    ([mean + radius, mean - radius], vector)
}
