//! How much of a device's capacity a request consumes (KEP-5075).

use std::cmp::Ordering;

use super::World;
use super::violation::DeviceFault;
use crate::model::quantity::Format;
use crate::model::{
    Capacity, Device, DeviceId, DeviceRequirement, FeatureGate, KubernetesVersion, Name, Quantity,
    RequestPolicy, ValidAmounts,
};

/// Amounts by capacity key, one for each capacity of a device.
pub(super) type Amounts<'a> = Vec<(&'a Name, Quantity)>;

/// What a request consumes of each capacity of a device; nothing while the gate is off.
pub(super) fn amounts<'a>(
    world: &World<'_>,
    device: &'a Device,
    requirement: &DeviceRequirement,
) -> Result<Amounts<'a>, DeviceFault> {
    if !world.has(FeatureGate::DRAConsumableCapacity) {
        return Ok(Vec::new());
    }
    let requested = requirement.capacity.as_deref().unwrap_or_default();
    if let Some((name, _)) = requested.iter().find(|(name, _)| device.content.capacity(name).is_none()) {
        return Err(DeviceFault::Capacity(name.clone()));
    }
    let fractional = world.has(FeatureGate::DRAFractionalCapacityRange);
    let mut amounts = Vec::with_capacity(device.content.capacity.len());
    for (name, capacity) in &device.content.capacity {
        let requested = requested.iter().find(|(key, _)| key == name).map(|(_, amount)| amount);
        let amount = consumed(requested, capacity, fractional).filter(|amount| !amount.is_negative());
        let amount = amount.ok_or_else(|| DeviceFault::Amount(name.clone()))?;
        if capacity.policy.as_ref().is_some_and(|policy| !allows(policy, &amount, fractional)) {
            return Err(DeviceFault::Policy(name.clone()));
        }
        amounts.push((name, amount));
    }
    Ok(amounts)
}

/// Whether a request for all devices means this one too: it would suffice if nobody used it. Up to
/// 1.36 it had to suffice beside those who do.
pub(super) fn is_among_all(
    world: &World<'_>,
    id: &DeviceId,
    device: &Device,
    requirement: &DeviceRequirement,
) -> bool {
    let usage = world.snapshot.usage().device(id);
    let usage = usage.filter(|_| world.features.version < KubernetesVersion::V1_37);
    amounts(world, device, requirement).is_ok_and(|amounts| {
        amounts.iter().all(|(name, amount)| {
            let held = usage.and_then(|usage| usage.consumed.get(*name));
            let sum = held.map_or_else(|| amount.clone(), |held| held.add(amount));
            let capacity = device.content.capacity(name);
            capacity.is_some_and(|capacity| sum.compare(&capacity.value) != Ordering::Greater)
        })
    })
}

/// Whether a result records just these amounts: all of them for a device with shares, else none.
pub(super) fn is_record_of(record: Option<&[(Name, Quantity)]>, amounts: &Amounts<'_>, multi: bool) -> bool {
    match record {
        None => !multi || amounts.is_empty(),
        Some(record) => {
            multi
                && record.len() == amounts.len()
                && !record.is_empty()
                && amounts.iter().all(|(name, amount)| {
                    record.iter().any(|(key, recorded)| key == *name && equal(recorded, amount))
                })
        }
    }
}

/// The amount that a request consumes, or `None` if it cannot be computed.
fn consumed(requested: Option<&Quantity>, capacity: &Capacity, fractional: bool) -> Option<Quantity> {
    let policy = capacity.policy.as_ref();
    let Some(requested) = requested else {
        let default = policy.and_then(|policy| policy.default.as_ref());
        return Some(default.unwrap_or(&capacity.value).clone());
    };
    match policy.map(|policy| &policy.valid) {
        Some(ValidAmounts::Range { min: Some(min), max, step }) => {
            round_up(requested, min, max.as_ref(), step.as_ref(), fractional)
        }
        Some(ValidAmounts::Values(values)) => {
            let next = values.iter().find(|value| requested.compare(value) != Ordering::Greater);
            Some(next.unwrap_or(requested).clone())
        }
        _ => Some(requested.clone()),
    }
}

