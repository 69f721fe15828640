//! Keeps the certificate: what the referee and the steps said, added up.
//!
//! Crossings of the input are tracked: a pair that crosses may go on crossing, or stop; a pair that begins to cross, also one
//! that had stopped, is new. So the number of tracked pairs only falls while the guarantee holds. Parts of the input that
//! are let apart cross as they must until they are: what begins there is counted by itself.

use littoral_io::report::{Certificate, PairOff};
use littoral_sim::report::{FluidReport, StepReport, Verdict};

/// The certificate so far, and the state it was judged by last.
#[derive(Clone, Debug, PartialEq)]
pub struct Tally {
    /// The certificate.
    pub certificate: Certificate,
    /// Crossing pairs of the last judged state, sorted.
    pub crossings: Vec<[u32; 2]>,
    /// Crossing pairs between parts of the input that have not come apart, in the last judged state, sorted.
    pub entangled: Vec<[u32; 2]>,
    /// Inverted tets of the last judged state, sorted.
    pub inverted: Vec<u32>,
}

impl Tally {
    /// Begins with the verdict on the input: its crossings are excused, inverted tets and odd numbers are not.
    pub fn begin(verdict: &Verdict) -> Tally {
        let crossing = (verdict.crossings.len() + verdict.entangled.len()) as u64;
        let mut tally = Tally {
            certificate: Certificate { intersections_initial: crossing, ..Certificate::default() },
            crossings: verdict.crossings.clone(),
            entangled: verdict.entangled.clone(),
            inverted: Vec::new(),
        };
        tally.judge(verdict);
        tally
    }

    /// Adds the verdict on a later state; returns the number of pairs that began to cross.
    pub fn judge(&mut self, verdict: &Verdict) -> u64 {
        let new = count_missing(&verdict.crossings, &self.crossings);
        let begun = count_missing(&verdict.entangled, &self.entangled);
        let c = &mut self.certificate;
        if !verdict.entangled.is_empty() {
            c.intersections_entangled = Some(c.intersections_entangled.unwrap_or(0) + begun);
        }
        c.checks += verdict.checks;
        c.intersections_new += new;
        c.intersections_last = (verdict.crossings.len() + verdict.entangled.len()) as u64;
        c.inverted_elements += count_missing(&verdict.inverted, &self.inverted);
        c.non_finite = c.non_finite.max(u64::from(verdict.non_finite));
        self.count_off(verdict);
        self.conclude();
        self.crossings.clone_from(&verdict.crossings);
        self.entangled.clone_from(&verdict.entangled);
        self.inverted.clone_from(&verdict.inverted);
        new
    }

    /// Counts what crosses where contact is switched off.
    fn count_off(&mut self, verdict: &Verdict) {
        let known = &mut self.certificate.pairs_off;
        for off in &verdict.off {
            let k = known.iter().position(|p| p.objects == off.objects).unwrap_or_else(|| {
                known.push(PairOff { objects: off.objects.clone(), ..PairOff::default() });
                known.len() - 1
            });
            known[k].crossings_last = off.crossings;
            known[k].crossings_most = known[k].crossings_most.max(off.crossings);
        }
    }

    /// Adds what a step measured.
    pub fn step(&mut self, report: &StepReport) {
        let c = &mut self.certificate;
        // `min` and `max` pass over a NaN, which JSON cannot hold; the referee counts it as not finite.
        c.min_gap_m =
            report.min_gap.map_or(c.min_gap_m, |gap| Some(gap.min(c.min_gap_m.unwrap_or(f64::INFINITY))));
        c.min_gap_m = c.min_gap_m.filter(|gap| gap.is_finite());
        c.collider_lag_max_m = Some(report.lag.max(c.collider_lag_max_m.unwrap_or(0.0)));
        if let Some(rods) = &report.rods {
            c.rods_passed = Some(c.rods_passed.unwrap_or(0) + u64::from(rods.passed));
            c.checks += rods.path_checks;
            self.conclude();
        }
        if let Some(fluid) = &report.fluid {
            self.fluid(fluid, report.time, report.h);
        }
    }

    /// Adds what a step of size `h` that ended at `time` [s] did to the fluid.
    fn fluid(&mut self, fluid: &FluidReport, time: f64, h: f64) {
        let c = &mut self.certificate;
        let finite = |x: f64| Some(x).filter(|x| x.is_finite());
        c.particles_leaked = Some(c.particles_leaked.unwrap_or(0) + u64::from(fluid.leaked));
        c.checks += fluid.path_checks;
        c.fluid_volume_error = finite(fluid.volume_error);
        // The mean over time, carried on from step to step, so that a resumed run goes on with it.
        let before = c.fluid_compression_mean.unwrap_or(0.0);
        let share = if time > h { h / time } else { 1.0 };
        c.fluid_compression_mean =
            finite(before + (fluid.compression_mean - before) * share).or(Some(before));
        let most = c.fluid_compression_max.unwrap_or(0.0).max(fluid.compression_max);
        c.fluid_compression_max = finite(most);
        self.conclude();
    }

    fn conclude(&mut self) {
        let c = &mut self.certificate;
        c.held = c.intersections_new == 0
            && c.inverted_elements == 0
            && c.non_finite == 0
            && c.particles_leaked.unwrap_or(0) == 0
            && c.rods_passed.unwrap_or(0) == 0;
    }
}

