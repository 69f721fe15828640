//! Steps: one file per algorithm.

mod bodies;
mod fluid_phase;
mod newton_ipc;
mod vbd_dat;

pub use newton_ipc::NewtonIpc;
pub use vbd_dat::VbdDat;
