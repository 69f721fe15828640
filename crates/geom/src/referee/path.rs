//! The leak test: which particles went through which triangles on the way from one state to the next.
//!
//! Particle and corners move linearly, t from 0 to 1. A particle crosses a triangle when it meets the closed moving
//! triangle and
//! - is on the other side of its plane afterwards, or
//! - ends on it.
//!
//! So a path through an edge or a corner crosses all triangles there whose sides it changes. Touching and going back
//! is no crossing, nor is starting on a triangle and leaving it: that was reported when the particle came there.
//!
//! Against a triangle at rest the answer is exact, by the signs of determinants. Against a moving one, intervals of
//! time are halved until each is proved free of contact, or too short to tell; proofs count every rounding, so what is
//! called free is free. What cannot be decided counts as a crossing. That is within some 1e-14 of the distance of
//! particle and corners; so a particle that slides on a triangle that moves in its own plane is reported.
//!
//! A free interval is one in which the coplanarity determinant f(t) = det(a − p, b − p, c − p), a cubic, has Bernstein
//! coefficients of one sign, or in which some direction separates particle and triangle at both ends.

use super::exact::{edge_meets_triangle, side, surely_one_side};
use super::grid::{Grid, Item, Table, finest};
use crate::math::Vec3;
use rayon::prelude::*;

/// Judges the paths of particles among moving triangles.
#[derive(Clone, Debug)]
pub struct PathReferee {
    triangles: Vec<[u32; 3]>,
    particles: Vec<u32>,
}

impl PathReferee {
    /// A referee for these triangles and particles, as point indices. A triangle with the particle as a corner is not
    /// judged.
    pub fn new(triangles: &[[u32; 3]], particles: &[u32]) -> PathReferee {
        PathReferee { triangles: triangles.to_vec(), particles: particles.to_vec() }
    }

    /// Every (particle, triangle) such that the point `particle` crosses the triangle while all points move from `x0`
    /// to `x1` [m], sorted; and the number of exact tests made. Pairs with a point that is not finite are left out, see
    /// [`super::Referee::non_finite`].
    ///
    /// # Panics
    /// When an index has no point in both lists.
    pub fn crossings(&self, x0: &[Vec3], x1: &[Vec3]) -> (Vec<[u32; 2]>, u64) {
        let (particles, triangles) = rayon::join(
            || swept(self.particles.iter().map(std::slice::from_ref), x0, x1, true),
            || swept(self.triangles.iter().map(|t| t.as_slice()), x0, x1, false),
        );
        // Only particles are active: triangles that none of them comes near are left out.
        let Some(grid) = Grid::around(&particles, &triangles) else {
            return (Vec::new(), 0);
        };
        let (particles, triangles) = (grid.keep(particles), grid.keep(triangles));
        let (finest_particle, finest_triangle) = (finest(&particles), finest(&triangles));
        // A pair is looked for at the coarser of its two levels, by its finer member; by the particle if both are on
        // one level.
        let (particles, triangles) = rayon::join(
            || grid.file(particles, finest_triangle.saturating_add(1)),
            || grid.file(triangles, finest_particle),
        );
        let judge = |p: &Item, t: &Item, found: &mut Found| {
            found.tests += 1;
            found.crossings.extend(self.judge(p.index, t.index, x0, x1));
        };
        let by_particle = |p: &Item, found: &mut Found| {
            for &level in triangles.levels_from(p.level) {
                triangles.meet(p, level, &grid, |t| judge(p, t, found));
            }
        };
        let by_triangle = |t: &Item, found: &mut Found| {
            for &level in particles.levels_from(t.level + 1) {
                particles.meet(t, level, &grid, |p| judge(p, t, found));
            }
        };
        let (found, more) =
            rayon::join(|| search(&particles, by_particle), || search(&triangles, by_triangle));
        let mut crossings = found.crossings;
        crossings.extend(more.crossings);
        crossings.sort_unstable();
        crossings.dedup();
        (crossings, found.tests + more.tests)
    }

    /// The same crossings, by judging every pair: the oracle of the tests.
    pub fn crossings_brute_force(&self, x0: &[Vec3], x1: &[Vec3]) -> Vec<[u32; 2]> {
        let finite = |p: &u32| x0[*p as usize].is_finite() && x1[*p as usize].is_finite();
        let mut crossings = Vec::new();
        for p in (0..self.particles.len()).filter(|&p| finite(&self.particles[p])) {
            for t in (0..self.triangles.len()).filter(|&t| self.triangles[t].iter().all(finite)) {
                crossings.extend(self.judge(p as u32, t as u32, x0, x1));
            }
        }
        crossings.sort_unstable();
        crossings.dedup();
        crossings
    }

    /// The crossing of the p-th particle and the t-th triangle, if it is one.
    #[inline]
    fn judge(&self, p: u32, t: u32, x0: &[Vec3], x1: &[Vec3]) -> Option<[u32; 2]> {
        let (point, corners) = (self.particles[p as usize], self.triangles[t as usize]);
        if corners.contains(&point) {
            return None;
        }
        let path = [x0, x1].map(|x| x[point as usize]);
        let triangle = [x0, x1].map(|x| corners.map(|v| x[v as usize]));
        crosses(path, triangle).then_some([point, t])
    }
}

