//! What a scene file can say: the top level, the solver, the contact, and what is expected of the end.
//!
//! A doc comment of a key becomes its description in the JSON Schema, a `range` its bounds there, and the
//! loader enforces those very bounds. Lengths, marked [length], are in `units`; all else is SI.

use super::materials::{ClothMaterialSpec, SoftMaterialSpec};
use super::spec_fluid::{Fluid, Sink};
use super::spec_join::{Attach, Pair, Pressure};
use super::spec_joint::Joint;
use super::spec_mesh::Mesh;
use super::spec_motion::{Motion, Pin, Rotation};
use super::spec_rigid::Rigid;
use super::spec_rod::Rod;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// A scene: what there is, how it moves, and how it is simulated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Scene {
    /// Version of this format: 1.
    #[schemars(range(min = 1, max = 1))]
    pub version: u32,
    /// A line that says what is to be seen.
    pub title: String,
    /// Unit of every length in this file and in its meshes (values marked [length]); all else is SI. Default: m.
    pub units: Option<Units>,
    /// The axis that points up, in this file and in its meshes. Frames are always written with z up.
    pub up: Up,
    /// Frames a second [1/s].
    #[schemars(range(min = 0.001, max = 100000))]
    pub fps: f64,
    /// Simulated time [s].
    #[schemars(range(min = 0, max = 1000000))]
    pub duration: f64,
    /// Gravity [m/s²]. Default: 9.81 downwards.
    pub gravity: Option<[f64; 3]>,
    /// Seed of whatever is random.
    pub seed: u32,
    /// How the motion is computed.
    pub solver: Solver,
    /// What happens between surfaces that are close.
    pub contact: Contact,
    /// Triangles that stretch and bend.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cloth: Vec<Cloth>,
    /// Bodies of tetrahedra.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub soft: Vec<Soft>,
    /// Ropes, wires, cords and nets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rod: Vec<Rod>,
    /// Surfaces that move as one, with a mass.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rigid: Vec<Rigid>,
    /// Surfaces that stand still or move as prescribed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub collider: Vec<Collider>,
    /// Particles of a liquid.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fluid: Vec<Fluid>,
    /// Boxes that swallow particles.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sink: Vec<Sink>,
    /// What ties objects together: seams, springs, vertices that follow a collider.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attach: Vec<Attach>,
    /// Joints of rigid bodies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub joint: Vec<Joint>,
    /// Friction between two objects, and contact switched off.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pair: Vec<Pair>,
    /// What must be true of the motion; the run says whether it was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<Expect>,
}

impl Default for Scene {
    fn default() -> Self {
        Scene {
            version: 1,
            title: String::new(),
            units: None,
            up: Up::Z,
            fps: 24.0,
            duration: 2.0,
            gravity: None,
            seed: 0,
            solver: Solver::default(),
            contact: Contact::default(),
            cloth: Vec::new(),
            soft: Vec::new(),
            rod: Vec::new(),
            rigid: Vec::new(),
            collider: Vec::new(),
            fluid: Vec::new(),
            sink: Vec::new(),
            attach: Vec::new(),
            joint: Vec::new(),
            pair: Vec::new(),
            expect: Vec::new(),
        }
    }
}

/// A unit of length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Units {
    /// Metres.
    M,
    /// Centimetres.
    Cm,
    /// Millimetres.
    Mm,
    /// Inches of 25.4 mm.
    In,
}

impl Units {
    /// A length in these units in metres. Divided where the inverse is whole, so that 2 mm and 0.002 m are the
    /// same bits.
    pub fn metres(self, length: f64) -> f64 {
        match self {
            Units::M => length,
            Units::Cm => length / 100.0,
            Units::Mm => length / 1000.0,
            Units::In => length * 0.0254,
        }
    }

    /// The length in these units that `metres` turns into exactly `length` [m]; `None` when rounding forbids it.
    pub(crate) fn exactly(self, length: f64) -> Option<f64> {
        let guess = length / self.metres(1.0);
        [guess, guess.next_up(), guess.next_down()].into_iter().find(|&g| self.metres(g) == length)
    }
}

