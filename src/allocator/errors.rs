//! The failures of an allocation: those that end the scheduling attempt, and those of one node.
//! `Display` gives upstream's text, which its tests and users' scripts rely on.

use std::fmt;

use crate::model::selection::SelectorError;
use crate::model::{ClaimKey, ClassName, DeviceId, Name, PoolId, Quantity};

/// Why there is no answer for a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllocateError {
    /// No node can be tried: the claims, classes or slices are at fault.
    Fatal(FatalError),
    /// This node is at fault; others can be tried.
    Node(NodeError),
    /// The search took more steps than it may.
    Budget {
        /// The limit.
        steps: u64,
    },
}

/// A failure of one node only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeError {
    /// Nothing fits, and at least one pool contradicts itself.
    InvalidPools,
    /// A request for all devices met a pool that cannot be used
    /// ([`LaterChange::UnusablePoolsAreLocal`](crate::model::features::LaterChange)).
    UnusablePool(FatalError),
}

/// A failure that ends the scheduling attempt of the pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FatalError {
    /// The claim it happened with, if it happened with one.
    pub claim: Option<ClaimKey>,
    /// What happened.
    pub reason: FatalReason,
}

impl FatalError {
    /// Whether a request for all devices met a pool that cannot be used.
    pub(super) fn is_unusable_pool(&self) -> bool {
        use RequestFault::{IncompletePool, InvalidPool};
        matches!(self.reason, FatalReason::Request { reason: IncompletePool { .. } | InvalidPool { .. }, .. })
    }
}

/// A failure while the claim at some position is looked at; its key is not known yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub claim: Option<usize>,
    pub reason: FatalReason,
}

impl Failure {
    pub fn of_claim(claim: usize, reason: FatalReason) -> Self {
        Self { claim: Some(claim), reason }
    }

    pub fn of_request(claim: usize, request: &Name, reason: RequestFault) -> Self {
        Self::of_claim(claim, FatalReason::Request { request: request.clone(), reason })
    }
}

/// Who a selector belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SelectorOwner {
    /// A device class.
    Class(ClassName),
    /// The claim.
    Claim,
}

/// What ended the attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FatalReason {
    /// The node selector of a slice, or of a device in it, cannot be evaluated.
    NodeSelection {
        /// The slice.
        slice: Name,
        /// The device, if the selector is the device's own.
        device: Option<Name>,
        /// Why not.
        error: SelectorError,
    },
    /// The node selector of a device cannot be evaluated; found only when the search came to it.
    DeviceNodeSelection {
        /// Why not.
        error: SelectorError,
    },
    /// A (sub)request cannot be handled.
    Request {
        /// The bare name of the request or subrequest.
        request: Name,
        /// Why not.
        reason: RequestFault,
    },
    /// A subrequest asks for capacity, and the gate is off.
    SubrequestCapacityGate {
        /// The subrequest.
        subrequest: Name,
    },
    /// The claim wants more devices than one can have (releases up to 1.36).
    TooManyDevices {
        /// How many it wants.
        devices: i64,
    },
    /// A constraint of no known kind.
    EmptyConstraint {
        /// Its position in the claim.
        index: usize,
    },
    /// A selector does not compile.
    SelectorCompile {
        /// Whose selector.
        owner: SelectorOwner,
        /// Its position.
        index: usize,
        /// The compiler's words.
        error: Name,
    },
    /// A selector failed on a device.
    SelectorRuntime {
        /// Whose selector.
        owner: SelectorOwner,
        /// Its position.
        index: usize,
        /// The device.
        device: DeviceId,
        /// The evaluator's words.
        error: Name,
    },
    /// A derived attribute does not compile.
    DerivedCompile {
        /// The attribute.
        attribute: Name,
        /// The compiler's words.
        error: Name,
    },
    /// A derived attribute failed on a device.
    DerivedRuntime {
        /// The attribute.
        attribute: Name,
        /// The device.
        device: DeviceId,
        /// The evaluator's words.
        error: Name,
    },
    /// The allocation's node selector cannot be expressed.
    SelectorTerms {
        /// How many terms the slice's or device's selector has.
        terms: usize,
    },
}

