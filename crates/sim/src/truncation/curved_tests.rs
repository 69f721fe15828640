//! Ways of turning bodies against densely sampled ones.

use super::super::{Request, Truncator};
use super::*;
use crate::body::RigidBody;
use crate::safe::{Plane, SafePositions};
use crate::settings::SolverSettings;
use littoral_geom::math::Aabb;
use littoral_geom::moments::Moments;
use littoral_geom::pairs::Place;
use littoral_geom::random::Random;
use littoral_geom::shapes;

/// A way whose point has a long arm more often than not, and any angle.
fn random_way(random: &mut Random) -> (Curve, PointWay, Vec3, Vec3) {
    let r = random.direction() * random.log_between(1e-3, 10.0);
    let angle = if random.chance(0.2) {
        random.between(3.0, 12.0)
    } else {
        random.log_between(1e-6, std::f64::consts::PI)
    };
    let curve = Curve::new(
        Pose { center: random.in_cube(2.0), rotation: exp(random.in_cube(3.0)) },
        random.direction() * random.log_between(1e-6, 3.0),
        if random.chance(0.05) { Vec3::ZERO } else { random.direction() * angle },
    );
    // Counted from where it stands, as after a detection.
    let anchor = curve.start.place(r);
    (curve, curve.of_point(r, anchor), r, anchor)
}

#[test]
fn the_vectors_of_a_way_are_those_of_the_pose() {
    let mut random = Random::new(1);
    for _ in 0..2000 {
        let (curve, way, r, anchor) = random_way(&mut random);
        let t = random.unit();
        let off = (way.at(t) - (curve.at(t).place(r) - anchor)).length();
        // Some ten roundings of coordinates up to 15.
        assert!(off < 1e-13, "off by {off:e}");
    }
}

#[test]
fn a_certified_prefix_never_crosses_its_plane_and_gives_little_away() {
    let mut random = Random::new(2);
    let (mut cut, mut lost) = (0, 0.0);
    for case in 0..20_000 {
        let (_, way, ..) = random_way(&mut random);
        let wave = way.along(random.direction());
        let limit = random.log_between(1e-7, 1.0);
        let t = wave.prefix(limit, 1.0);
        assert!((0.0..=1.0).contains(&t));
        // Dense samples of the certified part; formula and limit differ by rounding only.
        for k in 0..=200 {
            let s = wave.at(t * f64::from(k) / 200.0);
            assert!(s <= limit + 1e-13, "case {case}: {s} beyond {limit} at {k}/200 of {t}");
        }
        // The first sample beyond the limit bounds what could have been kept.
        let first = (0..=4000).map(|k| f64::from(k) / 4000.0).find(|&u| wave.at(u) > limit);
        match first {
            None => {
                assert!(t > 0.99 || wave.rise(1.0) > 0.0, "case {case}: cut at {t} though nothing is beyond")
            }
            Some(u) => {
                cut += 1;
                lost += (u - t).max(0.0);
            }
        }
    }
    assert!(cut > 3000, "only {cut} ways were cut");
    // A sample is up to 1/4000 late, grazing ways lose more.
    assert!(lost / f64::from(cut) < 2e-3, "lost {} of the way on average", lost / f64::from(cut));
}

#[test]
fn a_brief_excursion_between_two_allowed_ends_is_seen() {
    // A needle of one metre that turns by π about its middle, past a wall at 0.9: both ends of its way are at 0.
    let curve = Curve::new(
        Pose { center: Vec3::ZERO, rotation: exp(Vec3::ZERO) },
        Vec3::ZERO,
        Vec3::Z * std::f64::consts::PI,
    );
    let wave = curve.of_point(Vec3::X, Vec3::ZERO).along(Vec3::Y);
    let t = wave.prefix(0.9, 1.0);
    let exact = 0.9_f64.asin() / std::f64::consts::PI;
    assert!(t <= exact && exact - t < 1e-5, "{t} against {exact}");
    // Wide of the needle, the whole turn is free.
    assert_eq!(wave.prefix(1.0 + 1e-6, 1.0), 1.0);
}

#[test]
fn a_disc_that_spins_flat_on_a_table_is_free() {
    let curve = Curve::new(
        Pose { center: Vec3::new(0.3, 0.2, 0.01), rotation: exp(Vec3::new(0.0, 0.0, 0.4)) },
        Vec3::ZERO,
        Vec3::Z * 3.0,
    );
    let r = Vec3::new(0.2, -0.1, -0.005);
    let way = curve.of_point(r, curve.start.place(r));
    // Rounding of a coordinate of 0.3 along z may not cost the turn.
    assert_eq!(way.along(-Vec3::Z).prefix(1e-15, 1.0), 1.0);
}

#[test]
fn a_ball_keeps_the_point_on_the_whole_way() {
    let mut random = Random::new(5);
    for case in 0..5000 {
        let (_, way, ..) = random_way(&mut random);
        let radius = random.log_between(1e-6, 5.0);
        let t = prefix_in_ball(&way, radius, 1.0);
        for k in 0..=200 {
            let away = way.at(t * f64::from(k) / 200.0).length();
            assert!(away <= radius + 1e-13, "case {case}: {away} beyond {radius}");
        }
    }
}

