//! What the functions and operators do with values. Which values a function takes is asked again
//! here, since values of type dyn pass the checker.

mod calendar;
pub(super) mod format;
mod formats;
pub(super) mod lists;
mod net;
pub(super) mod numbers;
mod objects;
pub(super) mod pattern;
mod strings;
mod time;
mod url;
mod zones;

use std::sync::Arc;

pub use self::formats::NamedFormat;
pub use self::net::Cidr;
pub(super) use self::strings::find;
pub(super) use self::time::GoDuration;
pub use self::time::Timestamp;
pub use self::url::Url;
use super::cost::Meter;
use super::error::EvalError;
use super::functions::Function;
use super::value::{Key, Map, Outcome, TypeName, Value, equal, identity};

/// Calls a function on values.
///
/// # Errors
/// The function's own failure, or that it takes no such values.
pub(super) fn call<'a>(
    function: Function,
    overload: Option<&'static str>,
    args: &[Value<'a>],
    meter: &mut Meter,
) -> Outcome<'a> {
    if !fits(overload, args) {
        return mismatch(function, args);
    }
    if overload == Some("int64_to_duration") {
        return EvalError::operation("type conversion error from 'int' to 'google.protobuf.Duration'");
    }
    let done = operator(function, args, meter)
        .or_else(|| optional(function, args))
        .or_else(|| numbers::convert(function, args))
        .or_else(|| time::convert(function, args))
        .or_else(|| strings::call(function, args, meter))
        .or_else(|| lists::call(function, overload, args, meter))
        .or_else(|| objects::call(function, args))
        .or_else(|| time::call(function, args, meter))
        .or_else(|| net::call(function, args))
        .or_else(|| url::call(function, args))
        .or_else(|| formats::call(function, args));
    done.unwrap_or_else(|| mismatch(function, args))
}

/// Whether the value is of the kind that a conversion was checked for. A type that is not known is taken
/// for that of the first signature.
fn fits(overload: Option<&str>, args: &[Value<'_>]) -> bool {
    if overload == Some("cidr_ip") {
        return matches!(args, [Value::Cidr(_)]);
    }
    let from = overload.and_then(|id| Some(id.split_once("_to_")?.0));
    let ([value], Some(from)) = (args, from) else { return true };
    match from {
        "bool" | "bytes" | "double" | "string" => value.type_name() == from,
        "int64" => value.type_name() == "int",
        "uint64" => value.type_name() == "uint",
        "duration" => matches!(value, Value::Duration(_)),
        "timestamp" => matches!(value, Value::Timestamp(_)),
        "ip" => matches!(value, Value::Ip(_)),
        "cidr" => matches!(value, Value::Cidr(_)),
        _ => true,
    }
}

/// No signature of the function takes these values.
fn mismatch<'a>(function: Function, args: &[Value<'_>]) -> Outcome<'a> {
    let types: Vec<_> = args.iter().map(Value::type_name).collect();
    let call = match function {
        Function::Negate | Function::Size => return numbers::no_trait(function, &args[0]),
        Function::Not | Function::In | Function::Contains | Function::StartsWith | Function::EndsWith => {
            return EvalError::overload();
        }
        Function::Matches if matches!(args.first(), Some(Value::String(_))) => return EvalError::overload(),
        Function::Matches | Function::Sort => function.name().to_owned(),
        _ => format!("{}({})", function.name(), types.join(", ")),
    };
    Err(Arc::new(EvalError::NoSuchOverload { call: Some(call) }))
}

fn operator<'a>(function: Function, args: &[Value<'a>], meter: &mut Meter) -> Option<Outcome<'a>> {
    Some(match (function, args) {
        (Function::Equals, [a, b]) => equal(a, b, meter).map(Value::Bool),
        (Function::NotEquals, [a, b]) => Ok(Value::Bool(!equal(a, b, meter).unwrap_or(false))),
        (Function::Not, [Value::Bool(value)]) => Ok(Value::Bool(!value)),
        (Function::Add, [Value::List(a), Value::List(b)]) => lists::concatenate(a, b, meter),
        (Function::Add, [Value::String(a), Value::String(b)]) => strings::concatenate(a, b, meter),
        (Function::Add, [Value::Bytes(a), Value::Bytes(b)]) => Ok(Value::Bytes([&**a, &**b].concat().into())),
        (
            Function::Add | Function::Subtract | Function::Multiply | Function::Divide | Function::Modulo,
            [a, b],
        ) => numbers::arithmetic(function, a, b),
        (Function::Negate, [Value::Int(value)]) => match value.checked_neg() {
            Some(value) => Ok(Value::Int(value)),
            None => EvalError::operation("integer overflow"),
        },
        (Function::Negate, [Value::Double(value)]) => Ok(Value::Double(-value)),
        (Function::Negate, [Value::Duration(nanos)]) => match nanos.checked_neg() {
            Some(nanos) => Ok(Value::Duration(nanos)),
            None => EvalError::operation("integer overflow"),
        },
        (Function::Less | Function::LessEquals | Function::Greater | Function::GreaterEquals, [a, b]) => {
            numbers::order(function, a, b)
        }
        (Function::In, [needle, Value::List(list)]) => {
            Ok(Value::Bool(list.iter().any(|value| equal(needle, &value, meter).unwrap_or(false))))
        }
        (
            Function::In,
            [
                key @ (Value::Semver(_) | Value::Bytes(_) | Value::Format(_)),
                Value::Map(map @ Map::Entries(_)),
            ],
        ) if map.len() > 0 => EvalError::operation(unhashable(key)),
        (Function::In, [key, Value::Map(map)]) => Ok(Value::Bool(map.contains(key))),
        (Function::TypeOf, [value]) => Ok(Value::Type(TypeName(value.type_name()))),
        (Function::ToDyn, [value]) => Ok(value.clone()),
        (Function::MapInsert, [Value::Map(map), Value::Map(more)]) => {
            let mut entries = map.entries();
            entries.extend(more.entries());
            insert_all(entries)
        }
        (Function::MapInsert, [Value::Map(map), key, value]) => {
            let mut entries = map.entries();
            entries.push((key.clone(), value.clone()));
            insert_all(entries)
        }
        _ => return None,
    })
}

