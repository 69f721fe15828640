//! What a step and a check say about themselves. The command line and the tests read the same ones.

use littoral_geom::math::Vec3;

/// Energies [J].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energies {
    /// ½ Σ m v².
    pub kinetic: f64,
    /// Elastic energy of all terms.
    pub elastic: f64,
    /// −Σ m g·x.
    pub gravity: f64,
}

/// Wall seconds spent per phase of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Phases {
    /// Broad and narrow phase.
    pub detect: f64,
    /// Forces, Hessians and local solves.
    pub forces: f64,
    /// Truncation.
    pub truncate: f64,
    /// The fluid phase.
    pub fluid: f64,
    /// The judgement of the particles' paths.
    pub referee: f64,
    /// Everything else in a step.
    pub solve: f64,
}

/// What a step did to the fluid.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FluidReport {
    /// Particles there are.
    pub particles: u32,
    /// Iterations of the linear solve.
    pub iterations: u32,
    /// Its relative residual at the end [–].
    pub residual: f64,
    /// Mean of max(0, density over rest density − 1) at the start of the step [–].
    pub compression_mean: f64,
    /// Its maximum [–].
    pub compression_max: f64,
    /// Relative error of the volume: Σ m/ρ over Σ m/ρ₀, less 1, at the start of the step [–]; free surfaces count as full.
    pub volume_error: f64,
    /// Particles whose path crossed a surface, by the referee's test of every committed path.
    pub leaked: u32,
    /// Exact tests of paths made.
    pub path_checks: u64,
    /// Particles that an emitter held back because something was in the way.
    pub blocked: u32,
}

/// What the referee saw of the ways of rods in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RodReport {
    /// Pairs of a segment of a rod and another edge that passed through each other.
    pub passed: u32,
    /// Exact tests of paths made.
    pub path_checks: u64,
}

/// How far an object is behind its prescribed motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObjectLag {
    /// Number of the object.
    pub object: u32,
    /// Largest distance of a prescribed point of it from its target [m].
    pub lag: f64,
}

/// What one step did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Time at the end of the step [s].
    pub time: f64,
    /// Step size [s].
    pub h: f64,
    /// Descent sweeps.
    pub iterations: u32,
    /// Sweeps that the budget of wall time left no time for.
    pub sweeps_left: u32,
    /// Detections.
    pub detections: u32,
    /// Root mean square of the last sweep's displacement over h [m/s].
    pub residual: f64,
    /// Contact pairs closer than the contact radius.
    pub contacts: u32,
    /// Pairs in the safety set.
    pub candidates: u32,
    /// Smallest gap in the safety set [m]; `None` when the set is empty.
    pub min_gap: Option<f64>,
    /// Share of the wanted displacement that truncation kept, in [0, 1].
    pub kept_motion: f64,
    /// Vertices that were truncated in the last sweep.
    pub truncated: u32,
    /// Largest distance of a prescribed point from its target at the end of the step [m].
    pub lag: f64,
    /// The same of each object with a prescribed motion that moves, in the order of their first sets.
    pub lags: Vec<ObjectLag>,
    /// Energies at the end of the step.
    pub energies: Energies,
    /// The fluid; `None` where there is none.
    pub fluid: Option<FluidReport>,
    /// The ways of rods; `None` where there are none.
    pub rods: Option<RodReport>,
    /// Force of the fluid on each object over the step [N], pressure, drag and contact; empty without fluid.
    pub fluid_forces: Vec<Vec3>,
    /// Force of the other objects on each object through contact at the end of the step [N], normal forces and friction,
    /// particles left out.
    pub contact_forces: Vec<Vec3>,
    /// Where the time went.
    pub phases: Phases,
}

/// A pair of objects whose contact the scene switched off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OffPair {
    /// Names of the objects, in the order of their points.
    pub objects: [String; 2],
    /// Edge–triangle pairs that cross.
    pub crossings: u64,
}

/// The referee's verdict on one set of positions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// Edge–triangle pairs that cross, as (edge index, triangle index), sorted; collider–collider pairs are not judged,
    /// and those of objects whose contact is switched off are counted in `off`.
    pub crossings: Vec<[u32; 2]>,
    /// Crossings between components that crossed at the start and are not apart yet, in the same form.
    pub entangled: Vec<[u32; 2]>,
    /// The pairs of objects whose contact is switched off, with the edge–triangle pairs of theirs that cross.
    pub off: Vec<OffPair>,
    /// Tets with volume ≤ 0 by the exact predicate, sorted.
    pub inverted: Vec<u32>,
    /// Points with a coordinate that is not finite.
    pub non_finite: u32,
    /// Exact tests made.
    pub checks: u64,
    /// Wall seconds.
    pub seconds: f64,
}

impl Verdict {
    /// Everything that crosses, sorted: `crossings` and `entangled`.
    pub fn all_crossings(&self) -> Vec<[u32; 2]> {
        let mut all = [&self.crossings[..], &self.entangled[..]].concat();
        all.sort_unstable();
        all
    }
}
