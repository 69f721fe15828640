//! Procedural meshes: sheets, closed surfaces, open shells and tet blocks, in metres, centred at the origin.
//!
//! Surfaces of bodies are outward oriented and share their vertices. Counts below the least that makes sense
//! (one cell, three segments) are raised to it, and lengths are taken as given, so no shape can fail.
//! Diagonals alternate wherever quads are split: hinge bending on one-diagonal grids is up to three times
//! stiffer across the diagonal than along it.

mod builder;
mod closed;
mod cone;
mod figure;
mod lines;
mod sheets;
mod solid;

#[cfg(test)]
mod tests;

pub use closed::{capsule, cuboid, cylinder, ellipsoid, gear, prism, sphere, torus, wedge};
pub use cone::cone;
pub use figure::figure;
pub use lines::{bridge, circle, helix, linking, net, overhand, reef, segment_line, trefoil, writhe};
pub use sheets::{belt, bowl, cup, grid, plane, strip_spiral, tank, triangle_grid, tube};
pub use solid::{tet_cuboid, tet_cylinder, tet_sphere, tet_torus};
