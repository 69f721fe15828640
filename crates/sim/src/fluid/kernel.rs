//! The cubic spline kernel, the kernel volume behind a wall, and their inverse for free surfaces.
//!
//! Everything is written in q = r/ħ with the truncated powers of the M4 spline, so that no branch is left:
//! W(r) = 2σ [(1−q)₊³ − 4(½−q)₊³], σ = 8/(πħ³) in three dimensions.

use std::f64::consts::PI;

/// Entries of the table from the kernel's gradient at a free surface to the volume missing there.
const TABLE: usize = 64;

/// A cubic spline kernel with support radius ħ, and the integrals of it that fluids at planes need.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// Support radius ħ [m].
    support: f64,
    /// σ = 8/(πħ³) [1/m³].
    sigma: f64,
    /// Factor on γ for walls [–].
    wall_scale: f64,
    /// γ as a function of ω/ω(0), at equal distances.
    missing: Vec<f64>,
}

#[inline]
fn positive(x: f64) -> f64 {
    x.max(0.0)
}

impl Kernel {
    /// Kernel of support ħ [m] for particles `spacing` dx [m] apart, ħ ≥ dx. Sets the scale of
    /// [`wall_volume`](Self::wall_volume).
    pub fn new(support: f64, spacing: f64) -> Self {
        let sigma = 8.0 / (PI * support.powi(3));
        let mut kernel = Kernel { support, sigma, wall_scale: 1.0, missing: Vec::new() };
        let half_filled = kernel.lattice_fill(spacing, [i64::MIN, i64::MIN, 0]);
        kernel.wall_scale = (1.0 - half_filled) / kernel.half_space(0.5 * spacing);
        kernel.missing = (0..=TABLE).map(|k| kernel.half_space_of(k as f64 / TABLE as f64)).collect();
        kernel
    }

    /// Support radius ħ [m].
    pub fn support(&self) -> f64 {
        self.support
    }

    /// W(r) [1/m³] for r ≥ 0 [m].
    #[inline]
    pub fn value(&self, r: f64) -> f64 {
        let q = r / self.support;
        2.0 * self.sigma * (positive(1.0 - q).powi(3) - 4.0 * positive(0.5 - q).powi(3))
    }

    /// W′(r) [1/m⁴], ≤ 0.
    #[inline]
    pub fn slope(&self, r: f64) -> f64 {
        let q = r / self.support;
        -6.0 * self.sigma / self.support * (positive(1.0 - q).powi(2) - 4.0 * positive(0.5 - q).powi(2))
    }

    /// Σ dx³ W over the cubic lattice of this spacing whose indices are ≥ `first` on each axis, at the origin.
    pub fn lattice_fill(&self, spacing: f64, first: [i64; 3]) -> f64 {
        let reach = (self.support / spacing).ceil() as i64;
        let mut sum = 0.0;
        for k in (-reach).max(first[2])..=reach {
            for j in (-reach).max(first[1])..=reach {
                for i in (-reach).max(first[0])..=reach {
                    sum += self.value(spacing * ((i * i + j * j + k * k) as f64).sqrt());
                }
            }
        }
        sum * spacing.powi(3)
    }

    /// Kernel volume beyond a plane at distance d ≥ 0 [m], γ(d) = 2π ∫_d^ħ W(r) r (r − d) dr, γ(0) = ½.
    ///
    /// ∫_D^a (a−q)³ q (q−D) dq = L⁵ (a/20 − L/30), L = (a − D)₊, for each truncated power.
    #[inline]
    pub fn half_space(&self, d: f64) -> f64 {
        let d = positive(d / self.support);
        let piece = |a: f64| {
            let l = positive(a - d);
            l.powi(5) * (a / 20.0 - l / 30.0)
        };
        32.0 * (piece(1.0) - 4.0 * piece(0.5))
    }

    /// ω(d) = −γ′(d) [1/m], ≥ 0: the integral of W over the plane.
    #[inline]
    pub fn plane(&self, d: f64) -> f64 {
        let d = positive(d / self.support);
        let piece = |a: f64| {
            let l = positive(a - d);
            l.powi(4) * (a / 4.0 - l / 5.0)
        };
        32.0 / self.support * (piece(1.0) - 4.0 * piece(0.5))
    }

