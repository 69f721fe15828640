//! The block of a cloth vertex, from all triangles and hinges around it at once: what `NeoHookeanMembrane::block` and
//! `Hinge::block` give, summed, up to rounding. `membrane.rs` and `bending.rs` hold the formulas and are the oracle.
//!
//! The triangles around a vertex v form a fan; a wedge is one of them, with the points j and k, seen from v. Its edges
//! a = xⱼ − x, b = xₖ − x, its normal N = a × b and 1/|N|² serve
//!
//! * its membrane,
//! * the hinge on the edge jk (its tip is v; the point beyond is `outer`): there ∇θ = −|e| N/|N|²,
//! * the hinges on the edges vj and vk (spokes), shared with the wedges before and after.
//!
//! Wedges are taken two at a time. A vertex whose triangles and hinges do not form one oriented fan, and one without
//! hinges, is left to the elements.

use super::Term;
use super::bending::{self, Hinge, unwrapped};
use super::fan_star::{NONE, Star, Wedge};
use super::lanes::{Pair, Pair3};
use super::membrane::{NeoHookeanMembrane, VANISHED, area_law};
use super::scalar;
use super::sym::Sym;
use littoral_geom::math::{Mat3, Vec3};
use rayon::prelude::*;
use std::f64::consts::PI;

/// Two consecutive wedges of a fan. Everything is here twice or more often, so that a sweep reads memory in order.
#[derive(Clone, Copy, Debug)]
struct Wedges {
    j: [u32; 2],
    k: [u32; 2],
    /// Beyond the edge jk; any point without a hinge there.
    outer: [u32; 2],
    /// A₀tλ and A₀tμ [J]; zero for the repeated last wedge that fills up an odd number.
    lambda: Pair,
    mu: Pair,
    /// β/h of the membrane [–].
    ratio: Pair,
    /// 1/(2A₀)² [1/m⁴].
    metric: Pair,
    /// Cotangent weights of the edges opposite v, j and k [1/m²].
    weight: [Pair; 3],
    /// Squared lengths of these edges at the start of the step [m²].
    lagged_sq: [Pair; 3],
    /// The hinges on the edges jk.
    tip: Hinges,
    /// The hinges on the edges vj.
    spoke: Hinges,
}

/// Two hinges; without stiffness where there is none.
#[derive(Clone, Copy, Debug)]
struct Hinges {
    /// K = k (1 + β/h) [J].
    stiffness: Pair,
    /// k (θ̄ + β/h θⁿ) [J].
    offset: Pair,
    /// θⁿ [rad].
    lagged: Pair,
}

/// Where two wedges come from.
#[derive(Clone, Copy, Debug)]
struct Source {
    wedges: [Wedge; 2],
    /// The second wedge counts: it is not a repetition.
    second: bool,
}

/// The fans of all vertices.
#[derive(Clone, Debug)]
pub(crate) struct Fans {
    /// Where the wedges of each vertex start and end.
    ranges: Vec<[u32; 2]>,
    wedges: Vec<Wedges>,
    sources: Vec<Source>,
}

/// Gradient and Hessian, still in two lanes.
struct Sums {
    gradient: Pair3,
    /// xx, yy, zz, xy, yz, zx.
    hessian: [Pair; 6],
    /// Multiple of the identity.
    along: Pair,
}

impl Sums {
    fn zero() -> Self {
        let zero = Pair::splat(0.0);
        Sums { gradient: Pair3 { x: zero, y: zero, z: zero }, hessian: [zero; 6], along: zero }
    }

    fn total(self) -> (Vec3, Mat3) {
        let g = self.gradient;
        let along = self.along.sum();
        let [xx, yy, zz, xy, yz, zx] = self.hessian.map(Pair::sum);
        let hessian = Sym { xx: xx + along, yy: yy + along, zz: zz + along, xy, yz, zx };
        (Vec3::new(g.x.sum(), g.y.sum(), g.z.sum()), hessian.full())
    }

