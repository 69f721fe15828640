//! A standing figure of overlapping capsules and ellipsoids: something with a body and limbs to dress, drench or squash.

use super::closed::{capsule, ellipsoid};
use crate::math::{Quat, Vec3};
use crate::mesh::TriMesh;

/// Where a part begins and ends, and its radius: of a figure one metre high that stands on z = 0 and looks along y.
struct Limb {
    from: [f64; 3],
    to: [f64; 3],
    radius: f64,
}

/// Limbs on the side of positive x; the other side is their mirror image.
const LIMBS: [Limb; 4] = [
    // Upper and lower arm, held away from the body.
    Limb { from: [0.11, 0.0, 0.76], to: [0.22, 0.0, 0.62], radius: 0.042 },
    Limb { from: [0.22, 0.0, 0.62], to: [0.30, 0.03, 0.48], radius: 0.036 },
    // Leg and foot.
    Limb { from: [0.07, 0.0, 0.50], to: [0.085, 0.0, 0.07], radius: 0.06 },
    Limb { from: [0.085, 0.0, 0.045], to: [0.09, 0.09, 0.045], radius: 0.045 },
];

/// Centre and half axes of head, chest and hips; the neck is a limb in the middle.
const TRUNK: [([f64; 3], [f64; 3]); 3] = [
    ([0.0, 0.0, 0.92], [0.068, 0.075, 0.08]),
    ([0.0, 0.0, 0.67], [0.15, 0.09, 0.17]),
    ([0.0, 0.0, 0.50], [0.13, 0.095, 0.10]),
];

const NECK: Limb = Limb { from: [0.0, 0.0, 0.78], to: [0.0, 0.0, 0.88], radius: 0.036 };

/// A figure of this `height` [m], centred at half its height, whose arms hang away from it; `segments` around a limb.
///
/// Its parts overlap: as a body it is their union, as a collider they act together.
pub fn figure(height: f64, segments: u32) -> TriMesh {
    let segments = segments.max(6);
    let mut mesh = TriMesh::default();
    // Quartering an icosahedron three times gives 40 edges around.
    let subdivisions = if segments < 12 { 1 } else { 2 + u32::from(segments > 24) };
    for (center, axes) in TRUNK {
        let part = ellipsoid(axes, subdivisions);
        add(&mut mesh, part, |p| p + Vec3::from_array(center));
    }
    for limb in LIMBS.iter().chain([&NECK]) {
        let sides: &[f64] = if limb.from[0] == 0.0 { &[1.0] } else { &[1.0, -1.0] };
        for side in sides {
            let end = |p: [f64; 3]| Vec3::new(side * p[0], p[1], p[2]);
            let (from, to) = (end(limb.from), end(limb.to));
            let along = to - from;
            let part = capsule(limb.radius, along.length(), segments);
            let turn = Quat::from_rotation_arc(Vec3::Z, along.normalize());
            add(&mut mesh, part, |p| turn * p + 0.5 * (from + to));
        }
    }
    for p in &mut mesh.vertices {
        *p = height * (*p - 0.5 * Vec3::Z);
    }
    mesh
}

fn add(mesh: &mut TriMesh, part: TriMesh, place: impl Fn(Vec3) -> Vec3) {
    let first = mesh.vertices.len() as u32;
    mesh.vertices.extend(part.vertices.into_iter().map(place));
    mesh.triangles.extend(part.triangles.into_iter().map(|t| t.map(|v| v + first)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inside::Solid;
    use crate::math::Aabb;
    use crate::mesh::open_edges;
    use crate::tet_fill::tet_fill;

    #[test]
    fn a_figure_is_closed_as_high_as_asked_and_mirrored() {
        let mesh = figure(1.8, 16);
        assert_eq!(open_edges(&mesh.triangles), 0);
        let bounds = Aabb::of(mesh.vertices.iter().copied());
        // Corners of a sphere and a capsule lie on them, but not at their highest and lowest points: 1 % at most.
        assert!(bounds.extent().z <= 1.8 && bounds.extent().z > 1.782, "{}", bounds.extent().z);
        // The seams of mirrored limbs lie elsewhere.
        assert!((bounds.min.x + bounds.max.x).abs() < 0.018);
    }

    #[test]
    fn its_parts_hang_together_and_fill_as_one_body() {
        let mesh = figure(1.0, 12);
        let solid = Solid::new(&mesh.vertices, &mesh.triangles);
        // The ends of each limb lie in the trunk or in the next limb.
        for limb in &LIMBS {
            assert!(
                solid.winding_number(Vec3::from_array(limb.from) - 0.5 * Vec3::Z) > 1.5,
                "{:?}",
                limb.from
            );
        }
        let body = tet_fill(&mesh, 0.03).unwrap();
        let components = crate::mesh::connected_components(body.vertices.len(), &[], &body.tets);
        assert!(components.iter().all(|c| *c == components[0]));
    }
}
