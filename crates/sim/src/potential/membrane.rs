//! Stretch and shear of a triangle, with plane stress: neo-Hookean and St. Venant–Kirchhoff membranes.
//!
//! Both need only edges. With the cotangent weights w_c = cot ∠c / 2A₀ of the rest triangle (c the corner opposite
//! an edge of present length l_c) and N the present double-area vector:
//!
//! * tr(Ā⁻¹a) = Σ w_c l_c², and its gradient at corner i is 2u, u = Σ_j w (xᵢ − xⱼ);
//! * J = |N|/2A₀, and ∂ ln J/∂xᵢ = (N × eᵢ)/|N|², eᵢ the edge opposite i: no frame, no root;
//! * for edge differences Δ_c = l_c² − l̄_c²: tr M = Σ w_c Δ_c, and
//!   det M = [2(Δ₀Δ₁ + Δ₁Δ₂ + Δ₂Δ₀) − Σ Δ_c²]/16A₀² (Heron), M = Ā⁻¹a − I [Delingette 2008].
//!
//! Energies per volume A₀t: neo-Hookean μ/2 (tr(Ā⁻¹a) − 2 − 2 ln J) + λ/2 ln²J; St. Venant ¼(½λ tr²M + μ tr M²),
//! with λ = Eν/(1−ν²), μ = E/2(1+ν). Damping: the St. Venant energy of the strain gained in the step, times β/h.
//!
//! This file does not know bending: `bending.rs`.

use super::energies::membrane_values;
use super::membrane_modes::{MembraneLaw, membrane_hessian_psd};
use super::sym::Sym;
use super::{ElementError, Potential, add_blocks, blocks, rest_area, scalar};
use littoral_geom::math::{Mat3, Vec3, outer, skew};

/// What a membrane is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MembraneParameters {
    /// Young's modulus E [Pa], > 0.
    pub young: f64,
    /// Poisson's ratio ν [–], in (−1, 0.5).
    pub poisson: f64,
    /// Thickness t [m], > 0.
    pub thickness: f64,
    /// Rate damping β [s], ≥ 0.
    pub damping: f64,
}

/// Rest shape, stiffness and memory of a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sheet {
    /// Cotangent weights w_c [1/m²], c the corner opposite the edge.
    pub(super) weight: [f64; 3],
    /// 1/(2A₀)² [1/m⁴].
    pub(super) metric: f64,
    /// A₀ t λ [J].
    pub(super) lambda: f64,
    /// A₀ t μ [J].
    pub(super) mu: f64,
    /// β [s].
    damping: f64,
    /// β/h of the present step [–].
    pub(super) ratio: f64,
    /// Squared edge lengths at the start of the step [m²].
    pub(super) lagged_sq: [f64; 3],
}

/// A triangle seen from its corner i; j and k follow in turn.
struct Corner {
    /// xᵢ − xⱼ.
    to_j: Vec3,
    /// xᵢ − xₖ.
    to_k: Vec3,
    /// The edge opposite, xₖ − xⱼ.
    opposite: Vec3,
    /// Half the gradient of tr(Ā⁻¹a).
    u: Vec3,
    /// |∇ of the shape function|² = w_j + w_k [1/m²].
    stiffness: f64,
    j: usize,
    k: usize,
}

const NEXT: [usize; 3] = [1, 2, 0];

/// The edge opposite corner i.
#[inline(always)]
fn opposite(x: &[Vec3; 3], i: usize) -> Vec3 {
    x[NEXT[NEXT[i]]] - x[NEXT[i]]
}

/// Squared lengths [m²] of the edges opposite each corner.
#[inline(always)]
fn edges_sq(x: &[Vec3; 3]) -> [f64; 3] {
    [(x[2] - x[1]).length_squared(), (x[0] - x[2]).length_squared(), (x[1] - x[0]).length_squared()]
}

impl Sheet {
    fn new(x_rest: &[Vec3; 3], p: &MembraneParameters) -> Result<Self, ElementError> {
        ElementError::check_positive("Young's modulus", p.young)?;
        ElementError::check_poisson(p.poisson)?;
        ElementError::check_positive("thickness", p.thickness)?;
        ElementError::check_not_negative("damping", p.damping)?;
        let area = rest_area(x_rest)?;
        let metric = 1.0 / (4.0 * area * area);
        let weight = [0, 1, 2].map(|c| {
            let (i, j) = (NEXT[c], NEXT[NEXT[c]]);
            (x_rest[i] - x_rest[c]).dot(x_rest[j] - x_rest[c]) * metric
        });
        let volume = area * p.thickness;
        Ok(Sheet {
            weight,
            metric,
            lambda: volume * p.young * p.poisson / (1.0 - p.poisson * p.poisson),
            mu: volume * 0.5 * p.young / (1.0 + p.poisson),
            damping: p.damping,
            ratio: 0.0,
            lagged_sq: edges_sq(x_rest),
        })
    }

