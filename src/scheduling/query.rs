//! What a pod asks, fully resolved against one snapshot. Fails here if it cannot be.

use std::sync::Arc;

use crate::model::pod::{ClaimSource, PodClaimStatus};
use crate::model::{
    Allocation, ClaimKey, ClassName, DeviceRequest, FeatureGate, HostPort, Name, NodeSelectorTerm, Pod,
    PodClaim, RESERVED_FOR_MAX, RequestKind, ResourceAmounts, ResourceClaim, Snapshot,
};

use super::options::Options;
use super::plugins::extended_resources::ExtendedResources;
use super::plugins::{NodeSet, node_affinity, scheduling_gates};
use super::query_error::QueryError;

/// What a pod asks.
#[derive(Clone, Debug)]
pub struct PodQuery {
    /// The pod.
    pub pod: Arc<Pod>,
    /// What it requests of its node.
    pub requests: ResourceAmounts,
    /// The same as scores count it.
    pub scored_requests: ResourceAmounts,
    /// The ports of the node that it needs.
    pub host_ports: Box<[HostPort]>,
    /// The nodes that its affinity names, if it names them.
    pub node_set: NodeSet,
    /// Its claims in the order of `spec.resourceClaims`.
    pub claims: Box<[QueriedClaim]>,
    /// Its extended resources, if device classes serve any of them.
    pub extended: Option<ExtendedResources>,
}

/// A claim of the pod.
#[derive(Clone, Debug)]
pub struct QueriedClaim {
    /// The name in `spec.resourceClaims`.
    pub pod_claim: Name,
    /// The claim.
    pub claim: Arc<ResourceClaim>,
}

impl QueriedClaim {
    /// The allocation that binds the pod, if the claim has one; else devices are to be chosen.
    pub fn allocation(&self) -> Option<&Arc<Allocation>> {
        self.claim.allocation.as_ref()
    }
}

impl PodQuery {
    /// Looks up everything that the pod names.
    ///
    /// # Errors
    /// The first reason, in upstream's order, why no node can be tried.
    pub fn new(snapshot: &Snapshot, pod: &Arc<Pod>, options: &Options) -> Result<Self, QueryError> {
        scheduling_gates::pre_enqueue(pod)?;
        let claims = resolve_claims(snapshot, pod, options)?;
        if !pod.unserved.is_empty() {
            return Err(QueryError::Unserved { features: pod.unserved.clone() });
        }
        let node_set = node_affinity::pre_filter(pod)?;
        for queried in &claims {
            check_claim(snapshot, pod, &queried.claim, options)?;
        }
        let requests = pod.requests();
        let extended = ExtendedResources::new(snapshot, pod, &requests);
        Ok(Self {
            requests,
            scored_requests: pod.scored_requests(),
            host_ports: pod.host_ports().cloned().collect(),
            node_set,
            claims,
            extended,
            pod: Arc::clone(pod),
        })
    }

    /// Whether a device class serves the resource on a node that does not offer it, so that
    /// `NodeResourcesFit` leaves it to `DynamicResources`.
    pub fn is_served_by_class(&self, resource: &str) -> bool {
        self.extended.as_ref().is_some_and(|extended| extended.serves(resource))
    }
}

fn resolve_claims(
    snapshot: &Snapshot,
    pod: &Pod,
    options: &Options,
) -> Result<Box<[QueriedClaim]>, QueryError> {
    let resolve = |entry: &PodClaim| resolve_claim(snapshot, pod, entry, options).transpose();
    pod.claims.iter().filter_map(resolve).collect()
}

