//! The kernel of `fan.rs`: the triangles around a vertex v form a fan; a wedge is one of them, with the points j and k, seen
//! from v. Its edges a = xⱼ − x, b = xₖ − x, its normal N = a × b and 1/|N|² serve
//!
//! * its membrane,
//! * the hinge on the edge jk (its tip is v; the point beyond is `outer`): there ∇θ = −|e| N/|N|²,
//! * the hinges on the edges vj and vk (spokes), shared with the wedges before and after.
//!
//! Four fans are walked at once, one in each lane.

use super::bending;
use super::fan::{Fans, Group, Hinges, Wedges};
use super::lane_scalar::{atan2, poly7, unwrapped};
use super::lanes::{Four, Kernel, Machine, Quad, Quad3};
use super::membrane::{VANISHED, area_law};
use super::scalar;
use littoral_geom::math::{Mat3, Vec3};
use std::ops::Range;

/// The inertia of the vertices, and which of them nothing acts upon but it and their fans.
#[derive(Clone, Copy)]
pub(crate) struct Inertia<'a, F> {
    /// Mass (n) [kg].
    pub(crate) mass: &'a [f64],
    /// Inertial target (n) [m].
    pub(crate) y: &'a [Vec3],
    /// 1/h² [1/s²].
    pub(crate) inverse_h2: f64,
    /// Whether the Newton step of a vertex may be found from these alone.
    pub(crate) is_alone: F,
}

/// The blocks of some groups with their inertia, if there is any, to be written to the places of their vertices: the
/// gradient, or the Newton step of those that are alone, and the Hessian.
pub(super) struct Blocks<'a, F> {
    pub(super) fans: &'a Fans,
    pub(super) groups: Range<u32>,
    pub(super) x: &'a [Vec3],
    pub(super) inertia: Option<Inertia<'a, F>>,
    /// A single group writes to its lanes, not to places.
    pub(super) by_lane: bool,
    pub(super) out: &'a mut [(Vec3, Mat3)],
}

impl<F: Fn(u32) -> bool> Kernel for Blocks<'_, F> {
    #[inline(always)]
    fn run<M: Machine>(self, m: M) {
        for g in self.groups {
            let (group, wedges) = self.fans.group(g);
            let mut block = fan(m, group, wedges, self.x);
            let mut alone = [false; 4];
            if let Some(inertia) = &self.inertia {
                block.add_inertia(m, inertia, group.v, self.x);
                let [a, b, c, d] = group.v;
                let is_alone = &inertia.is_alone;
                alone = [is_alone(a), is_alone(b), is_alone(c), is_alone(d)];
            }
            let gradient = block.gradient.store();
            let step = if alone.contains(&true) { block.newton_step(m).store() } else { gradient };
            let hessian = block.hessian.store();
            for (lane, &place) in group.place.iter().enumerate() {
                let place = if self.by_lane { lane } else { place as usize };
                if let Some(out) = self.out.get_mut(place) {
                    let [x, y, z] = if alone[lane] { &step } else { &gradient };
                    let [xx, yy, zz, xy, yz, zx] = &hessian;
                    let column =
                        |a: &[f64; 4], b: &[f64; 4], c: &[f64; 4]| Vec3::new(a[lane], b[lane], c[lane]);
                    let columns = [column(xx, xy, zx), column(xy, yy, yz), column(zx, yz, zz)];
                    *out = (column(x, y, z), Mat3::from_cols(columns[0], columns[1], columns[2]));
                }
            }
        }
    }
}

/// Gradients and Hessians.
struct Sums<M: Machine> {
    gradient: Quad3<M>,
    hessian: Block<M>,
    /// Multiple of the identity.
    along: Quad<M>,
}

impl<M: Machine> Sums<M> {
    #[inline(always)]
    fn zero(m: M) -> Self {
        let zero = Quad::splat(m, 0.0);
        Sums { gradient: Quad3 { x: zero, y: zero, z: zero }, hessian: Block([zero; 6]), along: zero }
    }

