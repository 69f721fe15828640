//! What the types and ranges of a scene cannot say: names that must differ, times that must grow, choices of one.

use super::document::Document;
use super::error::SceneFileError;
use super::materials::{cloth_preset, cloth_presets, soft_preset, soft_presets};
use super::nearest::nearest;
use super::spec::{Copies, Method, Scene, Splitting};
use super::spec_mesh::Mesh;
use super::spec_motion::{Motion, Pin, Rotation};

/// Largest number of vertices of one mesh, and of a scene with all its copies: a slip of a digit is refused
/// before it fills the memory.
const VERTICES_MAX: f64 = 2e7;

pub(super) type Checked = Result<(), SceneFileError>;

/// Checks a decoded scene.
pub(crate) fn scene(scene: &Scene, document: &Document) -> Checked {
    let check = Check { document };
    if scene.solver.method == Method::Newton && scene.solver.budget_ms.is_some() {
        let message = "budget_ms is of the method \"vbd\"";
        let hint = "method \"newton\" runs to its tolerance: bound it by iterations";
        return check.fail("solver.budget_ms", message, Some(hint));
    }
    if scene.solver.method != Method::Newton
        && !matches!(scene.solver.splitting, Splitting::Proxy | Splitting::Baseline)
    {
        let message = "this splitting needs method \"newton\"";
        return check.fail("solver.splitting", message, Some("with method \"vbd\": \"proxy\", \"baseline\""));
    }
    let mut vertices = 0.0;
    for (i, o) in scene.cloth.iter().enumerate() {
        let path = format!("cloth.{i}");
        check.preset(
            &path,
            o.material.preset(),
            cloth_preset(o.material.preset()).is_some(),
            cloth_presets(),
        )?;
        check.mesh(&format!("{path}.mesh"), &o.mesh)?;
        check.rotation(&format!("{path}.rotation"), &o.rotation)?;
        check.pins(&path, &o.pin)?;
        check.pressure(&path, &o.pressure)?;
        vertices += o.mesh.vertex_estimate() * count(&o.copies);
    }
    for (i, o) in scene.soft.iter().enumerate() {
        let path = format!("soft.{i}");
        check.preset(
            &path,
            o.material.preset(),
            soft_preset(o.material.preset()).is_some(),
            soft_presets(),
        )?;
        check.mesh(&format!("{path}.mesh"), &o.mesh)?;
        check.rotation(&format!("{path}.rotation"), &o.rotation)?;
        check.pins(&path, &o.pin)?;
        vertices += o.mesh.vertex_estimate() * count(&o.copies);
    }
    for (i, o) in scene.rigid.iter().enumerate() {
        let path = format!("rigid.{i}");
        if let Some(name) = &o.material {
            check.preset(&path, name, soft_preset(name).is_some(), soft_presets())?;
        }
        check.mesh(&format!("{path}.mesh"), &o.mesh)?;
        check.rotation(&format!("{path}.rotation"), &o.rotation)?;
        vertices += o.mesh.vertex_estimate() * count(&o.copies);
    }
    for (i, o) in scene.collider.iter().enumerate() {
        let path = format!("collider.{i}");
        check.mesh(&format!("{path}.mesh"), &o.mesh)?;
        check.rotation(&format!("{path}.rotation"), &o.rotation)?;
        check.motion(&format!("{path}.motion"), &o.motion)?;
        vertices += o.mesh.vertex_estimate() * count(&o.copies);
    }
    vertices += check.rods(scene)?;
    if vertices > VERTICES_MAX {
        let message =
            format!("the scene has about {vertices:.1e} vertices; at most {VERTICES_MAX:.0e} are read");
        return check.fail("", &message, Some("use fewer cells, subdivisions or copies"));
    }
    check.fluids(scene)?;
    check.names(scene)?;
    check.joins(scene)?;
    check.joints(scene)?;
    check.expectations(scene)
}

fn count(copies: &Option<Copies>) -> f64 {
    copies.as_ref().map_or(1.0, |c| f64::from(c.count))
}

/// Name of an object: as written, or its kind and number.
pub(crate) fn object_name(kind: &str, index: usize, written: &str) -> String {
    if written.is_empty() { format!("{kind}{index}") } else { written.to_owned() }
}

/// Names of the copies of an object, or its own.
pub(crate) fn copy_names(name: &str, copies: &Option<Copies>) -> Vec<String> {
    match copies {
        None => vec![name.to_owned()],
        Some(copies) => (0..copies.count).map(|k| format!("{name}-{k}")).collect(),
    }
}

