//! Stowplan is a scheduler for Kubernetes that knows devices.

pub mod allocator;
pub mod cel;
pub mod cli;
#[cfg(feature = "cluster")]
pub mod cluster;
pub mod config;
pub mod explain;
pub mod k8s;
pub mod model;
pub mod scheduling;
pub mod simulate;
