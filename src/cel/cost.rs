//! What an evaluation costs, in the units in which upstream counts it (cel-go's
//! `interpreter/runtimecost.go` and Kubernetes' `cel/library/cost.go`).

use std::sync::Arc;

use super::error::EvalError;
use super::functions::{Function, OLDER_ENDS_WITH, OLDER_MATCHES, OLDER_STARTS_WITH};
use super::value::{Outcome, Value};

/// What one evaluation of a selector may cost (`CELSelectorExpressionMaxCost`).
pub const COST_LIMIT: u64 = 1_000_000;

/// How many bytes may be copied in one evaluation, roughly. Upstream charges nothing for some copies
/// and shares lists instead; what reaches this would take it minutes or all memory.
const WORK_LIMIT: u64 = 32_000_000;
/// What an element of a list counts for.
const ELEMENT: usize = 16;

/// What reading a variable, a field or an element costs.
pub(super) const SELECT: u64 = 1;
/// What making a list or map of values costs.
pub(super) const LIST: u32 = 10;
pub(super) const MAP: u32 = 30;

/// Adds up what an evaluation costs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meter {
    pub(super) cost: u64,
    limit: u64,
    work: u64,
}

impl Meter {
    pub(super) fn new(limit: u64) -> Self {
        Self { cost: 0, limit, work: 0 }
    }

    /// Charges for a step. A failure ends the evaluation; no `||` absorbs it.
    pub(super) fn charge(&mut self, cost: u64) -> Result<(), EvalError> {
        self.cost = self.cost.saturating_add(cost);
        if self.cost > self.limit { Err(EvalError::CostLimit) } else { Ok(()) }
    }

    /// Accounts for copying elements before it is done.
    pub(super) fn elements(&mut self, count: usize) -> Result<(), Arc<EvalError>> {
        self.work(count.saturating_mul(ELEMENT))
    }

    /// Accounts for copying bytes before it is done.
    pub(super) fn work(&mut self, amount: usize) -> Result<(), Arc<EvalError>> {
        self.work = self.work.saturating_add(amount as u64);
        if self.work > WORK_LIMIT {
            // The next charge ends the evaluation.
            self.cost = u64::MAX;
            return Err(Arc::new(EvalError::CostLimit));
        }
        Ok(())
    }
}

/// A tenth of a unit for each character, rounded up.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn traversal(size: u64, factor: f64) -> u64 {
    (size as f64 * factor).ceil() as u64
}

const TRAVERSAL: f64 = 0.1;
const PATTERN: f64 = 0.25;

/// The size of a value, in characters or elements.
fn size(value: &Value<'_>) -> u64 {
    (match value {
        Value::String(text) => text.chars().count(),
        Value::Bytes(bytes) => bytes.len(),
        Value::List(list) => list.len(),
        Value::Map(map) => map.len(),
        Value::Ip(address) => {
            if address.is_ipv4() {
                4
            } else {
                16
            }
        }
        Value::Cidr(cidr) => usize::from(cidr.bits).div_ceil(8),
        Value::Optional(Some(value)) => return size(value),
        _ => 1,
    }) as u64
}

fn outcome_size(value: &Outcome<'_>) -> u64 {
    value.as_ref().map_or(1, size)
}

/// Whether it is of a type of Kubernetes, whose equality costs one.
fn is_kubernetes(value: &Outcome<'_>) -> bool {
    matches!(
        value,
        Ok(Value::Quantity { .. }
            | Value::Semver(_)
            | Value::Ip(_)
            | Value::Cidr(_)
            | Value::Url(_)
            | Value::Format(_))
    )
}

