//! Conjugate gradients with the inverse diagonal blocks as preconditioner, for systems too large to factorise.
//!
//! Sums are taken in fixed chunks, so that the bits do not depend on the number of threads.

use super::sparse::BlockMatrix;
use littoral_geom::math::{Mat3, Vec3};
use rayon::prelude::*;

/// Points per partial sum.
const CHUNK: usize = 2048;

/// What a solve did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PcgReport {
    /// Products with the matrix.
    pub iterations: u32,
    /// √(rᵀD⁻¹r) at the end relative to the start [–].
    pub residual: f64,
}

/// Reusable vectors.
#[derive(Clone, Debug, Default)]
pub struct Pcg {
    inverse: Vec<Mat3>,
    r: Vec<Vec3>,
    z: Vec<Vec3>,
    p: Vec<Vec3>,
    ap: Vec<Vec3>,
}

fn dot(a: &[Vec3], b: &[Vec3]) -> f64 {
    let parts: Vec<f64> = a
        .par_chunks(CHUNK)
        .zip(b.par_chunks(CHUNK))
        .map(|(a, b)| a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum())
        .collect();
    parts.iter().sum()
}

/// y ← y + s x.
fn add(y: &mut [Vec3], s: f64, x: &[Vec3]) {
    y.par_iter_mut().zip(x.par_iter()).with_min_len(CHUNK).for_each(|(y, x)| *y += s * *x);
}

impl Pcg {
    /// Solves A x = b from x = 0 until √(rᵀD⁻¹r) has fallen by `tolerance` [–], in at most `limit` iterations. A must
    /// be symmetric positive definite.
    pub fn solve(
        &mut self,
        a: &BlockMatrix,
        b: &[Vec3],
        tolerance: f64,
        limit: u32,
        x: &mut Vec<Vec3>,
    ) -> PcgReport {
        let n = a.len();
        x.clear();
        x.resize(n, Vec3::ZERO);
        (0..n).into_par_iter().map(|i| a.diagonal(i).inverse()).collect_into_vec(&mut self.inverse);
        self.r.clear();
        self.r.extend_from_slice(b);
        self.precondition();
        self.p.clone_from(&self.z);
        let mut rz = dot(&self.r, &self.z);
        let start = rz;
        let mut report = PcgReport { iterations: 0, residual: 1.0 };
        while report.iterations < limit && rz > tolerance * tolerance * start {
            a.multiply(&self.p, &mut self.ap);
            let curvature = dot(&self.p, &self.ap);
            if curvature.is_nan() || curvature <= 0.0 {
                break;
            }
            let step = rz / curvature;
            add(x, step, &self.p);
            add(&mut self.r, -step, &self.ap);
            self.precondition();
            let before = rz;
            rz = dot(&self.r, &self.z);
            let turn = rz / before;
            let pairs = self.p.par_iter_mut().zip(self.z.par_iter()).with_min_len(CHUNK);
            pairs.for_each(|(p, z)| *p = *z + turn * *p);
            report.iterations += 1;
        }
        report.residual = if start > 0.0 { (rz / start).sqrt() } else { 0.0 };
        report
    }

    fn precondition(&mut self) {
        let pairs = self.inverse.par_iter().zip(self.r.par_iter()).with_min_len(CHUNK);
        pairs.map(|(d, r)| *d * *r).collect_into_vec(&mut self.z);
    }
}

#[cfg(test)]
mod tests {
    use super::super::sparse::tests::sample;
    use super::*;
    use littoral_geom::random::Random;

    #[test]
    fn the_solution_solves() {
        let a = sample(300, 5);
        let mut random = Random::new(6);
        let b: Vec<Vec3> = (0..300).map(|_| random.in_cube(1.0)).collect();
        let (mut x, mut ax) = (Vec::new(), Vec::new());
        let report = Pcg::default().solve(&a, &b, 1e-12, 2000, &mut x);
        a.multiply(&x, &mut ax);
        let error = ax.iter().zip(&b).map(|(p, q)| (*p - *q).length()).fold(0.0, f64::max);
        // The tolerance in the preconditioned norm, times the spread of the diagonal blocks.
        assert!(error < 1e-9, "error {error:e} after {} iterations", report.iterations);
    }
}
