//! Random cases in which islands are committed and detected anew on their own, at different times.

use crate::play::{Ask, Game, Rules, SAFE, predict, propose, subset};
use crate::scenes::{KINDS, Kind, Part, Scene, scene};
use littoral_geom::math::Vec3;
use littoral_geom::random::Random;
use rayon::prelude::*;
use std::ops::AddAssign;

/// Cases of the ordinary run.
const CASES: u64 = 40_000;

/// How often what is to be tried happened.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    /// A part went while something else had a displacement.
    parts: usize,
    /// What was kept had to go as well, because it could be met.
    met: usize,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.parts += other.parts;
        self.met += other.met;
    }
}

/// The components of some of the islands.
fn some_islands(game: &Game, r: &mut Random) -> Vec<bool> {
    let island = &game.detection.island;
    let chosen: Vec<bool> = island.iter().map(|_| r.chance(0.5)).collect();
    island.iter().map(|&i| chosen[i as usize]).collect()
}

/// Commits the islands that go, predicts anew for them, and detects them with all that they may meet.
fn renew_part(
    game: &mut Game,
    (wanted, margin): (&mut [Vec3], &mut [f64]),
    mut going: Vec<bool>,
    r: &mut Random,
) -> Result<Tally, String> {
    let component = game.scene.geometry.component.clone();
    let stays = |v: usize, going: &[bool]| !going[component[v] as usize];
    let held = game.dx.accepted().iter().enumerate().any(|(v, d)| *d != Vec3::ZERO && stays(v, &going));
    let mut tally = Tally { parts: usize::from(held && going.contains(&true)), met: 0 };
    let mut next = going.clone();
    loop {
        game.commit_part(&next)?;
        let (new_wanted, new_margin) = predict(game, r);
        for v in 0..component.len() {
            if !stays(v, &next) {
                (wanted[v], margin[v]) = (new_wanted[v], new_margin[v]);
            }
        }
        let kept: Vec<bool> =
            going.iter().zip(&game.detection.mobile).map(|(going, mobile)| !going && *mobile).collect();
        let met = game.renew(wanted, margin, &kept);
        if met.is_empty() {
            return Ok(tally);
        }
        tally.met += 1;
        let islands: Vec<u32> = met.iter().map(|&c| game.detection.island[c as usize]).collect();
        next = game.detection.island.iter().map(|i| islands.contains(i)).collect();
        going.iter_mut().zip(&next).for_each(|(going, next)| *going |= next);
    }
}

/// A scene, and perhaps a sheet beside it, near enough to be met.
fn scene_and_sheet(r: &mut Random) -> (Kind, Scene) {
    let kind = KINDS[r.below(KINDS.len())];
    let all = scene(kind, r);
    if r.chance(0.5) {
        let away = r.direction() * r.log_between(3.0, 30.0);
        let both = all.clone().with(&Part::sheet(1, 1).mapped(|p| away + p));
        if both.is_free() {
            return (kind, both);
        }
    }
    (kind, all)
}

fn play(seed: u64) -> Result<Tally, String> {
    let mut r = Random::new(seed);
    let (kind, scene) = scene_and_sheet(&mut r);
    let (truncation, split) = SAFE[[0, 0, 1, 1, 2, 3, 4, 5][r.below(8)]];
    let rules = Rules { truncation, split, gamma: [0.5, 0.85, 0.95][r.below(3)] };
    let mut game = Game::new(scene, rules);
    play_rounds(&mut game, &mut r).map_err(|e| format!("seed {seed}, {kind:?}, {rules:?}: {e}"))
}

fn play_rounds(game: &mut Game, r: &mut Random) -> Result<Tally, String> {
    let mut tally = Tally::default();
    let (mut wanted, mut margin) = predict(game, r);
    game.detect(&wanted, &margin, game.scene.gap * [1e-3, 0.5, 3.0][r.below(3)]);
    for k in 0..2 + r.below(5) {
        let ask = Ask::of(subset(game.points(), r));
        propose(game, k, &wanted, &ask.moved, r);
        game.apply(&ask, None)?;
        if r.chance(0.7) {
            let going = some_islands(game, r);
            tally += renew_part(game, (&mut wanted, &mut margin), going, r)?;
        }
    }
    game.commit()?;
    game.check_state()?;
    Ok(tally)
}

#[test]
fn no_path_of_islands_that_go_on_their_own_touches_anything() {
    let outcomes: Vec<Result<Tally, String>> = (0..CASES).into_par_iter().map(play).collect();
    let failures: Vec<&String> = outcomes.iter().filter_map(|o| o.as_ref().err()).collect();
    assert!(failures.is_empty(), "{} of {CASES} cases fail, the first:\n{}", failures.len(), failures[0]);
    let mut tally = Tally::default();
    outcomes.into_iter().flatten().for_each(|t| tally += t);
    assert!(tally.parts > CASES as usize / 10 && tally.met > CASES as usize / 100, "{tally:?}");
}
