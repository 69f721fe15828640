//! Tetrahedra: stable neo-Hookean [Smith 2018] and fixed corotated [Stomakhin 2012] energies.
//!
//! F = Σ xᵢ mᵢᵀ with the gradients mᵢ of the shape functions, J = det F, wᵢ = ∂J/∂xᵢ = cof(F) mᵢ, V₀ the rest volume.
//!
//! * Stable neo-Hookean: V₀[μ/2 (|F|² − 3) + λ/2 (J − α)²], α = 1 + μ/λ, so that the rest shape has no stress. Its
//!   small-strain limit has Lamé parameters λ − μ and μ: λ is therefore Lamé's λ plus μ. Finite when inverted.
//! * Fixed corotated: V₀[μ |F − R|² + λ/2 (J − 1)²], R the rotation nearest to F.
//!
//! A vertex block of both is V₀(c|m|² I + λ w wᵀ), c = μ or 2μ: the cofactor's derivative cancels for one vertex. For
//! the first it is exact; for the second it keeps R fixed, which bounds the energy from above.
//! Damping: V₀ (λ/2 tr²ΔE + μ ΔE:ΔE), ΔE the Green strain gained in the step, times β/h, with Lamé's λ.

use super::sym::Sym;
use super::tet_modes::{PrincipalLaw, tet_hessian};
use super::{ElementError, Potential, add_blocks, blocks};
use littoral_geom::math::{Mat3, Vec3, outer, skew};
use littoral_geom::mesh::tet_volume;
use littoral_geom::svd::{cofactor, polar_rotation, svd};

/// Least rest volume relative to the cube of the longest edge: below, heights are rounding errors of positions.
const FLAT_TET: f64 = 1e-12;

/// Faces opposite each corner, seen from outside in positive order.
const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// Rest shape, small-strain stiffness and memory of a tetrahedron.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Solid {
    /// mᵢ [1/m].
    shape: [Vec3; 4],
    /// 1/(6 V₀) [1/m³].
    inverse_volume: f64,
    /// V₀ times Lamé's λ [J].
    lambda: f64,
    /// V₀ μ [J].
    mu: f64,
    /// β [s].
    damping: f64,
    /// β/h of the present step [–].
    ratio: f64,
    /// FᵀF at the start of the step.
    lagged: Mat3,
}

/// A tetrahedron seen from one corner.
struct Corner {
    /// w = ∂J/∂x [1/m].
    w: Vec3,
    /// J.
    j: f64,
    /// F.
    f: Mat3,
    /// F m.
    u: Vec3,
    /// m.
    m: Vec3,
}

