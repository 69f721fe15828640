//! What a scene file can say about meshes: shapes made on the spot, and files.
//!
//! Shapes are centred at the origin of the object; "vertical" is the up axis of the scene.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A mesh: one shape with its sizes, or a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mesh {
    /// A file: .obj, .ply, .stl, .msh or .vtk; the path is relative to the scene file.
    File(String),
    /// A horizontal rectangle of quads with alternating diagonals, or of equilateral triangles.
    Grid(Grid),
    /// A horizontal rectangle of two triangles, as ground or wall.
    Plane(Plane),
    /// A box.
    Box(Cuboid),
    /// A sphere: an icosahedron, subdivided.
    Sphere(Sphere),
    /// An ellipsoid: an icosahedron, subdivided and stretched.
    Ellipsoid(Ellipsoid),
    /// A vertical cylinder, closed.
    Cylinder(Cylinder),
    /// The wall of a vertical cylinder.
    Tube(Cylinder),
    /// A vertical cone, pyramid or frustum: a spike, a pin; open, a funnel.
    Cone(Cone),
    /// A vertical cylinder between two half spheres.
    Capsule(Capsule),
    /// A standing figure of capsules and ellipsoids that overlap.
    Figure(Figure),
    /// A horizontal ring.
    Torus(Torus),
    /// A stone of an upright arch (along the file's x and z for z up), above the centre of the arch.
    Wedge(Wedge),
    /// A vertical gear with trapezoidal teeth.
    Gear(Gear),
    /// A rolled-up strip, its axis horizontal (along the file's y for z up, along −z for y up).
    Spiral(Spiral),
    /// A closed belt over two parallel drums, one behind the other along x.
    Belt(Belt),
    /// A half sphere, open at the top.
    Bowl(Bowl),
    /// A wall and a floor, without thickness, open at the top.
    Cup(Cup),
    /// A box without thickness, open at the top.
    Tank(Cuboid),
}

/// A horizontal rectangle of quads with alternating diagonals, or of equilateral triangles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Grid {
    /// Extents [length].
    #[schemars(inner(range(min = 0.000000001)))]
    pub size: [f64; 2],
    /// Number of quads along each extent; of an `equilateral` grid, triangles in a row, and rows.
    #[schemars(inner(range(min = 1, max = 4096)))]
    pub cells: [u32; 2],
    /// How it is divided into triangles.
    pub pattern: Pattern,
}

impl Default for Grid {
    fn default() -> Self {
        Grid { size: [1.0; 2], cells: [40; 2], pattern: Pattern::Alternating }
    }
}

/// How a grid is divided into triangles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// Quads, their diagonals alternating like a chessboard. Bends up to 17 % too softly: bending and twist couple.
    Alternating,
    /// Rows of triangles, offset by half a cell from row to row, half triangles at their ends. They are equilateral
    /// when a row is 0.866 (√3/2) of a cell high; then bending is the same in every direction.
    Equilateral,
}

/// A horizontal rectangle of two triangles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Plane {
    /// Extents [length].
    #[schemars(inner(range(min = 0.000000001)))]
    pub size: [f64; 2],
}

impl Default for Plane {
    fn default() -> Self {
        Plane { size: [4.0; 2] }
    }
}

/// A box.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cuboid {
    /// Extents along x, y and z [length].
    #[schemars(inner(range(min = 0.000000001)))]
    pub size: [f64; 3],
    /// Number of cells along x, y and z. Default: one each; of a soft body, cubes of edge `fill`.
    #[schemars(inner(inner(range(min = 1, max = 1024))))]
    pub cells: Option<[u32; 3]>,
}

impl Default for Cuboid {
    fn default() -> Self {
        Cuboid { size: [0.2; 3], cells: None }
    }
}

/// A sphere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sphere {
    /// Radius [length].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius: f64,
    /// How often the 20 triangles of the icosahedron are quartered.
    #[schemars(range(min = 0, max = 7))]
    pub subdivisions: u32,
}

impl Default for Sphere {
    fn default() -> Self {
        Sphere { radius: 0.1, subdivisions: 3 }
    }
}

/// An ellipsoid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Ellipsoid {
    /// Half axes along x, y and z [length].
    #[schemars(inner(range(min = 0.000000001)))]
    pub radii: [f64; 3],
    /// How often the 20 triangles of the icosahedron are quartered.
    #[schemars(range(min = 0, max = 7))]
    pub subdivisions: u32,
}

impl Default for Ellipsoid {
    fn default() -> Self {
        Ellipsoid { radii: [0.15, 0.1, 0.1], subdivisions: 3 }
    }
}

