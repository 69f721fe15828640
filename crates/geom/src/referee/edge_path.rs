//! The passage test: which edges went through which on the way from one state to the next.
//!
//! Two edges that pass through each other leave no trace in the state that they come to, unlike an edge that enters a
//! triangle. So their way is judged: ends move linearly, t from 0 to 1, and a pair passes when the closed edges meet at
//! any time of it, unless they met at its start: then they were reported when they came there.
//!
//! Intervals of time are halved until each is proved free of contact, or too short to tell; proofs count every rounding,
//! so that what is called free is free. What cannot be decided counts as a passage: that is within some 10⁻¹⁴ of the
//! size of the coordinates. A free interval is one in which the volume det(r, u, w) of the edges u, w and the difference r
//! of their first ends, a cubic, has Bernstein coefficients of one sign, or in which some direction separates the edges
//! at both ends of the interval.

use super::exact::edge_meets_triangle;
use super::grid::{Grid, Item, finest};
use super::path::{bernstein, foot, search, swept};
use crate::math::Vec3;

/// Judges the ways of edges.
#[derive(Clone, Debug)]
pub struct EdgePathReferee {
    edges: Vec<[u32; 2]>,
    first: usize,
}

impl EdgePathReferee {
    /// A referee for pairs of an edge from number `first` on and any other edge, without a common point.
    pub fn new(edges: &[[u32; 2]], first: usize) -> EdgePathReferee {
        EdgePathReferee { edges: edges.to_vec(), first: first.min(edges.len()) }
    }

    /// Every pair of edges, the smaller number first, that pass while all points move from `x0` to `x1` [m], sorted; and the
    /// number of exact tests made. Pairs with a point that is not finite are left out.
    ///
    /// # Panics
    /// When an index has no point in both lists.
    pub fn passages(&self, x0: &[Vec3], x1: &[Vec3]) -> (Vec<[u32; 2]>, u64) {
        let (lines, others) = rayon::join(
            || swept(self.edges[self.first..].iter().map(|e| e.as_slice()), x0, x1, true),
            || swept(self.edges.iter().map(|e| e.as_slice()), x0, x1, false),
        );
        let Some(grid) = Grid::around(&lines, &others) else {
            return (Vec::new(), 0);
        };
        let (lines, others) = (grid.keep(lines), grid.keep(others));
        let (finest_line, finest_other) = (finest(&lines), finest(&others));
        // A pair is looked for at the coarser of its two levels, by its finer member; by the line if both are on one level.
        let (lines, others) = rayon::join(
            || grid.file(lines, finest_other.saturating_add(1)),
            || grid.file(others, finest_line),
        );
        let judge = |line: &Item, other: &Item, found: &mut super::path::Found| {
            let (a, b) = (self.first + line.index as usize, other.index as usize);
            // Two lines find each other twice.
            let is_second = b >= self.first && b <= a;
            let (e, f) = (self.edges[a], self.edges[b]);
            if is_second || e.contains(&f[0]) || e.contains(&f[1]) {
                return;
            }
            found.tests += 1;
            if self.pass(a, b, x0, x1) {
                found.crossings.push([a.min(b) as u32, a.max(b) as u32]);
            }
        };
        let by_line = |a: &Item, found: &mut super::path::Found| {
            for &level in others.levels_from(a.level) {
                others.meet(a, level, &grid, |b| judge(a, b, found));
            }
        };
        let by_other = |b: &Item, found: &mut super::path::Found| {
            for &level in lines.levels_from(b.level + 1) {
                lines.meet(b, level, &grid, |a| judge(a, b, found));
            }
        };
        let (found, more) = rayon::join(|| search(&lines, by_line), || search(&others, by_other));
        let mut passages = found.crossings;
        passages.extend(more.crossings);
        passages.sort_unstable();
        passages.dedup();
        (passages, found.tests + more.tests)
    }

    /// The same passages, by judging every pair: the oracle of the tests.
    pub fn passages_brute_force(&self, x0: &[Vec3], x1: &[Vec3]) -> Vec<[u32; 2]> {
        let finite = |p: &u32| x0[*p as usize].is_finite() && x1[*p as usize].is_finite();
        let mut passages = Vec::new();
        for b in self.first..self.edges.len() {
            for a in 0..b {
                let (e, f) = (self.edges[a], self.edges[b]);
                let apart = !e.contains(&f[0]) && !e.contains(&f[1]);
                if apart && e.iter().chain(&f).all(finite) && self.pass(a, b, x0, x1) {
                    passages.push([a as u32, b as u32]);
                }
            }
        }
        passages.sort_unstable();
        passages
    }