impl Solid {
    fn new(x_rest: &[Vec3; 4], young: f64, poisson: f64, damping: f64) -> Result<Self, ElementError> {
        ElementError::check_positive("Young's modulus", young)?;
        ElementError::check_poisson(poisson)?;
        ElementError::check_not_negative("damping", damping)?;
        let volume = tet_volume(*x_rest);
        let edges = (0..4).flat_map(|i| (0..i).map(move |j| x_rest[i].distance(x_rest[j])));
        let longest = edges.fold(0.0, f64::max);
        if !(volume.is_finite() && volume > FLAT_TET * longest.powi(3)) {
            return Err(ElementError::NoVolume { volume });
        }
        let inverse_volume = 1.0 / (6.0 * volume);
        let shape =
            FACES.map(|[j, k, l]| (x_rest[l] - x_rest[j]).cross(x_rest[k] - x_rest[j]) * inverse_volume);
        Ok(Solid {
            shape,
            inverse_volume,
            lambda: volume * young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)),
            mu: volume * 0.5 * young / (1.0 + poisson),
            damping,
            ratio: 0.0,
            lagged: Mat3::IDENTITY,
        })
    }

    fn lag(&mut self, x_n: &[Vec3; 4], h: f64) {
        let f = self.deformation(x_n);
        self.lagged = f.transpose() * f;
        self.ratio = self.damping / h;
    }

    /// F = Σ (xᵢ − x₀) mᵢᵀ.
    #[inline(always)]
    fn deformation(&self, x: &[Vec3; 4]) -> Mat3 {
        let (a, b, c) = (x[1] - x[0], x[2] - x[0], x[3] - x[0]);
        let [_, p, q, r] = self.shape;
        Mat3::from_cols(p.x * a + q.x * b + r.x * c, p.y * a + q.y * b + r.y * c, p.z * a + q.z * b + r.z * c)
    }

    #[inline(always)]
    fn corner(&self, x: &[Vec3; 4], i: usize) -> Corner {
        let [j, k, l] = FACES[i];
        let w = (x[l] - x[j]).cross(x[k] - x[j]) * self.inverse_volume;
        let f = self.deformation(x);
        let m = self.shape[i];
        Corner { w, j: w.dot(x[i] - x[j]), f, u: f * m, m }
    }

    /// Trace of the Green strain gained in the step.
    #[inline(always)]
    fn gained_trace(&self, f: &Mat3) -> f64 {
        0.5 * (size_sq(f) - (self.lagged.x_axis.x + self.lagged.y_axis.y + self.lagged.z_axis.z))
    }

    /// Green strain ΔE gained in the step.
    fn gained(&self, f: &Mat3) -> Mat3 {
        (f.transpose() * *f - self.lagged) * 0.5
    }

    fn damping_value(&self, f: &Mat3) -> f64 {
        let (e, tr) = (self.gained(f), self.gained_trace(f));
        self.ratio * (0.5 * self.lambda * tr * tr + self.mu * size_sq(&e))
    }

    /// Second Piola stress λ tr(ΔE) I + 2μ ΔE of the damping, times V₀ β/h.
    fn damping_stress(&self, f: &Mat3) -> Mat3 {
        let tr = self.gained_trace(f);
        (Mat3::IDENTITY * (self.lambda * tr) + self.gained(f) * (2.0 * self.mu)) * self.ratio
    }

    /// Adds gradient and Gauss–Newton block of the damping, (λ+μ) uuᵀ + μ|m|² FFᵀ.
    #[inline(always)]
    fn add_damping(&self, c: &Corner, gradient: &mut Vec3, h: Sym) -> Sym {
        // F S m = λ tr(ΔE) u + μ F (Fᵀu − Cⁿm)
        let pull = c.f * (c.f.transpose() * c.u - self.lagged * c.m);
        *gradient += self.ratio * (self.lambda * self.gained_trace(&c.f) * c.u + self.mu * pull);
        let s = self.ratio * self.mu * c.m.length_squared();
        h.plus(self.ratio * (self.lambda + self.mu), c.u)
            .plus(s, c.f.x_axis)
            .plus(s, c.f.y_axis)
            .plus(s, c.f.z_axis)
    }

    fn damping_hessian(&self, f: &Mat3, exact: bool) -> [[Mat3; 4]; 4] {
        let stress = if exact { self.damping_stress(f) } else { Mat3::ZERO };
        let ff = *f * f.transpose();
        let u = self.shape.map(|m| *f * m);
        blocks(|i, j| {
            let (a, b) = (self.shape[i], self.shape[j]);
            let quadratic = outer(u[i], u[j]) * self.lambda + (ff * a.dot(b) + outer(u[j], u[i])) * self.mu;
            Mat3::IDENTITY * a.dot(stress * b) + quadratic * self.ratio
        })
    }

    /// Gradients of all corners from the first Piola stress times V₀.
    fn spread(&self, piola: Mat3, f: &Mat3) -> [Vec3; 4] {
        let piola = piola + *f * self.damping_stress(f);
        self.shape.map(|m| piola * m)
    }
}

/// Squared Frobenius norm.
#[inline(always)]
fn size_sq(m: &Mat3) -> f64 {
    m.x_axis.length_squared() + m.y_axis.length_squared() + m.z_axis.length_squared()
}

/// Stable neo-Hookean tetrahedron.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StableNeoHookeanTet {
    solid: Solid,
    /// V₀ (Lamé's λ + μ) [J].
    lambda: f64,
    /// α = 1 + μ/λ [–].
    alpha: f64,
}

impl StableNeoHookeanTet {
    /// Tetrahedron with rest shape `x_rest` [m] of positive volume, Young's modulus E > 0 [Pa], Poisson's ratio ν in
    /// (−1, 0.5) and rate damping β ≥ 0 [s].
    pub fn new(x_rest: [Vec3; 4], young: f64, poisson: f64, damping: f64) -> Result<Self, ElementError> {
        let solid = Solid::new(&x_rest, young, poisson, damping)?;
        let lambda = solid.lambda + solid.mu;
        Ok(StableNeoHookeanTet { lambda, alpha: 1.0 + solid.mu / lambda, solid })
    }

    /// `block`, compiled for each corner: an index known beforehand keeps the points in registers.
    #[inline(always)]
    fn corner_block(&self, x: &[Vec3; 4], corner: usize) -> (Vec3, Mat3) {
        let c = self.solid.corner(x, corner);
        let mut gradient = self.solid.mu * c.u + (self.lambda * (c.j - self.alpha)) * c.w;
        let mut h = Sym::identity(self.solid.mu * c.m.length_squared()).plus(self.lambda, c.w);
        if self.solid.ratio > 0.0 {
            h = self.solid.add_damping(&c, &mut gradient, h);
        }
        (gradient, h.full())
    }
}

