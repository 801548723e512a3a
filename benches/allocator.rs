//! The allocator on upstream's benchmark shapes: one pod over many nodes, and claims that do not fit.
//!
//! A1: one node, ten devices. A2: one pod over n nodes, half of the devices in use; after each pod one
//! device changes, as in a scheduling cycle. A3: the same with a selector of attributes and capacity.
//! A4: five requests that match, where every other device is passed over. P3, P4, P6: infeasible.
//! `cold` starts with an allocator that has never seen anything; `nodes_differ` gives every device
//! an attribute of its own, so that no two nodes are equal.

use std::sync::Arc;

use divan::Bencher;
use stowplan::allocator::{Allocator, ClaimToAllocate};
use stowplan::model::selection::Labels;
use stowplan::model::slice::Placement;
use stowplan::model::{
    Allocation, AllocationMode, AttributeValue, Capacity, ClaimKey, ClaimSpec, ConstraintKind, Device,
    DeviceClass, DeviceConstraint, DeviceContent, DeviceRequest, DeviceRequirement, DeviceSelector, Features,
    Name, Node, NodeInfo, NodeName, PoolId, RequestKind, ResourceClaim, ResourceSlice, Snapshot, Uid,
};

const DRIVER: &str = "test-driver.cdi.k8s.io";
const ROOT: &str = "resource.kubernetes.io/pciRoot";

fn main() {
    divan::main();
}

fn content(root: usize, unique: Option<usize>) -> DeviceContent {
    let text = |value: &str| AttributeValue::String(Name::from(value));
    let mut attributes = vec![
        (Name::from("driverVersion"), AttributeValue::Version(Name::from("1.2.3"))),
        (Name::from("family"), text("GPU")),
        (Name::from("model"), text("A100")),
        (Name::from(ROOT), text(&format!("root-{root}"))),
    ];
    if let Some(unique) = unique {
        attributes.push((Name::from("uuid"), text(&format!("gpu-{unique}"))));
    }
    attributes.sort_by(|a, b| a.0.cmp(&b.0));
    let memory = Capacity { value: "1Gi".parse().expect("a quantity"), policy: None };
    DeviceContent {
        attributes: attributes.into(),
        capacity: Box::new([(Name::from("memory"), memory)]),
        allow_multiple_allocations: false,
    }
}

fn selector(expression: &str) -> Box<[DeviceSelector]> {
    Box::new([DeviceSelector { expression: Some(Arc::from(expression)) }])
}

/// `nodes` with `devices` each, on two roots in turn.
fn cluster(nodes: usize, devices: usize, differ: bool) -> Snapshot {
    let mut snapshot = Snapshot::new(Features::default());
    snapshot.set_class(DeviceClass {
        selectors: selector(&format!("device.driver == \"{DRIVER}\"")),
        ..DeviceClass::new("test-class")
    });
    let shared: Vec<_> = (0..2).map(|root| Arc::new(content(root, None))).collect();
    for node in 0..nodes {
        let name = format!("scheduler-perf-dra-{node}");
        let device = |at: usize| {
            let content = if differ {
                Arc::new(content(at % 2, Some(node * devices + at)))
            } else {
                Arc::clone(&shared[at % 2])
            };
            Device::plain(format!("basic-device-{at}"), content)
        };
        snapshot.set_node(Node {
            name: NodeName::from(&*name),
            labels: Labels::default(),
            ..Node::default()
        });
        snapshot.set_slice(ResourceSlice {
            placement: Placement { node_name: Some(NodeName::from(&*name)), ..Placement::default() },
            devices: (0..devices).map(device).collect(),
            ..ResourceSlice::new(&*name, PoolId::new(DRIVER, &*name))
        });
    }
    snapshot
}

fn requirement(count: usize, selectors: Box<[DeviceSelector]>) -> DeviceRequirement {
    DeviceRequirement {
        selectors,
        ..DeviceRequirement::of_class(
            "test-class",
            AllocationMode::ExactCount(i64::try_from(count).expect("few")),
        )
    }
}

