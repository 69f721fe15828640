//! The scene builder: objects with materials, pins and motions go in, a `Simulation` comes out.

mod attach;
mod build;
mod content;
mod coupled;
mod joints;
mod liquids;
mod rods;

pub use rods::{RodMaterial, RodRest};
mod rigids;

use crate::chamber::Filling;
use crate::motion::Motion;
use crate::pairing::PairRule;
use crate::settings::{ContactSettings, FluidSettings, SolverSettings};
use crate::simulation::Simulation;
use littoral_geom::math::{Aabb, Mat3, Vec3};
use littoral_geom::mesh::{LineMesh, TetMesh, TriMesh};

pub use attach::{AttachTo, Attachment, Hold};
pub use joints::JointSpec;

/// Membrane energy of a cloth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MembraneModel {
    /// Compressible neo-Hookean in the plane (default).
    NeoHookean,
    /// St. Venant–Kirchhoff.
    StVenantKirchhoff,
}

/// Volumetric energy of a soft body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SolidModel {
    /// Stable neo-Hookean [Smith 2018] (default).
    StableNeoHookean,
    /// Fixed corotated [Stomakhin 2012].
    FixedCorotated,
}

/// Material of a cloth.
#[derive(Clone, Debug, PartialEq)]
pub struct ClothMaterial {
    /// Mass per area [kg/m²], > 0.
    pub density: f64,
    /// Young's modulus E [Pa], > 0.
    pub young: f64,
    /// Poisson's ratio ν [–], in (−1, 0.5).
    pub poisson: f64,
    /// Thickness t [m], > 0.
    pub thickness: f64,
    /// Bending stiffness D [N m]; `None` follows from E, ν and t: D = E t³ / 12(1−ν²).
    pub bending: Option<f64>,
    /// Rate damping: stress per strain rate over stress per strain [s], ≥ 0.
    pub damping: f64,
    /// Air drag coefficient [kg/(m² s)], ≥ 0: force per area against the normal velocity.
    pub drag: f64,
    /// Membrane energy.
    pub model: MembraneModel,
    /// Stretch ε beyond which it stiffens [–], > 0; `None` never.
    pub strain_limit: Option<f64>,
    /// Curvature beyond which folds stay [1/m], > 0; `None` never.
    pub yield_curvature: Option<f64>,
}

/// Material of a soft body.
#[derive(Clone, Debug, PartialEq)]
pub struct SoftMaterial {
    /// Mass per volume [kg/m³], > 0.
    pub density: f64,
    /// Young's modulus E [Pa], > 0.
    pub young: f64,
    /// Poisson's ratio ν [–], in (−1, 0.5).
    pub poisson: f64,
    /// Rate damping: stress per strain rate over stress per strain [s], ≥ 0.
    pub damping: f64,
    /// Volumetric energy.
    pub model: SolidModel,
    /// Von Mises stress σ_y beyond which it flows [Pa], > 0; `None` never.
    pub yield_stress: Option<f64>,
}

/// Material of a rigid body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidMaterial {
    /// Mass per volume [kg/m³], > 0.
    pub density: f64,
    /// Thickness of a hollow body's wall [m], > 0, taken as thin and along the surface; `None` for a solid one, whose
    /// surface must be closed.
    pub shell: Option<f64>,
}

impl Default for RigidMaterial {
    /// Solid wood.
    fn default() -> Self {
        RigidMaterial { density: 600.0, shell: None }
    }
}

impl Default for ClothMaterial {
    /// A light cotton.
    fn default() -> Self {
        ClothMaterial {
            density: 0.2,
            young: 0.8e6,
            poisson: 0.24,
            thickness: 3e-4,
            bending: None,
            damping: 1e-3,
            drag: 0.0,
            model: MembraneModel::NeoHookean,
            strain_limit: None,
            yield_curvature: None,
        }
    }
}

impl Default for SoftMaterial {
    /// A soft rubber.
    fn default() -> Self {
        SoftMaterial {
            density: 1000.0,
            young: 1e5,
            poisson: 0.4,
            damping: 1e-3,
            model: SolidModel::StableNeoHookean,
            yield_stress: None,
        }
    }
}

/// Vertices of an object whose motion is prescribed.
#[derive(Clone, Debug, PartialEq)]
pub struct Pin {
    /// Vertex indices within the object's mesh.
    pub vertices: Vec<u32>,
    /// Their motion.
    pub motion: Motion,
    /// Time [s] from which they are free again; `None` never.
    pub release: Option<f64>,
}

