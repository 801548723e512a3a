//! Random devices that expressions are evaluated on, for both sides.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use stowplan::k8s::decode::{self, Interner};
use stowplan::k8s::tree::Node as Tree;
use stowplan::model::DeviceContent;

use crate::chance::Chance;
use crate::literals::IDS;
use crate::numbers;

/// A device as the API writes it, and as this project reads it.
pub struct Device {
    pub json: Value,
    pub driver: String,
    pub content: Arc<DeviceContent>,
}

/// A device that has what expressions ask for, or some of it, or seldom what no expression accepts.
/// `lists` tells whether the release knows attributes that are lists.
pub fn device(chance: &mut Chance, lists: bool) -> Device {
    let driver = *chance.pick(&["gpu.example.com", "gpu.example.com", "gpu.example.com", "net.example.com"]);
    let mut attributes = Map::new();
    let mut capacity = Map::new();
    for id in IDS {
        let key = match chance.below(10) {
            0 => format!("net.example.com/{id}"),
            1 => format!("gpu.example.com/{id}"),
            2 => continue,
            _ => (*id).to_owned(),
        };
        if *id == "missing" {
            continue;
        }
        if matches!(*id, "memory" | "bandwidth" | "size") {
            if let Ok(text) = amount(chance) {
                capacity.insert(key, json!({"value": text}));
            }
            continue;
        }
        if !matches!(*id, "ints" | "strings" | "bools" | "versions") || lists {
            attributes.insert(key, attribute(chance, id));
        }
    }
    if chance.percent(2) {
        attributes.insert("bad".to_owned(), chance.pick(&[json!({}), json!({"version": "1.2"})]).clone());
    }
    let mut json = json!({"driver": driver, "attributes": attributes, "capacity": capacity});
    if chance.percent(50) {
        json["allowMultipleAllocations"] = json!(chance.percent(70));
    }
    Device { content: read(&json), driver: driver.to_owned(), json }
}

/// An amount that an API server lets in.
fn amount(chance: &mut Chance) -> Result<String, stowplan::model::QuantityError> {
    let text = match chance.below(3) {
        0 => numbers::quantity(chance),
        _ => (*chance.pick(&["40Gi", "80Gi", "1Gi", "100M", "0", "1500m", "1e3"])).to_owned(),
    };
    stowplan::model::Quantity::parse(&text).map(|_| text)
}

fn attribute(chance: &mut Chance, id: &str) -> Value {
    let kind = if chance.percent(90) { id } else { *chance.pick(&["model", "count", "ecc", "version"]) };
    let some = |chance: &mut Chance, values: &[Value]| Value::from(chance.some(values, 50));
    match kind {
        "count" => json!({"int": *chance.pick(&[0_i64, 1, 2, 8, -1, 40, i64::MAX, i64::MIN])}),
        "ecc" => json!({"bool": chance.percent(50)}),
        "version" => {
            json!({"version": *chance.pick(&["1.2.3", "1.2.3-rc.1", "0.0.0", "10.0.0+build", "2.0.0"])})
        }
        "ints" => json!({"ints": some(chance, &[json!(1), json!(2), json!(3), json!(3), json!(-5)])}),
        "strings" => {
            json!({"strings": some(chance, &[json!("a"), json!("b"), json!(""), json!("A100"), json!("é")])})
        }
        "bools" => json!({"bools": some(chance, &[json!(true), json!(false), json!(true)])}),
        "versions" => {
            json!({"versions": some(chance, &[json!("1.0.0"), json!("1.0.0+b"), json!("2.0.0-a"), json!("2.0.0")])})
        }
        _ => json!({"string": *chance.pick(&["A100", "a", "", "gpu", "1.2.3", "10.0.0.1", "日本語", "1Gi"])}),
    }
}

/// The content of a device as it comes out of a slice.
fn read(device: &Value) -> Arc<DeviceContent> {
    let mut in_slice = device.clone();
    in_slice["name"] = json!("device");
    let slice = json!({"metadata": {"name": "slice"}, "spec": {"driver": device["driver"],
        "pool": {"name": "pool", "generation": 1, "resourceSliceCount": 1}, "allNodes": true,
        "devices": [in_slice]}});
    let slice = decode::slice(&Tree::from(&slice), &mut Interner::default()).expect("a device can be read");
    Arc::clone(&slice.devices[0].content)
}
