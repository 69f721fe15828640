//! Files of Littoral: scene files in, meshes in, run folders and pictures out.
//!
//! This crate knows how things are written down, not how a step is solved.

pub mod mesh;
pub mod render;
pub mod scene;
