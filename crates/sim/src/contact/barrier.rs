//! The barrier of one contact pair [Li 2020, IPC], normalised so that its strength is a pressure times an area.
//!
//! With the distance d, the range d̂ and s = d/d̂ the energy is E = κA b̄(d), b̄ = d̂ (s−1)² (−ln s) below d̂: infinite at
//! zero, C² at d̂. κ [Pa] times the area A [m²] that the pair stands for is its strength [N]; the force is κA |∂b̄/∂d|,
//! 0.03, 0.34, 1.2, 3.3 and 12 times the strength at s = 0.9, 0.7, 0.5, 0.3 and 0.1. Of edge pairs that are nearly
//! parallel, E is multiplied by m(c), c = |u×v|² of the two edges, m = (2 − c/ε)(c/ε) below ε = 10⁻³|ū|²|v̄|², else 1.
//!
//! Derivatives. d is the least |r| over the free parameters α of the two closest points, r = Σ wᵢ(α) xᵢ. With the
//! normal n = r/d, orthonormal tangents τⱼ along ∂r/∂α and w′ⱼ = ∂w/∂αⱼ scaled alike, ∇d = w ⊗ n and
//!
//! ∇²d = (1/d) wwᵀ ⊗ (I − nnᵀ − Σ τⱼτⱼᵀ) − Σⱼ (uⱼvⱼᵀ + vⱼuⱼᵀ + d uⱼuⱼᵀ),  uⱼ = w′ⱼ ⊗ n,  vⱼ = w ⊗ τⱼ.
//!
//! Since b̄′ < 0 the first part pulls downwards and is dropped from the projected Hessian; each pair (uⱼ, vⱼ) has one
//! positive eigenvalue, in closed form once the w′ⱼ are made orthogonal. What is dropped is negative semidefinite, so
//! that the projected Hessian is never below the exact one.

use crate::potential::Potential;
use littoral_geom::distance::{
    EdgeRegion, TriangleRegion, closest_edge_edge, closest_point_edge, closest_point_triangle,
};
use littoral_geom::math::{Mat3, Vec3, outer};

/// Edge pairs are mollified below this squared sine of their angle [Li 2020]: 1.8°. Smaller: forces jump where edges
/// become parallel. Larger: pairs that support lose strength.
const PARALLEL: f64 = 1e-3;

/// Tangents whose angle has a squared sine below this count as one: what the second adds is a rounding error.
const ONE_DIRECTION: f64 = 1e-14;

/// b̄(d) [m] for the range d̂ [m].
#[inline]
pub fn value(d: f64, range: f64) -> f64 {
    let s = d / range;
    if s < 1.0 { -range * (s - 1.0) * (s - 1.0) * s.ln() } else { 0.0 }
}

/// ∂b̄/∂d [–], ≤ 0, and ∂²b̄/∂d² [1/m], ≥ 0.
#[inline]
pub fn slopes(d: f64, range: f64) -> (f64, f64) {
    let s = d / range;
    if s >= 1.0 {
        return (0.0, 0.0);
    }
    let (gap, log) = (s - 1.0, s.ln());
    let ratio = gap / s;
    (-gap * (2.0 * log + ratio), -(2.0 * log + 4.0 * ratio - ratio * ratio) / range)
}

/// Which primitives a pair consists of. Side A first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pair {
    /// Two points.
    PointPoint,
    /// A point and an edge.
    PointEdge,
    /// A point and a triangle.
    PointTriangle,
    /// Two edges.
    EdgeEdge,
    /// Of two edges, the end in this slot and the other edge.
    EndEdge(u8),
    /// Of two edges, the ends in these slots, one of each.
    EndEnd(u8, u8),
}

impl Pair {
    /// Number of its points.
    #[inline]
    pub fn points(self) -> usize {
        match self {
            Pair::PointPoint => 2,
            Pair::PointEdge => 3,
            Pair::PointTriangle | Pair::EdgeEdge | Pair::EndEdge(_) | Pair::EndEnd(..) => 4,
        }
    }

    /// Number of points on side A.
    #[inline]
    pub fn side_a(self) -> usize {
        match self {
            Pair::PointPoint | Pair::PointEdge | Pair::PointTriangle => 1,
            Pair::EdgeEdge | Pair::EndEdge(_) | Pair::EndEnd(..) => 2,
        }
    }
}

