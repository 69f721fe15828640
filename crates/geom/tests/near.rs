//! Triangles near particles against brute force, and what stands between particles against the referee.

use littoral_geom::math::Vec3;
use littoral_geom::near::{NearTriangles, near_triangles_brute_force, segment_blocked};
use littoral_geom::random::Random;
use littoral_geom::referee::Referee;

/// Triangles of all sizes and shapes, some with corners in common, and particles around them.
fn soup(r: &mut Random) -> (Vec<Vec3>, Vec<[u32; 3]>, Vec<u32>) {
    let (triangles, particles) = (r.below(60), r.below(200));
    let spread = if r.chance(0.5) { 100.0 } else { 1e-3 };
    let center = r.in_cube(spread);
    let mut x = Vec::new();
    for _ in 0..triangles {
        let (at, size) = (center + r.in_cube(1.0), r.log_between(1e-3, 3.0));
        let sliver = if r.chance(0.2) { r.log_between(1e-9, 1e-2) } else { 1.0 };
        let u = r.direction();
        x.extend([at, at + size * u, at + size * (sliver * r.direction() + 0.5 * u)]);
    }
    let corners = x.len();
    let mut list: Vec<[u32; 3]> = (0..triangles as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    for t in list.iter_mut().take(triangles / 5) {
        t[1] = r.below(corners) as u32;
    }
    for _ in 0..particles {
        let p = if corners > 0 && r.chance(0.3) { x[r.below(corners)] } else { center + r.in_cube(1.5) };
        x.push(p + r.log_between(1e-9, 0.1) * r.direction());
    }
    // Corners are asked too.
    let points = (0..particles + corners / 3).map(|_| r.below(x.len().max(1)) as u32);
    let points = if x.is_empty() { Vec::new() } else { points.collect() };
    (x, list, points)
}

#[test]
fn the_lists_are_those_of_brute_force() {
    let mut near = NearTriangles::default();
    let mut entries = 0;
    for seed in 0..600 {
        let mut r = Random::new(seed);
        let (mut x, triangles, points) = soup(&mut r);
        let radius = r.log_between(1e-4, 1.0);
        for _ in 0..2 {
            near.fit(&x, &triangles, &points, radius);
            let expected = near_triangles_brute_force(&x, &triangles, &points, radius);
            assert_eq!(near.len(), points.len());
            for (k, list) in expected.iter().enumerate() {
                assert_eq!(near.list(k), list, "seed {seed}, particle {k}");
            }
            assert_eq!(near.entries().len(), expected.iter().map(Vec::len).sum::<usize>());
            entries += near.entries().len();
            x.iter_mut().for_each(|p| *p += 0.05 * r.in_cube(1.0));
        }
    }
    assert!(entries > 50_000, "{entries}");
}

#[test]
fn the_lists_are_the_same_on_any_number_of_threads() {
    let mut r = Random::new(5);
    let (x, triangles, _) = soup(&mut r);
    let points: Vec<u32> = (0..6000).map(|_| r.below(x.len()) as u32).collect();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
        let mut near = NearTriangles::default();
        pool.install(|| near.fit(&x, &triangles, &points, 0.2));
        (near.starts().to_vec(), near.entries().to_vec())
    };
    assert!(on(1) == on(4) && !on(1).1.is_empty());
}

#[test]
fn points_that_are_not_finite_are_near_nothing() {
    let x = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::NAN, Vec3::new(0.2, 0.2, 0.1), Vec3::splat(1e300)];
    let triangles = [[0, 1, 2], [0, 1, 3]];
    let mut near = NearTriangles::default();
    near.fit(&x, &triangles, &[3, 4, 5, 0], 0.5);
    let lengths: Vec<usize> = (0..4).map(|k| near.list(k).len()).collect();
    assert_eq!(lengths, [0, 1, 0, 0]);
    assert_eq!(near.list(1)[0].point, Vec3::new(0.2, 0.2, 0.0));
    near.fit(&x, &[], &[4], 0.5);
    assert!(near.list(0).is_empty());
    near.fit_positions(&x, &triangles, &[], 0.5);
    assert!(near.is_empty() && near.starts() == [0]);
}

#[test]
fn a_segment_is_blocked_where_the_referee_sees_a_crossing() {
    let referee = Referee::new(&[[0, 1]], &[[2, 3, 4]], &[], &[true; 5]);
    let (mut blocked, mut flat) = (0, 0);
    for seed in 0..60_000 {
        let mut r = Random::new(seed);
        let side = 2 + r.below(5);
        let flat_case = r.chance(0.3);
        let jitter = if r.chance(0.3) { 1e-15 } else { 0.0 };
        let x = [0; 5].map(|_| {
            let mut c = || r.below(side) as f64 + 1.0;
            let (a, b, c) = (c(), c(), c());
            let p = if flat_case { Vec3::new(a, b, a + 2.0 * b) } else { Vec3::new(a, b, c) };
            p + r.in_cube(1.0) * jitter
        });
        let (u, v) = (x[3] - x[2], x[4] - x[2]);
        if u.cross(v) == Vec3::ZERO {
            assert!(!segment_blocked(x[0], x[1], [[x[2], x[3], x[4]]]), "no area, seed {seed}");
            continue;
        }
        let expected = !referee.crossings_brute_force(&x).is_empty();
        assert_eq!(segment_blocked(x[0], x[1], [[x[2], x[3], x[4]]]), expected, "seed {seed}: {x:?}");
        blocked += u32::from(expected);
        flat += u32::from(expected && flat_case && jitter == 0.0);
    }
    assert!(blocked > 8_000 && flat > 3_000, "{blocked} {flat}");
}

#[test]
fn the_lists_hold_all_that_stands_between_two_particles() {
    let mut near = NearTriangles::default();
    let mut blocked = 0;
    for seed in 0..200 {
        let mut r = Random::new(seed);
        let (x, triangles, _) = soup(&mut r);
        let faces: Vec<[Vec3; 3]> = triangles.iter().map(|t| t.map(|v| x[v as usize])).collect();
        let Some(&first) = x.first() else { continue };
        let particles: Vec<Vec3> = (0..60).map(|_| first + r.in_cube(1.0)).collect();
        let radius = 0.4;
        near.fit_positions(&x, &triangles, &particles, radius);
        for k in 0..60 {
            for l in 0..60 {
                if particles[k].distance(particles[l]) <= 2.0 * radius {
                    let expected = segment_blocked(particles[k], particles[l], faces.iter().copied());
                    assert_eq!(near.is_blocked(k, l), expected, "seed {seed}: {k} and {l}");
                    blocked += u32::from(expected);
                }
            }
        }
    }
    assert!(blocked > 5_000, "{blocked}");
}
