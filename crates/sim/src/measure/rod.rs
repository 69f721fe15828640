//! Numbers about rods: length, sag, tension.

use super::Measure;
use crate::model::{Object, ObjectKind};
use crate::simulation::Simulation;

/// Measures a rod; NaN for anything else.
pub(super) fn measure(sim: &Simulation, object: &Object, what: Measure) -> f64 {
    let (Some(rods), ObjectKind::Rod) = (sim.rods(), object.kind) else { return f64::NAN };
    let (x, range) = (&sim.state().x, object.range());
    let chains = rods.chains.iter().filter(|c| range.contains(&(c.points[0] as usize)));
    let lengths = chains.flat_map(|chain| {
        chain.segments.iter().enumerate().map(|(k, s)| {
            let [a, b] = chain.at(k, x);
            (a.distance(b), s)
        })
    });
    match what {
        Measure::Length => lengths.map(|(l, _)| l).sum(),
        Measure::Tension => {
            lengths.map(|(l, s)| s.along * (l / s.length - 1.0)).fold(f64::NEG_INFINITY, f64::max)
        }
        Measure::Sag => {
            let lowest = range.clone().map(|p| x[p].z).fold(f64::INFINITY, f64::min);
            x[range.start].z.min(x[range.end - 1].z) - lowest
        }
        _ => f64::NAN,
    }
}
