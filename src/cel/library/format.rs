//! `string.format` (cel-go's `ext/formatting.go`), in the locale `en_US` as upstream has it.

use std::fmt::Write as _;
use std::sync::Arc;

use super::numbers;
use crate::cel::cost::Meter;
use crate::cel::error::EvalError;
use crate::cel::types::Type;
use crate::cel::value::{List, Map, Outcome, Value};

/// A piece of a format string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece<'s> {
    Text(&'s str),
    Clause { verb: char, precision: Option<usize> },
}

/// What a format string asks of an argument.
struct Malformed(String);

/// The piece at the start of `format` and what follows. `argument` answers for the argument that a
/// clause needs, before the clause is read.
fn next(format: &str, argument: impl FnOnce() -> Result<(), String>) -> Result<(Piece<'_>, &str), Malformed> {
    if let Some(rest) = format.strip_prefix("%%") {
        return Ok((Piece::Text("%"), rest));
    }
    let Some(rest) = format.strip_prefix('%') else {
        let (text, rest) = format.split_at(format.find('%').unwrap_or(format.len()));
        return Ok((Piece::Text(text), rest));
    };
    argument().map_err(Malformed)?;
    let bad = |why: &str| Malformed(format!("could not parse formatting clause: {why}"));
    let (precision, rest) = match rest.strip_prefix('.') {
        None => (None, rest),
        Some(rest) => {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            if digits == rest.len() {
                return Err(bad("error while parsing precision: could not find end of precision specifier"));
            }
            let precision = rest[..digits].parse().map_err(|_| {
                let digits = &rest[..digits];
                bad(&format!(
                    "error while parsing precision: error while converting precision to integer: strconv.Atoi: \
                     parsing {digits:?}: invalid syntax"
                ))
            })?;
            (Some(precision), &rest[digits..])
        }
    };
    let verb = rest.chars().next().unwrap_or(' ');
    if !"sdfebxXo".contains(verb) {
        // Upstream looks at bytes.
        let verb = rest.bytes().next().map_or(verb, char::from);
        return Err(bad(&format!("unrecognized formatting clause \"{verb}\"")));
    }
    Ok((Piece::Clause { verb, precision }, &rest[verb.len_utf8()..]))
}

/// `format.format(values)`
pub(super) fn format<'a>(format: &str, values: &List<'a>, meter: &mut Meter) -> Outcome<'a> {
    let mut out = String::new();
    let mut used = 0;
    let mut rest = format;
    while !rest.is_empty() {
        let end = rest == "%";
        let argument = || match values.len() {
            count if used >= count => Err(format!("index {used} out of range")),
            _ if end => Err("unexpected end of string".to_owned()),
            _ => Ok(()),
        };
        let failed = |message: String| Arc::new(EvalError::Operation { message });
        let (piece, after) = next(rest, argument).map_err(|Malformed(message)| failed(message))?;
        rest = after;
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Clause { verb, precision } => {
                meter.work(precision.unwrap_or(0).saturating_mul(100))?;
                let value = values.get(used).unwrap_or(Value::Null);
                let text = clause(verb, precision, &value, meter)
                    .map_err(|message| failed(format!("error during formatting: {message}")))?;
                out.push_str(&text);
                used += 1;
            }
        }
        meter.work(out.len() / 8 + 1)?;
    }
    Ok(Value::text(out))
}

