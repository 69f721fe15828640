//! Domain decomposition of a Newton system [Xie 2023, §5]: particles meet solids but never one another, so that their
//! part H_f of the Hessian is block-diagonal. They are eliminated one by one,
//!
//! S = H_s − Gᵀ H_f⁻¹ G,  S d_s = b_s − Gᵀ H_f⁻¹ b_f,  d_f = H_f⁻¹ (b_f − G d_s),
//!
//! and what is factorised is as large as the solids alone. Each particle couples the few points it touches, which are
//! mostly coupled already.

use super::cholesky::{Cholesky, CholeskyError};
use super::sparse::BlockMatrix;
use littoral_geom::math::{Mat3, Vec3};

/// The decomposition and what it can keep for the next one.
#[derive(Debug, Default)]
pub struct Schur {
    version: u64,
    solids: usize,
    /// S.
    matrix: BlockMatrix,
    /// Where each block of H_s goes: slot there, slot here.
    kept: Vec<(u32, u32)>,
    /// First coupling of each particle; one more entry than particles.
    starts: Vec<u32>,
    /// Couplings of the particles: the solid's unknown and the slot of G.
    couplings: Vec<(u32, u32)>,
    /// Slots of S of every pair of couplings of each particle, the first not before the second.
    targets: Vec<u32>,
    cholesky: Cholesky,
    roots: Vec<Root>,
    /// L⁻¹ G of every coupling.
    arms: Vec<Mat3>,
    right: Vec<Vec3>,
}

/// The Cholesky factor L of a block. An inverse would not do: a barrier makes blocks so ill-conditioned that the rounding
/// of its inverse would outweigh what S is left with.
#[derive(Clone, Copy, Debug)]
struct Root {
    diagonal: Vec3,
    /// L₁₀, L₂₀, L₂₁.
    below: Vec3,
}

impl Root {
    /// `None` when the block is not positive definite.
    fn of(m: &Mat3) -> Option<Root> {
        let root = |pivot: f64| (pivot > 0.0).then(|| pivot.sqrt());
        let a = root(m.x_axis.x)?;
        let (d, e) = (m.x_axis.y / a, m.x_axis.z / a);
        let b = root(m.y_axis.y - d * d)?;
        let f = (m.y_axis.z - d * e) / b;
        let c = root(m.z_axis.z - e * e - f * f)?;
        Some(Root { diagonal: Vec3::new(a, b, c), below: Vec3::new(d, e, f) })
    }

    /// L⁻¹ v.
    #[inline]
    fn forward(&self, v: Vec3) -> Vec3 {
        let x = v.x / self.diagonal.x;
        let y = (v.y - self.below.x * x) / self.diagonal.y;
        Vec3::new(x, y, (v.z - self.below.y * x - self.below.z * y) / self.diagonal.z)
    }

    /// L⁻ᵀ v.
    #[inline]
    fn backward(&self, v: Vec3) -> Vec3 {
        let z = v.z / self.diagonal.z;
        let y = (v.y - self.below.z * z) / self.diagonal.y;
        Vec3::new((v.x - self.below.x * y - self.below.y * z) / self.diagonal.x, y, z)
    }
}

impl Schur {
    /// Solves A x = b. The first `solids` unknowns are solid, the others couple to those only. A must be symmetric
    /// positive definite.
    pub fn solve(
        &mut self,
        a: &BlockMatrix,
        b: &[Vec3],
        solids: usize,
        x: &mut Vec<Vec3>,
    ) -> Result<(), CholeskyError> {
        if self.version != a.version || self.solids != solids {
            self.analyse(a, solids);
        }
        let not_positive = CholeskyError::NotPositive { points: a.len() };
        // 1. H_f = L Lᵀ, S, and its right-hand side.
        self.matrix.clear();
        for &(from, to) in &self.kept {
            self.matrix.values[to as usize] = a.values[from as usize];
        }
        self.right.clear();
        self.right.extend_from_slice(&b[..solids]);
        self.roots.clear();
        self.arms.clear();
        let mut target = self.targets.iter();
        for p in 0..a.len() - solids {
            let root = Root::of(&a.diagonal(solids + p)).ok_or(not_positive)?;
            let pull = root.forward(b[solids + p]);
            let first = self.arms.len();
            for &(s, slot) in &self.couplings[first..self.starts[p + 1] as usize] {
                let g = a.values[slot as usize];
                let arm =
                    Mat3::from_cols(root.forward(g.x_axis), root.forward(g.y_axis), root.forward(g.z_axis));
                self.right[s as usize] -= arm.transpose() * pull;
                self.arms.push(arm);
                for (other, &to) in self.arms[first..].iter().zip(&mut target) {
                    self.matrix.values[to as usize] -= arm.transpose() * *other;
                }
            }
            self.roots.push(root);
        }
        // 2. The solids.
        self.cholesky.solve(&self.matrix, &self.right, x)?;
        // 3. Each particle by itself.
        for (p, root) in self.roots.iter().enumerate() {
            let row = self.starts[p] as usize..self.starts[p + 1] as usize;
            let arms = self.couplings[row.clone()].iter().zip(&self.arms[row]);
            let pull: Vec3 = arms.map(|(&(s, _), arm)| *arm * x[s as usize]).sum();
            x.push(root.backward(root.forward(b[solids + p]) - pull));
        }
        Ok(())
    }

    /// Entries of the factor of S; 0 before the first analysis.
    pub fn fill(&self) -> usize {
        self.cholesky.fill()
    }