impl StableNeoHookeanTet {
    /// Gradients mᵢ of the shape functions [1/m]: the shape from which it is strained.
    pub fn shape(&self) -> [Vec3; 4] {
        self.solid.shape
    }

    /// Sets the gradients mᵢ of a rest shape of the same volume [1/m]: Fₚ⁻ᵀ mᵢ, det Fₚ = 1, after plastic flow Fₚ.
    pub fn set_shape(&mut self, shape: [Vec3; 4]) {
        self.solid.shape = shape;
    }
}

impl Potential<4> for StableNeoHookeanTet {
    /// The energy of the rest shape is subtracted: it is zero there.
    fn value(&self, x: &[Vec3; 4]) -> f64 {
        let f = self.solid.deformation(x);
        let (dj, mu) = (f.determinant() - 1.0, self.solid.mu);
        // λ/2 (J−α)² − λ/2 (1−α)² = λ/2 (J−1)² − μ (J−1)
        0.5 * mu * (size_sq(&f) - 3.0) + (0.5 * self.lambda * dj - mu) * dj + self.solid.damping_value(&f)
    }

    fn gradient(&self, x: &[Vec3; 4]) -> [Vec3; 4] {
        let f = self.solid.deformation(x);
        let pressure = self.lambda * (f.determinant() - self.alpha);
        self.solid.spread(f * self.solid.mu + cofactor(f) * pressure, &f)
    }

    fn hessian(&self, x: &[Vec3; 4]) -> [[Mat3; 4]; 4] {
        let f = self.solid.deformation(x);
        let pressure = self.lambda * (f.determinant() - self.alpha);
        let w = self.solid.shape.map(|m| cofactor(f) * m);
        let elastic = blocks(|i, j| {
            let (a, b) = (self.solid.shape[i], self.solid.shape[j]);
            // ∂²J/∂xᵢ∂xⱼ = [F (mⱼ × mᵢ)]ₓ
            Mat3::IDENTITY * (self.solid.mu * a.dot(b))
                + outer(w[i], w[j]) * self.lambda
                + skew(f * b.cross(a)) * pressure
        });
        add_blocks(elastic, self.solid.damping_hessian(&f, true))
    }

    /// Elastic part: projected exactly in the space of deformation gradients. Damping: Gauss–Newton.
    fn hessian_psd(&self, x: &[Vec3; 4]) -> [[Mat3; 4]; 4] {
        let f = self.solid.deformation(x);
        let d = svd(f);
        let s = d.sigma;
        let cof = Vec3::new(s.y * s.z, s.z * s.x, s.x * s.y);
        let pressure = self.lambda * (s.x * cof.x - self.alpha);
        let mu = self.solid.mu;
        let law = PrincipalLaw {
            scaling: Mat3::IDENTITY * mu + outer(cof, cof) * self.lambda + coupling(s, pressure),
            symmetric: s.to_array().map(|s| mu - pressure * s),
            antisymmetric: s.to_array().map(|s| mu + pressure * s),
        };
        let elastic = tet_hessian(&self.solid.shape, &d, &law, true);
        add_blocks(elastic, self.solid.damping_hessian(&f, false))
    }

    /// Elastic part exact: it is positive definite. Damping: Gauss–Newton.
    #[inline]
    fn block(&self, x: &[Vec3; 4], corner: usize) -> (Vec3, Mat3) {
        match corner {
            0 => self.corner_block(x, 0),
            1 => self.corner_block(x, 1),
            2 => self.corner_block(x, 2),
            _ => self.corner_block(x, 3),
        }
    }

    fn lag(&mut self, x_n: &[Vec3; 4], h: f64) {
        self.solid.lag(x_n, h);
    }
}

/// Fixed corotated tetrahedron.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FixedCorotatedTet {
    solid: Solid,
}

impl FixedCorotatedTet {
    /// Tetrahedron with rest shape `x_rest` [m] of positive volume, Young's modulus E > 0 [Pa], Poisson's ratio ν in
    /// [0, 0.5) and rate damping β ≥ 0 [s]. With ν < 0 the energy would fall without bound in large stretches.
    pub fn new(x_rest: [Vec3; 4], young: f64, poisson: f64, damping: f64) -> Result<Self, ElementError> {
        let expected = "a number in [0, 0.5) for fixed corotated; stable neo-Hookean takes negative ones";
        ElementError::check((0.0..0.5).contains(&poisson), "Poisson's ratio", poisson, expected)?;
        Ok(FixedCorotatedTet { solid: Solid::new(&x_rest, young, poisson, damping)? })
    }

