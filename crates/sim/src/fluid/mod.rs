//! The fluid phase: implicit smoothed particles, one linear solve a step [Xie 2023, §3–4].
//!
//! A [`Fluid`] holds what its particles are made of. Each step, [`Fluid::prepare`] freezes neighbours, densities and
//! kernel gradients at xⁿ, and [`Fluid::solve`] finds x*, the minimiser of inertia, incompressibility, viscosity and
//! whatever quadratic terms the caller adds (contact proxies). Surfaces are not known here: the caller lists the walls
//! near each particle, and gets the reaction on each.
//!
//! Nothing here keeps particles from crossing a surface; that is for contact and truncation in the phase after.

mod density;
mod incompressibility;
mod kernel;
mod operator;
mod solve;
mod step_size;
mod system;
mod viscosity;
mod walls;

pub use kernel::Kernel;
pub use solve::{SolveReport, SolveSettings};
pub use step_size::{StepLimits, stiffness_for};
pub use walls::Wall;

use littoral_geom::math::{Mat3, Vec3, outer};
use littoral_geom::particle_grid::ParticleGrid;
use rayon::prelude::*;
use system::{Diagonal, SlotWall, System};
use thiserror::Error;
use viscosity::{Viscous, ViscousWeight};
use walls::Share;

/// What a fluid is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FluidMaterial {
    /// Rest density ρ₀ [kg/m³], > 0.
    pub density: f64,
    /// Kinematic viscosity ν [m²/s], ≥ 0. Water 1e-6, honey 7e-3.
    pub viscosity: f64,
    /// Stiffness k_I against compression [Pa], > 0; see [`stiffness_for`].
    pub stiffness: f64,
}

/// Why a fluid cannot be made.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum FluidError {
    /// A number is out of its range.
    #[error("{name} of fluid {index} must be {range}, but is {value}")]
    Material {
        /// Index of the fluid.
        index: usize,
        /// Which number.
        name: &'static str,
        /// Its range.
        range: &'static str,
        /// What was given.
        value: f64,
    },
    /// The spacing or the support makes no kernel.
    #[error(
        "the spacing must be finite and > 0 m and the support 1.5 to 4 spacings, but they are {spacing} m and {support}"
    )]
    Spacing {
        /// Spacing [m].
        spacing: f64,
        /// Support in spacings.
        support: f64,
    },
    /// A particle names a fluid that does not exist.
    #[error("particle {particle} is of fluid {kind}, but there are {fluids} fluids")]
    Kind {
        /// The particle.
        particle: usize,
        /// Its fluid.
        kind: u32,
        /// Number of fluids.
        fluids: usize,
    },
}

/// A quadratic energy of one particle, g·(x − xⁿ) + ½ (x − xⁿ)ᵀ H (x − xⁿ): a contact proxy, for instance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extra {
    /// The particle.
    pub particle: u32,
    /// Gradient g at xⁿ [N].
    pub gradient: Vec3,
    /// Hessian H [N/m], symmetric, positive semidefinite.
    pub hessian: Mat3,
}

/// Which pairs see each other: water on two sides of a sheet must not.
pub struct Visibility<'a> {
    /// Per particle, true if a surface is within the support radius. Pairs with a false need no test.
    pub near_surface: &'a [bool],
    /// Whether no surface lies between two particles, the lower index first. Asked twice for each pair.
    pub sees: &'a (dyn Fn(u32, u32) -> bool + Sync),
}

/// The result of a solve, in the caller's order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Solution {
    /// Positions x* [m].
    pub x: Vec<Vec3>,
    /// Pressure p = k_I (1 − J) [Pa]; 0 where the term is off.
    pub pressure: Vec<f64>,
    /// Force of the fluid on each wall, in the order of the walls given [N]: pressure and viscous drag.
    pub wall_forces: Vec<Vec3>,
    /// What the solve did.
    pub report: SolveReport,
}

/// Particles of one or more fluids with a common spacing, and the buffers to step them.
#[derive(Clone, Debug)]
pub struct Fluid {
    spacing: f64,
    /// In spacings.
    kernel: Kernel,
    viscous_weight: ViscousWeight,
    materials: Vec<FluidMaterial>,
    kinds: Vec<u32>,
    grid: ParticleGrid,
    system: System,
    /// Slot of each particle.
    slots: Vec<u32>,
    /// Number of walls given.
    wall_count: usize,
    /// Wall drags, as terms.
    drags: Vec<Diagonal>,
    summed_gradient: Vec<Vec3>,
    predictor: Vec<Vec3>,
    warm: Vec<Vec3>,
    u: Vec<Vec3>,
    work: solve::Work,
}

