//! Lists (Kubernetes' `cel/library/lists.go`, cel-go's `ext/lists.go` version 3 and `ext/sets.go`).

use std::cmp::Ordering;
use std::sync::Arc;

use super::numbers::{self, NotOrdered};
use crate::cel::cost::{COST_LIMIT, Meter};
use crate::cel::error::EvalError;
use crate::cel::functions::{Function, OLDER_RANGE};
use crate::cel::value::{List, Outcome, Value, equal};

/// `a + b`
pub(super) fn concatenate<'a>(a: &List<'a>, b: &List<'a>, meter: &mut Meter) -> Outcome<'a> {
    meter.elements(a.len().saturating_add(b.len()))?;
    Ok(Value::list(a.iter().chain(b.iter()).collect()))
}

/// A function of a list. `None` if it takes no such values.
pub(super) fn call<'a>(
    function: Function,
    overload: Option<&'static str>,
    args: &[Value<'a>],
    meter: &mut Meter,
) -> Option<Outcome<'a>> {
    match (function, args) {
        (Function::Range, [Value::Int(..0)]) if overload == Some(OLDER_RANGE) => {
            return Some(Ok(Value::list(Vec::new())));
        }
        (Function::Range, [Value::Int(count)]) => return Some(range(*count)),
        (Function::Size, [Value::Map(map)]) => return Some(Ok(int(map.len()))),
        (Function::Size, [Value::Bytes(bytes)]) => return Some(Ok(int(bytes.len()))),
        (Function::Includes, [value, wanted]) if !matches!(value, Value::List(_)) => {
            return Some(Ok(Value::Bool(equal(value, wanted, meter).unwrap_or(false))));
        }
        _ => {}
    }
    let [Value::List(list), rest @ ..] = args else { return None };
    let position = |at: Option<usize>| Ok(at.map_or(Value::Int(-1), int));
    Some(match (function, rest) {
        (Function::Size, []) => Ok(int(list.len())),
        (Function::IsSorted | Function::Max | Function::Min | Function::Sum, [])
            if !takes(function, overload, list) =>
        {
            return None;
        }
        (Function::IsSorted, []) => is_sorted(list),
        (Function::Sum, []) => sum(list, overload),
        (Function::Max, []) => extreme(list, "max", Ordering::Less),
        (Function::Min, []) => extreme(list, "min", Ordering::Greater),
        (Function::IndexOf, [wanted]) => position(list.iter().position(|value| same(&value, wanted, meter))),
        (Function::LastIndexOf, [wanted]) => {
            let found = list.iter().rev().position(|value| same(&value, wanted, meter));
            position(found.map(|back| list.len() - 1 - back))
        }
        (Function::Includes, [wanted]) => {
            Ok(Value::Bool(list.iter().any(|value| same(&value, wanted, meter))))
        }
        (Function::Slice, [Value::Int(start), Value::Int(end)]) => slice(list, *start, *end, meter),
        (Function::Flatten, []) => flatten(list, 1, meter),
        (Function::Flatten, [Value::Int(depth)]) => flatten(list, *depth, meter),
        (Function::Reverse, []) => Ok(Value::list(list.iter().rev().collect())),
        (Function::Distinct, []) => distinct(list, meter),
        (Function::Sort, []) => sort(list, list),
        (Function::SortByKeys, [Value::List(keys)]) => sort(list, keys),
        (Function::SetsContains, [Value::List(others)]) => contains_all(list, others, meter),
        (Function::SetsEquivalent, [Value::List(others)]) => {
            contains_all(list, others, meter).and_then(|one| match one {
                Value::Bool(true) => contains_all(others, list, meter),
                other => Ok(other),
            })
        }
        (Function::SetsIntersects, [Value::List(others)]) => {
            let shared = list.iter().any(|value| others.iter().any(|other| same(&value, &other, meter)));
            Ok(Value::Bool(shared))
        }
        _ => return None,
    })
}

fn int<'a>(count: usize) -> Value<'a> {
    Value::Int(i64::try_from(count).unwrap_or(i64::MAX))
}

/// Whether two values are equal; what does not compare is not.
fn same<'a>(a: &Value<'a>, b: &Value<'a>, meter: &mut Meter) -> bool {
    equal(a, b, meter).unwrap_or(false)
}

/// Comparing all with all is charged only afterwards; what cannot be paid is not begun.
fn pairs(a: usize, b: usize, meter: &mut Meter) -> Result<(), Arc<EvalError>> {
    let pairs = a.saturating_mul(b);
    if pairs as u64 > COST_LIMIT { meter.work(usize::MAX) } else { Ok(()) }
}

fn contains_all<'a>(list: &List<'a>, others: &List<'a>, meter: &mut Meter) -> Outcome<'a> {
    pairs(list.len(), others.len(), meter)?;
    let mut held = |other: Value<'a>| list.iter().any(|value| same(&other, &value, meter));
    Ok(Value::Bool(others.iter().all(&mut held)))
}

/// The longest list that `lists.range` makes.
const RANGE_MAX: i64 = 1_000_000;

fn range<'a>(count: i64) -> Outcome<'a> {
    if count < 0 {
        return EvalError::operation(format!("lists.range: size must be non-negative, got {count}"));
    }
    if count > RANGE_MAX {
        return EvalError::operation(format!(
            "lists.range: size {count} exceeds maximum allowed ({RANGE_MAX})"
        ));
    }
    Ok(Value::list((0..count).map(Value::Int).collect()))
}

/// A value that cannot be compared spoils nothing but the comparison: upstream looks only for the
/// one order that it seeks.
fn ordered_as<'a>(a: &Value<'a>, b: &Value<'a>, order: Ordering) -> bool {
    matches!(numbers::ordering(a, b), Ok(found) if found == order)
}

