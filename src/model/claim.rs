//! What users ask for and what they were given: `ResourceClaims` and `DeviceClasses`
//! (`resource.k8s.io/v1`).

use std::sync::Arc;

use super::ids::{ClaimKey, ClassName, DeviceId, Name, PodKey, ShareId, Timestamp, Uid};
use super::quantity::Quantity;
use super::selection::NodeSelector;
use super::taint::Toleration;

/// One selector of a class or request. A kind that this release does not know has no expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeviceSelector {
    /// The CEL expression.
    pub expression: Option<Arc<str>>,
}

/// How many devices a request wants.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AllocationMode {
    /// That many.
    ExactCount(i64),
    /// All that match.
    All,
    /// A mode that this release does not know, or none at all.
    Other(Name),
}

/// What `exactly` and each alternative of `firstAvailable` say.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeviceRequirement {
    /// The class; empty if the request is of an unknown kind.
    pub class: ClassName,
    /// Conditions beside those of the class.
    pub selectors: Box<[DeviceSelector]>,
    /// How many.
    pub mode: AllocationMode,
    /// Access beside other users. Even `Some(false)` needs the gate.
    pub admin_access: Option<bool>,
    /// Device taints that do not matter.
    pub tolerations: Box<[Toleration]>,
    /// Amounts of capacity by literal key. `None`: the field is absent.
    pub capacity: Option<Box<[(Name, Quantity)]>>,
    /// Attributes computed for constraints (gate `DRADerivedAttributes`).
    pub derived_attributes: Box<[DerivedAttribute]>,
}

impl DeviceRequirement {
    /// Devices of a class, and nothing more to say of them.
    pub fn of_class(class: impl Into<ClassName>, mode: AllocationMode) -> Self {
        Self {
            class: class.into(),
            selectors: Box::default(),
            mode,
            admin_access: None,
            tolerations: Box::default(),
            capacity: None,
            derived_attributes: Box::default(),
        }
    }
}

/// An attribute computed from a device for the constraints of one request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DerivedAttribute {
    /// The fully qualified name.
    pub name: Name,
    /// The CEL expression.
    pub expression: Arc<str>,
}

/// One alternative of `firstAvailable`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Subrequest {
    /// The name, unique within the request.
    pub name: Name,
    /// What is asked.
    pub requirement: DeviceRequirement,
}

/// The two forms of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RequestKind {
    /// Just this.
    Exactly(DeviceRequirement),
    /// The first of these that fits, in order of preference (KEP-4816).
    FirstAvailable(Box<[Subrequest]>),
    /// A form that this release does not know. It must never be read as "nothing asked".
    Unknown,
}

/// One request of a claim.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeviceRequest {
    /// The name, unique within the claim.
    pub name: Name,
    /// What is asked.
    pub kind: RequestKind,
}

/// What devices of a claim must have in common, or must not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ConstraintKind {
    /// All have the same value of this attribute.
    MatchAttribute(Name),
    /// No two have the same value of this attribute.
    DistinctAttribute(Name),
    /// A kind that this release does not know.
    Unknown,
}

/// A constraint over some requests; over all of them if none is named.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeviceConstraint {
    /// Names of requests, or `request/subrequest`.
    pub requests: Box<[Name]>,
    /// What must hold.
    pub kind: ConstraintKind,
}

/// Parameters that a driver gets with the allocation; nobody else reads them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OpaqueConfig {
    /// The driver.
    pub driver: Name,
    /// JSON text.
    pub parameters: Arc<str>,
}

/// Configuration in a claim or class.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeviceConfig {
    /// The requests it is for; empty means all. Always empty in a class.
    pub requests: Box<[Name]>,
    /// The parameters.
    pub opaque: Option<OpaqueConfig>,
}

/// `spec.devices` of a claim or template.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct ClaimSpec {
    /// What is asked, in order.
    pub requests: Box<[DeviceRequest]>,
    /// What must hold between the devices.
    pub constraints: Box<[DeviceConstraint]>,
    /// Parameters for drivers.
    pub config: Box<[DeviceConfig]>,
}

/// Where a configuration entry of an allocation came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConfigSource {
    /// The device class.
    Class,
    /// The claim.
    Claim,
}

/// A configuration entry of an allocation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AllocatedConfig {
    /// Where it came from.
    pub source: ConfigSource,
    /// The requests it is for; empty means all.
    pub requests: Box<[Name]>,
    /// The parameters.
    pub opaque: Option<OpaqueConfig>,
}

/// One device given to a claim (`DeviceRequestAllocationResult`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeviceResult {
    /// The request, or `request/subrequest`.
    pub request: Name,
    /// The device.
    pub device: DeviceId,
    /// Whether it is held beside other users.
    pub admin_access: bool,
    /// The tolerations of the request.
    pub tolerations: Box<[Toleration]>,
    /// Copied from the device.
    pub binding_conditions: Option<Box<[Name]>>,
    /// Copied from the device.
    pub binding_failure_conditions: Option<Box<[Name]>>,
    /// The share, if the device can have several users.
    pub share_id: Option<ShareId>,
    /// What the share consumes, by literal capacity key.
    pub consumed_capacity: Option<Box<[(Name, Quantity)]>>,
    /// Copied from the slice.
    pub skip_node_operations: Box<[Name]>,
}

