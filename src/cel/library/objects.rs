//! Quantities and versions (Kubernetes' `cel/library/quantity.go` and `semverlib.go`).

use std::cmp::Ordering;

use crate::cel::error::EvalError;
use crate::cel::functions::Function;
use crate::cel::semver;
use crate::cel::value::{Outcome, Shared, Value};
use crate::model::Quantity;
use crate::model::quantity::Format;

/// A function that makes or takes a quantity or version. `None` if it takes no such values.
pub(super) fn call<'a>(function: Function, args: &[Value<'a>]) -> Option<Outcome<'a>> {
    match args {
        [Value::String(text)] => parse(function, text, false),
        [Value::String(text), Value::Bool(lax)] => parse(function, text, *lax),
        [Value::Quantity { amount, .. }] => quantity(function, amount),
        [Value::Quantity { amount, .. }, Value::Quantity { amount: other, .. }] => match function {
            Function::QuantityAdd => Some(Ok(Value::quantity(amount.add(other), true))),
            Function::QuantitySub => Some(Ok(Value::quantity(amount.sub(other), true))),
            _ => ordered(function, amount.compare(other)),
        },
        [Value::Quantity { amount, .. }, Value::Int(other)] => {
            let other = Quantity::from_i64(*other, Format::DecimalExponent);
            match function {
                Function::QuantityAdd => Some(Ok(Value::quantity(amount.add(&other), true))),
                Function::QuantitySub => Some(Ok(Value::quantity(amount.sub(&other), true))),
                _ => None,
            }
        }
        [Value::Semver(text), Value::Semver(other)] => ordered(function, semver::compare(text, other)),
        [Value::Semver(text)] => version(function, text),
        _ => None,
    }
}

fn parse<'a>(function: Function, text: &Shared<'a, str>, lax: bool) -> Option<Outcome<'a>> {
    Some(match function {
        Function::Quantity => match Quantity::parse(text) {
            Ok(amount) => Ok(Value::quantity(amount, false)),
            Err(reason) => EvalError::operation(reason.to_string()),
        },
        Function::IsQuantity => Ok(Value::Bool(Quantity::parse(text).is_ok())),
        Function::Semver if lax => match semver::normalize(text) {
            Ok(strict) => Ok(Value::Semver(Shared::Owned(strict.into()))),
            Err(reason) => EvalError::operation(reason),
        },
        Function::Semver => match semver::parse(text) {
            Ok(_) => Ok(Value::Semver(text.clone())),
            Err(reason) => EvalError::operation(reason),
        },
        Function::IsSemver if lax => Ok(Value::Bool(semver::normalize(text).is_ok())),
        Function::IsSemver => Ok(Value::Bool(semver::parse(text).is_ok())),
        _ => return None,
    })
}

fn ordered<'a>(function: Function, order: Ordering) -> Option<Outcome<'a>> {
    Some(Ok(match function {
        Function::CompareTo => Value::Int(order as i64),
        Function::IsGreaterThan => Value::Bool(order.is_gt()),
        Function::IsLessThan => Value::Bool(order.is_lt()),
        _ => return None,
    }))
}

fn quantity<'a>(function: Function, amount: &Quantity) -> Option<Outcome<'a>> {
    Some(match function {
        Function::Sign => Ok(Value::Int(i64::from(amount.sign()))),
        Function::IsInteger => Ok(Value::Bool(amount.as_i64().is_some())),
        Function::AsApproximateFloat => Ok(Value::Double(amount.as_approximate_f64())),
        Function::AsInteger => match amount.as_i64() {
            Some(value) => Ok(Value::Int(value)),
            None => EvalError::operation("cannot convert value to integer"),
        },
        _ => return None,
    })
}

fn version<'a>(function: Function, text: &str) -> Option<Outcome<'a>> {
    let version = semver::parse(text).ok()?;
    let number = match function {
        Function::Major => version.major,
        Function::Minor => version.minor,
        Function::Patch => version.patch,
        _ => return None,
    };
    Some(Ok(Value::Int(number.cast_signed())))
}
