//! Derivatives, invariants and the dense twin of the quadratic problem.

use super::node_operator::Block;
use super::*;
use littoral_geom::math::Mat3;
use littoral_geom::random::Random;

/// A jittered block with walls in the corner, links, and two fluids; and what its nodes would do without it.
pub(super) struct Scene {
    pub fluid: Fluid,
    pub links: Vec<Link>,
    pub x: Vec<Vec3>,
    pub node_motion: Vec<Vec3>,
}

/// With `nodes` of that mass in particles, each wall and link has some of them as corners; without, all is prescribed.
pub(super) fn crowded(viscosity: f64, nodes: usize, mass: f64) -> Scene {
    let dx = 0.05;
    let mut random = Random::new(7);
    let mut x = Vec::new();
    for k in 0..4 {
        for j in 0..4 {
            for i in 0..5 {
                x.push(dx * (Vec3::new(i as f64, j as f64, k as f64) + 0.2 * random.in_cube(1.0)));
            }
        }
    }
    let water = FluidMaterial { density: 1000.0, viscosity, stiffness: 2e5 };
    let oil = FluidMaterial { density: 700.0, viscosity: 3.0 * viscosity, stiffness: 1e5 };
    let kinds = (0..x.len() as u32).map(|i| i % 2).collect();
    let mut fluid = Fluid::new(dx, 2.0, vec![water, oil], kinds).unwrap();
    // Two of three corners are nodes, or all of them, or none.
    let corners = |i: usize| {
        let pick = |k: usize| if nodes == 0 || i % 4 == k { NO_NODE } else { ((3 * i + k) % nodes) as u32 };
        if i.is_multiple_of(7) { [NO_NODE; 3] } else { [pick(0), pick(1), pick(2)] }
    };
    let weights = [0.5, 0.3, 0.2];
    let mut walls = Vec::new();
    for (i, p) in x.iter().enumerate() {
        for (normal, distance) in [(Vec3::X, p.x + 0.6 * dx), (Vec3::Z, p.z + 0.4 * dx)] {
            let velocity = Vec3::new(0.1, 0.2, -0.1);
            let wall = Wall { velocity, no_slip: i % 3 == 0, ..Wall::fixed(i as u32, distance, normal) };
            walls.push(Wall { nodes: corners(i), weights, ..wall });
        }
    }
    let hessian = Mat3::from_diagonal(Vec3::new(1e3, 5e3, 2e4));
    // Two links each of a particle.
    let link = |k: usize| {
        let link = Link::fixed((k / 2 * 7) as u32, random.in_cube(2.0), hessian);
        Link { nodes: corners(k + 1), weights, motion: random.in_cube(1e-4), ..link }
    };
    let links = (0..20).map(link).collect();
    let node = Node { mass: mass * 1000.0 * dx.powi(3) };
    fluid.prepare(&x, 2e-3, &vec![node; nodes], &walls, None);
    Scene { fluid, links, x, node_motion: random_field(nodes, 1e-3, 11) }
}

pub(super) fn random_field(n: usize, size: f64, seed: u64) -> Vec<Vec3> {
    let mut random = Random::new(seed);
    (0..n).map(|_| random.in_cube(size)).collect()
}

pub(super) fn dot(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum()
}

/// a + s b.
pub(super) fn moved(a: &[Vec3], s: f64, b: &[Vec3]) -> Vec<Vec3> {
    a.iter().zip(b).map(|(a, b)| *a + s * *b).collect()
}

impl Fluid {
    pub(super) fn gradient_at(&mut self, predictor: &[Vec3], u: &[Vec3]) -> Vec<Vec3> {
        self.work.full_gradient(&self.grid, &self.system, predictor, u);
        self.work.gradient().to_vec()
    }

    /// The Hessian, column by column from differences of the gradient, which is affine.
    pub(super) fn dense_hessian(&mut self) -> Vec<Vec<Vec3>> {
        let n = self.system.len() + self.system.nodes.len();
        let zero = vec![Vec3::ZERO; n];
        let at_zero = self.gradient_at(&zero, &zero);
        let mut columns = Vec::new();
        for k in 0..3 * n {
            let mut unit = zero.clone();
            unit[k / 3][k % 3] = 1.0;
            columns.push(moved(&self.gradient_at(&zero, &unit), -1.0, &at_zero));
        }
        columns
    }
}

