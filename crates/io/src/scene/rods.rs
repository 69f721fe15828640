//! Rods of a scene file: their checks, their lines, and their way to the scene builder.

use super::build::{Build, SceneWarning};
use super::check::{Check, Checked};
use super::error::SceneFileError;
use super::materials::{RopeMaterial, rope_preset, rope_presets};
use super::meshes::{Made, Maker, Note};
use super::spec::Scene;
use super::spec_rod::{Lines, Rest, Rod};
use littoral_geom::math::Vec3;
use littoral_geom::mesh::LineMesh;
use littoral_geom::shapes;
use littoral_sim::scene::{RodMaterial, RodRest, SceneBuilder};

impl Check<'_> {
    /// Checks the rods of a scene; returns about how many vertices they have.
    pub(super) fn rods(&self, scene: &Scene) -> Result<f64, SceneFileError> {
        let mut vertices = 0.0;
        for (i, o) in scene.rod.iter().enumerate() {
            let path = format!("rod.{i}");
            if let Some(name) = &o.material {
                self.preset(&path, name, rope_preset(name).is_some(), rope_presets())?;
            }
            self.lines(&format!("{path}.mesh"), &o.mesh)?;
            self.rotation(&format!("{path}.rotation"), &o.rotation)?;
            self.pins(&path, &o.pin)?;
            vertices += o.mesh.vertex_estimate() * o.copies.as_ref().map_or(1.0, |c| f64::from(c.count));
        }
        Ok(vertices)
    }

    fn lines(&self, path: &str, lines: &Lines) -> Checked {
        let path = format!("{path}.{}", lines.key());
        match lines {
            Lines::File(file) if file.is_empty() => {
                self.fail(&path, "expected the path of a mesh file", None)
            }
            Lines::Points(points) if points.len() < 2 => {
                self.fail(&path, &format!("expected at least two points, found {}", points.len()), None)
            }
            Lines::Line(l) if l.from == l.to => {
                self.fail(&path, "expected two different points as from and to", None)
            }
            _ => Ok(()),
        }
    }
}

impl Maker<'_> {
    /// The lines of a rod, scaled by factors along our axes.
    fn lines(self, lines: &Lines, factors: [f64; 3]) -> Made<LineMesh> {
        let m = |length: f64| self.frame.length(length);
        let mut notes: Vec<Note> = Vec::new();
        let mut mesh = match lines {
            Lines::File(file) => {
                let (read, found) = self.polyline_file(file)?;
                notes = found;
                LineMesh::from_segments(read.vertices, &read.segments)
            }
            Lines::Points(points) => {
                let mut points: Vec<Vec3> = points.iter().map(|&p| self.frame.point(p)).collect();
                let is_ring = points.len() > 3 && points.first() == points.last();
                points.truncate(points.len() - usize::from(is_ring));
                LineMesh::through(points, is_ring)
            }
            Lines::Line(l) => {
                shapes::segment_line(self.frame.point(l.from), self.frame.point(l.to), l.segments)
            }
            Lines::Helix(h) => shapes::helix(m(h.radius), m(h.height), h.turns, h.segments),
            Lines::Circle(c) => shapes::circle(m(c.radius), c.segments),
            Lines::Trefoil(c) => shapes::trefoil(m(c.radius), c.segments),
            Lines::Overhand(o) => shapes::overhand(m(o.length), o.segments),
            Lines::Reef(o) => shapes::reef(m(o.length), o.segments),
            Lines::Net(n) => shapes::net(n.size.map(m), n.cells, n.segments),
            Lines::Bridge(b) => {
                shapes::bridge([b.length, b.width, b.height, b.sag].map(m), b.spans, b.segments)
            }
        };
        let factors = Vec3::from_array(factors);
        mesh.vertices.iter_mut().for_each(|v| *v *= factors);
        if mesh.lines.is_empty() {
            return Err("this file has no lines: expected `l` elements, edges or line cells".into());
        }
        match mesh.vertices.iter().position(|v| !v.is_finite()) {
            Some(v) => {
                Err(format!("vertex {v} of these lines is not finite; are the sizes and scales plausible?"))
            }
            None => Ok((mesh, notes)),
        }
    }
}

impl Build<'_> {
    pub(super) fn add_rods<'n>(
        &self,
        builder: &mut SceneBuilder,
        named: &mut impl Iterator<Item = &'n (String, Vec<String>)>,
        warnings: &mut Vec<SceneWarning>,
    ) -> Result<(), SceneFileError> {
        for (o, (path, names)) in self.scene.rod.iter().zip(named) {
            let places = self.places(o.position, &o.rotation, o.scale, &o.copies);
            let made = self.maker().lines(&o.mesh, places.factors);
            let at = format!("{path}.mesh.{}", o.mesh.key());
            let (mesh, notes) = made.map_err(|m| self.document.error_at(&at, &m, None))?;
            self.note(path, names, &mesh.vertices, notes, warnings);
            let chosen = self.chosen(path, &o.pin, &places, &mesh.vertices)?;
            for (name, &pose) in names.iter().zip(&places.poses) {
                let mut placement = self.placement(name, o.velocity, o.spin, o.friction, None);
                placement.pins = self.pins(path, &o.pin, &chosen, pose, &places)?;
                let mut copy = mesh.clone();
                copy.vertices = pose.apply(&mesh.vertices);
                builder.add_rod(placement, copy, self.rod_material(o));
            }
        }
        Ok(())
    }

    fn rod_material(&self, o: &Rod) -> RodMaterial {
        let RopeMaterial { density, young, poisson, flexural } = o.stuff();
        RodMaterial {
            radius: self.frame.length(o.radius),
            density,
            young,
            flexural,
            shear: Some(o.shear.unwrap_or(young / (2.0 * (1.0 + poisson)))),
            damping: o.damping,
            rest: match o.rest {
                Rest::Straight => RodRest::Straight,
                Rest::AsGiven => RodRest::AsGiven,
            },
        }
    }
}
