//! Attachments and rules for pairs of objects: statics, periods and stopping distances against closed forms.

use littoral_geom::math::Vec3;
use littoral_geom::shapes;
use littoral_sim::motion::Motion;
use littoral_sim::pairing::PairRule;
use littoral_sim::scene::{
    AttachTo, Attachment, ClothMaterial, Hold, Pin, Placement, SceneBuilder, SoftMaterial,
};
use littoral_sim::settings::{ContactSettings, Method, SolverSettings};
use littoral_sim::simulation::Simulation;

const STEP: f64 = 1.0 / 240.0;

fn named(name: &str) -> Placement {
    Placement { name: name.into(), ..Placement::default() }
}

fn scene(method: Method) -> SceneBuilder {
    let solver = SolverSettings { step: Some(STEP), method, iterations: 40, ..SolverSettings::default() };
    SceneBuilder::new(solver, ContactSettings::default())
}

fn moved(mut vertices: Vec<Vec3>, by: Vec3) -> Vec<Vec3> {
    vertices.iter_mut().for_each(|p| *p += by);
    vertices
}

fn joined(a: &str, b: &str) -> Attachment {
    Attachment { objects: [a.into(), b.into()], ..Attachment::default() }
}

fn run(sim: &mut Simulation, seconds: f64) {
    for _ in 0..(seconds / STEP).round() as usize {
        sim.step(STEP);
        let verdict = sim.judge();
        assert!(verdict.crossings.is_empty() && verdict.inverted.is_empty() && verdict.non_finite == 0);
    }
}

/// ```text
///   ───o┄┄┄┄o───o┄┄┄┄o───      a strip, pinned at its left end, is sewn to one that hangs from it
/// ```
/// What the seam stretches by is the weight below it: Σ k (l − l̄) = m g.
fn seam(method: Method) {
    let mut scene = scene(method);
    let upright = |z: f64| {
        let mut mesh = shapes::grid([0.1, 0.1], [4, 4]);
        mesh.vertices.iter_mut().for_each(|p| *p = Vec3::new(p.x, 0.0, p.y + z));
        mesh
    };
    let (upper, lower) = (upright(0.2), upright(0.095));
    let top: Vec<u32> = (0..25).filter(|&v| upper.vertices[v as usize].z > 0.249).collect();
    let pins = vec![Pin { vertices: top, motion: Motion::Static, release: None }];
    let material = ClothMaterial { damping: 5e-3, ..ClothMaterial::default() };
    scene.add_cloth(Placement { pins, ..named("upper") }, upper, material.clone());
    scene.add_cloth(named("lower"), lower, material);
    let stiffness = 50.0;
    scene.attachments = vec![Attachment {
        reach: 6e-3,
        distance: Some(0.0),
        over: 0.1,
        stiffness: Some(stiffness),
        damping: 0.02,
        ..joined("upper", "lower")
    }];
    let mut sim = scene.build().expect("a valid scene");
    run(&mut sim, 1.5);
    let x = &sim.state().x;
    let rim = |range: std::ops::Range<usize>, z: fn(f64, f64) -> bool| {
        let x0 = sim.x_rest();
        let edge = range.clone().map(|v| x0[v].z).reduce(|a, b| if z(a, b) { a } else { b }).unwrap();
        range.filter(|&v| (x0[v].z - edge).abs() < 1e-9).collect::<Vec<_>>()
    };
    let (above, below) = (rim(0..25, |a, b| a < b), rim(25..50, |a, b| a > b));
    assert_eq!((above.len(), below.len()), (5, 5));
    let lengths: Vec<f64> = above.iter().zip(&below).map(|(&p, &q)| x[p].distance(x[q])).collect();
    // The seam closes to half of the contact radius of 2 mm.
    let pull: f64 = lengths.iter().map(|l| stiffness * (l - 1e-3)).sum();
    let weight = 9.81 * sim.mass()[25..].iter().sum::<f64>();
    println!("pull {pull:.5} N, weight {weight:.5} N");
    // Rest within a thousandth of g: the bound is for what is left of the swing.
    assert!((pull / weight - 1.0).abs() < 0.01, "{pull} N against {weight} N");
}

#[test]
fn a_seam_carries_the_weight_that_hangs_from_it() {
    seam(Method::Vbd);
}

#[test]
fn a_seam_carries_the_weight_that_hangs_from_it_in_newton_steps() {
    seam(Method::Newton);
}

