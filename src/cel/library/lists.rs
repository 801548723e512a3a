//! Lists (Kubernetes' `cel/library/lists.go`, cel-go's `ext/lists.go` version 3 and `ext/sets.go`).

use std::cmp::Ordering;

use super::numbers::{self, NotOrdered};
use crate::cel::cost::{COST_LIMIT, Meter};
use crate::cel::error::EvalError;
use crate::cel::functions::Function;
use crate::cel::value::{List, Outcome, Value, equal};

/// `a + b`
pub(super) fn concatenate<'a>(a: &List<'a>, b: &List<'a>, meter: &mut Meter) -> Outcome<'a> {
    meter.work(a.len().saturating_add(b.len()))?;
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
        (Function::Range, [Value::Int(count)]) => return Some(range(*count, meter)),
        (Function::Size, [Value::Map(map)]) => return Some(Ok(int(map.len()))),
        (Function::Size, [Value::Bytes(bytes)]) => return Some(Ok(int(bytes.len()))),
        (Function::Includes, [value, wanted]) if !matches!(value, Value::List(_)) => {
            return Some(Ok(Value::Bool(equal(value, wanted).unwrap_or(false))));
        }
        _ => {}
    }
    let [Value::List(list), rest @ ..] = args else { return None };
    let position = |at: Option<usize>| Ok(at.map_or(Value::Int(-1), int));
    let same = |wanted: &Value<'a>, value: &Value<'a>| equal(value, wanted).unwrap_or(false);
    Some(match (function, rest) {
        (Function::Size, []) => Ok(int(list.len())),
        (Function::IsSorted, []) => return is_sorted(list),
        (Function::Sum, []) => return sum(list, overload),
        (Function::Max, []) => return extreme(list, "max", Ordering::Less),
        (Function::Min, []) => return extreme(list, "min", Ordering::Greater),
        (Function::IndexOf, [wanted]) => position(list.iter().position(|value| same(wanted, &value))),
        (Function::LastIndexOf, [wanted]) => {
            let found = list.iter().rev().position(|value| same(wanted, &value));
            position(found.map(|back| list.len() - 1 - back))
        }
        (Function::Includes, [wanted]) => Ok(Value::Bool(list.iter().any(|value| same(wanted, &value)))),
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
            let shared = list.iter().any(|value| others.iter().any(|other| same(&other, &value)));
            Ok(Value::Bool(shared))
        }
        _ => return None,
    })
}

fn int<'a>(count: usize) -> Value<'a> {
    Value::Int(i64::try_from(count).unwrap_or(i64::MAX))
}

/// Comparing all with all is charged only afterwards; what cannot be paid is not begun.
fn pairs<'a>(a: usize, b: usize, meter: &mut Meter) -> Result<(), std::sync::Arc<EvalError>> {
    let pairs = a.saturating_mul(b);
    if pairs as u64 > COST_LIMIT { meter.work(usize::MAX) } else { Ok(()) }
}

fn contains_all<'a>(list: &List<'a>, others: &List<'a>, meter: &mut Meter) -> Outcome<'a> {
    pairs(list.len(), others.len(), meter)?;
    let held = |other: Value<'a>| list.iter().any(|value| equal(&other, &value).unwrap_or(false));
    Ok(Value::Bool(others.iter().all(held)))
}

fn range<'a>(count: i64, meter: &mut Meter) -> Outcome<'a> {
    if count < 0 {
        return EvalError::operation(format!("lists.range: size must be non-negative, got {count}"));
    }
    if count.unsigned_abs() > COST_LIMIT {
        // The call alone costs more than an evaluation may.
        meter.work(usize::MAX)?;
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

fn is_sorted<'a>(list: &List<'a>) -> Option<Outcome<'a>> {
    let mut before: Option<Value<'a>> = None;
    for value in list.iter() {
        if !is_comparable(&value) {
            return Some(EvalError::overload());
        }
        if before.is_some_and(|before| ordered_as(&before, &value, Ordering::Greater)) {
            return Some(Ok(Value::Bool(false)));
        }
        before = Some(value);
    }
    Some(Ok(Value::Bool(true)))
}

fn extreme<'a>(list: &List<'a>, name: &str, replaced: Ordering) -> Option<Outcome<'a>> {
    let mut best: Option<Value<'a>> = None;
    for value in list.iter() {
        if !is_comparable(&value) {
            return None;
        }
        best = match best {
            Some(best) if !ordered_as(&best, &value, replaced) => Some(best),
            _ => Some(value),
        };
    }
    Some(best.map_or_else(|| EvalError::operation(format!("{name} called on empty list")), Ok))
}

fn sum<'a>(list: &List<'a>, overload: Option<&'static str>) -> Option<Outcome<'a>> {
    let mut total = match overload {
        Some("list_uint_sum_uint") => Value::Uint(0),
        Some("list_double_sum_double") => Value::Double(0.0),
        _ => Value::Int(0),
    };
    for value in list.iter() {
        match numbers::arithmetic(Function::Add, &total, &value) {
            Ok(more) => total = more,
            // Upstream goes on with a failure as the sum, which no number can be added to.
            Err(failure) => return Some(Err(failure)),
        }
    }
    Some(Ok(total))
}

fn slice<'a>(list: &List<'a>, start: i64, end: i64, meter: &mut Meter) -> Outcome<'a> {
    let refused = |why: String| EvalError::operation(format!("cannot slice({start}, {end}), {why}"));
    let (Ok(first), Ok(last)) = (usize::try_from(start), usize::try_from(end)) else {
        return refused("negative indexes not supported".to_owned());
    };
    if first > last {
        return refused("start index must be less than or equal to end index".to_owned());
    }
    if last > list.len() {
        return refused(format!("list is length {}", list.len()));
    }
    meter.work(last - first)?;
    Ok(Value::list((first..last).filter_map(|at| list.get(at)).collect()))
}

fn flatten<'a>(list: &List<'a>, depth: i64, meter: &mut Meter) -> Outcome<'a> {
    if depth < 0 {
        return EvalError::operation("level must be non-negative");
    }
    let mut flat: Vec<_> = list.iter().collect();
    for _ in 0..depth {
        meter.work(flat.len())?;
        let mut nested = false;
        let mut next = Vec::with_capacity(flat.len());
        for value in flat {
            match value {
                Value::List(inner) => {
                    nested = true;
                    meter.work(inner.len())?;
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
        if !unique.iter().any(|other| equal(&value, other).unwrap_or(false)) {
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
