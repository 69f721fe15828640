//! A crumpled stack of sheets: many near pairs, none that touches.

use littoral_geom::math::Vec3;
use littoral_geom::mesh::unique_edges;
use littoral_geom::pairs::Surface;
use littoral_geom::random::Random;

/// Sheets in the stack.
pub const SHEETS: u32 = 10;

/// The stack at a detection and at the next one.
#[derive(Clone, Debug)]
pub struct Stack {
    /// Its primitives; every point belongs to it.
    pub surface: Surface,
    /// Positions [m].
    pub x: Vec<Vec3>,
    /// Positions moved by up to 0.035 h, in directions of their own [m].
    pub moved: Vec<Vec3>,
    /// How far each point is taken to move [m]: 0.1 h.
    pub reach: f64,
}

/// Sheets with edges of h = 1/cells, folded up to 70° steep, 0.5 h apart before folding, ruffled and jittered.
/// `triangles` is their number, roughly.
pub fn crumpled(triangles: u32) -> Stack {
    let cells = (f64::from(triangles) / f64::from(2 * SHEETS)).sqrt().round() as u32;
    let h = 1.0 / f64::from(cells);
    let mut random = Random::new(1);
    let mut profile = vec![(0.0, 0.0)];
    for i in 0..cells {
        let angle = 1.2 * (12.0 * std::f64::consts::TAU * (f64::from(i) + 0.5) * h).sin();
        let (along, up) = profile[i as usize];
        profile.push((along + h * angle.cos(), up + h * angle.sin()));
    }
    let (mut x, mut faces) = (Vec::new(), Vec::new());
    let row = cells + 1;
    for sheet in 0..SHEETS {
        for j in 0..=cells {
            let y = f64::from(j) * h;
            for &(along, up) in &profile {
                let ruffle = 0.02 * (15.0 * y + 9.0 * along).sin();
                let z = up + ruffle + 0.5 * h * f64::from(sheet);
                x.push(Vec3::new(along, y, z) + 0.05 * h * random.in_cube(1.0));
            }
        }
        let first = sheet * row * row;
        let corners = (0..cells).flat_map(|j| (0..cells).map(move |i| first + j * row + i));
        faces.extend(corners.flat_map(|k| [[k, k + 1, k + row + 1], [k, k + row + 1, k + row]]));
    }
    let mut random = Random::new(2);
    let moved = x.iter().map(|&p| p + 0.02 * h * random.in_cube(1.0)).collect();
    let surface =
        Surface { vertices: (0..x.len() as u32).collect(), edges: unique_edges(&faces), triangles: faces };
    Stack { surface, x, moved, reach: 0.1 * h }
}
