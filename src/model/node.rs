//! Nodes, and what runs on them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::ids::{Name, NodeName};
use super::pod::Pod;
use super::resources::ResourceAmounts;
use super::selection::Labels;
use super::taint::Taint;

/// A machine that pods run on.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Node {
    /// `metadata.name`.
    pub name: NodeName,
    /// `metadata.labels`.
    pub labels: Labels,
    /// `spec.unschedulable`.
    pub unschedulable: bool,
    /// `spec.taints`.
    pub taints: Box<[Taint]>,
    /// `status.allocatable`; the number of pods is apart.
    pub allocatable: ResourceAmounts,
    /// `status.allocatable.pods`.
    pub allocatable_pods: i64,
    /// `status.declaredFeatures`.
    pub declared_features: Box<[Name]>,
}

/// A port of the node itself that a pod occupies.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostPort {
    /// The address; `0.0.0.0` is every address.
    pub ip: Name,
    /// `TCP`, `UDP` or `SCTP`.
    pub protocol: Name,
    /// The port number.
    pub port: i32,
}

impl HostPort {
    /// Whether two pods with these ports cannot share a node.
    pub fn conflicts(&self, other: &Self) -> bool {
        self.port == other.port
            && self.protocol == other.protocol
            && (self.ip == other.ip || self.ip == "0.0.0.0" || other.ip == "0.0.0.0")
    }
}

/// A node together with what the pods on it use.
///
/// Invariant: `requested`, `scored` and `host_ports` are the sums over `pods`.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct NodeInfo {
    /// The node.
    pub node: Arc<Node>,
    /// The pods assigned to it, by namespace and name.
    pub pods: BTreeMap<super::ids::PodKey, Arc<Pod>>,
    /// What they request.
    pub requested: ResourceAmounts,
    /// The same with defaults for containers that request nothing, as scores count it.
    pub scored: ResourceAmounts,
    /// The ports of the node that they occupy.
    pub host_ports: BTreeSet<HostPort>,
}

impl NodeInfo {
    /// A node without pods.
    pub fn new(node: Arc<Node>) -> Self {
        Self { node, ..Self::default() }
    }

    /// The same with one pod more; a pod of that key already there is replaced.
    pub fn with_pod(&self, pod: Arc<Pod>) -> Self {
        let mut info = self.clone();
        if info.pods.contains_key(&pod.key) {
            info.pods.insert(pod.key.clone(), pod);
            info.recount();
        } else {
            info.count(&pod);
            info.pods.insert(pod.key.clone(), pod);
        }
        info
    }

    /// The same without that pod.
    pub fn without_pod(&self, pod: &super::ids::PodKey) -> Self {
        let mut info = self.clone();
        info.pods.remove(pod);
        info.recount();
        info
    }

    /// The same pods on a changed node.
    pub fn with_node(&self, node: Arc<Node>) -> Self {
        Self { node, ..self.clone() }
    }

    fn recount(&mut self) {
        self.requested = ResourceAmounts::default();
        self.scored = ResourceAmounts::default();
        self.host_ports.clear();
        let pods = std::mem::take(&mut self.pods);
        for pod in pods.values() {
            self.count(pod);
        }
        self.pods = pods;
    }

    fn count(&mut self, pod: &Pod) {
        self.requested.add(&pod.usage());
        self.scored.add(&pod.scored_usage());
        self.host_ports.extend(pod.host_ports().cloned());
    }
}

#[cfg(test)]
mod tests {
    use super::super::ids::PodKey;
    use super::super::pod::Container;
    use super::*;

    fn pod(name: &str, cpu: &str) -> Arc<Pod> {
        let requests = Box::new([(Name::from("cpu"), cpu.parse().expect("a quantity"))]);
        let host_ports = Box::new([HostPort { ip: "0.0.0.0".into(), protocol: "TCP".into(), port: 80 }]);
        let container = Container { requests, host_ports, ..Container::default() };
        Arc::new(Pod { key: PodKey::new("ns", name), containers: Box::new([container]), ..Pod::default() })
    }

    #[test]
    fn a_node_counts_what_its_pods_use_as_they_come_change_and_go() {
        let info = NodeInfo::default().with_pod(pod("a", "1")).with_pod(pod("b", "500m"));
        assert_eq!((info.requested.milli_cpu, info.pods.len()), (1500, 2));
        let info = info.with_pod(pod("a", "2"));
        assert_eq!((info.requested.milli_cpu, info.pods.len()), (2500, 2));
        let info = info.without_pod(&PodKey::new("ns", "a"));
        assert_eq!((info.requested.milli_cpu, info.host_ports.len()), (500, 1));
        let info = info.without_pod(&PodKey::new("ns", "b"));
        assert_eq!((&info.requested, info.host_ports.len()), (&ResourceAmounts::default(), 0));
    }
}
