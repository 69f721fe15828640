//! Phase 1 [Xie 2023, Eq. 25]: x* = argmin ½|x − x̂|²_M + h² [P_I + P_V + extra terms], by conjugate gradients.
//!
//! The problem is quadratic once the active terms are chosen, so one linear solve ends it. The iterations run in
//! single precision on the residual; the residual itself is taken in double precision before and after, and a second
//! round starts from it if the first fell short. The warm start is the first search direction: it is scaled by its
//! own line minimum and can never do harm. Unknowns are the particles and after them the nodes of `nodes.rs`.
//!
//! Without walls and extra terms the six rigid motions cost no energy but inertia; the last step minimises over them
//! exactly, which gives linear and angular momentum to round-off whatever the tolerance. With nodes that are all free it
//! does so over the translations, for the linear momentum of both together.

use super::backing::Backed;
use super::node_operator::{Block, Inverse};
use super::operator::{Moving, Operator, Sym, lanes, narrow, widen};
use super::system::{System, sum_chunks};
use super::{incompressibility, nodes, stencil, viscosity};
use glam::Vec4;
use littoral_geom::math::{Mat3, Vec3, outer};
use littoral_geom::particle_grid::{CHUNK, ParticleGrid};
use rayon::prelude::*;

/// What is added to a diagonal block before it is inverted, of its trace [–]. The inverse is rounded to some 1e-7 of its
/// largest entry, so a condition above 1e7 could make it negative; at a tenth of this it can, at ten times this contacts
/// 1e5 times as stiff as inertia slow the tangential motion's convergence.
const BLOCK_SHIFT: f64 = 1e-6;

/// Rounds of iteration and true residual, at most. In single precision a round gains some five digits.
const ROUNDS: u32 = 4;

/// The same where stencils are corrected for from round to round.
const STENCIL_ROUNDS: u32 = 24;

/// Parameters of the solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolveSettings {
    /// Residual at which to stop, relative to the residual of the predictor x̂ and in the norm √(rᵀD⁻¹r) of the
    /// preconditioner D [–], > 0. What pressure does to displacements is then off by 1.5 times as much; with nodes and
    /// implicit viscosity, in a stiff fluid, by up to ten times. Default 1e-3.
    pub tolerance: f64,
    /// Iterations, at most. Default 200.
    pub max_iterations: u32,
    /// Stretch up to which the inside of the fluid resists expansion [–], ≥ 0. Default 0.01.
    pub tension: f64,
    /// How often the active terms may be chosen again from the solution, with a further solve. Default 0.
    pub resolves: u32,
}

impl Default for SolveSettings {
    fn default() -> Self {
        SolveSettings { tolerance: 1e-3, max_iterations: 200, tension: 0.01, resolves: 0 }
    }
}

/// What a solve did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SolveReport {
    /// Iterations: applications of the Hessian in single precision.
    pub iterations: u32,
    /// True residual at the end, relative to the predictor's [–].
    pub residual: f64,
    /// True if the residual is within the tolerance.
    pub converged: bool,
    /// Particles whose incompressibility was part of the problem.
    pub active: u32,
    /// Particles, nodes, walls and links with numbers that are not finite, left out or taken to be at rest.
    pub ignored: u32,
}

/// Buffers of a solve.
#[derive(Clone, Debug, Default)]
pub(super) struct Work {
    operator: Operator,
    inverse: Vec<Sym>,
    node_inverse: Vec<Inverse>,
    /// Residuals of the nodes without what the particles pass on.
    node_residual: Vec<Vec4>,
    /// H p, then D⁻¹ r.
    y: Vec<Vec4>,
    r: Vec<Vec4>,
    correction: Vec<Vec4>,
    strain: Vec<f64>,
    gradient: Vec<Vec3>,
}

/// Where a solve starts.
pub(super) struct Start<'a> {
    /// û.
    pub predictor: &'a [Vec3],
    /// First search direction, or nothing.
    pub warm: &'a [Vec3],
}

