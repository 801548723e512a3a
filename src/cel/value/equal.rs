//! Equality of values.

use std::sync::Arc;

use super::Value;
use crate::cel::cost::Meter;
use crate::cel::error::EvalError;
use crate::cel::semver;

/// `a == b`. A quantity or another type of Kubernetes on the left does not compare with anything else.
///
/// # Errors
/// The values do not compare, or it would take too long: shared elements are compared as often as
/// they are referred to.
pub(in crate::cel) fn equal<'a>(
    a: &Value<'a>,
    b: &Value<'a>,
    meter: &mut Meter,
) -> Result<bool, Arc<EvalError>> {
    Ok(match (a, b) {
        (Value::Null, _) | (_, Value::Null) => matches!((a, b), (Value::Null, Value::Null)),
        (Value::Quantity { amount: a, .. }, Value::Quantity { amount: b, computed: false }) => {
            a.compare(b).is_eq()
        }
        (Value::Semver(a), Value::Semver(b)) => semver::compare(a, b).is_eq(),
        (Value::Ip(a), Value::Ip(b)) => a == b,
        (Value::Cidr(a), Value::Cidr(b)) => a == b,
        (Value::Url(a), Value::Url(b)) => a == b,
        (Value::Format(a), Value::Format(b)) => a == b,
        (
            Value::Quantity { .. }
            | Value::Semver(_)
            | Value::Ip(_)
            | Value::Cidr(_)
            | Value::Url(_)
            | Value::Format(_),
            _,
        ) => return EvalError::overload(),
        (Value::Duration(a), Value::Duration(b)) => a == b,
        (Value::Timestamp(a), Value::Timestamp(b)) => a.instant() == b.instant(),
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::String(a), Value::String(b)) => **a == **b,
        (Value::Bytes(a), Value::Bytes(b)) => a == b,
        (Value::Type(a), Value::Type(b)) => a == b,
        (Value::List(a), Value::List(b)) => {
            meter.elements(a.len().min(b.len()))?;
            // Upstream looks for a false, so an element that does not compare counts as equal.
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| equal(&a, &b, meter).unwrap_or(true))
        }
        (Value::Map(a), Value::Map(b)) => {
            meter.elements(a.len().min(b.len()))?;
            a.len() == b.len()
                && a.entries().into_iter().all(|(key, value)| {
                    b.find(&key).is_some_and(|other| equal(&value, &other, meter).unwrap_or(true))
                })
        }
        (Value::Optional(a), Value::Optional(b)) => match (a, b) {
            (Some(a), Some(b)) => return equal(a, b, meter),
            (a, b) => a.is_none() && b.is_none(),
        },
        (a, b) => crate::cel::library::numbers::compare(a, b).is_some_and(std::cmp::Ordering::is_eq),
    })
}
