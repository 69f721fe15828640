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

/// Two sheets ten metres apart, each of which has something accepted.
fn two_islands() -> Game {
    let scene = assemble(&[Part::sheet(1, 1), Part::sheet(1, 1).mapped(|p| p + 10.0 * Vec3::Z)], 1.0, 0.1);
    let mut g = Game::new(scene, Rules::planar());
    g.detect(&[Vec3::ZERO; 8], &[0.6; 8], 0.01);
    for v in [0, 4] {
        g.dx.edit()[v] = 0.01 * Vec3::Z;
    }
    g.apply(&Ask::of(vec![0, 4]), None).unwrap();
    assert_eq!(g.detection.island, [0, 1, 2, 3, 4]);
    g
}

/// Components are numbered by their first points.
const FIRST: [bool; 5] = [true, false, false, false, false];
const SECOND: [bool; 5] = [false, false, false, false, true];
const NONE: [bool; 5] = [false; 5];

fn commit_first(g: &mut Game) {
    g.x.commit_islands(&g.scene.geometry, &mut g.detection, &mut g.dx, &FIRST);
}

#[test]
fn an_island_goes_alone_and_the_other_keeps_what_was_accepted() {
    let mut g = two_islands();
    let before = g.x.as_slice().to_vec();
    commit_first(&mut g);
    assert_eq!(g.x.as_slice()[0], before[0] + 0.01 * Vec3::Z);
    assert_eq!(g.x.as_slice()[4..], before[4..]);
    let of_second = |g: &Game| -> Vec<[f64; 4]> {
        let planes = g.detection.planes.iter().filter(|p| p.points[0] >= 4);
        planes.map(|p| [p.gap, p.normal.x, p.normal.y, p.normal.z]).collect()
    };
    let (planes, budget) = (of_second(&g), g.detection.budget.clone());
    assert!(!planes.is_empty());
    assert_eq!(g.renew(&[Vec3::ZERO; 8], &[0.3; 8], &SECOND), Vec::<u32>::new());
    assert_eq!(g.dx.accepted()[4], 0.01 * Vec3::Z);
    assert_eq!(g.detection.budget[4..], budget[4..]);
    assert_ne!(g.detection.budget[..4], budget[..4]);
    assert_eq!(of_second(&g), planes);
    g.commit().unwrap();
    assert_eq!(g.x.as_slice()[4], before[4] + 0.01 * Vec3::Z);
}

/// What is kept must be committed, too, where others may meet it now.
#[test]
fn what_others_may_meet_is_not_kept() {
    let mut g = two_islands();
    commit_first(&mut g);
    let planes = g.detection.planes.len();
    let mut wanted = [Vec3::ZERO; 8];
    wanted[..4].fill(10.0 * Vec3::Z);
    assert_eq!(g.renew(&wanted, &[0.2; 8], &SECOND), [4]);
    assert_eq!(g.detection.planes.len(), planes);
    g.x.commit_islands(&g.scene.geometry, &mut g.detection, &mut g.dx, &SECOND);
    assert_eq!(g.renew(&wanted, &[0.2; 8], &NONE), Vec::<u32>::new());
    assert_eq!(g.detection.island, [0, 1, 2, 3, 0]);
}

#[test]
#[should_panic(expected = "a part of an island was to be committed")]
fn a_part_of_an_island_is_refused() {
    let mut g = detected();
    g.x.commit_islands(&g.scene.geometry, &mut g.detection, &mut g.dx, &FIRST);
}

#[test]
#[should_panic(expected = "the displacement was edited after its truncation")]
fn an_edited_displacement_of_an_island_is_refused() {
    let mut g = two_islands();
    g.dx.edit()[0] = Vec3::Z;
    commit_first(&mut g);
}

#[test]
#[should_panic(expected = "what goes was committed before")]
fn an_island_goes_once() {
    let mut g = two_islands();
    commit_first(&mut g);
    commit_first(&mut g);
}

#[test]
#[should_panic(expected = "a part was committed and not detected anew")]
fn truncation_after_a_part_was_committed_is_refused() {
    let mut g = two_islands();
    commit_first(&mut g);
    g.dx.edit()[4] = 0.02 * Vec3::Z;
    let _ = g.apply(&Ask::of(vec![4]), None);
}

#[test]
#[should_panic(expected = "a part was committed and not detected anew")]
fn a_whole_commit_after_that_of_a_part_is_refused() {
    let mut g = two_islands();
    commit_first(&mut g);
    g.x.commit(&g.detection, &mut g.dx);
}

#[test]
#[should_panic(expected = "what is kept was committed")]
fn what_was_committed_is_not_kept() {
    let mut g = two_islands();
    commit_first(&mut g);
    g.renew(&[Vec3::ZERO; 8], &[0.2; 8], &FIRST);
}

/// Everything is detected anew, so that nothing knows of what the second sheet has accepted.
#[test]
#[should_panic(expected = "what moved was not kept")]
fn what_was_accepted_without_being_kept_is_refused() {
    let mut g = two_islands();
    commit_first(&mut g);
    g.renew(&[Vec3::ZERO; 8], &[0.2; 8], &NONE);
}

/// A second detection in between has other budgets than those that were kept to.
#[test]
#[should_panic(expected = "the displacement belongs to another detection")]
fn what_was_kept_over_two_detections_is_refused() {
    let mut g = two_islands();
    commit_first(&mut g);
    let (wanted, margin) = ([Vec3::ZERO; 8], [0.001; 8]);
    g.detect(&wanted, &margin, 0.01);
    g.renew(&wanted, &margin, &SECOND);
}