/// The closest points of a pair and how they slide.
#[derive(Clone, Copy, Debug)]
pub struct Closest {
    /// Weights w of the four points; positive on side A, they sum to zero.
    pub weights: [f64; 4],
    /// Unit direction from B to A; zero when they touch.
    pub normal: Vec3,
    /// Distance [m].
    pub distance: f64,
    /// Number of free parameters.
    free: usize,
    /// τ [–].
    tangents: [Vec3; 2],
    /// w′ [1/m].
    slides: [[f64; 4]; 2],
}

impl Closest {
    /// From the weights, the bridge r [m] and, for each free parameter, ∂r/∂α [m] and ∂w/∂α.
    #[inline]
    fn new(weights: [f64; 4], r: Vec3, free: &[(Vec3, [f64; 4])]) -> Self {
        let distance = r.length();
        let normal = if distance > 0.0 { r / distance } else { Vec3::ZERO };
        let mut c =
            Closest { weights, normal, distance, free: 0, tangents: [Vec3::ZERO; 2], slides: [[0.0; 4]; 2] };
        // QR of the two columns ∂r/∂α.
        for &(along, slide) in free {
            let (mut e, mut w) = (along, slide);
            if c.free == 1 {
                let s = c.tangents[0].dot(along);
                e -= s * c.tangents[0];
                w = std::array::from_fn(|i| slide[i] - s * c.slides[0][i]);
            }
            let length = e.length();
            if length * length > ONE_DIRECTION * along.length_squared() {
                c.tangents[c.free] = e / length;
                c.slides[c.free] = w.map(|w| w / length);
                c.free += 1;
            }
        }
        c
    }

    /// The closest points of a pair.
    #[inline]
    pub fn of(pair: Pair, p: &[Vec3; 4]) -> Self {
        match pair {
            Pair::PointPoint => Self::new([1.0, -1.0, 0.0, 0.0], p[0] - p[1], &[]),
            Pair::PointEdge => {
                let c = closest_point_edge(p[0], p[1], p[2]);
                let slide = [(p[1] - p[2], [0.0, 1.0, -1.0, 0.0])];
                let free = usize::from(c.region == EdgeRegion::Interior);
                Self::new([1.0, c.t - 1.0, -c.t, 0.0], p[0] - c.point, &slide[..free])
            }
            Pair::PointTriangle => {
                let c = closest_point_triangle(p[0], [p[1], p[2], p[3]]);
                let slide = |i: usize, j: usize| {
                    let mut w = [0.0; 4];
                    (w[i], w[j]) = (1.0, -1.0);
                    (p[i] - p[j], w)
                };
                let w = [1.0, -c.bary[0], -c.bary[1], -c.bary[2]];
                let r = p[0] - c.point;
                match c.region {
                    TriangleRegion::Face => Self::new(w, r, &[slide(1, 2), slide(1, 3)]),
                    TriangleRegion::Edge(k) => {
                        Self::new(w, r, &[slide(1 + k as usize, 1 + (k as usize + 1) % 3)])
                    }
                    TriangleRegion::Vertex(_) => Self::new(w, r, &[]),
                }
            }
            Pair::EdgeEdge => {
                let c = closest_edge_edge(p[0], p[1], p[2], p[3]);
                let along_a = (p[1] - p[0], [-1.0, 1.0, 0.0, 0.0]);
                let along_b = (p[2] - p[3], [0.0, 0.0, 1.0, -1.0]);
                let w = [1.0 - c.s, c.s, c.t - 1.0, -c.t];
                let r = c.point_a - c.point_b;
                let inside = |e: EdgeRegion| e == EdgeRegion::Interior;
                match (inside(c.region_a), inside(c.region_b)) {
                    (true, true) => Self::new(w, r, &[along_a, along_b]),
                    (true, false) => Self::new(w, r, &[along_a]),
                    (false, true) => Self::new(w, r, &[along_b]),
                    (false, false) => Self::new(w, r, &[]),
                }
            }
            Pair::EndEdge(k) => {
                let k = k as usize;
                let on_a = k < 2;
                let (from, to) = if on_a { (2, 3) } else { (0, 1) };
                let c = closest_point_edge(p[k], p[from], p[to]);
                // Weights are positive on side A.
                let sign = if on_a { 1.0 } else { -1.0 };
                let (mut w, mut slide) = ([0.0; 4], [0.0; 4]);
                w[k] = sign;
                w[from] = sign * (c.t - 1.0);
                w[to] = -sign * c.t;
                (slide[from], slide[to]) = (sign, -sign);
                let free = usize::from(c.region == EdgeRegion::Interior);
                let slides = [(sign * (p[from] - p[to]), slide)];
                Self::new(w, sign * (p[k] - c.point), &slides[..free])
            }
            Pair::EndEnd(a, b) => {
                let (a, b) = (a as usize, b as usize);
                let mut w = [0.0; 4];
                (w[a], w[b]) = (1.0, -1.0);
                Self::new(w, p[a] - p[b], &[])
            }
        }
    }

