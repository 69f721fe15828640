//! From a mesh as written to vertices and triangles or tetrahedra, in metres with z up, around its own origin.

use super::frame::Frame;
use super::spec::Up;
use super::spec_mesh::{Mesh, Pattern};
use crate::mesh::{self as intake, IntakeOptions, IntakeReport, Severity};
use littoral_geom::math::{Aabb, Vec3};
use littoral_geom::mesh::{Polyline, TetMesh, TriMesh, connected_components, unique_edges};
use littoral_geom::referee::Referee;
use littoral_geom::shapes;
use littoral_geom::tet_fill::{FillError, tet_fill};
use std::path::Path;

/// Most cells that filling a surface may take: a slip of a digit is refused before it fills the memory.
const FILL_CELLS_MAX: f64 = 4e6;

/// Something noticed while a mesh was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    /// A word for programs.
    pub code: &'static str,
    /// How often.
    pub count: u64,
    /// A sentence for people.
    pub text: String,
}

/// A mesh and what was noticed on the way, or why it cannot be used.
pub(crate) type Made<T> = Result<(T, Vec<Note>), String>;

/// Makes meshes for the scene in a folder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Maker<'a> {
    pub frame: Frame,
    /// Folder that paths are relative to.
    pub base: &'a Path,
}

impl Maker<'_> {
    /// A surface, scaled by factors along our axes.
    pub fn surface(self, mesh: &Mesh, factors: [f64; 3]) -> Made<TriMesh> {
        let (mut surface, notes) = match mesh {
            Mesh::File(file) => self.surface_file(file)?,
            shape => (self.shape(shape), Vec::new()),
        };
        scale(&mut surface.vertices, factors);
        usable(&surface.vertices, surface.triangles.len(), "triangles")?;
        Ok((surface, notes))
    }

    /// A body of tetrahedra of edge length about `fill` [m], scaled by factors along our axes.
    pub fn solid(self, mesh: &Mesh, fill: Option<f64>, factors: [f64; 3]) -> Made<TetMesh> {
        if let Mesh::File(file) = mesh
            && let Some((mut solid, notes)) = self.solid_file(file)?
        {
            scale(&mut solid.vertices, factors);
            usable(&solid.vertices, solid.tets.len(), "tetrahedra")?;
            return Ok((solid, notes));
        }
        let (solid, notes) = match mesh {
            Mesh::Box(b) => {
                let size = self.frame.extents(b.size.map(|s| self.frame.length(s)));
                let size: [f64; 3] = std::array::from_fn(|a| size[a] * factors[a]);
                let spacing = fill.unwrap_or_else(|| default_fill(Vec3::from_array(size)));
                affordable(Vec3::from_array(size), spacing)?;
                let cells = match b.cells {
                    Some(cells) => self.cells(cells),
                    None => size.map(|s| (s / spacing).round().max(1.0) as u32),
                };
                (shapes::tet_cuboid(size, cells), Vec::new())
            }
            surface => {
                // The parts of a figure are meant to be one body.
                let whole = matches!(surface, Mesh::Figure(_));
                let (surface, notes) = self.surface(surface, factors)?;
                let mut solid = TetMesh::default();
                let parts = if whole { vec![surface] } else { parts_that_cross(&surface) };
                for part in parts {
                    let filled = filled(&part, fill)?;
                    let first = solid.vertices.len() as u32;
                    solid.vertices.extend(filled.vertices);
                    solid.tets.extend(filled.tets.iter().map(|t| t.map(|v| v + first)));
                }
                (solid, notes)
            }
        };
        usable(&solid.vertices, solid.tets.len(), "tetrahedra")?;
        Ok((solid, notes))
    }

    /// A shape made on the spot.
    fn shape(self, mesh: &Mesh) -> TriMesh {
        let m = |length: f64| self.frame.length(length);
        match mesh {
            Mesh::File(_) => TriMesh::default(),
            Mesh::Grid(g) => match g.pattern {
                Pattern::Alternating => shapes::grid(g.size.map(m), g.cells),
                Pattern::Equilateral => shapes::triangle_grid(g.size.map(m), g.cells),
            },
            Mesh::Plane(p) => shapes::plane(p.size.map(m)),
            Mesh::Box(b) => {
                shapes::cuboid(self.frame.extents(b.size.map(m)), self.cells(b.cells.unwrap_or([1; 3])))
            }
            Mesh::Sphere(s) => shapes::sphere(m(s.radius), s.subdivisions),
            Mesh::Ellipsoid(e) => shapes::ellipsoid(self.frame.extents(e.radii.map(m)), e.subdivisions),
            Mesh::Cylinder(c) => shapes::cylinder(m(c.radius), m(c.height), c.segments, c.rings),
            Mesh::Tube(t) => shapes::tube(m(t.radius), m(t.height), t.segments, t.rings),
            Mesh::Cone(c) => shapes::cone(m(c.radius), m(c.top), m(c.height), c.segments, c.open),
            Mesh::Capsule(c) => shapes::capsule(m(c.radius), m(c.height), c.segments),
            Mesh::Figure(f) => shapes::figure(m(f.height), f.segments),
            Mesh::Torus(t) => shapes::torus(m(t.major), m(t.minor), t.segments[0], t.segments[1]),
            Mesh::Wedge(w) => {
                shapes::wedge(m(w.inner), m(w.outer), w.angle_deg.to_radians(), m(w.gap), m(w.depth))
            }
            Mesh::Gear(g) => shapes::gear(m(g.outer), m(g.root), g.teeth, m(g.height), g.layers),
            Mesh::Spiral(s) => shapes::strip_spiral(m(s.length), m(s.width), m(s.inner), m(s.pitch), s.cells),
            Mesh::Belt(b) => shapes::belt(m(b.radii[0]), m(b.radii[1]), m(b.distance), m(b.width), b.cells),
            Mesh::Bowl(b) => shapes::bowl(m(b.radius), m(b.thickness), b.segments),
            Mesh::Tank(t) => {
                shapes::tank(self.frame.extents(t.size.map(m)), self.cells(t.cells.unwrap_or([1; 3])))
            }
            Mesh::Cup(c) => shapes::cup(m(c.radius), m(c.height), c.segments),
        }
    }

    /// Numbers of cells along the axes of the file, along ours.
    fn cells(self, cells: [u32; 3]) -> [u32; 3] {
        self.frame.extents(cells.map(f64::from)).map(|c| c as u32)
    }

    /// A surface from a file: its triangles, and the boundary of its tetrahedra.
    fn surface_file(self, file: &str) -> Made<TriMesh> {
        let (mesh, report) = self.read(file)?;
        Ok((mesh.surface(), notes(&report)))
    }

    /// Tetrahedra from a file; `None` when it holds only a surface.
    fn solid_file(self, file: &str) -> Result<Option<(TetMesh, Vec<Note>)>, String> {
        let (mesh, report) = self.read(file)?;
        Ok((!mesh.tets.is_empty()).then(|| (mesh.tet_mesh(), notes(&report))))
    }

    /// The line segments of a file.
    pub(super) fn polyline_file(self, file: &str) -> Made<Polyline> {
        let (mesh, report) = self.read(file)?;
        Ok((mesh.polyline(), notes(&report)))
    }

    fn read(self, file: &str) -> Result<(intake::Mesh, IntakeReport), String> {
        let options = IntakeOptions {
            scale: self.frame.length(1.0),
            up: match self.frame.up {
                Up::Z => intake::Up::Z,
                Up::Y => intake::Up::Y,
            },
            // Sizes are questioned once, after scaling.
            units_given: true,
            ..IntakeOptions::default()
        };
        intake::read_mesh(&self.base.join(file), &options).map_err(|e| e.to_string())
    }
}

