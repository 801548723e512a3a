//! A claim with the placements that are still on their way to the API server.

use std::sync::Arc;

use crate::model::{ConsumerReference, Name, Pod, ResourceClaim};
use crate::scheduling::Placement;

/// The claim as it will be once the placements are written, and whether an allocation that the
/// server does not show yet is among them.
pub fn with_placements<'a>(
    seen: &Arc<ResourceClaim>,
    placements: impl IntoIterator<Item = &'a Placement>,
) -> (Arc<ResourceClaim>, bool) {
    let mut claim = Arc::clone(seen);
    for placement in placements {
        let placed = placement.claims.iter().find(|placed| placed.claim.uid == seen.uid);
        let Some(placed) = placed else { continue };
        let claim = Arc::make_mut(&mut claim);
        claim.allocation.get_or_insert_with(|| Arc::clone(placed.devices.allocation()));
        if !claim.is_reserved_for(&placement.pod.uid) {
            let users = claim.reserved_for.iter().cloned();
            claim.reserved_for = users.chain([consumer(&placement.pod)]).collect();
        }
    }
    let in_flight = claim.allocation.is_some() && seen.allocation.is_none();
    (claim, in_flight)
}

fn consumer(pod: &Pod) -> ConsumerReference {
    ConsumerReference {
        api_group: Name::default(),
        resource: Name::from("pods"),
        name: pod.key.name.clone(),
        uid: pod.uid.clone(),
    }
}
