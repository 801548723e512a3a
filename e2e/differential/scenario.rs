//! A world as a folder of e2e/scenarios: manifests with a pod for the claims, and its outcome.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::ours::{Answer, gates};
use crate::world::merge;

/// The manifests: everything in the world, and the pod `default/p` that asks for its claims.
pub fn manifests(world: &Value) -> String {
    let list = |key: &str| world[key].as_array().cloned().unwrap_or_default();
    let mut objects = vec![json!({"apiVersion": "v1", "kind": "Namespace", "metadata":
        {"name": "default", "labels": {"resource.kubernetes.io/admin-access": "true"}}})];
    for mut node in list("nodes") {
        let room = json!({"cpu": "64", "memory": "256Gi", "pods": "110"});
        let mut status = json!({"capacity": room, "allocatable": room,
            "conditions": [{"type": "Ready", "status": "True"}]});
        merge(&mut status, node["status"].clone());
        merge(&mut node, json!({"spec": {}, "status": status}));
        if !objects.contains(&node) {
            objects.push(node);
        }
    }
    for key in ["classes", "slices", "taintRules", "allocated", "claims"] {
        objects.extend(list(key));
    }
    let claims: Vec<_> = list("claims").iter().map(|claim| claim["metadata"]["name"].clone()).collect();
    let named: Vec<_> = claims.iter().map(|name| json!({"name": name, "resourceClaimName": name})).collect();
    let used: Vec<_> = claims.iter().map(|name| json!({"name": name})).collect();
    objects.push(json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "p", "namespace": "default", "uid": "uid-p"},
        "spec": {"resourceClaims": named, "containers": [{"name": "main",
            "image": "registry.example.com/app:1", "resources": {"claims": used}}]}}));
    let texts: Vec<_> = objects.iter().map(yaml).collect();
    texts.join("---\n")
}

/// What must come of it, if `answers` are the right ones.
pub fn expectation(world: &Value, answers: &[Answer]) -> Value {
    let placements = placements(world, answers);
    let mut pod = json!({"pod": "default/p", "node": null});
    let nodes: Vec<_> = placements.keys().collect();
    if let [node] = nodes[..] {
        pod = json!({"pod": "default/p", "node": node, "devices": placements[node]});
    } else if !nodes.is_empty() {
        pod = json!({"pod": "default/p", "node": {"any_of": nodes}, "devices_by_node": placements});
    }
    let gates: BTreeMap<_, _> = gates(world).into_iter().map(|(gate, on)| (gate.name(), on)).collect();
    json!({"note": "Found by e2e/differential.rs.", "feature_gates": gates, "pods": [pod]})
}

/// The devices of each request by node, for the nodes that the pod may be placed on.
pub fn placements(world: &Value, answers: &[Answer]) -> BTreeMap<String, BTreeMap<String, Vec<String>>> {
    if answers.iter().any(|answer| matches!(answer, Answer::Fatal(_) | Answer::CutOff)) {
        return BTreeMap::new();
    }
    let nodes = world["nodes"].as_array().into_iter().flatten();
    let fitting = nodes.zip(answers).filter_map(|(node, answer)| match answer {
        Answer::Fits(allocations) => Some((text(&node["metadata"]["name"]), devices(world, allocations))),
        _ => None,
    });
    fitting.collect()
}

fn devices(world: &Value, allocations: &Value) -> BTreeMap<String, Vec<String>> {
    let mut devices: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (at, allocation) in allocations.as_array().into_iter().flatten().enumerate() {
        let claim = text(&world["claims"][at]["metadata"]["name"]);
        for result in allocation["devices"]["results"].as_array().into_iter().flatten() {
            let [request, driver, pool, device] =
                ["request", "driver", "pool", "device"].map(|key| text(&result[key]));
            let held = devices.entry(format!("{claim}/{request}")).or_default();
            held.push(format!("{driver}/{pool}/{device}"));
        }
    }
    devices
}

/// Both files, to be pasted into a folder of e2e/scenarios.
pub fn files(world: &Value, answers: &[Answer]) -> String {
    let expected = yaml(&expectation(world, answers));
    format!("# input.yaml\n{}\n# expected.yaml\n{expected}", manifests(world))
}

fn yaml(value: &Value) -> String {
    serde_saphyr::to_string(value).expect("JSON can be written as YAML")
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
