//! What a call of a function costs beyond its arguments, and how big its result is
//! (cel-go's `checker/cost.go`, `ext/lists.go`, `ext/sets.go`, and `EstimateCallCost` in
//! Kubernetes' `cel/library/cost.go`).
//!
//! Functions go by cel-go's names, and those that are not declared here yet have estimates already.

use super::Bounds;
use crate::cel::ast::Literal;
use crate::cel::functions::{OLDER_ENDS_WITH, OLDER_RANGE, OLDER_STARTS_WITH};
use crate::cel::types::{CIDR, IP, QUANTITY, SEMVER, Type};

/// What walking through a text costs for each character.
const TRAVERSAL: f64 = 0.1;
/// What a pattern costs for each character.
const PATTERN: f64 = 0.25;
/// Binary addresses of both families.
const ADDRESS: Bounds = Bounds { min: 4, max: 16 };
/// What upstream takes for the length of any format's pattern (`MaxNameFormatRegexSize`).
const FORMAT_PATTERN: f64 = 128.0;
/// The longest named format (`MaxFormatSize`).
const FORMAT_MAX: u64 = 64;
const CALL: Bounds = Bounds::exactly(1);
const LIST: Bounds = Bounds::exactly(10);

/// An argument or receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand<'c> {
    pub(super) ty: &'c Type,
    pub(super) literal: Option<&'c Literal>,
    /// The size that follows from the expression.
    pub(super) computed: Option<Bounds>,
    /// The size of what the device has at this place.
    pub(super) declared: Option<Bounds>,
    /// The size of the elements of what the device has at this place.
    pub(super) element: Option<Bounds>,
}

impl Operand<'_> {
    /// The size that core functions reckon with.
    pub(super) fn computed(&self) -> Bounds {
        self.computed.unwrap_or(Bounds::UNKNOWN)
    }

    /// The size that functions of libraries reckon with.
    fn size(&self) -> Bounds {
        self.computed.or(self.declared).unwrap_or(Bounds::UNKNOWN)
    }

    /// The number, if it is an integer literal; 0 for a negative one.
    fn number(&self) -> Option<u64> {
        match self.literal {
            Some(Literal::Int(value)) => Some(u64::try_from(*value).unwrap_or(0)),
            _ => None,
        }
    }
}

/// A call with one of the signatures that it may mean.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'c> {
    pub(super) function: &'static str,
    pub(super) overload: &'static str,
    pub(super) target: Option<Operand<'c>>,
    pub(super) args: &'c [Operand<'c>],
}

/// What a call costs, and the size of its result if that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Price {
    pub(super) cost: Bounds,
    pub(super) size: Option<Bounds>,
}

#[expect(clippy::unnecessary_wraps, reason = "what it is part of may be none")]
fn costs(cost: Bounds) -> Option<Price> {
    Some(Price { cost, size: None })
}

#[expect(clippy::unnecessary_wraps, reason = "what it is part of may be none")]
fn gives(cost: Bounds, size: Bounds) -> Option<Price> {
    Some(Price { cost, size: Some(size) })
}

/// What a call costs. Most operations cost one unit.
pub(super) fn price(call: &Call<'_>) -> Price {
    of_list_function(call)
        .or_else(|| of_kubernetes(call))
        .or_else(|| of_core(call))
        .unwrap_or(Price { cost: CALL, size: None })
}