/// The axis that points up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Up {
    /// z: as engineers and Blender have it.
    Z,
    /// y: as most film and game programs have it.
    Y,
}

/// How the motion is computed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Solver {
    /// Time step [s], or "auto": at most 1/240 s. Either is shortened so that steps divide a frame evenly, and with
    /// fluid to what `courant` allows.
    pub step: Step,
    /// The method that computes the motion.
    pub method: Method,
    /// The split of fluid and solid; without effect in a scene without fluid.
    pub splitting: Splitting,
    /// How method "newton" solves its linear systems; without effect with method "vbd".
    pub linear: Linear,
    /// Method "newton" ends with the first iteration in which no point goes faster than this [m/s]; without effect with
    /// method "vbd".
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub tolerance: f64,
    /// Spacings that a particle may move in a step by its velocity [–]; without effect in a scene without fluid.
    #[schemars(range(max = 100), extend("exclusiveMinimum" = 0))]
    pub courant: f64,
    /// Compression that a fluid may show under its own weight and speed [–]: what its stiffness follows from, unless
    /// its material names one.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 0.5))]
    pub volume_error: f64,
    /// How the solids near a fluid answer its pressure within the fluid phase.
    pub response: Response,
    /// Viscosity that is added to every fluid, in spacings times √(spacing · gravity) [–]: it calms what moves between
    /// particles. At 0 they never quite come to rest.
    #[schemars(range(min = 0, max = 10))]
    pub artificial_viscosity: f64,
    /// How a displacement is cut so that nothing touches. "none" is for comparison and voids the guarantee.
    pub truncation: Truncation,
    /// How the gap of a pair is shared between its two sides.
    pub gap_split: GapSplit,
    /// Descent sweeps a step, or Newton iterations at most.
    #[schemars(range(min = 1, max = 100000))]
    pub iterations: u32,
    /// Wall time [ms] that the steps of a frame may take, of the method "vbd": sweeps end early where it is used up, after one
    /// a step at least. The motion stays valid and becomes softer. Where sweeps end depends on the machine, so that a run with a
    /// budget is not reproducible to the bit. Writing, judging and the fluid's linear solve are not cut. Default: no bounds.
    #[schemars(extend("exclusiveMinimum" = 0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_ms: Option<f64>,
    /// Sweeps between two detections of close pairs.
    #[schemars(range(min = 1, max = 100000))]
    pub detect_every: u32,
    /// Fraction of a gap that may be used up between two detections [–].
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub relaxation: f64,
    /// Spectral radius estimate of the Chebyshev acceleration [–]; 0 turns it off.
    #[schemars(range(min = 0), extend("exclusiveMaximum" = 1))]
    pub chebyshev: f64,
    /// Before each sweep, correct what varies slowly along each mesh. Lets stiff bodies follow in few sweeps; a step
    /// costs some more of them.
    pub coarse: bool,
}

impl Default for Solver {
    fn default() -> Self {
        let d = littoral_sim::settings::SolverSettings::default();
        let fluid = littoral_sim::settings::FluidSettings::default();
        Solver {
            step: Step::Auto(Auto::Auto),
            method: Method::Vbd,
            splitting: Splitting::Proxy,
            linear: Linear::Auto,
            tolerance: d.tolerance,
            courant: fluid.courant,
            volume_error: fluid.volume_error,
            response: Response::Elastic,
            artificial_viscosity: fluid.artificial_viscosity,
            truncation: Truncation::Planar,
            gap_split: GapSplit::WaterFilling,
            iterations: d.iterations,
            budget_ms: None,
            detect_every: d.detect_every,
            relaxation: d.relaxation,
            chebyshev: d.chebyshev,
            coarse: d.coarse,
        }
    }
}