/// A vertical cylinder, closed or only its wall.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cylinder {
    /// Radius [length].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius: f64,
    /// Height [length].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub height: f64,
    /// Number of quads around.
    #[schemars(range(min = 3, max = 4096))]
    pub segments: u32,
    /// Number of quads along.
    #[schemars(range(min = 1, max = 4096))]
    pub rings: u32,
}

impl Default for Cylinder {
    fn default() -> Self {
        Cylinder { radius: 0.1, height: 0.3, segments: 32, rings: 8 }
    }
}

/// A vertical cone, pyramid or frustum; of four segments its corners lie along the axes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cone {
    /// Radius of the lower end, at its corners [length].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius: f64,
    /// Radius of the upper end [length]; 0 is a point.
    #[schemars(range(min = 0))]
    pub top: f64,
    /// Height [length].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub height: f64,
    /// Number of sides.
    #[schemars(range(min = 3, max = 4096))]
    pub segments: u32,
    /// Only its wall, without the two ends.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub open: bool,
}

impl Default for Cone {
    fn default() -> Self {
        Cone { radius: 0.1, top: 0.0, height: 0.2, segments: 24, open: false }
    }
}

/// A vertical cylinder between two half spheres.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Capsule {
    /// Radius [length].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius: f64,
    /// Height of the straight part [length].
    #[schemars(range(min = 0))]
    pub height: f64,
    /// Number of quads around.
    #[schemars(range(min = 3, max = 4096))]
    pub segments: u32,
}

impl Default for Capsule {
    fn default() -> Self {
        Capsule { radius: 0.08, height: 0.2, segments: 32 }
    }
}

/// A standing figure: head, trunk, arms that hang away from it, and legs, all overlapping. It looks along y (z up) or −z (y
/// up). As a soft body it is the union of its parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Figure {
    /// Height [length].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub height: f64,
    /// Number of quads around a limb.
    #[schemars(range(min = 6, max = 256))]
    pub segments: u32,
}

impl Default for Figure {
    fn default() -> Self {
        Figure { height: 0.5, segments: 16 }
    }
}

/// A stone of an upright arch: with k stones turned on by `angle_deg` each about its origin, an arch of k times that angle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Wedge {
    /// Radius of the inside of the arch [length], below `outer`.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub inner: f64,
    /// Radius of the outside of the arch [length].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub outer: f64,
    /// Angle of the arch that a stone takes, with its gap [°].
    #[schemars(range(min = 0.01, max = 120))]
    pub angle_deg: f64,
    /// Gap between the faces of two neighbours [length].
    #[schemars(range(min = 0))]
    pub gap: f64,
    /// Depth of the arch [length].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub depth: f64,
}

impl Default for Wedge {
    fn default() -> Self {
        Wedge { inner: 1.0, outer: 1.2, angle_deg: 7.2, gap: 0.002, depth: 0.3 }
    }
}

/// A horizontal ring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Torus {
    /// Radius of the centre line [length].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub major: f64,
    /// Radius of the tube [length], below `major`.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub minor: f64,
    /// Number of quads around the ring and around the tube.
    #[schemars(inner(range(min = 3, max = 4096)))]
    pub segments: [u32; 2],
}

impl Default for Torus {
    fn default() -> Self {
        Torus { major: 0.1, minor: 0.04, segments: [48, 20] }
    }
}

/// A vertical gear with trapezoidal teeth; tooth 0 is centred on +x.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Gear {
    /// Radius at the tips [length].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub outer: f64,
    /// Radius between the teeth [length], below `outer`.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub root: f64,
    /// Number of teeth.
    #[schemars(range(min = 3, max = 1024))]
    pub teeth: u32,
    /// Height [length].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub height: f64,
    /// Number of quads along the height.
    #[schemars(range(min = 1, max = 4096))]
    pub layers: u32,
}

impl Default for Gear {
    fn default() -> Self {
        Gear { outer: 0.1, root: 0.08, teeth: 12, height: 0.2, layers: 4 }
    }
}

/// A rolled-up strip: an Archimedean spiral from the inner end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spiral {
    /// Length of the strip [length].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub length: f64,
    /// Width of the strip [length].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub width: f64,
    /// Radius of the inner end [length].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub inner: f64,
    /// Distance between two layers [length].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub pitch: f64,
    /// Number of quads along and across the strip.
    #[schemars(inner(range(min = 1, max = 4096)))]
    pub cells: [u32; 2],
}

