//! The Hessian applied to a vector, matrix-free and in single precision: the work of a conjugate gradient iteration.
//!
//! An entry is eight bytes, a neighbour and its coefficient; the vector x_ij is taken from positions that are in the
//! cache anyway, because streaming a stored gradient costs more time than forming it. Two passes gather: strains,
//! then forces. The difference to the double-precision forms is a relative 1e-7 of the domain's size in spacings; the
//! solver corrects it by its true residual.

use super::node_operator::{Block, Inverse, NodeOperator, Roots};
use super::system::{Diagonal, System};
use glam::{Vec4, Vec4Swizzles};
use littoral_geom::math::{Mat3, Vec3};
use littoral_geom::particle_grid::{CHUNK, ParticleGrid};
use rayon::prelude::*;

/// A symmetric 3×3 matrix in single precision.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sym {
    /// xx, yy, zz.
    straight: Vec4,
    /// yz, zx, xy.
    mixed: Vec4,
}

impl Sym {
    /// The symmetric part of a matrix.
    pub fn of(m: &Mat3) -> Self {
        let mixed = [m.y_axis.z + m.z_axis.y, m.z_axis.x + m.x_axis.z, m.x_axis.y + m.y_axis.x];
        Sym {
            straight: Vec4::new(m.x_axis.x as f32, m.y_axis.y as f32, m.z_axis.z as f32, 0.0),
            mixed: Vec4::new(mixed[0] as f32, mixed[1] as f32, mixed[2] as f32, 0.0) * 0.5,
        }
    }
}

impl Block for Sym {
    #[inline]
    fn times(&self, v: Vec4) -> Vec4 {
        // xx x + xy y + zx z, and cyclically.
        let m = self.mixed;
        self.straight * v + m.zxyw() * v.yzxw() + m.yzxw() * v.zxyw()
    }
}

/// A symmetric block that grows term by term, and its inverse.
impl Sym {
    /// The diagonal matrix with equal entries.
    fn scalar(value: f32) -> Self {
        Sym { straight: Vec4::new(value, value, value, 0.0), mixed: Vec4::ZERO }
    }

    /// Adds w a aᵀ.
    #[inline]
    fn add_square(&mut self, w: f32, a: Vec4) {
        let scaled = a * w;
        self.straight += a * scaled;
        self.mixed += a.yzxw() * scaled.zxyw();
    }

    fn add(&mut self, other: &Roots) {
        for root in other.columns() {
            self.add_square(1.0, *root);
        }
    }

    /// The inverse of the matrix plus a multiple `shift` of its trace.
    pub fn shifted_inverse(&self, shift: f64) -> Self {
        let matrix = self.widened();
        let trace = matrix.x_axis.x + matrix.y_axis.y + matrix.z_axis.z;
        Sym::of(&(matrix + Mat3::from_diagonal(Vec3::splat(shift * trace))).inverse())
    }

    /// The matrix in double precision.
    pub fn widened(&self) -> Mat3 {
        let (d, m) = (widen(self.straight), widen(self.mixed));
        Mat3::from_cols(Vec3::new(d.x, m.z, m.y), Vec3::new(m.z, d.y, m.x), Vec3::new(m.y, m.x, d.z))
    }
}

/// Position and search direction of a particle: what a gather needs lies in one cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(super) struct Moving {
    pub x: Vec4,
    pub p: Vec4,
}

/// A double-precision vector, rounded.
#[inline]
pub(super) fn narrow(v: Vec3) -> Vec4 {
    Vec4::new(v.x as f32, v.y as f32, v.z as f32, 0.0)
}

/// A single-precision vector, widened.
#[inline]
pub(super) fn widen(v: Vec4) -> Vec3 {
    Vec3::new(f64::from(v.x), f64::from(v.y), f64::from(v.z))
}

/// Sum of the first three lanes. A chunk is summed in single precision, lane by lane, chunks in double.
#[inline]
pub(super) fn lanes(v: Vec4) -> f64 {
    f64::from(v.x) + f64::from(v.y) + f64::from(v.z)
}