/// A time step [s] or "auto".
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Step {
    /// At most 1/240 s.
    Auto(Auto),
    /// At most this [s].
    Seconds(#[schemars(range(min = 0.000000001, max = 10))] f64),
}

/// The word "auto".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Auto {
    /// Chosen by the program.
    Auto,
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Step;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a number of seconds or \"auto\"")
            }
            fn visit_f64<E>(self, seconds: f64) -> Result<Step, E> {
                Ok(Step::Seconds(seconds))
            }
            fn visit_i64<E>(self, seconds: i64) -> Result<Step, E> {
                Ok(Step::Seconds(seconds as f64))
            }
            fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<Step, E> {
                match word {
                    "auto" => Ok(Step::Auto(Auto::Auto)),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(word), &self)),
                }
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// The method that computes the motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Vertex block descent.
    Vbd,
    /// Projected Newton with barriers that end at the contact radius: fewer, dearer iterations, each to convergence.
    Newton,
}

/// The split of fluid and solid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Splitting {
    /// Two phases, with a contact proxy.
    Proxy,
    /// Three phases, with a contact proxy: fluid, solids, contacts. With method "newton" only.
    ProxyThreePhase,
    /// Two phases, without a proxy: the fluid knows nothing of the contacts. For comparison.
    Baseline,
    /// Everything at once, for comparison. With method "newton" only.
    Joint,
}

/// How the linear systems of method "newton" are solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Linear {
    /// "schur" up to 40,000 points of solids, "pcg" above.
    Auto,
    /// Sparse Cholesky factorisation of the whole system.
    Cholesky,
    /// The same of the solids alone, after every particle was eliminated.
    Schur,
    /// Conjugate gradients with diagonal blocks as preconditioner.
    Pcg,
}

/// How the solids near a fluid answer its pressure within the fluid phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Response {
    /// With inertia and the second-order model of their elastic energy.
    Elastic,
    /// With the inertia of their surface alone, as published.
    Inertia,
}

/// How a displacement is cut so that nothing touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Truncation {
    /// A division plane per pair.
    Planar,
    /// The same; what a plane would stop first turns aside along it.
    Slide,
    /// Half the smallest gap of each vertex, in every direction.
    Isotropic,
    /// Projection onto the division planes.
    Project,
    /// One step length for all, from continuous collision detection.
    Ccd,
    /// No truncation: for comparison; the guarantee does not hold.
    None,
}

/// How the gap of a pair is shared between its two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GapSplit {
    /// In proportion to each side's approach.
    Proportional,
    /// The slower side gets what it needs up to a half, the faster side the rest.
    WaterFilling,
}

/// What happens between surfaces that are close.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Contact {
    /// Distance [length] below which surfaces push each other. Default: 2 mm.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius: Option<f64>,
    /// Coulomb friction coefficient [–]. Default: 0.3.
    #[schemars(range(min = 0, max = 1000))]
    pub friction: Option<f64>,
    /// Contact stiffness [N/m]. Default: from the masses and the step.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub stiffness: Option<f64>,
    /// Speed [m/s] below which friction is regularised, of the method `newton`. Default: 1 mm/s.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub friction_speed: Option<f64>,
}

