//! How much speed the truncation takes: the same scene with and without it, motion by motion.
//!
//! `cargo run --release -p littoral-sim --example speed [iterations] [part of a name]`; with `STEPS=1` a line a step.

use littoral_geom::math::Vec3;
use littoral_geom::mesh::{TetMesh, TriMesh};
use littoral_geom::shapes;
use littoral_sim::motion::Motion;
use littoral_sim::scene::{ClothMaterial, Pin, Placement, SceneBuilder, SoftMaterial};
use littoral_sim::settings::{ContactSettings, SolverSettings, Truncation};
use littoral_sim::simulation::Simulation;

const STEP: f64 = 1.0 / 240.0;

fn named(name: &str) -> Placement {
    Placement { name: name.into(), ..Placement::default() }
}

fn moved(mut mesh: TriMesh, f: impl Fn(Vec3) -> Vec3) -> TriMesh {
    for v in &mut mesh.vertices {
        *v = f(*v);
    }
    mesh
}

fn empty(truncation: Truncation, iterations: u32) -> SceneBuilder {
    let radius = if truncation == Truncation::None { 1e-9 } else { 1e-3 };
    let contact = ContactSettings { radius, ..ContactSettings::default() };
    let mut scene =
        SceneBuilder::new(SolverSettings { iterations, truncation, ..SolverSettings::default() }, contact);
    scene.gravity = Vec3::ZERO;
    scene
}

fn swing(t: Truncation, i: u32) -> SceneBuilder {
    let mut scene = empty(t, i);
    scene.gravity = Vec3::new(0.0, 0.0, -9.81);
    let sheet = shapes::grid([1.0, 1.0], [30, 30]);
    let corners: Vec<u32> = (0..sheet.vertices.len() as u32)
        .filter(|&v| {
            let p = sheet.vertices[v as usize];
            p.x < -0.49 && p.y.abs() > 0.49
        })
        .collect();
    let pins = vec![Pin { vertices: corners, motion: Motion::Static, release: None }];
    scene.add_cloth(Placement { pins, ..named("sheet") }, sheet, ClothMaterial::default());
    scene
}

fn layers(t: Truncation, i: u32, velocity: Vec3, spin: Vec3) -> SceneBuilder {
    let mut scene = empty(t, i);
    for (name, z) in [("lower", 0.0), ("upper", 0.002)] {
        let sheet = moved(shapes::grid([0.4, 0.4], [12, 12]), |p| p + Vec3::new(0.0, 0.0, z));
        scene.add_cloth(Placement { velocity, spin, ..named(name) }, sheet, ClothMaterial::default());
    }
    scene
}

fn folded(t: Truncation, i: u32, spin: Vec3) -> SceneBuilder {
    let mut scene = empty(t, i);
    // Rest shape folded: flies as a stiff hairpin.
    let sheet = moved(shapes::grid([0.4, 0.2], [24, 12]), |p| {
        let r = 0.002;
        let s = p.x;
        let half = std::f64::consts::PI * r / 2.0;
        if s.abs() <= half {
            let a = s / r;
            Vec3::new(r * a.cos(), p.y, r * a.sin())
        } else {
            Vec3::new(-(s.abs() - half), p.y, r * s.signum())
        }
    });
    let velocity = Vec3::new(30.0, 0.0, 40.0);
    scene.add_cloth(
        Placement { velocity, spin, ..named("folded") },
        sheet,
        ClothMaterial { young: 5e6, thickness: 1e-3, ..ClothMaterial::default() },
    );
    scene
}

fn ball() -> TetMesh {
    shapes::tet_sphere(0.1, 0.03).expect("fills")
}

fn spinning(t: Truncation, i: u32, w: f64) -> SceneBuilder {
    let mut scene = empty(t, i);
    scene.add_soft(
        Placement { spin: Vec3::new(0.0, 0.0, w), ..named("ball") },
        ball(),
        SoftMaterial { young: 1e7, ..SoftMaterial::default() },
    );
    scene
}

fn carried(t: Truncation, i: u32, spin: f64, velocity: Vec3) -> SceneBuilder {
    let mut scene = empty(t, i);
    scene.gravity = Vec3::new(0.0, 0.0, -9.81);
    let cloth = moved(shapes::grid([0.3, 0.3], [16, 16]), |p| p + Vec3::Z * 0.104);
    scene.add_cloth(named("sheet"), cloth, ClothMaterial::default());
    let motion = Motion::Twist {
        center: Vec3::ZERO,
        spin: Vec3::new(0.0, 0.0, spin),
        velocity,
        start: 0.25,
        stop: f64::INFINITY,
    };
    scene.add_collider(named("ball"), shapes::sphere(0.1, 3), motion);
    scene
}

