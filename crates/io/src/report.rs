//! `report.json`: what a run did and whether its guarantee held. Rewritten after each frame, so a killed run has one too.
//!
//! A number that was not measured is absent, never zero. Fields are only ever added.

use crate::effort::Effort;
use crate::whole_file::{FileError, read_whole, write_whole};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The whole report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Report {
    /// Version of the program.
    pub littoral: String,
    /// Title of the scene.
    pub scene: String,
    /// Threads the run used.
    pub threads: usize,
    /// Seed of everything random; 0 when nothing is.
    pub seed: u64,
    /// True once the last frame is written; false while it runs, and after an interruption.
    pub finished: bool,
    /// True when every committed step was judged, not only every frame.
    pub strict: bool,
    /// Frames written after the initial one.
    pub frames: u64,
    /// Steps taken.
    pub steps: u64,
    /// Simulated time [s].
    pub simulated_s: f64,
    /// Wall time [s], of all parts of a resumed run.
    pub wall_s: f64,
    /// Processor time of all threads [s].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_s: Option<f64>,
    /// Largest resident memory [MB = 10⁶ bytes].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_rss_mb: Option<f64>,
    /// Sizes of the scene.
    pub counts: Counts,
    /// What the referee saw.
    pub certificate: Certificate,
    /// What is behind its prescribed motion; one entry an object whose motion moves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lags: Vec<Lag>,
    /// What the steps did and gave up; absent before the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// Where the time went.
    pub phases_s: PhaseSeconds,
    /// Things that were degraded but went on.
    pub warnings: Vec<Warning>,
    /// What the scene expects of its motion, and what came; absent when it expects nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expectations: Vec<Expectation>,
}

/// How far an object is behind its prescribed motion: a collider, or what is pinned of anything else.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lag {
    /// Name of the object.
    pub object: String,
    /// Largest distance of a point of it from its target, at the end of the last step [m].
    pub last_m: f64,
    /// The largest of any step [m].
    pub max_m: f64,
}

/// Sizes of a scene.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    /// Points of every kind.
    pub points: usize,
    /// Triangles of cloth, surfaces and colliders.
    pub triangles: usize,
    /// Tetrahedra.
    pub tets: usize,
    /// Segments of rods.
    pub rod_segments: usize,
    /// Fluid particles, with those that an emitter will release.
    pub particles: usize,
    /// Rigid bodies.
    pub bodies: usize,
}

/// What the referee saw, over all judged states.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Certificate {
    /// Exact tests made.
    pub checks: u64,
    /// Edge–triangle pairs that cross in the input.
    pub intersections_initial: u64,
    /// Edge–triangle pairs that began to cross later, one count each time a pair begins.
    pub intersections_new: u64,
    /// Edge–triangle pairs that cross in the state judged last.
    pub intersections_last: u64,
    /// Edge–triangle pairs that began to cross between two parts of the input that crossed or touched and had not come apart
    /// yet; they are not among the new ones. Absent where the input had no such parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intersections_entangled: Option<u64>,
    /// Tetrahedra that turned over, one count each time one does.
    pub inverted_elements: u64,
    /// Smallest gap that a detection saw [m]; absent when nothing ever came near anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_gap_m: Option<f64>,
    /// Particles whose path crossed a surface, by the exact test of every committed path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub particles_leaked: Option<u64>,
    /// Times that a rod passed through a rod, an edge or a surface, by the exact test of every committed path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rods_passed: Option<u64>,
    /// Relative error of the fluid's volume at the end [–].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fluid_volume_error: Option<f64>,
    /// Compression of the fluid [–], density over rest density less 1 where that is positive: mean over the particles
    /// and the time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fluid_compression_mean: Option<f64>,
    /// The largest compression of any particle at any step [–].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fluid_compression_max: Option<f64>,
    /// Largest distance of a prescribed point from its target [m]; absent before the first step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collider_lag_max_m: Option<f64>,
    /// The pairs of objects whose contact the scene switched off: the guarantee does not cover them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pairs_off: Vec<PairOff>,
    /// Points with a coordinate that is no finite number, the most of any judged state.
    pub non_finite: u64,
    /// No new crossing, no inverted element, no leaked particle, no rod that passed, nothing but finite numbers.
    pub held: bool,
}

/// A pair of objects whose contact is switched off.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PairOff {
    /// Names of the objects.
    pub objects: [String; 2],
    /// Edge–triangle pairs of theirs that cross in the state judged last.
    pub crossings_last: u64,
    /// The most of any judged state.
    pub crossings_most: u64,
}

