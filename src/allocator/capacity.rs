//! How much of a device's capacity a request consumes (KEP-5075).
//!
//! Source: `consumable_capacity.go` of `k8s.io/dynamic-resource-allocation/structured` 1.37.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::model::{Capacity, DeviceContent, Name, Quantity, RequestPolicy, ValidAmounts};

use super::errors::CapacityFault;

/// Amounts by literal capacity key, sorted by key.
pub(super) type Amounts = Arc<[(Name, Quantity)]>;

/// Whether a device that nobody else uses has the capacity that a request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Suits {
    /// It has; the amounts of every capacity of the device that the request consumes.
    Yes(Amounts),
    /// It lacks a capacity that is asked for by name.
    Lacks(Name),
    /// The policy of this capacity does not allow the amount.
    Forbidden(Name),
    /// There is less of this capacity than needed.
    TooLittle(Name),
    /// The amount of this capacity cannot be computed, which ends the attempt.
    Fault(Name, CapacityFault),
}

/// Judges a device without any other user.
pub(super) fn suits(asked: &[(Name, Quantity)], content: &DeviceContent, fractional: bool) -> Suits {
    if let Some((missing, _)) = asked.iter().find(|(name, _)| content.capacity(name).is_none()) {
        return Suits::Lacks(missing.clone());
    }
    let mut amounts = Vec::with_capacity(content.capacity.len());
    for (name, capacity) in &content.capacity {
        let wanted = asked.iter().find(|(key, _)| key == name).map(|(_, amount)| amount);
        match consumed(wanted, capacity, fractional) {
            Ok(amount) if amount.is_negative() => {
                return Suits::Fault(name.clone(), CapacityFault::Negative);
            }
            Ok(amount) => amounts.push((name.clone(), amount)),
            Err(fault) => return Suits::Fault(name.clone(), fault),
        }
    }
    for ((name, capacity), (_, amount)) in content.capacity.iter().zip(&amounts) {
        if capacity.policy.as_ref().is_some_and(|policy| forbids(policy, amount, fractional)) {
            return Suits::Forbidden(name.clone());
        }
        if amount.compare(&capacity.value) == Ordering::Greater {
            return Suits::TooLittle(name.clone());
        }
    }
    Suits::Yes(amounts.into())
}

/// The first capacity that does not suffice for `amounts` beside what is `used` already.
pub(super) fn exceeded<'a>(
    amounts: &[(Name, Quantity)],
    content: &'a DeviceContent,
    used: impl Fn(&Name) -> Option<Quantity>,
) -> Option<&'a Name> {
    content.capacity.iter().zip(amounts).find_map(|((name, capacity), (_, amount))| {
        let total = used(name).map_or_else(|| amount.clone(), |used| used.add(amount));
        (total.compare(&capacity.value) == Ordering::Greater).then_some(name)
    })
}

fn consumed(
    wanted: Option<&Quantity>,
    capacity: &Capacity,
    fractional: bool,
) -> Result<Quantity, CapacityFault> {
    let Some(wanted) = wanted else {
        let default = capacity.policy.as_ref().and_then(|policy| policy.default.as_ref());
        return Ok(default.unwrap_or(&capacity.value).clone());
    };
    match capacity.policy.as_ref().map(|policy| &policy.valid) {
        Some(ValidAmounts::Range { min: Some(min), max, step }) => {
            round_up(wanted, min, max.as_ref(), step.as_ref(), fractional)
        }
        Some(ValidAmounts::Values(values)) => {
            let next = values.iter().find(|value| wanted.compare(value) != Ordering::Greater);
            Ok(next.unwrap_or(wanted).clone())
        }
        _ => Ok(wanted.clone()),
    }
}