    /// G(r) = ∫_r^ħ W s² ds [–]: the kernel volume beyond r, per solid angle; 4π G(0) = 1.
    #[inline]
    pub fn beyond(&self, r: f64) -> f64 {
        let q = r / self.support;
        // ∫_q^a (a − t)³ t² dt with L = a − q.
        let piece = |a: f64| {
            let l = positive(a - q);
            l.powi(4) * (a * a / 4.0 - l * (2.0 * a / 5.0 - l / 6.0))
        };
        16.0 / PI * (piece(1.0) - 4.0 * piece(0.5))
    }

    /// The factor on volumes behind walls with which a lattice that starts half a spacing from one sums to 1 [–].
    #[inline]
    pub fn wall_scale(&self) -> f64 {
        self.wall_scale
    }

    /// The volume that a wall at distance d adds to a particle's sum: γ(d), scaled so that a lattice that starts half
    /// a spacing from the wall sums to 1 in its first layer.
    #[inline]
    pub fn wall_volume(&self, d: f64) -> f64 {
        self.wall_scale * self.half_space(d)
    }

    /// ω at the plane through the particle [1/m]: the largest gradient a flat free surface can have.
    #[inline]
    pub fn plane_at_zero(&self) -> f64 {
        1.4 / self.support
    }

    /// The volume γ missing behind a flat free surface, from the length ω [1/m] of the gradient of the sum there.
    /// Saturates at ½.
    pub fn missing_volume(&self, gradient: f64) -> f64 {
        let place = (gradient / self.plane_at_zero()).clamp(0.0, 1.0) * TABLE as f64;
        let k = (place as usize).min(TABLE - 1);
        self.missing[k] + (place - k as f64) * (self.missing[k + 1] - self.missing[k])
    }

    /// γ where ω/ω(0) has a given value, by bisection.
    fn half_space_of(&self, ratio: f64) -> f64 {
        let (mut near, mut far) = (0.0, self.support);
        // Each halving gains a bit; 52 exhaust the number.
        for _ in 0..52 {
            let d = 0.5 * (near + far);
            if self.plane(d) > ratio * self.plane_at_zero() {
                near = d;
            } else {
                far = d;
            }
        }
        self.half_space(0.5 * (near + far))
    }

    /// K(d) [1/m²] of the drag −ν m K(d) v_t of a wall at distance d [m] on a particle that slides past it at v_t:
    /// the viscous pair force summed over a half-space whose velocity goes on linearly through zero at the wall,
    /// K = 20 Î(D)/(D ħ²), Î = ∫_D^1 −w′(q) (q² − D²)²/q² dq.
    pub fn wall_drag(&self, d: f64) -> f64 {
        // Closer than this the linear continuation would be steeper than anything a contact stand-off allows.
        let d = (d / self.support).max(0.05);
        let slope = |q: f64| 6.0 * (positive(1.0 - q).powi(2) - 4.0 * positive(0.5 - q).powi(2));
        let integrand = |q: f64| slope(q) * (q * q - d * d).powi(2) / (q * q);
        let part = |a: f64, b: f64| gauss(a, b, |q| (integrand(q), 0.0)).0;
        let integral = part(d.min(0.5), 0.5) + part(d.clamp(0.5, 1.0), 1.0);
        20.0 * integral / (d * self.support * self.support)
    }
}

