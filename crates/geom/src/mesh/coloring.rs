//! Greedy colouring of points so that no element has two points of one colour.
//!
//! The order of the points and the choice of colours are fixed by the mesh alone, and those of a connected part by
//! that part: a mesh that is added elsewhere changes no colour.

use super::Csr;

/// Colours for block descent: each inner list holds point indices, ascending, no two of which share an
/// element. Every point below `points` appears once; points without elements have the first colour.
///
/// Points are stripped from the mesh by least remaining degree and coloured in reverse, so each meets few
/// coloured neighbours: at most one colour more than the largest degree met while stripping. Then one sweep
/// moves points from large colours to small ones, part by part, so that every colour keeps all threads busy.
pub fn color_points<'a>(points: usize, elements: impl IntoIterator<Item = &'a [u32]>) -> Vec<Vec<u32>> {
    let neighbors = neighbors(points, elements);
    let part = parts(&neighbors);
    let mut color = vec![u32::MAX; points];
    // Sizes of the colours of each part, which is known by its first point.
    let mut sizes: Vec<Vec<usize>> = vec![Vec::new(); points];
    let mut taken: Vec<usize> = Vec::new(); // taken[c] = v + 1 when colour c is seen around v
    for v in smallest_last(&neighbors) {
        let sizes = &mut sizes[part[v as usize] as usize];
        mark_taken(&neighbors, &color, v, &mut taken, sizes.len());
        let c = (0..sizes.len()).find(|&c| taken[c] != v as usize + 1).unwrap_or(sizes.len());
        if c == sizes.len() {
            sizes.push(0);
        }
        color[v as usize] = c as u32;
        sizes[c] += 1;
    }
    // Balance: a point moves when another colour is free for it and stays smaller by at least one after the
    // move.
    for v in 0..points as u32 {
        let sizes = &mut sizes[part[v as usize] as usize];
        mark_taken(&neighbors, &color, v, &mut taken, sizes.len());
        let own = color[v as usize] as usize;
        let free = (0..sizes.len()).filter(|&c| taken[c] != v as usize + 1);
        if let Some(c) = free.min_by_key(|&c| (sizes[c], c))
            && sizes[c] + 1 < sizes[own]
        {
            color[v as usize] = c as u32;
            sizes[own] -= 1;
            sizes[c] += 1;
        }
    }
    let mut colors: Vec<Vec<u32>> = vec![Vec::new(); color.iter().max().map_or(0, |&c| c as usize + 1)];
    for (v, &c) in color.iter().enumerate() {
        colors[c as usize].push(v as u32);
    }
    colors
}

/// The first point of the connected part of each point.
fn parts(neighbors: &Csr) -> Vec<u32> {
    let mut part = vec![u32::MAX; neighbors.rows()];
    let mut open = Vec::new();
    for first in 0..neighbors.rows() as u32 {
        if part[first as usize] != u32::MAX {
            continue;
        }
        part[first as usize] = first;
        open.push(first);
        while let Some(v) = open.pop() {
            for &w in neighbors.row(v as usize) {
                if part[w as usize] == u32::MAX {
                    part[w as usize] = first;
                    open.push(w);
                }
            }
        }
    }
    part
}

/// Marks the colours found around `v` with `v + 1`.
fn mark_taken(neighbors: &Csr, color: &[u32], v: u32, taken: &mut Vec<usize>, colors: usize) {
    // What is left of another part bears the number of another point.
    taken.resize(taken.len().max(colors), 0);
    for &n in neighbors.row(v as usize) {
        if let Some(slot) = taken.get_mut(color[n as usize] as usize) {
            *slot = v as usize + 1;
        }
    }
}

