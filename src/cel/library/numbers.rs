//! Arithmetic, order and conversions.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::cel::error::EvalError;
use crate::cel::functions::Function;
use crate::cel::value::{Outcome, Shared, Value};

/// `+`, `-`, `*`, `/` and `%` on numbers.
pub(super) fn arithmetic<'a>(function: Function, a: &Value<'a>, b: &Value<'a>) -> Outcome<'a> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => whole(function, *b == 0, "integer overflow", || match function {
            Function::Add => a.checked_add(*b),
            Function::Subtract => a.checked_sub(*b),
            Function::Multiply => a.checked_mul(*b),
            Function::Divide => a.checked_div(*b),
            _ => a.checked_rem(*b),
        })
        .map(Value::Int),
        (Value::Uint(a), Value::Uint(b)) => {
            whole(function, *b == 0, "unsigned integer overflow", || match function {
                Function::Add => a.checked_add(*b),
                Function::Subtract => a.checked_sub(*b),
                Function::Multiply => a.checked_mul(*b),
                Function::Divide => a.checked_div(*b),
                _ => a.checked_rem(*b),
            })
            .map(Value::Uint)
        }
        (Value::Double(a), Value::Double(b)) if function != Function::Modulo => {
            Ok(Value::Double(match function {
                Function::Add => a + b,
                Function::Subtract => a - b,
                Function::Multiply => a * b,
                _ => a / b,
            }))
        }
        (Value::Duration(_) | Value::Timestamp(_), _) => {
            super::time::arithmetic(function, a, b).unwrap_or_else(EvalError::overload)
        }
        (Value::Int(_) | Value::Uint(_), _) => EvalError::overload(),
        (Value::Double(_), _) if function != Function::Modulo => EvalError::overload(),
        (Value::String(_) | Value::Bytes(_) | Value::List(_), _) if function == Function::Add => {
            EvalError::overload()
        }
        _ => no_trait(function, a),
    }
}

fn whole<T>(
    function: Function,
    zero: bool,
    overflow: &str,
    result: impl FnOnce() -> Option<T>,
) -> Result<T, Arc<EvalError>> {
    match function {
        Function::Divide if zero => EvalError::operation("division by zero"),
        Function::Modulo if zero => EvalError::operation("modulus by zero"),
        _ => result().map_or_else(|| EvalError::operation(overflow), Ok),
    }
}

/// The left operand's type does not know the operator at all. Texts and times are asked once more by
/// name.
pub(super) fn no_trait<'a>(function: Function, left: &Value<'_>) -> Outcome<'a> {
    if matches!(left, Value::String(_) | Value::Duration(_) | Value::Timestamp(_)) {
        return EvalError::overload();
    }
    Err(Arc::new(EvalError::NoSuchOverload { call: Some(function.name().to_owned()) }))
}

/// `<`, `<=`, `>` and `>=`.
pub(super) fn order<'a>(function: Function, a: &Value<'a>, b: &Value<'a>) -> Outcome<'a> {
    let order = ordering(a, b).map_err(|failure| match failure {
        NotOrdered::Type => no_trait(function, a).err().unwrap_or_else(|| Arc::new(EvalError::CostLimit)),
        NotOrdered::Failed(failure) => failure,
    })?;
    Ok(Value::Bool(match function {
        Function::Less => order.is_lt(),
        Function::LessEquals => order.is_le(),
        Function::Greater => order.is_gt(),
        _ => order.is_ge(),
    }))
}

/// Why two values have no order.
pub(super) enum NotOrdered {
    /// Values of the first one's type never have.
    Type,
    Failed(Arc<EvalError>),
}

/// The order of two values of ordered types.
pub(super) fn ordering<'a>(a: &Value<'a>, b: &Value<'a>) -> Result<Ordering, NotOrdered> {
    let failed = |failure: Result<Ordering, _>| failure.map_err(NotOrdered::Failed);
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => Ok(a.cmp(b)),
        (Value::String(a), Value::String(b)) => Ok((**a).cmp(&**b)),
        (Value::Bytes(a), Value::Bytes(b)) => Ok(a.cmp(b)),
        (Value::Duration(a), Value::Duration(b)) => Ok(a.cmp(b)),
        (Value::Timestamp(a), Value::Timestamp(b)) => Ok(a.instant().cmp(&b.instant())),
        (Value::Double(a), _) if a.is_nan() => failed(EvalError::operation("NaN values cannot be ordered")),
        (Value::Int(_) | Value::Uint(_) | Value::Double(_), Value::Double(b)) if b.is_nan() => {
            failed(EvalError::operation("NaN values cannot be ordered"))
        }
        (
            Value::Bool(_)
            | Value::Int(_)
            | Value::Uint(_)
            | Value::Double(_)
            | Value::String(_)
            | Value::Bytes(_)
            | Value::Duration(_)
            | Value::Timestamp(_),
            _,
        ) => compare(a, b).map_or_else(|| failed(EvalError::overload()), Ok),
        _ => Err(NotOrdered::Type),
    }
}

