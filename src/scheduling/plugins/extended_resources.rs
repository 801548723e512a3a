//! Extended resources that device classes serve instead of a device plugin (KEP-5004): which ones,
//! and the claim that stands for them on a node.
//!
//! Per node and resource it is all or nothing: a node whose device plugin offers a resource never
//! serves it by DRA, so the claim differs between nodes and is built for each kind of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::resources::is_extended;
use crate::model::{
    AllocationMode, ClaimKey, ClaimSpec, ClassName, Container, DeviceClass, DeviceRequest, DeviceRequirement,
    FeatureGate, Name, Node, Pod, RequestKind, ResourceAmounts, ResourceClaim, Snapshot, Uid,
};
use crate::scheduling::decision::RequestMapping;
use crate::scheduling::rejection::DeviceRejection;

/// Every class *c* serves the extended resource of this prefix and *c*.
pub const IMPLICIT_PREFIX: &str = "deviceclass.resource.kubernetes.io/";

/// Name of the claim before the API server has it. No valid object can have it.
pub const PLACEHOLDER: &str = "<extended-resources>";

/// What the name of a claim for extended resources is generated from: at most this many bytes.
const GENERATE_NAME_MAX: usize = 58;

/// The extended resources that a pod requests, at least one of which a class serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtendedResources {
    /// Resources with a non-zero request, by name, with the class that serves them, if any.
    pub requested: Box<[(Name, Option<ClassName>)]>,
    /// The claim of an earlier attempt, if one is left over.
    pub left_over: Option<Arc<ResourceClaim>>,
}

/// Which of [`ExtendedResources::requested`] a node serves by DRA, in that order.
pub type ServedByDra = Box<[bool]>;

/// The claim for one kind of node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeClaim {
    /// What it asks.
    pub spec: Arc<ClaimSpec>,
    /// Which request serves which container's resource.
    pub mappings: Box<[RequestMapping]>,
}

impl ExtendedResources {
    /// The extended resources of a pod; `None` if no class serves any of them.
    pub fn new(snapshot: &Snapshot, pod: &Pod, requests: &ResourceAmounts) -> Option<Self> {
        let names = || requests.scalar.iter().filter(|(name, amount)| **amount != 0 && may_be_served(name));
        if !snapshot.features().has(FeatureGate::DRAExtendedResource) || names().next().is_none() {
            return None;
        }
        let classes = Classes::new(snapshot);
        let requested: Box<[_]> = names().map(|(name, _)| (name.clone(), classes.serving(name))).collect();
        requested
            .iter()
            .any(|(_, class)| class.is_some())
            .then(|| Self { requested, left_over: left_over_claim(snapshot, pod) })
    }

    /// Whether a class serves the resource, on nodes that do not offer it themselves.
    pub fn serves(&self, resource: &str) -> bool {
        self.requested.iter().any(|(name, class)| &**name == resource && class.is_some())
    }

    /// Which of the resources a node serves by DRA.
    ///
    /// # Errors
    /// A claim is left over, or the node lacks a resource that no class serves.
    pub fn served_on(&self, node: &Node) -> Result<ServedByDra, DeviceRejection> {
        if let Some(claim) = &self.left_over {
            return Err(DeviceRejection::LeftOverExtendedClaim { claim: claim.key.clone() });
        }
        let served = |(resource, class): &(Name, Option<ClassName>)| {
            let offered = node.allocatable.scalar.get(resource).copied();
            match (class, offered) {
                (Some(_), None | Some(0)) => Ok(true),
                (None, None) => Err(DeviceRejection::ResourceNotOffered { resource: resource.clone() }),
                _ => Ok(false),
            }
        };
        self.requested.iter().map(served).collect()
    }

    /// The claim for nodes that serve just these resources by DRA.
    pub fn claim(&self, pod: &Pod, served: &[bool]) -> NodeClaim {
        let containers: Vec<_> = pod.init_containers.iter().chain(&pod.containers).collect();
        let mut requests = Vec::new();
        let mut mappings = Vec::new();
        for ((resource, class), served) in self.requested.iter().zip(served) {
            if let (Some(class), true) = (class, served) {
                let shared = ResourceRequests::new(resource, &containers, pod.init_containers.len());
                mappings.extend(shared.mappings);
                requests.extend(shared.requests.into_iter().map(|request| request.for_class(class)));
            }
        }
        requests.sort_by(|a: &DeviceRequest, b| a.name.cmp(&b.name));
        let spec = ClaimSpec { requests: requests.into(), ..ClaimSpec::default() };
        NodeClaim { spec: Arc::new(spec), mappings: mappings.into() }
    }
}

/// `metadata.generateName` of the claim for a pod's extended resources.
pub fn generate_name(pod: &Pod) -> Name {
    Name::from(format!("{}-extended-resources-", pod.key.name))
}

/// Stands in for the key of the claim for a pod's extended resources, one per pod.
pub fn placeholder_key(pod: &Pod) -> ClaimKey {
    ClaimKey::new(pod.key.namespace.clone(), format!("{PLACEHOLDER}/{}", pod.key.name))
}

/// Stands in for the identity of the claim for a pod's extended resources, one per pod.
pub fn placeholder_uid(pod: &Pod) -> Uid {
    Uid::from(format!("{PLACEHOLDER}/{}", pod.uid))
}

/// Whether a class could serve a resource of that name.
fn may_be_served(name: &str) -> bool {
    is_extended(name) || name.starts_with(IMPLICIT_PREFIX)
}

