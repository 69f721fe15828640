//! Do the energies have the stiffness that their parameters name? Small strains against linear elasticity, and the
//! limits that the derivative tests do not see.

use super::check::rotation;
use super::*;
use littoral_geom::random::Random;

/// Strain of the second differences: their truncation is its square, their rounding 10⁻¹⁶ over its square.
const STRAIN: f64 = 1e-4;

/// Young's modulus and Poisson's ratio of an energy density W(a, b) under the stretches 1 + a along and 1 + b
/// across: the lateral strain −ν a minimises the energy ½ E a².
fn uniaxial(w: impl Fn(f64, f64) -> f64, laterals: f64) -> (f64, f64) {
    let s = STRAIN;
    let aa = (w(s, 0.0) - 2.0 * w(0.0, 0.0) + w(-s, 0.0)) / (s * s);
    let bb = (w(0.0, s) - 2.0 * w(0.0, 0.0) + w(0.0, -s)) / (s * s);
    let ab = (w(s, s) - w(s, -s) - w(-s, s) + w(-s, -s)) / (4.0 * s * s);
    // `bb` strains every lateral direction at once.
    assert!(laterals == 1.0 || laterals == 2.0);
    (aa - ab * ab / bb, ab / bb)
}

fn assert_elastic((young, poisson): (f64, f64), expected_young: f64, expected_poisson: f64) {
    // Third and fourth derivatives are some ten times the second: 10 · STRAIN², and 1e-16/STRAIN² of rounding.
    assert!((young / expected_young - 1.0).abs() < 1e-6, "E {young} instead of {expected_young}");
    assert!((poisson - expected_poisson).abs() < 1e-6, "ν {poisson} instead of {expected_poisson}");
}

const POISSONS: [f64; 5] = [-0.4, 0.0, 0.24, 0.4, 0.49];

#[test]
fn stretched_membranes_have_young_modulus_and_poisson_ratio() {
    let mut random = Random::new(11);
    for poisson in POISSONS {
        let p = MembraneParameters { young: 2e5, poisson, thickness: 1e-3, damping: 0.0 };
        let frame = rotation(&mut random);
        // Scalene, so that no symmetry hides an error.
        let rest = [Vec3::ZERO, Vec3::new(0.3, 0.1, 0.0), Vec3::new(-0.05, 0.2, 0.0)].map(|x| frame * x);
        let volume = littoral_geom::mesh::triangle_area(rest) * p.thickness;
        let stretched = |a: f64, b: f64| {
            let axes = frame * Mat3::from_diagonal(Vec3::new(1.0 + a, 1.0 + b, 1.0)) * frame.transpose();
            rest.map(|x| axes * x)
        };
        let neo_hookean = NeoHookeanMembrane::new(rest, &p).expect("valid");
        let st_venant = StVenantMembrane::new(rest, &p).expect("valid");
        let found = uniaxial(|a, b| neo_hookean.value(&stretched(a, b)) / volume, 1.0);
        assert_elastic(found, p.young, poisson);
        let found = uniaxial(|a, b| st_venant.value(&stretched(a, b)) / volume, 1.0);
        assert_elastic(found, p.young, poisson);
    }
}

#[test]
fn stretched_tets_have_young_modulus_and_poisson_ratio() {
    let rest =
        [Vec3::ZERO, Vec3::new(0.3, 0.02, 0.0), Vec3::new(0.1, 0.2, 0.05), Vec3::new(0.05, -0.02, 0.25)];
    let volume = littoral_geom::mesh::tet_volume(rest);
    let young = 3e4;
    let stretched = |a: f64, b: f64| rest.map(|x| x * Vec3::new(1.0 + a, 1.0 + b, 1.0 + b));
    for poisson in POISSONS {
        let tet = StableNeoHookeanTet::new(rest, young, poisson, 0.0).expect("valid");
        assert_elastic(uniaxial(|a, b| tet.value(&stretched(a, b)) / volume, 2.0), young, poisson);
        if poisson >= 0.0 {
            let tet = FixedCorotatedTet::new(rest, young, poisson, 0.0).expect("valid");
            assert_elastic(uniaxial(|a, b| tet.value(&stretched(a, b)) / volume, 2.0), young, poisson);
        }
    }
}