/// What of a report is worth a warning: what was repaired and what may be wrong.
fn notes(report: &IntakeReport) -> Vec<Note> {
    (report.findings.iter())
        .filter(|f| f.kind.severity() != Severity::Note)
        .map(|f| Note {
            code: f.kind.code(),
            count: f.count,
            text: format!("{}: {f}", report.file.display()),
        })
        .collect()
}

/// Edge length that fills a body when none is given: a tenth of its largest extent.
fn default_fill(extent: Vec3) -> f64 {
    0.1 * extent.max_element()
}

/// A spacing that was not asked for is refined down to this share of the default, no further: a body that needs more is
/// one whose spacing its owner should choose.
const FILL_FINEST: f64 = 0.1;

fn scale(vertices: &mut [Vec3], factors: [f64; 3]) {
    let factors = Vec3::from_array(factors);
    vertices.iter_mut().for_each(|v| *v *= factors);
}

fn affordable(extent: Vec3, spacing: f64) -> Result<(), String> {
    let cells = (extent / spacing).max(Vec3::ONE).element_product();
    if cells > FILL_CELLS_MAX {
        return Err(format!(
            "a body of this size takes {cells:.1e} cells of edge {spacing} m; use a larger fill"
        ));
    }
    Ok(())
}

/// A mesh has elements and finite vertices.
fn usable(vertices: &[Vec3], elements: usize, what: &str) -> Result<(), String> {
    if elements == 0 {
        return Err(format!("this mesh has no {what}"));
    }
    match vertices.iter().position(|v| !v.is_finite()) {
        Some(v) => Err(format!("vertex {v} of this mesh is not finite; are the sizes and scales plausible?")),
        None => Ok(()),
    }
}

