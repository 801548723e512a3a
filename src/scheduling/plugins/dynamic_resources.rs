//! Claims and devices: whether a node can give a pod all the devices that it claims, and which.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::allocator::funnel::RequestFunnel;
use crate::allocator::{AllocateError, Allocator, ClaimToAllocate, NodeError, NodeKind};
use crate::model::{
    Allocation, ClaimKey, ClaimSpec, Name, NodeInfo, RequestKind, ResourceClaim, Snapshot, Timestamp, Uid,
};
use crate::scheduling::decision::PostFilter;
use crate::scheduling::options::Options;
use crate::scheduling::query::PodQuery;
use crate::scheduling::rejection::{DeviceRejection, Rejection, Unavailability, UnavailableClaim};

use super::extended_resources::{NodeClaim, PLACEHOLDER, ServedByDra, placeholder_uid};

/// Most alternatives of a request (`FirstAvailableDeviceRequestMaxSize`): what the first one scores.
const FIRST_AVAILABLE_MAX: i64 = 8;

/// The feature that a kubelet declares when it can do without some calls to drivers.
const OPTIONAL_NODE_OPERATIONS: &str = "DRAOptionalNodeOperations";

/// That a node has devices for a pod. Only [`Filter`] makes one.
#[derive(Clone, Debug)]
pub struct NodeDevices {
    /// What the alternatives chosen are worth.
    preference: i64,
    extended: Option<Arc<NodeClaim>>,
}

/// The devices of the node that was chosen.
#[derive(Clone, Debug)]
pub struct ChosenDevices {
    /// One allocation for each of [`Filter::pending`], then one for `extended`.
    pub allocations: Arc<[Allocation]>,
    /// The claim for extended resources that the node serves by DRA.
    pub extended: Option<Arc<NodeClaim>>,
}

/// Why a node is not in question: it objects, or the whole attempt fails.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// The node objects.
    Node(Rejection),
    /// The attempt fails.
    Attempt(Box<AllocateError>),
}

fn object(rejection: DeviceRejection) -> Refusal {
    Refusal::Node(Rejection::DynamicResources(rejection))
}

/// The filter of one pod's cycle.
#[derive(Debug)]
pub struct Filter<'a> {
    snapshot: &'a Snapshot,
    query: &'a PodQuery,
    /// The claims to be allocated, each once, in the order of the pod.
    pending: Vec<Arc<ResourceClaim>>,
    /// Allocated claims, with why they cannot be used from any node.
    held: Vec<(Arc<ResourceClaim>, Option<Unavailability>)>,
    /// The claims for extended resources, by what a node serves by DRA.
    node_claims: BTreeMap<ServedByDra, Arc<NodeClaim>>,
    /// What stands for the claim for extended resources until it is made.
    placeholder: (ClaimKey, Uid),
    /// Claims for which at least one node was rejected.
    unavailable: BTreeSet<ClaimKey>,
}

impl<'a> Filter<'a> {
    /// The filter for a pod.
    pub fn new(snapshot: &'a Snapshot, query: &'a PodQuery, options: &Options) -> Self {
        let mut filter = Self {
            snapshot,
            query,
            pending: Vec::new(),
            held: Vec::new(),
            node_claims: BTreeMap::new(),
            placeholder: (
                ClaimKey::new(query.pod.key.namespace.clone(), PLACEHOLDER),
                placeholder_uid(&query.pod),
            ),
            unavailable: BTreeSet::new(),
        };
        let mut seen = BTreeSet::new();
        for queried in query.claims.iter().filter(|queried| seen.insert(&queried.claim.key)) {
            let claim = Arc::clone(&queried.claim);
            match queried.allocation() {
                Some(allocation) => {
                    let why = readiness(snapshot, &claim, allocation, options);
                    filter.held.push((claim, why));
                }
                None => filter.pending.push(claim),
            }
        }
        filter
    }

    /// The claims to be allocated, each once, in the order of the pod.
    pub fn pending(&self) -> &[Arc<ResourceClaim>] {
        &self.pending
    }

    /// The devices that a node has for the pod.
    ///
    /// # Errors
    /// Why it has none.
    pub fn filter(&mut self, allocator: &mut Allocator, info: &NodeInfo) -> Result<NodeDevices, Refusal> {
        let served = self.served(info).map_err(object)?;
        let unavailable: Box<[_]> =
            self.held.iter().filter_map(|(claim, why)| why_unavailable(claim, *why, info)).collect();
        let devices = self.allocate(allocator, info, served)?;
        if !unavailable.is_empty() {
            self.unavailable.extend(unavailable.iter().map(|claim| claim.claim.clone()));
            return Err(object(DeviceRejection::ClaimsNotAvailable { claims: unavailable }));
        }
        Ok(devices)
    }

    /// Which extended resources of the pod the node serves by DRA.
    ///
    /// # Errors
    /// See [`ExtendedResources::served_on`](super::extended_resources::ExtendedResources::served_on).
    pub fn served(&self, info: &NodeInfo) -> Result<ServedByDra, DeviceRejection> {
        let extended = self.query.extended.as_ref();
        extended.map_or(Ok(ServedByDra::default()), |extended| extended.served_on(&info.node))
    }

