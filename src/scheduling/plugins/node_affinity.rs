//! Node selector and node affinity.

use std::collections::BTreeSet;

use crate::model::selection::SelectorOperator;
use crate::model::{NodeInfo, NodeName, NodeSelectorTerm, Pod};
use crate::scheduling::plugins::{NodeSet, default_normalize};
use crate::scheduling::{PodQuery, QueryError, Rejection};

/// The nodes that the pod's affinity names by `metadata.name`, if every term does.
///
/// # Errors
/// [`QueryError::AffinityTermsConflict`] when that leaves none.
pub fn pre_filter(pod: &Pod) -> Result<NodeSet, QueryError> {
    let terms = pod.required_affinity.as_ref().map_or(&[][..], |required| &required.terms);
    if terms.is_empty() {
        return Ok(NodeSet::All);
    }
    let mut nodes = BTreeSet::new();
    for term in terms {
        match named_nodes(term) {
            Some(more) => nodes.extend(more),
            None => return Ok(NodeSet::All),
        }
    }
    if nodes.is_empty() {
        return Err(QueryError::AffinityTermsConflict);
    }
    Ok(NodeSet::Only(nodes))
}

/// The nodes that all `metadata.name` requirements of a term name; `None` without such a one.
fn named_nodes(term: &NodeSelectorTerm) -> Option<BTreeSet<NodeName>> {
    let by_name =
        |key: &str, operator: &SelectorOperator| key == "metadata.name" && *operator == SelectorOperator::In;
    term.match_fields
        .iter()
        .filter(|requirement| by_name(&requirement.key, &requirement.operator))
        .map(|requirement| requirement.values.iter().cloned().map(NodeName::from).collect())
        .reduce(|common: BTreeSet<NodeName>, named| common.intersection(&named).cloned().collect())
}

/// Whether the node has every label of the node selector and matches a term of the required
/// affinity. A term that cannot be evaluated is no match.
///
/// # Errors
/// [`Rejection::NodeAffinity`] otherwise.
pub fn filter(query: &PodQuery, info: &NodeInfo) -> Result<(), Rejection> {
    let (pod, node) = (&query.pod, &info.node);
    if let Some((key, value)) =
        pod.node_selector.iter().find(|(key, value)| node.labels.get(key) != Some(value))
    {
        return Err(Rejection::NodeAffinity { label: Some((key.clone(), value.clone())) });
    }
    let matches = pod
        .required_affinity
        .as_ref()
        .is_none_or(|required| required.matches_leniently(&node.name, &node.labels).unwrap_or(false));
    if matches { Ok(()) } else { Err(Rejection::NodeAffinity { label: None }) }
}

/// The weights of the preferred terms that the node matches, summed up.
pub fn score(query: &PodQuery, info: &NodeInfo) -> i64 {
    let node = &info.node;
    let matching = query
        .pod
        .preferred_affinity
        .iter()
        .filter(|preferred| preferred.term.check().is_ok())
        .filter(|preferred| preferred.term.matches(&node.name, &node.labels));
    matching.map(|preferred| i64::from(preferred.weight)).sum()
}