#[test]
fn the_gradient_is_the_derivative_of_the_energy() {
    for (viscosity, nodes) in [(0.0, 0), (0.3, 0), (0.0, 12), (0.3, 12)] {
        let Scene { mut fluid, links, x, .. } = crowded(viscosity, nodes, 0.5);
        fluid.set_terms(&links);
        fluid.system.active.fill(true);
        for slot in (0..x.len()).step_by(5) {
            fluid.system.active[slot] = false;
        }
        let n = x.len() + nodes;
        let predictor = random_field(n, 0.1, 1);
        let u = random_field(n, 0.1, 2);
        let d = random_field(n, 1.0, 3);
        let energy = |u: &[Vec3]| solve::energy(&fluid.grid, &fluid.system, &predictor, u);
        // The energy is quadratic: a central difference has no error but rounding, at any step.
        let e = 0.01;
        let found = (energy(&moved(&u, e, &d)) - energy(&moved(&u, -e, &d))) / (2.0 * e);
        let expected = dot(&fluid.gradient_at(&predictor, &u), &d);
        assert!(
            (found - expected).abs() < 1e-11 * expected.abs().max(100.0),
            "ν = {viscosity}, {nodes} nodes: {found} {expected}"
        );
    }
}

#[test]
fn the_linear_volume_ratio_is_the_derivative_of_the_summed_one() {
    let Scene { mut fluid, x, .. } = crowded(0.0, 0, 1.0);
    let n = x.len();
    let direction = random_field(n, 1.0, 4);
    // Strains and summed densities after a move by e, in the caller's order; free surfaces are completed at xⁿ, so
    // compare φ itself: φ = φⁿ − s/(1 − γ).
    let mut errors = Vec::new();
    let slots = fluid.slots.clone();
    let fill = fluid.fill();
    for e in [2e-2, 1e-2] {
        let mut u = vec![Vec3::ZERO; n];
        for i in 0..n {
            u[slots[i] as usize] = e * direction[i];
        }
        let (mut strain, mut sum) = (Vec::new(), 0.0);
        incompressibility::strain(&fluid.grid, &fluid.system, &u, &mut strain);
        let mut other = fluid.clone();
        let there: Vec<Vec3> = (0..n).map(|i| x[i] + e * fluid.spacing * direction[i]).collect();
        let walls: Vec<Wall> = wall_list(&there, fluid.spacing);
        other.prepare(&there, 2e-3, &[], &walls, None);
        for (i, f) in other.fill().iter().enumerate() {
            let slot = slots[i] as usize;
            sum += (f - fill[i] + fluid.system.open[slot] * strain[slot]).powi(2);
        }
        errors.push(sum.sqrt());
    }
    // Halving the move quarters the error.
    let ratio = errors[0] / errors[1];
    assert!((3.6..4.4).contains(&ratio), "{errors:?}");
    fluid.prepare(&x, 2e-3, &[], &[], None);
}

/// The walls of [`crowded`].
fn wall_list(x: &[Vec3], dx: f64) -> Vec<Wall> {
    let mut walls = Vec::new();
    for (i, p) in x.iter().enumerate() {
        for (normal, distance) in [(Vec3::X, p.x + 0.6 * dx), (Vec3::Z, p.z + 0.4 * dx)] {
            walls.push(Wall::fixed(i as u32, distance, normal));
        }
    }
    walls
}

