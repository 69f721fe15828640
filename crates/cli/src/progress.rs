//! Progress on standard error: a live line on a terminal, a plain line a frame elsewhere, nothing when quiet.

use crate::answer::{duration, length};
use crate::failure::use_colour;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// The live line is redrawn at most this often: fast enough to look alive, too slow to cost anything.
const REDRAW: Duration = Duration::from_millis(100);

/// Where a run is.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// Frames done.
    pub frame: u64,
    /// Frames to do.
    pub frames: u64,
    /// Share of all steps done, in [0, 1].
    pub done: f64,
    /// Simulated time [s].
    pub time: f64,
    /// Wall time left [s], judged by the pace so far.
    pub left: f64,
    /// Contacts of the last step.
    pub contacts: u32,
    /// Smallest gap of the last step [m].
    pub min_gap: Option<f64>,
    /// New crossings so far.
    pub crossings: u64,
    /// Relative error of the fluid's volume in the last step; `None` without fluid.
    pub volume_error: Option<f64>,
    /// Leaked particles so far.
    pub leaked: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Quiet,
    Plain,
    Live,
}

/// The voice of a run.
#[derive(Debug)]
pub struct Progress {
    mode: Mode,
    colour: bool,
    drawn: Option<Instant>,
}

impl Progress {
    /// Chooses how to speak.
    pub fn new(quiet: bool) -> Progress {
        let mode = match quiet {
            true => Mode::Quiet,
            false if std::io::stderr().is_terminal() => Mode::Live,
            false => Mode::Plain,
        };
        Progress { mode, colour: use_colour(), drawn: None }
    }

    /// After each step: keeps the live line alive.
    pub fn step(&mut self, status: &Status) {
        if self.mode == Mode::Live && self.drawn.is_none_or(|t| t.elapsed() >= REDRAW) {
            self.draw(status);
        }
    }

    /// After each frame.
    pub fn frame(&mut self, status: &Status) {
        match self.mode {
            Mode::Quiet => {}
            Mode::Plain => say(&format!("{}\n", plain_line(status))),
            Mode::Live => self.draw(status),
        }
    }

    /// A line of its own, where nothing is drawn.
    pub fn note(&self, text: &str) {
        if self.mode != Mode::Quiet {
            say(&format!("{text}\n"));
        }
    }

    /// A warning, above the live line.
    pub fn warn(&mut self, text: &str) {
        let (bold, plain) = if self.colour { ("\x1b[1;33m", "\x1b[0m") } else { ("", "") };
        match self.mode {
            Mode::Quiet => {}
            Mode::Plain => say(&format!("warning: {text}\n")),
            Mode::Live => say(&format!("\r\x1b[K{bold}warning{plain}: {text}\n")),
        }
    }

    /// Ends the live line.
    pub fn end(&mut self) {
        if self.mode == Mode::Live && self.drawn.take().is_some() {
            say("\n");
        }
    }

    fn draw(&mut self, status: &Status) {
        self.drawn = Some(Instant::now());
        let (accent, plain) = if self.colour { ("\x1b[36m", "\x1b[0m") } else { ("", "") };
        say(&format!("\r\x1b[K{accent}{}{plain} {}", bar(status.done), live_line(status)));
    }
}

/// Progress that nobody can read is no reason to stop.
fn say(text: &str) {
    let mut err = std::io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

fn bar(done: f64) -> String {
    const WIDTH: usize = 12;
    let full = ((done * WIDTH as f64) as usize).min(WIDTH);
    format!("{}{}", "━".repeat(full), "·".repeat(WIDTH - full))
}

fn live_line(s: &Status) -> String {
    let gap = s.min_gap.map(|gap| format!(" · gap {}", length(gap))).unwrap_or_default();
    let crossings = if s.crossings > 0 { format!(" · {} CROSSINGS", s.crossings) } else { String::new() };
    let volume = s.volume_error.map(|e| format!(" · volume {:+.1} %", 100.0 * e)).unwrap_or_default();
    let leaked = if s.leaked > 0 { format!(" · {} LEAKED", s.leaked) } else { String::new() };
    format!(
        "frame {}/{} · {} left · {} contacts{gap}{volume}{crossings}{leaked}",
        s.frame,
        s.frames,
        duration(s.left),
        s.contacts
    )
}

fn plain_line(s: &Status) -> String {
    let gap = s.min_gap.map(|gap| format!(" min_gap_m={gap:.3e}")).unwrap_or_default();
    let fluid = s.volume_error.map(|e| format!(" volume_error={e:.3e} particles_leaked={}", s.leaked));
    let fluid = fluid.unwrap_or_default();
    format!(
        "frame {}/{} time_s={:.4} left_s={:.1} contacts={}{gap} intersections_new={}{fluid}",
        s.frame, s.frames, s.time, s.left, s.contacts, s.crossings
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_say_what_is_known_and_leave_out_what_is_not() {
        let mut status =
            Status { frame: 3, frames: 96, done: 0.5, left: 65.0, contacts: 7, ..Status::default() };
        assert_eq!(live_line(&status), "frame 3/96 · 1:05 left · 7 contacts");
        assert_eq!(
            plain_line(&status),
            "frame 3/96 time_s=0.0000 left_s=65.0 contacts=7 intersections_new=0"
        );
        status.min_gap = Some(2.1e-4);
        status.crossings = 2;
        assert_eq!(live_line(&status), "frame 3/96 · 1:05 left · 7 contacts · gap 210 µm · 2 CROSSINGS");
        assert!(plain_line(&status).ends_with("min_gap_m=2.100e-4 intersections_new=2"));
        let wet = Status { volume_error: Some(-0.004), leaked: 1, ..status.clone() };
        assert!(live_line(&wet).ends_with("gap 210 µm · volume -0.4 % · 2 CROSSINGS · 1 LEAKED"));
        assert!(plain_line(&wet).ends_with(" volume_error=-4.000e-3 particles_leaked=1"));
        assert_eq!([bar(0.0), bar(0.5), bar(1.0)], ["············", "━━━━━━······", "━━━━━━━━━━━━"]);
    }
}
