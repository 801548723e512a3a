//! What the feature gates and the emulated release mean to the allocator.

use crate::model::features::LaterChange;
use crate::model::{FeatureGate, Features, KubernetesVersion};

/// The rules of one release under its gates.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is one gate of upstream's, on or off")]
pub(super) struct Rules {
    pub features: Features,
    pub admin_access: bool,
    pub prioritized_list: bool,
    pub partitionable: bool,
    pub taints: bool,
    pub consumable: bool,
    pub binding_conditions: bool,
    pub lists: bool,
    pub fractional: bool,
    pub groups: bool,
    pub derived: bool,
    pub node_operations: NodeOperations,
    /// Up to 1.34 incomplete and contradictory pools were allocated from.
    pub any_pool_will_do: bool,
    /// Up to 1.36 counter slices took part on every node.
    pub counters_reach_all: bool,
    /// Up to 1.36 the number of devices was checked once a claim, after all of its requests.
    pub limit_per_claim: bool,
    /// Up to 1.36 mode `All` left out devices of which too little was left by their holders.
    pub all_drops_exhausted: bool,
    /// An unusable pool keeps mode `All` from its node only.
    pub unusable_pools_are_local: bool,
    /// Up to 1.36 a configuration for all requests kept their names.
    pub config_keeps_requests: bool,
    /// Up to 1.34 the configuration of a class was copied for every request of it.
    pub config_per_request: bool,
}

/// What happens with devices whose driver does without some kubelet calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeOperations {
    /// The field is not known: such a device is like any other.
    Ignored,
    /// The field is known and the gate off: such a device is not given away.
    Refused,
    /// Nodes that declare the feature can have such a device.
    IfDeclared,
}

impl Rules {
    pub fn new(features: &Features) -> Self {
        use FeatureGate as G;
        let has = |gate| features.has(gate);
        // Upstream has three allocators; the one that knows skipNodeOperations runs only when
        // another feature asks for it.
        let experimental = has(G::DRAListTypeAttributes)
            || has(G::DRADerivedAttributes)
            || has(G::DRADeviceCompatibilityGroups);
        let node_operations = match (has(G::DRAOptionalNodeOperations), experimental) {
            (true, _) => NodeOperations::IfDeclared,
            (false, true) if features.version >= KubernetesVersion::V1_37 => NodeOperations::Refused,
            (false, _) => NodeOperations::Ignored,
        };
        Self {
            features: features.clone(),
            admin_access: has(G::DRAAdminAccess),
            prioritized_list: has(G::DRAPrioritizedList),
            partitionable: has(G::DRAPartitionableDevices),
            taints: has(G::DRADeviceTaints),
            consumable: has(G::DRAConsumableCapacity),
            binding_conditions: features.binding_conditions(),
            lists: has(G::DRAListTypeAttributes),
            fractional: has(G::DRAFractionalCapacityRange),
            groups: has(G::DRADeviceCompatibilityGroups),
            derived: has(G::DRADerivedAttributes),
            node_operations,
            any_pool_will_do: features.version < KubernetesVersion::V1_35,
            counters_reach_all: features.version < KubernetesVersion::V1_37,
            limit_per_claim: features.version < KubernetesVersion::V1_37,
            all_drops_exhausted: features.version < KubernetesVersion::V1_37 && has(G::DRAConsumableCapacity),
            unusable_pools_are_local: features.follows(LaterChange::UnusablePoolsAreLocal),
            config_keeps_requests: features.version < KubernetesVersion::V1_37,
            config_per_request: features.version < KubernetesVersion::V1_35,
        }
    }
}
