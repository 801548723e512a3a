//! `Pod`, and the pods that a template makes.

use super::{Interner, Result, boolean, int, labels, name, optional_name, resources};
use super::{resize, selector, text, timestamp, tolerations, uid};
use crate::k8s::field::Field;
use crate::k8s::tree::Node as Tree;
use crate::model::pod::{ClaimSource, PodClaimStatus, PreferredTerm, UnservedFeature};
use crate::model::resources::{CPU, MEMORY, ResourceList};
use crate::model::{Container, HostPort, Name, NodeName, Pod, PodClaim, PodKey, PodPhase};

/// Volumes whose place is decided by the volume plugins.
const PLACED_VOLUMES: [&str; 6] =
    ["persistentVolumeClaim", "ephemeral", "gcePersistentDisk", "awsElasticBlockStore", "iscsi", "rbd"];

/// A `Pod` of `v1`.
///
/// # Errors
/// A field of a type that the API does not have there.
pub fn pod(object: &Tree, interner: &mut Interner) -> Result<Pod> {
    let object = Field::root(object);
    let metadata = object.child("metadata");
    let status = object.child("status");
    let claims = status.child("resourceClaimStatuses");
    let claim_statuses = claims.items().map(|item| {
        let claim = text(&item.child("resourceClaimName"))?.map(Name::from);
        Ok(PodClaimStatus { name: name(&item.child("name"), interner)?, claim })
    });
    let claim_statuses = claim_statuses.collect::<Result<_>>()?;
    let extended = status.child("extendedResourceClaimStatus");
    let mut pod = Pod {
        key: PodKey {
            namespace: name(&metadata.child("namespace"), interner)?,
            name: Name::from(text(&metadata.child("name"))?.unwrap_or_default()),
        },
        uid: uid(&metadata.child("uid"))?,
        resource_version: Name::from(text(&metadata.child("resourceVersion"))?.unwrap_or_default()),
        created: timestamp(&metadata.child("creationTimestamp"))?,
        deleting: metadata.child("deletionTimestamp").is_set(),
        nominated_node_name: optional_name(&status.child("nominatedNodeName"), interner)?.map(NodeName),
        phase: match text(&status.child("phase"))?.unwrap_or_default() {
            "Running" => PodPhase::Running,
            "Succeeded" | "Failed" => PodPhase::Ended,
            _ => PodPhase::Pending,
        },
        claim_statuses,
        extended_resource_claim: text(&extended.child("resourceClaimName"))?.map(Name::from),
        ..pod_template(&object, interner)?
    };
    resize::report(&mut pod, &status, interner)?;
    Ok(pod)
}

/// What a pod of this template would be: `metadata.labels` and `spec`, without name and status.
///
/// # Errors
/// A field of a type that the API does not have there.
pub fn pod_template(template: &Field<'_, '_>, interner: &mut Interner) -> Result<Pod> {
    let spec = template.child("spec");
    let host_network = boolean(&spec.child("hostNetwork"))?.unwrap_or(false);
    let mut containers = |field: &Field<'_, '_>| -> Result<Box<[Container]>> {
        field.items().map(|item| container(&item, host_network, interner)).collect()
    };
    let init_containers = containers(&spec.child("initContainers"))?;
    let containers = containers(&spec.child("containers"))?;
    let gates = spec.child("schedulingGates");
    let scheduler = text(&spec.child("schedulerName"))?.filter(|name| !name.is_empty());
    let affinity = spec.child("affinity");
    let node_affinity = affinity.child("nodeAffinity");
    let required = node_affinity.child("requiredDuringSchedulingIgnoredDuringExecution");
    let node_name = optional_name(&spec.child("nodeName"), interner)?.filter(|name| !name.is_empty());
    Ok(Pod {
        labels: labels(&template.child("metadata").child("labels"), interner)?,
        scheduler_name: interner.name(scheduler.unwrap_or("default-scheduler")),
        priority: int32(&spec.child("priority"))?,
        node_name: node_name.map(NodeName),
        scheduling_gates: gates
            .items()
            .map(|item| name(&item.child("name"), interner))
            .collect::<Result<_>>()?,
        node_selector: labels(&spec.child("nodeSelector"), interner)?,
        required_affinity: selector::node_selector(&required, interner)?,
        preferred_affinity: preferred(&node_affinity, interner)?,
        host_network,
        tolerations: tolerations(&spec.child("tolerations"), interner)?,
        overhead: resources(&spec.child("overhead"), interner)?,
        pod_requests: pod_requests(&spec.child("resources"), &[&containers, &init_containers], interner)?,
        containers,
        init_containers,
        claims: claims(&spec.child("resourceClaims"), interner)?,
        unserved: unserved(&spec, interner)?,
        ..Pod::default()
    })
}

fn int32(field: &Field<'_, '_>) -> Result<i32> {
    match i32::try_from(int(field)?.unwrap_or(0)) {
        Ok(number) => Ok(number),
        Err(_) => super::wrong(field, "a 32-bit integer"),
    }
}

