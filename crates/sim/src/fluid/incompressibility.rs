//! The incompressibility energy P_I = Σ_i ½ k_I V₀ (J_i − 1)², J_i linear in the displacement u.
//!
//! J = 1/φ is expanded to first order at xⁿ: with the strain s_i = Σ_j c_ij x_ij·(u_j − u_i) + b_i·u_i,
//! J_i = Jⁿ_i + (Jⁿ_i)² s_i/(1 − γ_i). (Published variants put Jⁿ_i Jⁿ_j for the square; this is the derivative itself, so the
//! error is second order whatever the density, and the pair coefficient is symmetric.) Hence
//! ∂P/∂u_k = −Σ_j c_kj (τ_k + τ_j) x_kj + τ_k b_k with τ = ∂P/∂s: two passes that gather, and forces of a pair that
//! cancel bit by bit and lie along x_kj.
//!
//! These are the plain double-precision forms; `operator.rs` has the fast ones.

use super::system::System;
use littoral_geom::math::Vec3;
use littoral_geom::particle_grid::{CHUNK, ParticleGrid};
use rayon::prelude::*;

/// s_i(u), without the part from prescribed walls.
pub(super) fn strain(grid: &ParticleGrid, system: &System, u: &[Vec3], out: &mut Vec<f64>) {
    out.resize(system.len(), 0.0);
    let x = &system.x;
    let lists = grid.chunks().par_iter().zip(&system.pairs);
    out.par_chunks_mut(CHUNK).zip(lists).enumerate().for_each(|(k, (out, (list, pairs)))| {
        for (local, s) in out.iter_mut().enumerate() {
            let i = k * CHUNK + local;
            let mut sum = system.push[i].dot(u[i]);
            for (j, c) in list.list(local).iter().zip(&pairs.strain[list.range(local)]) {
                let j = *j as usize;
                sum += f64::from(*c) * (x[i] - x[j]).dot(u[j] - u[i]);
            }
            *s = sum;
        }
        system.nodes.add_strain(k, system.len(), u, out);
    });
}

/// ∂P_I/∂u of the particles from the strains, but for what acts through nodes: replaces `out`.
pub(super) fn gradient(grid: &ParticleGrid, system: &System, strain: &[f64], out: &mut [Vec3]) {
    let tension: Vec<f64> =
        strain.par_iter().with_min_len(CHUNK).enumerate().map(|(i, s)| system.tension(i, *s)).collect();
    transposed(grid, system, &tension, out);
}

/// Bᵀτ, the same for given tensions: replaces `out`.
pub(super) fn transposed(grid: &ParticleGrid, system: &System, tension: &[f64], out: &mut [Vec3]) {
    let x = &system.x;
    let lists = grid.chunks().par_iter().zip(&system.pairs);
    out.par_chunks_mut(CHUNK).zip(lists).enumerate().for_each(|(k, (out, (list, pairs)))| {
        for (local, y) in out.iter_mut().enumerate() {
            let i = k * CHUNK + local;
            let mut sum = tension[i] * system.push[i];
            for (j, c) in list.list(local).iter().zip(&pairs.strain[list.range(local)]) {
                let j = *j as usize;
                sum -= f64::from(*c) * (tension[i] + tension[j]) * (x[i] - x[j]);
            }
            *y = sum;
        }
    });
}

/// P_I of the strains.
pub(super) fn energy(system: &System, strain: &[f64]) -> f64 {
    let term = |i: usize| {
        f64::from(system.active[i]) * system.stiffness[i] * (system.volume_ratio(i, strain[i]) - 1.0).powi(2)
    };
    0.5 * (0..strain.len()).map(term).sum::<f64>()
}
