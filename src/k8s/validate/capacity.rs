//! Capacities of devices and the policies of how they are consumed (KEP-5075).

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::Context;
use super::devices::too_many;
use crate::k8s::decode::parse_quantity;
use crate::k8s::field::Field;
use crate::model::{FeatureGate, Quantity};

const OPTIONS_MAX: usize = 10;

fn amount(field: &Field<'_, '_>) -> Option<Quantity> {
    field.node().and_then(parse_quantity)
}

fn exceeds(a: &Quantity, b: &Quantity) -> bool {
    a.compare(b) == Ordering::Greater
}

/// One capacity of a device.
pub(super) fn device_capacity(capacity: &Field<'_, '_>, is_shared: bool, cx: &mut Context<'_>) {
    let policy = capacity.child("requestPolicy");
    if !policy.is_set() {
        return;
    }
    if !is_shared {
        cx.issues.forbidden(&policy, "allowMultipleAllocations must be true");
        return;
    }
    let total = amount(&capacity.child("value")).unwrap_or_default();
    let values = policy.child("validValues");
    let range = policy.child("validRange");
    let default = policy.child("default");
    match (!values.is_empty(), range.is_set(), amount(&default)) {
        (true, true, _) => {
            let detail = "exactly one policy can be specified, cannot specify \"validValues\" and \"validRange\" \
                          at the same time";
            cx.issues.forbidden(&policy, detail);
        }
        (true, false, None) => cx.issues.required(&default, "required when validValues is defined"),
        (true, false, Some(default)) => valid_values(&values, &default, &total, cx),
        (false, true, None) => cx.issues.required(&default, "required when validRange is defined"),
        (false, true, Some(default)) => valid_range(&range, &default, &total, cx),
        (false, false, _) => {}
    }
}

fn valid_values(values: &Field<'_, '_>, default: &Quantity, total: &Quantity, cx: &mut Context<'_>) {
    let amounts: Vec<_> = values.items().map(|item| amount(&item).unwrap_or_default()).collect();
    for (pair, item) in amounts.windows(2).zip(values.items().skip(1)) {
        if let [before, after] = pair
            && exceeds(before, after)
        {
            cx.issues.invalid(&item, &after.to_string(), "values must be sorted in ascending order");
        }
    }
    // Upstream does not look at the options of a list that is too long, nor for the default in it.
    let is_short = !too_many(values, OPTIONS_MAX, cx);
    if is_short {
        let is_exact = cx.features.has(FeatureGate::DRAFractionalCapacityRange);
        let mut seen = BTreeSet::new();
        for (amount, item) in amounts.iter().zip(values.items()) {
            if exceeds(amount, total) {
                let detail = format!("option is larger than capacity value: {total}");
                cx.issues.invalid(&item, &amount.to_string(), &detail);
            }
            // Without the gate upstream compares rounded values.
            let key = if is_exact { amount.to_string() } else { amount.value().to_string() };
            if seen.contains(&key) {
                cx.issues.duplicate(&item, &key);
            }
            seen.insert(key);
        }
    }
    if !is_short || !amounts.iter().any(|amount| amount.compare(default) == Ordering::Equal) {
        let detail = "default value is not valid according to the requestPolicy";
        cx.issues.invalid(values, &default.to_string(), detail);
    }
}

/// The amounts of a range with their fields.
struct Range<'r, 'n, 'p> {
    field: &'r Field<'n, 'p>,
    default: &'r Quantity,
    min: Quantity,
    max: Option<Quantity>,
    step: Option<Quantity>,
}

impl Range<'_, '_, '_> {
    fn bounds(&self) -> impl Iterator<Item = (&'static str, &Quantity)> {
        let all = [
            ("default", Some(self.default)),
            ("min", Some(&self.min)),
            ("max", self.max.as_ref()),
            ("step", self.step.as_ref()),
        ];
        all.into_iter().filter_map(|(name, amount)| Some((name, amount?)))
    }
}

fn valid_range(field: &Field<'_, '_>, default: &Quantity, total: &Quantity, cx: &mut Context<'_>) {
    let Some(min) = amount(&field.child("min")) else {
        cx.issues.required(&field.child("min"), "required when validRange is defined");
        return;
    };
    let (max, step) = (amount(&field.child("max")), amount(&field.child("step")));
    let range = Range { field, default, min, max, step };
    range_order(&range, total, cx);
    let fractional = cx.features.has(FeatureGate::DRAFractionalCapacityRange)
        && range.bounds().any(|(_, amount)| is_fractional(amount));
    if fractional {
        let mut is_safe = true;
        for (name, amount) in range.bounds().filter(|(_, amount)| !is_milli(amount)) {
            let detail = "value cannot be represented as a milli value";
            cx.issues.invalid(&field.child(name), &amount.to_string(), detail);
            is_safe = false;
        }
        if !is_safe {
            return;
        }
    }
    range_steps(&range, total, fractional, cx);
}