impl DeviceResult {
    /// A device given whole, and nothing more to say of it.
    pub fn plain(request: impl Into<Name>, device: DeviceId) -> Self {
        Self {
            request: request.into(),
            device,
            admin_access: false,
            tolerations: Box::default(),
            binding_conditions: None,
            binding_failure_conditions: None,
            share_id: None,
            consumed_capacity: None,
            skip_node_operations: Box::default(),
        }
    }
}

/// `status.allocation` of a claim.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Allocation {
    /// The devices, in the order of requests.
    pub results: Box<[DeviceResult]>,
    /// Parameters for drivers.
    pub config: Box<[AllocatedConfig]>,
    /// The nodes from which all devices are in reach; absent means every node.
    pub node_selector: Option<NodeSelector>,
    /// When it was written.
    pub timestamp: Option<Timestamp>,
}

/// Who uses an allocated claim (`status.reservedFor`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConsumerReference {
    /// The API group; empty for pods.
    pub api_group: Name,
    /// The resource, such as `pods`.
    pub resource: Name,
    /// The name.
    pub name: Name,
    /// The identity.
    pub uid: Uid,
}

/// The controlling owner of an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OwnerReference {
    /// Group and version.
    pub api_version: Name,
    /// The kind.
    pub kind: Name,
    /// The name.
    pub name: Name,
    /// The identity.
    pub uid: Uid,
}

impl OwnerReference {
    /// A pod.
    pub fn pod(key: &PodKey, uid: &Uid) -> Self {
        Self {
            api_version: Name::from("v1"),
            kind: Name::from("Pod"),
            name: key.name.clone(),
            uid: uid.clone(),
        }
    }
}

/// A condition that a driver reports on an allocated device.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeviceStatus {
    /// The device.
    pub device: DeviceId,
    /// The share, if any.
    pub share_id: Option<ShareId>,
    /// Condition types that are `True`.
    pub true_conditions: Box<[Name]>,
}

/// A request for devices, and its answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ResourceClaim {
    /// Namespace and name.
    pub key: ClaimKey,
    /// The identity.
    pub uid: Uid,
    /// The version that a write must name.
    pub resource_version: Name,
    /// The owner that controls it, such as the pod of a generated claim.
    pub controller: Option<OwnerReference>,
    /// Whether it was made for the extended resources of a pod.
    pub for_extended_resources: bool,
    /// Whether it carries the scheduler's finalizer.
    pub has_finalizer: bool,
    /// Whether it is being deleted.
    pub deleting: bool,
    /// What is asked.
    pub spec: Arc<ClaimSpec>,
    /// What was given.
    pub allocation: Option<Arc<Allocation>>,
    /// Who uses it, at most [`RESERVED_FOR_MAX`].
    pub reserved_for: Box<[ConsumerReference]>,
    /// What drivers report on its devices.
    pub devices: Box<[DeviceStatus]>,
}

impl ResourceClaim {
    /// A claim that was just made: nobody has written to it.
    pub fn new(key: ClaimKey, uid: Uid, spec: Arc<ClaimSpec>) -> Self {
        Self {
            key,
            uid,
            resource_version: Name::default(),
            controller: None,
            for_extended_resources: false,
            has_finalizer: false,
            deleting: false,
            spec,
            allocation: None,
            reserved_for: Box::default(),
            devices: Box::default(),
        }
    }

    /// Whether the pod of that identity is among the users.
    pub fn is_reserved_for(&self, pod: &Uid) -> bool {
        self.reserved_for.iter().any(|consumer| consumer.uid == *pod)
    }
}

/// A template from which a claim is made for each pod.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ResourceClaimTemplate {
    /// Namespace and name.
    pub key: ClaimKey,
    /// What each claim asks.
    pub spec: Arc<ClaimSpec>,
}

/// A kind of device that administrators offer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeviceClass {
    /// `metadata.name`.
    pub name: ClassName,
    /// When it was made; decides between classes of one extended resource name.
    pub created: Option<Timestamp>,
    /// Conditions that all its devices satisfy.
    pub selectors: Box<[DeviceSelector]>,
    /// Parameters for drivers.
    pub config: Box<[DeviceConfig]>,
    /// The extended resource that it serves (KEP-5004).
    pub extended_resource_name: Option<Name>,
}

impl DeviceClass {
    /// A class of all devices.
    pub fn new(name: impl Into<ClassName>) -> Self {
        Self {
            name: name.into(),
            created: None,
            selectors: Box::default(),
            config: Box::default(),
            extended_resource_name: None,
        }
    }
}

/// Most users of one claim (`ResourceClaimReservedForMaxSize`).
pub const RESERVED_FOR_MAX: usize = 256;

/// Most devices of one claim (`AllocationResultsMaxSize`).
pub const ALLOCATION_RESULTS_MAX: usize = 32;

/// The finalizer that keeps an allocated claim until its devices are free.
pub const CLAIM_FINALIZER: &str = "resource.kubernetes.io/delete-protection";
