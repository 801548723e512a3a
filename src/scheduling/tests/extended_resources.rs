use std::sync::Arc;

use super::world::{claim, class, decide, exactly, node, owner, pod, result, slice, world};
use crate::model::{
    AllocationMode, ClaimKey, Container, DeviceRequest, FeatureGate, Features, Name, Node, Pod, Quantity,
    RequestKind, ResourceAmounts, Snapshot, Timestamp,
};
use crate::scheduling::assume::{Commit, assume};
use crate::scheduling::commit_plan::{ClaimTarget, Step, Undo};
use crate::scheduling::decision::{Cause, PostFilter, RequestMapping};
use crate::scheduling::plugins::extended_resources::{ExtendedResources, NodeClaim};
use crate::scheduling::rejection::DeviceRejection;
use crate::scheduling::{CommitPlan, Decision, Rejection};

const GPU: &str = "example.com/gpu";

/// A class that serves `example.com/gpu`.
fn serving(name: &str, created: i64) -> crate::model::DeviceClass {
    let created = Some(Timestamp(created));
    crate::model::DeviceClass { created, extended_resource_name: Some(GPU.into()), ..class(name) }
}

fn served_world(nodes: usize, devices: usize) -> Snapshot {
    let mut snapshot = world(nodes, devices);
    snapshot.set_class(serving(super::world::CLASS, 0));
    snapshot
}

fn container(name: &str, requests: &[(&str, &str)]) -> Container {
    let request =
        |(name, amount): &(&str, &str)| (Name::from(*name), amount.parse::<Quantity>().expect("a quantity"));
    let mut requests: Vec<_> = requests.iter().map(request).collect();
    requests.sort_by(|a, b| a.0.cmp(&b.0));
    Container { name: name.into(), requests: requests.into(), ..Container::default() }
}

fn gpus(name: &str, count: &str) -> Container {
    container(name, &[(GPU, count)])
}

fn pod_with(init: &[Container], containers: &[Container]) -> Pod {
    Pod { init_containers: init.into(), containers: containers.into(), ..pod("p", &[]) }
}

fn extended(snapshot: &Snapshot, pod: &Pod) -> Option<ExtendedResources> {
    ExtendedResources::new(snapshot, pod, &pod.requests())
}

/// Requests with their counts.
type Counts = Vec<(String, i64)>;
/// Containers with the requests that serve them.
type Pairs = Vec<(String, String)>;

/// The claim on a node without device plugin: requests with counts, and mappings.
fn node_claim(pod: &Pod) -> (Counts, Pairs) {
    let extended = extended(&served_world(1, 1), pod).expect("a class serves it");
    let NodeClaim { spec, mappings } = extended.claim(pod, &[true]);
    let count = |request: &DeviceRequest| match &request.kind {
        RequestKind::Exactly(r) => match r.mode {
            AllocationMode::ExactCount(count) => (request.name.to_string(), count),
            _ => unreachable!(),
        },
        _ => unreachable!(),
    };
    let map = |mapping: &RequestMapping| (mapping.container.to_string(), mapping.request.to_string());
    (spec.requests.iter().map(count).collect(), mappings.iter().map(map).collect())
}

