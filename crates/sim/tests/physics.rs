//! Motion against closed forms: free fall, pendulum, cantilevers, friction on an incline.

use littoral_geom::math::{Quat, Vec3};
use littoral_geom::mesh::TriMesh;
use littoral_geom::shapes;
use littoral_sim::motion::Motion;
use littoral_sim::scene::{ClothMaterial, Pin, Placement, SceneBuilder, SoftMaterial};
use littoral_sim::settings::{ContactSettings, SolverSettings};
use littoral_sim::simulation::Simulation;

const G: f64 = 9.81;

fn named(name: &str) -> Placement {
    Placement { name: name.into(), ..Placement::default() }
}

fn moved(mut mesh: TriMesh, f: impl Fn(Vec3) -> Vec3) -> TriMesh {
    for v in &mut mesh.vertices {
        *v = f(*v);
    }
    mesh
}

fn mean(sim: &Simulation, object: usize, f: impl Fn(usize) -> Vec3) -> Vec3 {
    let r = sim.objects()[object].range();
    let n = r.len() as f64;
    r.map(f).sum::<Vec3>() / n
}

/// Two sheets, one lying, one standing on its edge, fall one second in empty space.
#[test]
fn free_fall_reaches_g_at_any_contact_radius() {
    for radius in [5e-3, 1e-3, 2e-4] {
        let contact = ContactSettings { radius, ..ContactSettings::default() };
        let solver = SolverSettings { iterations: 5, ..SolverSettings::default() };
        let mut scene = SceneBuilder::new(solver, contact);
        let sheet = shapes::grid([1.0, 1.0], [25, 25]);
        scene.add_cloth(named("lying"), sheet.clone(), ClothMaterial::default());
        let standing = moved(sheet, |p| Vec3::new(p.x + 3.0, 0.1 * p.y, p.y));
        scene.add_cloth(named("standing"), standing, ClothMaterial::default());
        let mut sim = scene.build().unwrap();
        for _ in 0..240 {
            let report = sim.step(1.0 / 240.0);
            assert!(report.kept_motion > 0.999, "truncation took {} of the motion", 1.0 - report.kept_motion);
        }
        for object in 0..2 {
            let v = mean(&sim, object, |i| sim.state().v[i]);
            // The band asked for is 1 %; nothing acts but gravity, so only rounding may differ.
            assert!((v.z + G).abs() < 1e-6 * G, "radius {radius}: v = {v}");
        }
    }
}

/// A stiff strip hangs from one end and swings by 0.1 rad: T = 2π √(I / m g d) with the lumped masses' I and d.
#[test]
fn a_strip_swings_with_the_period_of_a_physical_pendulum() {
    let (length, angle) = (0.5_f64, 0.1_f64);
    let mut scene = SceneBuilder::new(
        SolverSettings { iterations: 40, ..SolverSettings::default() },
        ContactSettings::default(),
    );
    let strip = shapes::grid([0.1, length], [2, 10]);
    let tilt = Quat::from_rotation_x(angle - std::f64::consts::FRAC_PI_2);
    let strip = moved(strip, |p| tilt * (p + Vec3::new(0.0, 0.5 * length, 0.0)));
    let top: Vec<u32> = (0..3).collect();
    let pin = Pin { vertices: top, motion: Motion::Static, release: None };
    let material = ClothMaterial { bending: Some(1.0), damping: 0.0, ..ClothMaterial::default() };
    scene.add_cloth(Placement { pins: vec![pin], ..named("strip") }, strip, material);
    let mut sim = scene.build().unwrap();
    let (mass, x) = (sim.mass().to_vec(), sim.x_rest().to_vec());
    let inertia: f64 = mass.iter().zip(&x).map(|(m, p)| m * (p.y * p.y + p.z * p.z)).sum();
    let moment: f64 = mass.iter().zip(&x).map(|(m, p)| m * p.length()).sum::<f64>();
    let _ = moment;
    let arm: f64 = mass.iter().zip(&x).map(|(m, p)| m * (p.y * p.y + p.z * p.z).sqrt()).sum();
    let period = 2.0 * std::f64::consts::PI * (inertia / (G * arm)).sqrt() * (1.0 + angle * angle / 16.0);
    let h = 1.0 / 480.0;
    let mut crossings = Vec::new();
    let mut before = mean(&sim, 0, |i| sim.state().x[i]).y;
    while crossings.len() < 3 && sim.state().time < 5.0 * period {
        sim.step(h);
        let y = mean(&sim, 0, |i| sim.state().x[i]).y;
        if (y > 0.0) != (before > 0.0) {
            crossings.push(sim.state().time - h * y / (y - before));
        }
        before = y;
    }
    let found = crossings[2] - crossings[0];
    assert!((found / period - 1.0).abs() < 0.01, "period {found} s, expected {period} s");
}

