//! Small and nasty worlds, as API objects: pools that share a name under two drivers, counters,
//! shares, taints, lists, incomplete, obsolete and invalid pools, every mode, several claims.

use serde_json::{Map, Value, json};

use crate::chance::Chance;

const DRIVERS: &[&str] = &["gpu.example.com", "nic.example.com"];
const POOLS: &[&str] = &["p1", "p2", "n1"];
const MODELS: &[&str] = &["a100", "h100", "l4"];
const AMOUNTS: &[&str] = &["1", "2", "3", "4", "10", "1500m", "2Gi", "8Gi"];

/// The gates of a world, by the allocator's names for them.
fn features(chance: &mut Chance) -> Value {
    let alpha = chance.percent(30);
    let mut on = |usual: usize| chance.percent(usual);
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
    })
}

/// One world: the question that upstream's allocator is asked.
pub fn world(chance: &mut Chance) -> Value {
    let features = features(chance);
    let lists = features["ListTypeAttributes"] == true;
    let slices = slices(chance, lists);
    let allocated = allocated(chance, &slices);
    json!({
        "features": features,
        "nodes": [node("n1", "z1"), node("n2", if chance.percent(50) { "z1" } else { "z2" })],
        "slices": slices,
        "classes": classes(),
        "claims": (0..*chance.pick(&[1, 1, 1, 2, 2, 3])).map(|i| claim(chance, i)).collect::<Vec<_>>(),
        "allocated": allocated,
        "timeoutMillis": 100,
    })
}

fn node(name: &str, zone: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {"zone": zone, "kubernetes.io/hostname": name}}})
}