/// The coefficients of a system in single precision, and the buffers of an application.
#[derive(Clone, Debug, Default)]
pub(super) struct Operator {
    pub moving: Vec<Moving>,
    mass: Vec<f32>,
    weight: Vec<f32>,
    push: Vec<Vec4>,
    /// B_k = ∂s_k/∂u_k, of the last call of `blocks`.
    own: Vec<Vec4>,
    /// Whether a wall is near any particle of each chunk.
    walls_near: Vec<bool>,
    tension: Vec<f32>,
    diagonals: Vec<(u32, Roots)>,
    /// First diagonal of each chunk.
    diagonal_starts: Vec<u32>,
    viscous: bool,
    nodes: NodeOperator,
}

impl Operator {
    /// Takes over everything that stays during a solve.
    pub fn load(&mut self, system: &System) {
        let chunks = system.len().div_ceil(CHUNK);
        let slots = || (0..system.len()).into_par_iter().with_min_len(4096);
        slots().map(|i| Moving { x: narrow(system.x[i]), p: Vec4::ZERO }).collect_into_vec(&mut self.moving);
        self.moving.resize(system.len() + system.nodes.len(), Moving::default());
        self.nodes.load(&system.nodes);
        slots().map(|i| system.mass[i] as f32).collect_into_vec(&mut self.mass);
        slots().map(|i| narrow(system.push[i])).collect_into_vec(&mut self.push);
        self.tension.resize(system.len(), 0.0);
        self.walls_near.clear();
        self.walls_near.resize(chunks, false);
        for wall in &system.walls {
            self.walls_near[wall.slot as usize / CHUNK] = true;
        }
        let narrow_term = |d: &Diagonal| (d.slot, Roots::of(&d.hessian));
        self.diagonals.clear();
        self.diagonals.extend(system.diagonals.iter().map(narrow_term));
        let start = |k: usize| system.diagonals.partition_point(|d| (d.slot as usize) < k * CHUNK) as u32;
        self.diagonal_starts.clear();
        self.diagonal_starts.extend((0..=chunks).map(start));
        self.viscous = system.has_viscosity();
        self.load_active(system);
    }

    /// Takes over which terms are on.
    pub fn load_active(&mut self, system: &System) {
        let slots = (0..system.len()).into_par_iter().with_min_len(4096);
        slots.map(|i| system.weight(i) as f32).collect_into_vec(&mut self.weight);
    }

    /// out = H p; returns pᵀHp. `p` is in `moving`.
    pub fn apply(&mut self, grid: &ParticleGrid, system: &System, out: &mut [Vec4]) -> f64 {
        let n = system.len();
        if !self.nodes.is_empty() {
            self.nodes.relate(&self.moving, n);
        }
        self.strains(grid, system);
        if !self.nodes.is_empty() {
            self.nodes.pull(&self.tension);
        }
        let (out, of_nodes) = out.split_at_mut(n);
        self.apply_to_particles(grid, system, out) + self.apply_to_nodes(system, of_nodes)
    }

    /// The rows of the nodes.
    fn apply_to_nodes(&self, system: &System, out: &mut [Vec4]) -> f64 {
        let own = &self.moving[system.len()..];
        self.nodes.apply(&system.nodes, own, out);
        let chunks = out.par_chunks(CHUNK).zip(own.par_chunks(CHUNK));
        super::system::sum_chunks(chunks.map(|(out, own)| dot(own, out)))
    }

