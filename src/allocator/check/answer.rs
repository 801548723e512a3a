//! Which results answer which request, and whether they are as many as asked for.

use std::sync::Arc;

use super::violation::{ClaimFault, RequestFault, Violation};
use super::{CheckedClaim, World};
use crate::model::{
    ALLOCATION_RESULTS_MAX, AllocationMode, DeviceClass, DeviceRequest, DeviceRequirement, DeviceResult,
    FeatureGate, Name, RequestKind, Subrequest,
};

/// A request with the devices given for it.
pub(super) struct Answer<'a> {
    /// The request.
    pub request: &'a DeviceRequest,
    /// What the request or alternative asks.
    pub requirement: &'a DeviceRequirement,
    /// Its class.
    pub class: &'a Arc<DeviceClass>,
    /// The name that results give: `request` or `request/subrequest`.
    pub name: Name,
    /// The devices.
    pub results: &'a [DeviceResult],
}

impl Answer<'_> {
    /// Whether a list of names means this request: by its name, or by that of the alternative.
    pub fn is_named_in(&self, names: &[Name]) -> bool {
        names.contains(&self.request.name) || names.contains(&self.name)
    }
}

/// Splits the results of a claim among its requests, which they must answer in their order.
pub(super) fn answers<'a>(world: &World<'a>, claim: &CheckedClaim<'a>) -> Result<Vec<Answer<'a>>, Violation> {
    let in_claim = |fault| Violation::Claim { claim: claim.key.clone(), fault };
    let mut rest: &'a [DeviceResult] = &claim.allocation.results;
    if rest.len() > ALLOCATION_RESULTS_MAX {
        return Err(in_claim(ClaimFault::TooManyDevices { given: rest.len() }));
    }
    let mut answers = Vec::with_capacity(claim.spec.requests.len());
    for request in &claim.spec.requests {
        let in_request = |name: &Name, fault| Violation::Request {
            claim: claim.key.clone(),
            request: name.clone(),
            fault,
        };
        let chosen = choose(request, rest).map_err(|fault| in_request(&request.name, fault))?;
        let (name, alternative, requirement) = chosen;
        let given = rest.iter().take_while(|result| result.request == name).count();
        let (results, others) = rest.split_at(given);
        rest = others;
        let class =
            examine(world, alternative, requirement, given).map_err(|fault| in_request(&name, fault))?;
        answers.push(Answer { request, requirement, class, name, results });
    }
    match rest.first() {
        Some(stray) => Err(in_claim(ClaimFault::StrayResult { request: stray.request.clone() })),
        None => Ok(answers),
    }
}

type Chosen<'a> = (Name, Option<&'a Subrequest>, &'a DeviceRequirement);

/// The alternative whose name the next result gives; of an exact request, the request itself.
fn choose<'a>(request: &'a DeviceRequest, rest: &[DeviceResult]) -> Result<Chosen<'a>, RequestFault> {
    match &request.kind {
        RequestKind::Exactly(requirement) => Ok((request.name.clone(), None, requirement)),
        RequestKind::Unknown => Err(RequestFault::Unknown),
        RequestKind::FirstAvailable(alternatives) => alternatives
            .iter()
            .map(|sub| (Name::from(format!("{}/{}", request.name, sub.name)), sub))
            .find(|(name, _)| rest.first().is_some_and(|result| result.request == *name))
            .map(|(name, sub)| (name, Some(sub), &sub.requirement))
            .ok_or(RequestFault::NoAlternative),
    }
}

/// What can be said of the answer without looking at its devices.
fn examine<'a>(
    world: &World<'a>,
    alternative: Option<&Subrequest>,
    requirement: &DeviceRequirement,
    given: usize,
) -> Result<&'a Arc<DeviceClass>, RequestFault> {
    let needs =
        |used: bool, gate| if used && !world.has(gate) { Err(RequestFault::GateOff(gate)) } else { Ok(()) };
    needs(alternative.is_some(), FeatureGate::DRAPrioritizedList)?;
    needs(requirement.admin_access.is_some(), FeatureGate::DRAAdminAccess)?;
    needs(requirement.capacity.is_some(), FeatureGate::DRAConsumableCapacity)?;
    needs(!requirement.derived_attributes.is_empty(), FeatureGate::DRADerivedAttributes)?;
    if requirement.selectors.iter().any(|selector| selector.expression.is_none()) {
        return Err(RequestFault::Unknown);
    }
    match requirement.mode {
        AllocationMode::ExactCount(wanted) if i64::try_from(given) != Ok(wanted) => {
            return Err(RequestFault::Count { wanted, given });
        }
        AllocationMode::All if given == 0 => return Err(RequestFault::Count { wanted: 1, given }),
        AllocationMode::ExactCount(_) | AllocationMode::All => {}
        AllocationMode::Other(_) => return Err(RequestFault::Unknown),
    }
    let class = world.snapshot.classes().get(&requirement.class);
    class.ok_or_else(|| RequestFault::NoSuchClass(requirement.class.clone()))
}
