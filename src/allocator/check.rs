//! An independent judge of finished allocations.
//!
//! Everything is derived anew from the published objects, in the plainest way and without a line
//! of the search. It runs before every write: what it refuses is a bug of the search, and must not
//! reach the API server.

mod answer;
mod capacity;
mod constraint;
mod device;
mod outcome;
mod pool;
mod selector;
mod sharing;
mod violation;

use std::collections::BTreeMap;

use self::answer::{Answer, answers};
use self::pool::Pool;
use self::selector::Selectors;
pub use self::violation::{ClaimFault, DeviceFault, PoolFault, RequestFault, Violation};
use crate::cel::{Environment, Programs};
use crate::model::{
    Allocation, AllocationMode, ClaimKey, ClaimSpec, Device, DeviceRequirement, DeviceResult, FeatureGate,
    Features, Node, PoolId, ResourceSlice, Snapshot, Uid,
};

/// A claim with the allocation that is about to be written.
#[derive(Clone, Copy, Debug)]
pub struct CheckedClaim<'a> {
    /// Namespace and name.
    pub key: &'a ClaimKey,
    /// The identity.
    pub uid: &'a Uid,
    /// What is asked.
    pub spec: &'a ClaimSpec,
    /// What is given.
    pub allocation: &'a Allocation,
}

/// Checks the new allocations of one pod together, in the order in which they were made.
///
/// `snapshot` is the world without these allocations.
///
/// # Errors
/// The first rule that is broken.
pub fn check(snapshot: &Snapshot, node: &Node, claims: &[CheckedClaim<'_>]) -> Result<(), Violation> {
    check_with(&mut Programs::new(Environment::new(snapshot.features())), snapshot, node, claims)
}

/// The same with selectors that are compiled already, for those who check often. `programs` must be
/// of the features of the snapshot.
///
/// # Errors
/// The first rule that is broken.
pub fn check_with(
    programs: &mut Programs,
    snapshot: &Snapshot,
    node: &Node,
    claims: &[CheckedClaim<'_>],
) -> Result<(), Violation> {
    let features = snapshot.features();
    let world = World { snapshot, node, features, selectors: Selectors::new(features, programs) };
    let mut answers_of = Vec::with_capacity(claims.len());
    for claim in claims {
        answers_of.push(answers(&world, claim)?);
    }
    let pools = gather_pools(&world, claims)?;

    let mut given = Vec::new();
    for (claim_index, (claim, answers)) in claims.iter().zip(&answers_of).enumerate() {
        let first = given.len();
        for (answer_index, answer) in answers.iter().enumerate() {
            for result in answer.results {
                let one = locate(&pools, claim, claim_index, answer, answer_index, result)?;
                check_alone(&world, answer, &one).map_err(|fault| one.violation(fault))?;
                given.push(one);
            }
            if answer.requirement.mode == AllocationMode::All {
                check_all_given(&world, answer).map_err(|fault| Violation::Request {
                    claim: claim.key.clone(),
                    request: answer.name.clone(),
                    fault,
                })?;
            }
        }
        check_claim(&world, claim, answers, &given[first..])
            .map_err(|fault| Violation::Claim { claim: claim.key.clone(), fault })?;
    }
    sharing::check_together(&world, &pools, &given)
}

/// What everything is judged by.
struct World<'a> {
    snapshot: &'a Snapshot,
    node: &'a Node,
    features: &'a Features,
    selectors: Selectors<'a>,
}

impl World<'_> {
    fn has(&self, gate: FeatureGate) -> bool {
        self.features.has(gate)
    }

    /// Whether a device can have several users.
    fn is_multi(&self, device: &Device) -> bool {
        self.has(FeatureGate::DRAConsumableCapacity) && device.content.allow_multiple_allocations
    }
}

/// One device given to one request.
struct Given<'a> {
    claim_index: usize,
    answer_index: usize,
    claim: &'a ClaimKey,
    requirement: &'a DeviceRequirement,
    result: &'a DeviceResult,
    slice: &'a ResourceSlice,
    device: &'a Device,
}