/// Two equal blocks on a spring swing against each other with the period 2π √(m/2k).
#[test]
fn two_blocks_on_a_spring_swing_with_the_period_of_their_reduced_mass() {
    let mut scene = scene(Method::Vbd);
    scene.gravity = Vec3::ZERO;
    let block = |x: f64| {
        let mut mesh = shapes::tet_cuboid([0.1; 3], [2; 3]);
        mesh.vertices = moved(mesh.vertices, Vec3::new(x, 0.0, 0.0));
        mesh
    };
    let material = SoftMaterial { young: 1e7, ..SoftMaterial::default() };
    let (left, right) = (block(0.0), block(0.3));
    let nearest = |mesh: &littoral_geom::mesh::TetMesh, p: Vec3| {
        let far = |v: &u32| mesh.vertices[*v as usize].distance(p);
        (0..mesh.vertices.len() as u32).min_by(|a, b| far(a).total_cmp(&far(b))).unwrap()
    };
    let middle =
        |mesh: &littoral_geom::mesh::TetMesh| mesh.vertices.iter().sum::<Vec3>() / mesh.vertices.len() as f64;
    let ends = [nearest(&left, middle(&right)), nearest(&right, middle(&left))];
    let apart = left.vertices[ends[0] as usize].distance(right.vertices[ends[1] as usize]);
    scene.add_soft(named("left"), left, material.clone());
    scene.add_soft(named("right"), right, material);
    let stiffness = 40.0;
    let distance = Some(apart - 0.04);
    let tie = Attachment {
        pairs: Some(vec![ends]),
        distance,
        stiffness: Some(stiffness),
        ..joined("left", "right")
    };
    scene.attachments = vec![tie];
    let mut sim = scene.build().expect("a valid scene");
    let n = sim.objects()[0].count as usize;
    let mass: f64 = sim.mass()[..n].iter().sum();
    let period = std::f64::consts::TAU * (mass / (2.0 * stiffness)).sqrt();
    let center = |sim: &Simulation| sim.state().x[n..].iter().sum::<Vec3>().x / n as f64;
    // Half a period after the release the blocks are nearest: the sign of the mean speed turns.
    let mut before = center(&sim);
    let turned = loop {
        run(&mut sim, STEP);
        let now = center(&sim);
        if now > before {
            break sim.state().time - STEP;
        }
        before = now;
        assert!(sim.state().time < period, "does not swing back");
    };
    println!("turned after {turned:.4} s, expected {:.4} s", 0.5 * period);
    // A step to either side, and one for the rounding of the turning point.
    assert!((turned - 0.5 * period).abs() < 2.0 * STEP, "{turned} s against {} s", 0.5 * period);
}

/// A pinned corner goes with a turning collider: it keeps its place on it to rounding.
#[test]
fn a_vertex_pinned_to_a_collider_keeps_its_place_on_it() {
    let mut scene = scene(Method::Vbd);
    let sheet = shapes::grid([0.3, 0.3], [6, 6]);
    let mut pole = shapes::sphere(0.05, 2);
    pole.vertices = moved(pole.vertices, Vec3::new(-0.25, 0.0, 0.0));
    let center = Vec3::new(-0.25, 0.0, 0.0);
    let spin = Vec3::new(0.0, 0.0, 2.0);
    let motion =
        Motion::Twist { center, spin, velocity: Vec3::new(0.0, 0.1, 0.0), start: 0.0, stop: f64::INFINITY };
    let rim: Vec<u32> = (0..49).filter(|&v| sheet.vertices[v as usize].x < -0.149).collect();
    scene.add_cloth(named("sheet"), sheet, ClothMaterial::default());
    scene.add_collider(named("pole"), pole, motion.clone());
    scene.attachments = vec![Attachment {
        from: Some(rim.clone()),
        hold: Hold::Pin,
        to: AttachTo::Surface,
        ..joined("sheet", "pole")
    }];
    let mut sim = scene.build().expect("a valid scene");
    run(&mut sim, 0.5);
    for v in rim {
        let x0 = sim.x_rest()[v as usize];
        let there = motion.position(sim.state().time, 0, x0);
        // Rounding of a few sums of metres, and of the clock.
        assert!(sim.state().x[v as usize].distance(there) < 1e-12, "{v}");
    }
}

