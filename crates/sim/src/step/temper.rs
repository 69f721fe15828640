//! The initial guess, held back where it would feed energy in.

use crate::solver::rod::RodDescent;
use crate::system::System;
use littoral_geom::math::Vec3;

/// Shares of the initial guess that are tried where the whole of it raises the objective.
const GUESS_SHARES: [f64; 3] = [0.6, 0.3, 0.1];

/// Scales the guess `wanted` [m], from the positions `x` [m] with the inertial targets `y` [m], of each component back where following it would cost more elastic energy than it gains:
/// the start of the sweeps then never has a higher objective than standing still, so that an unfinished solve
/// cannot feed energy in.
pub(super) fn temper(
    system: &System,
    rods: &RodDescent,
    (x, y, held): (&[Vec3], &[Vec3], &[bool]),
    h: f64,
    wanted: &mut [Vec3],
) {
    // What is tied together is judged together.
    let component = &system.bonded;
    let count = system.geometry.prescribed.len();
    let mut trial = vec![Vec3::ZERO; x.len()];
    let mut objective = |share: f64, sums: &mut Vec<f64>| {
        sums.clear();
        sums.resize(count, 0.0);
        for v in 0..x.len() {
            let s = if held[v] { 1.0 } else { share };
            trial[v] = x[v] + s * wanted[v];
            if !held[v] {
                let inertia = 0.5 * system.mass[v] / (h * h) * (trial[v] - y[v]).length_squared();
                sums[component[v] as usize] += inertia;
            }
        }
        system.elastic.value_by_component(&trial, component, sums);
        for chamber in &system.chambers {
            let group = component[chamber.point() as usize] as usize;
            sums[group] += chamber.law(chamber.volume(&trial)).energy;
        }
        if let Some(all) = &system.rods {
            rods.add_energies(all, &trial, component, sums);
        }
    };
    let (mut still, mut full) = (Vec::new(), Vec::new());
    objective(0.0, &mut still);
    objective(1.0, &mut full);
    // Not a number counts as worse.
    let worse = |g: f64, than: f64| g.is_nan() || g > than;
    let mut best: Vec<(f64, f64)> = full.iter().map(|g| (*g, 1.0)).collect();
    if full.iter().zip(&still).any(|(g, g0)| worse(*g, *g0)) {
        best = still
            .iter()
            .zip(&full)
            .map(|(g0, g)| if worse(*g, *g0) { (*g0, 0.0) } else { (*g, 1.0) })
            .collect();
        let mut sums = Vec::new();
        for share in GUESS_SHARES {
            objective(share, &mut sums);
            for (b, g) in best.iter_mut().zip(&sums) {
                // Components whose whole guess was good keep it.
                if b.1 < 1.0 && *g < b.0 {
                    *b = (*g, share);
                }
            }
        }
    }
    for v in 0..x.len() {
        if !held[v] {
            wanted[v] *= best[component[v] as usize].1;
        }
    }
}