    #[inline(always)]
    fn add(&mut self, gradient: Pair3, block: Block) {
        self.gradient = self.gradient + gradient;
        for (sum, term) in self.hessian.iter_mut().zip(block.0) {
            *sum = *sum + term;
        }
    }
}

/// A symmetric matrix: xx, yy, zz, xy, yz, zx.
struct Block([Pair; 6]);

impl Block {
    /// `s v vᵀ`.
    #[inline(always)]
    fn outer(s: Pair, v: Pair3) -> Self {
        let w = s * v;
        Block([w.x * v.x, w.y * v.y, w.z * v.z, w.x * v.y, w.y * v.z, w.z * v.x])
    }

    /// `self + s v vᵀ`.
    #[inline(always)]
    fn plus(self, s: Pair, v: Pair3) -> Self {
        let [a, b, c, d, e, f] = self.0;
        let o = Block::outer(s, v).0;
        Block([a + o[0], b + o[1], c + o[2], d + o[3], e + o[4], f + o[5]])
    }
}

/// What spokes need of two wedges.
#[derive(Clone, Copy)]
struct Face {
    a: Pair3,
    normal: Pair3,
    /// 1/|N|², bounded.
    inverse: Pair,
    /// |a|².
    aa: Pair,
    /// a·b.
    ab: Pair,
}

impl Hinges {
    fn new(hinges: &[Hinge], of: [u32; 2]) -> Self {
        // Stiffness, offset, angle at the start.
        let [low, high] = of.map(|h| match hinges.get(h as usize) {
            Some(h) => (h.stiffness * (1.0 + h.ratio), h.stiffness * (h.rest + h.ratio * h.lagged), h.lagged),
            None => (0.0, 0.0, 0.0),
        });
        Hinges {
            stiffness: Pair::new(low.0, high.0),
            offset: Pair::new(low.1, high.1),
            lagged: Pair::new(low.2, high.2),
        }
    }

    /// ∂E/∂θ = Kθ − k(θ̄ + β/h θⁿ) at θ = atan2(y, x) [J].
    #[inline(always)]
    fn moment(&self, y: Pair, x: Pair) -> Pair {
        let mut angle = atan2(y, x);
        if !(angle - self.lagged).abs().is_less(Pair::splat(PI)) {
            let (low, high) = (self.lagged.low(), self.lagged.high());
            angle = Pair::new(unwrapped(angle.low(), low), unwrapped(angle.high(), high));
        }
        self.stiffness * angle - self.offset
    }
}

/// Seven coefficients by Estrin's scheme.
#[inline(always)]
fn poly7(s: Pair, c: [f64; 7]) -> Pair {
    // Not `map`, which is sometimes not inlined: a tenth of a sweep.
    let c = |k: usize| Pair::splat(c[k]);
    let s2 = s * s;
    let low = (c(0) + c(1) * s) + s2 * (c(2) + c(3) * s);
    let high = (c(4) + c(5) * s) + s2 * c(6);
    low + (s2 * s2) * high
}

#[inline(always)]
fn atan2(y: Pair, x: Pair) -> Pair {
    if !y.abs().is_less(scalar::BORDERS[0] * x) {
        return Pair::new(scalar::atan2(y.low(), x.low()), scalar::atan2(y.high(), x.high()));
    }
    let t = y / x;
    let s = t * t;
    t + t * s * poly7(s, scalar::ARCTAN)
}