/// Number of entries of sorted `these` that sorted `those` lacks.
fn count_missing<T: Ord>(these: &[T], those: &[T]) -> u64 {
    these.iter().filter(|x| those.binary_search(x).is_err()).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use littoral_sim::report::OffPair;

    fn verdict(crossings: &[[u32; 2]], inverted: &[u32]) -> Verdict {
        Verdict {
            crossings: crossings.to_vec(),
            inverted: inverted.to_vec(),
            checks: 10,
            ..Verdict::default()
        }
    }

    #[test]
    fn crossings_of_the_input_may_stay_or_go_but_not_come_back() {
        let mut tally = Tally::begin(&verdict(&[[1, 1], [2, 2]], &[]));
        assert_eq!(tally.judge(&verdict(&[[1, 1], [2, 2]], &[])), 0);
        assert_eq!(tally.judge(&verdict(&[[2, 2]], &[])), 0);
        assert!(tally.certificate.held);
        assert_eq!(tally.judge(&verdict(&[[1, 1], [2, 2]], &[])), 1);
        let c = &tally.certificate;
        assert_eq!(
            (c.intersections_initial, c.intersections_new, c.intersections_last, c.checks),
            (2, 1, 2, 40)
        );
        assert!(!c.held);
    }

    #[test]
    fn crossings_of_pairs_without_contact_are_counted_apart_under_their_names() {
        let off = |crossings| Verdict {
            off: vec![OffPair { objects: ["a".into(), "b".into()], crossings }],
            ..verdict(&[], &[])
        };
        let mut tally = Tally::begin(&off(0));
        tally.judge(&off(7));
        tally.judge(&off(2));
        let c = &tally.certificate;
        assert_eq!((c.intersections_new, c.held, c.pairs_off.len()), (0, true, 1));
        assert_eq!((c.pairs_off[0].crossings_last, c.pairs_off[0].crossings_most), (2, 7));
        assert_eq!(c.pairs_off[0].objects, ["a", "b"]);
    }

    #[test]
    fn what_begins_between_parts_that_are_let_apart_is_counted_by_itself() {
        let tangled = |pairs: &[[u32; 2]]| Verdict { entangled: pairs.to_vec(), ..verdict(&[], &[]) };
        let mut tally = Tally::begin(&tangled(&[[1, 2]]));
        tally.judge(&tangled(&[[1, 3], [1, 4]]));
        tally.judge(&tangled(&[[1, 4]]));
        let c = &tally.certificate;
        assert_eq!((c.intersections_entangled, c.intersections_new, c.held), (Some(2), 0, true));
        // Apart, they are like any others.
        tally.judge(&verdict(&[], &[]));
        tally.judge(&verdict(&[[1, 4]], &[]));
        let c = &tally.certificate;
        assert_eq!((c.intersections_entangled, c.intersections_new, c.held), (Some(2), 1, false));
        assert_eq!(Tally::begin(&verdict(&[], &[])).certificate.intersections_entangled, None);
    }

    #[test]
    fn a_pair_that_keeps_crossing_counts_once() {
        let mut tally = Tally::begin(&verdict(&[], &[]));
        tally.judge(&verdict(&[[5, 1]], &[3]));
        tally.judge(&verdict(&[[5, 1]], &[3]));
        assert_eq!((tally.certificate.intersections_new, tally.certificate.inverted_elements), (1, 1));
    }

    #[test]
    fn inverted_tets_and_odd_numbers_of_the_input_are_not_excused() {
        assert!(!Tally::begin(&verdict(&[], &[0])).certificate.held);
        assert!(!Tally::begin(&Verdict { non_finite: 1, ..Verdict::default() }).certificate.held);
    }

    #[test]
    fn the_smallest_gap_is_absent_until_one_was_seen_and_never_nan() {
        let mut tally = Tally::begin(&verdict(&[], &[]));
        let step = |min_gap| StepReport { min_gap, lag: 0.1, ..StepReport::default() };
        tally.step(&step(None));
        assert_eq!(tally.certificate.min_gap_m, None);
        tally.step(&step(Some(2e-3)));
        tally.step(&step(None));
        tally.step(&step(Some(f64::NAN)));
        tally.step(&step(Some(3e-3)));
        assert_eq!(
            (tally.certificate.min_gap_m, tally.certificate.collider_lag_max_m),
            (Some(2e-3), Some(0.1))
        );
    }

    #[test]
    fn leaked_particles_add_up_and_end_the_guarantee() {
        let mut tally = Tally::begin(&verdict(&[], &[]));
        let mut time = 0.0;
        for (h, leaked, compression_mean, compression_max) in
            [(0.25, 0, 0.0, 0.0), (0.25, 2, 0.02, 0.5), (0.5, 1, 0.01, 0.3)]
        {
            assert_eq!(tally.certificate.held, time < 0.5);
            time += h;
            let fluid = FluidReport { leaked, compression_mean, compression_max, ..FluidReport::default() };
            tally.step(&StepReport { time, h, fluid: Some(fluid), ..StepReport::default() });
        }
        tally.judge(&verdict(&[], &[]));
        let c = &tally.certificate;
        assert_eq!((c.particles_leaked, c.held), (Some(3), false));
        assert_eq!((c.fluid_compression_mean, c.fluid_compression_max), (Some(0.01), Some(0.5)));
    }
}
