//! What is left of claims when only that is kept which an explanation names.

use std::sync::Arc;

use stowplan::allocator::{Conflict, RequestFunnel};
use stowplan::model::{ClaimKey, ClaimSpec, Name, ResourceClaim};

/// The requests that find too few devices even alone: all of their alternatives do.
pub fn short_requests(funnels: &[RequestFunnel]) -> Vec<(ClaimKey, Name)> {
    let parent = |funnel: &RequestFunnel| {
        let name = funnel.request.split_once('/').map_or(&*funnel.request, |(parent, _)| parent);
        (funnel.claim.clone(), Name::from(name))
    };
    let mut requests: Vec<_> = funnels.iter().map(parent).collect();
    requests.sort();
    requests.dedup();
    requests.retain(|request| funnels.iter().all(|funnel| parent(funnel) != *request || funnel.is_short()));
    requests
}

/// One request, with all constraints of its claim.
pub fn only_request(claims: &[ResourceClaim], request: &(ClaimKey, Name)) -> Vec<ResourceClaim> {
    let claim = claims.iter().find(|claim| claim.key == request.0).expect("a claim of that name");
    vec![reduced(claim, |name| *name == request.1, |_| true)]
}

/// The requests and constraints of a conflict.
pub fn only_conflict(claims: &[ResourceClaim], conflict: &Conflict) -> Vec<ResourceClaim> {
    let keep = |claim: &ResourceClaim| {
        let request = |name: &Name| conflict.requests.contains(&(claim.key.clone(), name.clone()));
        reduced(claim, request, |index| conflict.constraints.contains(&(claim.key.clone(), index)))
    };
    claims.iter().map(keep).collect()
}

fn reduced(
    claim: &ResourceClaim,
    request: impl Fn(&Name) -> bool,
    constraint: impl Fn(usize) -> bool,
) -> ResourceClaim {
    let constraints = claim.spec.constraints.iter().enumerate().filter(|(index, _)| constraint(*index));
    let spec = ClaimSpec {
        requests: claim.spec.requests.iter().filter(|it| request(&it.name)).cloned().collect(),
        constraints: constraints.map(|(_, constraint)| constraint.clone()).collect(),
        config: claim.spec.config.clone(),
    };
    ResourceClaim { spec: Arc::new(spec), ..claim.clone() }
}
