//! Workloads as the pods that their controllers would make of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::names::{TakenNames, generate, suffix};
use crate::k8s::{Workload, WorkloadKind};
use crate::model::selection::{Requirement, SelectorOperator};
use crate::model::taint::first_untolerated;
use crate::model::{
    Name, Node, NodeName, NodeSelector, NodeSelectorTerm, OwnerReference, Pod, PodKey, PodPhase, TaintEffect,
    Toleration, TolerationOperator,
};

/// Most pods that one workload is expanded into: upstream's limit for the pods of a cluster.
const MOST_PODS: usize = 150_000;

/// What the `DaemonSet` controller lets its pods tolerate: taint key and effect.
const DAEMON_TOLERATIONS: [(&str, TaintEffect); 6] = [
    ("node.kubernetes.io/not-ready", TaintEffect::NoExecute),
    ("node.kubernetes.io/unreachable", TaintEffect::NoExecute),
    ("node.kubernetes.io/disk-pressure", TaintEffect::NoSchedule),
    ("node.kubernetes.io/memory-pressure", TaintEffect::NoSchedule),
    ("node.kubernetes.io/pid-pressure", TaintEffect::NoSchedule),
    ("node.kubernetes.io/unschedulable", TaintEffect::NoSchedule),
];

/// What it lets those on the host's network tolerate besides: they may well be what sets it up.
const HOST_NETWORK_TOLERATION: (&str, TaintEffect) =
    ("node.kubernetes.io/network-unavailable", TaintEffect::NoSchedule);

/// A pod that is there already, as its workload sees it.
#[derive(Clone, Debug)]
pub struct OwnedPod {
    /// The workload that controls it.
    pub owner: OwnerReference,
    /// The pod.
    pub pod: Arc<Pod>,
}

/// The pods that are still to be made for a workload, in the order in which its controller makes
/// them. `existing` are the pods of the namespace that have a controller, and the `ReplicaSets` of the
/// input stand for their Deployment.
pub fn expand(
    workload: &Workload,
    workloads: &[Workload],
    nodes: &[Node],
    existing: &[OwnedPod],
    taken: &mut TakenNames,
) -> Vec<Pod> {
    let has_workload = |kind: WorkloadKind| {
        workloads.iter().any(|other| {
            other.kind == kind
                && other.key.namespace == workload.key.namespace
                && other.controller.as_ref().is_some_and(|owner| controls(workload, owner))
        })
    };
    if workload.kind == WorkloadKind::Deployment && has_workload(WorkloadKind::ReplicaSet) {
        return Vec::new();
    }
    let made: Vec<_> = existing
        .iter()
        .filter(|owned| owned.pod.key.namespace == workload.key.namespace)
        .filter(|owned| owned.pod.phase != PodPhase::Ended && controls(workload, &owned.owner))
        .map(|owned| &owned.pod)
        .collect();
    match workload.kind {
        WorkloadKind::DaemonSet => daemons(workload, nodes, &made, taken),
        WorkloadKind::StatefulSet => ordinals(workload, taken),
        _ => replicas(workload, made.len(), taken),
    }
}

fn controls(workload: &Workload, owner: &OwnerReference) -> bool {
    *owner.kind == *workload.kind.as_str()
        && owner.name == workload.key.name
        && (workload.uid.as_str().is_empty() || owner.uid == workload.uid)
}

fn replicas(workload: &Workload, made: usize, taken: &mut TakenNames) -> Vec<Pod> {
    let name = &workload.key.name;
    let base = match workload.kind {
        WorkloadKind::Deployment => format!("{name}-{}-", suffix(&format!("{}", workload.key), 9)),
        _ => format!("{name}-"),
    };
    let wanted = usize::try_from(workload.replicas.unwrap_or(0)).unwrap_or(0).min(MOST_PODS);
    (made..wanted)
        .map(|index| {
            let seed = format!("{}/{}#{index}", workload.kind.as_str(), workload.key);
            named(workload, generate(&base, &seed, |name| is_taken(workload, taken, name)), taken)
        })
        .collect()
}

fn ordinals(workload: &Workload, taken: &mut TakenNames) -> Vec<Pod> {
    let wanted = usize::try_from(workload.replicas.unwrap_or(0)).unwrap_or(0).min(MOST_PODS);
    let ordinals = (i64::from(workload.first_ordinal)..).take(wanted);
    let names = ordinals.map(|ordinal| Name::from(format!("{}-{ordinal}", workload.key.name)));
    let missing: Vec<_> = names.filter(|name| !is_taken(workload, taken, name)).collect();
    missing.into_iter().map(|name| named(workload, name, taken)).collect()
}