fn claim(requests: usize, count: usize, selectors: &[DeviceSelector], matched: bool) -> Arc<ClaimSpec> {
    let request = |at: usize| DeviceRequest {
        name: Name::from(format!("req-{at}")),
        kind: RequestKind::Exactly(requirement(count, selectors.into())),
    };
    let constraint =
        DeviceConstraint { requests: Box::default(), kind: ConstraintKind::MatchAttribute(Name::from(ROOT)) };
    Arc::new(ClaimSpec {
        requests: (0..requests).map(request).collect(),
        constraints: if matched { Box::new([constraint]) } else { Box::default() },
        config: Box::default(),
    })
}

fn one() -> Arc<ClaimSpec> {
    claim(1, 1, &[], false)
}

fn a3() -> Arc<ClaimSpec> {
    let expression = format!(
        "device.attributes[\"{DRIVER}\"].driverVersion.major() >= 1 && device.capacity[\"{DRIVER}\"].memory.isGreaterThan(quantity(\"1Mi\"))"
    );
    claim(1, 1, &selector(&expression), false)
}

/// Asks on every node as a cycle does; the number of nodes that fit, and the allocation on the first.
fn cycle(
    allocator: &mut Allocator,
    snapshot: &Snapshot,
    spec: &Arc<ClaimSpec>,
) -> (usize, Option<Arc<[Allocation]>>) {
    let (key, uid) = (ClaimKey::new("default", "claim"), Uid::from("uid"));
    let claims = [ClaimToAllocate { key: &key, uid: &uid, spec }];
    let (mut fitting, mut first) = (0, None);
    for info in snapshot.nodes().values() {
        if allocator.fits(snapshot, &info.node, &claims).expect("no error") {
            fitting += 1;
            first.get_or_insert(info);
        }
    }
    let allocation = |info: &Arc<NodeInfo>| {
        let outcome = allocator.allocate(snapshot, &info.node, &claims);
        outcome.result.expect("no error").expect("it fits")
    };
    (fitting, first.map(allocation))
}

fn occupy(snapshot: &mut Snapshot, name: &str, allocation: Arc<Allocation>) {
    snapshot.set_claim(Arc::new(ResourceClaim {
        resource_version: Name::from("1"),
        allocation: Some(allocation),
        ..ResourceClaim::new(ClaimKey::new("default", name), Uid::from(name), Arc::default())
    }));
}

/// Gives away the first `used` devices of every node.
fn fill(snapshot: &mut Snapshot, used: usize) {
    let mut allocator = Allocator::new(snapshot.features());
    let (key, uid) = (ClaimKey::new("default", "fill"), Uid::from("uid"));
    let spec = claim(1, used, &[], false);
    let claims = [ClaimToAllocate { key: &key, uid: &uid, spec: &spec }];
    let nodes: Vec<_> = snapshot.nodes().values().map(|info| Arc::clone(&info.node)).collect();
    for node in nodes.iter().filter(|_| used > 0) {
        let outcome = allocator.allocate(snapshot, node, &claims);
        let allocation = outcome.result.expect("no error").expect("it fits")[0].clone();
        occupy(snapshot, node.name.as_str(), Arc::new(allocation));
    }
}

/// One cycle after another; each pod's device is given away and taken back by turns.
fn steady(bencher: Bencher<'_, '_>, mut snapshot: Snapshot, spec: &Arc<ClaimSpec>) {
    let mut allocator = Allocator::new(snapshot.features());
    let first = cycle(&mut allocator, &snapshot, spec).1.expect("it fits");
    let mut is_held = false;
    bencher.bench_local(|| {
        if is_held {
            snapshot.remove_claim(&ClaimKey::new("default", "pod"));
        } else {
            occupy(&mut snapshot, "pod", Arc::new(first[0].clone()));
        }
        is_held = !is_held;
        cycle(&mut allocator, &snapshot, spec).0
    });
}

