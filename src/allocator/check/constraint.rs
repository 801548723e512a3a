//! Whether the devices of a claim have in common, and do not have in common, what it asks.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::answer::Answer;
use super::violation::ClaimFault;
use super::{Given, World};
use crate::model::{AttributeValue, ClaimSpec, ConstraintKind, FeatureGate, Name};

/// Checks every constraint of a claim on the devices given for it.
pub(super) fn check_constraints(
    world: &World<'_>,
    spec: &ClaimSpec,
    answers: &[Answer<'_>],
    given: &[Given<'_>],
) -> Result<(), ClaimFault> {
    for (index, constraint) in spec.constraints.iter().enumerate() {
        let attribute = match &constraint.kind {
            ConstraintKind::MatchAttribute(attribute) | ConstraintKind::DistinctAttribute(attribute) => {
                attribute
            }
            ConstraintKind::Unknown => return Err(ClaimFault::UnknownConstraint { index }),
        };
        let concerned = |one: &&Given<'_>| {
            constraint.requests.is_empty() || answers[one.answer_index].is_named_in(&constraint.requests)
        };
        let mut before = Vec::new();
        for one in given.iter().filter(concerned) {
            let value = value_of(world, one, attribute)?;
            let fits = value.as_ref().is_some_and(|value| {
                let lists = world.has(FeatureGate::DRAListTypeAttributes);
                match (&constraint.kind, lists) {
                    (ConstraintKind::MatchAttribute(_), false) => matches_scalars(&before, value),
                    (ConstraintKind::MatchAttribute(_), true) => intersects_all(&before, value),
                    (_, false) => differs_from_scalars(&before, value),
                    (_, true) => is_disjoint_from_all(&before, value),
                }
            });
            match value {
                Some(value) if fits => before.push(value),
                _ => {
                    return Err(ClaimFault::ConstraintBroken {
                        index,
                        attribute: attribute.clone(),
                        device: one.result.device.clone(),
                    });
                }
            }
        }
    }
    Ok(())
}

/// The attribute as the request sees it: derived, if it says how, else as published.
fn value_of<'a>(
    world: &World<'_>,
    one: &Given<'a>,
    attribute: &Name,
) -> Result<Option<Cow<'a, AttributeValue>>, ClaimFault> {
    let driver = one.result.device.driver();
    match one.requirement.derived_attributes.iter().rfind(|derived| derived.name == *attribute) {
        None => Ok(one.device.content.qualified_attribute(driver, attribute).map(Cow::Borrowed)),
        Some(derived) => {
            world.selectors.derive(derived, driver, &one.device.content).map(Cow::Owned).map(Some).map_err(
                |error| ClaimFault::DerivedAttribute {
                    attribute: attribute.clone(),
                    device: one.result.device.clone(),
                    error: error.into(),
                },
            )
        }
    }
}

fn is_scalar(value: &AttributeValue) -> bool {
    matches!(
        value,
        AttributeValue::Int(_)
            | AttributeValue::Bool(_)
            | AttributeValue::String(_)
            | AttributeValue::Version(_)
    )
}

/// A first device passes whatever its value; the others must have the same scalar.
fn matches_scalars(before: &[Cow<'_, AttributeValue>], value: &AttributeValue) -> bool {
    before.first().is_none_or(|first| is_scalar(value) && **first == *value)
}

/// A first device passes whatever its value; the others must have another scalar.
fn differs_from_scalars(before: &[Cow<'_, AttributeValue>], value: &AttributeValue) -> bool {
    before.is_empty() || is_scalar(value) && before.iter().all(|other| **other != *value)
}

/// Some element is in all of the sets.
fn intersects_all(before: &[Cow<'_, AttributeValue>], value: &AttributeValue) -> bool {
    elements(value).iter().any(|element| before.iter().all(|other| elements(other).contains(element)))
}

/// There are elements, and none of them is in another set.
fn is_disjoint_from_all(before: &[Cow<'_, AttributeValue>], value: &AttributeValue) -> bool {
    let own = elements(value);
    !own.is_empty() && before.iter().all(|other| own.is_disjoint(&elements(other)))
}

/// A value as a set of scalars; empty for an unsupported one.
fn elements(value: &AttributeValue) -> BTreeSet<AttributeValue> {
    match value {
        AttributeValue::Ints(list) => list.iter().copied().map(AttributeValue::Int).collect(),
        AttributeValue::Bools(list) => list.iter().copied().map(AttributeValue::Bool).collect(),
        AttributeValue::Strings(list) => list.iter().cloned().map(AttributeValue::String).collect(),
        AttributeValue::Versions(list) => list.iter().cloned().map(AttributeValue::Version).collect(),
        AttributeValue::Unsupported => BTreeSet::new(),
        scalar => BTreeSet::from([scalar.clone()]),
    }
}
