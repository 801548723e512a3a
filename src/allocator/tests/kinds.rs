//! Which nodes are of one kind, and so cost one search.

use std::sync::Arc;

use super::world::*;
use crate::allocator::{Allocator, ClaimToAllocate, NodeKind};
use crate::model::slice::Placement;
use crate::model::{
    AttributeValue, ClaimSpec, Features, Node, NodeName, PoolId, ResourceSlice, Snapshot, Uid,
};

/// Two nodes with a device each; the devices differ in `serial`, and the second also in `extra`.
fn two_nodes(extra: Option<AttributeValue>) -> Snapshot {
    let of_node = |node: &str, serial: i64, extra: Option<AttributeValue>| {
        let mut attributes = vec![("model", text("a")), ("serial", AttributeValue::Int(serial))];
        attributes.extend(extra.map(|value| ("extra", value)));
        ResourceSlice {
            pool: PoolId::new(DRIVER, node),
            placement: Placement { node_name: Some(NodeName::from(node)), ..Placement::default() },
            ..slice(node, vec![device("dev", &attributes)])
        }
    };
    let mut snapshot = world(Features::default(), [of_node("n1", 1, None), of_node("n2", 2, extra)]);
    snapshot.set_node(Node { name: NodeName::from("n2"), ..Node::default() });
    snapshot
}

fn kind(snapshot: &Snapshot, allocator: &mut Allocator, node: &str, spec: &ClaimSpec) -> Option<NodeKind> {
    let node = Arc::clone(&snapshot.nodes().get(node).expect("the node exists").node);
    let (key, uid, spec) = (key(0), Uid::from("uid"), Arc::new(spec.clone()));
    allocator.node_kind(snapshot, &node, &[ClaimToAllocate { key: &key, uid: &uid, spec: &spec }])
}

fn are_alike(extra: Option<AttributeValue>, spec: &ClaimSpec) -> bool {
    let snapshot = two_nodes(extra);
    let mut allocator = Allocator::new(snapshot.features());
    let mut kind = |node: &str| kind(&snapshot, &mut allocator, node, spec).expect("a kind");
    kind("n1") == kind("n2")
}

fn selecting_one(expression: &str) -> ClaimSpec {
    claim(vec![request("r", selecting(requirement(1), expression))])
}

#[test]
fn devices_that_differ_in_what_nobody_looks_at_are_alike() {
    assert!(are_alike(None, &claim(vec![request("r", requirement(1))])));
    assert!(are_alike(None, &selecting_one("device.attributes['d.example.com'].model == 'a'")));
    assert!(are_alike(None, &matching(claim(single_requests(1)), "model")));
    assert!(are_alike(None, &selecting_one("size(device.capacity['d.example.com']) == 0")));
}

#[test]
fn devices_that_differ_in_what_a_claim_looks_at_are_not() {
    assert!(!are_alike(None, &selecting_one("device.attributes['d.example.com'].serial > 1")));
    assert!(!are_alike(None, &selecting_one("device.attributes['d.example.com'].?serial.orValue(0) > 1")));
    assert!(!are_alike(
        None,
        &selecting_one("device.attributes['d.example.com'].exists(key, key == 'serial')")
    ));
    assert!(!are_alike(None, &selecting_one("device.attributes['d.example.com']['ser' + 'ial'] == 1")));
    assert!(!are_alike(None, &selecting_one("size(device.attributes) == 1")));
    assert!(!are_alike(None, &selecting_one("type(device) != type(1)")));
    assert!(!are_alike(None, &matching(claim(single_requests(1)), "serial")));
    assert!(!are_alike(None, &distinct(claim(single_requests(1)), "serial")));
}

#[test]
fn an_attribute_that_spoils_every_expression_is_never_overlooked() {
    let plain = claim(vec![request("r", requirement(1))]);
    assert!(are_alike(Some(text("1.0")), &plain));
    assert!(!are_alike(Some(AttributeValue::Version("1.0".into())), &plain));
    assert!(!are_alike(Some(AttributeValue::Unsupported), &plain));
}

#[test]
fn nodes_of_one_kind_answer_with_their_own_devices() {
    let snapshot = two_nodes(None);
    let mut allocator = Allocator::new(snapshot.features());
    for node in ["n1", "n2"] {
        let outcome = ask(&mut allocator, &snapshot, node, &[claim(vec![request("r", requirement(1))])]);
        let allocations = outcome.result.expect("no error").expect("it fits");
        assert_eq!(allocations[0].results[0].device.pool, PoolId::new(DRIVER, node));
    }
}