/// Tip drop over horizontal reach of a strip clamped at one end, under its own weight.
fn cantilever(sim: &mut Simulation, tip: u32, clamp: Vec3, seconds: f64) -> f64 {
    let h = 1.0 / 240.0;
    while sim.state().time < seconds {
        sim.step(h);
    }
    let p = sim.state().x[tip as usize] - clamp;
    println!("tip {p}");
    -p.z / p.x
}

#[test]
fn a_cloth_cantilever_droops_by_the_elastica() {
    let (length, width, cells) = (0.1, 0.02, 40_u32);
    // Γ = ρ g L³ / D = 5 for a strip with ν = 0: drop over reach 0.5857.
    let (density, gamma, expected) = (0.2, 5.0, 0.5857);
    let bending = density * G * f64::powi(length, 3) / gamma;
    let contact = ContactSettings { radius: 5e-4, ..ContactSettings::default() };
    let mut scene =
        SceneBuilder::new(SolverSettings { iterations: 60, ..SolverSettings::default() }, contact);
    let strip = moved(shapes::grid([length, width], [cells, 8]), |p| p + Vec3::new(0.5 * length, 0.0, 0.0));
    let spacing = length / f64::from(cells);
    // Clamped: the first two columns; the free length starts at the second.
    let clamped: Vec<u32> =
        (0..strip.vertices.len() as u32).filter(|&v| strip.vertices[v as usize].x < 1.5 * spacing).collect();
    let tip = (0..strip.vertices.len() as u32)
        .max_by(|&a, &b| {
            let (a, b) = (strip.vertices[a as usize], strip.vertices[b as usize]);
            (a.x - a.y.abs()).total_cmp(&(b.x - b.y.abs()))
        })
        .unwrap();
    let pin = Pin { vertices: clamped, motion: Motion::Static, release: None };
    let material = ClothMaterial {
        bending: Some(bending),
        poisson: 0.0,
        damping: 2e-3,
        density,
        ..ClothMaterial::default()
    };
    scene.add_cloth(Placement { pins: vec![pin], ..named("strip") }, strip, material);
    let mut sim = scene.build().unwrap();
    let found = cantilever(&mut sim, tip, Vec3::new(spacing, 0.0, 0.0), 3.0);
    println!("cloth cantilever: {found} against {expected}");
    assert!((found / expected - 1.0).abs() < 0.1, "drop over reach {found}, expected {expected}");
}

fn incline(friction: f64) -> f64 {
    let contact = ContactSettings { friction, radius: 2e-3, ..ContactSettings::default() };
    let mut scene = SceneBuilder::new(SolverSettings::default(), contact);
    // The slope is the ground; gravity leans by atan 0.5 instead.
    let lean = 0.5_f64.atan();
    scene.gravity = G * Vec3::new(lean.sin(), 0.0, -lean.cos());
    let mut block = shapes::tet_cuboid([0.2, 0.2, 0.1], [4, 4, 2]);
    for v in &mut block.vertices {
        v.z += 0.05 + 0.0019;
    }
    scene.add_soft(named("block"), block, SoftMaterial { young: 1e6, ..SoftMaterial::default() });
    scene.add_collider(named("slope"), shapes::plane([6.0, 6.0]), Motion::Static);
    let mut sim = scene.build().unwrap();
    let start = mean(&sim, 0, |i| sim.state().x[i]);
    for _ in 0..600 {
        sim.step(1.0 / 240.0);
    }
    mean(&sim, 0, |i| sim.state().x[i]).x - start.x
}

#[test]
fn a_block_on_an_incline_slides_or_holds() {
    let (slides, holds) = (incline(0.49), incline(0.50));
    println!("incline: slides {slides} m (0.274), holds {holds} m (0)");
    // a = g (sin θ − μ cos θ) = 0.0877 m/s²; 0.274 m in 2.5 s.
    assert!((slides / 0.274 - 1.0).abs() < 0.1, "slid {slides} m, expected 0.274 m");
    assert!(holds.abs() < 0.02, "crept {holds} m");
}