impl Fluid {
    /// Particles `spacing` dx [m] apart at rest, with kernels of support `support`·dx (2 is right for almost
    /// everything: 26 neighbours, and a lattice sums to 1). `kinds` gives the material of each particle.
    pub fn new(
        spacing: f64,
        support: f64,
        materials: Vec<FluidMaterial>,
        kinds: Vec<u32>,
    ) -> Result<Self, FluidError> {
        if !(spacing > 0.0 && spacing.is_finite() && (1.5..=4.0).contains(&support)) {
            return Err(FluidError::Spacing { spacing, support });
        }
        for (index, m) in materials.iter().enumerate() {
            let check = |name, value: f64, ok: bool, range| {
                if ok && value.is_finite() {
                    Ok(())
                } else {
                    Err(FluidError::Material { index, name, range, value })
                }
            };
            check("the density", m.density, m.density > 0.0, "> 0 kg/m³")?;
            check("the viscosity", m.viscosity, m.viscosity >= 0.0, "≥ 0 m²/s")?;
            check("the stiffness", m.stiffness, m.stiffness > 0.0, "> 0 Pa")?;
        }
        let kernel = Kernel::new(support, 1.0);
        let mut fluid = Fluid {
            spacing,
            viscous_weight: ViscousWeight::new(&kernel),
            kernel,
            materials,
            kinds: Vec::new(),
            grid: ParticleGrid::default(),
            system: System::default(),
            slots: Vec::new(),
            wall_count: 0,
            drags: Vec::new(),
            summed_gradient: Vec::new(),
            predictor: Vec::new(),
            warm: Vec::new(),
            u: Vec::new(),
            work: solve::Work::default(),
        };
        fluid.set_kinds(kinds)?;
        Ok(fluid)
    }

    /// Changes which particles there are: the material of each.
    pub fn set_kinds(&mut self, kinds: Vec<u32>) -> Result<(), FluidError> {
        let fluids = self.materials.len();
        if let Some(particle) = kinds.iter().position(|k| *k as usize >= fluids) {
            return Err(FluidError::Kind { particle, kind: kinds[particle], fluids });
        }
        self.kinds = kinds;
        Ok(())
    }

    /// The materials.
    pub fn materials(&self) -> &[FluidMaterial] {
        &self.materials
    }

    /// The material of each particle.
    pub fn kinds(&self) -> &[u32] {
        &self.kinds
    }

    /// Spacing dx [m].
    pub fn spacing(&self) -> f64 {
        self.spacing
    }

    /// Support radius ħ [m]: walls farther away and particles farther apart do not matter.
    pub fn support(&self) -> f64 {
        self.kernel.support() * self.spacing
    }

    /// Mass of a particle, ρ₀ dx³ [kg].
    pub fn mass(&self, particle: usize) -> f64 {
        self.materials[self.kinds[particle] as usize].density * self.spacing.powi(3)
    }

    /// Density over rest density at the positions prepared for, walls included, free surfaces not completed; in the
    /// caller's order [–].
    pub fn fill(&self) -> Vec<f64> {
        self.slots.iter().map(|s| self.system.fill[*s as usize]).collect()
    }

    /// The neighbour lists at the positions prepared for.
    pub fn grid(&self) -> &ParticleGrid {
        &self.grid
    }

    /// Freezes the fluid at the positions `x` [m] for a step `h` [s], with the walls near its particles. Walls of
    /// particles that do not exist are ignored, and so are those beyond the support.
    ///
    /// # Panics
    /// If `x` is not as long as the list of kinds.
    pub fn prepare(&mut self, x: &[Vec3], h: f64, walls: &[Wall], visibility: Option<&Visibility>) {
        assert_eq!(x.len(), self.kinds.len(), "one position per particle is needed");
        self.grid.fit(x, self.support());
        let order = self.grid.order();
        self.slots.resize(x.len(), 0);
        for (slot, i) in order.iter().enumerate() {
            self.slots[*i as usize] = slot as u32;
        }
        if let Some(v) = visibility {
            let order = order.to_vec();
            self.grid.retain(|a, b| {
                let (a, b) = (order[a as usize], order[b as usize]);
                let near = v.near_surface[a as usize] && v.near_surface[b as usize];
                !near || (v.sees)(a.min(b), a.max(b))
            });
        }
        self.freeze_particles(h);
        density::sum_pairs(&self.kernel, &self.grid, &mut self.system, &mut self.summed_gradient);
        self.freeze_walls(walls);
        let kernel = &self.kernel;
        let System { fill, ratio, surface, .. } = &mut self.system;
        for (i, gradient) in self.summed_gradient.iter().enumerate() {
            (ratio[i], surface[i]) = density::complete(kernel, fill[i], gradient.length());
        }
        self.freeze_viscosity(h);
    }