/// The order of two numbers of any types. `None` if either is none, or no number at all.
#[allow(clippy::cast_precision_loss)]
pub(in crate::cel) fn compare(a: &Value<'_>, b: &Value<'_>) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Uint(a), Value::Uint(b)) => Some(a.cmp(b)),
        (Value::Double(a), Value::Double(b)) => a.partial_cmp(b),
        (Value::Int(a), Value::Uint(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
        (Value::Uint(a), Value::Int(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
        (Value::Double(a), Value::Int(b)) => {
            double_and_whole(*a, *b as f64, i64::MIN as f64, i64::MAX as f64)
        }
        (Value::Double(a), Value::Uint(b)) => double_and_whole(*a, *b as f64, 0.0, u64::MAX as f64),
        (Value::Int(_) | Value::Uint(_), Value::Double(_)) => compare(b, a).map(Ordering::reverse),
        _ => None,
    }
}

fn double_and_whole(double: f64, whole: f64, least: f64, most: f64) -> Option<Ordering> {
    if double < least {
        return Some(Ordering::Less);
    }
    if double > most {
        return Some(Ordering::Greater);
    }
    double.partial_cmp(&whole)
}

/// `int(..)`, `string(..)` and their like.
#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss)]
pub(super) fn convert<'a>(function: Function, args: &[Value<'a>]) -> Option<Outcome<'a>> {
    let [value] = args else { return None };
    let bad = |to: &str| {
        EvalError::operation(format!("type conversion error from '{}' to '{to}'", value.type_name()))
    };
    Some(match (function, value) {
        (Function::ToBool, Value::Bool(_))
        | (Function::ToBytes, Value::Bytes(_))
        | (Function::ToDouble, Value::Double(_))
        | (Function::ToInt, Value::Int(_))
        | (Function::ToString, Value::String(_))
        | (Function::ToUint, Value::Uint(_)) => Ok(value.clone()),
        (Function::ToBool, Value::String(text)) => match &**text {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Value::Bool(true)),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Value::Bool(false)),
            _ => bad("bool"),
        },
        (Function::ToBytes, Value::String(text)) => Ok(Value::Bytes(text.as_bytes().into())),
        (Function::ToDouble, Value::Int(value)) => Ok(Value::Double(*value as f64)),
        (Function::ToDouble, Value::Uint(value)) => Ok(Value::Double(*value as f64)),
        (Function::ToDouble, Value::String(text)) => match parse_double(text) {
            Some(value) => Ok(Value::Double(value)),
            None => bad("double"),
        },
        (Function::ToInt, Value::Double(value)) => {
            if *value > i64::MIN as f64 && *value < i64::MAX as f64 {
                Ok(Value::Int(*value as i64))
            } else {
                EvalError::operation("integer overflow")
            }
        }
        (Function::ToInt, Value::Uint(value)) => match i64::try_from(*value) {
            Ok(value) => Ok(Value::Int(value)),
            Err(_) => EvalError::operation("integer overflow"),
        },
        (Function::ToInt, Value::String(text)) => {
            text.parse().map_or_else(|_| bad("int"), |v| Ok(Value::Int(v)))
        }
        (Function::ToUint, Value::Int(value)) => match u64::try_from(*value) {
            Ok(value) => Ok(Value::Uint(value)),
            Err(_) => EvalError::operation("unsigned integer overflow"),
        },
        (Function::ToUint, Value::Double(value)) => {
            if *value >= 0.0 && *value < u64::MAX as f64 {
                Ok(Value::Uint(*value as u64))
            } else {
                EvalError::operation("unsigned integer overflow")
            }
        }
        (Function::ToUint, Value::String(text)) => {
            let digits = !text.starts_with('+');
            let parsed = text.parse().ok().filter(|_| digits);
            parsed.map_or_else(|| bad("uint"), |value| Ok(Value::Uint(value)))
        }
        (Function::ToString, Value::Bool(value)) => Ok(Value::text(value.to_string())),
        (Function::ToString, Value::Int(value)) => Ok(Value::text(value.to_string())),
        (Function::ToString, Value::Uint(value)) => Ok(Value::text(value.to_string())),
        (Function::ToString, Value::Double(value)) => Ok(Value::text(shortest(*value))),
        (Function::ToString, Value::Bytes(bytes)) => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Value::String(Shared::Owned(text.into()))),
            Err(_) => EvalError::operation("invalid UTF-8 in bytes, cannot convert to string"),
        },
        _ => return None,
    })
}

/// Go's `strconv.ParseFloat`: decimal or hexadecimal, with underscores between digits.
fn parse_double(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let digit = |at: Option<&u8>| at.is_some_and(u8::is_ascii_hexdigit);
    for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'_') {
        let after_prefix = at > 0 && matches!(bytes[at - 1], b'x' | b'X');
        if !(at > 0 && (digit(bytes.get(at - 1)) || after_prefix) && digit(bytes.get(at + 1))) {
            return None;
        }
    }
    let text = text.replace('_', "");
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(&text)),
    };
    if let Some(hex) = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X")) {
        return parse_hexadecimal(hex).map(|value| sign * value).filter(|value| value.is_finite());
    }
    if unsigned.starts_with(['+', '-']) {
        return None;
    }
    let value: f64 = unsigned.parse().ok()?;
    let named = unsigned.starts_with(|c: char| c.is_ascii_alphabetic());
    (named || value.is_finite()).then_some(sign * value)
}

/// `1.8p3`: hexadecimal digits, and a power of two that must be there.
#[allow(clippy::cast_precision_loss)]
fn parse_hexadecimal(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once(['p', 'P'])?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, fraction].concat();
    // More digits than a double can hold would need rounding by hand.
    if digits.is_empty() || digits.len() > 13 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let exponent: i32 = exponent.parse().ok()?;
    let places = i32::try_from(fraction.len()).ok()?;
    let value = u64::from_str_radix(&digits, 16).ok()? as f64;
    Some(value * 2_f64.powi(exponent.checked_sub(4 * places)?))
}

/// Go's `strconv.FormatFloat(value, 'g', -1, 64)`.
pub(in crate::cel) fn shortest(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if value != 0.0 && !(-4..6).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", exponent.abs());
    }
    format!("{value}")
}
