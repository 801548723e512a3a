//! Why a pod cannot be looked at for any node. The wording stands in `explain`.

use crate::model::pod::UnservedFeature;
use crate::model::selection::SelectorError;
use crate::model::{ClaimKey, ClassName, Name, OwnerReference};

use super::options::Absence;
use super::plugins::Plugin;

/// Why no node can be tried for a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryError {
    /// Gates hold the pod back.
    SchedulingGates {
        /// The gates.
        gates: Box<[Name]>,
    },
    /// The pod asks for something that this release does not judge.
    Unserved {
        /// All of it.
        features: Box<[UnservedFeature]>,
    },
    /// The node names that the terms of the pod's affinity demand exclude each other.
    AffinityTermsConflict,
    /// An entry of `spec.resourceClaims` names neither claim nor template.
    NoClaimSource {
        /// The entry.
        pod_claim: Name,
    },
    /// The claim that a template gives has not been made.
    ClaimNotCreated {
        /// The entry of `spec.resourceClaims`.
        pod_claim: Name,
        /// The template.
        template: ClaimKey,
        /// Why, if it is known.
        absence: Option<Absence>,
    },
    /// The claim is not there.
    ClaimNotFound {
        /// The entry of `spec.resourceClaims`.
        pod_claim: Name,
        /// The claim.
        claim: ClaimKey,
        /// Why, if it is known.
        absence: Option<Absence>,
    },
    /// The claim is being deleted.
    ClaimDeleting {
        /// The claim.
        claim: ClaimKey,
    },
    /// The claim has the name of the one made for this pod, but belongs to somebody else.
    NotOwner {
        /// The claim.
        claim: ClaimKey,
        /// Its controller.
        owner: Option<OwnerReference>,
    },
    /// The claim has as many users as a claim can have.
    ClaimInUse {
        /// The claim.
        claim: ClaimKey,
        /// How many users it has.
        users: usize,
    },
    /// An allocation of the claim for another pod is on its way to the API server.
    ClaimInFlight {
        /// The claim.
        claim: ClaimKey,
    },
    /// A request has alternatives, and `DRAPrioritizedList` is off.
    PrioritizedListDisabled {
        /// The claim.
        claim: ClaimKey,
        /// The request.
        request: Name,
    },
    /// A request is of a form that this release does not know.
    UnknownRequestType {
        /// The claim.
        claim: ClaimKey,
        /// The request.
        request: Name,
    },
    /// A request names no class. An error of the object.
    NoClassName {
        /// The claim.
        claim: ClaimKey,
        /// The request, or `request/subrequest`.
        request: Name,
    },
    /// The class of a request is not there.
    ClassNotFound {
        /// The claim.
        claim: ClaimKey,
        /// The request, or `request/subrequest`.
        request: Name,
        /// The class.
        class: ClassName,
        /// Why, if it is known.
        absence: Option<Absence>,
    },
    /// The node selector of an allocation cannot be evaluated. An error of the object.
    BadNodeSelector {
        /// The claim.
        claim: ClaimKey,
        /// What is wrong with it.
        error: SelectorError,
    },
}

impl QueryError {
    /// The plugin in whose name upstream reports it.
    pub fn plugin(&self) -> Option<Plugin> {
        match self {
            Self::SchedulingGates { .. } => Some(Plugin::SchedulingGates),
            Self::Unserved { .. } => None,
            Self::AffinityTermsConflict => Some(Plugin::NodeAffinity),
            _ => Some(Plugin::DynamicResources),
        }
    }

    /// Whether the attempt fails with an error and is repeated after a pause, rather than waiting
    /// for a change.
    pub fn is_error(&self) -> bool {
        matches!(self, Self::NoClassName { .. } | Self::BadNodeSelector { .. })
    }

    /// Whether the pod is kept out of the active queue until something changes (`PreEnqueue`).
    pub fn is_gate(&self) -> bool {
        matches!(
            self,
            Self::SchedulingGates { .. }
                | Self::NoClaimSource { .. }
                | Self::ClaimNotCreated { .. }
                | Self::ClaimNotFound { .. }
                | Self::ClaimDeleting { .. }
                | Self::NotOwner { .. }
        )
    }
}
