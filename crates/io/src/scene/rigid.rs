//! Rigid bodies of a scene file, handed to the scene builder.

use super::build::{Build, SceneWarning};
use super::error::SceneFileError;
use littoral_sim::scene::{RigidMaterial, SceneBuilder};

impl Build<'_> {
    pub(super) fn add_rigids<'n>(
        &self,
        builder: &mut SceneBuilder,
        named: &mut impl Iterator<Item = &'n (String, Vec<String>)>,
        warnings: &mut Vec<SceneWarning>,
    ) -> Result<(), SceneFileError> {
        for (o, (path, names)) in self.scene.rigid.iter().zip(named) {
            let places = self.places(o.position, &o.rotation, o.scale, &o.copies);
            let made = self.maker().surface(&o.mesh, places.factors);
            let (mesh, notes) = made.map_err(|m| self.mesh_error(path, &o.mesh, &m))?;
            self.note(path, names, &mesh.vertices, notes, warnings);
            let shell = o.hollow.map(|t| self.frame.length(t));
            for (name, &pose) in names.iter().zip(&places.poses) {
                let placement = self.placement(name, o.velocity, o.spin, o.friction, o.offset);
                let mut copy = mesh.clone();
                copy.vertices = pose.apply(&mesh.vertices);
                builder.add_rigid(placement, copy, RigidMaterial { density: o.stuff(), shell });
            }
        }
        Ok(())
    }
}
