//! What drivers publish: `ResourceSlices` with devices, counters and capacity
//! (`resource.k8s.io/v1 ResourceSlice`).

use std::sync::Arc;

use super::ids::{Name, NodeName, PoolId};
use super::quantity::Quantity;
use super::selection::NodeSelector;
use super::taint::Taint;

/// The value of a device attribute.
///
/// Exactly one kind is set in a valid object. Lists are of the gate `DRAListTypeAttributes`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AttributeValue {
    /// A 64-bit integer.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// A text of at most 64 bytes.
    String(Name),
    /// A semantic version 2.0.0, as written.
    Version(Name),
    /// A list of integers.
    Ints(Box<[i64]>),
    /// A list of truth values.
    Bools(Box<[bool]>),
    /// A list of texts.
    Strings(Box<[Name]>),
    /// A list of semantic versions.
    Versions(Box<[Name]>),
    /// No value of a known kind.
    Unsupported,
}

/// Which amounts of a capacity may be asked for (KEP-5075).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RequestPolicy {
    /// What a request that names no amount consumes.
    pub default: Option<Quantity>,
    /// The amounts allowed.
    pub valid: ValidAmounts,
}

/// The amounts a policy allows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ValidAmounts {
    /// Any amount.
    Any,
    /// Only these, ascending.
    Values(Box<[Quantity]>),
    /// From `min` to `max`, in steps from `min`.
    Range {
        /// The least amount; required by validation.
        min: Option<Quantity>,
        /// The greatest amount.
        max: Option<Quantity>,
        /// The step between amounts.
        step: Option<Quantity>,
    },
}

/// A quantity of something that a device has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Capacity {
    /// How much there is in all.
    pub value: Quantity,
    /// How it may be consumed; only devices with `allowMultipleAllocations` have one.
    pub policy: Option<RequestPolicy>,
}

/// What selectors and constraints see of a device. Devices of the same content share one value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct DeviceContent {
    /// Attributes by literal key (`domain/id`, or `id` in the driver's own domain), sorted by key.
    pub attributes: Box<[(Name, AttributeValue)]>,
    /// Capacities by literal key, sorted by key.
    pub capacity: Box<[(Name, Capacity)]>,
    /// Whether several claims may hold the device at a time.
    pub allow_multiple_allocations: bool,
}

impl DeviceContent {
    /// An attribute by its literal key.
    pub fn attribute(&self, key: &str) -> Option<&AttributeValue> {
        self.attributes.binary_search_by(|(k, _)| k.as_str().cmp(key)).ok().map(|at| &self.attributes[at].1)
    }

    /// A capacity by its literal key.
    pub fn capacity(&self, key: &str) -> Option<&Capacity> {
        self.capacity.binary_search_by(|(k, _)| k.as_str().cmp(key)).ok().map(|at| &self.capacity[at].1)
    }

    /// An attribute by its fully qualified name, as constraints look it up: the exact key first,
    /// then the bare identifier if the domain is the driver's own.
    pub fn qualified_attribute(&self, driver: &str, name: &str) -> Option<&AttributeValue> {
        self.attribute(name).or_else(|| {
            let (domain, id) = name.split_once('/')?;
            (domain == driver).then(|| self.attribute(id)).flatten()
        })
    }
}

/// Counters of a pool that partitions of one physical device consume (KEP-4815).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CounterSet {
    /// The name, unique in the pool.
    pub name: Name,
    /// The counters by name, sorted.
    pub counters: Box<[(Name, Quantity)]>,
}

/// What a device takes from one counter set when it is allocated.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CounterConsumption {
    /// The counter set's name.
    pub counter_set: Name,
    /// Amounts by counter name, sorted.
    pub counters: Box<[(Name, Quantity)]>,
    /// Groups of which all users of the set must share one (KEP-5963).
    pub compatibility_groups: Box<[Name]>,
}

/// From which nodes something is in reach.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Placement {
    /// One node.
    pub node_name: Option<NodeName>,
    /// The nodes that a selector matches.
    pub node_selector: Option<NodeSelector>,
    /// Every node.
    pub all_nodes: bool,
}

/// One device of a slice.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Device {
    /// The name, unique in the pool.
    pub name: Name,
    /// What selectors and constraints see.
    pub content: Arc<DeviceContent>,
    /// What it takes from shared counters.
    pub consumes_counters: Box<[CounterConsumption]>,
    /// From where it is in reach, if the slice leaves that to its devices.
    pub placement: Placement,
    /// Taints, those of the driver first, then those of `DeviceTaintRules`.
    pub taints: Box<[Taint]>,
    /// Whether an allocation ties the claim to the node chosen.
    pub binds_to_node: bool,
    /// Conditions that must be true before the pod is bound (KEP-5007). `None`: the field is absent.
    pub binding_conditions: Option<Box<[Name]>>,
    /// Conditions of which one says that binding failed.
    pub binding_failure_conditions: Option<Box<[Name]>>,
}

impl Device {
    /// A device with nothing but a name and content.
    pub fn plain(name: impl Into<Name>, content: Arc<DeviceContent>) -> Self {
        Self {
            name: name.into(),
            content,
            consumes_counters: Box::default(),
            placement: Placement::default(),
            taints: Box::default(),
            binds_to_node: false,
            binding_conditions: None,
            binding_failure_conditions: None,
        }
    }

    /// Whether something must become true before a pod with this device is bound.
    pub fn waits_for_conditions(&self) -> bool {
        self.binding_conditions.as_ref().is_some_and(|conditions| !conditions.is_empty())
    }
}

/// Some devices or counter sets of one pool.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ResourceSlice {
    /// `metadata.name`.
    pub name: Name,
    /// Driver and pool.
    pub pool: PoolId,
    /// Only the highest generation of a pool counts.
    pub generation: i64,
    /// How many slices the pool has at this generation.
    pub slice_count: i64,
    /// From where the devices are in reach.
    pub placement: Placement,
    /// Whether each device says so itself. Presence alone has a meaning, hence the option.
    pub per_device_node_selection: Option<bool>,
    /// The devices, in their order of preference.
    pub devices: Box<[Device]>,
    /// Counter sets; in a slice of their own.
    pub shared_counters: Box<[CounterSet]>,
    /// Kubelet calls that the driver does without (KEP-5729, alpha).
    pub skip_node_operations: Box<[Name]>,
}

impl ResourceSlice {
    /// An empty slice that is all of a new pool, in reach of no node yet.
    pub fn new(name: impl Into<Name>, pool: PoolId) -> Self {
        Self {
            name: name.into(),
            pool,
            generation: 1,
            slice_count: 1,
            placement: Placement::default(),
            per_device_node_selection: None,
            devices: Box::default(),
            shared_counters: Box::default(),
            skip_node_operations: Box::default(),
        }
    }
}
