//! A symmetric matrix of 3×3 blocks: one block row a free point, two a rigid body, one a frame of a rod; the lower
//! triangle stored by columns.
//!
//! The pattern is kept while it holds everything that is needed; new couplings give a new pattern. Points that do not
//! move (colliders, held points) are no unknowns and have no rows.

use littoral_geom::math::{Mat3, Vec3};
use littoral_geom::mesh::Csr;
use rayon::prelude::*;

/// No unknown: the point does not move. No slot: the block is not part of the matrix.
pub const NONE: u32 = u32::MAX;

/// Rows per parallel task of a product: some hundred blocks.
const TASK: usize = 256;

/// Which points are unknowns, and in which order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unknowns {
    /// Unknown of each point (n), or `NONE`.
    pub of_point: Vec<u32>,
    /// Point of each unknown that is one, ascending.
    pub points: Vec<u32>,
    /// First of the two unknowns of each rigid body, its shift and its turn, or `NONE`; empty without bodies.
    pub of_body: Vec<u32>,
    /// Unknown of each frame of a rod, its turn, or `NONE`; empty without rods.
    pub of_frame: Vec<u32>,
    /// Number of unknowns that are no points. They come first.
    pub first: usize,
}

impl Unknowns {
    /// The points of `n` for which `moves` holds.
    pub fn new(n: usize, moves: impl Fn(usize) -> bool) -> Self {
        Self::beside(n, moves, [].into_iter(), [].into_iter())
    }

    /// The same, with the rigid bodies and the frames of rods that move.
    pub fn beside(
        n: usize,
        moves: impl Fn(usize) -> bool,
        bodies: impl Iterator<Item = bool>,
        frames: impl Iterator<Item = bool>,
    ) -> Self {
        let mut first = 0;
        let mut next = |moves: bool, size: u32| {
            let place = if moves { first } else { NONE };
            first += if moves { size } else { 0 };
            place
        };
        let of_body = bodies.map(|b| next(b, 2)).collect();
        let of_frame = frames.map(|f| next(f, 1)).collect();
        let mut unknowns = Unknowns {
            of_point: vec![NONE; n],
            points: Vec::new(),
            of_body,
            of_frame,
            first: first as usize,
        };
        for v in (0..n).filter(|&v| moves(v)) {
            unknowns.of_point[v] = unknowns.len() as u32;
            unknowns.points.push(v as u32);
        }
        unknowns
    }

    /// Number of unknowns.
    pub fn len(&self) -> usize {
        self.first + self.points.len()
    }

    /// True when nothing moves.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The matrix.
#[derive(Clone, Debug, Default)]
pub struct BlockMatrix {
    /// Start of each column in `rows`; one more entry than columns.
    pub(super) starts: Vec<u32>,
    /// Block rows of each column, ascending, the diagonal first.
    pub(super) rows: Vec<u32>,
    /// The blocks, in the order of `rows`.
    pub(super) values: Vec<Mat3>,
    /// Off-diagonal blocks of each row of the full matrix: column·1 and 2·slot + (1 where transposed).
    full: Csr,
    full_columns: Vec<u32>,
    /// Counts the patterns, so that an analysis knows whether it still fits.
    pub(super) version: u64,
}

impl BlockMatrix {
    /// Number of block rows.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// True without rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes the pattern of `n` diagonal blocks and the given pairs of unknowns, in any order, repeated or not.
    pub fn set_pattern(&mut self, n: usize, pairs: Vec<(u32, u32)>) {
        self.take_pattern(n, &sorted(n, pairs));
    }

    /// The same, but a pattern that is there already stays, and with it every analysis of it.
    pub fn keep_or_set_pattern(&mut self, n: usize, pairs: Vec<(u32, u32)>) {
        let pairs = sorted(n, pairs);
        let columns = || (0..n).map(|j| self.starts[j + 1] - self.starts[j]);
        let is_kept = self.len() == n
            && self.rows.iter().eq(pairs.iter().map(|p| &p.1))
            && columns().eq(pairs.chunk_by(|a, b| a.0 == b.0).map(|c| c.len() as u32));
        if !is_kept {
            self.take_pattern(n, &pairs);
        }
    }