fn is_comparable(value: &Value<'_>) -> bool {
    !matches!(numbers::ordering(value, value), Err(NotOrdered::Type))
}

/// Whether a function has a signature for the list, of which upstream asks the first element.
fn takes(function: Function, overload: Option<&str>, list: &List<'_>) -> bool {
    let is_meant = |first: &Value<'_>| {
        let element = overload.and_then(|id| id.strip_prefix("list_")?.split('_').next());
        // A signature says `duration` for `google.protobuf.Duration`.
        let name = match first {
            Value::Duration(_) => "duration",
            Value::Timestamp(_) => "timestamp",
            other => other.type_name(),
        };
        element.is_none_or(|element| element == name)
    };
    list.get(0).is_none_or(|first| match function {
        _ if !is_meant(&first) => false,
        Function::Sum => {
            matches!(first, Value::Int(_) | Value::Uint(_) | Value::Double(_) | Value::Duration(_))
        }
        _ => is_comparable(&first),
    })
}

fn is_sorted<'a>(list: &List<'a>) -> Outcome<'a> {
    let mut before: Option<Value<'a>> = None;
    for value in list.iter() {
        if !is_comparable(&value) {
            return EvalError::overload();
        }
        if before.is_some_and(|before| ordered_as(&before, &value, Ordering::Greater)) {
            return Ok(Value::Bool(false));
        }
        before = Some(value);
    }
    Ok(Value::Bool(true))
}

fn extreme<'a>(list: &List<'a>, name: &str, replaced: Ordering) -> Outcome<'a> {
    let mut best: Option<Value<'a>> = None;
    for value in list.iter() {
        if !is_comparable(&value) {
            return EvalError::overload();
        }
        best = match best {
            Some(best) if !ordered_as(&best, &value, replaced) => Some(best),
            _ => Some(value),
        };
    }
    best.map_or_else(|| EvalError::operation(format!("{name} called on empty list")), Ok)
}

fn sum<'a>(list: &List<'a>, overload: Option<&'static str>) -> Outcome<'a> {
    let mut total = match (list.get(0), overload) {
        (Some(Value::Uint(_)), _) | (None, Some("list_uint_sum_uint")) => Value::Uint(0),
        (Some(Value::Double(_)), _) | (None, Some("list_double_sum_double")) => Value::Double(0.0),
        (Some(Value::Duration(_)), _) | (None, Some("list_duration_sum_duration")) => Value::Duration(0),
        _ => Value::Int(0),
    };
    for value in list.iter() {
        total = numbers::arithmetic(Function::Add, &total, &value)?;
    }
    Ok(total)
}

fn slice<'a>(list: &List<'a>, start: i64, end: i64, meter: &mut Meter) -> Outcome<'a> {
    let refused = |why: String| EvalError::operation(format!("cannot slice({start}, {end}), {why}"));
    let (Ok(from), Ok(to)) = (usize::try_from(start), usize::try_from(end)) else {
        return refused("negative indexes not supported".to_owned());
    };
    if from > to {
        return refused("start index must be less than or equal to end index".to_owned());
    }
    if to > list.len() {
        return refused(format!("list is length {}", list.len()));
    }
    meter.elements(to - from)?;
    Ok(Value::list((from..to).filter_map(|at| list.get(at)).collect()))
}

fn flatten<'a>(list: &List<'a>, depth: i64, meter: &mut Meter) -> Outcome<'a> {
    if depth < 0 {
        return EvalError::operation("level must be non-negative");
    }
    let mut flat: Vec<_> = list.iter().collect();
    for _ in 0..depth {
        meter.elements(flat.len())?;
        let mut nested = false;
        let mut next = Vec::with_capacity(flat.len());
        for value in flat {
            match value {
                Value::List(inner) => {
                    nested = true;
                    meter.elements(inner.len())?;
                    next.extend(inner.iter());
                }
                other => next.push(other),
            }
        }
        flat = next;
        if !nested {
            break;
        }
    }
    Ok(Value::list(flat))
}

fn distinct<'a>(list: &List<'a>, meter: &mut Meter) -> Outcome<'a> {
    pairs(list.len(), list.len(), meter)?;
    let mut unique: Vec<Value<'a>> = Vec::new();
    for value in list.iter() {
        if !unique.iter().any(|other| same(&value, other, meter)) {
            unique.push(value);
        }
    }
    Ok(Value::list(unique))
}

/// `list` in the order of its keys.
fn sort<'a>(list: &List<'a>, keys: &List<'a>) -> Outcome<'a> {
    if list.len() != keys.len() {
        return EvalError::operation(format!(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got {} \
             and {} elements respectively",
            list.len(),
            keys.len()
        ));
    }
    let Some(first) = keys.get(0) else { return Ok(Value::List(list.clone())) };
    if !is_comparable(&first) {
        return EvalError::operation("list elements must be comparable");
    }
    if keys.len() > 1 && keys.iter().any(|key| key.type_name() != first.type_name()) {
        return EvalError::operation("list elements must have the same type");
    }
    let mut keyed: Vec<_> = keys.iter().zip(list.iter()).collect();
    keyed.sort_by(|(a, _), (b, _)| match numbers::ordering(a, b) {
        Ok(order) => order,
        // Only NaN has no order; first, to keep the order total.
        Err(_) => is_nan(b).cmp(&is_nan(a)),
    });
    Ok(Value::list(keyed.into_iter().map(|(_, value)| value).collect()))
}

fn is_nan(value: &Value<'_>) -> bool {
    matches!(value, Value::Double(value) if value.is_nan())
}
