//! The referee against brute force, against integer arithmetic, and on recorded meshes.

use littoral_geom::math::Vec3;
use littoral_geom::mesh::unique_edges;
use littoral_geom::random::Random;
use littoral_geom::referee::Referee;
use std::cmp::Ordering;
use std::path::Path;

type Int3 = [i128; 3];

fn sub(a: Int3, b: Int3) -> Int3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}
fn dot(a: Int3, b: Int3) -> i128 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
fn cross(a: Int3, b: Int3) -> Int3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
fn scaled(a: Int3, s: i128) -> Int3 {
    a.map(|c| c * s)
}

/// Closed segment and closed triangle in integers, by clipping: the segment p + s (q − p), 0 ≤ s ≤ 1, is cut by the
/// plane and by the three sides of the triangle, with s kept as a fraction. No orientation test of four points occurs.
fn integers_meet([p, q]: [Int3; 2], t: [Int3; 3]) -> bool {
    let n = cross(sub(t[1], t[0]), sub(t[2], t[0]));
    if n == [0; 3] {
        return (0..3).any(|i| integer_segments_meet(p, q, t[i], t[(i + 1) % 3]));
    }
    // Linear conditions a + b s ≥ 0.
    let (hp, hq) = (dot(n, sub(p, t[0])), dot(n, sub(q, t[0])));
    let mut conditions = vec![(hp, hq - hp), (-hp, hp - hq)];
    for i in 0..3 {
        let inward = cross(n, sub(t[(i + 1) % 3], t[i]));
        let (dp, dq) = (dot(inward, sub(p, t[i])), dot(inward, sub(q, t[i])));
        conditions.push((dp, dq - dp));
    }
    fractions_remain(&conditions)
}

/// True when some s in [0, 1] fulfils a + b s ≥ 0 for all (a, b).
fn fractions_remain(conditions: &[(i128, i128)]) -> bool {
    // Lower and upper bound as fractions with positive denominators.
    let (mut low, mut high) = ((0i128, 1i128), (1i128, 1i128));
    for &(a, b) in conditions {
        match b.signum() {
            1 if compare_products(-a, low.1, low.0, b).is_gt() => low = (-a, b),
            -1 if compare_products(a, high.1, high.0, -b).is_lt() => high = (a, -b),
            0 if a < 0 => return false,
            _ => {}
        }
    }
    compare_products(low.0, high.1, high.0, low.1).is_le()
}

/// Order of a b and c d, which may need 254 bits.
fn compare_products(a: i128, b: i128, c: i128, d: i128) -> Ordering {
    let product = |a: i128, b: i128| {
        let (x, y) = (a.unsigned_abs(), b.unsigned_abs());
        let (low, mask) = (64, u64::MAX as u128);
        let (ll, lh) = ((x & mask) * (y & mask), (x & mask) * (y >> low));
        let (hl, hh) = ((x >> low) * (y & mask), (x >> low) * (y >> low));
        let middle = (ll >> low) + (lh & mask) + (hl & mask);
        let high = hh + (lh >> low) + (hl >> low) + (middle >> low);
        (a.signum() * b.signum(), (high, (middle << low) | (ll & mask)))
    };
    let ((s, x), (t, y)) = (product(a, b), product(c, d));
    s.cmp(&t).then_with(|| if s < 0 { y.cmp(&x) } else { x.cmp(&y) })
}

fn integer_segments_meet(p: Int3, q: Int3, u: Int3, v: Int3) -> bool {
    let (d, e, r) = (sub(q, p), sub(v, u), sub(u, p));
    let n = cross(d, e);
    let nn = dot(n, n);
    if nn != 0 {
        // s = (r × e)·n / n², t = (r × d)·n / n², on skew lines (r·n ≠ 0) nowhere.
        let (s, t) = (dot(cross(r, e), n), dot(cross(r, d), n));
        return dot(r, n) == 0 && (0..=nn).contains(&s) && (0..=nn).contains(&t);
    }
    // Parallel, or one of them a point: an end of one lies on the other.
    let on = |w: Int3, a: Int3, b: Int3| {
        let ab = sub(b, a);
        cross(ab, sub(w, a)) == [0; 3] && (0..3).all(|k| a[k].min(b[k]) <= w[k] && w[k] <= a[k].max(b[k]))
    };
    on(p, u, v) || on(q, u, v) || on(u, p, q) || on(v, p, q)
}

