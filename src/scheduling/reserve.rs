//! The last step of a cycle: the devices chosen get their identities, are checked by an independent
//! judge, and become a placement.

use std::sync::Arc;

use crate::allocator::check::{CheckedClaim, check};
use crate::model::{Allocation, ClaimKey, NodeInfo, ResourceClaim, Snapshot, Uid};

use super::decision::{ClaimDevices, CycleError, ExtendedClaim, PlacedClaim, Placement};
use super::options::Options;
use super::plugins::dynamic_resources::NodeDevices;
use super::plugins::extended_resources::{generate_name, placeholder_key, placeholder_uid};
use super::query::PodQuery;
use super::share_id::share_id;

/// The placement on a node. `pending` are the claims that `devices` answers, in that order.
///
/// # Errors
/// A fault of this program: a claim without an answer, or an answer that breaks a rule.
pub(super) fn reserve(
    snapshot: &Snapshot,
    query: &PodQuery,
    pending: &[Arc<ResourceClaim>],
    info: &NodeInfo,
    devices: &NodeDevices,
    options: &Options,
) -> Result<Placement, CycleError> {
    let pod = &query.pod;
    let node = &info.node.name;
    let chosen: Vec<_> = pending
        .iter()
        .zip(devices.chosen().iter())
        .map(|(claim, allocation)| {
            (&claim.key, identified(&claim.key, &claim.uid, allocation, options.nonce))
        })
        .collect();
    let not_allocated =
        |claim: &ClaimKey| CycleError::NotAllocated { node: node.clone(), claim: claim.clone() };
    let place = |claim: &Arc<ResourceClaim>| match &claim.allocation {
        Some(allocation) => Ok(ClaimDevices::Held(Arc::clone(allocation))),
        None => chosen
            .iter()
            .find(|(key, _)| **key == claim.key)
            .map(|(_, allocation)| ClaimDevices::Chosen(Arc::clone(allocation)))
            .ok_or_else(|| not_allocated(&claim.key)),
    };
    let claims: Result<Box<[_]>, _> = query
        .claims
        .iter()
        .map(|queried| {
            let devices = place(&queried.claim)?;
            Ok(PlacedClaim {
                pod_claim: queried.pod_claim.clone(),
                claim: Arc::clone(&queried.claim),
                devices,
            })
        })
        .collect();
    let extended = match devices.extended() {
        None => None,
        Some(claim) => {
            let (key, uid) = (placeholder_key(pod), placeholder_uid(pod));
            let allocation = devices.chosen().get(pending.len()).ok_or_else(|| not_allocated(&key))?;
            Some(ExtendedClaim {
                allocation: identified(&key, &uid, allocation, options.nonce),
                placeholder: key,
                placeholder_uid: uid,
                generate_name: generate_name(pod),
                spec: Arc::clone(&claim.spec),
                mappings: claim.mappings.clone(),
            })
        }
    };
    let placement = Placement {
        pod: Arc::clone(pod),
        node: node.clone(),
        claims: claims?,
        extended,
        scores: Box::default(),
    };
    judge(snapshot, info, pending, &placement)?;
    Ok(placement)
}

/// The allocation with an identity for every share, in place of those that the allocator left open.
pub(super) fn identified(
    claim: &ClaimKey,
    uid: &Uid,
    allocation: &Allocation,
    nonce: u64,
) -> Arc<Allocation> {
    let mut allocation = allocation.clone();
    for (ordinal, result) in allocation.results.iter_mut().enumerate() {
        if result.share_id.is_some() {
            result.share_id = Some(share_id(claim, uid, &result.request, &result.device, ordinal, nonce));
        }
    }
    Arc::new(allocation)
}

/// Has all devices chosen checked together.
fn judge(
    snapshot: &Snapshot,
    info: &NodeInfo,
    pending: &[Arc<ResourceClaim>],
    placement: &Placement,
) -> Result<(), CycleError> {
    let chosen = pending.iter().filter_map(|claim| {
        let placed = placement.claims.iter().find(|placed| placed.claim.key == claim.key)?;
        let (key, uid, spec) = (&claim.key, &claim.uid, &*claim.spec);
        Some(CheckedClaim { key, uid, spec, allocation: placed.devices.allocation() })
    });
    let extended = placement.extended.iter().map(|claim| CheckedClaim {
        key: &claim.placeholder,
        uid: &claim.placeholder_uid,
        spec: &claim.spec,
        allocation: &claim.allocation,
    });
    let claims: Vec<_> = chosen.chain(extended).collect();
    check(snapshot, &info.node, &claims)
        .map_err(|violation| CycleError::Violation { node: info.node.name.clone(), violation })
}