    #[inline(always)]
    fn add(&mut self, gradient: Quad3<M>, block: Block<M>) {
        self.gradient = self.gradient + gradient;
        self.hessian = self.hessian.sum(block);
    }

    #[inline(always)]
    fn total(self) -> Total<M> {
        let along = self.along;
        let [xx, yy, zz, xy, yz, zx] = self.hessian.0;
        Total { gradient: self.gradient, hessian: Block([xx + along, yy + along, zz + along, xy, yz, zx]) }
    }
}

/// What acts on four vertices.
struct Total<M: Machine> {
    gradient: Quad3<M>,
    hessian: Block<M>,
}

impl<M: Machine> Total<M> {
    #[inline(always)]
    fn add_inertia<F>(&mut self, m: M, inertia: &Inertia<'_, F>, v: [u32; 4], x: &[Vec3]) {
        let mass = Four(v.map(|v| inertia.mass[v as usize]));
        let weight = Quad::load(m, &mass) * Quad::splat(m, inertia.inverse_h2);
        let away = Quad3::gather(m, x, v) - Quad3::gather(m, inertia.y, v);
        self.gradient = self.gradient + weight * away;
        let [xx, yy, zz, ..] = &mut self.hessian.0;
        (*xx, *yy, *zz) = (*xx + weight, *yy + weight, *zz + weight);
    }

    /// −H⁻¹g by LDLᵀ, as `solve_spd` of descent.
    #[inline(always)]
    fn newton_step(&self, m: M) -> Quad3<M> {
        let [a00, a11, a22, a10, a21, a20] = self.hessian.0;
        let one = Quad::splat(m, 1.0);
        let i0 = one / a00;
        let (l10, l20) = (a10 * i0, a20 * i0);
        let i1 = one / (a11 - l10 * a10);
        let r21 = a21 - l20 * a10;
        let l21 = r21 * i1;
        let d2 = a22 - l20 * a20 - l21 * r21;
        let y0 = -self.gradient.x;
        let y1 = -self.gradient.y - l10 * y0;
        let y2 = -self.gradient.z - l20 * y0 - l21 * y1;
        let z = y2 / d2;
        let y = y1 * i1 - l21 * z;
        Quad3 { x: y0 * i0 - l10 * y - l20 * z, y, z }
    }
}

/// A symmetric matrix: xx, yy, zz, xy, yz, zx.
#[derive(Clone, Copy)]
struct Block<M: Machine>([Quad<M>; 6]);

impl<M: Machine> Block<M> {
    /// `s v vᵀ`.
    #[inline(always)]
    fn outer(s: Quad<M>, v: Quad3<M>) -> Self {
        let w = s * v;
        Block([w.x * v.x, w.y * v.y, w.z * v.z, w.x * v.y, w.y * v.z, w.z * v.x])
    }

    #[inline(always)]
    fn store(self) -> [[f64; 4]; 6] {
        let [a, b, c, d, e, f] = self.0;
        [a.store(), b.store(), c.store(), d.store(), e.store(), f.store()]
    }

    #[inline(always)]
    fn sum(self, o: Self) -> Self {
        let ([a, b, c, d, e, f], o) = (self.0, o.0);
        Block([a + o[0], b + o[1], c + o[2], d + o[3], e + o[4], f + o[5]])
    }

    /// `self + s v vᵀ`.
    #[inline(always)]
    fn plus(self, s: Quad<M>, v: Quad3<M>) -> Self {
        self.sum(Block::outer(s, v))
    }
}

/// An edge from v, its squared length, and that at the start of the step.
#[derive(Clone, Copy)]
struct Edge<M: Machine> {
    way: Quad3<M>,
    sq: Quad<M>,
    lagged_sq: Quad<M>,
}