impl Default for Spiral {
    fn default() -> Self {
        Spiral { length: 2.0, width: 0.3, inner: 0.05, pitch: 0.006, cells: [200, 12] }
    }
}

/// A closed belt over two parallel drums at x = ∓ distance/2, axes along y (z up) or z (y up).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Belt {
    /// Radii over the two drums [length]; its quads dip below a circle by step²/8 radius.
    #[schemars(inner(range(min = 0.000000001)))]
    pub radii: [f64; 2],
    /// Distance between the axes [length], not below the difference of the radii.
    #[schemars(range(min = 0))]
    pub distance: f64,
    /// Width [length].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub width: f64,
    /// Number of quads around and across.
    #[schemars(inner(range(min = 1, max = 4096)))]
    pub cells: [u32; 2],
}

impl Default for Belt {
    fn default() -> Self {
        Belt { radii: [0.1; 2], distance: 0.5, width: 0.2, cells: [120, 10] }
    }
}

/// A half sphere, open at the top.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bowl {
    /// Outer radius [length].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius: f64,
    /// Thickness of the wall [length], below `radius`; 0 is a surface without thickness.
    #[schemars(range(min = 0))]
    pub thickness: f64,
    /// Number of quads around.
    #[schemars(range(min = 3, max = 4096))]
    pub segments: u32,
}

impl Default for Bowl {
    fn default() -> Self {
        Bowl { radius: 0.2, thickness: 0.01, segments: 48 }
    }
}

/// A wall and a floor, without thickness, open at the top.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cup {
    /// Radius [length].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius: f64,
    /// Height [length].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub height: f64,
    /// Number of quads around.
    #[schemars(range(min = 3, max = 4096))]
    pub segments: u32,
}

impl Default for Cup {
    fn default() -> Self {
        Cup { radius: 0.1, height: 0.2, segments: 40 }
    }
}

impl Mesh {
    /// The key that names it.
    pub fn key(&self) -> &'static str {
        match self {
            Mesh::File(_) => "file",
            Mesh::Grid(_) => "grid",
            Mesh::Plane(_) => "plane",
            Mesh::Box(_) => "box",
            Mesh::Sphere(_) => "sphere",
            Mesh::Ellipsoid(_) => "ellipsoid",
            Mesh::Cylinder(_) => "cylinder",
            Mesh::Tube(_) => "tube",
            Mesh::Cone(_) => "cone",
            Mesh::Capsule(_) => "capsule",
            Mesh::Figure(_) => "figure",
            Mesh::Torus(_) => "torus",
            Mesh::Wedge(_) => "wedge",
            Mesh::Gear(_) => "gear",
            Mesh::Spiral(_) => "spiral",
            Mesh::Belt(_) => "belt",
            Mesh::Bowl(_) => "bowl",
            Mesh::Cup(_) => "cup",
            Mesh::Tank(_) => "tank",
        }
    }

    /// About how many vertices its surface has; 0 for a file.
    pub(crate) fn vertex_estimate(&self) -> f64 {
        let product = |c: [u32; 2]| f64::from(c[0]) * f64::from(c[1]);
        match self {
            Mesh::File(_) => 0.0,
            Mesh::Grid(g) => product(g.cells),
            Mesh::Plane(_) => 4.0,
            Mesh::Box(b) | Mesh::Tank(b) => {
                let [x, y, z] = b.cells.unwrap_or([1; 3]).map(f64::from);
                2.0 * (x * y + y * z + z * x)
            }
            Mesh::Sphere(s) => 10.0 * 4f64.powi(s.subdivisions as i32),
            Mesh::Ellipsoid(s) => 10.0 * 4f64.powi(s.subdivisions as i32),
            Mesh::Cylinder(c) | Mesh::Tube(c) => product([c.segments, c.segments / 3 + c.rings]),
            Mesh::Cone(c) => 2.0 * f64::from(c.segments),
            Mesh::Capsule(c) => product([c.segments, 5 * c.segments]),
            Mesh::Figure(f) => product([9 * f.segments, f.segments]),
            Mesh::Torus(t) => product(t.segments),
            Mesh::Wedge(_) => 8.0,
            Mesh::Gear(g) => product([4 * g.teeth, g.teeth + g.layers]),
            Mesh::Spiral(s) => product(s.cells),
            Mesh::Belt(b) => product(b.cells),
            Mesh::Bowl(b) => product([b.segments, b.segments / 2]),
            Mesh::Cup(c) => product([c.segments, 5 * c.segments]),
        }
    }
}
