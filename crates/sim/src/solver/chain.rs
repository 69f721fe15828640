//! Direct solution of the symmetric positive definite systems of a chain: blocks of 3 unknowns, each coupled to the
//! next two, and for closed chains to a border of two blocks more.
//!
//! The unknowns of a rod in their order along it, x₀ θ₀ x₁ θ₁ …, make such a system: a segment couples its ends and its
//! frame, a joint the frames of two segments. The factorisation H = L D Lᵀ has no fill, so that a solve costs the same for
//! every segment. A ring is cut at its first point and frame, which become the border: H is then factored without them,
//! and they follow from a 6×6 Schur complement.

use littoral_geom::math::{Mat3, Vec3};

/// A system over n blocks, with its memory. Lower blocks only.
#[derive(Clone, Debug, Default)]
pub struct ChainSystem {
    /// Diagonal blocks (n).
    pub diagonal: Vec<Mat3>,
    /// `next[k]` couples block k + 1 (row) to block k (column).
    pub next: Vec<Mat3>,
    /// `second[k]` couples block k + 2 (row) to block k (column).
    pub second: Vec<Mat3>,
    /// Right-hand side, then the solution.
    pub right: Vec<Vec3>,
    /// Couplings of each block (row) to the two blocks of the border (columns); empty without a border.
    pub border: Vec<[Mat3; 2]>,
    /// The border's own blocks: (0,0), (1,0), (1,1).
    pub corner: [Mat3; 3],
    /// Right-hand side of the border, then its solution.
    pub corner_right: [Vec3; 2],
    /// Border columns multiplied by the inverse, while solving.
    spread: Vec<[Mat3; 2]>,
}

impl ChainSystem {
    /// An empty system of `n` blocks, with or without a border.
    pub fn reset(&mut self, n: usize, has_border: bool) {
        let zero = [Mat3::ZERO; 2];
        for blocks in [&mut self.diagonal, &mut self.next, &mut self.second] {
            blocks.clear();
            blocks.resize(n, Mat3::ZERO);
        }
        self.right.clear();
        self.right.resize(n, Vec3::ZERO);
        self.border.clear();
        self.border.resize(if has_border { n } else { 0 }, zero);
        self.corner = [Mat3::ZERO; 3];
        self.corner_right = [Vec3::ZERO; 2];
    }

    /// Takes block `k` out: its solution is zero and nothing feels it.
    pub fn hold(&mut self, k: usize) {
        self.diagonal[k] = Mat3::IDENTITY;
        self.right[k] = Vec3::ZERO;
        self.next[k] = Mat3::ZERO;
        self.second[k] = Mat3::ZERO;
        if k >= 1 {
            self.next[k - 1] = Mat3::ZERO;
        }
        if k >= 2 {
            self.second[k - 2] = Mat3::ZERO;
        }
        if let Some(b) = self.border.get_mut(k) {
            *b = [Mat3::ZERO; 2];
        }
    }

    /// Takes a block of the border out.
    pub fn hold_border(&mut self, k: usize) {
        self.border.iter_mut().for_each(|b| b[k] = Mat3::ZERO);
        self.corner[2 * k] = Mat3::IDENTITY;
        self.corner[1] = Mat3::ZERO;
        self.corner_right[k] = Vec3::ZERO;
    }

    /// Replaces the right-hand sides by the solution; the blocks are used up.
    pub fn solve(&mut self) {
        self.factor();
        let n = self.diagonal.len();
        if self.border.is_empty() {
            self.substitute();
            return;
        }
        // H = [T B; Bᵀ C]: y = T⁻¹ b, Z = T⁻¹ B, (C − BᵀZ) c = d − Bᵀ y, x = y − Z c.
        self.substitute();
        self.spread_border();
        let mut schur = self.corner;
        let mut right = self.corner_right;
        for k in 0..n {
            let (b, z) = (&self.border[k], &self.spread[k]);
            let (b0, b1) = (b[0].transpose(), b[1].transpose());
            schur[0] -= b0 * z[0];
            schur[1] -= b1 * z[0];
            schur[2] -= b1 * z[1];
            right[0] -= b0 * self.right[k];
            right[1] -= b1 * self.right[k];
        }
        let inverse = symmetric_inverse(&schur[0]);
        let lower = schur[1] * inverse;
        let rest = schur[2] - lower * schur[1].transpose();
        let c1 = symmetric_inverse(&rest) * (right[1] - lower * right[0]);
        let c0 = inverse * (right[0] - schur[1].transpose() * c1);
        for k in 0..n {
            let z = &self.spread[k];
            self.right[k] -= z[0] * c0 + z[1] * c1;
        }
        self.corner_right = [c0, c1];
    }

