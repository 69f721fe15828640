//! Rigid bodies behind surface nodes, for the fluid phase: the points of a body answer a push as the body does.
//!
//! The nodes of a body are its points, with displacements u and lumped masses D. Their quadratic form A is the body's
//! inertia M on rigid motions u = J q, q its shift and turn, and κ D on everything else: with N = JᵀDJ,
//! A = κ D + D J G Jᵀ D, where G = N⁻¹ (M − κ N) N⁻¹. Its inverse, with further blocks on the diagonal, comes by
//! Woodbury's formula from one small system a body.
//!
//! Only the force on a body leaves the phase: κ decides how rigid the fluid finds it, and nothing else.

use super::backing::ElasticBacking;
use super::bodies::{Block, Six, add_block, add_part, ldl_factor, ldl_substitute, six};
use crate::body::Pose;
use crate::fluid::Backing;
use crate::system::System;
use littoral_geom::math::{Mat3, Vec3, skew};
use std::ops::Range;

/// κ: how many times its mass a point resists what no rigid body does. Ten times less, and a body lends a tenth of its
/// motion to its shape; a hundred times more, and single precision ends in the products of the solve.
const STIFF: f64 = 100.0;

/// The nodes of a body.
#[derive(Clone, Debug)]
struct BodyNodes {
    nodes: Range<usize>,
    /// Lumped mass of each node d [kg].
    lump: f64,
    /// Levers of the nodes about the centre, in units of the body's size [–].
    levers: Vec<Vec3>,
    /// G [1/kg], and its inverse [kg].
    coupling: Block,
    coupling_inverse: Block,
    /// Inverse blocks of the nodes [1/kg], and the small system of Woodbury's formula, since the last factorisation.
    blocks: Vec<Mat3>,
    small: Vec<f64>,
}

/// Inverse of a symmetric positive definite block; `None` if it is not.
fn inverse(m: &Block) -> Option<Block> {
    let mut factor: Vec<f64> = m.iter().flatten().copied().collect();
    ldl_factor(&mut factor, 6);
    if (0..6).any(|k| factor[7 * k].is_nan() || factor[7 * k] <= 0.0) {
        return None;
    }
    let mut out = [[0.0; 6]; 6];
    for (k, row) in out.iter_mut().enumerate() {
        row[k] = 1.0;
        ldl_substitute(&factor, 6, row);
    }
    Some(out)
}

fn product(a: &Block, b: &Block) -> Block {
    std::array::from_fn(|r| std::array::from_fn(|c| (0..6).map(|k| a[r][k] * b[k][c]).sum()))
}

fn combined(a: &Block, s: f64, b: &Block) -> Block {
    std::array::from_fn(|r| std::array::from_fn(|c| a[r][c] + s * b[r][c]))
}

/// J q at a lever: shift plus turn × lever.
#[inline]
fn moved(q: &Six, lever: Vec3) -> Vec3 {
    Vec3::new(q[0], q[1], q[2]) + Vec3::new(q[3], q[4], q[5]).cross(lever)
}

/// Jᵀ H J at a lever.
fn lever_block(h: &Mat3, lever: Vec3) -> Block {
    let k = skew(lever);
    let mut block = [[0.0; 6]; 6];
    let hk = *h * k;
    add_part(&mut block, 0, 0, h);
    add_part(&mut block, 0, 1, &-hk);
    add_part(&mut block, 1, 0, &(k * *h));
    add_part(&mut block, 1, 1, &-(k * hk));
    block
}