    fn lag(&mut self, x_n: &[Vec3; 3], h: f64) {
        self.lagged_sq = edges_sq(x_n);
        self.ratio = self.damping / h;
    }

    #[inline(always)]
    fn corner(&self, x: &[Vec3; 3], i: usize) -> Corner {
        let (j, k) = (NEXT[i], NEXT[NEXT[i]]);
        let (to_j, to_k) = (x[i] - x[j], x[i] - x[k]);
        // The edge ij is opposite k.
        let u = self.weight[k] * to_j + self.weight[j] * to_k;
        let stiffness = self.weight[j] + self.weight[k];
        Corner { to_j, to_k, opposite: to_j - to_k, u, stiffness, j, k }
    }

    /// Squared lengths of the edges opposite each corner, from a corner's edges.
    #[inline(always)]
    fn squares(c: &Corner, i: usize) -> [f64; 3] {
        let mut sq = [0.0; 3];
        sq[i] = c.opposite.length_squared();
        sq[c.k] = c.to_j.length_squared();
        sq[c.j] = c.to_k.length_squared();
        sq
    }

    /// w·Δ = tr M.
    #[inline(always)]
    fn trace(&self, delta: [f64; 3]) -> f64 {
        self.weight[0] * delta[0] + self.weight[1] * delta[1] + self.weight[2] * delta[2]
    }