/// Wall seconds per phase; absent where a run has no such phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PhaseSeconds {
    /// Broad and narrow phase of contact.
    pub detect: f64,
    /// Forces, Hessians and local solves.
    pub forces: f64,
    /// Truncation.
    pub truncate: f64,
    /// Fluid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fluid: Option<f64>,
    /// Everything else in a step.
    pub solve: f64,
    /// The referee.
    pub referee: f64,
    /// Writing frames and checkpoints.
    pub write: f64,
}

/// Something that was degraded but went on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Warning {
    /// Short name for programs, as `initial-intersections`.
    pub code: String,
    /// How often.
    pub count: u64,
    /// For people: what, where, and what to do.
    pub text: String,
}

/// A statement of the scene about its motion, at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Expectation {
    /// The statement, with its numbers.
    pub text: String,
    /// What was found; absent before its time, and when it could not be measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<f64>,
    /// True when it holds; absent before its time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub met: Option<bool>,
}

/// Why a report cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The operating system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// Not a report.
    #[error("{file} is not a report of this program: {what}")]
    Damaged {
        /// The file.
        file: String,
        /// What the parser said.
        what: String,
    },
}

impl Report {
    /// Writes the report, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        write_whole(path, format!("{}\n", self.to_json()).as_bytes())
    }

    /// The report as indented JSON.
    pub fn to_json(&self) -> String {
        // Serialising plain structs of numbers and text has no way to fail.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Reads a report; unknown fields are from a later version and are passed over.
    pub fn read(path: &Path) -> Result<Report, ReportError> {
        let damaged = |what: String| ReportError::Damaged { file: path.display().to_string(), what };
        let report = Report::parse(&read_whole(path)?).map_err(damaged)?;
        if report.littoral.is_empty() {
            return Err(damaged("the field \"littoral\" with the version is missing".into()));
        }
        Ok(report)
    }

    /// Reads a report from JSON.
    pub fn parse(json: &[u8]) -> Result<Report, String> {
        serde_json::from_slice(json).map_err(|e| e.to_string())
    }

    /// Adds how far the objects of these names are behind at the end of a step [m].
    pub fn add_lags<'a>(&mut self, lags: impl Iterator<Item = (&'a str, f64)>) {
        for (object, lag) in lags {
            // JSON holds no other numbers. The referee counts what is not finite.
            let lag = if lag.is_finite() { lag } else { 0.0 };
            match self.lags.iter_mut().find(|l| l.object == object) {
                Some(known) => (known.last_m, known.max_m) = (lag, known.max_m.max(lag)),
                None => self.lags.push(Lag { object: object.into(), last_m: lag, max_m: lag }),
            }
        }
    }

    /// Adds a warning, or adds to the count of one with the same code and text.
    pub fn warn(&mut self, code: &str, count: u64, text: &str) {
        match self.warnings.iter_mut().find(|w| w.code == code && w.text == text) {
            Some(warning) => warning.count += count,
            None => self.warnings.push(Warning { code: code.into(), count, text: text.into() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_measured_is_absent_and_what_was_survives_bit_for_bit() {
        let mut report = Report { littoral: "0.1.0".into(), ..Report::default() };
        let json = report.to_json();
        for absent in
            ["cpu_s", "peak_rss_mb", "min_gap_m", "particles_leaked", "fluid", "collider_lag", "expectations"]
        {
            assert!(!json.contains(absent), "{absent} in {json}");
        }
        report.certificate.min_gap_m = Some(0.1 + 0.2);
        report.wall_s = 1.0 / 3.0;
        assert_eq!(Report::parse(report.to_json().as_bytes()).unwrap(), report);
    }

    #[test]
    fn each_object_that_lags_has_one_entry_with_its_last_and_its_largest_lag() {
        let mut report = Report::default();
        for (plate, drum) in [(0.1, 0.0), (0.3, 0.2), (0.2, f64::NAN)] {
            report.add_lags([("plate", plate), ("drum", drum)].into_iter());
        }
        let found: Vec<_> = report.lags.iter().map(|l| (l.object.as_str(), l.last_m, l.max_m)).collect();
        assert_eq!(found, [("plate", 0.2, 0.3), ("drum", 0.0, 0.2)]);
    }

    #[test]
    fn fields_of_a_later_version_are_passed_over() {
        let report = Report::parse(br#"{"littoral": "9.0", "frames": 3, "moons": {"count": 2}}"#).unwrap();
        assert_eq!((report.littoral.as_str(), report.frames), ("9.0", 3));
    }

    #[test]
    fn equal_warnings_are_counted_not_repeated() {
        let mut report = Report::default();
        report.warn("lag", 1, "a");
        report.warn("lag", 2, "a");
        report.warn("lag", 1, "b");
        assert_eq!(report.warnings.iter().map(|w| w.count).collect::<Vec<_>>(), [3, 1]);
    }
}
