//! Joints between rigid bodies, or of one with the world or a collider: what is fixed during a run.
//!
//! A joint is a set of rows c = 0 on the poses of its two sides, held by forces: see `solver::joints`.

use crate::body::Pose;
use littoral_geom::math::{Mat3, Quat, Vec3};

/// What a joint is fastened to. Places are relative to the origin of the side, in its axes at the start [m].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Side {
    /// A rigid body; its origin is its centre of mass.
    Body(u32),
    /// A triangle of a collider, with its rotation in the axes of the start; its origin is the first corner.
    Collider {
        /// The corners.
        corners: [u32; 3],
        /// Frame of the triangle at the start.
        rest: Quat,
    },
    /// The world, which stands still; its origin is that of the scene.
    World,
}

/// A motor of a hinge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motor {
    /// Speed of the first side against the second [rad/s].
    pub speed: f64,
    /// Largest torque [N m], ≥ 0.
    pub torque: f64,
}

/// What a joint holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointKind {
    /// A place: the two turn freely about it.
    Ball,
    /// A place and every turn.
    Fixed,
    /// A place and an axis, about which the two turn.
    Hinge {
        /// Unit axis at the start.
        axis: Vec3,
        /// Smallest and largest angle of the first side against the second, 0 at the start [rad].
        limits: [f64; 2],
        /// What drives it.
        motor: Option<Motor>,
    },
    /// The distance of two places, as a rod; as a rope if it is `slack` when shorter.
    Distance {
        /// Length [m], > 0.
        length: f64,
        /// Nothing holds the two apart.
        slack: bool,
    },
    /// A spring with damper between two places.
    Spring {
        /// Length at rest [m], ≥ 0.
        length: f64,
        /// Stiffness k [N/m], > 0.
        stiffness: f64,
        /// Rate damping β [s], ≥ 0.
        damping: f64,
    },
}

/// A joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Joint {
    /// Its two sides; the first is a body.
    pub sides: [Side; 2],
    /// Its place on each side [m].
    pub places: [Vec3; 2],
    /// What it holds.
    pub kind: JointKind,
}

/// The joints of a system.
#[derive(Clone, Debug, Default)]
pub struct Joints {
    /// The joints.
    pub list: Vec<Joint>,
    /// First of their numbers in the memory of a snapshot.
    pub memory: usize,
}

impl Joints {
    /// Largest distance [m] by which the joints of a body miss what they hold; `None` without any.
    pub fn gap(&self, body: usize, poses: &[Pose], x: &[Vec3]) -> Option<f64> {
        let own = self.list.iter().filter(|j| j.sides.iter().any(|s| s.body() == Some(body)));
        own.filter_map(|joint| {
            let [a, b] = joint.ends(poses, x);
            match joint.kind {
                JointKind::Ball | JointKind::Fixed | JointKind::Hinge { .. } => Some(a.distance(b)),
                JointKind::Distance { length, slack: false } => Some((a.distance(b) - length).abs()),
                JointKind::Distance { length, slack: true } => Some((a.distance(b) - length).max(0.0)),
                JointKind::Spring { .. } => None,
            }
        })
        .reduce(f64::max)
    }
}

impl Joint {
    /// Its places on both sides [m], with the points at `x` [m].
    pub fn ends(&self, poses: &[Pose], x: &[Vec3]) -> [Vec3; 2] {
        [0, 1].map(|k| self.sides[k].pose(poses, x).place(self.places[k]))
    }
}

/// Frame of a triangle: its first side, its normal, and what goes with both. `None` without an area.
fn frame([a, b, c]: [Vec3; 3]) -> Option<Quat> {
    let (along, normal) = ((b - a).normalize_or_zero(), (b - a).cross(c - a).normalize_or_zero());
    let axes = Mat3::from_cols(along, normal.cross(along), normal);
    (along != Vec3::ZERO && normal != Vec3::ZERO).then(|| Quat::from_mat3(&axes).normalize())
}

impl Side {
    /// A side on the triangle with these corners, which are now at `x` [m]; `None` if it has no area.
    pub fn on_triangle(corners: [u32; 3], x: &[Vec3]) -> Option<Side> {
        frame(corners.map(|c| x[c as usize])).map(|rest| Side::Collider { corners, rest })
    }

    /// Where its origin is and how it is turned, with the points at `x` [m].
    pub fn pose(&self, poses: &[Pose], x: &[Vec3]) -> Pose {
        match *self {
            Side::Body(b) => poses[b as usize],
            Side::World => Pose { center: Vec3::ZERO, rotation: Quat::IDENTITY },
            Side::Collider { corners, rest } => {
                let now = corners.map(|c| x[c as usize]);
                // A collider keeps its shape: it has a frame as long as it had one at the start.
                let rotation = frame(now).map_or(Quat::IDENTITY, |f| f * rest.conjugate());
                Pose { center: now[0], rotation }
            }
        }
    }

    /// The body, if it is one.
    pub fn body(&self) -> Option<usize> {
        match self {
            Side::Body(b) => Some(*b as usize),
            Side::Collider { .. } | Side::World => None,
        }
    }
}
