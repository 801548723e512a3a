//! `ResourceSlice` and `DeviceTaintRule`.

use super::capacity::device_capacity;
use super::devices::{self, qualified_name, too_many, unique};
use super::meta::{conditions, json};
use super::{Context, names, selector};
use crate::k8s::field::Field;
use crate::model::FeatureGate;

const DEVICES_MAX: usize = 128;
/// Once any device of the slice has taints, counters or list attributes.
const ADVANCED_DEVICES_MAX: usize = 64;
const COUNTER_SETS_MAX: usize = 8;
const COUNTERS_MAX: usize = 32;
const CONSUMPTIONS_MAX: usize = 2;
const GROUPS_MAX: usize = 2;
const ENTRIES_MAX: usize = 32;
const VALUES_MAX: usize = 48;
const TAINTS_MAX: usize = 16;
const VALUE_LENGTH_MAX: usize = 64;
const LISTS: [&str; 4] = ["bools", "ints", "strings", "versions"];

/// `spec` of a slice.
pub(super) fn slice_spec(spec: &Field<'_, '_>, cx: &mut Context<'_>) {
    devices::driver_name(&spec.child("driver"), cx);
    pool(&spec.child("pool"), cx);
    let per_device = spec.child("perDeviceNodeSelection");
    placement(spec, &per_device, cx);
    let devices = spec.child("devices");
    let counters = spec.child("sharedCounters");
    if devices.is_set() && counters.is_set() {
        cx.issues.invalid(spec, "", "only one of `sharedCounters` or `devices` is allowed");
    }
    let max =
        if devices.items().any(|device| is_advanced(&device)) { ADVANCED_DEVICES_MAX } else { DEVICES_MAX };
    if !too_many(&devices, max, cx) {
        devices.items().for_each(|item| device(&item, per_device.is_true(), cx));
        unique(&devices, |item| item.child("name").text().to_owned(), cx);
    }
    if !too_many(&counters, COUNTER_SETS_MAX, cx) {
        for set in counters.items() {
            devices::required_label(&set.child("name"), cx);
            counter_map(&set.child("counters"), cx);
        }
        unique(&counters, |item| item.child("name").text().to_owned(), cx);
    }
    let partition = spec.child("partitionTypeAttribute");
    if partition.is_set() {
        partition_type(&partition, spec, cx);
    }
    devices::skip_node_operations(&spec.child("skipNodeOperations"), cx);
}

fn pool(pool: &Field<'_, '_>, cx: &mut Context<'_>) {
    devices::pool_name(&pool.child("name"), cx);
    let count = pool.child("resourceSliceCount");
    let number = count.int().unwrap_or(0);
    if number <= 0 {
        cx.issues.invalid_value(&count, number, "must be greater than zero");
    }
    let generation = pool.child("generation");
    if let Some(number) = generation.int().filter(|number| *number < 0) {
        cx.issues.invalid_value(&generation, number, "must be greater than or equal to zero");
    }
}

/// A truth value that may only be `true`.
fn only_true(field: &Field<'_, '_>, cx: &mut Context<'_>) -> bool {
    if field.bool() == Some(false) {
        cx.issues.invalid_value(field, false, "must be either unset or set to true");
    }
    field.is_true()
}

fn placement(spec: &Field<'_, '_>, per_device: &Field<'_, '_>, cx: &mut Context<'_>) {
    let mut set = Vec::new();
    let node_name = spec.child("nodeName");
    if node_name.is_set() && node_name.text().is_empty() {
        cx.issues.invalid(&node_name, "", "must be either unset or set to a non-empty string");
    } else if node_name.is_set() {
        set.push("`nodeName`");
        devices::node_name(&node_name, cx);
    }
    let node_selector = spec.child("nodeSelector");
    if node_selector.is_set() {
        set.push("`nodeSelector`");
        selector::node_selector(&node_selector, cx.issues);
        let terms = node_selector.child("nodeSelectorTerms");
        if terms.len() != 1 {
            cx.issues.invalid_value(&terms, json(&terms), "must have exactly one node selector term");
        }
    }
    if only_true(&spec.child("allNodes"), cx) {
        set.push("`allNodes`");
    }
    if only_true(per_device, cx) {
        set.push("`perDeviceNodeSelection`");
    }
    let detail =
        "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";
    match set.len() {
        0 => cx.issues.required(spec, detail),
        1 => {}
        _ => {
            let value = format!("{{{}}}", set.join(", "));
            cx.issues.invalid(spec, &value, &format!("{detail}, but multiple fields are set"));
        }
    }
}

