//! The dense path test: an independent judge of motions, sharing no code with the truncation or the distances.
//!
//! Two convex primitives are apart if and only if some direction separates them, and the best one is that of their
//! closest features: a face normal, a common perpendicular, or a connection that is orthogonal to one edge or to
//! none. All of those are tried. Along a fixed direction n the separation `min n·A − max n·B` of points on straight
//! simultaneous paths is concave in time, so it holds on a whole interval if it holds at its ends: advance to where
//! little of it is left, take the best direction there, go on. Where that creeps (a long slide close by), directions
//! between the hulls of whole pieces of the path are tried, on ever shorter pieces.

use littoral_geom::math::Vec3;
use littoral_sim::safe::Geometry;

/// Two primitives by their points, A's first: `split` of them (1: point–triangle, 2: edge–edge).
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    pub points: [u32; 4],
    pub split: usize,
}

/// Every pair that must never touch, and the tets that must never turn over.
#[derive(Clone, Debug)]
pub struct Everything {
    pub pairs: Vec<Pair>,
    pub tets: Vec<[u32; 4]>,
}

/// What went wrong on a path.
#[derive(Clone, Debug, PartialEq)]
pub enum Touch {
    /// A pair meets at this time in [0, 1].
    Pair { points: [u32; 4], split: usize, time: f64 },
    /// A tet loses its volume.
    Tet { points: [u32; 4] },
}

impl Everything {
    /// Of components that are not entangled, all vertex–triangle pairs with v ∉ t and all edge pairs without a common point that have an active point, and
    /// the seven pairs inside each tet.
    pub fn of(geometry: &Geometry) -> Self {
        let surface = &geometry.surface;
        let mut pairs = Vec::new();
        let mut add = |points: [u32; 4], split: usize| {
            if points.iter().any(|&v| geometry.active[v as usize])
                && !geometry.is_entangled(points[0], points[split])
            {
                pairs.push(Pair { points, split });
            }
        };
        for &v in &surface.vertices {
            for t in surface.triangles.iter().filter(|t| !t.contains(&v)) {
                add([v, t[0], t[1], t[2]], 1);
            }
        }
        for (k, a) in surface.edges.iter().enumerate() {
            for b in surface.edges[k + 1..].iter().filter(|b| !b.contains(&a[0]) && !b.contains(&a[1])) {
                add([a[0], a[1], b[0], b[1]], 2);
            }
        }
        for &[p, q, r, s] in &geometry.tets {
            for points in [[p, q, r, s], [q, p, r, s], [r, p, q, s], [s, p, q, r]] {
                add(points, 1);
            }
            for points in [[p, q, r, s], [p, r, q, s], [p, s, q, r]] {
                add(points, 2);
            }
        }
        Everything { pairs, tets: geometry.tets.clone() }
    }

    /// The first trouble found on the straight, simultaneous path between two states, or between any two of a
    /// polyline of states.
    pub fn trouble(&self, states: &[&[Vec3]]) -> Option<Touch> {
        states.windows(2).find_map(|w| self.trouble_on_leg(w[0], w[1]))
    }

    fn trouble_on_leg(&self, from: &[Vec3], to: &[Vec3]) -> Option<Touch> {
        for pair in &self.pairs {
            let i = pair.points.map(|v| v as usize);
            if i.iter().all(|&v| from[v] == to[v]) {
                continue;
            }
            if let Some(time) = first_touch(i.map(|v| from[v]), i.map(|v| to[v]), pair.split) {
                return Some(Touch::Pair { points: pair.points, split: pair.split, time });
            }
        }
        self.tets
            .iter()
            .find(|t| !keeps_volume(t.map(|v| from[v as usize]), t.map(|v| to[v as usize])))
            .map(|&points| Touch::Tet { points })
    }
}

/// Distance of two primitives [m]; not positive when they touch, to rounding.
pub fn distance(y: [Vec3; 4], split: usize) -> f64 {
    let y = y.map(|p| p - y[0]);
    let mut best = f64::NEG_INFINITY;
    each_direction(&y, split, |n| {
        best = best.max(separation(&y, split, n));
        false
    });
    best
}

/// Advances of one path before the pieces are tried.
const ADVANCES: usize = 30;

/// Halvings of a piece, at most: what is not proven then touches, or nearly.
const HALVINGS: usize = 40;

/// Share of the separation left when a new direction is sought.
const LEFT: f64 = 0.1;

