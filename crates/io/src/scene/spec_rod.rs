//! What a scene file can say about rods: their lines, and what they are made of.

use super::materials::{RopeMaterial, rope_preset};
use super::spec::{Copies, Scale};
use super::spec_motion::{Pin, Rotation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A rod: a rope, wire, cord or net of round section, whose lines stretch, shear, bend and twist. Its centre line never
/// passes through anything; contact begins at its radius.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rod {
    /// A name, unique in the scene. Default: rod and a number.
    pub name: String,
    /// The lines.
    pub mesh: Lines,
    /// Where the origin of the lines is put [length].
    pub position: [f64; 3],
    /// How the lines are turned about their origin, before they are put in place.
    #[serde(skip_serializing_if = "Rotation::is_none")]
    pub rotation: Rotation,
    /// How the lines are scaled, before they are turned.
    pub scale: Scale,
    /// Initial velocity [m/s].
    pub velocity: [f64; 3],
    /// Initial angular velocity about the centre of mass [rad/s].
    pub spin: [f64; 3],
    /// Radius of the section [length], and distance from the centre line at which contact begins.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius: f64,
    /// A preset by its name: hemp-rope, cotton-rope, nylon-rope, steel-wire or rubber-cord. It gives density, young, poisson
    /// and flexural where they are left out.
    pub material: Option<String>,
    /// Mass per volume [kg/m³]. Default: that of the material, else 1000.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub density: Option<f64>,
    /// Young's modulus [Pa]: against stretching and bending. Default: that of the material, else 1e7.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub young: Option<f64>,
    /// Poisson's ratio [–]: gives the shear modulus young / 2(1 + poisson). Default: that of the material, else 0.4.
    #[schemars(extend("exclusiveMinimum" = -1, "exclusiveMaximum" = 0.5))]
    pub poisson: Option<f64>,
    /// Shear modulus [Pa]: against twisting. Default: from young and poisson.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub shear: Option<f64>,
    /// Bending and twisting stiffness, over those of a solid bar of this radius [–]: 1/n for a rope of n yarns that slide.
    /// Default: that of the material, else 1.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub flexural: Option<f64>,
    /// Rate damping [s]: stress per strain rate over stress per strain.
    #[schemars(range(min = 0))]
    pub damping: f64,
    /// The shape without strain.
    pub rest: Rest,
    /// Friction coefficient of this object [–]; a pair has the geometric mean. Default: that of `contact`.
    #[schemars(range(min = 0, max = 1000))]
    pub friction: Option<f64>,
    /// Vertices that are held or moved. A pin that holds both ends of a segment holds its direction too, and turns it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pin: Vec<Pin>,
    /// More of the same.
    pub copies: Option<Copies>,
}

/// Of a rod that names neither its material nor what that would give.
const UNNAMED: RopeMaterial = RopeMaterial { density: 1000.0, young: 1e7, poisson: 0.4, flexural: 1.0 };

impl Rod {
    /// What it is made of, by its own keys and its material.
    pub(super) fn stuff(&self) -> RopeMaterial {
        let preset = self.material.as_deref().and_then(rope_preset).unwrap_or(UNNAMED);
        RopeMaterial {
            density: self.density.unwrap_or(preset.density),
            young: self.young.unwrap_or(preset.young),
            poisson: self.poisson.unwrap_or(preset.poisson),
            flexural: self.flexural.unwrap_or(preset.flexural),
        }
    }
}

impl Default for Rod {
    fn default() -> Self {
        Rod {
            name: String::new(),
            mesh: Lines::Line(Line::default()),
            position: [0.0; 3],
            rotation: Rotation::default(),
            scale: Scale::Uniform(1.0),
            velocity: [0.0; 3],
            spin: [0.0; 3],
            radius: 0.005,
            material: None,
            density: None,
            young: None,
            poisson: None,
            shear: None,
            flexural: None,
            damping: 1e-3,
            rest: Rest::Straight,
            friction: None,
            pin: Vec::new(),
            copies: None,
        }
    }
}

/// The shape of a rod without strain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rest {
    /// Straight: the given lines are bent.
    Straight,
    /// As given: the curvature of the given lines is natural.
    AsGiven,
}

/// Lines: one shape with its sizes, points, or a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Lines {
    /// A file with lines: .obj (`l` elements), .ply (edges) or .vtk (lines); the path is relative to the scene file.
    File(String),
    /// Points of one line [length]; a ring where the last is the first.
    Points(Vec<[f64; 3]>),
    /// A straight line.
    Line(Line),
    /// A helix about the vertical axis.
    Helix(Helix),
    /// A horizontal ring.
    Circle(Circle),
    /// A closed trefoil knot, lying flat.
    Trefoil(Circle),
    /// A loose overhand knot in a line along x.
    Overhand(Overhand),
    /// Two ropes in a loose reef knot along x.
    Reef(Overhand),
    /// A horizontal net of cords along x and along the other horizontal axis, tied where they cross.
    Net(Net),
    /// A rope bridge along x: two hand ropes and two foot ropes, tied to each other.
    Bridge(Bridge),
}