    fn pass(&self, a: usize, b: usize, x0: &[Vec3], x1: &[Vec3]) -> bool {
        let ends = |e: usize, x: &[Vec3]| self.edges[e].map(|p| x[p as usize]);
        let [start, end] = [x0, x1].map(|x| [ends(a, x), ends(b, x)]);
        Motion::new(start, end).passes()
    }
}

/// Halvings of the step, at most: 2⁻⁴⁸ of the way is below the rounding of positions, and such times are exact.
const DEPTH: i32 = 48;

/// More undecided intervals than this at a time mean lasting contact within rounding: halving stops.
const CROWD: usize = 64;

/// What rounding adds to a difference of two positions within the step, as a share of the largest coordinate: two blends of
/// 4 · 2⁻⁵³ each, and the difference of numbers twice as large.
const POINT_ERROR: f64 = 2e-15;

/// The same for the product with a direction, per |direction|₁: that of the difference, and four roundings of the product.
const DOT_ERROR: f64 = 4e-15;

/// The same for a Bernstein coefficient, per square of the largest difference: three factors, each off by the error of a
/// point, in six products, and their roundings.
const VOLUME_ERROR: f64 = 1e-13;

/// Below this nothing is a proof: products near the end of the range lose digits.
const TINY: f64 = 1e-280;

/// Two edges that move linearly.
struct Motion {
    start: [[Vec3; 2]; 2],
    end: [[Vec3; 2]; 2],
    /// Largest coordinate.
    largest: f64,
}

impl Motion {
    fn new(start: [[Vec3; 2]; 2], end: [[Vec3; 2]; 2]) -> Motion {
        let all = start.iter().chain(&end).flatten();
        let largest = all.fold(0.0, |m: f64, p| m.max(p.abs().max_element()));
        Motion { start, end, largest }
    }

    fn at(&self, t: f64) -> [[Vec3; 2]; 2] {
        let blend = |e: usize, p: usize| {
            let (a, b) = (self.start[e][p], self.end[e][p]);
            if t == 1.0 { b } else { a + (b - a) * t }
        };
        [0, 1].map(|e| [blend(e, 0), blend(e, 1)])
    }

    fn passes(&self) -> bool {
        if self.is_free(0.0, 1.0) {
            return false;
        }
        // A degenerate triangle is a segment.
        let [a, b] = self.start;
        if edge_meets_triangle(a, [b[0], b[1], b[1]]) {
            return false;
        }
        // Interval k is [k, k + 1] · width.
        let (mut undecided, mut width) = (vec![0u64], 1.0);
        for _ in 0..DEPTH {
            width *= 0.5;
            let halves = undecided.iter().flat_map(|k| [2 * k, 2 * k + 1]);
            undecided = halves.filter(|&k| !self.is_free(k as f64 * width, (k + 1) as f64 * width)).collect();
            if undecided.is_empty() {
                return false;
            }
            if undecided.len() > CROWD {
                break;
            }
        }
        true
    }

    /// True only if the edges do not meet from time s to e.
    fn is_free(&self, s: f64, e: f64) -> bool {
        let (first, last) = (self.at(s), self.at(e));
        let columns = |[a, b]: [[Vec3; 2]; 2]| [b[0] - a[0], a[1] - a[0], b[1] - b[0]];
        let (f, l) = (columns(first), columns(last));
        let size = f.iter().chain(&l).fold(0.0, |m: f64, v| m.max(v.abs().max_element()));
        let volumes = bernstein(f, l);
        let error = VOLUME_ERROR * size * size * self.largest + TINY;
        if volumes.iter().all(|&v| v > error) || volumes.iter().all(|&v| v < -error) {
            return true;
        }
        // In the middle of the interval: along both edges' normal, or from an end to the other edge.
        let [a, b] = [0, 1].map(|i| [0, 1].map(|p| 0.5 * (first[i][p] + last[i][p])));
        let directions = [
            (a[1] - a[0]).cross(b[1] - b[0]),
            foot(b[0] - a[0], b[1] - a[0]),
            foot(b[0] - a[1], b[1] - a[1]),
            -foot(a[0] - b[0], a[1] - b[0]),
            -foot(a[0] - b[1], a[1] - b[1]),
        ];
        directions.into_iter().any(|d| self.is_separated(d, &first, &last))
    }

