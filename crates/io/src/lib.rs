//! Littoral io.

pub mod mesh;
pub mod render;
