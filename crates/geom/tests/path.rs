//! The leak test against integers, against a dense sampling of time, and on paths through edges and corners.

use littoral_geom::math::{Quat, Vec3};
use littoral_geom::random::Random;
use littoral_geom::referee::path::PathReferee;
use littoral_geom::shapes;

type Int3 = [i64; 3];

fn sub(a: Int3, b: Int3) -> Int3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}
fn dot(a: Int3, b: Int3) -> i64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
fn cross(a: Int3, b: Int3) -> Int3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
fn vec3(p: Int3) -> Vec3 {
    Vec3::new(p[0] as f64, p[1] as f64, p[2] as f64)
}

/// The rule in integers, for a triangle at rest: sides by its normal, the place of the piercing as a fraction, inside by
/// the three inward directions.
fn integers_cross([p, q]: [Int3; 2], t: [Int3; 3]) -> bool {
    let n = cross(sub(t[1], t[0]), sub(t[2], t[0]));
    // For a place times w.
    let inside = |place: Int3, w: i64| {
        (0..3).all(|i| {
            let inward = cross(n, sub(t[(i + 1) % 3], t[i]));
            dot(inward, sub(place, t[i].map(|c| c * w))) >= 0
        })
    };
    let (hp, hq) = (dot(n, sub(p, t[0])), dot(n, sub(q, t[0])));
    if n == [0; 3] {
        // Only its edges are left, to end on.
        return (0..3).any(|i| {
            let (a, b) = (t[i], t[(i + 1) % 3]);
            cross(sub(b, a), sub(q, a)) == [0; 3]
                && (0..3).all(|k| (a[k].min(b[k])..=a[k].max(b[k])).contains(&q[k]))
        });
    }
    if hq == 0 {
        return inside(q, 1);
    }
    if hp == 0 || (hp > 0) == (hq > 0) {
        return false;
    }
    // p + (q − p) hp/(hp − hq), times w = |hp − hq|.
    let w = (hp - hq).abs();
    let place = [0, 1, 2].map(|k| p[k] * w + (q[k] - p[k]) * hp.abs());
    inside(place, w)
}

/// Point 0 is the particle, points 1, 2, 3 the triangle.
fn one_pair(x0: &[Vec3; 4], x1: &[Vec3; 4]) -> bool {
    let referee = PathReferee::new(&[[1, 2, 3]], &[0]);
    let found = referee.crossings_brute_force(x0, x1);
    assert!(found.is_empty() || found == [[0, 0]]);
    !found.is_empty()
}

#[test]
fn triangles_at_rest_are_judged_as_in_integers() {
    let mut crossings = 0;
    for seed in 0..60_000 {
        let mut r = Random::new(seed);
        // On small grids nearly everything is degenerate: through edges and corners, in the plane, ending on it.
        let side = 2 + r.below(6);
        let flat = r.chance(0.2);
        let x = [0; 5].map(|_| {
            let mut c = || r.below(side) as i64;
            let (a, b, c) = (c(), c(), c());
            if flat { [a, b, a + 2 * b] } else { [a, b, c] }
        });
        let expected = integers_cross([x[0], x[1]], [x[2], x[3], x[4]]);
        let [p, q, a, b, c] = x.map(vec3);
        let (x0, x1) = ([p, a, b, c], [q, a, b, c]);
        assert_eq!(one_pair(&x0, &x1), expected, "seed {seed}: {x:?}");
        if seed % 10 == 0 {
            let by_grid = PathReferee::new(&[[1, 2, 3]], &[0]).crossings(&x0, &x1).0;
            assert_eq!(by_grid.len() == 1, expected, "seed {seed}: {x:?}");
        }
        crossings += u32::from(expected);
    }
    assert!(crossings > 8_000, "{crossings}");
}

/// A pair in motion at time t.
fn at(t: f64, x0: &[Vec3; 4], x1: &[Vec3; 4]) -> [Vec3; 4] {
    [0, 1, 2, 3].map(|i| x0[i] * (1.0 - t) + x1[i] * t)
}

/// Height of the particle over the plane, and its smallest barycentric coordinate there.
fn height_and_bary([p, a, b, c]: [Vec3; 4]) -> (f64, f64) {
    let n = (b - a).cross(c - a);
    let nn = n.length_squared();
    let w = [(c - b).cross(p - b), (a - c).cross(p - c), (b - a).cross(p - a)].map(|w| w.dot(n) / nn);
    ((p - a).dot(n) / nn.sqrt(), w[0].min(w[1]).min(w[2]))
}

