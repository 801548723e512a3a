//! Asks the allocator, and has its answers judged.

use std::sync::Arc;

use stowplan::allocator::check::{CheckedClaim, Violation, check};
use stowplan::allocator::{AllocateError, Allocator, ClaimToAllocate, NodeError, Outcome, RequestFunnel};
use stowplan::model::{Allocation, Node, ResourceClaim, ShareId, Snapshot};

use super::build::World;
use super::oracle::{Answer, Assignment};

pub fn allocate(
    allocator: &mut Allocator,
    snapshot: &Snapshot,
    node: &Node,
    claims: &[ResourceClaim],
) -> Outcome {
    allocator.allocate(snapshot, node, &to_allocate(claims))
}

pub fn allocate_afresh(snapshot: &Snapshot, node: &Node, claims: &[ResourceClaim]) -> Outcome {
    allocate(&mut Allocator::new(snapshot.features()), snapshot, node, claims)
}

/// The allocations of a node, if the claims fit there.
pub fn allocations(world: &World, node: &Node) -> Option<Arc<[Allocation]>> {
    allocate_afresh(&world.snapshot, node, &world.claims).result.ok().flatten()
}

pub fn funnels(world: &World, node: &Node) -> Vec<RequestFunnel> {
    Allocator::new(world.snapshot.features()).funnel(&world.snapshot, node, &to_allocate(&world.claims))
}

fn to_allocate(claims: &[ResourceClaim]) -> Vec<ClaimToAllocate<'_>> {
    let claims = claims.iter();
    claims.map(|claim| ClaimToAllocate { key: &claim.key, uid: &claim.uid, spec: &claim.spec }).collect()
}

/// The outcome in the words of brute force; an error if it is one that brute force never has.
pub fn answer(outcome: &Outcome) -> Result<Answer, &AllocateError> {
    match &outcome.result {
        Ok(Some(allocations)) => Ok(Answer::Given(assignment(allocations))),
        Ok(None) => Ok(Answer::Nothing),
        Err(AllocateError::Node(NodeError::InvalidPools)) => Ok(Answer::InvalidPools),
        Err(AllocateError::Fatal(_)) => Ok(Answer::Fatal),
        Err(error) => Err(error),
    }
}

pub fn assignment(allocations: &[Allocation]) -> Assignment {
    let devices = |allocation: &Allocation| {
        allocation.results.iter().map(|result| (result.request.clone(), result.device.clone())).collect()
    };
    allocations.iter().map(devices).collect()
}

/// What the judge says, once shares have identities that nobody has.
pub fn judge(world: &World, node: &Node, allocations: &[Allocation]) -> Result<(), Violation> {
    let mut allocations = allocations.to_vec();
    let results = allocations.iter_mut().flat_map(|allocation| &mut allocation.results);
    for (number, share) in results.filter_map(|result| result.share_id.as_mut()).enumerate() {
        *share = ShareId::from(format!("new-{number}"));
    }
    let checked = world.claims.iter().zip(&allocations).map(|(claim, allocation)| CheckedClaim {
        key: &claim.key,
        uid: &claim.uid,
        spec: &claim.spec,
        allocation,
    });
    check(&world.snapshot, node, &checked.collect::<Vec<_>>())
}