#[test]
fn a_body_that_withdraws_from_where_it_may_just_be_is_not_held() {
    let mut random = Random::new(7);
    let mut free = 0;
    for _ in 0..2000 {
        let (_, way, ..) = random_way(&mut random);
        let wave = way.along(random.direction());
        // Its slope is negative at the start, and may not change by so much.
        if wave.sample(0.0)[1] + wave.swing * wave.angle.powi(2) <= 0.0 {
            free += 1;
            assert_eq!(wave.prefix(wave.at(0.0), 1.0), 1.0);
        }
    }
    assert!(free > 100, "only {free} ways fall throughout");
}

/// What one application to a turning box lets pass beside walls that rest: for each corner a wall at its own gap. The
/// largest share of a gap that any corner uses up anywhere on the way that was kept.
fn used_beside_walls(random: &mut Random, angle: f64) -> f64 {
    let mesh = shapes::cuboid([2.0, 0.1, 0.1], [1, 1, 1]);
    let moments = Moments::of_solid(&mesh.vertices, &mesh.triangles);
    let body = RigidBody::new(0, 0, &mesh.vertices, &moments, 1000.0);
    let corners = mesh.vertices.len();
    let start = Pose { center: Vec3::ZERO, rotation: exp(random.in_cube(3.0)) };
    let curve = Curve::new(start, 0.2 * random.in_cube(1.0), angle * random.direction());
    let base: Vec<Vec3> =
        body.shape.iter().map(|r| start.place(*r)).chain([Vec3::ZERO, Vec3::X, Vec3::Y]).collect();
    let n = base.len();
    let x = SafePositions::trusted(base.clone());
    let mut detection = Detection::unlimited(&x);
    for v in 0..corners as u32 {
        let w = corners as u32;
        detection.planes.push(Plane {
            normal: random.direction(),
            gap: random.log_between(1e-3, 1.0),
            points: [v, w, w + 1, w + 2],
            behind: [0.0; 4],
            primitives: [0; 2],
            surface: true,
            side_a: 1,
            place: Place::Inside,
        });
    }
    detection.index(n);
    let bodies = Bodies::new(vec![body], n);
    let mut dx = Displacement::zero(&x);
    let end = curve.at(1.0);
    for (r, (p, b)) in bodies.list[0].shape.iter().zip(dx.edit().iter_mut().zip(&base)) {
        *p = end.place(*r) - *b;
    }
    let moved: Vec<u32> = (0..corners as u32).collect();
    let turns = Some(Turns { bodies: &bodies, curves: &[Some(curve)], base: &base });
    let mut truncator = Truncator::new(&SolverSettings::default());
    truncator.apply(&base, &detection, &mut dx, &Request { moved: &moved, turns, ..Request::default() });
    let t = truncator.body_fraction(0);
    let shape = &bodies.list[0].shape;
    let used = |plane: &Plane, s: f64| {
        let v = plane.points[0] as usize;
        plane.advance(0, curve.at(s * t).place(shape[v]) - base[v]) / plane.gap
    };
    let samples = (0..=200).map(|k| f64::from(k) / 200.0);
    samples.flat_map(|s| detection.planes.iter().map(move |p| used(p, s))).fold(0.0, f64::max)
}

/// A turning point is in its budget on all of the way that is kept, and is not cut where its whole way is.
#[test]
fn a_turning_point_stays_in_its_box_and_its_tube() {
    let mut random = Random::new(11);
    let (mut by_tube, mut whole) = (0, 0);
    for case in 0..4000 {
        let (_, way, ..) = random_way(&mut random);
        let budget = Budget::along(way.at(1.0), random.log_between(1e-2, 3.0));
        let t = way.prefix_inside(&budget, 1.0);
        let inside = |d: Vec3, slack: f64| {
            let in_box = budget.around.inflated(slack).overlaps(&Aabb::point(d));
            in_box && budget.tube.inflated(slack).has_between(d)
        };
        for k in 0..=200 {
            let d = way.at(t * f64::from(k) / 200.0);
            assert!(inside(d, 1e-12), "case {case}: {d} is not in {budget:?}");
        }
        let samples = || (0..=200).map(|k| way.at(f64::from(k) / 200.0));
        by_tube += u32::from(samples().any(|d| !budget.tube.has_between(d)));
        if samples().all(|d| inside(d, -1e-3)) {
            whole += 1;
            assert!(t > 0.99, "case {case}: cut at {t} though all of it is inside");
        }
    }
    assert!(by_tube > 200 && whole > 200, "{by_tube} leave their tube, {whole} stay");
}

#[test]
fn a_turn_that_ends_away_from_a_wall_does_not_swing_through_it_on_its_way() {
    let mut random = Random::new(7);
    for case in 0..4000 {
        let angle = random.log_between(1e-2, 3.1);
        let used = used_beside_walls(&mut random, angle);
        assert!(used < 1.0, "case {case}: {used} of a gap, at a turn of {angle}");
    }
}
