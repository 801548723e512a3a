//! Pods that are held back by `spec.schedulingGates`.

use crate::model::Pod;
use crate::scheduling::QueryError;

/// Whether nothing holds the pod back (`PreEnqueue`).
///
/// # Errors
/// [`QueryError::SchedulingGates`] with all gates.
pub fn pre_enqueue(_pod: &Pod) -> Result<(), QueryError> {
    Ok(())
}
