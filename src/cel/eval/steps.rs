//! Accesses, calls and decisions of the machine.

use std::sync::Arc;

use smallvec::SmallVec;

use super::Machine;
use super::collections::go_type;
use crate::cel::cost::{self, Meter};
use crate::cel::device::DeviceInput;
use crate::cel::error::EvalError;
use crate::cel::functions::Function;
use crate::cel::library;
use crate::cel::program::{Access, Op, Path};
use crate::cel::value::{Outcome, Shared, Text, Value};

impl<'a> Machine<'a> {
    pub(super) fn call(
        &mut self,
        function: Function,
        overload: Option<&'static str>,
        count: u32,
        meter: &mut Meter,
    ) -> Result<(), EvalError> {
        let args = self.take(count);
        let failure = args.iter().find_map(|arg| arg.as_ref().err()).cloned();
        let not_strict = function == Function::NotStrictlyFalse;
        let result = match (failure, not_strict) {
            (_, true) => Ok(Value::Bool(!matches!(args.first(), Some(Ok(Value::Bool(false)))))),
            (Some(failure), _) => Err(failure),
            _ => {
                let values: SmallVec<[Value<'a>; 4]> =
                    args.iter().filter_map(|arg| arg.clone().ok()).collect();
                library::call(function, overload, &values, meter)
            }
        };
        if let Err(failure) = &result {
            library::unrecoverable(failure)?;
        }
        untrackable(function, overload, &args)?;
        meter.charge(cost::of_call(function, overload, &args, &result))?;
        self.push(result);
        Ok(())
    }

    /// Whether the term on the stack decides.
    pub(super) fn merge(&mut self, decisive: bool) -> bool {
        let term = self.pop();
        let Some(so_far) = self.stack.last_mut() else { return true };
        match term {
            Ok(Value::Bool(value)) if value == decisive => {
                *so_far = Ok(Value::Bool(decisive));
                return true;
            }
            Ok(Value::Bool(_)) => {}
            failure if so_far.is_ok() => *so_far = failure.and_then(|_| EvalError::overload()),
            _ => {}
        }
        false
    }

    pub(super) fn branch(&mut self, next: usize, otherwise: u32, exit: u32) -> usize {
        match self.pop() {
            Ok(Value::Bool(true)) => next,
            Ok(Value::Bool(false)) => otherwise as usize,
            other => {
                self.push(other.and_then(|_| EvalError::overload()));
                exit as usize
            }
        }
    }

    pub(super) fn or_else(&mut self, unwrap: bool, lenient: bool, next: usize, exit: u32) -> usize {
        match self.pop() {
            Ok(Value::Optional(None)) => return next,
            Ok(Value::Optional(Some(value))) if unwrap => self.push(Ok((*value).clone())),
            value @ (Ok(Value::Optional(_)) | Err(_)) => self.push(value),
            value if lenient => self.push(value),
            Ok(_) => self.push(EvalError::overload()),
        }
        exit as usize
    }

    /// Replaces the value on the stack by its element. An optional's is optional.
    pub(super) fn access(
        &mut self,
        key: Outcome<'a>,
        access: Access,
        next: usize,
        meter: &mut Meter,
    ) -> Result<usize, EvalError> {
        let (value, optional) = match self.pop() {
            Ok(Value::Optional(Some(value))) => ((*value).clone(), true),
            Ok(value) => (value, access.optional),
            Err(failure) => {
                self.push(Err(failure));
                return Ok(access.exit as usize);
            }
        };
        let found = key.and_then(|key| element(&value, &key, optional || access.test));
        let (result, charged) = match found {
            Err(failure) => (Err(failure), !optional),
            Ok(found) if access.test && !optional => (Ok(Value::Bool(found.is_some())), true),
            Ok(None) => (Ok(Value::Optional(None)), false),
            Ok(Some(value)) if optional => (Ok(Value::some(value)), true),
            Ok(Some(value)) => (Ok(value), true),
        };
        let ends = matches!(result, Err(_) | Ok(Value::Optional(None)));
        self.push(result);
        if charged && !access.free {
            meter.charge(cost::SELECT)?;
        }
        Ok(if ends { access.exit as usize } else { next })
    }

    /// A call with a constant pattern. Upstream counts nothing for it if it is not made.
    pub(super) fn regex(&mut self, op: &'a Op, meter: &mut Meter) -> Result<(), EvalError> {
        let Op::Regex { function, regex, pattern, overload, limited } = op else { return Ok(()) };
        let most = if *limited { self.pop().map(unwrapped) } else { Ok(Value::Int(-1)) };
        let text = match self.pop() {
            Ok(text) => unwrapped(text),
            Err(failure) => {
                self.push(Err(failure));
                return Ok(());
            }
        };
        let regex = &self.program.regexes[*regex as usize];
        let result = most.and_then(|most| match (&text, most) {
            (Value::String(text), Value::Int(most)) => library::find(*function, regex, text, most, meter),
            (Value::Type(name), Value::Int(most)) => library::find(*function, regex, name.0, most, meter),
            _ => EvalError::overload(),
        });
        let args = [Ok(text), Ok(borrowed(&self.program.constants[*pattern as usize]))];
        meter.charge(cost::of_call(*function, Some(overload), &args, &result))?;
        self.push(result);
        Ok(())
    }

    /// Whether a set has the value on the stack.
    pub(super) fn in_set(&mut self, set: u32) -> Result<(), EvalError> {
        let set = &self.program.sets[set as usize];
        let found = self.pop().and_then(|value| match (&value, value.key()) {
            (_, Some(key)) => Ok(Value::Bool(set.contains(&key))),
            (Value::Semver(_) | Value::Bytes(_) | Value::Format(_), None) => {
                EvalError::operation(library::unhashable(&value))
            }
            _ => Ok(Value::Bool(false)),
        });
        if let Err(failure) = &found {
            library::unrecoverable(failure)?;
        }
        self.push(found);
        Ok(())
    }
}

/// The value that upstream asks for in Go, which an optional hands out.
fn unwrapped(mut value: Value<'_>) -> Value<'_> {
    while let Value::Optional(Some(inner)) = value {
        value = (*inner).clone();
    }
    value
}

/// A constant without its reference count being touched, where that matters.
pub(super) fn borrowed<'a>(constant: &'a Value<'static>) -> Value<'a> {
    match constant {
        Value::String(text) => Value::String(Text::Borrowed(text)),
        Value::Semver(text) => Value::Semver(Text::Borrowed(text)),
        Value::Quantity { amount, computed } => {
            Value::Quantity { amount: Shared::Borrowed(amount), computed: *computed }
        }
        other => other.clone(),
    }
}

pub(super) fn path<'a>(device: &'a DeviceInput<'a>, path: &'a Path, test: bool) -> Outcome<'a> {
    let value = match path {
        Path::Whole => Some(device.whole()),
        Path::Driver => device.field("driver"),
        Path::MultipleAllocations => device.field("allowMultipleAllocations"),
        Path::Section(section) => Some(device.section(*section)),
        Path::Domain(section, domain) => Some(device.domain(*section, Text::Borrowed(domain))),
        Path::Member { section, domain, id, key } => {
            let value = device.member(*section, domain, id, key);
            if value.is_none() && !test {
                return Err(Arc::new(EvalError::NoSuchKey { key: id.to_string() }));
            }
            value
        }
    };
    if test { Ok(Value::Bool(value.is_some())) } else { Ok(value.unwrap_or(Value::Null)) }
}