/// A block with one speed and a friction of its own against the ground stops after v²/2μg.
#[test]
fn the_friction_of_a_pair_replaces_that_of_its_objects() {
    let mut scene = scene(Method::Vbd);
    scene.contact.friction = 0.9;
    let mut block = shapes::tet_cuboid([0.1, 0.1, 0.03], [3, 3, 1]);
    block.vertices = moved(block.vertices, Vec3::new(0.0, 0.0, 0.017));
    let placement = Placement { velocity: Vec3::new(1.0, 0.0, 0.0), ..named("block") };
    scene.add_soft(placement, block, SoftMaterial { young: 1e6, ..SoftMaterial::default() });
    scene.add_collider(named("ground"), shapes::plane([4.0, 4.0]), Motion::Static);
    let mu = 0.2;
    let objects = ["ground".to_owned(), "block".to_owned()];
    scene.pairs = vec![PairRule { objects, friction: Some(mu), contact: true }];
    let mut sim = scene.build().expect("a valid scene");
    let n = sim.objects()[0].count as usize;
    let center = |sim: &Simulation| sim.state().x[..n].iter().sum::<Vec3>().x / n as f64;
    let start = center(&sim);
    run(&mut sim, 0.8);
    let way = center(&sim) - start;
    let expected = 1.0 / (2.0 * mu * 9.81);
    println!("slid {way:.4} m, expected {expected:.4} m");
    assert!((way / expected - 1.0).abs() < 0.05, "{way} m against {expected} m");
}

/// What is switched off falls through, is counted under its name, and leaves the rest of the verdict clean.
#[test]
fn objects_without_contact_pass_through_and_are_counted_apart() {
    let mut scene = scene(Method::Vbd);
    let mut sheet = shapes::grid([0.2, 0.2], [4, 4]);
    sheet.vertices = moved(sheet.vertices, Vec3::new(0.0, 0.0, 0.02));
    sheet.vertices.iter_mut().for_each(|p| p.z += 0.2 * p.x);
    let mut second = sheet.clone();
    second.vertices = moved(second.vertices, Vec3::new(0.0, 0.0, 0.05));
    scene.add_cloth(named("ghost"), sheet, ClothMaterial::default());
    scene.add_cloth(named("sheet"), second, ClothMaterial::default());
    scene.add_collider(named("ground"), shapes::plane([1.0, 1.0]), Motion::Static);
    let rule = |a: &str, b: &str| PairRule { objects: [a.into(), b.into()], friction: None, contact: false };
    scene.pairs = vec![rule("ground", "ghost"), rule("sheet", "ghost")];
    let mut sim = scene.build().expect("a valid scene");
    let mut most = 0;
    for _ in 0..60 {
        sim.step(STEP);
        let verdict = sim.judge();
        assert!(verdict.crossings.is_empty());
        assert_eq!(verdict.off.len(), 2);
        most = most.max(verdict.off[1].crossings);
        assert_eq!(verdict.off[1].objects, ["ghost", "ground"]);
    }
    assert!(most > 0, "the ghost never crossed the ground");
    let lowest =
        |r: std::ops::Range<usize>| sim.state().x[r].iter().map(|p| p.z).fold(f64::INFINITY, f64::min);
    assert!(lowest(0..25) < -0.05 && lowest(25..50) > 0.0);
}

#[test]
fn attachments_that_cannot_be_made_say_why() {
    let refused = |change: fn(&mut Attachment)| {
        let mut scene = scene(Method::Vbd);
        scene.add_cloth(named("sheet"), shapes::grid([0.1, 0.1], [2, 2]), ClothMaterial::default());
        let mut tie = joined("sheet", "sheet");
        change(&mut tie);
        scene.attachments = vec![tie];
        scene.build().expect_err("an error").to_string()
    };
    assert!(refused(|t| t.objects[1] = "shirt".into()).contains("no object of this name"));
    assert!(refused(|t| t.pairs = Some(vec![[0, 9]])).contains("there is no vertex 9: the mesh has 9"));
    assert!(refused(|t| t.pairs = Some(vec![[3, 3]])).contains("tied to itself"));
    assert!(refused(|t| (t.from, t.reach) = (Some(vec![0]), 1e-3)).contains("enlarge reach"));
    assert!(refused(|t| (t.from, t.hold) = (Some(vec![0]), Hold::Pin)).contains("needs a collider"));
    assert!(refused(|t| t.stiffness = Some(-1.0)).contains("must be positive"));
}