fn forbids(policy: &RequestPolicy, amount: &Quantity, fractional: bool) -> bool {
    if policy.default.as_ref() == Some(amount) {
        return false;
    }
    match &policy.valid {
        ValidAmounts::Any => false,
        ValidAmounts::Values(values) => {
            !values.is_empty() && !values.iter().any(|value| value.compare(amount) == Ordering::Equal)
        }
        ValidAmounts::Range { min, max, step } => {
            if max.as_ref().is_some_and(|max| amount.compare(max) == Ordering::Greater) {
                return true;
            }
            let Some((min, step)) = min.as_ref().zip(step.as_ref()) else { return false };
            if in_milli(min, max.as_ref(), step, fractional) {
                let Some(amount) = exact_milli(amount) else { return true };
                return off_step(amount, min.milli_value(), step.milli_value());
            }
            off_step(amount.value(), min.value(), step.value())
        }
    }
}

/// Whether an amount is not a whole number of steps from `min`. A step of zero (which validation
/// refuses) allows nothing.
fn off_step(amount: i64, min: i64, step: i64) -> bool {
    amount.wrapping_sub(min).checked_rem(step) != Some(0)
}

fn round_up(
    wanted: &Quantity,
    min: &Quantity,
    max: Option<&Quantity>,
    step: Option<&Quantity>,
    fractional: bool,
) -> Result<Quantity, CapacityFault> {
    if wanted.compare(min) == Ordering::Less {
        return Ok(min.clone());
    }
    let Some(step) = step else { return Ok(wanted.clone()) };
    let request = || wanted.clone();
    if in_milli(min, max, step, fractional) {
        let exact = exact_milli(wanted).ok_or_else(|| CapacityFault::NotMilli { request: request() })?;
        let milli = next_step(exact, min.milli_value(), step.milli_value())
            .ok_or_else(|| CapacityFault::RoundingExceedsMilli { request: request() })?;
        return Ok(if milli % 1000 == 0 {
            Quantity::from_i64(milli / 1000, step.format())
        } else {
            Quantity::from_milli(milli, step.format())
        });
    }
    if wanted.compare(&Quantity::from_i64(i64::MAX, wanted.format())) == Ordering::Greater {
        return Err(CapacityFault::RequestExceedsInt64 { request: request() });
    }
    let amount = next_step(wanted.value(), min.value(), step.value())
        .ok_or_else(|| CapacityFault::RoundingExceedsInt64 { request: request() })?;
    Ok(Quantity::from_i64(amount, step.format()))
}

/// The first number not below `wanted` that is whole steps from `min`; none beyond 64 bits.
fn next_step(wanted: i64, min: i64, step: i64) -> Option<i64> {
    let added = wanted.wrapping_sub(min);
    let whole = added.checked_div(step)?;
    let steps = whole + i64::from(added % step != 0);
    if min >= 0 {
        steps.checked_mul(step)?.checked_add(min)
    } else {
        Some(min.wrapping_add(step.wrapping_mul(steps)))
    }
}

/// Whether a range is computed in thousandths.
fn in_milli(min: &Quantity, max: Option<&Quantity>, step: &Quantity, fractional: bool) -> bool {
    fractional
        && exact_milli(min).is_some()
        && max.is_none_or(|max| exact_milli(max).is_some())
        && exact_milli(step).is_some_and(|step| step >= 1)
}

