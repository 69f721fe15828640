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
use super::bending::Hinge;
use super::membrane::{NeoHookeanMembrane, VANISHED};
use super::scalar;
use super::sym::Sym;
use crate::lanes::{Pair, Pair3};
use littoral_geom::math::{Mat3, Vec3};
use std::f64::consts::PI;

/// No hinge.
const NONE: u32 = u32::MAX;

/// Two consecutive wedges of a fan.
#[derive(Clone, Copy, Debug)]
struct Wedges {
    j: [u32; 2],
    k: [u32; 2],
    /// Beyond the edge jk; any point without a hinge there.
    outer: [u32; 2],
    /// The membrane.
    sheet: [u32; 2],
    /// Hinge on the edge jk, or `NONE`.
    tip: [u32; 2],
    /// Hinge on the edge vj, or `NONE`.
    spoke: [u32; 2],
    /// Corners of the membrane at v, j and k.
    corners: [[u8; 3]; 2],
    /// One; zero for the repeated last wedge that fills up an odd number.
    active: [f64; 2],
}

/// The fans of all vertices.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fans {
    /// Where the wedges of each vertex start; one more entry than there are vertices.
    offsets: Vec<u32>,
    wedges: Vec<Wedges>,
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

    /// Adds `s v vᵀ`.
    #[inline(always)]
    fn add_outer(&mut self, s: Pair, v: Pair3) {
        let w = s * v;
        let terms = [w.x * v.x, w.y * v.y, w.z * v.z, w.x * v.y, w.y * v.z, w.z * v.x];
        for (sum, term) in self.hessian.iter_mut().zip(terms) {
            *sum = *sum + term;
        }
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

/// The parameters of two hinges.
struct Hinges<'a> {
    pair: [&'a Hinge; 2],
    /// k (1 + β/h).
    stiffness: Pair,
    /// Largest 1/|n|².
    ceiling: Pair,
}

impl<'a> Hinges<'a> {
    #[inline(always)]
    fn new(hinges: &'a [Hinge], of: [u32; 2]) -> Self {
        let pair = of.map(|h| hinges.get(h as usize).unwrap_or(&Hinge::NONE));
        let stiffness = Pair::from_fn(|l| pair[l].stiffness) * (Pair::splat(1.0) + Self::ratio(pair));
        Hinges { pair, stiffness, ceiling: Pair::from_fn(|l| pair[l].ceiling) }
    }

    #[inline(always)]
    fn ratio(pair: [&Hinge; 2]) -> Pair {
        Pair::from_fn(|l| pair[l].ratio)
    }

    /// ∂E/∂θ at θ = atan2(y, x) [J].
    #[inline(always)]
    fn moment(&self, y: Pair, x: Pair) -> Pair {
        let pair = self.pair;
        let mut angle = atan2(y, x);
        let lagged = Pair::from_fn(|l| pair[l].lagged);
        if !(angle - lagged).abs().is_less(Pair::splat(PI)) {
            angle = Pair::new(pair[0].unwrapped(angle.low()), pair[1].unwrapped(angle.high()));
        }
        let rest = Pair::from_fn(|l| pair[l].rest);
        let k = Pair::from_fn(|l| pair[l].stiffness);
        k * ((angle - rest) + Self::ratio(pair) * (angle - lagged))
    }
}

/// Seven coefficients by Estrin's scheme.
#[inline(always)]
fn poly7(s: Pair, c: [f64; 7]) -> Pair {
    let c = c.map(Pair::splat);
    let s2 = s * s;
    let low = (c[0] + c[1] * s) + s2 * (c[2] + c[3] * s);
    let high = (c[4] + c[5] * s) + s2 * c[6];
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

/// The parameters of two membranes; zero stiffness for one that only fills up.
struct Sheets<'a> {
    pair: [&'a NeoHookeanMembrane; 2],
    active: Pair,
    lambda: Pair,
    mu: Pair,
    metric: Pair,
}

impl<'a> Sheets<'a> {
    #[inline(always)]
    fn new(sheets: &'a [NeoHookeanMembrane], w: &Wedges) -> Self {
        let pair = w.sheet.map(|s| &sheets[s as usize]);
        let active = Pair::from_fn(|l| w.active[l]);
        Sheets {
            pair,
            active,
            lambda: active * Pair::from_fn(|l| pair[l].sheet.lambda),
            mu: active * Pair::from_fn(|l| pair[l].sheet.mu),
            metric: Pair::from_fn(|l| pair[l].sheet.metric),
        }
    }

    /// J p′ and J² p″ [J] of the area energy p(J).
    #[inline(always)]
    fn area_law(&self, j_sq: Pair) -> (Pair, Pair) {
        let one = Pair::splat(1.0);
        // ln J = artanh t
        let t = (j_sq - one) / (j_sq + one);
        if !t.abs().is_less(Pair::splat(scalar::ARTANH_REACH)) {
            let law = [self.pair[0].area_law(j_sq.low()), self.pair[1].area_law(j_sq.high())];
            let (first, second) = (Pair::from_fn(|l| law[l].first), Pair::from_fn(|l| law[l].second));
            return (self.active * first, self.active * second);
        }
        let s = t * t;
        let ln_j = t + t * s * poly7(s, scalar::ARTANH);
        let bent = self.lambda * ln_j;
        (bent - self.mu, self.lambda + self.mu - bent)
    }
}

/// A wedge while its fan is put together.
#[derive(Clone, Copy)]
struct Wedge {
    j: u32,
    k: u32,
    sheet: u32,
    corners: [u8; 3],
    outer: u32,
    tip: u32,
    spoke: u32,
}

impl Wedge {
    /// The triangle seen from one of its corners, turned one way or the other.
    fn new(sheet: u32, points: [u32; 3], corner: usize, reversed: bool) -> Self {
        let (mut j, mut k) = ((corner + 1) % 3, (corner + 2) % 3);
        if reversed {
            std::mem::swap(&mut j, &mut k);
        }
        let corners = [corner, j, k].map(|c| c as u8);
        Wedge { j: points[j], k: points[k], sheet, corners, outer: points[j], tip: NONE, spoke: NONE }
    }
}

/// The triangles and hinges at one vertex.
struct Star<'a> {
    membranes: &'a Term<NeoHookeanMembrane, 3>,
    hinges: &'a Term<Hinge, 4>,
    /// Element·4 + corner.
    triangles: &'a [u32],
    folds: &'a [u32],
}

impl Star<'_> {
    /// The wedges in order, when every triangle and every hinge has its place in one fan.
    fn fan(&self, reversed: bool) -> Option<Vec<Wedge>> {
        let sheets = self.triangles.iter().map(|item| self.membranes.elements[(item >> 2) as usize].sheet);
        if self.folds.is_empty() || sheets.into_iter().any(|s| s.lambda < 0.0) {
            return None;
        }
        let mut wedges = self.chain(reversed)?;
        for item in self.folds {
            let hinge = item >> 2;
            let points = self.hinges.points[hinge as usize];
            // Turned by half about its middle the hinge is the same: corners 1 and 3 become 0 and 2.
            let corner = item & 3;
            let turned = [points[1], points[0], points[3], points[2]];
            let [x0, x1, x2, x3] = if corner % 2 == 0 { points } else { turned };
            if corner >= 2 {
                let wedge = wedges.iter_mut().find(|w| (w.j, w.k, w.tip) == (x0, x1, NONE))?;
                (wedge.tip, wedge.outer) = (hinge, x3);
            } else {
                let here = wedges.iter().position(|w| (w.j, w.k, w.spoke) == (x1, x2, NONE))?;
                let before = wedges[(here + wedges.len() - 1) % wedges.len()];
                if (before.j, before.k) != (x3, x1) {
                    return None;
                }
                wedges[here].spoke = hinge;
            }
        }
        Some(wedges)
    }

    /// The triangles, each beginning where the one before ends.
    fn chain(&self, reversed: bool) -> Option<Vec<Wedge>> {
        let mut left: Vec<Wedge> = self
            .triangles
            .iter()
            .map(|item| {
                let (sheet, corner) = (item >> 2, (item & 3) as usize);
                Wedge::new(sheet, self.membranes.points[sheet as usize], corner, reversed)
            })
            .collect();
        let open = left.iter().position(|w| left.iter().all(|o| o.k != w.j));
        let mut chain = Vec::with_capacity(left.len());
        let mut next = open.or(if left.is_empty() { None } else { Some(0) })?;
        loop {
            let wedge = left.remove(next);
            chain.push(wedge);
            if left.is_empty() {
                return Some(chain);
            }
            next = left.iter().position(|w| w.j == wedge.k)?;
        }
    }
}

