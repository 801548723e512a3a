use std::sync::Arc;

use crate::explain::{message, text};
use crate::model::{
    Allocation, AttributeValue, ClaimSpec, ConstraintKind, DeviceConstraint, DeviceContent, DeviceRequest,
    DeviceSelector, Name, Node, Pod, RequestKind, ResourceClaim, Snapshot, Taint, TaintEffect,
};
use crate::scheduling::tests::world::{
    allocated, claim, decide, exactly, first_available, node, pod, result, slice, slice_of, world,
};

/// The sentences about devices.
fn details(snapshot: &Snapshot, pod: &Pod) -> Vec<String> {
    let text = text(&decide(snapshot, pod));
    text.lines().skip(1).map(|line| line.trim().to_owned()).collect()
}

fn asking(mut snapshot: Snapshot, requests: impl Into<Box<[DeviceRequest]>>) -> Vec<String> {
    snapshot.set_claim(Arc::new(claim("c", requests)));
    details(&snapshot, &pod("p", &[("g", "c")]))
}

fn selecting(expression: &str) -> DeviceRequest {
    let mut request = exactly("gpu", 1);
    if let RequestKind::Exactly(requirement) = &mut request.kind {
        requirement.selectors = Box::new([DeviceSelector { expression: Some(expression.into()) }]);
    }
    request
}

fn content(attributes: &[(&str, &str)]) -> Arc<DeviceContent> {
    let value =
        |(name, value): &(&str, &str)| (Name::from(*name), AttributeValue::String(Name::from(*value)));
    Arc::new(DeviceContent { attributes: attributes.iter().map(value).collect(), ..DeviceContent::default() })
}

#[test]
fn a_selector_that_matches_nothing_is_quoted_with_its_count() {
    let mut snapshot = world(1, 0);
    let mut a100 = slice("n1", 2);
    for device in &mut a100.devices {
        device.content = content(&[("model", "a100")]);
    }
    snapshot.set_slice(a100);
    let selector = "device.attributes['gpu.example.com'].model == 'h100'";
    assert_eq!(
        asking(snapshot, [selecting(selector)]),
        [format!(
            "On node n1: request gpu of claim default/c wants 1 device of class gpu.example.com: \
             2 devices are in reach, 2 do not match the request's selector `{selector}`; 0 of 2 would do."
        )]
    );
}

#[test]
fn devices_in_use_are_named_with_their_claims_and_pods() {
    let mut snapshot = world(1, 2);
    let held = |name: &str, device: &str, users: &[&str]| {
        let results = Box::new([result("r", "n1", device)]);
        allocated(claim(name, [exactly("r", 1)]), Allocation { results, ..Allocation::default() }, users)
    };
    snapshot.set_claim(Arc::new(held("one", "gpu-0", &["low"])));
    snapshot.set_claim(Arc::new(held("two", "gpu-1", &["a", "b"])));
    assert_eq!(
        asking(snapshot, [exactly("gpu", 1)]),
        ["On node n1: request gpu of claim default/c wants 1 device of class gpu.example.com: \
          2 devices are in reach, 2 are in use (gpu-0, gpu-1) by claim default/one of pod default/low, \
          claim default/two of pods default/a, default/b; 0 of 2 would do."]
    );
}

#[test]
fn equal_nodes_are_told_together() {
    assert_eq!(
        asking(world(5, 1), [exactly("gpu", 2)]),
        ["On 5 nodes (n1, n2, n3, …): request gpu of claim default/c wants 2 devices of class \
          gpu.example.com: 1 device is in reach; 1 of 1 would do."]
    );
    let mut mixed = world(3, 1);
    mixed.set_slice(slice("n2", 0));
    let lines = asking(mixed, [exactly("gpu", 2)]);
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].starts_with("On 2 nodes (n1, n3): "), "{lines:?}");
    assert!(
        lines[1].ends_with("wants 2 devices of class gpu.example.com: no device is in reach."),
        "{lines:?}"
    );
}

#[test]
fn a_pool_of_which_slices_are_missing_is_named_with_their_number() {
    let mut snapshot = world(1, 1);
    let mut half = slice("n1", 1);
    (half.generation, half.slice_count) = (3, 2);
    snapshot.set_slice(half);
    assert_eq!(
        asking(snapshot, [exactly("gpu", 1)]),
        [
            "On node n1: request gpu of claim default/c wants 1 device of class gpu.example.com: no device is in \
          reach; pool gpu.example.com/n1 is left out: 1 of 2 slices of generation 3 are published."
        ]
    );
}

