//! One pod against one snapshot: which node, which devices, and if none, why. Pure.
//!
//! The journey is [`schedule`]: [`PodQuery::new`] resolves what the pod asks, the plugins filter and
//! score the nodes, and the result is a [`Decision`]. A [`Placement`] becomes the next snapshot by
//! [`assume`](assume::assume), and API writes by [`CommitPlan::new`]. Live and offline runs differ
//! only in what they do with these values.

pub mod assume;
pub mod commit_plan;
pub mod cycle;
pub mod decision;
mod faulty_selectors;
pub mod options;
pub mod plugins;
pub mod query;
pub mod query_error;
mod recall;
pub mod rejection;
mod reserve;
pub mod scores;
pub mod share_id;
mod verdicts;

pub use commit_plan::CommitPlan;
pub use cycle::{Memo, schedule};
pub use decision::{Decision, Diagnosis, Placement};
pub use options::Options;
pub use plugins::Plugin;
pub use query::PodQuery;
pub use query_error::QueryError;
pub use rejection::Rejection;

#[cfg(test)]
pub(crate) mod tests;