/// The objects of a scene in the order they are added: path, name, copies.
pub(crate) fn objects(scene: &Scene) -> Vec<(String, String, &Option<Copies>)> {
    let cloth = scene.cloth.iter().enumerate().map(|(i, o)| ("cloth", i, &o.name, &o.copies));
    let soft = scene.soft.iter().enumerate().map(|(i, o)| ("soft", i, &o.name, &o.copies));
    let rod = scene.rod.iter().enumerate().map(|(i, o)| ("rod", i, &o.name, &o.copies));
    let rigid = scene.rigid.iter().enumerate().map(|(i, o)| ("rigid", i, &o.name, &o.copies));
    let collider = scene.collider.iter().enumerate().map(|(i, o)| ("collider", i, &o.name, &o.copies));
    let fluid = scene.fluid.iter().enumerate().map(|(i, o)| ("fluid", i, &o.name, &None));
    cloth
        .chain(soft)
        .chain(rod)
        .chain(rigid)
        .chain(collider)
        .chain(fluid)
        .map(|(kind, i, name, copies)| (format!("{kind}.{i}"), object_name(kind, i, name), copies))
        .collect()
}

pub(super) struct Check<'a> {
    pub(super) document: &'a Document,
}

impl Check<'_> {
    pub(super) fn fail(&self, path: &str, message: &str, help: Option<&str>) -> Checked {
        Err(self.document.error_at(path, message, help))
    }

    /// The name of a preset as the material of the object at `path`.
    pub(super) fn preset<'n>(
        &self,
        path: &str,
        name: &str,
        is_known: bool,
        known: impl Iterator<Item = &'n str>,
    ) -> Checked {
        if is_known {
            return Ok(());
        }
        let known: Vec<&str> = known.collect();
        let hint = nearest(name, known.iter().copied());
        let hint = hint.map_or(String::new(), |n| format!("did you mean \"{n}\"? "));
        let message = format!("unknown material \"{}\"", super::decode::shortened(name));
        let help = format!("{hint}known: {}", known.join(", "));
        // The preset's own line where the material is a table, else that of the material.
        let inner = format!("{path}.material.preset");
        self.fail(&inner, &message, Some(&help))
    }

    pub(super) fn mesh(&self, path: &str, mesh: &Mesh) -> Checked {
        let path = format!("{path}.{}", mesh.key());
        if mesh.vertex_estimate() > VERTICES_MAX {
            let message = format!("this mesh has more than {VERTICES_MAX:.0e} vertices");
            return self.fail(&path, &message, Some("use fewer cells or subdivisions"));
        }
        match mesh {
            Mesh::File(file) if file.is_empty() => self.fail(&path, "expected the path of a mesh file", None),
            Mesh::Torus(t) if t.minor >= t.major => self.below(&path, ("minor", t.minor), ("major", t.major)),
            Mesh::Wedge(w) if w.inner >= w.outer => self.below(&path, ("inner", w.inner), ("outer", w.outer)),
            Mesh::Gear(g) if g.root >= g.outer => self.below(&path, ("root", g.root), ("outer", g.outer)),
            Mesh::Bowl(b) if b.thickness >= b.radius => {
                self.below(&path, ("thickness", b.thickness), ("radius", b.radius))
            }
            Mesh::Belt(b) if b.distance < (b.radii[0] - b.radii[1]).abs() => {
                let message = format!(
                    "distance must be at least the difference of the radii, {}, found {}",
                    (b.radii[0] - b.radii[1]).abs(),
                    b.distance
                );
                self.fail(&format!("{path}.distance"), &message, None)
            }
            _ => Ok(()),
        }
    }

    fn below(&self, path: &str, small: (&str, f64), large: (&str, f64)) -> Checked {
        let message = format!("{} must be below {}, {}, found {}", small.0, large.0, large.1, small.1);
        self.fail(&format!("{path}.{}", small.0), &message, None)
    }

    pub(super) fn rotation(&self, path: &str, rotation: &Rotation) -> Checked {
        let has_axis = rotation.axis.is_some() || rotation.angle_deg.is_some();
        let ways = [has_axis, rotation.euler_deg.is_some(), rotation.quaternion.is_some()];
        if ways.into_iter().filter(|&w| w).count() > 1 {
            let message =
                "expected one of axis with angle_deg, euler_deg, and quaternion, found more than one";
            return self.fail(path, message, None);
        }
        match (rotation.axis, rotation.angle_deg) {
            (None, Some(_)) => return self.fail(path, "angle_deg needs an axis beside it", None),
            (Some(_), None) => return self.fail(path, "axis needs an angle_deg beside it", None),
            (Some(axis), Some(_)) => self.direction(&format!("{path}.axis"), &axis)?,
            (None, None) => {}
        }
        match rotation.quaternion {
            Some(q) => self.direction(&format!("{path}.quaternion"), &q),
            None => Ok(()),
        }
    }

    /// A direction has a length that can be divided by.
    pub(super) fn direction(&self, path: &str, v: &[f64]) -> Checked {
        // The square of anything shorter underflows.
        const SHORTEST: f64 = 1e-100;
        const LONGEST: f64 = 1e100;
        let largest = v.iter().fold(0.0, |m: f64, c| m.max(c.abs()));
        if !(SHORTEST..LONGEST).contains(&largest) {
            return self.fail(path, "expected a direction, found one of no usable length", None);
        }
        Ok(())
    }

    fn motion(&self, path: &str, motion: &Motion) -> Checked {
        let ways = [motion.keyframes.is_some(), motion.twist.is_some(), motion.sequence.is_some()];
        if ways.into_iter().filter(|&w| w).count() > 1 {
            let message = "expected one of keyframes, twist and sequence, found more than one";
            return self.fail(path, message, None);
        }
        if let Some(keys) = &motion.keyframes {
            if keys.is_empty() {
                return self.fail(
                    &format!("{path}.keyframes"),
                    "expected at least one keyframe, found none",
                    None,
                );
            }
            for (k, key) in keys.iter().enumerate() {
                self.rotation(&format!("{path}.keyframes.{k}.rotation"), &key.rotation)?;
                if k > 0 && key.time <= keys[k - 1].time {
                    let message = format!(
                        "times of keyframes must increase: found {} after {}",
                        key.time,
                        keys[k - 1].time
                    );
                    return self.fail(&format!("{path}.keyframes.{k}.time"), &message, None);
                }
            }
        }
        if let Some(twist) = &motion.twist {
            let path = format!("{path}.twist");
            self.direction(&format!("{path}.axis"), &twist.axis)?;
            if twist.rate.is_some() && twist.turns.is_some() {
                return self.fail(&path, "expected one of rate and turns, found both", None);
            }
            if twist.turns.is_some() && twist.stop.is_none() {
                return self.fail(&path, "turns need a stop: the time when the last one is done", None);
            }
            if let Some(stop) = twist.stop.filter(|&stop| stop <= twist.start) {
                let message = format!("stop must be above start, {}, found {stop}", twist.start);
                return self.fail(&format!("{path}.stop"), &message, None);
            }
        }
        match &motion.sequence {
            Some(s) if s.files.is_empty() => {
                self.fail(&format!("{path}.sequence"), "expected at least one file, found none", None)
            }
            _ => Ok(()),
        }
    }

    pub(super) fn pins(&self, path: &str, pins: &[Pin]) -> Checked {
        for (k, pin) in pins.iter().enumerate() {
            let path = format!("{path}.pin.{k}");
            let ways = [pin.inside.is_some(), pin.vertices.is_some(), pin.all];
            if ways.into_iter().filter(|&w| w).count() != 1 {
                let message = "expected exactly one of box, vertices and all = true";
                return self.fail(&path, message, None);
            }
            if let Some([min, max]) = pin.inside
                && (0..3).any(|a| min[a] > max[a])
            {
                let message = "expected the lowest corner, then the highest; found one above the other";
                return self.fail(&format!("{path}.box"), message, None);
            }
            self.motion(&format!("{path}.motion"), &pin.motion)?;
        }
        Ok(())
    }

    fn names(&self, scene: &Scene) -> Checked {
        let mut seen = std::collections::BTreeMap::new();
        for (path, name, copies) in objects(scene) {
            for name in copy_names(&name, copies) {
                if let Some(first) = seen.insert(name.clone(), path.clone()) {
                    let line = self.document.error_at(&format!("{first}.name"), "", None);
                    let line = line.place().map_or(0, |p| p.line);
                    let name = super::decode::shortened(&name);
                    let message = format!("the name \"{name}\" is already taken by {first} (line {line})");
                    return self.fail(
                        &format!("{path}.name"),
                        &message,
                        Some("names of objects must differ"),
                    );
                }
            }
        }
        Ok(())
    }

    fn expectations(&self, scene: &Scene) -> Checked {
        let names: Vec<String> = objects(scene)
            .into_iter()
            .flat_map(|(_, name, copies)| {
                let mut names = copy_names(&name, copies);
                names.push(name);
                names
            })
            .collect();
        for (i, expect) in scene.expect.iter().enumerate() {
            let path = format!("expect.{i}");
            if !names.contains(&expect.object) {
                let hint = nearest(&expect.object, names.iter().map(String::as_str));
                let hint = hint.map(|n| format!("did you mean \"{n}\"?"));
                let message = format!("there is no object \"{}\"", super::decode::shortened(&expect.object));
                return self.fail(&format!("{path}.object"), &message, hint.as_deref());
            }
            if expect.at_least.is_none() && expect.at_most.is_none() {
                return self.fail(&path, "expected at_least, at_most or both", None);
            }
            let of_points = matches!(
                expect.measure.key().split('_').next(),
                Some("min" | "max" | "mean" | "deviation" | "front")
            );
            if expect.within.is_some() && !of_points {
                let message = format!("{} is of a whole object: it knows no box", expect.measure.key());
                let hint = "use it with min, max, front, deviation, max_speed or mean_speed";
                return self.fail(&format!("{path}.within"), &message, Some(hint));
            }
            if let Some(time) = expect.time.filter(|&t| t > scene.duration) {
                let message = format!("time must be at most the duration, {}, found {time}", scene.duration);
                return self.fail(&format!("{path}.time"), &message, None);
            }
        }
        Ok(())
    }
}