    /// The rows of the particles, from their tensions.
    fn apply_to_particles(&self, grid: &ParticleGrid, system: &System, out: &mut [Vec4]) -> f64 {
        let this = self;
        let lists = grid.chunks().par_iter().zip(&system.pairs);
        let parts = out.par_chunks_mut(CHUNK).zip(lists).enumerate().map(|(k, (out, (list, pairs)))| {
            let first = k * CHUNK;
            for (local, y) in out.iter_mut().enumerate() {
                let range = list.range(local);
                let (ids, c) = (&list.ids[range.clone()], &pairs.strain[range.clone()]);
                let i = first + local;
                let force = if this.viscous {
                    this.viscous_force(i, ids, c, &pairs.viscous[range])
                } else {
                    this.force(i, ids, c)
                };
                *y = this.moving[i].p * this.mass[i] + force;
            }
            if this.walls_near[k] {
                for (local, y) in out.iter_mut().enumerate() {
                    *y += this.push[first + local] * this.tension[first + local];
                }
            }
            let range = this.diagonal_starts[k] as usize..this.diagonal_starts[k + 1] as usize;
            for (slot, matrix) in &this.diagonals[range] {
                let slot = *slot as usize;
                out[slot - first] += matrix.times(this.moving[slot].p);
            }
            for anchor in system.nodes.of_chunk(k) {
                out[this.nodes.slot(anchor) - first] -= this.nodes.force(anchor);
            }
            dot(&this.moving[first..first + out.len()], out)
        });
        super::system::sum_chunks(parts)
    }

    /// The inverses of the diagonal blocks of the nodes.
    pub fn node_inverses(&self, system: &System, out: &mut Vec<Inverse>) {
        self.nodes.inverses(&system.nodes, &self.weight, out);
    }

    /// What walls and contacts add to the diagonal blocks of the nodes, once the particles that they tie are eliminated;
    /// `inverse` are the inverses of what [`blocks`](Self::blocks) found.
    pub fn yielding_blocks(&self, system: &System, inverse: &[Sym]) -> Vec<Mat3> {
        self.nodes.yielding_blocks(&system.nodes, &self.weight, &self.own, inverse)
    }

    /// Takes from the residuals `r` of the nodes what the particles' displacements `z` do to them: r − Gᵀz.
    pub fn pass_on(&mut self, system: &System, z: &[Vec4], r: &mut [Vec4]) {
        let Operator { weight, own, nodes, .. } = self;
        nodes.pass_on(&system.nodes, weight, own, z, r);
    }

    /// Takes from the displacements `z` of the particles what those `z_nodes` of the nodes do to them: z − D⁻¹Gz'.
    pub fn pass_back(&mut self, inverse: &[Sym], z_nodes: &[Vec4], z: &mut [Vec4]) {
        let Operator { weight, own, nodes, .. } = self;
        nodes.pass_back(weight, own, inverse, z_nodes, z);
    }

    /// The diagonal blocks of the particles:
    /// m + w_k B_k B_kᵀ + Σ_i w_i c_ik² x_ik x_ikᵀ + Σ_j q x_kj x_kjᵀ and single terms, B_k = ∂s_k/∂u_k.
    pub fn blocks(&mut self, grid: &ParticleGrid, system: &System, out: &mut Vec<Sym>) {
        out.resize(self.mass.len(), Sym::default());
        let mut owns = std::mem::take(&mut self.own);
        owns.resize(self.mass.len(), Vec4::ZERO);
        let lists = grid.chunks().par_iter().zip(&system.pairs);
        let rows = out.par_chunks_mut(CHUNK).zip(owns.par_chunks_mut(CHUNK)).zip(lists);
        rows.enumerate().for_each(|(k, ((out, owns), (list, pairs)))| {
            let mut anchors = system.nodes.of_chunk(k).peekable();
            for (local, (block, kept)) in out.iter_mut().zip(owns).enumerate() {
                let i = k * CHUNK + local;
                let range = list.range(local);
                *block = Sym::scalar(self.mass[i]);
                let mut own = self.push[i];
                while let Some(anchor) = anchors.next_if(|a| self.nodes.slot(*a) == i) {
                    let (push, roots) = self.nodes.parts(anchor);
                    own -= push;
                    block.add(roots);
                }
                for (j, c) in list.ids[range.clone()].iter().zip(&pairs.strain[range.clone()]) {
                    let j = *j as usize;
                    let g = (self.moving[i].x - self.moving[j].x) * *c;
                    own -= g;
                    block.add_square(self.weight[j], g);
                }
                block.add_square(self.weight[i], own);
                *kept = own;
                if self.viscous {
                    for (j, q) in list.ids[range.clone()].iter().zip(&pairs.viscous[range]) {
                        block.add_square(*q, self.moving[i].x - self.moving[*j as usize].x);
                    }
                }
            }
            let range = self.diagonal_starts[k] as usize..self.diagonal_starts[k + 1] as usize;
            for (slot, matrix) in &self.diagonals[range] {
                out[*slot as usize - k * CHUNK].add(matrix);
            }
        });
        self.own = owns;
    }

