//! Nodes beside the particles: invariants, mass ratios, and input that is not finite.

use super::tests::{Scene, crowded, dot, moved, random_field};
use super::*;
use littoral_geom::math::{Mat3, outer};
use littoral_geom::random::Random;

const H: f64 = 2e-3;

fn exact() -> SolveSettings {
    SolveSettings { tolerance: 1e-9, max_iterations: 2000, ..SolveSettings::default() }
}

/// A block of water on a free sheet of 6 × 6 nodes, the sheet's triangles as walls and contacts of the lowest layer.
///
/// ```text
///   o o o o o      particles, half a spacing above
///  ─.─.─.─.─.─     nodes
/// ```
struct OnSheet {
    fluid: Fluid,
    x: Vec<Vec3>,
    x_hat: Vec<Vec3>,
    links: Vec<Link>,
    walls: Vec<Wall>,
    nodes: Vec<Node>,
    node_motion: Vec<Vec3>,
}

fn on_sheet(mass: f64, stiffness: f64) -> OnSheet {
    let dx = 0.05;
    let mut random = Random::new(12);
    let mut x = Vec::new();
    for i in 0..100 {
        let place = Vec3::new((i % 5) as f64 + 0.5, (i / 5 % 5) as f64 + 0.5, (i / 25) as f64 + 0.5);
        x.push(dx * (place + 0.1 * random.in_cube(1.0)));
    }
    let water = FluidMaterial { density: 1000.0, viscosity: 0.1, stiffness: 1e6 };
    let mut fluid = Fluid::new(dx, 2.0, vec![water], vec![0; x.len()]).unwrap();
    let nodes = vec![Node { mass: mass * fluid.mass(0) }; 36];
    let (mut walls, mut links) = (Vec::new(), Vec::new());
    for (i, p) in x.iter().enumerate().filter(|(_, p)| p.z < 2.0 * dx) {
        // The triangle of the square's lower left half or of its upper right one.
        let (cx, cy) = ((p.x / dx).floor(), (p.y / dx).floor());
        let (s, t) = (p.x / dx - cx, p.y / dx - cy);
        let node = |a: f64, b: f64| ((cy + b) * 6.0 + cx + a) as u32;
        let (corners, weights) = if s + t < 1.0 {
            ([node(0.0, 0.0), node(1.0, 0.0), node(0.0, 1.0)], [1.0 - s - t, s, t])
        } else {
            ([node(1.0, 1.0), node(0.0, 1.0), node(1.0, 0.0)], [s + t - 1.0, 1.0 - s, 1.0 - t])
        };
        let wall = Wall { nodes: corners, weights, no_slip: true, ..Wall::fixed(i as u32, p.z, Vec3::Z) };
        walls.push(wall);
        if p.z < dx {
            let link = Link::fixed(
                i as u32,
                stiffness * (p.z - 0.5 * dx) * Vec3::Z,
                stiffness * outer(Vec3::Z, Vec3::Z),
            );
            links.push(Link { nodes: corners, weights, ..link });
        }
    }
    fluid.prepare(&x, H, &nodes, &walls, None);
    let x_hat = x.iter().map(|p| *p + H * (random.in_cube(0.5) - 0.5 * Vec3::Z)).collect();
    let node_motion = random_field(36, 0.2 * H, 13);
    OnSheet { fluid, x, x_hat, links, walls, nodes, node_motion }
}

#[test]
fn momentum_of_water_and_nodes_together_is_kept_to_rounding() {
    // A coarse solve, so that momentum does not come from convergence.
    let settings = SolveSettings { tolerance: 0.1, ..SolveSettings::default() };
    for mass in [1e-3, 1.0, 1e3] {
        let mut s = on_sheet(mass, 1e5);
        let found = s.fluid.solve(&s.x_hat, &s.node_motion, &s.links, &[], &settings);
        assert!(found.report.iterations > 0);
        let gained: Vec3 = moved(&found.x, -1.0, &s.x_hat).iter().map(|u| s.fluid.mass(0) * *u).sum();
        let by_nodes: Vec3 =
            moved(&found.nodes, -1.0, &s.node_motion).iter().map(|u| s.nodes[0].mass * *u).sum();
        let size: f64 = s.x_hat.iter().zip(&s.x).map(|(a, b)| s.fluid.mass(0) * a.distance(*b)).sum::<f64>()
            + s.node_motion.iter().map(|u| s.nodes[0].mass * u.length()).sum::<f64>();
        // Some hundred roundings of a few hundred terms each; positions of 0.2 m carry displacements of 1 mm.
        assert!((gained + by_nodes).length() < 1e-12 * size, "mass {mass}: {}", (gained + by_nodes) / size);
    }
}