fn vec3(p: Int3) -> Vec3 {
    Vec3::new(p[0] as f64, p[1] as f64, p[2] as f64)
}

/// One edge (points 0, 1) and one triangle (points 2, 3, 4).
fn one_pair() -> Referee {
    Referee::new(&[[0, 1]], &[[2, 3, 4]], &[], &[true; 5])
}

#[test]
fn the_exact_test_agrees_with_integer_arithmetic_on_small_grids() {
    let referee = one_pair();
    let (mut meetings, mut flat) = (0, 0);
    for seed in 0..60_000u64 {
        let mut r = Random::new(seed);
        // On grids of 2, 3, … points a side nearly everything is degenerate.
        let side = 2 + r.below(6);
        let flat_case = r.chance(0.3);
        let x = [0; 5].map(|_| {
            let mut c = || r.below(side) as i128;
            let (a, b, c) = (c(), c(), c());
            // Points of one skew plane, or anywhere.
            if flat_case { [a, b, a + 2 * b] } else { [a, b, c] }
        });
        let expected = integers_meet([x[0], x[1]], [x[2], x[3], x[4]]);
        let positions = x.map(vec3);
        let found = referee.crossings(&positions).0.len() == 1;
        assert_eq!(found, expected, "seed {seed}: {x:?}");
        assert_eq!(referee.crossings_brute_force(&positions).len() == 1, expected, "seed {seed}: {x:?}");
        meetings += expected as u32;
        flat += (expected && flat_case) as u32;
    }
    assert!(meetings > 10_000 && flat > 4_000, "{meetings} {flat}");
}

#[test]
fn the_exact_test_agrees_with_integer_arithmetic_next_to_degeneracy() {
    let referee = one_pair();
    let mut meetings = 0;
    for seed in 0..60_000u64 {
        let mut r = Random::new(seed);
        // Coordinates of 30 bits: orientations need 93, far more than an f64 has.
        let mut x = [0; 5].map(|_| [0; 3].map(|_| r.below(1 << 30) as i128));
        // Ends moved to within a unit of the triangle's plane, or of one of its edges.
        let t = [x[2], x[3], x[4]];
        let (ends, _) = x.split_at_mut(2);
        for end in ends {
            let (v, w) = (r.below(65) as i128 - 16, if r.chance(0.3) { 0 } else { r.below(65) as i128 - 16 });
            let ab = scaled(sub(t[1], t[0]), v);
            let ac = scaled(sub(t[2], t[0]), w);
            if r.chance(0.8) {
                *end = [0, 1, 2].map(|k| t[0][k] + (ab[k] + ac[k]) / 64 + r.below(3) as i128 - 1);
            }
        }
        let expected = integers_meet([x[0], x[1]], t);
        let found = referee.crossings_brute_force(&x.map(vec3)).len() == 1;
        assert_eq!(found, expected, "seed {seed}: {x:?}");
        meetings += expected as u32;
    }
    assert!(meetings > 6_000, "{meetings}");
}

/// Orientation is exact to the last bit: determinants of 40-bit integers, most of them near zero.
#[test]
fn inverted_tets_are_those_with_a_determinant_that_is_not_positive() {
    let referee = Referee::new(&[], &[], &[[0, 1, 2, 3]], &[true; 4]);
    let positive = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
    assert!(referee.inverted(&positive).is_empty(), "det(x, y, z) = 1 is the good orientation");
    let mut counts = [0; 3];
    for seed in 0..50_000u64 {
        let mut r = Random::new(seed);
        let mut x = [0; 4].map(|_| [0; 3].map(|_| r.below(1 << 40) as i128 - (1 << 39)));
        if r.chance(0.9) {
            let (v, w) = (r.below(17) as i128, r.below(17) as i128);
            let (ab, ac) = (scaled(sub(x[1], x[0]), v), scaled(sub(x[2], x[0]), w));
            x[3] = [0, 1, 2].map(|k| x[0][k] + (ab[k] + ac[k]) / 16 + r.below(3) as i128 - 1);
        }
        if r.chance(0.1) {
            x[3] = x[r.below(3)];
        }
        let det = dot(cross(sub(x[1], x[0]), sub(x[2], x[0])), sub(x[3], x[0]));
        let found = !referee.inverted(&x.map(vec3)).is_empty();
        assert_eq!(found, det <= 0, "seed {seed}: {x:?}");
        counts[(det.signum() + 1) as usize] += 1;
    }
    assert!(counts.iter().all(|&c| c > 2_000), "{counts:?}");
}

