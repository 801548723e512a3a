//! What is wrong with an allocation, as data.

use std::fmt;

use crate::model::selection::SelectorError;
use crate::model::{ALLOCATION_RESULTS_MAX, ClaimKey, ClassName, DeviceId, FeatureGate, Name, PoolId, Taint};

/// A rule that an allocation breaks, with the place where it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// The allocation of a claim as a whole is wrong.
    Claim {
        /// The claim.
        claim: ClaimKey,
        /// What is wrong.
        fault: ClaimFault,
    },
    /// A request is answered in a wrong way.
    Request {
        /// The claim.
        claim: ClaimKey,
        /// The request, or `request/subrequest`.
        request: Name,
        /// What is wrong.
        fault: RequestFault,
    },
    /// A device must not be given to a request, or is given in a wrong form.
    Device {
        /// The claim.
        claim: ClaimKey,
        /// The request, or `request/subrequest`.
        request: Name,
        /// The device.
        device: DeviceId,
        /// What is wrong.
        fault: Box<DeviceFault>,
    },
    /// Nothing of a pool may be given, or more than it has was given.
    Pool {
        /// The pool.
        pool: PoolId,
        /// What is wrong.
        fault: PoolFault,
    },
}

/// What is wrong with the allocation of a claim as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimFault {
    /// More devices than a claim can hold.
    TooManyDevices {
        /// How many were given.
        given: usize,
    },
    /// A result is for no request of the claim, or not in the order of the requests.
    StrayResult {
        /// The name that the result gives.
        request: Name,
    },
    /// A constraint of a kind that is not known.
    UnknownConstraint {
        /// Its place in the claim.
        index: usize,
    },
    /// A constraint does not hold from this device on.
    ConstraintBroken {
        /// Its place in the claim.
        index: usize,
        /// The attribute.
        attribute: Name,
        /// The first device that does not fit those before it.
        device: DeviceId,
    },
    /// A derived attribute of a device cannot be computed.
    DerivedAttribute {
        /// The attribute.
        attribute: Name,
        /// The device.
        device: DeviceId,
        /// The error.
        error: Box<str>,
    },
    /// The configuration is not the one that classes and claim make.
    Config,
    /// The node selector is not the one that the devices make.
    NodeSelector,
}

/// What is wrong with the answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestFault {
    /// The request has a form, mode or selector that is not known.
    Unknown,
    /// It uses a feature whose gate is off.
    GateOff(FeatureGate),
    /// There is no such class.
    NoSuchClass(ClassName),
    /// Not the number of devices that was asked for.
    Count {
        /// How many were asked for; none for an alternative that was not to be chosen.
        wanted: i64,
        /// How many were given.
        given: usize,
    },
    /// No alternative was chosen.
    NoAlternative,
    /// Every matching device was asked for, and this one is missing.
    Missing(DeviceId),
    /// Every matching device was asked for, but this pool does not say which it has.
    PoolUnclear {
        /// The pool.
        pool: PoolId,
        /// Why.
        fault: Box<PoolFault>,
    },
}

/// What is wrong with one device of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceFault {
    /// The pool does not list it for this node.
    NotInReach,
    /// A selector of the class refuses it.
    RefusedByClass(usize),
    /// A selector of the request refuses it.
    RefusedByRequest(usize),
    /// A selector cannot be evaluated.
    SelectorFailed {
        /// The selector's place in its list.
        index: usize,
        /// The error.
        error: String,
    },
    /// A taint that the request does not tolerate.
    Tainted(Taint),
    /// It needs a feature whose gate is off.
    GateOff(FeatureGate),
    /// The node cannot do without the kubelet calls that the driver skips.
    NodeCannotSkip,
    /// Some claim holds it alone.
    InUse,
    /// It was given before, to this claim or to another one of the pod.
    GivenTwice,
    /// Its capacity does not suffice, or it has no such capacity.
    Capacity(Name),
    /// The amount asked is not one that its policy allows.
    Policy(Name),
    /// The amount cannot be computed, or is negative.
    Amount(Name),
    /// A field of the result is not what request and device make it.
    Field(&'static str),
    /// The share has an identity that another share has already.
    SameShare,
    /// It shares a counter set with devices that it is not compatible with.
    Incompatible {
        /// The counter set.
        counter_set: Name,
    },
}

