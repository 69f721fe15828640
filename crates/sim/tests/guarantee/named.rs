//! Traps by name: each once let something through, here or elsewhere [method §2.2, §2.3, §2.6, §2.11, §2.14].

use crate::oracle::distance;
use crate::play::{Ask, Game, Rules, SAFE};
use crate::scenes::{Part, Scene, assemble};
use littoral_geom::math::{Quat, Vec3};
use littoral_geom::random::Random;
use littoral_sim::settings::{GapSplit, Truncation};

fn rules() -> impl Iterator<Item = Rules> {
    SAFE.into_iter().flat_map(|(truncation, split)| {
        [0.5, 0.85, 0.95].map(|gamma| Rules { truncation, split, gamma })
    })
}

/// A game with a detection that foresees motions up to `margin` [m] of every point.
fn game(scene: &Scene, rules: Rules, margin: f64) -> Game {
    let mut g = Game::new(scene.clone(), rules);
    detect(&mut g, margin);
    g
}

fn detect(g: &mut Game, margin: f64) {
    let n = g.points();
    g.detect(&vec![Vec3::ZERO; n], &vec![margin; n], 1e-3 * g.scene.gap);
}

/// Proposes `d` for each of the points and truncates; the paths are judged inside.
fn push(g: &mut Game, moves: &[(u32, Vec3)]) {
    let proposals = g.dx.edit();
    for &(v, d) in moves {
        proposals[v as usize] = d;
    }
    let ask = Ask::of(moves.iter().map(|m| m.0).collect());
    g.apply(&ask, Some(&mut Random::new(1))).unwrap_or_else(|e| panic!("{:?}: {e}", g.rules));
}

fn finish(mut g: Game) {
    g.commit().and_then(|()| g.check_state()).unwrap_or_else(|e| panic!("{:?}: {e}", g.rules));
}

/// ```text
///      z │   ──┼──  moving edge (0 1)
///        │     │    gap 0.1
///        └─────●──  static edge (3 4), across
/// ```
/// A plane on the wrong one of the two edges leaves no room to judge the moving one by, and it goes through.
#[test]
fn a_static_edge_is_not_passed_by_a_moving_one() {
    let moving = Part::triangle([Vec3::new(-1.0, 0.0, 0.1), Vec3::new(1.0, 0.0, 0.1), Vec3::new(0.0, 0.0, 2.0)]);
    let still = Part::triangle([Vec3::new(0.0, -1.0, 0.0), Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.0, 0.0, -2.0)]);
    for prescribed in [false, true] {
        let still = Part { prescribed, ..still.clone() };
        let scene = assemble(&[moving.clone(), still], 1.0, 0.1);
        for rules in rules() {
            let mut g = game(&scene, rules, 2.0);
            push(&mut g, &[0, 1, 2].map(|v| (v, -Vec3::Z)));
            if rules.truncation == Truncation::Planar && rules.split == GapSplit::Proportional {
                // Alone it may use all of γ g but what the other side keeps in reserve.
                let used = -g.dx.accepted()[0].z / (rules.gamma * 0.1);
                assert!((0.9..=1.0 + 1e-12).contains(&used), "{rules:?}: {used}");
            }
            finish(g);
        }
    }
}

/// ```text
///   point 3      •
///   gap 0.1
///   triangle  0─────1 ────────── 2   the closest point lies on edge 0 1: corner 2 has no weight
/// ```
/// Corner 2 swings up and over: it must not sweep the triangle through the point.
#[test]
fn a_corner_without_weight_in_the_closest_point_is_held_too() {
    let base = Part::triangle([Vec3::new(0.0, -1.0, 0.0), Vec3::new(0.0, 1.0, 0.0), Vec3::new(3.0, 0.0, 0.0)]);
    for beside in [0.0, -0.05, 1e-9] {
        let p = Vec3::new(beside, 0.0, 0.1);
        let other = Part::triangle([p, p + Vec3::new(-0.1, 0.3, 1.0), p + Vec3::new(-0.1, -0.3, 1.0)]);
        let scene = assemble(&[base.clone(), other], 1.0, 0.1);
        for rules in rules() {
            for target in [Vec3::new(-3.0, 0.0, 1.0), Vec3::new(-3.0, 0.0, 0.0), Vec3::new(-3.2, 0.0, 100.0)] {
                let mut g = game(&scene, rules, 200.0);
                push(&mut g, &[(2, target)]);
                push(&mut g, &[(2, 2.0 * target), (3, -Vec3::Z)]);
                finish(g);
            }
        }
    }
}

