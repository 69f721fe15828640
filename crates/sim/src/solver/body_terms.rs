//! What rigid bodies add to the objective of Newton's method: their inertia and their joints, and what levers leave out.
//!
//! Inertia: E = ½ m |c − c*|²/h² + ½ δᵀ I(R*) δ/h² with R = exp(δ) R*. By the turn of the body δ changes by A =
//! `log_slope`(δ), so that its gradient is AᵀIδ/h²: times h, the angular momentum that the step has given it.
//!
//! Levers: as the body turns by θ, a point at the lever r moves by θ × r + ½ θ × (θ × r). Under the gradient g of the
//! points the second part has the Hessian S = Σ ½ (g rᵀ + r gᵀ) − (g·r) 1. It is exact where the inertia outweighs what
//! is negative in it; elsewhere its positive part stands for it.

use super::bodies::{Block, BodySystem};
use super::joints::JointRows;
use super::objective::Derivatives;
use super::sparse::{NONE, Unknowns};
use crate::body::{Bodies, Pose, log_slope};
use crate::joint::Joints;
use littoral_geom::math::{Mat3, Vec3, outer};
use littoral_geom::svd::symmetric_eigen;

/// Share of the inertia that may be spent on what is negative in S. More: the Hessian comes nearer to none at all.
const SPENT: f64 = 0.5;

/// The bodies at a trial.
#[derive(Clone, Copy, Debug)]
pub struct BodyTerms<'a> {
    /// The bodies.
    pub bodies: &'a Bodies,
    /// Their joints.
    pub joints: &'a Joints,
    /// What those hold with.
    pub rows: &'a JointRows,
    /// Where the bodies are.
    pub poses: &'a [Pose],
    /// Where free flight would have them.
    pub targets: &'a [Pose],
    /// δ [rad].
    pub left: &'a [Vec3],
    /// 1/h² [1/s²].
    pub inverse_h2: f64,
}

/// Gradient of ½ δᵀIδ by the turn of a body [kg m²] at the rotation vector `left` δ [rad] from its target.
pub fn turn_gradient(bodies: &Bodies, b: usize, target: &Pose, left: Vec3) -> Vec3 {
    log_slope(left).transpose() * (bodies.list[b].inertia(target.rotation) * left)
}

impl BodyTerms<'_> {
    /// Energy [J] with the points at `x` [m], and the sum of the sizes of its parts.
    pub fn value(&self, x: &[Vec3]) -> (f64, f64) {
        let mut sum = 0.0;
        for (b, body) in self.bodies.list.iter().enumerate() {
            let (pose, target, left) = (&self.poses[b], &self.targets[b], self.left[b]);
            let turned = left.dot(body.inertia(target.rotation) * left);
            sum += 0.5 * self.inverse_h2 * (body.mass * pose.center.distance_squared(target.center) + turned);
        }
        let (joints, scale) = self.rows.value(self.joints, self.bodies, self.poses, x);
        (sum + joints, sum + scale)
    }

    /// Adds gradient and Hessian by the unknowns of the bodies, and carries the gradient of their points over to them.
    pub fn add(&self, unknowns: &Unknowns, x: &[Vec3], scratch: &mut BodySystem, out: &mut Derivatives) {
        scratch.begin(self.poses.iter().map(|p| p.center));
        for (b, body) in self.bodies.list.iter().enumerate() {
            if unknowns.of_body[b] == NONE {
                continue;
            }
            let (pose, target, left) = (&self.poses[b], &self.targets[b], self.left[b]);
            let weight = body.mass * self.inverse_h2;
            let slope = log_slope(left);
            let inertia = slope.transpose() * body.inertia(target.rotation) * slope * self.inverse_h2;
            let (mut pull, mut torque, mut bend) = (Vec3::ZERO, Vec3::ZERO, Mat3::ZERO);
            for v in body.points() {
                let g = out.gradient[v];
                if g != Vec3::ZERO {
                    let r = x[v] - pose.center;
                    pull += g;
                    torque += r.cross(g);
                    bend += (outer(g, r) + outer(r, g)) * 0.5 - Mat3::from_diagonal(Vec3::splat(g.dot(r)));
                }
            }
            pull += weight * (pose.center - target.center);
            torque += self.inverse_h2 * turn_gradient(self.bodies, b, target, left);
            scratch.add_inertia(b, (pull, torque), weight, &(inertia + allowed(&inertia, &bend)));
        }
        self.rows.add(self.joints, self.bodies, self.poses, x, scratch);
        self.rows.add_rest_of_turns(self.joints, self.bodies, self.poses, x, scratch);
        scratch.put(unknowns, out);
    }
}

/// S, or its positive part.
fn allowed(inertia: &Mat3, bend: &Mat3) -> Mat3 {
    if symmetric_eigen(*inertia * SPENT + *bend).0.min_element() > 0.0 {
        return *bend;
    }
    let (values, axes) = symmetric_eigen(*bend);
    axes * Mat3::from_diagonal(values.max(Vec3::ZERO)) * axes.transpose()
}

/// A 3×3 part of a block of two bodies.
fn part(block: &Block, row: usize, column: usize) -> Mat3 {
    let col = |c: usize| Vec3::new(block[3 * row][c], block[3 * row + 1][c], block[3 * row + 2][c]);
    Mat3::from_cols(col(3 * column), col(3 * column + 1), col(3 * column + 2))
}

impl BodySystem {
    /// Adds gradient and blocks to those of all unknowns.
    fn put(&self, unknowns: &Unknowns, out: &mut Derivatives) {
        let matrix = &mut out.matrix;
        let mut add = |row: u32, column: u32, block: &Mat3| {
            // The pattern was made for these pairs.
            if let Some(place) = matrix.place(row, column) {
                matrix.add_at(place, block);
            }
        };
        for (b, &u) in unknowns.of_body.iter().enumerate().filter(|(_, u)| **u != NONE) {
            let (g, block) = (self.gradient(b as u32), self.diagonal(b as u32));
            out.beside[u as usize] += Vec3::new(g[0], g[1], g[2]);
            out.beside[u as usize + 1] += Vec3::new(g[3], g[4], g[5]);
            for (row, column) in [(0, 0), (1, 0), (1, 1)] {
                add(u + row, u + column, &part(block, row as usize, column as usize));
            }
        }
        for (a, b, block) in self.couplings() {
            let (a, b) = (unknowns.of_body[a as usize], unknowns.of_body[b as usize]);
            if a == NONE || b == NONE {
                continue;
            }
            for (row, column) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                add(a + row, b + column, &part(block, row as usize, column as usize));
            }
        }
    }
}