fn classes() -> Value {
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

fn slices(chance: &mut Chance, lists: bool) -> Vec<Value> {
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
    if chance.percent(60) {
        merge(&mut device, json!({"capacity": capacity(chance)}));
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
    if chance.percent(30) {
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

fn capacity(chance: &mut Chance) -> Value {
    let mut memory = json!({"value": chance.pick(&["4", "8", "10", "8Gi"])});
    match chance.below(8) {
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
        merge(&mut all, json!({"example.com/bw": {"value": chance.pick(AMOUNTS)}}));
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

fn taint(chance: &mut Chance) -> Value {
    json!({"key": chance.pick(&["broken", "maintenance"]), "value": chance.pick(&["", "yes"]),
        "effect": chance.pick(&["NoSchedule", "NoExecute", "None"])})
}

fn claim(chance: &mut Chance, number: usize) -> Value {
    let requests: Vec<_> =
        (0..*chance.pick(&[1, 1, 1, 2, 2, 3])).map(|i| request(chance, &format!("r{i}"))).collect();
    let names = request_names(&requests);
    let mut devices = json!({"requests": requests});
    if chance.percent(45) {
        let constraints: Vec<_> = (0..chance.between(1, 2)).map(|_| constraint(chance, &names)).collect();
        merge(&mut devices, json!({"constraints": constraints}));
    }
    if chance.percent(25) {
        let requests = if chance.percent(40) { Vec::new() } else { chance.some(&names, 50) };
        merge(
            &mut devices,
            json!({"config": [{"requests": requests,
                "opaque": {"driver": "gpu.example.com", "parameters": {"from": "claim"}}}]}),
        );
    }
    json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": {"name": format!("c{number}"), "namespace": "default", "uid": format!("uid-c{number}")},
        "spec": {"devices": devices}})
}

fn request_names(requests: &[Value]) -> Vec<String> {
    let mut names = Vec::new();
    for request in requests {
        let name = request["name"].as_str().unwrap_or_default();
        names.push(name.to_owned());
        for sub in request["firstAvailable"].as_array().into_iter().flatten() {
            names.push(format!("{name}/{}", sub["name"].as_str().unwrap_or_default()));
        }
    }
    names
}

fn request(chance: &mut Chance, name: &str) -> Value {
    if chance.percent(75) {
        let mut asked = requirement(chance);
        if chance.percent(8) {
            merge(&mut asked, json!({"adminAccess": chance.percent(80)}));
        }
        return json!({"name": name, "exactly": asked});
    }
    let alternatives: Vec<_> = (0..chance.between(1, 3))
        .map(|i| {
            let mut alternative = json!({"name": format!("s{i}")});
            merge(&mut alternative, requirement(chance));
            alternative
        })
        .collect();
    json!({"name": name, "firstAvailable": alternatives})
}

fn requirement(chance: &mut Chance) -> Value {
    let class =
        if chance.below(200) > 0 { *chance.pick(&["gpu", "gpu", "nic", "any", "dedicated"]) } else { "none" };
    let mut asked = json!({"deviceClassName": class});
    if chance.percent(90) {
        merge(
            &mut asked,
            json!({"allocationMode": "ExactCount", "count": *chance.pick(&[1, 1, 1, 1, 2, 2, 3, 5])}),
        );
    } else {
        merge(&mut asked, json!({"allocationMode": "All"}));
    }
    if chance.percent(40) {
        let selectors: Vec<_> =
            (0..chance.between(1, 2)).map(|_| json!({"cel": {"expression": expression(chance)}})).collect();
        merge(&mut asked, json!({"selectors": selectors}));
    }
    if chance.percent(25) {
        merge(&mut asked, json!({"tolerations": [toleration(chance)]}));
    }
    if chance.percent(15) {
        let key = *chance.pick(&["memory", "memory", "memory", "example.com/bw", "nothing"]);
        merge(&mut asked, json!({"capacity": {"requests": {key: chance.pick(AMOUNTS)}}}));
    }
    asked
}

fn toleration(chance: &mut Chance) -> Value {
    let mut toleration = json!({"operator": chance.pick(&["Exists", "Equal"])});
    if chance.percent(80) {
        merge(&mut toleration, json!({"key": chance.pick(&["broken", "maintenance"])}));
    }
    if chance.percent(30) {
        merge(&mut toleration, json!({"value": "yes"}));
    }
    if chance.percent(40) {
        merge(&mut toleration, json!({"effect": chance.pick(&["NoSchedule", "NoExecute"])}));
    }
    toleration
}

/// Selectors that tell devices apart; the last one fails on some.
const EXPRESSIONS: &[&str] = &[
    "'gpu.example.com' in device.attributes && has(device.attributes['gpu.example.com'].model) && device.attributes['gpu.example.com'].model == 'a100'",
    "device.attributes['example.com'].?numa.orValue(9) < 2",
    "device.attributes['gpu.example.com'].?model.orValue('') != 'l4'",
    "device.capacity['gpu.example.com'].?memory.orValue(quantity('0')).compareTo(quantity('5')) >= 0",
    "!has(device.attributes['nic.example.com'].fast) || device.attributes['nic.example.com'].fast",
    "device.attributes['gpu.example.com'].?version.orValue(semver('0.0.0')).isGreaterThan(semver('1.5.0'))",
    "device.allowMultipleAllocations",
    "device.driver.startsWith('gpu')",
    "true",
    "device.attributes['example.com'].numa == 0",
];

fn expression(chance: &mut Chance) -> &'static str {
    let safe = EXPRESSIONS.len() - usize::from(chance.percent(95));
    EXPRESSIONS[chance.below(safe)]
}

fn constraint(chance: &mut Chance, names: &[String]) -> Value {
    let attribute = *chance.pick(&[
        "example.com/numa",
        "example.com/root",
        "gpu.example.com/model",
        "gpu.example.com/version",
    ]);
    let kind = if chance.percent(70) { "matchAttribute" } else { "distinctAttribute" };
    let mut constraint = json!({kind: attribute});
    if chance.percent(40) {
        merge(&mut constraint, json!({"requests": chance.some(names, 60)}));
    }
    constraint
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
            claims.push(json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
                "metadata": {"name": format!("held-{}", claims.len()), "namespace": "default",
                    "uid": format!("uid-held-{}", claims.len())},
                "spec": {"devices": {"requests": [{"name": "r", "exactly":
                    {"deviceClassName": "any", "allocationMode": "ExactCount", "count": 1}}]}},
                "status": {"allocation": {"devices": {"results": [result]}}}}));
        }
    }
    claims
}

fn merge(into: &mut Value, more: Value) {
    if let (Value::Object(into), Value::Object(more)) = (into, more) {
        into.extend(more);
    }
}
