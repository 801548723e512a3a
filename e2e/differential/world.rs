//! Small and nasty worlds, as API objects: pools that share a name under two drivers, counters,
//! shares, taints and rules, lists, incomplete, obsolete and invalid pools, every mode, several claims.

use serde_json::{Value, json};

use crate::chance::Chance;
use crate::{devices, requests};

/// The gates of a world, by the allocator's names for them.
fn features(chance: &mut Chance) -> Value {
    let alpha = chance.percent(30);
    // Mostly as in a cluster, sometimes anything.
    let odd = chance.percent(7);
    let mut on = |usual: usize| chance.percent(if odd { 50 } else { usual });
    json!({
        "AdminAccess": on(98),
        "PrioritizedList": on(98),
        "PartitionableDevices": on(95),
        "DeviceTaints": on(90),
        "DeviceBindingAndStatus": on(90),
        "ConsumableCapacity": on(97),
        "FractionalCapacityRange": on(20),
        "ListTypeAttributes": alpha && on(80),
        "CompatibilityGroups": alpha && on(60),
        "OptionalNodeOperations": alpha && on(40),
        "DerivedAttributes": alpha && on(40),
    })
}

/// Whether upstream's allocator of the stable channel answers: none of the newer gates is on.
pub fn is_stable(world: &Value) -> bool {
    const SUPPORTED: &[&str] = &["AdminAccess", "PrioritizedList", "PartitionableDevices", "DeviceTaints"];
    let gates = world["features"].as_object();
    gates
        .is_some_and(|gates| gates.iter().all(|(name, on)| *on != true || SUPPORTED.contains(&name.as_str())))
}

/// Whether slices of one generation of a pool contradict each other in how many there should be.
pub fn has_contradicting_counts(world: &Value) -> bool {
    let mut counts = std::collections::BTreeMap::new();
    world["slices"].as_array().into_iter().flatten().any(|slice| {
        let (spec, pool) = (&slice["spec"], &slice["spec"]["pool"]);
        let id = format!("{} {} {}", spec["driver"], pool["name"], pool["generation"]);
        let count = &pool["resourceSliceCount"];
        *counts.entry(id).or_insert(count) != count
    })
}

/// One world: the question that upstream's allocator is asked.
pub fn world(chance: &mut Chance) -> Value {
    let features = features(chance);
    let lists = features["ListTypeAttributes"] == true;
    let derived = features["DerivedAttributes"] == true || chance.percent(1);
    let slices = devices::slices(chance, lists);
    let allocated = allocated(chance, &slices);
    let claims = *chance.pick(&[1, 1, 1, 2, 2, 3]);
    let mut world = json!({
        "features": features,
        "nodes": [node(chance, "n1", "z1"), node(chance, "n2", "z2")],
        "slices": slices,
        "classes": classes(),
        "claims": (0..claims).map(|i| requests::claim(chance, i, derived)).collect::<Vec<_>>(),
        "allocated": allocated,
        "taintRules": taint_rules(chance),
        "timeoutMillis": 100,
    });
    if is_stable(&world) {
        prune(&mut world);
    }
    world
}

/// Leaves out fields whose gates are off, as an API server does: the stable channel has never heard
/// of them.
fn prune(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(prune),
        Value::Object(fields) => {
            for gated in ["allowMultipleAllocations", "bindsToNode", "capacity"] {
                if gated != "capacity" || fields.contains_key("deviceClassName") {
                    fields.remove(gated);
                }
            }
            if let Some(attribute) = fields.remove("distinctAttribute") {
                fields.insert("matchAttribute".into(), attribute);
            }
            fields.values_mut().for_each(prune);
        }
        _ => {}
    }
}

fn node(chance: &mut Chance, name: &str, zone: &str) -> Value {
    let zone = if chance.percent(75) { zone } else { "z1" };
    let mut node = json!({"apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {"zone": zone, "kubernetes.io/hostname": name}}});
    if chance.percent(40) {
        merge(&mut node, json!({"status": {"declaredFeatures": ["DRAOptionalNodeOperations"]}}));
    }
    node
}

fn taint_rules(chance: &mut Chance) -> Vec<Value> {
    if !chance.percent(20) {
        return Vec::new();
    }
    let rules = 0..chance.between(1, 2);
    rules
        .map(|i| {
            let mut spec = json!({"taint": devices::taint(chance)});
            if chance.percent(85) {
                let mut selector = json!({});
                for (key, values) in [
                    ("driver", ["gpu.example.com", "nic.example.com"]),
                    ("pool", ["p1", "n1"]),
                    ("device", ["d0", "d1"]),
                ] {
                    if chance.percent(40) {
                        merge(&mut selector, json!({key: chance.pick(&values)}));
                    }
                }
                merge(&mut spec, json!({"deviceSelector": selector}));
            }
            json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceTaintRule",
                "metadata": {"name": format!("rule-{i}")}, "spec": spec})
        })
        .collect()
}

/// The classes that claims name.
pub fn classes() -> Value {
    let class = |name: &str, expression: &[&str], config: &[&str]| {
        let selectors: Vec<_> = expression.iter().map(|e| json!({"cel": {"expression": e}})).collect();
        let config: Vec<_> = config
            .iter()
            .map(|driver| json!({"opaque": {"driver": driver, "parameters": {"of": name}}}))
            .collect();
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass",
            "metadata": {"name": name}, "spec": {"selectors": selectors, "config": config}})
    };
    json!([
        class("gpu", &["device.driver == 'gpu.example.com'"], &["gpu.example.com"]),
        class("nic", &["device.driver == 'nic.example.com'"], &[]),
        class("any", &[], &["gpu.example.com", "nic.example.com"]),
        class("dedicated", &["!device.allowMultipleAllocations"], &[]),
    ])
}

/// Claims that hold devices already: alone, in part, or with admin access.
fn allocated(chance: &mut Chance, slices: &[Value]) -> Vec<Value> {
    let mut claims = Vec::new();
    for slice in slices {
        for device in slice["spec"]["devices"].as_array().into_iter().flatten() {
            if !chance.percent(15) {
                continue;
            }
            let mut result = json!({"request": "r", "driver": slice["spec"]["driver"],
                "pool": slice["spec"]["pool"]["name"], "device": device["name"]});
            if device["allowMultipleAllocations"] == true && chance.percent(85) {
                let share = format!("{:08x}-0000-4000-8000-000000000000", claims.len());
                merge(&mut result, json!({"shareID": share}));
                if chance.percent(75) {
                    merge(
                        &mut result,
                        json!({"consumedCapacity": {"memory": chance.pick(&["0", "1", "2", "4"])}}),
                    );
                }
            } else if chance.percent(8) {
                merge(&mut result, json!({"adminAccess": true}));
            }
            claims.push(holder(claims.len(), &result));
        }
    }
    if chance.percent(8) {
        // A holder of a device that its driver has withdrawn.
        let result = json!({"request": "r", "driver": "gpu.example.com", "pool": "p1", "device": "gone"});
        claims.push(holder(claims.len(), &result));
    }
    claims
}

fn holder(number: usize, result: &Value) -> Value {
    json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": {"name": format!("held-{number}"), "namespace": "default",
            "uid": format!("uid-held-{number}")},
        "spec": {"devices": {"requests": [{"name": "r", "exactly":
            {"deviceClassName": "any", "allocationMode": "ExactCount", "count": 1}}]}},
        "status": {"allocation": {"devices": {"results": [result]}}}})
}

/// Adds fields to an object.
pub fn merge(into: &mut Value, more: Value) {
    if let (Value::Object(into), Value::Object(more)) = (into, more) {
        into.extend(more);
    }
}