/// Five-point Gauss quadrature of a pair of functions on [a, b].
pub(super) fn gauss(a: f64, b: f64, f: impl Fn(f64) -> (f64, f64)) -> (f64, f64) {
    const NODES: [(f64, f64); 3] = [
        (0.0, 0.568_888_888_888_888_9),
        (0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
        (0.906_179_845_938_664, 0.236_926_885_056_189_08),
    ];
    let (mid, half) = (0.5 * (a + b), 0.5 * (b - a));
    let middle = f(mid);
    let mut sum = (NODES[0].1 * middle.0, NODES[0].1 * middle.1);
    for (x, w) in &NODES[1..] {
        let (low, high) = (f(mid - half * x), f(mid + half * x));
        sum.0 += w * (low.0 + high.0);
        sum.1 += w * (low.1 + high.1);
    }
    (half * sum.0, half * sum.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: i64 = i64::MIN;

    /// Simpson's rule.
    fn integral(a: f64, b: f64, f: impl Fn(f64) -> f64) -> f64 {
        let n = 4000;
        let h = (b - a) / n as f64;
        let weight = |k: usize| if k == 0 || k == n { 1.0 } else { 2.0 + 2.0 * (k % 2) as f64 };
        (0..=n).map(|k| weight(k) * f(a + k as f64 * h)).sum::<f64>() * h / 3.0
    }

    #[test]
    fn the_kernel_has_unit_volume_and_its_slope_is_its_derivative() {
        let k = Kernel::new(0.7, 0.35);
        let volume = integral(0.0, 0.7, |r| 4.0 * PI * r * r * k.value(r));
        // Simpson's rule is exact up to the kink of the third derivative.
        assert!((volume - 1.0).abs() < 1e-10, "{volume}");
        for i in 1..40 {
            let r = 0.02 * i as f64;
            let e = 1e-6;
            let fd = (k.value(r + e) - k.value(r - e)) / (2.0 * e);
            // Central differences are off by e² times a third derivative of some 6·12·2σ/ħ³ ≈ 2e3.
            assert!((fd - k.slope(r)).abs() < 1e-7 * k.value(0.0) / 0.7, "r = {r}: {fd} {}", k.slope(r));
        }
        assert_eq!([k.value(0.71), k.slope(0.71)], [0.0, 0.0]);
    }

    #[test]
    fn lattice_sums_are_those_of_the_table() {
        // Support in spacings; interior, face, edge, corner.
        let table = [
            (1.8, [1.0002, 0.889, 0.786, 0.693]),
            (2.0, [1.0000, 0.850, 0.720, 0.607]),
            (2.5, [0.9985, 0.779, 0.606, 0.470]),
            (3.0, [1.0018, 0.735, 0.538, 0.393]),
            (4.0, [1.0001, 0.675, 0.455, 0.306]),
        ];
        for (support, expected) in table {
            let k = Kernel::new(support * 0.1, 0.1);
            let firsts = [[ALL, ALL, ALL], [ALL, ALL, 0], [ALL, 0, 0], [0, 0, 0]];
            for (first, expected) in firsts.into_iter().zip(expected) {
                let found = k.lattice_fill(0.1, first);
                // The table has three or four digits.
                assert!((found - expected).abs() < 6e-4, "ħ = {support} dx, {first:?}: {found}");
            }
        }
    }

    #[test]
    fn the_volume_behind_a_plane_is_the_integral() {
        let k = Kernel::new(0.7, 0.35);
        assert!((k.half_space(0.0) - 0.5).abs() < 1e-15);
        assert!((k.plane(0.0) - k.plane_at_zero()).abs() < 1e-14);
        for i in 0..8 {
            let d = 0.1 * i as f64;
            let expected = integral(d, 0.7, |r| 2.0 * PI * k.value(r) * r * (r - d));
            assert!((k.half_space(d) - expected).abs() < 1e-9, "d = {d}");
            let expected = integral(d, 0.7, |r| 2.0 * PI * k.value(r) * r);
            assert!((k.plane(d) - expected).abs() < 1e-8, "d = {d}");
        }
    }

    #[test]
    fn half_a_spacing_from_a_wall_reads_one() {
        for support in [1.8, 2.0, 2.5, 3.0] {
            let k = Kernel::new(support, 1.0);
            let sum = k.lattice_fill(1.0, [ALL, ALL, 0]) + k.wall_volume(0.5);
            assert!((sum - 1.0).abs() < 1e-14, "{sum}");
        }
    }

    #[test]
    fn the_gradient_at_a_flat_surface_tells_the_missing_volume() {
        let k = Kernel::new(0.7, 0.35);
        for i in 0..70 {
            let d = 0.01 * i as f64;
            let found = k.missing_volume(k.plane(d));
            // γ rises with a vertical tangent at ω(0): the last table interval is off by up to 0.02 near d = 0.
            let band = if d < 0.1 { 0.02 } else { 1e-3 };
            assert!((found - k.half_space(d)).abs() < band, "d = {d}: {found} {}", k.half_space(d));
        }
        // The table's ends come out of a bisection on a flat curve.
        assert!(k.missing_volume(0.0) < 1e-12 && (k.missing_volume(1e9) - 0.5).abs() < 1e-6);
    }

    #[test]
    fn wall_drag_is_the_sum_over_the_half_space() {
        let k = Kernel::new(0.7, 0.35);
        for d in [0.1, 0.175, 0.3, 0.5, 0.65] {
            let inner = |r: f64| -k.slope(r) * (r * r - d * d).powi(2) / (r * r);
            let expected = 2.5 * PI / d * integral(d, 0.7, inner);
            let found = k.wall_drag(d);
            // The integrand has a double zero and a 1/q²; five points a piece resolve it to some 1e-3.
            assert!((found - expected).abs() < 2e-3 * expected, "d = {d}: {found} {expected}");
        }
        assert_eq!(k.wall_drag(0.71), 0.0);
    }
}