/// J p′ and J² p″ [J] of the area energy p(J).
#[inline(always)]
fn area_laws(lambda: Pair, mu: Pair, j_sq: Pair) -> (Pair, Pair) {
    let one = Pair::splat(1.0);
    // ln J = artanh t
    let t = (j_sq - one) / (j_sq + one);
    if !t.abs().is_less(Pair::splat(scalar::ARTANH_REACH)) {
        let low = area_law(lambda.low(), mu.low(), j_sq.low());
        let high = area_law(lambda.high(), mu.high(), j_sq.high());
        return (Pair::new(low.first, high.first), Pair::new(low.second, high.second));
    }
    let s = t * t;
    let bent = lambda * (t + t * s * poly7(s, scalar::ARTANH));
    (bent - mu, lambda + mu - bent)
}

/// Two by two; an odd last one is repeated without stiffness.
fn pairs(wedges: &[Wedge]) -> impl Iterator<Item = Source> + '_ {
    wedges.chunks(2).map(|two| {
        let low = two[0];
        let repeated = Wedge { tip: NONE, spoke: NONE, ..low };
        let high = two.get(1).copied();
        Source { wedges: [low, high.unwrap_or(repeated)], second: high.is_some() }
    })
}

impl Source {
    /// The wedges with what their elements hold.
    fn load(&self, sheets: &[NeoHookeanMembrane], hinges: &[Hinge]) -> Wedges {
        let [low, high] = self.wedges;
        let active = Pair::new(1.0, if self.second { 1.0 } else { 0.0 });
        let sheet = [low, high].map(|w| sheets[w.sheet as usize].sheet);
        let at = |c: usize| [low, high].map(|w| usize::from(w.corners[c]));
        Wedges {
            j: [low.j, high.j],
            k: [low.k, high.k],
            outer: [low.outer, high.outer],
            lambda: active * Pair::new(sheet[0].lambda, sheet[1].lambda),
            mu: active * Pair::new(sheet[0].mu, sheet[1].mu),
            ratio: Pair::new(sheet[0].ratio, sheet[1].ratio),
            metric: Pair::new(sheet[0].metric, sheet[1].metric),
            weight: [0, 1, 2].map(|c| Pair::new(sheet[0].weight[at(c)[0]], sheet[1].weight[at(c)[1]])),
            lagged_sq: [0, 1, 2]
                .map(|c| Pair::new(sheet[0].lagged_sq[at(c)[0]], sheet[1].lagged_sq[at(c)[1]])),
            tip: Hinges::new(hinges, [low.tip, high.tip]),
            spoke: Hinges::new(hinges, [low.spoke, high.spoke]),
        }
    }

    /// Takes over what changes at the start of a step.
    fn lag(&self, w: &mut Wedges, sheets: &[NeoHookeanMembrane], hinges: &[Hinge]) {
        let [low, high] = self.wedges;
        let [a, b] = [low, high].map(|w| &sheets[w.sheet as usize].sheet);
        let at = |c: usize| (usize::from(low.corners[c]), usize::from(high.corners[c]));
        w.ratio = Pair::new(a.ratio, b.ratio);
        w.lagged_sq = [0, 1, 2].map(|c| Pair::new(a.lagged_sq[at(c).0], b.lagged_sq[at(c).1]));
        w.tip = Hinges::new(hinges, [low.tip, high.tip]);
        w.spoke = Hinges::new(hinges, [low.spoke, high.spoke]);
    }
}

impl Fans {
    /// Puts the fans of `n` vertices together. They lie in memory in the given order of the vertices, best that in
    /// which they will be asked for; what is missing from it follows.
    pub(crate) fn new(
        membranes: &Term<NeoHookeanMembrane, 3>,
        hinges: &Term<Hinge, 4>,
        n: usize,
        order: impl Iterator<Item = u32>,
    ) -> Self {
        let (triangles, folds) = (membranes.incidence(n), hinges.incidence(n));
        let mut fans = Fans { ranges: vec![[0; 2]; n], wedges: Vec::new(), sources: Vec::new() };
        for v in order.chain(0..n as u32) {
            let i = v as usize;
            if fans.covers(v) {
                continue;
            }
            let star = Star { membranes, hinges, triangles: triangles.row(i), folds: folds.row(i) };
            let fan = star.fan(false).or_else(|| star.fan(true));
            let start = fans.sources.len() as u32;
            fans.sources.extend(pairs(&fan.unwrap_or_default()));
            fans.ranges[i] = [start, fans.sources.len() as u32];
        }
        let load = |s: &Source| s.load(&membranes.elements, &hinges.elements);
        fans.wedges = fans.sources.iter().map(load).collect();
        fans
    }

