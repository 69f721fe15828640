//! Singular value decomposition of a 3×3 matrix with two rotations, and the polar decomposition with a rotation.
//!
//! F = U diag(σ) Vᵀ with det U = det V = 1, so that the last singular value carries the sign of det F
//! [Irving 2004]. Computed by one-sided Jacobi rotations [Hestenes 1958], which keep the relative accuracy of small
//! singular values that an eigendecomposition of FᵀF would lose.

use crate::math::{Mat3, Vec3};

/// F = `u` · diag(`sigma`) · `v`ᵀ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RotationSvd {
    /// Left rotation U.
    pub u: Mat3,
    /// Singular values σ₁ ≥ σ₂ ≥ |σ₃| up to rounding; σ₃ has the sign of det F.
    pub sigma: Vec3,
    /// Right rotation V.
    pub v: Mat3,
}

/// Sweeps of three Jacobi rotations. Convergence is quadratic: five suffice in 10⁶ random matrices.
const SWEEPS: usize = 12;

/// Columns count as orthogonal when their cosine is below this: a rounding error of their dot product.
const ORTHOGONAL: f64 = 1e-16;

/// Decomposes any finite matrix, also singular or zero ones. What is not finite comes out as NaN singular values.
pub fn svd(f: Mat3) -> RotationSvd {
    let largest = f.x_axis.abs().max(f.y_axis.abs()).max(f.z_axis.abs()).max_element();
    if !f.is_finite() || largest == 0.0 {
        let sigma = if f.is_finite() { Vec3::ZERO } else { Vec3::NAN };
        return RotationSvd { u: Mat3::IDENTITY, sigma, v: Mat3::IDENTITY };
    }
    // Squares of the entries must neither overflow nor underflow.
    let scale = if (1e-100..1e100).contains(&largest) { 1.0 } else { largest };
    let mut a = [f.x_axis / scale, f.y_axis / scale, f.z_axis / scale];
    let mut v = [Vec3::X, Vec3::Y, Vec3::Z];
    for _ in 0..SWEEPS {
        let mut turned = false;
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            turned |= orthogonalize(&mut a, &mut v, p, q);
        }
        if !turned {
            break;
        }
    }

    // Largest column first; a swap with a sign is a rotation.
    for (p, q) in [(0, 1), (1, 2), (0, 1)] {
        if a[p].length_squared() < a[q].length_squared() {
            (a[p], a[q]) = (a[q], -a[p]);
            (v[p], v[q]) = (v[q], -v[p]);
        }
    }
    let u0 = a[0].normalize();
    let rest = a[1] - u0 * u0.dot(a[1]);
    // A column that is a rounding error of the first has no direction of its own.
    let u1 = if rest.length() > f64::EPSILON * 1e-8 * a[0].length() {
        let u1 = rest.normalize();
        (u1 - u0 * u0.dot(u1)).normalize()
    } else {
        u0.any_orthonormal_vector()
    };
    let u2 = u0.cross(u1);
    let sigma = Vec3::new(u0.dot(a[0]), u1.dot(a[1]), u2.dot(a[2])) * scale;
    RotationSvd { u: Mat3::from_cols(u0, u1, u2), sigma, v: Mat3::from_cols(v[0], v[1], v[2]) }
}

/// Rotates columns p and q so that they are orthogonal; false when they were.
#[inline]
fn orthogonalize(a: &mut [Vec3; 3], v: &mut [Vec3; 3], p: usize, q: usize) -> bool {
    let (pp, qq, pq) = (a[p].length_squared(), a[q].length_squared(), a[p].dot(a[q]));
    if pq * pq <= (ORTHOGONAL * pp) * (ORTHOGONAL * qq) || pq == 0.0 {
        return false;
    }
    // Smaller root of t² + 2τt − 1 = 0, t the tangent of the angle.
    let tau = (qq - pp) / (2.0 * pq);
    let t = 1.0f64.copysign(tau) / (tau.abs() + tau.hypot(1.0));
    let c = 1.0 / t.hypot(1.0);
    let s = c * t;
    for m in [a, v] {
        (m[p], m[q]) = (c * m[p] - s * m[q], s * m[p] + c * m[q]);
    }
    true
}

/// Newton steps for the largest root in `polar_rotation`; well-conditioned matrices need four to six.
const NEWTON_STEPS: usize = 24;

/// Least (σ₁+σ₂)(σ₂+σ₃)(σ₃+σ₁)/(σ₁+σ₂+σ₃)³ for the closed form of `polar_rotation`; 8/27 for a rotation. The error
/// grows like the square of its inverse: 8·10⁻¹⁵ at the worst here, measured; 4·10⁻¹⁴ at half of it.
const CLEAR_GAP: f64 = 0.1;

/// The rotation R nearest to F: R = U Vᵀ, F = R S with symmetric S. Where σ₂ + σ₃ = 0 any nearest one is returned.
///
/// The trace s of S is the largest root of det(s I − K) for Davenport's 4×4 matrix K of F, found by Newton's method
/// from above, and R is then rational in F and s: with the invariants of F and S,
/// R = [(s² + |F|²) F/2 + s cof F − F Fᵀ F] / det(tr(S) I − S). Near a double root the decomposition by `svd` is used.
pub fn polar_rotation(f: Mat3) -> Mat3 {
    closed_form_rotation(f).unwrap_or_else(|| {
        let d = svd(f);
        d.u * d.v.transpose()
    })
}