#[test]
fn the_hessian_is_symmetric_and_the_fast_one_and_its_blocks_agree() {
    for (viscosity, nodes) in [(0.0, 0), (0.3, 0), (0.0, 12), (0.3, 12)] {
        let Scene { mut fluid, links, x, .. } = crowded(viscosity, nodes, 0.5);
        let n = x.len() + nodes;
        fluid.set_terms(&links);
        fluid.system.active.fill(true);
        let columns = fluid.dense_hessian();
        let largest = columns.iter().flatten().map(|v| v.abs().max_element()).fold(0.0, f64::max);
        for a in 0..3 * n {
            for b in 0..a {
                let skew = columns[a][b / 3][b % 3] - columns[b][a / 3][a % 3];
                assert!(skew.abs() < 1e-12 * largest, "entry {a} {b}");
            }
        }
        let mut operator = operator::Operator::default();
        operator.load(&fluid.system);
        let mut blocks = Vec::new();
        operator.blocks(&fluid.grid, &fluid.system, &mut blocks);
        for (slot, block) in blocks.iter().enumerate() {
            for k in 0..3 {
                let error = (block.widened().col(k) - columns[3 * slot + k][slot]).abs().max_element();
                assert!(error < 1e-6 * largest, "block {slot}: {error} of {largest}");
            }
        }
        let mut inverses = Vec::new();
        operator.node_inverses(&fluid.system, &mut inverses);
        assert_eq!(inverses.len(), nodes);
        for (node, inverse) in inverses.iter().enumerate() {
            for k in 0..3 {
                let column = columns[3 * (x.len() + node) + k][x.len() + node];
                let unit = operator::widen(inverse.times(operator::narrow(column)));
                // Single precision times a condition of some ten.
                assert!((unit - Vec3::AXES[k]).length() < 1e-5, "node {node}: {unit}");
            }
        }
        let p = random_field(n, 1.0, 5);
        let mut expected = vec![Vec3::ZERO; n];
        for (k, column) in columns.iter().enumerate() {
            expected = moved(&expected, p[k / 3][k % 3], column);
        }
        for (m, p) in operator.moving.iter_mut().zip(&p) {
            m.p = operator::narrow(*p);
        }
        let mut out = vec![glam::Vec4::ZERO; n];
        let curvature = operator.apply(&fluid.grid, &fluid.system, &mut out);
        for (found, expected) in out.iter().zip(&expected) {
            let error = (operator::widen(*found) - *expected).abs().max_element();
            // Some sixty single-precision terms of either pass.
            assert!(error < 1e-5 * largest, "ν = {viscosity}: {error} of {largest}");
        }
        assert!((curvature - dot(&p, &expected)).abs() < 1e-5 * curvature);
    }
}

#[test]
fn the_solution_is_the_minimum() {
    for nodes in [0, 12] {
        let Scene { mut fluid, links, x, node_motion } = crowded(0.3, nodes, 0.5);
        let x_hat = moved(&x, 1e-3, &random_field(x.len(), 1.0, 6));
        let settings = SolveSettings { tolerance: 1e-9, max_iterations: 2000, ..SolveSettings::default() };
        let solution = fluid.solve(&x_hat, &node_motion, &links, &[], &settings);
        assert!(solution.report.converged, "{:?}", solution.report);
        let (predictor, u) = (fluid.predictor.clone(), fluid.u.clone());
        let at_predictor = fluid.gradient_at(&predictor, &predictor);
        let at_solution = fluid.gradient_at(&predictor, &u);
        let norm = |g: &[Vec3]| dot(g, g).sqrt();
        // The tolerance is in the preconditioner's norm; the plain one differs by at most its condition.
        assert!(norm(&at_solution) < 1e-7 * norm(&at_predictor));
        // A warm start changes the way, not the end.
        let mut warm = moved(&solution.x, -1.0, &x_hat);
        warm.extend(moved(&solution.nodes, -1.0, &node_motion));
        let again = fluid.solve(&x_hat, &node_motion, &links, &warm, &settings);
        assert!(again.report.iterations < solution.report.iterations);
        let pairs = again.x.iter().zip(&solution.x).chain(again.nodes.iter().zip(&solution.nodes));
        let gap = pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(gap < 1e-8 * fluid.spacing, "{gap}");
    }
}

#[test]
fn forces_on_walls_are_minus_those_on_the_fluid() {
    let Scene { mut fluid, x, .. } = crowded(0.3, 0, 1.0);
    let x_hat = moved(&x, 1e-3, &random_field(x.len(), 1.0, 6));
    let settings = SolveSettings { tolerance: 1e-9, max_iterations: 2000, ..SolveSettings::default() };
    let solution = fluid.solve(&x_hat, &[], &[], &[], &settings);
    let h = 2e-3;
    let gained: Vec3 = (0..x.len()).map(|i| fluid.mass(i) * (solution.x[i] - x_hat[i]) / (h * h)).sum();
    let on_walls: Vec3 = solution.wall_forces.iter().sum();
    // Pairs cancel, so what the fluid gains in a step it gains from walls, up to the residual.
    assert!((gained + on_walls).length() < 1e-6 * on_walls.length(), "{gained} {on_walls}");
}