/// The boxes of all primitives over the whole motion: linear motion stays in the box of its ends.
pub(super) fn swept<'p>(
    primitives: impl Iterator<Item = &'p [u32]>,
    x0: &[Vec3],
    x1: &[Vec3],
    active: bool,
) -> Vec<Item> {
    let item = |(index, points): (usize, &[u32])| {
        let ends = || points.iter().flat_map(|&p| [x0[p as usize], x1[p as usize]]);
        let min = ends().fold(Vec3::INFINITY, Vec3::min);
        let max = ends().fold(Vec3::NEG_INFINITY, Vec3::max);
        ends().all(Vec3::is_finite).then_some(Item { min, max, index: index as u32, level: 0, active })
    };
    primitives.enumerate().filter_map(item).collect()
}

/// What a search found, and how many pairs it judged.
#[derive(Default)]
pub(super) struct Found {
    pub(super) crossings: Vec<[u32; 2]>,
    pub(super) tests: u64,
}

/// Lets every seeker look, in chunks of fixed size.
pub(super) fn search(seekers: &Table, look: impl Fn(&Item, &mut Found) + Sync) -> Found {
    let chunk = |items: &[Item]| {
        let mut found = Found::default();
        items.iter().for_each(|item| look(item, &mut found));
        found
    };
    let parts: Vec<Found> = seekers.items.par_chunks(256).map(chunk).collect();
    parts.into_iter().fold(Found::default(), |mut sum, part| {
        sum.crossings.extend(part.crossings);
        sum.tests += part.tests;
        sum
    })
}

/// Whether a particle crosses a triangle, both given at the start and at the end.
fn crosses(p: [Vec3; 2], triangle: [[Vec3; 3]; 2]) -> bool {
    let [start, end] = triangle;
    if start == end {
        return crosses_at_rest(p, start);
    }
    let motion = Motion::new(p, triangle);
    if motion.is_free(0.0, 1.0) {
        return false;
    }
    edge_meets_triangle([p[1]; 2], end) || motion.crosses()
}

/// The same for a triangle at rest, exactly.
fn crosses_at_rest([p, q]: [Vec3; 2], t: [Vec3; 3]) -> bool {
    if surely_one_side([p, q], t) {
        return false;
    }
    match side(t[0], t[1], t[2], p) * side(t[0], t[1], t[2], q) {
        -1 => edge_meets_triangle([p, q], t),
        0 => edge_meets_triangle([q, q], t),
        _ => false,
    }
}

/// Halvings of the step, at most: 2⁻⁴⁸ of the way is below the rounding of positions, and such times are exact.
const DEPTH: i32 = 48;

/// More undecided intervals than this at a time mean lasting contact within rounding: halving stops. A crossing leaves
/// one or two, a touch some ten until rounding covers it.
const CROWD: usize = 64;

/// Contact that lasts this share of the step is no mere touch.
const MOMENT: f64 = 1.0 / (1u64 << 16) as f64;

/// Bound of what rounding adds to a coordinate relative to the particle, as a share of the largest: a difference, and a
/// blend of two of them, 3 · 2⁻⁵³.
const POINT_ERROR: f64 = 4e-16;

/// The same for the product with a direction, per |direction|₁: that of the coordinate, and four roundings.
const DOT_ERROR: f64 = 1e-15;

/// The same for a determinant, as a share of the product of its columns' largest coordinates: six products of three
/// coordinates with [`POINT_ERROR`] each (72 · 2⁻⁵³), at most six roundings of each (36), and the mean of three.
const DETERMINANT_ERROR: f64 = 2e-14;

/// Covers underflow.
const TINY: f64 = 1e-290;

/// A triangle as its particle sees it.
struct Motion {
    /// Particle and triangle at the start and at the end.
    p: [Vec3; 2],
    triangle: [[Vec3; 3]; 2],
    /// Corners relative to the particle at the start and at the end.
    u: [[Vec3; 3]; 2],
    /// Largest coordinate that each of them ever has, and of all.
    size: [f64; 3],
    largest: f64,
}

impl Motion {
    fn new(p: [Vec3; 2], triangle: [[Vec3; 3]; 2]) -> Motion {
        let u = [0, 1].map(|k| triangle[k].map(|c| c - p[k]));
        let size = [0, 1, 2].map(|i| u[0][i].abs().max(u[1][i].abs()).max_element());
        Motion { p, triangle, u, size, largest: size[0].max(size[1]).max(size[2]) }
    }

    /// Corners relative to the particle at time t.
    #[inline]
    fn at(&self, t: f64) -> [Vec3; 3] {
        [0, 1, 2].map(|i| (1.0 - t) * self.u[0][i] + t * self.u[1][i])
    }

    fn determinant_error(&self) -> f64 {
        DETERMINANT_ERROR * self.size[0] * self.size[1] * self.size[2] + TINY
    }

