//! `stats.csv`: a row a step. An empty cell is a number that was not measured.

use crate::whole_file::{FileError, read_whole, write_whole};
use littoral_sim::report::StepReport;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Names and units of the columns.
pub const COLUMNS: &str = "step,time_s,h_s,iterations,detections,residual_m_per_s,contacts,candidates,min_gap_m,\
    kept_motion,truncated,lag_m,kinetic_j,elastic_j,gravity_j,detect_s,forces_s,truncate_s,solve_s,referee_s,\
    particles,fluid_iterations,fluid_residual,compression_mean,compression_max,volume_error,leaked,blocked,fluid_s";

/// An open table.
#[derive(Debug)]
pub struct StatsWriter {
    path: PathBuf,
    out: BufWriter<File>,
}

impl StatsWriter {
    /// Begins a table, or continues one behind the row of step `after`: later rows, which a killed run left, are cut off.
    pub fn open(path: &Path, after: Option<u64>) -> Result<Self, FileError> {
        let mut text = format!("{COLUMNS}\n");
        if let Some(last) = after {
            let old = String::from_utf8_lossy(&read_whole(path)?).into_owned();
            let step_of = |row: &str| row.split(',').next().and_then(|s| s.parse::<u64>().ok());
            for row in old.lines().skip(1).take_while(|row| step_of(row).is_some_and(|step| step <= last)) {
                text.push_str(row);
                text.push('\n');
            }
        }
        write_whole(path, text.as_bytes())?;
        let file = OpenOptions::new().append(true).open(path).map_err(FileError::at("write", path))?;
        Ok(StatsWriter { path: path.to_path_buf(), out: BufWriter::new(file) })
    }

    /// Adds a row; `referee` is the wall time of judging this step [s], if it was judged.
    pub fn row(&mut self, step: u64, report: &StepReport, referee: Option<f64>) -> Result<(), FileError> {
        let row = row_of(step, report, referee);
        self.out.write_all(row.as_bytes()).map_err(FileError::at("write", &self.path))
    }

    /// Hands all rows to the operating system.
    pub fn flush(&mut self) -> Result<(), FileError> {
        self.out.flush().map_err(FileError::at("write", &self.path))
    }
}

fn row_of(step: u64, r: &StepReport, referee: Option<f64>) -> String {
    let cell = |x: Option<f64>| x.map(|x| format!("{x:e}")).unwrap_or_default();
    let (e, p) = (&r.energies, &r.phases);
    format!(
        "{step},{},{},{},{},{:e},{},{},{},{},{},{:e},{:e},{:e},{:e},{:.6},{:.6},{:.6},{:.6},{},{}\n",
        r.time,
        r.h,
        r.iterations,
        r.detections,
        r.residual,
        r.contacts,
        r.candidates,
        cell(r.min_gap),
        r.kept_motion,
        r.truncated,
        r.lag,
        e.kinetic,
        e.elastic,
        e.gravity,
        p.detect,
        p.forces,
        p.truncate,
        p.solve,
        referee.map(|s| format!("{s:.6}")).unwrap_or_default(),
        fluid_cells(r),
    )
}

/// The cells of the fluid; all empty where there is none.
fn fluid_cells(r: &StepReport) -> String {
    match &r.fluid {
        None => ",".repeat(8),
        Some(f) => format!(
            "{},{},{:e},{:e},{:e},{:e},{},{},{:.6}",
            f.particles,
            f.iterations,
            f.residual,
            f.compression_mean,
            f.compression_max,
            f.volume_error,
            f.leaked,
            f.blocked,
            r.phases.fluid,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use littoral_sim::report::FluidReport;

    #[test]
    fn a_row_has_a_cell_for_every_column_and_leaves_the_unmeasured_empty() {
        let dry = StepReport { time: 0.5, ..StepReport::default() };
        let row = row_of(7, &dry, None);
        let wet = row_of(7, &StepReport { fluid: Some(FluidReport::default()), ..dry }, None);
        for row in [&row, &wet] {
            assert_eq!(row.trim_end().split(',').count(), COLUMNS.split(',').count());
        }
        let at = COLUMNS.split(',').position(|c| c == "min_gap_m").unwrap();
        assert_eq!(row.split(',').nth(at), Some(""));
        assert!(row.ends_with(",,,,,,,,,\n"), "neither judged nor wet: {row}");
    }

    #[test]
    fn a_continued_table_drops_rows_behind_the_checkpoint_and_a_row_cut_short() {
        let path = std::env::temp_dir().join(format!("littoral-stats-{}.csv", std::process::id()));
        let mut table = StatsWriter::open(&path, None).unwrap();
        for step in 1..=5 {
            table.row(step, &StepReport::default(), Some(0.25)).unwrap();
        }
        table.flush().unwrap();
        let whole = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 9]).unwrap();

        let mut table = StatsWriter::open(&path, Some(3)).unwrap();
        for step in 4..=5 {
            table.row(step, &StepReport::default(), Some(0.25)).unwrap();
        }
        table.flush().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), whole);
        std::fs::remove_file(&path).unwrap();
    }
}
