//! What a detection must list, by comparing everything with everything.

use crate::oracle::{Pair, across, distance, each_direction, upright};
use crate::play::{Game, Rules, predict};
use crate::scenes::{KINDS, scene};
use littoral_geom::bvh::DIAGONALS;
use littoral_geom::distance::{closest_edge_edge, closest_point_triangle};
use littoral_geom::math::{Aabb, Vec3};
use littoral_geom::random::Random;
use rayon::prelude::*;
use std::collections::HashSet;

/// Points of a pair in an order that does not depend on how it was listed.
fn key(points: [u32; 4], split: usize) -> ([u32; 4], usize) {
    let mut p = points;
    p[split..].sort_unstable();
    p[..split].sort_unstable();
    if split == 2 && p[0] > p[2] {
        p = [p[2], p[3], p[0], p[1]];
    }
    (p, split)
}

/// Where the points of one side may be, whatever share of the frame has been travelled.
fn swept(g: &Game, points: &[u32]) -> Aabb {
    points.iter().fold(Aabb::EMPTY, |sum, &v| {
        let (x, f, b) = (
            g.x.as_slice()[v as usize],
            g.detection.frame[v as usize],
            g.detection.budget[v as usize].around,
        );
        let start = Aabb { min: x + b.min, max: x + b.max };
        sum.union(start).union(Aabb { min: start.min + f, max: start.max + f })
    })
}

/// The same without the frame.
fn resting(g: &Game, points: &[u32]) -> Aabb {
    points.iter().fold(Aabb::EMPTY, |sum, &v| {
        let (x, b) = (g.x.as_slice()[v as usize], g.detection.budget[v as usize].around);
        sum.union(Aabb { min: x + b.min, max: x + b.max })
    })
}

/// Whether some direction divides what the two sides can reach: of each point the box, the tube and the ball of its budget,
/// all larger by `half`. More directions are tried than a detection knows, so that it may list more.
fn divided(g: &Game, points: [u32; 4], split: usize, half: f64) -> bool {
    let x = g.x.as_slice();
    let origin = x[points[0] as usize];
    let interval = |side: &[u32], n: Vec3| {
        side.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), &v| {
            let (b, at) = (g.detection.budget[v as usize].around, n.dot(x[v as usize] - origin));
            let ball = b.max.abs().max(b.min.abs()).length() * n.length();
            let (one, other) = (n * b.min, n * b.max);
            let (low, high) = (one.min(other).element_sum(), one.max(other).element_sum());
            // A segment with a cube around.
            let tube = g.detection.budget[v as usize].tube;
            let (low, high) = if tube.is_none() {
                (low, high)
            } else {
                let (end, cube) = (n.dot(tube.way), tube.room * n.abs().element_sum());
                (low.max(end.min(0.0) - cube), high.min(end.max(0.0) + cube))
            };
            let more = half * n.length();
            (least.min(at + low.max(-ball) - more), most.max(at + high.min(ball) + more))
        })
    };
    let apart = |n: Vec3| {
        let (a, b) = (interval(&points[..split], n), interval(&points[split..], n));
        a.1 < b.0 || b.1 < a.0
    };
    let corners = points.map(|v| x[v as usize] - origin);
    Vec3::AXES.into_iter().chain(DIAGONALS.map(Vec3::from)).any(apart)
        || each_direction(&corners, split, apart)
        || divided_on_the_way(g, points, split, &corners, apart)
}

/// From B to what A sweeps between `y` and `moved`, for each two features.
fn differences(y: &[Vec3; 4], moved: &[Vec3; 4], split: usize) -> Vec<Vec3> {
    let edges = |[a, b]: [Vec3; 2], [c, d]: [Vec3; 2]| {
        let near = closest_edge_edge(a, b, c, d);
        near.point_a - near.point_b
    };
    if split == 1 {
        let triangle = [y[1], y[2], y[3]];
        let ends = [y[0], moved[0]].map(|p| p - closest_point_triangle(p, triangle).point);
        let sides = [[1, 2], [2, 3], [3, 1]].map(|e| edges([y[0], moved[0]], e.map(|k| y[k])));
        return ends.into_iter().chain(sides).collect();
    }
    let ([a, b], [c, d], other) = ([y[0], y[1]], [moved[0], moved[1]], [y[2], y[3]]);
    let sides = [[a, b], [c, d], [a, c], [b, d]].map(|side| edges(side, other));
    let halves = [[a, b, d], [a, d, c]];
    let faces = halves.iter().flat_map(|half| other.map(|p| closest_point_triangle(p, *half).point - p));
    sides.into_iter().chain(faces).collect()
}

