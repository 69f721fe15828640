//! The part of nodes in an application of the Hessian, in single precision; see `nodes.rs` for the terms.
//!
//! A light node under a stiff contact has a diagonal block of condition 10⁹ and more, where a rounded 3×3 matrix is no
//! longer positive. Rounded *factors* are: Hessians are kept as Σ c cᵀ, inverse blocks as GᵀG.

use super::nodes::{Anchor, Nodes};
use super::operator::{Moving, Sym, narrow, widen};
use glam::Vec4;
use littoral_geom::math::{Mat3, Vec3, outer};
use rayon::prelude::*;

/// Anchors or nodes below which another thread costs more than it saves.
const SPLIT: usize = 2048;

/// Share of a block that covers the rounding of the difference taken from it [–]: single precision, with some room. Larger,
/// light nodes under stiff contacts converge more slowly.
const ROUNDED: f64 = 1e-5;

/// A block of the preconditioner.
pub(super) trait Block: Sync {
    /// Product with a vector.
    fn times(&self, v: Vec4) -> Vec4;
}

/// A positive semidefinite matrix Σ_k c_k c_kᵀ.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Roots([Vec4; 3]);

impl Roots {
    /// Cholesky factors with the largest pivot first, so that a matrix of rank one has one factor. What is negative,
    /// by rounding or by mistake, is left out.
    pub fn of(matrix: &Mat3) -> Self {
        let mut rest = *matrix;
        let mut roots = [Vec4::ZERO; 3];
        let trace = (0..3).map(|k| rest.col(k)[k].abs()).sum::<f64>();
        for root in &mut roots {
            let pivot = |k: &usize| rest.col(*k)[*k];
            let k = (0..3).max_by(|a, b| pivot(a).total_cmp(&pivot(b))).unwrap_or(0);
            // Rounding of what has been taken off.
            if pivot(&k) <= 4.0 * f64::EPSILON * trace {
                break;
            }
            let column = rest.col(k) / pivot(&k).sqrt();
            rest -= outer(column, column);
            *root = narrow(column);
        }
        Roots(roots)
    }

    /// Product with a vector.
    #[inline]
    pub fn times(&self, v: Vec4) -> Vec4 {
        let [a, b, c] = self.0;
        a * a.dot(v) + b * b.dot(v) + c * c.dot(v)
    }

    /// The vectors c_k.
    #[inline]
    pub fn columns(&self) -> &[Vec4; 3] {
        &self.0
    }

    /// The matrix in double precision.
    pub fn widened(&self) -> Mat3 {
        self.0.iter().map(|c| outer(widen(*c), widen(*c))).fold(Mat3::ZERO, |sum, m| sum + m)
    }
}

/// The inverse GᵀG of a positive definite matrix, by the columns of G.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Inverse([Vec4; 3]);

impl Inverse {
    /// G = L⁻¹ of the Cholesky factor of a matrix with eigenvalues of at least `least`, > 0.
    fn of(matrix: &Mat3, least: f64) -> Self {
        let m = |r: usize, c: usize| matrix.col(c)[r];
        // A pivot is at least the least eigenvalue; rounding may say otherwise.
        let root = |pivot: f64| pivot.max(least).sqrt();
        let a = root(m(0, 0));
        let (d, e) = (m(1, 0) / a, m(2, 0) / a);
        let b = root(m(1, 1) - d * d);
        let f = (m(2, 1) - d * e) / b;
        let c = root(m(2, 2) - e * e - f * f);
        let first = Vec3::new(1.0 / a, -d / (a * b), (d * f / b - e) / (a * c));
        let second = Vec3::new(0.0, 1.0 / b, -f / (b * c));
        Inverse([first, second, Vec3::Z / c].map(narrow))
    }
}

impl Block for Inverse {
    #[inline]
    fn times(&self, v: Vec4) -> Vec4 {
        let [a, b, c] = self.0;
        let g = a * v.x + b * v.y + c * v.z;
        Vec4::new(a.dot(g), b.dot(g), c.dot(g), 0.0)
    }
}

/// An anchor in single precision.
#[derive(Clone, Copy, Debug)]
struct Tie {
    push: Vec4,
    roots: Roots,
    slot: u32,
    nodes: [u32; 3],
    weights: [f32; 3],
}

impl Tie {
    fn of(anchor: &Anchor) -> Self {
        Tie {
            push: narrow(anchor.push),
            roots: Roots::of(&anchor.hessian),
            slot: anchor.slot,
            nodes: anchor.nodes,
            weights: anchor.weights.map(|w| w as f32),
        }
    }
}

/// The anchors of a system in single precision, and the buffers of an application.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeOperator {
    ties: Vec<Tie>,
    /// ρ of each anchor, then φ.
    forces: Vec<Vec4>,
    mass: Vec<f32>,
}