/// Functions that go by their signature before all others.
fn of_list_function(call: &Call<'_>) -> Option<Price> {
    let allocating = |factor: f64, size: Bounds| gives(size.scaled(factor).plus(CALL).plus(LIST), size);
    let pairs = |factor: f64, size: Bounds| allocating(factor, size.times(size));
    let element = |suffix: &str| call.overload.strip_prefix("list_")?.strip_suffix(suffix);
    match (call.overload, call.target, call.args) {
        ("list_slice", Some(list), [start, end]) => {
            let end = end.number().unwrap_or(list.size().max);
            allocating(1.0, Bounds::exactly(end.wrapping_sub(start.number().unwrap_or(0))))
        }
        ("lists_range" | OLDER_RANGE, None, [end]) => {
            allocating(1.0, Bounds::exactly(end.number().unwrap_or(u64::MAX)))
        }
        ("list_reverse" | "list_flatten", Some(list), []) => allocating(1.0, list.size()),
        ("list_flatten_int", Some(list), [depth]) => {
            #[allow(clippy::cast_precision_loss, reason = "as upstream")]
            let depth = depth.number().unwrap_or(u64::MAX) as f64;
            allocating(depth, list.size())
        }
        ("list_distinct", Some(list), []) => pairs(2.0, list.size()),
        ("list_sets_contains_list" | "list_sets_intersects_list", None, [a, b]) => {
            costs(a.size().times(b.size()).plus(CALL))
        }
        ("list_sets_equivalent_list", None, [a, b]) => costs(a.size().times(b.size()).scaled(2.0).plus(CALL)),
        (_, Some(list), []) => element("_sort").and_then(|of| pairs(comparison(of), list.size())),
        (_, Some(_), [keys]) => {
            element("_sortByAssociatedKeys").and_then(|of| pairs(comparison(of), keys.size()))
        }
        _ => None,
    }
}

/// What comparing two elements of a type costs when they are sorted.
fn comparison(element: &str) -> f64 {
    if matches!(element, "string" | "bytes") { 2.0 + TRAVERSAL } else { 2.0 }
}

/// Functions for which Kubernetes has an estimate, by their name.
fn of_kubernetes(call: &Call<'_>) -> Option<Price> {
    match (call.function, call.target, call.args) {
        ("isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" | "includes", Some(list), _) => {
            costs(search(call.function, &list))
        }
        ("url" | "jsonpatch.escapeKey", _, [text]) => gives(text.size().scaled(TRAVERSAL), text.size()),
        ("lowerAscii" | "upperAscii" | "substring" | "trim", Some(text), _) => {
            gives(text.size().scaled(TRAVERSAL), text.size())
        }
        ("replace", Some(text), [old, new, ..]) => {
            let size = replaced(text.size(), old.size(), new.size());
            gives(text.size().scaled(2.0 * TRAVERSAL), size)
        }
        ("split", Some(text), args) => {
            let most = match args.get(1).and_then(|limit| limit.literal) {
                // A negative limit means all, and is a big number to upstream.
                Some(Literal::Int(limit)) => limit.cast_unsigned(),
                _ => text.size().max,
            };
            gives(text.size().scaled(2.0 * TRAVERSAL), Bounds::up_to(most))
        }
        ("join", Some(list), args) => {
            let size = joined(&list, args.first());
            gives(size.scaled(TRAVERSAL), size)
        }
        ("find" | "findAll", Some(text), [pattern, ..]) => {
            gives(match_cost(text.size(), pattern.size()), Bounds::up_to(text.size().max))
        }
        ("validate", _, [text, ..]) => costs(text.size().scaled(TRAVERSAL).scaled(FORMAT_PATTERN * PATTERN)),
        ("_==_", _, [a, b]) if a.ty == b.ty => equality(a.ty, b),
        _ => of_network(call).or_else(|| of_authorizer(call)).or_else(|| of_parser(call)),
    }
}

/// Constructors that walk through a text once, and accessors of what they give.
fn of_parser(call: &Call<'_>) -> Option<Price> {
    match (call.function, call.args) {
        ("quantity" | "isQuantity" | "semver" | "isSemver", [text, ..]) => {
            costs(text.size().scaled(TRAVERSAL))
        }
        (
            "sign" | "asInteger" | "isInteger" | "asApproximateFloat" | "isGreaterThan" | "isLessThan"
            | "compareTo" | "add" | "sub" | "major" | "minor" | "patch" | "format.named" | "getScheme"
            | "getHostname" | "getHost" | "getPort" | "getEscapedPath" | "getQuery",
            _,
        ) => costs(CALL),
        _ => None,
    }
}

