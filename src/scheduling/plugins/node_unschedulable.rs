//! Cordoned nodes (`spec.unschedulable`).

use crate::model::taint::{Taint, TaintEffect};
use crate::model::{Name, NodeInfo};
use crate::scheduling::{PodQuery, Rejection};

/// The taint that Kubernetes gives to a cordoned node. Who tolerates it may go there, even before
/// the taint is set.
const UNSCHEDULABLE_TAINT: &str = "node.kubernetes.io/unschedulable";

/// Whether the node is not cordoned, or the pod tolerates that.
///
/// # Errors
/// [`Rejection::NodeUnschedulable`] otherwise.
pub fn filter(query: &PodQuery, info: &NodeInfo) -> Result<(), Rejection> {
    if !info.node.unschedulable {
        return Ok(());
    }
    let taint = Taint {
        key: Name::from(UNSCHEDULABLE_TAINT),
        value: Name::default(),
        effect: TaintEffect::NoSchedule,
        time_added: None,
    };
    if query.pod.tolerations.iter().any(|toleration| toleration.tolerates(&taint)) {
        return Ok(());
    }
    Err(Rejection::NodeUnschedulable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::taint::{Toleration, TolerationOperator};
    use crate::model::{Node, Pod};
    use crate::scheduling::tests::world::{info, node, query};

    fn tolerating(key: &str, effect: Option<TaintEffect>) -> Pod {
        let toleration = Toleration {
            key: key.into(),
            operator: TolerationOperator::Exists,
            operator_given: true,
            value: Name::default(),
            effect,
            toleration_seconds: None,
        };
        Pod { tolerations: Box::new([toleration]), ..Pod::default() }
    }

    #[test]
    fn a_cordoned_node_takes_only_pods_that_tolerate_the_taint_of_cordoned_nodes() {
        let cordoned = info(Node { unschedulable: true, ..node("a") });
        let blocked = Err(Rejection::NodeUnschedulable);
        assert_eq!(filter(&query(Pod::default()), &cordoned), blocked);
        assert_eq!(filter(&query(tolerating("other", None)), &cordoned), blocked);
        let no_execute = tolerating(UNSCHEDULABLE_TAINT, Some(TaintEffect::NoExecute));
        assert_eq!(filter(&query(no_execute), &cordoned), blocked);
        let no_schedule = tolerating(UNSCHEDULABLE_TAINT, Some(TaintEffect::NoSchedule));
        assert_eq!(filter(&query(no_schedule), &cordoned), Ok(()));
        assert_eq!(filter(&query(tolerating("", None)), &cordoned), Ok(()));
        assert_eq!(filter(&query(Pod::default()), &info(node("a"))), Ok(()));
    }
}
