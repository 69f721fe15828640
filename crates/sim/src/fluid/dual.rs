//! Phase 1 by its tensions, where inertia and single terms are all there is beside incompressibility.
//!
//! With K = M + single terms, block-diagonal, B = ∂s/∂u and W the second derivatives of the energy by the strains, the
//! minimum is u = û′ − K⁻¹Bᵀτ, û′ the minimiser without incompressibility, for the tensions τ of
//!
//! (W⁻¹ + B K⁻¹ Bᵀ) τ = s(û′) + s₀.
//!
//! That has the spectrum of the problem in u but for the motions that cost inertia only, on which conjugate gradients
//! in u spend up to half of their iterations; an unknown is one number; and since the forces are those of pairs,
//! momentum is kept to rounding at any tolerance. Viscosity and nodes would make K⁻¹ a solve of its own: `solve.rs`.
//! A coarse level (tensions constant on cells of 4 to 8 spacings, solved exactly) takes a twentieth off the
//! iterations and costs more: what is slow are waves near two spacings, to which B is almost blind, not long ones.

use super::incompressibility;
use super::node_operator::Roots;
use super::operator::{Moving, lanes, narrow, strain, two_sums};
use super::solve::{SolveReport, SolveSettings};
use super::system::{System, sum_chunks};
use glam::Vec4;
use littoral_geom::math::{Mat3, Vec3};
use littoral_geom::particle_grid::{CHUNK, ParticleGrid};
use rayon::prelude::*;

/// How much larger the residual may be here than in `solve.rs` [–]. Over dam breaks with steps of four spacings, at
/// stiffnesses for 1 % and 0.1 %, displacements are off by 0.5 times the residual here, by 1.6 and 10 times there.
const EASE: f64 = 3.0;

/// Rounds of iteration and true residual, at most. In single precision a round gains some five digits.
const ROUNDS: u32 = 4;

/// Buffers of a solve.
#[derive(Clone, Debug, Default)]
pub(super) struct Dual {
    operator: Operator,
    /// Inverse diagonal; 0 where the term is off.
    inverse: Vec<f32>,
    r: Vec<f32>,
    y: Vec<f32>,
    correction: Vec<f32>,
    tension: Vec<f64>,
    strain: Vec<f64>,
    force: Vec<Vec3>,
    /// û′.
    free: Vec<Vec3>,
}

/// True if the problem is of the form solved here.
pub(super) fn applies(system: &System) -> bool {
    system.nodes.anchors.is_empty() && system.stencils.is_empty() && !system.has_viscosity()
}

impl Dual {
    /// Minimises over u, from the predictor û of particles and nodes; on return `u` is the minimiser. Terms are on as
    /// [`System::choose_active`] says for û′.
    pub fn minimise(
        &mut self,
        grid: &ParticleGrid,
        system: &mut System,
        predictor: &[Vec3],
        u: &mut Vec<Vec3>,
        settings: &SolveSettings,
    ) -> SolveReport {
        self.start(grid, system, predictor, u);
        system.choose_active(&self.strain, settings.tension);
        self.load_active(grid, system);
        let tolerance = EASE * settings.tolerance;
        let (mut report, mut scale) = (SolveReport::default(), 0.0_f64);
        let (mut rounds, mut resolves) = (0, settings.resolves);
        loop {
            // u and its strains belong to the tensions.
            let norm = self.begin_round(system);
            scale = scale.max(norm);
            report.residual = if scale > 0.0 { norm / (EASE * scale) } else { 0.0 };
            let left = settings.max_iterations.saturating_sub(report.iterations);
            let is_done = norm <= tolerance * scale || !norm.is_finite();
            if rounds == ROUNDS || is_done || left == 0 {
                if resolves == 0 || system.choose_active(&self.strain, settings.tension) == 0 {
                    break;
                }
                resolves -= 1;
                rounds = 0;
                self.load_active(grid, system);
                self.recover(grid, system, u);
                continue;
            }
            // Aim a little lower, so that the rounding of a round does not cost another.
            report.iterations += self.iterate(grid, system, norm * norm, 0.8 * tolerance * scale, left);
            let corrections = self.correction.par_iter().with_min_len(CHUNK);
            corrections.zip(&mut self.tension).for_each(|(c, t)| *t += f64::from(*c));
            self.recover(grid, system, u);
            rounds += 1;
        }
        report.converged = report.residual <= settings.tolerance;
        report.active = system.active.iter().filter(|a| **a).count() as u32;
        report
    }