fn cold(bencher: Bencher<'_, '_>, snapshot: &Snapshot, spec: &Arc<ClaimSpec>) {
    bencher.bench_local(|| cycle(&mut Allocator::new(snapshot.features()), snapshot, spec).0);
}

/// A known cluster, but claims that were never seen before: every node needs a search, or the answer
/// of an equal node.
fn new_claims(bencher: Bencher<'_, '_>, snapshot: &Snapshot, spec: &Arc<ClaimSpec>) {
    let mut allocator = Allocator::new(snapshot.features());
    cycle(&mut allocator, snapshot, spec);
    let mut number = 0;
    bencher.bench_local(|| {
        number += 1;
        let mut other = (**spec).clone();
        other.requests[0].name = Name::from(format!("other-{number}"));
        cycle(&mut allocator, snapshot, &Arc::new(other)).0
    });
}

fn filled(nodes: usize, used: usize, differ: bool) -> Snapshot {
    let mut snapshot = cluster(nodes, 10, differ);
    fill(&mut snapshot, used);
    snapshot
}

#[divan::bench(args = [0, 5, 9])]
fn a1_basic_fit_new_claims(bencher: Bencher<'_, '_>, used: usize) {
    new_claims(bencher, &filled(1, used, false), &one());
}

#[divan::bench(args = [100, 500, 1000, 5000])]
fn a2_scan_nodes(bencher: Bencher<'_, '_>, nodes: usize) {
    steady(bencher, filled(nodes, 5, false), &one());
}

#[divan::bench(args = [100, 500, 1000, 5000])]
fn a2_scan_nodes_new_claims(bencher: Bencher<'_, '_>, nodes: usize) {
    new_claims(bencher, &filled(nodes, 5, false), &one());
}

#[divan::bench(args = [500, 5000])]
fn a2_scan_nodes_that_differ_new_claims(bencher: Bencher<'_, '_>, nodes: usize) {
    new_claims(bencher, &filled(nodes, 5, true), &one());
}

#[divan::bench(args = [500, 5000])]
fn a2_scan_nodes_cold(bencher: Bencher<'_, '_>, nodes: usize) {
    cold(bencher, &filled(nodes, 5, false), &one());
}

#[divan::bench]
fn a3_selector(bencher: Bencher<'_, '_>) {
    steady(bencher, filled(500, 5, false), &a3());
}

#[divan::bench]
fn a3_selector_nodes_differ_cold(bencher: Bencher<'_, '_>) {
    cold(bencher, &filled(500, 5, true), &a3());
}

#[divan::bench]
fn a4_match5(bencher: Bencher<'_, '_>) {
    steady(bencher, filled(500, 0, false), &claim(5, 1, &[], true));
}

#[divan::bench]
fn a4_match5_nodes_differ_new_claims(bencher: Bencher<'_, '_>) {
    new_claims(bencher, &filled(500, 0, true), &claim(5, 1, &[], true));
}

#[divan::bench(args = [8, 16, 24, 32])]
fn p3_one_device_too_few(bencher: Bencher<'_, '_>, n: usize) {
    new_claims(bencher, &cluster(1, n - 1, true), &claim(1, n, &[], false));
}

#[divan::bench(args = [8, 16, 24, 32])]
fn p4_one_device_too_few_for_many_requests(bencher: Bencher<'_, '_>, n: usize) {
    new_claims(bencher, &cluster(1, n - 1, true), &claim(n, 1, &[], false));
}

#[divan::bench(args = [8, 16, 24, 31])]
fn p6_two_groups_too_small(bencher: Bencher<'_, '_>, g: usize) {
    new_claims(bencher, &cluster(1, 2 * g, true), &claim(1, g + 1, &[], true));
}
