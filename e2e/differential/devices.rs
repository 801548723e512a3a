//! Random slices: pools of counters, shares, taints, lists, and every way to reach a node.

use serde_json::{Map, Value, json};

use crate::chance::Chance;
use crate::world::merge;

const DRIVERS: &[&str] = &["gpu.example.com", "nic.example.com"];
const POOLS: &[&str] = &["p1", "p2", "n1"];
const MODELS: &[&str] = &["a100", "h100", "l4"];

/// Slices of one to four pools, some of which may be the same pool in another generation.
pub fn slices(chance: &mut Chance, lists: bool) -> Vec<Value> {
    let mut slices = Vec::new();
    for pool in 0..chance.between(1, 4) {
        let driver = *chance.pick(DRIVERS);
        let name = *chance.pick(POOLS);
        let generation = if chance.percent(85) { 1 } else { 2 };
        let counters = chance.percent(35);
        let device_slices = chance.between(1, 2);
        let count = device_slices + usize::from(counters);
        let stated = if chance.percent(97) { count } else { count + 1 };
        let mut add = |body: Value| {
            let mut spec = json!({"driver": driver,
                "pool": {"name": name, "generation": generation, "resourceSliceCount": stated}});
            merge(&mut spec, body);
            let slice = format!("s{}-{}", (slices.len() * 7 + 3) % 10, slices.len());
            slices.push(json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
                "metadata": {"name": slice}, "spec": spec}));
        };
        let mut reach = placement(chance);
        for part in 0..device_slices {
            if chance.percent(10) {
                reach = placement(chance);
            }
            let per_device = reach.get("perDeviceNodeSelection").is_some();
            let devices: Vec<_> = (0..chance.between(1, 6))
                .map(|i| {
                    let number = if chance.percent(99) { part * 10 + i } else { 0 };
                    device(chance, &format!("d{number}"), counters, per_device, lists)
                })
                .collect();
            let mut body = reach.clone();
            merge(&mut body, json!({"devices": devices}));
            if chance.percent(5) {
                merge(&mut body, json!({"skipNodeOperations": ["*"]}));
            }
            add(body);
        }
        if counters {
            let mut body = if chance.percent(85) { reach.clone() } else { placement(chance) };
            merge(&mut body, json!({"sharedCounters": counter_sets(chance, pool)}));
            add(body);
        }
    }
    // Upstream meets slices in the random order of a lister; ours has them by name, so give both that.
    slices.sort_by(|a, b| a["metadata"]["name"].as_str().cmp(&b["metadata"]["name"].as_str()));
    slices
}

fn placement(chance: &mut Chance) -> Value {
    match chance.below(10) {
        0..=4 => json!({"nodeName": "n1"}),
        5 => json!({"nodeName": "n2"}),
        6 | 7 => json!({"allNodes": true}),
        8 => json!({"nodeSelector": selector(chance)}),
        _ => json!({"perDeviceNodeSelection": true}),
    }
}

