//! Solves the fluid phase of a step that is prepared.

use super::backing::{Backed, Backing};
use super::nodes::{Anchor, Link, corners, point};
use super::solve::{self, SolveReport, SolveSettings, Start};
use super::system::Diagonal;
use super::{Fluid, Solution, Stencil, dual, viscosity};
use littoral_geom::math::Vec3;

/// Displacement of a predictor above which it counts as not finite [dx]: squares of forces on it still fit in single
/// precision. A particle that fast has left every scene.
const REACH: f64 = 1e9;

impl Fluid {
    /// Solves phase 1 for the predictor x̂ = xⁿ + h vⁿ + h² f/m [m] of the particles, the predicted displacement x̂ − xⁿ
    /// [m] of each node, and the caller's links. `warm` is either empty or a guess of x* − x̂ [m] per particle, or per
    /// particle and after them per node: h² times the acceleration by pressure of the last step is a good one. It is not
    /// used where there is neither viscosity to be solved for nor a node, which is quicker without it.
    ///
    /// Numbers that are not finite cannot spoil the rest: a link is left out, a particle or node predicted to be
    /// nowhere starts from rest; the report counts them.
    ///
    /// # Panics
    /// If the lengths differ from those of [`prepare`](Self::prepare).
    pub fn solve(
        &mut self,
        x_hat: &[Vec3],
        node_motion: &[Vec3],
        links: &[Link],
        warm: &[Vec3],
        settings: &SolveSettings,
    ) -> Solution {
        self.solve_backed(x_hat, node_motion, links, warm, settings, None)
    }

    /// [`solve`](Self::solve) with the elasticity behind the nodes; none of them may be held then.
    pub fn solve_backed(
        &mut self,
        x_hat: &[Vec3],
        node_motion: &[Vec3],
        links: &[Link],
        warm: &[Vec3],
        settings: &SolveSettings,
        backing: Option<&mut dyn Backing>,
    ) -> Solution {
        let (n, nodes) = (self.slots.len(), self.system.nodes.len());
        assert!(x_hat.len() == n && node_motion.len() == nodes, "one vector per particle and node is needed");
        assert!([0, n, n + nodes].contains(&warm.len()), "one guess per particle and node is needed");
        let mut ignored = self.ignored + self.set_terms(links);
        ignored += self.set_predictor(x_hat, node_motion);
        self.set_warm(warm);
        let mut report = if backing.is_none() && dual::applies(&self.system) {
            self.minimise_by_tensions(settings)
        } else {
            self.minimise_by_displacements(settings, backing)
        };
        report.ignored = ignored;
        self.solution(report)
    }

    /// Solves for the tensions of the particles.
    pub(super) fn minimise_by_tensions(&mut self, settings: &SolveSettings) -> SolveReport {
        let system = &mut self.system;
        let report = self.dual.minimise(&self.grid, system, &self.predictor, &mut self.u, settings);
        self.tension.clear();
        self.tension.extend_from_slice(self.dual.tension());
        report
    }

    /// Solves for the displacements of particles and nodes.
    pub(super) fn minimise_by_displacements(
        &mut self,
        settings: &SolveSettings,
        backing: Option<&mut dyn Backing>,
    ) -> SolveReport {
        let (reference, spacing) = (self.reference_mass(), self.spacing);
        let backed = backing.map(|b| Backed::new(b, reference, spacing));
        let report = solve::minimise(
            &self.grid,
            &mut self.system,
            &mut self.work,
            Start { predictor: &self.predictor, warm: &self.warm },
            &mut self.u,
            settings,
            backed,
        );
        self.tension.clear();
        self.tension.extend(self.work.strain().iter().enumerate().map(|(i, s)| self.system.tension(i, *s)));
        report
    }

    /// The predicted displacements by slot and node, with the explicit part of viscosity. Returns how many were taken
    /// to be zero.
    pub(super) fn set_predictor(&mut self, x_hat: &[Vec3], node_motion: &[Vec3]) -> u32 {
        let per_spacing = 1.0 / self.spacing;
        let mut ignored = 0;
        let mut sound = |u: Vec3| {
            let is_sound = u.length() < REACH;
            ignored += u32::from(!is_sound);
            if is_sound { u } else { Vec3::ZERO }
        };
        self.predictor.clear();
        for (i, x) in self.order.iter().zip(self.grid.positions()) {
            self.predictor.push(sound((x_hat[*i as usize] - *x) * per_spacing));
        }
        let n = self.predictor.len();
        if !self.system.viscous.is_empty() && !self.system.has_viscosity() {
            let (weight, u) = (&self.viscous_weight, &mut self.u);
            viscosity::step_explicitly(weight, &self.grid, &self.system, &self.predictor[..n], u);
            std::mem::swap(&mut self.predictor, u);
        }
        self.predictor.extend(node_motion.iter().map(|u| sound(*u * per_spacing)));
        ignored
    }