fn exact_milli(quantity: &Quantity) -> Option<i64> {
    let milli = quantity.milli_value();
    (quantity.compare(&Quantity::from_milli(milli, quantity.format())) == Ordering::Equal).then_some(milli)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantity(text: &str) -> Quantity {
        text.parse().expect("a quantity")
    }

    fn device(value: &str, default: Option<&str>, valid: Option<ValidAmounts>) -> DeviceContent {
        let policy = valid.map(|valid| RequestPolicy { default: default.map(quantity), valid });
        let capacity = Capacity { value: quantity(value), policy };
        DeviceContent { capacity: Box::new([("memory".into(), capacity)]), ..DeviceContent::default() }
    }

    fn range(min: &str, max: Option<&str>, step: Option<&str>) -> ValidAmounts {
        ValidAmounts::Range { min: Some(quantity(min)), max: max.map(quantity), step: step.map(quantity) }
    }

    fn asking(amount: Option<&str>, device: &DeviceContent, fractional: bool) -> Result<String, Suits> {
        let asked: Vec<_> = amount.map(|amount| ("memory".into(), quantity(amount))).into_iter().collect();
        match suits(&asked, device, fractional) {
            Suits::Yes(amounts) => Ok(amounts[0].1.to_string()),
            other => Err(other),
        }
    }

    #[test]
    fn what_is_not_asked_for_is_the_default_or_all_of_it() {
        assert_eq!(asking(None, &device("4Gi", None, None), false), Ok("4Gi".into()));
        let with_default = device("4Gi", Some("1Gi"), Some(ValidAmounts::Any));
        assert_eq!(asking(None, &with_default, false), Ok("1Gi".into()));
        assert_eq!(asking(Some("3Gi"), &device("4Gi", None, None), false), Ok("3Gi".into()));
        let unknown = suits(&[("other".into(), quantity("1"))], &with_default, false);
        assert_eq!(unknown, Suits::Lacks("other".into()));
    }

    #[test]
    fn an_amount_is_rounded_up_to_the_range_and_its_steps() {
        let stepped = device("10", Some("2"), Some(range("2", Some("6"), Some("2"))));
        assert_eq!(asking(Some("1"), &stepped, false), Ok("2".into()));
        assert_eq!(asking(Some("3"), &stepped, false), Ok("4".into()));
        assert_eq!(asking(Some("7"), &stepped, false), Err(Suits::Forbidden("memory".into())));
        let values = ValidAmounts::Values(["1", "4"].map(quantity).into());
        let listed = device("10", Some("1"), Some(values));
        assert_eq!(asking(Some("2"), &listed, false), Ok("4".into()));
        assert_eq!(asking(Some("5"), &listed, false), Err(Suits::Forbidden("memory".into())));
    }

    #[test]
    fn fractions_count_only_behind_their_gate() {
        let fine = device("1", Some("200m"), Some(range("200m", Some("1"), Some("100m"))));
        assert_eq!(asking(Some("250m"), &fine, false), Ok("1".into()));
        assert_eq!(asking(Some("250m"), &fine, true), Ok("300m".into()));
    }

    #[test]
    fn an_amount_that_cannot_be_computed_is_a_fault() {
        let stepped = device("10", Some("2"), Some(range("2", None, Some("2"))));
        let fault = |amount: &str| match asking(Some(amount), &stepped, false) {
            Err(Suits::Fault(_, fault)) => fault.to_string(),
            other => panic!("{other:?}"),
        };
        let base = "capacity request cannot be represented in the device's range arithmetic";
        assert_eq!(
            fault("18446744073709551616"),
            format!("{base}: request 18446744073709551616 exceeds MaxInt64")
        );
        assert_eq!(
            fault("9223372036854775807"),
            format!("{base}: rounding request 9223372036854775807 up to the next step passes MaxInt64")
        );
        let negative = asking(Some("-5"), &device("10", None, None), false);
        assert_eq!(negative, Err(Suits::Fault("memory".into(), CapacityFault::Negative)));
        let no_step = device("10", None, Some(range("0", None, Some("0"))));
        assert!(asking(Some("1"), &no_step, false).is_err(), "a step of zero allows nothing");
    }

    #[test]
    fn shares_add_up_to_no_more_than_there_is() {
        let device = device("4", None, None);
        let wanted = [("memory".into(), quantity("2"))];
        assert_eq!(exceeded(&wanted, &device, |_| Some(quantity("2"))), None);
        assert_eq!(exceeded(&wanted, &device, |_| Some(quantity("3"))), Some(&"memory".into()));
    }
}