/// A soup of triangles with sizes over six decades, loose edges, degenerate ones, and inactive points.
fn soup(r: &mut Random) -> (Referee, Vec<Vec3>) {
    let n = 5 + r.below(60);
    let corner = |r: &mut Random| r.below(n) as u32;
    let triangles: Vec<[u32; 3]> = (0..1 + r.below(40)).map(|_| [corner(r), corner(r), corner(r)]).collect();
    let mut edges = unique_edges(&triangles);
    edges.extend((0..r.below(20)).map(|_| [corner(r), corner(r)]));
    let grid = r.chance(0.5);
    let spread = r.log_between(1e-6, 1.0);
    let mut x: Vec<Vec3> = Vec::new();
    for _ in 0..n {
        let mut p = if !x.is_empty() && r.chance(0.5) {
            x[r.below(x.len())] + r.log_between(spread, 1.0) * r.in_cube(1.0)
        } else {
            r.in_cube(1.0)
        };
        if grid {
            p = (4.0 * p).round();
        }
        x.push(p);
    }
    let scale = if grid { 1.0 } else { r.log_between(1e-6, 1e6) };
    x.iter_mut().for_each(|p| *p *= scale);
    let active: Vec<bool> = (0..n).map(|_| r.chance(0.6)).collect();
    (Referee::new(&edges, &triangles, &[], &active), x)
}

#[test]
fn the_grid_finds_what_brute_force_finds() {
    let (mut total, mut some) = (0, 0);
    for seed in 0..6000 {
        let mut r = Random::new(seed);
        let (referee, mut x) = soup(&mut r);
        if r.chance(0.1) {
            let k = r.below(x.len());
            x[k].y = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY][r.below(3)];
            assert_eq!(referee.non_finite(&x), 1);
        }
        let (found, tests) = referee.crossings(&x);
        assert_eq!(found, referee.crossings_brute_force(&x), "seed {seed}");
        assert!(tests >= found.len() as u64, "seed {seed}");
        total += found.len();
        some += (!found.is_empty()) as usize;
    }
    assert!(total > 50_000 && some > 3000, "{total} crossings in {some} cases");
}

#[test]
fn the_verdict_is_the_same_on_any_number_of_threads() {
    let mut r = Random::new(7);
    let x: Vec<Vec3> = (0..3000).map(|_| r.in_cube(1.0)).collect();
    let triangles: Vec<[u32; 3]> = (0..1000).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    let referee = Referee::new(&unique_edges(&triangles), &triangles, &[], &[true; 3000]);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| referee.crossings(&x))
    };
    let one = on(1);
    assert!(one.0.len() > 1000);
    for threads in [2, 3, 7] {
        assert!(one == on(threads), "{threads} threads give another verdict");
    }
}

//  A vertical edge through, beside, above, and touching a triangle; a coplanar edge inside, across, beside.
#[test]
fn hand_made_cases() {
    let referee = one_pair();
    let t = [Vec3::ZERO, 4.0 * Vec3::X, 4.0 * Vec3::Y];
    let v = Vec3::new;
    for (p, q, meets) in [
        (v(1.0, 1.0, -1.0), v(1.0, 1.0, 1.0), true),
        (v(3.0, 3.0, -1.0), v(3.0, 3.0, 1.0), false),
        (v(1.0, 1.0, 0.5), v(1.0, 1.0, 1.0), false),
        (v(1.0, 1.0, 0.0), v(1.0, 1.0, 1.0), true),
        (v(1.0, 1.0, f64::MIN_POSITIVE), v(1.0, 1.0, 1.0), false),
        (v(2.0, 2.0, -1.0), v(2.0, 2.0, 1.0), true),
        (v(4.0, 0.0, -1.0), v(4.0, 0.0, 1.0), true),
        (v(0.5, 0.5, 0.0), v(1.0, 1.0, 0.0), true),
        (v(-1.0, 1.0, 0.0), v(5.0, 1.0, 0.0), true),
        (v(3.0, 3.0, 0.0), v(5.0, 1.0, 0.0), false),
        (v(1.0, 1.0, 0.0), v(1.0, 1.0, 0.0), true),
        (v(9.0, 1.0, 0.0), v(9.0, 1.0, 0.0), false),
    ] {
        let (found, tests) = referee.crossings(&[p, q, t[0], t[1], t[2]]);
        assert_eq!(found.len() == 1, meets, "{p} {q}");
        assert!(tests <= 1);
    }
}

