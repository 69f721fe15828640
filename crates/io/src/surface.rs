//! The surface of a fluid as a closed mesh, by marching cubes over the smoothed filling of its particles.

use littoral_geom::math::Vec3;
use littoral_geom::mesh::TriMesh;
use splashsurf_lib::mesh::Mesh3d;
use splashsurf_lib::nalgebra::Vector3;
use splashsurf_lib::{Parameters, postprocessing, reconstruct_surface};

/// Edge of a cell of the grid, in spacings: finer shows each particle, coarser loses drops.
const CELL: f32 = 0.375;
/// Filling at the surface: half, so that a flat surface lies where the volume of the particles ends.
const LEVEL: f32 = 0.5;
/// Support of the kernel in spacings: that of the fluid itself.
const SUPPORT: f32 = 2.0;
/// Passes that draw each vertex towards the mean of its neighbours: they take the lattice out of a calm surface.
const PASSES: usize = 8;
/// How far each pass draws [–].
const DRAW: f32 = 0.5;

/// Why there is no surface.
#[derive(Debug, thiserror::Error)]
#[error("cannot make the surface of {particles} particles {spacing} m apart: {what}")]
pub struct SurfaceError {
    /// Number of particles.
    pub particles: usize,
    /// Their spacing [m].
    pub spacing: f64,
    /// What went wrong.
    pub what: String,
}

/// The surface around particles at `x` [m] that are `spacing` [m] apart at rest, oriented outwards; empty without
/// particles. Vertices are sorted, so that the order in which threads find them leaves no trace.
pub fn surface(x: &[Vec3], spacing: f64) -> Result<TriMesh, SurfaceError> {
    let failed = |what: String| SurfaceError { particles: x.len(), spacing, what };
    if !(spacing > 0.0 && spacing.is_finite()) {
        return Err(failed("the spacing must be a positive length".into()));
    }
    let finite: Vec<Vec3> = x.iter().copied().filter(|p| p.is_finite()).collect();
    if finite.is_empty() {
        return Ok(TriMesh::default());
    }
    // In spacings around their middle, single precision is exact to a millionth.
    let (low, high) = finite.iter().fold((finite[0], finite[0]), |(l, h), p| (l.min(*p), h.max(*p)));
    let origin = 0.5 * (low + high);
    let scaled: Vec<Vector3<f32>> = (finite.iter())
        .map(|p| ((*p - origin) / spacing).to_array())
        .map(|[x, y, z]| Vector3::new(x as f32, y as f32, z as f32))
        .collect();
    let mut parameters = Parameters::new(0.5, SUPPORT, CELL);
    parameters.iso_surface_threshold = LEVEL;
    let found = reconstruct_surface::<i64, f32>(&scaled, &parameters).map_err(|e| failed(e.to_string()))?;
    let mut mesh = found.mesh;
    let around = mesh.vertex_vertex_connectivity();
    let weights = vec![1.0; mesh.vertices.len()];
    postprocessing::par_laplacian_smoothing_inplace(&mut mesh, &around, PASSES, DRAW, &weights);

    let vertices: Vec<Vec3> = (mesh.vertices.iter())
        .map(|v| origin + spacing * Vec3::new(v.x.into(), v.y.into(), v.z.into()))
        .collect();
    let triangles: Vec<[u32; 3]> = mesh.triangles.iter().map(|t| t.map(|v| v as u32)).collect();
    Ok(sorted(vertices, triangles))
}

/// The same mesh with its vertices in ascending order, and its triangles likewise, each from its first vertex.
fn sorted(vertices: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> TriMesh {
    let mut order: Vec<u32> = (0..vertices.len() as u32).collect();
    let key = |v: &u32| vertices[*v as usize];
    order.sort_by(|a, b| {
        let (a, b) = (key(a), key(b));
        a.z.total_cmp(&b.z).then(a.y.total_cmp(&b.y)).then(a.x.total_cmp(&b.x))
    });
    let mut place = vec![0u32; vertices.len()];
    order.iter().enumerate().for_each(|(k, v)| place[*v as usize] = k as u32);
    let mut triangles: Vec<[u32; 3]> = (triangles.iter())
        .map(|t| t.map(|v| place[v as usize]))
        .map(|[a, b, c]| match a.min(b).min(c) {
            first if first == a => [a, b, c],
            first if first == b => [b, c, a],
            _ => [c, a, b],
        })
        .collect();
    triangles.sort_unstable();
    TriMesh { vertices: order.iter().map(key).collect(), triangles }
}

#[cfg(test)]
mod tests {
    use super::*;
    use littoral_geom::mesh::unique_edges;

    /// Particles of a ball of radius `r` spacings.
    fn ball(r: i32, dx: f64, center: Vec3) -> Vec<Vec3> {
        let range = || -r..=r;
        let lattice = range().flat_map(|i| range().flat_map(move |j| range().map(move |k| [i, j, k])));
        let points = lattice.map(|p| Vec3::from_array(p.map(f64::from)));
        points.filter(|p| p.length() <= f64::from(r)).map(|p| center + dx * p).collect()
    }

    #[test]
    fn the_surface_is_closed_outward_and_holds_the_volume_of_the_particles() {
        let (dx, far) = (0.01, Vec3::new(100.0, -50.0, 3.0));
        let x = ball(10, dx, far);
        let mesh = surface(&x, dx).unwrap();
        assert_eq!(2 * unique_edges(&mesh.triangles).len(), 3 * mesh.triangles.len(), "no rim");
        let ratio = mesh.enclosed_volume() / (x.len() as f64 * dx.powi(3));
        // Smoothing a ball of ten spacings takes a few per cent of it; a surface a fifth of a spacing off would be 6 %.
        assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
        let worst = mesh.vertices.iter().map(|v| ((*v - far).length() - 10.0 * dx).abs()).fold(0.0, f64::max);
        assert!(worst < dx, "a vertex is {worst} m off the ball");
    }

    #[test]
    fn threads_leave_no_trace() {
        let dx = 0.02;
        let x: Vec<Vec3> = [ball(8, dx, Vec3::ZERO), ball(5, dx, Vec3::X)].concat();
        let on = |n: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
            pool.install(|| surface(&x, dx).unwrap())
        };
        let (one, three) = (on(1), on(3));
        assert_eq!(one.triangles, three.triangles);
        assert!(one.vertices.iter().zip(&three.vertices).all(|(a, b)| a == b));
    }

    #[test]
    fn no_particles_have_no_surface_and_nonsense_is_refused() {
        assert_eq!(surface(&[], 0.1).unwrap(), TriMesh::default());
        assert_eq!(surface(&[Vec3::NAN], 0.1).unwrap(), TriMesh::default());
        assert!(surface(&[Vec3::ZERO], 0.0).is_err());
    }
}