fn daemons(workload: &Workload, nodes: &[Node], made: &[&Arc<Pod>], taken: &mut TakenNames) -> Vec<Pod> {
    let mut template = (*workload.template).clone();
    let added =
        DAEMON_TOLERATIONS.into_iter().chain(template.host_network.then_some(HOST_NETWORK_TOLERATION));
    template.tolerations = template.tolerations.iter().cloned().chain(added.map(tolerates)).collect();
    let served: BTreeSet<_> = made.iter().filter_map(|pod| daemon_node(pod)).collect();
    let mut nodes: Vec<_> = nodes.iter().collect();
    nodes.sort_by(|a, b| a.name.cmp(&b.name));
    let mut pods = Vec::new();
    for node in nodes {
        if served.contains(&node.name) || !should_run(&template, node) {
            continue;
        }
        let seed = format!("{}/{}@{}", workload.kind.as_str(), workload.key, node.name);
        let base = format!("{}-", workload.key.name);
        let name = generate(&base, &seed, |name| is_taken(workload, taken, name));
        let mut pod = named(workload, name, taken);
        pod.tolerations.clone_from(&template.tolerations);
        pod.required_affinity = Some(pinned(template.required_affinity.as_ref(), &node.name));
        pods.push(pod);
    }
    pods
}

fn tolerates((key, effect): (&str, TaintEffect)) -> Toleration {
    Toleration {
        key: Name::from(key),
        operator: TolerationOperator::Exists,
        operator_given: true,
        value: Name::default(),
        effect: Some(effect),
        toleration_seconds: None,
    }
}

/// Whether the controller wants a pod on that node: name, selector, affinity and taints are looked
/// at, resources are not.
fn should_run(template: &Pod, node: &Node) -> bool {
    let named = template.node_name.as_ref().is_none_or(|name| *name == node.name);
    let selected = template.node_selector.iter().all(|(key, value)| node.labels.get(key) == Some(value));
    let reached = template
        .required_affinity
        .as_ref()
        .is_none_or(|affinity| affinity.matches_leniently(&node.name, &node.labels).unwrap_or(false));
    named && selected && reached && first_untolerated(&node.taints, &template.tolerations).is_none()
}

/// The affinity that pins a pod to its node: every alternative gets the node's name as its field.
fn pinned(affinity: Option<&NodeSelector>, node: &NodeName) -> NodeSelector {
    let pin = || {
        Box::new([Requirement {
            key: Name::from("metadata.name"),
            operator: SelectorOperator::In,
            values: Box::new([node.0.clone()]),
        }])
    };
    match affinity.filter(|affinity| !affinity.terms.is_empty()) {
        None => NodeSelector::of_node(node),
        Some(affinity) => NodeSelector {
            terms: affinity
                .terms
                .iter()
                .map(|term| NodeSelectorTerm {
                    match_expressions: term.match_expressions.clone(),
                    match_fields: pin(),
                })
                .collect(),
        },
    }
}

/// The node that a pod of a `DaemonSet` is on, or is pinned to.
fn daemon_node(pod: &Pod) -> Option<NodeName> {
    pod.node_name.clone().or_else(|| {
        let terms = &pod.required_affinity.as_ref()?.terms;
        let pin = terms.first()?.match_fields.iter().find(|field| field.key == "metadata.name")?;
        pin.values.first().cloned().map(NodeName)
    })
}

fn is_taken(workload: &Workload, taken: &TakenNames, name: &str) -> bool {
    taken.contains(&PodKey::new(workload.key.namespace.clone(), name))
}

