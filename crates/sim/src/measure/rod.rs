//! Numbers about rods: length, sag, tension, and how much of them is in a fluid.

use super::Measure;
use crate::model::{Object, ObjectKind};
use crate::simulation::Simulation;
use littoral_geom::distance::closest_point_edge;
use littoral_geom::math::Aabb;

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

/// Number of segments of rods that have a particle nearer to their surface than half a spacing, where the splitting is one
/// in which the fluid flows through rods without feeling them.
pub fn segments_in_fluid(sim: &Simulation) -> usize {
    let Some(spacing) = sim.spacing().filter(|_| !sim.fluid_moves_rods()) else { return 0 };
    let x = &sim.state().x;
    let mut wet = 0;
    for (number, rod) in sim.objects().iter().enumerate().filter(|(_, o)| o.kind == ObjectKind::Rod) {
        let reach = sim.contact_offset(number) + 0.5 * spacing;
        let around = Aabb::of(x[rod.range()].iter().copied()).inflated(reach);
        let fluids = sim.objects().iter().filter(|o| o.kind == ObjectKind::Fluid).flat_map(Object::range);
        let near: Vec<usize> =
            fluids.filter(|&v| sim.is_present(v) && around.overlaps(&Aabb::point(x[v]))).collect();
        let own = sim.rod_segments().iter().filter(|s| rod.range().contains(&(s[0] as usize)));
        wet += own
            .filter(|s| {
                let [a, b] = s.map(|v| x[v as usize]);
                near.iter().any(|&p| closest_point_edge(x[p], a, b).distance_sq < reach * reach)
            })
            .count();
    }
    wet
}
