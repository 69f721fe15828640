//! Steps: one file per algorithm.

mod vbd_dat;

pub use vbd_dat::VbdDat;
