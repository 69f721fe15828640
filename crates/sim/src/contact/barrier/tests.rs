//! The list of barrier elements, each tested like any other energy, and the law against its definition.

use super::*;
use crate::potential::check::{Promise, check, rotation};
use littoral_geom::random::Random;

const SOUND: Promise = Promise { invariant: true, projected: true };

/// A pair with its points, `gap` apart along z before a rigid motion, `range` [m] ahead of it.
fn pair<const N: usize>(
    random: &mut Random,
    pair: Pair,
    size: f64,
    points: impl Fn(&mut Random, f64) -> [Vec3; N],
) -> (Barrier<N>, [Vec3; N]) {
    let range = size * random.log_between(0.02, 0.5);
    let gap = range * random.between(0.05, 0.95);
    let x = points(random, gap);
    let (turn, shift) = (rotation(random), random.in_cube(1.0) * size);
    let barrier = Barrier { pair, strength: random.log_between(1e-3, 1e3), range, epsilon: 0.0 };
    (barrier, x.map(|p| turn * p + shift))
}

fn point_point(random: &mut Random) -> (Barrier<2>, [Vec3; 2]) {
    let size = random.log_between(1e-3, 1.0);
    pair(random, Pair::PointPoint, size, |_, gap| [Vec3::new(0.0, 0.0, gap), Vec3::ZERO])
}

fn point_edge(random: &mut Random) -> (Barrier<3>, [Vec3; 3]) {
    let size = random.log_between(1e-3, 1.0);
    pair(random, Pair::PointEdge, size, |random, gap| {
        let along = size * random.between(0.1, 0.9);
        [Vec3::new(along, 0.0, gap), Vec3::ZERO, Vec3::new(size, 0.0, 0.0)]
    })
}

fn point_triangle(random: &mut Random) -> (Barrier<4>, [Vec3; 4]) {
    let size = random.log_between(1e-3, 1.0);
    pair(random, Pair::PointTriangle, size, |random, gap| {
        let height = size * random.log_between(0.05, 1.2);
        let corners =
            [Vec3::ZERO, Vec3::new(size, 0.0, 0.0), Vec3::new(size * random.between(-0.3, 1.3), height, 0.0)];
        let (u, v) = (random.between(0.05, 0.45), random.between(0.05, 0.45));
        let foot = corners[0] * (1.0 - u - v) + corners[1] * u + corners[2] * v;
        [foot + Vec3::new(0.0, 0.0, gap), corners[0], corners[1], corners[2]]
    })
}

fn edges(random: &mut Random, sine: impl Fn(&mut Random) -> f64) -> (Barrier<4>, [Vec3; 4]) {
    let size = random.log_between(1e-3, 1.0);
    let s = sine(random);
    pair(random, Pair::EdgeEdge, size, |random, gap| {
        let other = size * random.between(0.3, 1.5);
        let along = Vec3::new((1.0 - s * s).sqrt(), s, 0.0) * other;
        let (a, b) = (random.between(0.1, 0.9), random.between(0.1, 0.9));
        let start = Vec3::new(a * size, 0.0, -gap) - b * along;
        [Vec3::ZERO, Vec3::new(size, 0.0, 0.0), start, start + along]
    })
}

/// The features of two edges that lie aside of each other.
fn of_edges(random: &mut Random) -> (Barrier<4>, [Vec3; 4]) {
    let (mut barrier, x) = if random.chance(0.5) { edge_edge(random) } else { mollified(random) };
    let slot = (random.unit() * 4.0) as u8;
    barrier.pair =
        if random.chance(0.5) { Pair::EndEdge(slot) } else { Pair::EndEnd(slot % 2, 2 + slot / 2) };
    let d = Closest::of(barrier.pair, &x).distance;
    barrier.range = d / random.between(0.1, 0.9);
    (barrier, x)
}

fn edge_edge(random: &mut Random) -> (Barrier<4>, [Vec3; 4]) {
    edges(random, |r| r.between(0.2, 1.0))
}

fn mollified(random: &mut Random) -> (Barrier<4>, [Vec3; 4]) {
    let (mut barrier, x) = edges(random, |r| r.between(0.01, 0.025));
    barrier.epsilon = mollified_below(x[0].distance(x[1]), x[2].distance(x[3]));
    (barrier, x)
}

#[test]
fn point_point_barrier_is_sound() {
    check(1000, SOUND, point_point);
}

#[test]
fn point_edge_barrier_is_sound() {
    check(1000, SOUND, point_edge);
}

#[test]
fn point_triangle_barrier_is_sound() {
    check(1000, SOUND, point_triangle);
}

#[test]
fn edge_edge_barrier_is_sound() {
    check(1000, SOUND, edge_edge);
}

#[test]
fn barriers_of_the_ends_of_edges_are_sound() {
    check(1000, SOUND, of_edges);
}

#[test]
fn mollified_edge_edge_barrier_is_sound() {
    check(1000, SOUND, mollified);
}

/// Quadratic form of the Hessian along a direction.
fn form<const N: usize>(h: &[[Mat3; N]; N], p: &[Vec3; N]) -> f64 {
    (0..N).map(|i| (0..N).map(|j| p[i].dot(h[i][j] * p[j])).sum::<f64>()).sum()
}

#[test]
fn the_projected_hessian_is_never_below_the_exact_one() {
    for seed in 0..2000 {
        let mut random = Random::new(seed);
        let (barrier, x) = if seed % 2 == 0 { point_triangle(&mut random) } else { edge_edge(&mut random) };
        let (exact, projected) = (barrier.hessian(&x), barrier.hessian_psd(&x));
        for _ in 0..10 {
            let p: [Vec3; 4] = std::array::from_fn(|_| random.in_cube(1.0));
            let (e, q) = (form(&exact, &p), form(&projected, &p));
            // Roundings of some hundred terms.
            assert!(q - e >= -1e-10 * (e.abs() + q), "{q} below {e}, seed {seed}");
        }
    }
}

#[test]
fn the_law_is_twice_continuous_at_its_range_and_infinite_at_zero() {
    let range = 2e-3;
    let (force, stiffness) = slopes(range * (1.0 - 1e-9), range);
    // b̄′ ~ −3 (1−s)², b̄″ ~ 6 (1−s)/d̂.
    assert!(force.abs() < 1e-17 && stiffness < 1e-8 / range, "{force} {stiffness}");
    assert!(value(1e-12 * range, range) > 20.0 * range);
    for (s, expected) in [(0.1, 12.24), (0.3, 3.319), (0.5, 1.193), (0.7, 0.3426), (0.9, 0.03218)] {
        let (slope, _) = slopes(s * range, range);
        assert!((-slope - expected).abs() < 1e-3 * expected, "at {s}: {slope}");
    }
}
