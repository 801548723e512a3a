//! `spec.nodeName`, where a pod that is still to be scheduled has one.

use crate::model::NodeInfo;
use crate::scheduling::{PodQuery, Rejection};

/// Whether the pod names this node, or none.
///
/// # Errors
/// [`Rejection::NodeName`] when it names another one.
pub fn filter(query: &PodQuery, info: &NodeInfo) -> Result<(), Rejection> {
    match &query.pod.node_name {
        Some(wanted) if *wanted != info.node.name => Err(Rejection::NodeName { wanted: wanted.clone() }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Pod;
    use crate::scheduling::tests::world::{info, node, query};

    #[test]
    fn a_pod_goes_only_where_it_names_the_node() {
        let pod = Pod { node_name: Some("b".into()), ..Pod::default() };
        assert_eq!(filter(&query(pod.clone()), &info(node("b"))), Ok(()));
        let rejection = filter(&query(pod), &info(node("a"))).expect_err("another node");
        assert_eq!(rejection, Rejection::NodeName { wanted: "b".into() });
        assert_eq!(filter(&query(Pod::default()), &info(node("a"))), Ok(()));
    }
}
