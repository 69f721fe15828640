//! Every scene that compares with a closed form or a measurement: expected, found, and by how much it misses.

use super::table::Row;
use super::{Cell, Table, advance};
use crate::expectations::measure;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::source::load_named;
use crate::tally::Tally;
use littoral_io::report::Expectation;
use littoral_io::scene::{Seen, shipped};

/// Folder of these scenes.
const FOLDER: &str = "validation/";

/// The table of one scene, or of all that validate; and what to end with where something was missed.
pub fn validate(
    scene: Option<&str>,
    sets: &[String],
    quiet: bool,
) -> Result<(Vec<Table>, Option<Failure>), Failure> {
    let names: Vec<&str> = match scene {
        Some(name) => vec![name],
        None => shipped().iter().map(|(name, _)| *name).filter(|name| name.starts_with(FOLDER)).collect(),
    };
    let progress = Progress::new(quiet);
    let (mut rows, mut unheld) = (Vec::new(), Vec::new());
    for (k, name) in names.iter().enumerate() {
        progress.note(&format!("{} of {}: {name}", k + 1, names.len()));
        let (found, held) = run(name, sets)?;
        rows.extend(found);
        if !held {
            unheld.push(*name);
        }
    }
    let missed = rows.iter().filter(|(_, cells)| cells.contains(&Cell::Verdict(false))).count();
    let missed_of = format!("{missed} of {} missed", rows.len());
    let (held, failure) = if unheld.is_empty() {
        let failure = (missed > 0).then(|| Failure::Expectation(missed_of.clone()));
        ("The guarantee held in every frame.".to_owned(), failure)
    } else {
        let text = format!("the guarantee did not hold in {}", unheld.join(", "));
        (text.clone(), Some(Failure::Guarantee(text)))
    };
    let table = Table {
        title: format!("Expected and found: {missed_of}"),
        columns: vec![("at least", 4), ("found", 4), ("at most", 4), ("beyond %", 2), ("met", 0)],
        rows,
        notes: vec![
            held,
            "In the units of each scene; beyond: how far outside of its bounds, as a share of the nearer one.".into(),
        ],
    };
    Ok((vec![table], failure))
}

/// Runs a scene to its end: what it expected, and whether the guarantee held.
fn run(name: &str, sets: &[String]) -> Result<(Vec<Row>, bool), Failure> {
    let mut scene = load_named(name, sets)?;
    if scene.expectations.is_empty() {
        return Err(Failure::Input(format!("\"{name}\" expects nothing: give it [[expect]] tables")));
    }
    let mut tally = Tally::begin(&scene.sim.judge());
    let mut told = vec![Expectation::default(); scene.expectations.len()];
    let (frames, mut seen) = (scene.frames, Seen::default());
    for frame in 1..=frames {
        advance(&mut scene, frame..=frame, |scene, _, report| {
            seen.step(&report);
            tally.step(&report);
            let is_over = scene.pace.has_reached(&scene.sim, frames);
            measure(scene, &seen, is_over, &mut told);
        });
        tally.judge(&scene.sim.judge());
    }
    let rows = scene.expectations.iter().zip(&told).map(|(e, told)| {
        let when = e.time.map_or(String::new(), |t| format!(" at {t} s"));
        let title = format!("{name}: {} of {}{when}", e.measure.key(), e.object);
        let cells = [
            e.at_least.into(),
            told.found.into(),
            e.at_most.into(),
            beyond(told.found, e.at_least, e.at_most),
        ];
        let met = told.met.map_or(Cell::Empty, Cell::Verdict);
        (title, cells.into_iter().chain([met]).collect())
    });
    Ok((rows.collect(), tally.certificate.held))
}

/// How far a number is outside of its bounds, over the bound [%]; zero inside, nothing beside a bound of zero.
fn beyond(found: Option<f64>, at_least: Option<f64>, at_most: Option<f64>) -> Cell {
    let Some(found) = found else { return Cell::Empty };
    let outside = |bound: Option<f64>, sign: f64| bound.filter(|b| sign * (found - b) > 0.0);
    match outside(at_least, -1.0).or(outside(at_most, 1.0)) {
        None => Cell::Number(0.0),
        Some(bound) => Cell::from(100.0 * ((found - bound) / bound).abs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_beyond_the_bound_that_it_misses() {
        assert_eq!(beyond(Some(1.0), Some(0.5), Some(2.0)), Cell::Number(0.0));
        assert_eq!(
            beyond(Some(0.4), Some(0.5), Some(2.0)),
            Cell::Number(100.0 * ((0.4 - 0.5) / 0.5_f64).abs())
        );
        assert_eq!(beyond(Some(3.0), None, Some(2.0)), Cell::Number(50.0));
        assert_eq!(beyond(Some(1.0), None, Some(0.0)), Cell::Empty);
        assert_eq!(beyond(None, Some(0.5), None), Cell::Empty);
    }
}