/// IP addresses and ranges of them.
fn of_network(call: &Call<'_>) -> Option<Price> {
    let text = |wanted: &str, text: &Operand<'_>| {
        if call.overload == wanted { text.size().scaled(TRAVERSAL) } else { Bounds::exactly(0) }
    };
    let comparison = ADDRESS.plus(ADDRESS).scaled(TRAVERSAL);
    match (call.function, call.args) {
        ("ip", _) if call.overload == "cidr_ip" => costs(CALL),
        ("ip" | "cidr" | "isIP" | "isCIDR", [text, ..]) => costs(text.size().scaled(TRAVERSAL)),
        ("ip.isCanonical", [text, ..]) => costs(text.size().scaled(2.0 * TRAVERSAL)),
        (
            "masked"
            | "prefixLength"
            | "family"
            | "isUnspecified"
            | "isLoopback"
            | "isLinkLocalMulticast"
            | "isLinkLocalUnicast"
            | "isGlobalUnicast",
            _,
        ) => costs(CALL),
        ("containsIP", [address, ..]) => costs(comparison.plus(text("cidr_contains_ip_string", address))),
        ("containsCIDR", [range, ..]) => {
            let masking = ADDRESS.scaled(TRAVERSAL).plus(CALL);
            costs(comparison.plus(masking).plus(text("cidr_contains_cidr_string", range)))
        }
        _ => None,
    }
}

/// The authorizer's functions, which no selector has a use for, but could name.
fn of_authorizer(call: &Call<'_>) -> Option<Price> {
    match (call.function, call.args) {
        ("check", _) => costs(Bounds::exactly(350_000)),
        (
            "serviceAccount" | "path" | "group" | "resource" | "subresource" | "namespace" | "name"
            | "allowed" | "reason" | "error" | "errored",
            _,
        ) => costs(CALL),
        ("fieldSelector" | "labelSelector", [text]) => {
            // A requirement takes two characters or more; it is a structure with a list.
            let requirements = text.size().scaled(0.5).scaled(50.0);
            costs(LIST.plus(text.size().scaled(TRAVERSAL)).plus(requirements))
        }
        _ => None,
    }
}

/// A walk through a list that compares each element, or through a text.
fn search(function: &str, list: &Operand<'_>) -> Bounds {
    match element_type(list.ty) {
        Some(Type::String | Type::Bytes) => {
            let element = list.element.unwrap_or(Bounds::UNKNOWN);
            list.size().times(CALL.plus(element.scaled(TRAVERSAL)))
        }
        Some(_) => list.size().times(CALL),
        None if function == "includes" => list.size().times(CALL),
        None => list.size().scaled(TRAVERSAL),
    }
}

/// The first parameter of a type, which is the element of a list.
fn element_type(ty: &Type) -> Option<&Type> {
    match ty {
        Type::List(inner) | Type::Optional(inner) => Some(inner),
        Type::Meta(inner) if **inner != Type::Dyn => Some(inner),
        Type::Map(entry) => Some(&entry.0),
        _ => None,
    }
}

/// The size of a text in which `old` is replaced by `new`.
fn replaced(text: Bounds, old: Bounds, new: Bounds) -> Bounds {
    let (mut count, mut kept) = (Bounds::exactly(0), Bounds::exactly(0));
    if old.min == 0 {
        // Before, between and behind all characters.
        count.max = text.max.saturating_add(1);
        kept.max = text.max;
    } else if new.max <= old.min {
        kept.max = text.max;
    } else {
        count.max = divided(text.max, old.min);
    }
    if old.max == 0 {
        count.min = text.min.saturating_add(1);
        kept.min = text.min;
    } else if old.max <= new.min {
        kept.min = text.min;
    } else {
        count.min = divided(text.min, old.max);
    }
    count.times(new).plus(kept)
}

/// Rounded up, in doubles as upstream does it.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn divided(a: u64, b: u64) -> u64 {
    (a as f64 / b as f64).ceil() as u64
}

