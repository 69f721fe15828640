//! A run: steps, judges, writes frames, and can stop after any step and go on later as if it had not.

use crate::expectations;
use crate::failure::Failure;
use crate::interrupt;
use crate::process;
use crate::progress::{Progress, Status};
use crate::source::LoadedScene;
use crate::tally::Tally;
use littoral_io::checkpoint::{Checkpoint, fingerprint};
use littoral_io::report::{Counts, Expectation, Report};
use littoral_io::run_folder::RunFolder;
use littoral_io::scene::Seen;
use littoral_io::stats::StatsWriter;
use littoral_sim::measure::segments_in_fluid;
use littoral_sim::report::{StepReport, Verdict};
use std::time::{Duration, Instant};

/// A killed run loses at most this much work. Writing costs about as much as a frame, so every few seconds is cheap.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(2);

/// Code of the warning that an emitter was blocked.
const BLOCKED: &str = "emitter-blocked";

/// Code of the warning that a rod is in a fluid.
const ROD_IN_FLUID: &str = "fluid-rod";

/// What is asked of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Frames to reach.
    pub frames: u64,
    /// Judge every committed step.
    pub strict: bool,
    /// Threads in use, for the report.
    pub threads: usize,
    /// When the program began.
    pub started: Instant,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All frames are written.
    Complete,
    /// A signal came; the state is saved.
    Interrupted,
    /// A position is not a finite number: there is nothing to go on from.
    NotFinite,
}

/// A run in progress.
pub struct Session {
    scene: LoadedScene,
    folder: RunFolder,
    plan: Plan,
    progress: Progress,
    fingerprint: u32,
    report: Report,
    tally: Tally,
    stats: StatsWriter,
    wall_before: f64,
    cpu_before: Option<f64>,
    /// Frames done.
    frame: u64,
    /// Frames done when this part of the run began, with what was done of the next.
    first_progress: f64,
    saved: Instant,
}

impl Session {
    /// Begins a run in an empty folder; `verdict` is the referee's on the initial state.
    pub fn begin(
        scene: LoadedScene,
        verdict: &Verdict,
        folder: RunFolder,
        plan: Plan,
        progress: Progress,
    ) -> Result<Session, Failure> {
        let tally = Tally::begin(verdict);
        let mut report = Report {
            littoral: env!("CARGO_PKG_VERSION").into(),
            scene: scene.title.clone(),
            counts: counts_of(&scene),
            seed: scene.seed,
            warnings: scene.warnings.clone(),
            expectations: (scene.expectations.iter())
                .map(|e| Expectation { text: e.to_string(), ..Expectation::default() })
                .collect(),
            ..Report::default()
        };
        report.phases_s.referee = verdict.seconds;
        folder.write_scene(&scene.toml)?;
        folder.write_topology(&scene.sim)?;
        folder.write_frame(0, &scene.sim, present(&scene).as_deref())?;
        let stats = StatsWriter::open(&folder.stats_path(), None)?;
        let mut session = Session {
            fingerprint: fingerprint(&scene.sim),
            scene,
            folder,
            plan,
            progress,
            report,
            tally,
            stats,
            wall_before: 0.0,
            cpu_before: Some(0.0),
            frame: 0,
            first_progress: 0.0,
            saved: Instant::now(),
        };
        session.measure_expectations(None);
        for warning in &session.report.warnings {
            session.progress.warn(&warning.text);
        }
        session.write_report(false)?;
        Ok(session)
    }

    /// Goes on from a checkpoint of the same scene.
    pub fn resume(
        mut scene: LoadedScene,
        checkpoint: Checkpoint,
        folder: RunFolder,
        plan: Plan,
        progress: Progress,
    ) -> Result<Session, Failure> {
        let fingerprint = fingerprint(&scene.sim);
        let same_size = checkpoint.snapshot.x.len() == scene.sim.state().x.len();
        if fingerprint != checkpoint.fingerprint || !same_size {
            return Err(Failure::Input(format!(
                "the checkpoint in {} belongs to other meshes than {} now describes: were mesh files changed since? \
                 Start anew in another folder",
                folder.checkpoint_path().display(),
                folder.scene_path().display()
            )));
        }
        let stats = StatsWriter::open(&folder.stats_path(), Some(checkpoint.snapshot.step))?;
        scene.sim.restore(checkpoint.snapshot);
        let report = checkpoint.report;
        Ok(Session {
            frame: report.frames,
            first_progress: scene.pace.progress(&scene.sim),
            wall_before: report.wall_s,
            cpu_before: report.cpu_s,
            tally: Tally {
                certificate: report.certificate.clone(),
                crossings: checkpoint.crossings,
                entangled: scene.sim.judge().entangled,
                inverted: checkpoint.inverted,
            },
            scene,
            folder,
            plan,
            progress,
            fingerprint,
            report,
            stats,
            saved: Instant::now(),
        })
    }

