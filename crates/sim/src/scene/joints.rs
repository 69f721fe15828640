//! Joints of a scene: from names and places to sides.

use super::SceneError;
use super::build::Assembly;
use crate::joint::{Joint, JointKind, Side};
use crate::model::ObjectKind;
use crate::potential::Spring;
use littoral_geom::distance::closest_point_triangle;
use littoral_geom::math::Vec3;

/// A joint between rigid bodies, or of one with a collider or the world.
#[derive(Clone, Debug, PartialEq)]
pub struct JointSpec {
    /// Names of a rigid body, and of another or a collider; `None` is the world.
    pub objects: (String, Option<String>),
    /// Where it is on the first [m].
    pub at: Vec3,
    /// Where it is on the second [m]; the same place for all but distances and springs.
    pub to: Vec3,
    /// What it holds. The length of a distance or spring is replaced where `length` is `None`.
    pub kind: JointKind,
    /// Length of a distance or spring [m]; `None` takes that at the start.
    pub length: Option<f64>,
}

/// Adds the joints in their order.
pub(super) fn add(all: &mut Assembly, joints: &[JointSpec]) -> Result<(), SceneError> {
    for spec in joints {
        let second = spec.objects.1.as_deref().unwrap_or("the world");
        let objects = format!("\"{}\" and \"{second}\"", spec.objects.0);
        let joint = joint(all, spec).map_err(|what| SceneError::Joint { objects, what })?;
        all.joints.push(joint);
    }
    Ok(())
}

fn joint(all: &Assembly, spec: &JointSpec) -> Result<Joint, String> {
    let first = side(all, &spec.objects.0, spec.at)?;
    if first.body().is_none() {
        return Err("the first object must be a rigid body: swap the two names".into());
    }
    let second = match &spec.objects.1 {
        Some(name) => side(all, name, spec.to)?,
        None => Side::World,
    };
    if first == second {
        return Err("a body cannot be joined to itself".into());
    }
    if !(spec.at.is_finite() && spec.to.is_finite()) {
        return Err("its place must be finite".into());
    }
    let poses: Vec<_> = all.bodies.iter().map(|(_, state)| state.pose).collect();
    let local = |side: &Side, p: Vec3| {
        let pose = side.pose(&poses, &all.x);
        pose.rotation.conjugate() * (p - pose.center)
    };
    let places = [local(&first, spec.at), local(&second, spec.to)];
    Ok(Joint { sides: [first, second], places, kind: checked(spec)? })
}

/// The side that an object is; a collider is taken by the triangle nearest to the place.
fn side(all: &Assembly, name: &str, place: Vec3) -> Result<Side, String> {
    let Some(index) = all.objects.iter().position(|o| o.name == name) else {
        return Err(format!("there is no object \"{name}\""));
    };
    let object = &all.objects[index];
    match object.kind {
        ObjectKind::Rigid => {
            let body = all.bodies.iter().position(|(body, _)| body.object as usize == index);
            body.map(|b| Side::Body(b as u32)).ok_or_else(|| format!("\"{name}\" is no rigid body"))
        }
        ObjectKind::Collider => {
            let range = object.range();
            let own = all.triangles.iter().filter(|t| range.contains(&(t[0] as usize)));
            let near = |t: &[u32; 3]| closest_point_triangle(place, t.map(|c| all.x[c as usize])).distance_sq;
            let usable = own.filter(|t| Side::on_triangle(**t, &all.x).is_some());
            let nearest = usable.min_by(|s, t| near(s).total_cmp(&near(t)));
            let side = nearest.and_then(|t| Side::on_triangle(*t, &all.x));
            side.ok_or_else(|| format!("\"{name}\" has no triangle to be joined to"))
        }
        kind => Err(format!("\"{name}\" is a {kind:?}: joints are for rigid bodies, use [[attach]]")),
    }
}

/// What it holds, with numbers in range.
fn checked(spec: &JointSpec) -> Result<JointKind, String> {
    let start = spec.at.distance(spec.to);
    match spec.kind {
        JointKind::Ball | JointKind::Fixed => Ok(spec.kind),
        JointKind::Hinge { axis, limits, motor } => {
            let axis = axis.normalize_or_zero();
            if axis == Vec3::ZERO {
                return Err("its axis must have a length".into());
            }
            if !(limits[0] <= 0.0 && limits[1] >= 0.0) {
                return Err(format!("limits must enclose the angle at the start, 0, found {limits:?} rad"));
            }
            if let Some(m) = motor
                && !(m.speed.is_finite() && m.torque >= 0.0 && m.torque.is_finite())
            {
                return Err(format!("its motor needs a finite speed and a torque ≥ 0, found {m:?}"));
            }
            Ok(JointKind::Hinge { axis, limits, motor })
        }
        JointKind::Distance { slack, .. } => {
            let length = spec.length.unwrap_or(start);
            if !(length > 0.0 && length.is_finite()) {
                return Err(format!(
                    "length [m] must be positive, found {length}: a ball joint holds a place"
                ));
            }
            Ok(JointKind::Distance { length, slack })
        }
        JointKind::Spring { stiffness, damping, .. } => {
            let length = spec.length.unwrap_or(start);
            Spring::new(length, stiffness, damping).map_err(|e| e.to_string())?;
            Ok(JointKind::Spring { length, stiffness, damping })
        }
    }
}
