//! Compares a report with an `expected.yaml`; e2e/scenarios/README.md describes its keys.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Map, Value};

use super::command::{Run, stowplan};

/// Where a run differs from what is expected.
#[derive(Default)]
pub struct Misses {
    /// What must hold.
    pub hard: Vec<String>,
    /// What is wished for: the words of an explanation.
    pub soft: Vec<String>,
}

/// Keys that a reader needs and the check does not.
const REMARKS: &[&str] =
    &["case", "source", "note", "order", "since", "upstream_1_37_2", "time_limit_seconds", "best_fit_option"];

/// Runs a scenario and compares.
pub fn check(scenario: &Path) -> Misses {
    let text = std::fs::read_to_string(scenario.join("expected.yaml")).expect("expected.yaml can be read");
    let expected: Value = serde_saphyr::from_str(&text).expect("expected.yaml is YAML");
    let run = simulate(scenario, &expected);
    let mut misses = Misses::default();
    if run.code > 1 {
        misses.hard.push(format!("exit code {}: {}", run.code, run.stderr));
        return misses;
    }
    let report = run.json();
    for (key, value) in expected.as_object().expect("a map") {
        check_key(key, value, &report, &mut misses);
    }
    check_unexpected(&expected, &report, &mut misses);
    let clean = list(&report["invalid"]).is_empty()
        && list(&report["pods"]).iter().all(|pod| !pod["node"].is_null() && pod["message"].is_null());
    if run.code != i32::from(!clean) {
        misses.hard.push(format!("exit code {} does not go with the report", run.code));
    }
    misses
}