/// The answer by many samples of time: where the height changes sign, bisection places the contact. Nothing where it is
/// too near to an edge, or where a height nearly touches zero.
fn sampled(x0: &[Vec3; 4], x1: &[Vec3; 4]) -> Option<bool> {
    const SAMPLES: usize = 500;
    let sample = |k: usize| height_and_bary(at(k as f64 / SAMPLES as f64, x0, x1));
    let mut crossing = false;
    for k in 0..SAMPLES {
        let ((h0, w0), (h1, w1)) = (sample(k), sample(k + 1));
        if h0 * h1 > 0.0 {
            // A height may come down to zero and back between samples, by less than it can change there.
            if h0.abs().min(h1.abs()) < 1e-4 && w0.max(w1) > -0.1 {
                return None;
            }
            continue;
        }
        let (mut s, mut e) = (k as f64 / SAMPLES as f64, (k + 1) as f64 / SAMPLES as f64);
        for _ in 0..50 {
            let m = 0.5 * (s + e);
            if (height_and_bary(at(m, x0, x1)).0 > 0.0) == (h0 > 0.0) { s = m } else { e = m }
        }
        let (h, w) = height_and_bary(at(s, x0, x1));
        if w.abs() < 1e-6 || h.is_nan() {
            return None;
        }
        // Where the triangle has no area its normal turns over, which is no contact.
        crossing |= w > 0.0 && h.abs() < 1e-9;
    }
    Some(crossing)
}

#[test]
fn moving_triangles_are_judged_as_by_dense_samples_of_time() {
    let (mut crossings, mut unsure) = (0, 0);
    for seed in 0..8_000 {
        let mut r = Random::new(seed);
        let far = if r.chance(0.3) { 100.0 * r.direction() } else { Vec3::ZERO };
        let x0 = [0; 4].map(|_| far + r.in_cube(1.0));
        // From small motions to such that turn the triangle over.
        let (size, all) = (r.log_between(0.01, 2.0), r.in_cube(1.0));
        let mut x1 = x0.map(|p| p + all + size * r.in_cube(1.0));
        if r.chance(0.5) {
            // Aimed at the triangle.
            let mut w = [r.unit(), r.unit(), r.unit()];
            let sum = w[0] + w[1] + w[2];
            w = w.map(|w| w / sum);
            x1[0] = (0..3).map(|i| w[i] * x1[i + 1]).sum::<Vec3>() + 0.1 * r.in_cube(1.0);
        }
        match sampled(&x0, &x1) {
            Some(expected) => {
                assert_eq!(one_pair(&x0, &x1), expected, "seed {seed}");
                crossings += u32::from(expected);
            }
            None => unsure += 1,
        }
    }
    assert!(crossings > 1_000 && unsure < 800, "{crossings} {unsure}");
}

#[test]
fn a_common_motion_changes_nothing() {
    let mut crossings = 0;
    for seed in 0..20_000 {
        let mut r = Random::new(seed);
        let [p, q, a, b, c] = [0; 5].map(|_| r.in_cube(1.0));
        let shift = r.log_between(1e-3, 1e3) * r.direction();
        let at_rest = one_pair(&[p, a, b, c], &[q, a, b, c]);
        let moving = one_pair(&[p, a, b, c], &[q + shift, a + shift, b + shift, c + shift]);
        assert_eq!(at_rest, moving, "seed {seed}");
        let back = one_pair(&[q + shift, a + shift, b + shift, c + shift], &[p, a, b, c]);
        assert_eq!(at_rest, back, "seed {seed}, backwards");
        crossings += u32::from(at_rest);
    }
    assert!(crossings > 500, "{crossings}");
}