    fn take_pattern(&mut self, n: usize, pairs: &[(u32, u32)]) {
        self.starts.clear();
        self.starts.resize(n + 1, 0);
        for &(column, _) in pairs {
            self.starts[column as usize + 1] += 1;
        }
        for j in 0..n {
            self.starts[j + 1] += self.starts[j];
        }
        self.rows.clear();
        self.rows.extend(pairs.iter().map(|p| p.1));
        self.values.clear();
        self.values.resize(pairs.len(), Mat3::ZERO);
        let off = || pairs.iter().enumerate().filter(|(_, (c, r))| c != r);
        let entries = || {
            off().flat_map(|(slot, &(c, r))| {
                let slot = slot as u32;
                [(r, (c, 2 * slot)), (c, (r, 2 * slot + 1))]
            })
        };
        self.full = Csr::from_pairs(n, entries().map(|(row, (_, item))| (row, item)));
        self.full_columns = Csr::from_pairs(n, entries().map(|(row, (column, _))| (row, column))).items;
        self.version += 1;
    }

    /// Place of the block (row, column) with row ≥ column.
    #[inline]
    pub fn slot(&self, row: u32, column: u32) -> Option<u32> {
        let (from, to) = (self.starts[column as usize] as usize, self.starts[column as usize + 1] as usize);
        self.rows[from..to].binary_search(&row).ok().map(|k| (from + k) as u32)
    }

    /// Where the block of two unknowns goes: 2·slot, plus one where the transposed block is stored.
    #[inline]
    pub fn place(&self, i: u32, j: u32) -> Option<u32> {
        if i == NONE || j == NONE {
            return Some(NONE);
        }
        if i >= j { self.slot(i, j).map(|s| 2 * s) } else { self.slot(j, i).map(|s| 2 * s + 1) }
    }

    /// All blocks zero.
    pub fn clear(&mut self) {
        self.values.fill(Mat3::ZERO);
    }

    /// Multiplies every block by `factor`.
    pub fn scale(&mut self, factor: f64) {
        self.values.iter_mut().for_each(|b| *b *= factor);
    }

    /// Adds to the diagonal block of unknown `i`.
    #[inline]
    pub fn add_diagonal(&mut self, i: u32, block: Mat3) {
        let slot = self.starts[i as usize];
        self.values[slot as usize] += block;
    }

    /// Adds ∂²E/∂xᵢ∂xⱼ at the place that `place` gave for (i, j); nothing for `NONE`.
    #[inline]
    pub fn add_at(&mut self, place: u32, block: &Mat3) {
        if place != NONE {
            let value = &mut self.values[(place >> 1) as usize];
            *value += if place & 1 == 0 { *block } else { block.transpose() };
        }
    }

    /// Diagonal block of unknown `i`.
    #[inline]
    pub fn diagonal(&self, i: usize) -> Mat3 {
        self.values[self.starts[i] as usize]
    }

    /// Block rows of column `j` from its diagonal on, in the order of the values.
    pub(super) fn column(&self, j: usize) -> &[u32] {
        &self.rows[self.starts[j] as usize..self.starts[j + 1] as usize]
    }

    /// Takes all blocks, in the order of the columns.
    pub(super) fn set_values(&mut self, values: &[Mat3]) {
        self.values.copy_from_slice(values);
    }

    /// Calls `visit(column, block)` for every block of row `i` of the full matrix.
    #[inline]
    pub(super) fn for_each_in_row(&self, i: usize, mut visit: impl FnMut(u32, Mat3)) {
        visit(i as u32, self.diagonal(i));
        let from = self.full.offsets[i] as usize;
        for (k, &item) in self.full.row(i).iter().enumerate() {
            let block = self.values[(item >> 1) as usize];
            visit(self.full_columns[from + k], if item & 1 == 0 { block } else { block.transpose() });
        }
    }