#[test]
fn rest_shapes_have_neither_energy_nor_force() {
    let p = MembraneParameters { young: 1e6, poisson: 0.3, thickness: 3e-4, damping: 1e-3 };
    let rest =
        [Vec3::ZERO, Vec3::new(0.3, 0.02, 0.0), Vec3::new(0.1, 0.2, 0.05), Vec3::new(0.05, -0.02, 0.25)];
    let triangle = [rest[0], rest[1], rest[2]];
    let still = |value: f64, forces: &[Vec3], scale: f64| {
        // Roundings of some ten terms of E × volume, and of that over an edge.
        assert!(value.abs() < 1e-14 * scale, "{value:e}");
        assert!(forces.iter().all(|f| f.length() < 1e-13 * scale), "{forces:?}");
    };
    let scale = 1e6 * 3e-4 * littoral_geom::mesh::triangle_area(triangle);
    let membrane = NeoHookeanMembrane::new(triangle, &p).expect("valid");
    still(membrane.value(&triangle), &membrane.gradient(&triangle), scale);
    let membrane = StVenantMembrane::new(triangle, &p).expect("valid");
    still(membrane.value(&triangle), &membrane.gradient(&triangle), scale);
    let scale = 1e6 * littoral_geom::mesh::tet_volume(rest);
    let tet = StableNeoHookeanTet::new(rest, 1e6, 0.4, 0.0).expect("valid");
    still(tet.value(&rest), &tet.gradient(&rest), scale);
    let tet = FixedCorotatedTet::new(rest, 1e6, 0.4, 0.0).expect("valid");
    still(tet.value(&rest), &tet.gradient(&rest), scale);
}

#[test]
fn rigid_motion_is_not_damped() {
    let mut random = Random::new(5);
    let rest =
        [Vec3::ZERO, Vec3::new(0.3, 0.02, 0.0), Vec3::new(0.1, 0.2, 0.05), Vec3::new(0.05, -0.02, 0.25)];
    let triangle = [rest[0], rest[1], rest[2]];
    let strong = 1e3;
    let p = MembraneParameters { young: 1e6, poisson: 0.3, thickness: 3e-4, damping: strong };
    let mut membrane = NeoHookeanMembrane::new(triangle, &p).expect("valid");
    let mut tet = StableNeoHookeanTet::new(rest, 1e6, 0.4, strong).expect("valid");
    let mut hinge = Hinge::new(rest, 1e-5, strong).expect("valid");
    for _ in 0..100 {
        let (r, s) = (rotation(&mut random), random.in_cube(1.0));
        let moved = |x: Vec3| r * x + s;
        membrane.lag(&triangle, 1e-3);
        tet.lag(&rest, 1e-3);
        hinge.lag(&rest, 1e-3);
        // β/h = 10⁶ times the square of a strain of some roundings.
        assert!(membrane.value(&triangle.map(moved)).abs() < 1e-14);
        assert!(tet.value(&rest.map(moved)).abs() < 1e-12);
        assert!(hinge.value(&rest.map(moved)).abs() < 1e-20);
    }
}