    /// The kind of a node that serves just these resources by DRA: nodes of one kind answer alike.
    pub fn node_kind(
        &mut self,
        allocator: &mut Allocator,
        info: &NodeInfo,
        served: ServedByDra,
    ) -> Option<NodeKind> {
        let extended = self.node_claim(served);
        let claims = self.to_allocate(extended.as_deref());
        allocator.node_kind(self.snapshot, &info.node, &claims)
    }

    /// Why the claims cannot be met on a node that serves just these resources by DRA.
    pub fn funnel(
        &mut self,
        allocator: &mut Allocator,
        info: &NodeInfo,
        served: ServedByDra,
    ) -> Vec<RequestFunnel> {
        let extended = self.node_claim(served);
        let claims = self.to_allocate(extended.as_deref());
        allocator.funnel(self.snapshot, &info.node, &claims)
    }

    fn allocate(
        &mut self,
        allocator: &mut Allocator,
        info: &NodeInfo,
        served: ServedByDra,
    ) -> Result<NodeDevices, Refusal> {
        let extended = self.node_claim(served);
        let claims = self.to_allocate(extended.as_deref());
        if claims.is_empty() {
            return Ok(NodeDevices { preference: 0, extended });
        }
        // Only alternatives make it matter which devices they are, and these are many nodes.
        let preference = if self.pending.iter().any(|claim| has_alternatives(&claim.spec)) {
            let chosen = allocator.allocate(self.snapshot, &info.node, &claims).result;
            chosen.map(|chosen| chosen.map(|chosen| self.preference(&chosen))).map_err(Box::new)
        } else {
            allocator.fits(self.snapshot, &info.node, &claims).map(|fits| fits.then_some(0))
        };
        let error = match preference {
            Ok(Some(preference)) => return Ok(NodeDevices { preference, extended }),
            Ok(None) => return Err(object(DeviceRejection::CannotAllocate)),
            Err(error) => error,
        };
        Err(match *error {
            AllocateError::Node(NodeError::InvalidPools) => object(DeviceRejection::InvalidPools),
            AllocateError::Node(ref unusable @ NodeError::UnusablePool(_)) => {
                object(DeviceRejection::UnusablePool { error: Name::from(unusable.to_string()) })
            }
            _ => Refusal::Attempt(error),
        })
    }

    /// Which devices a node has that [`filter`](Self::filter) has let pass.
    pub fn choose(&self, allocator: &mut Allocator, info: &NodeInfo, devices: &NodeDevices) -> ChosenDevices {
        let extended = devices.extended.clone();
        let claims = self.to_allocate(extended.as_deref());
        let allocations = if claims.is_empty() {
            None
        } else {
            allocator.allocate(self.snapshot, &info.node, &claims).result.ok().flatten()
        };
        ChosenDevices { allocations: allocations.unwrap_or_default(), extended }
    }

    /// The claim for extended resources on nodes that serve just these by DRA.
    fn node_claim(&mut self, served: ServedByDra) -> Option<Arc<NodeClaim>> {
        let extended = self.query.extended.as_ref().filter(|_| served.contains(&true))?;
        let pod = &self.query.pod;
        let claim =
            self.node_claims.entry(served).or_insert_with_key(|served| Arc::new(extended.claim(pod, served)));
        Some(Arc::clone(claim))
    }

    fn to_allocate<'c>(&'c self, extended: Option<&'c NodeClaim>) -> Vec<ClaimToAllocate<'c>> {
        let pending = self.pending.iter().map(|claim| ClaimToAllocate {
            key: &claim.key,
            uid: &claim.uid,
            spec: &claim.spec,
        });
        let (key, uid) = &self.placeholder;
        pending.chain(extended.map(|claim| ClaimToAllocate { key, uid, spec: &claim.spec })).collect()
    }

    /// What can be done for a pod that no node takes: free a claim that keeps it away from nodes and
    /// that nobody else uses, the first in the order of the pod; or else delete a left-over claim.
    pub fn post_filter(&self) -> Option<PostFilter> {
        let pod = &self.query.pod.uid;
        let freeable = |claim: &&Arc<ResourceClaim>| {
            self.unavailable.contains(&claim.key) && claim.reserved_for.iter().all(|user| user.uid == *pod)
        };
        let deallocate = self.held.iter().map(|(claim, _)| claim).find(freeable);
        let left_over = || self.query.extended.as_ref()?.left_over.as_ref();
        deallocate
            .map(|claim| PostFilter::Deallocate { claim: Arc::clone(claim) })
            .or_else(|| left_over().map(|claim| PostFilter::DeleteExtendedClaim { claim: Arc::clone(claim) }))
    }