    /// The tensions of the solution.
    pub fn tension(&self) -> &[f64] {
        &self.tension
    }

    /// No tension: u = û′, and the strains there.
    fn start(&mut self, grid: &ParticleGrid, system: &System, predictor: &[Vec3], u: &mut Vec<Vec3>) {
        let n = system.len();
        self.operator.load(system);
        for buffer in [&mut self.r, &mut self.y, &mut self.correction] {
            buffer.resize(n, 0.0);
        }
        self.tension.clear();
        self.tension.resize(n, 0.0);
        self.force.resize(n, Vec3::ZERO);
        self.free.clear();
        self.free.extend_from_slice(&predictor[..n]);
        for (d, (_, inverse)) in system.diagonals.iter().zip(&self.operator.diagonals) {
            let i = d.slot as usize;
            self.free[i] = inverse.exact * (system.mass[i] * predictor[i] - d.gradient);
        }
        u.clear();
        u.extend_from_slice(&self.free);
        u.extend_from_slice(&predictor[n..]);
        incompressibility::strain(grid, system, u, &mut self.strain);
    }

    /// Takes over which terms are on.
    fn load_active(&mut self, grid: &ParticleGrid, system: &System) {
        self.operator.load_active(system);
        self.operator.inverse_diagonal(grid, system, &mut self.inverse);
        let tensions = self.tension.iter_mut().zip(&system.active);
        tensions.filter(|(_, on)| !**on).for_each(|(tension, _)| *tension = 0.0);
    }

    /// u = û′ − K⁻¹Bᵀτ, in double precision, and the strains there.
    fn recover(&mut self, grid: &ParticleGrid, system: &System, u: &mut [Vec3]) {
        let Dual { operator, tension, force, free, strain, .. } = self;
        incompressibility::transposed(grid, system, tension, force);
        let particles = u.par_iter_mut().with_min_len(CHUNK).zip(&free[..]).zip(&force[..]).zip(&system.mass);
        particles.for_each(|(((u, free), force), mass)| *u = *free - *force / *mass);
        for (slot, inverse) in &operator.diagonals {
            let i = *slot as usize;
            u[i] = free[i] - inverse.exact * force[i];
        }
        incompressibility::strain(grid, system, u, strain);
    }

    /// r = s + s₀ − W⁻¹τ, no correction yet; returns √(rᵀD⁻¹r) with the diagonal D.
    fn begin_round(&mut self, system: &System) -> f64 {
        let Dual { r, correction, strain, tension, inverse, .. } = self;
        correction.fill(0.0);
        let chunks = r.par_chunks_mut(CHUNK).zip(inverse.par_chunks(CHUNK)).enumerate();
        let parts = chunks.map(|(k, (r, inverse))| {
            let mut sum = 0.0;
            for (local, (r, inverse)) in r.iter_mut().zip(inverse).enumerate() {
                let i = k * CHUNK + local;
                let weight = system.weight(i);
                let gap =
                    if weight > 0.0 { (system.tension(i, strain[i]) - tension[i]) / weight } else { 0.0 };
                *r = gap as f32;
                sum += *r * *r * *inverse;
            }
            f64::from(sum)
        });
        sum_chunks(parts).sqrt()
    }

