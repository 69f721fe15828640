//! How much of a motion each truncation leaves in soups of disjoint triangles [Chen 2026, Table 2].

use super::{Cell, Table};
use littoral_geom::random::Random;
use littoral_sim::soup::{Comparison, Motion, Soup, compare};

/// Displacements tried on one soup.
const PER_SOUP: u32 = 10;

/// Displacements tried unless told otherwise; the paper tries 1000.
const TRIALS: u32 = 20;

/// Number and edge [m] of the triangles in a unit cube.
const SOUPS: [(usize, f64); 2] = [(2500, 0.1), (3000, 0.05)];

/// Length of a displacement [m], and the relaxation of the published comparison.
const DISPLACEMENT: f64 = 0.01;
const RELAXATION: f64 = 0.85;

/// The table, each row the mean of so many displacements.
pub fn truncation(trials: Option<u32>) -> Vec<Table> {
    let trials = trials.unwrap_or(TRIALS);
    let motions = [(Motion::Linear, "each point"), (Motion::RotationAndTranslation, "turn and shift")];
    let mut rows = Vec::new();
    for (count, size) in SOUPS {
        for (motion, name) in motions {
            rows.push((format!("{count} of {size} m, {name}"), cells(&mean(count, size, motion, trials))));
        }
    }
    vec![Table {
        title: format!("Truncation in soups of triangles, displaced by {DISPLACEMENT} m, {trials} times each"),
        columns: vec![
            ("planar/isotropic", 2),
            ("median", 2),
            ("planar/CCD", 0),
            ("water-filling %", 1),
            ("planar %", 1),
            ("isotropic %", 1),
            ("CCD %", 2),
            ("crossings", 0),
        ],
        rows,
        notes: vec![
            "Planar over isotropic: the mean over points, and the median. Then the share of the displacement that is kept, with \
             planes where both sides need them (water-filling, our default), proportional planes, spheres, and one step for all. \
             Published: 2.22 and more than 100; a point that spheres all but freeze weighs much in a mean."
                .into(),
        ],
    }]
}

/// The mean of all trials; crossings are counted.
fn mean(count: usize, size: f64, motion: Motion, trials: u32) -> Comparison {
    let mut mean = Comparison::default();
    let share = 1.0 / f64::from(trials);
    let (mut random, mut soup) = (Random::new(0), None);
    for trial in 0..trials {
        if trial % PER_SOUP == 0 {
            // The same soups for every motion.
            random = Random::new(u64::from(trial / PER_SOUP));
            soup = Some(Soup::new(count, size, &mut random));
        }
        let Some(soup) = &soup else { continue };
        let c = compare(soup, &soup.wanted(motion, DISPLACEMENT, &mut random), RELAXATION);
        mean.planar_over_isotropic += share * c.planar_over_isotropic;
        mean.median += share * c.median;
        mean.planar_over_ccd += share * c.planar_over_ccd;
        mean.kept.iter_mut().zip(c.kept).for_each(|(m, k)| *m += share * k);
        mean.crossings += c.crossings;
    }
    mean
}

fn cells(c: &Comparison) -> Vec<Cell> {
    let ratios = [c.planar_over_isotropic, c.median, c.planar_over_ccd];
    let kept = c.kept.map(|k| 100.0 * k);
    let all = ratios.into_iter().chain(kept).chain([c.crossings as f64]);
    all.map(Cell::from).collect()
}