    fn elastic_hessian(&self, f: Mat3, clamp: bool) -> [[Mat3; 4]; 4] {
        let (mu, lambda) = (self.solid.mu, self.solid.lambda);
        let d = svd(f);
        let s = d.sigma;
        let cof = Vec3::new(s.y * s.z, s.z * s.x, s.x * s.y);
        let pressure = lambda * (s.x * cof.x - 1.0);
        // (σᵢ+σⱼ−2)/(σᵢ+σⱼ): where the sum is zero R jumps, and the curvature is minus infinity.
        let pair_sums = [s.y + s.z, s.z + s.x, s.x + s.y];
        let law = PrincipalLaw {
            scaling: Mat3::IDENTITY * (2.0 * mu) + outer(cof, cof) * lambda + coupling(s, pressure),
            symmetric: s.to_array().map(|s| 2.0 * mu - pressure * s),
            antisymmetric: [0, 1, 2].map(|k| {
                let sum: f64 = pair_sums[k];
                2.0 * mu * (sum - 2.0) / sum.max(f64::EPSILON) + pressure * s[k]
            }),
        };
        tet_hessian(&self.solid.shape, &d, &law, clamp)
    }

    /// `block`, compiled for each corner: an index known beforehand keeps the points in registers.
    #[inline(always)]
    fn corner_block(&self, x: &[Vec3; 4], corner: usize) -> (Vec3, Mat3) {
        let c = self.solid.corner(x, corner);
        let two_mu = 2.0 * self.solid.mu;
        let stretch = c.u - polar_rotation(c.f) * c.m;
        let mut gradient = two_mu * stretch + (self.solid.lambda * (c.j - 1.0)) * c.w;
        let mut h = Sym::identity(two_mu * c.m.length_squared()).plus(self.solid.lambda, c.w);
        if self.solid.ratio > 0.0 {
            h = self.solid.add_damping(&c, &mut gradient, h);
        }
        (gradient, h.full())
    }
}

/// Off-diagonal part `pressure` σ_k of A_ij, from ∂²J/∂σᵢ∂σⱼ = σ_k.
fn coupling(s: Vec3, pressure: f64) -> Mat3 {
    Mat3::from_cols(Vec3::new(0.0, s.z, s.y), Vec3::new(s.z, 0.0, s.x), Vec3::new(s.y, s.x, 0.0)) * pressure
}

impl FixedCorotatedTet {
    /// Gradients mᵢ of the shape functions [1/m]: the shape from which it is strained.
    pub fn shape(&self) -> [Vec3; 4] {
        self.solid.shape
    }

    /// Sets the gradients mᵢ of a rest shape of the same volume [1/m]: Fₚ⁻ᵀ mᵢ, det Fₚ = 1, after plastic flow Fₚ.
    pub fn set_shape(&mut self, shape: [Vec3; 4]) {
        self.solid.shape = shape;
    }
}

impl Potential<4> for FixedCorotatedTet {
    fn value(&self, x: &[Vec3; 4]) -> f64 {
        let f = self.solid.deformation(x);
        let dj = f.determinant() - 1.0;
        let strain = size_sq(&(f - polar_rotation(f)));
        self.solid.mu * strain + 0.5 * self.solid.lambda * dj * dj + self.solid.damping_value(&f)
    }

    fn gradient(&self, x: &[Vec3; 4]) -> [Vec3; 4] {
        let f = self.solid.deformation(x);
        let pressure = self.solid.lambda * (f.determinant() - 1.0);
        let piola = (f - polar_rotation(f)) * (2.0 * self.solid.mu) + cofactor(f) * pressure;
        self.solid.spread(piola, &f)
    }

    fn hessian(&self, x: &[Vec3; 4]) -> [[Mat3; 4]; 4] {
        let f = self.solid.deformation(x);
        add_blocks(self.elastic_hessian(f, false), self.solid.damping_hessian(&f, true))
    }

    /// Elastic part: projected exactly in the space of deformation gradients. Damping: Gauss–Newton.
    fn hessian_psd(&self, x: &[Vec3; 4]) -> [[Mat3; 4]; 4] {
        let f = self.solid.deformation(x);
        add_blocks(self.elastic_hessian(f, true), self.solid.damping_hessian(&f, false))
    }

    /// Elastic part: with R fixed, an upper bound of the exact block. Damping: Gauss–Newton.
    #[inline]
    fn block(&self, x: &[Vec3; 4], corner: usize) -> (Vec3, Mat3) {
        match corner {
            0 => self.corner_block(x, 0),
            1 => self.corner_block(x, 1),
            2 => self.corner_block(x, 2),
            _ => self.corner_block(x, 3),
        }
    }

    fn lag(&mut self, x_n: &[Vec3; 4], h: f64) {
        self.solid.lag(x_n, h);
    }
}