fn owned(pairs: &[(&str, &str)]) -> Pairs {
    pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

fn counts(pairs: &[(&str, i64)]) -> Counts {
    pairs.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
}

#[test]
fn a_request_is_named_by_container_and_place_among_its_requests() {
    let main = container("main", &[("memory", "1Gi"), (GPU, "2"), ("cpu", "1")]);
    let (requests, mappings) = node_claim(&pod_with(&[], &[container("first", &[("cpu", "1")]), main]));
    assert_eq!(requests, counts(&[("container-1-request-1", 2)]));
    assert_eq!(mappings, owned(&[("main", "container-1-request-1")]));
}

#[test]
fn an_init_container_uses_the_devices_of_those_after_it() {
    let (requests, mappings) = node_claim(&pod_with(&[gpus("init", "2")], &[gpus("main", "3")]));
    assert_eq!(requests, counts(&[("container-1-request-0", 3)]));
    assert_eq!(mappings, owned(&[("main", "container-1-request-0"), ("init", "container-1-request-0")]));
}

#[test]
fn only_the_largest_lack_of_an_init_container_is_requested_beside() {
    let init = [gpus("a", "5"), gpus("b", "6"), gpus("c", "6")];
    let (requests, mappings) = node_claim(&pod_with(&init, &[gpus("main", "3")]));
    assert_eq!(requests, counts(&[("container-1-request-0", 3), ("container-3-request-0", 3)]));
    let shared = "container-3-request-0";
    let beside = "container-1-request-0";
    assert_eq!(
        mappings,
        owned(&[
            ("main", shared),
            ("a", shared),
            ("a", beside),
            ("b", shared),
            ("b", beside),
            ("c", shared),
            ("c", beside)
        ])
    );
}

#[test]
fn a_sidecar_keeps_its_devices_and_lends_none_to_those_after_it() {
    let sidecar = Container { restarts_always: true, ..gpus("sidecar", "1") };
    let (requests, mappings) = node_claim(&pod_with(&[sidecar, gpus("init", "2")], &[gpus("main", "1")]));
    let expected = [("container-0-request-0", 1), ("container-1-request-0", 1), ("container-2-request-0", 1)];
    assert_eq!(requests, counts(&expected));
    let (of_main, of_init) = ("container-2-request-0", "container-1-request-0");
    let sidecar = ("sidecar", "container-0-request-0");
    assert_eq!(mappings, owned(&[sidecar, ("main", of_main), ("init", of_main), ("init", of_init)]));
}

#[test]
fn the_newest_class_serves_a_name_and_of_equals_the_first() {
    let pod = pod_with(&[], &[gpus("main", "1")]);
    let class_of = |classes: &[(&str, i64)]| {
        let mut snapshot = world(1, 1);
        for (name, created) in classes {
            snapshot.set_class(serving(name, *created));
        }
        extended(&snapshot, &pod).and_then(|extended| extended.requested[0].1.clone())
    };
    assert_eq!(class_of(&[("a", 1), ("b", 2), ("c", 1)]), Some("b".into()));
    assert_eq!(class_of(&[("b", 1), ("a", 1)]), Some("a".into()));
    assert_eq!(class_of(&[]), None, "nobody serves it");
}

#[test]
fn every_class_serves_its_implicit_name() {
    let name = "deviceclass.resource.kubernetes.io/gpu.example.com";
    let pod = pod_with(&[], &[container("main", &[(name, "1")])]);
    let extended = extended(&world(1, 1), &pod).expect("the class is there");
    assert_eq!(*extended.requested, [(Name::from(name), Some(super::world::CLASS.into()))]);
}

#[test]
fn nothing_is_served_with_the_gate_off_or_for_plain_resources() {
    let pod = pod_with(&[], &[gpus("main", "1")]);
    let mut off = Snapshot::new(Features::default().with(FeatureGate::DRAExtendedResource, false));
    off.set_class(serving("a", 0));
    assert_eq!(extended(&off, &pod), None);
    let plain = pod_with(&[], &[container("main", &[("cpu", "1"), ("hugepages-2Mi", "2Mi"), (GPU, "0")])]);
    assert_eq!(extended(&served_world(1, 1), &plain), None);
}

fn offering(name: &str, resources: &[(&str, i64)]) -> Node {
    let scalar = resources.iter().map(|(name, amount)| (Name::from(*name), *amount)).collect();
    let allocatable = ResourceAmounts { scalar, ..node(name).allocatable };
    Node { allocatable, ..node(name) }
}

#[test]
fn a_node_serves_a_resource_by_plugin_or_by_dra_never_by_both() {
    let pod = pod_with(&[], &[container("main", &[(GPU, "1"), ("example.com/nic", "1")])]);
    let extended = extended(&served_world(1, 1), &pod).expect("a class serves one");
    let served = |resources: &[(&str, i64)]| extended.served_on(&offering("n", resources));
    assert_eq!(served(&[("example.com/nic", 1)]), Ok(Box::from([true, false])));
    assert_eq!(served(&[("example.com/nic", 1), (GPU, 0)]), Ok(Box::from([true, false])));
    assert_eq!(served(&[("example.com/nic", 1), (GPU, 4)]), Ok(Box::from([false, false])));
    let lacks = DeviceRejection::ResourceNotOffered { resource: "example.com/nic".into() };
    assert_eq!(served(&[(GPU, 4)]), Err(lacks));
}

#[test]
fn the_claim_is_made_allocated_and_recorded_before_the_pod_is_bound() {
    let snapshot = served_world(1, 2);
    let pod = pod_with(&[], &[gpus("main", "1")]);
    let Decision::Placed(placement) = decide(&snapshot, &pod) else { unreachable!() };
    let extended = placement.extended.as_ref().expect("DRA serves it");
    assert_eq!(*extended.allocation.results, [result("container-0-request-0", "n1", "gpu-0")]);
    assert_eq!(extended.resource_of("container-0-request-0"), Some(&Name::from(GPU)));

    let plan = CommitPlan::new(&placement, snapshot.features());
    let [create, finalizer, write, record, bind] = &plan.steps[..] else { unreachable!("{plan:?}") };
    let Step::CreateClaim { generate_name, owner, .. } = create else { unreachable!() };
    assert_eq!((generate_name.as_str(), owner), ("p-extended-resources-", &pod.key));
    assert_eq!(plan.undo(create), Some(Undo::DeleteCreatedClaim));
    assert_eq!(*finalizer, Step::AddFinalizer { target: ClaimTarget::Created });
    assert!(matches!(write, Step::WriteAllocation { target: ClaimTarget::Created, .. }));
    assert_eq!(plan.undo(write), None, "the claim goes as a whole");
    let Step::SetExtendedResourceClaimStatus { mappings } = record else { unreachable!() };
    assert_eq!(mappings.len(), 1);
    assert_eq!(*bind, Step::BindPod { node: "n1".into() });

    let after = assume(&snapshot, &placement, Commit::Done);
    let claim = &after.claims()[&extended.placeholder];
    assert!(claim.for_extended_resources && claim.is_reserved_for(&pod.uid));
    let more = Pod { containers: Box::new([gpus("main", "2")]), ..super::world::pod("q", &[]) };
    assert!(matches!(decide(&after, &more), Decision::Unschedulable(_)), "one of two is taken");
    let other = Pod { containers: Box::new([gpus("main", "1")]), ..super::world::pod("q", &[]) };
    assert!(matches!(decide(&after, &other), Decision::Placed(_)));
}

#[test]
fn no_claim_is_made_where_a_device_plugin_serves_the_resource() {
    let mut snapshot = served_world(1, 2);
    snapshot.set_node(offering("n1", &[(GPU, 4)]));
    let Decision::Placed(placement) = decide(&snapshot, &pod_with(&[], &[gpus("main", "3")])) else {
        unreachable!()
    };
    assert_eq!(placement.extended, None);
}

#[test]
fn claims_of_the_pod_and_for_its_resources_are_met_together() {
    let mut snapshot = served_world(1, 3);
    snapshot.set_slice(slice("n1", 3));
    snapshot.set_claim(Arc::new(claim("c", [exactly("r", 2)])));
    let asking = |count| Pod { containers: Box::new([gpus("main", count)]), ..pod("p", &[("g", "c")]) };
    assert!(matches!(decide(&snapshot, &asking("2")), Decision::Unschedulable(_)));
    let Decision::Placed(placement) = decide(&snapshot, &asking("1")) else { unreachable!() };
    let extended = placement.extended.as_ref().expect("DRA serves it");
    assert_eq!(placement.claims[0].devices.allocation().results.len(), 2);
    assert_eq!(*extended.allocation.results, [result("container-0-request-0", "n1", "gpu-2")]);
}

#[test]
fn a_left_over_claim_is_deleted_before_the_next_attempt() {
    let pod = pod_with(&[], &[gpus("main", "1")]);
    let mut snapshot = served_world(1, 1);
    let mut left_over = claim("p-extended-resources-x7k2p", [exactly("container-0-request-0", 1)]);
    left_over.for_extended_resources = true;
    snapshot.set_claim(Arc::new(left_over.clone()));
    assert!(matches!(decide(&snapshot, &pod), Decision::Placed(_)), "it belongs to nobody");

    left_over.controller = Some(owner(&pod));
    let left_over = Arc::new(left_over);
    snapshot.set_claim(Arc::clone(&left_over));
    let Decision::Unschedulable(diagnosis) = decide(&snapshot, &pod) else { unreachable!() };
    let Cause::Nodes { rejected, .. } = &diagnosis.cause else { unreachable!() };
    let claim = ClaimKey::new("default", "p-extended-resources-x7k2p");
    assert_eq!(
        rejected[0].rejection,
        Rejection::DynamicResources(DeviceRejection::LeftOverExtendedClaim { claim })
    );
    let post_filter = diagnosis.post_filter.expect("it is deleted");
    assert_eq!(post_filter, PostFilter::DeleteExtendedClaim { claim: left_over });
    let after = crate::scheduling::assume::post_filter(&snapshot, &post_filter);
    assert!(matches!(decide(&after, &pod), Decision::Placed(_)));
}