    /// Leaves D⁻¹ in `diagonal` and the columns of L in `next` and `second`.
    fn factor(&mut self) {
        let n = self.diagonal.len();
        for k in 0..n {
            let inverse = symmetric_inverse(&self.diagonal[k]);
            self.diagonal[k] = inverse;
            let (a, b) = (self.next[k], self.second[k]);
            let (la, lb) = (a * inverse, b * inverse);
            let a_t = a.transpose();
            if k + 1 < n {
                self.diagonal[k + 1] -= la * a_t;
                self.next[k + 1] -= lb * a_t;
            }
            if k + 2 < n {
                self.diagonal[k + 2] -= lb * b.transpose();
            }
            (self.next[k], self.second[k]) = (la, lb);
        }
    }

    /// L D Lᵀ x = right.
    fn substitute(&mut self) {
        let n = self.diagonal.len();
        for k in 0..n {
            let x = self.right[k];
            if k + 1 < n {
                self.right[k + 1] -= self.next[k] * x;
            }
            if k + 2 < n {
                self.right[k + 2] -= self.second[k] * x;
            }
        }
        for k in (0..n).rev() {
            let mut x = self.diagonal[k] * self.right[k];
            if k + 1 < n {
                x -= transposed_product(&self.next[k], self.right[k + 1]);
            }
            if k + 2 < n {
                x -= transposed_product(&self.second[k], self.right[k + 2]);
            }
            self.right[k] = x;
        }
    }

    /// The same with the border's columns as right-hand sides.
    fn spread_border(&mut self) {
        let n = self.diagonal.len();
        self.spread.clone_from(&self.border);
        let z = &mut self.spread;
        for k in 0..n {
            let x = z[k];
            if k + 1 < n {
                z[k + 1] = [0, 1].map(|c| z[k + 1][c] - self.next[k] * x[c]);
            }
            if k + 2 < n {
                z[k + 2] = [0, 1].map(|c| z[k + 2][c] - self.second[k] * x[c]);
            }
        }
        for k in (0..n).rev() {
            z[k] = [0, 1].map(|c| {
                let mut x = self.diagonal[k] * z[k][c];
                if k + 1 < n {
                    x -= self.next[k].transpose() * z[k + 1][c];
                }
                if k + 2 < n {
                    x -= self.second[k].transpose() * z[k + 2][c];
                }
                x
            });
        }
    }
}

#[inline]
fn transposed_product(m: &Mat3, v: Vec3) -> Vec3 {
    Vec3::new(m.x_axis.dot(v), m.y_axis.dot(v), m.z_axis.dot(v))
}

/// Inverse of a symmetric positive definite matrix, from its lower triangle, by L D Lᵀ: as good as its condition allows,
/// where cofactors lose the small pivots of stiff rods.
#[inline]
fn symmetric_inverse(a: &Mat3) -> Mat3 {
    let (a00, a10, a20) = (a.x_axis.x, a.x_axis.y, a.x_axis.z);
    let (a11, a21, a22) = (a.y_axis.y, a.y_axis.z, a.z_axis.z);
    let d0 = 1.0 / a00;
    let (l10, l20) = (a10 * d0, a20 * d0);
    let d1 = 1.0 / (a11 - l10 * a10);
    let r21 = a21 - l20 * a10;
    let l21 = r21 * d1;
    let d2 = 1.0 / (a22 - l20 * a20 - l21 * r21);
    // L⁻¹ has the rows (1), (−l10, 1), (l10 l21 − l20, −l21, 1).
    let m20 = l10 * l21 - l20;
    let i22 = d2;
    let i21 = -l21 * d2;
    let i20 = m20 * d2;
    let i11 = d1 - l21 * i21;
    let i10 = -l10 * d1 - l21 * i20;
    let i00 = d0 + l10 * l10 * d1 + m20 * i20;
    Mat3::from_cols(Vec3::new(i00, i10, i20), Vec3::new(i10, i11, i21), Vec3::new(i20, i21, i22))
}

