//! Solvers of the implicit step.

pub mod descent;
