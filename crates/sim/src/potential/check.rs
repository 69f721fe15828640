//! What every energy must fulfil, tested on random elements. The list at the end registers each energy with a
//! maker of elements; a registered energy is tested for its derivatives, invariances and definiteness.

use super::*;
use littoral_geom::random::Random;
use std::f64::consts::{FRAC_PI_2, PI};

/// A rotation.
pub(crate) fn rotation(random: &mut Random) -> Mat3 {
    let a = random.direction();
    let b = a.any_orthonormal_vector();
    let spin = Mat3::from_axis_angle(a, random.between(-PI, PI));
    spin * Mat3::from_cols(a, b, a.cross(b))
}

/// What an energy promises beyond its derivatives.
#[derive(Clone, Copy)]
pub(crate) struct Promise {
    /// Rigid motions leave the value unchanged; forces and torques sum to zero.
    pub invariant: bool,
    /// `hessian_psd` is the exact Hessian wherever that is positive semidefinite.
    pub projected: bool,
}

/// Tests an energy on `count` elements and shapes from `make`.
pub(crate) fn check<P: Potential<N>, const N: usize>(
    count: u64,
    promise: Promise,
    make: impl Fn(&mut Random) -> (P, [Vec3; N]),
) {
    for seed in 0..count {
        let mut random = Random::new(seed);
        let (element, x) = make(&mut random);
        let case = Case::new(&element, x, seed);
        case.derivatives(&mut random);
        case.definiteness(promise.projected);
        case.blocks();
        if promise.invariant {
            case.invariance(&mut random);
        }
    }
}

/// One element in one shape, with the scales that its errors are measured by.
struct Case<'a, P, const N: usize> {
    element: &'a P,
    x: [Vec3; N],
    gradient: [Vec3; N],
    hessian: [[Mat3; N]; N],
    /// Norm of the Hessian [N/m].
    stiffness: f64,
    /// Diameter of the element [m]; one for a point.
    length: f64,
    seed: u64,
}

impl<'a, P: Potential<N>, const N: usize> Case<'a, P, N> {
    fn new(element: &'a P, x: [Vec3; N], seed: u64) -> Self {
        let (gradient, hessian) = (element.gradient(&x), element.hessian(&x));
        let diameter = x.iter().flat_map(|a| x.iter().map(move |b| a.distance(*b))).fold(0.0, f64::max);
        let length = if N == 1 { 1.0 } else { diameter };
        let case = Case { element, x, gradient, hessian, stiffness: norm(&hessian), length, seed };
        assert!(case.stiffness.is_finite() && norm_of(&gradient).is_finite(), "not finite, seed {seed}");
        case
    }

    /// Best of the fourth-order central differences with steps from 10⁻² to 10⁻⁷ of the diameter: a wrong
    /// derivative is wrong with every step, a right one is right with the step that suits its element.
    fn best_difference(&self, direction: &[Vec3; N], error: impl Fn(&[[Vec3; N]; 4], f64) -> f64) -> f64 {
        let moved = |s: f64| std::array::from_fn(|i| self.x[i] + s * direction[i]);
        (4..=14)
            .map(|k| {
                let h = self.length * 10f64.powf(-0.5 * f64::from(k));
                error(&[moved(-2.0 * h), moved(-h), moved(h), moved(2.0 * h)], 1.0 / (12.0 * h))
            })
            .fold(f64::INFINITY, f64::min)
    }

