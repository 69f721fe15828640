//! `scalar.rs` for four numbers at once, to the same bits.

use super::bending;
use super::lanes::{Four, Machine, Quad};
use super::scalar;
use std::f64::consts::PI;

/// Seven coefficients by Estrin's scheme.
#[inline(always)]
pub(super) fn poly7<M: Machine>(s: Quad<M>, c: &[f64; 7]) -> Quad<M> {
    let m = s.machine();
    let s2 = s * s;
    let low = (Quad::splat(m, c[0]) + c[1] * s) + s2 * (Quad::splat(m, c[2]) + c[3] * s);
    let high = (Quad::splat(m, c[4]) + c[5] * s) + s2 * (Quad::splat(m, c[6]));
    low + (s2 * s2) * high
}

#[inline(always)]
fn atan_small<M: Machine>(t: Quad<M>) -> Quad<M> {
    let s = t * t;
    t + t * s * poly7(s, &scalar::ARCTAN)
}

/// As `scalar::atan2`, to the bit.
#[inline(always)]
pub(super) fn atan2<M: Machine>(m: M, y: Quad<M>, x: Quad<M>) -> Quad<M> {
    let splat = |s: f64| Quad::splat(m, s);
    let (a, b) = (y.abs(), x.abs());
    if a.is_less(scalar::BORDERS[0] * x) {
        return atan_small(y / x);
    }
    // The vector is turned by the nearest multiple of π/8.
    let (mut cos, mut sin, mut angle) = (splat(1.0), splat(0.0), splat(0.0));
    for (border, sector) in scalar::BORDERS.iter().zip(&scalar::SECTORS[1..]) {
        let border = *border * b;
        cos = border.less(a, splat(sector.0), cos);
        sin = border.less(a, splat(sector.1), sin);
        angle = border.less(a, splat(sector.2), angle);
    }
    let zero = splat(0.0);
    let turned = b * cos + a * sin;
    let t = zero.less(turned, (a * cos - b * sin) / turned, zero);
    let first_quadrant = angle + atan_small(t);
    x.less(zero, splat(PI) - first_quadrant, first_quadrant).copysign(y)
}

/// Natural logarithm of positive normal numbers.
#[inline(always)]
pub(super) fn ln<M: Machine>(m: M, x: Quad<M>) -> Quad<M> {
    let d = x - Quad::splat(m, 1.0);
    if !d.abs().is_less(Quad::splat(m, scalar::CLOSE.next_up())) {
        return Quad::load(m, &Four(far(x.store())));
    }
    let c = |k: usize| Quad::splat(m, scalar::LN_CLOSE[k]);
    let (d2, d4) = (d * d, (d * d) * (d * d));
    let low = (c(0) + c(1) * d) + d2 * (c(2) + c(3) * d);
    let middle = (c(4) + c(5) * d) + d2 * (c(6) + c(7) * d);
    let high = (c(8) + c(9) * d) + d2 * (c(10) + c(11) * d);
    d + d2 * (low + d4 * (middle + d4 * high))
}

#[inline(never)]
fn far(x: [f64; 4]) -> [f64; 4] {
    x.map(scalar::ln)
}

/// The angles plus multiples of 2π, within π of those at the start of the step.
#[inline(always)]
pub(super) fn unwrapped<M: Machine>(angle: Quad<M>, lagged: Quad<M>) -> Quad<M> {
    let m = angle.machine();
    if (angle - lagged).abs().is_less(Quad::splat(m, PI)) {
        return angle;
    }
    Quad::load(m, &Four(each_unwrapped(angle.store(), lagged.store())))
}

#[cold]
#[inline(never)]
fn each_unwrapped(angle: [f64; 4], lagged: [f64; 4]) -> [f64; 4] {
    std::array::from_fn(|k| bending::unwrapped(angle[k], lagged[k]))
}
