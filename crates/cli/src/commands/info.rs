//! `littoral info`: what a run did, from its report.

use crate::answer::{self, count, duration, length};
use crate::args::InfoArgs;
use crate::failure::Failure;
use littoral_io::report::{Counts, PhaseSeconds, Report};
use littoral_io::run_folder::RunFolder;

/// Prints what a run did.
pub fn info(args: &InfoArgs) -> Result<(), Failure> {
    let folder = RunFolder::open(&args.dir)?;
    let report = Report::read(&folder.report_path())?;
    answer::print(&full(&report))
}

/// The outcome of a run in a few lines.
pub fn summary(report: &Report) -> String {
    let c = &report.certificate;
    let state = if report.finished { "" } else { ", not finished" };
    let done = format!(
        "{}, {}, {:.3} s simulated in {}{state}",
        count(report.frames as usize, "frame"),
        count(report.steps as usize, "step"),
        report.simulated_s,
        duration(report.wall_s)
    );
    let judged = if report.strict { "every step" } else { "every frame" };
    let mut held = format!(
        "guarantee {}: {} exact tests at {judged}, {}, {}",
        if c.held { "held" } else { "BROKEN" },
        c.checks,
        count(c.intersections_new as usize, "new intersection"),
        count(c.inverted_elements as usize, "inverted element"),
    );
    if c.intersections_initial > 0 {
        held += &format!(", {} of {} in the input left", c.intersections_last, c.intersections_initial);
    }
    if let Some(gap) = c.min_gap_m {
        held += &format!(", smallest gap {}", length(gap));
    }
    if c.collider_lag_max_m.is_some_and(|lag| lag > 0.0) {
        held += &format!(", colliders late by {} at most", length(c.collider_lag_max_m.unwrap_or(0.0)));
    }
    if let Some(passed) = c.rods_passed {
        held += &format!(", rods passed {}", count(passed as usize, "time"));
    }
    if let Some(leaked) = c.particles_leaked {
        held += &format!(", {} leaked", count(leaked as usize, "particle"));
    }
    let mut lines = format!("{done}\n{held}");
    if let Some(cut) = report.effort.as_ref().filter(|e| e.steps_cut_short.is_some_and(|n| n > 0)) {
        lines += &format!(
            "\nbudget: {} ended early after {:.1} sweeps in the mean, still moving at {:.2e} m/s, {:.0} % of the motion kept",
            count(cut.steps_cut_short.unwrap_or(0) as usize, "step"),
            cut.sweeps as f64 / cut.steps.max(1) as f64,
            cut.residual_mean_m_per_s,
            100.0 * cut.kept_motion_mean,
        );
    }
    for p in &c.pairs_off {
        let [a, b] = &p.objects;
        let both = if a == b { format!("\"{a}\" with itself") } else { format!("\"{a}\" with \"{b}\"") };
        let last = count(p.crossings_last as usize, "crossing");
        lines += &format!("\nnot covered: contact of {both} is switched off, {last} at the end");
    }
    if let Some(begun) = c.intersections_entangled {
        let pairs = count(begun as usize, "crossing");
        lines += &format!(
            "\nnot covered: entangled parts of the input until they were apart; {pairs} began between them"
        );
    }
    if let Some(error) = c.fluid_volume_error {
        lines += &format!("\nfluid: volume {:+.2} % at the end", 100.0 * error);
    }
    if let (Some(mean), Some(max)) = (c.fluid_compression_mean, c.fluid_compression_max) {
        lines += &format!(", compression {:.3} % in the mean, {:.1} % at most", 100.0 * mean, 100.0 * max);
    }
    lines
}

/// Everything of interest in a report.
fn full(report: &Report) -> String {
    let mut out = format!("{}\n{}\n{}", report.scene, contents(&report.counts), summary(report));
    out += &format!("\nlittoral {}, {}", report.littoral, count(report.threads, "thread"));
    if let Some(cpu) = report.cpu_s {
        out += &format!(", {} of processor time", duration(cpu));
    }
    if let Some(peak) = report.peak_rss_mb {
        out += &format!(", {peak:.0} MB at most");
    }
    for lag in report.lags.iter().filter(|l| l.max_m > 0.0) {
        let (last, most) = (length(lag.last_m), length(lag.max_m));
        out += &format!("\n\"{}\" is late by {last}, by {most} at most", lag.object);
    }
    out += &format!("\n{}", phases(&report.phases_s));
    for e in &report.expectations {
        let found = e.found.map(|x| format!(", found {x}")).unwrap_or_default();
        let state = match e.met {
            Some(true) => "expected and met",
            Some(false) => "expected but NOT MET",
            None => "expected, not reached yet",
        };
        out += &format!("\n{state}: {}{found}", e.text);
    }
    for w in &report.warnings {
        out += &format!("\nwarning ({}×, {}): {}", w.count, w.code, w.text);
    }
    out
}

fn contents(c: &Counts) -> String {
    let parts = [
        (c.points, "point"),
        (c.triangles, "triangle"),
        (c.tets, "tet"),
        (c.rod_segments, "rod segment"),
        (c.particles, "particle"),
    ];
    let mut parts: Vec<String> =
        parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| count(*n, what)).collect();
    if c.bodies > 0 {
        parts.push(format!("{} rigid {}", c.bodies, if c.bodies == 1 { "body" } else { "bodies" }));
    }
    parts.join(", ")
}

fn phases(p: &PhaseSeconds) -> String {
    let rows = [
        ("detect", Some(p.detect)),
        ("forces", Some(p.forces)),
        ("truncate", Some(p.truncate)),
        ("fluid", p.fluid),
        ("solve", Some(p.solve)),
        ("referee", Some(p.referee)),
        ("write", Some(p.write)),
    ];
    let known: Vec<String> =
        rows.iter().filter_map(|(name, s)| s.map(|s| format!("{name} {}", duration(s)))).collect();
    format!("time spent: {}", known.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_says_what_happened_and_leaves_out_what_was_not_measured() {
        let mut report =
            Report { frames: 1, steps: 10, simulated_s: 0.5, finished: true, ..Report::default() };
        report.certificate.held = true;
        assert_eq!(
            summary(&report),
            "1 frame, 10 steps, 0.500 s simulated in 0.0 s\n\
             guarantee held: 0 exact tests at every frame, 0 new intersections, 0 inverted elements"
        );
        let mut wet = report.clone();
        wet.certificate.particles_leaked = Some(0);
        wet.certificate.fluid_volume_error = Some(-0.004);
        (wet.certificate.fluid_compression_mean, wet.certificate.fluid_compression_max) =
            (Some(5e-4), Some(0.1));
        let said = summary(&wet);
        let fluid = "0 particles leaked\nfluid: volume -0.40 % at the end, compression 0.050 % in the mean, 10.0 % at most";
        assert!(said.ends_with(fluid), "{said}");
        report.certificate.held = false;
        report.certificate.intersections_initial = 3;
        report.certificate.min_gap_m = Some(2e-3);
        let said = summary(&report);
        assert!(
            said.contains("BROKEN") && said.contains("0 of 3 in the input left, smallest gap 2.00 mm"),
            "{said}"
        );
    }
}
