//! The nouns: nodes, pods, claims, devices, and the snapshot that holds them. Pure values without
//! IO; nothing here imports another room.
//!
//! Upstream's words are kept for upstream's things (`core/v1`, `resource.k8s.io/v1`). What the
//! objects do not say for scheduling is not here: a decoded pod is a few hundred bytes.

pub mod changes;
pub mod claim;
pub mod features;
pub mod ids;
pub mod node;
pub mod pod;
mod pod_requests;
pub mod quantity;
pub mod resources;
pub mod selection;
pub mod slice;
pub mod snapshot;
pub mod taint;
pub mod taint_rule;
pub mod usage;

pub use claim::{
    ALLOCATION_RESULTS_MAX, AllocatedConfig, Allocation, AllocationMode, CLAIM_FINALIZER, ClaimSpec,
    ConfigSource, ConstraintKind, ConsumerReference, DerivedAttribute, DeviceClass, DeviceConfig,
    DeviceConstraint, DeviceRequest, DeviceRequirement, DeviceResult, DeviceSelector, DeviceStatus,
    OpaqueConfig, OwnerReference, RESERVED_FOR_MAX, RequestKind, ResourceClaim, ResourceClaimTemplate,
    Subrequest,
};
pub use features::{FeatureGate, Features, KubernetesVersion};
pub use ids::{ClaimKey, ClassName, DeviceId, Name, NodeName, PodKey, PoolId, ShareId, Timestamp, Uid};
pub use node::{HostPort, Node, NodeInfo};
pub use pod::{Container, Pod, PodClaim, PodPhase};
pub use quantity::{Quantity, QuantityError};
pub use resources::ResourceAmounts;
pub use selection::{Labels, NodeSelector, NodeSelectorTerm};
pub use slice::{
    AttributeValue, Capacity, CounterConsumption, CounterSet, Device, DeviceContent, Placement,
    RequestPolicy, ResourceSlice, ValidAmounts,
};
pub use snapshot::Snapshot;
pub use taint::{Taint, TaintEffect, Toleration, TolerationOperator};
pub use usage::{DeviceUsage, DeviceUse, PoolUse};