    /// St. Venant energy [J] of edge differences Δ: (λ+2μ)/8 tr²M − μ/2 det M.
    fn strain_energy(&self, d: [f64; 3]) -> f64 {
        let tr = self.trace(d);
        let heron =
            2.0 * (d[0] * d[1] + d[1] * d[2] + d[2] * d[0]) - (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        0.125 * ((self.lambda + 2.0 * self.mu) * tr * tr - self.mu * self.metric * heron)
    }

    /// Four times the derivative of the St. Venant energy by Δ [J/m²]: the tension of each edge.
    #[inline(always)]
    fn tensions(&self, d: [f64; 3]) -> [f64; 3] {
        let tr = (self.lambda + 2.0 * self.mu) * self.trace(d);
        let sum = d[0] + d[1] + d[2];
        let shear = self.mu * self.metric;
        [0, 1, 2].map(|c| tr * self.weight[c] - shear * (sum - 2.0 * d[c]))
    }

    /// Gauss–Newton part of the St. Venant block: (λ+2μ) uuᵀ + μ eeᵀ/4A₀², added to `h` times `scale`.
    #[inline(always)]
    fn plus_strain_block(&self, h: Sym, c: &Corner, scale: f64) -> Sym {
        h.plus(scale * (self.lambda + 2.0 * self.mu), c.u).plus(scale * self.mu * self.metric, c.opposite)
    }

    /// Hessian of the St. Venant energy with the given edge tensions (zero tensions: the Gauss–Newton part).
    fn strain_hessian(&self, x: &[Vec3; 3], tensions: [f64; 3]) -> [[Mat3; 3]; 3] {
        let u = [0, 1, 2].map(|i| self.corner(x, i).u);
        // ½ ∂Δ_c/∂xᵢ: along edge c when i is one of its ends.
        let slope = |c: usize, i: usize| match (i + 3 - c) % 3 {
            1 => -opposite(x, c),
            2 => opposite(x, c),
            _ => Vec3::ZERO,
        };
        blocks(|i, j| {
            let mut h = outer(u[i], u[j]) * (self.lambda + 2.0 * self.mu);
            let total = |p: usize| slope(0, p) + slope(1, p) + slope(2, p);
            let mut shear = outer(total(i), total(j)) * -1.0;
            for c in 0..3 {
                shear += 2.0 * outer(slope(c, i), slope(c, j));
            }
            h += shear * (self.mu * self.metric);
            let tension = if i == j {
                0.5 * (tensions[NEXT[i]] + tensions[NEXT[NEXT[i]]])
            } else {
                -0.5 * tensions[3 - i - j]
            };
            h + Mat3::from_diagonal(Vec3::splat(tension))
        })
    }

    /// Edge differences Δ gained in the step [m²].
    #[inline(always)]
    fn gained(&self, sq: [f64; 3]) -> [f64; 3] {
        [0, 1, 2].map(|c| sq[c] - self.lagged_sq[c])
    }

    fn damping_value(&self, x: &[Vec3; 3]) -> f64 {
        self.ratio * self.strain_energy(self.gained(edges_sq(x)))
    }

    fn damping_hessian(&self, x: &[Vec3; 3], exact: bool) -> [[Mat3; 3]; 3] {
        let tensions = if exact { self.tensions(self.gained(edges_sq(x))) } else { [0.0; 3] };
        self.strain_hessian(x, tensions).map(|row| row.map(|m| m * self.ratio))
    }

    /// Gradients ∇φ of the three shape functions in a rest frame of the plane [1/m].
    fn shape_gradients(&self) -> [[f64; 2]; 3] {
        let length = (self.weight[0] + self.weight[2]).sqrt();
        let one = [length, 0.0];
        let two = [-self.weight[0] / length, self.metric.sqrt() / length];
        [[-one[0] - two[0], -one[1] - two[1]], one, two]
    }
}

/// Below this area ratio J the area part of the neo-Hookean energy goes on as its second-order Taylor polynomial
/// (C²), so that squashed and flipped triangles have finite energies and forces that open them. Half of it makes
/// them four times as stiff there, double of it softens triangles that folds do reach.
pub(super) const SQUASHED: f64 = 0.1;

/// Area ratio J below which the normal, and with it the force that opens the triangle, fades out: it is a rounding
/// error of the positions.
pub(super) const VANISHED: f64 = 1e-12;

/// Area part p(J) of the neo-Hookean energy with its scaled derivatives.
pub(super) struct AreaLaw {
    /// p [J].
    value: f64,
    /// J p′ [J].
    pub(super) first: f64,
    /// J² p″ [J].
    pub(super) second: f64,
}

/// p = −μ ln J + λ/2 ln²J from J².
#[inline(always)]
pub(super) fn area_law(lambda: f64, mu: f64, j_sq: f64) -> AreaLaw {
    if j_sq < SQUASHED * SQUASHED || lambda < 0.0 {
        return area_law_extended(lambda, mu, j_sq.sqrt());
    }
    let ln_j = 0.5 * scalar::ln(j_sq);
    AreaLaw {
        value: (0.5 * lambda * ln_j - mu) * ln_j,
        first: lambda * ln_j - mu,
        second: lambda + mu - lambda * ln_j,
    }
}

/// The same for squashed triangles and negative λ. With λ < 0 the squared logarithm would pull a triangle to
/// zero area; λ(J − 1 − ln J) has the same stiffness at rest and leaves the barrier −(μ+λ) ln J.
#[cold]
#[inline(never)]
fn area_law_extended(lambda: f64, mu: f64, j: f64) -> AreaLaw {
    let at = |j: f64| {
        let ln_j = scalar::ln(j);
        if lambda < 0.0 {
            AreaLaw {
                value: -mu * ln_j + lambda * (j - 1.0 - ln_j),
                first: lambda * (j - 1.0) - mu,
                second: lambda + mu,
            }
        } else {
            AreaLaw {
                value: (0.5 * lambda * ln_j - mu) * ln_j,
                first: lambda * ln_j - mu,
                second: lambda + mu - lambda * ln_j,
            }
        }
    };
    if j >= SQUASHED {
        return at(j);
    }
    let edge = at(SQUASHED);
    let (first, second) = (edge.first / SQUASHED, edge.second / (SQUASHED * SQUASHED));
    let dj = j - SQUASHED;
    AreaLaw {
        value: edge.value + dj * (first + 0.5 * dj * second),
        first: j * (first + dj * second),
        second: j * j * second,
    }
}

/// Neo-Hookean membrane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NeoHookeanMembrane {
    pub(super) sheet: Sheet,
}

impl NeoHookeanMembrane {
    /// Membrane with the rest shape `x_rest` [m].
    pub fn new(x_rest: [Vec3; 3], parameters: &MembraneParameters) -> Result<Self, ElementError> {
        Ok(NeoHookeanMembrane { sheet: Sheet::new(&x_rest, parameters)? })
    }

