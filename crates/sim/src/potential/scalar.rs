//! Logarithm and arc tangent for the inner loops: the same bits on every platform, unlike the C library's, and
//! inlined. Both are within 4·10⁻¹⁶ relative to max(|result|, 1) of the true value; small results keep their
//! relative accuracy.
//!
//! The polynomials interpolate the remainders of the series at Chebyshev nodes; the interpolation errors stated
//! are below half a rounding.

/// Seven coefficients by Estrin's scheme, which has a shorter dependency chain than Horner's.
#[inline(always)]
fn poly7(s: f64, c: [f64; 7]) -> f64 {
    let s2 = s * s;
    let low = (c[0] + c[1] * s) + s2 * (c[2] + c[3] * s);
    let high = (c[4] + c[5] * s) + s2 * c[6];
    low + (s2 * s2) * high
}

/// (artanh(√s)/√s − 1)/s for 0 ≤ s ≤ ((√2−1)/(√2+1))²; interpolation error of s times it: 5·10⁻¹⁸.
pub(super) const ARTANH: [f64; 7] = [
    0.333_333_333_333_333_5,
    0.199_999_999_999_497_22,
    0.142_857_143_130_016_35,
    0.111_111_055_651_299_39,
    0.090_914_447_278_374_74,
    0.076_658_553_091_053_86,
    0.073_082_927_124_443_11,
];

/// (√2−1)/(√2+1): as far as `ARTANH` serves.
pub(super) const ARTANH_REACH: f64 = 0.171_572_875_253_809_9;

/// (ln(1+d) − d)/d² for |d| ≤ 1/8; interpolation error of d² times it: 10⁻¹⁷.
pub(super) const LN_CLOSE: [f64; 12] = [
    -0.499_999_999_999_999_44,
    0.333_333_333_333_332_8,
    -0.250_000_000_002_436_7,
    0.200_000_000_002_275_05,
    -0.166_666_664_849_042_08,
    0.142_857_141_160_121_83,
    -0.125_000_495_323_847_7,
    0.111_111_573_561_239_32,
    -0.099_939_100_126_989_16,
    0.090_852_234_691_238_27,
    -0.086_769_214_138_222_25,
    0.080_130_598_130_752_77,
];

/// Distance from one up to which `LN_CLOSE` serves.
pub(super) const CLOSE: f64 = 0.125;

/// Natural logarithm of a positive normal number. Close to one by a polynomial without a division, whose latency
/// would be felt.
#[inline(always)]
pub(crate) fn ln(x: f64) -> f64 {
    let d = x - 1.0;
    if d.abs() > CLOSE {
        return ln_far(x);
    }
    let c = LN_CLOSE;
    let (d2, d4) = (d * d, (d * d) * (d * d));
    let low = (c[0] + c[1] * d) + d2 * (c[2] + c[3] * d);
    let middle = (c[4] + c[5] * d) + d2 * (c[6] + c[7] * d);
    let high = (c[8] + c[9] * d) + d2 * (c[10] + c[11] * d);
    d + d2 * (low + d4 * (middle + d4 * high))
}

/// ln x = k ln 2 + 2 artanh((m−1)/(m+1)), x = 2ᵏ m, m ∈ [√½, √2].
#[inline(never)]
fn ln_far(x: f64) -> f64 {
    if !(x >= f64::MIN_POSITIVE && x.is_finite()) {
        return x.ln();
    }
    const MANTISSA: u64 = (1 << 52) - 1;
    const ONE: u64 = 1023 << 52;
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i64 - 1023;
    let mut m = f64::from_bits((bits & MANTISSA) | ONE);
    if m > std::f64::consts::SQRT_2 {
        m *= 0.5;
        exponent += 1;
    }
    let t = (m - 1.0) / (m + 1.0);
    let s = t * t;
    exponent as f64 * std::f64::consts::LN_2 + 2.0 * (t + t * s * poly7(s, ARTANH))
}

