//! Attachments and rules for pairs: from names and boxes of a scene to those of the builder.

use super::build::{Build, SceneWarning};
use super::check::{Check, Checked, copy_names, objects};
use super::error::SceneFileError;
use super::nearest::nearest;
use super::spec::Scene;
use super::spec_join::{Attach, Holding, Pressure, Target};
use littoral_geom::math::{Aabb, Vec3};
use littoral_sim::pairing::PairRule;
use littoral_sim::scene::{AttachTo, Attachment, Hold, SceneBuilder};

/// Code of the warning that contact of a pair is switched off.
const CONTACT_OFF: &str = "contact-off";

/// The names that a name in a scene stands for: of one object, or of its copies.
pub(super) fn stands_for(scene: &Scene, name: &str) -> Vec<String> {
    let all = objects(scene);
    match all.iter().find(|(_, n, copies)| n == name && copies.is_some()) {
        Some((_, n, copies)) => copy_names(n, copies),
        None => vec![name.to_owned()],
    }
}

/// The kind of the object with this name, as `cloth`.
fn kind_of(scene: &Scene, name: &str) -> Option<String> {
    let named = |(_, n, copies): &(String, String, &Option<super::spec::Copies>)| {
        n == name || copy_names(n, copies).iter().any(|c| c == name)
    };
    let (path, ..) = objects(scene).into_iter().find(named)?;
    path.split('.').next().map(str::to_owned)
}

