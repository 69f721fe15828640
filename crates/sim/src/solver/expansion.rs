//! Second-order models of barriers, T₂[c B; xⁿ](x) = c [B + ∇B·(x − xⁿ) + ½ (x − xⁿ)ᵀ∇²B (x − xⁿ)]: what a phase sees
//! of contacts that another phase resolves [Xie 2023, Eq. 24–26].
//!
//! Only what acts at xⁿ has a model. Hessians are projected, which keeps every phase convex and costs an order of the
//! agreement with the joint solution (`docs/derivations/fluid-coupling.md`); the exact ones are there to show that.

use crate::contact::barrier_set::Touch;
use crate::potential::Potential;
use littoral_geom::math::{Mat3, Vec3};

/// The model of one barrier.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    touch: Touch,
    /// c B(xⁿ) [J].
    value: f64,
    /// c ∇B [N], of the first points.
    gradient: [Vec3; 4],
    /// c ∇²B [N/m].
    pub hessian: [[Mat3; 4]; 4],
}

impl Model {
    /// Its points.
    #[inline]
    pub fn points(&self) -> &[u32] {
        &self.touch.points[..self.touch.used()]
    }
}

/// Models of barriers about common positions.
#[derive(Clone, Debug, Default)]
pub struct Expansion {
    /// The models.
    pub models: Vec<Model>,
    /// xⁿ (n) [m].
    x_n: Vec<Vec3>,
}

impl Expansion {
    /// Starts anew about `x_n` [m].
    pub fn begin(&mut self, x_n: &[Vec3]) {
        self.models.clear();
        self.x_n.clear();
        self.x_n.extend_from_slice(x_n);
    }

    /// Adds the models of barriers times `factor` c [–], with projected Hessians; exact ones for tests of the order.
    pub fn add(&mut self, touches: &[Touch], factor: f64, exact: bool) {
        for t in touches.iter().filter(|_| factor != 0.0) {
            let p = t.gather(&self.x_n);
            let (gradient, psd) = t.derivatives(&self.x_n);
            let hessian = if exact { t.barrier.hessian(&p) } else { psd };
            self.models.push(Model {
                touch: *t,
                value: factor * t.value(&self.x_n),
                gradient: gradient.map(|g| factor * g),
                hessian: hessian.map(|row| row.map(|b| b * factor)),
            });
        }
    }

    /// x − xⁿ of a model's points.
    #[inline]
    fn moved(&self, m: &Model, x: &[Vec3]) -> [Vec3; 4] {
        std::array::from_fn(|i| {
            let v = m.touch.points[i] as usize;
            if i < m.touch.used() { x[v] - self.x_n[v] } else { Vec3::ZERO }
        })
    }

    /// ∇T₂ of one model at `x` [N].
    #[inline]
    pub fn gradient(&self, m: &Model, x: &[Vec3]) -> [Vec3; 4] {
        let u = self.moved(m, x);
        std::array::from_fn(|i| m.gradient[i] + (0..4).map(|j| m.hessian[i][j] * u[j]).sum::<Vec3>())
    }

    /// Σ T₂ at `x` [J].
    pub fn value(&self, x: &[Vec3]) -> f64 {
        let of = |m: &Model| {
            let u = self.moved(m, x);
            let linear: f64 = (0..4).map(|i| m.gradient[i].dot(u[i])).sum();
            let curved: f64 =
                (0..4).map(|i| u[i].dot((0..4).map(|j| m.hessian[i][j] * u[j]).sum::<Vec3>())).sum();
            m.value + linear + 0.5 * curved
        };
        self.models.iter().map(of).sum()
    }
}
