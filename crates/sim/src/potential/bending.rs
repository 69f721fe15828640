//! Bending of a hinge: two triangles on the edge x₀x₁ with opposite corners x₂ and x₃ [Grinspun 2003].
//!
//! E = (D/2) (θ − θ̄)² |ē|²/(Ā₁ + Ā₂), D = E t³/12(1−ν²) the plate stiffness. In the usual form k (θ−θ̄)² |ē|/h̄ with
//! h̄ = (Ā₁+Ā₂)/3|ē| this is k = D/6: a sheet of equilateral triangles bent to a cylinder then has the plate's energy
//! ½Dκ² per area in every direction. Grids with one diagonal stay anisotropic (up to three times too stiff).
//!
//! n₁ = (x₀−x₂)×(x₁−x₂), n₂ = (x₁−x₃)×(x₀−x₃), θ = atan2((n₁×n₂)·ê, n₁·n₂), and the gradient is
//! ∂θ/∂x_k = p_k n₁/|n₁|² + r_k n₂/|n₂|² with the lengths p = ((x₁−x₂)·ê, −(x₀−x₂)·ê, −|e|, 0) and r alike.
//! Damping: the same energy of the angle gained in the step, times β/h.

use super::energies::{hinge_values, remember_angles};
use super::sym::Sym;
use super::{ElementError, Potential, blocks, rest_area, scalar};
use littoral_geom::math::{Mat3, Vec3, outer, skew};
use std::f64::consts::{PI, TAU};

/// A triangle of the hinge whose squared area has fallen below this multiple of its rest value no longer steepens
/// the angle: its normal is a rounding error, and its bending force fades out. Doubled or halved, nothing visible
/// changes: the height is then 10⁻⁸ of its rest value.
pub(super) const VANISHED: f64 = 1e-16;

/// A hinge with points x₀, x₁ on the edge and x₂, x₃ opposite; flat at θ = 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hinge {
    /// D |ē|²/(Ā₁ + Ā₂) [J].
    pub(super) stiffness: f64,
    /// Rest angle θ̄ [rad].
    pub(super) rest: f64,
    /// Angle θⁿ at the start of the step [rad].
    pub(super) lagged: f64,
    /// Rate damping β [s].
    damping: f64,
    /// β/h of the present step [–].
    pub(super) ratio: f64,
    /// Least |n|² [m⁴] that is divided by.
    floor: f64,
}

/// The hinge in its present shape.
struct Fold {
    e: Vec3,
    length: f64,
    n1: Vec3,
    n2: Vec3,
    /// 1/|n₁|², 1/|n₂|², bounded.
    inverse1: f64,
    inverse2: f64,
    /// θ in [−π, π].
    angle: f64,
}

impl Hinge {
    /// Hinge with the rest shape `x_rest` [m], plate stiffness D ≥ 0 [N m] and rate damping β ≥ 0 [s].
    pub fn new(x_rest: [Vec3; 4], plate_stiffness: f64, damping: f64) -> Result<Self, ElementError> {
        ElementError::check_not_negative("bending stiffness", plate_stiffness)?;
        ElementError::check_not_negative("damping", damping)?;
        let length = x_rest[0].distance(x_rest[1]);
        let area1 = rest_area(&[x_rest[0], x_rest[1], x_rest[2]])?;
        let area2 = rest_area(&[x_rest[1], x_rest[0], x_rest[3]])?;
        let smaller = 2.0 * area1.min(area2);
        let mut hinge = Hinge {
            stiffness: plate_stiffness * length * length / (area1 + area2),
            rest: 0.0,
            lagged: 0.0,
            damping,
            ratio: 0.0,
            floor: VANISHED * smaller * smaller,
        };
        hinge.rest = hinge.fold(&x_rest).angle;
        hinge.lagged = hinge.rest;
        Ok(hinge)
    }

    /// Rest angle θ̄ [rad] in [−π, π].
    pub fn rest_angle(&self) -> f64 {
        self.rest
    }

    /// Sets the rest angle θ̄ [rad]; beyond ±π where the fold has gone round.
    pub fn set_rest_angle(&mut self, angle: f64) {
        self.rest = angle;
    }

    /// Angle θ [rad] of the shape `x`: within π of the angle at the start of the step. A fold cannot pass ±π
    /// without its triangles crossing, so that the angle remembered by `lag` lies in [−π, π].
    pub fn angle(&self, x: &[Vec3; 4]) -> f64 {
        self.unwrapped(self.fold(x).angle)
    }

    #[inline(always)]
    fn fold(&self, x: &[Vec3; 4]) -> Fold {
        let e = x[1] - x[0];
        let (from2, from3) = (x[0] - x[2], x[0] - x[3]);
        let n1 = from2.cross(e);
        let n2 = e.cross(from3);
        let length = e.length();
        // (n₁×n₂)·ê = |e| n₁·(x₀−x₃)
        let angle = scalar::atan2(length * n1.dot(from3), n1.dot(n2));
        let inverse1 = 1.0 / n1.length_squared().max(self.floor);
        let inverse2 = 1.0 / n2.length_squared().max(self.floor);
        Fold { e, length, n1, n2, inverse1, inverse2, angle }
    }

