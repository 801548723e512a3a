//! The plugins: a closed list, in upstream's order, one file each under upstream's name.
//!
//! Places left for later: `VolumeRestrictions`, `NodeVolumeLimits`, `VolumeBinding`, `VolumeZone`,
//! `PodTopologySpread` and `InterPodAffinity` (before `DynamicResources`), and after it
//! `DefaultPreemption`, `NodeResourcesBalancedAllocation`, `ImageLocality`, `NodeDeclaredFeatures`.
//! A pod that needs one of the filters among them is refused as
//! [`Unserved`](crate::scheduling::QueryError::Unserved).

pub(super) mod device_findings;
pub mod dynamic_resources;
pub mod extended_resources;
pub mod node_affinity;
pub mod node_name;
pub mod node_ports;
pub mod node_resources_fit;
pub mod node_unschedulable;
pub mod priority_sort;
pub mod scheduling_gates;
pub mod taint_toleration;

use std::collections::BTreeSet;

use crate::model::{NodeInfo, NodeName};

use super::query::PodQuery;
use super::rejection::Rejection;

/// A plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Plugin {
    /// Holds back pods with scheduling gates.
    SchedulingGates,
    /// Orders the queue.
    PrioritySort,
    /// `spec.nodeName`.
    NodeName,
    /// Cordoned nodes.
    NodeUnschedulable,
    /// Node taints.
    TaintToleration,
    /// Node selector and node affinity.
    NodeAffinity,
    /// Host ports.
    NodePorts,
    /// CPU, memory, and all other node resources.
    NodeResourcesFit,
    /// Claims and devices.
    DynamicResources,
}

/// The plugins that score nodes, in order.
pub const SCORED: [Plugin; 4] =
    [Plugin::TaintToleration, Plugin::NodeAffinity, Plugin::NodeResourcesFit, Plugin::DynamicResources];

/// The greatest normalised score (`MaxNodeScore`).
pub const MAX_NODE_SCORE: i64 = 100;

impl Plugin {
    /// Upstream's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::SchedulingGates => "SchedulingGates",
            Self::PrioritySort => "PrioritySort",
            Self::NodeName => "NodeName",
            Self::NodeUnschedulable => "NodeUnschedulable",
            Self::TaintToleration => "TaintToleration",
            Self::NodeAffinity => "NodeAffinity",
            Self::NodePorts => "NodePorts",
            Self::NodeResourcesFit => "NodeResourcesFit",
            Self::DynamicResources => "DynamicResources",
        }
    }

    /// What its score counts for, by upstream's default configuration.
    pub fn weight(self) -> i64 {
        match self {
            Self::TaintToleration => 3,
            Self::NodeAffinity | Self::DynamicResources => 2,
            _ => 1,
        }
    }
}

/// The nodes that a plugin leaves for a pod before any node is looked at (`PreFilterResult`).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum NodeSet {
    /// All of them.
    #[default]
    All,
    /// Only these.
    Only(BTreeSet<NodeName>),
}

impl NodeSet {
    /// Whether a node is left.
    pub fn contains(&self, node: &NodeName) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.contains(node),
        }
    }
}

/// Whether a node satisfies all plugins that look at neither claims nor devices.
///
/// # Errors
/// What the first one says that objects.
pub fn filter(query: &PodQuery, info: &NodeInfo) -> Result<(), Rejection> {
    if !query.node_set.contains(&info.node.name) {
        return Err(Rejection::NotSelected { plugins: Box::new([Plugin::NodeAffinity]) });
    }
    node_name::filter(query, info)?;
    node_unschedulable::filter(query, info)?;
    taint_toleration::filter(query, info)?;
    node_affinity::filter(query, info)?;
    node_ports::filter(query, info)?;
    node_resources_fit::filter(query, info)
}

/// Scales scores of all nodes to 0..=100 (`DefaultNormalizeScore`): the greatest becomes 100. With
/// `reverse` less is better, and nodes without any score get 100.
pub fn default_normalize(scores: &mut [i64], reverse: bool) {
    let greatest = scores.iter().copied().max().unwrap_or(0).max(0);
    for score in scores {
        if greatest > 0 {
            *score = score.saturating_mul(MAX_NODE_SCORE) / greatest;
        }
        if reverse {
            *score = MAX_NODE_SCORE - *score;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalized(scores: &[i64], reverse: bool) -> Vec<i64> {
        let mut scores = scores.to_vec();
        default_normalize(&mut scores, reverse);
        scores
    }

    #[test]
    fn scores_are_scaled_to_a_hundred_with_integer_division() {
        assert_eq!(normalized(&[8, 7], false), [100, 87]);
        assert_eq!(normalized(&[15, 13], false), [100, 86]);
        assert_eq!(normalized(&[16, 15, 14], false), [100, 93, 87]);
        assert_eq!(normalized(&[99, 98, 97], false), [100, 98, 97]);
        let large = i64::from(i32::MAX);
        assert_eq!(normalized(&[large, large - 1, 1, 0], false), [100, 99, 0, 0]);
    }

    #[test]
    fn all_zero_scores_stay_zero_and_reversed_become_a_hundred() {
        assert_eq!(normalized(&[0, 0], false), [0, 0]);
        assert_eq!(normalized(&[0, 0], true), [100, 100]);
        assert_eq!(normalized(&[2, 1, 0], true), [0, 50, 100]);
    }
}