/// What is wrong with one (sub)request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestFault {
    /// `firstAvailable` while the gate is off.
    PrioritizedListGate,
    /// `capacity` while the gate is off.
    CapacityGate,
    /// `derivedAttributes` while the gate is off.
    DerivedGate,
    /// A selector without an expression.
    EmptySelector {
        /// Its position.
        index: usize,
    },
    /// `adminAccess` while the gate is off.
    AdminGate,
    /// No class.
    MissingClass,
    /// A class that does not exist.
    UnknownClass {
        /// The class.
        class: ClassName,
    },
    /// An unknown allocation mode.
    UnsupportedMode {
        /// The mode.
        mode: Name,
    },
    /// All devices of a pool that is being updated.
    IncompletePool {
        /// The pool.
        pool: PoolId,
    },
    /// All devices of a pool that contradicts itself.
    InvalidPool {
        /// The pool.
        pool: PoolId,
    },
    /// Together with the requests before it there are too many devices for one claim.
    TooManyDevices {
        /// How many it adds.
        adding: i64,
        /// How many there were.
        before: i64,
    },
    /// A constraint forbids a device that mode `All` needs.
    ConstraintInAllMode {
        /// The device.
        device: DeviceId,
    },
    /// The amount of a capacity cannot be computed.
    Capacity {
        /// The device as upstream names it there: with or without its pool.
        device: Name,
        /// The capacity's literal key.
        capacity: Name,
        /// Why not.
        fault: CapacityFault,
    },
}

/// Why an amount of capacity cannot be computed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CapacityFault {
    /// The request is beyond the integers of 64 bits.
    RequestExceedsInt64 {
        /// The request.
        request: Quantity,
    },
    /// The next step is beyond them.
    RoundingExceedsInt64 {
        /// The request.
        request: Quantity,
    },
    /// The request has no exact value in thousandths.
    NotMilli {
        /// The request.
        request: Quantity,
    },
    /// The next step is beyond the thousandths of 64 bits.
    RoundingExceedsMilli {
        /// The request.
        request: Quantity,
    },
    /// The amount is below zero.
    Negative,
}

/// Most results of a claim, as a number that counts can be compared with.
pub(super) const LIMIT: i64 = 32;

impl fmt::Display for AllocateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fatal(error) => error.fmt(f),
            Self::Node(error) => error.fmt(f),
            Self::Budget { steps } => write!(f, "no answer within {steps} steps of search"),
        }
    }
}

impl std::error::Error for AllocateError {}

impl fmt::Display for NodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnusablePool(error) => error.fmt(f),
            Self::InvalidPools => f.write_str("invalid resource pools were encountered"),
        }
    }
}

impl fmt::Display for FatalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let claim = self.claim.clone().unwrap_or_default();
        match &self.reason {
            FatalReason::NodeSelection { slice, device: None, error } => write!(
                f,
                "gather pool information: failed to perform node selection for slice {slice}: failed to parse node selector: {error}"
            ),
            FatalReason::NodeSelection { slice, device: Some(device), error } => write!(
                f,
                "gather pool information: failed to perform node selection for device {device} in slice {slice}: failed to parse node selector: {error}"
            ),
            FatalReason::DeviceNodeSelection { error } => {
                write!(f, "failed to parse node selector: {error}")
            }
            FatalReason::Request { request, reason } => {
                write!(f, "claim {claim}, request {request}")?;
                reason.fmt(f)
            }
            FatalReason::SubrequestCapacityGate { subrequest } => write!(
                f,
                "claim {claim}, subrequest {subrequest}: has capacity requests, but the DRAConsumableCapacity feature is disabled"
            ),
            FatalReason::TooManyDevices { devices } => write!(
                f,
                "claim {claim}: number of requested devices {devices} exceeds the claim limit of {LIMIT}"
            ),
            FatalReason::EmptyConstraint { index } => write!(
                f,
                "claim {claim}, constraint #{index}: empty constraint (unsupported constraint type?)"
            ),
            FatalReason::SelectorCompile { owner, index, error } => {
                owner.fmt_with(f, &claim)?;
                write!(f, ": selector #{index}: CEL compile error: {error}")
            }
            FatalReason::SelectorRuntime { owner, index, device, error } => {
                owner.fmt_with(f, &claim)?;
                write!(f, ": selector #{index} on device {device}: CEL runtime error: {error}")
            }
            FatalReason::DerivedCompile { attribute, error } => {
                write!(f, "compile derived attribute {attribute} failed: {error}")
            }
            FatalReason::DerivedRuntime { attribute, device, error } => {
                write!(f, "evaluate derived attribute {attribute} on device {device} failed: {error}")
            }
            FatalReason::SelectorTerms { terms } => write!(
                f,
                "create NodeSelector for claim {}: unsupported ResourceSlice.NodeSelector with {terms} terms",
                claim.name
            ),
        }
    }
}