    /// Iterates until √(rᵀD⁻¹r) ≤ `target`; returns the number of iterations. `rz` is rᵀD⁻¹r.
    ///
    /// The matrix is positive definite, W⁻¹ alone makes it so; numbers that overflow end the iterations.
    fn iterate(&mut self, grid: &ParticleGrid, system: &System, mut rz: f64, target: f64, limit: u32) -> u32 {
        let mut beta = 0.0;
        let mut iterations = 0;
        while rz > target * target && iterations < limit {
            let directions = self.operator.places.par_iter_mut().with_min_len(CHUNK);
            let data = directions.zip(&self.r).zip(&self.inverse);
            data.for_each(|((place, r), inverse)| place.w = r * inverse + place.w * beta);
            let curvature = self.operator.apply(grid, system, &mut self.y);
            iterations += 1;
            if !(curvature > 0.0 && curvature.is_finite()) {
                break;
            }
            let before = rz;
            rz = self.advance((rz / curvature) as f32);
            beta = (rz / before) as f32;
        }
        iterations
    }

    /// correction += α p, r −= α y; returns rᵀD⁻¹r.
    fn advance(&mut self, alpha: f32) -> f64 {
        let Dual { operator, inverse, r, y, correction, .. } = self;
        let chunks = r.par_chunks_mut(CHUNK).zip(correction.par_chunks_mut(CHUNK)).zip(y.par_chunks(CHUNK));
        let data = operator.places.par_chunks(CHUNK).zip(inverse.par_chunks(CHUNK));
        let parts = chunks.zip(data).map(|(((r, correction), y), (places, inverse))| {
            let mut sum = 0.0;
            for ((((r, correction), y), place), inverse) in
                r.iter_mut().zip(correction).zip(y).zip(places).zip(inverse)
            {
                *correction += alpha * place.w;
                *r -= alpha * *y;
                sum += *r * *r * *inverse;
            }
            f64::from(sum)
        });
        sum_chunks(parts)
    }
}

/// An inverse block of K.
#[derive(Clone, Copy, Debug)]
struct Inverse {
    exact: Mat3,
    roots: Roots,
}

/// The matrix W⁻¹ + B K⁻¹ Bᵀ in single precision.
#[derive(Clone, Debug, Default)]
struct Operator {
    /// Position, and in the fourth lane the search direction p: what the first gather needs is one load.
    places: Vec<Vec4>,
    /// Position and K⁻¹Bᵀp.
    moving: Vec<Moving>,
    inverse_mass: Vec<f32>,
    /// W⁻¹; 0 where the term is off.
    softness: Vec<f32>,
    push: Vec<Vec4>,
    /// Whether a wall is near any particle of each chunk.
    walls_near: Vec<bool>,
    /// Blocks of K⁻¹ that are not 1/m, by ascending slot.
    diagonals: Vec<(u32, Inverse)>,
    /// First of them of each chunk.
    diagonal_starts: Vec<u32>,
}

impl Operator {
    /// Takes over everything that stays during a solve.
    fn load(&mut self, system: &System) {
        let n = system.len();
        let slots = || (0..n).into_par_iter().with_min_len(4096);
        slots().map(|i| narrow(system.x[i])).collect_into_vec(&mut self.places);
        slots().map(|i| Moving { x: narrow(system.x[i]), p: Vec4::ZERO }).collect_into_vec(&mut self.moving);
        slots().map(|i| (1.0 / system.mass[i]) as f32).collect_into_vec(&mut self.inverse_mass);
        slots().map(|i| narrow(system.push[i])).collect_into_vec(&mut self.push);
        let chunks = n.div_ceil(CHUNK);
        self.walls_near.clear();
        self.walls_near.resize(chunks, false);
        for wall in &system.walls {
            self.walls_near[wall.slot as usize / CHUNK] = true;
        }
        self.diagonals.clear();
        for d in &system.diagonals {
            let mass = Mat3::from_diagonal(Vec3::splat(system.mass[d.slot as usize]));
            let exact = (mass + d.hessian).inverse();
            self.diagonals.push((d.slot, Inverse { exact, roots: Roots::of(&exact) }));
        }
        let start = |k: usize| system.diagonals.partition_point(|d| (d.slot as usize) < k * CHUNK) as u32;
        self.diagonal_starts.clear();
        self.diagonal_starts.extend((0..=chunks).map(start));
    }