    /// True only if one edge is on one side of the other along a direction at both times: then it is in between, since
    /// products with a fixed direction are linear in time.
    fn is_separated(&self, d: Vec3, first: &[[Vec3; 2]; 2], last: &[[Vec3; 2]; 2]) -> bool {
        let error = DOT_ERROR.max(POINT_ERROR) * self.largest * (d.x.abs() + d.y.abs() + d.z.abs()) + TINY;
        let all = || {
            [first, last]
                .into_iter()
                .flat_map(|[a, b]| a.iter().flat_map(move |p| b.iter().map(move |q| d.dot(*q - *p))))
        };
        all().all(|x| x > error) || all().all(|x| x < -error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    const PAIR: [[u32; 2]; 2] = [[0, 1], [2, 3]];

    fn passes(x0: [[f64; 3]; 4], x1: [[f64; 3]; 4]) -> bool {
        let [x0, x1] = [x0, x1].map(|x| x.map(Vec3::from));
        let referee = EdgePathReferee::new(&PAIR, 1);
        let found = referee.passages(&x0, &x1).0;
        assert_eq!(found, referee.passages_brute_force(&x0, &x1));
        !found.is_empty()
    }

    #[test]
    fn an_edge_that_goes_through_another_passes_and_one_that_goes_beside_does_not() {
        let at = |z: f64, y: f64| [[-1., 0., 0.], [1., 0., 0.], [0., y - 1., z], [0., y + 1., z]];
        assert!(passes(at(0.1, 0.0), at(-0.1, 0.0)));
        assert!(!passes(at(0.1, 1.1), at(-0.1, 1.1)));
        assert!(!passes(at(0.1, 0.0), at(1e-9, 0.0)));
        // There and back within a step is two steps of straight ways; touching at the end is a meeting.
        assert!(passes(at(0.1, 0.0), at(0.0, 0.0)));
        assert!(!passes(at(0.0, 0.0), at(-0.1, 0.0)), "what met at the start was told before");
    }

    #[test]
    fn edges_that_move_together_at_a_tiny_distance_do_not_pass() {
        for seed in 0..1000 {
            let mut random = Random::new(seed);
            let (a, b) = (random.in_cube(1.0), random.in_cube(1.0));
            let side = (a - b).any_orthonormal_vector();
            let gap = random.log_between(1e-10, 1e-3);
            let way = random.in_cube(2.0);
            let x0 = [a, b, a + gap * side, b + gap * side];
            let x1 = x0.map(|p| p + way);
            let referee = EdgePathReferee::new(&PAIR, 0);
            assert!(referee.passages(&x0, &x1).0.is_empty(), "seed {seed}, gap {gap:e}");
        }
    }

    #[test]
    fn random_passages_are_those_that_dense_sampling_sees() {
        for seed in 0..3000 {
            let mut random = Random::new(seed);
            let mut shape = || [0; 4].map(|_| random.in_cube(1.0));
            let (x0, x1) = (shape(), shape());
            // The sign of the volume changes at a time when the closest points of the lines are inside of both edges.
            let state = |t: f64| {
                let x: [Vec3; 4] = std::array::from_fn(|i| x0[i].lerp(x1[i], t));
                let (u, w, r) = (x[1] - x[0], x[3] - x[2], x[2] - x[0]);
                let n = u.cross(w);
                let inside = |s: f64| (0.0..=1.0).contains(&s);
                let s = r.cross(w).dot(n) / n.length_squared();
                let q = r.cross(u).dot(n) / n.length_squared();
                (r.dot(n) > 0.0, inside(s) && inside(q))
            };
            let mut seen = false;
            for k in 0..2000 {
                let (a, b) = (state(f64::from(k) / 2000.0), state(f64::from(k + 1) / 2000.0));
                seen |= a.0 != b.0 && a.1 && b.1;
            }
            let referee = EdgePathReferee::new(&PAIR, 0);
            let found = !referee.passages(&x0, &x1).0.is_empty();
            // Sampling misses a passage near an end of an edge, and never sees one that is not there.
            assert!(found || !seen, "seed {seed}");
        }
    }

    #[test]
    fn many_edges_are_judged_like_each_pair_alone() {
        for seed in 0..50 {
            let mut random = Random::new(seed);
            let n = 60;
            let edges: Vec<[u32; 2]> = (0..n).map(|k| [2 * k, 2 * k + 1]).collect();
            let x0: Vec<Vec3> = (0..2 * n).map(|_| random.in_cube(1.0)).collect();
            let x1: Vec<Vec3> = x0.iter().map(|p| *p + random.in_cube(0.1)).collect();
            let referee = EdgePathReferee::new(&edges, 20);
            assert_eq!(referee.passages(&x0, &x1).0, referee.passages_brute_force(&x0, &x1), "seed {seed}");
        }
    }
}
