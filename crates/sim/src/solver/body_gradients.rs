//! Conjugate gradients for a large island of bodies, preconditioned by the bodies' own blocks.
//!
//! Each row gathers what its neighbours contribute, so that rows are found in parallel and the sums do not depend on the
//! number of threads.

use super::bodies::{Block, BodySystem, Island, Six, ldl_factor, ldl_substitute};
use rayon::prelude::*;

/// Relative residual, in the norm of the preconditioner, at which the iteration stops: the next Newton step takes up what is
/// left. Contacts that come and go leave more than this at each; a heap of a thousand cubes takes half the iterations of 1e-4.
pub(super) const TOLERANCE: f64 = 1e-2;

/// Iterations at most.
const ITERATIONS: u32 = 100;

/// Rows per parallel task: some 10 µs of work.
const ROWS: usize = 64;

/// The island's matrix by rows.
struct Rows<'a> {
    diagonal: Vec<&'a Block>,
    inverse: Vec<Block>,
    /// Neighbours of each row: `items[starts[k]..starts[k + 1]]` as the column, the block, and whether it is transposed.
    starts: Vec<usize>,
    items: Vec<(u32, &'a Block, bool)>,
}

/// y += m x.
#[inline]
fn add_product(y: &mut Six, m: &Block, x: &Six) {
    for (y, row) in y.iter_mut().zip(m) {
        for (a, b) in row.iter().zip(x) {
            *y += a * b;
        }
    }
}

/// y += mᵀ x.
#[inline]
fn add_transposed(y: &mut Six, m: &Block, x: &Six) {
    for (row, x) in m.iter().zip(x) {
        for (y, a) in y.iter_mut().zip(row) {
            *y += a * x;
        }
    }
}

fn dot(a: &Six, b: &Six) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Sum over all rows, in their order.
fn dot_all(a: &[Six], b: &[Six]) -> f64 {
    a.iter().zip(b).map(|(a, b)| dot(a, b)).sum()
}

/// Inverse of a symmetric positive definite block, symmetric to rounding.
fn inverse(block: &Block) -> Block {
    let mut factor = [0.0; 36];
    for (to, from) in factor.iter_mut().zip(block.iter().flatten()) {
        *to = *from;
    }
    ldl_factor(&mut factor, 6);
    std::array::from_fn(|k| {
        let mut x = [0.0; 6];
        x[k] = 1.0;
        ldl_substitute(&factor, 6, &mut x);
        x
    })
}

impl<'a> Rows<'a> {
    fn new(system: &'a BodySystem, island: &Island) -> Self {
        let n = island.bodies.len();
        let diagonal: Vec<&Block> = island.bodies.iter().map(|&b| system.diagonal(b)).collect();
        let inverse = diagonal.par_iter().with_min_len(ROWS).map(|d| inverse(d)).collect();
        let mut starts = vec![0; n + 1];
        for &(_, (i, j)) in &island.couplings {
            starts[i as usize + 1] += 1;
            starts[j as usize + 1] += 1;
        }
        for k in 0..n {
            starts[k + 1] += starts[k];
        }
        let Some(&(first, _)) = island.couplings.first() else {
            return Rows { diagonal, inverse, starts, items: Vec::new() };
        };
        let mut items = vec![(0, system.coupling(first), false); starts[n]];
        let mut next = starts.clone();
        for &(k, (i, j)) in &island.couplings {
            let block = system.coupling(k);
            for (row, column, transposed) in [(i, j, false), (j, i, true)] {
                items[next[row as usize]] = (column, block, transposed);
                next[row as usize] += 1;
            }
        }
        Rows { diagonal, inverse, starts, items }
    }

    /// y = A x.
    fn multiply(&self, x: &[Six], y: &mut Vec<Six>) {
        (0..x.len())
            .into_par_iter()
            .with_min_len(ROWS)
            .map(|k| {
                let mut sum = [0.0; 6];
                add_product(&mut sum, self.diagonal[k], &x[k]);
                for (column, block, transposed) in &self.items[self.starts[k]..self.starts[k + 1]] {
                    let x = &x[*column as usize];
                    if *transposed {
                        add_transposed(&mut sum, block, x)
                    } else {
                        add_product(&mut sum, block, x)
                    }
                }
                sum
            })
            .collect_into_vec(y);
    }

    /// z = D⁻¹ r.
    fn precondition(&self, r: &[Six], z: &mut [Six]) {
        for ((z, r), d) in z.iter_mut().zip(r).zip(&self.inverse) {
            *z = [0.0; 6];
            add_product(z, d, r);
        }
    }
}

/// Solves the system of an island to a relative `tolerance`, see [`TOLERANCE`].
pub(super) fn solve(system: &BodySystem, island: &Island, tolerance: f64) -> Vec<Six> {
    let rows = Rows::new(system, island);
    let n = island.bodies.len();
    let mut x = vec![[0.0; 6]; n];
    let mut r: Vec<Six> = island.bodies.iter().map(|&b| system.gradient(b).map(|g| -g)).collect();
    let (mut z, mut ap) = (vec![[0.0; 6]; n], Vec::new());
    rows.precondition(&r, &mut z);
    let mut p = z.clone();
    let mut rz = dot_all(&r, &z);
    let enough = tolerance * tolerance * rz;
    for _ in 0..ITERATIONS {
        if rz.is_nan() || rz <= enough {
            break;
        }
        rows.multiply(&p, &mut ap);
        let step = rz / dot_all(&p, &ap);
        for k in 0..n {
            for c in 0..6 {
                x[k][c] += step * p[k][c];
                r[k][c] -= step * ap[k][c];
            }
        }
        rows.precondition(&r, &mut z);
        let next = dot_all(&r, &z);
        let keep = next / rz;
        for (p, z) in p.iter_mut().zip(&z) {
            for (p, z) in p.iter_mut().zip(z) {
                *p = z + keep * *p;
            }
        }
        rz = next;
    }
    x
}