impl std::error::Error for FatalError {}

impl SelectorOwner {
    fn fmt_with(&self, f: &mut fmt::Formatter<'_>, claim: &ClaimKey) -> fmt::Result {
        match self {
            Self::Class(class) => write!(f, "class {class}"),
            Self::Claim => write!(f, "claim {claim}"),
        }
    }
}

impl fmt::Display for RequestFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PrioritizedListGate => {
                f.write_str(": has subrequests, but the DRAPrioritizedList feature is disabled")
            }
            Self::CapacityGate => {
                f.write_str(": has capacity requests, but the DRAConsumableCapacity feature is disabled")
            }
            Self::DerivedGate => {
                f.write_str(": cannot handle request with derived attributes, the feature is disabled")
            }
            Self::EmptySelector { index } => {
                write!(f, ", selector #{index}: CEL expression empty (unsupported selector type?)")
            }
            Self::AdminGate => f.write_str(": admin access is requested, but the feature is disabled"),
            Self::MissingClass => f.write_str(": missing device class name (unsupported request type?)"),
            Self::UnknownClass { class } => write!(
                f,
                ": could not retrieve device class {class}: deviceclass.resource.k8s.io \"{class}\" not found"
            ),
            Self::UnsupportedMode { mode } => write!(f, ": unsupported count mode {mode}"),
            Self::IncompletePool { pool } => {
                write!(f, ": asks for all devices, but resource pool {pool} is currently being updated")
            }
            Self::InvalidPool { pool } => {
                write!(f, ": asks for all devices, but resource pool {pool} is currently invalid")
            }
            Self::TooManyDevices { adding, before } => write!(
                f,
                ": adding {adding} devices exceeds the claim limit of {LIMIT}, with {before} already accounted for"
            ),
            Self::ConstraintInAllMode { device } => {
                write!(f, ": cannot add device {device} because a claim constraint would not be satisfied")
            }
            Self::Capacity { device, capacity, fault } => {
                write!(
                    f,
                    ": checking capacity for device {device}: capacity {:?}: {fault}",
                    capacity.as_str()
                )
            }
        }
    }
}

impl fmt::Display for CapacityFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNREPRESENTABLE: &str =
            "capacity request cannot be represented in the device's range arithmetic";
        match self {
            Self::RequestExceedsInt64 { request } => {
                write!(f, "{UNREPRESENTABLE}: request {request} exceeds MaxInt64")
            }
            Self::RoundingExceedsInt64 { request } => {
                write!(f, "{UNREPRESENTABLE}: rounding request {request} up to the next step passes MaxInt64")
            }
            Self::NotMilli { request } => {
                write!(f, "{UNREPRESENTABLE}: request {request} is not a representable milli value")
            }
            Self::RoundingExceedsMilli { request } => write!(
                f,
                "{UNREPRESENTABLE}: rounding request {request} up to the next step passes the milli-value range"
            ),
            Self::Negative => f.write_str("capacity value is negative"),
        }
    }
}
