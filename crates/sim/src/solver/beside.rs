//! Unknowns of Newton's method that are no points: the shift and the turn of each rigid body, and the turns of the frames
//! of rods.
//!
//! A point r of the shape of a body with its centre at c stands at x = c + R r. By the shift s and the turn θ of the
//! body it moves by δx = J (s, θ), J = [1, −[x − c]ₓ]: a gradient g at points becomes Jᵀg, a block B of two points
//! JᵀBJ. What J changes by as the body turns is left to `body_terms`.

use super::sparse::{BlockMatrix, NONE, Unknowns};
use crate::body::{Bodies, NO_BODY};
use crate::elastic::Elastic;
use crate::potential::Potential;
use littoral_geom::math::{Mat3, Vec3, skew};

/// Springs and tethers that end on rigid bodies, by their numbers: the only elements at points that are no unknowns.
#[derive(Clone, Debug, Default)]
pub struct Links {
    springs: Vec<u32>,
    tethers: Vec<u32>,
}

impl Links {
    /// Those of a system.
    pub fn new(elastic: &Elastic, bodies: &Bodies) -> Self {
        let on_body = |points: &[u32]| points.iter().any(|&v| bodies.of_point[v as usize] != NO_BODY);
        let of = |points: &[u32], k: u32| on_body(points).then_some(k);
        let (springs, tethers) = (&elastic.springs.term.points, &elastic.tethers.term.points);
        Links {
            springs: springs.iter().zip(0..).filter_map(|(p, k)| of(p, k)).collect(),
            tethers: tethers.iter().zip(0..).filter_map(|(p, k)| of(p, k)).collect(),
        }
    }

    /// Calls `visit` for the points of each.
    pub fn for_each_points(&self, elastic: &Elastic, mut visit: impl FnMut(&[u32])) {
        self.springs.iter().for_each(|&k| visit(&elastic.springs.term.points[k as usize]));
        self.tethers.iter().for_each(|&k| visit(&elastic.tethers.term.points[k as usize]));
    }

    /// Calls `visit` for the points and the projected Hessian [N/m] of each at `x` [m].
    pub fn for_each(&self, elastic: &Elastic, x: &[Vec3], mut visit: impl FnMut(&[u32], &[[Mat3; 4]; 4])) {
        let mut whole = [[Mat3::ZERO; 4]; 4];
        for &k in &self.springs {
            let (term, k) = (&elastic.springs.term, k as usize);
            let h = term.elements[k].hessian_psd(&term.gather(x, k));
            for (to, from) in whole.iter_mut().zip(h) {
                to[..2].copy_from_slice(&from);
            }
            visit(&term.points[k], &whole);
        }
        for &k in &self.tethers {
            let (term, k) = (&elastic.tethers.term, k as usize);
            visit(&term.points[k], &term.elements[k].hessian_psd(&term.gather(x, k)));
        }
    }
}

/// How points depend on the unknowns that are none.
#[derive(Clone, Copy, Debug)]
pub struct Beside<'a> {
    /// The bodies.
    pub bodies: &'a Bodies,
    /// Their centres now [m].
    pub centers: &'a [Vec3],
    /// Springs and tethers at them.
    pub links: &'a Links,
    /// Couplings that joints, rods and the bodies themselves need, the lower unknown first.
    pub pairs: &'a [(u32, u32)],
}

/// The unknowns that a point depends on, each with the lever [m] if it is a turn.
pub(super) type Columns = [(u32, Option<Vec3>); 2];

impl Beside<'_> {
    /// The unknowns of point `v`, which is at `x` [m]; `NONE` where it has fewer.
    pub(super) fn columns(&self, unknowns: &Unknowns, x: &[Vec3], v: u32) -> Columns {
        let [a, b] = unknowns_of(unknowns, Some(self.bodies), v);
        let lever =
            (b != NONE).then(|| x[v as usize] - self.centers[self.bodies.of_point[v as usize] as usize]);
        [(a, None), (b, lever)]
    }
}

/// The unknowns that a point depends on: itself, or shift and turn of its body; `NONE` where there are fewer.
#[inline]
pub(super) fn unknowns_of(unknowns: &Unknowns, bodies: Option<&Bodies>, v: u32) -> [u32; 2] {
    let own = unknowns.of_point[v as usize];
    let Some(bodies) = bodies.filter(|_| own == NONE) else { return [own, NONE] };
    let b = bodies.of_point[v as usize];
    let first = if b == NO_BODY { NONE } else { unknowns.of_body.get(b as usize).copied().unwrap_or(NONE) };
    if first == NONE { [NONE, NONE] } else { [first, first + 1] }
}

/// Adds JᵀBJ of the block B of two points, the `same` or a pair that is to be counted both ways.
pub(super) fn add_levers(matrix: &mut BlockMatrix, columns: &[Columns; 2], same: bool, block: &Mat3) {
    for &(a, left) in columns[0].iter().filter(|c| c.0 != NONE) {
        let half = left.map_or(*block, |r| skew(r) * *block);
        for &(b, right) in columns[1].iter().filter(|c| c.0 != NONE) {
            // Of one point, the upper triangle follows from the lower.
            if same && b > a {
                continue;
            }
            let mut m = right.map_or(half, |r| -(half * skew(r)));
            if !same && a == b {
                m += m.transpose();
            }
            // The pattern was made for these pairs.
            if let Some(place) = matrix.place(a, b) {
                matrix.add_at(place, &m);
            }
        }
    }
}