/// What spokes need of a wedge.
#[derive(Clone, Copy)]
struct Face<M: Machine> {
    a: Quad3<M>,
    /// |a|².
    aa: Quad<M>,
    /// a·b.
    ab: Quad<M>,
    normal: Quad3<M>,
    /// 1/|N|², bounded.
    inverse: Quad<M>,
}

/// What acts on four vertices by their fans.
#[inline(always)]
fn fan<M: Machine>(m: M, group: &Group, wedges: &[Wedges], x: &[Vec3]) -> Total<M> {
    let at = Quad3::gather(m, x, group.v);
    let mut sums = Sums::zero(m);
    let Some((first, rest)) = wedges.split_first() else { return sums.total() };
    let way = Quad3::gather(m, x, group.j) - at;
    let edge = Edge { way, sq: way.dot(way), lagged_sq: Quad::load(m, &group.lagged_sq) };
    let (first_face, mut edge) = face(m, first, (at, edge), group.damped, x, &mut sums);
    let mut before = first_face;
    for w in rest {
        let next;
        (next, edge) = face(m, w, (at, edge), group.damped, x, &mut sums);
        spoke(m, &w.spoke, &before, &next, &mut sums);
        before = next;
    }
    // Before the first wedge comes the last one.
    spoke(m, &first.spoke, &before, &first_face, &mut sums);
    sums.total()
}

/// Adds the membranes and the hinges opposite.
#[inline(always)]
fn face<M: Machine>(
    m: M,
    w: &Wedges,
    (at, edge): (Quad3<M>, Edge<M>),
    damped: bool,
    x: &[Vec3],
    sums: &mut Sums<M>,
) -> (Face<M>, Edge<M>) {
    let (a, aa) = (edge.way, edge.sq);
    let b = Quad3::gather(m, x, w.k) - at;
    let beyond = Quad3::gather(m, x, w.outer) - at;
    let e = b - a;
    let normal = a.cross(b);
    let (bb, ee, n_sq) = (b.dot(b), e.dot(e), normal.dot(normal));
    let metric = Quad::load(m, &w.metric);
    let inverse = (Quad::splat(m, 1.0) / n_sq).min((1.0 / (VANISHED * VANISHED)) * metric);

    // What may leave the lanes comes first: no sum is then held in registers across it.
    let (lambda, mu) = (Quad::load(m, &w.lambda), Quad::load(m, &w.mu));
    let (first, second) = area_laws(lambda, mu, n_sq * metric);
    let length = ee.sqrt();
    let to_outer = a - beyond;
    let moment = moment(m, &w.tip, length * normal.dot(to_outer), normal.dot(e.cross(to_outer)));

    // Hinge on jk: ∇θ = −|e| N/|N|², a multiple of the normal like the membrane's stiffness across.
    let [w_v, w_j, w_k] = &w.weight;
    let (w_v, w_j, w_k) = (Quad::load(m, w_v), Quad::load(m, w_j), Quad::load(m, w_k));
    let along = mu * (w_j + w_k);
    let across = (first * ee).max(-(along * n_sq));
    let bounded = inverse.min((1.0 / bending::VANISHED) * metric);
    let lift = moment * length * bounded;
    let stiffness = Quad::load(m, &w.tip.stiffness);
    let mut block = Block::outer(across * (inverse * inverse) + stiffness * ee * (bounded * bounded), normal);

    // Membrane: the elastic part, then the damping, as in `NeoHookeanMembrane::corner_block`.
    let z = inverse * normal.cross(e);
    let mut gradient = first * z - lift * normal;
    block = block.plus(second.max(Quad::splat(m, 0.0)), z);
    let (mut pull_a, mut pull_b) = (mu * w_k, mu * w_j);
    let next = Edge { way: b, sq: bb, lagged_sq: Quad::load(m, &w.lagged_sq[1]) };
    if damped {
        let ratio = Quad::load(m, &w.ratio);
        let d = [ee - Quad::load(m, &w.lagged_sq[0]), bb - next.lagged_sq, aa - edge.lagged_sq];
        let stiff = lambda + mu + mu;
        let tr = stiff * (w_v * d[0] + w_j * d[1] + w_k * d[2]);
        let shear = mu * metric;
        let sum = d[0] + d[1] + d[2];
        let half = 0.5 * ratio;
        pull_a = pull_a + half * (tr * w_k - shear * (sum - d[2] - d[2]));
        pull_b = pull_b + half * (tr * w_j - shear * (sum - d[1] - d[1]));
        block = block.plus(ratio * stiff, w_k * a + w_j * b).plus(ratio * shear, e);
    }
    gradient = gradient - (pull_a * a + pull_b * b);
    sums.along = sums.along + along;
    sums.add(gradient, block);
    (Face { a, aa, ab: a.dot(b), normal, inverse: bounded }, next)
}

