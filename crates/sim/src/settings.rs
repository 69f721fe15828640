//! Settings of a simulation: the solver, the truncation and the contact. All lengths in metres, times in seconds.

/// How a displacement is cut so that nothing touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncation {
    /// Division planes per pair, proportional or water-filling split of the gap [Chen 2026, §4.2].
    Planar,
    /// As planar; what a plane would stop first turns aside along it.
    Slide,
    /// Half the smallest gap of each vertex, in every direction [Chen 2026, §4.1].
    Isotropic,
    /// Per-vertex projection onto the division planes in the metric of the vertex Hessian [Chen 2026, App. B].
    Project,
    /// One global step length from additive continuous collision detection [Li 2021].
    Ccd,
    /// No truncation at all: for comparison; the guarantee does not hold.
    None,
}

/// How the gap of a pair is shared between its two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GapSplit {
    /// Room in proportion to each side's own approach, as published [Chen 2026, Eq. 9–12].
    Proportional,
    /// The slower side gets what it needs up to a half, the faster side the rest.
    WaterFilling,
}

/// The family of the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Vertex block descent with divide-and-truncate [Chen 2026].
    Vbd,
    /// Projected Newton on the incremental potential with barriers [Li 2020].
    Newton,
}

/// How the linear systems of Newton's method are solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinearSolver {
    /// By factorisation up to some ten thousand points of solids, by conjugate gradients above.
    Auto,
    /// Sparse Cholesky factorisation of the whole system.
    Cholesky,
    /// The same of the solids alone, after each particle was eliminated [Xie 2023, §5].
    Schur,
    /// Conjugate gradients with block-Jacobi preconditioner.
    ConjugateGradients,
}

/// Parameters of the solver.
#[derive(Clone, Debug, PartialEq)]
pub struct SolverSettings {
    /// Time step h [s], > 0; `None` chooses 1/240 s at most, dividing a frame evenly.
    pub step: Option<f64>,
    /// The method. Default block descent.
    pub method: Method,
    /// Descent sweeps a step, or Newton iterations at most, ≥ 1. Default 20.
    pub iterations: u32,
    /// Wall seconds that block descent may take a simulated second, > 0: sweeps end early where they are used up, after one
    /// sweep at least. A run with a budget is not reproducible to the bit. `None`, the default, is without bounds.
    pub budget: Option<f64>,
    /// Sweeps between two detections, ≥ 1. Default 5.
    pub detect_every: u32,
    /// The truncation. Default planar.
    pub truncation: Truncation,
    /// The split of each gap. Default water-filling.
    pub gap_split: GapSplit,
    /// Fraction γ of a gap that may be used up between two detections, in (0, 1). Default 0.85.
    pub relaxation: f64,
    /// Spectral radius estimate ρ of the Chebyshev acceleration, in [0, 1); 0 turns it off. Default 0.
    pub chebyshev: f64,
    /// Before each sweep, one Newton step in the rigid motions of every free component. Default on.
    pub rigid_correction: bool,
    /// Before each sweep, one Newton step in the slowly varying displacements of every larger component. Worth its
    /// cost where stiff bodies lag in few sweeps. Default off.
    pub coarse: bool,
    /// Scale an initial guess back where it would raise the objective. Default on.
    pub tempered: bool,
    /// Newton ends with the first step in which no point goes faster than this [m/s], > 0. Default 1 mm/s.
    pub tolerance: f64,
    /// Linear solver of Newton. Default by size.
    pub linear: LinearSolver,
}

impl Default for SolverSettings {
    fn default() -> Self {
        SolverSettings {
            step: None,
            method: Method::Vbd,
            iterations: 20,
            budget: None,
            detect_every: 5,
            truncation: Truncation::Planar,
            gap_split: GapSplit::WaterFilling,
            relaxation: 0.85,
            chebyshev: 0.0,
            rigid_correction: true,
            coarse: false,
            tempered: true,
            tolerance: 1e-3,
            linear: LinearSolver::Auto,
        }
    }
}

/// Parameters of the contact law.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactSettings {
    /// Contact radius r_c [m], > 0: contact forces act below this distance. Default 2 mm.
    pub radius: f64,
    /// Coulomb friction coefficient μ [–], ≥ 0. Default 0.3.
    pub friction: f64,
    /// Contact stiffness k [N/m], > 0; `None` derives it from the masses and the step.
    pub stiffness: Option<f64>,
    /// Speed ε_v [m/s], > 0, below which Newton regularises friction. Default 1 mm/s. Block descent sticks without.
    pub friction_speed: f64,
}

impl Default for ContactSettings {
    fn default() -> Self {
        ContactSettings { radius: 2e-3, friction: 0.3, stiffness: None, friction_speed: 1e-3 }
    }
}

/// How the fluid and the solids share a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Splitting {
    /// Two phases, joined by a second-order model of half the contact energy in each [Xie 2023, Eq. 23–25].
    Proxy,
    /// Three phases: fluid, solid, contact [Xie 2023, Eq. 26].
    ProxyThreePhase,
    /// Two phases without a proxy: the fluid knows nothing of the contacts.
    Baseline,
    /// Everything at once: the reference.
    Joint,
}

impl Splitting {
    /// True if the fluid phase has a model of what the solids do.
    pub fn has_proxy(self) -> bool {
        matches!(self, Splitting::Proxy | Splitting::ProxyThreePhase)
    }
}

/// How the solids near a fluid answer its pressure within the fluid phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SolidResponse {
    /// With inertia and the second-order model of their elastic energy: a plate stays as stiff as it is.
    Elastic,
    /// With the inertia of their surface points alone, as published [Xie 2023, §4.2].
    Inertia,
}

/// Parameters of the fluid phase.
#[derive(Clone, Debug, PartialEq)]
pub struct FluidSettings {
    /// The splitting. Default proxy.
    pub splitting: Splitting,
    /// Contact proxies with exact Hessians instead of projected ones, with barriers: one order more of agreement with
    /// the joint solution where steps are short against contacts. Steps in which that has no solution project after
    /// all. Default off.
    pub exact_proxies: bool,
    /// How the solids answer within the fluid phase. Default elastic.
    pub response: SolidResponse,
    /// Courant number C [–], > 0: no particle moves more than C spacings a step by its velocity. Default 0.4.
    pub courant: f64,
    /// Compression the fluid may show under its own weight and speed [–], in (0, 0.5): gives the stiffness k_I where a
    /// material names none. Default 0.01.
    pub volume_error: f64,
    /// Coefficient α of a viscosity α dx √(g dx) that is added to the physical one [–], ≥ 0: it calms what moves
    /// between particles and has no scale of its own. Default 0.03, at which a tank comes to rest within seconds; at 0
    /// its particles wander for ever.
    pub artificial_viscosity: f64,
    /// Relative residual at which the linear solve stops [–], > 0. Default 1e-3.
    pub tolerance: f64,
    /// Iterations of the linear solve, at most, ≥ 1. Default 200.
    pub max_iterations: u32,
}

impl Default for FluidSettings {
    fn default() -> Self {
        FluidSettings {
            splitting: Splitting::Proxy,
            exact_proxies: false,
            response: SolidResponse::Elastic,
            courant: 0.4,
            volume_error: 0.01,
            artificial_viscosity: 0.03,
            tolerance: 1e-3,
            max_iterations: 200,
        }
    }
}