/// Two by two; an odd last one is repeated without stiffness.
fn pairs(wedges: &[Wedge]) -> impl Iterator<Item = Wedges> + '_ {
    wedges.chunks(2).map(|two| {
        let low = two[0];
        let (high, active) = match two.get(1) {
            Some(high) => (*high, 1.0),
            None => (Wedge { tip: NONE, spoke: NONE, ..low }, 0.0),
        };
        let both = [low, high];
        Wedges {
            j: both.map(|w| w.j),
            k: both.map(|w| w.k),
            outer: both.map(|w| w.outer),
            sheet: both.map(|w| w.sheet),
            tip: both.map(|w| w.tip),
            spoke: both.map(|w| w.spoke),
            corners: both.map(|w| w.corners),
            active: [1.0, active],
        }
    })
}

impl Fans {
    /// Puts the fans of `n` vertices together.
    pub(crate) fn new(membranes: &Term<NeoHookeanMembrane, 3>, hinges: &Term<Hinge, 4>, n: usize) -> Self {
        let (triangles, folds) = (membranes.incidence(n), hinges.incidence(n));
        let mut fans = Fans { offsets: vec![0], wedges: Vec::new() };
        for v in 0..n {
            let star = Star { membranes, hinges, triangles: triangles.row(v), folds: folds.row(v) };
            let fan = star.fan(false).or_else(|| star.fan(true));
            fans.wedges.extend(pairs(&fan.unwrap_or_default()));
            fans.offsets.push(fans.wedges.len() as u32);
        }
        fans
    }

