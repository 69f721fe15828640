//! The two-stage contact law [Chen 2025, Offset Geometric Contact]: quadratic from the contact radius r to τ = r/2,
//! logarithmic below, C² where the stages meet because τ = r/2.

/// Below this share of the radius the logarithm is not followed further, so that a Hessian stays finite; the gap
/// itself is the truncation's care.
const FLOOR: f64 = 1e-6;

/// Energy E(d) [J] of a contact with stiffness `k` [N/m] and radius `r` [m] at distance `d` [m]:
/// ½k(r−d)² for τ ≤ d ≤ r, and −kτ² ln d + ½k(r−τ)² + kτ² ln τ for d < τ.
pub fn energy(d: f64, k: f64, r: f64) -> f64 {
    let tau = 0.5 * r;
    if d >= r {
        0.0
    } else if d >= tau {
        0.5 * k * (r - d) * (r - d)
    } else {
        let d = d.max(FLOOR * r);
        k * tau * tau * (tau / d).ln() + 0.5 * k * (r - tau) * (r - tau)
    }
}

/// True in the logarithmic stage, where the force changes by as much as the distance `d` [m] does.
#[inline]
pub(super) fn is_steep(d: f64, r: f64) -> bool {
    d < 0.5 * r
}

/// Force −E′(d) [N], ≥ 0, and curvature E″(d) [N/m], > 0 below r.
#[inline]
pub fn force_and_curvature(d: f64, k: f64, r: f64) -> (f64, f64) {
    let tau = 0.5 * r;
    if d >= r {
        (0.0, 0.0)
    } else if d >= tau {
        (k * (r - d), k)
    } else {
        let d = d.max(FLOOR * r);
        let force = k * tau * tau / d;
        (force, force / d)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_law_is_twice_continuous_and_its_force_is_the_slope() {
        let (k, r) = (300.0, 2e-3);
        for i in 1..200 {
            let d = r * f64::from(i) / 200.0;
            let e = 1e-7 * r;
            let slope = (energy(d + e, k, r) - energy(d - e, k, r)) / (2.0 * e);
            let (force, _) = force_and_curvature(d, k, r);
            // Central differences: error e² E‴/6 plus rounding ε E/e; both far below 1e-5 of the force scale.
            assert!((force + slope).abs() <= 1e-5 * k * r, "d = {d}: {force} against {}", -slope);
        }
        let (above, below) =
            (force_and_curvature(0.5 * r, k, r), force_and_curvature(0.5 * r * (1.0 - 1e-12), k, r));
        assert!((above.0 - below.0).abs() < 1e-9 * above.0 && (above.1 - below.1).abs() < 1e-9 * above.1);
    }
}
