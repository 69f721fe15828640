//! The direction of a Newton step: H p = −g, by factorisation or by conjugate gradients.

use super::cholesky::Cholesky;
use super::objective::Derivatives;
use super::pcg::Pcg;
use super::sparse::Unknowns;
use crate::settings::LinearSolver;
use littoral_geom::math::Vec3;

/// Points up to which `LinearSolver::Auto` factorises. A solid of that many takes some ten seconds to factorise.
const DIRECT: usize = 40_000;

/// Relative residual of conjugate gradients: a direction this good converges as fast as an exact one until the last
/// digits. Smaller: more products. Larger: more Newton steps.
const TOLERANCE: f64 = 1e-6;

/// Products at most.
const LIMIT: u32 = 10_000;

/// What a solve did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DirectionReport {
    /// Products of conjugate gradients; 0 after a factorisation.
    pub products: u32,
    /// The factorisation failed and conjugate gradients took over.
    pub refused: bool,
}

/// The direction and what solving for it can keep.
#[derive(Debug, Default)]
pub struct Direction {
    /// The direction p of each unknown [m].
    pub p: Vec<Vec3>,
    cholesky: Cholesky,
    pcg: Pcg,
    right: Vec<Vec3>,
}

impl Direction {
    /// Solves for the direction from the derivatives at hand.
    pub fn solve(
        &mut self,
        unknowns: &Unknowns,
        derivatives: &Derivatives,
        linear: LinearSolver,
    ) -> DirectionReport {
        self.right.clear();
        self.right.extend(unknowns.points.iter().map(|&v| -derivatives.gradient[v as usize]));
        let direct = match linear {
            LinearSolver::Auto => unknowns.len() <= DIRECT,
            LinearSolver::Cholesky => true,
            LinearSolver::ConjugateGradients => false,
        };
        let mut report = DirectionReport::default();
        if direct {
            match self.cholesky.solve(&derivatives.matrix, &self.right, &mut self.p) {
                Ok(()) if self.p.iter().all(|p| p.is_finite()) => return report,
                Ok(()) | Err(_) => report.refused = true,
            }
        }
        let solved = self.pcg.solve(&derivatives.matrix, &self.right, TOLERANCE, LIMIT, &mut self.p);
        report.products = solved.iterations;
        report
    }

    /// Length of the longest move [m].
    pub fn longest(&self) -> f64 {
        self.p.iter().map(|p| p.length()).fold(0.0, f64::max)
    }
}
