//! Files of Littoral: scene files and meshes in, run folders and pictures out.
//!
//! This crate knows how things are written down, not how a step is solved.

pub mod checkpoint;
pub mod effort;
pub mod export;
pub mod mesh;
pub mod npz;
pub mod render;
pub mod report;
pub mod run_folder;
pub mod scene;
pub mod stats;
#[cfg(feature = "surface")]
pub mod surface;
pub mod whole_file;