/// Factors along the axes of a mesh: one number for all three, or three.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Scale {
    /// The same along every axis [–].
    Uniform(#[schemars(extend("exclusiveMinimum" = 0))] f64),
    /// Along x, y and z [–].
    Axes(#[schemars(inner(range(min = 0.000000001)))] [f64; 3]),
}

impl Scale {
    /// The three factors.
    pub fn factors(self) -> [f64; 3] {
        match self {
            Scale::Uniform(s) => [s; 3],
            Scale::Axes(s) => s,
        }
    }
}

impl<'de> Deserialize<'de> for Scale {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Scale;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a number or an array of three numbers")
            }
            fn visit_f64<E>(self, s: f64) -> Result<Scale, E> {
                Ok(Scale::Uniform(s))
            }
            fn visit_i64<E>(self, s: i64) -> Result<Scale, E> {
                Ok(Scale::Uniform(s as f64))
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, seq: A) -> Result<Scale, A::Error> {
                let d = serde::de::value::SeqAccessDeserializer::new(seq);
                <[f64; 3]>::deserialize(d).map(Scale::Axes)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// The same object several times, each moved on from the one before; their names end in -0, -1, …
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Copies {
    /// How many there are in all.
    #[schemars(range(min = 1, max = 10000))]
    pub count: u32,
    /// From one to the next [length].
    pub offset: [f64; 3],
    /// Turn about the vertical axis through `position` from one to the next [°].
    pub turn_deg: f64,
}

impl Default for Copies {
    fn default() -> Self {
        Copies { count: 1, offset: [0.0; 3], turn_deg: 0.0 }
    }
}

/// A cloth: triangles that stretch and bend. Its rest shape is the mesh, scaled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cloth {
    /// A name, unique in the scene. Default: cloth and a number.
    pub name: String,
    /// The surface.
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
    /// A preset by its name, or a table of values.
    pub material: ClothMaterialSpec,
    /// What it holds, if its surface is closed. Default: nothing but the air around.
    pub pressure: Option<Pressure>,
    /// Friction coefficient of this object [–]; a pair has the geometric mean. Default: that of `contact`.
    #[schemars(range(min = 0, max = 1000))]
    pub friction: Option<f64>,
    /// Distance [length] from this object's surface at which it begins to push: a pair meets at the sum of both. Default:
    /// half the contact radius.
    #[schemars(range(min = 0))]
    pub offset: Option<f64>,
    /// Vertices that are held or moved.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pin: Vec<Pin>,
    /// More of the same.
    pub copies: Option<Copies>,
}

impl Default for Cloth {
    fn default() -> Self {
        Cloth {
            name: String::new(),
            mesh: Mesh::Grid(Default::default()),
            position: [0.0; 3],
            rotation: Rotation::default(),
            scale: Scale::Uniform(1.0),
            velocity: [0.0; 3],
            spin: [0.0; 3],
            material: ClothMaterialSpec::default(),
            pressure: None,
            friction: None,
            offset: None,
            pin: Vec::new(),
            copies: None,
        }
    }
}

/// A soft body of tetrahedra. Its rest shape is the mesh, scaled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Soft {
    /// A name, unique in the scene. Default: soft and a number.
    pub name: String,
    /// Tetrahedra from a file (.msh, .vtk), a box with cells, or a closed surface that is filled.
    pub mesh: Mesh,
    /// Edge length [length] of the tetrahedra that fill a surface. Default: a tenth of its largest extent.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub fill: Option<f64>,
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
    /// A preset by its name, or a table of values.
    pub material: SoftMaterialSpec,
    /// Friction coefficient of this object [–]; a pair has the geometric mean. Default: that of `contact`.
    #[schemars(range(min = 0, max = 1000))]
    pub friction: Option<f64>,
    /// Distance [length] from this object's surface at which it begins to push: a pair meets at the sum of both. Default:
    /// half the contact radius.
    #[schemars(range(min = 0))]
    pub offset: Option<f64>,
    /// Vertices that are held or moved.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pin: Vec<Pin>,
    /// More of the same.
    pub copies: Option<Copies>,
}

impl Default for Soft {
    fn default() -> Self {
        Soft {
            name: String::new(),
            mesh: Mesh::Box(Default::default()),
            fill: None,
            position: [0.0; 3],
            rotation: Rotation::default(),
            scale: Scale::Uniform(1.0),
            velocity: [0.0; 3],
            spin: [0.0; 3],
            material: SoftMaterialSpec::default(),
            friction: None,
            offset: None,
            pin: Vec::new(),
            copies: None,
        }
    }
}

/// A collider: a surface that stands still or moves as prescribed. Open, crossing or broken surfaces are fine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Collider {
    /// A name, unique in the scene. Default: collider and a number.
    pub name: String,
    /// The surface.
    pub mesh: Mesh,
    /// Where the origin of the mesh is put [length].
    pub position: [f64; 3],
    /// How the mesh is turned about its origin, before it is put in place.
    #[serde(skip_serializing_if = "Rotation::is_none")]
    pub rotation: Rotation,
    /// How the mesh is scaled, before it is turned.
    pub scale: Scale,
    /// How it moves. Default: not at all.
    #[serde(skip_serializing_if = "Motion::is_none")]
    pub motion: Motion,
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

impl Default for Collider {
    fn default() -> Self {
        Collider {
            name: String::new(),
            mesh: Mesh::Plane(Default::default()),
            position: [0.0; 3],
            rotation: Rotation::default(),
            scale: Scale::Uniform(1.0),
            motion: Motion::default(),
            friction: None,
            offset: None,
            copies: None,
        }
    }
}