impl Given<'_> {
    fn violation(&self, fault: DeviceFault) -> Violation {
        device_violation(self.claim, self.result, fault)
    }
}

fn device_violation(claim: &ClaimKey, result: &DeviceResult, fault: DeviceFault) -> Violation {
    Violation::Device {
        claim: claim.clone(),
        request: result.request.clone(),
        device: result.device.clone(),
        fault: Box::new(fault),
    }
}

/// The pools that the allocations name.
fn gather_pools<'a>(
    world: &World<'a>,
    claims: &[CheckedClaim<'_>],
) -> Result<BTreeMap<PoolId, Pool<'a>>, Violation> {
    let mut pools = BTreeMap::new();
    for result in claims.iter().flat_map(|claim| &claim.allocation.results) {
        let id = &result.device.pool;
        if !pools.contains_key(id) {
            let pool = Pool::gather(world.snapshot, world.node, id)
                .map_err(|fault| Violation::Pool { pool: id.clone(), fault })?;
            pools.insert(id.clone(), pool);
        }
    }
    Ok(pools)
}

fn locate<'a>(
    pools: &BTreeMap<PoolId, Pool<'a>>,
    claim: &CheckedClaim<'a>,
    claim_index: usize,
    answer: &Answer<'a>,
    answer_index: usize,
    result: &'a DeviceResult,
) -> Result<Given<'a>, Violation> {
    let listed = pools
        .get(&result.device.pool)
        .and_then(|pool| pool.devices().find(|(_, device)| device.name == result.device.device));
    let (slice, device) =
        listed.ok_or_else(|| device_violation(claim.key, result, DeviceFault::NotInReach))?;
    let requirement = answer.requirement;
    Ok(Given { claim_index, answer_index, claim: claim.key, requirement, result, slice, device })
}

/// Whether a device may be given to its request, whoever else has what.
fn check_alone(world: &World<'_>, answer: &Answer<'_>, one: &Given<'_>) -> Result<(), DeviceFault> {
    device::check_selected(world, one.slice, one.device, answer.class, one.requirement)?;
    device::check_usable(world, one.slice, one.device, one.requirement)?;
    device::check_fields(world, one.slice, one.device, one.requirement, one.result)
}

/// Whether a request for all devices got every device on the node that it selects and that has the
/// capacity.
fn check_all_given(world: &World<'_>, answer: &Answer<'_>) -> Result<(), RequestFault> {
    let slices = world.snapshot.slices();
    let own = slices.by_node.get(&world.node.name).into_iter().flat_map(|slices| slices.values());
    let ids: std::collections::BTreeSet<&PoolId> =
        own.chain(slices.shared.values()).map(|slice| &slice.pool).collect();
    for id in ids {
        let pool = match Pool::gather(world.snapshot, world.node, id) {
            Ok(pool) => pool,
            Err(PoolFault::NotInReach | PoolFault::Obsolete) => continue,
            Err(fault) => return Err(RequestFault::PoolUnclear { pool: id.clone(), fault: Box::new(fault) }),
        };
        for (slice, device) in pool.devices() {
            let id = id.device(device.name.clone());
            let wanted = device::check_selected(world, slice, device, answer.class, answer.requirement)
                .is_ok()
                && capacity::is_among_all(world, &id, device, answer.requirement);
            if wanted && answer.results.iter().all(|result| result.device != id) {
                return Err(RequestFault::Missing(id));
            }
        }
    }
    Ok(())
}

/// What must hold between the devices of a claim, and what follows from them.
fn check_claim(
    world: &World<'_>,
    claim: &CheckedClaim<'_>,
    answers: &[Answer<'_>],
    given: &[Given<'_>],
) -> Result<(), ClaimFault> {
    constraint::check_constraints(world, claim.spec, answers, given)?;
    if *claim.allocation.config != outcome::config(claim.spec, answers)[..] {
        return Err(ClaimFault::Config);
    }
    if outcome::node_selector(world, given).as_ref() != Ok(&claim.allocation.node_selector) {
        return Err(ClaimFault::NodeSelector);
    }
    Ok(())
}