/// The same for the directions of features that A sweeps on its way relative to B, and for those of the closest points.
fn divided_on_the_way(
    g: &Game,
    points: [u32; 4],
    split: usize,
    y: &[Vec3; 4],
    mut apart: impl FnMut(Vec3) -> bool,
) -> bool {
    let way = points.map(|v| g.detection.budget[v as usize].tube.way);
    let mean = |ways: &[Vec3]| ways.iter().sum::<Vec3>() / ways.len() as f64;
    let w = mean(&way[..split]) - mean(&way[split..]);
    // Without ways what is left is what rounding turns.
    let moved: [Vec3; 4] = std::array::from_fn(|k| y[k] + if k < split { w } else { Vec3::ZERO });
    let edges = if split == 1 { vec![(1, 2), (2, 3), (3, 1)] } else { vec![(0, 1), (2, 3)] };
    let mut attempt = |n: Vec3| n != Vec3::ZERO && apart(n.normalize());
    // At gaps near rounding the difference of the closest points is turned by rounding, and may divide where no exact
    // direction of features does. Any direction that divides is a proof, whoever found it.
    let swapped = |y: &[Vec3; 4]| [y[2], y[3], y[0], y[1]];
    let back = [y[2] - w, y[3] - w, y[0], y[1]];
    // Far from the origin they are turned by more.
    let far = points.map(|v| g.x.as_slice()[v as usize]);
    let normals = [(far[1] - far[0]).cross(far[3] - far[2]), (far[2] - far[1]).cross(far[3] - far[1])];
    differences(&far, &far, split).into_iter().any(&mut attempt)
        || normals.into_iter().any(|n| attempt(n) || attempt(-n))
        || differences(y, &moved, split).into_iter().any(&mut attempt)
        || (split == 2 && differences(&swapped(y), &back, 2).into_iter().any(&mut attempt))
        || each_direction(&moved, split, &mut attempt)
        || edges.iter().any(|&(a, b)| attempt(across(w, y[b] - y[a])))
        || (0..split).any(|a| (split..4).any(|b| attempt(upright(y[a] - y[b], w))))
}

fn check(g: &Game, contact_radius: f64, seed: u64) {
    let listed: HashSet<_> = g.detection.planes.iter().map(|p| key(p.points, p.side_a as usize)).collect();
    let reach = |points: &[u32]| {
        let far = |v: &u32| {
            let b = g.detection.budget[*v as usize].around;
            b.max.abs().max(b.min.abs()).length()
        };
        points.iter().map(far).fold(0.0, f64::max)
    };
    for &Pair { points, split } in &g.everything.pairs {
        let (a, b) = points.split_at(split);
        let frames = points.map(|v| g.detection.frame[v as usize]);
        if frames.iter().any(|f| *f != frames[0]) {
            assert!(
                !swept(g, a).overlaps(&swept(g, b)),
                "seed {seed}: {points:?} travel apart and may meet on the way"
            );
            continue;
        }
        let d = distance(points.map(|v| g.x.as_slice()[v as usize]), split);
        let half = 0.5 * contact_radius;
        let near = resting(g, a).inflated(half).overlaps(&resting(g, b).inflated(half));
        // Just inside, so that rounding of the distance does not decide.
        let close = d < (reach(a) + reach(b) + contact_radius) * (1.0 - 1e-9);
        let inside_tet = g.scene.geometry.tets.iter().any(|t| points.iter().all(|p| t.contains(p)));
        let must = match inside_tet {
            true => d < (reach(a) + reach(b)) * (1.0 - 1e-9) && !divided(g, points, split, 0.0),
            false => near && close && !divided(g, points, split, half),
        };
        assert!(
            !must || listed.contains(&key(points, split)),
            "seed {seed}: {points:?} (split {split}) at {d} may meet and is not listed"
        );
    }
}

#[test]
fn every_pair_that_may_meet_is_listed() {
    let [needed, long]: [usize; 2] = (0..5000_u64)
        .into_par_iter()
        .map(|seed| {
            let mut r = Random::new(seed);
            let kind = KINDS[r.below(KINDS.len())];
            let s = [1e-3, 1.0, 1e3][r.below(3)];
            let offset = r.in_cube(10.0 * s);
            let mut g = Game::new(scene(kind, &mut r).scaled(s, offset), Rules::planar());
            let (wanted, margin) = predict(&g, &mut r);
            let radius = g.scene.gap * [0.0, 1e-3, 0.5, 3.0][r.below(4)];
            g.detect(&wanted, &margin, radius);
            check(&g, radius, seed);
            let long = g.detection.budget.iter().filter(|b| !b.tube.is_none()).count();
            [g.detection.planes.len(), long]
        })
        .reduce(|| [0; 2], |[a, b], [c, d]| [a + c, b + d]);
    assert!(long > 10_000, "only {long} points went a long way");
    assert!(needed > 100_000, "only {needed} pairs were listed: the scenes are too thin");
}

/// A component that is seen to travel alone gets a frame, and one that would meet something on the way does not.
#[test]
fn frames_are_given_where_the_way_is_clear() {
    use crate::scenes::{Part, assemble};
    let sheet = |z: f64| Part::sheet(1, 1).mapped(|p| p + z * Vec3::Z);
    let scene = assemble(&[sheet(0.0), sheet(10.0), sheet(10.01), sheet(-2.0).fixed()], 1.0, 0.01);
    let travel = |g: &Game| [0, 4, 8, 12].map(|v: usize| g.detection.frame[v]);
    let mut g = Game::new(scene, Rules::planar());
    let fall = |d: [f64; 4]| -> Vec<Vec3> { (0..16).map(|v| -d[v / 4] * Vec3::Z).collect() };
    // The pair at 10 falls together; the lowest stays off the ground.
    g.detect(&fall([1.5, 5.0, 5.0, 0.0]), &[1e-3; 16], 1e-3);
    assert_eq!(travel(&g), [-1.5 * Vec3::Z, -5.0 * Vec3::Z, -5.0 * Vec3::Z, Vec3::ZERO]);
    // Through the ground: no frame. The pair would now meet the resting sheet on the way: none either.
    g.detect(&fall([3.0, 10.5, 10.5, 0.0]), &[1e-3; 16], 1e-3);
    assert_eq!(travel(&g), [Vec3::ZERO; 4]);
}