#[test]
fn viscosity_has_its_value_on_a_lattice() {
    // Shear waves along an axis and along a diagonal decay at νk²; the lattice is large enough that the middle
    // particle sees nothing of its ends.
    let (dx, nu, h) = (0.1, 0.02, 1e-2);
    let mut x = Vec::new();
    for k in -4..=4 {
        for j in -4..=4 {
            x.extend((-4..=4).map(|i| dx * Vec3::new(f64::from(i), f64::from(j), f64::from(k))));
        }
    }
    let water = FluidMaterial { density: 1000.0, viscosity: nu, stiffness: 1e5 };
    let mut fluid = Fluid::new(dx, 2.0, vec![water], vec![0; x.len()]).unwrap();
    fluid.prepare(&x, h, &[], &[], None);
    let middle = x.iter().position(|p| p.length() < 1e-9).unwrap();
    let middle = fluid.slots[middle] as usize;
    let s = 0.5_f64.sqrt();
    let waves = [
        (Vec3::X, Vec3::Y, 0.02),
        (Vec3::new(s, s, 0.0), Vec3::Z, 0.06),
        (Vec3::new(s, s, 0.0), Vec3::new(s, -s, 0.0), 0.25),
    ];
    for (along, direction, band) in waves {
        // Wavelength 24 spacings.
        let k = std::f64::consts::TAU / (24.0 * dx);
        let wave = |p: Vec3| (k * along.dot(p) * dx).cos() * direction;
        let u: Vec<Vec3> = fluid.system.x.iter().map(|p| wave(*p - fluid.system.x[middle])).collect();
        let mut gradient = vec![Vec3::ZERO; x.len()];
        viscosity::add_gradient(&fluid.grid, &fluid.system, &u, &mut gradient);
        let rate = gradient[middle].dot(direction) / h;
        // 1 − (k dx)²/12 of a second difference, and the lattice's anisotropy.
        assert!((rate / (nu * k * k) - 1.0).abs() < band, "{along} {direction}: {}", rate / (nu * k * k));
    }
}

/// Start-up of plane channel flow between no-slip walls, with the matrix that the particles of a lattice of 20 layers
/// make of viscosity and wall drag.
///
/// ```text
///  ════════  no slip
///  o o o o   → force F per mass
///  o o o o
///  ════════  no slip
/// ```
#[test]
fn channel_flow_starts_up_as_poiseuille() {
    let (length, nu, force, layers) = (1e-3, 1e-6, 1e-4, 20);
    let dx = length / layers as f64;
    let mut x = Vec::new();
    for j in 0..layers {
        for k in -2..=2 {
            x.extend((-2..=2).map(|i| dx * Vec3::new(f64::from(i), j as f64 + 0.5, f64::from(k))));
        }
    }
    let mut walls = Vec::new();
    for (i, p) in x.iter().enumerate() {
        for (normal, distance) in [(Vec3::Y, p.y), (-Vec3::Y, length - p.y)] {
            walls.push(Wall { no_slip: true, ..Wall::fixed(i as u32, distance, normal) });
        }
    }
    let h = 2.5e-4;
    let water = FluidMaterial { density: 1000.0, viscosity: nu, stiffness: 1.0 };
    let mut fluid = Fluid::new(dx, 2.0, vec![water], vec![0; x.len()]).unwrap();
    fluid.prepare(&x, h, &[], &walls, None);
    fluid.set_terms(&[]);
    // Row of the middle particle of each layer against each layer as a whole: h times the rate.
    let layer = |p: Vec3| (p.y / dx) as usize;
    let mut columns = Vec::new();
    for b in 0..layers {
        // Column b of the matrix.
        let mut u = vec![Vec3::ZERO; x.len()];
        for (i, p) in x.iter().enumerate() {
            u[fluid.slots[i] as usize] = if layer(*p) == b { Vec3::X } else { Vec3::ZERO };
        }
        let mut gradient = vec![Vec3::ZERO; x.len()];
        viscosity::add_gradient(&fluid.grid, &fluid.system, &u, &mut gradient);
        for d in &fluid.system.diagonals {
            gradient[d.slot as usize] += d.hessian * u[d.slot as usize];
        }
        let middle = x.iter().enumerate().filter(|(_, p)| p.x == 0.0 && p.z == 0.0);
        // The lattice was filled layer by layer.
        columns.push(middle.map(|(i, _)| gradient[fluid.slots[i] as usize].x).collect::<Vec<f64>>());
    }
    let mut v = vec![0.0; layers];
    let expected = [(0.0225, 2.233e-6), (0.045, 4.235e-6), (0.1125, 8.250e-6), (1.0, 1.2499e-5)];
    let mut at = expected.iter();
    let mut next = at.next();
    for step in 1..=4000 {
        let pushed: Vec<f64> = v.iter().map(|v| v + h * force).collect();
        // (1 + hA) v = pushed, by sweeps of Gauss and Seidel: the matrix is diagonally dominant.
        for _ in 0..20 {
            for a in 0..layers {
                let rest: f64 = (0..layers).filter(|b| *b != a).map(|b| columns[b][a] * v[b]).sum();
                v[a] = (pushed[a] - rest) / (1.0 + columns[a][a]);
            }
        }
        if let Some((time, speed)) = next
            && h * f64::from(step) >= time - 1e-9
        {
            let middle = v[layers / 2];
            // The layer is half a spacing off the middle (0.25 %), a first-order step, ν of a lattice exact.
            assert!((middle / speed - 1.0).abs() < 0.03, "t = {time}: {middle} for {speed}");
            next = at.next();
        }
    }
}