    /// Remembers the angle at the start of a step.
    pub(super) fn remember_angle(&mut self, x_n: &[Vec3; 4]) {
        self.lagged = self.fold(x_n).angle;
    }

    #[inline(always)]
    fn unwrapped(&self, angle: f64) -> f64 {
        unwrapped(angle, self.lagged)
    }

    /// ∂E/∂θ [J].
    #[inline(always)]
    fn moment(&self, angle: f64) -> f64 {
        let angle = self.unwrapped(angle);
        self.stiffness * ((angle - self.rest) + self.ratio * (angle - self.lagged))
    }

    /// ∂θ/∂x of one corner [rad/m].
    #[inline(always)]
    fn slope(f: &Fold, x: &[Vec3; 4], corner: usize) -> Vec3 {
        match corner {
            2 => -(f.length * f.inverse1) * f.n1,
            3 => -(f.length * f.inverse2) * f.n2,
            _ => {
                // The end of the edge that is not the corner; the sign of corner 1 is opposite.
                let other = x[1 - corner];
                let sign = if corner == 0 { 1.0 } else { -1.0 };
                let scale = sign / f.length.max(f64::MIN_POSITIVE);
                let p = scale * (other - x[2]).dot(f.e) * f.inverse1;
                let r = scale * (other - x[3]).dot(f.e) * f.inverse2;
                p * f.n1 + r * f.n2
            }
        }
    }

    /// `block`, compiled for each corner: what a corner does not need is not computed.
    #[inline(always)]
    fn corner_block(&self, x: &[Vec3; 4], corner: usize) -> (Vec3, Mat3) {
        // Turned by half about its middle the hinge is the same: corners 1 and 3 become 0 and 2.
        let [x0, x1, x2, x3] = if corner == 0 || corner == 2 { *x } else { [x[1], x[0], x[3], x[2]] };
        let e = x1 - x0;
        let (from2, from3) = (x0 - x2, x0 - x3);
        let (n1, n2) = (from2.cross(e), e.cross(from3));
        let (n1_sq, n2_sq) = (n1.length_squared().max(self.floor), n2.length_squared().max(self.floor));
        let length_sq = e.length_squared();
        let length = length_sq.sqrt();
        let angle = scalar::atan2(length * n1.dot(from3), n1.dot(n2));
        // ∂θ/∂x = |e| times this.
        let g = if corner >= 2 {
            n1 * (-1.0 / n1_sq)
        } else {
            // (x₁−x₂)·e/|e|²|n₁|² and (x₁−x₃)·e/|e|²|n₂|² with one division.
            let inverse = 1.0 / (n1_sq * n2_sq * length_sq).max(f64::MIN_POSITIVE);
            let p = (from2.dot(e) + length_sq) * n2_sq * inverse;
            let r = (from3.dot(e) + length_sq) * n1_sq * inverse;
            p * n1 + r * n2
        };
        let stiffness = self.stiffness * (1.0 + self.ratio) * length_sq;
        ((self.moment(angle) * length) * g, Sym::identity(0.0).plus(stiffness, g).full())
    }

    /// ∂²θ/∂x∂x [rad/m²], by the product rule on ∂θ/∂x_k = p_k a₁ + r_k a₂, a = n/|n|².
    fn curvature(f: &Fold, x: &[Vec3; 4]) -> [[Mat3; 4]; 4] {
        let unit = f.e / f.length.max(f64::MIN_POSITIVE);
        let across = Mat3::IDENTITY - outer(unit, unit);
        // Slopes of the length of v along the edge, where v does not move: ∂(v·ê)/∂x₁ = −∂(v·ê)/∂x₀.
        let turning = |v: Vec3| across * v / f.length;
        // One triangle: its normal, the corner opposite, the slopes ∂n/∂x for x₀, x₁ and that corner.
        let side = |n: Vec3, inverse: f64, top: usize, orient: f64| {
            let (v0, v1) = (x[0] - x[top], x[1] - x[top]);
            let a = n * inverse;
            let da_dn = (Mat3::IDENTITY - outer(n, n) * (2.0 * inverse)) * inverse;
            let zero = [Vec3::ZERO; 4];
            let (mut dn, mut dp) = ([Mat3::ZERO; 4], [zero; 4]);
            dn[0] = skew(v1) * -orient;
            dn[1] = skew(v0) * orient;
            dn[top] = skew(f.e) * orient;
            // p₀ = v₁·ê, p₁ = −v₀·ê, p_top = −|e|
            let mut p = [0.0; 4];
            p[0] = v1.dot(unit);
            p[1] = -v0.dot(unit);
            p[top] = -f.length;
            dp[0][0] = -turning(v1);
            dp[0][1] = turning(v1) + unit;
            dp[0][top] = -unit;
            dp[1][0] = turning(v0) - unit;
            dp[1][1] = -turning(v0);
            dp[1][top] = unit;
            dp[top][0] = unit;
            dp[top][1] = -unit;
            blocks::<4>(|k, l| outer(a, dp[k][l]) + (da_dn * dn[l]) * p[k])
        };
        let first = side(f.n1, f.inverse1, 2, 1.0);
        let second = side(f.n2, f.inverse2, 3, -1.0);
        super::add_blocks(first, second)
    }
}

