//! Node taints.

use crate::model::NodeInfo;
use crate::scheduling::{PodQuery, Rejection};

/// Whether the node passes.
///
/// # Errors
/// Why it does not.
pub fn filter(_query: &PodQuery, _info: &NodeInfo) -> Result<(), Rejection> {
    Ok(())
}

/// The raw score of a node that fits.
pub fn score(_query: &PodQuery, _info: &NodeInfo) -> i64 {
    0
}

/// Scales the raw scores of all nodes that fit to 0..=100.
pub fn normalize(_scores: &mut [i64]) {}
