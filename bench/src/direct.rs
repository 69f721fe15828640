//! The assembled fluid matrix in single precision, and factorised: what the matrix-free solver is held against.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::perm::PermRef;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side};
use littoral_geom::math::Vec3;
use littoral_sim::fluid::Assembled;

/// Rows of a part that is not cut further.
const LEAF: usize = 64;

/// An elimination order by nested dissection of space: cut at the median of the longest side, the rows of one half that
/// touch the other come last.
pub fn dissect(matrix: &Assembled) -> Vec<usize> {
    let mut side = vec![0_u8; matrix.x.len()];
    let mut order = Vec::with_capacity(matrix.x.len());
    cut(matrix, (0..matrix.x.len() as u32).collect(), &mut side, &mut order);
    order
}

fn cut(matrix: &Assembled, mut rows: Vec<u32>, side: &mut [u8], order: &mut Vec<usize>) {
    if rows.len() <= LEAF {
        order.extend(rows.iter().map(|row| *row as usize));
        return;
    }
    let place = |row: &u32| matrix.x[*row as usize];
    let low = rows.iter().map(place).fold(Vec3::INFINITY, Vec3::min);
    let extent = rows.iter().map(place).fold(Vec3::NEG_INFINITY, Vec3::max) - low;
    let axis = extent.max_position();
    let middle = rows.len() / 2;
    rows.select_nth_unstable_by(middle, |a, b| place(a)[axis].total_cmp(&place(b)[axis]).then(a.cmp(b)));
    let right = rows.split_off(middle);
    for row in &right {
        side[*row as usize] = 1;
    }
    let touches = |row: &u32| {
        let row = *row as usize;
        matrix.columns[matrix.starts[row]..matrix.starts[row + 1]].iter().any(|c| side[*c as usize] == 1)
    };
    let (between, left): (Vec<u32>, Vec<u32>) = rows.into_iter().partition(touches);
    for row in &right {
        side[*row as usize] = 0;
    }
    cut(matrix, left, side, order);
    cut(matrix, right, side, order);
    order.extend(between.iter().map(|row| *row as usize));
}

/// A factorisation A = LLᵀ by `faer`.
pub struct Direct {
    symbolic: SymbolicCholesky<usize>,
    /// The lower triangle by scalar columns.
    starts: Vec<usize>,
    rows: Vec<usize>,
    values: Vec<f64>,
    factor: Vec<f64>,
    stack: MemBuffer,
}

impl Direct {
    /// Analyses a matrix for the elimination order of its rows; an error tells why it cannot.
    pub fn analyse(matrix: &Assembled, order: &[usize]) -> Result<Self, String> {
        let n = 3 * matrix.right.len();
        let expand = |p: &[usize]| -> Vec<usize> { p.iter().flat_map(|i| (3 * i)..(3 * i + 3)).collect() };
        let mut place = vec![0; order.len()];
        for (k, row) in order.iter().enumerate() {
            place[*row] = k;
        }
        let (order, place) = (expand(order), expand(&place));
        let (starts, rows, values) = lower(matrix);
        let pattern = SymbolicSparseColMatRef::new_checked(n, n, &starts, None, &rows);
        let ordering = SymmetricOrdering::Custom(PermRef::new_checked(&order, &place, n));
        let params = CholeskySymbolicParams::default();
        let symbolic = factorize_symbolic_cholesky(pattern, Side::Lower, ordering, params)
            .map_err(|e| format!("analysis: {e:?}"))?;
        let scratch = symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
        let stack = MemBuffer::new(scratch.or(symbolic.solve_in_place_scratch::<f64>(1, Par::Seq)));
        Ok(Direct { symbolic, starts, rows, values, factor: Vec::new(), stack })
    }

    /// Entries of the factor.
    pub fn fill(&self) -> usize {
        self.symbolic.len_val()
    }

    /// Factorises, and solves A d = b.
    pub fn solve(&mut self, b: &[Vec3]) -> Result<Vec<Vec3>, String> {
        let n = 3 * b.len();
        let pattern = SymbolicSparseColMatRef::new_checked(n, n, &self.starts, None, &self.rows);
        let matrix = SparseColMatRef::new(pattern, &self.values);
        let stack = MemStack::new(&mut self.stack);
        self.factor.resize(self.symbolic.len_val(), 0.0);
        let (none, params) = (Default::default(), Default::default());
        let llt = self
            .symbolic
            .factorize_numeric_llt(&mut self.factor, matrix, Side::Lower, none, Par::Seq, stack, params)
            .map_err(|e| format!("factorisation: {e:?}"))?;
        let mut flat: Vec<f64> = b.iter().flat_map(|v| v.to_array()).collect();
        let right = MatMut::from_column_major_slice_mut(&mut flat, n, 1);
        llt.solve_in_place_with_conj(Conj::No, right, Par::Seq, stack);
        Ok(flat.chunks_exact(3).map(Vec3::from_slice).collect())
    }
}