    /// Takes over which terms are on.
    fn load_active(&mut self, system: &System) {
        let softness = |i| {
            let weight = system.weight(i);
            if weight > 0.0 { (1.0 / weight) as f32 } else { 0.0 }
        };
        let slots = (0..system.len()).into_par_iter().with_min_len(4096);
        slots.map(softness).collect_into_vec(&mut self.softness);
        // Where a term is off, p stays 0.
        self.places.par_iter_mut().with_min_len(CHUNK).for_each(|place| place.w = 0.0);
    }

    /// The inverses of 1/w_i + Σ_k |b_ik|²/m_k, single terms left out; 0 where the term is off.
    fn inverse_diagonal(&self, grid: &ParticleGrid, system: &System, out: &mut Vec<f32>) {
        out.resize(system.len(), 0.0);
        let lists = grid.chunks().par_iter().zip(&system.pairs);
        out.par_chunks_mut(CHUNK).zip(lists).enumerate().for_each(|(k, (out, (list, pairs)))| {
            for (local, out) in out.iter_mut().enumerate() {
                let i = k * CHUNK + local;
                *out = 0.0;
                if self.softness[i] > 0.0 {
                    let (mut own, mut sum) = (self.push[i], Vec4::ZERO);
                    for (j, c) in list.list(local).iter().zip(&pairs.strain[list.range(local)]) {
                        let j = *j as usize;
                        let g = (self.moving[i].x - self.moving[j].x) * *c;
                        own -= g;
                        sum += g * g * self.inverse_mass[j];
                    }
                    sum += own * own * self.inverse_mass[i];
                    *out = 1.0 / (self.softness[i] + lanes(sum) as f32);
                }
            }
        });
    }

    /// out = (W⁻¹ + B K⁻¹ Bᵀ) p; returns pᵀ out. `p` is in `places`.
    fn apply(&mut self, grid: &ParticleGrid, system: &System, out: &mut [f32]) -> f64 {
        self.yield_to_tension(grid, system);
        let this = &*self;
        let lists = grid.chunks().par_iter().zip(&system.pairs);
        let parts = out.par_chunks_mut(CHUNK).zip(lists).enumerate().map(|(k, (out, (list, pairs)))| {
            let mut sum = 0.0;
            for (local, out) in out.iter_mut().enumerate() {
                let i = k * CHUNK + local;
                *out = 0.0;
                if this.softness[i] > 0.0 {
                    let range = list.range(local);
                    let (own, p) = (this.moving[i], this.places[i].w);
                    let s = strain(&this.moving, own, &list.ids[range.clone()], &pairs.strain[range]);
                    let wall = if this.walls_near[k] { lanes(this.push[i] * own.p) as f32 } else { 0.0 };
                    *out = this.softness[i] * p + s + wall;
                    sum += *out * p;
                }
            }
            f64::from(sum)
        });
        sum_chunks(parts)
    }