fn mean(sim: &Simulation, o: usize, f: impl Fn(usize) -> Vec3) -> Vec3 {
    let r = sim.objects()[o].range();
    let n = r.len() as f64;
    r.map(f).sum::<Vec3>() / n
}

fn spin_of(sim: &Simulation, o: usize) -> Vec3 {
    let c = mean(sim, o, |i| sim.state().x[i]);
    let v = mean(sim, o, |i| sim.state().v[i]);
    let (mut l, mut j) = (Vec3::ZERO, littoral_geom::math::Mat3::ZERO);
    for i in sim.objects()[o].range() {
        let (r, w) = (sim.state().x[i] - c, sim.state().v[i] - v);
        l += sim.mass()[i] * r.cross(w);
        let k = littoral_geom::math::skew(r);
        j -= k * k * sim.mass()[i];
    }
    j.inverse() * l
}

fn main() {
    let iterations = std::env::args().nth(1).map_or(20, |a| a.parse().expect("a number"));
    type Make = Box<dyn Fn(Truncation) -> SceneBuilder>;
    let i = iterations;
    let cases: Vec<(&str, usize, Make)> = vec![
        ("swing", 480, Box::new(move |t| swing(t, i))),
        ("layers 50 m/s", 240, Box::new(move |t| layers(t, i, Vec3::new(30.0, 0.0, 40.0), Vec3::ZERO))),
        ("layers spin 20", 240, Box::new(move |t| layers(t, i, Vec3::ZERO, Vec3::new(0.0, 20.0, 0.0)))),
        ("layers spin 20z", 240, Box::new(move |t| layers(t, i, Vec3::ZERO, Vec3::new(0.0, 0.0, 20.0)))),
        ("folded 50", 240, Box::new(move |t| folded(t, i, Vec3::ZERO))),
        ("folded 50 spin 30", 240, Box::new(move |t| folded(t, i, Vec3::new(10.0, 30.0, 0.0)))),
        ("soft spin 10", 240, Box::new(move |t| spinning(t, i, 10.0))),
        ("soft spin 100", 60, Box::new(move |t| spinning(t, i, 100.0))),
        ("carried 5 m/s", 240, Box::new(move |t| carried(t, i, 0.0, Vec3::new(0.0, 0.0, 5.0)))),
        ("carried spin 10", 240, Box::new(move |t| carried(t, i, 10.0, Vec3::ZERO))),
    ];
    let only = std::env::args().nth(2);
    for (name, steps, make) in
        cases.into_iter().filter(|c| only.as_ref().is_none_or(|o| c.0.contains(o.as_str())))
    {
        let mut ends = Vec::new();
        for t in [Truncation::None, Truncation::Planar, Truncation::Slide] {
            let mut sim = make(t).build().expect("builds");
            let start = std::time::Instant::now();
            let (mut least, mut sum, mut detections, mut lag) = (1.0_f64, 0.0, 0, 0.0_f64);
            for _ in 0..steps {
                let r = sim.step(STEP);
                if std::env::var("STEPS").is_ok() {
                    println!(
                        "  {:?} kept {:.4} det {} trunc {} cand {} lag {:.4} spin {:.3} v {:.3}",
                        t,
                        r.kept_motion,
                        r.detections,
                        r.truncated,
                        r.candidates,
                        r.lag,
                        spin_of(&sim, 0).length(),
                        mean(&sim, 0, |k| sim.state().v[k])
                    );
                }
                least = least.min(r.kept_motion);
                sum += r.kept_motion;
                detections += r.detections;
                lag = lag.max(r.lag);
            }
            let c = mean(&sim, 0, |k| sim.state().x[k]);
            let gap = sim.objects().len().gt(&1).then(|| mean(&sim, 1, |k| sim.state().x[k]).distance(c));
            println!(
                "{name:20} {t:?}: kept mean {:.4} min {least:.4}, {:.1} detections, lag {lag:.3}, mean x {c:.4}, v {:.3}, |spin| {:.3}, gap {gap:?}, {:.2} s, crossings {}",
                sum / steps as f64,
                detections as f64 / steps as f64,
                mean(&sim, 0, |k| sim.state().v[k]),
                spin_of(&sim, 0).length(),
                start.elapsed().as_secs_f64(),
                sim.judge().crossings.len(),
            );
            if std::env::var("STEPS").is_ok() {
                println!();
            }
            ends.push(sim.state().x.clone());
        }
        for e in &ends[1..] {
            let apart = ends[0].iter().zip(e).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
            println!("{name:20} largest distance of a point from the untruncated run: {apart:.4} m");
        }
    }
}
