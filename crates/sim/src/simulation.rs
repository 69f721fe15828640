//! A model and its state, ready to step: what the command line, the tests and later the bindings hold.

use crate::model::{Object, Snapshot};
use crate::report::{StepReport, Verdict};
use littoral_geom::math::Vec3;

/// A scene in motion.
#[derive(Debug)]
pub struct Simulation {
    pub(crate) objects: Vec<Object>,
    pub(crate) triangles: Vec<[u32; 3]>,
    pub(crate) tets: Vec<[u32; 4]>,
    pub(crate) state: Snapshot,
    pub(crate) gravity: Vec3,
    pub(crate) x_rest: Vec<Vec3>,
}

impl Simulation {
    /// The objects, in point order.
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }
    /// All surface triangles (t, 3), as point indices.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }
    /// All tets (k, 4), as point indices.
    pub fn tets(&self) -> &[[u32; 4]] {
        &self.tets
    }
    /// Rest positions (n) [m].
    pub fn x_rest(&self) -> &[Vec3] {
        &self.x_rest
    }
    /// Positions, velocities, time.
    pub fn state(&self) -> &Snapshot {
        &self.state
    }
    /// Continues from a snapshot of the same model.
    pub fn restore(&mut self, snapshot: Snapshot) {
        assert_eq!(snapshot.x.len(), self.state.x.len(), "the snapshot belongs to another model");
        self.state = snapshot;
    }
    /// Advances by one step of size `h` [s].
    pub fn step(&mut self, h: f64) -> StepReport {
        for (x, v) in self.state.x.iter_mut().zip(&mut self.state.v) {
            *v += self.gravity * h;
            *x += *v * h;
        }
        self.state.time += h;
        self.state.step += 1;
        StepReport { time: self.state.time, h, ..StepReport::default() }
    }
    /// The referee's verdict on the current positions.
    pub fn judge(&self) -> Verdict {
        Verdict::default()
    }
}