    /// The same tangent space with orthogonal w′: one rotation of the Gram matrix.
    #[inline]
    fn untangled(mut self) -> Self {
        if self.free < 2 {
            return self;
        }
        let [a, b] = self.slides;
        let dot = |p: &[f64; 4], q: &[f64; 4]| p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3];
        let (aa, ab, bb) = (dot(&a, &a), dot(&a, &b), dot(&b, &b));
        if ab.abs() <= f64::EPSILON * (aa + bb) {
            return self;
        }
        let tau = (bb - aa) / (2.0 * ab);
        let t = 1f64.copysign(tau) / (tau.abs() + tau.hypot(1.0));
        let c = 1.0 / t.hypot(1.0);
        let s = c * t;
        let [p, q] = self.tangents;
        self.tangents = [c * p - s * q, s * p + c * q];
        self.slides =
            [std::array::from_fn(|i| c * a[i] - s * b[i]), std::array::from_fn(|i| s * a[i] + c * b[i])];
        self
    }

    /// ∇²d with its sign turned, times `scale`: block (i, j).
    #[inline]
    fn minus_bend(&self, scale: f64, i: usize, j: usize) -> Mat3 {
        let (w, n, d) = (&self.weights, self.normal, self.distance);
        let mut rest = Mat3::IDENTITY - outer(n, n);
        let mut sum = Mat3::ZERO;
        for k in 0..self.free {
            let (t, s) = (self.tangents[k], &self.slides[k]);
            rest -= outer(t, t);
            sum +=
                outer(n, t) * (s[i] * w[j]) + outer(t, n) * (w[i] * s[j]) + outer(n, n) * (d * s[i] * s[j]);
        }
        (sum - rest * (w[i] * w[j] / d)) * scale
    }
}

/// The barrier of one pair of N points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Barrier<const N: usize> {
    /// What meets.
    pub pair: Pair,
    /// κA [N].
    pub strength: f64,
    /// d̂ [m].
    pub range: f64,
    /// ε of the mollifier [m⁴]; 0 for none.
    pub epsilon: f64,
}

/// ε [m⁴] of two edges with these rest lengths [m].
pub fn mollified_below(length_a: f64, length_b: f64) -> f64 {
    PARALLEL * length_a * length_a * length_b * length_b
}

/// m(c), m′, m″ and ∂c/∂u, ∂c/∂v of two edges u and v.
struct Mollifier {
    m: f64,
    first: f64,
    second: f64,
    u: Vec3,
    v: Vec3,
    by_u: Vec3,
    by_v: Vec3,
}

/// Signs of the four points in u = a₁ − a₀ and v = b₁ − b₀.
const ENDS: [f64; 4] = [-1.0, 1.0, -1.0, 1.0];

impl Mollifier {
    fn arm(&self, i: usize) -> Vec3 {
        ENDS[i] * if i < 2 { self.by_u } else { self.by_v }
    }