    /// What pairs need to know, and the pairs themselves if viscosity is strong enough to need them.
    fn freeze_viscosity(&mut self, h: f64) {
        let scale = h / (self.spacing * self.spacing);
        let strongest = self.materials.iter().map(|m| m.viscosity).fold(0.0, f64::max);
        self.system.viscous.clear();
        if strongest == 0.0 {
            return;
        }
        let reference = self.materials[0].density;
        for (slot, i) in self.grid.order().iter().enumerate() {
            let m = &self.materials[self.kinds[*i as usize] as usize];
            let rest_density = m.density / reference;
            let density = rest_density / self.system.ratio[slot];
            self.system.viscous.push(Viscous { viscosity: scale * m.viscosity, density, rest_density });
        }
        if scale * strongest > viscosity::EXPLICIT_BELOW {
            viscosity::set_pairs(&self.viscous_weight, &self.grid, &mut self.system);
        }
    }

    /// Positions, masses and stiffnesses.
    fn freeze_particles(&mut self, h: f64) {
        let (spacing, materials, kinds) = (self.spacing, &self.materials, &self.kinds);
        let reference = materials.first().map_or(1.0, |m| m.density);
        let places = self.grid.positions();
        let origin = places.first().copied().unwrap_or(Vec3::ZERO);
        let system = &mut self.system;
        system.h = h;
        places.par_iter().with_min_len(4096).map(|x| (*x - origin) / spacing).collect_into_vec(&mut system.x);
        let material = |i: &u32| &materials[kinds[*i as usize] as usize];
        let order = self.grid.order();
        system.mass.clear();
        system.mass.extend(order.iter().map(|i| material(i).density / reference));
        // h² k V₀/(m_ref dx²), m_ref = ρ_ref V₀.
        let scale = h * h / (reference * spacing * spacing);
        system.stiffness.clear();
        system.stiffness.extend(order.iter().map(|i| scale * material(i).stiffness));
        let n = order.len();
        system.ratio.resize(n, 1.0);
        system.surface.resize(n, 0.0);
        system.active.resize(n, false);
        system.push.clear();
        system.push.resize(n, Vec3::ZERO);
        system.offset.clear();
        system.offset.resize(n, 0.0);
    }

    /// Adds the walls to the sums, and their forces to the system.
    fn freeze_walls(&mut self, walls: &[Wall]) {
        let kernel = &self.kernel;
        let near = |w: &&Wall| (w.particle as usize) < self.slots.len() && w.distance < self.support();
        let mut sorted: Vec<(u32, u32)> = Vec::new();
        for (index, wall) in walls.iter().enumerate().filter(|(_, w)| near(w)) {
            sorted.push((self.slots[wall.particle as usize], index as u32));
        }
        let distance = |index: u32| walls[index as usize].distance;
        sorted.sort_unstable_by(|a, b| {
            a.0.cmp(&b.0).then(distance(a.1).total_cmp(&distance(b.1))).then(a.1.cmp(&b.1))
        });
        let system = &mut self.system;
        self.wall_count = walls.len();
        system.walls.clear();
        self.drags.clear();
        let (mut own, mut shares) = (Vec::new(), Vec::new());
        for group in sorted.chunk_by(|a, b| a.0 == b.0) {
            let slot = group[0].0;
            let i = slot as usize;
            own.clear();
            own.extend(group.iter().map(|(_, index)| {
                let w = walls[*index as usize];
                Wall { distance: w.distance / self.spacing, ..w }
            }));
            shares.clear();
            shares.resize(own.len(), Share::default());
            system.fill[i] += walls::combine(kernel, &own, &mut shares);
            let material = &self.materials[self.kinds[own[0].particle as usize] as usize];
            let sliding = system.h * material.viscosity / (self.spacing * self.spacing) * system.mass[i];
            for (((_, index), wall), share) in group.iter().zip(&own).zip(&shares) {
                let motion = wall.velocity * (system.h / self.spacing);
                self.summed_gradient[i] += share.slope * wall.normal;
                // s += −γ′ n·(u − u_wall)
                system.push[i] -= share.slope * wall.normal;
                system.offset[i] += share.slope * wall.normal.dot(motion);
                let drag =
                    if wall.no_slip { sliding * share.weight * kernel.wall_drag(wall.distance) } else { 0.0 };
                if drag > 0.0 {
                    let hessian = drag * (Mat3::IDENTITY - outer(wall.normal, wall.normal));
                    self.drags.push(Diagonal { slot, gradient: -(hessian * motion), hessian });
                }
                let (index, normal) = (*index, wall.normal);
                system.walls.push(SlotWall { slot, index, normal, motion, slope: share.slope, drag });
            }
        }
    }