/// What an object starts with and how it is held.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Placement {
    /// Name, unique in the scene.
    pub name: String,
    /// Initial velocity [m/s].
    pub velocity: Vec3,
    /// Initial angular velocity about the centre of mass [rad/s].
    pub spin: Vec3,
    /// Pinned vertices.
    pub pins: Vec<Pin>,
    /// Friction coefficient of this object; `None` takes the scene's. A pair uses the geometric mean.
    pub friction: Option<f64>,
    /// What a closed cloth holds; `None` nothing but the air around.
    pub filling: Option<Filling>,
    /// Distance from this object's surface at which it begins to push [m], ≥ 0: a pair meets at the sum of both. `None`
    /// takes half the scene's contact radius, and of a rod its radius.
    pub offset: Option<f64>,
}

/// Material of a fluid.
#[derive(Clone, Debug, PartialEq)]
pub struct LiquidMaterial {
    /// Rest density ρ₀ [kg/m³], > 0.
    pub density: f64,
    /// Kinematic viscosity ν [m²/s], ≥ 0.
    pub viscosity: f64,
    /// Stiffness k_I against compression [Pa], > 0; `None` follows from the settings' `volume_error`.
    pub stiffness: Option<f64>,
    /// True if the fluid sticks to surfaces through its viscosity; false if it slips.
    pub no_slip: bool,
}

impl Default for LiquidMaterial {
    /// Water that slips.
    fn default() -> Self {
        LiquidMaterial { density: 1000.0, viscosity: 1e-6, stiffness: None, no_slip: false }
    }
}

/// A nozzle: layers of particles leave a disc at a constant speed.
#[derive(Clone, Debug, PartialEq)]
pub struct Emitter {
    /// Centre of the disc [m].
    pub center: Vec3,
    /// Direction of the jet; its length does not matter.
    pub direction: Vec3,
    /// Radius of the disc [m], > 0.
    pub radius: f64,
    /// Speed of the jet [m/s], > 0.
    pub speed: f64,
    /// Begin [s], ≥ 0.
    pub start: f64,
    /// End [s], finite, > `start`.
    pub stop: f64,
}

/// A fluid of a scene: particles that are there from the start, and nozzles. All fluids of a scene have one spacing.
#[derive(Clone, Debug, PartialEq)]
pub struct Liquid {
    /// Name, initial velocity and spin; pins and friction have no meaning here.
    pub placement: Placement,
    /// Spacing dx of the particles at rest [m], > 0.
    pub spacing: f64,
    /// Positions at the start (p) [m].
    pub particles: Vec<Vec3>,
    /// Gradient G of their initial velocity [1/s]: v = velocity + spin × r + G r, r from their centre of mass.
    pub gradient: Mat3,
    /// Nozzles.
    pub emitters: Vec<Emitter>,
    /// Material.
    pub material: LiquidMaterial,
}

/// A scene under construction. Meshes are added in world coordinates [m]: transforms are applied before.
#[derive(Clone, Debug)]
pub struct SceneBuilder {
    /// Solver parameters.
    pub solver: SolverSettings,
    /// Contact parameters.
    pub contact: ContactSettings,
    /// Gravity [m/s²].
    pub gravity: Vec3,
    /// Parameters of the fluid phase.
    pub fluid: FluidSettings,
    /// Boxes that swallow particles [m].
    pub sinks: Vec<Aabb>,
    /// Attachments between objects.
    pub attachments: Vec<Attachment>,
    /// Joints of rigid bodies.
    pub joints: Vec<JointSpec>,
    /// What holds between single pairs of objects.
    pub pairs: Vec<PairRule>,
    pub(crate) liquids: Vec<Liquid>,
    pub(crate) cloths: Vec<(Placement, TriMesh, ClothMaterial)>,
    pub(crate) softs: Vec<(Placement, TetMesh, SoftMaterial)>,
    pub(crate) rods: Vec<(Placement, LineMesh, RodMaterial)>,
    pub(crate) rigids: Vec<(Placement, TriMesh, RigidMaterial)>,
    pub(crate) colliders: Vec<(Placement, TriMesh, Motion)>,
}

