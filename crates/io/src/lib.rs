//! Littoral io.

pub mod render;