/// A map of entries of which no two have the same key.
fn insert_all<'a>(entries: Vec<(Value<'a>, Value<'a>)>) -> Outcome<'a> {
    let mut map = super::value::Entries::new();
    for (key, value) in entries {
        insert(&mut map, key, value)?;
    }
    Ok(Value::Map(Map::new(map)))
}

/// Adds an entry; a key that is there already is a failure.
pub(super) fn insert<'a>(
    map: &mut super::value::Entries<'a>,
    key: Value<'a>,
    value: Value<'a>,
) -> Result<(), Arc<EvalError>> {
    let hash = map_key(&key, map)?;
    if map.contains_key(&hash) {
        // Upstream prints the key as Go does, to which null is a number.
        let key = if matches!(key, Value::Null) { "0".to_owned() } else { key.to_string() };
        return EvalError::operation(format!("insert failed: key {key} already exists"));
    }
    map.insert(hash, (key, value));
    Ok(())
}

/// The key under which a value goes into a map. Upstream finds lists, maps, optionals and quantities by
/// their address, which no other value has; here only a quantity is the same twice.
pub(super) fn map_key(key: &Value<'_>, map: &super::value::Entries<'_>) -> Result<Key, Arc<EvalError>> {
    match key {
        Value::List(_) | Value::Map(_) | Value::Optional(_) | Value::Quantity { .. } | Value::Url(_) => {
            Ok(identity(map, key).unwrap_or(Key::Alone(map.len())))
        }
        _ => key.key().ok_or(()).or_else(|()| EvalError::operation(unhashable(key))),
    }
}

/// How Go fails where a value that cannot be hashed is used as a key.
pub(super) fn unhashable(value: &Value<'_>) -> String {
    let go = match value {
        Value::Semver(_) => "cel.Semver",
        Value::Bytes(_) => "types.Bytes",
        Value::Format(_) => "cel.Format",
        _ => return format!("unsupported key type: {}", value.type_name()),
    };
    format!("internal error: runtime error: hash of unhashable type {go}")
}

/// Some failures of Go end the evaluation at once.
pub(super) fn unrecoverable(failure: &EvalError) -> Result<(), EvalError> {
    match failure {
        EvalError::Operation { message } if message.starts_with("internal error: ") => Err(failure.clone()),
        _ => Ok(()),
    }
}

fn optional<'a>(function: Function, args: &[Value<'a>]) -> Option<Outcome<'a>> {
    Some(match (function, args) {
        (Function::OptionalOf, [value]) => Ok(Value::some(value.clone())),
        (Function::OptionalOfNonZero, [value]) => {
            Ok(if is_zero(value) { Value::Optional(None) } else { Value::some(value.clone()) })
        }
        (Function::OptionalNone, []) => Ok(Value::Optional(None)),
        (Function::HasValue, [Value::Optional(value)]) => Ok(Value::Bool(value.is_some())),
        (Function::Value, [Value::Optional(Some(value))]) => Ok((**value).clone()),
        (Function::Value, [Value::Optional(None)]) => EvalError::operation("optional.none() dereference"),
        (Function::First, [Value::List(list)]) => Ok(Value::Optional(list.get(0).map(Arc::new))),
        (Function::Last, [Value::List(list)]) => {
            Ok(Value::Optional(list.len().checked_sub(1).and_then(|at| list.get(at)).map(Arc::new)))
        }
        (Function::OptionalUnwrap | Function::UnwrapOpt, [Value::List(list)]) => {
            let mut values = Vec::new();
            for value in list.iter() {
                match value {
                    Value::Optional(value) => values.extend(value.map(|value| (*value).clone())),
                    other => {
                        return Some(EvalError::operation(format!(
                            "value must be optional type: {}",
                            other.type_name()
                        )));
                    }
                }
            }
            Ok(Value::list(values))
        }
        _ => return None,
    })
}

/// Whether a value is the zero of its type, for `optional.ofNonZeroValue`.
fn is_zero(value: &Value<'_>) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Int(value) => *value == 0,
        Value::Uint(value) => *value == 0,
        Value::Double(value) => *value == 0.0,
        Value::String(value) => value.is_empty(),
        Value::Bytes(value) => value.is_empty(),
        Value::List(value) => value.len() == 0,
        Value::Map(value) => value.len() == 0,
        Value::Duration(nanos) => *nanos == 0,
        Value::Timestamp(point) => point.is_zero(),
        Value::Optional(_)
        | Value::Quantity { .. }
        | Value::Semver(_)
        | Value::Ip(_)
        | Value::Cidr(_)
        | Value::Url(_)
        | Value::Format(_)
        | Value::Type(_) => false,
    }
}
