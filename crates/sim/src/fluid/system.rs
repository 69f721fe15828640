//! The quadratic problem of the fluid phase, frozen at the positions xⁿ it was built for.
//!
//! Everything here is by slot (sorted order of the particle grid) and without units: lengths in spacings dx, masses in
//! m_ref = ρ_ref dx³ of the first material, energies times h² in m_ref dx². The unknown is the displacement
//! u = (x − xⁿ)/dx. With that the numbers are near one for droplets and lakes alike, and f32 is safe where it is used.
//! Vectors of unknowns hold the particles by slot and after them the nodes.

use super::nodes::Nodes;
use super::stencil::SlotStencil;
use super::viscosity::Viscous;
use littoral_geom::math::{Mat3, Vec3};
use rayon::prelude::*;

/// Coefficients of the pairs of one chunk, beside the grid's neighbour lists.
#[derive(Clone, Debug, Default)]
pub(super) struct PairChunk {
    /// c_ij = dx² V₀ W′(r)/r [–], ≤ 0, the same bits for ij and ji.
    pub strain: Vec<f32>,
    /// Coefficient of the viscous energy ½ q (x_ij·u_ij)² [–], ≥ 0; empty if no fluid is viscous.
    pub viscous: Vec<f32>,
}

/// A quadratic term of one particle: gradient at u = 0, and Hessian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Diagonal {
    pub slot: u32,
    pub gradient: Vec3,
    pub hessian: Mat3,
}

/// A wall, by slot, with what it contributes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SlotWall {
    pub slot: u32,
    /// Index in the caller's list.
    pub index: u32,
    pub normal: Vec3,
    /// Displacement of the wall over the step, by its prescribed corners.
    pub motion: Vec3,
    /// Its corners that are unknowns.
    pub corners: Option<([u32; 3], [f64; 3])>,
    /// Weighted slope of the wall's volume times what that does to the strain, φ γ′, ≤ 0.
    pub slope: f64,
    /// Coefficient of the viscous energy of sliding past the wall.
    pub drag: f64,
}

/// The frozen coefficients.
#[derive(Clone, Debug, Default)]
pub(super) struct System {
    /// Step h [s].
    pub h: f64,
    /// Positions in spacings, relative to the first slot's.
    pub x: Vec<Vec3>,
    pub pairs: Vec<PairChunk>,
    pub mass: Vec<f64>,
    /// h² k_I V₀ in the units of the system.
    pub stiffness: Vec<f64>,
    /// Summed density over rest density, walls included, free surfaces not.
    pub fill: Vec<f64>,
    /// Jⁿ with free surfaces completed.
    pub ratio: Vec<f64>,
    /// 1/(1 − γ) of what walls hide from a particle [–], ≥ 1: it multiplies strains.
    pub open: Vec<f64>,
    /// 0 inside the fluid, 1 at a free surface.
    pub surface: Vec<f64>,
    /// Derivative of the strain by the particle's own displacement through walls without nodes.
    pub push: Vec<Vec3>,
    /// Strain at u = 0 from walls that move.
    pub offset: Vec<f64>,
    pub walls: Vec<SlotWall>,
    /// What viscosity needs to know of each particle; empty if no fluid is viscous.
    pub viscous: Vec<Viscous>,
    /// Whether a particle's incompressibility is part of the problem.
    pub active: Vec<bool>,
    /// Drag of walls without nodes and the caller's terms, by ascending slot, one a slot.
    pub diagonals: Vec<Diagonal>,
    /// Walls and terms with nodes.
    pub nodes: Nodes,
    /// Terms of particles and nodes that may pull down.
    pub stencils: Vec<SlotStencil>,
}

impl System {
    /// Number of particles.
    pub fn len(&self) -> usize {
        self.mass.len()
    }

    /// True if viscosity is part of the problem.
    pub fn has_viscosity(&self) -> bool {
        self.pairs.iter().any(|p| !p.viscous.is_empty())
    }

    /// J_i of a strain s_i: J = Jⁿ + (Jⁿ)² (s + s_walls)/(1 − γ).
    #[inline]
    pub fn volume_ratio(&self, slot: usize, strain: f64) -> f64 {
        let ratio = self.ratio[slot];
        ratio + ratio * ratio * self.open[slot] * (strain + self.offset[slot])
    }

    /// ∂(energy of slot)/∂(strain of slot): h² k_I V₀ (J − 1) (Jⁿ)²/(1 − γ), or 0 if its term is off.
    #[inline]
    pub fn tension(&self, slot: usize, strain: f64) -> f64 {
        let ratio = self.ratio[slot];
        let on = f64::from(self.active[slot]);
        on * self.stiffness[slot] * ratio * ratio * self.open[slot] * (self.volume_ratio(slot, strain) - 1.0)
    }

    /// The second derivative of that energy by the strain.
    #[inline]
    pub fn weight(&self, slot: usize) -> f64 {
        let by_strain = self.ratio[slot] * self.ratio[slot] * self.open[slot];
        f64::from(self.active[slot]) * self.stiffness[slot] * by_strain * by_strain
    }

    /// Chooses which terms are on, from the strain at the predictor: those that will be compressed, and inside the
    /// fluid those that will be stretched by less than `tension` [–].
    ///
    /// The first keeps free surfaces and spray from being pulled together; the second lets pressure cross the whole
    /// fluid in the step in which a wave starts, before its inside is compressed. Returns how many changed.
    pub fn choose_active(&mut self, strain: &[f64], tension: f64) -> usize {
        let mut changed = 0;
        for (slot, s) in strain.iter().enumerate() {
            let limit = 1.0 + tension * (1.0 - self.surface[slot]);
            let on = self.volume_ratio(slot, *s) < limit;
            changed += usize::from(on != self.active[slot]);
            self.active[slot] = on;
        }
        changed
    }

    /// Takes over the terms of single particles, those of the same slot added.
    pub fn set_diagonals(&mut self, terms: &[Diagonal]) {
        let kept = &mut self.diagonals;
        kept.clear();
        kept.extend_from_slice(terms);
        kept.sort_by_key(|d| d.slot);
        kept.dedup_by(|next, kept| {
            let same = next.slot == kept.slot;
            if same {
                kept.gradient += next.gradient;
                kept.hessian += next.hessian;
            }
            same
        });
    }
}

/// Fixed-order sum of per-chunk results.
pub(super) fn sum_chunks(partial: impl IndexedParallelIterator<Item = f64>) -> f64 {
    let parts: Vec<f64> = partial.collect();
    parts.iter().sum()
}