#[cfg(test)]
mod tests {
    use super::*;
    use littoral_geom::random::Random;

    fn matrix(random: &mut Random) -> Mat3 {
        Mat3::from_cols(random.in_cube(1.0), random.in_cube(1.0), random.in_cube(1.0))
    }

    /// A random system, diagonally dominant enough to be positive definite, and its product with a known solution.
    fn known(random: &mut Random, n: usize, border: bool) -> (ChainSystem, Vec<Vec3>) {
        let mut s = ChainSystem::default();
        s.reset(n, border);
        let spd = |random: &mut Random| {
            let m = matrix(random);
            m * m.transpose() + Mat3::from_diagonal(Vec3::splat(30.0))
        };
        for k in 0..n {
            s.diagonal[k] = spd(random);
            s.next[k] = matrix(random);
            s.second[k] = matrix(random);
        }
        s.border.iter_mut().for_each(|b| *b = [matrix(random) * 0.3, matrix(random) * 0.3]);
        s.corner = [spd(random), matrix(random), spd(random)];
        let x: Vec<Vec3> = (0..n + 2).map(|_| random.in_cube(1.0)).collect();
        for k in 0..n {
            let mut b = s.diagonal[k] * x[k];
            for (step, blocks) in [(1, &s.next), (2, &s.second)] {
                if k >= step {
                    b += blocks[k - step] * x[k - step];
                }
                if k + step < n {
                    b += blocks[k].transpose() * x[k + step];
                }
            }
            if border {
                b += s.border[k][0] * x[n] + s.border[k][1] * x[n + 1];
                s.corner_right[0] += s.border[k][0].transpose() * x[k];
                s.corner_right[1] += s.border[k][1].transpose() * x[k];
            }
            s.right[k] = b;
        }
        s.corner_right[0] += s.corner[0] * x[n] + s.corner[1].transpose() * x[n + 1];
        s.corner_right[1] += s.corner[1] * x[n] + s.corner[2] * x[n + 1];
        (s, x)
    }

    #[test]
    fn a_chain_is_solved_as_its_product_says() {
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let n = 1 + (random.unit() * 12.0) as usize;
            let border = random.chance(0.5);
            let (mut s, x) = known(&mut random, n, border);
            s.solve();
            let found = s.right.iter().chain(&s.corner_right);
            let count = if border { n + 2 } else { n };
            let error = found.zip(&x).take(count).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
            // Condition numbers below a hundred: some hundred roundings.
            assert!(error < 1e-12, "error {error:e}, seed {seed}");
        }
    }

    #[test]
    fn what_is_held_does_not_move_and_is_not_felt() {
        let mut random = Random::new(7);
        let (mut s, _) = known(&mut random, 9, false);
        let mut left = ChainSystem::default();
        left.reset(4, false);
        for k in 0..4 {
            left.diagonal[k] = s.diagonal[k];
            left.right[k] = s.right[k];
            left.next[k] = if k < 3 { s.next[k] } else { Mat3::ZERO };
            left.second[k] = if k < 2 { s.second[k] } else { Mat3::ZERO };
        }
        s.hold(4);
        s.hold(5);
        s.solve();
        left.solve();
        assert_eq!(s.right[4], Vec3::ZERO);
        let error = (0..4).map(|k| s.right[k].distance(left.right[k])).fold(0.0, f64::max);
        assert!(error < 1e-14, "{error:e}: the same operations but for products with zero");
    }
}
