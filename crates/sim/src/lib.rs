//! The simulation of Littoral: model, state, energies, contact, truncation, solvers and steps.
//!
//! This crate reads no files and prints nothing.

pub mod motion;
pub mod scene;
pub mod settings;
