//! Rigid bodies of a scene file.

use super::materials::soft_preset;
use super::spec::{Copies, Scale};
use super::spec_mesh::Mesh;
use super::spec_motion::Rotation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A rigid body: a surface that moves as one, with the mass of what it encloses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rigid {
    /// A name, unique in the scene. Default: rigid and a number.
    pub name: String,
    /// The surface; closed, unless the body is `hollow`.
    pub mesh: Mesh,
    /// Where the origin of the mesh is put [length].
    pub position: [f64; 3],
    /// How the mesh is turned about its origin, before it is put in place.
    #[serde(skip_serializing_if = "Rotation::is_none")]
    pub rotation: Rotation,
    /// How the mesh is scaled, before it is turned.
    pub scale: Scale,
    /// Initial velocity [m/s].
    pub velocity: [f64; 3],
    /// Initial angular velocity about the centre of mass [rad/s].
    pub spin: [f64; 3],
    /// A preset of a soft body by its name, such as cork, wood or steel, for its density alone.
    pub material: Option<String>,
    /// Density [kg/m³] of the body, or of the wall of a hollow one. Default: that of the material, else 600.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub density: Option<f64>,
    /// Thickness of the wall [length] of a hollow body; it is taken as thin, and all of its mass as on the surface, which
    /// may then be open. Default: the body is solid.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub hollow: Option<f64>,
    /// Friction coefficient of this object [–]; a pair has the geometric mean. Default: that of `contact`.
    #[schemars(range(min = 0, max = 1000))]
    pub friction: Option<f64>,
    /// Distance [length] from this object's surface at which it begins to push: a pair meets at the sum of both. Default:
    /// half the contact radius.
    #[schemars(range(min = 0))]
    pub offset: Option<f64>,
    /// More of the same.
    pub copies: Option<Copies>,
}

/// Density [kg/m³] of a body that names neither it nor a material.
const UNNAMED: f64 = 600.0;

impl Rigid {
    /// Density [kg/m³].
    pub(super) fn stuff(&self) -> f64 {
        let preset = self.material.as_deref().and_then(soft_preset);
        self.density.unwrap_or(preset.map_or(UNNAMED, |m| m.density))
    }
}

impl Default for Rigid {
    fn default() -> Self {
        Rigid {
            name: String::new(),
            mesh: Mesh::Box(Default::default()),
            position: [0.0; 3],
            rotation: Rotation::default(),
            scale: Scale::Uniform(1.0),
            velocity: [0.0; 3],
            spin: [0.0; 3],
            material: None,
            density: None,
            hollow: None,
            friction: None,
            offset: None,
            copies: None,
        }
    }
}
