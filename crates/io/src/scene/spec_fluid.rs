//! What a scene file can say about fluids: what they fill, nozzles that add to them, boxes that swallow them.

use super::document::{Key, Node, Value};
use super::materials::FluidMaterialSpec;
use super::spec::Scale;
use super::spec_mesh::Mesh;
use super::spec_motion::Rotation;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

/// A fluid: particles that fill something at the start, and nozzles that add to them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Fluid {
    /// A name, unique in the scene. Default: fluid and a number.
    pub name: String,
    /// A preset by its name, or a table of values.
    pub material: FluidMaterialSpec,
    /// Distance of the particles [length]; all fluids of a scene have the same. Default: that of the first fluid that
    /// names one; else so that 10,000 particles fill it, or that a nozzle is 8 wide.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub spacing: Option<f64>,
    /// What it fills at the start, or a list of that. Default: a box of 0.2 [length] on the ground, or nothing where
    /// there is an emitter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fill: Option<Fills>,
    /// How far each particle of what it fills is put off its lattice, at random, along each axis as a share of the spacing
    /// [–]; the outermost stay in their layers. A lattice that is sheared or drawn out strongly resists; 0.2 takes that from it. Default: 0.
    #[schemars(range(min = 0, max = 0.4))]
    #[serde(skip_serializing_if = "is_nothing")]
    pub jitter: f64,
    /// Nozzles.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub emitter: Vec<Emitter>,
    /// Initial velocity of what it fills [m/s].
    pub velocity: [f64; 3],
    /// Initial angular velocity of what it fills about its centre of mass [rad/s].
    pub spin: [f64; 3],
    /// Gradient of the initial velocity of what it fills [1/s], a row a component: `[[-100, 0, 0], [0, 100, 0], [0, 0, 0]]`
    /// draws it together along x and apart along y. Measured from its centre of mass; default: none.
    #[serde(skip_serializing_if = "is_zero")]
    pub velocity_gradient: [[f64; 3]; 3],
    /// True if it sticks to surfaces through its viscosity, false if it slips along them.
    pub no_slip: bool,
}

fn is_nothing(number: &f64) -> bool {
    *number == 0.0
}

fn is_zero(rows: &[[f64; 3]; 3]) -> bool {
    rows.iter().flatten().all(|g| *g == 0.0)
}

/// What a fluid fills: one thing, or several.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Fills {
    /// One.
    One(Box<Fill>),
    /// Several.
    Several(Vec<Fill>),
}

impl Fills {
    /// All of them, each with the end of its path in the scene.
    pub fn all(&self) -> Vec<(String, &Fill)> {
        match self {
            Fills::One(fill) => vec![("fill".to_owned(), fill)],
            Fills::Several(fills) => {
                fills.iter().enumerate().map(|(k, f)| (format!("fill.{k}"), f)).collect()
            }
        }
    }

    /// All of them, to be changed.
    pub(crate) fn all_mut(&mut self) -> &mut [Fill] {
        match self {
            Fills::One(fill) => std::slice::from_mut(fill),
            Fills::Several(fills) => fills,
        }
    }
}

impl<'de> Deserialize<'de> for Fills {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Fills;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a table with box or inside, or a list of such tables")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<Fills, A::Error> {
                let one = Fill::deserialize(serde::de::value::MapAccessDeserializer::new(map));
                one.map(|fill| Fills::One(Box::new(fill)))
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, seq: A) -> Result<Fills, A::Error> {
                let several = Vec::deserialize(serde::de::value::SeqAccessDeserializer::new(seq));
                several.map(Fills::Several)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// What a fluid fills: either a box or the inside of a surface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Fill {
    /// A box, by its lowest and highest corner in the scene [length].
    #[serde(rename = "box", skip_serializing_if = "Option::is_none")]
    pub corners: Option<[[f64; 3]; 2]>,
    /// The inside of a closed surface: a mesh, or just the path of a mesh file.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "inside_schema")]
    pub inside: Option<Mesh>,
    /// Where the origin of `inside` is put [length].
    pub position: [f64; 3],
    /// How `inside` is turned about its origin, before it is put in place.
    #[serde(skip_serializing_if = "Rotation::is_none")]
    pub rotation: Rotation,
    /// How `inside` is scaled, before it is turned.
    pub scale: Scale,
}

impl Default for Fill {
    fn default() -> Self {
        Fill {
            corners: None,
            inside: None,
            position: [0.0; 3],
            rotation: Rotation::default(),
            scale: Scale::Uniform(1.0),
        }
    }
}

fn inside_schema(generator: &mut SchemaGenerator) -> Schema {
    let mesh = generator.subschema_for::<Mesh>();
    json_schema!({ "anyOf": [mesh, { "type": "string" }] })
}

/// A nozzle: a disc that particles leave at a steady speed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Emitter {
    /// Centre of the disc [length].
    pub center: [f64; 3],
    /// Direction of the jet, of any length. Default: downwards.
    pub direction: Option<[f64; 3]>,
    /// Radius of the disc [length].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius: f64,
    /// Speed of the jet [m/s]. Default: 1.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub speed: Option<f64>,
    /// Instead of `speed`: volume a second [m³/s].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub rate: Option<f64>,
    /// When it begins [s].
    #[schemars(range(min = 0))]
    pub start: f64,
    /// When it ends [s]. Default: the end of the scene.
    #[schemars(range(min = 0))]
    pub stop: Option<f64>,
}

impl Default for Emitter {
    fn default() -> Self {
        Emitter {
            center: [0.0; 3],
            direction: None,
            radius: 0.05,
            speed: None,
            rate: None,
            start: 0.0,
            stop: None,
        }
    }
}

/// A box that swallows the particles that enter it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sink {
    /// Its lowest and highest corner in the scene [length].
    #[serde(rename = "box")]
    pub corners: [[f64; 3]; 2],
}

impl Default for Sink {
    /// A slab far below everything.
    fn default() -> Self {
        Sink { corners: [[-1e3, -1e3, -1e3], [1e3, 1e3, -10.0]] }
    }
}

/// Writes `inside = "cup.obj"` out as `inside = { file = "cup.obj" }`: a word with a dot is a file, any other names a
/// shape.
pub(crate) fn spell_out(root: &mut Node) {
    for fluid in elements(root.get_mut("fluid")) {
        for fill in elements(fluid.get_mut("fill")) {
            let Some(inside) = fill.get_mut("inside") else { continue };
            if let Value::String(path) = &inside.value
                && path.contains(['.', '/'])
            {
                let file = Node { span: inside.span, value: inside.value.clone() };
                let key = Key { span: inside.span, name: "file".to_owned() };
                inside.value = Value::Table(vec![(key, file)]);
            }
        }
    }
}

/// The elements of a list; of anything else, itself.
fn elements(node: Option<&mut Node>) -> &mut [Node] {
    match node {
        None => &mut [],
        Some(Node { value: Value::Array(items), .. }) => items,
        Some(node) => std::slice::from_mut(node),
    }
}