/// Whether a value can be the key of an access; what upstream says if not.
pub(in crate::cel) fn check_qualifier(key: &Value<'_>) -> Result<(), String> {
    match key {
        Value::String(_) | Value::Int(_) | Value::Uint(_) | Value::Bool(_) | Value::Double(_) => Ok(()),
        other => Err(format!("invalid qualifier type: {}", go_type(other))),
    }
}

/// The element of a value. `None` if it has none and `lenient`.
fn element<'a>(
    value: &Value<'a>,
    key: &Value<'a>,
    lenient: bool,
) -> Result<Option<Value<'a>>, Arc<EvalError>> {
    check_qualifier(key).or_else(EvalError::operation)?;
    let found = match value {
        Value::Map(map) => map.find(key),
        Value::List(list) => {
            let index = match key {
                Value::Int(index) => Some(*index),
                Value::Uint(index) => i64::try_from(*index).ok(),
                #[allow(clippy::cast_possible_truncation)]
                Value::Double(index) if index.fract() == 0.0 && index.abs() < 1e18 => Some(*index as i64),
                Value::Double(index) => {
                    return EvalError::operation(format!("unsupported index value {index} in list"));
                }
                other => {
                    let name = other.type_name();
                    return EvalError::operation(format!("unsupported index type '{name}' in list"));
                }
            };
            let found = index.and_then(|index| usize::try_from(index).ok()).and_then(|at| list.get(at));
            if found.is_none() && !lenient {
                return EvalError::operation(format!("index out of bounds: {key}"));
            }
            found
        }
        _ => None,
    };
    if found.is_none() && !lenient {
        return Err(Arc::new(EvalError::NoSuchKey { key: key.to_string() }));
    }
    Ok(found)
}

/// Upstream counts the cost of some list functions without a look at whether the argument is a list,
/// and ends the whole evaluation if it is none.
fn untrackable(
    function: Function,
    overload: Option<&'static str>,
    args: &[Outcome<'_>],
) -> Result<(), EvalError> {
    let list = match function {
        Function::Distinct | Function::Sort if overload.is_some() => args.first(),
        Function::SortByKeys if overload.is_some() => args.get(1),
        _ => return Ok(()),
    };
    let go = match list {
        None | Some(Ok(Value::List(_))) => return Ok(()),
        Some(Ok(other)) => go_type(other),
        Some(Err(_)) => "*types.Err",
    };
    let message =
        format!("internal error: interface conversion: {go} is not traits.Lister: missing method Add");
    Err(EvalError::Operation { message })
}