fn closed_form_rotation(f: Mat3) -> Option<Mat3> {
    let norm_sq = f.x_axis.length_squared() + f.y_axis.length_squared() + f.z_axis.length_squared();
    if !(1e-100..1e100).contains(&norm_sq) {
        return None;
    }
    let cof = cofactor(f);
    let det = f.x_axis.dot(cof.x_axis);
    let cof_sq = cof.x_axis.length_squared() + cof.y_axis.length_squared() + cof.z_axis.length_squared();
    // (s² − |F|²)² = 4 (|cof F|² + 2 s det F), since s² − |F|² = 2 tr cof S.
    let mut s = (3.0 * norm_sq).sqrt();
    let mut converged = false;
    for _ in 0..NEWTON_STEPS {
        let d = s * s - norm_sq;
        let slope = 4.0 * (s * d - 2.0 * det);
        let step = (d * d - 4.0 * (cof_sq + 2.0 * s * det)) / slope;
        s -= step;
        // The error after this step is about the square of the step, relative.
        converged = step.abs() <= 1e-9 * s;
        if converged || !s.is_finite() {
            break;
        }
    }
    // det(tr(S) I − S) = (σ₁+σ₂)(σ₂+σ₃)(σ₃+σ₁) = s tr(cof S) − det F
    let half = 0.5 * (s * s - norm_sq);
    let gaps = s * half - det;
    if !converged || gaps <= CLEAR_GAP * s * s * s {
        return None;
    }
    let square = f * (f.transpose() * f);
    Some((f * (0.5 * (s * s + norm_sq)) + cof * s - square) * (1.0 / gaps))
}

/// Cofactor matrix: columns are cross products of columns; F cof(F)ᵀ = det(F) I.
#[inline]
pub fn cofactor(f: Mat3) -> Mat3 {
    Mat3::from_cols(f.y_axis.cross(f.z_axis), f.z_axis.cross(f.x_axis), f.x_axis.cross(f.y_axis))
}