/// Which class serves which extended resource.
struct Classes<'a> {
    snapshot: &'a Snapshot,
    explicit: BTreeMap<&'a Name, &'a DeviceClass>,
}

impl<'a> Classes<'a> {
    fn new(snapshot: &'a Snapshot) -> Self {
        let mut explicit: BTreeMap<&Name, &DeviceClass> = BTreeMap::new();
        for class in snapshot.classes().values() {
            let Some(name) = &class.extended_resource_name else { continue };
            // Of several classes the newest serves the name; of equally old ones the first by name.
            let newer = explicit.get(name).is_none_or(|other| class.created > other.created);
            if newer {
                explicit.insert(name, class);
            }
        }
        Self { snapshot, explicit }
    }

    fn serving(&self, resource: &Name) -> Option<ClassName> {
        if let Some(class) = self.explicit.get(resource) {
            return Some(class.name.clone());
        }
        let class = resource.strip_prefix(IMPLICIT_PREFIX)?;
        self.snapshot.classes().get(class).map(|class| class.name.clone())
    }
}

/// The claim that an earlier attempt made for the pod. Its name begins as the API server generates
/// names, so that not all claims need to be looked through.
fn left_over_claim(snapshot: &Snapshot, pod: &Pod) -> Option<Arc<ResourceClaim>> {
    let belongs = |claim: &&Arc<ResourceClaim>| {
        claim.for_extended_resources
            && claim
                .controller
                .as_ref()
                .is_some_and(|owner| owner.name == pod.key.name && owner.uid == pod.uid)
    };
    let recorded = pod.extended_resource_claim.as_ref().and_then(|name| {
        snapshot.claims().get(&ClaimKey::new(pod.key.namespace.clone(), name.clone())).filter(belongs)
    });
    let generate_name = generate_name(pod);
    let prefix = generate_name.get(..GENERATE_NAME_MAX).unwrap_or(&generate_name);
    let start = ClaimKey::new(pod.key.namespace.clone(), prefix);
    let generated = || {
        snapshot
            .claims()
            .range(start.clone()..)
            .take_while(|(key, _)| key.namespace == start.namespace && key.name.starts_with(prefix))
            .map(|(_, claim)| claim)
            .find(belongs)
    };
    recorded.or_else(generated).cloned()
}

/// One request of the claim, before it is written as one.
#[derive(Clone)]
struct CountRequest {
    name: Name,
    count: i64,
}

impl CountRequest {
    fn for_class(self, class: &ClassName) -> DeviceRequest {
        let requirement = DeviceRequirement::of_class(class.clone(), AllocationMode::ExactCount(self.count));
        DeviceRequest { name: self.name, kind: RequestKind::Exactly(requirement) }
    }
}

/// The requests for one resource, and who uses them.
struct ResourceRequests {
    requests: Vec<CountRequest>,
    mappings: Vec<RequestMapping>,
}

impl ResourceRequests {
    /// Containers that live on (sidecars among them) get devices of their own. An init container
    /// that ends uses those of containers after it, and only the largest lack of any of them is
    /// requested beside.
    fn new(resource: &Name, containers: &[&Container], init: usize) -> Self {
        let ends = |index: usize| index < init && !containers[index].restarts_always;
        let mut mappings = Vec::new();
        let lasting: Vec<Option<CountRequest>> = (0..containers.len())
            .map(|index| {
                (!ends(index))
                    .then(|| container_request(index, containers[index], resource, &[], &mut mappings))
                    .flatten()
            })
            .collect();
        let mut ending = Vec::new();
        let mut lacks = Vec::new();
        for index in (0..init).filter(|index| ends(*index)) {
            let reusable = &lasting[index..];
            lacks.extend(container_request(index, containers[index], resource, reusable, &mut ending));
        }
        // The first of the largest: `max_by_key` would take the last.
        let largest = lacks.iter().rev().max_by_key(|request| request.count).cloned();
        if let Some(largest) = &largest {
            for mapping in &mut ending {
                if lacks.iter().any(|request| request.name == mapping.request) {
                    mapping.request = largest.name.clone();
                }
            }
        }
        mappings.append(&mut ending);
        Self { requests: largest.into_iter().chain(lasting.into_iter().flatten()).collect(), mappings }
    }
}

/// The request that a container needs beside those that it can use again; maps it to all of them.
fn container_request(
    index: usize,
    container: &Container,
    resource: &Name,
    reusable: &[Option<CountRequest>],
    mappings: &mut Vec<RequestMapping>,
) -> Option<CountRequest> {
    let position = container.requests.iter().position(|(name, _)| name == resource)?;
    let quantity = &container.requests[position].1;
    let wanted = quantity.value();
    // Amounts that are no whole number are left out, as upstream does; validation refuses them.
    if wanted <= 0 || quantity.milli_value() % 1000 != 0 {
        return None;
    }
    let mut map_to = |request: &Name| {
        mappings.push(RequestMapping {
            container: container.name.clone(),
            resource: resource.clone(),
            request: request.clone(),
        });
    };
    let mut found = 0i64;
    for request in reusable.iter().flatten() {
        found = found.saturating_add(request.count);
        map_to(&request.name);
        if found >= wanted {
            return None;
        }
    }
    let name = Name::from(format!("container-{index}-request-{position}"));
    map_to(&name);
    Some(CountRequest { name, count: wanted - found })
}