#[test]
fn a_hidden_pair_is_no_pair() {
    let dx = 0.1;
    let x = [Vec3::ZERO, dx * Vec3::X, 1.5 * dx * Vec3::Y];
    let water = FluidMaterial { density: 1000.0, viscosity: 0.0, stiffness: 1e5 };
    let mut fluid = Fluid::new(dx, 2.0, vec![water], vec![0; 3]).unwrap();
    fluid.prepare(&x, 1e-3, &[], &[], None);
    let open = fluid.fill();
    let sees = |a: u32, b: u32| !(a == 0 && b == 1);
    let visibility = Visibility { near_surface: &[true, true, false], sees: &sees };
    fluid.prepare(&x, 1e-3, &[], &[], Some(&visibility));
    let hidden = fluid.fill();
    let pair = dx.powi(3) * Kernel::new(2.0 * dx, dx).value(dx);
    for i in 0..2 {
        assert!((open[i] - hidden[i] - pair).abs() < 1e-6);
    }
    assert_eq!(open[2], hidden[2]);
}

#[test]
fn wrong_materials_and_kinds_are_refused() {
    let water = FluidMaterial { density: 1000.0, viscosity: 0.0, stiffness: 1e5 };
    let error = |m: FluidMaterial| Fluid::new(0.1, 2.0, vec![m], vec![]).unwrap_err().to_string();
    assert!(
        error(FluidMaterial { density: -1.0, ..water }).contains("the density of fluid 0 must be > 0 kg/m³")
    );
    assert!(error(FluidMaterial { viscosity: f64::NAN, ..water }).contains("viscosity"));
    assert!(Fluid::new(0.0, 2.0, vec![water], vec![]).is_err());
    let error = Fluid::new(0.1, 2.0, vec![water], vec![0, 3]).unwrap_err();
    assert_eq!(error, FluidError::Kind { particle: 1, kind: 3, fluids: 1 });
    let mut none = Fluid::new(0.1, 2.0, vec![water], vec![]).unwrap();
    none.prepare(&[], 1e-3, &[], &[], None);
    assert!(none.solve(&[], &[], &[], &[], &SolveSettings::default()).report.converged);
}

#[test]
fn weak_viscosity_is_the_same_explicitly_and_implicitly() {
    let (dx, h) = (0.1, 1e-2);
    let mut random = Random::new(8);
    let x: Vec<Vec3> = (0..216)
        .map(|i| {
            dx * (Vec3::new((i % 6) as f64, (i / 6 % 6) as f64, (i / 36) as f64) + 0.1 * random.in_cube(1.0))
        })
        .collect();
    // On either side of the border, and the same force once the viscosity is scaled out.
    let mut found = Vec::new();
    for factor in [0.999, 1.001] {
        let viscosity = factor * viscosity::EXPLICIT_BELOW * dx * dx / h;
        let water = FluidMaterial { density: 1000.0, viscosity, stiffness: 1e-3 };
        let mut fluid = Fluid::new(dx, 2.0, vec![water], vec![0; x.len()]).unwrap();
        fluid.prepare(&x, h, &[], &[], None);
        assert_eq!(fluid.system.has_viscosity(), factor > 1.0);
        let x_hat = moved(&x, 0.1 * dx, &random_field(x.len(), 1.0, 9));
        let settings = SolveSettings { tolerance: 1e-7, ..SolveSettings::default() };
        let solution = fluid.solve(&x_hat, &[], &[], &[], &settings);
        found.push(moved(&solution.x, -1.0, &x_hat));
    }
    let gap = moved(&found[0], -1.0, &found[1]);
    // White noise is the shortest wave of all.
    assert!(dot(&gap, &gap).sqrt() < 0.08 * dot(&found[0], &found[0]).sqrt());
}