fn named(workload: &Workload, name: Name, taken: &mut TakenNames) -> Pod {
    let key = PodKey { namespace: workload.key.namespace.clone(), name };
    taken.insert(key.clone());
    Pod { key, created: workload.created, ..(*workload.template).clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Labels, Taint};

    fn workload(kind: WorkloadKind, replicas: Option<i32>) -> Workload {
        let template = Pod { key: PodKey::new("default", ""), ..Pod::default() };
        Workload {
            kind,
            key: PodKey::new("default", "w"),
            uid: "uid-w".into(),
            created: None,
            controller: None,
            replicas,
            first_ordinal: 0,
            template: Arc::new(template),
        }
    }

    fn node(name: &str, labels: &[(&str, &str)], taints: &[(&str, TaintEffect)]) -> Node {
        let taint = |(key, effect): &(&str, TaintEffect)| Taint {
            key: Name::from(*key),
            value: Name::default(),
            effect: effect.clone(),
            time_added: None,
        };
        Node {
            name: name.into(),
            labels: labels.iter().map(|(key, value)| (Name::from(*key), Name::from(*value))).collect(),
            taints: taints.iter().map(taint).collect(),
            ..Node::default()
        }
    }

    fn owned(kind: &str, name: &str, phase: PodPhase) -> OwnedPod {
        let owner = OwnerReference {
            api_version: "apps/v1".into(),
            kind: kind.into(),
            name: "w".into(),
            uid: "uid-w".into(),
        };
        OwnedPod { owner, pod: Arc::new(Pod { key: PodKey::new("default", name), phase, ..Pod::default() }) }
    }

    fn names(pods: &[Pod]) -> Vec<String> {
        pods.iter().map(|pod| pod.key.name.to_string()).collect()
    }

    #[test]
    fn replicas_that_are_missing_are_made_under_names_of_their_own() {
        let existing = [
            owned("ReplicaSet", "w-aaaaa", PodPhase::Running),
            owned("ReplicaSet", "w-bbbbb", PodPhase::Ended),
        ];
        let mut taken = TakenNames::new();
        let pods = expand(&workload(WorkloadKind::ReplicaSet, Some(3)), &[], &[], &existing, &mut taken);
        assert_eq!(pods.len(), 2, "the one that ended is replaced");
        assert_eq!(taken.len(), 2);
        assert!(names(&pods).iter().all(|name| name.starts_with("w-")), "{:?}", names(&pods));
    }

    #[test]
    fn a_stateful_set_fills_the_gaps_of_its_ordinals() {
        let mut taken = TakenNames::from([PodKey::new("default", "w-1")]);
        let pods = expand(&workload(WorkloadKind::StatefulSet, Some(3)), &[], &[], &[], &mut taken);
        assert_eq!(names(&pods), ["w-0", "w-2"]);
    }

    #[test]
    fn the_ordinals_of_a_stateful_set_begin_where_it_says() {
        let set = Workload { first_ordinal: 5, ..workload(WorkloadKind::StatefulSet, Some(3)) };
        let mut taken = TakenNames::from([PodKey::new("default", "w-0"), PodKey::new("default", "w-6")]);
        assert_eq!(names(&expand(&set, &[], &[], &[], &mut taken)), ["w-5", "w-7"]);
    }

    #[test]
    fn a_deployment_leaves_its_pods_to_its_replica_set() {
        let deployment = workload(WorkloadKind::Deployment, Some(2));
        let mut set = workload(WorkloadKind::ReplicaSet, Some(2));
        set.controller = Some(owned("Deployment", "", PodPhase::Pending).owner);
        let all = [deployment.clone(), set];
        assert!(expand(&deployment, &all, &[], &[], &mut TakenNames::new()).is_empty());
        assert_eq!(expand(&deployment, &all[..1], &[], &[], &mut TakenNames::new()).len(), 2);
    }

    #[test]
    fn a_daemon_set_has_one_pod_on_each_node_that_it_may_use() {
        let nodes = [
            node("n1", &[("gpu", "yes")], &[("node.kubernetes.io/unschedulable", TaintEffect::NoSchedule)]),
            node("n2", &[("gpu", "yes")], &[("other", TaintEffect::NoSchedule)]),
            node("n3", &[], &[]),
            node("n4", &[("gpu", "yes")], &[("soft", TaintEffect::PreferNoSchedule)]),
        ];
        let mut set = workload(WorkloadKind::DaemonSet, None);
        let selector: Labels = [(Name::from("gpu"), Name::from("yes"))].into_iter().collect();
        set.template = Arc::new(Pod { node_selector: selector, ..(*set.template).clone() });
        let pods = expand(&set, &[], &nodes, &[], &mut TakenNames::new());
        let pinned: Vec<_> = pods.iter().filter_map(daemon_node).collect();
        assert_eq!(pinned, [NodeName::from("n1"), NodeName::from("n4")]);
        assert!(pods.iter().all(|pod| pod.tolerations.len() == DAEMON_TOLERATIONS.len()));
        let existing = OwnedPod {
            pod: Arc::new(Pod { key: PodKey::new("default", "w-x"), ..pods[0].clone() }),
            ..owned("DaemonSet", "w-x", PodPhase::Running)
        };
        assert_eq!(expand(&set, &[], &nodes, &[existing], &mut TakenNames::new()).len(), 1);
    }

    #[test]
    fn daemons_on_the_network_of_their_host_come_before_it_is_ready() {
        let unready = "node.kubernetes.io/network-unavailable";
        let nodes = [node("n1", &[], &[(unready, TaintEffect::NoSchedule)]), node("n2", &[], &[])];
        let mut set = workload(WorkloadKind::DaemonSet, None);
        let pinned = |set: &Workload| -> Vec<_> {
            let pods = expand(set, &[], &nodes, &[], &mut TakenNames::new());
            pods.iter().filter_map(daemon_node).map(|node| node.to_string()).collect()
        };
        assert_eq!(pinned(&set), ["n2"]);
        set.template = Arc::new(Pod { host_network: true, ..(*set.template).clone() });
        assert_eq!(pinned(&set), ["n1", "n2"]);
        set.template = Arc::new(Pod { node_name: Some("n1".into()), ..(*set.template).clone() });
        assert_eq!(pinned(&set), ["n1"], "the template may name the only node");
    }

    #[test]
    fn the_alternatives_of_an_affinity_are_all_pinned() {
        let term = |key: &str| NodeSelectorTerm {
            match_expressions: Box::new([Requirement {
                key: Name::from(key),
                operator: SelectorOperator::Exists,
                values: Box::default(),
            }]),
            match_fields: Box::default(),
        };
        let affinity = NodeSelector { terms: Box::new([term("a"), term("b")]) };
        let node = NodeName::from("n1");
        let pinned = pinned(Some(&affinity), &node);
        assert!(pinned.terms.iter().all(|term| term.match_fields.len() == 1), "{pinned:?}");
        assert_eq!(super::pinned(None, &node), NodeSelector::of_node(&node));
    }
}