    #[inline(always)]
    fn area_law(&self, j_sq: f64) -> AreaLaw {
        area_law(self.sheet.lambda, self.sheet.mu, j_sq)
    }

    /// N, 1/|N|² (bounded) and the area law.
    #[inline(always)]
    fn area(&self, normal: Vec3) -> (f64, AreaLaw) {
        let n_sq = normal.length_squared();
        let j_sq = n_sq * self.sheet.metric;
        let inverse =
            if j_sq > VANISHED * VANISHED { 1.0 / n_sq } else { self.sheet.metric / (VANISHED * VANISHED) };
        (inverse, self.area_law(j_sq))
    }

    fn exact(&self, x: &[Vec3; 3]) -> [[Mat3; 3]; 3] {
        let s = &self.sheet;
        let normal = (x[1] - x[0]).cross(x[2] - x[0]);
        let (inverse, law) = self.area(normal);
        let e = [0, 1, 2].map(|i| opposite(x, i));
        let z = e.map(|e| inverse * normal.cross(e));
        let nn = outer(normal, normal) * inverse;
        blocks(|i, j| {
            let (gram, turn) = match (j + 3 - i) % 3 {
                1 => (-s.weight[NEXT[j]], -1.0),
                2 => (-s.weight[NEXT[i]], 1.0),
                _ => (s.weight[NEXT[i]] + s.weight[NEXT[NEXT[i]]], 0.0),
            };
            // (∂²J/∂xᵢ∂xⱼ)/J = [(eᵢ·eⱼ) N̂N̂ᵀ ± [N]ₓ]/|N|²
            let curvature = (nn * e[i].dot(e[j]) + skew(normal) * turn) * inverse;
            Mat3::from_diagonal(Vec3::splat(s.mu * gram))
                + outer(z[i], z[j]) * law.second
                + curvature * law.first
        })
    }

    /// `block`, compiled for each corner: an index known beforehand keeps the points in registers.
    #[inline(always)]
    fn corner_block(&self, x: &[Vec3; 3], corner: usize) -> (Vec3, Mat3) {
        let s = &self.sheet;
        let c = s.corner(x, corner);
        let normal = c.to_j.cross(c.to_k);
        let (inverse, law) = self.area(normal);
        let z = inverse * normal.cross(c.opposite);
        let y = inverse * normal;
        let mut gradient = s.mu * c.u + law.first * z;

        // Eigenvectors: N with μ|∇φ|² + J p′ |e|²/|N|², z with μ|∇φ|² + J² p″|z|², and the edge with μ|∇φ|².
        let along = s.mu * c.stiffness;
        let across = (law.first * c.opposite.length_squared()).max(-along * normal.length_squared());
        let mut h = Sym::identity(along).plus(law.second.max(0.0), z).plus(across, y);
        if s.ratio > 0.0 {
            let t = s.tensions(s.gained(Sheet::squares(&c, corner)));
            gradient += (0.5 * s.ratio) * (t[c.k] * c.to_j + t[c.j] * c.to_k);
            h = s.plus_strain_block(h, &c, s.ratio);
        }
        (gradient, h.full())
    }
}

impl Potential<3> for NeoHookeanMembrane {
    fn value(&self, x: &[Vec3; 3]) -> f64 {
        let s = &self.sheet;
        let normal = (x[1] - x[0]).cross(x[2] - x[0]);
        let trace = s.trace(edges_sq(x));
        let area = self.area_law(normal.length_squared() * s.metric).value;
        0.5 * s.mu * (trace - 2.0) + area + s.damping_value(x)
    }

    fn gradient(&self, x: &[Vec3; 3]) -> [Vec3; 3] {
        [0, 1, 2].map(|i| self.block(x, i).0)
    }

    fn hessian(&self, x: &[Vec3; 3]) -> [[Mat3; 3]; 3] {
        add_blocks(self.exact(x), self.sheet.damping_hessian(x, true))
    }

    /// Elastic part: projected exactly in the space of deformation gradients. Damping: Gauss–Newton.
    fn hessian_psd(&self, x: &[Vec3; 3]) -> [[Mat3; 3]; 3] {
        let s = &self.sheet;
        let elastic = membrane_hessian_psd(s.shape_gradients(), x, |_, j| {
            let law = self.area_law(j * j);
            let j = j.max(VANISHED);
            MembraneLaw { i: s.mu, ii: 0.0, j: law.first / j, jj: law.second / (j * j) }
        });
        add_blocks(elastic, s.damping_hessian(x, false))
    }