/// Approach by less than any absolute threshold a code may skip planes below, at a size of micrometres.
#[test]
fn an_approach_of_a_nanometre_at_small_gaps_is_not_skipped() {
    for scale in [1e-9, 1e-6, 1e-3] {
        let low = Part::sheet(1, 1).fixed();
        let high = Part::sheet(1, 1).mapped(|p| p + Vec3::new(0.1, 0.2, 1e-3));
        let scene = assemble(&[low, high], 1.0, 1e-3).scaled(scale, Vec3::ZERO);
        for rules in rules() {
            let mut g = game(&scene, rules, 3e-3 * scale);
            for _ in 0..30 {
                let moves: Vec<_> =
                    (4..8).map(|v| (v, g.dx.accepted()[v as usize] - 1e-4 * scale * Vec3::Z)).collect();
                push(&mut g, &moves);
            }
            finish(g);
        }
    }
}

/// ```text
///   1───3
///   │╲  │╲       triangles (0 1 2), (1 2 3), (2 3 4): edge 0 1 and triangle 2 3 4 are one mesh edge apart,
///   │ ╲ │ ╲      and nothing between keeps the strip from folding over them.
///   0───2──4
/// ```
#[test]
fn a_fold_over_the_next_triangle_but_one_is_stopped() {
    let x = vec![
        Vec3::new(0.0, 0.0, 0.0),
        Vec3::new(0.0, 1.0, 0.0),
        Vec3::new(0.5, 0.0, 0.0),
        Vec3::new(0.5, 1.0, 0.0),
        Vec3::new(1.0, 0.0, 0.0),
    ];
    let triangles = vec![[0, 1, 2], [2, 1, 3], [2, 3, 4]];
    let strip = Part { x, triangles, ..Part::default() };
    let scene = assemble(&[strip], 1.0, 0.5);
    for rules in rules() {
        let mut g = Game::new(scene.clone(), rules);
        for _ in 0..12 {
            detect(&mut g, 3.0);
            let to = |g: &Game, v: u32, target: [f64; 3]| (v, Vec3::from(target) - g.x.as_slice()[v as usize]);
            let over = [to(&g, 0, [0.9, 0.4, 0.1]), to(&g, 1, [0.8, 0.1, -0.1])];
            let back = [to(&g, 4, [-0.2, 0.5, 0.0])];
            push(&mut g, &over);
            push(&mut g, &back);
            g.commit().unwrap_or_else(|e| panic!("{rules:?}: {e}"));
        }
        g.check_state().unwrap_or_else(|e| panic!("{rules:?}: {e}"));
    }
}

/// One side moves first and takes most of the room, then the other moves alone: planes placed anew by the second
/// motion only would give the same room away twice.
#[test]
fn room_taken_by_one_color_is_not_given_to_the_next() {
    let low = Part::sheet(1, 1);
    let high = Part::sheet(1, 1).mapped(|p| p + Vec3::new(0.1, 0.2, 0.1));
    let scene = assemble(&[low, high], 1.0, 0.1);
    for rules in rules() {
        let mut g = game(&scene, rules, 2.0);
        for round in 0..6 {
            let (first, up) = if round % 2 == 0 { (0, 1.0) } else { (4, -1.0) };
            let moves: Vec<_> = (first..first + 4).map(|v| (v, up * Vec3::Z)).collect();
            push(&mut g, &moves);
        }
        // Together as well.
        let all: Vec<_> = (0..8).map(|v| (v, if v < 4 { Vec3::Z } else { -Vec3::Z })).collect();
        push(&mut g, &all);
        let gap = distance([0, 4, 5, 7].map(|v: usize| scene.x[v] + g.dx.accepted()[v]), 1);
        // Continuous detection keeps 1 − γ of what each application found, the others of the gap at the detection.
        if rules.truncation != Truncation::Ccd {
            assert!(gap >= (1.0 - rules.gamma) * 0.1 - 1e-12, "{rules:?}: {gap}");
        }
        finish(g);
    }
}

