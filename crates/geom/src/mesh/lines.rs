//! Lines of points: what rods are made of.

use crate::math::Vec3;

/// Points and the lines through them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineMesh {
    /// Positions (n) [m].
    pub vertices: Vec<Vec3>,
    /// Vertices of each line in their order; a line that ends where it began is a ring. Lines may share vertices.
    pub lines: Vec<Vec<u32>>,
}

impl LineMesh {
    /// One line through all points in their order; a ring where the last one joins the first.
    pub fn through(vertices: Vec<Vec3>, is_ring: bool) -> LineMesh {
        let mut line: Vec<u32> = (0..vertices.len() as u32).collect();
        if is_ring {
            line.push(0);
        }
        LineMesh { vertices, lines: vec![line] }
    }

    /// Lines of loose segments: they are joined wherever just two of them meet. Segments of a single point, and those whose
    /// ends are joined already, are left out.
    pub fn from_segments(vertices: Vec<Vec3>, segments: &[[u32; 2]]) -> LineMesh {
        let mut known: Vec<[u32; 2]> = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        for &[a, b] in segments {
            if a != b && seen.insert([a.min(b), a.max(b)]) {
                known.push([a, b]);
            }
        }
        let mut at: Vec<Vec<usize>> = vec![Vec::new(); vertices.len()];
        for (k, s) in known.iter().enumerate() {
            s.iter().for_each(|&v| at[v as usize].push(k));
        }
        let mut used = vec![false; known.len()];
        let mut lines = Vec::new();
        let mut walk = |start: u32, first: usize, used: &mut Vec<bool>| {
            let (mut line, mut end, mut k) = (vec![start], start, first);
            loop {
                used[k] = true;
                let [a, b] = known[k];
                end = if end == a { b } else { a };
                line.push(end);
                let around = &at[end as usize];
                match around.iter().find(|s| !used[**s]) {
                    Some(&on) if around.len() == 2 => k = on,
                    _ => break,
                }
            }
            lines.push(line);
        };
        // Lines begin where not just two segments meet; what is left are rings.
        for (k, s) in known.iter().enumerate() {
            for &v in s {
                if !used[k] && at[v as usize].len() != 2 {
                    walk(v, k, &mut used);
                }
            }
        }
        for (k, s) in known.iter().enumerate() {
            if !used[k] {
                walk(s[0], k, &mut used);
            }
        }
        LineMesh { vertices, lines }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loose_segments_become_lines_rings_and_branches() {
        let at = vec![Vec3::ZERO; 9];
        // A line 0-1-2 in any order, a ring 3-4-5, and a branch at 2; one segment twice, and one of no length.
        let segments = [[1, 2], [0, 1], [4, 3], [5, 4], [3, 5], [2, 6], [7, 2], [7, 8], [8, 7], [6, 6]];
        let mut lines = LineMesh::from_segments(at, &segments).lines;
        lines.sort();
        assert_eq!(lines, [vec![2, 1, 0], vec![2, 6], vec![2, 7, 8], vec![4, 3, 5, 4]]);
    }
}
