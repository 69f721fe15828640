//! Closest points against brute minimisation, in every region, at every scale and degeneracy.

use littoral_geom::distance::*;
use littoral_geom::math::Vec3;
use littoral_geom::random::Random;

/// Minimum of a convex function on [0, 1], by golden sections; keeps the best value seen.
fn golden_minimum(f: impl Fn(f64) -> f64) -> f64 {
    const RATIO: f64 = 0.618_033_988_749_894_9;
    let (mut low, mut high) = (0.0, 1.0);
    let (mut x0, mut x1) = (1.0 - RATIO, RATIO);
    let (mut f0, mut f1) = (f(x0), f(x1));
    let mut best = f(0.0).min(f(1.0)).min(f0).min(f1);
    for _ in 0..60 {
        if f0 <= f1 {
            (high, x1, f1) = (x1, x0, f0);
            x0 = high - RATIO * (high - low);
            f0 = f(x0);
        } else {
            (low, x0, f0) = (x0, x1, f1);
            x1 = low + RATIO * (high - low);
            f1 = f(x1);
        }
        best = best.min(f0).min(f1);
    }
    best
}

/// Distance of a point and a triangle: nested minimisation over rows parallel to edge 0.
fn brute_point_triangle(p: Vec3, x: [Vec3; 3]) -> f64 {
    golden_minimum(|w| {
        let (from, to) = (x[0].lerp(x[2], w), x[1].lerp(x[2], w));
        golden_minimum(|v| p.distance(from.lerp(to, v)))
    })
}

fn brute_edge_edge(a0: Vec3, a1: Vec3, b0: Vec3, b1: Vec3) -> f64 {
    golden_minimum(|s| {
        let p = a0.lerp(a1, s);
        golden_minimum(|t| p.distance(b0.lerp(b1, t)))
    })
}

/// Points of one kind of trouble, of size about 1.
fn troubled_points(r: &mut Random, kind: usize) -> [Vec3; 4] {
    let mut x = [0; 4].map(|_| r.in_cube(1.0));
    let thin = r.log_between(1e-16, 1e-1);
    match kind {
        // Generic.
        0 => {}
        // x1 x2 x3 nearly collinear, x0 anywhere.
        1 => x[3] = x[1].lerp(x[2], r.between(-0.5, 1.5)) + thin * r.direction(),
        // One short edge.
        2 => x[3] = x[2] + thin * r.direction(),
        // All three corners together, or exactly the same.
        3 => {
            x[2] = x[1] + thin * r.direction();
            x[3] = if r.chance(0.5) { x[1] } else { x[1] + thin * r.direction() };
        }
        // Nearly parallel edges (0,1) and (2,3) at a small distance.
        4 => {
            let gap = r.log_between(1e-12, 1.0) * r.direction();
            x[2] = x[0].lerp(x[1], r.between(-1.0, 2.0)) + gap;
            x[3] = x[2] + (x[1] - x[0]) * r.between(-2.0, 2.0) + thin * r.direction();
        }
        // Exactly parallel or collinear edges, on a grid so that no rounding hides it.
        5 => {
            let g = |r: &mut Random| (r.in_cube(3.0)).round();
            (x[0], x[1], x[2]) = (g(r), g(r), g(r));
            if r.chance(0.3) {
                x[2] = x[0] + (x[1] - x[0]) * r.between(-3.0, 3.0).round();
            }
            x[3] = x[2] + (x[1] - x[0]) * r.between(-2.0, 2.0).round();
        }
        // Point almost on the triangle; edges almost touching.
        6 => {
            let near = r.log_between(1e-12, 1e-1);
            x[0] = x[1].lerp(x[2], r.unit()).lerp(x[3], r.unit()) + near * r.direction();
        }
        // Zero-length edges.
        7 => {
            x[1] = x[0];
            if r.chance(0.5) {
                x[3] = x[2];
            }
        }
        // A sliver with the point close to it.
        _ => {
            x[3] = x[1].lerp(x[2], r.between(-0.2, 1.2)) + thin * r.direction();
            x[0] = x[1].lerp(x[2], r.unit()).lerp(x[3], r.unit()) + r.log_between(1e-14, 1.0) * r.direction();
        }
    }
    x
}

const KINDS: usize = 9;

/// Cases of every kind at scales 1e-6 … 1e3, in a random corner of space no farther than ten sizes away.
fn for_cases(cases: usize, mut check: impl FnMut(u64, f64, [Vec3; 4])) {
    for seed in 0..cases as u64 {
        let mut r = Random::new(seed);
        let scale = r.log_between(1e-6, 1e3);
        let shift = if r.chance(0.5) { Vec3::ZERO } else { r.in_cube(10.0) };
        let x = troubled_points(&mut r, seed as usize % KINDS);
        check(seed, scale, x.map(|p| (p + shift) * scale));
    }
}

/// Rounding of coordinates up to 11 sizes (1.1e-16 × 11 each) over some ten operations, and 1/THIN = 50 times the
/// rounding of a size on the short route.
const ABSOLUTE: f64 = 4e-14;

