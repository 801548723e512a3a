//! The snapshot after a placement, before the API server knows of it. The live cache and the
//! simulation go on from there alike.

use std::sync::Arc;

use crate::model::{Allocation, ConsumerReference, Name, OwnerReference, Pod, ResourceClaim, Snapshot};

use super::decision::{ClaimDevices, ExtendedClaim, PlacedClaim, Placement, PostFilter};

/// Whether the writes that carry a placement out are still on their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commit {
    /// They are: other pods must not use the claims allocated now before they are written.
    InFlight,
    /// They are taken as done, as in a simulation.
    Done,
}

/// The snapshot in which the pod runs on its node: its claims are allocated and reserved for it, the
/// claim for its extended resources is there under its placeholder, and with
/// [`Commit::InFlight`] the claims allocated now are marked as on their way.
pub fn assume(snapshot: &Snapshot, placement: &Placement, commit: Commit) -> Snapshot {
    let mut next = snapshot.clone();
    let in_flight = commit == Commit::InFlight;
    for placed in &placement.claims {
        let claim = current(&next, placed).cloned().unwrap_or_else(|| Arc::clone(&placed.claim));
        let chosen = chosen(placed);
        next.set_claim(Arc::new(reserved(&claim, chosen, &placement.pod)));
        if chosen.is_some() {
            next.set_in_flight(&claim.uid, in_flight);
        }
    }
    if let Some(extended) = &placement.extended {
        next.set_claim(Arc::new(extended_claim(extended, &placement.pod)));
        next.set_in_flight(&extended.placeholder_uid, in_flight);
    }
    let assigned = Pod { node_name: Some(placement.node.clone()), ..(*placement.pod).clone() };
    next.set_pod(&Arc::new(assigned), None);
    next
}

/// The snapshot after all writes have arrived: nothing is on its way any more.
pub fn committed(snapshot: &Snapshot, placement: &Placement) -> Snapshot {
    let mut next = snapshot.clone();
    for placed in placement.claims.iter().filter(|placed| chosen(placed).is_some()) {
        next.set_in_flight(&placed.claim.uid, false);
    }
    if let Some(extended) = &placement.extended {
        next.set_in_flight(&extended.placeholder_uid, false);
    }
    next
}

/// Takes an assumption back after the commit failed: the pod leaves the node and the users of its
/// claims, and claims whose allocation was only assumed lose it. Claims that were written keep
/// theirs; they are reused, or freed by the claim's controller.
pub fn forget(snapshot: &Snapshot, placement: &Placement) -> Snapshot {
    let mut next = committed(snapshot, placement);
    let pod = &placement.pod;
    next.remove_pod(&Pod { node_name: Some(placement.node.clone()), ..(**pod).clone() });
    for placed in &placement.claims {
        let Some(claim) = current(&next, placed) else { continue };
        let mut claim = (**claim).clone();
        if chosen(placed).is_some_and(|chosen| claim.allocation.as_ref() == Some(chosen)) {
            claim.allocation = None;
            claim.has_finalizer = placed.claim.has_finalizer;
        }
        // A pod that was a user before this placement stays one.
        if !placed.claim.is_reserved_for(&pod.uid) {
            let others = claim.reserved_for.iter().filter(|user| user.uid != pod.uid);
            claim.reserved_for = others.cloned().collect();
        }
        next.set_claim(Arc::new(claim));
    }
    if let Some(extended) = &placement.extended {
        next.remove_claim(&extended.placeholder);
    }
    next
}

/// The claim as the snapshot has it, if it is still the same object.
fn current<'a>(snapshot: &'a Snapshot, placed: &PlacedClaim) -> Option<&'a Arc<ResourceClaim>> {
    snapshot.claims().get(&placed.claim.key).filter(|claim| claim.uid == placed.claim.uid)
}

fn chosen(placed: &PlacedClaim) -> Option<&Arc<Allocation>> {
    match &placed.devices {
        ClaimDevices::Chosen(allocation) => Some(allocation),
        ClaimDevices::Held(_) => None,
    }
}

/// The snapshot after the API server has made the claim for extended resources: it takes the place
/// of its placeholder.
pub fn created(snapshot: &Snapshot, placement: &Placement, claim: Arc<ResourceClaim>) -> Snapshot {
    let mut next = snapshot.clone();
    if let Some(extended) = &placement.extended {
        next.remove_claim(&extended.placeholder);
    }
    next.set_claim(claim);
    next
}

/// The snapshot after [`PostFilter`] was carried out.
pub fn post_filter(snapshot: &Snapshot, done: &PostFilter) -> Snapshot {
    let mut next = snapshot.clone();
    match done {
        PostFilter::Deallocate { claim } => {
            let free = ResourceClaim {
                allocation: None,
                reserved_for: Box::default(),
                devices: Box::default(),
                ..(**claim).clone()
            };
            next.set_claim(Arc::new(free));
        }
        PostFilter::DeleteExtendedClaim { claim } => next.remove_claim(&claim.key),
    }
    next
}

/// The pod as a user of claims.
pub fn consumer(pod: &Pod) -> ConsumerReference {
    ConsumerReference {
        api_group: Name::default(),
        resource: Name::from("pods"),
        name: pod.key.name.clone(),
        uid: pod.uid.clone(),
    }
}

fn reserved(claim: &ResourceClaim, chosen: Option<&Arc<Allocation>>, pod: &Pod) -> ResourceClaim {
    let mut claim = claim.clone();
    if let Some(allocation) = chosen.filter(|_| claim.allocation.is_none()) {
        claim.allocation = Some(Arc::clone(allocation));
        claim.has_finalizer = true;
    }
    if !claim.is_reserved_for(&pod.uid) {
        claim.reserved_for = claim.reserved_for.iter().cloned().chain([consumer(pod)]).collect();
    }
    claim
}

fn extended_claim(extended: &ExtendedClaim, pod: &Pod) -> ResourceClaim {
    ResourceClaim {
        controller: Some(OwnerReference::pod(&pod.key, &pod.uid)),
        for_extended_resources: true,
        has_finalizer: true,
        allocation: Some(Arc::clone(&extended.allocation)),
        reserved_for: Box::new([consumer(pod)]),
        ..ResourceClaim::new(
            extended.placeholder.clone(),
            extended.placeholder_uid.clone(),
            Arc::clone(&extended.spec),
        )
    }
}