/// The angle plus a multiple of 2π, within π of the one at the start of the step.
#[inline(always)]
pub(super) fn unwrapped(angle: f64, lagged: f64) -> f64 {
    let gained = angle - lagged;
    if gained.abs() <= PI { angle } else { angle - TAU * (gained / TAU).round() }
}

impl Potential<4> for Hinge {
    fn value(&self, x: &[Vec3; 4]) -> f64 {
        let angle = self.angle(x);
        0.5 * self.stiffness * ((angle - self.rest).powi(2) + self.ratio * (angle - self.lagged).powi(2))
    }

    fn gradient(&self, x: &[Vec3; 4]) -> [Vec3; 4] {
        let f = self.fold(x);
        let moment = self.moment(f.angle);
        [0, 1, 2, 3].map(|k| moment * Self::slope(&f, x, k))
    }

    fn hessian(&self, x: &[Vec3; 4]) -> [[Mat3; 4]; 4] {
        let f = self.fold(x);
        let moment = self.moment(f.angle);
        super::add_blocks(self.hessian_psd(x), Self::curvature(&f, x).map(|row| row.map(|m| m * moment)))
    }

    /// Gauss–Newton: D|ē|²/(Ā₁+Ā₂) (1 + β/h) ∇θ∇θᵀ.
    fn hessian_psd(&self, x: &[Vec3; 4]) -> [[Mat3; 4]; 4] {
        let f = self.fold(x);
        let g = [0, 1, 2, 3].map(|k| Self::slope(&f, x, k));
        let stiffness = self.stiffness * (1.0 + self.ratio);
        blocks(|i, j| outer(g[i], g[j]) * stiffness)
    }

    /// Gauss–Newton.
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
        self.remember_angle(x_n);
        self.ratio = self.damping / h;
    }

    fn values(elements: &[Self], points: &[[u32; 4]], x: &[Vec3], out: &mut [f64]) {
        hinge_values(elements, points, x, out);
    }

    fn lag_all(elements: &mut [Self], points: &[[u32; 4]], x_n: &[Vec3], h: f64) {
        remember_angles(elements, points, x_n);
        elements.iter_mut().for_each(|hinge| hinge.ratio = hinge.damping / h);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The edge on the x axis; x₂ flat behind it, x₃ turned by the angle.
    fn folded(angle: f64) -> [Vec3; 4] {
        let tip = Vec3::new(0.4, -angle.cos(), -angle.sin());
        [Vec3::ZERO, Vec3::X, Vec3::new(0.6, 1.0, 0.0), tip]
    }

    #[test]
    fn angle_is_the_angle_between_the_normals() {
        let hinge = Hinge::new(folded(0.0), 1.0, 0.0).expect("valid rest shape");
        for step in -31..=31 {
            let angle = 0.1 * f64::from(step);
            // Roundings of the four normals and of the arc tangent.
            assert!((hinge.angle(&folded(angle)).abs() - angle.abs()).abs() < 2e-15);
        }
        assert!(hinge.angle(&folded(0.3)) * hinge.angle(&folded(-0.3)) < 0.0);
    }

    #[test]
    fn angle_stays_continuous_across_a_full_fold_within_a_step() {
        let mut hinge = Hinge::new(folded(0.0), 1.0, 1e-3).expect("valid rest shape");
        hinge.lag(&folded(3.1), 0.01);
        let (before, after) = (hinge.value(&folded(3.13)), hinge.value(&folded(3.15)));
        assert!(after > before && (after - before) < 0.1 * before);
    }

    /// A strip of equilateral triangles, rolled on a cylinder of radius 1 at each angle to its rows.
    #[test]
    fn equilateral_sheet_on_a_cylinder_has_the_plate_energy() {
        let (spacing, radius, plate) = (0.02, 1.0, 3.0);
        for direction in [0.0, 0.2, 0.35, std::f64::consts::FRAC_PI_6, 0.9] {
            let a = Vec3::new(f64::cos(direction), f64::sin(direction), 0.0) * spacing;
            let turn = direction + std::f64::consts::FRAC_PI_3;
            let b = Vec3::new(turn.cos(), turn.sin(), 0.0) * spacing;
            let roll = |p: Vec3| {
                let angle = p.x / radius;
                Vec3::new(radius * angle.sin(), p.y, radius * (1.0 - angle.cos()))
            };
            // Each lattice cell owns three edges, with the two triangles on them.
            let hinges = [[Vec3::ZERO, a, b, a - b], [Vec3::ZERO, b, b - a, a], [a, b, Vec3::ZERO, a + b]];
            let energy: f64 = hinges
                .iter()
                .map(|rest| Hinge::new(*rest, plate, 0.0).expect("valid").value(&rest.map(roll)))
                .sum();
            let area = a.cross(b).length();
            let exact = 0.5 * plate / (radius * radius) * area;
            assert!((0.99..=1.001).contains(&(energy / exact)), "{} at {direction}", energy / exact);
        }
    }
}
