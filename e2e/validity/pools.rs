//! Values to put in: those that stand in the same place in some other object, and nasty ones.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::bases::Base;
use crate::chance::Chance;

/// Texts at the edges of the forms that names, quantities, versions and expressions have.
pub const TEXTS: [&str; 44] = [
    "",
    " ",
    "a",
    "A",
    "-a",
    "a-",
    "a.b",
    "a..b",
    "a_b",
    "a/b",
    "a/b/c",
    "/a",
    "a/",
    "example.com/x",
    "Example.com/X",
    "requests.example.com/x",
    "kubernetes.io/x",
    "x.kubernetes.io/y",
    "gpu.example.com",
    "0",
    "007",
    "-1",
    "1",
    "1.5",
    "1Gi",
    "500m",
    "1e3",
    "1.2.3",
    "1.2",
    "v1.2.3",
    "true",
    "null",
    "Ünï",
    "a b",
    "*",
    "NoSchedule",
    "NoExecute",
    "None",
    "Always",
    "Never",
    "Equal",
    "Exists",
    "In",
    "All",
];

const NUMBERS: [i64; 20] = [
    -1,
    0,
    1,
    2,
    3,
    7,
    10,
    32,
    33,
    64,
    100,
    101,
    128,
    256,
    1000,
    65535,
    65536,
    2_147_483_647,
    2_147_483_648,
    i64::MAX,
];

/// Expressions that compile, and such that do not.
const EXPRESSIONS: [&str; 12] = [
    "true",
    "device.driver == \"gpu.example.com\"",
    "device.attributes[\"gpu.example.com\"].model == \"a\"",
    "device.capacity[\"gpu.example.com\"].memory.isGreaterThan(quantity(\"1Gi\"))",
    "device.attributes[\"a\"].b > 5 && !device.allowMultipleAllocations",
    "device.attributes[\"a\"].?b.orValue(1) == 1",
    "device.driver",
    "1 + true",
    "device.drivers == \"a\"",
    "device.",
    "nonsense(device)",
    "\"a\".matches(\"[\")",
];

/// What stands where in the bases.
pub struct Pools {
    /// By place, without indices and keys: the fields there, each with values.
    fields: BTreeMap<String, BTreeMap<String, Vec<Value>>>,
    /// By name alone.
    values: BTreeMap<String, Vec<Value>>,
}

impl Pools {
    pub fn of(bases: &[Base]) -> Self {
        let mut pools = Self { fields: BTreeMap::new(), values: BTreeMap::new() };
        for base in bases {
            let object = &base.object;
            let start = format!("{}/{}", object["apiVersion"], object["kind"]);
            pools.learn(&start, object);
        }
        pools
    }

    fn learn(&mut self, place: &str, value: &Value) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    let known =
                        self.fields.entry(place.to_owned()).or_default().entry(key.clone()).or_default();
                    add(known, value);
                    add(self.values.entry(key.clone()).or_default(), value);
                    self.learn(&inner(place, key), value);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.learn(place, item)),
            _ => {}
        }
    }

    /// A field that stands in such a place elsewhere.
    pub fn field(&self, place: &str, chance: &mut Chance) -> Option<(String, Value)> {
        let fields: Vec<_> = self.fields.get(place)?.iter().collect();
        let (name, values) = *chance.pick(&fields);
        Some((name.clone(), chance.pick(values).clone()))
    }

    /// A value that a field of that name has elsewhere.
    pub fn value(&self, name: &str, chance: &mut Chance) -> Option<Value> {
        self.values.get(name).map(|values| chance.pick(values).clone())
    }
}

fn add(known: &mut Vec<Value>, value: &Value) {
    if known.len() < 40 && !known.contains(value) {
        known.push(value.clone());
    }
}

/// The place of a field. The keys of labels and the like make no places of their own.
pub fn inner(place: &str, key: &str) -> String {
    let is_name = key.chars().all(|c| c.is_ascii_alphanumeric());
    if is_name && !place.ends_with("/attributes") && !place.ends_with("/capacity") {
        format!("{place}/{key}")
    } else {
        format!("{place}/*")
    }
}

/// Another value of the same type.
pub fn another(name: &str, old: &Value, chance: &mut Chance) -> Value {
    match old {
        Value::String(text) if name == "expression" || text.contains("device.") => {
            json!(chance.pick(&EXPRESSIONS))
        }
        Value::String(text) => json!(another_text(text, chance)),
        Value::Number(_) => json!(chance.pick(&NUMBERS)),
        Value::Bool(truth) => json!(!truth),
        _ => wrong_type(old, chance),
    }
}

/// Another text; sometimes the same with a flaw, or very long.
pub fn another_text(text: &str, chance: &mut Chance) -> String {
    match chance.below(8) {
        0 => format!("{text}-"),
        1 => text.to_uppercase(),
        2 => "a".repeat(*chance.pick(&[15, 16, 32, 33, 63, 64, 65, 129, 253, 254, 257])),
        3 => format!("{text}.{text}"),
        _ => (*chance.pick(&TEXTS)).to_owned(),
    }
}

/// A value of another type.
pub fn wrong_type(old: &Value, chance: &mut Chance) -> Value {
    let all = [
        json!(null),
        json!(true),
        json!(5),
        json!(1.5),
        json!("x"),
        json!(["x"]),
        json!({"x": "y"}),
        json!([]),
        json!({}),
    ];
    let same = |value: &&Value| std::mem::discriminant(*value) != std::mem::discriminant(old);
    let others: Vec<_> = all.iter().filter(same).collect();
    (*chance.pick(&others)).clone()
}
