//! What a system knows about its fluids: which points are particles, what they are made of, and when each of them
//! comes and goes.
//!
//! All particles a run will ever have exist from the start, so that arrays keep their size: those an emitter has yet
//! to release wait at its nozzle and take part in nothing.

use crate::fluid::{Fluid, FluidError, FluidMaterial, StepLimits};
use crate::model::Snapshot;
use crate::settings::FluidSettings;
use littoral_geom::math::{Aabb, Vec3};

/// Numbers a particle remembers between steps: its state, and the acceleration by pressure that starts the next solve.
pub const PARTICLE_MEMORY: usize = 4;

/// Kernel support in spacings: 26 neighbours, and a lattice sums to the rest density.
const SUPPORT: f64 = 2.0;

/// Colour of all particles: they share no element with one another.
pub const PARTICLE_COLOR: u32 = u32::MAX - 1;

/// Where a particle is in its life, as a number of the memory.
pub mod life {
    /// Not released yet.
    pub const WAITING: f64 = 0.0;
    /// Part of the fluid.
    pub const PRESENT: f64 = 1.0;
    /// Swallowed by a sink.
    pub const GONE: f64 = 2.0;
}

/// How a particle enters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Birth {
    /// Time [s]; 0 for particles that are there from the start.
    pub time: f64,
    /// Velocity it leaves the nozzle with [m/s]; `None` for particles that are there from the start.
    pub velocity: Option<Vec3>,
}

/// The fluids of a system.
#[derive(Clone, Debug)]
pub struct FluidSystem {
    /// First particle among the points; all points from there on are particles.
    pub first: usize,
    /// Spacing dx [m].
    pub spacing: f64,
    /// Material of each fluid.
    pub materials: Vec<FluidMaterial>,
    /// Whether each fluid sticks to surfaces.
    pub no_slip: Vec<bool>,
    /// Fluid of each particle (p).
    pub kinds: Vec<u32>,
    /// How each particle enters (p).
    pub births: Vec<Birth>,
    /// Boxes that swallow particles [m].
    pub sinks: Vec<Aabb>,
    /// Parameters.
    pub settings: FluidSettings,
    /// Largest step [s].
    pub longest: f64,
    /// Size of gravity [m/s²].
    pub gravity: f64,
    /// First number of the particles in the memory of a snapshot.
    pub memory: usize,
    /// Particles of each object that were left out because they overlapped something at the start.
    pub removed: Vec<u32>,
}

impl FluidSystem {
    /// State of a particle, one of [`life`].
    pub fn life(&self, memory: &[f64], particle: usize) -> f64 {
        memory[self.memory + PARTICLE_MEMORY * particle]
    }

    /// True if the point is a particle that is part of the fluid.
    pub fn is_present(&self, memory: &[f64], point: usize) -> bool {
        self.life(memory, point - self.first) == life::PRESENT
    }

    /// The fluid phase of these particles.
    pub fn fluid(&self) -> Result<Fluid, FluidError> {
        Fluid::new(self.spacing, SUPPORT, self.materials.clone(), self.kinds.clone())
    }

    /// Writes what every particle remembers before the first step.
    pub fn start(&self, memory: &mut Vec<f64>) {
        for birth in &self.births {
            let state = if birth.velocity.is_some() { life::WAITING } else { life::PRESENT };
            memory.extend([state, 0.0, 0.0, 0.0]);
        }
    }

    /// Distance from surfaces at which particles stand, half a spacing [m]: a particle is a cube of that size around
    /// its point, so that levels and displaced volumes are right.
    pub fn stand_off(&self) -> f64 {
        0.5 * self.spacing
    }

    /// Stiffness of the contact of a particle [N/m]: that of a layer of the fluid one spacing thick, k_I dx² / dx.
    pub fn contact_stiffness(&self, kind: u32) -> f64 {
        self.materials[kind as usize].stiffness * self.spacing
    }

    /// The largest step [s] that the Courant number and gravity allow from this state.
    pub fn largest_step(&self, state: &Snapshot) -> f64 {
        let limits = StepLimits { largest: self.longest, courant: self.settings.courant };
        limits.step(self.spacing, &state.v[self.first..], self.gravity)
    }
}