#[test]
fn nodes_get_the_forces_of_walls_and_links() {
    let mut s = on_sheet(0.3, 1e5);
    let found = s.fluid.solve(&s.x_hat, &s.node_motion, &s.links, &[], &exact());
    assert!(found.report.converged);
    let mut forces = vec![Vec3::ZERO; s.nodes.len()];
    for (wall, force) in s.walls.iter().zip(&found.wall_forces) {
        for k in 0..3 {
            forces[wall.nodes[k] as usize] += wall.weights[k] * *force;
        }
    }
    for link in &s.links {
        let i = link.particle as usize;
        let point = (0..3).map(|k| link.weights[k] * found.nodes[link.nodes[k] as usize]).sum::<Vec3>();
        let force = link.gradient + link.hessian * (found.x[i] - s.x[i] - point);
        for k in 0..3 {
            forces[link.nodes[k] as usize] += link.weights[k] * force;
        }
    }
    let size = dot(&forces, &forces).sqrt();
    let inertia: Vec<Vec3> =
        moved(&found.nodes, -1.0, &s.node_motion).iter().map(|u| s.nodes[0].mass / (H * H) * *u).collect();
    let gap = moved(&inertia, -1.0, &forces);
    // The residual of the solve, 1e-9 of the start's, which is stiffer.
    assert!(size > 1.0 && dot(&gap, &gap).sqrt() < 1e-6 * size, "{} of {size}", dot(&gap, &gap).sqrt());
}

#[test]
fn light_and_heavy_nodes_converge() {
    // At a mass ratio of 1, contacts of the stiffness of the fluid; the others a million times lighter or heavier apart,
    // and contacts a thousand times stiffer.
    for (mass, stiffness) in [(1.0, 5e4), (1e-3, 5e4), (1e3, 5e4), (1e-3, 5e7), (1e3, 5e7)] {
        let mut s = on_sheet(mass, stiffness);
        for tolerance in [1e-3, 1e-8] {
            let settings = SolveSettings { tolerance, max_iterations: 2000, ..SolveSettings::default() };
            let report = s.fluid.solve(&s.x_hat, &s.node_motion, &s.links, &[], &settings).report;
            assert!(report.converged, "mass {mass}, stiffness {stiffness}: {report:?}");
        }
    }
}

/// Added mass: a sheet of no weight under a layer of water moves with it, whatever the force on it.
#[test]
fn a_weightless_sheet_moves_with_the_water() {
    let mut s = on_sheet(1e-3, 5e4);
    s.x_hat = s.x.iter().map(|p| *p - 0.1 * H * Vec3::Z).collect();
    s.node_motion = vec![Vec3::ZERO; s.nodes.len()];
    let links = s.links.iter().map(|l| Link { gradient: Vec3::ZERO, ..*l }).collect::<Vec<_>>();
    // No strain of the packing itself: what is left is inertia and the motion.
    s.fluid.system.ratio.fill(1.0);
    let found = s.fluid.solve(&s.x_hat, &s.node_motion, &links, &[], &exact());
    assert!(found.report.converged);
    let mean = |u: &[Vec3]| u.iter().map(|u| u.z).sum::<f64>() / u.len() as f64;
    let water = mean(&moved(&found.x, -1.0, &s.x));
    // The sheet is 1/2800 of the water's mass; that is what it takes from its momentum.
    assert!((water / (-0.1 * H) - 1.0).abs() < 1e-3, "{water}");
    for link in &links {
        let point = (0..3).map(|k| link.weights[k] * found.nodes[link.nodes[k] as usize].z).sum::<f64>();
        // A few thousandths of inertia in the balance of each particle against its corners.
        assert!((point / water - 1.0).abs() < 0.01, "{point} {water}");
    }
}

#[test]
fn a_held_node_is_a_prescribed_corner() {
    // All nodes held, against walls and links that are told the motion instead.
    let mut s = on_sheet(f64::INFINITY, 1e5);
    let held = s.fluid.solve(&s.x_hat, &s.node_motion, &s.links, &[], &exact());
    assert_eq!(held.nodes.iter().zip(&s.node_motion).filter(|(a, b)| a.distance(**b) > 1e-15).count(), 0);
    let motion = |nodes: [u32; 3], weights: [f64; 3]| -> Vec3 {
        (0..3).map(|k| weights[k] * s.node_motion[nodes[k] as usize]).sum()
    };
    let tell = |w: &Wall| Wall { nodes: [NO_NODE; 3], velocity: motion(w.nodes, w.weights) / H, ..*w };
    let walls: Vec<Wall> = s.walls.iter().map(tell).collect();
    let links: Vec<Link> = s
        .links
        .iter()
        .map(|l| Link { nodes: [NO_NODE; 3], motion: motion(l.nodes, l.weights), ..*l })
        .collect();
    s.fluid.prepare(&s.x, H, &[], &walls, None);
    let told = s.fluid.solve(&s.x_hat, &[], &links, &[], &exact());
    let gap = held.x.iter().zip(&told.x).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    assert!(gap < 1e-9 * s.fluid.spacing(), "{gap}");
    for (a, b) in held.wall_forces.iter().zip(&told.wall_forces) {
        assert!(a.distance(*b) < 1e-6, "{a} {b}");
    }
}