/// Adds the hinges on the edges vj, between the wedges of `now` and those `before`.
#[inline(always)]
fn spoke<M: Machine>(m: M, hinges: &Hinges, before: &Face<M>, now: &Face<M>, sums: &mut Sums<M>) {
    let (n1, n2) = (now.normal, before.normal);
    let length_sq = now.aa.max(Quad::splat(m, f64::MIN_POSITIVE));
    let length = length_sq.sqrt();
    let moment = moment(m, hinges, -(length * n1.dot(before.a)), n1.dot(n2));
    // ∇θ = |e| g, g = (x₁−x₂)·e/|e|² n₁/|n₁|² + (x₁−x₃)·e/|e|² n₂/|n₂|²
    let over = Quad::splat(m, 1.0) / length_sq;
    let p = over * (now.aa - now.ab) * now.inverse;
    let r = over * (now.aa - before.ab) * before.inverse;
    let g = p * n1 + r * n2;
    sums.add((moment * length) * g, Block::outer(Quad::load(m, &hinges.stiffness) * length_sq, g));
}

/// ∂E/∂θ = Kθ − k(θ̄ + β/h θⁿ) at θ = atan2(y, x) [J].
#[inline(always)]
fn moment<M: Machine>(m: M, hinges: &Hinges, y: Quad<M>, x: Quad<M>) -> Quad<M> {
    let angle = unwrapped(atan2(m, y, x), Quad::load(m, &hinges.lagged));
    Quad::load(m, &hinges.stiffness) * angle - Quad::load(m, &hinges.offset)
}

/// J p′ and J² p″ [J] of the area energy p(J).
#[inline(always)]
fn area_laws<M: Machine>(lambda: Quad<M>, mu: Quad<M>, j_sq: Quad<M>) -> (Quad<M>, Quad<M>) {
    let m = j_sq.machine();
    let one = Quad::splat(m, 1.0);
    // ln J = artanh t
    let t = (j_sq - one) / (j_sq + one);
    let s = t * t;
    let bent = lambda * (t + t * s * poly7(s, &scalar::ARTANH));
    let (mut first, mut second) = (bent - mu, lambda + mu - bent);
    if !t.abs().is_less(Quad::splat(m, scalar::ARTANH_REACH)) {
        let mut laws = [first.store(), second.store()];
        far_laws([lambda.store(), mu.store(), j_sq.store(), t.store()], &mut laws);
        (first, second) = (Quad::load(m, &Four(laws[0])), Quad::load(m, &Four(laws[1])));
    }
    (first, second)
}

/// Replaces the laws of those lanes that the series does not reach.
#[cold]
#[inline(never)]
fn far_laws([lambda, mu, j_sq, t]: [[f64; 4]; 4], laws: &mut [[f64; 4]; 2]) {
    for k in 0..4 {
        if t[k].abs() < scalar::ARTANH_REACH {
            continue;
        }
        let law = area_law(lambda[k], mu[k], j_sq[k]);
        (laws[0][k], laws[1][k]) = (law.first, law.second);
    }
}
