//! Solvers of the implicit step.

pub mod assembly;
pub mod backing;
pub mod beside;
pub mod bodies;
pub mod body_backing;
mod body_gradients;
pub mod body_terms;
pub mod chain;
pub mod cholesky;
pub mod coarse;
pub mod descent;
pub mod expansion;
pub mod joints;
pub mod newton;
pub mod objective;
pub mod pcg;
pub mod rigid;
pub mod rod;
pub mod rod_frames;
pub mod schur;
pub mod sparse;