fn selector(chance: &mut Chance) -> Value {
    let zone = *chance.pick(&["z1", "z2"]);
    match chance.below(3) {
        0 => json!({"nodeSelectorTerms": [{"matchExpressions":
            [{"key": "zone", "operator": "In", "values": [zone]}]}]}),
        1 => json!({"nodeSelectorTerms": [{"matchExpressions":
            [{"key": "zone", "operator": "NotIn", "values": [zone, "z9"]}, {"key": "zone", "operator": "Exists"}]}]}),
        _ => json!({"nodeSelectorTerms": [{"matchFields":
            [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]}),
    }
}

fn counter_sets(chance: &mut Chance, pool: usize) -> Value {
    let sets = if chance.percent(95) { vec!["cs0", "cs1"] } else { vec!["cs0", "cs0"] };
    let sets: Vec<_> = sets
        .into_iter()
        .map(|name| {
            json!({"name": name, "counters": {
                "memory": {"value": chance.pick(&["4", "6", "8", "10"])},
                "slots": {"value": (pool % 3 + 1).to_string()},
            }})
        })
        .collect();
    json!(sets)
}

fn device(chance: &mut Chance, name: &str, counters: bool, per_device: bool, lists: bool) -> Value {
    let mut device = json!({"name": name, "attributes": attributes(chance, lists)});
    let is_shared = chance.percent(30);
    if chance.percent(60) {
        // Only shared devices have policies, or so an API server demands.
        let has_policies = is_shared || chance.percent(3);
        merge(&mut device, json!({"capacity": capacity(chance, has_policies)}));
    }
    if counters && chance.percent(80) {
        merge(&mut device, json!({"consumesCounters": consumption(chance)}));
    }
    if per_device {
        let mut reach = placement(chance);
        if reach.get("perDeviceNodeSelection").is_some() {
            reach = json!({"nodeName": "n1"});
        }
        merge(&mut device, reach);
    }
    if chance.percent(10) {
        let taints: Vec<_> = (0..chance.between(1, 2)).map(|_| taint(chance)).collect();
        merge(&mut device, json!({"taints": taints}));
    }
    if chance.percent(10) {
        merge(&mut device, json!({"bindingConditions": ["ready"], "bindingFailureConditions": ["failed"]}));
        if chance.percent(40) {
            merge(&mut device, json!({"bindsToNode": true}));
        }
    }
    if is_shared {
        merge(&mut device, json!({"allowMultipleAllocations": true}));
    }
    device
}

fn attributes(chance: &mut Chance, lists: bool) -> Value {
    let mut all = Map::new();
    if chance.percent(85) {
        all.insert("model".into(), json!({"string": chance.pick(MODELS)}));
    }
    if chance.percent(80) {
        all.insert("example.com/numa".into(), json!({"int": chance.below(3)}));
    }
    if chance.percent(30) {
        all.insert("fast".into(), json!({"bool": chance.percent(50)}));
    }
    if chance.percent(40) {
        all.insert("version".into(), json!({"version": chance.pick(&["1.0.0", "2.1.0", "2.1.0-rc.1"])}));
    }
    if chance.below(400) == 0 {
        all.insert("odd".into(), json!({}));
    }
    if lists && chance.percent(70) {
        let roots = chance.some(&["r0", "r1", "r2", "r3"], 45);
        let roots = if roots.is_empty() { vec!["r0"] } else { roots };
        let value = if chance.percent(80) { json!({"strings": roots}) } else { json!({"string": "r1"}) };
        all.insert("example.com/root".into(), value);
    } else if chance.percent(50) {
        all.insert("example.com/root".into(), json!({"string": chance.pick(&["r0", "r1"])}));
    }
    Value::Object(all)
}

fn capacity(chance: &mut Chance, has_policies: bool) -> Value {
    let mut memory = json!({"value": chance.pick(&["4", "8", "10", "8Gi"])});
    match chance.below(8) {
        _ if !has_policies => {}
        0 => merge(
            &mut memory,
            json!({"requestPolicy": {"default": "2",
            "validRange": {"min": "2", "step": "2", "max": "4"}}}),
        ),
        1 => merge(&mut memory, json!({"requestPolicy": {"default": "1", "validValues": ["1", "3", "4"]}})),
        2 => merge(&mut memory, json!({"requestPolicy": {"default": "1", "validRange": {"min": "1"}}})),
        3 => merge(
            &mut memory,
            json!({"requestPolicy": {"default": "500m",
            "validRange": {"min": "500m", "step": "250m"}}}),
        ),
        4 => merge(&mut memory, json!({"requestPolicy": {"default": "0", "validValues": ["0"]}})),
        _ => {}
    }
    let mut all = json!({"memory": memory});
    if chance.percent(20) {
        merge(&mut all, json!({"example.com/bw": {"value": chance.pick(crate::requests::AMOUNTS)}}));
    }
    all
}

fn consumption(chance: &mut Chance) -> Value {
    let sets = chance.some(&["cs0", "cs1"], 60);
    let sets: Vec<_> = sets
        .into_iter()
        .map(|set| {
            let set = if chance.below(200) > 0 { set } else { "missing" };
            let mut counters = json!({"memory": {"value": chance.pick(&["1", "2", "3", "5"])}});
            if chance.percent(50) {
                merge(&mut counters, json!({"slots": {"value": "1"}}));
            }
            let mut consumption = json!({"counterSet": set, "counters": counters});
            if chance.percent(6) {
                let groups = chance.some(&["mig", "vgpu"], 60);
                merge(&mut consumption, json!({"compatibilityGroups": groups}));
            }
            consumption
        })
        .collect();
    json!(sets)
}

/// A taint of a device.
pub fn taint(chance: &mut Chance) -> Value {
    json!({"key": chance.pick(&["broken", "maintenance"]), "value": chance.pick(&["", "yes"]),
        "effect": chance.pick(&["NoSchedule", "NoExecute", "None"])})
}
