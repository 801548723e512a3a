//! Texts (cel-go's standard library and `ext/strings.go`, version 2). Positions count code points.

use std::fmt::Write as _;
use std::sync::Arc;

use regex::Regex;

use super::{format, pattern};
use crate::cel::cost::Meter;
use crate::cel::error::EvalError;
use crate::cel::functions::Function;
use crate::cel::value::{Outcome, Text, Value};

/// `a + b`
pub(super) fn concatenate<'a>(a: &str, b: &str, meter: &mut Meter) -> Outcome<'a> {
    meter.work(a.len() + b.len())?;
    Ok(Value::text([a, b].concat()))
}

/// A function of a text. `None` if it takes no such values.
pub(super) fn call<'a>(function: Function, args: &[Value<'a>], meter: &mut Meter) -> Option<Outcome<'a>> {
    if let (Function::Join, [Value::List(list), rest @ ..]) = (function, args) {
        if !matches!(list.get(0), None | Some(Value::String(_))) {
            return None;
        }
        let separator = match rest {
            [] => "",
            [Value::String(text)] => text,
            _ => return None,
        };
        return Some(join(list.iter(), separator, meter));
    }
    let [Value::String(text), rest @ ..] = args else { return None };
    let string = |text: String| Ok(Value::text(text));
    Some(match (function, rest) {
        (Function::Contains, [Value::String(part)]) => Ok(Value::Bool(text.contains(&**part))),
        (Function::StartsWith, [Value::String(part)]) => Ok(Value::Bool(text.starts_with(&**part))),
        (Function::EndsWith, [Value::String(part)]) => Ok(Value::Bool(text.ends_with(&**part))),
        (Function::Matches | Function::Find | Function::FindAll, [Value::String(pattern)]) => {
            by_pattern(function, text, pattern, -1, meter)
        }
        (Function::FindAll, [Value::String(pattern), Value::Int(most)]) => {
            by_pattern(function, text, pattern, *most, meter)
        }
        (Function::LowerAscii, []) => string(text.to_ascii_lowercase()),
        (Function::UpperAscii, []) => string(text.to_ascii_uppercase()),
        (Function::Trim, []) => string(text.trim().to_owned()),
        (Function::Quote, []) => string(quote(text)),
        (Function::CharAt, [Value::Int(at)]) => char_at(text, *at),
        (Function::Substring, [Value::Int(start)]) => substring(text, *start, None),
        (Function::Substring, [Value::Int(start), Value::Int(end)]) => substring(text, *start, Some(*end)),
        (Function::IndexOf, [Value::String(part)]) => index_of(text, part, 0),
        (Function::IndexOf, [Value::String(part), Value::Int(from)]) => index_of(text, part, *from),
        (Function::LastIndexOf, [Value::String(part)]) => last_index_of(text, part, None),
        (Function::LastIndexOf, [Value::String(part), Value::Int(from)]) => {
            last_index_of(text, part, Some(*from))
        }
        (Function::Replace, [Value::String(old), Value::String(new)]) => replace(text, old, new, -1, meter),
        (Function::Replace, [Value::String(old), Value::String(new), Value::Int(count)]) => {
            replace(text, old, new, *count, meter)
        }
        (Function::Split, [Value::String(separator)]) => Ok(split(text, separator, -1)),
        (Function::Split, [Value::String(separator), Value::Int(count)]) => {
            Ok(split(text, separator, *count))
        }
        (Function::Format, [Value::List(values)]) => format::format(text, values, meter),
        (Function::Size, []) => Ok(Value::Int(length(text))),
        _ => return None,
    })
}

/// Compiling a pattern is work that upstream does not charge for; counts and classes multiply it.
fn by_pattern<'a>(
    function: Function,
    text: &str,
    pattern: &str,
    most: i64,
    meter: &mut Meter,
) -> Outcome<'a> {
    let multiplies = pattern.contains(['{']) || pattern.contains("\\p") || pattern.contains("\\P");
    meter.work(if multiplies { 200_000 } else { 5_000 } + pattern.len().saturating_mul(100))?;
    match pattern::compile(pattern) {
        Ok(regex) => find(function, &regex, text, most, meter),
        Err(reason) if function == Function::Matches => EvalError::operation(reason),
        Err(reason) => EvalError::operation(format!("Illegal regex: {reason}")),
    }
}

/// Whether a pattern matches, its first match, or so many of its matches; all if it is less than none.
pub(in crate::cel) fn find<'a>(
    function: Function,
    regex: &Regex,
    text: &str,
    most: i64,
    meter: &mut Meter,
) -> Outcome<'a> {
    match function {
        Function::Find => Ok(Value::text(regex.find(text).map_or("", |found| found.as_str()))),
        Function::FindAll => {
            let most = usize::try_from(most).unwrap_or(usize::MAX);
            let mut found = Vec::new();
            for part in regex.find_iter(text).take(most) {
                meter.elements(1)?;
                found.push(Value::text(part.as_str()));
            }
            Ok(Value::list(found))
        }
        _ => Ok(Value::Bool(regex.is_match(text))),
    }
}

fn length(text: &str) -> i64 {
    i64::try_from(text.chars().count()).unwrap_or(i64::MAX)
}

fn out_of_range<'a>(at: i64) -> Outcome<'a> {
    EvalError::operation(format!("index out of range: {at}"))
}

