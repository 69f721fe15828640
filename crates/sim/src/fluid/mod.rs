//! The fluid phase: implicit smoothed particles, one linear solve a step [Xie 2023, §3–4].
//!
//! A [`Fluid`] holds what its particles are made of. Each step, [`Fluid::prepare`] freezes neighbours, densities and
//! kernel gradients at xⁿ, and [`Fluid::solve`] finds x*, the minimiser of inertia, incompressibility, viscosity and
//! whatever quadratic terms the caller adds (contact proxies). Surfaces are not known here: the caller lists the walls
//! near each particle, and gets the reaction on each. Corners of walls may be unknowns too, [`Node`]s with a mass; what
//! is light then moves with the water in the same solve, as added mass demands.
//!
//! Nothing here keeps particles from crossing a surface; that is for contact and truncation in the phase after.

mod assembled;
mod backing;
mod density;
mod dual;
mod incompressibility;
mod joint;
mod kernel;
mod node_operator;
mod nodes;
mod operator;
mod phase;
mod prepare;
mod shadow;
mod solve;
mod stencil;
mod step_size;
mod system;
mod viscosity;
mod walls;

pub use assembled::Assembled;
pub use backing::Backing;
pub use kernel::Kernel;
pub use nodes::{Link, NO_NODE, Node};
pub use shadow::Shadow;
pub use solve::{SolveReport, SolveSettings};
pub use stencil::Stencil;
pub use step_size::{StepLimits, stiffness_for};
pub use walls::Wall;

use littoral_geom::math::Vec3;
use littoral_geom::particle_grid::ParticleGrid;
use nodes::Anchor;
use system::{Diagonal, System};
use thiserror::Error;
use viscosity::ViscousWeight;

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

/// The kind of a particle that is not there, for sources and sinks: it is left out of everything and costs nothing but
/// its place in the lists. So are particles whose positions are not finite.
pub const ABSENT: u32 = u32::MAX;

/// The slot of a particle that is not there.
const NO_SLOT: u32 = u32::MAX;

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
    /// Positions x* [m]; xⁿ of absent particles.
    pub x: Vec<Vec3>,
    /// Displacements x* − xⁿ of the nodes [m].
    pub nodes: Vec<Vec3>,
    /// Pressure p = k_I (1 − J) [Pa]; 0 where the term is off.
    pub pressure: Vec<f64>,
    /// Force of the fluid on each wall, in the order of the walls given [N]: pressure and viscous drag. Nodes have got
    /// their part of it; that on prescribed corners is for the caller to use.
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
    /// Of the particles that are there.
    grid: ParticleGrid,
    system: System,
    /// Slot of each particle.
    slots: Vec<u32>,
    /// Particle of each slot.
    order: Vec<u32>,
    /// Positions xⁿ of all particles if some are absent, else empty.
    given: Vec<Vec3>,
    /// What is left out of this step because of numbers that are not finite.
    ignored: u32,
    /// Number of walls given.
    wall_count: usize,
    /// Drag of walls without nodes.
    drags: Vec<Diagonal>,
    /// Walls with nodes.
    wall_anchors: Vec<Anchor>,
    /// Drags and the caller's terms.
    terms: Vec<Diagonal>,
    anchors: Vec<Anchor>,
    summed_gradient: Vec<Vec3>,
    predictor: Vec<Vec3>,
    warm: Vec<Vec3>,
    u: Vec<Vec3>,
    work: solve::Work,
    dual: dual::Dual,
    /// Derivative of the energy by each strain at the solution.
    tension: Vec<f64>,
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
            order: Vec::new(),
            given: Vec::new(),
            ignored: 0,
            wall_count: 0,
            drags: Vec::new(),
            wall_anchors: Vec::new(),
            terms: Vec::new(),
            anchors: Vec::new(),
            summed_gradient: Vec::new(),
            predictor: Vec::new(),
            warm: Vec::new(),
            u: Vec::new(),
            work: solve::Work::default(),
            dual: dual::Dual::default(),
            tension: Vec::new(),
        };
        fluid.set_kinds(kinds)?;
        Ok(fluid)
    }

    /// Changes which particles there are: the material of each, or [`ABSENT`].
    pub fn set_kinds(&mut self, kinds: Vec<u32>) -> Result<(), FluidError> {
        let fluids = self.materials.len();
        if let Some(particle) = kinds.iter().position(|k| *k as usize >= fluids && *k != ABSENT) {
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

    /// The kernel, in spacings.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Mass of a particle, ρ₀ dx³ [kg]; 0 if it is absent.
    pub fn mass(&self, particle: usize) -> f64 {
        let material = self.materials.get(self.kinds[particle] as usize);
        material.map_or(0.0, |m| m.density) * self.spacing.powi(3)
    }

    /// The unit of mass in the system, ρ_ref dx³ [kg].
    fn reference_mass(&self) -> f64 {
        self.materials.first().map_or(1.0, |m| m.density) * self.spacing.powi(3)
    }

    /// Slot of a particle that is there.
    fn slot(&self, particle: u32) -> Option<u32> {
        self.slots.get(particle as usize).copied().filter(|s| *s != NO_SLOT)
    }

    /// Density over rest density at the positions prepared for, walls included, free surfaces not completed; in the
    /// caller's order [–]; 0 for absent particles.
    pub fn fill(&self) -> Vec<f64> {
        self.slots.iter().map(|s| self.system.fill.get(*s as usize).copied().unwrap_or(0.0)).collect()
    }

    /// The neighbour lists at the positions prepared for. If particles are absent, its order counts the others only.
    pub fn grid(&self) -> &ParticleGrid {
        &self.grid
    }
}

#[cfg(test)]
mod node_tests;
#[cfg(test)]
mod tests;