fn container(field: &Field<'_, '_>, host_network: bool, interner: &mut Interner) -> Result<Container> {
    let resources = field.child("resources");
    let claims = resources.child("claims");
    let ports = field.child("ports");
    let mut host_ports = Vec::new();
    for port in ports.items() {
        let mut number = int32(&port.child("hostPort"))?;
        if number == 0 && host_network {
            number = int32(&port.child("containerPort"))?;
        }
        if number > 0 {
            let protocol = text(&port.child("protocol"))?.filter(|protocol| !protocol.is_empty());
            let ip = text(&port.child("hostIP"))?.filter(|ip| !ip.is_empty());
            host_ports.push(HostPort {
                ip: interner.name(ip.unwrap_or("0.0.0.0")),
                protocol: interner.name(protocol.unwrap_or("TCP")),
                port: number,
            });
        }
    }
    Ok(Container {
        name: name(&field.child("name"), interner)?,
        restarts_always: text(&field.child("restartPolicy"))? == Some("Always"),
        requests: requests(&resources, interner)?,
        host_ports: host_ports.into(),
        claims: claims.items().map(|item| name(&item.child("name"), interner)).collect::<Result<_>>()?,
        ..Container::default()
    })
}

/// `requests`, and `limits` where a request is absent, as an API server completes them.
fn requests(field: &Field<'_, '_>, interner: &mut Interner) -> Result<ResourceList> {
    let mut list = resources(&field.child("requests"), interner)?.into_vec();
    for limit in resources(&field.child("limits"), interner)? {
        if list.iter().all(|(name, _)| *name != limit.0) {
            list.push(limit);
        }
    }
    list.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(list.into())
}

/// Requests of the pod as a whole (KEP-2837). Of a limit without a request comes the request,
/// unless containers ask for that resource themselves.
fn pod_requests(
    field: &Field<'_, '_>,
    containers: &[&[Container]],
    interner: &mut Interner,
) -> Result<Option<ResourceList>> {
    if !field.is_set() {
        return Ok(None);
    }
    let asked = |name: &Name| {
        let mut all = containers.iter().flat_map(|containers| containers.iter());
        all.any(|container| container.requests.iter().any(|(asked, _)| asked == name))
    };
    let mut list = resources(&field.child("requests"), interner)?.into_vec();
    for (name, limit) in resources(&field.child("limits"), interner)? {
        let is_huge = name.starts_with("hugepages-");
        if list.iter().all(|(other, _)| *other != name) && (is_huge || !asked(&name)) {
            list.push((name, limit));
        }
    }
    list.retain(|(name, _)| *name == CPU || *name == MEMORY || name.starts_with("hugepages-"));
    list.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(Some(list.into()))
}

fn preferred(node_affinity: &Field<'_, '_>, interner: &mut Interner) -> Result<Box<[PreferredTerm]>> {
    let preferred = node_affinity.child("preferredDuringSchedulingIgnoredDuringExecution");
    let term = |item: Field<'_, '_>| {
        let term = selector::node_selector_term(&item.child("preference"), interner)?;
        Ok(PreferredTerm { weight: int32(&item.child("weight"))?, term })
    };
    preferred.items().map(term).collect()
}

fn claims(field: &Field<'_, '_>, interner: &mut Interner) -> Result<Box<[PodClaim]>> {
    let claim = |item: Field<'_, '_>| {
        let claim = optional_name(&item.child("resourceClaimName"), interner)?;
        let template = optional_name(&item.child("resourceClaimTemplateName"), interner)?;
        let source = match (claim, template) {
            (Some(claim), _) => ClaimSource::Claim(claim),
            (None, Some(template)) => ClaimSource::Template(template),
            (None, None) => ClaimSource::Unknown,
        };
        Ok(PodClaim { name: name(&item.child("name"), interner)?, source })
    };
    field.items().map(claim).collect()
}

fn unserved(spec: &Field<'_, '_>, interner: &mut Interner) -> Result<Box<[UnservedFeature]>> {
    let mut unserved = Vec::new();
    for volume in spec.child("volumes").items() {
        if volume.entries().any(|(kind, source)| PLACED_VOLUMES.contains(&kind) && source.is_set()) {
            unserved.push(UnservedFeature::Volume(name(&volume.child("name"), interner)?));
        }
    }
    let affinity = spec.child("affinity");
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    if [affinity.child("podAffinity"), affinity.child("podAntiAffinity")]
        .iter()
        .any(|affinity| !affinity.child(required).is_empty())
    {
        unserved.push(UnservedFeature::PodAffinity);
    }
    let spread = spec.child("topologySpreadConstraints");
    if spread.items().any(|item| item.child("whenUnsatisfiable").str() == Some("DoNotSchedule")) {
        unserved.push(UnservedFeature::TopologySpread);
    }
    Ok(unserved.into())
}