#[test]
fn absent_particles_change_nothing() {
    let Scene { mut fluid, links, x, node_motion } = crowded(0.3, 12, 0.5);
    let x_hat = moved(&x, 1e-3, &random_field(x.len(), 1.0, 6));
    let solve = |fluid: &mut Fluid, x_hat: &[Vec3], links: &[Link]| {
        fluid.solve(x_hat, &node_motion, links, &[], &SolveSettings::default())
    };
    let nodes = vec![Node { mass: 0.1 }; 12];
    fluid.prepare(&x, H, &nodes, &[], None);
    let alone = solve(&mut fluid, &x_hat, &links);
    // Between each two particles one that is not there, in the middle of the others.
    let twice = |x: &[Vec3]| x.iter().flat_map(|p| [Vec3::splat(0.07), *p]).collect::<Vec<_>>();
    let kinds = fluid.kinds().iter().flat_map(|k| [ABSENT, *k]).collect();
    fluid.set_kinds(kinds).unwrap();
    fluid.prepare(&twice(&x), H, &nodes, &[], None);
    let moved_links: Vec<Link> = links.iter().map(|l| Link { particle: 2 * l.particle + 1, ..*l }).collect();
    let among = solve(&mut fluid, &twice(&x_hat), &moved_links);
    assert_eq!(among.report, alone.report);
    assert_eq!(among.nodes, alone.nodes);
    for i in 0..x.len() {
        assert_eq!(among.x[2 * i + 1], alone.x[i]);
        assert_eq!(among.x[2 * i], Vec3::splat(0.07));
    }
    assert_eq!(fluid.fill()[0], 0.0);
    assert_eq!(fluid.mass(0), 0.0);
}

#[test]
fn numbers_that_are_not_finite_spoil_nothing_else() {
    let Scene { mut fluid, links, mut x, mut node_motion } = crowded(0.3, 12, 0.5);
    let mut x_hat = moved(&x, 1e-3, &random_field(x.len(), 1.0, 6));
    let bad = Vec3::new(0.0, f64::NAN, 0.0);
    x[0] = bad;
    x_hat[3] = bad;
    x_hat[5] = Vec3::splat(f64::INFINITY);
    x_hat[6] = Vec3::splat(1e300);
    node_motion[2] = bad;
    let mut links = links.clone();
    links[1].gradient = bad;
    links[2].hessian = Mat3::from_diagonal(bad);
    let walls = [Wall { velocity: bad, ..Wall::fixed(9, 0.01, Vec3::X) }, Wall::fixed(10, f64::NAN, Vec3::X)];
    let nodes = [Node { mass: 0.1 }; 12];
    fluid.prepare(&x, H, &nodes, &walls, None);
    let mut warm = vec![Vec3::ZERO; x.len()];
    warm[8] = bad;
    let found = fluid.solve(&x_hat, &node_motion, &links, &warm, &SolveSettings::default());
    // x[0]; three predictors, and x̂ − xⁿ of x[0] is of no particle there; a node; two links; two walls.
    assert_eq!(found.report.ignored, 1 + 3 + 1 + 2 + 2);
    assert!(found.report.converged, "{:?}", found.report);
    assert!(found.x.iter().skip(1).all(|x| x.is_finite()));
    assert!(found.nodes.iter().all(|u| u.is_finite()));
    assert!(found.x[0].y.is_nan());
    // Where inertia itself overflows there is no solution, and no panic.
    let huge = [Node { mass: 1e300 }; 12];
    fluid.prepare(&x, H, &huge, &walls, None);
    fluid.solve(&x_hat, &node_motion, &links, &warm, &SolveSettings::default());
}

#[test]
fn the_bits_with_nodes_do_not_depend_on_the_number_of_threads() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut s = on_sheet(0.1, 1e6);
            s.fluid.solve(&s.x_hat, &s.node_motion, &s.links, &[], &SolveSettings::default())
        })
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(3));
}