/// Minimises over u, from the predictor û; on return `u` is the minimiser, and the strains belong to it.
pub(super) fn minimise(
    grid: &ParticleGrid,
    system: &mut System,
    work: &mut Work,
    Start { predictor, warm }: Start<'_>,
    u: &mut Vec<Vec3>,
    settings: &SolveSettings,
    mut backed: Option<Backed<'_>>,
) -> SolveReport {
    let backed = &mut backed;
    let n = system.len() + system.nodes.len();
    u.clear();
    u.extend_from_slice(predictor);
    incompressibility::strain(grid, system, u, &mut work.strain);
    system.choose_active(&work.strain, settings.tension);
    work.operator.load(system);
    for buffer in [&mut work.y, &mut work.r, &mut work.correction] {
        buffer.resize(n, Vec4::ZERO);
    }
    let mut report = SolveReport::default();
    let mut resolves = settings.resolves;
    let mut scale = 0.0_f64;
    let mut first = true;
    let mut rounds = 0;
    let most = if system.stencils.is_empty() { ROUNDS } else { STENCIL_ROUNDS };
    work.precondition(grid, system, backed);
    loop {
        // The strains at u are there; they do not depend on which terms are on.
        work.gradient_of_strain(grid, system, predictor, u);
        if let Some(b) = backed {
            b.add_gradient(&u[system.len()..], &mut work.gradient[system.len()..]);
        }
        let norm = work.begin_round(system, backed);
        scale = scale.max(norm);
        report.residual = if scale > 0.0 { norm / scale } else { 0.0 };
        let target = settings.tolerance * scale;
        let left = settings.max_iterations.saturating_sub(report.iterations);
        if rounds == most || (norm <= target && !first) || norm == 0.0 || left == 0 {
            let again = resolves > 0 && system.choose_active(&work.strain, settings.tension) > 0;
            if !again {
                break;
            }
            resolves -= 1;
            rounds = 0;
            work.operator.load_active(system);
            work.precondition(grid, system, backed);
            continue;
        }
        // Aim a little lower, so that the rounding of a round does not cost another.
        let direction = if first { warm } else { &[] };
        report.iterations += work.iterate(grid, system, direction, 0.8 * target, left, backed);
        let corrections = work.correction.par_iter().with_min_len(CHUNK);
        corrections.zip(u.par_iter_mut()).for_each(|(c, u)| *u += widen(*c));
        incompressibility::strain(grid, system, u, &mut work.strain);
        first = false;
        rounds += 1;
    }
    let fixed = system.diagonals.len() + system.walls.iter().filter(|w| w.corners.is_none()).count();
    if backed.is_some() {
        // Held points behind the nodes may stop what would be free.
    } else if fixed == 0 && system.nodes.anchors.is_empty() {
        work.minimise_rigid(system, u);
    } else if fixed == 0 && system.nodes.are_free() {
        work.minimise_translation(system, u);
    }
    report.converged = report.residual <= settings.tolerance;
    report.active = system.active.iter().filter(|a| **a).count() as u32;
    report
}

/// The whole energy of the system at u.
pub(super) fn energy(grid: &ParticleGrid, system: &System, predictor: &[Vec3], u: &[Vec3]) -> f64 {
    let mut strain = Vec::new();
    incompressibility::strain(grid, system, u, &mut strain);
    let mut sum = incompressibility::energy(system, &strain);
    if system.has_viscosity() {
        sum += viscosity::energy(grid, system, u);
    }
    for (i, m) in system.mass.iter().enumerate() {
        sum += 0.5 * m * u[i].distance_squared(predictor[i]);
    }
    for d in &system.diagonals {
        let u = u[d.slot as usize];
        sum += u.dot(d.gradient + 0.5 * (d.hessian * u));
    }
    sum + nodes::energy(system, predictor, u) + stencil::energy(system, u)
}

impl Work {
    /// The gradient of the whole energy at u, and the strains there.
    pub fn full_gradient(&mut self, grid: &ParticleGrid, system: &System, predictor: &[Vec3], u: &[Vec3]) {
        incompressibility::strain(grid, system, u, &mut self.strain);
        self.gradient_of_strain(grid, system, predictor, u);
    }

    /// The gradient of the whole energy at u, whose strains are known.
    fn gradient_of_strain(&mut self, grid: &ParticleGrid, system: &System, predictor: &[Vec3], u: &[Vec3]) {
        self.gradient.resize(u.len(), Vec3::ZERO);
        let of_particles = &mut self.gradient[..system.len()];
        incompressibility::gradient(grid, system, &self.strain, of_particles);
        if system.has_viscosity() {
            viscosity::add_gradient(grid, system, u, of_particles);
        }
        let gradient = of_particles.par_iter_mut().with_min_len(CHUNK).enumerate();
        gradient.for_each(|(i, g)| *g += system.mass[i] * (u[i] - predictor[i]));
        for d in &system.diagonals {
            let i = d.slot as usize;
            self.gradient[i] += d.gradient + d.hessian * u[i];
        }
        nodes::add_gradient(system, &self.strain, predictor, u, &mut self.gradient);
        stencil::add_gradient(system, u, &mut self.gradient);
    }

    /// The gradient of the last call.
    pub fn gradient(&self) -> &[Vec3] {
        &self.gradient
    }

    /// The strains of the last call.
    pub fn strain(&self) -> &[f64] {
        &self.strain
    }

