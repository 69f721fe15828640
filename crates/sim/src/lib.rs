//! The simulation of Littoral: model, state, energies, contact, truncation, solvers and steps.
//!
//! This crate reads no files and prints nothing.

pub mod measure;
pub mod model;
pub mod motion;
pub mod report;
pub mod scene;
pub mod settings;
pub mod simulation;
