//! Small worlds to test in.

use std::sync::Arc;

use crate::model::pod::{ClaimSource, PodClaimStatus};
use crate::model::{
    Allocation, AllocationMode, ClaimKey, ClaimSpec, ConsumerReference, Container, Device, DeviceClass,
    DeviceContent, DeviceId, DeviceRequest, DeviceRequirement, DeviceResult, DeviceSelector, Features, Name,
    Node, NodeInfo, NodeName, OwnerReference, Placement, Pod, PodClaim, PodKey, PoolId, RequestKind,
    ResourceAmounts, ResourceClaim, ResourceSlice, Snapshot, Subrequest, Taint, TaintEffect, Uid,
};
use crate::scheduling::{Decision, Memo, Options, PodQuery, schedule};

/// The driver of all devices.
pub(crate) const DRIVER: &str = "gpu.example.com";
/// The class of all requests.
pub(crate) const CLASS: &str = "gpu.example.com";

/// A world with the class, and as many nodes, each with as many devices.
pub(crate) fn world(nodes: usize, devices: usize) -> Snapshot {
    let mut snapshot = Snapshot::new(Features::default());
    snapshot.set_class(class(CLASS));
    for index in 1..=nodes {
        let name = format!("n{index}");
        snapshot.set_node(node(&name));
        snapshot.set_slice(slice(&name, devices));
    }
    snapshot
}

/// An empty node.
pub(crate) fn node(name: &str) -> Node {
    Node {
        name: NodeName::from(name),
        labels: [(Name::from("kubernetes.io/hostname"), Name::from(name))].into_iter().collect(),
        allocatable: ResourceAmounts { milli_cpu: 8000, memory: 32 << 30, ..ResourceAmounts::default() },
        allocatable_pods: 110,
        ..Node::default()
    }
}

/// A node that nobody tolerates.
pub(crate) fn tainted_node(name: &str) -> Node {
    let taint = Taint {
        key: "dedicated".into(),
        value: "infra".into(),
        effect: TaintEffect::NoSchedule,
        time_added: None,
    };
    Node { taints: Box::new([taint]), ..node(name) }
}

/// A class for all devices of the driver.
pub(crate) fn class(name: &str) -> DeviceClass {
    class_of(name, DRIVER)
}

/// A class for all devices of a driver.
pub(crate) fn class_of(name: &str, driver: &str) -> DeviceClass {
    let expression = Some(Arc::from(format!("device.driver == \"{driver}\"")));
    DeviceClass { selectors: Box::new([DeviceSelector { expression }]), ..DeviceClass::new(name) }
}

/// The devices `gpu-0`, `gpu-1`, … of a node, in the pool of its name.
pub(crate) fn slice(node: &str, devices: usize) -> ResourceSlice {
    slice_of(DRIVER, node, devices)
}

/// The same of another driver.
pub(crate) fn slice_of(driver: &str, node: &str, devices: usize) -> ResourceSlice {
    let content = Arc::new(DeviceContent::default());
    let device = |index| Device::plain(format!("gpu-{index}"), Arc::clone(&content));
    ResourceSlice {
        placement: Placement { node_name: Some(node.into()), ..Placement::default() },
        devices: (0..devices).map(device).collect(),
        ..ResourceSlice::new(format!("{node}-{driver}"), PoolId::new(driver, node))
    }
}

/// A pod with a container, and claims as `(name in the pod, claim)`.
pub(crate) fn pod(name: &str, claims: &[(&str, &str)]) -> Pod {
    let claim = |(name, claim): &(&str, &str)| PodClaim {
        name: Name::from(*name),
        source: ClaimSource::Claim(Name::from(*claim)),
    };
    Pod {
        key: PodKey::new("default", name),
        uid: Uid::from(format!("uid-{name}")),
        containers: Box::new([Container { name: "main".into(), ..Container::default() }]),
        claims: claims.iter().map(claim).collect(),
        ..Pod::default()
    }
}