    /// Finds the couplings and the pattern of S.
    fn analyse(&mut self, a: &BlockMatrix, solids: usize) {
        let particles = a.len() - solids;
        let mut lists: Vec<Vec<(u32, u32)>> = vec![Vec::new(); particles];
        for j in 0..solids {
            for (k, &row) in a.column(j).iter().enumerate() {
                if let Some(p) = (row as usize).checked_sub(solids) {
                    lists[p].push((j as u32, a.starts[j] + k as u32));
                }
            }
        }
        let is_of_solids = self.set_pattern(a, solids, &lists);
        let slot = |row: u32, column: u32| {
            let found = self.matrix.slot(row, column);
            assert!(found.is_some(), "the pattern was made for this block");
            found.unwrap_or(0)
        };
        self.kept.clear();
        for j in 0..solids {
            for (k, &row) in a.column(j).iter().enumerate().filter(|(_, r)| (**r as usize) < solids) {
                // Without further blocks both have the same order.
                let to = if is_of_solids { self.kept.len() as u32 } else { slot(row, j as u32) };
                self.kept.push((a.starts[j] + k as u32, to));
            }
        }
        self.starts.clear();
        self.couplings.clear();
        self.targets.clear();
        self.starts.push(0);
        for list in &lists {
            // Columns ascend, so that the later of two is the row.
            for (i, x) in list.iter().enumerate() {
                self.targets.extend(list[..=i].iter().map(|y| slot(x.0, y.0)));
            }
            self.couplings.extend_from_slice(list);
            self.starts.push(self.couplings.len() as u32);
        }
        self.version = a.version;
        self.solids = solids;
    }

    /// Particles on faces couple only what the faces couple already: mostly the pattern of the solids stays what it is.
    /// True if S has no block that `a` lacks.
    fn set_pattern(&mut self, a: &BlockMatrix, solids: usize, lists: &[Vec<(u32, u32)>]) -> bool {
        let couplings = |list: &[(u32, u32)]| {
            let of = |(i, x): (usize, &(u32, u32))| list[..i].iter().map(|y| (y.0, x.0)).collect::<Vec<_>>();
            list.iter().enumerate().flat_map(of).collect::<Vec<_>>()
        };
        let mut pairs: Vec<(u32, u32)> = lists.iter().flat_map(|l| couplings(l)).collect();
        let of_solids = |j: usize| a.column(j).iter().copied().take_while(|r| (*r as usize) < solids);
        let is_of_solids = pairs.iter().all(|&(column, row)| a.slot(row, column).is_some());
        let is_kept = is_of_solids
            && self.matrix.len() == solids
            && (0..solids).all(|j| self.matrix.column(j).iter().copied().eq(of_solids(j)));
        if !is_kept {
            pairs.extend((0..solids).flat_map(|j| of_solids(j).map(move |row| (j as u32, row))));
            self.matrix.keep_or_set_pattern(solids, pairs);
        }
        is_of_solids
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use littoral_geom::math::outer;
    use littoral_geom::random::Random;

    /// A chain of solids and particles that each pull at three of them with stiff contacts.
    fn coupled(solids: u32, particles: u32, seed: u64) -> BlockMatrix {
        let mut random = Random::new(seed);
        let mut springs: Vec<(Vec<u32>, Vec<f64>, f64)> =
            (1..solids).map(|i| (vec![i - 1, i], vec![1.0, -1.0], 1.0)).collect();
        for p in 0..particles {
            let at = (random.in_cube(1.0).x.abs() * f64::from(solids - 3)) as u32;
            let w = random.in_cube(1.0).abs();
            let sum = w.x + w.y + w.z;
            let points = vec![solids + p, at, at + 1, at + 2];
            springs.push((points, vec![1.0, -w.x / sum, -w.y / sum, -w.z / sum], 1e2));
        }
        let pairs = springs.iter().flat_map(|(points, ..)| {
            points.iter().flat_map(|&a| points.iter().map(move |&b| (a, b))).collect::<Vec<_>>()
        });
        let mut a = BlockMatrix::default();
        a.set_pattern((solids + particles) as usize, pairs.collect());
        for i in 0..solids + particles {
            a.add_diagonal(i, Mat3::IDENTITY * 0.1);
        }
        for (points, weights, stiffness) in springs {
            let n = random.direction();
            for (i, &p) in points.iter().enumerate() {
                for (j, &q) in points[..=i].iter().enumerate() {
                    let place = a.place(p, q).unwrap();
                    a.add_at(place, &(outer(n, n) * (stiffness * weights[i] * weights[j])));
                }
            }
        }
        a
    }

    #[test]
    fn the_direction_is_that_of_the_whole_system() {
        for (solids, particles) in [(40, 200), (5, 1), (30, 0)] {
            let a = coupled(solids, particles, 7);
            let mut random = Random::new(8);
            let b: Vec<Vec3> = (0..a.len()).map(|_| random.in_cube(1.0)).collect();
            let (mut whole, mut parts) = (Vec::new(), Vec::new());
            Cholesky::default().solve(&a, &b, &mut whole).unwrap();
            let mut schur = Schur::default();
            for _ in 0..2 {
                schur.solve(&a, &b, solids as usize, &mut parts).unwrap();
                let size = whole.iter().map(|v| v.length()).fold(0.0, f64::max);
                let error = whole.iter().zip(&parts).map(|(p, q)| p.distance(*q)).fold(0.0, f64::max);
                // The condition is 1e4; times some roundings.
                assert!(error < 1e-10 * size, "{error:e} of {size:e}");
            }
        }
    }

    #[test]
    fn a_particle_without_a_positive_block_is_refused() {
        let mut a = coupled(10, 3, 2);
        a.add_diagonal(11, Mat3::IDENTITY * -1e5);
        let b = vec![Vec3::ONE; 13];
        let found = Schur::default().solve(&a, &b, 10, &mut Vec::new());
        assert_eq!(found, Err(CholeskyError::NotPositive { points: 13 }));
    }
}
