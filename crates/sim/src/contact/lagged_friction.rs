//! Friction with the normals and forces of the start of a step [Li 2020, IPC §5].
//!
//! D = Σ μ λ f₀(|u|), u the slip of the pair since xⁿ across its normal there, λ its force there. With ε = h ε_v,
//! f₀(y) = y²/ε (1 − y/3ε) + ε/3 below ε and y above: f₀′ = f₁ of the regularised Coulomb law. A pair's D is
//! convex, and its Hessian positive semidefinite as it stands.

use super::ContactModel;
use super::barrier_set::Touch;
use littoral_geom::math::{Mat3, Vec3, outer};

/// One pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slide {
    /// Its points.
    pub points: [u32; 4],
    /// Weights of the points at xⁿ; zero for unused ones.
    weights: [f64; 4],
    /// Normal at xⁿ.
    normal: Vec3,
    /// μ λ [N]; negative where the barrier corrects a sum.
    drag: f64,
}

impl Slide {
    /// A point of side B: there weights are negative. Side A begins with the first point.
    pub fn other_side(&self) -> u32 {
        let slot = self.weights.iter().position(|w| *w < 0.0).unwrap_or(0);
        self.points[slot]
    }
}

/// All pairs that were in touch at the start of a step.
#[derive(Clone, Debug, Default)]
pub struct LaggedFriction {
    /// The pairs.
    pub list: Vec<Slide>,
    /// ε [m].
    epsilon: f64,
}

impl LaggedFriction {
    /// From the barriers that act at `x_n` [m], the start of a step or a better guess of its end; `epsilon` = h ε_v [m],
    /// > 0.
    pub fn lag(&mut self, contact: &ContactModel, touches: &[Touch], x_n: &[Vec3], epsilon: f64) {
        self.epsilon = epsilon;
        self.list.clear();
        self.list.extend(touches.iter().filter_map(|t| {
            let split = t.barrier.pair.side_a();
            let side = |k: usize| contact.object[t.points[k] as usize];
            let mu = contact.friction_between(side(0), side(split));
            let (closest, force) = t.barrier.pull(&t.gather(x_n));
            let drag = mu * force;
            // Corrections of sums take friction away where they take force away.
            (drag != 0.0).then_some(Slide {
                points: t.points,
                weights: closest.weights,
                normal: closest.normal,
                drag,
            })
        }));
    }

    /// Σ μ λ [N]: how much friction there is.
    pub fn total(&self) -> f64 {
        self.list.iter().map(|s| s.drag).sum()
    }

    /// Slip u [m] of a pair between `x_n` and `x` [m].
    #[inline]
    fn slip(slide: &Slide, x: &[Vec3], x_n: &[Vec3]) -> Vec3 {
        let mut u = Vec3::ZERO;
        for (&v, w) in slide.points.iter().zip(slide.weights) {
            u += w * (x[v as usize] - x_n[v as usize]);
        }
        u - slide.normal.dot(u) * slide.normal
    }

    /// Energy of one pair [J].
    #[inline]
    pub fn value(&self, slide: &Slide, x: &[Vec3], x_n: &[Vec3]) -> f64 {
        let (y, e) = (Self::slip(slide, x, x_n).length(), self.epsilon);
        slide.drag * if y < e { y * y / e * (1.0 - y / (3.0 * e)) + e / 3.0 } else { y }
    }

    /// Gradient by u [N] and Hessian by u [N/m] of one pair; each point sees them times its weights.
    #[inline]
    pub fn derivatives(&self, slide: &Slide, x: &[Vec3], x_n: &[Vec3]) -> (Vec3, Mat3) {
        let (u, e, n) = (Self::slip(slide, x, x_n), self.epsilon, slide.normal);
        let y = u.length();
        // f₁/y, and f₁′ along the slip.
        let (over, along) = if y < e { ((2.0 - y / e) / e, 2.0 / e * (1.0 - y / e)) } else { (1.0 / y, 0.0) };
        let mut h = (Mat3::IDENTITY - outer(n, n)) * over;
        if y > 0.0 {
            h += outer(u, u) * ((along - over) / (y * y));
        }
        (u * (slide.drag * over), h * slide.drag)
    }

    /// True when the pair drags; where it corrects a sum its Hessian is negative semidefinite, and left out.
    #[inline]
    pub fn drags(slide: &Slide) -> bool {
        slide.drag > 0.0
    }

    /// Weight of the point in a slot.
    #[inline]
    pub fn weight(slide: &Slide, slot: usize) -> f64 {
        slide.weights[slot]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use littoral_geom::random::Random;

    #[test]
    fn the_derivatives_are_those_of_the_value() {
        let mut random = Random::new(1);
        for _ in 0..500 {
            let slide = Slide {
                points: [0, 1, 2, 3],
                weights: [1.0, -0.2, -0.5, -0.3],
                normal: random.direction(),
                drag: random.log_between(1e-2, 1e2),
            };
            let friction = LaggedFriction { list: vec![slide], epsilon: 1e-3 };
            let x_n: Vec<Vec3> = (0..4).map(|_| random.in_cube(1.0)).collect();
            let size = random.log_between(1e-5, 1e-2);
            let x: Vec<Vec3> = x_n.iter().map(|p| *p + size * random.in_cube(1.0)).collect();
            let p: Vec<Vec3> = (0..4).map(|_| random.in_cube(1.0)).collect();
            let at = |s: f64| -> Vec<Vec3> { x.iter().zip(&p).map(|(x, p)| *x + s * *p).collect() };
            let step = 1e-4 * size;
            let along: Vec3 = (0..4).map(|i| slide.weights[i] * p[i]).sum();
            let (g, h) = friction.derivatives(&slide, &x, &x_n);
            let slope = (friction.value(&slide, &at(step), &x_n) - friction.value(&slide, &at(-step), &x_n))
                / (2.0 * step);
            // The law has a kink in its third derivative at ε: differences are of first order there.
            let scale = slide.drag * along.length();
            assert!((slope - g.dot(along)).abs() < 1e-5 * scale, "{slope} against {}", g.dot(along));
            let turn = (friction.derivatives(&slide, &at(step), &x_n).0
                - friction.derivatives(&slide, &at(-step), &x_n).0)
                / (2.0 * step);
            let error = (turn - h * along).length();
            assert!(error < 1e-3 * slide.drag * 2e3 * along.length(), "{error}");
        }
    }
}