/// What is wrong with a pool, or with what was taken from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PoolFault {
    /// No slice of it is for this node.
    NotInReach,
    /// A newer generation exists.
    Obsolete,
    /// The number of slices is not what they say.
    Incomplete {
        /// What the slices say.
        wanted: i64,
        /// How many there are.
        found: usize,
    },
    /// Two devices of one name.
    DuplicateDevice(Name),
    /// Two counter sets of one name.
    DuplicateCounterSet(Name),
    /// A device consumes from a counter set that is not there.
    NoSuchCounterSet {
        /// The device.
        device: Name,
        /// The counter set.
        counter_set: Name,
    },
    /// A device consumes a counter that is not there.
    NoSuchCounter {
        /// The device.
        device: Name,
        /// The counter set.
        counter_set: Name,
        /// The counter.
        counter: Name,
    },
    /// A node selector cannot be evaluated.
    Selector(SelectorError),
    /// More of a counter is taken than there is.
    CounterExceeded {
        /// The counter set.
        counter_set: Name,
        /// The counter.
        counter: Name,
    },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Claim { claim, fault } => write!(f, "claim {claim}: {fault}"),
            Self::Request { claim, request, fault } => write!(f, "claim {claim}, request {request}: {fault}"),
            Self::Device { claim, request, device, fault } => {
                write!(f, "claim {claim}, request {request}, device {device}: {fault}")
            }
            Self::Pool { pool, fault } => write!(f, "pool {pool}: {fault}"),
        }
    }
}

impl std::error::Error for Violation {}

impl fmt::Display for ClaimFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyDevices { given } => {
                write!(f, "{given} devices are more than the {ALLOCATION_RESULTS_MAX} that a claim can hold")
            }
            Self::StrayResult { request } => {
                write!(f, "a result names {request:?}, which is not the request to be answered next")
            }
            Self::UnknownConstraint { index } => write!(f, "constraint #{index} is of an unknown kind"),
            Self::ConstraintBroken { index, attribute, device } => {
                write!(f, "constraint #{index} on {attribute} does not hold with device {device}")
            }
            Self::DerivedAttribute { attribute, device, error } => {
                write!(f, "attribute {attribute} of device {device} cannot be derived: {error}")
            }
            Self::Config => f.write_str("the configuration is not that of its classes and its spec"),
            Self::NodeSelector => f.write_str("the node selector is not that of its devices"),
        }
    }
}

impl fmt::Display for RequestFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("its form, mode or a selector is not known"),
            Self::GateOff(gate) => write!(f, "it needs {}, which is off", gate.name()),
            Self::NoSuchClass(class) => write!(f, "there is no device class {class}"),
            Self::Count { wanted, given } => write!(f, "{given} devices given where {wanted} are asked for"),
            Self::NoAlternative => f.write_str("no alternative was chosen"),
            Self::Missing(device) => write!(f, "all devices are asked for, and {device} is missing"),
            Self::PoolUnclear { pool, fault } => {
                write!(f, "all devices are asked for, but pool {pool}: {fault}")
            }
        }
    }
}

impl fmt::Display for DeviceFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInReach => f.write_str("no slice lists it for this node"),
            Self::RefusedByClass(index) => write!(f, "selector #{index} of the class refuses it"),
            Self::RefusedByRequest(index) => write!(f, "selector #{index} of the request refuses it"),
            Self::SelectorFailed { index, error } => write!(f, "selector #{index} fails on it: {error}"),
            Self::Tainted(taint) => {
                write!(f, "taint {}={}:{} is not tolerated", taint.key, taint.value, taint.effect.as_str())
            }
            Self::GateOff(gate) => write!(f, "it needs {}, which is off", gate.name()),
            Self::NodeCannotSkip => f.write_str("the node cannot do without the calls that its driver skips"),
            Self::InUse => f.write_str("it is in use"),
            Self::GivenTwice => f.write_str("it is given twice"),
            Self::Capacity(name) => write!(f, "its capacity {name} does not suffice"),
            Self::Policy(name) => write!(f, "its policy for capacity {name} does not allow the amount"),
            Self::Amount(name) => write!(f, "the amount of capacity {name} is negative or out of range"),
            Self::Field(field) => write!(f, "the result's {field} is not what request and device make it"),
            Self::SameShare => f.write_str("its share has the identity of another share"),
            Self::Incompatible { counter_set } => {
                write!(f, "it is not compatible with the other users of counter set {counter_set}")
            }
        }
    }
}

impl fmt::Display for PoolFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInReach => f.write_str("no slice of it is for this node"),
            Self::Obsolete => f.write_str("a newer generation exists"),
            Self::Incomplete { wanted, found } => {
                write!(f, "it has {found} slices where {wanted} are announced")
            }
            Self::DuplicateDevice(name) => write!(f, "two devices are named {name}"),
            Self::DuplicateCounterSet(name) => write!(f, "two counter sets are named {name}"),
            Self::NoSuchCounterSet { device, counter_set } => {
                write!(f, "device {device} consumes from counter set {counter_set}, which is not there")
            }
            Self::NoSuchCounter { device, counter_set, counter } => {
                write!(f, "device {device} consumes counter {counter_set}/{counter}, which is not there")
            }
            Self::Selector(error) => write!(f, "a node selector is wrong: {error}"),
            Self::CounterExceeded { counter_set, counter } => {
                write!(f, "more is taken of counter {counter_set}/{counter} than there is")
            }
        }
    }
}