    /// Takes over what the elements remember of the start of the step.
    pub(crate) fn lag(&mut self, sheets: &[NeoHookeanMembrane], hinges: &[Hinge]) {
        let pairs = self.wedges.par_iter_mut().zip(&self.sources).with_min_len(512);
        pairs.for_each(|(w, source)| source.lag(w, sheets, hinges));
    }

    /// Whether `v` has a fan: its membranes and hinges are then all in it.
    pub(crate) fn covers(&self, v: u32) -> bool {
        let [start, end] = self.ranges[v as usize];
        start < end
    }

    /// Gradient [N] and positive semidefinite Hessian block [N/m] at `v`: zero without a fan.
    #[inline]
    pub(crate) fn block(&self, v: u32, x: &[Vec3]) -> (Vec3, Mat3) {
        let [start, end] = self.ranges[v as usize];
        let [first, rest @ ..] = &self.wedges[start as usize..end as usize] else {
            return (Vec3::ZERO, Mat3::ZERO);
        };
        let at = x[v as usize];
        let at = Pair3::new(at, at);
        let mut sums = Sums::zero();
        let first_face = face(first, at, x, &mut sums);
        let mut before = first_face;
        for w in rest {
            let next = face(w, at, x, &mut sums);
            spoke(w, &before, &next, &mut sums);
            before = next;
        }
        // Before the first wedge comes the last one.
        spoke(first, &before, &first_face, &mut sums);
        sums.total()
    }
}

/// Adds the membranes and the hinges opposite.
#[inline(always)]
fn face(w: &Wedges, at: Pair3, x: &[Vec3], sums: &mut Sums) -> Face {
    let gather = |points: [u32; 2]| Pair3::new(x[points[0] as usize], x[points[1] as usize]) - at;
    let (a, b, beyond) = (gather(w.j), gather(w.k), gather(w.outer));
    let e = b - a;
    let normal = a.cross(b);
    let (aa, bb, ee, n_sq) = (a.dot(a), b.dot(b), e.dot(e), normal.dot(normal));
    let inverse = (Pair::splat(1.0) / n_sq).min((1.0 / (VANISHED * VANISHED)) * w.metric);

    // What may call a function comes first: no sum is then held in registers across the call.
    let (first, second) = area_laws(w.lambda, w.mu, n_sq * w.metric);
    let length = ee.sqrt();
    let to_outer = a - beyond;
    let moment = w.tip.moment(length * normal.dot(to_outer), normal.dot(e.cross(to_outer)));

    // Hinge on jk: ∇θ = −|e| N/|N|², a multiple of the normal like the membrane's stiffness across.
    let [w_v, w_j, w_k] = w.weight;
    let along = w.mu * (w_j + w_k);
    let across = (first * ee).max(-(along * n_sq));
    let bounded = inverse.min((1.0 / bending::VANISHED) * w.metric);
    let lift = moment * length * bounded;
    let mut block =
        Block::outer(across * (inverse * inverse) + w.tip.stiffness * ee * (bounded * bounded), normal);

    // Membrane: the elastic part, then the damping, as in `NeoHookeanMembrane::corner_block`.
    let z = inverse * normal.cross(e);
    let mut gradient = first * z - lift * normal;
    block = block.plus(second.max(Pair::splat(0.0)), z);
    let (mut pull_a, mut pull_b) = (w.mu * w_k, w.mu * w_j);
    if w.ratio.sum() > 0.0 {
        let d = [ee - w.lagged_sq[0], bb - w.lagged_sq[1], aa - w.lagged_sq[2]];
        let stiff = w.lambda + w.mu + w.mu;
        let tr = stiff * (w_v * d[0] + w_j * d[1] + w_k * d[2]);
        let shear = w.mu * w.metric;
        let sum = d[0] + d[1] + d[2];
        let half = 0.5 * w.ratio;
        pull_a = pull_a + half * (tr * w_k - shear * (sum - d[2] - d[2]));
        pull_b = pull_b + half * (tr * w_j - shear * (sum - d[1] - d[1]));
        block = block.plus(w.ratio * stiff, w_k * a + w_j * b).plus(w.ratio * shear, e);
    }
    gradient = gradient - (pull_a * a + pull_b * b);
    sums.along = sums.along + along;
    sums.add(gradient, block);
    Face { a, normal, inverse: bounded, aa, ab: a.dot(b) }
}