/// Points that share an element with each point, ascending, each once.
fn neighbors<'a>(points: usize, elements: impl IntoIterator<Item = &'a [u32]>) -> Csr {
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    for element in elements {
        for &a in element {
            pairs.extend(element.iter().filter(|&&b| b != a).map(|&b| (a, b)));
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    Csr::from_pairs(points, pairs.iter().copied())
}

/// Smallest-last order [Matula 1983]: strips the point of least remaining degree (the most recently lowered
/// among equals) until none is left, and answers them in reverse.
fn smallest_last(neighbors: &Csr) -> Vec<u32> {
    let points = neighbors.rows();
    let mut degree: Vec<usize> = (0..points).map(|v| neighbors.row(v).len()).collect();
    let mut buckets: Vec<Vec<u32>> = vec![Vec::new(); degree.iter().max().map_or(0, |d| d + 1)];
    for v in (0..points).rev() {
        buckets[degree[v]].push(v as u32);
    }
    let mut removed = vec![false; points];
    let mut order = Vec::with_capacity(points);
    let mut least = 0;
    while order.len() < points {
        let Some(v) = buckets[least].pop() else {
            least += 1;
            continue;
        };
        // A point is pushed again whenever its degree drops: older entries are stale.
        if removed[v as usize] || degree[v as usize] != least {
            continue;
        }
        removed[v as usize] = true;
        order.push(v);
        for &n in neighbors.row(v as usize) {
            if !removed[n as usize] {
                degree[n as usize] -= 1;
                buckets[degree[n as usize]].push(n);
            }
        }
        least = least.saturating_sub(1);
    }
    order.reverse();
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes;

    fn check(points: usize, elements: &[&[u32]], colors: &[Vec<u32>]) {
        let mut color = vec![usize::MAX; points];
        for (c, list) in colors.iter().enumerate() {
            assert!(list.is_sorted());
            for &v in list {
                assert_eq!(color[v as usize], usize::MAX, "point {v} has two colours");
                color[v as usize] = c;
            }
        }
        assert!(color.iter().all(|&c| c != usize::MAX));
        for e in elements {
            for (i, &a) in e.iter().enumerate() {
                assert!(e[..i].iter().all(|&b| color[a as usize] != color[b as usize]));
            }
        }
    }

    #[test]
    fn a_cloth_needs_few_balanced_colors() {
        let grid = shapes::grid([1.0, 1.0], [40, 40]);
        let elements: Vec<&[u32]> = grid.triangles.iter().map(|t| t.as_slice()).collect();
        let colors = color_points(grid.vertices.len(), elements.iter().copied());
        check(grid.vertices.len(), &elements, &colors);
        assert!(colors.len() <= 5, "{} colours", colors.len());
        let sizes = || colors.iter().map(Vec::len);
        assert!(sizes().max().unwrap() <= 3 * sizes().min().unwrap(), "{:?}", sizes().collect::<Vec<_>>());
    }

    #[test]
    fn a_cloth_with_hinges_and_a_solid_are_colored_validly() {
        let grid = shapes::grid([1.0, 1.0], [17, 23]);
        let hinges = crate::mesh::hinges(&grid.triangles);
        let elements: Vec<&[u32]> = hinges.iter().map(|h| h.as_slice()).collect();
        let colors = color_points(grid.vertices.len(), elements.iter().copied());
        check(grid.vertices.len(), &elements, &colors);
        assert!(colors.len() <= 11, "{} colours", colors.len());

        let block = shapes::tet_cuboid([1.0, 1.0, 1.0], [6, 5, 4]);
        let elements: Vec<&[u32]> = block.tets.iter().map(|t| t.as_slice()).collect();
        let colors = color_points(block.vertices.len(), elements.iter().copied());
        check(block.vertices.len(), &elements, &colors);
        assert!(colors.len() <= 8, "{} colours", colors.len());
    }

    #[test]
    fn a_mesh_that_is_added_before_another_changes_none_of_its_colors() {
        let block = shapes::tet_cuboid([1.0, 1.0, 1.0], [3, 2, 4]);
        let grid = shapes::grid([1.0, 1.0], [7, 5]);
        let n = grid.vertices.len() as u32;
        let both: Vec<Vec<u32>> = (grid.triangles.iter().map(|t| t.to_vec()))
            .chain(block.tets.iter().map(|t| t.map(|v| v + n).to_vec()))
            .collect();
        // Three points without elements between them and the end.
        let all = color_points(n as usize + block.vertices.len() + 3, both.iter().map(Vec::as_slice));
        let alone = color_points(block.vertices.len(), block.tets.iter().map(|t| t.as_slice()));
        let last = n + block.vertices.len() as u32;
        for (c, list) in all.iter().enumerate() {
            let of_block: Vec<u32> = list.iter().filter(|v| (n..last).contains(v)).map(|v| *v - n).collect();
            assert_eq!(of_block, alone.get(c).cloned().unwrap_or_default(), "colour {c}");
        }
    }

    #[test]
    fn points_without_elements_are_colored_too() {
        assert_eq!(color_points(3, std::iter::empty()), vec![vec![0, 1, 2]]);
        assert!(color_points(0, std::iter::empty()).is_empty());
        let colors = color_points(4, [[0u32, 1].as_slice()]);
        check(4, &[&[0, 1]], &colors);
    }
}
