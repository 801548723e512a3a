//! What selectors, capacity policies and attributes of the tiny worlds mean, in the plainest words.

use stowplan::model::{
    AttributeValue, Capacity, Device, DeviceRequirement, DeviceSelector, Quantity, ResourceSlice,
    ValidAmounts,
};

use super::build::SELECTORS;

/// Whether a selector of the tiny worlds selects a device.
pub fn selects(selector: &DeviceSelector, slice: &ResourceSlice, device: &Device) -> bool {
    let text = selector.expression.as_deref().unwrap_or_default();
    let meaning = SELECTORS.iter().find(|(expression, _)| *expression == text);
    meaning.is_some_and(|(_, holds)| holds(&slice.pool.driver, &device.content))
}

/// How much memory a request asks for.
pub fn requested(requirement: &DeviceRequirement) -> Option<i64> {
    let amounts = requirement.capacity.as_deref()?;
    amounts.iter().find(|(name, _)| name == "memory").map(|(_, amount)| amount.value())
}

/// What a request consumes: the least amount offered that is not below the one requested.
pub fn amount(requested: Option<i64>, capacity: &Capacity) -> i64 {
    let policy = capacity.policy.as_ref();
    let Some(requested) = requested else {
        let default = policy.and_then(|policy| policy.default.as_ref());
        return default.unwrap_or(&capacity.value).value();
    };
    match policy.map(|policy| &policy.valid) {
        Some(ValidAmounts::Values(values)) => {
            values.iter().map(Quantity::value).find(|value| *value >= requested).unwrap_or(requested)
        }
        Some(ValidAmounts::Range { min: Some(min), step: Some(step), .. }) => {
            let offered = (0..).map(|steps| min.value() + steps * step.value());
            offered.into_iter().find(|value| *value >= requested).unwrap_or(requested)
        }
        _ => requested,
    }
}

/// A value as scalars.
pub fn scalars(value: &AttributeValue) -> Vec<AttributeValue> {
    match value {
        AttributeValue::Strings(list) => list.iter().cloned().map(AttributeValue::String).collect(),
        other => vec![other.clone()],
    }
}