    fn derivatives(&self, random: &mut Random) {
        for _ in 0..3 {
            let direction: [Vec3; N] = std::array::from_fn(|_| random.in_cube(1.0));
            let slope: f64 = (0..N).map(|i| self.gradient[i].dot(direction[i])).sum();
            let error = self.best_difference(&direction, |x, over| {
                let e = x.map(|x| self.element.value(&x));
                ((e[0] - e[3] + 8.0 * (e[2] - e[1])) * over - slope).abs()
            });
            // Differences of values lose at best a quarter of the digits by rounding and truncation; forces far
            // below stiffness times length are differences of large ones.
            let scale = norm_of(&self.gradient) + 1e-4 * self.stiffness * self.length;
            assert!(error <= 1e-7 * scale, "gradient: {error:e} of {scale:e}, seed {}", self.seed);

            let exact: [Vec3; N] =
                std::array::from_fn(|i| (0..N).map(|j| self.hessian[i][j] * direction[j]).sum());
            let error = self.best_difference(&direction, |x, over| {
                let g = x.map(|x| self.element.gradient(&x));
                norm_of(&std::array::from_fn::<_, N, _>(|i| {
                    (g[0][i] - g[3][i] + 8.0 * (g[2][i] - g[1][i])) * over - exact[i]
                }))
            });
            assert!(
                error <= 1e-7 * self.stiffness + f64::MIN_POSITIVE,
                "Hessian: {error:e} of {:e}, seed {}",
                self.stiffness,
                self.seed
            );
        }
        let asymmetry: f64 = norm(&blocks::<N>(|i, j| self.hessian[i][j] - self.hessian[j][i].transpose()));
        // Roundings of some hundred terms.
        assert!(asymmetry <= 1e-12 * self.stiffness, "asymmetry {asymmetry:e}, seed {}", self.seed);
    }

    fn definiteness(&self, projected: bool) {
        let psd = self.element.hessian_psd(&self.x);
        let scale = norm(&psd).max(self.stiffness);
        let least = least_eigenvalue(&flat(&psd));
        // Roundings of eigenvalues up to a factor of the condition of the shape functions.
        assert!(least >= -1e-9 * scale, "eigenvalue {least:e} of {scale:e}, seed {}", self.seed);
        if projected && least_eigenvalue(&flat(&self.hessian)) >= -1e-13 * scale {
            let change = norm(&blocks::<N>(|i, j| psd[i][j] - self.hessian[i][j]));
            assert!(change <= 1e-9 * scale, "projection changes {change:e} of {scale:e}, seed {}", self.seed);
        }
    }

    fn blocks(&self) {
        for corner in 0..N {
            let (g, h) = self.element.block(&self.x, corner);
            let error = (g - self.gradient[corner]).length();
            let scale = norm_of(&self.gradient) + 1e-4 * self.stiffness * self.length;
            // Two ways to sum the same dozen terms, of elements up to a thousand times as long as high.
            assert!(error <= 1e-9 * scale, "block gradient: {error:e} of {scale:e}, seed {}", self.seed);
            assert!((h - h.transpose()).abs_diff_eq(Mat3::ZERO, 0.0), "block asymmetry, seed {}", self.seed);
            let least = least_eigenvalue(&flat(&[[h]]));
            assert!(least >= -1e-12 * norm(&[[h]]), "block eigenvalue {least:e}, seed {}", self.seed);
        }
    }

    fn invariance(&self, random: &mut Random) {
        let (rotation, shift) = (rotation(random), random.in_cube(1.0) * self.length);
        let moved = self.x.map(|x| rotation * x + shift);
        let (before, after) = (self.element.value(&self.x), self.element.value(&moved));
        let size = self.x.iter().map(|x| x.length()).fold(self.length, f64::max);
        // Roundings of the positions, felt through the force, and of the terms that cancel to a small energy.
        let terms = 1e-3 * self.stiffness * self.length * self.length;
        let scale = before.abs() + norm_of(&self.gradient) * size + terms;
        let error = (after - before).abs();
        assert!(error <= 1e-11 * scale, "rigid motion: {error:e} of {scale:e}, seed {}", self.seed);

        let force: Vec3 = self.gradient.iter().sum();
        let torque: Vec3 = (0..N).map(|i| self.x[i].cross(self.gradient[i])).sum();
        let scale = norm_of(&self.gradient) + 1e-4 * self.stiffness * self.length;
        assert!(force.length() <= 1e-10 * scale, "forces sum to {force}, seed {}", self.seed);
        assert!(torque.length() <= 1e-10 * scale * size, "torques sum to {torque}, seed {}", self.seed);
    }
}

