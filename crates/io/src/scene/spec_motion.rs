//! What a scene file can say about turning, moving and holding.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A rotation, written in one of three ways; none of them is no rotation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rotation {
    /// Axis, of any length; goes with `angle_deg`.
    pub axis: Option<[f64; 3]>,
    /// Angle about `axis`, by the right-hand rule [°].
    pub angle_deg: Option<f64>,
    /// Turns about x, then y, then z, about the axes of the scene [°].
    pub euler_deg: Option<[f64; 3]>,
    /// Quaternion x, y, z, w, of any length.
    pub quaternion: Option<[f64; 4]>,
}

impl Rotation {
    /// True when nothing is written.
    pub fn is_none(&self) -> bool {
        *self == Rotation::default()
    }
}

/// A prescribed motion: one of `keyframes`, `twist` and `sequence`; none of them is standing still.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Motion {
    /// Poses at increasing times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keyframes: Option<Vec<Keyframe>>,
    /// Steady turning and sliding.
    pub twist: Option<Twist>,
    /// Whole meshes at increasing times.
    pub sequence: Option<Sequence>,
    /// Centre of the rotations of `keyframes` and `twist` [length]. Default: `position` of the object.
    pub center: Option<[f64; 3]>,
}

impl Motion {
    /// True when nothing is written.
    pub fn is_none(&self) -> bool {
        *self == Motion::default()
    }
}

/// A pose: between two of them, motion is linear and rotation steady; outside of them, the nearest holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Keyframe {
    /// When [s].
    pub time: f64,
    /// Displacement from the initial place [length].
    pub position: [f64; 3],
    /// Rotation from the initial one.
    #[serde(skip_serializing_if = "Rotation::is_none")]
    pub rotation: Rotation,
}

/// Steady turning about an axis and sliding, between two times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Twist {
    /// Axis, of any length.
    pub axis: [f64; 3],
    /// Angular velocity about the axis, by the right-hand rule [rad/s].
    pub rate: Option<f64>,
    /// Instead of `rate`: full turns between `start` and `stop`.
    pub turns: Option<f64>,
    /// Velocity of the centre [m/s].
    pub velocity: [f64; 3],
    /// When it begins [s].
    #[schemars(range(min = 0))]
    pub start: f64,
    /// When it ends [s]. Default: never.
    #[schemars(range(min = 0))]
    pub stop: Option<f64>,
}

impl Default for Twist {
    fn default() -> Self {
        Twist { axis: [0.0, 0.0, 1.0], rate: None, turns: None, velocity: [0.0; 3], start: 0.0, stop: None }
    }
}

/// Meshes of equal size at equal intervals; vertices move linearly from one to the next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sequence {
    /// The files, in order; scaled, turned and put in place as the object's mesh is. The first should equal it.
    pub files: Vec<String>,
    /// Time of the first [s].
    #[schemars(range(min = 0))]
    pub start: f64,
    /// Time between two [s].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub interval: f64,
}

impl Default for Sequence {
    fn default() -> Self {
        Sequence { files: Vec::new(), start: 0.0, interval: 1.0 / 24.0 }
    }
}

/// Vertices that are held or moved: one of `box`, `vertices` and `all` says which.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Pin {
    /// Those that begin inside this box, given by its lowest and highest corner in the scene [length].
    #[serde(rename = "box")]
    pub inside: Option<[[f64; 3]; 2]>,
    /// Those with these indices in the mesh, counted from 0.
    pub vertices: Option<Vec<u32>>,
    /// Every one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub all: bool,
    /// How they move. Default: not at all.
    #[serde(skip_serializing_if = "Motion::is_none")]
    pub motion: Motion,
    /// When they are let go [s]. Default: never.
    #[schemars(range(min = 0))]
    pub release: Option<f64>,
}