    /// ∂²c/∂xᵢ∂xⱼ; the part that is positive semidefinite when not `exact`.
    fn bend(&self, i: usize, j: usize, exact: bool) -> Mat3 {
        let (u, v) = (self.u, self.v);
        let square = |p: Vec3| (Mat3::IDENTITY * p.length_squared() - outer(p, p)) * 2.0;
        // Of |q|², q = u × v, with δq = δu × v + u × δv.
        let uv = (outer(u, v) - Mat3::IDENTITY * u.dot(v)) * 2.0;
        let turn = if exact { (outer(u, v) - outer(v, u)) * 2.0 } else { Mat3::ZERO };
        let block = match (i < 2, j < 2) {
            (true, true) => square(v),
            (false, false) => square(u),
            (true, false) => uv + turn,
            (false, true) => (uv + turn).transpose(),
        };
        block * (ENDS[i] * ENDS[j])
    }
}

impl<const N: usize> Barrier<N> {
    /// The points, the unused ones repeating the first.
    #[inline]
    fn padded(x: &[Vec3; N]) -> [Vec3; 4] {
        std::array::from_fn(|i| if i < N { x[i] } else { x[0] })
    }

    /// `None` where m = 1.
    fn mollifier(&self, x: &[Vec3; 4]) -> Option<Mollifier> {
        if self.epsilon <= 0.0 {
            return None;
        }
        let (u, v) = (x[1] - x[0], x[3] - x[2]);
        let c = u.cross(v).length_squared();
        if c >= self.epsilon {
            return None;
        }
        let (s, e, uv) = (c / self.epsilon, self.epsilon, u.dot(v));
        Some(Mollifier {
            m: (2.0 - s) * s,
            first: 2.0 * (1.0 - s) / e,
            second: -2.0 / (e * e),
            by_u: 2.0 * (u * v.length_squared() - v * uv),
            by_v: 2.0 * (v * u.length_squared() - u * uv),
            u,
            v,
        })
    }

    /// Distance [m] and −∂E/∂d [N], the closest points: what friction needs.
    pub fn pull(&self, x: &[Vec3; N]) -> (Closest, f64) {
        let p = Self::padded(x);
        let c = Closest::of(self.pair, &p);
        let m = self.mollifier(&p).map_or(1.0, |m| m.m);
        (c, -self.strength * m * slopes(c.distance, self.range).0)
    }

    /// Adds the projected Hessian of S b̄(d), S = strength, in arms: Σ armᵢ armⱼᵀ.
    #[inline]
    fn add_projected(&self, c: &Closest, strength: f64, h: &mut [[Mat3; N]; N]) {
        let (first, second) = slopes(c.distance, self.range);
        let c = c.untangled();
        let mut add = |arms: [Vec3; N]| {
            for (row, a) in h.iter_mut().zip(arms) {
                for (block, b) in row.iter_mut().zip(arms) {
                    *block += outer(a, b);
                }
            }
        };
        let w = &c.weights;
        let root = (strength * second).sqrt();
        add(std::array::from_fn(|i| (root * w[i]) * c.normal));
        let weight = w.iter().map(|w| w * w).sum::<f64>().sqrt();
        for k in 0..c.free {
            let s = &c.slides[k];
            let size = s.iter().map(|s| s * s).sum::<f64>().sqrt();
            // [d σ², σ|w|; σ|w|, 0] on (u/|u|, v/|v|), σ = |u|: its positive eigenvalue and vector (e, σ|w|).
            let (straight, cross) = (0.5 * c.distance * size * size, size * weight);
            let e = straight + straight.hypot(cross);
            let scale = (-strength * first * e / (e * e + cross * cross)).sqrt();
            let (along_u, along_v) = (scale * e / size, scale * cross / weight);
            add(std::array::from_fn(|i| (along_u * s[i]) * c.normal + (along_v * w[i]) * c.tangents[k]));
        }
    }