/// The lower triangle by scalar columns: starts, rows, values.
fn lower(matrix: &Assembled) -> (Vec<usize>, Vec<usize>, Vec<f64>) {
    let (mut starts, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
    for column in 0..matrix.right.len() {
        // Rows of a symmetric matrix are its columns.
        let range = matrix.starts[column]..matrix.starts[column + 1];
        let below = || range.clone().filter(|k| matrix.columns[*k] as usize >= column);
        for c in 0..3 {
            for k in below() {
                let row = matrix.columns[k] as usize;
                for r in if row == column { c..3 } else { 0..3 } {
                    rows.push(3 * row + r);
                    values.push(matrix.blocks[k].col(r)[c]);
                }
            }
            starts.push(rows.len());
        }
    }
    (starts, rows, values)
}

/// The matrix in single precision.
pub struct Narrow<'a> {
    matrix: &'a Assembled,
    blocks: Vec<[f32; 9]>,
}

impl<'a> Narrow<'a> {
    /// Rounds the blocks.
    pub fn of(matrix: &'a Assembled) -> Self {
        let narrow = |block: &littoral_geom::math::Mat3| block.to_cols_array().map(|e| e as f32);
        Narrow { matrix, blocks: matrix.blocks.iter().map(narrow).collect() }
    }

    /// out = A p, with three numbers and one unused a row.
    pub fn times(&self, p: &[[f32; 4]], out: &mut [[f32; 4]]) {
        for (row, y) in out.iter_mut().enumerate() {
            let range = self.matrix.starts[row]..self.matrix.starts[row + 1];
            let mut sum = [0.0_f32; 4];
            for (column, b) in self.matrix.columns[range.clone()].iter().zip(&self.blocks[range]) {
                let p = p[*column as usize];
                for k in 0..3 {
                    sum[k] += b[k] * p[0] + b[3 + k] * p[1] + b[6 + k] * p[2];
                }
            }
            *y = sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use littoral_geom::math::Vec3;
    use littoral_geom::random::Random;
    use littoral_sim::fluid::{Fluid, FluidMaterial, SolveSettings};

    #[test]
    fn three_ways_to_solve_agree() {
        let (dx, h) = (0.05, 3e-3);
        let mut random = Random::new(1);
        let point = |i: usize| Vec3::new((i % 7) as f64, (i / 7 % 7) as f64, (i / 49) as f64);
        let x: Vec<Vec3> = (0..343).map(|i| dx * (point(i) + 0.1 * random.in_cube(1.0))).collect();
        let x_hat: Vec<Vec3> = x.iter().map(|p| *p + 0.01 * dx * random.in_cube(1.0)).collect();
        let water = FluidMaterial { density: 1000.0, viscosity: 0.1, stiffness: 1e6 };
        let mut fluid = Fluid::new(dx, 2.0, vec![water], vec![0; x.len()]).unwrap();
        fluid.prepare(&x, h, &[], &[], None);
        let settings = SolveSettings { tolerance: 1e-9, max_iterations: 2000, ..SolveSettings::default() };
        let found = fluid.solve(&x_hat, &[], &[], &[], &settings);
        assert!(found.report.converged);
        let matrix = fluid.assemble();
        let order = dissect(&matrix);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..x.len()));
        let direct = Direct::analyse(&matrix, &order).unwrap().solve(&matrix.right).unwrap();
        let (iterated, _) = matrix.solve(1e-9, 2000);
        for (row, i) in matrix.particles.iter().enumerate() {
            let d = found.x[*i as usize] - x_hat[*i as usize];
            // The tolerance times the condition, some thousands, of displacements of a hundredth of a spacing.
            assert!(d.distance(direct[row]) < 1e-7 * dx && d.distance(iterated[row]) < 1e-7 * dx);
        }
        let narrow = Narrow::of(&matrix);
        let p: Vec<[f32; 4]> = direct.iter().map(|v| [v.x as f32, v.y as f32, v.z as f32, 0.0]).collect();
        let mut product = p.clone();
        narrow.times(&p, &mut product);
        let largest = matrix.right.iter().map(|b| b.length()).fold(0.0, f64::max);
        for (y, b) in product.iter().zip(&matrix.right) {
            let error =
                (b.x - f64::from(y[0])).abs() + (b.y - f64::from(y[1])).abs() + (b.z - f64::from(y[2])).abs();
            // A hundred terms that cancel, each up to a thousand times the sum.
            assert!(error < 1e-3 * largest, "{error} {largest}");
        }
    }
}