/// The claim of one entry of `spec.resourceClaims`; `None` if no claim was needed.
fn resolve_claim(
    snapshot: &Snapshot,
    pod: &Pod,
    entry: &PodClaim,
    options: &Options,
) -> Result<Option<QueriedClaim>, QueryError> {
    let key = |name: &Name| ClaimKey::new(pod.key.namespace.clone(), name.clone());
    let pod_claim = || entry.name.clone();
    let name = match &entry.source {
        ClaimSource::Claim(name) => name,
        ClaimSource::Template(template) => {
            match pod.claim_statuses.iter().find(|status| status.name == entry.name) {
                Some(PodClaimStatus { claim: Some(name), .. }) => name,
                Some(_) => return Ok(None),
                None => {
                    let template = key(template);
                    let absence = options.absences.templates.get(&template).copied();
                    return Err(QueryError::ClaimNotCreated { pod_claim: pod_claim(), template, absence });
                }
            }
        }
        ClaimSource::Unknown => return Err(QueryError::NoClaimSource { pod_claim: pod_claim() }),
    };
    let key = key(name);
    let Some(claim) = snapshot.claims().get(&key) else {
        let absence = options.absences.claims.get(&key).copied();
        return Err(QueryError::ClaimNotFound { pod_claim: pod_claim(), claim: key, absence });
    };
    if claim.deleting {
        return Err(QueryError::ClaimDeleting { claim: key });
    }
    let generated = matches!(entry.source, ClaimSource::Template(_));
    if generated && claim.controller.as_ref().is_none_or(|owner| owner.uid != pod.uid) {
        return Err(QueryError::NotOwner { claim: key, owner: claim.controller.clone() });
    }
    Ok(Some(QueriedClaim { pod_claim: pod_claim(), claim: Arc::clone(claim) }))
}

/// Whether the claim can be used, or allocated, at all.
fn check_claim(
    snapshot: &Snapshot,
    pod: &Pod,
    claim: &ResourceClaim,
    options: &Options,
) -> Result<(), QueryError> {
    let key = || claim.key.clone();
    if snapshot.is_in_flight(&claim.uid) {
        return Err(QueryError::ClaimInFlight { claim: key() });
    }
    let Some(allocation) = &claim.allocation else {
        return claim
            .spec
            .requests
            .iter()
            .try_for_each(|request| check_request(snapshot, claim, request, options));
    };
    let users = claim.reserved_for.len();
    if users >= RESERVED_FOR_MAX && !claim.is_reserved_for(&pod.uid) {
        return Err(QueryError::ClaimInUse { claim: key(), users });
    }
    let terms = allocation.node_selector.iter().flat_map(|selector| selector.terms.iter());
    terms
        .filter(|term| !term.is_empty())
        .try_for_each(NodeSelectorTerm::check)
        .map_err(|error| QueryError::BadNodeSelector { claim: key(), error })
}

fn check_request(
    snapshot: &Snapshot,
    claim: &ResourceClaim,
    request: &DeviceRequest,
    options: &Options,
) -> Result<(), QueryError> {
    let key = || claim.key.clone();
    let check_class = |name: Name, class: &ClassName| {
        if class.as_str().is_empty() {
            return Err(QueryError::NoClassName { claim: key(), request: name });
        }
        if snapshot.classes().contains_key(class) {
            return Ok(());
        }
        let absence = options.absences.classes.get(class).copied();
        Err(QueryError::ClassNotFound { claim: key(), request: name, class: class.clone(), absence })
    };
    match &request.kind {
        RequestKind::Exactly(requirement) => check_class(request.name.clone(), &requirement.class),
        RequestKind::FirstAvailable(_) if !snapshot.features().has(FeatureGate::DRAPrioritizedList) => {
            Err(QueryError::PrioritizedListDisabled { claim: key(), request: request.name.clone() })
        }
        RequestKind::FirstAvailable(subrequests) => subrequests.iter().try_for_each(|subrequest| {
            let name = Name::from(format!("{}/{}", request.name, subrequest.name));
            check_class(name, &subrequest.requirement.class)
        }),
        RequestKind::Unknown => {
            Err(QueryError::UnknownRequestType { claim: key(), request: request.name.clone() })
        }
    }
}
