//! What a change means for the pods that wait. Coarse on purpose: a pod that is tried in vain costs
//! a cycle, one that is not tried waits for ever.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::{ClaimKey, Name, Pod, PodKey, PodPhase, ResourceClaim};

/// What a change means for the pods that wait.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// This pod waits for a node.
    Waits(Arc<Pod>),
    /// This pod does not wait any more.
    Settled(PodKey),
    /// It may help this pod.
    MayHelp(PodKey),
    /// It may help the pods that name this claim.
    MayHelpUsersOf(ClaimKey),
    /// It may help any pod.
    MayHelpAny,
}

/// A pod was seen, new or changed.
pub fn of_pod(before: Option<&Pod>, pod: &Arc<Pod>, served: &BTreeSet<Name>) -> Vec<Effect> {
    let unchanged = before.is_some_and(|before| is_same_to_others(before, pod));
    if waits(pod, served) {
        let said =
            before.is_some_and(|before| waits(before, served) && before.claim_statuses == pod.claim_statuses);
        return if unchanged && said { Vec::new() } else { vec![Effect::Waits(Arc::clone(pod))] };
    }
    let mut effects = vec![Effect::Settled(pod.key.clone())];
    let runs = before.is_some_and(|before| before.node_name.is_some()) && pod.node_name.is_some();
    if runs && !unchanged {
        effects.push(Effect::MayHelpAny); // it may ask for less than before
    }
    effects
}

/// A pod is gone. `pod` is on the node that was chosen for it, if any.
pub fn of_removed_pod(pod: &Pod) -> Vec<Effect> {
    let settled = Effect::Settled(pod.key.clone());
    if pod.node_name.is_some() { vec![settled, Effect::MayHelpAny] } else { vec![settled] }
}

/// Whether the pod is to be scheduled by us.
fn waits(pod: &Pod, served: &BTreeSet<Name>) -> bool {
    pod.node_name.is_none()
        && !pod.deleting
        && pod.phase == PodPhase::Pending
        && pod.scheduling_gates.is_empty()
        && served.contains(&pod.scheduler_name)
}

/// Whether nothing changed that matters to scheduling: the version, the phase and the status of
/// its claims do not.
fn is_same_to_others(a: &Pod, b: &Pod) -> bool {
    let b = Pod {
        resource_version: a.resource_version.clone(),
        phase: a.phase,
        claim_statuses: a.claim_statuses.clone(),
        extended_resource_claim: a.extended_resource_claim.clone(),
        nominated_node_name: a.nominated_node_name.clone(),
        ..b.clone()
    };
    *a == b
}

/// A claim was seen, new or changed.
pub fn of_claim(before: Option<&ResourceClaim>, claim: &ResourceClaim) -> Vec<Effect> {
    let freed = before.is_some_and(|before| before.allocation.is_some()) && claim.allocation.is_none();
    if freed {
        return vec![Effect::MayHelpAny];
    }
    match &claim.controller {
        Some(owner) if *owner.kind == *"Pod" => {
            vec![Effect::MayHelp(PodKey { namespace: claim.key.namespace.clone(), name: owner.name.clone() })]
        }
        _ => vec![Effect::MayHelpUsersOf(claim.key.clone())],
    }
}

/// A claim is gone.
pub fn of_removed_claim(claim: &ResourceClaim) -> Vec<Effect> {
    if claim.allocation.is_some() { vec![Effect::MayHelpAny] } else { Vec::new() }
}
