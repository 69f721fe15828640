//! Makes a stuffed mesh clean: no crumbs, no vertex or edge at which the boundary touches itself, no unused
//! vertices.

use crate::mesh::{TetMesh, boundary_triangles, connected_components, vertex_tets};

/// Removes parts that touch nothing else and are smaller than half a lattice cube, unless that is all there
/// is: what is left where a thin feature met one lattice node.
pub(super) fn remove_crumbs(mesh: &mut TetMesh, spacing: f64) {
    let labels = connected_components(mesh.vertices.len(), &[], &mesh.tets);
    let mut volume = vec![0.0; mesh.vertices.len()];
    for t in &mesh.tets {
        volume[labels[t[0] as usize] as usize] +=
            crate::mesh::tet_volume(t.map(|v| mesh.vertices[v as usize]));
    }
    let limit = 0.5 * spacing.powi(3);
    if volume.iter().any(|&v| v >= limit) {
        mesh.tets.retain(|t| volume[labels[t[0] as usize] as usize] >= limit);
    }
}

/// Vertices at which the boundary is not one fan of triangles, ascending: there two parts of the body or of
/// the outside touch in a point or an edge.
pub(super) fn pinched_vertices(mesh: &TetMesh) -> Vec<u32> {
    // Boundary triangles as (vertex, next, previous): around a manifold vertex the steps previous → next form
    // one cycle.
    let mut fans: Vec<[u32; 3]> = boundary_triangles(&mesh.tets)
        .into_iter()
        .flat_map(|[a, b, c]| [[a, b, c], [b, c, a], [c, a, b]])
        .collect();
    fans.sort_unstable();
    fans.chunk_by(|a, b| a[0] == b[0]).filter(|fan| !is_one_cycle(fan)).map(|fan| fan[0][0]).collect()
}

/// True when the links `next → previous` run through all triangles and return.
fn is_one_cycle(fan: &[[u32; 3]]) -> bool {
    // An edge of more than two triangles repeats a `next`.
    if fan.windows(2).any(|w| w[0][1] == w[1][1]) {
        return false;
    }
    let mut at = fan[0];
    for step in 1..=fan.len() {
        match fan.binary_search_by_key(&at[2], |f| f[1]) {
            Ok(i) => at = fan[i],
            Err(_) => return false,
        }
        if at == fan[0] {
            return step == fan.len();
        }
    }
    false
}

/// Removes tets until the boundary is a manifold: at each pinched vertex only the largest group of tets that
/// hang together by faces stays; where all hang together, all go. Each round removes a tet, so this ends.
pub(super) fn make_boundary_manifold(mesh: &mut TetMesh) {
    loop {
        let pinched = pinched_vertices(mesh);
        if pinched.is_empty() {
            return;
        }
        let around = vertex_tets(mesh.vertices.len(), &mesh.tets);
        let mut keep = vec![true; mesh.tets.len()];
        for v in pinched {
            let groups = groups_around(v, around.row(v as usize), &mesh.tets);
            let largest = groups.iter().map(Vec::len).max().unwrap_or(0);
            let kept = if groups.len() == 1 { None } else { groups.iter().position(|g| g.len() == largest) };
            for (g, group) in groups.iter().enumerate() {
                if Some(g) != kept {
                    group.iter().for_each(|&k| keep[k as usize] = false);
                }
            }
        }
        let mut keep = keep.into_iter();
        mesh.tets.retain(|_| keep.next().unwrap_or(true));
    }
}

/// The tets around `v`, grouped by shared faces that contain `v`; groups and their tets ascend.
fn groups_around(v: u32, around: &[u32], tets: &[[u32; 4]]) -> Vec<Vec<u32>> {
    let shared = |a: u32, b: u32| {
        let (a, b) = (tets[a as usize], tets[b as usize]);
        a.contains(&v) && b.contains(&v) && a.iter().filter(|c| b.contains(c)).count() == 3
    };
    let mut groups: Vec<Vec<u32>> = Vec::new();
    let mut left: Vec<u32> = around.to_vec();
    while let Some(&start) = left.first() {
        let mut group = vec![start];
        left.remove(0);
        let mut i = 0;
        while i < group.len() {
            let at = group[i];
            let (touching, others) = left.iter().partition::<Vec<u32>, _>(|&&k| shared(at, k));
            group.extend(touching);
            left = others;
            i += 1;
        }
        group.sort_unstable();
        groups.push(group);
    }
    groups
}

/// Drops vertices without tets; the others keep their order.
pub(super) fn drop_unused_vertices(mesh: &mut TetMesh) {
    let mut place = vec![u32::MAX; mesh.vertices.len()];
    mesh.tets.iter().flatten().for_each(|&v| place[v as usize] = 0);
    let mut vertices = Vec::new();
    for (v, slot) in place.iter_mut().enumerate().filter(|(_, slot)| **slot == 0) {
        *slot = vertices.len() as u32;
        vertices.push(mesh.vertices[v]);
    }
    mesh.vertices = vertices;
    mesh.tets.iter_mut().for_each(|t| *t = t.map(|v| place[v as usize]));
}
