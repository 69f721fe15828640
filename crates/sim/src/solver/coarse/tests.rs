use super::*;
use crate::contact::{Contacts, Slip};
use crate::motion::Motion;
use crate::safe::{Detection, SafePositions};
use crate::scene::{ClothMaterial, Pin, Placement, SceneBuilder};
use crate::settings::{ContactSettings, SolverSettings};
use crate::simulation::Simulation;
use littoral_geom::random::Random;
use littoral_geom::shapes;

const SPACING: f64 = 0.02;

/// A sheet of 15 × 15 cells of 2 cm in the xy plane; with `pinned`, two corners of it are held.
fn sheet(settings: SolverSettings, pinned: bool) -> Simulation {
    let mut scene = SceneBuilder::new(settings, ContactSettings::default());
    let corners = Pin { vertices: vec![0, 15], motion: Motion::Static, release: None };
    let pins = if pinned { vec![corners] } else { Vec::new() };
    let placement = Placement { name: "sheet".into(), pins, ..Placement::default() };
    let mesh = shapes::grid([15.0 * SPACING; 2], [15, 15]);
    scene.add_cloth(placement, mesh, ClothMaterial { young: 8e6, ..ClothMaterial::default() });
    scene.build().unwrap()
}

/// The sheet bent to a radius of 20 cm.
fn rolled(x: &[Vec3]) -> Vec<Vec3> {
    let r = 0.2;
    x.iter().map(|p| Vec3::new(r * (p.x / r).sin(), p.y, r - r * (p.x / r).cos())).collect()
}

#[test]
fn translations_are_exact_and_small_rotations_of_a_bent_sheet_nearly() {
    let sim = sheet(SolverSettings::default(), false);
    let mut space = CoarseSpace::new(sim.system());
    assert!(space.nodes.len() > 8 && space.nodes.len() < 64, "{} nodes of 256 points", space.nodes.len());
    let x = rolled(sim.x_rest());
    space.weigh(&x, &vec![false; x.len()]);
    let axis = Vec3::new(0.6, -0.3, 0.5);
    let at_nodes =
        |f: &dyn Fn(Vec3) -> Vec3| -> Vec<Vec3> { space.nodes.iter().map(|&v| f(x[v as usize])).collect() };
    let (shifted, turned) = (at_nodes(&|_| axis), at_nodes(&|p| axis.cross(p)));
    let mut squares = 0.0;
    for (v, p) in x.iter().enumerate() {
        // The weights add to one by construction: a few roundings.
        assert!((space.interpolate(v, &shifted) - axis).length() < 1e-13);
        squares += (space.interpolate(v, &turned) - axis.cross(*p)).length_squared();
    }
    // Nodes are some 4 cells apart. The regularisation takes a hundredth of the variance they span, more at the border,
    // where they lie on one side; without a linear part the error would be a share of their distance everywhere.
    let error = (squares / x.len() as f64).sqrt();
    assert!(error < 0.1 * 4.0 * SPACING * axis.length(), "{error}");
}

/// Pᵀ H P against products with P and H.
#[test]
fn the_coarse_hessian_is_the_galerkin_product() {
    let sim = sheet(SolverSettings::default(), true);
    let system = sim.system();
    let mut coarse = CoarseCorrection::new(system);
    let mut held = vec![false; system.mass.len()];
    (held[0], held[15]) = (true, true);
    let x = rolled(sim.x_rest());
    coarse.begin(system, &x, &held, 240.0 * 240.0);
    coarse.coarse.set_values(&coarse.elastic);
    let mut random = Random::new(11);
    // Nodes that are held have no equation.
    let nodes = coarse.space.nodes.clone();
    let u: Vec<Vec3> =
        nodes.iter().map(|&v| if held[v as usize] { Vec3::ZERO } else { random.in_cube(1.0) }).collect();
    let fine: Vec<Vec3> = coarse.points.iter().map(|&v| coarse.space.interpolate(v as usize, &u)).collect();
    let (mut pulled, mut expected) = (Vec::new(), vec![Vec3::ZERO; nodes.len()]);
    coarse.fine.multiply(&fine, &mut pulled);
    for (c, e) in expected.iter_mut().enumerate() {
        *e = coarse.space.moved_by(c).map(|(v, w)| w * pulled[v as usize]).sum();
    }
    let mut found = Vec::new();
    coarse.coarse.multiply(&u, &mut found);
    let size = expected.iter().map(|e| e.length()).fold(0.0, f64::max);
    for (f, e) in found.iter().zip(&expected) {
        // Sums of some thousand terms of the size of the largest.
        assert!((*f - *e).length() < 1e-12 * size, "{f} against {e}");
    }
}