/// Checks a format string against so many arguments of a literal list. `fault` looks for what a clause
/// does not take within an argument, and says where it is and of what type.
///
/// # Errors
/// What would fail whenever it is evaluated, with the place if it is an argument's.
pub(in crate::cel) fn check<P>(
    format: &str,
    count: usize,
    mut fault: impl FnMut(char, usize) -> Option<(P, Type)>,
) -> Result<(), (Option<P>, String)> {
    let mut used = 0;
    let mut rest = format;
    while !rest.is_empty() {
        let end = rest == "%";
        let argument = || match count {
            _ if end => Err("unexpected end of string".to_owned()),
            count if used >= count => Err(format!("index {used} out of range")),
            _ => Ok(()),
        };
        let (piece, after) = next(rest, argument).map_err(|Malformed(message)| (None, message))?;
        rest = after;
        if let Piece::Clause { verb, .. } = piece {
            if let Some((place, ty)) = fault(verb, used) {
                let name = type_name(&ty);
                return Err((Some(place), format!("error during formatting: {}{name}", complaint(verb))));
            }
            used += 1;
        }
    }
    if count > used {
        return Err((
            None,
            format!("too many arguments supplied to string.format (expected {used}, got {count})"),
        ));
    }
    Ok(())
}

fn type_name(ty: &Type) -> String {
    let text = format!("{ty:#}");
    text.split('(').next().unwrap_or("").to_owned()
}

/// Whether a clause takes values of a type.
pub(in crate::cel) fn takes(verb: char, ty: &Type) -> bool {
    match (verb, ty) {
        (_, Type::Dyn) | ('d' | 'o' | 'b' | 'x' | 'X', Type::Int | Type::Uint) => true,
        ('s', ty) => !matches!(ty, Type::Any | Type::Object(_) | Type::Optional(_)),
        ('f' | 'e', ty) => matches!(ty, Type::Double | Type::String),
        ('b', ty) => matches!(ty, Type::Bool),
        ('x' | 'X', ty) => matches!(ty, Type::String | Type::Bytes),
        _ => false,
    }
}

fn complaint(verb: char) -> &'static str {
    match verb {
        'd' => "decimal clause can only be used on integers, was given ",
        'f' => "fixed-point clause can only be used on doubles, was given ",
        'e' => "scientific clause can only be used on doubles, was given ",
        'b' => "only integers and bools can be formatted as binary, was given ",
        'o' => "octal clause can only be used on integers, was given ",
        's' => {
            "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, \
             durations, and timestamps, was given "
        }
        _ => "only integers, byte buffers, and strings can be formatted as hex, was given ",
    }
}

