//! Reads the published part of a case: gates, node, classes, slices.

use std::sync::Arc;

use stowplan::model::selection::{Requirement, SelectorOperator};
use stowplan::model::{
    AttributeValue, Capacity, CounterConsumption, CounterSet, Device, DeviceClass, DeviceConfig,
    DeviceContent, DeviceSelector, FeatureGate, Features, KubernetesVersion, Labels, Name, Node, NodeName,
    NodeSelector, NodeSelectorTerm, OpaqueConfig, Placement, PoolId, Quantity, RequestPolicy, ResourceSlice,
    Taint, TaintEffect, ValidAmounts,
};

use super::text::{Block, expand, pairs};

/// Only the gates named are on.
pub fn features(names: &str) -> Features {
    let names: Vec<String> = names.split_whitespace().map(|name| format!("DRA{name}")).collect();
    let known = |name: &String| FeatureGate::ALL.iter().any(|gate| gate.name() == name);
    assert!(names.iter().all(known), "an unknown gate among {names:?}");
    FeatureGate::ALL.iter().fold(Features::of(KubernetesVersion::V1_37), |features, gate| {
        features.with(*gate, names.iter().any(|name| name == gate.name()))
    })
}

/// The node of a case.
pub fn node(block: Option<&Block<'_>>) -> Node {
    let text = block.map_or("node-1 planet=earth region=region-1", Block::rest);
    let (name, labels) = text.split_once(' ').unwrap_or((text, ""));
    Node {
        name: NodeName::from(name),
        labels: pairs(labels).map(|(key, value)| (Name::from(key), Name::from(value))).collect::<Labels>(),
        declared_features: block.and_then(|block| block.one("declares")).map(names).unwrap_or_default(),
        ..Node::default()
    }
}

/// A device class.
pub fn class(block: &Block<'_>) -> DeviceClass {
    let of = block.one("of").map(|driver| format!("device.driver == \"{driver}\""));
    let expressions = of.as_deref().into_iter().chain(block.all("cel"));
    DeviceClass {
        selectors: expressions.map(|text| DeviceSelector { expression: Some(Arc::from(text)) }).collect(),
        config: block
            .all("config")
            .map(|text| DeviceConfig { requests: Box::default(), opaque: Some(opaque(text)) })
            .collect(),
        ..DeviceClass::new(block.rest())
    }
}

/// `DRIVER JSON`.
pub fn opaque(text: &str) -> OpaqueConfig {
    let (driver, parameters) = text.split_once(' ').expect("a driver and its parameters");
    OpaqueConfig { driver: driver.into(), parameters: parameters.into() }
}

/// A slice with its devices or counters.
pub fn slice(block: &Block<'_>) -> ResourceSlice {
    let words: Vec<&str> = block.head.split(' ').collect();
    let (driver, pool) = words[2].split_once('/').expect("driver/pool");
    let number = |key: &str| {
        let word = words.iter().find_map(|word| word.strip_prefix(key));
        word.map_or(1, |word| word.parse().expect("a number"))
    };
    let devices = block.children.iter().filter(|child| child.keyword() != "counters");
    ResourceSlice {
        generation: number("generation="),
        slice_count: number("slices="),
        placement: placement(block),
        per_device_node_selection: block.one("per-device").map(|_| true),
        devices: devices.flat_map(named_devices).collect(),
        shared_counters: block.each("counters").map(counter_set).collect(),
        skip_node_operations: block.one("skips").map(names).unwrap_or_default(),
        ..ResourceSlice::new(words[1], PoolId::new(driver, pool))
    }
}

fn placement(block: &Block<'_>) -> Placement {
    Placement {
        node_name: block.one("on").map(NodeName::from),
        node_selector: block.one("where").map(node_selector),
        all_nodes: block.one("everywhere").is_some(),
    }
}

/// `LABEL=VALUE,… .FIELD=VALUE,…`, all of which must hold.
pub fn node_selector(text: &str) -> NodeSelector {
    let requirement = |key: &str, values: &str| Requirement {
        key: key.into(),
        operator: SelectorOperator::In,
        values: values.split(',').map(Name::from).collect(),
    };
    let (fields, labels): (Vec<_>, Vec<_>) = pairs(text).partition(|(key, _)| key.starts_with('.'));
    let term = NodeSelectorTerm {
        match_expressions: labels.iter().map(|(key, values)| requirement(key, values)).collect(),
        match_fields: fields.iter().map(|(key, values)| requirement(&key[1..], values)).collect(),
    };
    NodeSelector { terms: Box::new([term]) }
}

fn counter_set(block: &Block<'_>) -> CounterSet {
    let (name, counters) = block.rest().split_once(' ').unwrap_or((block.rest(), ""));
    CounterSet { name: name.into(), counters: quantities(counters) }
}

fn named_devices(block: &Block<'_>) -> Vec<Device> {
    let device = device(block);
    expand(block.head).iter().map(|name| Device { name: name.as_str().into(), ..device.clone() }).collect()
}

