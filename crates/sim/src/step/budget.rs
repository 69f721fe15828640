//! The wall time of a step: sweeps end where a budget ends. What was committed by then is as valid as any other state.
//!
//! A step always makes one sweep. What it takes beyond its budget is owed by the next one, so that the mean over steps keeps
//! to the budget where one sweep does; what it leaves is not saved up, so that no step takes much more than its own. Where
//! sweeps end depends on the machine and its load: such a run is not reproducible to the bit.

use std::time::Instant;

/// What the steps of a run may take.
#[derive(Debug)]
pub(super) struct Budget {
    /// Wall seconds a simulated second; infinite without a budget.
    rate: f64,
    /// Wall seconds that earlier steps took beyond theirs, a step's worth at most: one long interruption from outside is
    /// not paid for many steps long.
    debt: f64,
    started: Instant,
    /// Wall seconds of this step.
    allowed: f64,
    /// Wall seconds from the start of the step to the last question.
    asked: f64,
    /// The longest time between two questions in this step [s].
    longest: f64,
}

impl Budget {
    /// A budget of `rate` wall seconds a simulated second; `None` is without bounds.
    pub fn new(rate: Option<f64>) -> Self {
        let rate = rate.unwrap_or(f64::INFINITY);
        Budget { rate, debt: 0.0, started: Instant::now(), allowed: rate, asked: 0.0, longest: 0.0 }
    }

    /// Begins a step of size `h` [s].
    pub fn begin(&mut self, h: f64) {
        self.started = Instant::now();
        self.allowed = self.rate * h - self.debt;
        (self.asked, self.longest) = (0.0, 0.0);
    }

    /// True if another sweep may begin: the first one always, a later one if as much time is left as the longest took.
    pub fn allows(&mut self, sweep: u32) -> bool {
        if self.rate == f64::INFINITY {
            return true;
        }
        let now = self.started.elapsed().as_secs_f64();
        if sweep == 0 {
            self.asked = now;
            return true;
        }
        self.longest = self.longest.max(now - self.asked);
        self.asked = now;
        now + self.longest <= self.allowed
    }

    /// Ends a step of size `h` [s].
    pub fn end(&mut self, h: f64) {
        if self.rate < f64::INFINITY {
            let over = self.started.elapsed().as_secs_f64() - self.allowed;
            self.debt = over.clamp(0.0, self.rate * h);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn sweeps_end_before_the_budget_does_and_what_was_taken_beyond_it_is_owed() {
        // 20 ms a step.
        let mut budget = Budget::new(Some(20.0));
        budget.begin(1e-3);
        assert!(budget.allows(0), "the first sweep is free");
        std::thread::sleep(Duration::from_millis(15));
        assert!(!budget.allows(1), "a second of 15 ms would end behind 20 ms");
        std::thread::sleep(Duration::from_millis(15));
        budget.end(1e-3);
        assert!(budget.debt >= 0.01 - 1e-6 && budget.debt <= 0.02, "{}", budget.debt);
        budget.begin(1e-3);
        assert!(budget.allowed <= 0.01 + 1e-6);
    }

    #[test]
    fn without_a_budget_every_sweep_is_made() {
        let mut budget = Budget::new(None);
        budget.begin(1.0);
        assert!((0..1000).all(|sweep| budget.allows(sweep)));
        budget.end(1.0);
        assert_eq!(budget.debt, 0.0);
    }
}