    /// The raw score of a node: how early in the lists of alternatives its devices stand.
    pub fn score(&self, devices: &NodeDevices) -> i64 {
        let held =
            self.held.iter().filter_map(|(claim, _)| Some((&claim.spec, &**claim.allocation.as_ref()?)));
        held.map(|(spec, allocation)| preference(spec, allocation)).sum::<i64>() + devices.preference
    }

    fn preference(&self, chosen: &[Allocation]) -> i64 {
        self.pending.iter().zip(chosen).map(|(claim, allocation)| preference(&claim.spec, allocation)).sum()
    }
}

fn has_alternatives(spec: &ClaimSpec) -> bool {
    spec.requests.iter().any(|request| matches!(request.kind, RequestKind::FirstAvailable(_)))
}

/// The sum over requests with alternatives: 8 for the first one, 7 for the second, and so on.
fn preference(spec: &ClaimSpec, allocation: &Allocation) -> i64 {
    let mut sum = 0;
    for request in &spec.requests {
        let RequestKind::FirstAvailable(subrequests) = &request.kind else { continue };
        let given = |name: &str| {
            let results = allocation.results.iter();
            results.filter_map(|result| subrequest(&result.request, &request.name)).any(|given| given == name)
        };
        let chosen =
            (0..FIRST_AVAILABLE_MAX).zip(subrequests).find(|(_, subrequest)| given(&subrequest.name));
        sum += chosen.map_or(0, |(index, _)| FIRST_AVAILABLE_MAX - index);
    }
    sum
}

/// The alternative that `result` names as `request/subrequest`.
fn subrequest<'r>(result: &'r str, request: &str) -> Option<&'r str> {
    result.strip_prefix(request)?.strip_prefix('/')
}

/// Why an allocated claim cannot be used from a node.
fn why_unavailable(
    claim: &ResourceClaim,
    not_ready: Option<Unavailability>,
    info: &NodeInfo,
) -> Option<UnavailableClaim> {
    let allocation = claim.allocation.as_ref()?;
    let node = &info.node;
    // The selector was checked when the claim was looked up; one that fails still matches nothing.
    let in_reach = allocation
        .node_selector
        .as_ref()
        .is_none_or(|selector| selector.matches_strictly(&node.name, &node.labels).unwrap_or(false));
    let skips = allocation.results.iter().any(|result| !result.skip_node_operations.is_empty());
    let declared = || node.declared_features.iter().any(|feature| feature == OPTIONAL_NODE_OPERATIONS);
    let why = if !in_reach {
        Some(Unavailability::OutOfReach)
    } else if skips && !declared() {
        Some(Unavailability::KubeletTooOld)
    } else {
        not_ready
    };
    why.map(|why| UnavailableClaim { claim: claim.key.clone(), why })
}

/// Whether the devices of an allocated claim failed to be made ready (KEP-5007). Devices that are
/// still being prepared, in time, are no obstacle: the pod waits for them before it is bound.
fn readiness(
    snapshot: &Snapshot,
    claim: &ResourceClaim,
    allocation: &Allocation,
    options: &Options,
) -> Option<Unavailability> {
    if !snapshot.features().binding_conditions() {
        return None;
    }
    match binding_state(claim, allocation) {
        BindingState::Ready => None,
        BindingState::Failed => Some(Unavailability::BindingFailed),
        BindingState::Pending => timed_out(allocation, options).then_some(Unavailability::BindingTimedOut),
    }
}

/// How far the devices of a claim are with their binding conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindingState {
    /// All conditions are true, or there are none.
    Ready,
    /// Some are not yet.
    Pending,
    /// A failure condition is true.
    Failed,
}

/// How far the devices of an allocated claim are with their binding conditions. The first device
/// that is not ready decides.
pub fn binding_state(claim: &ResourceClaim, allocation: &Allocation) -> BindingState {
    for result in &allocation.results {
        let Some(conditions) = result.binding_conditions.as_deref().filter(|list| !list.is_empty()) else {
            continue;
        };
        let same_device = claim.devices.iter().filter(|status| status.device == result.device);
        let same_share = same_device.clone().find(|status| status.share_id == result.share_id);
        let Some(status) = same_share.or_else(|| same_device.clone().next()) else {
            return BindingState::Pending;
        };
        let is_true = |condition| status.true_conditions.contains(condition);
        if result.binding_failure_conditions.iter().flatten().any(is_true) {
            return BindingState::Failed;
        }
        if !conditions.iter().all(is_true) {
            return BindingState::Pending;
        }
    }
    BindingState::Ready
}

/// Whether binding conditions took too long. Without a timestamp nothing is running out.
fn timed_out(allocation: &Allocation, options: &Options) -> bool {
    let Some(Timestamp(start)) = allocation.timestamp else { return false };
    let waits = allocation
        .results
        .iter()
        .any(|result| result.binding_conditions.as_ref().is_some_and(|list| !list.is_empty()));
    let timeout = i64::try_from(options.binding_timeout.as_nanos()).unwrap_or(i64::MAX);
    waits && start.saturating_add(timeout) < options.now.0
}
