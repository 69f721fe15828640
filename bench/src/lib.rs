//! What the benchmarks share: clocks, the line that says where and when, and the scenes they time.

pub mod direct;
pub mod machine;
pub mod mesh_file;
pub mod stack;
pub mod twist;