/// What became of a pod's template.
pub(crate) enum Made {
    /// Nothing yet.
    NotYet,
    /// No claim was needed.
    NotNeeded,
    /// This claim.
    Claim(&'static str),
}

/// The same with a claim from a template.
pub(crate) fn pod_of_template(name: &str, template: &str, made: &Made) -> Pod {
    let status = |claim| Some(PodClaimStatus { name: "g".into(), claim });
    let status = match made {
        Made::NotYet => None,
        Made::NotNeeded => status(None),
        Made::Claim(claim) => status(Some(Name::from(*claim))),
    };
    Pod {
        claims: Box::new([PodClaim { name: "g".into(), source: ClaimSource::Template(template.into()) }]),
        claim_statuses: status.into_iter().collect(),
        ..pod(name, &[])
    }
}

/// `exactly` so many devices of a class.
pub(crate) fn requirement(class: &str, count: i64) -> DeviceRequirement {
    DeviceRequirement::of_class(class, AllocationMode::ExactCount(count))
}

/// A request for so many devices.
pub(crate) fn exactly(name: &str, count: i64) -> DeviceRequest {
    DeviceRequest { name: name.into(), kind: RequestKind::Exactly(requirement(CLASS, count)) }
}

/// A request for one device of the first of these classes that has one.
pub(crate) fn first_available(name: &str, alternatives: &[(&str, &str)]) -> DeviceRequest {
    let subrequest = |(name, class): &(&str, &str)| Subrequest {
        name: Name::from(*name),
        requirement: requirement(class, 1),
    };
    let subrequests = alternatives.iter().map(subrequest).collect();
    DeviceRequest { name: name.into(), kind: RequestKind::FirstAvailable(subrequests) }
}

/// A claim that nobody has allocated.
pub(crate) fn claim(name: &str, requests: impl Into<Box<[DeviceRequest]>>) -> ResourceClaim {
    ResourceClaim {
        resource_version: "7".into(),
        ..ResourceClaim::new(
            ClaimKey::new("default", name),
            Uid::from(format!("uid-{name}")),
            Arc::new(ClaimSpec { requests: requests.into(), ..ClaimSpec::default() }),
        )
    }
}

/// The pod as the controller of a claim.
pub(crate) fn owner(pod: &Pod) -> OwnerReference {
    OwnerReference::pod(&pod.key, &pod.uid)
}

/// One device for a request, as an allocation says it.
pub(crate) fn result(request: &str, pool: &str, device: &str) -> DeviceResult {
    DeviceResult::plain(request, DeviceId::new(DRIVER, pool, device))
}

/// The claim with devices, in reach from where the selector says, and its users.
pub(crate) fn allocated(claim: ResourceClaim, allocation: Allocation, users: &[&str]) -> ResourceClaim {
    let user = |name: &&str| ConsumerReference {
        api_group: Name::default(),
        resource: "pods".into(),
        name: Name::from(*name),
        uid: Uid::from(format!("uid-{name}")),
    };
    ResourceClaim {
        has_finalizer: true,
        allocation: Some(Arc::new(allocation)),
        reserved_for: users.iter().map(user).collect(),
        ..claim
    }
}

/// One cycle with nothing remembered.
pub(crate) fn decide(snapshot: &Snapshot, pod: &Pod) -> Decision {
    decide_with(snapshot, pod, &Options::default())
}

/// One cycle with nothing remembered.
pub(crate) fn decide_with(snapshot: &Snapshot, pod: &Pod, options: &Options) -> Decision {
    schedule(snapshot, &Arc::new(pod.clone()), &mut Memo::new(snapshot.features()), options)
}

/// A node on which nothing runs.
pub(crate) fn info(node: Node) -> NodeInfo {
    NodeInfo::new(Arc::new(node))
}

/// What a pod asks that names no other objects.
pub(crate) fn query(pod: Pod) -> PodQuery {
    PodQuery::new(&Snapshot::default(), &Arc::new(pod), &Options::default()).expect("a query")
}