fn norm_of<const N: usize>(v: &[Vec3; N]) -> f64 {
    v.iter().map(|v| v.length_squared()).sum::<f64>().sqrt()
}

fn norm<const N: usize>(h: &[[Mat3; N]; N]) -> f64 {
    h.iter().flatten().flat_map(|m| m.to_cols_array()).map(|v| v * v).sum::<f64>().sqrt()
}

/// The 3N×3N matrix of the blocks.
fn flat<const N: usize>(h: &[[Mat3; N]; N]) -> Vec<Vec<f64>> {
    (0..3 * N).map(|r| (0..3 * N).map(|c| h[r / 3][c / 3].col(c % 3)[r % 3]).collect()).collect()
}

/// Least eigenvalue of a symmetric matrix, by cyclic Jacobi rotations.
fn least_eigenvalue(m: &[Vec<f64>]) -> f64 {
    let n = m.len();
    let mut a = m.to_vec();
    for _ in 0..30 {
        for p in 0..n {
            for q in 0..p {
                let off = a[p][q];
                if off == 0.0 {
                    continue;
                }
                let tau = (a[q][q] - a[p][p]) / (2.0 * off);
                let t = 1f64.copysign(tau) / (tau.abs() + tau.hypot(1.0));
                let c = 1.0 / t.hypot(1.0);
                let s = c * t;
                for row in &mut a {
                    (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
                }
                let (rows_to_q, rows_from_p) = a.split_at_mut(p);
                for (x, y) in rows_from_p[0].iter_mut().zip(&mut rows_to_q[q]) {
                    (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
                }
            }
        }
    }
    (0..n).map(|k| a[k][k]).fold(f64::INFINITY, f64::min)
}

/// A triangle of any size, now and then a sliver up to a thousand times as long as high.
fn triangle(random: &mut Random) -> [Vec3; 3] {
    let size = random.log_between(1e-3, 1e0);
    let height = if random.chance(0.3) { random.log_between(1e-3, 1e0) } else { random.between(0.5, 1.2) };
    let frame = rotation(random) * size;
    let foot = random.between(-0.3, 1.3);
    [Vec3::ZERO, Vec3::X, Vec3::new(foot, height, 0.0)].map(|p| frame * p)
}

/// A tetrahedron of any size, now and then flat up to a hundred times.
fn tetrahedron(random: &mut Random) -> [Vec3; 4] {
    let size = random.log_between(1e-3, 1e0);
    let height = if random.chance(0.3) { random.log_between(1e-2, 1e0) } else { random.between(0.5, 1.2) };
    let frame = rotation(random) * size;
    let base = [Vec3::ZERO, Vec3::X, Vec3::new(random.between(-0.3, 1.3), random.between(0.4, 1.2), 0.0)];
    let top = Vec3::new(random.between(-0.5, 1.5), random.between(-0.5, 1.5), height);
    [base[0], base[1], base[2], top].map(|p| frame * p)
}

/// The shape after a rigid motion and a deformation: small, large, squashed or inverted ones.
fn deformed<const N: usize>(random: &mut Random, x: &[Vec3; N]) -> [Vec3; N] {
    let stretch = match (random.unit() * 5.0) as u32 {
        0 => Vec3::ONE + 1e-6 * random.in_cube(1.0),
        1 => Vec3::ONE + 0.2 * random.in_cube(1.0),
        2 => Vec3::new(
            random.log_between(1e-2, 3.162),
            random.log_between(0.501, 1.995),
            random.log_between(0.501, 1.995),
        ),
        3 => Vec3::new(
            -random.log_between(1e-1, 1.585),
            random.log_between(0.316, 1.995),
            random.log_between(0.316, 1.995),
        ),
        _ => Vec3::new(random.between(0.3, 3.0), random.between(0.3, 3.0), random.between(0.3, 3.0)),
    };
    let axes = rotation(random);
    let f = rotation(random) * axes * Mat3::from_diagonal(stretch) * axes.transpose();
    let shift = random.in_cube(1.0);
    x.map(|p| f * p + shift)
}

/// The element with a start of the step that differs from the present shape.
fn lagged<P: Potential<N>, const N: usize>(random: &mut Random, mut element: P, x: &[Vec3; N]) -> P {
    let x_n = deformed(random, x);
    element.lag(&x_n, random.log_between(1e-4, 1e-2));
    element
}

/// A maker of the same elements with damping at work.
fn damped<P: Potential<N>, const N: usize>(
    make: impl Fn(&mut Random) -> (P, [Vec3; N]),
) -> impl Fn(&mut Random) -> (P, [Vec3; N]) {
    move |random| {
        let (element, x) = make(random);
        (lagged(random, element, &x), x)
    }
}

fn spring(random: &mut Random) -> (Spring, [Vec3; 2]) {
    let ends = [random.in_cube(1.0), random.in_cube(1.0)];
    let rest = ends[0].distance(ends[1]) * random.between(0.2, 3.0);
    let element = Spring::new(rest, random.log_between(1e0, 1e6), 1e-3).expect("valid spring");
    (element, ends)
}

fn tether(random: &mut Random) -> (Tether, [Vec3; 4]) {
    let (spring, [top, _]) = spring(random);
    let (a, b) = (random.unit(), random.unit());
    let weights = [a * b, a * (1.0 - b), 1.0 - a];
    let flat = triangle(random);
    let corners = deformed(random, &flat).map(|p| p + top);
    (Tether::new(spring, weights).expect("valid tether"), [top, corners[0], corners[1], corners[2]])
}

fn rod_segment(random: &mut Random) -> (FramedSegment, [Vec3; 2]) {
    let ends = [random.in_cube(1.0), random.in_cube(1.0)];
    let length = ends[0].distance(ends[1]) * random.between(0.5, 2.0);
    let parameters = RodParameters {
        radius: random.log_between(1e-3, 1e-1),
        young: random.log_between(1e3, 1e9),
        shear: random.log_between(1e3, 1e9),
        flexural: 1.0,
        damping: 1e-3,
    };
    let segment = RodSegment::new(length, &parameters).expect("valid segment");
    (FramedSegment::new(segment, littoral_geom::math::Quat::from_mat3(&rotation(random))), ends)
}

fn membrane<P: Potential<3>>(
    random: &mut Random,
    new: fn([Vec3; 3], &MembraneParameters) -> Result<P, ElementError>,
) -> (P, [Vec3; 3]) {
    let x_rest = triangle(random);
    let parameters = MembraneParameters {
        young: random.log_between(1e3, 1e9),
        poisson: random.between(-0.9, 0.499),
        thickness: random.log_between(1e-4, 1e-2),
        damping: 1e-3,
    };
    let x = deformed(random, &x_rest);
    (new(x_rest, &parameters).expect("valid membrane"), x)
}

fn tet<P: Potential<4>>(
    random: &mut Random,
    least_poisson: f64,
    new: fn([Vec3; 4], f64, f64, f64) -> Result<P, ElementError>,
) -> (P, [Vec3; 4]) {
    let x_rest = tetrahedron(random);
    let poisson = random.between(least_poisson, 0.499);
    let element = new(x_rest, random.log_between(1e3, 1e9), poisson, 1e-3).expect("valid tet");
    (element, deformed(random, &x_rest))
}

/// A squeezed tet, its volume ratio mostly where the barrier acts.
fn collapse(random: &mut Random) -> (Collapse, [Vec3; 4]) {
    let x_rest = tetrahedron(random);
    let element =
        Collapse::new(x_rest, random.log_between(1e3, 1e9), random.between(0.0, 0.49)).expect("valid tet");
    let turn = rotation(random);
    let squeeze = Mat3::from_diagonal(Vec3::new(1.1, 0.9, random.between(0.02, 0.13)));
    let frame = turn * squeeze * rotation(random);
    (element, x_rest.map(|p| frame * p))
}

/// A fold by the angle about an edge of length one, before the motion.
fn hinge(random: &mut Random) -> (Hinge, [Vec3; 4]) {
    let mut shape = |angle: f64| {
        let mut height =
            || if random.chance(0.2) { random.log_between(1e-2, 1e0) } else { random.between(0.5, 1.2) };
        let (a, b) = (height(), height());
        let tip = Vec3::new(random.between(-0.3, 1.3), -b * f64::cos(angle), b * f64::sin(angle));
        let x = [Vec3::ZERO, Vec3::X, Vec3::new(random.between(-0.3, 1.3), a, 0.0), tip];
        let (frame, shift) = (rotation(random) * random.log_between(0.501, 1.995), random.in_cube(1.0));
        x.map(|p| frame * p + shift)
    };
    let (folded, flat) = (shape(PI - 0.05), shape(0.0));
    let (x_rest, x, x_n) = (shape(0.4), shape(-1.9), shape(-FRAC_PI_2));
    let mut element = Hinge::new(x_rest, 1e-4, 1e-3).expect("valid hinge");
    match (random.unit() * 4.0) as u32 {
        0 => return (element, flat),
        1 => {
            // Past the full fold: the angle goes on beyond π.
            element.lag(&folded, 1e-3);
            return (element, deformed_little(random, &folded, 0.05));
        }
        2 => element.lag(&x_n, 1e-3),
        _ => (),
    }
    (element, x)
}

fn deformed_little<const N: usize>(random: &mut Random, x: &[Vec3; N], size: f64) -> [Vec3; N] {
    let shortest =
        (1..N).flat_map(|i| (0..i).map(move |j| x[i].distance(x[j]))).fold(f64::INFINITY, f64::min);
    x.map(|p| p + size * shortest * random.in_cube(1.0))
}

fn drag(random: &mut Random) -> (Drag, [Vec3; 3]) {
    let x_n = triangle(random);
    let mut element = Drag::new(random.log_between(1e-1, 1e2)).expect("valid drag");
    element.lag(&x_n, random.log_between(1e-4, 1e-2));
    (element, deformed(random, &x_n))
}

fn inertia(random: &mut Random) -> (Inertia, [Vec3; 1]) {
    (Inertia::new(random.log_between(1e-6, 1e0), 1e-3, random.in_cube(1.0)), [random.in_cube(1.0)])
}

fn gravity(random: &mut Random) -> (Gravity, [Vec3; 1]) {
    (Gravity::new(random.log_between(1e-6, 1e0), Vec3::new(0.0, 0.0, -9.81)), [random.in_cube(1.0)])
}

fn neo_hookean_membrane(random: &mut Random) -> (NeoHookeanMembrane, [Vec3; 3]) {
    membrane(random, NeoHookeanMembrane::new)
}

fn st_venant_membrane(random: &mut Random) -> (StVenantMembrane, [Vec3; 3]) {
    membrane(random, StVenantMembrane::new)
}

fn stable_neo_hookean_tet(random: &mut Random) -> (StableNeoHookeanTet, [Vec3; 4]) {
    tet(random, -0.9, StableNeoHookeanTet::new)
}

/// The element after a flow that keeps the volume.
fn flowed(random: &mut Random, shape: [Vec3; 4]) -> [Vec3; 4] {
    let (a, b) = (random.log_between(0.5, 2.0), random.log_between(0.5, 2.0));
    let axes = rotation(random);
    let back = axes * Mat3::from_diagonal(Vec3::new(a, b, 1.0 / (a * b))) * axes.transpose();
    shape.map(|m| back.transpose() * m)
}

fn plastic_stable_neo_hookean_tet(random: &mut Random) -> (StableNeoHookeanTet, [Vec3; 4]) {
    let (mut element, x) = stable_neo_hookean_tet(random);
    element.set_shape(flowed(random, element.shape()));
    (element, x)
}

fn plastic_fixed_corotated_tet(random: &mut Random) -> (FixedCorotatedTet, [Vec3; 4]) {
    let (mut element, x) = fixed_corotated_tet(random);
    element.set_shape(flowed(random, element.shape()));
    (element, x)
}

/// Stretched by up to twice the limit in one direction, two or none. Not just at the limit, and not far from the origin:
/// the energy is C² and no more, so that only short steps tell its slopes, and they need every digit.
fn strain_limit(random: &mut Random) -> (StrainLimit, [Vec3; 3]) {
    let x_rest = triangle(random);
    let limit = random.log_between(1e-2, 1e0);
    let element =
        StrainLimit::new(x_rest, random.log_between(1e3, 1e9), 1e-3, limit).expect("valid triangle");
    let normal = (x_rest[1] - x_rest[0]).cross(x_rest[2] - x_rest[0]).normalize();
    let along = random.direction().reject_from(normal).normalize();
    let axes = Mat3::from_cols(along, normal.cross(along), normal);
    let mut stretch = || {
        let beyond = random.between(-0.5, 1.8);
        1.0 + limit * if beyond > 0.9 { beyond + 0.2 } else { beyond }
    };
    let stretch = Vec3::new(stretch(), stretch(), 1.0);
    let f = rotation(random) * axes * Mat3::from_diagonal(stretch) * axes.transpose();
    let shift = random.in_cube(1.0) * x_rest[0].distance(x_rest[1]);
    (element, x_rest.map(|p| f * p + shift))
}

fn fixed_corotated_tet(random: &mut Random) -> (FixedCorotatedTet, [Vec3; 4]) {
    tet(random, 0.0, FixedCorotatedTet::new)
}

/// Tests each energy of the list on its own.
macro_rules! registered {
    ($($name:ident: invariant $invariant:literal, projected $projected:literal, $make:expr;)*) => {$(
        #[test]
        fn $name() {
            check(2000, Promise { invariant: $invariant, projected: $projected }, $make);
        }
    )*};
}

// `projected false`: Gauss–Newton, in part or in whole.
registered! {
    inertia_is_sound: invariant false, projected true, inertia;
    gravity_is_sound: invariant false, projected true, gravity;
    drag_is_sound: invariant false, projected true, drag;
    spring_is_sound: invariant true, projected true, spring;
    damped_spring_is_sound: invariant true, projected true, damped(spring);
    tether_is_sound: invariant true, projected true, tether;
    damped_tether_is_sound: invariant true, projected true, damped(tether);
    rod_segment_is_sound: invariant false, projected true, rod_segment;
    damped_rod_segment_is_sound: invariant false, projected true, damped(rod_segment);
    hinge_is_sound: invariant true, projected false, hinge;
    neo_hookean_membrane_is_sound: invariant true, projected true, neo_hookean_membrane;
    damped_neo_hookean_membrane_is_sound: invariant true, projected false, damped(neo_hookean_membrane);
    st_venant_membrane_is_sound: invariant true, projected true, st_venant_membrane;
    damped_st_venant_membrane_is_sound: invariant true, projected false, damped(st_venant_membrane);
    stable_neo_hookean_tet_is_sound: invariant true, projected true, stable_neo_hookean_tet;
    damped_stable_neo_hookean_tet_is_sound: invariant true, projected false, damped(stable_neo_hookean_tet);
    fixed_corotated_tet_is_sound: invariant true, projected true, fixed_corotated_tet;
    strain_limit_is_sound: invariant true, projected true, strain_limit;
    plastic_stable_neo_hookean_tet_is_sound: invariant true, projected true, plastic_stable_neo_hookean_tet;
    plastic_fixed_corotated_tet_is_sound: invariant true, projected true, plastic_fixed_corotated_tet;
    damped_plastic_tet_is_sound: invariant true, projected false, damped(plastic_stable_neo_hookean_tet);
    collapse_is_sound: invariant true, projected false, collapse;
    damped_fixed_corotated_tet_is_sound: invariant true, projected false, damped(fixed_corotated_tet);
}