/// The byte at which a code point starts; the end for the position after the last.
fn byte_at(text: &str, at: i64) -> Option<usize> {
    let at = usize::try_from(at).ok()?;
    text.char_indices().map(|(byte, _)| byte).chain([text.len()]).nth(at)
}

fn char_at<'a>(text: &Text<'a>, at: i64) -> Outcome<'a> {
    match byte_at(text, at) {
        Some(byte) => Ok(Value::text(text[byte..].chars().take(1).collect::<String>())),
        None => out_of_range(at),
    }
}

fn substring<'a>(text: &Text<'a>, start: i64, end: Option<i64>) -> Outcome<'a> {
    if let Some(end) = end.filter(|end| start > *end) {
        return EvalError::operation(format!("invalid substring range. start: {start}, end: {end}"));
    }
    let Some(first) = byte_at(text, start) else { return out_of_range(start) };
    let last = match end {
        None => text.len(),
        Some(end) => match byte_at(text, end) {
            Some(last) => last,
            None => return out_of_range(end),
        },
    };
    Ok(Value::text(&text[first..last]))
}

fn index_of<'a>(text: &str, part: &str, from: i64) -> Outcome<'a> {
    if from < 0 {
        return out_of_range(from);
    }
    if part.is_empty() {
        return Ok(Value::Int(from.min(length(text))));
    }
    let found = byte_at(text, from).and_then(|start| text[start..].find(part).map(|at| start + at));
    Ok(Value::Int(found.map_or(-1, |byte| length(&text[..byte]))))
}

fn last_index_of<'a>(text: &str, part: &str, from: Option<i64>) -> Outcome<'a> {
    if let Some(from) = from.filter(|from| *from < 0) {
        return out_of_range(from);
    }
    let size = length(text);
    if part.is_empty() {
        return Ok(Value::Int(from.map_or(size, |from| from.min(size))));
    }
    let Some(from) = from else {
        return Ok(Value::Int(text.rfind(part).map_or(-1, |byte| length(&text[..byte]))));
    };
    if from >= size {
        return Ok(Value::Int(-1));
    }
    // The last place at which a match may start, and the part of the text that it may use.
    let until = from.saturating_add(length(part)).min(size);
    let window = byte_at(text, until).map_or(text, |byte| &text[..byte]);
    Ok(Value::Int(window.rfind(part).map_or(-1, |byte| length(&window[..byte]))))
}

fn replace<'a>(text: &str, old: &str, new: &str, count: i64, meter: &mut Meter) -> Outcome<'a> {
    let most = usize::try_from(count).unwrap_or(usize::MAX);
    let found = if old.is_empty() { text.chars().count() + 1 } else { text.matches(old).count() };
    meter.work(found.min(most).saturating_mul(new.len()).saturating_add(text.len()))?;
    Ok(Value::text(text.replacen(old, new, most)))
}

/// Go's `strings.SplitN`: of nothing, nothing comes; by nothing, into code points.
fn split<'a>(text: &str, separator: &str, count: i64) -> Value<'a> {
    let most = usize::try_from(count).unwrap_or(usize::MAX);
    if most == 0 {
        return Value::list(Vec::new());
    }
    if separator.is_empty() {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            if parts.len() + 1 == most {
                break;
            }
            let (part, after) = rest.split_at(first.len_utf8());
            parts.push(Value::text(part));
            rest = after;
        }
        if !rest.is_empty() {
            parts.push(Value::text(rest));
        }
        return Value::list(parts);
    }
    Value::list(text.splitn(most, separator).map(Value::text).collect())
}

fn join<'a>(values: impl Iterator<Item = Value<'a>>, separator: &str, meter: &mut Meter) -> Outcome<'a> {
    let mut joined = String::new();
    for (at, value) in values.enumerate() {
        let Value::String(text) = value else {
            return Err(Arc::new(EvalError::Operation { message: format!("join: invalid input: {value}") }));
        };
        meter.work(separator.len() + text.len())?;
        if at > 0 {
            joined.push_str(separator);
        }
        joined.push_str(&text);
    }
    Ok(Value::text(joined))
}

/// How `strings.quote` and Go write a character that needs an escape in quotes.
fn escape(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{7}' => "\\a",
        '\u{8}' => "\\b",
        '\u{c}' => "\\f",
        '\n' => "\\n",
        '\r' => "\\r",
        '\t' => "\\t",
        '\u{b}' => "\\v",
        '\\' => "\\\\",
        '"' => "\\\"",
        _ => return None,
    })
}

pub(super) fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match escape(c) {
            Some(escape) => quoted.push_str(escape),
            None => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Go's `strconv.Quote`, for texts in failures.
pub(super) fn go_quoted(text: &str) -> String {
    let quoted = text.chars().fold(String::with_capacity(text.len() + 2), |mut quoted, c| {
        let code = u32::from(c);
        // Writing to a String cannot fail.
        let _ = match escape(c) {
            Some(escape) => quoted.write_str(escape),
            None if is_printable(c) => quoted.write_char(c),
            None if c.is_ascii() => write!(quoted, "\\x{code:02x}"),
            None if code < 0x1_0000 => write!(quoted, "\\u{code:04x}"),
            None => write!(quoted, "\\U{code:08x}"),
        };
        quoted
    });
    format!("\"{quoted}\"")
}

/// Whether a character shows, marks on other characters included.
fn is_printable(c: char) -> bool {
    // Rust escapes marks only where a text begins with one.
    c.is_ascii_graphic() || c == ' ' || format!("a{c}").escape_debug().count() == 2
}
