//! The fluid as a part of a larger problem, which is solved by Newton's method: its energy, beside the quadratic solves
//! of `phase.rs` that give directions.

use super::{Fluid, incompressibility, solve};
use littoral_geom::math::Vec3;

impl Fluid {
    /// Fixes the predictor x̂ [m] of the particles and the predicted displacements of the nodes [m], and with them which
    /// terms are on. `tension` as in [`SolveSettings`](super::SolveSettings).
    pub fn begin_joint(&mut self, x_hat: &[Vec3], node_motion: &[Vec3], tension: f64) {
        self.set_terms(&[]);
        self.set_predictor(x_hat, node_motion);
        let mut strain = Vec::new();
        incompressibility::strain(&self.grid, &self.system, &self.predictor, &mut strain);
        self.system.choose_active(&strain, tension);
    }

    /// Leaves out the caller's links, which the last solve had.
    pub fn drop_links(&mut self) {
        self.set_terms(&[]);
    }

    /// x̂ [m] of each particle, with the explicit part of viscosity; xⁿ of those that are absent.
    pub fn predicted(&self) -> Vec<Vec3> {
        let n = self.slots.len();
        let mut x = if self.given.is_empty() { vec![Vec3::ZERO; n] } else { self.given.clone() };
        for ((i, place), u) in self.order.iter().zip(self.grid.positions()).zip(&self.predictor) {
            x[*i as usize] = *place + *u * self.spacing;
        }
        x
    }

    /// P [J] of incompressibility, viscosity and walls for particles at `x` and nodes that have moved by `nodes` [m].
    pub fn potential(&self, x: &[Vec3], nodes: impl Iterator<Item = Vec3>) -> f64 {
        let mut u: Vec<Vec3> = self
            .order
            .iter()
            .zip(self.grid.positions())
            .map(|(i, place)| (x[*i as usize] - *place) / self.spacing)
            .collect();
        u.extend(nodes.map(|n| n / self.spacing));
        let unit = self.reference_mass() * (self.spacing / self.system.h).powi(2);
        // Inertia is the caller's: a predictor that is u itself costs none.
        unit * solve::energy(&self.grid, &self.system, &u, &u)
    }
}