/// A straight line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Line {
    /// Its first point [length].
    pub from: [f64; 3],
    /// Its last point [length].
    pub to: [f64; 3],
    /// Number of segments.
    #[schemars(range(min = 1, max = 100000))]
    pub segments: u32,
}

impl Default for Line {
    fn default() -> Self {
        Line { from: [-0.5, 0.0, 0.0], to: [0.5, 0.0, 0.0], segments: 50 }
    }
}

/// A helix about the vertical axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Helix {
    /// Radius [length].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius: f64,
    /// Height [length].
    #[schemars(range(min = 0))]
    pub height: f64,
    /// Number of turns.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub turns: f64,
    /// Number of segments.
    #[schemars(range(min = 1, max = 100000))]
    pub segments: u32,
}

impl Default for Helix {
    fn default() -> Self {
        Helix { radius: 0.05, height: 0.3, turns: 8.0, segments: 200 }
    }
}

/// A closed line about the vertical axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Circle {
    /// Radius of the whole [length].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius: f64,
    /// Number of segments.
    #[schemars(range(min = 3, max = 100000))]
    pub segments: u32,
}

impl Default for Circle {
    fn default() -> Self {
        Circle { radius: 0.2, segments: 100 }
    }
}

/// A loose overhand knot in a line, or a reef knot of two ropes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Overhand {
    /// Length along the line, of each rope [length].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub length: f64,
    /// Number of segments of each rope.
    #[schemars(range(min = 1, max = 100000))]
    pub segments: u32,
}

impl Default for Overhand {
    fn default() -> Self {
        Overhand { length: 1.0, segments: 120 }
    }
}

/// A net of cords that are tied where they cross.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Net {
    /// Extents [length].
    #[schemars(inner(range(min = 0.000000001)))]
    pub size: [f64; 2],
    /// Number of meshes along each extent.
    #[schemars(inner(range(min = 1, max = 1024)))]
    pub cells: [u32; 2],
    /// Number of segments of each side of a mesh.
    #[schemars(range(min = 1, max = 100))]
    pub segments: u32,
}

impl Default for Net {
    fn default() -> Self {
        Net { size: [1.0; 2], cells: [10; 2], segments: 3 }
    }
}

/// A rope bridge: its ropes hang in parabolas.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bridge {
    /// Distance of its ends [length].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub length: f64,
    /// Distance of the ropes of both sides [length].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub width: f64,
    /// Height of the hand ropes over the foot ropes [length].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub height: f64,
    /// How far the ropes hang in the middle [length].
    #[schemars(range(min = 0))]
    pub sag: f64,
    /// Number of spans between ties.
    #[schemars(range(min = 1, max = 1000))]
    pub spans: u32,
    /// Number of segments of each span and of each tie.
    #[schemars(range(min = 1, max = 100))]
    pub segments: u32,
}

impl Default for Bridge {
    fn default() -> Self {
        Bridge { length: 3.0, width: 0.4, height: 0.5, sag: 0.3, spans: 20, segments: 3 }
    }
}

impl Lines {
    /// The key it is written under.
    pub(crate) fn key(&self) -> &'static str {
        match self {
            Lines::File(_) => "file",
            Lines::Points(_) => "points",
            Lines::Line(_) => "line",
            Lines::Helix(_) => "helix",
            Lines::Circle(_) => "circle",
            Lines::Trefoil(_) => "trefoil",
            Lines::Overhand(_) => "overhand",
            Lines::Reef(_) => "reef",
            Lines::Net(_) => "net",
            Lines::Bridge(_) => "bridge",
        }
    }

    /// About how many vertices it will have; 0 for a file.
    pub(crate) fn vertex_estimate(&self) -> f64 {
        match self {
            Lines::File(_) => 0.0,
            Lines::Points(points) => points.len() as f64,
            Lines::Line(l) => f64::from(l.segments),
            Lines::Helix(h) => f64::from(h.segments),
            Lines::Circle(c) | Lines::Trefoil(c) => f64::from(c.segments),
            Lines::Overhand(o) => f64::from(o.segments),
            Lines::Reef(o) => 2.0 * f64::from(o.segments),
            Lines::Net(n) => 2.0 * f64::from(n.cells[0]) * f64::from(n.cells[1]) * f64::from(n.segments),
            Lines::Bridge(b) => 7.0 * f64::from(b.spans) * f64::from(b.segments),
        }
    }
}
