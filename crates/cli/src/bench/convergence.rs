//! How fast the sweeps of one step converge under each truncation [Chen 2026, Fig. 16].

use super::{Cell, Table, advance, timed};
use crate::failure::Failure;
use crate::source::load_named;
use littoral_geom::math::Vec3;

/// Scene that is run unless another is named: a sheet that is wound up until it lies on itself. As in the paper, but for the step in which
/// it is let go, which would take ten minutes.
const SCENE: &str = "cloth-twist";

/// Frame whose first step is looked at, unless another is named.
const FRAME: u64 = 144;

/// Sweeps that the solution of the step is made with.
const SOLUTION: u32 = 400;

const SWEEPS: [u32; 7] = [1, 2, 5, 10, 20, 50, 100];
const COLUMNS: [&str; 7] = ["1", "2", "5", "10", "20", "50", "100"];

/// What keeps surfaces apart; the first makes the solution.
const WAYS: [&str; 5] = ["planar", "slide", "project", "isotropic", "ccd"];

/// Two tables: the distance from the solution after so many sweeps, and what they cost.
pub fn convergence(scene: Option<&str>, frame: Option<u64>, sets: &[String]) -> Result<Vec<Table>, Failure> {
    let (name, frame) = (scene.unwrap_or(SCENE), frame.unwrap_or(FRAME));
    let mut start = load_named(name, sets)?;
    if !start.sim.particles().is_empty() {
        let what = format!(
            "\"{name}\" holds a fluid, whose solve has no sweeps; try cloth-stack, pinch or soft-drop"
        );
        return Err(Failure::Input(what));
    }
    let frame = frame.min(start.frames);
    advance(&mut start, 1..=frame, |_, _, _| ());
    let state = start.sim.state().clone();
    let h = start.pace.next_step(&start.sim, frame + 1);
    let step = |way: &str, sweeps: u32| -> Result<(f64, Vec<Vec3>), Failure> {
        let keys = [format!("solver.truncation={way}"), format!("solver.iterations={sweeps}")];
        let mut scene = load_named(name, &[sets, &keys].concat())?;
        scene.sim.restore(state.clone());
        let (cpu, _) = timed(|| scene.sim.step(h));
        Ok((cpu, scene.sim.state().x.clone()))
    };
    let (_, solution) = step(WAYS[0], SOLUTION)?;
    let moving: Vec<usize> = (0..solution.len()).filter(|&v| start.sim.mass()[v] > 0.0).collect();
    let distance = |x: &[Vec3]| {
        let sum: f64 = moving.iter().map(|&v| x[v].distance_squared(solution[v])).sum();
        (sum / moving.len() as f64).sqrt()
    };
    let (mut errors, mut costs) = (Vec::new(), Vec::new());
    errors.push(("not moved at all".into(), SWEEPS.map(|_| Cell::from(1e3 * distance(&state.x))).to_vec()));
    for way in WAYS {
        let (mut error, mut cost) = (Vec::new(), Vec::new());
        for sweeps in SWEEPS {
            let (cpu, x) = step(way, sweeps)?;
            error.push(Cell::from(1e3 * distance(&x)));
            cost.push(Cell::from(1e3 * cpu));
        }
        errors.push((way.to_owned(), error));
        costs.push((way.to_owned(), cost));
    }
    let columns = |digits| COLUMNS.map(|c| (c, digits)).to_vec();
    let which = format!("{name}, {} moving points, the step of {h:.2e} s after frame {frame}", moving.len());
    Ok(vec![
        Table {
            title: format!("Distance from the solution after so many sweeps [mm]: {which}"),
            columns: columns(5),
            rows: errors,
            notes: vec![format!(
                "Root mean square over points; the solution is that of {SOLUTION} sweeps with planes."
            )],
        },
        Table {
            title: "Processor time of that step [ms]".into(),
            columns: columns(1),
            rows: costs,
            notes: Vec::new(),
        },
    ])
}
