//! Solvers of the implicit step.

pub mod descent;
pub mod rigid;