    /// The inverses of the diagonal blocks D of the Hessian.
    fn precondition(&mut self, grid: &ParticleGrid, system: &System, backed: &mut Option<Backed<'_>>) {
        self.operator.blocks(grid, system, &mut self.inverse);
        // A block holds the particle's mass: it is never singular.
        let blocks = self.inverse.par_iter_mut().with_min_len(CHUNK);
        blocks.for_each(|b| *b = b.shifted_inverse(BLOCK_SHIFT));
        self.operator.node_inverses(system, &mut self.node_inverse);
        if let Some(b) = backed {
            b.factorise(&self.operator.yielding_blocks(system, &self.inverse));
        }
    }

    /// r = −gradient, no correction yet; returns √(rᵀD⁻¹r).
    fn begin_round(&mut self, system: &System, backed: &mut Option<Backed<'_>>) -> f64 {
        let Work { r, y, correction, gradient, inverse, node_inverse, .. } = self;
        correction.fill(Vec4::ZERO);
        r.par_iter_mut().with_min_len(CHUNK).zip(gradient).for_each(|(r, g)| *r = -narrow(*g));
        let (particles, nodes) = y.split_at_mut(inverse.len());
        fn multiply<B: Block>(y: &mut [Vec4], inverse: &[B], r: &[Vec4]) {
            let rows = y.par_iter_mut().with_min_len(CHUNK).zip(inverse).zip(r);
            rows.for_each(|((y, inverse), r)| *y = inverse.times(*r));
        }
        multiply(particles, inverse, r);
        multiply(nodes, node_inverse, &r[inverse.len()..]);
        self.couple(system, backed);
        dot(&self.r, &self.y).sqrt()
    }

    /// With a body behind the nodes, y = D⁻¹ r becomes the solution of the block system
    ///
    /// ```text
    /// │ D   G │       D the blocks of the particles, G what ties each to its nodes,
    /// │ Gᵀ  S'│       S' = S + Gᵀ D⁻¹ G with the factorised S = M + h² K + yielding blocks
    /// ```
    ///
    /// by elimination of the particles. A light node and the particle that presses on it then move as one; taken apart,
    /// the stiffness between them is all that either feels.
    fn couple(&mut self, system: &System, backed: &mut Option<Backed<'_>>) {
        let Some(b) = backed.as_mut().filter(|b| b.is_factorised()) else { return };
        let Work { operator, r, y, inverse, node_residual, .. } = self;
        let n = inverse.len();
        let (particles, nodes) = y.split_at_mut(n);
        node_residual.clear();
        node_residual.extend_from_slice(&r[n..]);
        operator.pass_on(system, particles, node_residual);
        b.precondition(node_residual, nodes);
        operator.pass_back(inverse, nodes, particles);
    }

    /// Iterates until √(rᵀD⁻¹r) ≤ `target`; returns the number of iterations. On entry y = D⁻¹ r.
    ///
    /// The Hessian is positive definite, inertia alone makes it so; numbers that overflow end the iterations.
    fn iterate(
        &mut self,
        grid: &ParticleGrid,
        system: &System,
        warm: &[Vec3],
        target: f64,
        limit: u32,
        backed: &mut Option<Backed<'_>>,
    ) -> u32 {
        let sound = |curvature: f64| curvature > 0.0 && curvature.is_finite();
        let mut iterations = 0;
        let mut rz = dot(&self.r, &self.y);
        if !warm.is_empty() {
            self.operator.moving.par_iter_mut().zip(warm).for_each(|(m, w)| m.p = narrow(*w));
            let slope = {
                let parts = self.r.par_chunks(CHUNK).zip(warm.par_chunks(CHUNK));
                let product =
                    |(r, w): (&[Vec4], &[Vec3])| r.iter().zip(w).map(|(r, w)| widen(*r).dot(*w)).sum::<f64>();
                sum_chunks(parts.map(product))
            };
            let curvature = self.apply(grid, system, backed);
            iterations += 1;
            rz = self.advance(if sound(curvature) { slope / curvature } else { 0.0 }, system, backed);
        }
        let mut beta = 0.0;
        while rz > target * target && iterations < limit {
            let y = &self.y;
            self.operator.moving.par_iter_mut().with_min_len(CHUNK).zip(y).for_each(|(m, z)| {
                m.p = *z + m.p * beta;
            });
            let curvature = self.apply(grid, system, backed);
            iterations += 1;
            if !sound(curvature) {
                break;
            }
            let before = rz;
            rz = self.advance(rz / curvature, system, backed);
            beta = (rz / before) as f32;
        }
        iterations
    }

