//! Older versions of the API in the form of `v1`, as an API server converts them.
//!
//! `v1beta2` has the form of `v1`. `v1beta1` has the fields of a request directly in it, and those
//! of a device under `basic`. Values keep their places.

use super::kind::{Kind, Version};
use super::tree::{Entry, Node, Value};

/// The fields that `v1beta1` has in a request and `v1` under its `exactly`.
const REQUEST_FIELDS: [&str; 8] = [
    "deviceClassName",
    "selectors",
    "allocationMode",
    "count",
    "adminAccess",
    "tolerations",
    "capacity",
    "derivedAttributes",
];

/// Brings an object of a version into the form of `v1`.
pub(super) fn to_v1(object: &mut Node, kind: Kind, version: Version) {
    if version != Version::V1Beta1 {
        return;
    }
    match kind {
        Kind::ResourceClaim => requests(at(object, &["spec", "devices", "requests"])),
        Kind::ResourceClaimTemplate => requests(at(object, &["spec", "spec", "devices", "requests"])),
        Kind::ResourceSlice => {
            if let Some(spec) = at(object, &["spec"]) {
                drop_zero(spec, "nodeName", &Value::String("".into()));
                drop_zero(spec, "allNodes", &Value::Bool(false));
            }
            devices(at(object, &["spec", "devices"]));
        }
        _ => {}
    }
}

fn at<'n>(node: &'n mut Node, path: &[&str]) -> Option<&'n mut Node> {
    path.iter().try_fold(node, |node, key| match &mut node.value {
        Value::Map(entries) => {
            entries.iter_mut().find(|entry| &*entry.key == *key).map(|entry| &mut entry.node)
        }
        _ => None,
    })
}

fn items(node: Option<&mut Node>) -> &mut [Node] {
    match node.map(|node| &mut node.value) {
        Some(Value::List(items)) => items,
        _ => &mut [],
    }
}

/// `v1beta1` has no pointers there: the zero value says that the field is not set.
fn drop_zero(node: &mut Node, key: &str, zero: &Value) {
    if node.get(key).is_some_and(|node| node.value == *zero) {
        node.take(key);
    }
}

fn requests(list: Option<&mut Node>) {
    for request in items(list) {
        drop_zero(request, "deviceClassName", &Value::String("".into()));
        drop_zero(request, "allocationMode", &Value::String("".into()));
        drop_zero(request, "count", &Value::Int(0));
        let moved: Vec<_> = REQUEST_FIELDS.iter().filter_map(|field| request.take(field)).collect();
        let set = moved.iter().filter(|entry| entry.node.value != Value::Null);
        let Some(place) = set.map(|entry| entry.place).min() else { continue };
        let node = Node { place, value: Value::Map(moved) };
        request.put(Entry { place, key: "exactly".into(), node });
    }
}

fn devices(list: Option<&mut Node>) {
    for device in items(list) {
        if let Some(Entry { node: Node { value: Value::Map(entries), .. }, .. }) = device.take("basic") {
            for entry in entries {
                device.put(entry);
            }
        }
    }
}