/// At rest on its own quadratic model the correction takes the whole force off the nodes.
#[test]
fn the_correction_lowers_the_objective_and_unloads_the_nodes() {
    let sim = sheet(SolverSettings::default(), true);
    let system = sim.system();
    let mut coarse = CoarseCorrection::new(system);
    let mut held = vec![false; system.mass.len()];
    (held[0], held[15]) = (true, true);
    let x = sim.x_rest().to_vec();
    let h = 1.0 / 240.0;
    let y: Vec<Vec3> = x.iter().map(|p| *p + h * h * Vec3::new(9.81, 0.0, 0.0)).collect();
    let mut contacts = Contacts::default();
    let detection = Detection::unlimited(&SafePositions::trusted(x.clone()));
    system.contact.activate(&system.geometry, &detection, &x, h, &mut contacts);
    let objective = Objective {
        elastic: &system.elastic,
        contacts: &contacts,
        slip: Slip { x_n: &x, epsilon: 1e-5 },
        color_of: &system.color_of,
        mass: &system.mass,
        y: &y,
        inverse_h2: 1.0 / (h * h),
    };
    coarse.begin(system, &x, &held, 1.0 / (h * h));
    let force = |coarse: &CoarseCorrection, x: &[Vec3]| -> f64 {
        let pull = |(v, w): (u32, f64)| w * objective.gradient(v, x);
        (0..coarse.space.nodes.len()).map(|c| coarse.space.moved_by(c).map(pull).sum::<Vec3>().length()).sum()
    };
    let before = force(&coarse, &x);
    let mut dx = vec![Vec3::ZERO; x.len()];
    coarse.propose(system, &objective, &x, &held, &mut dx);
    let moved: Vec<Vec3> = x.iter().zip(&dx).map(|(p, d)| *p + *d).collect();
    let (mut then, mut now) = (Vec::new(), Vec::new());
    values(system, &objective, &x, &held, &mut then);
    values(system, &objective, &moved, &held, &mut now);
    assert!(now[0] < then[0], "{} from {}", now[0], then[0]);
    // The strain of a step of gravity is 1e-5, the error of the quadratic model its square.
    let after = force(&coarse, &moved);
    assert!(after < 1e-2 * before, "{after} of {before} N");
    assert!(dx[0] == Vec3::ZERO && dx[15] == Vec3::ZERO);
}

/// Largest stretch of a sheet that hangs from two corners for half a second.
fn hanging_stretch(coarse: bool, iterations: u32) -> f64 {
    let mut sim = sheet(SolverSettings { iterations, coarse, ..SolverSettings::default() }, true);
    for _ in 0..120 {
        sim.step(1.0 / 240.0);
    }
    let (x, rest) = (&sim.state().x, sim.x_rest());
    let stretch = |e: &[u32; 2]| {
        let [a, b] = e.map(|v| v as usize);
        x[a].distance(x[b]) / rest[a].distance(rest[b])
    };
    sim.edges().iter().map(stretch).fold(0.0, f64::max)
}

/// Half of its weight of 0.18 N on the width of one cell is a strain of 0.002.
#[test]
fn a_hanging_sheet_keeps_its_length_in_one_sweep() {
    let (with, without) = (hanging_stretch(true, 1), hanging_stretch(false, 1));
    assert!(with < 1.01 && without > 1.05, "stretch {with} with the correction, {without} without");
}

#[test]
fn the_correction_gives_the_same_bits_on_any_number_of_threads() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| hanging_stretch(true, 2).to_bits())
    };
    assert_eq!(run(1), run(3));
}