#[test]
fn point_triangle_is_the_minimum_for_every_shape() {
    for_cases(9000, |seed, scale, x| {
        let (p, t) = (x[0], [x[1], x[2], x[3]]);
        let c = closest_point_triangle(p, t);
        let brute = brute_point_triangle(p, t);
        let d = c.distance_sq.sqrt();
        assert!(d <= brute + ABSOLUTE * scale, "seed {seed}: {d:e} is farther than {brute:e}, {c:?}");
        // The brute minimum itself is found to the square root of rounding in the parameter.
        assert!(d >= brute - 1e-7 * scale, "seed {seed}: {d:e} is nearer than {brute:e}, {c:?}");
        let rebuilt = t[0] * c.bary[0] + t[1] * c.bary[1] + t[2] * c.bary[2];
        assert!(rebuilt.distance(c.point) <= ABSOLUTE * scale, "seed {seed}: {c:?}");
        assert!((c.bary.iter().sum::<f64>() - 1.0).abs() < 1e-14 && c.bary.iter().all(|&b| b >= 0.0));
        let zeros = c.bary.iter().filter(|&&b| b == 0.0).count();
        match c.region {
            TriangleRegion::Vertex(i) => assert!(c.bary[i as usize] == 1.0 && c.point == t[i as usize]),
            TriangleRegion::Edge(i) => assert!(c.bary[(i as usize + 2) % 3] == 0.0, "seed {seed}: {c:?}"),
            TriangleRegion::Face => assert!(zeros <= 1, "seed {seed}: {c:?}"),
        }
    });
}

#[test]
fn edge_edge_is_the_minimum_for_every_position() {
    for_cases(9000, |seed, scale, x| {
        let e = closest_edge_edge(x[0], x[1], x[2], x[3]);
        let brute = brute_edge_edge(x[0], x[1], x[2], x[3]);
        let d = e.distance_sq.sqrt();
        assert!(d <= brute + ABSOLUTE * scale, "seed {seed}: {d:e} is farther than {brute:e}, {e:?}");
        assert!(d >= brute - 1e-7 * scale, "seed {seed}: {d:e} is nearer than {brute:e}, {e:?}");
        for (region, s, p, ends) in
            [(e.region_a, e.s, e.point_a, [x[0], x[1]]), (e.region_b, e.t, e.point_b, [x[2], x[3]])]
        {
            match region {
                EdgeRegion::Vertex(i) => assert!(s == i as f64 && p == ends[i as usize], "seed {seed}"),
                EdgeRegion::Interior => assert!(s > 0.0 && s < 1.0, "seed {seed}"),
            }
        }
    });
}

#[test]
fn edge_edge_does_not_depend_on_the_order_of_its_arguments() {
    for_cases(9000, |seed, scale, x| {
        let d = closest_edge_edge(x[0], x[1], x[2], x[3]).distance_sq.sqrt();
        for y in [[x[1], x[0], x[2], x[3]], [x[2], x[3], x[0], x[1]], [x[3], x[2], x[1], x[0]]] {
            let other = closest_edge_edge(y[0], y[1], y[2], y[3]).distance_sq.sqrt();
            assert!((d - other).abs() <= ABSOLUTE * scale, "seed {seed}: {d:e} {other:e}");
        }
    });
}

//  The seven regions of a right triangle seen from above, one query point in each.
//
//        V2 |
//        o--+
//   E2   |\    E1
//   -----| F\
//   V0   o---o  V1
//          E0
#[test]
fn each_triangle_region_has_its_closed_form() {
    use TriangleRegion::*;
    let t = [Vec3::ZERO, Vec3::X, Vec3::Y];
    let h = 0.5_f64.sqrt();
    let cases = [
        ([-1.0, -1.0], Vertex(0), 2f64.sqrt()),
        ([2.0, -0.5], Vertex(1), 1.25f64.sqrt()),
        ([-0.5, 2.0], Vertex(2), 1.25f64.sqrt()),
        ([0.5, -1.0], Edge(0), 1.0),
        ([1.0, 1.0], Edge(1), h),
        ([-1.0, 0.25], Edge(2), 1.0),
        ([0.25, 0.25], Face, 0.0),
    ];
    for ([x, y], region, in_plane) in cases {
        for z in [-2.0, 0.0, 3.0] {
            let c = closest_point_triangle(Vec3::new(x, y, z), t);
            assert_eq!(c.region, region, "at {x} {y}");
            assert!((c.distance_sq - (in_plane * in_plane + z * z)).abs() < 1e-15 * (1.0 + c.distance_sq));
        }
    }
}

#[test]
fn degenerate_shapes_answer_with_their_lower_dimensional_distance() {
    let p = Vec3::new(0.3, 0.4, 0.0);
    // Triangle that is a point; triangle that is a segment, in each corner order.
    assert_eq!(closest_point_triangle(p, [Vec3::ZERO; 3]).distance_sq.sqrt(), 0.5);
    for t in [
        [Vec3::ZERO, Vec3::X, 0.5 * Vec3::X],
        [Vec3::X, 0.5 * Vec3::X, Vec3::ZERO],
        [Vec3::X, Vec3::ZERO, Vec3::X],
    ] {
        assert!((closest_point_triangle(p, t).distance_sq - 0.16).abs() < 1e-16);
    }
    // Collinear edges apart by 0.5; overlapping; points.
    let e = |a: f64, b: f64, c: f64, d: f64| {
        closest_edge_edge(a * Vec3::X, b * Vec3::X, c * Vec3::X, d * Vec3::X).distance_sq
    };
    assert_eq!([e(0.0, 1.0, 1.5, 2.0), e(0.0, 1.0, 0.5, 2.0), e(1.0, 1.0, 3.0, 3.0)], [0.25, 0.0, 4.0]);
}

#[test]
fn non_finite_input_does_not_panic() {
    for bad in [f64::NAN, f64::INFINITY] {
        let b = Vec3::splat(bad);
        closest_point_triangle(b, [Vec3::ZERO, Vec3::X, Vec3::Y]);
        closest_point_triangle(Vec3::ZERO, [b, Vec3::X, Vec3::Y]);
        closest_edge_edge(b, Vec3::X, Vec3::Y, Vec3::Z);
        closest_edge_edge(Vec3::X, Vec3::Y, b, b);
    }
}