impl NodeOperator {
    /// Takes over everything that stays during a solve.
    pub fn load(&mut self, nodes: &Nodes) {
        self.ties.clear();
        self.ties.extend(nodes.anchors.iter().map(Tie::of));
        self.forces.clear();
        self.forces.resize(self.ties.len(), Vec4::ZERO);
        self.mass.clear();
        self.mass.extend(nodes.mass.iter().map(|m| *m as f32));
    }

    /// True if there is nothing to do but inertia.
    pub fn is_empty(&self) -> bool {
        self.ties.is_empty()
    }

    /// ρ of every anchor; `moving` are all unknowns, `n` of particles.
    pub fn relate(&mut self, moving: &[Moving], n: usize) {
        let (particles, nodes) = moving.split_at(n);
        let pairs = self.forces.par_iter_mut().with_min_len(SPLIT).zip(&self.ties);
        pairs.for_each(|(relative, tie)| {
            let [a, b, c] = tie.nodes.map(|k| nodes[k as usize].p);
            let point = a * tie.weights[0] + b * tie.weights[1] + c * tie.weights[2];
            *relative = point - particles[tie.slot as usize].p;
        });
    }

    /// Slot of the particle of an anchor.
    #[inline]
    pub fn slot(&self, anchor: usize) -> usize {
        self.ties[anchor].slot as usize
    }

    /// a and H of an anchor.
    #[inline]
    pub fn parts(&self, anchor: usize) -> (Vec4, &Roots) {
        (self.ties[anchor].push, &self.ties[anchor].roots)
    }

    /// a·ρ of an anchor, between [`relate`](Self::relate) and [`pull`](Self::pull).
    #[inline]
    pub fn strain(&self, anchor: usize) -> f32 {
        self.ties[anchor].push.dot(self.forces[anchor])
    }

    /// φ = τ a + Hρ of every anchor.
    pub fn pull(&mut self, tension: &[f32]) {
        let pairs = self.forces.par_iter_mut().with_min_len(SPLIT).zip(&self.ties);
        pairs.for_each(|(force, tie)| {
            *force = tie.push * tension[tie.slot as usize] + tie.roots.times(*force);
        });
    }

    /// φ of an anchor, after [`pull`](Self::pull).
    #[inline]
    pub fn force(&self, anchor: usize) -> Vec4 {
        self.forces[anchor]
    }

    /// The rows of the nodes: out = m p + Σ w φ. `moving` are the nodes' alone.
    pub fn apply(&self, nodes: &Nodes, moving: &[Moving], out: &mut [Vec4]) {
        out.par_iter_mut().with_min_len(SPLIT).enumerate().for_each(|(node, y)| {
            *y = moving[node].p * self.mass[node];
            if self.mass[node] > 0.0 {
                for (anchor, weight) in nodes.of_node(node) {
                    *y += self.forces[*anchor as usize] * *weight as f32;
                }
            }
        });
    }

    /// What walls and contacts add to the diagonal block of a node,
    /// Σ_anchors w² H + Σ_particles weight (Σ_anchors w a)(Σ_anchors w a)ᵀ. `weight` is the second derivative of a
    /// particle's energy by its strain.
    fn block(&self, nodes: &Nodes, weight: &[f32], node: usize) -> Mat3 {
        let mut block = Mat3::ZERO;
        // Anchors ascend by slot, so those of one particle are together.
        let tie = |entry: &(u32, f64)| &self.ties[entry.0 as usize];
        for group in nodes.of_node(node).chunk_by(|a, b| tie(a).slot == tie(b).slot) {
            let mut push = Vec3::ZERO;
            for entry in group {
                push += entry.1 * widen(tie(entry).push);
                block += entry.1 * entry.1 * tie(entry).roots.widened();
            }
            block += f64::from(weight[tie(&group[0]).slot as usize]) * outer(push, push);
        }
        block
    }

    /// What is left of [`block`](Self::block) when every particle follows: for each particle, with its diagonal block D and
    /// its coupling G = w B pᵀ − H to the node, block − Gᵀ D⁻¹ G. `own` are the B.
    fn yielding_block(
        &self,
        nodes: &Nodes,
        (weight, own): (&[f32], &[Vec4]),
        inverse: &[Sym],
        node: usize,
    ) -> Mat3 {
        let mut block = Mat3::ZERO;
        let tie = |entry: &(u32, f64)| &self.ties[entry.0 as usize];
        for group in nodes.of_node(node).chunk_by(|a, b| tie(a).slot == tie(b).slot) {
            let slot = tie(&group[0]).slot as usize;
            let w = f64::from(weight[slot]);
            let (mut push, mut pull, mut full) = (Vec3::ZERO, Mat3::ZERO, Mat3::ZERO);
            for entry in group {
                let hessian = tie(entry).roots.widened();
                push += entry.1 * widen(tie(entry).push);
                pull += entry.1 * hessian;
                full += entry.1 * entry.1 * hessian;
            }
            full += w * outer(push, push);
            let coupling = outer(widen(own[slot]), w * push) - pull;
            block += (1.0 + ROUNDED) * full - coupling.transpose() * (inverse[slot].widened() * coupling);
        }
        // Positive semidefinite but for rounding.
        Roots::of(&(0.5 * (block + block.transpose()))).widened()
    }