/// The least amount of the range `min`, `min + step`, … that is not below the one requested.
fn round_up(
    requested: &Quantity,
    min: &Quantity,
    max: Option<&Quantity>,
    step: Option<&Quantity>,
    fractional: bool,
) -> Option<Quantity> {
    if requested.compare(min) == Ordering::Less {
        return Some(min.clone());
    }
    let Some(step) = step else { return Some(requested.clone()) };
    let unit = Unit::of(Some(min), max, Some(step), fractional);
    let requested = unit.read(requested)?;
    let (min, step) = (unit.read_bound(min), unit.read_bound(step));
    let distance = i128::from(requested) - i128::from(min);
    let steps = distance.checked_div(i128::from(step))? + i128::from(distance % i128::from(step) != 0);
    let amount = i128::from(min) + steps * i128::from(step);
    i64::try_from(amount).ok().map(|amount| unit.write(amount))
}

/// Whether a policy allows this amount.
fn allows(policy: &RequestPolicy, amount: &Quantity, fractional: bool) -> bool {
    if policy.default.as_ref().is_some_and(|default| equal(default, amount)) {
        return true;
    }
    match &policy.valid {
        ValidAmounts::Any => true,
        ValidAmounts::Values(values) => values.is_empty() || values.iter().any(|value| equal(value, amount)),
        ValidAmounts::Range { min, max, step } => {
            if max.as_ref().is_some_and(|max| amount.compare(max) == Ordering::Greater) {
                return false;
            }
            let Some(step) = step else { return true };
            let unit = Unit::of(min.as_ref(), max.as_ref(), Some(step), fractional);
            let min = min.as_ref().map_or(0, |min| unit.read_bound(min));
            let step = i128::from(unit.read_bound(step));
            let amount = if unit == Unit::Milli { unit.read(amount) } else { Some(amount.value()) };
            amount.is_some_and(|amount| (i128::from(amount) - i128::from(min)).checked_rem(step) == Some(0))
        }
    }
}

/// The unit in which the arithmetic of a range is done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Whole,
    Milli,
}

impl Unit {
    /// Thousandths if that gate is on and every bound is a number of them; else whole numbers.
    fn of(min: Option<&Quantity>, max: Option<&Quantity>, step: Option<&Quantity>, fractional: bool) -> Self {
        let exact = |bound: Option<&Quantity>| bound.is_none_or(|bound| Self::Milli.read(bound).is_some());
        let positive = step.is_none_or(|step| step.milli_value() >= 1);
        if fractional && positive && exact(min) && exact(max) && exact(step) {
            Self::Milli
        } else {
            Self::Whole
        }
    }

    /// A requested amount in this unit, or `None` if it does not fit.
    fn read(self, quantity: &Quantity) -> Option<i64> {
        match self {
            Self::Whole => {
                let fits = quantity.compare(&Self::Whole.write(i64::MAX)) != Ordering::Greater;
                fits.then(|| quantity.value())
            }
            Self::Milli => {
                let milli = quantity.milli_value();
                equal(&Self::Milli.write(milli), quantity).then_some(milli)
            }
        }
    }

    fn read_bound(self, quantity: &Quantity) -> i64 {
        match self {
            Self::Whole => quantity.value(),
            Self::Milli => quantity.milli_value(),
        }
    }

    fn write(self, amount: i64) -> Quantity {
        match self {
            Self::Whole => Quantity::from_i64(amount, Format::DecimalSI),
            Self::Milli => Quantity::from_milli(amount, Format::DecimalSI),
        }
    }
}

fn equal(a: &Quantity, b: &Quantity) -> bool {
    a.compare(b) == Ordering::Equal
}
