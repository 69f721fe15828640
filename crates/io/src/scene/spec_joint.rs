//! What a scene file can say about joints of rigid bodies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A joint between two rigid bodies, or of one with a collider or the world.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Joint {
    /// What it holds.
    #[serde(rename = "type")]
    pub kind: JointType,
    /// Name of a rigid body, and of another or of a collider; one name alone joins it to the world. The name of a body with
    /// copies, twice, joins each copy to the next; beside another, each copy to that. `at` and `to` move on with them.
    pub objects: Vec<String>,
    /// Where it is, at the start [length].
    pub at: [f64; 3],
    /// Where a distance or spring ends on the second object [length]. Default: at `at`.
    pub to: Option<[f64; 3]>,
    /// Axis of a hinge, of any length.
    pub axis: Option<[f64; 3]>,
    /// Smallest and largest angle of the first object against the second about the axis, 0 at the start [°]. Default:
    /// none.
    pub limits_deg: Option<[f64; 2]>,
    /// What drives a hinge.
    pub motor: Option<Motor>,
    /// Length of a distance or spring [length]. Default: that at the start.
    #[schemars(range(min = 0))]
    pub length: Option<f64>,
    /// A distance holds only when it is pulled, as a rope.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub slack: bool,
    /// Stiffness of a spring [N/m].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub stiffness: Option<f64>,
    /// Rate damping of a spring: force per speed over force per length [s].
    #[schemars(range(min = 0))]
    pub damping: Option<f64>,
}

/// What a joint holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JointType {
    /// A place: the two turn freely about it.
    #[default]
    Ball,
    /// A place and every turn.
    Fixed,
    /// A place and an axis, about which the two turn.
    Hinge,
    /// The distance of two places.
    Distance,
    /// A spring with damper between two places.
    Spring,
}

/// What drives a hinge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Motor {
    /// Speed of the first object against the second about the axis, by the right-hand rule [rad/s].
    pub speed: f64,
    /// Largest torque [N m].
    #[schemars(range(min = 0))]
    pub torque: f64,
}
