//! Joints of a scene file: checks, and from names with copies to those of the builder.

use super::build::Build;
use super::check::{Check, Checked, objects};
use super::error::SceneFileError;
use super::join::stands_for;
use super::spec::Scene;
use super::spec_joint::{Joint, JointType};
use littoral_geom::math::Vec3;
use littoral_sim::joint::{JointKind, Motor};
use littoral_sim::scene::{JointSpec, SceneBuilder};
use std::f64::consts::TAU;

/// Angles of a hinge without limits [rad]: far more turns than any run makes.
const ENDLESS: f64 = 1e9 * TAU;

impl Check<'_> {
    /// Names exist, and each type has the keys it needs, and no others.
    pub(super) fn joints(&self, scene: &Scene) -> Checked {
        for (i, joint) in scene.joint.iter().enumerate() {
            let path = format!("joint.{i}");
            if !matches!(joint.objects.len(), 1 | 2) {
                let message = format!("expected one or two names, found {}", joint.objects.len());
                return self.fail(&format!("{path}.objects"), &message, None);
            }
            for k in 0..joint.objects.len() {
                self.named(scene, &format!("{path}.objects.{k}"), &joint.objects[k])?;
            }
            let (hinge, spring) = (joint.kind == JointType::Hinge, joint.kind == JointType::Spring);
            let span = spring || joint.kind == JointType::Distance;
            let strays = [
                ("axis", joint.axis.is_some(), hinge),
                ("limits_deg", joint.limits_deg.is_some(), hinge),
                ("motor", joint.motor.is_some(), hinge),
                ("to", joint.to.is_some(), span),
                ("length", joint.length.is_some(), span),
                ("slack", joint.slack, joint.kind == JointType::Distance),
                ("stiffness", joint.stiffness.is_some(), spring),
                ("damping", joint.damping.is_some(), spring),
            ];
            if let Some((key, ..)) = strays.iter().find(|(_, given, belongs)| *given && !belongs) {
                let message = format!("{key} does not go with a joint of this type");
                return self.fail(&format!("{path}.{key}"), &message, None);
            }
            match (joint.axis, hinge, joint.stiffness) {
                (None, true, _) => return self.fail(&path, "a hinge needs an axis", None),
                (Some(axis), true, _) => self.direction(&format!("{path}.axis"), &axis)?,
                (_, false, None) if spring => return self.fail(&path, "a spring needs a stiffness", None),
                _ => {}
            }
            if let Some([low, high]) = joint.limits_deg
                && !(low <= 0.0 && high >= 0.0)
            {
                let message = "limits must enclose 0, the angle at the start";
                return self.fail(&format!("{path}.limits_deg"), message, None);
            }
        }
        Ok(())
    }
}

impl Build<'_> {
    /// Adds the joints, those of copies one by one.
    pub(super) fn add_joints(&self, builder: &mut SceneBuilder) -> Result<(), SceneFileError> {
        for (i, joint) in self.scene.joint.iter().enumerate() {
            let first = stands_for(self.scene, &joint.objects[0]);
            let offset = self.offset(&joint.objects[0]);
            let second = joint.objects.get(1).map(|name| stands_for(self.scene, name));
            let with_itself = second.as_ref() == Some(&first);
            let count = if with_itself { first.len().saturating_sub(1) } else { first.len() };
            if count == 0 {
                let message = "a body cannot be joined to itself";
                return Err(self.document.error_at(&format!("joint.{i}.objects"), message, None));
            }
            for k in 0..count {
                let partner = match &second {
                    None => None,
                    Some(_) if with_itself => Some(first[k + 1].clone()),
                    Some(names) => names.get(k).or(names.first()).cloned(),
                };
                builder.joints.push(self.joint(joint, (first[k].clone(), partner), offset * k as f64));
            }
        }
        Ok(())
    }

    /// How far each copy of an object is from the one before [m].
    fn offset(&self, name: &str) -> Vec3 {
        let all = objects(self.scene);
        let copies = all.iter().find(|(_, n, _)| n == name).and_then(|(.., copies)| copies.as_ref());
        copies.map_or(Vec3::ZERO, |c| self.frame.point(c.offset))
    }

    fn joint(&self, joint: &Joint, objects: (String, Option<String>), shift: Vec3) -> JointSpec {
        let length = joint.length.map(|l| self.frame.length(l));
        let kind = match joint.kind {
            JointType::Ball => JointKind::Ball,
            JointType::Fixed => JointKind::Fixed,
            JointType::Hinge => JointKind::Hinge {
                axis: joint.axis.map_or(Vec3::Z, |a| self.frame.vector(a)),
                limits: joint.limits_deg.map_or([-ENDLESS, ENDLESS], |l| l.map(f64::to_radians)),
                motor: joint.motor.map(|m| Motor { speed: m.speed, torque: m.torque }),
            },
            JointType::Distance => JointKind::Distance { length: length.unwrap_or(0.0), slack: joint.slack },
            JointType::Spring => JointKind::Spring {
                length: length.unwrap_or(0.0),
                stiffness: joint.stiffness.unwrap_or(0.0),
                damping: joint.damping.unwrap_or(0.0),
            },
        };
        let at = self.frame.point(joint.at) + shift;
        let to = joint.to.map_or(at, |p| self.frame.point(p) + shift);
        JointSpec { objects, at, to, kind, length }
    }
}
