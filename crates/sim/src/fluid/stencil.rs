//! What an exact Hessian has beside the part along its normal: quadratic terms of a particle and three corners of a
//! surface that links cannot say, because they may pull down.
//!
//! They are in the true residual and never in the operator of conjugate gradients, which stays positive definite. Each
//! round of the solve corrects for them, and their sum is found with the factor h²|R|/m a round, R being what a stencil
//! holds; where that is not below one there is no answer, and the report says that the solve did not converge.

use super::system::System;
use littoral_geom::math::{Mat3, Vec3};

/// A quadratic energy ½ qᵀRq of the displacements q of a particle and of three corners over the step [m].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stencil {
    /// The particle.
    pub particle: u32,
    /// The corners, as indices of the nodes given; [`NO_NODE`](super::NO_NODE) for those that are prescribed.
    pub nodes: [u32; 3],
    /// Displacements of the corners that are prescribed [m].
    pub motion: [Vec3; 3],
    /// R [N/m], symmetric as a whole; particle first.
    pub hessian: [[Mat3; 4]; 4],
}

/// The same by slot, in units of the system.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlotStencil {
    slot: u32,
    nodes: [Option<u32>; 3],
    motion: [Vec3; 3],
    hessian: [[Mat3; 4]; 4],
}

impl Stencil {
    /// R q for the displacements `q` of particle and corners [m]: the gradient on each [N].
    pub fn gradient(&self, q: &[Vec3; 4]) -> [Vec3; 4] {
        product(&self.hessian, q)
    }

    /// In units of a system with `count` nodes: lengths over `spacing`, stiffness times `scale`.
    pub(super) fn in_slot(&self, slot: u32, count: usize, spacing: f64, scale: f64) -> SlotStencil {
        SlotStencil {
            slot,
            nodes: self.nodes.map(|n| ((n as usize) < count).then_some(n)),
            motion: self.motion.map(|m| m / spacing),
            hessian: self.hessian.map(|row| row.map(|b| b * scale)),
        }
    }
}

#[inline]
fn product(hessian: &[[Mat3; 4]; 4], q: &[Vec3; 4]) -> [Vec3; 4] {
    std::array::from_fn(|i| (0..4).map(|j| hessian[i][j] * q[j]).sum())
}

impl SlotStencil {
    fn displacements(&self, n: usize, u: &[Vec3]) -> [Vec3; 4] {
        let corner = |k: usize| self.nodes[k].map_or(self.motion[k], |node| u[n + node as usize]);
        [u[self.slot as usize], corner(0), corner(1), corner(2)]
    }
}

/// Adds their part of the gradient at u.
pub(super) fn add_gradient(system: &System, u: &[Vec3], out: &mut [Vec3]) {
    let n = system.len();
    for stencil in &system.stencils {
        let gradient = product(&stencil.hessian, &stencil.displacements(n, u));
        out[stencil.slot as usize] += gradient[0];
        for (node, g) in stencil.nodes.iter().zip(&gradient[1..]) {
            // Held nodes stay where they are.
            if let Some(node) = node.filter(|k| system.nodes.mass[*k as usize] > 0.0) {
                out[n + node as usize] += *g;
            }
        }
    }
}

/// Their energy at u.
pub(super) fn energy(system: &System, u: &[Vec3]) -> f64 {
    let of = |s: &SlotStencil| {
        let q = s.displacements(system.len(), u);
        0.5 * product(&s.hessian, &q).iter().zip(&q).map(|(g, q)| g.dot(*q)).sum::<f64>()
    };
    system.stencils.iter().map(of).sum()
}