    /// y = A x.
    pub fn multiply(&self, x: &[Vec3], y: &mut Vec<Vec3>) {
        let row = |i: usize| {
            let mut sum = self.diagonal(i) * x[i];
            let from = self.full.offsets[i] as usize;
            for (k, &item) in self.full.row(i).iter().enumerate() {
                let block = &self.values[(item >> 1) as usize];
                let v = x[self.full_columns[from + k] as usize];
                sum += if item & 1 == 0 { *block * v } else { block.transpose_mul_vec3(v) };
            }
            sum
        };
        (0..self.len()).into_par_iter().with_min_len(TASK).map(row).collect_into_vec(y);
    }
}

/// Pairs in order, each once, with the diagonal of `n` rows.
fn sorted(n: usize, mut pairs: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    for p in &mut pairs {
        *p = (p.0.min(p.1), p.0.max(p.1));
    }
    pairs.extend((0..n as u32).map(|i| (i, i)));
    pairs.par_sort_unstable();
    pairs.dedup();
    pairs
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use littoral_geom::math::outer;
    use littoral_geom::random::Random;

    /// A random symmetric positive definite matrix on a ring with chords.
    pub fn sample(n: u32, seed: u64) -> BlockMatrix {
        let mut random = Random::new(seed);
        let mut pairs: Vec<(u32, u32)> = (0..n).map(|i| (i, (i + 1) % n)).collect();
        pairs.extend((0..n).map(|i| (i, (7 * i + 3) % n)).filter(|(a, b)| a != b));
        let mut a = BlockMatrix::default();
        a.set_pattern(n as usize, pairs.clone());
        for i in 0..n {
            a.add_diagonal(i, Mat3::IDENTITY * 0.1);
        }
        for (i, j) in pairs {
            // (u·xᵢ − w·xⱼ)² is never negative.
            let (u, w) = (random.in_cube(1.0), random.in_cube(1.0));
            a.add_diagonal(i, outer(u, u));
            a.add_diagonal(j, outer(w, w));
            let place = a.place(i, j).unwrap();
            a.add_at(place, &-outer(u, w));
        }
        a
    }

    #[test]
    fn a_product_is_symmetric_and_its_diagonal_is_where_it_was_put() {
        let n = 40;
        let a = sample(n, 1);
        let mut random = Random::new(2);
        let x: Vec<Vec3> = (0..n).map(|_| random.in_cube(1.0)).collect();
        let z: Vec<Vec3> = (0..n).map(|_| random.in_cube(1.0)).collect();
        let (mut ax, mut az) = (Vec::new(), Vec::new());
        a.multiply(&x, &mut ax);
        a.multiply(&z, &mut az);
        let dot = |p: &[Vec3], q: &[Vec3]| -> f64 { p.iter().zip(q).map(|(p, q)| p.dot(*q)).sum() };
        let (left, right) = (dot(&z, &ax), dot(&x, &az));
        // Some hundred roundings.
        assert!((left - right).abs() < 1e-12 * left.abs().max(1.0), "{left} against {right}");
        assert!(dot(&x, &ax) > 0.0);
    }

    #[test]
    fn the_same_pattern_keeps_its_version_and_another_does_not() {
        let mut a = BlockMatrix::default();
        a.keep_or_set_pattern(4, vec![(0, 2), (3, 1)]);
        let version = a.version;
        a.keep_or_set_pattern(4, vec![(1, 3), (2, 0), (0, 2)]);
        assert_eq!(a.version, version);
        a.keep_or_set_pattern(4, vec![(0, 3), (2, 1)]);
        assert_eq!(a.version, version + 1);
        assert!(a.slot(3, 0).is_some() && a.slot(2, 0).is_none());
    }

    #[test]
    fn a_pair_that_is_not_in_the_pattern_has_no_place() {
        let mut a = BlockMatrix::default();
        a.set_pattern(4, vec![(0, 2), (2, 0), (3, 1)]);
        assert_eq!(a.place(0, 3), None);
        assert_eq!(a.place(NONE, 3), Some(NONE));
        assert_eq!(a.place(0, 2).map(|p| p ^ 1), a.place(2, 0));
        assert_eq!(a.rows.len(), 6);
    }
}
