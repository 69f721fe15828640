//! Names the crossings of an input, so that a person finds them.

use crate::answer::count;
use littoral_geom::math::Vec3;
use littoral_sim::simulation::Simulation;
use std::collections::BTreeMap;

/// Crossings named one by one; the rest is counted.
const NAMED: usize = 8;

/// A range of points with a name.
pub struct Named<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its first point.
    pub first: u32,
}

/// What crosses what in the present state of a simulation.
pub fn describe(sim: &Simulation, crossings: &[[u32; 2]]) -> String {
    let objects: Vec<Named> = sim.objects().iter().map(|o| Named { name: &o.name, first: o.first }).collect();
    describe_surface(&objects, (sim.edges(), sim.triangles()), &sim.state().x, crossings)
}

/// What crosses what: a total, the pairs of objects, and the first crossings with their places. `crossings` are indices of
/// edges and of triangles; `objects` are in point order. Vertices are counted from the first of their object.
pub fn describe_surface(
    objects: &[Named],
    (edges, triangles): (&[[u32; 2]], &[[u32; 3]]),
    x: &[Vec3],
    crossings: &[[u32; 2]],
) -> String {
    let owner = |point: u32| {
        let k = objects.partition_point(|o| o.first <= point);
        objects.get(k.wrapping_sub(1)).map_or(("?", 0), |o| (o.name, o.first))
    };
    let mut pairs: BTreeMap<[&str; 2], usize> = BTreeMap::new();
    let mut lines = Vec::new();
    for [e, t] in crossings {
        let (Some(edge), Some(triangle)) = (edges.get(*e as usize), triangles.get(*t as usize)) else {
            continue;
        };
        let ((a, first_a), (b, first_b)) = (owner(edge[0]), owner(triangle[0]));
        *pairs.entry(if a <= b { [a, b] } else { [b, a] }).or_default() += 1;
        if lines.len() < NAMED {
            let at = 0.5 * (x[edge[0] as usize] + x[edge[1] as usize]);
            let [p, q] = edge.map(|v| v - first_a);
            let [u, v, w] = triangle.map(|v| v - first_b);
            lines.push(format!(
                "  edge {p}-{q} of \"{a}\" through triangle {u}-{v}-{w} of \"{b}\", near ({:.4}, {:.4}, {:.4}) m",
                at.x, at.y, at.z
            ));
        }
    }
    let pairs: Vec<String> =
        (pairs.iter())
            .map(|([a, b], n)| {
                if a == b {
                    format!("\"{a}\" with itself: {n}")
                } else {
                    format!("\"{a}\" with \"{b}\": {n}")
                }
            })
            .collect();
    if crossings.len() > lines.len() {
        lines.push(format!("  and {} more", crossings.len() - lines.len()));
    }
    format!("{} ({})\n{}", count(crossings.len(), "crossing"), pairs.join(", "), lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crossings_are_named_by_object_and_counted_by_pair() {
        // Two triangles that cross like an X: a horizontal one, and an upright one through its middle.
        let x = [
            Vec3::ZERO,
            Vec3::X,
            Vec3::Y,
            Vec3::new(0.2, 0.2, -1.0),
            Vec3::new(0.2, 0.2, 1.0),
            Vec3::splat(3.0),
        ];
        let objects = [Named { name: "flat", first: 0 }, Named { name: "upright", first: 3 }];
        let triangles = [[0, 1, 2], [3, 4, 5]];
        let edges = littoral_geom::mesh::unique_edges(&triangles);
        let said = describe_surface(&objects, (&edges, &triangles), &x, &[[3, 0]]);
        assert_eq!(
            said,
            "1 crossing (\"flat\" with \"upright\": 1)\n  \
             edge 0-1 of \"upright\" through triangle 0-1-2 of \"flat\", near (0.2000, 0.2000, 0.0000) m"
        );
        let said = describe_surface(&objects, (&edges, &triangles), &x, &[[3, 0]; 10]);
        assert!(said.ends_with("  and 2 more") && said.starts_with("10 crossings"), "{said}");
    }

    #[test]
    fn a_rod_that_begins_in_a_surface_is_named() {
        use littoral_geom::mesh::{LineMesh, TriMesh};
        use littoral_sim::motion::Motion;
        use littoral_sim::scene::{Placement, RodMaterial, SceneBuilder};
        let mut scene = SceneBuilder::new(Default::default(), Default::default());
        let named = |name: &str| Placement { name: name.into(), ..Placement::default() };
        let vertices = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
        scene.add_collider(named("plate"), TriMesh { vertices, triangles: vec![[0, 1, 2]] }, Motion::Static);
        let vertices = vec![Vec3::new(0.2, 0.2, -0.5), Vec3::new(0.2, 0.2, 0.5)];
        scene.add_rod(named("nail"), LineMesh { vertices, lines: vec![vec![0, 1]] }, RodMaterial::default());
        let sim = scene.build().unwrap();
        let said = describe(&sim, &sim.judge().all_crossings());
        assert!(said.contains("edge 0-1 of \"nail\" through triangle 0-1-2 of \"plate\""), "{said}");
    }
}
