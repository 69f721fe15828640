//! Triangles turned alike: neighbours agree across each edge of two triangles, closed surfaces face outward, and
//! closed surfaces that face inward inside another are kept as its cavities.

use std::f64::consts::PI;

use littoral_geom::math::{Aabb, Vec3};

/// One use of an undirected edge by a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EdgeUse {
    /// End of smaller index, end of larger index.
    pub ends: [u32; 2],
    /// The triangle.
    pub triangle: u32,
    /// True when the triangle runs from the smaller to the larger index.
    pub rising: bool,
}

/// All edge uses, sorted: uses of one edge stand together.
pub(super) fn edge_uses(triangles: &[[u32; 3]]) -> Vec<EdgeUse> {
    let mut uses: Vec<EdgeUse> = (0_u32..)
        .zip(triangles)
        .flat_map(|(triangle, t)| {
            [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]].map(|[a, b]| EdgeUse {
                ends: [a.min(b), a.max(b)],
                triangle,
                rising: a < b,
            })
        })
        .collect();
    uses.sort_unstable();
    uses
}

/// The uses of each edge.
pub(super) fn by_edge(uses: &[EdgeUse]) -> impl Iterator<Item = &[EdgeUse]> {
    uses.chunk_by(|a, b| a.ends == b.ends)
}

/// What was turned: indices of triangles, or of the first triangle of a surface.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Turned {
    /// Triangles turned to agree with the majority of their surface.
    pub flipped: Vec<u32>,
    /// Closed surfaces turned to face outward.
    pub inside_out: Vec<u32>,
    /// Closed surfaces facing inward, inside another.
    pub cavities: Vec<u32>,
    /// Surfaces that cannot be oriented.
    pub one_sided: Vec<u32>,
}

/// A set of triangles linked by edges of exactly two triangles.
struct Surface {
    triangles: Vec<u32>,
    volume: Option<f64>,
    bounds: Aabb,
}

/// Turns the triangles alike. `uses` are those of the triangles as they come in.
pub(super) fn orient(x: &[Vec3], triangles: &mut [[u32; 3]], uses: &[EdgeUse]) -> Turned {
    let mut turned = Turned::default();
    let neighbours = neighbours(triangles.len(), uses);
    let mut visited: Vec<Option<bool>> = vec![None; triangles.len()];
    let mut surfaces = Vec::new();
    for seed in 0..triangles.len() {
        if visited[seed].is_some() {
            continue;
        }
        let (members, consistent) = flood(seed as u32, &neighbours, &mut visited);
        if !consistent {
            turned.one_sided.push(seed as u32);
            continue;
        }
        let marked = |t: u32| visited[t as usize] == Some(true);
        let against_seed = members.iter().filter(|&&t| marked(t)).count();
        // The smaller side turns; on a tie the one without the seed.
        let side = against_seed * 2 <= members.len();
        let flipped: Vec<u32> = members.iter().copied().filter(|&t| marked(t) == side).collect();
        for &t in &flipped {
            triangles[t as usize].swap(1, 2);
        }
        turned.flipped.extend(flipped);
        surfaces.push(measure(x, triangles, members));
    }
    turned.flipped.sort_unstable();
    face_outward(x, triangles, &surfaces, &mut turned);
    turned
}

/// For each triangle its neighbours over edges of two triangles, and whether they disagree.
fn neighbours(triangles: usize, uses: &[EdgeUse]) -> Vec<[Option<(u32, bool)>; 3]> {
    let mut neighbours = vec![[None; 3]; triangles];
    let mut link = |from: EdgeUse, to: EdgeUse| {
        if let Some(slot) = neighbours[from.triangle as usize].iter_mut().find(|s| s.is_none()) {
            *slot = Some((to.triangle, from.rising == to.rising));
        }
    };
    for edge in by_edge(uses) {
        if let [a, b] = *edge {
            link(a, b);
            link(b, a);
        }
    }
    neighbours
}

/// The triangles reached from `seed`, sorted; marks each with whether it must flip to agree with the seed. False when
/// two ways to a triangle contradict each other.
fn flood(
    seed: u32,
    neighbours: &[[Option<(u32, bool)>; 3]],
    visited: &mut [Option<bool>],
) -> (Vec<u32>, bool) {
    let mut consistent = true;
    let mut members = vec![seed];
    visited[seed as usize] = Some(false);
    let mut next = 0;
    while next < members.len() {
        let t = members[next] as usize;
        next += 1;
        let flip = visited[t].unwrap_or(false);
        for (other, disagree) in neighbours[t].iter().flatten() {
            let wanted = flip != *disagree;
            match visited[*other as usize] {
                None => {
                    visited[*other as usize] = Some(wanted);
                    members.push(*other);
                }
                Some(marked) => consistent &= marked == wanted,
            }
        }
    }
    members.sort_unstable();
    (members, consistent)
}

/// Box of a surface, and its volume V = ⅙ Σ x₀·(x₁ × x₂) if every edge is run as often one way as the other.
fn measure(x: &[Vec3], triangles: &[[u32; 3]], members: Vec<u32>) -> Surface {
    let own: Vec<[u32; 3]> = members.iter().map(|&t| triangles[t as usize]).collect();
    let bounds = Aabb::of(own.iter().flatten().map(|&v| x[v as usize]));
    let sign = |u: &EdgeUse| if u.rising { 1_i64 } else { -1 };
    let uses = edge_uses(&own);
    let closed = by_edge(&uses).all(|edge| edge.iter().map(sign).sum::<i64>() == 0);
    let centre = bounds.center();
    let volume = closed.then(|| {
        own.iter()
            .map(|t| {
                let [a, b, c] = t.map(|v| x[v as usize] - centre);
                a.dot(b.cross(c)) / 6.0
            })
            .sum()
    });
    Surface { triangles: members, volume, bounds }
}