    /// The guess by slot and node; empty if there is none.
    fn set_warm(&mut self, warm: &[Vec3]) {
        self.warm.clear();
        if warm.is_empty() {
            return;
        }
        let per_spacing = 1.0 / self.spacing;
        let sound = |w: Vec3| if w.length() < REACH { w } else { Vec3::ZERO };
        self.warm.extend(self.order.iter().map(|i| sound(warm[*i as usize] * per_spacing)));
        for (node, mass) in self.system.nodes.mass.iter().enumerate() {
            let guess = warm.get(self.slots.len() + node).copied().unwrap_or(Vec3::ZERO);
            // A held node is where it is predicted to be.
            self.warm.push(if *mass > 0.0 { sound(guess * per_spacing) } else { Vec3::ZERO });
        }
    }

    /// The minimiser in the caller's order and units.
    fn solution(&self, report: SolveReport) -> Solution {
        let (n, count) = (self.slots.len(), self.order.len());
        let mut solution = Solution {
            x: if self.given.is_empty() { vec![Vec3::ZERO; n] } else { self.given.clone() },
            nodes: self.u[count..].iter().map(|u| *u * self.spacing).collect(),
            pressure: vec![0.0; n],
            wall_forces: self.wall_forces(),
            report,
        };
        // A tension is h² k V₀ (J − 1) (Jⁿ)²/(1 − γ) in m_ref dx².
        let unit = self.reference_mass() / (self.spacing * self.system.h * self.system.h);
        for (slot, (i, x)) in self.order.iter().zip(self.grid.positions()).enumerate() {
            let i = *i as usize;
            solution.x[i] = *x + self.u[slot] * self.spacing;
            let ratio = self.system.ratio[slot];
            solution.pressure[i] = -unit * self.tension[slot] / (ratio * ratio * self.system.open[slot]);
        }
        solution
    }

    /// The forces of the fluid on the walls at the solution [N].
    fn wall_forces(&self) -> Vec<Vec3> {
        let mut forces = vec![Vec3::ZERO; self.wall_count];
        // Gradients of the system are by displacements in dx, of energies in m_ref dx²/h².
        let system = &self.system;
        let unit = self.reference_mass() * self.spacing / (system.h * system.h);
        let nodes = &self.u[system.len()..];
        for wall in &system.walls {
            let i = wall.slot as usize;
            let by_nodes =
                wall.corners.map_or(Vec3::ZERO, |(corners, weights)| point(nodes, corners, weights));
            let sliding = (self.u[i] - wall.motion - by_nodes).reject_from_normalized(wall.normal);
            let gradient = -self.tension[i] * wall.slope * wall.normal + wall.drag * sliding;
            // The particle feels −gradient, the wall the opposite.
            forces[wall.index as usize] += unit * gradient;
        }
        forces
    }

    /// Takes over terms for the next solves of this step, in place of those of an earlier call. Particles that are not
    /// there have none.
    pub fn set_stencils(&mut self, stencils: &[Stencil]) {
        let scale = self.system.h * self.system.h / self.reference_mass();
        let count = self.system.nodes.len();
        self.system.stencils.clear();
        for s in stencils {
            if let Some(slot) = self.slot(s.particle) {
                self.system.stencils.push(s.in_slot(slot, count, self.spacing, scale));
            }
        }
    }

    /// Gathers drags and links into the system. Returns how many links were left out for not being finite.
    pub(super) fn set_terms(&mut self, links: &[Link]) -> u32 {
        let reference = self.reference_mass();
        let h_sq = self.system.h * self.system.h;
        let mut ignored = 0;
        self.terms.clone_from(&self.drags);
        self.anchors.clone_from(&self.wall_anchors);
        for link in links {
            if !link.is_finite() {
                ignored += 1;
                continue;
            }
            let Some(slot) = self.slot(link.particle) else { continue };
            let hessian = link.hessian * (h_sq / reference);
            // At ρ = 0, where r = −motion.
            let gradient =
                link.gradient * (h_sq / (reference * self.spacing)) - hessian * (link.motion / self.spacing);
            match corners(link.nodes, link.weights, self.system.nodes.len()) {
                Some((nodes, weights)) => {
                    let force = -gradient;
                    self.anchors.push(Anchor { slot, nodes, weights, push: Vec3::ZERO, force, hessian });
                }
                None => self.terms.push(Diagonal { slot, gradient, hessian }),
            }
        }
        let particles = self.system.len();
        self.system.set_diagonals(&self.terms);
        self.system.nodes.set_anchors(particles, &self.anchors);
        ignored
    }
}
