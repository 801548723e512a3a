//! A placement as API writes: what to write, in which order, and how to take it back. Data only;
//! the executor has no choice but to stop when an object changed.
//!
//! The order is upstream's: finalizer before allocation (an allocated claim without it is not
//! protected), allocation and reservation in one write, all claims before the binding.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::{
    Allocation, ClaimKey, ClaimSpec, ConsumerReference, Features, Name, NodeName, Pod, PodKey, ResourceClaim,
    Uid,
};

use super::assume::consumer;
use super::decision::{ClaimDevices, ExtendedClaim, PlacedClaim, Placement, RequestMapping};

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
    /// The writes that carry `placement` out. Claims that the pod may use already are not written.
    pub fn new(placement: &Placement, features: &Features) -> Self {
        let pod = &placement.pod;
        let mut plan = Self { pod: pod.key.clone(), pod_uid: pod.uid.clone(), steps: Vec::new() };
        let mut written = BTreeSet::new();
        for placed in placement.claims.iter().filter(|placed| written.insert(&placed.claim.key)) {
            plan.write_claim(placed, pod, features);
        }
        if let Some(extended) = &placement.extended {
            plan.make_claim(extended, pod, features);
        }
        plan.wait_for_conditions(placement, features);
        plan.steps.push(Step::BindPod { node: placement.node.clone() });
        plan
    }

    fn write_claim(&mut self, placed: &PlacedClaim, pod: &Pod, features: &Features) {
        let claim = &placed.claim;
        let target = || ClaimTarget::of(claim);
        match &placed.devices {
            ClaimDevices::Chosen(allocation) => {
                if !claim.has_finalizer {
                    self.steps.push(Step::AddFinalizer { target: target() });
                }
                self.steps.push(Step::WriteAllocation {
                    target: target(),
                    allocation: Arc::clone(allocation),
                    consumer: consumer(pod),
                    timestamp: features.binding_conditions(),
                });
            }
            ClaimDevices::Held(_) if !claim.is_reserved_for(&pod.uid) => {
                self.steps.push(Step::AddReservedFor { target: target(), consumer: consumer(pod) });
            }
            ClaimDevices::Held(_) => {}
        }
    }

    fn make_claim(&mut self, extended: &ExtendedClaim, pod: &Pod, features: &Features) {
        self.steps.extend([
            Step::CreateClaim {
                namespace: pod.key.namespace.clone(),
                generate_name: extended.generate_name.clone(),
                owner: pod.key.clone(),
                owner_uid: pod.uid.clone(),
                spec: Arc::clone(&extended.spec),
            },
            Step::AddFinalizer { target: ClaimTarget::Created },
            Step::WriteAllocation {
                target: ClaimTarget::Created,
                allocation: Arc::clone(&extended.allocation),
                consumer: consumer(pod),
                timestamp: features.binding_conditions(),
            },
            Step::SetExtendedResourceClaimStatus { mappings: extended.mappings.clone() },
        ]);
    }

    fn wait_for_conditions(&mut self, placement: &Placement, features: &Features) {
        let waits = |allocation: &Allocation| {
            features.binding_conditions()
                && allocation.results.iter().any(|r| r.binding_conditions.iter().flatten().next().is_some())
        };
        let claims = placement.claims.iter().filter(|placed| waits(placed.devices.allocation()));
        let existing = claims.map(|placed| ClaimTarget::of(&placed.claim));
        let created = placement.extended.iter().filter(|extended| waits(&extended.allocation));
        let targets: Box<[_]> = existing.chain(created.map(|_| ClaimTarget::Created)).collect();
        if !targets.is_empty() {
            self.steps.push(Step::WaitForBindingConditions { targets });
        }
    }

    /// How a step that was carried out is taken back; `None` if there is nothing to take back: a
    /// finalizer does no harm, and a binding is final.
    pub fn undo(&self, step: &Step) -> Option<Undo> {
        match step {
            Step::CreateClaim { .. } => Some(Undo::DeleteCreatedClaim),
            Step::WriteAllocation { target, .. } | Step::AddReservedFor { target, .. } => match target {
                ClaimTarget::Existing { claim, uid, .. } => Some(Undo::RemoveReservedFor {
                    claim: claim.clone(),
                    claim_uid: uid.clone(),
                    pod_uid: self.pod_uid.clone(),
                }),
                ClaimTarget::Created => None,
            },
            _ => None,
        }
    }
}

impl ClaimTarget {
    fn of(claim: &ResourceClaim) -> Self {
        Self::Existing {
            claim: claim.key.clone(),
            uid: claim.uid.clone(),
            resource_version: claim.resource_version.clone(),
        }
    }
}
