//! Steps: one file per algorithm.

mod bodies;
mod budget;
mod exact_proxy;
mod fluid_phase;
mod immersed;
mod joint_fluid;
mod newton_beside;
mod newton_forces;
mod newton_ipc;
mod newton_phase;
mod prescribed;
mod splitting;
mod temper;
mod vbd_dat;

pub use newton_ipc::NewtonIpc;
pub use vbd_dat::VbdDat;
