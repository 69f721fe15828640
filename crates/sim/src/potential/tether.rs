//! A spring between a point and a place on a triangle: E = ½k(l − l̄)² + ½(β/h)k(l − lⁿ)², l = |x₀ − Σ bₖ xₖ|, with
//! the barycentric weights b of the place. It pulls both ways: the place passes its share on to each corner.

use super::spring::Spring;
use super::sym::Sym;
use super::{ElementError, Potential, blocks};
use littoral_geom::math::{Mat3, Vec3};

/// A point tied to a place on a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tether {
    spring: Spring,
    /// 1, then the negative weights of the corners.
    weights: [f64; 4],
}

impl Tether {
    /// Tether of the given spring to the place with barycentric `weights` ≥ 0 that sum to one.
    pub fn new(spring: Spring, weights: [f64; 3]) -> Result<Self, ElementError> {
        let [a, b, c] = weights;
        for w in weights {
            ElementError::check((0.0..=1.0).contains(&w), "barycentric weight", w, "a number from 0 to 1")?;
        }
        Ok(Tether { spring, weights: [1.0, -a, -b, -c] })
    }

    /// The place Σ bₖ xₖ on the triangle [m].
    pub fn place(&self, x: &[Vec3; 4]) -> Vec3 {
        x[0] - self.span(x)
    }

    /// Sets the rest length l̄ ≥ 0 [m].
    pub fn set_rest(&mut self, rest: f64) {
        self.spring.set_rest(rest);
    }

    #[inline]
    fn span(&self, x: &[Vec3; 4]) -> Vec3 {
        let [_, a, b, c] = self.weights;
        x[0] + a * x[1] + b * x[2] + c * x[3]
    }

    fn blocks(&self, x: &[Vec3; 4], clamp: bool) -> [[Mat3; 4]; 4] {
        let h = self.spring.pull(self.span(x)).hessian(clamp);
        blocks(|i, j| h * (self.weights[i] * self.weights[j]))
    }
}

impl Potential<4> for Tether {
    fn value(&self, x: &[Vec3; 4]) -> f64 {
        self.spring.energy(self.span(x).length())
    }

    fn gradient(&self, x: &[Vec3; 4]) -> [Vec3; 4] {
        let p = self.spring.pull(self.span(x));
        self.weights.map(|w| (w * p.tension) * p.direction)
    }

    fn hessian(&self, x: &[Vec3; 4]) -> [[Mat3; 4]; 4] {
        self.blocks(x, false)
    }

    fn hessian_psd(&self, x: &[Vec3; 4]) -> [[Mat3; 4]; 4] {
        self.blocks(x, true)
    }

    #[inline]
    fn block(&self, x: &[Vec3; 4], corner: usize) -> (Vec3, Mat3) {
        let p = self.spring.pull(self.span(x));
        let w = self.weights[corner];
        let across = p.across.max(0.0);
        let h = Sym::identity(w * w * across).plus(w * w * (p.along - across), p.direction);
        ((w * p.tension) * p.direction, h.full())
    }

    fn lag(&mut self, x_n: &[Vec3; 4], h: f64) {
        self.spring.lag_length(self.span(x_n).length(), h);
    }
}
