//! The simulation of Littoral: model, state, energies, contact, truncation, solvers and steps.
//!
//! This crate reads no files and prints nothing. Modules are layers: each uses only those before it in the list
//! below, which a test checks.

pub mod settings;

pub mod model;
pub mod motion;
pub mod pairing;
pub mod report;

pub mod safe;

pub mod fluid;
pub mod potential;

pub mod body;
pub mod chamber;
pub mod elastic;
pub mod joint;
pub mod kinematic;
pub mod liquid;
pub mod plastic;
pub mod rod;

pub mod contact;

pub mod truncation;

pub mod system;

pub mod solver;

pub mod step;

pub mod untangle;

pub mod simulation;

pub mod measure;

pub mod scene;

pub mod soup;
