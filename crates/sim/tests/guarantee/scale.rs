//! Lengths have no natural unit: nothing depends on whether they are metres or millimetres.

use crate::play::{Ask, Game, Rules, SAFE, predict};
use crate::scenes::{KINDS, Kind, Scene, scene};
use littoral_geom::math::Vec3;
use littoral_geom::random::Random;
use littoral_sim::settings::Truncation;

/// The same game with all lengths times `s`: accepted displacements of both applications and final positions.
fn trace(scene: &Scene, rules: Rules, seed: u64, s: f64) -> Vec<Vec3> {
    // Every random length is drawn at unit size, then scaled.
    let unit = Game::new(scene.clone(), rules);
    let mut r = Random::new(seed);
    let (wanted, margin) = predict(&unit, &mut r);
    let mut g = Game::new(scene.clone().scaled(s, Vec3::ZERO), rules);
    let scaled = |v: &[Vec3]| v.iter().map(|p| s * *p).collect::<Vec<_>>();
    let margin: Vec<f64> = margin.iter().map(|m| s * m).collect();
    let mut out = Vec::new();
    for _ in 0..2 {
        g.detect(&scaled(&wanted), &margin, s * 0.5 * scene.gap);
        for _ in 0..2 {
            let targets: Vec<Vec3> = scene.x.iter().map(|_| r.in_cube(2.0)).collect();
            let moved: Vec<u32> = (0..g.points() as u32).filter(|_| r.chance(0.7)).collect();
            let proposals = g.dx.edit();
            for &v in &moved {
                proposals[v as usize] = s * targets[v as usize];
            }
            let ask = Ask { keep: s * 0.1 * scene.gap, ..Ask::of(moved) };
            g.apply(&ask, None).unwrap_or_else(|e| panic!("seed {seed}, {rules:?}, scale {s}: {e}"));
            out.extend(g.dx.accepted());
        }
        g.commit().unwrap_or_else(|e| panic!("seed {seed}, {rules:?}, scale {s}: {e}"));
    }
    out.extend(g.x.as_slice());
    out
}

#[test]
fn scaling_by_powers_of_two_scales_the_result_to_the_bit() {
    for seed in 0..400 {
        let mut r = Random::new(seed);
        let (truncation, split) = SAFE[seed as usize % SAFE.len()];
        let rules = Rules { truncation, split, gamma: 0.85 };
        let scene = scene(KINDS[r.below(KINDS.len())], &mut r);
        let unit = trace(&scene, rules, seed, 1.0);
        for s in [2.0_f64.powi(-10), 2.0_f64.powi(10)] {
            let back: Vec<Vec3> = trace(&scene, rules, seed, s).iter().map(|p| *p / s).collect();
            assert_eq!(back, unit, "seed {seed}, {rules:?}, scale {s}");
        }
    }
}

#[test]
fn metres_and_millimetres_differ_by_rounding_only() {
    for seed in 0..200 {
        let mut r = Random::new(seed);
        let (truncation, split) = SAFE[seed as usize % SAFE.len()];
        let rules = Rules { truncation, split, gamma: 0.85 };
        // In general position: which of several equally near points is taken may hang on a rounding error.
        let kind = [Kind::Soup, Kind::Crumpled, Kind::Tets][r.below(3)];
        let scene = scene(kind, &mut r);
        if matches!(rules.truncation, Truncation::Project | Truncation::Slide) {
            // Both take the planes of a point in the order of their gaps, a fixed number of times; gaps that the first
            // round left at `keep` are equal but for rounding.
            continue;
        }
        let unit = trace(&scene, rules, seed, 1.0);
        for (a, b) in trace(&scene, rules, seed, 1e3).iter().zip(&unit) {
            // Two rounds of divisions by gaps of 1e-4 and more.
            assert!((*a / 1e3).distance(*b) <= 1e-10, "seed {seed}, {kind:?}, {rules:?}: {a} and {b}");
        }
    }
}