/// Something that must be true of an object at a time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Expect {
    /// Name of the object; the name of an object with copies stands for each of them.
    pub object: String,
    /// What is measured.
    pub measure: MeasureName,
    /// The measure must not be below this.
    pub at_least: Option<f64>,
    /// The measure must not be above this.
    pub at_most: Option<f64>,
    /// When [s]. Default: at the end.
    #[schemars(range(min = 0))]
    pub time: Option<f64>,
    /// Count the vertices or particles in this box alone, by its lowest and highest corner [length]: for least, largest,
    /// deviation and speeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<[[f64; 3]; 2]>,
}

/// What is measured of an object. Heights and centres are along the axes of this file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MeasureName {
    /// Smallest x of a vertex, or of the centre of a particle [length].
    MinX,
    /// Smallest y [length].
    MinY,
    /// Smallest z [length].
    #[default]
    MinZ,
    /// Largest x [length].
    MaxX,
    /// Largest y [length].
    MaxY,
    /// Largest z [length].
    MaxZ,
    /// x of the centre of the area (cloth, colliders), the volume (soft bodies, fluids) or the mass (rigid bodies) [length].
    CenterX,
    /// y of the centre [length].
    CenterY,
    /// z of the centre [length].
    CenterZ,
    /// Standard deviation of x of the vertices or particles [length]: of a uniform ellipse, half its semi-axis.
    DeviationX,
    /// Standard deviation of y [length].
    DeviationY,
    /// Standard deviation of z [length].
    DeviationZ,
    /// Largest speed of a vertex or particle [m/s].
    MaxSpeed,
    /// Mean speed of the vertices or particles [m/s].
    MeanSpeed,
    /// Volume over rest volume, of a soft body [–].
    VolumeRatio,
    /// Area over rest area, of a surface [–].
    AreaRatio,
    /// Largest length over rest length of an edge [–].
    StretchMax,
    /// Pressure of what a closed cloth holds, over that outside [Pa].
    Pressure,
    /// Largest distance by which the joints of a rigid body miss what they hold [length].
    JointGap,
    /// Largest distance so far between a prescribed vertex and where it should be [length].
    LagMax,
    /// Angle by which a rigid body is turned from its start [°], from 0 to 180.
    AngleDeg,
    /// Kinetic energy [J].
    KineticEnergy,
    /// Largest x that a fluid reaches: that of a particle and half a spacing [length].
    FrontX,
    /// Largest y that a fluid reaches [length].
    FrontY,
    /// Largest z that a fluid reaches [length].
    FrontZ,
    /// Height of the free surface of a fluid [length]: the median over upright lines through it, each followed from its
    /// lowest particle up to where less than half of the room is filled.
    Level,
    /// Volume [length³]: of a fluid, its particles times the cube of the spacing; of a soft body; of what a closed surface
    /// encloses.
    Volume,
    /// Particles of all fluids whose path has crossed a surface so far.
    Leaked,
    /// Mean compression of all fluids in the step [–]: density over rest density less 1, where that is positive.
    CompressionMean,
    /// Largest compression of a particle of any fluid in the step [–].
    CompressionMax,
    /// x of the force of the fluids on an object in the step [N]: pressure, drag and contact.
    FluidForceX,
    /// y of the force of the fluids on an object in the step [N].
    FluidForceY,
    /// z of the force of the fluids on an object in the step [N].
    FluidForceZ,
    /// Size of the force of contacts on an object at the end of the step [N]: of other solids and colliders, normal forces and
    /// friction. With the method "vbd".
    ContactForce,
    /// x of that force [N].
    ContactForceX,
    /// y of that force [N].
    ContactForceY,
    /// z of that force [N].
    ContactForceZ,
    /// Relative error of the volume of all fluids in the step [–], by the densities of the particles.
    VolumeError,
    /// Length of a rod along its segments [length].
    Length,
    /// How far the lowest point of a rod hangs below the lower of its ends [length].
    Sag,
    /// Largest tension in a segment of a rod [N].
    Tension,
    /// Times that rods have passed through something so far.
    RodsPassed,
}