    /// Elastic part: exact, along the normal clamped at zero, in the plane from below by μ|∇φ|². Damping:
    /// Gauss–Newton.
    #[inline]
    fn block(&self, x: &[Vec3; 3], corner: usize) -> (Vec3, Mat3) {
        match corner {
            0 => self.corner_block(x, 0),
            1 => self.corner_block(x, 1),
            _ => self.corner_block(x, 2),
        }
    }

    fn lag(&mut self, x_n: &[Vec3; 3], h: f64) {
        self.sheet.lag(x_n, h);
    }

    fn values(elements: &[Self], points: &[[u32; 3]], x: &[Vec3], out: &mut [f64]) {
        membrane_values(elements, points, x, out);
    }
}

/// St. Venant–Kirchhoff membrane: soft under compression, no barrier against zero area.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StVenantMembrane {
    sheet: Sheet,
    /// Squared rest lengths of the edges opposite each corner [m²].
    rest_sq: [f64; 3],
}

impl StVenantMembrane {
    /// Membrane with the rest shape `x_rest` [m].
    pub fn new(x_rest: [Vec3; 3], parameters: &MembraneParameters) -> Result<Self, ElementError> {
        Ok(StVenantMembrane { sheet: Sheet::new(&x_rest, parameters)?, rest_sq: edges_sq(&x_rest) })
    }

    #[inline(always)]
    fn strained(&self, sq: [f64; 3]) -> [f64; 3] {
        [0, 1, 2].map(|c| sq[c] - self.rest_sq[c])
    }

    /// `block`, compiled for each corner: an index known beforehand keeps the points in registers.
    #[inline(always)]
    fn corner_block(&self, x: &[Vec3; 3], corner: usize) -> (Vec3, Mat3) {
        let s = &self.sheet;
        let c = s.corner(x, corner);
        let sq = Sheet::squares(&c, corner);
        let mut t = s.tensions(self.strained(sq));
        let tension = 0.5 * (t[c.j] + t[c.k]).max(0.0);
        if s.ratio > 0.0 {
            let rate = s.tensions(s.gained(sq));
            t = [0, 1, 2].map(|c| t[c] + s.ratio * rate[c]);
        }
        let gradient = 0.5 * (t[c.k] * c.to_j + t[c.j] * c.to_k);
        let h = s.plus_strain_block(Sym::identity(tension), &c, 1.0 + s.ratio);
        (gradient, h.full())
    }
}

impl Potential<3> for StVenantMembrane {
    fn value(&self, x: &[Vec3; 3]) -> f64 {
        self.sheet.strain_energy(self.strained(edges_sq(x))) + self.sheet.damping_value(x)
    }

    fn gradient(&self, x: &[Vec3; 3]) -> [Vec3; 3] {
        [0, 1, 2].map(|i| self.block(x, i).0)
    }

    fn hessian(&self, x: &[Vec3; 3]) -> [[Mat3; 3]; 3] {
        let elastic = self.sheet.strain_hessian(x, self.sheet.tensions(self.strained(edges_sq(x))));
        add_blocks(elastic, self.sheet.damping_hessian(x, true))
    }

    /// Elastic part: projected exactly in the space of deformation gradients. Damping: Gauss–Newton.
    fn hessian_psd(&self, x: &[Vec3; 3]) -> [[Mat3; 3]; 3] {
        let s = &self.sheet;
        // ψ = λ/8 (I−2)² + μ/4 (I² − 2J² − 2I + 2)
        let elastic = membrane_hessian_psd(s.shape_gradients(), x, |i, j| MembraneLaw {
            i: 0.5 * s.lambda * (i - 2.0) + s.mu * (i - 1.0),
            ii: s.lambda + 2.0 * s.mu,
            j: -s.mu * j,
            jj: -s.mu,
        });
        add_blocks(elastic, s.damping_hessian(x, false))
    }

    /// Gauss–Newton, with the sum of the elastic edge tensions where it is positive.
    #[inline]
    fn block(&self, x: &[Vec3; 3], corner: usize) -> (Vec3, Mat3) {
        match corner {
            0 => self.corner_block(x, 0),
            1 => self.corner_block(x, 1),
            _ => self.corner_block(x, 2),
        }
    }

    fn lag(&mut self, x_n: &[Vec3; 3], h: f64) {
        self.sheet.lag(x_n, h);
    }
}
