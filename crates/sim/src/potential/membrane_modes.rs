//! Hessian of an isotropic membrane energy ψ(I, J), I = |F|², J = |f₁×f₂|, projected to positive semidefinite in
//! closed form; F = [f₁ f₂] is the 3×2 deformation gradient.
//!
//! With F = U Σ Vᵀ (singular values σ₁ ≥ σ₂ ≥ 0, n the normal) ∂²ψ/∂F² has six eigenpairs:
//! * scaling, two: eigenpairs q of A, A₁₁ = 2ψ_I + 4ψ_II σ₁² + ψ_JJ σ₂², A₁₂ = 4ψ_II J + ψ_JJ J + ψ_J, modes U diag(q) Vᵀ;
//! * twist and flip: 2ψ_I ± ψ_J, modes (u₁v₂ᵀ ∓ u₂v₁ᵀ)/√2;
//! * out of the plane: 2ψ_I + ψ_J σ₂/σ₁ with n v₁ᵀ, 2ψ_I + ψ_J σ₁/σ₂ with n v₂ᵀ.

use littoral_geom::math::{Mat3, Vec3};

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

    let ratio = if s1 > 0.0 { s2 / s1 } else { 1.0 };
    // ψ_J σ₁/σ₂ with σ₂ = 0: minus infinity for a barrier, and then projected to zero.
    let steep = if s2 > 0.0 { law.j * s1 / s2 } else { f64::NEG_INFINITY };
    let (larger, smaller) = (values[0].max(0.0), values[1].max(0.0));
    // Scaling: Σ λ q qᵀ.
    let a11 = larger * c * c + smaller * d * d;
    let a22 = larger * d * d + smaller * c * c;
    let a12 = (larger - smaller) * c * d;
    // Twist and flip together: half their sum on u₁v₂ᵀ and u₂v₁ᵀ alone, half their difference between them.
    let (twist, flip) = ((law.i + law.j).max(0.0), (law.i - law.j).max(0.0));
    let (same, swapped) = (0.5 * (flip + twist), 0.5 * (flip - twist));
    let out = [(law.i + law.j * ratio).max(0.0), (law.i + steep).max(0.0)];

    let frame = Mat3::from_cols(s.u[0], s.u[1], s.normal);
    // ∇φ of each corner in the frame of V.
    let arms = shape.map(|g| [s.v[0][0] * g[0] + s.v[0][1] * g[1], s.v[1][0] * g[0] + s.v[1][1] * g[1]]);
    let block = |a: [f64; 2], b: [f64; 2]| {
        let h11 = a11 * a[0] * b[0] + same * a[1] * b[1];
        let h12 = a12 * a[0] * b[1] + swapped * a[1] * b[0];
        let h21 = a12 * a[1] * b[0] + swapped * a[0] * b[1];
        let h22 = a22 * a[1] * b[1] + same * a[0] * b[0];
        let h33 = out[0] * a[0] * b[0] + out[1] * a[1] * b[1];
        let h = Mat3::from_cols(Vec3::new(h11, h21, 0.0), Vec3::new(h12, h22, 0.0), Vec3::new(0.0, 0.0, h33));
        frame * h * frame.transpose()
    };
    let mut h = [[Mat3::ZERO; 3]; 3];
    for i in 0..3 {
        for j in 0..=i {
            h[i][j] = block(arms[i], arms[j]);
            h[j][i] = h[i][j].transpose();
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
