//! The direction of a Newton step: H p = −g, by factorisation or by conjugate gradients.

use super::cholesky::Cholesky;
use super::objective::Derivatives;
use super::pcg::Pcg;
use super::schur::Schur;
use super::sparse::{BlockMatrix, Unknowns};
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

/// A linear system that was solved for a direction: A p = b, particles after the solids.
#[derive(Clone, Copy, Debug)]
pub struct LinearSystem<'a> {
    /// A [N/m].
    pub matrix: &'a BlockMatrix,
    /// b [N].
    pub right: &'a [Vec3],
    /// Unknowns of solids.
    pub solids: usize,
}

/// The direction and what solving for it can keep.
#[derive(Debug, Default)]
pub struct Direction {
    /// The direction p of each unknown [m]; turns in rad.
    pub p: Vec<Vec3>,
    /// The unknowns that p is of: those of the next direction may be others.
    pub of: Unknowns,
    cholesky: Cholesky,
    schur: Schur,
    pcg: Pcg,
    right: Vec<Vec3>,
    solids: usize,
    /// The last system was factorised by `cholesky`.
    is_factorised: bool,
}

/// s g gᵀ: what couples all points of a closed surface to each other, beside the sparse part of a matrix.
#[derive(Clone, Debug)]
pub struct Rank {
    /// s ≥ 0.
    pub stiffness: f64,
    /// g of each unknown.
    pub slope: Vec<Vec3>,
}

fn dot(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum()
}

impl Direction {
    /// Solves for the direction from the derivatives at hand. Points from `first_particle` on couple to solids only.
    pub fn solve(
        &mut self,
        unknowns: &Unknowns,
        derivatives: &Derivatives,
        linear: LinearSolver,
        first_particle: u32,
    ) -> DirectionReport {
        let solids = unknowns.first + unknowns.points.partition_point(|&v| v < first_particle);
        self.solids = solids;
        self.right.clear();
        self.right.extend(derivatives.beside.iter().map(|g| -*g));
        self.right.extend(unknowns.points.iter().map(|&v| -derivatives.gradient[v as usize]));
        let (direct, apart) = match linear {
            LinearSolver::Auto => (solids <= DIRECT, solids < unknowns.len()),
            LinearSolver::Cholesky => (true, false),
            LinearSolver::Schur => (true, true),
            LinearSolver::ConjugateGradients => (false, false),
        };
        let mut report = DirectionReport::default();
        self.is_factorised = direct && !apart;
        if direct {
            let matrix = &derivatives.matrix;
            let solved = if apart {
                self.schur.solve(matrix, &self.right, solids, &mut self.p)
            } else {
                self.cholesky.solve(matrix, &self.right, &mut self.p)
            };
            match solved {
                Ok(()) if self.p.iter().all(|p| p.is_finite()) => return report,
                Ok(()) | Err(_) => (report.refused, self.is_factorised) = (true, false),
            }
        }
        let solved = self.pcg.solve(&derivatives.matrix, &self.right, TOLERANCE, LIMIT, &mut self.p);
        report.products = solved.iterations;
        report
    }

    /// Adds the given parts to the matrix of the last solve, one after the other [Sherman and Morrison]:
    /// p ← p − z s (g·p)/(1 + s g·z), z = A⁻¹g with the parts before.
    pub fn add_ranks(&mut self, derivatives: &Derivatives, ranks: &[Rank]) {
        let mut done: Vec<(&Rank, Vec<Vec3>)> = Vec::new();
        let add = |p: &mut [Vec3], rank: &Rank, z: &[Vec3]| {
            let s = rank.stiffness;
            let share = s * dot(&rank.slope, p) / (1.0 + s * dot(&rank.slope, z));
            p.iter_mut().zip(z).for_each(|(p, z)| *p -= share * *z);
        };
        for rank in ranks.iter().filter(|r| r.stiffness > 0.0) {
            let mut z = Vec::new();
            if self.is_factorised {
                self.cholesky.substitute(&rank.slope, &mut z);
            } else {
                self.pcg.solve(&derivatives.matrix, &rank.slope, TOLERANCE, LIMIT, &mut z);
            }
            for (earlier, of) in &done {
                add(&mut z, earlier, of);
            }
            add(&mut self.p, rank, &z);
            done.push((rank, z));
        }
    }

    /// The last system, with the derivatives it was solved from.
    pub fn system<'a>(&'a self, derivatives: &'a Derivatives) -> LinearSystem<'a> {
        LinearSystem { matrix: &derivatives.matrix, right: &self.right, solids: self.solids }
    }

    /// Length of the longest move [m].
    pub fn longest(&self) -> f64 {
        self.p.iter().map(|p| p.length()).fold(0.0, f64::max)
    }
}
