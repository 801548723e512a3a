//! Worlds of a realistic cluster: nodes with eight GPUs that can be cut into partitions, network
//! cards that are shared by bandwidth, and pods with a claim or two for several of them.

use serde_json::{Value, json};

use crate::chance::Chance;

/// The GPUs of a node.
const GPUS: usize = 8;

/// A cluster of eight to forty nodes; the claims are asked of some of them.
pub fn cluster(chance: &mut Chance) -> Value {
    let nodes = chance.between(8, 40);
    let mut slices = Vec::new();
    let mut allocated = Vec::new();
    for node in 0..nodes {
        let name = format!("node-{node:02}");
        let busy = *chance.pick(&[0, 20, 60, 95]);
        let gpus: Vec<_> = (0..GPUS).flat_map(gpu).collect();
        for device in gpus.iter().chain(&nics()) {
            let device = device["name"].as_str().unwrap_or_default();
            // A whole GPU takes all that its partitions are made of, so few can be held.
            if chance.percent(busy) && !device.contains("mig") && !device.starts_with("nic") {
                allocated.push(holder(&name, device, allocated.len()));
            }
        }
        slices.extend(node_slices(&name, &gpus));
    }
    slices.sort_by(|a, b| a["metadata"]["name"].as_str().cmp(&b["metadata"]["name"].as_str()));
    let asked: Vec<_> = (0..6).map(|_| chance.below(nodes)).collect();
    json!({
        "features": features(),
        "nodes": asked.into_iter().map(node).collect::<Vec<_>>(),
        "slices": slices,
        "classes": classes(),
        "claims": (0..chance.between(1, 3)).map(|i| claim(chance, i)).collect::<Vec<_>>(),
        "allocated": allocated,
        "timeoutMillis": 500,
    })
}

/// The stock gates, by the allocator's names for them.
pub fn features() -> Value {
    json!({"AdminAccess": true, "PrioritizedList": true, "PartitionableDevices": true,
        "DeviceTaints": true, "DeviceBindingAndStatus": true, "ConsumableCapacity": true})
}

fn node(number: usize) -> Value {
    let name = format!("node-{number:02}");
    json!({"apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}})
}

fn classes() -> Value {
    let class = |name: &str, expression: &str| {
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": name},
            "spec": {"selectors": [{"cel": {"expression": expression}}]}})
    };
    json!([
        class(
            "gpu",
            "device.driver == 'gpu.example.com' && device.attributes['gpu.example.com'].type == 'gpu'"
        ),
        class(
            "mig",
            "device.driver == 'gpu.example.com' && device.attributes['gpu.example.com'].type == 'mig'"
        ),
        class("nic", "device.driver == 'nic.example.com'"),
    ])
}

/// A GPU and its partitions: seven of an eighth and two of a half.
fn gpu(number: usize) -> Vec<Value> {
    let device = |name: String, kind: &str, memory: usize, slots: usize| {
        json!({"name": name,
            "attributes": {"type": {"string": kind}, "index": {"int": number},
                "example.com/numa": {"int": number / 4}, "example.com/root": {"string": format!("r{}", number / 2)}},
            "capacity": {"memory": {"value": format!("{memory}Gi")}},
            "consumesCounters": [{"counterSet": format!("gpu-{number}"), "counters": {
                "memory": {"value": format!("{memory}Gi")}, "slots": {"value": slots.to_string()}}}]})
    };
    let eighths = (0..7).map(|i| device(format!("gpu-{number}-mig-1g-{i}"), "mig", 10, 1));
    let halves = (0..2).map(|i| device(format!("gpu-{number}-mig-3g-{i}"), "mig", 40, 3));
    std::iter::once(device(format!("gpu-{number}"), "gpu", 80, 7)).chain(eighths).chain(halves).collect()
}

fn nics() -> Vec<Value> {
    let nic = |i: usize| {
        json!({"name": format!("nic-{i}"), "allowMultipleAllocations": true,
            "attributes": {"example.com/numa": {"int": i / 2}, "example.com/root": {"string": format!("r{i}")}},
            "capacity": {"bandwidth": {"value": "100", "requestPolicy":
                {"default": "10", "validRange": {"min": "10", "step": "10"}}}}})
    };
    (0..4).map(nic).collect()
}

fn node_slices(node: &str, gpus: &[Value]) -> Vec<Value> {
    let slice = |name: String, driver: &str, count: usize, body: (&str, Value)| {
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": name},
            "spec": {"driver": driver, "nodeName": node, body.0: body.1,
                "pool": {"name": node, "generation": 1, "resourceSliceCount": count}}})
    };
    let sets: Vec<_> = (0..GPUS)
        .map(|i| {
            json!({"name": format!("gpu-{i}"),
                "counters": {"memory": {"value": "80Gi"}, "slots": {"value": "7"}}})
        })
        .collect();
    let halves = gpus.chunks(gpus.len() / 2).enumerate();
    let mut slices: Vec<_> = halves
        .map(|(i, part)| slice(format!("{node}-gpu-{i}"), "gpu.example.com", 3, ("devices", json!(part))))
        .collect();
    slices.push(slice(format!("{node}-counters"), "gpu.example.com", 3, ("sharedCounters", json!(sets))));
    slices.push(slice(format!("{node}-nic"), "nic.example.com", 1, ("devices", json!(nics()))));
    slices
}

fn holder(node: &str, device: &str, number: usize) -> Value {
    let result = json!({"request": "r", "driver": "gpu.example.com", "pool": node, "device": device});
    json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": {"name": format!("held-{number}"), "namespace": "default", "uid": format!("held-{number}")},
        "spec": {"devices": {"requests": [{"name": "r", "exactly":
            {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}}]}},
        "status": {"allocation": {"devices": {"results": [result]}}}})
}

fn claim(chance: &mut Chance, number: usize) -> Value {
    let exactly = |class: &str, count: usize| json!({"deviceClassName": class, "allocationMode": "ExactCount", "count": count});
    let mut gpu = exactly(if chance.percent(50) { "gpu" } else { "mig" }, *chance.pick(&[1, 1, 2, 4, 8]));
    if chance.percent(30) {
        let enough = "device.capacity['gpu.example.com'].memory.compareTo(quantity('40Gi')) >= 0";
        gpu["selectors"] = json!([{"cel": {"expression": enough}}]);
    }
    let mut requests = vec![if chance.percent(75) {
        json!({"name": "gpu", "exactly": gpu})
    } else {
        gpu["name"] = json!("first");
        let mut second = exactly("mig", chance.between(1, 3));
        second["name"] = json!("second");
        json!({"name": "gpu", "firstAvailable": [gpu, second]})
    }];
    if chance.percent(50) {
        let mut nic = exactly("nic", chance.between(1, 2));
        nic["capacity"] = json!({"requests": {"bandwidth": chance.pick(&["5", "10", "35", "60", "100"])}});
        requests.push(json!({"name": "nic", "exactly": nic}));
    }
    let mut devices = json!({"requests": requests});
    if chance.percent(50) {
        let attribute = *chance.pick(&["example.com/numa", "example.com/root"]);
        devices["constraints"] = json!([{"matchAttribute": attribute}]);
    }
    json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": {"name": format!("c{number}"), "namespace": "default", "uid": format!("uid-c{number}")},
        "spec": {"devices": devices}})
}