#[test]
fn pairs_that_share_a_point_or_have_no_active_one_are_not_judged() {
    let x = [-Vec3::Z, Vec3::Z, -Vec3::X - Vec3::Y, Vec3::X - Vec3::Y, Vec3::Y];
    let judge =
        |edge: [u32; 2], active: &[bool]| Referee::new(&[edge], &[[2, 3, 4]], &[], active).crossings(&x);
    assert_eq!(judge([0, 1], &[true; 5]), (vec![[0, 0]], 1));
    assert_eq!(judge([0, 1], &[false, false, false, false, true]), (vec![[0, 0]], 1));
    assert_eq!(judge([0, 1], &[false; 5]), (vec![], 0));
    assert_eq!(judge([0, 2], &[true; 5]), (vec![], 0));
}

/// Vertices and triangles of a little-endian binary PLY with double positions and int faces.
fn read_ply(path: &Path) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let bytes = std::fs::read(path).expect("a readable file");
    let end = b"end_header\n";
    let body = bytes.windows(end.len()).position(|w| w == end).expect("a PLY header") + end.len();
    let header = String::from_utf8_lossy(&bytes[..body]);
    let count = |what: &str| -> usize {
        let line = header.lines().find(|l| l.starts_with(what)).expect("the element");
        line.rsplit(' ').next().and_then(|n| n.parse().ok()).expect("its count")
    };
    let (n, m) = (count("element vertex"), count("element face"));
    let double = |i: usize| f64::from_le_bytes(bytes[body + 8 * i..][..8].try_into().expect("eight bytes"));
    let x = (0..n).map(|v| Vec3::new(double(3 * v), double(3 * v + 1), double(3 * v + 2))).collect();
    let faces = &bytes[body + 24 * n..];
    let index = |f: usize, k: usize| {
        assert_eq!(faces[13 * f], 3, "a triangle");
        u32::from_le_bytes(faces[13 * f + 1 + 4 * k..][..4].try_into().expect("four bytes"))
    };
    (x, (0..m).map(|f| [index(f, 0), index(f, 1), index(f, 2)]).collect())
}

/// In `thick-cloth_t1` 34 crossings go through the inside of a triangle. In four places two edges meet exactly, in a
/// common plane of symmetry; each makes both edges touch both triangles at the other: 16 more. A count in floating
/// point, whose rounding takes or leaves each of the 16, may say 40.
#[test]
fn recorded_meshes_have_the_known_number_of_crossings() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/ipc-toolkit-tests-data");
    if !folder.is_dir() {
        println!("skipped: no {}", folder.display());
        return;
    }
    for (name, expected) in [
        ("thick-cloth_t0", 0),
        ("thick-cloth_t1", 34 + 16),
        ("two-cubes-intersecting", 96),
        ("two-cubes-close", 0),
        ("two-cubes-far", 0),
    ] {
        let (x, triangles) = read_ply(&folder.join(name).with_extension("ply"));
        let referee = Referee::new(&unique_edges(&triangles), &triangles, &[], &vec![true; x.len()]);
        let (found, tests) = referee.crossings(&x);
        println!("{name}: {} triangles, {tests} tests, {} crossings", triangles.len(), found.len());
        assert_eq!(found, referee.crossings_brute_force(&x), "{name}");
        assert_eq!(found.len(), expected, "{name}");
    }
}
