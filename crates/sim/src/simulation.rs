//! A system and its state, ready to step: what the command line, the tests and later the bindings hold.

use crate::model::{Object, Snapshot};
use crate::report::{StepReport, Verdict};
use crate::safe::SafePositions;
use crate::settings::{Method, SolverSettings};
use crate::step::{NewtonIpc, VbdDat};
use crate::system::System;
use littoral_geom::math::Vec3;
use littoral_geom::referee::Referee;
use std::time::Instant;

/// The step of the method that was chosen.
#[derive(Debug)]
enum Stepper {
    Vbd(Box<VbdDat>),
    Newton(Box<NewtonIpc>),
}

impl Stepper {
    fn new(system: &System, settings: &SolverSettings, safe: &SafePositions) -> Self {
        match settings.method {
            Method::Vbd => Stepper::Vbd(Box::new(VbdDat::new(system, settings.clone(), safe))),
            Method::Newton => Stepper::Newton(Box::new(NewtonIpc::new(system, settings.clone(), safe))),
        }
    }

    fn step(
        &mut self,
        system: &mut System,
        safe: &mut SafePositions,
        state: &mut Snapshot,
        h: f64,
    ) -> StepReport {
        match self {
            Stepper::Vbd(stepper) => stepper.step(system, safe, state, h),
            Stepper::Newton(stepper) => stepper.step(system, safe, state, h),
        }
    }
}

/// A scene in motion.
#[derive(Debug)]
pub struct Simulation {
    system: System,
    settings: SolverSettings,
    safe: SafePositions,
    state: Snapshot,
    stepper: Stepper,
    referee: Referee,
}

impl Simulation {
    /// Starts `system` at `state`.
    pub(crate) fn new(system: System, settings: SolverSettings, state: Snapshot) -> Self {
        let safe = SafePositions::trusted(state.x.clone());
        let stepper = Stepper::new(&system, &settings, &safe);
        let g = &system.geometry;
        let referee = Referee::new(&g.surface.edges, &g.surface.triangles, &g.tets, &g.active);
        Simulation { system, settings, safe, state, stepper, referee }
    }

    /// The objects, in point order.
    pub fn objects(&self) -> &[Object] {
        &self.system.objects
    }

    /// All surface triangles (t, 3), as point indices.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.system.geometry.surface.triangles
    }

    /// All surface edges (e, 2), as point indices.
    pub fn edges(&self) -> &[[u32; 2]] {
        &self.system.geometry.surface.edges
    }

    /// All tets (k, 4), as point indices.
    pub fn tets(&self) -> &[[u32; 4]] {
        &self.system.geometry.tets
    }

    /// Mass of each point (n) [kg]; 0 for colliders.
    pub fn mass(&self) -> &[f64] {
        &self.system.mass
    }

    /// Rest positions, where the run starts (n) [m].
    pub fn x_rest(&self) -> &[Vec3] {
        &self.system.x0
    }

    /// Positions, velocities, time.
    pub fn state(&self) -> &Snapshot {
        &self.state
    }

    /// The solver's settings.
    pub fn settings(&self) -> &SolverSettings {
        &self.settings
    }

    /// Continues from a snapshot of the same system.
    ///
    /// # Panics
    /// When the snapshot has another number of points or motions.
    pub fn restore(&mut self, snapshot: Snapshot) {
        assert_eq!(snapshot.x.len(), self.state.x.len(), "the snapshot belongs to another system");
        assert_eq!(snapshot.memory.len(), self.state.memory.len(), "the snapshot belongs to another system");
        self.safe = SafePositions::trusted(snapshot.x.clone());
        self.stepper = Stepper::new(&self.system, &self.settings, &self.safe);
        self.state = snapshot;
    }

    /// Advances by one step of size `h` [s], > 0.
    pub fn step(&mut self, h: f64) -> StepReport {
        assert!(h > 0.0 && h.is_finite(), "a step needs a positive length, got {h}");
        let Simulation { system, safe, state, stepper, .. } = self;
        // Inside the pool from the start, so that no small loop pays for entering it.
        rayon::scope(|_| stepper.step(system, safe, state, h))
    }

    /// The referee's verdict on the current positions.
    pub fn judge(&self) -> Verdict {
        let start = Instant::now();
        let x = &self.state.x;
        let (crossings, checks) = rayon::scope(|_| self.referee.crossings(x));
        let inverted = rayon::scope(|_| self.referee.inverted(x));
        Verdict {
            crossings,
            checks: checks + self.tets().len() as u64,
            inverted,
            non_finite: self.referee.non_finite(x),
            seconds: start.elapsed().as_secs_f64(),
        }
    }
}
