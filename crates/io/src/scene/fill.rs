//! A scene with its defaults written out: what a run's folder keeps, so that it still runs when defaults change.

use super::check::object_name;
use super::spec::{Contact, Scene, Units, Up};
use super::spec_mesh::Mesh;
use super::spec_motion::Motion;
use super::spec_rod::Lines;
use littoral_sim::settings::ContactSettings;
use std::path::Path;

/// The same scene with every value that was left out. A length whose default has no exact counterpart in the
/// scene's unit stays out, so that reading the result back gives the same bits.
pub(crate) fn filled(scene: &Scene, base: &Path) -> Scene {
    let mut out = scene.clone();
    // `units` stays out when it was: a size without it may deserve a warning.
    let units = scene.units.unwrap_or(Units::M);
    out.gravity = scene.gravity.or(Some(match scene.up {
        Up::Z => [0.0, 0.0, -9.81],
        Up::Y => [0.0, -9.81, 0.0],
    }));
    let d = ContactSettings::default();
    out.contact = Contact {
        radius: scene.contact.radius.or_else(|| units.exactly(d.radius)),
        friction: scene.contact.friction.or(Some(d.friction)),
        stiffness: scene.contact.stiffness.or(d.stiffness),
        friction_speed: scene.contact.friction_speed.or(Some(d.friction_speed)),
    };
    for (i, o) in out.cloth.iter_mut().enumerate() {
        o.name = object_name("cloth", i, &o.name);
        o.material = o.material.filled(|l| units.metres(l), |m| units.exactly(m));
        absolute(&mut o.mesh, base);
        o.pin.iter_mut().for_each(|p| absolute_sequence(&mut p.motion, base));
    }
    for (i, o) in out.soft.iter_mut().enumerate() {
        o.name = object_name("soft", i, &o.name);
        o.material = o.material.filled();
        absolute(&mut o.mesh, base);
        o.pin.iter_mut().for_each(|p| absolute_sequence(&mut p.motion, base));
    }
    for (i, o) in out.rod.iter_mut().enumerate() {
        o.name = object_name("rod", i, &o.name);
        let stuff = o.stuff();
        (o.density, o.young, o.poisson) = (Some(stuff.density), Some(stuff.young), Some(stuff.poisson));
        o.flexural = Some(stuff.flexural);
        if let Lines::File(file) = &mut o.mesh {
            *file = absolute_path(file, base);
        }
        o.pin.iter_mut().for_each(|p| absolute_sequence(&mut p.motion, base));
    }
    for (i, o) in out.rigid.iter_mut().enumerate() {
        o.name = object_name("rigid", i, &o.name);
        o.density = Some(o.stuff());
        absolute(&mut o.mesh, base);
    }
    for (i, o) in out.collider.iter_mut().enumerate() {
        o.name = object_name("collider", i, &o.name);
        absolute(&mut o.mesh, base);
        absolute_sequence(&mut o.motion, base);
    }
    for (i, o) in out.fluid.iter_mut().enumerate() {
        o.name = object_name("fluid", i, &o.name);
        o.material = o.material.filled();
        let fills = o.fill.iter_mut().flat_map(|fills| fills.all_mut());
        fills.filter_map(|fill| fill.inside.as_mut()).for_each(|mesh| absolute(mesh, base));
    }
    out
}

fn absolute(mesh: &mut Mesh, base: &Path) {
    if let Mesh::File(file) = mesh {
        *file = absolute_path(file, base);
    }
}

fn absolute_sequence(motion: &mut Motion, base: &Path) {
    if let Some(sequence) = &mut motion.sequence {
        sequence.files.iter_mut().for_each(|f| *f = absolute_path(f, base));
    }
}

/// The path from the root, or as written where the current folder is unknown.
fn absolute_path(file: &str, base: &Path) -> String {
    let joined = base.join(file);
    std::path::absolute(&joined).unwrap_or(joined).display().to_string()
}
