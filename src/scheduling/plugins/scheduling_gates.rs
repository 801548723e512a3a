//! Pods that are held back by `spec.schedulingGates` (KEP-3521).

use crate::model::Pod;
use crate::scheduling::QueryError;

/// Whether nothing holds the pod back (`PreEnqueue`).
///
/// # Errors
/// [`QueryError::SchedulingGates`] with all gates.
pub fn pre_enqueue(pod: &Pod) -> Result<(), QueryError> {
    if pod.scheduling_gates.is_empty() {
        return Ok(());
    }
    Err(QueryError::SchedulingGates { gates: pod.scheduling_gates.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_waits_for_all_of_its_gates() {
        let gates: Box<[_]> = Box::new(["quota".into(), "review".into()]);
        let pod = Pod { scheduling_gates: gates.clone(), ..Pod::default() };
        assert_eq!(pre_enqueue(&pod), Err(QueryError::SchedulingGates { gates }));
        assert_eq!(pre_enqueue(&Pod::default()), Ok(()));
    }
}