#[test]
fn the_grid_finds_the_crossings_that_all_pairs_have() {
    let mut crossings = 0;
    for seed in 0..60 {
        let mut r = Random::new(seed);
        let mut mesh = shapes::sphere(0.6, r.below(4) as u32);
        let surface = mesh.vertices.len();
        mesh.vertices.extend((0..300).map(|_| r.in_cube(1.0)));
        // A ground under it, of a size of its own.
        mesh.vertices.extend([
            Vec3::new(-50.0, -50.0, -0.5),
            Vec3::new(90.0, -50.0, -0.5),
            Vec3::new(0.0, 80.0, -0.5),
        ]);
        let ground = surface as u32 + 300;
        mesh.triangles.push([ground, ground + 1, ground + 2]);
        let particles: Vec<u32> = (surface as u32..ground).chain([0, 5]).collect();
        let (shift, size) = (0.3 * r.in_cube(1.0), r.log_between(1e-3, 0.5));
        let still = r.chance(0.3);
        let moved: Vec<Vec3> = (mesh.vertices.iter().enumerate())
            .map(|(i, &p)| match i < surface {
                true if still => p,
                true => Quat::from_rotation_z(0.2) * p + shift,
                false if i < ground as usize => p + size * r.in_cube(1.0),
                false => p,
            })
            .collect();
        let referee = PathReferee::new(&mesh.triangles, &particles);
        let found = referee.crossings(&mesh.vertices, &moved).0;
        assert_eq!(found, referee.crossings_brute_force(&mesh.vertices, &moved), "seed {seed}");
        crossings += found.len();
    }
    assert!(crossings > 1_000, "{crossings}");
}

#[test]
fn nobody_leaves_a_closed_surface_uncounted() {
    // A cube of corners ±1 that turns, grows and drifts; particles that end in or out by the cube's own frame.
    let cube = shapes::cuboid([2.0; 3], [2; 3]);
    let n = cube.vertices.len();
    let mut changed = 0;
    for seed in 0..3_000 {
        let mut r = Random::new(seed);
        // On a grid, so that paths go through edges and corners.
        let mut grid = || Vec3::from([0; 3].map(|_| 0.25 * r.below(13) as f64 - 1.5));
        let (from, to) = (grid(), grid());
        let shift = grid();
        let mut x0 = cube.vertices.clone();
        x0.push(from);
        for moving in [Vec3::ZERO, shift] {
            let mut x1: Vec<Vec3> = cube.vertices.iter().map(|p| *p + moving).collect();
            x1.push(to + moving);
            let size = |p: Vec3| p.abs().max_element();
            if size(from) == 1.0 || size(to) == 1.0 {
                continue;
            }
            let found = PathReferee::new(&cube.triangles, &[n as u32]).crossings(&x0, &x1).0;
            if (size(from) < 1.0) != (size(to) < 1.0) {
                assert!(!found.is_empty(), "seed {seed}: {from} to {to}");
                changed += 1;
            } else if size(from) < 1.0 {
                assert!(found.is_empty(), "seed {seed}: {from} to {to}, {found:?}");
            }
        }
    }
    assert!(changed > 1_000, "{changed}");
}

/// A triangle (−1, −1, −k), (1, −1, k), (0, 1, 0) with k from −½ to ½: its plane z = k x turns about the y axis. The
/// particle (k, 0, height) sees the plane at the height k² over its path.
fn turning(height: f64) -> bool {
    let x = |k: f64| {
        [
            Vec3::new(k, 0.0, height),
            Vec3::new(-1.0, -1.0, -k),
            Vec3::new(1.0, -1.0, k),
            Vec3::new(0.0, 1.0, 0.0),
        ]
    };
    one_pair(&x(-0.5), &x(0.5))
}

#[test]
fn touching_a_moving_triangle_and_going_back_is_no_crossing() {
    assert!(!turning(-1e-3) && !turning(-1e-9));
    assert!(!turning(0.0), "a graze");
    // Through and back again, however shallow.
    assert!(turning(1e-3) && turning(1e-6) && turning(1e-9));
}

const TRIANGLE: [Vec3; 3] = [Vec3::ZERO, Vec3::X, Vec3::Y];

/// The particle from p to q, the triangle from `TRIANGLE` to itself and a shift.
fn path(p: [f64; 3], q: [f64; 3], shift: [f64; 3]) -> bool {
    let [a, b, c] = TRIANGLE;
    let moved = TRIANGLE.map(|v| v + Vec3::from(shift));
    one_pair(&[p.into(), a, b, c], &[q.into(), moved[0], moved[1], moved[2]])
}