    /// First pass: tension τ_i = w_i s_i(p).
    fn strains(&mut self, grid: &ParticleGrid, system: &System) {
        let Operator { moving, weight, push, walls_near, tension, nodes, .. } = self;
        let (moving, weight, push, walls_near) = (&moving[..], &weight[..], &push[..], &walls_near[..]);
        let lists = grid.chunks().par_iter().zip(&system.pairs);
        tension.par_chunks_mut(CHUNK).zip(lists).enumerate().for_each(|(k, (out, (list, pairs)))| {
            for (local, t) in out.iter_mut().enumerate() {
                let i = k * CHUNK + local;
                *t = 0.0;
                if weight[i] > 0.0 {
                    let own = moving[i];
                    let range = list.range(local);
                    let s = strain(moving, own, &list.ids[range.clone()], &pairs.strain[range]);
                    let wall = if walls_near[k] { push[i].dot(own.p) } else { 0.0 };
                    *t = weight[i] * (s + wall);
                }
            }
            for anchor in system.nodes.of_chunk(k) {
                let slot = nodes.slot(anchor);
                out[slot - k * CHUNK] += weight[slot] * nodes.strain(anchor);
            }
        });
    }

    /// −Σ_j c_ij (τ_i + τ_j) x_ij.
    #[inline]
    fn force(&self, i: usize, ids: &[u32], c: &[f32]) -> Vec4 {
        let (x, tension) = (self.moving[i].x, self.tension[i]);
        let term = |j: u32, c: f32| {
            let j = j as usize;
            (self.moving[j].x - x) * ((tension + self.tension[j]) * c)
        };
        two_sums(ids, c, term)
    }

    /// −Σ_j c_ij (τ_i + τ_j) x_ij + Σ_j q_ij (x_ij·p_ij) x_ij.
    #[inline]
    fn viscous_force(&self, i: usize, ids: &[u32], c: &[f32], q: &[f32]) -> Vec4 {
        let (own, tension) = (self.moving[i], self.tension[i]);
        let mut sum = Vec4::ZERO;
        for ((j, c), q) in ids.iter().zip(c).zip(q) {
            let j = *j as usize;
            let other = &self.moving[j];
            let x = other.x - own.x;
            let along = x.dot(other.p - own.p);
            sum += x * ((tension + self.tension[j]) * c - q * along);
        }
        sum
    }
}

/// pᵀy in single precision, lane by lane.
#[inline]
fn dot(moving: &[Moving], y: &[Vec4]) -> f64 {
    lanes(moving.iter().zip(y).fold(Vec4::ZERO, |sum, (m, y)| sum + m.p * *y))
}

/// Σ_j c_ij x_ij·(p_j − p_i).
#[inline]
pub(super) fn strain(moving: &[Moving], own: Moving, ids: &[u32], c: &[f32]) -> f32 {
    let sum = two_sums(ids, c, |j, c| {
        let other = &moving[j as usize];
        (own.x - other.x) * (other.p - own.p) * c
    });
    sum.x + sum.y + sum.z
}

/// Σ term(j, c_j), in two interleaved sums so that one addition need not wait for the other.
#[inline]
pub(super) fn two_sums(ids: &[u32], c: &[f32], term: impl Fn(u32, f32) -> Vec4) -> Vec4 {
    let (mut even, mut odd) = (Vec4::ZERO, Vec4::ZERO);
    let (id_pairs, c_pairs) = (ids.chunks_exact(2), c.chunks_exact(2));
    if let ([j], [c]) = (id_pairs.remainder(), c_pairs.remainder()) {
        even += term(*j, *c);
    }
    for (j, c) in id_pairs.zip(c_pairs) {
        even += term(j[0], c[0]);
        odd += term(j[1], c[1]);
    }
    even + odd
}
