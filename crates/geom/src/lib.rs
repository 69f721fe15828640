//! Geometry of Littoral: small maths, meshes, distances, the bounding volume hierarchy, and the referee.
//!
//! This crate knows nothing of mass, energy or time. Positions are `f64`, in metres.

mod box_tree;
pub mod bucket_sort;
pub mod bvh;
pub mod distance;
pub mod inside;
pub mod math;
pub mod mesh;
pub mod moments;
pub mod near;
pub mod pairs;
pub mod particle_grid;
pub mod random;
pub mod referee;
pub mod sampling;
pub mod shapes;
pub mod svd;
pub mod sweep;
pub mod tet_fill;
pub mod tube;
