//! What stands behind the nodes: the elasticity of the bodies whose surface they are.
//!
//! With inertia alone a light membrane under water gives way to its pressure for the length of a step, and the column
//! above it comes loose. With the second-order model h² [g·u + ½ uᵀKu] of the elastic energy at xⁿ the nodes answer as
//! the body does, be it a stiff plate, a slack cloth or something that floats. The caller keeps the matrix and factorises
//! it; the factor is the nodes' preconditioner.

use super::operator::{narrow, widen};
use glam::Vec4;
use littoral_geom::math::{Mat3, Vec3};

/// The second-order model of an elastic energy over the nodes of a solve, times h².
pub trait Backing {
    /// h² g per node, at u = 0 [kg m].
    fn gradient(&self) -> &[Vec3];

    /// y = h² K p [kg m], for displacements p [m]; K symmetric, positive semidefinite.
    fn product(&self, p: &[Vec3], y: &mut Vec<Vec3>);

    /// Factorises M + h² K + the diagonal `blocks` [kg]; false if that fails.
    fn factorise(&mut self, blocks: &[Mat3]) -> bool;

    /// Solves with the last factorisation.
    fn solve(&mut self, r: &[Vec3], z: &mut Vec<Vec3>);
}

/// A backing in the units of a system, with buffers.
pub(super) struct Backed<'a> {
    backing: &'a mut dyn Backing,
    /// Mass of the system's unit [kg].
    reference: f64,
    spacing: f64,
    p: Vec<Vec3>,
    y: Vec<Vec3>,
    factorised: bool,
}

impl<'a> Backed<'a> {
    pub fn new(backing: &'a mut dyn Backing, reference: f64, spacing: f64) -> Self {
        Backed { backing, reference, spacing, p: Vec::new(), y: Vec::new(), factorised: false }
    }

    /// Adds h² (g + K u) to the gradient of the nodes.
    pub fn add_gradient(&mut self, u: &[Vec3], out: &mut [Vec3]) {
        self.backing.product(u, &mut self.y);
        for ((out, g), y) in out.iter_mut().zip(self.backing.gradient()).zip(&self.y) {
            *out += (*g / self.spacing + *y) / self.reference;
        }
    }

    /// Adds h² K p to the product of the nodes; returns pᵀ h² K p.
    pub fn add_product(&mut self, p: impl Iterator<Item = Vec4>, out: &mut [Vec4]) -> f64 {
        self.p.clear();
        self.p.extend(p.map(widen));
        self.backing.product(&self.p, &mut self.y);
        let mut curvature = 0.0;
        for ((out, p), y) in out.iter_mut().zip(&self.p).zip(&self.y) {
            let y = *y / self.reference;
            *out += narrow(y);
            curvature += p.dot(y);
        }
        curvature
    }

    /// Takes over the blocks that walls and contacts add to the nodes, in units of the system.
    pub fn factorise(&mut self, blocks: &[Mat3]) {
        let scaled: Vec<Mat3> = blocks.iter().map(|b| *b * self.reference).collect();
        self.factorised = self.backing.factorise(&scaled);
    }

    /// Whether the nodes have a factor to be preconditioned by.
    pub fn is_factorised(&self) -> bool {
        self.factorised
    }

    /// y = (M + h² K + blocks)⁻¹ r with the last factorisation.
    pub fn precondition(&mut self, r: &[Vec4], out: &mut [Vec4]) {
        self.p.clear();
        self.p.extend(r.iter().map(|r| widen(*r) * self.reference));
        self.backing.solve(&self.p, &mut self.y);
        for (out, y) in out.iter_mut().zip(&self.y) {
            *out = narrow(*y);
        }
    }
}
