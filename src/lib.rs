//! Stowplan is a scheduler for Kubernetes that knows devices: it allocates `ResourceClaims`
//! (`resource.k8s.io/v1`, Dynamic Resource Allocation) as kube-scheduler does, and binds their pods.
//!
//! # One pod's journey
//!
//! 1. An object, from a manifest or a watch, becomes a noun of [`model`] through [`k8s`]. The nouns
//!    make up a [`model::Snapshot`]: immutable, shared, one view for the whole decision.
//! 2. [`scheduling::schedule`] asks of one pod and one snapshot: what does the pod need (claims
//!    looked up, selectors known), which nodes will do, which of them is best. The devices of each
//!    node are chosen by the [`allocator`], whose selectors are compiled by [`cel`].
//! 3. Every allocation passes [`allocator::check`], which shares no code with the search.
//! 4. The answer is a [`scheduling::Decision`], a value that can be printed: [`explain`] words it.
//! 5. [`scheduling::assume`] makes the next snapshot of a placement; [`scheduling::CommitPlan`] lists
//!    the writes that make it true, in order, each with its undo.
//! 6. Live, `cluster` carries the plan out. Offline, [`simulate`] prints it and takes the next pod.
//!
//! Live and offline differ before step 2 and after step 5, nowhere else. Who may import whom, and what
//! the pure rooms never touch, is checked by `e2e/architecture.rs`.

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
