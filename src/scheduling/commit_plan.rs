//! A placement as API writes: what to write, in which order, and how to take it back. Data only;
//! the executor has no choice but to stop when an object changed.
//!
//! The order is upstream's: finalizer before allocation (an allocated claim without it is not
//! protected), allocation and reservation in one write, all claims before the binding.

use std::sync::Arc;

use crate::model::{Allocation, ClaimKey, ClaimSpec, ConsumerReference, Name, NodeName, PodKey, Uid};

use super::decision::{Placement, RequestMapping};

/// API writes that carry a placement out, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitPlan {
    /// The pod.
    pub pod: PodKey,
    /// Its identity.
    pub pod_uid: Uid,
    /// What to do, in order; the first failure ends the plan.
    pub steps: Vec<Step>,
}

/// The claim that a step is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimTarget {
    /// A claim that is there.
    Existing {
        /// Namespace and name.
        claim: ClaimKey,
        /// The identity it must have.
        uid: Uid,
        /// The version it must have. A step after another write to the same claim takes the version
        /// that this one returned.
        resource_version: Name,
    },
    /// The claim that [`Step::CreateClaim`] has made.
    Created,
}

/// One API write, or wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// `POST resourceclaims`: the claim for the pod's extended resources, owned by the pod, with the
    /// annotation `resource.kubernetes.io/extended-resource-claim: "true"`.
    CreateClaim {
        /// The namespace.
        namespace: Name,
        /// `metadata.generateName`.
        generate_name: Name,
        /// The pod that controls it.
        owner: PodKey,
        /// The pod's identity.
        owner_uid: Uid,
        /// `spec.devices`.
        spec: Arc<ClaimSpec>,
    },
    /// `PUT resourceclaims/NAME` with the finalizer [`CLAIM_FINALIZER`](crate::model::CLAIM_FINALIZER).
    AddFinalizer {
        /// The claim.
        target: ClaimTarget,
    },
    /// `PUT resourceclaims/NAME/status` with the allocation and the reservation. The claim must not
    /// be allocated. With binding conditions served, the executor sets `allocationTimestamp` to the
    /// time of the write; never on an allocation that is there already.
    WriteAllocation {
        /// The claim.
        target: ClaimTarget,
        /// The devices.
        allocation: Arc<Allocation>,
        /// The pod, appended to `reservedFor`.
        consumer: ConsumerReference,
        /// Whether `allocationTimestamp` is written.
        timestamp: bool,
    },
    /// `PUT resourceclaims/NAME/status` with the reservation alone. The claim must be allocated; the
    /// allocation is left as it is, a missing timestamp included.
    AddReservedFor {
        /// The claim.
        target: ClaimTarget,
        /// The pod, appended to `reservedFor`.
        consumer: ConsumerReference,
    },
    /// `PATCH pods/NAME/status` with `extendedResourceClaimStatus`: the created claim and these.
    SetExtendedResourceClaimStatus {
        /// Which request serves which container's resource.
        mappings: Box<[RequestMapping]>,
    },
    /// Wait until the binding conditions of all devices of these claims are true (KEP-5007).
    WaitForBindingConditions {
        /// The claims.
        targets: Box<[ClaimTarget]>,
    },
    /// `POST pods/NAME/binding`.
    BindPod {
        /// The node.
        node: NodeName,
    },
}

/// How a step is taken back after a later one failed. Undo steps are tried all, in the reverse
/// order of the steps; failures are only logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undo {
    /// `PATCH resourceclaims/NAME/status` that deletes the pod from `reservedFor`, with the claim's
    /// uid as precondition. The allocation stays; it is reused or freed later.
    RemoveReservedFor {
        /// The claim.
        claim: ClaimKey,
        /// The identity it must have.
        claim_uid: Uid,
        /// The user to remove.
        pod_uid: Uid,
    },
    /// Remove the finalizer of the claim made for extended resources, then delete it.
    DeleteCreatedClaim,
}

impl CommitPlan {
    /// The writes that carry `placement` out.
    pub fn new(placement: &Placement) -> Self {
        let _ = placement;
        Self { pod: placement.pod.key.clone(), pod_uid: placement.pod.uid.clone(), steps: Vec::new() }
    }
}