    /// Whether `v` has a fan: its membranes and hinges are then all in it.
    pub(crate) fn covers(&self, v: u32) -> bool {
        self.offsets[v as usize] < self.offsets[v as usize + 1]
    }

    /// Gradient [N] and positive semidefinite Hessian block [N/m] at `v`: zero without a fan.
    #[inline]
    pub(crate) fn block(
        &self,
        v: u32,
        x: &[Vec3],
        sheets: &[NeoHookeanMembrane],
        hinges: &[Hinge],
    ) -> (Vec3, Mat3) {
        let row = self.offsets[v as usize] as usize..self.offsets[v as usize + 1] as usize;
        let [first, rest @ ..] = &self.wedges[row] else { return (Vec3::ZERO, Mat3::ZERO) };
        let at = x[v as usize];
        let at = Pair3::new(at, at);
        let mut sums = Sums::zero();
        let first_face = face(first, at, x, sheets, hinges, &mut sums);
        let mut before = first_face;
        for w in rest {
            let next = face(w, at, x, sheets, hinges, &mut sums);
            spoke(w, &before, &next, hinges, &mut sums);
            before = next;
        }
        // Before the first wedge comes the last one.
        spoke(first, &before, &first_face, hinges, &mut sums);
        sums.total()
    }
}

/// Adds the membranes and the hinges opposite.
#[inline(always)]
fn face(
    w: &Wedges,
    at: Pair3,
    x: &[Vec3],
    sheets: &[NeoHookeanMembrane],
    hinges: &[Hinge],
    sums: &mut Sums,
) -> Face {
    let gather = |points: [u32; 2]| Pair3::new(x[points[0] as usize], x[points[1] as usize]) - at;
    let (a, b, beyond) = (gather(w.j), gather(w.k), gather(w.outer));
    let e = b - a;
    let normal = a.cross(b);
    let (aa, bb, ee, n_sq) = (a.dot(a), b.dot(b), e.dot(e), normal.dot(normal));
    let s = Sheets::new(sheets, w);
    let inverse = (Pair::splat(1.0) / n_sq).min((1.0 / (VANISHED * VANISHED)) * s.metric);

    // Membrane: the elastic part, then the damping, as in `NeoHookeanMembrane::corner_block`.
    let by_corner = |l: usize, of: [f64; 3]| w.corners[l].map(|c| of[usize::from(c)]);
    let weight = [0, 1].map(|l| by_corner(l, s.pair[l].sheet.weight));
    let [w_v, w_j, w_k] = [0, 1, 2].map(|c| Pair::new(weight[0][c], weight[1][c]));
    let (first, second) = s.area_law(n_sq * s.metric);
    let along = s.mu * (w_j + w_k);
    let zero = Pair::splat(0.0);
    let across = (first * ee).max(-(along * n_sq));
    let z = inverse * normal.cross(e);
    let u = w_k * a + w_j * b;
    sums.along = sums.along + along;
    sums.add_outer(second.max(zero), z);
    let (mut pull_a, mut pull_b) = (s.mu * w_k, s.mu * w_j);
    let ratio = s.active * Pair::from_fn(|l| s.pair[l].sheet.ratio);
    if ratio.sum() > 0.0 {
        let lagged = [0, 1].map(|l| by_corner(l, s.pair[l].sheet.lagged_sq));
        let lagged = [0, 1, 2].map(|c| Pair::new(lagged[0][c], lagged[1][c]));
        let d = [ee - lagged[0], bb - lagged[1], aa - lagged[2]];
        let stiff = s.lambda + s.mu + s.mu;
        let tr = stiff * (w_v * d[0] + w_j * d[1] + w_k * d[2]);
        let shear = s.mu * s.metric;
        let sum = d[0] + d[1] + d[2];
        let half = 0.5 * ratio;
        pull_a = pull_a + half * (tr * w_k - shear * (sum - d[2] - d[2]));
        pull_b = pull_b + half * (tr * w_j - shear * (sum - d[1] - d[1]));
        sums.add_outer(ratio * stiff, u);
        sums.add_outer(ratio * shear, e);
    }

    // Hinge on jk: ∇θ = −|e| N/|N|², a multiple of the normal like the membrane's stiffness across.
    let h = Hinges::new(hinges, w.tip);
    let length = ee.sqrt();
    let to_outer = a - beyond;
    let n2 = e.cross(to_outer);
    let moment = h.moment(length * normal.dot(to_outer), normal.dot(n2));
    let bounded = inverse.min(h.ceiling);
    sums.add_outer(across * (inverse * inverse) + h.stiffness * ee * (bounded * bounded), normal);

    let lift = moment * length * bounded;
    sums.gradient = sums.gradient + first * z - (pull_a * a + pull_b * b) - lift * normal;
    Face { a, normal, inverse, aa, ab: a.dot(b) }
}

