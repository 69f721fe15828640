//! Rigid bodies of a scene: mass and inertia from the surface.

use super::build::{Assembly, check_indices, check_positive};
use super::{Placement, RigidMaterial, SceneError};
use crate::body::{BodyState, Pose, RigidBody};
use crate::model::ObjectKind;
use littoral_geom::math::{Quat, Vec3};
use littoral_geom::mesh::{TriMesh, open_edges};
use littoral_geom::moments::Moments;

/// Smallest principal moment as a share of the largest. Below it the body is a line, which turns about itself freely;
/// a real one has some breadth.
const SLENDER: f64 = 1e-9;

/// Adds the bodies and their states at the start.
pub(super) fn add(
    all: &mut Assembly,
    rigids: &[(Placement, TriMesh, RigidMaterial)],
    friction: f64,
    free_fall: Vec3,
) -> Result<(), SceneError> {
    for (placement, mesh, material) in rigids {
        let first = all.add_object(placement, ObjectKind::Rigid, &mesh.vertices, friction)?;
        check_indices(placement, mesh.triangles.iter().flatten(), mesh.vertices.len())?;
        let (moments, density) = measured(placement, mesh, material)?;
        let object = all.objects.len() as u32 - 1;
        all.hollow.extend(material.shell.map(|_| object));
        let body = RigidBody::new(first, object, &mesh.vertices, &moments, density);
        let refuse = |what: String| SceneError::Object { object: placement.name.clone(), what };
        let (least, most) = (body.moments.min_element(), body.moments.max_element());
        if !(least > SLENDER * most && most.is_finite()) {
            return Err(refuse(format!(
                "has the principal moments {} kg m²: a body needs some breadth in every direction",
                body.moments
            )));
        }
        if !placement.pins.is_empty() {
            return Err(refuse("has pins: hold a rigid body by making it a [[collider]]".into()));
        }
        let pose = Pose { center: moments.center, rotation: Quat::IDENTITY };
        let state = BodyState {
            pose,
            velocity: placement.velocity,
            momentum: body.inertia(pose.rotation) * placement.spin,
            velocity_before: placement.velocity - free_fall,
        };
        for (v, r) in body.points().zip(&body.shape) {
            all.v[v] = placement.velocity + placement.spin.cross(*r);
        }
        all.triangles.extend(mesh.triangles.iter().map(|t| t.map(|c| c + first)));
        all.bodies.push((body, state));
    }
    Ok(())
}

/// Moments of the body and its mass per measure: of what the surface encloses, or of a shell along it.
fn measured(
    placement: &Placement,
    mesh: &TriMesh,
    material: &RigidMaterial,
) -> Result<(Moments, f64), SceneError> {
    let refuse = |what: String| SceneError::Object { object: placement.name.clone(), what };
    check_positive(placement, "density [kg/m³]", material.density)?;
    if mesh.triangles.is_empty() {
        return Err(refuse("has no triangles".into()));
    }
    if let Some(thickness) = material.shell {
        check_positive(placement, "hollow [m]", thickness)?;
        let moments = Moments::of_shell(&mesh.vertices, &mesh.triangles);
        if moments.measure.is_nan() || moments.measure <= 0.0 {
            return Err(refuse("has no area".into()));
        }
        return Ok((moments, material.density * thickness));
    }
    let open = open_edges(&mesh.triangles);
    if open > 0 {
        return Err(refuse(format!(
            "its surface is open at {open} edges and has no inside: close it, or give the thickness of a shell in `hollow`"
        )));
    }
    let moments = Moments::of_solid(&mesh.vertices, &mesh.triangles);
    if moments.measure < 0.0 {
        return Err(refuse(format!(
            "encloses a volume of {} m³: its triangles face inwards, turn them round",
            moments.measure
        )));
    }
    if moments.measure.is_nan() || moments.measure == 0.0 {
        return Err(refuse("encloses no volume: give the thickness of a shell in `hollow`".into()));
    }
    Ok((moments, material.density))
}