/// Adds the hinges on the edges vj, between the wedges of `now` and those one before.
#[inline(always)]
fn spoke(w: &Wedges, before: &Face, now: &Face, sums: &mut Sums) {
    let (n1, n2) = (now.normal, now.normal.after(before.normal));
    let far = now.a.after(before.a);
    let length_sq = now.aa.max(Pair::splat(f64::MIN_POSITIVE));
    let length = length_sq.sqrt();
    let moment = w.spoke.moment(-(length * n1.dot(far)), n1.dot(n2));
    // ∇θ = |e| g, g = (x₁−x₂)·e/|e|² n₁/|n₁|² + (x₁−x₃)·e/|e|² n₂/|n₂|²
    let over = Pair::splat(1.0) / length_sq;
    let p = over * (now.aa - now.ab) * now.inverse;
    let r = over * (now.aa - now.ab.after(before.ab)) * now.inverse.after(before.inverse);
    let g = p * n1 + r * n2;
    sums.add((moment * length) * g, Block::outer(w.spoke.stiffness * length_sq, g));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::potential::{MembraneParameters, Potential};
    use littoral_geom::mesh::hinges;
    use littoral_geom::random::Random;
    use littoral_geom::shapes;

    type Cloth = (Term<NeoHookeanMembrane, 3>, Term<Hinge, 4>);

    /// All elements of a mesh, with damping that remembers `x_n`.
    fn cloth(triangles: &[[u32; 3]], rest: &[Vec3], x_n: &[Vec3], poisson: f64) -> Cloth {
        let parameters = MembraneParameters { young: 1e6, poisson, thickness: 1e-3, damping: 1e-3 };
        let (mut membranes, mut folds) = (Term::default(), Term::default());
        for &t in triangles {
            let membrane = NeoHookeanMembrane::new(t.map(|v| rest[v as usize]), &parameters);
            membranes.push(t, membrane.expect("valid triangle"));
        }
        for h in hinges(triangles) {
            folds.push(h, Hinge::new(h.map(|v| rest[v as usize]), 1e-2, 1e-3).expect("valid hinge"));
        }
        membranes.lag(x_n, 1e-2);
        folds.lag(x_n, 1e-2);
        (membranes, folds)
    }

    /// Sum over the elements at `v`.
    fn oracle((membranes, folds): &Cloth, v: u32, x: &[Vec3]) -> (Vec3, Mat3) {
        let (mut gradient, mut hessian) = (Vec3::ZERO, Mat3::ZERO);
        let mut add = |(g, h): (Vec3, Mat3)| {
            gradient += g;
            hessian += h;
        };
        for item in membranes.incidence(x.len()).row(v as usize) {
            let e = (item >> 2) as usize;
            add(membranes.elements[e].block(&membranes.gather(x, e), (item & 3) as usize));
        }
        for item in folds.incidence(x.len()).row(v as usize) {
            let e = (item >> 2) as usize;
            add(folds.elements[e].block(&folds.gather(x, e), (item & 3) as usize));
        }
        (gradient, hessian)
    }

    /// Compares every fan with its elements; returns the number of vertices that have one.
    fn compare(cloth: &Cloth, x: &[Vec3]) -> usize {
        // Built with another memory than the elements have in the end.
        let (mut membranes, mut folds) = cloth.clone();
        membranes.lag(x, 1.0);
        folds.lag(x, 1.0);
        let mut fans = Fans::new(&membranes, &folds, x.len(), (0..x.len() as u32).rev());
        fans.lag(&cloth.0.elements, &cloth.1.elements);
        let covered = (0..x.len() as u32).filter(|v| fans.covers(*v));
        covered
            .inspect(|&v| {
                let (g, h) = fans.block(v, x);
                let (g_sum, h_sum) = oracle(cloth, v, x);
                let stiffness = h_sum.x_axis.x + h_sum.y_axis.y + h_sum.z_axis.z;
                // A hundred roundings of terms up to the stiffness, moved by positions of size one.
                let error = (h - h_sum).to_cols_array().iter().fold(0.0, |m: f64, d| m.max(d.abs()));
                assert!(error <= 1e-12 * stiffness, "vertex {v}: {error} of {stiffness}");
                assert!((g - g_sum).length() <= 1e-13 * stiffness, "vertex {v}: {g} {g_sum}");
            })
            .count()
    }

    /// A grid with noise of the given size [cells] in a random frame.
    fn noisy(random: &mut Random, rest: &[Vec3], size: f64) -> Vec<Vec3> {
        let turn = crate::potential::check::rotation(random);
        rest.iter().map(|p| turn * (*p + 0.1 * size * random.in_cube(1.0))).collect()
    }

    #[test]
    fn fans_give_what_their_elements_give() {
        let mesh = shapes::grid([0.7, 0.5], [7, 5]);
        let mut random = Random::new(5);
        for size in [1e-6, 1e-2, 0.1, 0.3, 1.0] {
            for _ in 0..20 {
                let rest = noisy(&mut random, &mesh.vertices, 0.2);
                let (x_n, x) = (noisy(&mut random, &rest, size), noisy(&mut random, &rest, size));
                let cloth = cloth(&mesh.triangles, &rest, &x_n, 0.3);
                // Two corners of the grid belong to a single triangle, and still to the hinge on its far side.
                assert_eq!(compare(&cloth, &x), mesh.vertices.len());
            }
        }
    }

    #[test]
    fn fans_do_not_depend_on_the_orientation_of_the_mesh() {
        let mesh = shapes::grid([0.7, 0.5], [7, 5]);
        let flipped: Vec<[u32; 3]> = mesh.triangles.iter().map(|t| [t[1], t[0], t[2]]).collect();
        let mut random = Random::new(6);
        let x = noisy(&mut random, &mesh.vertices, 0.3);
        assert_eq!(compare(&cloth(&flipped, &mesh.vertices, &x, 0.3), &x), x.len());
    }

    #[test]
    fn vertices_without_an_ordinary_fan_are_left_to_the_elements() {
        let mesh = shapes::grid([0.2, 0.2], [2, 2]);
        let x = &mesh.vertices;
        // Negative λ has an area law of its own.
        assert_eq!(compare(&cloth(&mesh.triangles, x, x, -0.3), x), 0);
        // One triangle turned over: the hinges around it contradict each other.
        let mut mixed = mesh.triangles.clone();
        mixed[0].swap(0, 1);
        let (membranes, folds) = cloth(&mesh.triangles, x, x, 0.3);
        let (mut turned, _) = cloth(&mixed, x, x, 0.3);
        turned.elements.clone_from(&membranes.elements);
        let fans = Fans::new(&turned, &folds, x.len(), 0..x.len() as u32);
        assert!((0..x.len() as u32).any(|v| !fans.covers(v)));
    }
}