impl Check<'_> {
    /// Names exist, and what is said of the two goes together.
    pub(super) fn joins(&self, scene: &Scene) -> Checked {
        for (i, attach) in scene.attach.iter().enumerate() {
            let path = format!("attach.{i}");
            let kinds = self.joined(scene, &path, &attach.objects)?;
            if !matches!(kinds[0].as_str(), "cloth" | "soft" | "rod") {
                let message =
                    format!("the first object must be a cloth, soft body or rod, found a {}", kinds[0]);
                return self.fail(&format!("{path}.objects"), &message, Some("swap the two names"));
            }
            if kinds[1] == "fluid" {
                return self.fail(&format!("{path}.objects"), "nothing can be tied to a fluid", None);
            }
            if attach.hold == Holding::Pin && kinds[1] != "collider" {
                let help = "use hold = \"spring\" between objects that move freely";
                return self.fail(&format!("{path}.hold"), "a pin follows a collider", Some(help));
            }
            let ways = [attach.inside.is_some(), attach.vertices.is_some(), attach.pairs.is_some()];
            if ways.into_iter().filter(|&w| w).count() > 1 {
                return self.fail(&path, "expected at most one of box, vertices and pairs", None);
            }
        }
        let mut seen: Vec<[&str; 2]> = Vec::new();
        for (i, pair) in scene.pair.iter().enumerate() {
            let path = format!("pair.{i}");
            let kinds = self.joined(scene, &path, &pair.objects)?;
            let at = format!("{path}.objects");
            if kinds.iter().any(|k| k == "fluid") {
                return self.fail(&at, "a fluid meets everything: expected solids", None);
            }
            if kinds.iter().all(|k| k == "collider") {
                return self.fail(&at, "two colliders never meet: expected a cloth or soft body", None);
            }
            let [a, b] = [pair.objects[0].as_str(), pair.objects[1].as_str()];
            let both = if a <= b { [a, b] } else { [b, a] };
            if seen.contains(&both) {
                return self.fail(&at, "these two have a rule already: join the two in one", None);
            }
            seen.push(both);
            if pair.contact && pair.friction.is_none() {
                return self.fail(&path, "expected friction, contact = false, or both", None);
            }
        }
        Ok(())
    }

    pub(super) fn pressure(&self, path: &str, pressure: &Option<Pressure>) -> Checked {
        match pressure {
            Some(p) if p.filling().is_none() => self.fail(
                &format!("{path}.pressure"),
                "expected exactly one of gas, constant and volume",
                None,
            ),
            Some(Pressure { ambient: Some(_), gas: None, .. }) => {
                self.fail(&format!("{path}.pressure"), "ambient goes with gas alone", None)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// The kinds of two objects that must exist.
    fn joined(&self, scene: &Scene, path: &str, names: &[String; 2]) -> Result<[String; 2], SceneFileError> {
        let kind = |k: usize| self.named(scene, &format!("{path}.objects.{k}"), &names[k]);
        Ok([kind(0)?, kind(1)?])
    }

    /// The kind of an object that must exist.
    pub(super) fn named(&self, scene: &Scene, path: &str, name: &str) -> Result<String, SceneFileError> {
        if let Some(kind) = kind_of(scene, name) {
            return Ok(kind);
        }
        let all: Vec<String> = objects(scene).into_iter().map(|(_, name, _)| name).collect();
        let hint = nearest(name, all.iter().map(String::as_str));
        let hint = hint.map(|n| format!("did you mean \"{n}\"?"));
        let message = format!("there is no object \"{}\"", super::decode::shortened(name));
        Err(self.document.error_at(path, &message, hint.as_deref()))
    }
}

impl Build<'_> {
    /// Adds the rules for pairs; those that switch contact off are told.
    pub(super) fn add_pairs(&self, builder: &mut SceneBuilder, warnings: &mut Vec<SceneWarning>) {
        for pair in &self.scene.pair {
            let [first, second] = [0, 1].map(|k| stands_for(self.scene, &pair.objects[k]));
            for (i, a) in first.iter().enumerate() {
                for (j, b) in second.iter().enumerate() {
                    // Copies among themselves: each two once, and each with itself.
                    if first == second && j < i {
                        continue;
                    }
                    let objects = [a.clone(), b.clone()];
                    builder.pairs.push(PairRule { objects, friction: pair.friction, contact: pair.contact });
                }
            }
            if !pair.contact {
                let [a, b] = &pair.objects;
                let both =
                    if a == b { format!("\"{a}\" with itself") } else { format!("\"{a}\" with \"{b}\"") };
                warnings.push(SceneWarning {
                    code: CONTACT_OFF,
                    count: 1,
                    object: a.clone(),
                    text: format!(
                        "contact of {both} is switched off: the guarantee does not cover it, and what crosses there \
                         is counted apart"
                    ),
                });
            }
        }
    }

    /// Adds the attachments. `placed` gives the vertices of an object in the scene, by its name [m].
    pub(super) fn add_attachments(&self, builder: &mut SceneBuilder) -> Result<(), SceneFileError> {
        for (i, attach) in self.scene.attach.iter().enumerate() {
            let path = format!("attach.{i}");
            let [first, second] = [0, 1].map(|k| stands_for(self.scene, &attach.objects[k]));
            if first.len() != second.len() && second.len() != 1 {
                let message = format!("{} copies cannot be tied to {} one by one", first.len(), second.len());
                return Err(self.document.error_at(&format!("{path}.objects"), &message, None));
            }
            for (k, a) in first.iter().enumerate() {
                let b = second.get(k).or(second.first()).unwrap_or(a);
                let from = match attach.inside {
                    Some(corners) => Some(self.inside(builder, a, corners, &format!("{path}.box"))?),
                    None => attach.vertices.clone(),
                };
                let onto = match attach.to_box {
                    Some(corners) => Some(self.inside(builder, b, corners, &format!("{path}.to_box"))?),
                    None => None,
                };
                builder.attachments.push(self.attachment(attach, [a.clone(), b.clone()], from, onto));
            }
        }
        Ok(())
    }

    fn attachment(
        &self,
        attach: &Attach,
        objects: [String; 2],
        from: Option<Vec<u32>>,
        onto: Option<Vec<u32>>,
    ) -> Attachment {
        Attachment {
            objects,
            from,
            onto,
            pairs: attach.pairs.clone(),
            to: match attach.to {
                Target::Vertex => AttachTo::Vertex,
                Target::Surface => AttachTo::Surface,
            },
            hold: match attach.hold {
                Holding::Spring => Hold::Spring,
                Holding::Pin => Hold::Pin,
            },
            reach: attach.reach.map_or(f64::INFINITY, |r| self.frame.length(r)),
            distance: attach.distance.map(|d| self.frame.length(d)),
            over: attach.over,
            stiffness: attach.stiffness,
            damping: attach.damping,
        }
    }

    /// The vertices of an object of the builder that begin in a box.
    fn inside(
        &self,
        builder: &SceneBuilder,
        name: &str,
        [a, b]: [[f64; 3]; 2],
        path: &str,
    ) -> Result<Vec<u32>, SceneFileError> {
        let (a, b) = (self.frame.point(a), self.frame.point(b));
        let (min, max) = (a.min(b), a.max(b));
        let is_inside = |p: Vec3| p.cmpge(min).all() && p.cmple(max).all();
        let vertices = builder.vertices_of(name).unwrap_or_default();
        let indices: Vec<u32> =
            (0u32..).zip(vertices).filter(|(_, p)| is_inside(**p)).map(|(v, _)| v).collect();
        if indices.is_empty() {
            let bounds = Aabb::of(vertices.iter().copied());
            let message = format!(
                "this box holds no vertex of \"{name}\"; with z up, in metres, it reaches from {} to {}",
                bounds.min, bounds.max
            );
            return Err(self.document.error_at(path, &message, None));
        }
        Ok(indices)
    }
}