    /// Adds what the mollifier changes: E = m b, b = S b̄.
    fn add_mollified(&self, c: &Closest, m: &Mollifier, h: &mut [[Mat3; N]; N]) {
        let b = self.strength * value(c.distance, self.range);
        let slope = self.strength * slopes(c.distance, self.range).0;
        let arm_d: [Vec3; N] = std::array::from_fn(|i| c.weights[i] * c.normal);
        let arm_c: [Vec3; N] = std::array::from_fn(|i| m.arm(i));
        // [b m″, m′b′; m′b′, 0] on (∇c, ∇d), each scaled to one: b m″ is negative.
        let size = |a: &[Vec3; N]| a.iter().map(|a| a.length_squared()).sum::<f64>().sqrt();
        let (of_c, of_d) = (size(&arm_c), size(&arm_d));
        let (straight, cross) = (0.5 * b * m.second * of_c * of_c, m.first * slope * of_c * of_d);
        if of_c > 0.0 && cross != 0.0 {
            // straight + √(straight² + cross²) without cancellation.
            let e = cross * cross / (straight.hypot(cross) - straight);
            let scale = (e / (e * e + cross * cross)).sqrt();
            let arms: [Vec3; N] =
                std::array::from_fn(|i| (scale * e / of_c) * arm_c[i] + (scale * cross / of_d) * arm_d[i]);
            for i in 0..N {
                for j in 0..N {
                    h[i][j] += outer(arms[i], arms[j]);
                }
            }
        }
        for (i, row) in h.iter_mut().enumerate() {
            for (j, block) in row.iter_mut().enumerate() {
                *block += m.bend(i, j, false) * (b * m.first);
            }
        }
    }
}

impl<const N: usize> Potential<N> for Barrier<N> {
    #[inline]
    fn value(&self, x: &[Vec3; N]) -> f64 {
        let p = Self::padded(x);
        let d = Closest::of(self.pair, &p).distance;
        if d >= self.range {
            return 0.0;
        }
        self.strength * value(d, self.range) * self.mollifier(&p).map_or(1.0, |m| m.m)
    }

    #[inline]
    fn gradient(&self, x: &[Vec3; N]) -> [Vec3; N] {
        let p = Self::padded(x);
        let c = Closest::of(self.pair, &p);
        let first = self.strength * slopes(c.distance, self.range).0;
        let mollifier = self.mollifier(&p);
        let pull = first * mollifier.as_ref().map_or(1.0, |m| m.m);
        let mut g: [Vec3; N] = std::array::from_fn(|i| (pull * c.weights[i]) * c.normal);
        if let Some(m) = mollifier {
            let b = self.strength * value(c.distance, self.range) * m.first;
            for (i, g) in g.iter_mut().enumerate() {
                *g += b * m.arm(i);
            }
        }
        g
    }

    fn hessian(&self, x: &[Vec3; N]) -> [[Mat3; N]; N] {
        let p = Self::padded(x);
        let c = Closest::of(self.pair, &p);
        let (first, second) = slopes(c.distance, self.range);
        let (b, first, second) =
            (self.strength * value(c.distance, self.range), self.strength * first, self.strength * second);
        let nn = outer(c.normal, c.normal);
        let mollifier = self.mollifier(&p);
        std::array::from_fn(|i| {
            std::array::from_fn(|j| {
                let plain = nn * (second * c.weights[i] * c.weights[j]) + c.minus_bend(-first, i, j);
                let Some(m) = &mollifier else { return plain };
                let (d_i, d_j) = (c.weights[i] * c.normal, c.weights[j] * c.normal);
                let (c_i, c_j) = (m.arm(i), m.arm(j));
                plain * m.m
                    + (outer(c_i, d_j) + outer(d_i, c_j)) * (m.first * first)
                    + outer(c_i, c_j) * (b * m.second)
                    + m.bend(i, j, true) * (b * m.first)
            })
        })
    }

    /// Projected in closed form, never below the exact one; zero for a negative strength.
    #[inline]
    fn hessian_psd(&self, x: &[Vec3; N]) -> [[Mat3; N]; N] {
        let mut h = [[Mat3::ZERO; N]; N];
        let p = Self::padded(x);
        let c = Closest::of(self.pair, &p);
        if c.distance >= self.range || self.strength <= 0.0 {
            return h;
        }
        match self.mollifier(&p) {
            None => self.add_projected(&c, self.strength, &mut h),
            Some(m) => {
                self.add_projected(&c, self.strength * m.m, &mut h);
                self.add_mollified(&c, &m, &mut h);
            }
        }
        h
    }

    fn block(&self, x: &[Vec3; N], corner: usize) -> (Vec3, Mat3) {
        let block = self.hessian_psd(x)[corner][corner];
        // The last bit, where rounding makes a product of arms asymmetric.
        (self.gradient(x)[corner], (block + block.transpose()) * 0.5)
    }
}

#[cfg(test)]
mod tests;
