//! Node taints and the pod's tolerations.

use crate::model::taint::{Taint, TaintEffect, first_untolerated};
use crate::model::{NodeInfo, Pod};
use crate::scheduling::plugins::default_normalize;
use crate::scheduling::{PodQuery, Rejection};

/// Whether the pod tolerates every taint of the node that keeps pods away.
///
/// # Errors
/// [`Rejection::TaintToleration`] with the first one that it does not. When the taint was added is
/// left out, so that nodes with the same taint are told of together.
pub fn filter(query: &PodQuery, info: &NodeInfo) -> Result<(), Rejection> {
    match first_untolerated(&info.node.taints, &query.pod.tolerations) {
        None => Ok(()),
        Some(taint) => Err(Rejection::TaintToleration { taint: Taint { time_added: None, ..taint.clone() } }),
    }
}

/// How many taints of the node ask to avoid it and are not tolerated.
pub fn score(query: &PodQuery, info: &NodeInfo) -> i64 {
    let disliked =
        info.node.taints.iter().filter(|taint| {
            taint.effect == TaintEffect::PreferNoSchedule && !is_tolerated(&query.pod, taint)
        });
    i64::try_from(disliked.count()).unwrap_or(i64::MAX)
}

fn is_tolerated(pod: &Pod, taint: &Taint) -> bool {
    pod.tolerations.iter().any(|toleration| toleration.tolerates(taint))
}

/// Scales the raw scores of all nodes that fit to 0..=100, where few taints are best.
pub fn normalize(scores: &mut [i64]) {
    default_normalize(scores, true);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::taint::{Toleration, TolerationOperator};
    use crate::model::{Node, Timestamp};
    use crate::scheduling::rejection::Code;
    use crate::scheduling::tests::world::{info, node, query};

    fn taint(key: &str, value: &str, effect: TaintEffect) -> Taint {
        Taint { key: key.into(), value: value.into(), effect, time_added: Some(Timestamp(1)) }
    }

    fn tainted(taints: Vec<Taint>) -> NodeInfo {
        info(Node { taints: taints.into(), ..node("a") })
    }

    fn tolerating(tolerations: &[(&str, &str, Option<TaintEffect>)]) -> PodQuery {
        let toleration = |(key, value, effect): &(&str, &str, Option<TaintEffect>)| Toleration {
            key: (*key).into(),
            operator: TolerationOperator::Equal,
            operator_given: true,
            value: (*value).into(),
            effect: effect.clone(),
            toleration_seconds: None,
        };
        query(Pod { tolerations: tolerations.iter().map(toleration).collect(), ..Pod::default() })
    }

    #[test]
    fn the_first_untolerated_taint_that_blocks_rejects_the_node() {
        let node = tainted(vec![
            taint("soft", "", TaintEffect::PreferNoSchedule),
            taint("gpu", "yes", TaintEffect::NoSchedule),
            taint("down", "", TaintEffect::NoExecute),
        ]);
        let key = |query: &PodQuery| match filter(query, &node) {
            Err(Rejection::TaintToleration { taint }) => taint.key,
            other => panic!("{other:?}"),
        };
        assert_eq!(key(&tolerating(&[])), "gpu");
        assert_eq!(key(&tolerating(&[("gpu", "no", None)])), "gpu");
        assert_eq!(key(&tolerating(&[("gpu", "yes", None)])), "down");
        assert_eq!(key(&tolerating(&[("gpu", "yes", Some(TaintEffect::NoExecute))])), "gpu");
        assert_eq!(filter(&tolerating(&[("gpu", "yes", None), ("down", "", None)]), &node), Ok(()));
    }

    #[test]
    fn nodes_with_the_same_taint_are_rejected_for_the_same_reason() {
        let earlier = tainted(vec![taint("gpu", "", TaintEffect::NoSchedule)]);
        let later = Taint { time_added: Some(Timestamp(2)), ..taint("gpu", "", TaintEffect::NoSchedule) };
        let rejection = filter(&tolerating(&[]), &earlier);
        assert_eq!(rejection, filter(&tolerating(&[]), &tainted(vec![later])));
        assert_eq!(rejection.map_err(|rejection| rejection.code()), Err(Code::UnschedulableAndUnresolvable));
    }

    #[test]
    fn untolerated_soft_taints_are_counted() {
        let node = tainted(vec![
            taint("a", "", TaintEffect::PreferNoSchedule),
            taint("b", "", TaintEffect::PreferNoSchedule),
            taint("c", "", TaintEffect::NoSchedule),
        ]);
        assert_eq!(score(&tolerating(&[]), &node), 2);
        assert_eq!(score(&tolerating(&[("a", "", None)]), &node), 1);
        assert_eq!(score(&tolerating(&[("a", "", Some(TaintEffect::NoSchedule))]), &node), 2);
        assert_eq!(score(&tolerating(&[("a", "", Some(TaintEffect::PreferNoSchedule))]), &node), 1);
    }

    #[test]
    fn the_node_with_the_fewest_soft_taints_scores_best() {
        let mut scores = [0, 1, 3];
        normalize(&mut scores);
        assert_eq!(scores, [100, 67, 0]);
    }
}