    /// First pass: K⁻¹Bᵀp, into `moving`.
    fn yield_to_tension(&mut self, grid: &ParticleGrid, system: &System) {
        let Operator { places, moving, inverse_mass, push, walls_near, diagonals, diagonal_starts, .. } =
            self;
        let places = &places[..];
        let lists = grid.chunks().par_iter().zip(&system.pairs);
        moving.par_chunks_mut(CHUNK).zip(lists).enumerate().for_each(|(k, (out, (list, pairs)))| {
            let first = k * CHUNK;
            for (local, out) in out.iter_mut().enumerate() {
                let own = places[first + local];
                let range = list.range(local);
                // −Σ_j c_ij (p_i + p_j) x_ij; the fourth lane is of no use.
                let term = |j: u32, c: f32| {
                    let other = places[j as usize];
                    (other - own) * ((own.w + other.w) * c)
                };
                out.p = two_sums(&list.ids[range.clone()], &pairs.strain[range], term);
            }
            if walls_near[k] {
                for (out, (push, place)) in out.iter_mut().zip(push[first..].iter().zip(&places[first..])) {
                    out.p += *push * place.w;
                }
            }
            let range = diagonal_starts[k] as usize..diagonal_starts[k + 1] as usize;
            let mut blocks = diagonals[range].iter().peekable();
            for (local, out) in out.iter_mut().enumerate() {
                out.p = match blocks.next_if(|(slot, _)| *slot as usize == first + local) {
                    Some((_, inverse)) => inverse.roots.times(out.p.with_w(0.0)),
                    None => out.p * inverse_mass[first + local],
                };
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Scene, crowded, dot, moved, random_field};
    use super::*;

    /// A scene without nodes and viscosity, and a predictor that compresses some of it.
    fn scene() -> (Scene, Vec<Vec3>) {
        let scene = crowded(0.0, 0, 1.0);
        let x_hat = moved(&scene.x, 3e-3, &random_field(scene.x.len(), 1.0, 6));
        (scene, x_hat)
    }

    fn settings(tolerance: f64) -> SolveSettings {
        SolveSettings { tolerance, max_iterations: 2000, ..SolveSettings::default() }
    }

    #[test]
    fn tensions_and_displacements_have_the_same_minimum() {
        // The terms are chosen before links act in `solve.rs`, and after here, so with links they must be chosen again.
        for (resolves, with_links) in [(0, false), (4, true)] {
            let (Scene { mut fluid, links, .. }, x_hat) = scene();
            let links = if with_links { links } else { Vec::new() };
            let settings = SolveSettings { resolves, ..settings(1e-9) };
            let found = fluid.solve(&x_hat, &[], &links, &[], &settings);
            assert!(found.report.converged && found.report.iterations > 0, "{:?}", found.report);
            let (predictor, u, tension) = (fluid.predictor.clone(), fluid.u.clone(), fluid.tension.clone());
            let (start, end) = (fluid.gradient_at(&predictor, &predictor), fluid.gradient_at(&predictor, &u));
            let norm = |g: &[Vec3]| dot(g, g).sqrt();
            assert!(norm(&end) < 1e-7 * norm(&start), "{} of {}", norm(&end), norm(&start));
            let report = fluid.minimise_by_displacements(&settings, None);
            assert_eq!(report.active, found.report.active);
            let gap = u.iter().zip(&fluid.u).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
            assert!(gap < 1e-8, "{gap} spacings");
            let largest = tension.iter().fold(0.0, |m: f64, t| m.max(t.abs()));
            for (a, b) in tension.iter().zip(&fluid.tension) {
                assert!((a - b).abs() < 1e-6 * largest, "{a} {b} of {largest}");
            }
        }
    }

    #[test]
    fn a_coarse_solve_is_as_far_off_as_it_says() {
        let (Scene { mut fluid, links, .. }, x_hat) = scene();
        fluid.solve(&x_hat, &[], &links, &[], &settings(1e-9));
        let exact = fluid.u.clone();
        let found = fluid.solve(&x_hat, &[], &links, &[], &settings(1e-3));
        assert!(found.report.converged && found.report.residual > 1e-6, "{:?}", found.report);
        let gap = |a: &[Vec3]| dot(&moved(a, -1.0, &exact), &moved(a, -1.0, &exact)).sqrt();
        // The residual may be three times the tolerance; displacements are off by about as much.
        assert!(gap(&fluid.u) < 3e-3 * gap(&fluid.predictor), "{}", gap(&fluid.u) / gap(&fluid.predictor));
    }

    #[test]
    fn walls_get_what_the_fluid_loses_at_any_tolerance() {
        let (Scene { mut fluid, x, .. }, x_hat) = scene();
        let found = fluid.solve(&x_hat, &[], &[], &[], &settings(0.1));
        let h = 2e-3;
        let gained: Vec3 = (0..x.len()).map(|i| fluid.mass(i) * (found.x[i] - x_hat[i]) / (h * h)).sum();
        let on_walls: Vec3 = found.wall_forces.iter().sum();
        // Rounding of positions of 0.2 m against displacements of some millimetres, over h².
        assert!((gained + on_walls).length() < 1e-9 * on_walls.length(), "{gained} {on_walls}");
    }
}