impl SceneBuilder {
    /// An empty scene with gravity −9.81 m/s² along z.
    pub fn new(solver: SolverSettings, contact: ContactSettings) -> Self {
        SceneBuilder {
            solver,
            contact,
            gravity: Vec3::new(0.0, 0.0, -9.81),
            fluid: FluidSettings::default(),
            sinks: Vec::new(),
            attachments: Vec::new(),
            joints: Vec::new(),
            pairs: Vec::new(),
            liquids: Vec::new(),
            cloths: Vec::new(),
            softs: Vec::new(),
            rods: Vec::new(),
            rigids: Vec::new(),
            colliders: Vec::new(),
        }
    }

    /// Adds a cloth; its rest shape is the given mesh.
    pub fn add_cloth(&mut self, placement: Placement, mesh: TriMesh, material: ClothMaterial) {
        self.cloths.push((placement, mesh, material));
    }

    /// Adds a soft body; its rest shape is the given mesh, all tets positively oriented.
    pub fn add_soft(&mut self, placement: Placement, mesh: TetMesh, material: SoftMaterial) {
        self.softs.push((placement, mesh, material));
    }

    /// Adds a rod; a line of it that ends where it began is a ring of at least three segments. Lines that share a vertex are
    /// tied there as by a ball joint. A pin that holds both ends of a segment also holds its frame, and turns it with its motion.
    pub fn add_rod(&mut self, placement: Placement, mesh: LineMesh, material: RodMaterial) {
        self.rods.push((placement, mesh, material));
    }

    /// Adds a rigid body; its surface has outward normals.
    pub fn add_rigid(&mut self, placement: Placement, mesh: TriMesh, material: RigidMaterial) {
        self.rigids.push((placement, mesh, material));
    }

    /// Adds a collider, static or moving; its mesh may be open, non-manifold or self-crossing.
    pub fn add_collider(&mut self, placement: Placement, mesh: TriMesh, motion: Motion) {
        self.colliders.push((placement, mesh, motion));
    }

    /// Adds a fluid. Particles that overlap a solid or one another are left out and counted.
    pub fn add_liquid(&mut self, liquid: Liquid) {
        self.liquids.push(liquid);
    }

    /// Vertices of the object with this name, where they start [m]; `None` for fluids and unknown names.
    pub fn vertices_of(&self, name: &str) -> Option<&[Vec3]> {
        let cloths = self.cloths.iter().map(|(p, m, _)| (p, &m.vertices));
        let softs = self.softs.iter().map(|(p, m, _)| (p, &m.vertices));
        let colliders = self.colliders.iter().map(|(p, m, _)| (p, &m.vertices));
        let rods = self.rods.iter().map(|(p, m, _)| (p, &m.vertices));
        let rigids = self.rigids.iter().map(|(p, m, _)| (p, &m.vertices));
        let found =
            cloths.chain(softs).chain(rods).chain(rigids).chain(colliders).find(|(p, _)| p.name == name);
        found.map(|(_, vertices)| vertices.as_slice())
    }

    /// Checks the scene and turns it into a simulation at time 0.
    ///
    /// Points are ordered cloths, soft bodies, rods, rigid bodies, colliders, fluids, each in the order they were added.
    pub fn build(self) -> Result<Simulation, SceneError> {
        build::build(self)
    }
}

/// Why a scene cannot be simulated.
#[derive(Debug, thiserror::Error)]
pub enum SceneError {
    /// A material or setting out of range.
    #[error("object \"{object}\": {what}")]
    Object {
        /// Name of the object.
        object: String,
        /// What is wrong, with the number found and what to try.
        what: String,
    },
    /// An attachment that cannot be made.
    #[error("attachment of {objects}: {what}")]
    Attachment {
        /// The two objects.
        objects: String,
        /// What is wrong, with the number found and what to try.
        what: String,
    },
    /// A joint that cannot be made.
    #[error("joint of {objects}: {what}")]
    Joint {
        /// The two objects.
        objects: String,
        /// What is wrong and what to try.
        what: String,
    },
    /// A rule for a pair of objects that has no meaning.
    #[error("pair {objects}: {what}")]
    Pair {
        /// The two objects.
        objects: String,
        /// What is wrong and what to try.
        what: String,
    },
    /// A setting of the solver or the contact out of range.
    #[error("{key}: {what}")]
    Setting {
        /// Key in the scene, as `contact.radius`.
        key: &'static str,
        /// What is wrong, with the number found and what to try.
        what: String,
    },
}