/// A prescribed plate at 18.85 rad/s sweeps a free sheet: its points are proposals like any other, cut as a group,
/// and the plate that is held back keeps its shape.
#[test]
fn a_fast_collider_is_held_back_instead_of_passing_through() {
    let plate = Part::sheet(2, 1).mapped(|p| p - Vec3::new(1.0, 0.5, 0.0)).fixed();
    let sheet = Part::sheet(2, 1).mapped(|p| p + Vec3::new(0.2, -0.5, 0.02));
    let scene = assemble(&[plate, sheet], 1.0, 0.02);
    let n = scene.x.len();
    for rules in rules() {
        let mut g = Game::new(scene.clone(), rules);
        for _ in 0..8 {
            let turn = Quat::from_axis_angle(-Vec3::Y, 18.85 / 60.0);
            let mut wanted = vec![Vec3::ZERO; n];
            for (w, x) in wanted.iter_mut().zip(g.x.as_slice()).take(6) {
                *w = turn * *x - *x;
            }
            g.detect(&wanted, &vec![0.01; n], 1e-3);
            g.dx.edit()[..6].copy_from_slice(&wanted[..6]);
            let groups: Vec<u32> = (0..n).map(|v| if v < 6 { 0 } else { u32::MAX }).collect();
            let ask = Ask { moved: (0..6).collect(), groups, group_count: 1, ..Ask::default() };
            g.apply(&ask, None).unwrap_or_else(|e| panic!("{rules:?}: {e}"));
            // One fraction for all: each accepted displacement is that share of what was wanted.
            let share = g.dx.accepted()[0].length() / wanted[0].length();
            for (d, w) in g.dx.accepted().iter().zip(&wanted).take(6) {
                assert!(d.distance(share * *w) <= 1e-14, "{rules:?}: {d} is not {share} of {w}");
            }
            g.commit().unwrap_or_else(|e| panic!("{rules:?}: {e}"));
        }
        g.check_state().unwrap_or_else(|e| panic!("{rules:?}: {e}"));
    }
}

/// Points of a group are cut to a common fraction of the way from where they are, which is not the way to the nearest
/// point of the isotropic ball.
#[test]
fn a_group_stays_within_the_isotropic_bound() {
    let wall = Part::sheet(1, 1).fixed();
    let one = Part::triangle([Vec3::new(0.3, 0.3, 0.1), Vec3::new(0.6, 0.3, 0.1), Vec3::new(0.3, 0.6, 0.1)]);
    let scene = assemble(&[wall, one], 1.0, 0.1);
    for (truncation, split) in SAFE {
        let rules = Rules { truncation, split, gamma: 0.85 };
        let mut g = game(&scene, rules, 10.0);
        let groups = vec![0; 7];
        for targets in [[Vec3::X, Vec3::X, Vec3::X], [Vec3::new(0.04, 0.0, -0.2), Vec3::new(0.0, 0.0, -5.0), -Vec3::Z]] {
            g.dx.edit()[4..].copy_from_slice(&targets);
            let ask = Ask { moved: vec![4, 5, 6], groups: groups.clone(), group_count: 1, ..Ask::default() };
            g.apply(&ask, Some(&mut Random::new(3))).unwrap_or_else(|e| panic!("{rules:?}: {e}"));
        }
        finish(g);
    }
}