    /// Tells the user and the report.
    pub fn warn(&mut self, code: &str, count: u64, text: &str) {
        self.progress.warn(text);
        self.report.warn(code, count, text);
    }

    /// The report so far.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Steps until the last frame is written or something ends the run.
    pub fn run(&mut self) -> Result<Ending, Failure> {
        let mut ending = Ending::Complete;
        while self.frame < self.plan.frames {
            if interrupt::requested() {
                ending = Ending::Interrupted;
                break;
            }
            let h = self.scene.pace.next_step(&self.scene.sim, self.frame + 1);
            let last = self.scene.sim.step(h);
            self.tally.step(&last);
            self.add_phases(&last);
            self.add_effort(&last);
            self.note_blocked(&last);
            let step = self.step_number();
            let frame_done = self.scene.pace.has_reached(&self.scene.sim, self.frame + 1);
            self.frame += u64::from(frame_done);
            self.measure_expectations(Some(&last));
            let referee = if self.plan.strict || frame_done { Some(self.judge()) } else { None };
            self.stats.row(step, &last, referee)?;
            if frame_done {
                self.note_rods_in_fluid();
                self.write_frame(self.frame)?;
                self.progress.frame(&self.status(&last));
            } else {
                self.progress.step(&self.status(&last));
            }
            if self.tally.certificate.non_finite > 0 {
                ending = Ending::NotFinite;
                break;
            }
        }
        self.progress.end();
        self.stats.flush()?;
        if ending != Ending::NotFinite {
            self.write_checkpoint()?;
        }
        self.write_report(ending == Ending::Complete)?;
        Ok(ending)
    }

    fn step_number(&self) -> u64 {
        self.scene.sim.state().step
    }

    /// Judges the current state; returns the wall time it took [s].
    fn judge(&mut self) -> f64 {
        let verdict = self.scene.sim.judge();
        let before = self.tally.certificate.clone();
        let new = self.tally.judge(&verdict);
        self.report.phases_s.referee += verdict.seconds;
        let now = &self.tally.certificate;
        let inverted = now.inverted_elements - before.inverted_elements;
        let step = self.step_number();
        // The first of each kind is told at once; the report counts all.
        if new > 0 && before.intersections_new == 0 {
            self.progress.warn(&format!("step {step}: {new} new crossings"));
        }
        if inverted > 0 && before.inverted_elements == 0 {
            self.progress.warn(&format!("step {step}: {inverted} inverted elements"));
        }
        verdict.seconds
    }

    /// Measures what the scene expects of this very step. What it expects of its end it expects of its own end, not of where
    /// `--frames` stops it.
    fn measure_expectations(&mut self, last: Option<&StepReport>) {
        let mut seen = Seen::default();
        if let Some(last) = last {
            seen.step(last);
        }
        seen.leaked = self.tally.certificate.particles_leaked.unwrap_or(0);
        seen.rods_passed = self.tally.certificate.rods_passed.unwrap_or(0);
        let is_over = self.frame >= self.scene.frames;
        expectations::measure(&self.scene, &seen, is_over, &mut self.report.expectations);
    }

    fn add_phases(&mut self, step: &StepReport) {
        let sum = &mut self.report.phases_s;
        sum.detect += step.phases.detect;
        sum.forces += step.phases.forces;
        sum.truncate += step.phases.truncate;
        sum.solve += step.phases.solve;
        if step.fluid.is_some() {
            sum.fluid = Some(sum.fluid.unwrap_or(0.0) + step.phases.fluid);
        }
        if step.fluid.is_some() || step.rods.is_some() {
            sum.referee += step.phases.referee;
        }
    }

    /// Adds what the step did, and who is late.
    fn add_effort(&mut self, step: &StepReport) {
        let sim = &self.scene.sim;
        let budgeted = sim.settings().budget.is_some();
        self.report.effort.get_or_insert_default().add(step, budgeted);
        let lags = step.lags.iter().map(|l| (sim.objects()[l.object as usize].name.as_str(), l.lag));
        self.report.add_lags(lags);
    }