/// The size of the texts of a list, with a separator between each two.
fn joined(list: &Operand<'_>, separator: Option<&Operand<'_>>) -> Bounds {
    let count = list.size();
    let texts = match element_type(list.ty) {
        Some(_) => count.times(list.element.unwrap_or(Bounds::UNKNOWN)),
        None => Bounds::exactly(0),
    };
    let gaps = Bounds { min: count.min.saturating_sub(1), max: count.max.saturating_sub(1) };
    separator.map_or(texts, |separator| texts.plus(separator.size().times(gaps)))
}

/// Two values of one of Kubernetes' types.
fn equality(ty: &Type, right: &Operand<'_>) -> Option<Price> {
    if [QUANTITY, SEMVER, IP, CIDR].contains(ty) {
        return costs(CALL);
    }
    match ty {
        Type::Object(name) if name.starts_with("kubernetes.authorization.") => costs(CALL),
        Type::Object("kubernetes.NamedFormat") => costs(Bounds { min: 1, max: FORMAT_MAX }.scaled(TRAVERSAL)),
        Type::Object("kubernetes.URL") => {
            let size = right.computed.unwrap_or(CALL);
            costs(Bounds { min: 1, max: size.max }.scaled(TRAVERSAL))
        }
        _ => None,
    }
}

/// Matching a text, one character longer than it is, against a pattern.
fn match_cost(text: Bounds, pattern: Bounds) -> Bounds {
    text.plus(CALL).scaled(TRAVERSAL).times(pattern.scaled(PATTERN))
}

/// cel-go's own functions that take longer for longer arguments, by their signature.
fn of_core(call: &Call<'_>) -> Option<Price> {
    let ordered = matches!(call.function, "_<_" | "_<=_" | "_>_" | "_>=_");
    match (call.overload, call.target, call.args) {
        ("string_format", Some(format), _) => costs(format.computed().scaled(TRAVERSAL)),
        ("string_to_bytes", _, [text]) => {
            let size = text.computed();
            gives(size.scaled(TRAVERSAL), Bounds { min: size.min, max: size.max.wrapping_mul(4) })
        }
        ("bytes_to_string", _, [bytes]) => {
            let size = bytes.computed();
            gives(size.scaled(TRAVERSAL), Bounds { min: size.min / 4, max: size.max })
        }
        ("strings_quote", _, [text]) => {
            let size = text.computed();
            let quoted = |size: u64, each: u64| size.wrapping_mul(each).wrapping_add(2);
            gives(size.scaled(TRAVERSAL), Bounds { min: quoted(size.min, 1), max: quoted(size.max, 2) })
        }
        ("starts_with_string" | "ends_with_string" | OLDER_STARTS_WITH | OLDER_ENDS_WITH, _, [part]) => {
            costs(part.computed().scaled(TRAVERSAL))
        }
        ("in_list", _, [_, list]) => costs(list.computed().scaled(1.0)),
        ("matches_string", Some(text), [pattern]) => costs(match_cost(text.computed(), pattern.computed())),
        ("matches", None, [text, pattern]) => costs(match_cost(text.computed(), pattern.computed())),
        ("contains_string", Some(text), [part]) => {
            costs(text.computed().scaled(TRAVERSAL).times(part.computed().scaled(TRAVERSAL)))
        }
        ("equals" | "not_equals", _, [a, b]) => costs(shorter(a, b)),
        ("string" | "bytes", _, [a, b]) if ordered => costs(shorter(a, b)),
        ("add_string" | "add_bytes", _, [a, b]) => {
            let size = a.computed().plus(b.computed());
            gives(size.scaled(TRAVERSAL), size)
        }
        ("add_list", _, [a, b]) => gives(CALL, a.computed().plus(b.computed())),
        _ => None,
    }
}

/// A comparison ends with the shorter of two values.
fn shorter(a: &Operand<'_>, b: &Operand<'_>) -> Bounds {
    let max = a.computed().max.min(b.computed().max);
    Bounds { min: u64::from(max > 0), max }.scaled(TRAVERSAL)
}