fn range_order(range: &Range<'_, '_, '_>, total: &Quantity, cx: &mut Context<'_>) {
    let Range { field, default, min, max, .. } = range;
    if exceeds(min, total) {
        let detail = format!("min is larger than capacity value: {total}");
        cx.issues.invalid(&field.child("min"), &min.to_string(), &detail);
    }
    if exceeds(min, default) {
        let detail = format!("default is less than min: {min}");
        cx.issues.invalid(&field.child("default"), &default.to_string(), &detail);
    }
    let Some(max) = max else { return };
    if exceeds(min, max) {
        let detail = format!("min is larger than max: {max}");
        cx.issues.invalid(&field.child("max"), &min.to_string(), &detail);
    }
    if exceeds(max, total) {
        let detail = format!("max is larger than capacity value: {total}");
        cx.issues.invalid(&field.child("max"), &max.to_string(), &detail);
    }
    if exceeds(default, max) {
        let detail = format!("default is more than max: {max}");
        cx.issues.invalid(&field.child("default"), &default.to_string(), &detail);
    }
}

fn range_steps(range: &Range<'_, '_, '_>, total: &Quantity, fractional: bool, cx: &mut Context<'_>) {
    let Range { field, default, min, max, step } = range;
    let Some(step) = step else { return };
    let step_field = field.child("step");
    if step.is_zero() || step.is_negative() {
        cx.issues.invalid(&step_field, &step.to_string(), "must be greater than zero");
        return;
    }
    let added = min.add(step);
    if exceeds(&added, total) {
        let detail = format!("one step {added} is larger than capacity value: {total}");
        cx.issues.invalid(&step_field, &step.to_string(), &detail);
    }
    let mut is_safe = true;
    if !fractional {
        for (name, amount) in range.bounds() {
            let detail = match amount {
                amount if amount.is_negative() => "must be greater than or equal to 0",
                amount if exceeds(amount, &int64_max()) => "must not be larger than 9223372036854775807",
                _ => continue,
            };
            cx.issues.invalid(&field.child(name), &amount.to_string(), detail);
            is_safe = false;
        }
    }
    let units = |amount: &Quantity| if fractional { amount.milli_value() } else { amount.value() };
    for value in [Some(*default), max.as_ref()].into_iter().flatten().filter(|_| is_safe) {
        let rest = units(value).wrapping_sub(units(min)).checked_rem(units(step));
        if rest != Some(0) {
            let detail = format!("value is not a multiple of a given step ({step}) from ({min})");
            cx.issues.invalid(&step_field, &value.to_string(), &detail);
        }
    }
}

fn int64_max() -> Quantity {
    i64::MAX.to_string().parse().unwrap_or_default()
}

fn is_fractional(amount: &Quantity) -> bool {
    let whole: Quantity = amount.value().to_string().parse().unwrap_or_default();
    !exceeds(amount, &int64_max()) && whole.compare(amount) != Ordering::Equal
}

fn is_milli(amount: &Quantity) -> bool {
    let rounded: Quantity = format!("{}m", amount.milli_value()).parse().unwrap_or_default();
    rounded.compare(amount) == Ordering::Equal
}

/// What a device takes from the node's own resources, by resource name (KEP-5517).
pub(super) fn node_allocatable(resources: &Field<'_, '_>, capacity: &Field<'_, '_>, cx: &mut Context<'_>) {
    for (name, resource) in resources.entries() {
        if !matches!(name, "cpu" | "memory" | "ephemeral-storage") && !name.starts_with("hugepages-") {
            cx.issues.invalid(&resource, name, "must be a node allocatable resource name");
        }
        let (mapping, overhead) = (resource.child("mapping"), resource.child("overhead"));
        if !mapping.is_set() && !overhead.is_set() {
            cx.issues.required(&resource, "at least one of mapping or overhead must be set");
        }
        if mapping.is_set() {
            node_mapping(&mapping, capacity, cx);
        }
        if overhead.is_set() {
            let parts = [overhead.child("perPod"), overhead.child("perContainer")];
            if parts.iter().all(|part| !part.is_set()) {
                cx.issues.invalid(&overhead, "", "at least one of perPod or perContainer must be set");
            }
            for part in &parts {
                if let Some(amount) = amount(part).filter(Quantity::is_negative) {
                    cx.issues.invalid(part, &amount.to_string(), "must be non-negative");
                }
            }
        }
    }
}

fn node_mapping(mapping: &Field<'_, '_>, capacity: &Field<'_, '_>, cx: &mut Context<'_>) {
    let (key, multiplier) = (mapping.child("capacityKey"), mapping.child("capacityMultiplier"));
    let per_device = mapping.child("deviceMultiplier");
    if key.is_set() {
        if key.text().is_empty() {
            cx.issues.invalid(&key, "", "capacityKey must not be an empty string");
        } else if !capacity.entries().any(|(name, _)| name == key.text()) {
            cx.issues.not_found(&key, key.text(), "");
        }
        if !multiplier.is_set() {
            cx.issues.required(&multiplier, "capacityMultiplier is required when capacityKey is set");
        }
    } else if multiplier.is_set() {
        cx.issues.required(&key, "capacityKey is required when capacityMultiplier is set");
    }
    for multiplier in [&multiplier, &per_device] {
        if let Some(amount) = amount(multiplier).filter(|amount| amount.is_zero() || amount.is_negative()) {
            cx.issues.invalid(multiplier, &amount.to_string(), "must be positive");
        }
    }
    if key.is_set() == per_device.is_set() {
        let detail = "exactly one of `capacityKey`, `deviceMultiplier` must be set";
        cx.issues.invalid_value(mapping, super::meta::json(mapping), detail);
    }
}