fn device(block: &Block<'_>) -> Device {
    let mut attributes: Vec<(Name, AttributeValue)> = pairs(block.one("has").unwrap_or_default())
        .map(|(name, value)| (Name::from(name), attribute(value)))
        .collect();
    attributes.sort_by(|(a, _), (b, _)| a.cmp(b));
    let mut capacity: Vec<(Name, Capacity)> = block.all("cap").map(capacity).collect();
    capacity.sort_by(|(a, _), (b, _)| a.cmp(b));
    Device {
        name: Name::default(),
        content: Arc::new(DeviceContent {
            attributes: attributes.into(),
            capacity: capacity.into(),
            allow_multiple_allocations: block.one("multi").is_some(),
        }),
        consumes_counters: block.all("uses").map(consumption).collect(),
        placement: placement(block),
        taints: block.all("taint").map(taint).collect(),
        binds_to_node: block.one("binds-to-node").is_some(),
        binding_conditions: block.one("waits-for").map(names),
        binding_failure_conditions: block.one("fails-on").map(names),
    }
}

fn attribute(text: &str) -> AttributeValue {
    if let Some(list) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        return list_attribute(&list.split(',').map(attribute).collect::<Vec<_>>());
    }
    if let Some(text) = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')) {
        return AttributeValue::String(text.into());
    }
    match (text, text.parse()) {
        ("?", _) => AttributeValue::Unsupported,
        ("strings[]", _) => AttributeValue::Strings(Box::default()),
        ("versions[]", _) => AttributeValue::Versions(Box::default()),
        ("true", _) => AttributeValue::Bool(true),
        ("false", _) => AttributeValue::Bool(false),
        (_, Ok(number)) => AttributeValue::Int(number),
        _ => AttributeValue::Version(text.strip_prefix('v').expect("a version").into()),
    }
}

fn list_attribute(elements: &[AttributeValue]) -> AttributeValue {
    macro_rules! list {
        ($scalar:ident, $list:ident) => {{
            let only = |element: &AttributeValue| match element {
                AttributeValue::$scalar(value) => value.clone(),
                other => panic!("{other:?} in a list of another type"),
            };
            AttributeValue::$list(elements.iter().map(only).collect())
        }};
    }
    match elements[0] {
        AttributeValue::Int(_) => list!(Int, Ints),
        AttributeValue::Bool(_) => list!(Bool, Bools),
        AttributeValue::String(_) => list!(String, Strings),
        _ => list!(Version, Versions),
    }
}

fn capacity(text: &str) -> (Name, Capacity) {
    let mut words = pairs(text);
    let (name, value) = words.next().expect("a capacity");
    let (mut default, mut min, mut max, mut step, mut values) = (None, None, None, None, None);
    for (key, amount) in words {
        match key {
            "default" => default = Some(quantity(amount)),
            "min" => min = Some(quantity(amount)),
            "max" => max = Some(quantity(amount)),
            "step" => step = Some(quantity(amount)),
            "values" => values = Some(amount.split(',').map(quantity).collect()),
            _ => panic!("{key:?} in a request policy"),
        }
    }
    let valid = match values {
        Some(values) => ValidAmounts::Values(values),
        None if min.is_some() || max.is_some() || step.is_some() => ValidAmounts::Range { min, max, step },
        None => ValidAmounts::Any,
    };
    let policy =
        (default.is_some() || valid != ValidAmounts::Any).then_some(RequestPolicy { default, valid });
    (name.into(), Capacity { value: quantity(value), policy })
}

fn consumption(text: &str) -> CounterConsumption {
    let (counter_set, rest) = text.split_once(' ').unwrap_or((text, ""));
    let (counters, groups) = rest.split_once(" groups=").unwrap_or((rest, ""));
    CounterConsumption {
        counter_set: counter_set.into(),
        counters: quantities(counters),
        compatibility_groups: groups.split(',').filter(|name| !name.is_empty()).map(Name::from).collect(),
    }
}

fn taint(text: &str) -> Taint {
    let (taint, effect) = text.rsplit_once(':').expect("an effect");
    let (key, value) = taint.split_once('=').expect("a value");
    Taint { key: key.into(), value: value.into(), effect: TaintEffect::parse(effect), time_added: None }
}

/// `NAME=QUANTITY` words, sorted by name.
pub fn quantities(text: &str) -> Box<[(Name, Quantity)]> {
    let mut list: Vec<_> = pairs(text).map(|(name, amount)| (Name::from(name), quantity(amount))).collect();
    list.sort_by(|(a, _), (b, _)| a.cmp(b));
    list.into()
}

fn quantity(text: &str) -> Quantity {
    Quantity::parse(text).expect("a quantity")
}

/// Words.
pub fn names(text: &str) -> Box<[Name]> {
    text.split_whitespace().map(Name::from).collect()
}
