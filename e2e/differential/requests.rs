//! Random claims: every mode, lists of alternatives, selectors, constraints and configuration.

use serde_json::{Value, json};

use crate::chance::Chance;
use crate::world::merge;

/// Amounts of capacity.
pub const AMOUNTS: &[&str] = &["1", "2", "3", "4", "10", "1500m", "2Gi", "8Gi"];
/// Amounts at the edge of what can be counted.
const ODD_AMOUNTS: &[&str] = &["-1", "0", "1m", "9223372036854775807", "18446744073709551616", "8Ei"];

/// A claim for one to three requests. `derived` says whether they may compute attributes.
pub fn claim(chance: &mut Chance, number: usize, derived: bool) -> Value {
    let requests: Vec<_> =
        (0..*chance.pick(&[1, 1, 1, 2, 2, 3])).map(|i| request(chance, &format!("r{i}"), derived)).collect();
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

fn request(chance: &mut Chance, name: &str, derived: bool) -> Value {
    if chance.percent(75) {
        let mut asked = requirement(chance, derived);
        if chance.percent(8) {
            merge(&mut asked, json!({"adminAccess": chance.percent(80)}));
        }
        return json!({"name": name, "exactly": asked});
    }
    let alternatives: Vec<_> = (0..*chance.pick(&[1, 2, 2, 3, 3, 8]))
        .map(|i| {
            let mut alternative = json!({"name": format!("s{i}")});
            merge(&mut alternative, requirement(chance, derived));
            alternative
        })
        .collect();
    json!({"name": name, "firstAvailable": alternatives})
}

fn requirement(chance: &mut Chance, derived: bool) -> Value {
    let class =
        if chance.below(200) > 0 { *chance.pick(&["gpu", "gpu", "nic", "any", "dedicated"]) } else { "none" };
    let mut asked = json!({"deviceClassName": class});
    let counts = if chance.percent(98) { COUNTS } else { MANY };
    let count = *chance.pick(counts);
    if chance.percent(90) {
        merge(&mut asked, json!({"allocationMode": "ExactCount", "count": count}));
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
        let amounts = if chance.percent(4) { ODD_AMOUNTS } else { AMOUNTS };
        merge(&mut asked, json!({"capacity": {"requests": {key: chance.pick(amounts)}}}));
    }
    if derived && chance.percent(40) {
        let expression = chance.pick(DERIVED);
        let attribute = json!({"name": "example.com/numa", "expression": expression});
        merge(&mut asked, json!({"derivedAttributes": [attribute]}));
    }
    asked
}

fn toleration(chance: &mut Chance) -> Value {
    let mut toleration = json!({"operator": chance.pick(&["Exists", "Equal"])});
    if chance.percent(80) {
        merge(&mut toleration, json!({"key": chance.pick(&["broken", "maintenance"])}));
    }
    let takes_value = toleration["operator"] == "Equal" || chance.percent(3);
    if takes_value && chance.percent(60) {
        merge(&mut toleration, json!({"value": "yes"}));
    }
    if chance.percent(40) {
        merge(&mut toleration, json!({"effect": chance.pick(&["NoSchedule", "NoExecute"])}));
    }
    toleration
}

/// How many devices a request asks for.
const COUNTS: &[i64] = &[1, 1, 1, 1, 2, 2, 3, 5];
/// The same at the limit of a claim.
const MANY: &[i64] = &[16, 31, 32, 33, 1 << 62];

/// What a derived attribute is computed from; the last ones fail.
const DERIVED: &[&str] = &[
    "device.attributes['gpu.example.com'].?model.orValue('none')",
    "device.attributes['example.com'].?numa.orValue(7)",
    "device.driver == 'gpu.example.com'",
    "[1, 2]",
    "device.attributes['example.com'].numa + 1",
    "device",
];

/// Selectors that tell devices apart; the last three fail, or fail on some.
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
    "device.attributes['example.com'].?root.orValue('').size() > 1",
    "device.nothing == 1",
];

fn expression(chance: &mut Chance) -> &'static str {
    let safe = EXPRESSIONS.len() - if chance.percent(95) { 3 } else { 0 };
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
