//! Hessian of an isotropic volumetric energy ψ(σ₁, σ₂, σ₃) in closed form, exact or projected to positive
//! semidefinite [Smith 2019].
//!
//! With F = U Σ Vᵀ, U and V rotations, ∂²ψ/∂F² has nine eigenpairs:
//! * scaling, three: eigenpairs q of A_ij = ∂²ψ/∂σᵢ∂σⱼ, modes U diag(q) Vᵀ;
//! * for each pair (i, j) with third index k, the symmetric mode U (e_ij + e_ji)/√2 Vᵀ with (ψᵢ−ψⱼ)/(σᵢ−σⱼ) and the
//!   antisymmetric one U (e_ij − e_ji)/√2 Vᵀ with (ψᵢ+ψⱼ)/(σᵢ+σⱼ); energies give both without the division.

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
    let kept = |value: f64| if clamp { value.max(0.0) } else { value };
    let scaling = if clamp { positive_part(law.scaling) } else { law.scaling };
    // Symmetric and antisymmetric modes of the plane (i, j) together: half their sum on e_ij e_ij and e_ji e_ji, half
    // their difference on e_ij e_ji.
    let plane = |k: usize| (kept(law.symmetric[k]), kept(law.antisymmetric[k]));
    let (same, swapped): ([f64; 3], [f64; 3]) = (
        std::array::from_fn(|k| 0.5 * (plane(k).0 + plane(k).1)),
        std::array::from_fn(|k| 0.5 * (plane(k).0 - plane(k).1)),
    );
    // Block of the corners with arms a and b, in the frame of U.
    let block = |a: Vec3, b: Vec3| {
        let (a, b) = (a.to_array(), b.to_array());
        let mut h = Mat3::ZERO;
        for i in 0..3 {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            h.col_mut(i)[i] = scaling.col(i)[i] * a[i] * b[i] + same[k] * a[j] * b[j] + same[j] * a[k] * b[k];
            h.col_mut(j)[i] = scaling.col(j)[i] * a[i] * b[j] + swapped[k] * a[j] * b[i];
            h.col_mut(i)[j] = scaling.col(i)[j] * a[j] * b[i] + swapped[k] * a[i] * b[j];
        }
        f.u * h * f.u.transpose()
    };
    let mut h = [[Mat3::ZERO; 4]; 4];
    for i in 0..4 {
        for j in 0..=i {
            h[i][j] = block(in_v[i], in_v[j]);
            h[j][i] = h[i][j].transpose();
        }
    }
    h
}

/// A symmetric matrix with its negative eigenvalues set to zero.
fn positive_part(a: Mat3) -> Mat3 {
    // Sylvester: leading minors above rounding.
    let (m1, m2, m3) = (a.x_axis.x, a.x_axis.x * a.y_axis.y - a.x_axis.y * a.y_axis.x, a.determinant());
    if m1 > 0.0 && m2 > 0.0 && m3 > 0.0 {
        return a;
    }
    let (values, vectors) = symmetric_eigen(a);
    let part = |k: usize| outer(vectors.col(k), vectors.col(k)) * values[k].max(0.0);
    part(0) + part(1) + part(2)
}