impl BodyNodes {
    /// The nodes of a body of `mass` [kg] with the inertia tensor `inertia` [kg m²] whose points have the given levers [m].
    fn new(nodes: Range<usize>, mass: f64, inertia: &Mat3, levers: &[Vec3]) -> Option<Self> {
        let size = levers.iter().map(|l| l.length()).fold(0.0, f64::max);
        let lump = mass / levers.len() as f64;
        let levers: Vec<Vec3> = levers.iter().map(|l| *l / size).collect();
        let mut lumped = [[0.0; 6]; 6];
        for l in &levers {
            add_block(&mut lumped, &lever_block(&Mat3::from_diagonal(Vec3::splat(lump)), *l));
        }
        let mut body = [[0.0; 6]; 6];
        add_part(&mut body, 0, 0, &Mat3::from_diagonal(Vec3::splat(mass)));
        add_part(&mut body, 1, 1, &(*inertia * (1.0 / (size * size))));
        // −G and its inverse are positive where the nodes' stiff mass exceeds the body's.
        let excess = combined(&lumped.map(|row| row.map(|m| STIFF * m)), -1.0, &body);
        let lumped_inverse = inverse(&lumped)?;
        let coupling =
            product(&lumped_inverse, &product(&excess, &lumped_inverse)).map(|row| row.map(|g| -g));
        let coupling_inverse =
            product(&lumped, &product(&inverse(&excess)?, &lumped)).map(|row| row.map(|g| -g));
        let (blocks, small) = (Vec::new(), Vec::new());
        Some(BodyNodes { nodes, lump, levers, coupling, coupling_inverse, blocks, small })
    }

    /// d Jᵀ p.
    fn gathered(&self, p: &[Vec3]) -> Six {
        let (mut shift, mut turn) = (Vec3::ZERO, Vec3::ZERO);
        for (p, l) in p.iter().zip(&self.levers) {
            shift += *p;
            turn += l.cross(*p);
        }
        six(shift * self.lump, turn * self.lump)
    }

    /// Adds (A − D) p.
    fn add_product(&self, p: &[Vec3], y: &mut [Vec3]) {
        let t = self.gathered(p);
        let q: Six = self.coupling.map(|row| row.iter().zip(&t).map(|(g, t)| g * t).sum());
        for ((y, p), l) in y.iter_mut().zip(p).zip(&self.levers) {
            *y += self.lump * ((STIFF - 1.0) * *p + moved(&q, *l));
        }
    }

    fn factorise(&mut self, blocks: &[Mat3]) -> bool {
        self.blocks.clear();
        let mut small = self.coupling_inverse;
        for (block, l) in blocks.iter().zip(&self.levers) {
            let inverse = (Mat3::from_diagonal(Vec3::splat(STIFF * self.lump)) + *block).inverse();
            add_block(&mut small, &lever_block(&(inverse * (self.lump * self.lump)), *l));
            self.blocks.push(inverse);
        }
        // Negative definite: its negative is factorised.
        self.small = small.iter().flatten().map(|s| -s).collect();
        ldl_factor(&mut self.small, 6);
        (0..6).all(|k| self.small[7 * k] > 0.0) && self.blocks.iter().all(|b| b.is_finite())
    }

    fn solve(&self, r: &[Vec3], z: &mut [Vec3]) {
        for ((z, r), b) in z.iter_mut().zip(r).zip(&self.blocks) {
            *z = *b * *r;
        }
        let mut q = self.gathered(z);
        ldl_substitute(&self.small, 6, &mut q);
        for ((z, b), l) in z.iter_mut().zip(&self.blocks).zip(&self.levers) {
            *z += *b * (self.lump * moved(&q, *l));
        }
    }
}

/// Elasticity and rigid bodies behind the nodes of a fluid phase.
#[derive(Debug, Default)]
pub struct SolidBacking {
    /// Elastic points; those of bodies have no stiffness there.
    pub elastic: ElasticBacking,
    bodies: Vec<BodyNodes>,
    gradient: Vec<Vec3>,
}

impl SolidBacking {
    /// Lumped mass of a point of a body [kg].
    pub fn lump(system: &System, body: usize) -> f64 {
        let b = &system.bodies.list[body];
        b.mass / b.shape.len() as f64
    }