#[test]
fn collapsed_elements_stay_finite() {
    let p = MembraneParameters { young: 1e6, poisson: 0.3, thickness: 3e-4, damping: 1e-3 };
    let rest = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(1.0, -1.0, 0.0)];
    let auxetic = MembraneParameters { poisson: -0.9, ..p };
    let point = [Vec3::ONE; 4];
    let line = [Vec3::ZERO, Vec3::X, 0.5 * Vec3::X, 2.0 * Vec3::X];
    let thin = [Vec3::ZERO, Vec3::X, Vec3::new(0.5, 1e-200, 0.0), Vec3::new(0.5, -1e-14, 0.0)];
    for x in [point, line, thin] {
        let t = [x[0], x[1], x[2]];
        for p in [p, auxetic] {
            let mut membrane = NeoHookeanMembrane::new([rest[0], rest[1], rest[2]], &p).expect("valid");
            membrane.lag(&t, 1e-3);
            finite(&membrane, &t);
            let mut membrane = StVenantMembrane::new([rest[0], rest[1], rest[2]], &p).expect("valid");
            membrane.lag(&t, 1e-3);
            finite(&membrane, &t);
        }
        let mut hinge = Hinge::new(rest, 1e-5, 1e-3).expect("valid");
        hinge.lag(&x, 1e-3);
        finite(&hinge, &x);
        let solid = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        finite(&StableNeoHookeanTet::new(solid, 1e5, 0.4, 1e-3).expect("valid"), &x);
        finite(&FixedCorotatedTet::new(solid, 1e5, 0.4, 1e-3).expect("valid"), &x);
        finite(&Spring::new(1.0, 1e3, 1e-3).expect("valid"), &[x[0], x[1]]);
    }
}

fn finite<P: Potential<N>, const N: usize>(element: &P, x: &[Vec3; N]) {
    assert!(element.value(x).is_finite());
    assert!(element.gradient(x).iter().all(|g| g.is_finite()));
    assert!(element.hessian_psd(x).iter().flatten().all(|h| h.is_finite()));
    for corner in 0..N {
        let (g, h) = element.block(x, corner);
        assert!(g.is_finite() && h.is_finite());
    }
}

#[test]
fn squashed_neo_hookean_triangles_are_pushed_open() {
    for poisson in POISSONS {
        let p = MembraneParameters { young: 1e6, poisson, thickness: 3e-4, damping: 0.0 };
        let membrane = NeoHookeanMembrane::new([Vec3::ZERO, Vec3::X, Vec3::Y], &p).expect("valid");
        let mut force = 0.0;
        for height in [0.9, 0.5, 0.2, 0.1, 0.05, 1e-3, 1e-9] {
            let x = [Vec3::ZERO, Vec3::X, Vec3::new(0.0, height, 0.0)];
            let push = -membrane.gradient(&x)[2].y;
            assert!(push > force, "{push} at {height}, ν {poisson}");
            force = push;
        }
    }
}

#[test]
fn impossible_rest_shapes_and_parameters_are_refused() {
    let p = MembraneParameters { young: 1e6, poisson: 0.3, thickness: 3e-4, damping: 0.0 };
    let flat = [Vec3::ZERO, Vec3::X, 2.0 * Vec3::X];
    assert!(matches!(NeoHookeanMembrane::new(flat, &p), Err(ElementError::ZeroArea { .. })));
    let good = [Vec3::ZERO, Vec3::X, Vec3::Y];
    for bad in [
        MembraneParameters { young: 0.0, ..p },
        MembraneParameters { young: f64::NAN, ..p },
        MembraneParameters { poisson: 0.5, ..p },
        MembraneParameters { poisson: -1.0, ..p },
        MembraneParameters { thickness: -1e-3, ..p },
        MembraneParameters { damping: f64::INFINITY, ..p },
    ] {
        assert!(matches!(StVenantMembrane::new(good, &bad), Err(ElementError::Parameter { .. })));
    }
    let inverted = [Vec3::ZERO, Vec3::Y, Vec3::X, Vec3::Z];
    let refused = StableNeoHookeanTet::new(inverted, 1e5, 0.4, 0.0);
    assert!(matches!(refused, Err(ElementError::NoVolume { .. })));
    let nan = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::NAN];
    assert!(StableNeoHookeanTet::new(nan, 1e5, 0.4, 0.0).is_err());
    assert!(Hinge::new(nan, 1.0, 0.0).is_err());
}
