//! Small worlds for tests: one line for each thing.

use std::sync::Arc;

use crate::allocator::check::{CheckedClaim, Violation, check};
use crate::allocator::funnel::RequestFunnel;
use crate::allocator::{Allocator, ClaimToAllocate, Outcome};
use crate::model::slice::Placement;
use crate::model::{
    AllocationMode, AttributeValue, Capacity, ClaimKey, ClaimSpec, ClassName, ConstraintKind,
    CounterConsumption, CounterSet, Device, DeviceClass, DeviceConstraint, DeviceContent, DeviceRequest,
    DeviceRequirement, DeviceSelector, Features, Name, Node, NodeName, PoolId, Quantity, RequestKind,
    ResourceClaim, ResourceSlice, Snapshot, Subrequest, Uid,
};

/// The driver of all devices.
pub const DRIVER: &str = "d.example.com";

pub fn quantity(text: &str) -> Quantity {
    text.parse().expect("a quantity")
}

/// A device with attributes in the driver's domain.
pub fn device(name: &str, attributes: &[(&str, AttributeValue)]) -> Device {
    let mut attributes: Vec<_> =
        attributes.iter().map(|(key, value)| (Name::from(*key), value.clone())).collect();
    attributes.sort_by(|a, b| a.0.cmp(&b.0));
    let content = DeviceContent { attributes: attributes.into(), ..DeviceContent::default() };
    Device::plain(name, Arc::new(content))
}

pub fn devices(count: usize) -> Vec<Device> {
    (0..count).map(|at| device(&format!("dev-{at}"), &[])).collect()
}

pub fn text(value: &str) -> AttributeValue {
    AttributeValue::String(Name::from(value))
}

/// The device consuming counters of the set `set`.
pub fn consuming(mut device: Device, counters: &[(&str, &str)]) -> Device {
    let mut counters: Vec<_> =
        counters.iter().map(|(name, amount)| (Name::from(*name), quantity(amount))).collect();
    counters.sort_by(|a, b| a.0.cmp(&b.0));
    device.consumes_counters = Box::new([CounterConsumption {
        counter_set: Name::from("set"),
        counters: counters.into(),
        compatibility_groups: Box::default(),
    }]);
    device
}

/// The device with capacities, open to several claims at a time.
pub fn shareable(mut device: Device, capacities: &[(&str, &str)]) -> Device {
    let mut content = (*device.content).clone();
    content.allow_multiple_allocations = true;
    content.capacity = capacities
        .iter()
        .map(|(name, value)| (Name::from(*name), Capacity { value: quantity(value), policy: None }))
        .collect();
    device.content = Arc::new(content);
    device
}

pub fn slice(name: &str, devices: Vec<Device>) -> ResourceSlice {
    ResourceSlice {
        placement: Placement { node_name: Some(NodeName::from("n1")), ..Placement::default() },
        devices: devices.into(),
        ..ResourceSlice::new(Name::from(name), PoolId::new(DRIVER, "pool"))
    }
}

/// The two slices of a pool with counters.
pub fn partitioned(devices: Vec<Device>, counters: &[(&str, &str)]) -> [ResourceSlice; 2] {
    let mut of_devices = slice("slice-devices", devices);
    of_devices.slice_count = 2;
    let mut of_counters = slice("slice-counters", Vec::new());
    of_counters.slice_count = 2;
    let mut counters: Vec<_> =
        counters.iter().map(|(name, amount)| (Name::from(*name), quantity(amount))).collect();
    counters.sort_by(|a, b| a.0.cmp(&b.0));
    of_counters.shared_counters =
        Box::new([CounterSet { name: Name::from("set"), counters: counters.into() }]);
    [of_devices, of_counters]
}

pub fn requirement(count: i64) -> DeviceRequirement {
    DeviceRequirement::of_class(ClassName::from("any"), AllocationMode::ExactCount(count))
}

pub fn all() -> DeviceRequirement {
    DeviceRequirement { mode: AllocationMode::All, ..requirement(0) }
}

/// A requirement with a selector.
pub fn selecting(requirement: DeviceRequirement, expression: &str) -> DeviceRequirement {
    let selector = DeviceSelector { expression: Some(Arc::from(expression)) };
    DeviceRequirement { selectors: Box::new([selector]), ..requirement }
}

pub fn request(name: &str, requirement: DeviceRequirement) -> DeviceRequest {
    DeviceRequest { name: Name::from(name), kind: RequestKind::Exactly(requirement) }
}

pub fn first_available(name: &str, alternatives: Vec<DeviceRequirement>) -> DeviceRequest {
    let numbered = alternatives
        .into_iter()
        .enumerate()
        .map(|(at, requirement)| Subrequest { name: Name::from(format!("sub-{at}")), requirement });
    DeviceRequest { name: Name::from(name), kind: RequestKind::FirstAvailable(numbered.collect()) }
}

pub fn claim(requests: Vec<DeviceRequest>) -> ClaimSpec {
    ClaimSpec { requests: requests.into(), ..ClaimSpec::default() }
}