/// Adds the hinges on the edges vj, between the wedges of `now` and those one before.
#[inline(always)]
fn spoke(w: &Wedges, before: &Face, now: &Face, hinges: &[Hinge], sums: &mut Sums) {
    let h = Hinges::new(hinges, w.spoke);
    let (n1, n2) = (now.normal, now.normal.after(before.normal));
    let far = now.a.after(before.a);
    let length_sq = now.aa.max(Pair::splat(f64::MIN_POSITIVE));
    let length = length_sq.sqrt();
    let moment = h.moment(-(length * n1.dot(far)), n1.dot(n2));
    // ∇θ = |e| g, g = (x₁−x₂)·e/|e|² n₁/|n₁|² + (x₁−x₃)·e/|e|² n₂/|n₂|²
    let over = Pair::splat(1.0) / length_sq;
    let p = over * (now.aa - now.ab) * now.inverse.min(h.ceiling);
    let r = over * (now.aa - now.ab.after(before.ab)) * now.inverse.after(before.inverse).min(h.ceiling);
    let g = p * n1 + r * n2;
    sums.gradient = sums.gradient + (moment * length) * g;
    sums.add_outer(h.stiffness * length_sq, g);
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
        let fans = Fans::new(&cloth.0, &cloth.1, x.len());
        let covered = (0..x.len() as u32).filter(|v| fans.covers(*v));
        covered
            .inspect(|&v| {
                let (g, h) = fans.block(v, x, &cloth.0.elements, &cloth.1.elements);
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
        let fans = Fans::new(&turned, &folds, x.len());
        assert!((0..x.len() as u32).any(|v| !fans.covers(v)));
    }
}
