//! What does not change during a run (`Model`) and what does (`State`).

use littoral_geom::math::Vec3;

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// Triangles with membrane and bending energy.
    Cloth,
    /// Tetrahedra.
    Soft,
    /// Lines of segments that stretch, bend and twist.
    Rod,
    /// Triangles that move as one, with a mass.
    Rigid,
    /// Prescribed triangles.
    Collider,
    /// Particles of a fluid.
    Fluid,
}

/// An object: a contiguous range of points.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// Name, unique in the scene.
    pub name: String,
    /// Kind.
    pub kind: ObjectKind,
    /// First point index.
    pub first: u32,
    /// Number of points.
    pub count: u32,
    /// Friction coefficient μ [–].
    pub friction: f64,
}

impl Object {
    /// Its point indices.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
}

/// Everything a checkpoint must hold: with the `Model`, it determines the rest of the run bit for bit.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Time [s].
    pub time: f64,
    /// Steps taken.
    pub step: u64,
    /// Positions (n) [m].
    pub x: Vec<Vec3>,
    /// Velocities (n) [m/s].
    pub v: Vec<Vec3>,
    /// Velocities one step earlier (n) [m/s].
    pub v_before: Vec<Vec3>,
    /// Largest collider lag so far, per object [m].
    pub lag_max: Vec<f64>,
    /// Further numbers a stepper remembers, in an order of its own.
    pub memory: Vec<f64>,
}