/// Two edges 3e-9 of their length apart in a turned position: the difference of their closest points has lost half
/// its digits, and a plane along it cuts both. Sliding along such a plane would pass through.
#[test]
fn a_gap_of_half_the_digits_still_has_a_dividing_plane() {
    let mut r = Random::new(5);
    for trial in 0..200 {
        let turn = Quat::from_axis_angle(r.direction(), r.between(0.1, 3.0));
        let gap = r.log_between(1e-10, 1e-7);
        let slope = [0.0, 1e-12, 1e-9][trial % 3];
        let low = Part::triangle([-0.5 * Vec3::X, 0.5 * Vec3::X, Vec3::new(0.1, 1.0, -0.4)]);
        let a = Vec3::new(-0.3, 0.0, gap);
        let high = Part::triangle([a, a + Vec3::new(1.0, slope, 0.0), a + Vec3::new(0.2, -1.0, 0.6)]);
        let scene = assemble(&[low, high].map(|p| p.mapped(|x| turn * x)), 1.0, gap);
        for rules in [Rules::planar(), Rules { truncation: Truncation::Project, ..Rules::planar() }] {
            let mut g = game(&scene, rules, 1.0);
            for plane in &g.detection.planes {
                let y = plane.points.map(|v| scene.x[v as usize]);
                let along = y.map(|p| plane.normal.dot(p - y[0]));
                let (a, b) = along.split_at(plane.side_a as usize);
                let low = a.iter().copied().fold(f64::INFINITY, f64::min);
                let high = b.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                assert!(low > high, "trial {trial}, {rules:?}: {plane:?} divides nothing");
            }
            let slide: Vec<_> = (3..6).map(|v| (v, turn * r.in_cube(0.3))).collect();
            push(&mut g, &slide);
            finish(g);
        }
    }
}

/// A load that never ceases takes γ of the gap at every commit: 0.15³⁰ of it is less than a rounding error.
#[test]
fn a_lasting_load_cannot_press_the_gap_below_rounding() {
    for turned in [false, true] {
        let turn = if turned { Quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 1.1) } else { Quat::IDENTITY };
        let low = Part::sheet(1, 1).mapped(|p| turn * p);
        let high = Part::sheet(1, 1).mapped(|p| turn * (p + Vec3::new(0.1, 0.2, 0.01)));
        let far = Vec3::new(3.0, -2.0, 1.0);
        let scene = assemble(&[low, high], 1.0, 0.01).scaled(1.0, far);
        for rules in rules() {
            let mut g = Game::new(scene.clone(), rules);
            let mut r = Random::new(7);
            for _ in 0..60 {
                detect(&mut g, 0.1);
                let moves: Vec<_> = (0..8)
                    .map(|v| (v, turn * (if v < 4 { Vec3::Z } else { -Vec3::Z }) * 0.1 + 1e-3 * r.in_cube(1.0)))
                    .collect();
                push(&mut g, &moves);
                g.commit().unwrap_or_else(|e| panic!("{rules:?}: {e}"));
            }
            g.check_state().unwrap_or_else(|e| panic!("{rules:?}: {e}"));
        }
    }
}

#[test]
fn a_proposal_that_is_no_number_moves_nothing() {
    let low = Part::sheet(1, 1).fixed();
    let high = Part::sheet(1, 1).mapped(|p| p + Vec3::new(0.1, 0.2, 0.1));
    let scene = assemble(&[low, high], 1.0, 0.1);
    for rules in rules() {
        for bad in [Vec3::NAN, Vec3::NEG_INFINITY, Vec3::new(0.0, f64::NAN, -1.0), Vec3::splat(-f64::MAX)] {
            let mut g = game(&scene, rules, 1.0);
            push(&mut g, &[(4, bad), (5, -Vec3::Z)]);
            assert!(g.dx.accepted()[4].is_finite(), "{rules:?}: {bad} was accepted as {}", g.dx.accepted()[4]);
            finish(g);
        }
    }
}
