//! What may not be committed, and what a second application must not change.

use crate::play::{Ask, Game, Rules, SAFE};
use crate::scenes::{KINDS, Part, Scene, assemble, scene};
use littoral_geom::math::Vec3;
use littoral_geom::random::Random;
use littoral_sim::safe::Displacement;
use littoral_sim::truncation::Request;

fn two_sheets() -> Scene {
    assemble(&[Part::sheet(1, 1), Part::sheet(1, 1).mapped(|p| p + 0.1 * Vec3::Z)], 1.0, 0.1)
}

fn detected() -> Game {
    let mut g = Game::new(two_sheets(), Rules::planar());
    g.detect(&[Vec3::ZERO; 8], &[0.2; 8], 0.01);
    g
}

#[test]
#[should_panic(expected = "the displacement was edited after its truncation")]
fn edited_displacement_is_refused() {
    let mut g = detected();
    g.dx.edit()[0] = 0.01 * Vec3::Z;
    g.x.commit(&g.detection, &mut g.dx);
}

#[test]
#[should_panic(expected = "the displacement was edited after its truncation")]
fn displacement_edited_again_after_a_truncation_is_refused() {
    let mut g = detected();
    g.dx.edit()[0] = 0.01 * Vec3::Z;
    g.apply(&Ask::of(vec![0]), None).unwrap();
    g.dx.edit()[4] = -Vec3::Z;
    g.x.commit(&g.detection, &mut g.dx);
}

#[test]
#[should_panic(expected = "the displacement belongs to another detection")]
fn stale_displacement_is_refused() {
    let mut g = detected();
    let mut old = g.dx.clone();
    g.dx.edit()[0] = 0.01 * Vec3::Z;
    g.apply(&Ask::of(vec![0]), None).unwrap();
    g.commit().unwrap();
    g.detect(&[Vec3::ZERO; 8], &[0.2; 8], 0.01);
    g.x.commit(&g.detection, &mut old);
}

#[test]
#[should_panic(expected = "the detection was made at other positions")]
fn stale_detection_is_refused() {
    let mut g = detected();
    g.dx.edit()[0] = 0.01 * Vec3::Z;
    g.apply(&Ask::of(vec![0]), None).unwrap();
    g.commit().unwrap();
    g.x.commit(&g.detection, &mut g.dx);
}

/// Between a commit and the next detection there is nothing to truncate against.
#[test]
#[should_panic(expected = "the detection was made at other positions")]
fn truncation_against_a_stale_detection_is_refused() {
    let mut g = detected();
    g.dx.edit()[0] = 0.01 * Vec3::Z;
    g.apply(&Ask::of(vec![0]), None).unwrap();
    g.commit().unwrap();
    g.dx.edit()[0] = 0.1 * Vec3::Z;
    let _ = g.apply(&Ask::of(vec![0]), None);
}

/// A second detection at the same positions has other budgets and planes than those the displacement kept to.
#[test]
#[should_panic(expected = "the displacement belongs to another detection")]
fn displacement_kept_over_a_second_detection_is_refused() {
    let mut g = detected();
    g.dx.edit()[0] = 0.03 * Vec3::Z;
    g.apply(&Ask::of(vec![0]), None).unwrap();
    g.detect(&[Vec3::ZERO; 8], &[0.001; 8], 0.01);
    g.dx.edit()[4] = -0.03 * Vec3::Z;
    let _ = g.apply(&Ask::of(vec![4]), None);
}

#[test]
fn nothing_accepted_needs_no_truncation() {
    let mut g = detected();
    let before = g.x.as_slice().to_vec();
    g.x.commit(&g.detection, &mut g.dx);
    assert_eq!(g.x.as_slice(), before);
    assert_eq!(g.dx.accepted(), Displacement::zero(&g.x).accepted());
}

#[test]
fn applying_again_what_was_accepted_changes_nothing() {
    for seed in 0..2000 {
        let mut r = Random::new(seed);
        let (truncation, split) = SAFE[seed as usize % SAFE.len()];
        let rules = Rules { truncation, split, gamma: 0.85 };
        let kind = KINDS[r.below(KINDS.len())];
        let mut g = Game::new(scene(kind, &mut r), rules);
        let n = g.points();
        let size = g.scene.size;
        g.detect(&vec![Vec3::ZERO; n], &vec![size; n], 0.1 * g.scene.gap);
        let all: Vec<u32> = (0..n as u32).collect();
        for d in g.dx.edit() {
            *d = r.in_cube(size);
        }
        g.apply(&Ask::of(all.clone()), None).unwrap();
        let once = g.dx.accepted().to_vec();
        let request = Request { moved: &all, ..Request::default() };
        for _ in 0..2 {
            g.dx.edit();
            let cut = g.truncator.apply(g.x.as_slice(), &g.detection, &mut g.dx, &request);
            assert_eq!(g.dx.accepted(), once, "seed {seed}, {kind:?}, {rules:?}");
            assert_eq!((cut.wanted, cut.kept, cut.truncated, cut.bounded), (0.0, 0.0, 0, 0), "seed {seed}");
        }
    }
}