/// (arctan(√s)/√s − 1)/s for 0 ≤ s ≤ tan²(π/16); interpolation error of s times it: 4·10⁻¹⁷.
pub(super) const ARCTAN: [f64; 7] = [
    -0.333_333_333_333_332_37,
    0.199_999_999_997_608_48,
    -0.142_857_141_888_354_44,
    0.111_110_963_672_385_24,
    -0.090_898_375_909_099_9,
    0.076_521_232_939_573_18,
    -0.059_097_869_797_455_585,
];

/// tan((2k+1)π/16): the borders of the sectors around kπ/8.
pub(super) const BORDERS: [f64; 4] =
    [0.198_912_367_379_658, 0.668_178_637_919_299, 1.496_605_762_665_489, 5.027_339_492_125_848];

/// (cos, sin, angle) of kπ/8.
pub(super) const SECTORS: [(f64, f64, f64); 5] = [
    (1.0, 0.0, 0.0),
    (0.923_879_532_511_286_8, 0.382_683_432_365_089_8, std::f64::consts::FRAC_PI_8),
    (std::f64::consts::FRAC_1_SQRT_2, std::f64::consts::FRAC_1_SQRT_2, std::f64::consts::FRAC_PI_4),
    (0.382_683_432_365_089_8, 0.923_879_532_511_286_8, 1.178_097_245_096_172_4),
    (0.0, 1.0, std::f64::consts::FRAC_PI_2),
];

/// Angle of the vector (x, y) in [−π, π] [rad]; zero for the zero vector. The vector is turned by the nearest
/// multiple of π/8, so that one division and a short series are left.
#[inline]
pub(crate) fn atan2(y: f64, x: f64) -> f64 {
    if y.abs() < BORDERS[0] * x {
        return atan_small(y / x);
    }
    atan2_far(y, x)
}

#[inline(always)]
fn atan_small(t: f64) -> f64 {
    let s = t * t;
    t + t * s * poly7(s, ARCTAN)
}

#[inline(never)]
fn atan2_far(y: f64, x: f64) -> f64 {
    let (a, b) = (y.abs(), x.abs());
    let sector = BORDERS.iter().map(|border| usize::from(a > border * b)).sum::<usize>();
    let (cos, sin, angle) = SECTORS[sector];
    let turned = b * cos + a * sin;
    let t = if turned > 0.0 { (a * cos - b * sin) / turned } else { 0.0 };
    let first_quadrant = angle + atan_small(t);
    let half = if x < 0.0 { std::f64::consts::PI - first_quadrant } else { first_quadrant };
    half.copysign(y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use littoral_geom::random::Random;

    /// Two roundings of the result and two of the argument.
    const ERROR: f64 = 5e-16;

    #[test]
    fn logarithm_agrees_with_the_library_over_the_whole_range() {
        let mut random = Random::new(1);
        for _ in 0..200_000 {
            let far = random.log_between(1e-300, 1e300);
            let near = 1.0 + random.between(-0.4, 0.8) * random.log_between(1e-15, 1.0);
            for x in [far, near] {
                let exact = x.ln();
                assert!((ln(x) - exact).abs() <= ERROR * exact.abs().max(f64::MIN_POSITIVE), "ln {x}");
            }
        }
        assert_eq!(ln(1.0), 0.0);
        assert_eq!(ln(0.0), f64::NEG_INFINITY);
    }

    #[test]
    fn arc_tangent_agrees_with_the_library_in_all_quadrants() {
        let mut random = Random::new(2);
        for _ in 0..200_000 {
            let angle = random.between(-3.2, 3.2) * random.log_between(1e-12, 1.0);
            let radius = random.log_between(1e-30, 1e30);
            let (y, x) = (radius * angle.sin(), radius * angle.cos());
            let exact = y.atan2(x);
            assert!((atan2(y, x) - exact).abs() <= ERROR * exact.abs(), "atan2({y}, {x})");
        }
        assert_eq!(atan2(0.0, 0.0), 0.0);
        assert_eq!(atan2(0.0, 1.0), 0.0);
        assert_eq!(atan2(0.0, -1.0), std::f64::consts::PI);
        assert_eq!(atan2(1.0, 0.0), std::f64::consts::FRAC_PI_2);
    }
}
