//! The last step of a cycle: the devices chosen get their identities, are checked by an independent
//! judge, and become a placement.

use std::sync::Arc;

use crate::allocator::check::{CheckedClaim, check_with};
use crate::cel::Programs;
use crate::model::{Allocation, ClaimKey, NodeInfo, Pod, ResourceClaim, Snapshot, Uid};

use super::decision::{ClaimDevices, CycleError, ExtendedClaim, PlacedClaim, Placement};
use super::options::Options;
use super::plugins::dynamic_resources::ChosenDevices;
use super::plugins::extended_resources::{NodeClaim, generate_name, placeholder_key, placeholder_uid};
use super::query::{PodQuery, QueriedClaim};
use super::scores::Scores;
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
    devices: &ChosenDevices,
    selectors: &mut Programs,
    options: &Options,
) -> Result<Placement, Box<CycleError>> {
    let answers = pending.iter().zip(devices.allocations.iter());
    let chosen: Vec<_> = answers
        .map(|(claim, allocation)| {
            (&claim.key, identified(&claim.key, &claim.uid, allocation, options.nonce))
        })
        .collect();
    let not_allocated = |claim: &ClaimKey| {
        Box::new(CycleError::NotAllocated { node: info.node.name.clone(), claim: claim.clone() })
    };
    let place = |queried: &QueriedClaim| -> Result<PlacedClaim, Box<CycleError>> {
        let claim = &queried.claim;
        let found = || chosen.iter().find(|(key, _)| **key == claim.key);
        let devices = if let Some(allocation) = &claim.allocation {
            ClaimDevices::Held(Arc::clone(allocation))
        } else {
            let (_, allocation) = found().ok_or_else(|| not_allocated(&claim.key))?;
            ClaimDevices::Chosen(Arc::clone(allocation))
        };
        Ok(PlacedClaim { pod_claim: queried.pod_claim.clone(), claim: Arc::clone(claim), devices })
    };
    let extended = |claim: &Arc<NodeClaim>| -> Result<ExtendedClaim, Box<CycleError>> {
        let answer = devices.allocations.get(pending.len());
        let allocation = answer.ok_or_else(|| not_allocated(&placeholder_key(&query.pod)))?;
        Ok(extended_claim(&query.pod, claim, allocation, options.nonce))
    };
    let placement = Placement {
        pod: Arc::clone(&query.pod),
        node: info.node.name.clone(),
        claims: query.claims.iter().map(place).collect::<Result<_, _>>()?,
        extended: devices.extended.as_ref().map(extended).transpose()?,
        scores: Scores::default(),
    };
    judge(selectors, snapshot, info, pending, &placement)?;
    Ok(placement)
}

fn extended_claim(pod: &Pod, claim: &NodeClaim, allocation: &Allocation, nonce: u64) -> ExtendedClaim {
    let (placeholder, placeholder_uid) = (placeholder_key(pod), placeholder_uid(pod));
    ExtendedClaim {
        allocation: identified(&placeholder, &placeholder_uid, allocation, nonce),
        placeholder,
        placeholder_uid,
        generate_name: generate_name(pod),
        spec: Arc::clone(&claim.spec),
        mappings: claim.mappings.clone(),
    }
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

/// Has all devices chosen checked together. `selectors` are the judge's own, not the search's.
pub(super) fn judge(
    selectors: &mut Programs,
    snapshot: &Snapshot,
    info: &NodeInfo,
    pending: &[Arc<ResourceClaim>],
    placement: &Placement,
) -> Result<(), Box<CycleError>> {
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
    check_with(selectors, snapshot, &info.node, &claims)
        .map_err(|violation| Box::new(CycleError::Violation { node: info.node.name.clone(), violation }))
}
