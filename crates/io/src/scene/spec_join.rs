//! What a scene file can say about two objects: what ties them together, how they meet; and what one of them holds.

use littoral_sim::chamber::{Content, Filling};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An attachment: vertices of one object are tied to another object, or to others of the same. What is tied does not
/// touch; a seam closes to half the contact radius at most.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Attach {
    /// Names of the two objects: first the cloth, soft body or rod whose vertices are tied; the same name twice is a seam
    /// within one object. The name of an object with copies stands for each of them, tied one by one.
    pub objects: [String; 2],
    /// Only vertices of the first object that begin inside this box are tied: its lowest and highest corner in the scene
    /// [length]. Default, with `vertices` neither: all that find a partner within `reach`.
    #[serde(rename = "box")]
    pub inside: Option<[[f64; 3]; 2]>,
    /// Only these vertices of the first object are tied, counted from 0.
    pub vertices: Option<Vec<u32>>,
    /// Partners are only looked for inside this box [length]. Default: anywhere.
    pub to_box: Option<[[f64; 3]; 2]>,
    /// Pairs of vertices of the first and the second object, counted from 0; instead of looking for partners.
    pub pairs: Option<Vec<[u32; 2]>>,
    /// What each vertex is tied to.
    pub to: Target,
    /// How it is held.
    pub hold: Holding,
    /// Vertices without a partner this near at the start are left alone [length]. Default: any distance.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub reach: Option<f64>,
    /// Distance at rest [length]: 0 for a seam, which closes to half the contact radius. Default: that at the start.
    #[schemars(range(min = 0))]
    pub distance: Option<f64>,
    /// How long it takes to get from the distance at the start to `distance` [s].
    #[schemars(range(min = 0))]
    pub over: f64,
    /// Stiffness of each spring [N/m]. Default: that of the stiffer of the two vertices that it joins.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub stiffness: Option<f64>,
    /// Rate damping of the springs: force per speed over force per length [s].
    #[schemars(range(min = 0))]
    pub damping: f64,
}

impl Default for Attach {
    fn default() -> Self {
        Attach {
            objects: [String::new(), String::new()],
            inside: None,
            vertices: None,
            to_box: None,
            pairs: None,
            to: Target::Vertex,
            hold: Holding::Spring,
            reach: None,
            distance: None,
            over: 0.0,
            stiffness: None,
            damping: 0.0,
        }
    }
}

/// What a vertex is tied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// The nearest vertex of the second object.
    Vertex,
    /// The nearest place on its surface.
    Surface,
}

/// How a tied vertex is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Holding {
    /// By a spring, which pulls both sides.
    Spring,
    /// Like a pin that follows the second object, a collider.
    Pin,
}

/// What holds between two objects, or within one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Pair {
    /// Names of the two objects; the same name twice is an object and itself. The name of an object with copies stands
    /// for each of them.
    pub objects: [String; 2],
    /// Friction coefficient between the two [–]. Default: the geometric mean of theirs.
    #[schemars(range(min = 0, max = 1000))]
    pub friction: Option<f64>,
    /// Whether they meet. `false` lets them pass through each other; the certificate then names them, and counts their
    /// crossings apart.
    pub contact: bool,
}

impl Default for Pair {
    fn default() -> Self {
        Pair { objects: [String::new(), String::new()], friction: None, contact: true }
    }
}

/// What a closed cloth holds: one of `gas`, `constant` and `volume`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Pressure {
    /// A gas of constant temperature, with this pressure over that outside at the volume at the start [Pa]: pressure times
    /// volume stays.
    pub gas: Option<f64>,
    /// This pressure over that outside, whatever the volume [Pa].
    pub constant: Option<f64>,
    /// A liquid: this volume over that at the start is kept [–].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub volume: Option<f64>,
    /// Absolute pressure outside, for a gas [Pa]. Default: 101325.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub ambient: Option<f64>,
    /// How long it takes to come in [s].
    #[schemars(range(min = 0))]
    pub over: f64,
}

/// Pressure of the air at sea level [Pa].
const ATMOSPHERE: f64 = 101_325.0;

impl Pressure {
    /// What is asked for; `None` unless it is exactly one content.
    pub(crate) fn filling(&self) -> Option<Filling> {
        let content = match (self.gas, self.constant, self.volume) {
            (Some(pressure), None, None) => {
                Content::Gas { pressure, ambient: self.ambient.unwrap_or(ATMOSPHERE) }
            }
            (None, Some(pressure), None) => Content::Constant { pressure },
            (None, None, Some(ratio)) => Content::Volume { ratio },
            _ => return None,
        };
        Some(Filling { content, over: self.over })
    }
}