fn clause(
    verb: char,
    precision: Option<usize>,
    value: &Value<'_>,
    meter: &mut Meter,
) -> Result<String, String> {
    let refused = || Err(format!("{}{}", complaint(verb), value.type_name()));
    let sign = |negative: bool| if negative { "-" } else { "" };
    Ok(match (verb, value) {
        ('s', value) => return string(value, meter),
        ('d', Value::Int(value)) => value.to_string(),
        ('d', Value::Uint(value)) => value.to_string(),
        ('f', value) => match double(value) {
            Some(value) => fixed(value, precision.unwrap_or(6)),
            None => return refused(),
        },
        ('e', value) => match double(value) {
            Some(value) => scientific(value, precision.unwrap_or(6)),
            None => return refused(),
        },
        ('b', Value::Int(value)) => format!("{}{:b}", sign(*value < 0), value.unsigned_abs()),
        ('b', Value::Uint(value)) => format!("{value:b}"),
        ('b', Value::Bool(value)) => u8::from(*value).to_string(),
        ('o', Value::Int(value)) => format!("{}{:o}", sign(*value < 0), value.unsigned_abs()),
        ('o', Value::Uint(value)) => format!("{value:o}"),
        ('x', Value::Int(value)) => format!("{}{:x}", sign(*value < 0), value.unsigned_abs()),
        ('x', Value::Uint(value)) => format!("{value:x}"),
        ('x', Value::String(text)) => hex(text.as_bytes()),
        ('x', Value::Bytes(bytes)) => hex(bytes),
        ('X', value) => clause('x', precision, value, meter)?.to_ascii_uppercase(),
        _ => return refused(),
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn double(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Double(value) => Some(*value),
        Value::String(text) if matches!(&**text, "NaN" | "Infinity" | "-Infinity") => text.parse().ok(),
        _ => None,
    }
}

fn named(value: f64) -> Option<&'static str> {
    match value {
        value if value.is_nan() => Some("NaN"),
        f64::INFINITY => Some("∞"),
        f64::NEG_INFINITY => Some("-∞"),
        _ => None,
    }
}

fn fixed(value: f64, precision: usize) -> String {
    if let Some(name) = named(value) {
        return name.to_owned();
    }
    let plain = format!("{value:.precision$}");
    let (whole, fraction) = plain.split_at(plain.find('.').unwrap_or(plain.len()));
    let digits = whole.trim_start_matches('-');
    let mut grouped = whole[..whole.len() - digits.len()].to_owned();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + fraction
}

/// Upstream takes the precision for a width; the mantissa always has six decimals.
fn scientific(value: f64, width: usize) -> String {
    let text = named(value).map_or_else(
        || {
            let plain = format!("{value:.6e}");
            let (mantissa, exponent) = plain.split_once('e').unwrap_or((&plain, "0"));
            let digits = exponent.trim_start_matches('-');
            let sign = if digits.len() == exponent.len() { "" } else { "⁻" };
            let raised = |digit: char| {
                let superscripts = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
                digit.to_digit(10).map_or(digit, |digit| superscripts[digit as usize])
            };
            let digits: String = format!("{digits:0>2}").chars().map(raised).collect();
            format!("{mantissa}×10{sign}{digits}")
        },
        str::to_owned,
    );
    format!("{text:>width$}")
}

fn string(value: &Value<'_>, meter: &mut Meter) -> Result<String, String> {
    // The text of a value that is shared is made as often as it is referred to.
    meter.work(64).map_err(|error| error.to_string())?;
    Ok(match value {
        Value::List(list) => {
            let items: Result<Vec<_>, _> = list.iter().map(|value| nested(&value, meter)).collect();
            format!("[{}]", items?.join(", "))
        }
        Value::Map(map) => return map_string(map, meter),
        Value::Double(value) => numbers::shortest(*value),
        Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => return Err("could not convert argument to string".to_owned()),
        },
        Value::Duration(nanos) => super::time::duration_text(*nanos),
        Value::Timestamp(point) => point.to_string(),
        Value::Quantity { .. }
        | Value::Semver(_)
        | Value::Ip(_)
        | Value::Cidr(_)
        | Value::Url(_)
        | Value::Format(_)
        | Value::Optional(_) => {
            return Err(format!("{}{}", complaint('s'), value.type_name()));
        }
        other => other.to_string(),
    })
}

fn map_string(map: &Map<'_>, meter: &mut Meter) -> Result<String, String> {
    let mut entries = Vec::new();
    for (key, value) in map.entries() {
        if !matches!(key, Value::String(_) | Value::Bool(_) | Value::Int(_) | Value::Uint(_)) {
            return Err(format!("no formatting function for map key of type {}", key.type_name()));
        }
        entries.push((nested(&key, meter)?, nested(&value, meter)?));
    }
    entries.sort();
    let entries: Vec<_> = entries.into_iter().map(|(key, value)| format!("{key}:{value}")).collect();
    Ok(format!("{{{}}}", entries.join(", ")))
}

/// A value within a list or map.
fn nested(value: &Value<'_>, meter: &mut Meter) -> Result<String, String> {
    Ok(match value {
        Value::String(text) => super::strings::quote(text),
        Value::Bytes(_) => format!("b{}", super::strings::quote(&string(value, meter)?)),
        Value::Double(value) => fixed(*value, 6),
        Value::Duration(_) => format!("duration(\"{}\")", string(value, meter)?),
        Value::Timestamp(_) => format!("timestamp(\"{}\")", string(value, meter)?),
        Value::Quantity { .. }
        | Value::Semver(_)
        | Value::Ip(_)
        | Value::Cidr(_)
        | Value::Url(_)
        | Value::Format(_)
        | Value::Optional(_) => {
            return Err(format!("no formatting function for {}", value.type_name()));
        }
        other => return string(other, meter),
    })
}