    /// Takes the bodies with nodes at their poses at the start of the step; `motion` is the predicted displacement of
    /// each node [m]. Call it after the expansion of the elastic points.
    pub fn add_bodies(&mut self, system: &System, poses: &[Pose], motion: &[Vec3]) {
        self.bodies.clear();
        self.gradient.clear();
        self.gradient.extend_from_slice(self.elastic.gradient());
        for (b, (body, pose)) in system.bodies.list.iter().zip(poses).enumerate() {
            let Some(&first) = self.elastic.unknowns.of_point.get(body.first as usize) else { continue };
            if first == super::sparse::NONE {
                continue;
            }
            let nodes = first as usize..first as usize + body.shape.len();
            let lump = Self::lump(system, b);
            self.elastic.set_masses(nodes.clone(), lump);
            let levers: Vec<Vec3> = body.shape.iter().map(|r| pose.rotation * *r).collect();
            let inertia = body.inertia(pose.rotation);
            // Without it a body answers point by point: softer than it is, but never wrong in sign.
            let Some(block) = BodyNodes::new(nodes.clone(), body.mass, &inertia, &levers) else { continue };
            let mut y = vec![Vec3::ZERO; nodes.len()];
            block.add_product(&motion[nodes.clone()], &mut y);
            for (g, y) in self.gradient[nodes].iter_mut().zip(y) {
                *g = -y;
            }
            self.bodies.push(block);
        }
    }
}

impl Backing for SolidBacking {
    fn gradient(&self) -> &[Vec3] {
        &self.gradient
    }

    fn product(&self, p: &[Vec3], y: &mut Vec<Vec3>) {
        self.elastic.product(p, y);
        for body in &self.bodies {
            body.add_product(&p[body.nodes.clone()], &mut y[body.nodes.clone()]);
        }
    }

    fn factorise(&mut self, blocks: &[Mat3]) -> bool {
        let elastic = self.elastic.factorise(blocks);
        self.bodies.iter_mut().fold(elastic, |ok, body| body.factorise(&blocks[body.nodes.clone()]) && ok)
    }

    fn solve(&mut self, r: &[Vec3], z: &mut Vec<Vec3>) {
        self.elastic.solve(r, z);
        for body in &self.bodies {
            body.solve(&r[body.nodes.clone()], &mut z[body.nodes.clone()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use littoral_geom::moments::Moments;
    use littoral_geom::random::Random;
    use littoral_geom::shapes;

    fn body() -> (BodyNodes, Mat3, Vec<Vec3>) {
        let mesh = shapes::cuboid([0.3, 0.5, 0.2], [2, 2, 2]);
        let moments = Moments::of_solid(&mesh.vertices, &mesh.triangles);
        let (mass, inertia) = (700.0 * moments.measure, moments.inertia() * 700.0);
        let levers: Vec<Vec3> = mesh.vertices.iter().map(|v| *v - moments.center).collect();
        (BodyNodes::new(0..levers.len(), mass, &inertia, &levers).unwrap(), inertia, levers)
    }

    #[test]
    fn rigid_motions_have_the_inertia_of_the_body() {
        let (nodes, inertia, levers) = body();
        let mut random = Random::new(1);
        for _ in 0..20 {
            let (shift, turn) = (random.in_cube(1.0), random.in_cube(1.0));
            let u: Vec<Vec3> = levers.iter().map(|l| shift + turn.cross(*l)).collect();
            let mut y: Vec<Vec3> = u.iter().map(|u| *u * nodes.lump).collect();
            nodes.add_product(&u, &mut y);
            let energy: f64 = u.iter().zip(&y).map(|(u, y)| u.dot(*y)).sum();
            let mass = nodes.lump * levers.len() as f64;
            let expected = mass * shift.length_squared() + turn.dot(inertia * turn);
            assert!((energy - expected).abs() < 1e-10 * expected, "{energy} against {expected}");
        }
    }

    #[test]
    fn the_inverse_undoes_the_product() {
        let (mut nodes, ..) = body();
        let mut random = Random::new(2);
        let n = nodes.levers.len();
        let blocks: Vec<Mat3> =
            (0..n).map(|_| Mat3::from_diagonal(Vec3::splat(random.log_between(1e-3, 1e3)))).collect();
        assert!(nodes.factorise(&blocks));
        let r: Vec<Vec3> = (0..n).map(|_| random.in_cube(1.0)).collect();
        let mut z = vec![Vec3::ZERO; n];
        nodes.solve(&r, &mut z);
        let mut y: Vec<Vec3> = z.iter().zip(&blocks).map(|(z, b)| *z * nodes.lump + *b * *z).collect();
        nodes.add_product(&z, &mut y);
        let error = y.iter().zip(&r).map(|(y, r)| (*y - *r).length()).fold(0.0, f64::max);
        // κ times the rounding, and the spread of the blocks.
        assert!(error < 1e-9, "{error:e}");
    }
}
