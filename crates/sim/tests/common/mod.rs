//! What several tests of water build: lattices of particles, tanks, liquids.

use littoral_geom::math::{Mat3, Vec3};
use littoral_geom::mesh::TriMesh;
use littoral_geom::shapes;
use littoral_sim::scene::{Liquid, LiquidMaterial, Placement};

pub fn named(name: &str) -> Placement {
    Placement { name: name.into(), ..Placement::default() }
}

/// A cubic lattice of `count` cells of edge `dx` from the origin.
pub fn block(count: [usize; 3], dx: f64) -> Vec<Vec3> {
    let [nx, ny, nz] = count;
    let cell = |i: usize| Vec3::new((i % nx) as f64, (i / nx % ny) as f64, (i / nx / ny) as f64);
    (0..nx * ny * nz).map(|i| dx * (cell(i) + 0.5)).collect()
}

/// An open box of single sheets from the origin; without a floor if asked.
pub fn tank(size: [f64; 3], floor: bool) -> TriMesh {
    let mut mesh = shapes::cuboid(size, [1, 1, 1]);
    mesh.vertices.iter_mut().for_each(|p| *p += 0.5 * Vec3::from_array(size));
    let z = |v: u32| mesh.vertices[v as usize].z;
    let lies_at = |t: &[u32; 3], level: f64| t.iter().all(|&v| (z(v) - level).abs() < 1e-9);
    let triangles = mesh.triangles.iter().filter(|t| !lies_at(t, size[2]) && (floor || !lies_at(t, 0.0)));
    TriMesh { triangles: triangles.copied().collect(), vertices: mesh.vertices.clone() }
}

pub fn liquid(spacing: f64, particles: Vec<Vec3>) -> Liquid {
    Liquid {
        placement: named("water"),
        spacing,
        particles,
        gradient: Mat3::ZERO,
        emitters: Vec::new(),
        material: LiquidMaterial::default(),
    }
}
