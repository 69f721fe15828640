//! Ways of turning bodies against densely sampled ones.

use super::*;
use littoral_geom::random::Random;

/// A way whose point has a long arm more often than not, and any angle.
fn random_way(random: &mut Random) -> (Curve, PointWay, Vec3, Vec3) {
    let r = random.direction() * random.log_between(1e-3, 10.0);
    let angle = if random.chance(0.2) {
        random.between(3.0, 12.0)
    } else {
        random.log_between(1e-6, std::f64::consts::PI)
    };
    let curve = Curve {
        start: Pose { center: random.in_cube(2.0), rotation: exp(random.in_cube(3.0)) },
        shift: random.direction() * random.log_between(1e-6, 3.0),
        turn: if random.chance(0.05) { Vec3::ZERO } else { random.direction() * angle },
    };
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
    let curve = Curve {
        start: Pose { center: Vec3::ZERO, rotation: exp(Vec3::ZERO) },
        shift: Vec3::ZERO,
        turn: Vec3::Z * std::f64::consts::PI,
    };
    let wave = curve.of_point(Vec3::X, Vec3::ZERO).along(Vec3::Y);
    let t = wave.prefix(0.9, 1.0);
    let exact = 0.9_f64.asin() / std::f64::consts::PI;
    assert!(t <= exact && exact - t < 1e-5, "{t} against {exact}");
    // Wide of the needle, the whole turn is free.
    assert_eq!(wave.prefix(1.0 + 1e-6, 1.0), 1.0);
}

#[test]
fn a_disc_that_spins_flat_on_a_table_is_free() {
    let curve = Curve {
        start: Pose { center: Vec3::new(0.3, 0.2, 0.01), rotation: exp(Vec3::new(0.0, 0.0, 0.4)) },
        shift: Vec3::ZERO,
        turn: Vec3::Z * 3.0,
    };
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
        if wave.falls(0.0, 1.0) {
            free += 1;
            assert_eq!(wave.prefix(wave.at(0.0), 1.0), 1.0);
        }
    }
    assert!(free > 100, "only {free} ways fall throughout");
}
