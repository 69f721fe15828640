//! Fillings against counts and volumes known in closed form, overlaps against brute force.

use littoral_geom::distance::closest_point_triangle;
use littoral_geom::inside::Solid;
use littoral_geom::math::{Aabb, Quat, Vec3};
use littoral_geom::mesh::TriMesh;
use littoral_geom::random::Random;
use littoral_geom::sampling::{
    Nozzle, Overlaps, SamplingError, default_stand_off, fill_box, fill_solid, nozzle_layer,
};
use littoral_geom::shapes;

fn solid(mesh: &TriMesh) -> Solid {
    Solid::new(&mesh.vertices, &mesh.triangles)
}

fn box_of(size: [f64; 3]) -> Aabb {
    let size = Vec3::from(size);
    let min = Vec3::new(0.3, -2.0, 1.0);
    Aabb { min, max: min + size }
}

#[test]
fn a_box_of_whole_spacings_keeps_half_of_one_from_its_faces() {
    let bounds = box_of([0.5, 0.3, 0.2]);
    let points = fill_box(bounds, 0.1).expect("a good box");
    assert_eq!(points.len(), 5 * 3 * 2);
    let around = Aabb::of(points.iter().copied());
    // A few roundings of coordinates of order 1.
    assert!((around.min - bounds.min - 0.05).abs().max_element() < 1e-14);
    assert!((bounds.max - around.max - 0.05).abs().max_element() < 1e-14);
    assert!((points[1] - points[0] - Vec3::new(0.1, 0.0, 0.0)).length() < 1e-14, "x runs fastest");
}

#[test]
fn the_sampled_volume_is_within_half_a_layer_of_the_box_along_each_axis() {
    for seed in 0..500 {
        let mut r = Random::new(seed);
        let size = [0; 3].map(|_| r.log_between(0.01, 1.0));
        let dx = r.log_between(0.03, 0.3);
        let bounds = box_of(size);
        let points = fill_box(bounds, dx).expect("a good box");
        let counts = size.map(|s: f64| (s / dx).round().max(1.0));
        assert_eq!(points.len() as f64, counts[0] * counts[1] * counts[2], "seed {seed}");
        let around = Aabb::of(points.iter().copied());
        assert!((around.center() - bounds.center()).length() < 1e-14, "seed {seed}: centred");
        for (axis, along) in size.into_iter().enumerate() {
            let margin = around.min[axis] - bounds.min[axis];
            let thin = along < 0.5 * dx;
            assert!(thin || (margin > 0.2499 * dx && margin < 0.7501 * dx), "seed {seed}: {}", margin / dx);
        }
    }
}

#[test]
fn a_cuboid_mesh_is_filled_like_a_box() {
    let mesh = shapes::cuboid([0.5, 0.3, 0.2], [3, 2, 1]);
    let bounds = Aabb::of(mesh.vertices.iter().copied());
    let expected = fill_box(bounds, 0.05).expect("a good box");
    assert_eq!(fill_solid(&solid(&mesh), 0.05, default_stand_off(0.05)).expect("a good mesh"), expected);
}

#[test]
fn every_point_in_a_mesh_keeps_its_stand_off_and_no_place_is_left_out() {
    let mesh = shapes::torus(0.6, 0.25, 48, 24);
    let surface = solid(&mesh);
    let (dx, stand_off) = (0.06, 0.03);
    let points = fill_solid(&surface, dx, stand_off).expect("a good mesh");
    assert!(points.iter().all(|p| surface.depth(*p) >= stand_off * (1.0 - 1e-5)));
    // The tube without its skin: V = 2π² R (r − s)², the polygons 1 % less; and as many lattice points as fit there,
    // with a fluctuation of some surface / dx² = 700 points' root.
    let expected = 2.0 * std::f64::consts::PI.powi(2) * 0.6 * (0.25f64 - stand_off).powi(2) / dx.powi(3);
    assert!((points.len() as f64 / expected - 1.0).abs() < 0.04, "{} of {expected}", points.len());
    let all = fill_solid(&surface, dx, 0.0).expect("a good mesh");
    assert!((all.len() as f64 * dx.powi(3) / surface.volume() - 1.0).abs() < 0.04, "{}", all.len());
}

#[test]
fn bad_fillings_say_what_is_wrong() {
    let good = box_of([1.0; 3]);
    assert!(matches!(fill_box(good, 0.0), Err(SamplingError::Spacing { .. })));
    assert!(matches!(fill_box(good, f64::NAN), Err(SamplingError::Spacing { .. })));
    assert!(matches!(fill_box(Aabb::EMPTY, 0.1), Err(SamplingError::Size { what: "box", .. })));
    assert!(matches!(fill_box(box_of([1.0, -1.0, 1.0]), 0.1), Err(SamplingError::Size { .. })));
    assert!(matches!(
        fill_solid(&solid(&TriMesh::default()), 0.1, 0.0),
        Err(SamplingError::Size { what: "mesh", .. })
    ));
    let Err(SamplingError::TooMany { spacing, factor, .. }) = fill_box(good, 1e-4) else {
        panic!("1e12 particles");
    };
    assert!(fill_box(good, 2.0 * spacing * factor).is_ok());
    let disc = Nozzle::Disc { radius: 0.1 };
    assert!(matches!(nozzle_layer(Vec3::ZERO, Vec3::ZERO, disc, 0.01), Err(SamplingError::Direction { .. })));
    let rectangle = Nozzle::Rectangle { width: 0.1, height: 0.1, up: Vec3::Z };
    assert!(matches!(
        nozzle_layer(Vec3::ZERO, Vec3::Z, rectangle, 0.01),
        Err(SamplingError::Direction { .. })
    ));
    assert!(matches!(nozzle_layer(Vec3::ZERO, Vec3::X, rectangle, 1e-9), Err(SamplingError::TooMany { .. })));
    let none = Nozzle::Disc { radius: -0.1 };
    assert!(matches!(nozzle_layer(Vec3::ZERO, Vec3::X, none, 0.01), Err(SamplingError::Size { .. })));
}

