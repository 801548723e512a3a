//! `spec.nodeName`.

use crate::model::NodeInfo;
use crate::scheduling::{PodQuery, Rejection};

/// Whether the node passes.
///
/// # Errors
/// Why it does not.
pub fn filter(_query: &PodQuery, _info: &NodeInfo) -> Result<(), Rejection> {
    Ok(())
}
