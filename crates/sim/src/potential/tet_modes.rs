//! Hessian of an isotropic volumetric energy ψ(σ₁, σ₂, σ₃) in closed form, exact or projected to positive
//! semidefinite [Smith 2019].
//!
//! With F = U Σ Vᵀ, U and V rotations, ∂²ψ/∂F² has nine eigenpairs:
//! * scaling, three: eigenpairs q of A_ij = ∂²ψ/∂σᵢ∂σⱼ, modes U diag(q) Vᵀ;
//! * for each pair (i, j) with third index k, the symmetric mode U (e_ij + e_ji)/√2 Vᵀ with (ψᵢ−ψⱼ)/(σᵢ−σⱼ) and the
//!   antisymmetric one U (e_ij − e_ji)/√2 Vᵀ with (ψᵢ+ψⱼ)/(σᵢ+σⱼ); energies give both without the division.

use super::blocks;
use littoral_geom::math::{Mat3, Vec3, outer};
use littoral_geom::svd::{RotationSvd, symmetric_eigen};

/// Second derivatives of ψ by the singular values, each times the rest volume.
pub(super) struct PrincipalLaw {
    /// A, symmetric.
    pub scaling: Mat3,
    /// Eigenvalues of the symmetric modes, by the third index k.
    pub symmetric: [f64; 3],
    /// Eigenvalues of the antisymmetric modes, by the third index k.
    pub antisymmetric: [f64; 3],
}

/// Hessian with respect to the corners; `shape` holds the gradients of their shape functions.
pub(super) fn tet_hessian(
    shape: &[Vec3; 4],
    f: &RotationSvd,
    law: &PrincipalLaw,
    clamp: bool,
) -> [[Mat3; 4]; 4] {
    let in_v = shape.map(|m| f.v.transpose() * m);
    let mut h = [[Mat3::ZERO; 4]; 4];
    // Mode · ∇φ in the frame of U, for each corner.
    let mut add = |value: f64, arms: [Vec3; 4]| {
        if clamp && value <= 0.0 {
            return;
        }
        for (row, a) in h.iter_mut().zip(arms) {
            for (block, b) in row.iter_mut().zip(arms) {
                *block += outer(a, b) * value;
            }
        }
    };

    let (values, vectors) = symmetric_eigen(law.scaling);
    for k in 0..3 {
        add(values[k], in_v.map(|m| m * vectors.col(k)));
    }
    for k in 0..3 {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        for (value, sign) in [(law.symmetric[k], 1.0), (law.antisymmetric[k], -1.0)] {
            add(
                value,
                in_v.map(|m| {
                    let mut arm = Vec3::ZERO;
                    arm[i] = m[j] * std::f64::consts::FRAC_1_SQRT_2;
                    arm[j] = m[i] * sign * std::f64::consts::FRAC_1_SQRT_2;
                    arm
                }),
            );
        }
    }
    blocks(|i, j| f.u * h[i][j] * f.u.transpose())
}
