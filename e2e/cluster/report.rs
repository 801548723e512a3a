//! Reports as values that can be compared: of a live cluster, of kube-scheduler, of `simulate`.

use std::collections::BTreeMap;

use serde_json::Value;

/// What became of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The node; `None` if it stays pending.
    pub node: Option<String>,
    /// Devices by the pod's name for the claim (empty for extended resources), in order.
    pub claims: BTreeMap<String, Vec<String>>,
}

/// What became of the pods that were to be scheduled, by namespace and name.
pub type Placements = BTreeMap<String, Placed>;

/// Reads the `pods` of a report.
pub fn placements(report: &Value) -> Placements {
    let pods = report["pods"].as_array().expect("a report has pods");
    pods.iter().map(|pod| (text(&pod["pod"]), placed(pod))).collect()
}

fn placed(pod: &Value) -> Placed {
    let claims = pod["claims"].as_array().cloned().unwrap_or_default();
    let node = pod["node"].as_str().map(str::to_owned);
    // A claim that other pods hold has devices, whatever becomes of this one.
    let claims = claims.iter().filter(|_| node.is_some()).map(|claim| {
        let devices = claim["devices"].as_array().cloned().unwrap_or_default();
        (claim["podClaim"].as_str().unwrap_or_default().to_owned(), devices.iter().map(device).collect())
    });
    Placed { claims: claims.collect(), node }
}

/// A device as one line. Share ids are random; that there is one matters.
fn device(device: &Value) -> String {
    let [request, driver, pool, name] =
        ["request", "driver", "pool", "device"].map(|field| text(&device[field]));
    let share = if device["shareID"].is_string() { " shared" } else { "" };
    let admin = if device["adminAccess"] == true { " admin" } else { "" };
    let consumed = device["consumedCapacity"].as_object().cloned().unwrap_or_default();
    let consumed: BTreeMap<_, _> = consumed.iter().map(|(key, amount)| (key.clone(), text(amount))).collect();
    let consumed = if consumed.is_empty() { String::new() } else { format!(" {consumed:?}") };
    format!("{request}: {driver}/{pool}/{name}{share}{admin}{consumed}")
}

/// What a scheduler says of a pending pod, without upstream's words about preemption and the
/// device-level reasons of `simulate`.
pub fn status_line(report: &Value, pod: &str) -> Option<String> {
    let entry = report["pods"].as_array()?.iter().find(|entry| entry["pod"] == pod)?;
    let message = entry["message"].as_str()?;
    let end = message.find(" preemption: ").unwrap_or(message.len());
    Some(message.get(..end)?.to_owned())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