#[test]
fn the_rule_holds_where_a_path_just_touches() {
    let still = [0.0; 3];
    // Through a side, through a corner; just past them.
    assert!(path([0.5, 0.0, 1.0], [0.5, 0.0, -1.0], still));
    assert!(path([1.0, 0.0, 1.0], [1.0, 0.0, -1.0], still));
    assert!(!path([0.5, -1e-300, 1.0], [0.5, -1e-300, -1.0], still));
    // Ending on the face, on a corner; starting there and leaving.
    assert!(path([0.2, 0.2, 1.0], [0.2, 0.2, 0.0], still));
    assert!(path([0.2, 0.2, 1.0], [0.0, 1.0, 0.0], still));
    assert!(!path([0.2, 0.2, 0.0], [0.2, 0.2, 1.0], still));
    // Sliding in the plane: across, from inside out, from outside in, beside.
    assert!(!path([-1.0, 0.2, 0.0], [2.0, 0.2, 0.0], still));
    assert!(!path([0.2, 0.2, 0.0], [2.0, 0.2, 0.0], still));
    assert!(path([-1.0, 0.2, 0.0], [0.2, 0.2, 0.0], still));
    assert!(!path([-1.0, -0.2, 0.0], [2.0, -0.2, 0.0], still));
    // It comes from above to a point on the plane beside the triangle.
    assert!(!path([0.2, 0.2, 1.0], [2.0, 2.0, 0.0], still));
}

#[test]
fn the_rule_holds_where_a_moving_triangle_just_touches() {
    // It rises to a particle at rest and stops; it rises on; it stops short.
    assert!(path([0.25, 0.25, 1.0], [0.25, 0.25, 1.0], [0.0, 0.0, 1.0]));
    assert!(path([0.25, 0.25, 1.0], [0.25, 0.25, 1.0], [0.0, 0.0, 2.0]));
    assert!(!path([0.25, 0.25, 1.0], [0.25, 0.25, 1.0], [0.0, 0.0, 1.0 - 1e-15]));
    // It sinks away from a particle that lay on it.
    assert!(!path([0.25, 0.25, 0.0], [0.25, 0.25, 0.0], [0.0, 0.0, -1.0]));
    // A corner, a side meets the particle halfway.
    assert!(path([1.0, 0.0, 0.5], [1.0, 0.0, 0.5], [0.0, 0.0, 1.0]));
    assert!(path([0.5, 0.0, 0.5], [0.5, 0.0, 0.5], [0.0, 0.0, 1.0]));
    // It passes beside the particle by more than rounding.
    assert!(!path([0.5, -1e-13, 0.5], [0.5, -1e-13, 0.5], [0.0, 0.0, 1.0]));
    // It moves in its own plane: over a particle (undecidable, hence reported), beside one, away from one in its plane.
    assert!(path([0.25, 0.25, 0.0], [0.25, 0.25, 0.0], [0.0, 2.0, 0.0]));
    assert!(!path([0.25, 0.25, 1e-12], [0.25, 0.25, 1e-12], [0.0, 2.0, 0.0]));
    assert!(!path([0.25, -0.25, 0.0], [0.25, -0.25, 0.0], [1.0, 2.0, 0.0]));
}

#[test]
fn a_fast_particle_and_a_thin_piston_do_not_miss_each_other() {
    for seed in 0..2_000 {
        let mut r = Random::new(seed);
        let speed = r.log_between(1.0, 1e6);
        let w = [0.1 + 0.3 * r.unit(), 0.1 + 0.3 * r.unit()];
        let hit = Vec3::new(w[0], w[1], 0.0);
        let away = r.direction() * speed;
        let t = 0.1 + 0.8 * r.unit();
        let shift = Vec3::new(0.0, 0.0, away.z * r.unit());
        // Both are at `hit` + t shift at time t.
        let p0 = hit + t * shift - t * away;
        let x0 = [p0, TRIANGLE[0], TRIANGLE[1], TRIANGLE[2]];
        let x1 = [p0 + away, TRIANGLE[0] + shift, TRIANGLE[1] + shift, TRIANGLE[2] + shift];
        assert!(one_pair(&x0, &x1), "seed {seed}");
    }
}

#[test]
fn points_that_are_not_finite_are_left_out() {
    let [a, b, c] = TRIANGLE;
    let x0 = [Vec3::Z, a, b, c, Vec3::NAN, Vec3::new(0.2, 0.2, 1.0)];
    let x1 = [Vec3::INFINITY, a, b, c, Vec3::ZERO, Vec3::new(0.2, 0.2, -1.0)];
    let referee = PathReferee::new(&[[1, 2, 3], [1, 2, 4]], &[0, 4, 5, 5]);
    assert_eq!(referee.crossings(&x0, &x1).0, [[5, 0]]);
    assert!(PathReferee::new(&[], &[0]).crossings(&x0, &x1).0.is_empty());
    assert!(PathReferee::new(&[[1, 2, 3]], &[]).crossings(&x0, &x1).0.is_empty());
}
