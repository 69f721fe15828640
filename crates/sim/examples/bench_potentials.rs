//! Nanoseconds of one `block` call of each energy, on an undulating sheet or a random block, one thread:
//! `cargo run --release -p littoral-sim --example bench_potentials`.

use littoral_geom::math::{Mat3, Vec3};
use littoral_sim::potential::*;
use std::hint::black_box;
use std::time::Instant;

/// Side of the square grid [cells].
const SIDE: usize = 16;

/// A step length [s] and a damping [s] as in a scene.
const H: f64 = 1.0 / 240.0;
const DAMPING: f64 = 1e-3;

fn main() {
    let rest = grid(|_, _| 0.0);
    let wavy = grid(|u, v| 0.004 * (9.0 * u).sin() * (7.0 * v).cos());
    let crumpled = grid(|u, v| 0.03 * (60.0 * u).sin() * (50.0 * v).cos());
    let (triangles, hinges) = cells();
    let cloth = MembraneParameters { young: 1e6, poisson: 0.3, thickness: 3e-4, damping: DAMPING };

    for (shape, x) in [("wavy", &wavy), ("crumpled", &crumpled)] {
        for damped in [false, true] {
            let label = |name: &str| format!("{name}, {shape}{}", if damped { ", damped" } else { "" });
            let element =
                |p: &[u32; 3]| NeoHookeanMembrane::new(p.map(|i| rest[i as usize]), &cloth).expect("valid");
            report(&label("neo-Hookean membrane"), &triangles, x, &rest, damped, element);
            let element =
                |p: &[u32; 3]| StVenantMembrane::new(p.map(|i| rest[i as usize]), &cloth).expect("valid");
            report(&label("St. Venant membrane"), &triangles, x, &rest, damped, element);
            let element =
                |p: &[u32; 4]| Hinge::new(p.map(|i| rest[i as usize]), 1e-6, DAMPING).expect("valid");
            report(&label("hinge"), &hinges, x, &rest, damped, element);
        }
    }
    // Tetrahedra over the sheet: the vertical edge of each cell and two more corners.
    let mut high = rest.clone();
    high.extend(rest.iter().map(|p| *p + Vec3::Z * 0.02));
    let bent: Vec<Vec3> =
        high.iter().map(|p| *p + 0.1 * Vec3::new(p.y * p.z, p.x * p.z, 0.03 * (20.0 * p.x).sin())).collect();
    let tets: Vec<[u32; 4]> =
        triangles.iter().map(|t| [t[0], t[1], t[2], t[0] + rest.len() as u32]).collect();
    for damped in [false, true] {
        let suffix = if damped { ", damped" } else { "" };
        let at = |p: &[u32; 4]| p.map(|i| high[i as usize]);
        let element = |p: &[u32; 4]| StableNeoHookeanTet::new(at(p), 1e5, 0.4, DAMPING).expect("valid");
        report(&format!("stable neo-Hookean tet{suffix}"), &tets, &bent, &high, damped, element);
        let element = |p: &[u32; 4]| FixedCorotatedTet::new(at(p), 1e5, 0.4, DAMPING).expect("valid");
        report(&format!("fixed corotated tet{suffix}"), &tets, &bent, &high, damped, element);
    }
}

/// Times gather and block of every corner, and prints the best of several passes.
fn report<P: Potential<N>, const N: usize>(
    name: &str,
    points: &[[u32; N]],
    x: &[Vec3],
    x_n: &[Vec3],
    damped: bool,
    element: impl Fn(&[u32; N]) -> P,
) {
    let mut term = Term::default();
    points.iter().for_each(|p| term.push(*p, element(p)));
    if damped {
        term.lag(x_n, H);
    }
    let mut out = [(Vec3::ZERO, Mat3::ZERO); 16];
    let mut best = f64::INFINITY;
    for _ in 0..5000 {
        let start = Instant::now();
        for e in 0..term.len() {
            let local = term.gather(x, e);
            // The corner varies from element to element, as around a vertex. Results go to a short buffer: a
            // running sum would time its own chain of additions.
            out[e % out.len()] = term.elements[e].block(&local, e % N);
        }
        black_box(&mut out);
        best = best.min(start.elapsed().as_secs_f64() / term.len() as f64);
    }
    println!("{name:45} {:6.1} ns", 1e9 * best);
}

fn grid(height: impl Fn(f64, f64) -> f64) -> Vec<Vec3> {
    let side = SIDE + 1;
    let at = |i: usize| i as f64 / SIDE as f64;
    (0..side * side)
        .map(|p| {
            let (u, v) = (at(p % side), at(p / side));
            Vec3::new(u, v, height(u, v))
        })
        .collect()
}

/// Triangles of the grid and its inner diagonal, horizontal and vertical hinges.
fn cells() -> (Vec<[u32; 3]>, Vec<[u32; 4]>) {
    let at = |i: usize, j: usize| (j * (SIDE + 1) + i) as u32;
    let (mut triangles, mut hinges) = (Vec::new(), Vec::new());
    for j in 0..SIDE {
        for i in 0..SIDE {
            let (a, b, c, d) = (at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
            triangles.extend([[a, b, c], [a, c, d]]);
            hinges.push([a, c, d, b]);
            if i > 0 {
                hinges.push([a, d, at(i - 1, j), c]);
            }
            if j > 0 {
                hinges.push([a, b, c, at(i, j - 1)]);
            }
        }
    }
    (triangles, hinges)
}
