//! Derived attributes: expressions whose result stands in for an attribute of a device
//! (gate `DRADerivedAttributes`, alpha in 1.37).

use crate::model::{AttributeValue, Name};

use super::device::DeviceInput;
use super::error::{CompileError, EvalError};
use super::program::Program;
use super::types::{SEMVER, Type};
use super::value::{List, Value};
use super::{Environment, compile_typed};

/// Compiles the expression of a derived attribute.
///
/// # Errors
/// It is no valid expression, or gives no value that an attribute can have.
pub fn compile_derived(expression: &str, env: &Environment) -> Result<Program, CompileError> {
    let is_scalar =
        |ty: &Type| matches!(ty, Type::Bool | Type::Int | Type::String | Type::Dyn) || *ty == SEMVER;
    compile_typed(expression, env, |ty| match ty {
        Type::List(element) if is_scalar(element) => Ok(()),
        ty if is_scalar(ty) => Ok(()),
        _ => Err("a primitive scalar (string, integer, boolean, semver) or a list of these scalars"),
    })
}

impl Program {
    /// The value of a derived attribute on a device.
    ///
    /// # Errors
    /// The evaluation failed, or its result is nothing that an attribute can be; upstream's words.
    pub fn attribute(&self, device: &DeviceInput<'_>) -> Result<AttributeValue, String> {
        let value = self.evaluate(device).map_err(|error| match error {
            // The advice that selectors get is not given here.
            EvalError::NoSuchKey { key } => format!("no such key: {key}"),
            other => other.to_string(),
        })?;
        match unwrapped(&value) {
            Value::Bool(value) => Ok(AttributeValue::Bool(*value)),
            Value::Int(value) => Ok(AttributeValue::Int(*value)),
            Value::String(text) => Ok(AttributeValue::String(Name::from(&**text))),
            Value::Semver(text) => Ok(AttributeValue::Version(Name::from(&**text))),
            Value::Type(name) => Ok(AttributeValue::String(Name::from(name.0))),
            // Upstream looks through the optional for a scalar only.
            Value::List(list) if matches!(value, Value::List(_)) => from_list(list),
            other => Err(format!("unsupported CEL return type: {}", native(other))),
        }
    }
}

/// The value in an optional.
fn unwrapped<'v, 'a>(value: &'v Value<'a>) -> &'v Value<'a> {
    match value {
        Value::Optional(Some(inner)) => unwrapped(inner),
        value => value,
    }
}

/// The type of what upstream makes of a value in Go, which failures tell.
fn native(value: &Value<'_>) -> &'static str {
    match value {
        Value::Null => "structpb.NullValue",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int64",
        Value::Uint(_) => "uint64",
        Value::Double(_) => "float64",
        Value::Bytes(_) => "[]uint8",
        Value::String(_) | Value::Type(_) => "string",
        Value::Semver(_) => "semver.Version",
        Value::Quantity { .. } => "*resource.Quantity",
        Value::Optional(_) => "<nil>",
        Value::List(_) => "[]ref.Val",
        Value::Map(map) => map.native(),
        Value::Duration(_) => "time.Duration",
        Value::Timestamp(_) => "time.Time",
        Value::Ip(_) => "netip.Addr",
        Value::Cidr(_) => "netip.Prefix",
        Value::Url(_) => "*url.URL",
        Value::Format(_) => "cel.Format",
    }
}

/// The first element decides about the type of all. An empty list has no value of any type.
fn from_list(list: &List<'_>) -> Result<AttributeValue, String> {
    let values: Vec<Value<'_>> = list.iter().collect();
    let values: Vec<&Value<'_>> = values.iter().map(unwrapped).collect();
    let wrong = |wanted: &str, at: usize, found: &Value<'_>| {
        format!("expected list element at index {at} to be {wanted}, got {}", native(found))
    };
    let texts = |wanted: &str, is_version: bool| {
        let text = |(at, value): (usize, &Value<'_>)| match value {
            Value::String(text) if !is_version => Ok(Name::from(&**text)),
            Value::Type(name) if !is_version => Ok(Name::from(name.0)),
            Value::Semver(text) if is_version => Ok(Name::from(&**text)),
            other => Err(wrong(wanted, at, other)),
        };
        values.iter().copied().enumerate().map(text).collect::<Result<Box<[Name]>, String>>()
    };
    match values.first() {
        None => Ok(AttributeValue::Strings(Box::default())),
        Some(Value::Bool(_)) => {
            let bool = |(at, value): (usize, &Value<'_>)| match value {
                Value::Bool(value) => Ok(*value),
                other => Err(wrong("bool", at, other)),
            };
            values.iter().copied().enumerate().map(bool).collect::<Result<_, _>>().map(AttributeValue::Bools)
        }
        Some(Value::Int(_)) => {
            let int = |(at, value): (usize, &Value<'_>)| match value {
                Value::Int(value) => Ok(*value),
                other => Err(wrong("int", at, other)),
            };
            values.iter().copied().enumerate().map(int).collect::<Result<_, _>>().map(AttributeValue::Ints)
        }
        Some(Value::String(_) | Value::Type(_)) => texts("string", false).map(AttributeValue::Strings),
        Some(Value::Semver(_)) => texts("semver", true).map(AttributeValue::Versions),
        Some(other) => Err(format!("unsupported list element type: {}", native(other))),
    }
}
