//! How large a step and how stiff a fluid may be.

use littoral_geom::math::Vec3;

/// Limits of the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepLimits {
    /// Largest step [s], > 0. Default 5 ms.
    pub largest: f64,
    /// Courant number C [–], > 0: no particle moves more than C spacings by its velocity. Default 0.4.
    pub courant: f64,
}

impl Default for StepLimits {
    fn default() -> Self {
        StepLimits { largest: 5e-3, courant: 0.4 }
    }
}

impl StepLimits {
    /// h = min(h_max, C dx/max|v|, √(dx/max|a|)) [s] for particles `spacing` dx [m] apart with velocities `v` [m/s]
    /// under accelerations of at most `acceleration` [m/s²]. Velocities that are not finite are left out.
    pub fn step(&self, spacing: f64, v: &[Vec3], acceleration: f64) -> f64 {
        let fastest =
            v.iter().map(|v| v.length_squared()).filter(|s| s.is_finite()).fold(0.0, f64::max).sqrt();
        let mut h = self.largest;
        if fastest > 0.0 {
            h = h.min(self.courant * spacing / fastest);
        }
        if acceleration > 0.0 {
            h = h.min((spacing / acceleration).sqrt());
        }
        h
    }
}

/// Stiffness k_I [Pa] at which a fluid of density ρ₀ [kg/m³] loses the fraction `volume_error` of its volume under
/// the head and the stagnation pressure given: k_I = ρ₀ (g H + ½ v²)/volume_error, with g [m/s²], depth H [m] and
/// speed v [m/s].
pub fn stiffness_for(volume_error: f64, density: f64, gravity: f64, depth: f64, speed: f64) -> f64 {
    density * (gravity * depth + 0.5 * speed * speed) / volume_error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tightest_limit_rules() {
        let limits = StepLimits::default();
        let v = |s: f64| [Vec3::ZERO, Vec3::new(0.0, -s, 0.0)];
        assert_eq!(limits.step(0.01, &v(0.0), 0.0), 5e-3);
        assert_eq!(limits.step(0.01, &v(2.0), 9.81), 2e-3);
        assert_eq!(limits.step(0.01, &v(0.0), 1e4), 1e-3);
        assert_eq!(limits.step(0.01, &[], f64::NAN), 5e-3);
    }

    #[test]
    fn one_percent_at_a_metre_of_water_is_a_megapascal() {
        assert!((stiffness_for(0.01, 1000.0, 9.81, 1.0, 0.0) - 0.981e6).abs() < 1.0);
    }
}
