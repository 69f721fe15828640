//! Littoral io.
