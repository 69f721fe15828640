use littoral_geom::math::Vec3;
use littoral_geom::shapes;
use littoral_sim::motion::Motion;
use littoral_sim::scene::*;
use littoral_sim::settings::*;
fn main() {
    let a: Vec<f64> = std::env::args().skip(1).map(|s| s.parse().unwrap()).collect();
    let (length, width, cells) = (0.1, 0.02, a[0] as u32);
    let (density, gamma) = (0.2, 5.0);
    let bending = density * 9.81 * f64::powi(length, 3) / gamma;
    let contact = ContactSettings { radius: 5e-4, ..ContactSettings::default() };
    let mut scene = SceneBuilder::new(
        SolverSettings { iterations: a[1] as u32, chebyshev: a[3], ..SolverSettings::default() },
        contact,
    );
    let mut strip = shapes::grid([length, width], [cells, (cells / 5).max(1)]);
    for v in &mut strip.vertices {
        v.x += 0.5 * length;
    }
    if a.len() > 5 {
        let (nx, ny) = (cells, (cells / 5).max(1));
        strip.triangles.clear();
        for j in 0..ny {
            for i in 0..nx {
                let q = j * (nx + 1) + i;
                strip.triangles.push([q, q + 1, q + nx + 2]);
                strip.triangles.push([q, q + nx + 2, q + nx + 1]);
            }
        }
        if a[5] > 1.0 {
            // equilateral-ish: shear rows
            let s = length / cells as f64;
            for j in 0..=ny {
                for i in 0..=nx {
                    let v = &mut strip.vertices[(j * (nx + 1) + i) as usize];
                    v.y = -0.5 * width + j as f64 * s * 0.75f64.sqrt();
                    v.x = s * (i as f64 - 0.5 * (j % 2) as f64);
                }
            }
            strip.triangles.clear();
            for j in 0..ny {
                for i in 0..nx {
                    let q = j * (nx + 1) + i;
                    if j % 2 == 0 {
                        strip.triangles.push([q, q + 1, q + nx + 2]);
                        strip.triangles.push([q, q + nx + 2, q + nx + 1]);
                    } else {
                        strip.triangles.push([q, q + 1, q + nx + 1]);
                        strip.triangles.push([q + 1, q + nx + 2, q + nx + 1]);
                    }
                }
            }
        }
    }
    let spacing = length / f64::from(cells);
    let clamped: Vec<u32> =
        (0..strip.vertices.len() as u32).filter(|&v| strip.vertices[v as usize].x < 1.5 * spacing).collect();
    let tip = cells;
    let pin = Pin { vertices: clamped, motion: Motion::Static, release: None };
    let material = ClothMaterial {
        bending: Some(bending),
        poisson: 0.0,
        damping: a[2],
        density,
        ..ClothMaterial::default()
    };
    scene.add_cloth(Placement { name: "s".into(), pins: vec![pin], ..Default::default() }, strip, material);
    let mut sim = scene.build().unwrap();
    for k in 0..(240.0 * a[4]) as u32 {
        let r = sim.step(1.0 / 240.0);
        if k % 40 == 0 {
            let p = sim.state().x[tip as usize] - Vec3::new(spacing, -0.5 * width, 0.0);
            println!(
                "{:.3} tip {:.4} {:.4} {:.4} ratio {:.4} E {:.3e} {:.3e} {:.3e} res {:.2e} cont {} kept {}",
                r.time,
                p.x,
                p.y,
                p.z,
                -p.z / p.x,
                r.energies.kinetic,
                r.energies.elastic,
                r.energies.gravity,
                r.residual,
                r.contacts,
                r.kept_motion
            );
        }
    }
}
