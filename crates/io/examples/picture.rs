//! Draws a sheet over a ball and two boxes, a rope and some balls: `cargo run --release --example picture [FILE.png]`.

use littoral_geom::math::Vec3;
use littoral_io::render::{Camera, Kind, Lines, Object, Particles, PictureOptions, Scene, render};

/// The sheet at arc length s from the apex of the ball, in direction `angle`: it lies on the ball, hangs in folds, and
/// ends on the ground.
fn sheet(s: f64, angle: f64) -> Vec3 {
    const BALL: f64 = 0.36;
    let leaves = 1.25 * BALL;
    let on_ball = s.min(leaves) / BALL;
    let hang = (s - leaves).max(0.0);
    let (mut r, mut z) = (BALL * on_ball.sin(), 0.36 + BALL * on_ball.cos());
    let fold = (9.0 * angle + 0.5 * (2.0 * angle).sin()).cos();
    let floor =
        0.012 + 0.05 * (0.5 + 0.5 * (9.0 * angle + 6.0 * s).sin()) * ((hang - 0.4) / 0.3).clamp(0.0, 1.0);
    r += 0.28 * hang + 0.22 * hang.min(0.5) * fold * (hang / 0.3).min(1.0);
    z -= 0.93 * hang;
    if z < floor {
        r += 0.8 * (floor - z);
        z = floor;
    }
    Vec3::new(r * angle.cos(), r * angle.sin(), z)
}

/// Appends a grid of n × n quads over the unit square, placed by `place`.
fn add_grid(v: &mut Vec<Vec3>, t: &mut Vec<[u32; 3]>, n: u32, place: impl Fn(f64, f64) -> Vec3) {
    let first = v.len() as u32;
    for (i, j) in (0..=n).flat_map(|i| (0..=n).map(move |j| (i, j))) {
        v.push(place(f64::from(i) / f64::from(n), f64::from(j) / f64::from(n)));
    }
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
        let a = first + i * (n + 1) + j;
        t.extend([[a, a + n + 1, a + n + 2], [a, a + n + 2, a + 1]]);
    }
}

/// Appends a box.
fn add_box(v: &mut Vec<Vec3>, t: &mut Vec<[u32; 3]>, center: Vec3, half: Vec3) {
    let first = v.len() as u32;
    let sign = |k: u32, bit: u32| if k & bit == 0 { -1.0 } else { 1.0 };
    v.extend((0..8).map(|k| center + half * Vec3::new(sign(k, 1), sign(k, 2), sign(k, 4))));
    for q in [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]] {
        t.extend([[q[0], q[1], q[2]], [q[0], q[2], q[3]]].map(|f| f.map(|c| c + first)));
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut v, mut t, mut object) = (Vec::new(), Vec::new(), Vec::new());

    // 1. Meshes: sheet, ball, boxes, ground.
    add_grid(&mut v, &mut t, 90, |a, b| {
        let (x, y) = (1.7 * (a - 0.5), 1.7 * (b - 0.5));
        sheet(x.hypot(y), y.atan2(x))
    });
    object.resize(t.len(), 0u32);
    add_grid(&mut v, &mut t, 40, |a, b| {
        let (s, c) = (std::f64::consts::TAU * a).sin_cos();
        let (z, r) = (-(std::f64::consts::PI * b).cos(), (std::f64::consts::PI * b).sin());
        Vec3::new(0.35 * r * c, 0.35 * r * s, 0.36 + 0.35 * z)
    });
    object.resize(t.len(), 1);
    add_box(&mut v, &mut t, Vec3::new(1.15, -0.35, 0.15), Vec3::new(0.15, 0.2, 0.15));
    object.resize(t.len(), 2);
    add_box(&mut v, &mut t, Vec3::new(-1.15, 0.35, 0.25), Vec3::new(0.15, 0.15, 0.25));
    object.resize(t.len(), 1);
    add_grid(&mut v, &mut t, 1, |a, b| Vec3::new(100.0 * (a - 0.5), 100.0 * (b - 0.5), 0.0));
    object.resize(t.len(), 3);

    // 2. A rope over the boxes and some balls.
    let first = v.len() as u32;
    v.extend((0..=60).map(|k| {
        let s = f64::from(k) / 60.0;
        Vec3::new(2.4 * s - 1.2, -0.9 + 0.15 * (9.0 * s).sin(), 0.02 + 0.3 * (std::f64::consts::PI * s).sin())
    }));
    let rope: Vec<[u32; 2]> = (0..60).map(|k| [first + k, first + k + 1]).collect();
    let balls: Vec<Vec3> = (0..40)
        .map(|k| Vec3::new(0.9 + 0.07 * f64::from(k % 7), 0.5 + 0.07 * f64::from(k / 7), 0.035))
        .collect();

    // 3. The scene, its camera and the picture.
    let named = |name, kind| Object { name, kind, color: None };
    let objects = [
        named("sheet", Kind::Cloth),
        named("ball", Kind::Collider),
        named("box", Kind::Soft),
        named("ground", Kind::Collider),
        named("rope", Kind::Rope),
        named("balls", Kind::Fluid),
    ];
    let scene = Scene {
        vertices: &v,
        triangles: &t,
        object_of_triangle: &object,
        objects: &objects,
        lines: &[Lines { segments: &rope, radius: 0.012, object: 4 }],
        particles: &[Particles { centers: &balls, radius: 0.035, object: 5 }],
        ..Scene::default()
    };
    let edges = std::env::args().any(|a| a == "--edges");
    let options =
        PictureOptions { edges, label: "frame 120  t = 2.000 s".into(), ..PictureOptions::default() };
    let camera = Camera::auto(&scene, &[], 1280.0 / 720.0);
    let start = std::time::Instant::now();
    let picture = render(&scene, &camera, &options);
    eprintln!("{} triangles, {:.3} s", t.len(), start.elapsed().as_secs_f64());
    let path = std::env::args().nth(1).unwrap_or_else(|| "picture.png".into());
    picture.write_png(&path)?;
    Ok(())
}
