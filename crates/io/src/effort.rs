//! What a run gave for its results, and what it gave up: sweeps, motion that truncation took away, what was left to do.

use littoral_sim::report::StepReport;
use serde::{Deserialize, Serialize};

/// Effort of all steps so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Effort {
    /// Steps that were counted.
    pub steps: u64,
    /// Sweeps or iterations done.
    pub sweeps: u64,
    /// Sweeps that `solver.budget_ms` left no time for; absent without a budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sweeps_left: Option<u64>,
    /// Steps that it ended early; absent without a budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps_cut_short: Option<u64>,
    /// Share of the wanted motion that truncation kept [–], in [0, 1]: mean over the steps.
    pub kept_motion_mean: f64,
    /// The least of any step [–].
    pub kept_motion_min: f64,
    /// Root mean square of the last sweep's moves over the step size [m/s]: what the steps were still doing when they ended.
    /// Mean over the steps.
    pub residual_mean_m_per_s: f64,
    /// The largest of any step [m/s].
    pub residual_max_m_per_s: f64,
}

impl Effort {
    /// Adds a step; with `budgeted`, the run has a budget of wall time.
    pub fn add(&mut self, step: &StepReport, budgeted: bool) {
        // JSON holds no other numbers. The referee counts what is not finite.
        let finite = |x: f64| if x.is_finite() { x } else { 0.0 };
        let (kept, residual) = (finite(step.kept_motion), finite(step.residual));
        self.kept_motion_min = if self.steps == 0 { kept } else { self.kept_motion_min.min(kept) };
        self.residual_max_m_per_s = self.residual_max_m_per_s.max(residual);
        self.steps += 1;
        self.sweeps += u64::from(step.iterations);
        if budgeted {
            self.sweeps_left = Some(self.sweeps_left.unwrap_or(0) + u64::from(step.sweeps_left));
            self.steps_cut_short = Some(self.steps_cut_short.unwrap_or(0) + u64::from(step.sweeps_left > 0));
        }
        let share = 1.0 / self.steps as f64;
        self.kept_motion_mean += share * (kept - self.kept_motion_mean);
        self.residual_mean_m_per_s += share * (residual - self.residual_mean_m_per_s);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_extremes_are_those_of_the_steps() {
        let mut effort = Effort::default();
        for (kept_motion, residual, sweeps_left) in [(1.0, 0.1, 0), (0.5, 0.3, 3), (0.75, f64::NAN, 2)] {
            let step =
                StepReport { kept_motion, residual, iterations: 5, sweeps_left, ..StepReport::default() };
            effort.add(&step, true);
        }
        assert_eq!((effort.sweeps, effort.sweeps_left, effort.steps_cut_short), (15, Some(5), Some(2)));
        assert_eq!((effort.kept_motion_mean, effort.kept_motion_min), (0.75, 0.5));
        assert_eq!(effort.residual_max_m_per_s, 0.3);
        // A third of 0.4, in three additions of rounded shares.
        assert!((effort.residual_mean_m_per_s - 0.4 / 3.0).abs() < 1e-15);
    }
}
