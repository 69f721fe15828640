//! The viewer: a server of this machine for itself, and the one page that it serves.
//!
//! ```text
//! GET /                    the page, and beside it its style and scripts
//! GET /run.json            the frames there are, and the report
//! GET /topology.bin        what does not change, and where to look from
//! GET /frame/42.bin        a frame
//! ```
//!
//! Nothing is written, nothing outside of the run's folder is read, and the page asks nobody else for anything.
//!
//! The server is `std::net` and a thread a connection. It has to understand one kind of request, `GET` of a fixed path
//! without a body, from one user; the small servers on the registry bring date, chunk and pool crates for what is
//! never sent here, and the newest of them would be the least looked after part of the program.

pub mod browser;
pub mod http;
pub mod look;
pub mod page;
pub mod routes;
pub mod server;
pub mod wire;