/// What a call costs, given its arguments and result, failures among them.
pub(super) fn of_call(
    function: Function,
    overload: Option<&'static str>,
    args: &[Outcome<'_>],
    result: &Outcome<'_>,
) -> u64 {
    let arg = |at: usize| args.get(at).map_or(1, outcome_size);
    if overload.is_some()
        && let Some(cost) = of_list_function(function, args, result)
    {
        return cost;
    }
    if let Some(cost) = of_address(function, overload, args) {
        return cost;
    }
    match function {
        Function::IsSorted
        | Function::Sum
        | Function::Max
        | Function::Min
        | Function::IndexOf
        | Function::LastIndexOf
        | Function::Includes => args.first().map_or(0, |arg| arg.as_ref().map_or(1, traversal_of)),
        Function::Check => 350_000,
        Function::FieldSelector | Function::LabelSelector => {
            let length = arg(1);
            let requirements = u64::from(LIST).saturating_add(length.div_ceil(2).saturating_mul(50));
            requirements.saturating_add(traversal(length, TRAVERSAL))
        }
        Function::Find | Function::FindAll => {
            traversal(arg(0).saturating_add(1), TRAVERSAL).saturating_mul(traversal(arg(1), PATTERN))
        }
        Function::Validate if let Some(Ok(Value::Format(format))) = args.first() => {
            traversal(arg(1).saturating_add(1), TRAVERSAL).saturating_mul(traversal(format.pattern, PATTERN))
        }
        Function::Url
        | Function::LowerAscii
        | Function::UpperAscii
        | Function::Substring
        | Function::Trim
        | Function::Quantity
        | Function::IsQuantity
        | Function::Semver
        | Function::IsSemver
        | Function::ToBytes
        | Function::Quote
        | Function::Format
            if function != Function::ToBytes || overload == Some("string_to_bytes") =>
        {
            traversal(arg(0), TRAVERSAL)
        }
        Function::ToString if overload == Some("bytes_to_string") => traversal(arg(0), TRAVERSAL),
        Function::Replace | Function::Split => traversal(arg(0) * 2, TRAVERSAL),
        Function::Join => traversal(outcome_size(result) * 2, TRAVERSAL),
        Function::StartsWith | Function::EndsWith
            if matches!(overload, Some(OLDER_STARTS_WITH | OLDER_ENDS_WITH)) =>
        {
            traversal(arg(0), TRAVERSAL)
        }
        Function::Matches if overload == Some(OLDER_MATCHES) => 1,
        Function::StartsWith | Function::EndsWith => traversal(arg(1), TRAVERSAL),
        Function::In if overload == Some("in_list") => arg(1),
        Function::Equals if args.first().is_some_and(is_kubernetes) => 1,
        Function::Equals | Function::NotEquals => traversal(arg(0).min(arg(1)), TRAVERSAL),
        Function::Less | Function::LessEquals | Function::Greater | Function::GreaterEquals
            if matches!(overload, Some("string" | "bytes")) =>
        {
            traversal(arg(0).min(arg(1)), TRAVERSAL)
        }
        Function::Add if matches!(overload, Some("add_string" | "add_bytes")) => {
            traversal(arg(0).saturating_add(arg(1)), TRAVERSAL)
        }
        Function::Matches if overload.is_some() => {
            traversal(arg(0).saturating_add(1), TRAVERSAL).saturating_mul(traversal(arg(1), PATTERN))
        }
        Function::Contains => traversal(arg(0), TRAVERSAL).saturating_mul(traversal(arg(1), TRAVERSAL)),
        _ => 1,
    }
}

/// What a function of an address or network costs, if it is not one. Networks count the bytes of their
/// prefix.
fn of_address(function: Function, overload: Option<&str>, args: &[Outcome<'_>]) -> Option<u64> {
    let arg = |at: usize| args.get(at).map_or(1, outcome_size);
    let parsed = |text: &str| if overload == Some(text) { traversal(arg(1), TRAVERSAL) } else { 0 };
    let both = traversal(arg(0).saturating_mul(2), TRAVERSAL);
    Some(match function {
        Function::IpIsCanonical => both,
        Function::Ip if overload == Some("cidr_ip") => 1,
        Function::Ip | Function::IsIp | Function::Cidr | Function::IsCidr => traversal(arg(0), TRAVERSAL),
        Function::ContainsIp => both + parsed("cidr_contains_ip_string"),
        Function::ContainsCidr => {
            both + traversal(arg(0), TRAVERSAL) + 1 + parsed("cidr_contains_cidr_string")
        }
        _ => return None,
    })
}

/// The functions that count by the overload that the checker found.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn of_list_function(function: Function, args: &[Outcome<'_>], result: &Outcome<'_>) -> Option<u64> {
    let call = 1;
    let arg = |at: usize| args.get(at).map_or(1, outcome_size);
    let allocating = |factor: f64, size: u64| {
        let factor = if factor < 0.0 { 1.0 } else { factor };
        ((size as f64 * factor) as u64).saturating_add(call + u64::from(LIST))
    };
    let all_pairs = |list: &Outcome<'_>| {
        let size = outcome_size(list);
        let first = list.as_ref().ok().and_then(Value::list_items).and_then(|list| list.get(0));
        let texts = matches!(first, Some(Value::String(_) | Value::Bytes(_)));
        allocating(if texts { 2.0 + TRAVERSAL } else { 2.0 }, size.saturating_mul(size))
    };
    Some(match function {
        Function::Slice | Function::Range | Function::Reverse => allocating(1.0, outcome_size(result)),
        Function::Flatten => {
            let depth = match args.get(1) {
                Some(Ok(Value::Int(depth))) => *depth as f64,
                _ => 1.0,
            };
            allocating(depth, arg(0))
        }
        Function::Distinct | Function::Sort => all_pairs(args.first()?),
        Function::SortByKeys => all_pairs(args.get(1)?),
        Function::SetsContains | Function::SetsIntersects => {
            arg(0).saturating_mul(arg(1)).saturating_add(call)
        }
        Function::SetsEquivalent => arg(0).saturating_mul(arg(1)).saturating_mul(2).saturating_add(call),
        _ => return None,
    })
}

/// What walking through all of a value costs; a text by its bytes, rounded down. More than any
/// evaluation may cost if there is no end to it.
fn traversal_of(value: &Value<'_>) -> u64 {
    let mut left = 2 * COST_LIMIT;
    traverse(value, &mut left).unwrap_or(u64::MAX)
}

fn traverse(value: &Value<'_>, left: &mut u64) -> Option<u64> {
    *left = left.checked_sub(1)?;
    let text = |bytes: usize| Some(bytes as u64 / 10);
    match value {
        Value::String(value) => text(value.len()),
        Value::Bytes(value) => text(value.len()),
        Value::List(list) => {
            list.iter().try_fold(0_u64, |sum, value| sum.checked_add(traverse(&value, left)?))
        }
        Value::Map(map) => map.entries().iter().try_fold(0_u64, |sum, (key, value)| {
            sum.checked_add(traverse(key, left)?)?.checked_add(traverse(value, left)?)
        }),
        _ => Some(1),
    }
}