fn device_placement(device: &Field<'_, '_>, per_device: bool, cx: &mut Context<'_>) {
    let node_name = device.child("nodeName");
    let node_selector = device.child("nodeSelector");
    let all_nodes = device.child("allNodes");
    if !per_device {
        if node_name.is_set() || node_selector.is_set() || all_nodes.is_set() {
            let detail = "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` \
                          is set to true in the ResourceSlice spec";
            cx.issues.invalid_value(device, "null", detail);
        }
        return;
    }
    let mut set = Vec::new();
    if node_name.is_set() && node_name.text().is_empty() {
        cx.issues.invalid(&node_name, "", "must not be empty");
    } else if node_name.is_set() {
        set.push("`nodeName`");
        devices::node_name(&node_name, cx);
    }
    if node_selector.is_set() {
        set.push("`nodeSelector`");
        selector::node_selector(&node_selector, cx.issues);
    }
    if only_true(&all_nodes, cx) {
        set.push("`allNodes`");
    }
    let detail = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when \
                  `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
    match set.len() {
        0 => cx.issues.required(device, detail),
        1 => {}
        _ => cx.issues.invalid(device, &format!("{{{}}}", set.join(", ")), detail),
    }
}

fn is_advanced(device: &Field<'_, '_>) -> bool {
    let attributes = device.child("attributes");
    !device.child("taints").is_empty()
        || !device.child("consumesCounters").is_empty()
        || attributes.entries().any(|(_, value)| LISTS.iter().any(|list| value.child(list).is_set()))
}

fn device(device: &Field<'_, '_>, per_device: bool, cx: &mut Context<'_>) {
    devices::device_name(&device.child("name"), cx);
    let attributes = device.child("attributes");
    let capacity = device.child("capacity");
    let entries = attributes.len() + capacity.len();
    if entries > ENTRIES_MAX {
        let detail = format!("the total number of attributes and capacities must not exceed {ENTRIES_MAX}");
        cx.issues.invalid_value(device, entries, &detail);
    }
    let values: usize = attributes.entries().map(|(_, value)| value_count(&value)).sum();
    if values > VALUES_MAX {
        let detail = format!("the total number of attribute values must not exceed {VALUES_MAX}");
        cx.issues.invalid_value(device, values, &detail);
    }
    for (name, value) in attributes.entries() {
        qualified_name(&attributes, name, cx);
        attribute(&value, cx);
    }
    let is_shared = device.child("allowMultipleAllocations").is_true();
    for (name, value) in capacity.entries() {
        qualified_name(&capacity, name, cx);
        device_capacity(&value, is_shared, cx);
    }
    let taints = device.child("taints");
    if !too_many(&taints, TAINTS_MAX, cx) {
        taints.items().for_each(|item| devices::taint(&item, cx));
    }
    let consumptions = device.child("consumesCounters");
    if !too_many(&consumptions, CONSUMPTIONS_MAX, cx) {
        consumptions.items().for_each(|item| consumption(&item, cx));
        unique(&consumptions, |item| item.child("counterSet").text().to_owned(), cx);
    }
    device_placement(device, per_device, cx);
    devices::binding_conditions(device, cx);
    super::capacity::node_allocatable(&device.child("nodeAllocatableResources"), &capacity, cx);
}

fn value_count(attribute: &Field<'_, '_>) -> usize {
    let items: usize = LISTS.iter().map(|list| attribute.child(list).len()).sum();
    items.max(1)
}

fn attribute(attribute: &Field<'_, '_>, cx: &mut Context<'_>) {
    let text = |field: &Field<'_, '_>, is_version: bool, cx: &mut Context<'_>| {
        let text = field.text();
        if is_version && !names::is_semver(text) {
            cx.issues.invalid(field, text, "must be a string compatible with semver.org spec 2.0.0");
        }
        if text.len() > VALUE_LENGTH_MAX {
            cx.issues.too_long(field, VALUE_LENGTH_MAX);
        }
    };
    for name in ["string", "version"] {
        let field = attribute.child(name);
        if field.is_set() {
            text(&field, name == "version", cx);
        }
    }
    for name in LISTS {
        let list = attribute.child(name);
        if list.is_set() && list.is_empty() && cx.features.has(FeatureGate::DRAListTypeAttributes) {
            cx.issues.invalid_value(&list, "[]", "must not be empty if specified");
        }
        if matches!(name, "strings" | "versions") {
            list.items().for_each(|item| text(&item, name == "versions", cx));
        }
    }
    let kinds = ["int", "bool", "string", "version"];
    let scalars = kinds.into_iter().filter(|name| attribute.child(name).is_set());
    let lists = LISTS.into_iter().filter(|name| !attribute.child(name).is_empty());
    let set: Vec<_> = scalars.chain(lists).collect();
    let all = "`int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`";
    match set.len() {
        0 => cx.issues.invalid(attribute, "", &format!("must specify one of: {all}")),
        1 => {}
        _ => {
            let value = format!("{{{}}}", set.join(", "));
            cx.issues.invalid(attribute, &value, &format!("must specify exactly one of: {all}"));
        }
    }
}

fn counter_map(counters: &Field<'_, '_>, cx: &mut Context<'_>) {
    if counters.is_empty() {
        cx.issues.required(counters, "");
    } else if !too_many(counters, COUNTERS_MAX, cx) {
        for (name, _) in counters.entries() {
            super::meta::invalid_all(counters, name, names::dns_label(name), cx.issues);
        }
    }
}

fn consumption(consumption: &Field<'_, '_>, cx: &mut Context<'_>) {
    devices::required_label(&consumption.child("counterSet"), cx);
    counter_map(&consumption.child("counters"), cx);
    let groups = consumption.child("compatibilityGroups");
    if !too_many(&groups, GROUPS_MAX, cx) {
        groups.items().for_each(|group| devices::device_name(&group, cx));
        unique(&groups, |group| group.text().to_owned(), cx);
    }
}

/// Every device that consumes counters must have the attribute, as a text.
fn partition_type(partition: &Field<'_, '_>, spec: &Field<'_, '_>, cx: &mut Context<'_>) {
    let name = partition.text();
    let devices = spec.child("devices");
    if !devices.items().any(|device| !device.child("consumesCounters").is_empty()) {
        let detail = "may only be set on a slice which declares devices that consume counters";
        cx.issues.invalid(partition, name, detail);
        return;
    }
    let before = cx.issues.list().len();
    devices::fully_qualified_name(partition, cx);
    if cx.issues.list().len() > before {
        return;
    }
    let bare = name.strip_prefix(spec.child("driver").text()).and_then(|rest| rest.strip_prefix('/'));
    for device in devices.items().filter(|device| !device.child("consumesCounters").is_empty()) {
        let attributes = device.child("attributes");
        let find = |name: &str| attributes.entries().find(|(key, _)| *key == name);
        match find(name).or_else(|| find(bare?)) {
            None => {
                let detail = "device consumes counters and `partitionTypeAttribute` names this attribute, so it \
                              must be set";
                cx.issues.required(&attributes.missing(name), detail);
            }
            Some((_, value)) if value.child("string").is_set() => {}
            Some((_, value)) => {
                let detail = "must be a string value because `partitionTypeAttribute` names this attribute";
                cx.issues.invalid_value(&value, json(&value), detail);
            }
        }
    }
}

type Check = fn(&Field<'_, '_>, &mut Context<'_>);

/// `spec` and `status` of a `DeviceTaintRule`.
pub(super) fn taint_rule(object: &Field<'_, '_>, cx: &mut Context<'_>) {
    let spec = object.child("spec");
    let selector = spec.child("deviceSelector");
    let criteria: [(&'static str, Check); 3] =
        [("driver", devices::driver_name), ("pool", devices::pool_name), ("device", devices::device_name)];
    for (name, check) in criteria {
        let field = selector.child(name);
        if field.is_set() {
            check(&field, cx);
        }
    }
    devices::taint(&spec.child("taint"), cx);
    let status = object.child("status");
    conditions(&status.child("conditions"), 8, cx.issues);
}