    /// True only if there is no contact from time s to e.
    fn is_free(&self, s: f64, e: f64) -> bool {
        let (first, last) = (self.at(s), self.at(e));
        let min = first.iter().chain(&last).fold(Vec3::INFINITY, |m, v| m.min(*v));
        let max = first.iter().chain(&last).fold(Vec3::NEG_INFINITY, |m, v| m.max(*v));
        let error = POINT_ERROR * self.largest;
        if min.max_element() > error || max.min_element() < -error {
            return true;
        }
        let f = bernstein(first, last);
        let error = self.determinant_error();
        if f.iter().all(|&b| b > error) || f.iter().all(|&b| b < -error) {
            return true;
        }
        // In the middle of the interval the particle sees the triangle's nearest point along its normal, or on an edge.
        let [a, b, c] = [0, 1, 2].map(|i| 0.5 * (first[i] + last[i]));
        let directions = [(b - a).cross(c - a), foot(a, b), foot(b, c), foot(c, a)];
        directions.into_iter().any(|d| self.is_separated(d, &first, &last))
    }

    /// True only if all corners are on one side of the particle along a direction, at both times: then they are in
    /// between, since products with a fixed direction are linear in time.
    #[inline]
    fn is_separated(&self, d: Vec3, first: &[Vec3; 3], last: &[Vec3; 3]) -> bool {
        let error = DOT_ERROR * self.largest * (d.x.abs() + d.y.abs() + d.z.abs()) + TINY;
        let all = || first.iter().chain(last).map(|u| d.dot(*u));
        all().all(|x| x > error) || all().all(|x| x < -error)
    }

    /// Whether the particle crosses; it is known not to end on the triangle.
    fn crosses(&self) -> bool {
        // Interval k is [k, k + 1] · width. All those that may hold a contact, ascending.
        let (mut undecided, mut width) = (vec![0u64], 1.0);
        for _ in 0..DEPTH {
            width *= 0.5;
            let halves = undecided.iter().flat_map(|k| [2 * k, 2 * k + 1]);
            undecided = halves.filter(|&k| !self.is_free(k as f64 * width, (k + 1) as f64 * width)).collect();
            if undecided.len() > CROWD {
                break;
            }
        }
        // What hangs together is one contact.
        undecided.chunk_by(|k, next| k + 1 == *next).any(|contact| !self.is_touch(contact, width))
    }

    /// True only if the particle is on the same side of the triangle before and after a contact and in it never on the
    /// other by more than rounding; or starts on the triangle.
    fn is_touch(&self, contact: &[u64], width: f64) -> bool {
        let (s, e) = (contact[0] as f64 * width, (contact[contact.len() - 1] + 1) as f64 * width);
        if e - s > MOMENT {
            return false;
        }
        if s == 0.0 && edge_meets_triangle([self.p[0]; 2], self.triangle[0]) {
            return true;
        }
        let sign = self.side_at(s);
        if sign == 0 || self.side_at(e) != sign {
            return false;
        }
        // The sides mean the same only if the triangle did not turn over.
        let normal = |t: f64| {
            let [a, b, c] = self.at(t);
            (b - a).cross(c - a)
        };
        let (before, after) = (normal(s), normal(e));
        let turned = before.dot(after) < 0.5 * before.length() * after.length();
        let beyond = |k: &u64| {
            let f = bernstein(self.at(*k as f64 * width), self.at((k + 1) as f64 * width));
            f.iter().any(|b| b * f64::from(sign) < -self.determinant_error())
        };
        !turned && before != Vec3::ZERO && !contact.iter().any(beyond)
    }

    /// Sign of f(t), exact at 0 and 1; 0 if rounding hides it.
    fn side_at(&self, t: f64) -> i32 {
        if t == 0.0 || t == 1.0 {
            let k = usize::from(t == 1.0);
            let [a, b, c] = self.triangle[k];
            return side(a, b, c, self.p[k]);
        }
        let (f, error) = (determinant(self.at(t)), self.determinant_error());
        i32::from(f > error) - i32::from(f < -error)
    }
}

#[inline]
fn determinant([a, b, c]: [Vec3; 3]) -> f64 {
    a.dot(b.cross(c))
}

/// Bernstein coefficients of the determinant of three columns that move linearly.
#[inline]
pub(super) fn bernstein([a, b, c]: [Vec3; 3], [d, e, f]: [Vec3; 3]) -> [f64; 4] {
    let (bc, ef) = (b.cross(c), e.cross(f));
    let mixed = b.cross(f) + e.cross(c);
    [a.dot(bc), (d.dot(bc) + a.dot(mixed)) / 3.0, (a.dot(ef) + d.dot(mixed)) / 3.0, d.dot(ef)]
}

/// The point of an edge nearest to the origin, good enough for a direction.
#[inline]
pub(super) fn foot(a: Vec3, b: Vec3) -> Vec3 {
    let along = b - a;
    let length_sq = along.length_squared();
    let t = if length_sq > 0.0 { (-a.dot(along) / length_sq).clamp(0.0, 1.0) } else { 0.0 };
    a + along * t
}
