//! The live scheduler: watches a cluster, decides with the same pure rooms as a simulation, and
//! writes what was decided. All that is live and nothing that decides is here.
//!
//! - [`watch`](mod@watch): the kinds that decisions are made from, as one stream of changes
//! - [`cache`]: these changes as a [`Snapshot`](crate::model::Snapshot), with our own decisions that
//!   the API server does not show yet
//! - [`pending`]: the pods that wait, and whose turn is next
//! - [`scheduler`]: the loop: one change, one answer or one pod at a time
//! - [`commit`]: carries a plan out and takes it back when a step fails
//! - [`condition`]: says in the pod's status why it is pending
//!
//! One loop owns all state; requests run beside it and report back. An object is written back as the
//! JSON that was read ([`untyped`]), changed only where the write is about.

// This is a shell room: it knows the time, and the network.
#![allow(clippy::disallowed_methods)]

pub mod api;
pub mod binding_conditions;
pub mod cache;
pub mod cleanup;
pub mod commit;
pub mod condition;
pub mod edit;
pub mod effect;
pub mod gated;
mod overlay;
pub mod pending;
mod run;
pub mod scheduler;
#[cfg(test)]
mod tests;
pub mod untyped;
pub mod watch;

pub use run::{RunError, run};