/// When the primitives first touch on straight simultaneous paths, if they do.
fn first_touch(from: [Vec3; 4], to: [Vec3; 4], split: usize) -> Option<f64> {
    let apart = |k: usize| {
        let range = |r: std::ops::Range<usize>| {
            r.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), i| {
                (low.min(from[i][k]).min(to[i][k]), high.max(from[i][k]).max(to[i][k]))
            })
        };
        let (a, b) = (range(0..split), range(split..4));
        a.1 < b.0 || b.1 < a.0
    };
    if (0..3).any(apart) {
        return None;
    }
    // Relative to the first point, which leaves out the common motion and the rounding that comes with it.
    let start = from.map(|p| p - from[0]);
    let end = to.map(|p| p - to[0]);
    let at = |t: f64| -> [Vec3; 4] { std::array::from_fn(|i| start[i] + t * (end[i] - start[i])) };
    let mut t = 0.0;
    for _ in 0..ADVANCES {
        let y = if t == 0.0 { start } else { at(t) };
        let mut best = (0.0, Vec3::ZERO);
        // Concave, hence positive in between.
        let done = each_direction(&y, split, |n| {
            let here = separation(&y, split, n);
            if here > best.0 {
                best = (here, n);
            }
            here > 0.0 && separation(&end, split, n) > 0.0
        });
        if done
            || each_direction(&end, split, |n| {
                separation(&y, split, n) > 0.0 && separation(&end, split, n) > 0.0
            })
        {
            return None;
        }
        let (here, n) = best;
        // Touching, to the rounding of the separation.
        if here <= 4.0 * f64::EPSILON * y.iter().map(|p| p.length()).fold(0.0, f64::max) {
            return Some(t);
        }
        let mut next = 1.0_f64;
        for a in 0..split {
            for b in split..4 {
                let (now, then) = (n.dot(y[a] - y[b]), n.dot(end[a] - end[b]));
                if then < LEFT * here {
                    next = next.min(t + (1.0 - t) * (now - LEFT * here) / (now - then));
                }
            }
        }
        if next >= 1.0 {
            return None;
        }
        t = next;
    }
    let rest = at(t);
    (!piece_is_free(&rest, &end, split, HALVINGS)).then_some(t)
}

/// The primitives stay apart on the straight path from `y` to `z`.
fn piece_is_free(y: &[Vec3; 4], z: &[Vec3; 4], split: usize, halvings: usize) -> bool {
    let divides = |n: Vec3| separation(y, split, n) > 0.0 && separation(z, split, n) > 0.0;
    if each_direction(y, split, divides) || each_direction(z, split, divides) {
        return true;
    }
    let hull = |r: std::ops::Range<usize>| y[r.clone()].iter().chain(&z[r]).copied().collect::<Vec<_>>();
    let (a, b) = (hull(0..split), hull(split..4));
    if between_hulls(&a, &b, divides) {
        return true;
    }
    if halvings == 0 {
        return false;
    }
    let middle: [Vec3; 4] = std::array::from_fn(|i| 0.5 * (y[i] + z[i]));
    piece_is_free(y, &middle, split, halvings - 1) && piece_is_free(&middle, z, split, halvings - 1)
}

/// Tries the common perpendiculars of all pairs of features that hulls of these points may have.
fn between_hulls(a: &[Vec3], b: &[Vec3], divides: impl Fn(Vec3) -> bool) -> bool {
    let attempt = |n: Vec3| {
        let length = n.length();
        length > 0.0 && (divides(n / length) || divides(-n / length))
    };
    let edges = |p: &[Vec3]| -> Vec<[Vec3; 2]> {
        (0..p.len()).flat_map(|i| (0..i).map(move |j| [i, j])).map(|[i, j]| [p[i], p[j]]).collect()
    };
    let (ea, eb) = (edges(a), edges(b));
    let faces = |p: &[Vec3], e: &[[Vec3; 2]]| {
        e.iter().any(|&[q, r]| p.iter().any(|&s| attempt(across(r - q, s - q))))
    };
    ea.iter().any(|e| eb.iter().any(|f| attempt(across(e[1] - e[0], f[1] - f[0]))))
        || faces(a, &ea)
        || faces(b, &eb)
        || ea.iter().any(|e| b.iter().any(|&p| attempt(upright(p - e[0], e[1] - e[0]))))
        || eb.iter().any(|e| a.iter().any(|&p| attempt(upright(p - e[0], e[1] - e[0]))))
}

/// `min n·A − max n·B`.
fn separation(y: &[Vec3; 4], split: usize, n: Vec3) -> f64 {
    let along = y.map(|p| n.dot(p));
    let low = along[..split].iter().copied().fold(f64::INFINITY, f64::min);
    let high = along[split..].iter().copied().fold(f64::NEG_INFINITY, f64::max);
    low - high
}

/// Tries the directions of all pairs of features, from B to A, until one satisfies `enough`.
pub fn each_direction(y: &[Vec3; 4], split: usize, mut enough: impl FnMut(Vec3) -> bool) -> bool {
    let mut attempt = |n: Vec3| {
        let length = n.length();
        length > 0.0 && enough(n / length)
    };
    let mut both = |n: Vec3| attempt(n) || attempt(-n);
    let (u, w) = if split == 1 { (y[2] - y[1], y[3] - y[1]) } else { (y[1] - y[0], y[3] - y[2]) };
    if both(across(u, w)) {
        return true;
    }
    if split == 1 {
        let edges = [(y[1], y[2]), (y[2], y[3]), (y[3], y[1])];
        edges.iter().any(|&(a, b)| attempt(upright(y[0] - a, b - a))) || (1..4).any(|k| attempt(y[0] - y[k]))
    } else {
        (0..2).any(|k| attempt(upright(y[k] - y[2], w)))
            || (2..4).any(|k| attempt(upright(y[0] - y[k], u)))
            || (0..2).any(|a| (2..4).any(|b| attempt(y[a] - y[b])))
    }
}

