//! Why a node cannot take a pod: one variant per plugin, with what a reader needs to fix it. The
//! wording stands in `explain`.

use std::collections::BTreeMap;

use crate::model::{ClaimKey, HostPort, Name, NodeName, Taint};

use super::plugins::Plugin;

/// How final a rejection is; preemption looks at nodes of the first kind only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// Evicting pods might help.
    Unschedulable,
    /// Nothing on the node that could be evicted is in the way.
    UnschedulableAndUnresolvable,
}

/// Why one node cannot take the pod. The first plugin that objects decides, as upstream.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rejection {
    /// Plugins narrowed the nodes down to a set that this one is not in (`PreFilterResult`).
    /// Pods of a `DaemonSet` are pinned to their node that way.
    NotSelected {
        /// The plugins that narrowed the set, by upstream's names, sorted.
        plugins: Box<[Plugin]>,
    },
    /// `spec.nodeName` names another node.
    NodeName {
        /// The node asked for.
        wanted: NodeName,
    },
    /// The node is cordoned and the pod does not tolerate that.
    NodeUnschedulable,
    /// The node has a taint that the pod does not tolerate.
    TaintToleration {
        /// The first such taint.
        taint: Taint,
    },
    /// The node does not match the pod's node selector or required node affinity.
    NodeAffinity {
        /// The label of `spec.nodeSelector` that differs, if it is that.
        label: Option<(Name, Name)>,
    },
    /// A port of the node that the pod needs is taken.
    NodePorts {
        /// The port.
        port: HostPort,
    },
    /// The node has too little of something.
    NodeResourcesFit {
        /// Everything that is short, in upstream's order.
        shortages: Box<[Shortage]>,
    },
    /// The node cannot give the pod the devices that it claims.
    DynamicResources(DeviceRejection),
}

/// A resource of which a node has too little. CPU in thousandths of a core, all else in whole units.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shortage {
    /// `pods`, or the resource's name.
    pub resource: Name,
    /// What the pod requests; 1 for `pods`.
    pub requested: i64,
    /// What pods on the node use already.
    pub used: i64,
    /// What the node has in all.
    pub allocatable: i64,
}

impl Shortage {
    /// Whether even the empty node has too little.
    pub fn is_final(&self) -> bool {
        &*self.resource != crate::model::resources::PODS && self.requested > self.allocatable
    }
}

/// Why a node cannot give a pod the devices that it claims. Never solved by preemption.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeviceRejection {
    /// No choice of devices in reach of the node satisfies all claims not yet allocated.
    CannotAllocate,
    /// As before, and pools of the node were left out because they are invalid.
    InvalidPools,
    /// A request for all devices met a pool of the node that cannot be used.
    UnusablePool {
        /// The claim, request and pool, in the allocator's words.
        error: Name,
    },
    /// The pod's claims are allocated where this node cannot reach the devices, or the devices
    /// were not made ready in time.
    ClaimsNotAvailable {
        /// Each such claim and why.
        claims: Box<[UnavailableClaim]>,
    },
    /// A claim for extended resources is left over from an attempt that failed; it is deleted and
    /// the pod tried again.
    LeftOverExtendedClaim {
        /// The claim.
        claim: ClaimKey,
    },
    /// The node neither offers an extended resource by a device plugin, nor does a class serve it.
    ResourceNotOffered {
        /// The resource.
        resource: Name,
    },
}

/// An allocated claim that cannot be used from a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnavailableClaim {
    /// The claim.
    pub claim: ClaimKey,
    /// Why.
    pub why: Unavailability,
}

/// Why an allocated claim cannot be used from a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unavailability {
    /// `status.allocation.nodeSelector` does not match the node.
    OutOfReach,
    /// The devices need a kubelet that declares `DRAOptionalNodeOperations`.
    KubeletTooOld,
    /// A binding failure condition of a device is true.
    BindingFailed,
    /// The binding conditions did not become true in time.
    BindingTimedOut,
}

impl Rejection {
    /// The plugin that objects.
    pub fn plugin(&self) -> Plugin {
        match self {
            Self::NotSelected { plugins } => plugins.first().copied().unwrap_or(Plugin::NodeAffinity),
            Self::NodeName { .. } => Plugin::NodeName,
            Self::NodeUnschedulable => Plugin::NodeUnschedulable,
            Self::TaintToleration { .. } => Plugin::TaintToleration,
            Self::NodeAffinity { .. } => Plugin::NodeAffinity,
            Self::NodePorts { .. } => Plugin::NodePorts,
            Self::NodeResourcesFit { .. } => Plugin::NodeResourcesFit,
            Self::DynamicResources(_) => Plugin::DynamicResources,
        }
    }

    /// How final it is.
    pub fn code(&self) -> Code {
        match self {
            Self::NodePorts { .. } => Code::Unschedulable,
            Self::NodeResourcesFit { shortages } if !shortages.iter().any(Shortage::is_final) => {
                Code::Unschedulable
            }
            _ => Code::UnschedulableAndUnresolvable,
        }
    }
}

/// Nodes that reject a pod for the same reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedNodes {
    /// The nodes by name.
    pub nodes: Vec<NodeName>,
    /// The reason.
    pub rejection: Rejection,
}

/// Groups nodes by the reason for which they reject a pod; groups stand in the order of their first
/// node.
pub fn group(rejections: impl IntoIterator<Item = (NodeName, Rejection)>) -> Box<[RejectedNodes]> {
    let mut groups: Vec<RejectedNodes> = Vec::new();
    let mut places = BTreeMap::new();
    for (node, rejection) in rejections {
        let place = *places.entry(rejection).or_insert_with_key(|rejection| {
            groups.push(RejectedNodes { nodes: Vec::new(), rejection: rejection.clone() });
            groups.len() - 1
        });
        groups[place].nodes.push(node);
    }
    groups.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shortage(resource: &str, requested: i64) -> Rejection {
        let shortage = Shortage { resource: resource.into(), requested, used: 4, allocatable: 8 };
        Rejection::NodeResourcesFit { shortages: Box::new([shortage]) }
    }

    #[test]
    fn a_shortage_is_final_only_if_the_empty_node_has_too_little() {
        assert_eq!(shortage("cpu", 8).code(), Code::Unschedulable);
        assert_eq!(shortage("cpu", 9).code(), Code::UnschedulableAndUnresolvable);
        assert_eq!(shortage("pods", 9).code(), Code::Unschedulable);
    }

    #[test]
    fn nodes_are_grouped_by_reason_in_the_order_of_their_first() {
        let of = |node: &str, rejection: &Rejection| (NodeName::from(node), rejection.clone());
        let (cordoned, short) = (Rejection::NodeUnschedulable, shortage("cpu", 9));
        let groups = group([of("a", &short), of("b", &cordoned), of("c", &short)]);
        assert_eq!(groups.len(), 2);
        assert_eq!((&groups[0].rejection, groups[0].nodes.len()), (&short, 2));
        assert_eq!((&groups[1].rejection, groups[1].nodes.len()), (&cordoned, 1));
    }
}