/// Eigenvalues and the rotation whose columns are the eigenvectors of a symmetric matrix: M = Q diag(values) Qᵀ.
/// Cyclic Jacobi rotations [Golub 2013, §8.5]; only the lower triangle is read. The eigenvalues are not sorted.
pub fn symmetric_eigen(m: Mat3) -> (Vec3, Mat3) {
    let mut a = m.to_cols_array_2d();
    let mut q = [Vec3::X, Vec3::Y, Vec3::Z];
    for _ in 0..SWEEPS {
        let mut turned = false;
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            let off = a[i][j];
            // Below a rounding error of the eigenvalues.
            if off.abs() <= 0.5 * f64::EPSILON * (a[i][i].abs() + a[j][j].abs()) * ORTHOGONAL
                || !off.is_finite()
            {
                continue;
            }
            turned = true;
            let tau = (a[j][j] - a[i][i]) / (2.0 * off);
            let t = 1.0f64.copysign(tau) / (tau.abs() + tau.hypot(1.0));
            let c = 1.0 / t.hypot(1.0);
            let s = c * t;
            let k = 3 - i - j;
            let (to_i, to_j) = (a[i.min(k)][i.max(k)], a[j.min(k)][j.max(k)]);
            a[i][i] -= t * off;
            a[j][j] += t * off;
            a[i][j] = 0.0;
            a[i.min(k)][i.max(k)] = c * to_i - s * to_j;
            a[j.min(k)][j.max(k)] = s * to_i + c * to_j;
            (q[i], q[j]) = (c * q[i] - s * q[j], s * q[i] + c * q[j]);
        }
        if !turned {
            break;
        }
    }
    (Vec3::new(a[0][0], a[1][1], a[2][2]), Mat3::from_cols(q[0], q[1], q[2]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn rotation(random: &mut Random) -> Mat3 {
        let a = random.direction();
        let b = a.any_orthonormal_vector();
        let spin = Mat3::from_axis_angle(a, random.between(-3.2, 3.2));
        spin * Mat3::from_cols(a, b, a.cross(b))
    }

    fn size(m: Mat3) -> f64 {
        (m.x_axis.length_squared() + m.y_axis.length_squared() + m.z_axis.length_squared()).sqrt()
    }

    /// Matrices of every kind: random, inverted, with singular values over many decades, singular, tiny, huge.
    fn cases() -> Vec<Mat3> {
        let mut random = Random::new(7);
        let mut out =
            vec![Mat3::ZERO, Mat3::IDENTITY, -Mat3::IDENTITY, Mat3::from_diagonal(Vec3::new(1.0, 1.0, -1.0))];
        for n in 0..20_000 {
            let decade = |r: &mut Random| r.log_between(1e-16, 1.0);
            let (u, v) = (rotation(&mut random), rotation(&mut random));
            let sigma = match n % 8 {
                0 => Vec3::new(1.0, decade(&mut random), decade(&mut random)),
                1 => Vec3::new(1.0, decade(&mut random), -decade(&mut random)),
                2 => Vec3::new(random.between(-1.0, 1.0), 0.0, 0.0),
                3 => Vec3::new(1.0, random.between(-1.0, 1.0), 0.0),
                4 => Vec3::splat(random.between(-1.0, 1.0)),
                5 => Vec3::new(
                    1.0,
                    1.0 + 1e-9 * random.between(-1.0, 1.0),
                    1.0 - 1e-12 * random.between(-1.0, 1.0),
                ),
                _ => random.in_cube(3.0),
            };
            let scale = [1.0, 1e-120, 1e-200, 1e150][(n / 8) % 4];
            out.push(if n % 16 == 15 {
                Mat3::from_cols(random.in_cube(1.0), random.in_cube(1.0), random.in_cube(1.0))
            } else {
                u * Mat3::from_diagonal(sigma) * v.transpose() * scale
            });
        }
        out
    }

    #[test]
    fn factors_are_rotations_and_give_the_matrix_back() {
        for f in cases() {
            let d = svd(f);
            // A dozen roundings in each of a handful of Jacobi sweeps.
            let tolerance = 3e-15;
            for q in [d.u, d.v] {
                assert!(size(q.transpose() * q - Mat3::IDENTITY) < tolerance, "{f}");
                assert!((q.determinant() - 1.0).abs() < tolerance, "{f}");
            }
            let least = d.sigma.x.min(d.sigma.y) - d.sigma.y.max(d.sigma.z.abs());
            assert!(least >= -tolerance * d.sigma.x, "order of {}", d.sigma);
            let back = d.u * Mat3::from_diagonal(d.sigma) * d.v.transpose();
            let largest = f.x_axis.abs().max(f.y_axis.abs()).max(f.z_axis.abs()).max_element();
            let error = if largest > 0.0 { size((back - f) * (1.0 / largest)) } else { 0.0 };
            assert!(error < 3.0 * tolerance, "{f}: {error:e}");
        }
    }

    #[test]
    fn singular_values_agree_with_an_independent_library() {
        for f in cases() {
            let d = svd(f);
            // Of dynamic size: the library has a less accurate closed form for 3×3.
            let oracle = nalgebra::DMatrix::from_column_slice(3, 3, &f.to_cols_array()).singular_values();
            let mut expected = [oracle[0], oracle[1], oracle[2]];
            expected.sort_by(|a, b| b.total_cmp(a));
            let found = [d.sigma.x, d.sigma.y, d.sigma.z.abs()];
            for (e, f) in expected.iter().zip(found) {
                // Backward stable on both sides: relative to the largest.
                assert!((e - f).abs() <= 5e-15 * found[0], "{e} {f}");
            }
        }
    }

    #[test]
    fn small_singular_values_of_scaled_columns_keep_their_digits() {
        let f = Mat3::from_cols(
            Vec3::new(1.0, 1.0, 0.0),
            Vec3::new(1e-9, -1e-9, 0.0),
            Vec3::new(0.0, 0.0, -1e-17),
        );
        let sigma = svd(f).sigma;
        let exact = Vec3::new(2f64.sqrt(), 2f64.sqrt() * 1e-9, 1e-17);
        assert!(((sigma - exact) / exact).abs().max_element() < 1e-14);
    }

    #[test]
    fn what_is_not_finite_is_said_so() {
        assert!(svd(Mat3::from_diagonal(Vec3::new(1.0, f64::NAN, 1.0))).sigma.is_nan());
        assert!(svd(Mat3::from_diagonal(Vec3::new(1.0, f64::INFINITY, 1.0))).sigma.is_nan());
    }

    #[test]
    fn polar_factor_is_the_nearest_rotation() {
        for f in cases() {
            let (r, d) = (polar_rotation(f), svd(f));
            // The measured error of the closed form, doubled.
            assert!(size(r.transpose() * r - Mat3::IDENTITY) < 1.6e-14, "{f}");
            assert!((r.determinant() - 1.0).abs() < 1.6e-14);
            // Nearest: R·F reaches the largest value any rotation can, the sum of the signed singular values.
            let scale = if d.sigma.x > 0.0 { 1.0 / d.sigma.x } else { 1.0 };
            let s = r.transpose() * (f * scale);
            let trace = s.x_axis.x + s.y_axis.y + s.z_axis.z;
            assert!((trace - scale * (d.sigma.x + d.sigma.y + d.sigma.z)).abs() < 1.6e-14, "{f}");
        }
    }

    #[test]
    fn symmetric_eigenpairs_give_the_matrix_back() {
        for f in cases().into_iter().filter(|f| size(*f) < 1e100) {
            let m = f + f.transpose();
            let (values, q) = symmetric_eigen(m);
            let back = q * Mat3::from_diagonal(values) * q.transpose();
            assert!(size(back - m) <= 5e-15 * size(m), "{m}");
            assert!(size(q.transpose() * q - Mat3::IDENTITY) < 3e-15);
        }
    }
}