#[test]
fn the_step_that_left_too_few_is_marked_if_others_follow() {
    let mut snapshot = world(1, 3);
    let mut devices = slice("n1", 3);
    let taint =
        Taint { key: "sick".into(), value: "yes".into(), effect: TaintEffect::NoSchedule, time_added: None };
    devices.devices[0].taints = Box::new([taint]);
    snapshot.set_slice(devices);
    let results = Box::new([result("r", "n1", "gpu-1")]);
    let held = Allocation { results, ..Allocation::default() };
    snapshot.set_claim(Arc::new(allocated(claim("one", [exactly("r", 1)]), held, &["low"])));
    assert_eq!(
        asking(snapshot, [exactly("gpu", 3)]),
        [
            "On node n1: request gpu of claim default/c wants 3 devices of class gpu.example.com: 3 devices are in \
          reach, 1 has the taint sick=yes:NoSchedule, which is not tolerated (gpu-0) (too few from here on), \
          1 is in use (gpu-1) by claim default/one of pod default/low; 1 of 3 would do."
        ]
    );
}

/// A GPU and a network card that must have the same PCIe root.
fn aligned(constraint: &str) -> ResourceClaim {
    let mut nic = exactly("nic", 1);
    if let RequestKind::Exactly(requirement) = &mut nic.kind {
        requirement.class = "nic.example.com".into();
    }
    let constraint = DeviceConstraint {
        requests: Box::default(),
        kind: ConstraintKind::MatchAttribute(constraint.into()),
    };
    let requests = Box::new([exactly("gpu", 1), nic]);
    let spec = ClaimSpec { requests, constraints: Box::new([constraint]), config: Box::default() };
    ResourceClaim { spec: Arc::new(spec), ..claim("c", []) }
}

/// Both devices, with these attributes.
fn gpu_and_nic(gpu: &[(&str, &str)], nic: &[(&str, &str)]) -> Vec<String> {
    let mut snapshot = world(1, 1);
    snapshot.set_class(crate::scheduling::tests::world::class_of("nic.example.com", "nic.example.com"));
    let (mut gpus, mut nics) = (slice("n1", 1), slice_of("nic.example.com", "n1", 1));
    gpus.devices[0].content = content(gpu);
    nics.devices[0].content = content(nic);
    snapshot.set_slice(gpus);
    snapshot.set_slice(nics);
    snapshot.set_claim(Arc::new(aligned("resource.kubernetes.io/pcieRoot")));
    details(&snapshot, &pod("p", &[("g", "c")]))
}

#[test]
fn a_device_without_the_attribute_of_a_constraint_is_named() {
    let root = &[("resource.kubernetes.io/pcieRoot", "pci0000:00")];
    let lines = gpu_and_nic(&[("pcieRoot", "pci0000:00")], root);
    assert_eq!(
        lines,
        [
            "On node n1: request gpu of claim default/c wants 1 device of class gpu.example.com: 2 devices are in \
          reach, 1 does not match the class's selector `device.driver == \"gpu.example.com\"`, 1 has no \
          attribute resource.kubernetes.io/pcieRoot, which a constraint compares (gpu-0); 0 of 2 would do."
        ]
    );
}

#[test]
fn requests_that_exclude_each_other_are_named_with_the_constraint() {
    let root = |value| [("resource.kubernetes.io/pcieRoot", value)];
    let lines = gpu_and_nic(&root("pci0000:00"), &root("pci0000:01"));
    assert_eq!(
        lines,
        [
            "On node n1: requests gpu of claim default/c, nic of claim default/c each find enough devices, but \
          exclude each other in the choice of devices under matchAttribute resource.kubernetes.io/pcieRoot."
        ]
    );
}

#[test]
fn every_alternative_is_told_if_none_will_do() {
    let mut snapshot = world(1, 0);
    snapshot.set_class(crate::scheduling::tests::world::class_of("nic.example.com", "nic.example.com"));
    let request = first_available("r", &[("a", "gpu.example.com"), ("b", "nic.example.com")]);
    let lines = asking(snapshot, [request]);
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].contains("request r/a of claim default/c wants 1 device of class gpu.example.com"));
    assert!(lines[1].contains("request r/b of claim default/c wants 1 device of class nic.example.com"));
}

#[test]
fn the_line_for_the_condition_goes_on_with_the_devices() {
    let mut snapshot = world(2, 1);
    let taint = Taint {
        key: "dedicated".into(),
        value: "".into(),
        effect: TaintEffect::NoSchedule,
        time_added: None,
    };
    snapshot.set_node(Node { taints: Box::new([taint]), ..node("n2") });
    snapshot.set_claim(Arc::new(claim("c", [exactly("gpu", 2)])));
    assert_eq!(
        message(&decide(&snapshot, &pod("p", &[("g", "c")]))).as_deref(),
        Some(
            "0/2 nodes are available: 1 cannot allocate all claims, 1 node(s) had untolerated taint(s). \
             On node n1: request gpu of claim default/c wants 2 devices of class gpu.example.com: 1 device is in \
             reach; 1 of 1 would do. On node n2: taint dedicated:NoSchedule is not tolerated."
        )
    );
}