/// Turns closed surfaces of negative volume, unless an odd number of other closed surfaces holds them.
fn face_outward(x: &[Vec3], triangles: &mut [[u32; 3]], surfaces: &[Surface], turned: &mut Turned) {
    let closed = |s: &&Surface| s.volume.is_some();
    let inward: Vec<&Surface> =
        surfaces.iter().filter(closed).filter(|s| s.volume.is_some_and(|v| v < 0.0)).collect();
    for surface in inward {
        let first = surface.triangles[0];
        let point = x[triangles[first as usize][0] as usize];
        let holders = surfaces
            .iter()
            .filter(closed)
            .filter(|other| other.triangles[0] != first && contains(&other.bounds, &surface.bounds))
            .filter(|other| winding(x, triangles, &other.triangles, point).abs() > 0.5)
            .count();
        if holders % 2 == 1 {
            turned.cavities.push(first);
            continue;
        }
        turned.inside_out.push(first);
        for &t in &surface.triangles {
            triangles[t as usize].swap(1, 2);
        }
    }
}

fn contains(outer: &Aabb, inner: &Aabb) -> bool {
    outer.min.cmple(inner.min).all() && inner.max.cmple(outer.max).all()
}

/// How often a closed surface goes around a point: 1/4π of the sum of its triangles' solid angles.
/// tan(Ω/2) = a·(b × c) / (|a||b||c| + (a·b)|c| + (b·c)|a| + (c·a)|b|)   [Van Oosterom 1983]
fn winding(x: &[Vec3], triangles: &[[u32; 3]], members: &[u32], point: Vec3) -> f64 {
    let angles = members.iter().map(|&t| {
        let [a, b, c] = triangles[t as usize].map(|v| x[v as usize] - point);
        let (la, lb, lc) = (a.length(), b.length(), c.length());
        2.0 * a.dot(b.cross(c)).atan2(la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb)
    });
    angles.sum::<f64>() / (4.0 * PI)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tetrahedron with corners at the origin and `size` along each axis, facing outward.
    fn corner(size: f64, at: f64, x: &mut Vec<Vec3>, triangles: &mut Vec<[u32; 3]>) {
        let n = x.len() as u32;
        x.extend([Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z].map(|p| size * p + at));
        triangles.extend([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]].map(|t| t.map(|v| v + n)));
    }

    fn run(x: &[Vec3], triangles: &mut [[u32; 3]]) -> Turned {
        let uses = edge_uses(triangles);
        orient(x, triangles, &uses)
    }

    #[test]
    fn one_wrong_triangle_turns_and_an_inward_body_turns_whole() {
        let (mut x, mut good) = (Vec::new(), Vec::new());
        corner(1.0, 0.0, &mut x, &mut good);
        let mut bad = good.clone();
        bad[2].swap(1, 2);
        assert_eq!(run(&x, &mut bad), Turned { flipped: vec![2], ..Turned::default() });
        let rotated = |t: [u32; 3]| {
            let least = (0..3).min_by_key(|&i| t[i]).unwrap();
            [0, 1, 2].map(|i| t[(least + i) % 3])
        };
        assert_eq!(bad.map_triangles(rotated), good.map_triangles(rotated));
        let mut inward = good.clone();
        inward.iter_mut().for_each(|t| t.swap(0, 1));
        assert_eq!(run(&x, &mut inward), Turned { inside_out: vec![0], ..Turned::default() });
        assert_eq!(inward.map_triangles(rotated), good.map_triangles(rotated));
    }

    trait MapTriangles {
        fn map_triangles(&self, f: impl Fn([u32; 3]) -> [u32; 3]) -> Vec<[u32; 3]>;
    }

    impl MapTriangles for Vec<[u32; 3]> {
        fn map_triangles(&self, f: impl Fn([u32; 3]) -> [u32; 3]) -> Vec<[u32; 3]> {
            self.iter().map(|&t| f(t)).collect()
        }
    }

    #[test]
    fn an_inward_surface_inside_another_is_its_cavity_but_beside_it_turns() {
        for (at, cavity) in [(0.2, true), (5.0, false)] {
            let (mut x, mut triangles) = (Vec::new(), Vec::new());
            corner(2.0, 0.0, &mut x, &mut triangles);
            corner(0.1, at, &mut x, &mut triangles);
            triangles[4..].iter_mut().for_each(|t| t.swap(0, 1));
            let turned = run(&x, &mut triangles);
            assert_eq!((turned.cavities.len(), turned.inside_out.len()), (cavity as usize, !cavity as usize));
        }
    }

    #[test]
    fn a_moebius_strip_is_named_and_left() {
        let n = 12;
        let x: Vec<Vec3> = (0..2 * n)
            .map(|i| {
                let (angle, side) = (PI * (i / 2) as f64 * 2.0 / n as f64, (i % 2) as f64 - 0.5);
                let radius = 1.0 + side * (angle / 2.0).cos();
                Vec3::new(radius * angle.cos(), radius * angle.sin(), side * (angle / 2.0).sin())
            })
            .collect();
        let mut triangles = Vec::new();
        for i in 0..n {
            let (a, b) = (2 * i, 2 * i + 1);
            // The last square meets the first turned over.
            let (c, d) = if i + 1 < n { (a + 2, b + 2) } else { (1, 0) };
            triangles.extend([[a, c, b], [b, c, d]].map(|t| t.map(|v| v as u32)));
        }
        let before = triangles.clone();
        assert_eq!(run(&x, &mut triangles), Turned { one_sided: vec![0], ..Turned::default() });
        assert_eq!(triangles, before);
    }
}