fn simulate(scenario: &Path, expected: &Value) -> Run {
    let input = expected["input"].as_str().unwrap_or("input.yaml");
    let input = scenario.join(input).display().to_string();
    let mut arguments =
        vec!["simulate".to_owned(), "-f".to_owned(), input, "-o".to_owned(), "json".to_owned()];
    if let Some(gates) = expected["feature_gates"].as_object() {
        let gates: Vec<_> = gates.iter().map(|(gate, on)| format!("{gate}={on}")).collect();
        arguments.push(format!("--feature-gates={}", gates.join(",")));
    }
    arguments.extend(strings(&expected["arguments"]));
    stowplan(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

fn check_key(key: &str, value: &Value, report: &Value, misses: &mut Misses) {
    let pods = list(&report["pods"]);
    let count = |placed: bool| pods.iter().filter(|pod| pod["node"].is_null() != placed).count() as u64;
    let mut hard = |holds: bool, what: String| {
        if !holds {
            misses.hard.push(what);
        }
    };
    match key {
        "pods" => {
            for expected in list(value) {
                check_pod(&expected, &pods, misses);
            }
        }
        "pods_in_order" => {
            let taken: Vec<_> = pods.iter().map(|pod| text(&pod["pod"])).collect();
            hard(taken == strings(value), format!("pods were taken in the order {taken:?}"));
        }
        "input_errors" => {
            for expected in list(value) {
                check_finding(&expected, report, misses);
            }
        }
        "distinct_devices" => {
            let mut seen = BTreeSet::new();
            let twice: Vec<_> =
                claims(&pods).into_values().flatten().filter(|d| !seen.insert(d.clone())).collect();
            hard(twice.is_empty(), format!("held by two claims: {twice:?}"));
        }
        "scheduled_count" => {
            hard(value.as_u64() == Some(count(true)), format!("{} pods are placed", count(true)));
        }
        "pending_count" => hard(value.as_u64() == Some(count(false)), format!("{} pods wait", count(false))),
        "must_not_evict" => {
            let out: Vec<_> = strings(value)
                .into_iter()
                .filter(|name| pods.iter().any(|pod| pod["pod"] == **name))
                .collect();
            hard(out.is_empty(), format!("pods that run are scheduled anew: {out:?}"));
        }
        "device_usage" => check_usage(value, &pods, misses),
        "claims" => {
            let held = claims(&pods);
            for (claim, state) in value.as_object().into_iter().flatten() {
                let allocated = held.get(claim).is_some_and(|devices| !devices.is_empty());
                let expected = state["allocated"].as_bool();
                hard(expected == Some(allocated), format!("{claim}: allocated is {allocated}"));
            }
        }
        "input_errors_optional" | "input" | "arguments" | "feature_gates" => {}
        other => hard(REMARKS.contains(&other), format!("unknown key {other}")),
    }
}

fn check_pod(expected: &Value, pods: &[Value], misses: &mut Misses) {
    let name = text(&expected["pod"]);
    let Some(pod) = pods.iter().find(|pod| pod["pod"] == *name) else {
        misses.hard.push(format!("{name} is not in the report"));
        return;
    };
    let message = text(&pod["message"]);
    let actual = devices(pod);
    let mut miss = |what: String| misses.hard.push(format!("{name}: {what}; {pod}"));
    for (key, value) in expected.as_object().expect("a map") {
        match key.as_str() {
            "node" if !node_matches(value, &pod["node"]) => miss(format!("node is not {value}")),
            "devices" => {
                if let Some(what) = devices_differ(value, &actual) {
                    miss(what);
                }
            }
            "devices_by_node" => {
                if let Some(what) = devices_differ(&value[text(&pod["node"])], &actual) {
                    miss(what);
                }
            }
            "extended_resources" if extended(pod) != *value => miss(format!("not {value}")),
            "reason_contains" => {
                for words in strings(value).iter().filter(|words| !message.contains(&***words)) {
                    miss(format!("the message lacks {words:?}"));
                }
            }
            "reason_contains_any" if !strings(value).iter().any(|words| message.contains(&**words)) => {
                miss(format!("the message has none of {value}"));
            }
            "warning_contains" => {
                for words in strings(value).iter().filter(|words| !message.contains(&***words)) {
                    miss(format!("the warning lacks {words:?}"));
                }
            }
            "result_must_have" | "consumed_capacity" => {
                for (request, fields) in value.as_object().into_iter().flatten() {
                    let fields = if key == "consumed_capacity" {
                        Value::from_iter([("consumedCapacity", fields.clone())])
                    } else {
                        fields.clone()
                    };
                    if !results_have(pod, request, &fields) {
                        miss(format!("a result of {request} lacks {fields}"));
                    }
                }
            }
            _ => {}
        }
    }
    let wished = strings(&expected["explain_should_mention"]);
    let wished = wished
        .iter()
        .chain(strings(&expected["reason_for_node"]["contains"]).iter())
        .cloned()
        .collect::<Vec<_>>();
    for words in wished.iter().filter(|words| !message.contains(&***words)) {
        misses.soft.push(format!("{name}: the message does not mention {words:?}: {message}"));
    }
}

fn check_finding(expected: &Value, report: &Value, misses: &mut Misses) {
    let found = list(&report["invalid"]).into_iter().any(|finding| {
        finding["object"] == expected["object"]
            && text(&finding["field"]).starts_with(text(&expected["field"]))
            && strings(&expected["message_contains"]).iter().all(|w| text(&finding["message"]).contains(&**w))
            && strings(&expected["hint_contains"]).iter().all(|w| text(&finding["hint"]).contains(&**w))
            && finding["line"].as_u64().is_some_and(|line| line > 0)
            && expected["line"].as_u64().is_none_or(|line| finding["line"].as_u64() == Some(line))
    });
    if !found {
        misses.hard.push(format!("no such finding: {expected}; {}", report["invalid"]));
    }
}

/// No object may be called invalid that is not expected to be.
fn check_unexpected(expected: &Value, report: &Value, misses: &mut Misses) {
    let known: Vec<_> =
        list(&expected["input_errors"]).into_iter().chain(list(&expected["input_errors_optional"])).collect();
    for finding in list(&report["invalid"]) {
        if !known.iter().any(|known| known["object"] == finding["object"]) {
            misses.hard.push(format!("unexpected finding: {finding}"));
        }
    }
}

fn check_usage(expected: &Value, pods: &[Value], misses: &mut Misses) {
    for (node, usage) in expected.as_object().into_iter().flatten() {
        let on_node = pods.iter().filter(|pod| pod["node"] == **node).cloned().collect::<Vec<_>>();
        let held: BTreeSet<_> = claims(&on_node).into_values().flatten().collect();
        if usage["devices_in_use"].as_u64() != Some(held.len() as u64) {
            misses.hard.push(format!("{node}: the pods hold {held:?}"));
        }
    }
}

fn node_matches(expected: &Value, actual: &Value) -> bool {
    match expected["any_of"].as_array() {
        Some(nodes) => nodes.contains(actual),
        None => expected == actual,
    }
}

fn devices_differ(expected: &Value, actual: &BTreeMap<String, Vec<String>>) -> Option<String> {
    let empty = Map::new();
    let expected = expected.as_object().unwrap_or(&empty);
    let requests: BTreeSet<_> = expected.keys().chain(actual.keys()).collect();
    requests.into_iter().find_map(|request| {
        let held = actual.get(request).cloned().unwrap_or_default();
        let wanted = expected.get(request).unwrap_or(&Value::Null);
        let same = match wanted["any_one_of"].as_array() {
            Some(choice) => held.len() == 1 && choice.contains(&Value::from(held[0].clone())),
            None => sorted(&held) == sorted(&strings(wanted)),
        };
        (!same).then(|| format!("{request} holds {held:?} instead of {wanted}"))
    })
}

fn sorted(names: &[String]) -> Vec<&String> {
    let mut names: Vec<_> = names.iter().collect();
    names.sort();
    names
}

/// Devices by `pod-claim/request`.
fn devices(pod: &Value) -> BTreeMap<String, Vec<String>> {
    let mut held: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for claim in list(&pod["claims"]).iter().filter(|claim| !claim["podClaim"].is_null()) {
        for device in list(&claim["devices"]) {
            let key = format!("{}/{}", text(&claim["podClaim"]), text(&device["request"]));
            held.entry(key).or_default().push(id(&device));
        }
    }
    held
}

fn results_have(pod: &Value, request: &str, fields: &Value) -> bool {
    let mut any = false;
    for claim in list(&pod["claims"]) {
        for device in list(&claim["devices"]) {
            let prefix = text(&claim["podClaim"]);
            let name = text(&device["request"]);
            if request != name && request != format!("{prefix}/{name}") {
                continue;
            }
            any = true;
            if !fields.as_object().into_iter().flatten().all(|(field, value)| device[field] == *value) {
                return false;
            }
        }
    }
    any
}

fn extended(pod: &Value) -> Value {
    let mut served = Map::new();
    for claim in list(&pod["claims"]) {
        for (resource, devices) in claim["extendedResource"].as_object().into_iter().flatten() {
            served.insert(resource.clone(), list(devices).iter().map(id).collect());
        }
    }
    Value::Object(served)
}

/// Devices by claim; a claim that several pods share stands there once.
fn claims(pods: &[Value]) -> BTreeMap<String, Vec<String>> {
    let claims = pods.iter().flat_map(|pod| list(&pod["claims"]));
    claims
        .map(|claim| (text(&claim["claim"]).to_owned(), list(&claim["devices"]).iter().map(id).collect()))
        .collect()
}

fn id(device: &Value) -> String {
    format!("{}/{}/{}", text(&device["driver"]), text(&device["pool"]), text(&device["device"]))
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn strings(value: &Value) -> Vec<String> {
    list(value).iter().map(|item| text(item).to_owned()).collect()
}