    /// The yielding blocks of all nodes, without their mass.
    pub fn yielding_blocks(&self, nodes: &Nodes, weight: &[f32], own: &[Vec4], inverse: &[Sym]) -> Vec<Mat3> {
        let block = |k| self.yielding_block(nodes, (weight, own), inverse, k);
        (0..nodes.len()).into_par_iter().with_min_len(SPLIT).map(block).collect()
    }

    /// r −= Gᵀz for the residuals of the nodes and displacements of the particles.
    pub fn pass_on(&mut self, nodes: &Nodes, weight: &[f32], own: &[Vec4], z: &[Vec4], r: &mut [Vec4]) {
        let pairs = self.forces.par_iter_mut().with_min_len(SPLIT).zip(&self.ties);
        pairs.for_each(|(force, tie)| {
            let slot = tie.slot as usize;
            *force = tie.push * (weight[slot] * own[slot].dot(z[slot])) - tie.roots.times(z[slot]);
        });
        let forces = &self.forces;
        r.par_iter_mut().with_min_len(SPLIT).enumerate().for_each(|(node, r)| {
            for (anchor, weight) in nodes.of_node(node) {
                *r -= forces[*anchor as usize] * *weight as f32;
            }
        });
    }

    /// z −= D⁻¹Gz' for the displacements of the particles and those of the nodes.
    pub fn pass_back(
        &self,
        weight: &[f32],
        own: &[Vec4],
        inverse: &[Sym],
        of_nodes: &[Vec4],
        z: &mut [Vec4],
    ) {
        // Anchors ascend by slot: those of one particle are together.
        for group in self.ties.chunk_by(|a, b| a.slot == b.slot) {
            let slot = group[0].slot as usize;
            let mut force = Vec4::ZERO;
            for tie in group {
                let [a, b, c] = tie.nodes.map(|k| of_nodes[k as usize]);
                let point = a * tie.weights[0] + b * tie.weights[1] + c * tie.weights[2];
                force += own[slot] * (weight[slot] * tie.push.dot(point)) - tie.roots.times(point);
            }
            z[slot] -= inverse[slot].times(force);
        }
    }

    /// The inverses of the diagonal blocks of the nodes, mass included; zero for held nodes.
    pub fn inverses(&self, nodes: &Nodes, weight: &[f32], out: &mut Vec<Inverse>) {
        let inverse = |node: usize| {
            let mass = nodes.mass[node];
            if mass == 0.0 {
                return Inverse::default();
            }
            let block = Mat3::from_diagonal(Vec3::splat(mass)) + self.block(nodes, weight, node);
            Inverse::of(&block, mass)
        };
        (0..nodes.len()).into_par_iter().with_min_len(SPLIT).map(inverse).collect_into_vec(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use littoral_geom::random::Random;

    #[test]
    fn roots_and_inverses_multiply_as_the_matrix_does() {
        let mut random = Random::new(3);
        for rank in 1..=3 {
            for _ in 0..100 {
                let mut matrix = Mat3::ZERO;
                for _ in 0..rank {
                    let a = random.in_cube(10.0);
                    matrix += outer(a, a);
                }
                let v = random.in_cube(1.0);
                let size = matrix.col(0).length() + matrix.col(1).length() + matrix.col(2).length();
                let found = widen(Roots::of(&matrix).times(narrow(v)));
                // Single precision, some ten operations.
                assert!((found - matrix * v).length() < 1e-6 * size, "rank {rank}: {found} {}", matrix * v);
                let block = matrix + Mat3::from_diagonal(Vec3::splat(100.0));
                let found = widen(Inverse::of(&block, 100.0).times(narrow(v)));
                assert!((found - block.inverse() * v).length() < 1e-7, "rank {rank}");
            }
        }
    }

    #[test]
    fn an_inverse_of_condition_1e9_is_still_positive() {
        let mut random = Random::new(4);
        for _ in 0..1000 {
            let n = random.in_cube(1.0).normalize();
            let block = Mat3::from_diagonal(Vec3::splat(1e-3)) + 1e6 * outer(n, n);
            let r = narrow(1e6 * n);
            // rᵀD⁻¹r = 1e6 up to the rounding of r, which is of 0.1 against a softness of 1e3 across: 10 and less.
            let product = Inverse::of(&block, 1e-3).times(r).dot(r);
            assert!((product / 1e6 - 1.0).abs() < 1e-3, "{product}");
        }
    }
}