    /// Counts particles that an emitter held back; says so the first time.
    fn note_blocked(&mut self, step: &StepReport) {
        let blocked = step.fluid.map_or(0, |f| f.blocked);
        if blocked == 0 {
            return;
        }
        let text = format!(
            "the emitter of \"{}\" left particles out because something was in the way",
            self.scene.emitting.join("\" or \"")
        );
        if !self.report.warnings.iter().any(|w| w.code == BLOCKED) {
            self.progress.warn(&text);
        }
        self.report.warn(BLOCKED, u64::from(blocked), &text);
    }

    /// Counts segments of rods that a fluid flows through, frame by frame; says so the first time.
    fn note_rods_in_fluid(&mut self) {
        let wet = segments_in_fluid(&self.scene.sim);
        if wet == 0 {
            return;
        }
        let text = "a rod is in a fluid, which does not feel rods with this splitting: it flows through and does not move \
                    them; \"proxy\" is one with which it does";
        if !self.report.warnings.iter().any(|w| w.code == ROD_IN_FLUID) {
            self.progress.warn(text);
        }
        self.report.warn(ROD_IN_FLUID, wet as u64, text);
    }

    /// A frame and all that follows it: the table, the report, and a checkpoint if the last one is old.
    fn write_frame(&mut self, frame: u64) -> Result<(), Failure> {
        let began = Instant::now();
        self.folder.write_frame(frame, &self.scene.sim, present(&self.scene).as_deref())?;
        self.stats.flush()?;
        self.report.phases_s.write += began.elapsed().as_secs_f64();
        if self.saved.elapsed() >= CHECKPOINT_EVERY {
            self.write_checkpoint()?;
        }
        self.write_report(false)
    }

    fn write_checkpoint(&mut self) -> Result<(), Failure> {
        let began = Instant::now();
        self.refresh_report();
        let checkpoint = Checkpoint {
            fingerprint: self.fingerprint,
            snapshot: self.scene.sim.state().clone(),
            report: self.report.clone(),
            crossings: self.tally.crossings.clone(),
            inverted: self.tally.inverted.clone(),
        };
        checkpoint.write(&self.folder.checkpoint_path())?;
        self.saved = Instant::now();
        self.report.phases_s.write += began.elapsed().as_secs_f64();
        Ok(())
    }

    fn write_report(&mut self, finished: bool) -> Result<(), Failure> {
        self.refresh_report();
        self.report.finished = finished;
        self.report.write(&self.folder.report_path())?;
        Ok(())
    }

    fn refresh_report(&mut self) {
        let (step, time) = (self.step_number(), self.scene.sim.state().time);
        let report = &mut self.report;
        report.finished = false;
        report.threads = self.plan.threads;
        report.strict = self.plan.strict;
        report.steps = step;
        report.frames = self.frame;
        report.simulated_s = time;
        report.wall_s = self.wall_before + self.plan.started.elapsed().as_secs_f64();
        report.cpu_s = self.cpu_before.zip(process::cpu_seconds()).map(|(before, now)| before + now);
        let peak = process::peak_rss_mb();
        report.peak_rss_mb = peak.map(|now| now.max(report.peak_rss_mb.unwrap_or(0.0)));
        report.certificate = self.tally.certificate.clone();
    }

    fn status(&self, last: &StepReport) -> Status {
        let (done, frames) = (self.scene.pace.progress(&self.scene.sim), self.plan.frames as f64);
        let elapsed = self.plan.started.elapsed().as_secs_f64();
        let gained = done - self.first_progress;
        Status {
            frame: self.frame,
            frames: self.plan.frames,
            done: (done / frames.max(1.0)).min(1.0),
            time: self.scene.sim.state().time,
            left: if gained > 0.0 { elapsed / gained * (frames - done).max(0.0) } else { f64::NAN },
            volume_error: last.fluid.map(|f| f.volume_error),
            leaked: self.tally.certificate.particles_leaked.unwrap_or(0),
            contacts: last.contacts,
            min_gap: last.min_gap,
            crossings: self.tally.certificate.intersections_new,
        }
    }
}

/// Which particles are part of the fluid, where they come or go.
fn present(scene: &LoadedScene) -> Option<Vec<bool>> {
    let sim = &scene.sim;
    scene.particles_vary.then(|| sim.particles().map(|p| sim.is_present(p)).collect())
}

fn counts_of(scene: &LoadedScene) -> Counts {
    let sim = &scene.sim;
    Counts {
        points: sim.state().x.len(),
        triangles: sim.triangles().len(),
        tets: sim.tets().len(),
        rod_segments: sim.rod_segments().len(),
        particles: sim.particles().len(),
        bodies: sim.poses().len(),
    }
}
