//! Sparse Cholesky factorisation A = L Lᵀ by `faer`, on the scalar form of a block matrix.
//!
//! The fill-reducing order is that of the graph of points, each point being three neighbouring unknowns. Order and
//! symbolic analysis are kept while the pattern of the matrix is the same; after contacts have coupled distant points
//! an old order would cost far more than a new one.

use super::sparse::BlockMatrix;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::perm::PermRef;
use faer::sparse::linalg::amd;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side};
use littoral_geom::math::Vec3;

/// Why a matrix was not factorised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CholeskyError {
    /// Too large for the index type or the memory.
    #[error("the matrix of {points} points is too large to factorise: use conjugate gradients")]
    TooLarge {
        /// Block rows.
        points: usize,
    },
    /// A pivot was not positive.
    #[error("the matrix of {points} points is not positive definite")]
    NotPositive {
        /// Block rows.
        points: usize,
    },
}

/// Memory that a factorisation works in.
struct Scratch(MemBuffer);

impl std::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

/// A factorisation and what it can keep for the next one.
#[derive(Debug, Default)]
pub struct Cholesky {
    version: u64,
    symbolic: Option<SymbolicCholesky<usize>>,
    column_starts: Vec<usize>,
    row_indices: Vec<usize>,
    values: Vec<f64>,
    factor: Vec<f64>,
    stack: Option<Scratch>,
    /// Analyses made so far.
    pub analyses: u32,
}

impl Cholesky {
    /// Entries of the factor; 0 before the first analysis.
    pub fn fill(&self) -> usize {
        self.symbolic.as_ref().map_or(0, SymbolicCholesky::len_val)
    }

    /// Solves A x = b. A must be symmetric positive definite.
    pub fn solve(&mut self, a: &BlockMatrix, b: &[Vec3], x: &mut Vec<Vec3>) -> Result<(), CholeskyError> {
        let points = a.len();
        x.clear();
        if points == 0 {
            return Ok(());
        }
        if self.version != a.version || self.symbolic.is_none() {
            self.analyse(a)?;
        }
        self.load(a);
        let too_large = CholeskyError::TooLarge { points };
        let Some(symbolic) = &self.symbolic else { return Err(too_large) };
        let n = 3 * points;
        let pattern = SymbolicSparseColMatRef::new_checked(n, n, &self.column_starts, None, &self.row_indices);
        let matrix = SparseColMatRef::new(pattern, &self.values);
        let stack = self.stack.get_or_insert_with(|| {
            let factorise = symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
            Scratch(MemBuffer::new(factorise.or(symbolic.solve_in_place_scratch::<f64>(1, Par::Seq))))
        });
        let stack = MemStack::new(&mut stack.0);
        self.factor.resize(symbolic.len_val(), 0.0);
        let llt: LltRef<'_, usize, f64> = symbolic
            .factorize_numeric_llt(
                &mut self.factor,
                matrix,
                Side::Lower,
                Default::default(),
                Par::Seq,
                stack,
                Default::default(),
            )
            .map_err(|_| CholeskyError::NotPositive { points })?;
        let mut flat: Vec<f64> = b.iter().flat_map(|v| v.to_array()).collect();
        let rhs = MatMut::from_column_major_slice_mut(&mut flat, n, 1);
        llt.solve_in_place_with_conj(Conj::No, rhs, Par::Seq, stack);
        x.extend(flat.chunks_exact(3).map(Vec3::from_slice));
        Ok(())
    }

    /// Orders the points and finds the pattern of the factor.
    fn analyse(&mut self, a: &BlockMatrix) -> Result<(), CholeskyError> {
        let points = a.len();
        let too_large = |_| CholeskyError::TooLarge { points };
        let starts: Vec<usize> = a.starts.iter().map(|&s| s as usize).collect();
        let rows: Vec<usize> = a.rows.iter().map(|&r| r as usize).collect();
        let graph = SymbolicSparseColMatRef::new_checked(points, points, &starts, None, &rows);
        let (mut order, mut place) = (vec![0usize; points], vec![0usize; points]);
        let mut buffer = MemBuffer::new(amd::order_maybe_unsorted_scratch::<usize>(points, rows.len()));
        amd::order_maybe_unsorted(
            &mut order,
            &mut place,
            graph,
            Default::default(),
            MemStack::new(&mut buffer),
        )
        .map_err(too_large)?;
        let expand = |p: &[usize]| -> Vec<usize> { p.iter().flat_map(|&i| [3 * i, 3 * i + 1, 3 * i + 2]).collect() };
        let (order, place) = (expand(&order), expand(&place));
        self.scalar_pattern(a);
        let n = 3 * points;
        let pattern = SymbolicSparseColMatRef::new_checked(n, n, &self.column_starts, None, &self.row_indices);
        let ordering = SymmetricOrdering::Custom(PermRef::new_checked(&order, &place, n));
        let params = CholeskySymbolicParams::default();
        self.symbolic = Some(factorize_symbolic_cholesky(pattern, Side::Lower, ordering, params).map_err(too_large)?);
        self.stack = None;
        self.version = a.version;
        self.analyses += 1;
        Ok(())
    }

    /// The lower triangle as scalar columns: of a diagonal block what is on and below its diagonal, then the blocks.
    fn scalar_pattern(&mut self, a: &BlockMatrix) {
        self.column_starts.clear();
        self.row_indices.clear();
        self.column_starts.push(0);
        for j in 0..a.len() {
            let rows = &a.rows[a.starts[j] as usize..a.starts[j + 1] as usize];
            for c in 0..3 {
                self.row_indices.extend(3 * j + c..3 * j + 3);
                for &r in &rows[1..] {
                    self.row_indices.extend((0..3).map(|k| 3 * r as usize + k));
                }
                self.column_starts.push(self.row_indices.len());
            }
        }
    }

    fn load(&mut self, a: &BlockMatrix) {
        self.values.clear();
        for j in 0..a.len() {
            let blocks = &a.values[a.starts[j] as usize..a.starts[j + 1] as usize];
            for c in 0..3 {
                self.values.extend((c..3).map(|k| blocks[0].col(c)[k]));
                for b in &blocks[1..] {
                    self.values.extend(b.col(c).to_array());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sparse::tests::sample;
    use super::*;
    use littoral_geom::math::Mat3;
    use littoral_geom::random::Random;

    #[test]
    fn the_solution_solves_and_the_analysis_is_kept() {
        let mut a = sample(200, 3);
        let mut random = Random::new(4);
        let b: Vec<Vec3> = (0..200).map(|_| random.in_cube(1.0)).collect();
        let mut cholesky = Cholesky::default();
        let (mut x, mut ax) = (Vec::new(), Vec::new());
        for _ in 0..3 {
            cholesky.solve(&a, &b, &mut x).unwrap();
            a.multiply(&x, &mut ax);
            let error = ax.iter().zip(&b).map(|(p, q)| (*p - *q).length()).fold(0.0, f64::max);
            // Condition some hundreds, times roundings.
            assert!(error < 1e-12, "error {error:e}");
            a.add_diagonal(7, Mat3::IDENTITY);
        }
        assert_eq!(cholesky.analyses, 1);
    }

    #[test]
    fn an_indefinite_matrix_is_refused() {
        let mut a = sample(20, 3);
        a.add_diagonal(3, Mat3::IDENTITY * -1e3);
        let answer = Cholesky::default().solve(&a, &[Vec3::ONE; 20], &mut Vec::new());
        assert_eq!(answer, Err(CholeskyError::NotPositive { points: 20 }));
    }
}
