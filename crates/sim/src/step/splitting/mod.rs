//! How a fluid and solids share a step of Newton's method [Xie 2023, §4]: one file a splitting.
//!
//! In all of them c C_sf + … counts every contact energy once in the sum over the phases, and every phase with contacts
//! starts at the safe xⁿ, its target x* being in the inertia alone.

mod baseline;
pub(super) mod joint;
mod proxy;
mod three_phase;
