//! How much motion the truncations keep in soups of disjoint triangles [Chen 2026, Table 2].
//!
//! `cargo run --release -p littoral-sim --example soup [meshes] [deformations]`

#[path = "../tests/guarantee/soup_scene.rs"]
mod soup_scene;

use littoral_geom::random::Random;
use soup_scene::{Comparison, Motion, Soup, compare};

fn main() {
    let mut arguments = std::env::args().skip(1).map(|a| a.parse::<usize>().expect("a number"));
    let meshes = arguments.next().unwrap_or(3);
    let deformations = arguments.next().unwrap_or(5);
    println!("{meshes} meshes x {deformations} deformations, relaxation 0.85, unit cube, displacement 0.01");
    println!(
        "{:22} {:6} {:4} | {:>10} {:>6} {:>10} | {:>7} {:>7} {:>7} {:>7} | crossings",
        "motion", "count", "size", "planar/iso", "median", "planar/ccd", "water", "propor.", "iso", "ccd"
    );
    for (count, size) in [(2500, 0.1), (3000, 0.05)] {
        for motion in [Motion::Linear, Motion::RotationAndTranslation] {
            // 1. The same meshes for every motion.
            let mut mean = Comparison::default();
            let share = 1.0 / (meshes * deformations) as f64;
            for mesh in 0..meshes {
                let mut r = Random::new(mesh as u64);
                let soup = Soup::new(count, size, &mut r);
                for _ in 0..deformations {
                    // 2. All truncations on the same displacements.
                    let c = compare(&soup, &soup.wanted(motion, 0.01, &mut r), 0.85);
                    mean.planar_over_isotropic += share * c.planar_over_isotropic;
                    mean.median += share * c.median;
                    mean.planar_over_ccd += share * c.planar_over_ccd;
                    mean.kept.iter_mut().zip(c.kept).for_each(|(m, k)| *m += share * k);
                    mean.crossings += c.crossings;
                }
            }
            // 3. One line per configuration.
            let [water, proportional, isotropic, ccd] = mean.kept;
            println!(
                "{:22} {count:6} {size:4} | {:10.2} {:6.2} {:10.0} | {water:7.3} {proportional:7.3} {isotropic:7.3} {ccd:7.5} | {}",
                format!("{motion:?}"),
                mean.planar_over_isotropic,
                mean.median,
                mean.planar_over_ccd,
                mean.crossings,
            );
        }
    }
}