#[test]
fn a_disc_nozzle_stands_for_its_area_and_lies_across_the_jet() {
    let (center, direction, dx) = (Vec3::new(1.0, 2.0, 3.0), Vec3::new(1.0, -2.0, 0.5), 0.01);
    let points = nozzle_layer(center, direction, Nozzle::Disc { radius: 0.1 }, dx).expect("a good nozzle");
    // The lattice points in a circle of ten spacings.
    assert_eq!(points.len(), 317);
    let axis = direction.normalize();
    assert!(points.iter().all(|p| (*p - center).dot(axis).abs() < 1e-14 && p.distance(center) < 0.1 + 1e-6));
    let nearest = |p: Vec3| points.iter().map(|q| p.distance(*q)).filter(|d| *d > 1e-9).fold(1.0, f64::min);
    assert!(points.iter().all(|p| (nearest(*p) - dx).abs() < 1e-12));
    let thin = nozzle_layer(center, direction, Nozzle::Disc { radius: 0.4 * dx }, dx);
    assert_eq!(thin, Ok(vec![center]));
}

#[test]
fn a_rectangle_nozzle_has_its_height_along_up() {
    let nozzle = Nozzle::Rectangle { width: 0.3, height: 0.2, up: Vec3::new(5.0, 0.0, 1.0) };
    let points = nozzle_layer(Vec3::ZERO, 7.0 * Vec3::X, nozzle, 0.1).expect("a good nozzle");
    let around = Aabb::of(points.iter().copied());
    assert_eq!(points.len(), 6);
    assert!((around.max - Vec3::new(0.0, 0.1, 0.05)).length() < 1e-15, "{}", around.max);
    assert!((around.min + Vec3::new(0.0, 0.1, 0.05)).length() < 1e-15, "{}", around.min);
}

#[test]
fn what_is_refused_is_what_brute_force_refuses() {
    for seed in 0..30 {
        let mut r = Random::new(seed);
        let points: Vec<Vec3> = (0..400).map(|_| r.in_cube(1.0)).collect();
        let source: Vec<u32> = (0..400).map(|_| r.below(4) as u32).collect();
        let turn = Quat::from_axis_angle(r.direction(), r.unit());
        let mut mesh = shapes::cuboid([0.9, 0.7, 0.5], [2; 3]);
        mesh.vertices.iter_mut().for_each(|p| *p = turn * *p);
        let (stand_off, distance) = (r.between(0.0, 0.2), r.between(0.0, 0.2));
        let mut found = Overlaps::new(&points);
        found.refuse_near_surface(&points, &mesh.vertices, &mesh.triangles, stand_off);
        found.refuse_inside(&points, &solid(&mesh));
        found.refuse_near_other(&points, &source, distance);

        let mut expected = vec![true; 400];
        let mut counts = [0; 3];
        for (i, &p) in points.iter().enumerate() {
            let to =
                |t: &[u32; 3]| closest_point_triangle(p, t.map(|v| mesh.vertices[v as usize])).distance_sq;
            let nearest = mesh.triangles.iter().map(to).fold(1e9, f64::min).sqrt();
            let local = (turn.inverse() * p).abs();
            if nearest < stand_off {
                (expected[i], counts[0]) = (false, counts[0] + 1);
            } else if local.cmplt(0.5 * Vec3::new(0.9, 0.7, 0.5)).all() {
                (expected[i], counts[1]) = (false, counts[1] + 1);
            }
        }
        for s in 0..4 {
            for i in (0..400).filter(|&i| source[i] == s) {
                let too_near =
                    |j: usize| source[j] < s && expected[j] && points[i].distance(points[j]) < distance;
                if expected[i] && (0..400).any(too_near) {
                    (expected[i], counts[2]) = (false, counts[2] + 1);
                }
            }
        }
        assert_eq!(found.keep, expected, "seed {seed}");
        assert_eq!([found.near_surface, found.inside_solid, found.near_other], counts, "seed {seed}");
        assert_eq!(found.kept(), 400 - counts.iter().sum::<usize>());
        assert_eq!(found.retained(&points).len(), found.kept());
    }
}

#[test]
fn a_filling_that_touches_its_tank_and_its_neighbour_loses_nothing() {
    let dx = 0.05;
    let bounds = box_of([1.0, 0.5, 0.5]);
    let halves = [0.0, 0.5].map(|from| {
        let min = bounds.min + Vec3::new(from, 0.0, 0.0);
        fill_box(Aabb { min, max: min + Vec3::new(0.5, 0.5, 0.5) }, dx).expect("a good box")
    });
    let points = halves.concat();
    let source: Vec<u32> = (0..points.len()).map(|i| u32::from(i >= halves[0].len())).collect();
    let mut tank = shapes::cuboid([1.0, 0.5, 0.5], [1; 3]);
    tank.vertices.iter_mut().for_each(|p| *p += bounds.center());
    let mut found = Overlaps::new(&points);
    found.refuse_near_surface(&points, &tank.vertices, &tank.triangles, default_stand_off(dx));
    found.refuse_near_other(&points, &source, dx);
    assert_eq!(found.kept(), 20 * 10 * 10);
    let mut bad = Overlaps::new(&[Vec3::NAN, Vec3::ZERO]);
    bad.refuse_near_other(&[Vec3::NAN, Vec3::ZERO], &[0, 1], 1.0);
    assert_eq!((bad.keep, bad.not_finite), (vec![false, true], 1));
}
