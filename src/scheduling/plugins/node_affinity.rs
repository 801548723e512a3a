//! Node selector and node affinity.

use crate::model::{NodeInfo, Pod};
use crate::scheduling::plugins::NodeSet;
use crate::scheduling::{PodQuery, QueryError, Rejection};

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

/// The nodes that the pod's affinity names by `metadata.name`, if every term does.
///
/// # Errors
/// [`QueryError::AffinityTermsConflict`] when that leaves none.
pub fn pre_filter(_pod: &Pod) -> Result<NodeSet, QueryError> {
    Ok(NodeSet::All)
}