/// Scales the raw scores of all nodes that fit to 0..=100.
pub fn normalize(scores: &mut [i64]) {
    default_normalize(scores, false);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::pod::PreferredTerm;
    use crate::model::selection::Requirement;
    use crate::model::{Labels, Name, Node, NodeSelector};
    use crate::scheduling::tests::world::{info, node, query};

    fn requirement(key: &str, operator: SelectorOperator, values: &[&str]) -> Requirement {
        Requirement {
            key: key.into(),
            operator,
            values: values.iter().map(|value| Name::from(*value)).collect(),
        }
    }

    fn label(key: &str, operator: SelectorOperator, values: &[&str]) -> NodeSelectorTerm {
        let match_expressions = Box::new([requirement(key, operator, values)]);
        NodeSelectorTerm { match_expressions, ..NodeSelectorTerm::default() }
    }

    fn names(lists: &[&[&str]]) -> NodeSelectorTerm {
        let by_name = |values: &&[&str]| requirement("metadata.name", SelectorOperator::In, values);
        NodeSelectorTerm { match_fields: lists.iter().map(by_name).collect(), ..NodeSelectorTerm::default() }
    }

    fn required(terms: Vec<NodeSelectorTerm>) -> Pod {
        Pod { required_affinity: Some(NodeSelector { terms: terms.into() }), ..Pod::default() }
    }

    fn labels(pairs: &[(&str, &str)]) -> Labels {
        pairs.iter().map(|(key, value)| (Name::from(*key), Name::from(*value))).collect()
    }

    fn labelled(pairs: &[(&str, &str)]) -> NodeInfo {
        info(Node { labels: labels(pairs), ..node("a") })
    }

    fn only(names: &[&str]) -> NodeSet {
        NodeSet::Only(names.iter().map(|name| NodeName::from(*name)).collect())
    }

    #[test]
    fn the_node_selector_wants_every_label() {
        let pod = Pod { node_selector: labels(&[("disk", "ssd"), ("zone", "a")]), ..Pod::default() };
        let pod = query(pod);
        assert_eq!(filter(&pod, &labelled(&[("disk", "ssd"), ("zone", "a"), ("more", "")])), Ok(()));
        let label = |key: &str, value: &str| {
            Err(Rejection::NodeAffinity { label: Some((Name::from(key), Name::from(value))) })
        };
        assert_eq!(filter(&pod, &labelled(&[("disk", "ssd")])), label("zone", "a"));
        assert_eq!(filter(&pod, &labelled(&[("disk", "hdd"), ("zone", "a")])), label("disk", "ssd"));
    }

    #[test]
    fn one_term_of_the_required_affinity_must_match() {
        let ssd = || label("disk", SelectorOperator::In, &["ssd", "nvme"]);
        let large = || label("cores", SelectorOperator::Gt, &["16"]);
        let pod = query(required(vec![ssd(), large()]));
        let rejected = Err(Rejection::NodeAffinity { label: None });
        assert_eq!(filter(&pod, &labelled(&[("disk", "nvme")])), Ok(()));
        assert_eq!(filter(&pod, &labelled(&[("cores", "17")])), Ok(()));
        assert_eq!(filter(&pod, &labelled(&[("cores", "16"), ("disk", "hdd")])), rejected);
        assert_eq!(filter(&pod, &labelled(&[("cores", "many")])), rejected);
    }

    #[test]
    fn no_terms_and_empty_terms_match_no_node_and_bad_ones_spoil_nothing() {
        let rejected = Err(Rejection::NodeAffinity { label: None });
        let node = labelled(&[("disk", "ssd")]);
        assert_eq!(filter(&query(required(vec![])), &node), rejected);
        assert_eq!(filter(&query(required(vec![NodeSelectorTerm::default()])), &node), rejected);
        let bad = label("disk", SelectorOperator::Gt, &["x"]);
        let good = label("disk", SelectorOperator::Exists, &[]);
        assert_eq!(filter(&query(required(vec![bad.clone()])), &node), rejected);
        assert_eq!(filter(&query(required(vec![bad, good])), &node), Ok(()));
    }

    #[test]
    fn absent_labels_satisfy_the_negative_operators() {
        let node = labelled(&[]);
        for operator in [SelectorOperator::NotIn, SelectorOperator::DoesNotExist] {
            let values: &[&str] = if operator == SelectorOperator::NotIn { &["hdd"] } else { &[] };
            assert_eq!(filter(&query(required(vec![label("disk", operator, values)])), &node), Ok(()));
        }
    }

    #[test]
    fn nodes_are_named_only_if_every_term_names_some() {
        assert_eq!(pre_filter(&Pod::default()), Ok(NodeSet::All));
        assert_eq!(pre_filter(&required(vec![])), Ok(NodeSet::All));
        let named = required(vec![names(&[&["b"]]), names(&[&["a"]])]);
        assert_eq!(pre_filter(&named), Ok(only(&["a", "b"])));
        let open = required(vec![names(&[&["a"]]), label("disk", SelectorOperator::Exists, &[])]);
        assert_eq!(pre_filter(&open), Ok(NodeSet::All));
    }

    #[test]
    fn names_within_a_term_must_agree() {
        let one = required(vec![names(&[&["a"], &["b"]]), names(&[&["c"]])]);
        assert_eq!(pre_filter(&one), Ok(only(&["c"])));
        let none = required(vec![names(&[&["a"], &["b"]])]);
        assert_eq!(pre_filter(&none), Err(QueryError::AffinityTermsConflict));
        // Only `In` names nodes.
        let mut other = names(&[&["a"]]);
        other.match_fields[0].operator = SelectorOperator::NotIn;
        assert_eq!(pre_filter(&required(vec![other])), Ok(NodeSet::All));
    }

    #[test]
    fn the_score_is_the_weight_of_all_preferences_met() {
        let preferred = |weight, term| PreferredTerm { weight, term };
        let pod = query(Pod {
            preferred_affinity: Box::new([
                preferred(40, label("disk", SelectorOperator::In, &["ssd"])),
                preferred(25, label("zone", SelectorOperator::Exists, &[])),
                preferred(100, NodeSelectorTerm::default()),
                preferred(7, names(&[&["a"]])),
            ]),
            ..Pod::default()
        });
        assert_eq!(score(&pod, &labelled(&[("disk", "ssd"), ("zone", "a")])), 72);
        assert_eq!(score(&pod, &labelled(&[("disk", "hdd")])), 7);
        let mut scores = [72, 7, 0];
        normalize(&mut scores);
        assert_eq!(scores, [100, 9, 0]);
    }
}