/// A closed surface filled with tetrahedra, as finely as asked or as it needs.
fn filled(surface: &TriMesh, fill: Option<f64>) -> Result<TetMesh, String> {
    let extent = Aabb::of(surface.vertices.iter().copied()).extent();
    let mut spacing = fill.unwrap_or_else(|| default_fill(extent));
    let finest = spacing * FILL_FINEST;
    loop {
        affordable(extent, spacing)?;
        match tet_fill(surface, spacing) {
            Ok(solid) => return Ok(solid),
            // A spacing nobody asked for gives way to what the body needs.
            Err(FillError::TooCoarse { suggestion, .. })
                if fill.is_none() && suggestion < spacing && suggestion >= finest =>
            {
                spacing = suggestion;
            }
            Err(e) => return Err(e.to_string()),
        }
    }
}

/// The components of a surface when some of them cross, so that filling does not weld them; else the whole, since a
/// component within another is a cavity.
fn parts_that_cross(surface: &TriMesh) -> Vec<TriMesh> {
    let n = surface.vertices.len();
    let component = connected_components(n, &surface.triangles, &[]);
    let edges = unique_edges(&surface.triangles);
    let (crossings, _) =
        Referee::new(&edges, &surface.triangles, &[], &vec![true; n]).crossings(&surface.vertices);
    let of = |v: u32| component[v as usize];
    let cross =
        crossings.iter().any(|&[e, t]| of(edges[e as usize][0]) != of(surface.triangles[t as usize][0]));
    if !cross {
        return vec![surface.clone()];
    }
    let count = component.iter().max().map_or(0, |c| c + 1);
    (0..count)
        .map(|c| {
            let triangles = surface.triangles.iter().filter(|t| of(t[0]) == c);
            let (mut part, mut index) = (TriMesh::default(), vec![u32::MAX; n]);
            for t in triangles {
                part.triangles.push(t.map(|v| {
                    let k = &mut index[v as usize];
                    if *k == u32::MAX {
                        *k = part.vertices.len() as u32;
                        part.vertices.push(surface.vertices[v as usize]);
                    }
                    *k
                }));
            }
            part
        })
        .filter(|part| !part.triangles.is_empty())
        .collect()
}