    /// y = H p; returns pᵀHp.
    fn apply(&mut self, grid: &ParticleGrid, system: &System, backed: &mut Option<Backed<'_>>) -> f64 {
        let n = system.len();
        let mut curvature = self.operator.apply(grid, system, &mut self.y);
        if let Some(b) = backed {
            curvature += b.add_product(self.operator.moving[n..].iter().map(|m| m.p), &mut self.y[n..]);
        }
        curvature
    }

    /// correction += α p, r −= α y, y = D⁻¹ r; returns rᵀD⁻¹r.
    fn advance(&mut self, alpha: f64, system: &System, backed: &mut Option<Backed<'_>>) -> f64 {
        let Work { operator, r, y, correction, inverse, node_inverse, .. } = self;
        let n = inverse.len();
        let (moving, of_nodes) = operator.moving.split_at(n);
        let (r, node_r) = r.split_at_mut(n);
        let (y, node_y) = y.split_at_mut(n);
        let (correction, node_correction) = correction.split_at_mut(n);
        let of_particles = advance(alpha as f32, [r, y, correction], moving, inverse);
        let plain = advance(alpha as f32, [node_r, &mut *node_y, node_correction], of_nodes, node_inverse);
        if backed.is_none() {
            return of_particles + plain;
        }
        self.couple(system, backed);
        dot(&self.r, &self.y)
    }

    /// Minimises over translations, given the gradient at u: all particles, and the nodes that anything is tied to.
    fn minimise_translation(&self, system: &System, u: &mut [Vec3]) {
        let n = system.len();
        let mass = |k: usize| match k.checked_sub(n) {
            None => system.mass[k],
            Some(node) if system.nodes.of_node(node).is_empty() => 0.0,
            Some(node) => system.nodes.mass[node],
        };
        let moved = || (0..u.len()).filter(|k| mass(*k) > 0.0);
        let shift = moved().map(|k| -self.gradient[k]).sum::<Vec3>() / moved().map(mass).sum::<f64>();
        for (_, u) in u.iter_mut().enumerate().filter(|(k, _)| mass(*k) > 0.0) {
            *u += shift;
        }
    }

    /// Minimises over the six rigid motions u + δ + ω × (x − c), given the gradient at u.
    fn minimise_rigid(&self, system: &System, u: &mut [Vec3]) {
        let mass: f64 = system.mass.iter().sum();
        if mass == 0.0 {
            return;
        }
        let center = system.mass.iter().zip(&system.x).map(|(m, x)| *m * *x).sum::<Vec3>() / mass;
        let (mut force, mut torque, mut inertia) = (Vec3::ZERO, Vec3::ZERO, Mat3::ZERO);
        for ((g, x), m) in self.gradient.iter().zip(&system.x).zip(&system.mass) {
            let arm = *x - center;
            force -= *g;
            torque -= arm.cross(*g);
            inertia += Mat3::from_diagonal(Vec3::splat(m * arm.length_squared())) - outer(arm, *m * arm);
        }
        let shift = force / mass;
        // Particles in line have no inertia about that line, and no torque either: leave out what is singular.
        let largest = inertia.x_axis.x.max(inertia.y_axis.y).max(inertia.z_axis.z);
        let regular = inertia.determinant() > 1e-9 * largest.powi(3);
        let spin = if regular { inertia.inverse() * torque } else { Vec3::ZERO };
        for (u, x) in u.iter_mut().zip(&system.x) {
            *u += shift + spin.cross(*x - center);
        }
    }
}

/// [`Work::advance`] of some of the unknowns, [r, y, correction].
fn advance<B: Block>(
    alpha: f32,
    [r, y, correction]: [&mut [Vec4]; 3],
    moving: &[Moving],
    inverse: &[B],
) -> f64 {
    let chunks = r.par_chunks_mut(CHUNK).zip(y.par_chunks_mut(CHUNK)).zip(correction.par_chunks_mut(CHUNK));
    let data = moving.par_chunks(CHUNK).zip(inverse.par_chunks(CHUNK));
    let parts = chunks.zip(data).map(|(((r, y), correction), (moving, inverse))| {
        let mut sum = Vec4::ZERO;
        for ((((r, y), correction), moving), inverse) in
            r.iter_mut().zip(y).zip(correction).zip(moving).zip(inverse)
        {
            *correction += moving.p * alpha;
            *r -= *y * alpha;
            *y = inverse.times(*r);
            sum += *r * *y;
        }
        lanes(sum)
    });
    sum_chunks(parts)
}

fn dot(a: &[Vec4], b: &[Vec4]) -> f64 {
    let parts = a.par_chunks(CHUNK).zip(b.par_chunks(CHUNK));
    sum_chunks(parts.map(|(a, b)| lanes(a.iter().zip(b).fold(Vec4::ZERO, |sum, (a, b)| sum + *a * *b))))
}