    /// Solves phase 1 for the predictor x̂ = xⁿ + h vⁿ + h² f/m [m], with the caller's terms. `warm` is either empty
    /// or a guess of x* − x̂ [m] per particle: h² times the acceleration by pressure of the last step is a good one.
    ///
    /// # Panics
    /// If the lengths differ from those of [`prepare`](Self::prepare).
    pub fn solve(
        &mut self,
        x_hat: &[Vec3],
        extras: &[Extra],
        warm: &[Vec3],
        settings: &SolveSettings,
    ) -> Solution {
        let n = self.slots.len();
        assert!(
            x_hat.len() == n && (warm.is_empty() || warm.len() == n),
            "one vector per particle is needed"
        );
        self.set_terms(extras);
        let per_spacing = 1.0 / self.spacing;
        let (order, places) = (self.grid.order(), self.grid.positions());
        self.predictor.clear();
        self.predictor.extend(order.iter().zip(places).map(|(i, x)| (x_hat[*i as usize] - *x) * per_spacing));
        if !self.system.viscous.is_empty() && !self.system.has_viscosity() {
            let (weight, u) = (&self.viscous_weight, &mut self.u);
            viscosity::step_explicitly(weight, &self.grid, &self.system, &self.predictor, u);
            std::mem::swap(&mut self.predictor, u);
        }
        self.warm.clear();
        if !warm.is_empty() {
            self.warm.extend(order.iter().map(|i| warm[*i as usize] * per_spacing));
        }
        let report = solve::minimise(
            &self.grid,
            &mut self.system,
            &mut self.work,
            &self.predictor,
            &self.warm,
            &mut self.u,
            settings,
        );
        let mut solution = Solution {
            x: vec![Vec3::ZERO; n],
            pressure: vec![0.0; n],
            wall_forces: self.wall_forces(),
            report,
        };
        for (slot, i) in order.iter().enumerate() {
            let i = *i as usize;
            solution.x[i] = places[slot] + self.u[slot] * self.spacing;
            if self.system.active[slot] {
                let stiffness = self.materials[self.kinds[i] as usize].stiffness;
                let ratio = self.system.volume_ratio(slot, self.work.strain()[slot]);
                solution.pressure[i] = stiffness * (1.0 - ratio);
            }
        }
        solution
    }

    /// The forces of the fluid on the walls at the solution [N].
    fn wall_forces(&self) -> Vec<Vec3> {
        let mut forces = vec![Vec3::ZERO; self.wall_count];
        // Gradients of the system are by displacements in dx, of energies in m_ref dx²/h².
        let system = &self.system;
        let reference = self.materials.first().map_or(1.0, |m| m.density) * self.spacing.powi(3);
        let unit = reference * self.spacing / (system.h * system.h);
        for wall in &system.walls {
            let i = wall.slot as usize;
            let sliding = (self.u[i] - wall.motion).reject_from_normalized(wall.normal);
            let tension = system.tension(i, self.work.strain()[i]);
            let gradient = -tension * wall.slope * wall.normal + wall.drag * sliding;
            // The particle feels −gradient, the wall the opposite.
            forces[wall.index as usize] += unit * gradient;
        }
        forces
    }

    /// Gathers drags and extra terms into the system.
    fn set_terms(&mut self, extras: &[Extra]) {
        let reference = self.materials.first().map_or(1.0, |m| m.density) * self.spacing.powi(3);
        let h_sq = self.system.h * self.system.h;
        let mut terms = self.drags.clone();
        for e in extras.iter().filter(|e| (e.particle as usize) < self.slots.len()) {
            terms.push(Diagonal {
                slot: self.slots[e.particle as usize],
                gradient: e.gradient * (h_sq / (reference * self.spacing)),
                hessian: e.hessian * (h_sq / reference),
            });
        }
        self.system.set_diagonals(terms);
    }
}

#[cfg(test)]
mod tests;
