//! Steps: one file per algorithm.

mod fluid_phase;
mod vbd_dat;

pub use vbd_dat::VbdDat;