/// `n` requests of one device each.
pub fn single_requests(n: usize) -> Vec<DeviceRequest> {
    (0..n).map(|at| request(&format!("r{at}"), requirement(1))).collect()
}

pub fn matching(spec: ClaimSpec, attribute: &str) -> ClaimSpec {
    constrained(spec, ConstraintKind::MatchAttribute(Name::from(format!("{DRIVER}/{attribute}"))))
}

pub fn distinct(spec: ClaimSpec, attribute: &str) -> ClaimSpec {
    constrained(spec, ConstraintKind::DistinctAttribute(Name::from(format!("{DRIVER}/{attribute}"))))
}

fn constrained(mut spec: ClaimSpec, kind: ConstraintKind) -> ClaimSpec {
    let mut constraints = spec.constraints.to_vec();
    constraints.push(DeviceConstraint { requests: Box::default(), kind });
    spec.constraints = constraints.into();
    spec
}

pub fn world(features: Features, slices: impl IntoIterator<Item = ResourceSlice>) -> Snapshot {
    let mut snapshot = Snapshot::new(features);
    snapshot.set_node(Node { name: NodeName::from("n1"), ..Node::default() });
    for (name, extended) in [("any", None), ("other", None)] {
        let class =
            DeviceClass { extended_resource_name: extended, ..DeviceClass::new(ClassName::from(name)) };
        snapshot.set_class(class);
    }
    slices.into_iter().for_each(|slice| snapshot.set_slice(slice));
    snapshot
}

pub fn key(at: usize) -> ClaimKey {
    ClaimKey::new("default", format!("claim-{at}"))
}

/// Asks for the claims on the node `n1`.
pub fn allocate(snapshot: &Snapshot, specs: &[ClaimSpec]) -> Outcome {
    ask(&mut Allocator::new(snapshot.features()), snapshot, "n1", specs)
}

pub fn ask(allocator: &mut Allocator, snapshot: &Snapshot, node: &str, specs: &[ClaimSpec]) -> Outcome {
    let node = Arc::clone(&snapshot.nodes().get(node).expect("the node exists").node);
    let specs: Vec<_> = specs.iter().map(|spec| Arc::new(spec.clone())).collect();
    let keys: Vec<_> = (0..specs.len()).map(key).collect();
    let uid = Uid::from("uid");
    let claims: Vec<_> =
        specs.iter().zip(&keys).map(|(spec, key)| ClaimToAllocate { key, uid: &uid, spec }).collect();
    allocator.allocate(snapshot, &node, &claims)
}

/// Why the claims do not fit on the first node.
pub fn funnel(snapshot: &Snapshot, specs: &[ClaimSpec]) -> Vec<RequestFunnel> {
    let node = Arc::clone(&snapshot.nodes().values().next().expect("a node").node);
    let specs: Vec<_> = specs.iter().map(|spec| Arc::new(spec.clone())).collect();
    let keys: Vec<_> = (0..specs.len()).map(key).collect();
    let uid = Uid::from("uid");
    let claims: Vec<_> =
        specs.iter().zip(&keys).map(|(spec, key)| ClaimToAllocate { key, uid: &uid, spec }).collect();
    Allocator::new(snapshot.features()).funnel(snapshot, &node, &claims)
}

/// What the independent judge says of an outcome.
pub fn verdict(snapshot: &Snapshot, specs: &[ClaimSpec], outcome: &Outcome) -> Result<(), Violation> {
    let allocations = outcome.result.as_ref().expect("no error").as_ref().expect("it fits");
    let node = &snapshot.nodes().values().next().expect("a node").node;
    let keys: Vec<_> = (0..specs.len()).map(key).collect();
    let uid = Uid::from("uid");
    let all = keys.iter().zip(specs).zip(&**allocations);
    let claims: Vec<_> =
        all.map(|((key, spec), allocation)| CheckedClaim { key, uid: &uid, spec, allocation }).collect();
    check(snapshot, node, &claims)
}

/// The devices given to each claim, in order; none if the claims do not fit.
pub fn names(outcome: &Outcome) -> Option<Vec<Vec<String>>> {
    let allocations = outcome.result.as_ref().expect("no error").as_ref()?;
    let names = |allocation: &crate::model::Allocation| {
        allocation.results.iter().map(|result| result.device.device.to_string()).collect()
    };
    Some(allocations.iter().map(names).collect())
}

/// The text of the error.
pub fn error(outcome: &Outcome) -> String {
    outcome.result.as_ref().expect_err("an error").to_string()
}

/// Gives the outcome to claims of that number and later, so that its devices are in use.
pub fn occupy(snapshot: &mut Snapshot, first: usize, outcome: &Outcome) {
    let allocations = outcome.result.as_ref().expect("no error").as_ref().expect("it fits");
    for (at, allocation) in allocations.iter().enumerate() {
        snapshot.set_claim(Arc::new(ResourceClaim {
            resource_version: Name::from("1"),
            allocation: Some(Arc::new(allocation.clone())),
            ..ResourceClaim::new(
                key(first + at),
                Uid::from(format!("uid-{}", first + at)),
                Arc::new(ClaimSpec::default()),
            )
        }));
    }
}
