//! Everything that is fixed during a run: what a step reads besides the state.

use crate::body::{Bodies, NO_BODY};
use crate::chamber::Chamber;
use crate::contact::ContactModel;
use crate::elastic::Elastic;
use crate::joint::Joints;
use crate::kinematic::PrescribedSet;
use crate::liquid::FluidSystem;
use crate::model::{Object, Snapshot};
use crate::plastic::Plastic;
use crate::rod::Rods;
use crate::safe::Geometry;
use littoral_geom::math::Vec3;
use littoral_geom::mesh::Csr;

/// The simulated system.
#[derive(Clone, Debug)]
pub struct System {
    /// Objects in point order.
    pub objects: Vec<Object>,
    /// Collision primitives, tets, components.
    pub geometry: Geometry,
    /// Elastic and dissipative elements.
    pub elastic: Elastic,
    /// Contact forces.
    pub contact: ContactModel,
    /// Mass (n) [kg]; 0 for colliders, and for points of rigid bodies, whose mass is the body's.
    pub mass: Vec<f64>,
    /// Points by colour: no element joins two points of one colour. Collider points have none.
    pub colors: Vec<Vec<u32>>,
    /// Colour of each point (n); `u32::MAX` for collider points.
    pub color_of: Vec<u32>,
    /// Points that share an element with each point.
    pub neighbours: Csr,
    /// Prescribed motions. A point belongs to at most one.
    pub prescribed: Vec<PrescribedSet>,
    /// Rigid group of each point for the truncation, or `truncation::NO_GROUP`.
    pub groups: Vec<u32>,
    /// The rigid bodies.
    pub bodies: Bodies,
    /// Their joints.
    pub joints: Joints,
    /// The fluids, if there are any.
    pub fluid: Option<FluidSystem>,
    /// The rods, if there are any. Their groups are the last colours.
    pub rods: Option<Rods>,
    /// Gravity [m/s²].
    pub gravity: Vec3,
    /// Friction regularisation speed ε_v of Newton [m/s].
    pub friction_speed: f64,
    /// What closed membranes hold.
    pub chambers: Vec<Chamber>,
    /// What yields.
    pub plastic: Plastic,
    /// Component of each point (n), where those that are tied together count as one.
    pub bonded: Vec<u32>,
    /// Length of the part of a snapshot's memory that is always there; what contacts remember follows.
    pub memory: usize,
    /// Initial positions (n) [m].
    pub x0: Vec<Vec3>,
}

impl System {
    /// Prepares the elements for a step of `h` [s] from `state`: what changes with time, and what rates are measured
    /// from.
    pub fn lag(&mut self, state: &Snapshot, h: f64) {
        self.elastic.set_time(state.time + h);
        self.chambers.iter_mut().for_each(|c| c.set_time(state.time + h));
        self.plastic.recall(&mut self.elastic, &state.memory);
        self.elastic.lag(&state.x, h);
    }

    /// True for a point that forces move: of a mass of its own, or of a rigid body.
    #[inline]
    pub fn moves(&self, v: usize) -> bool {
        self.mass[v] > 0.0 || self.bodies.of_point[v] != NO_BODY
    }
}