/// The part of `r` orthogonal to `u`; the second round removes what the first one's rounding left.
pub fn upright(r: Vec3, u: Vec3) -> Vec3 {
    let uu = u.length_squared();
    if uu == 0.0 {
        return r;
    }
    let once = r - u * (r.dot(u) / uu);
    once - u * (once.dot(u) / uu)
}

/// Unit vector orthogonal to `u` and `w` to rounding, even when they are nearly parallel; zero when parallel.
pub fn across(u: Vec3, w: Vec3) -> Vec3 {
    let n = u.cross(w);
    let length = n.length();
    if length == 0.0 {
        return Vec3::ZERO;
    }
    let n = n / length;
    upright(upright(n, upright(w, u)), u)
}

/// The volume stays positive along the whole path: a cubic in time, by its Bernstein coefficients.
fn keeps_volume(from: [Vec3; 4], to: [Vec3; 4]) -> bool {
    let a = [1, 2, 3].map(|k| from[k] - from[0]);
    let b = [1, 2, 3].map(|k| to[k] - to[0]);
    let det = |u: Vec3, v: Vec3, w: Vec3| u.dot(v.cross(w));
    let one = det(b[0], a[1], a[2]) + det(a[0], b[1], a[2]) + det(a[0], a[1], b[2]);
    let two = det(b[0], b[1], a[2]) + det(b[0], a[1], b[2]) + det(a[0], b[1], b[2]);
    let c = [det(a[0], a[1], a[2]), one / 3.0, two / 3.0, det(b[0], b[1], b[2])];
    is_positive(c, 40)
}

/// A cubic with these Bernstein coefficients is positive on [0, 1]; false after `depth` halvings without proof.
fn is_positive(c: [f64; 4], depth: usize) -> bool {
    if c[0] <= 0.0 || c[3] <= 0.0 {
        return false;
    }
    if c[1] > 0.0 && c[2] > 0.0 {
        return true;
    }
    if depth == 0 {
        return false;
    }
    let m = [0.5 * (c[0] + c[1]), 0.5 * (c[1] + c[2]), 0.5 * (c[2] + c[3])];
    let p = [0.5 * (m[0] + m[1]), 0.5 * (m[1] + m[2])];
    let middle = 0.5 * (p[0] + p[1]);
    is_positive([c[0], m[0], p[0], middle], depth - 1) && is_positive([middle, p[1], m[2], c[3]], depth - 1)
}

#[test]
fn a_point_through_a_triangle_is_seen_and_one_past_it_is_not() {
    let triangle = [Vec3::ZERO, Vec3::X, Vec3::Y];
    let path = |from: Vec3, to: Vec3| {
        let join = |p: Vec3| [p, triangle[0], triangle[1], triangle[2]];
        first_touch(join(from), join(to), 1)
    };
    let t = path(Vec3::new(0.2, 0.2, 1.0), Vec3::new(0.2, 0.2, -3.0)).expect("it goes through");
    // Touches at a quarter; the test stops where 1e-60 of the height is left at the latest.
    assert!((t - 0.25).abs() < 1e-12, "{t}");
    assert_eq!(path(Vec3::new(0.7, 0.7, 1.0), Vec3::new(0.7, 0.7, -3.0)), None);
    // Slides by 1 at a height of 1e-9.
    assert_eq!(path(Vec3::new(0.1, 0.1, 1e-9), Vec3::new(0.6, 0.2, 1e-9)), None);
}

#[test]
fn crossing_edges_are_seen_even_when_nearly_parallel() {
    for angle in [1.0, 1e-3, 1e-6, 1e-9] {
        // The second edge turns about the x axis' middle and passes from above to below.
        let at = |z: f64| [-Vec3::X, Vec3::X, Vec3::new(-1.0, -angle, z), Vec3::new(1.0, angle, z)];
        assert!(first_touch(at(-1e-9), at(1e-9), 2).is_some(), "angle {angle}");
        assert_eq!(first_touch(at(-1e-9), at(-1e-11), 2), None, "angle {angle}");
    }
}

#[test]
fn a_tet_turned_inside_out_and_back_is_seen() {
    let up = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
    assert!(keeps_volume(up, up.map(|p| 2.0 * p)));
    // Point reflection: −1 in all three directions; the volume is (1 − 2t)³.
    assert!(!keeps_volume(up, up.map(|p| -p)));
    // (1 − 3t)(1 − 2t): inside out from a third of the time to the half, right at both ends.
    assert!(!keeps_volume(up, up.map(|p| Vec3::new(-2.0 * p.x, -p.y, p.z))));
}
