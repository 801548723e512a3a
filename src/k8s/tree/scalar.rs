//! What a plain scalar means by the rules of YAML 1.1 as `sigs.k8s.io/yaml` (go-yaml v2) applies
//! them. kubectl sends what this says, so `no` is a truth value and `0777` is 511.

use super::Value;

/// The value of an unquoted scalar. `None`: a number that JSON cannot carry (`.inf`, `.nan`).
pub(super) fn resolve(text: &str) -> Option<Value> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Some(Value::Null),
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            return Some(Value::Bool(true));
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Some(Value::Bool(false));
        }
        ".nan" | ".NaN" | ".NAN" | ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" | "-.inf"
        | "-.Inf" | "-.INF" => return None,
        _ => {}
    }
    let number = match text.as_bytes().first() {
        Some(b'.') => float(text),
        Some(b'0'..=b'9' | b'+' | b'-') if !is_date(text) => number(&text.replace('_', "")),
        _ => None,
    };
    Some(number.unwrap_or_else(|| Value::String(text.into())))
}

/// The value of a scalar with an explicit core tag such as `!!int`. `None` where go-yaml refuses.
pub(super) fn resolve_tagged(tag: &str, text: &str) -> Option<Value> {
    let value = match tag {
        "str" | "binary" => return Some(Value::String(text.into())),
        _ => resolve(text)?,
    };
    #[allow(clippy::cast_precision_loss)]
    match (tag, value) {
        ("float", Value::Int(number)) => Some(Value::Float(number as f64)),
        ("int", value @ Value::Int(_))
        | ("float", value @ Value::Float(_))
        | ("bool", value @ Value::Bool(_))
        | ("null", value @ Value::Null) => Some(value),
        ("timestamp", Value::String(text)) if is_date(&text) => Some(Value::String(text)),
        _ => None,
    }
}

/// Go's `strconv.ParseInt` with base 0, then floats of YAML style. Underscores are gone already.
fn number(text: &str) -> Option<Value> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let lower = digits.to_ascii_lowercase();
    let (radix, body) = if let Some(body) = lower.strip_prefix("0x") {
        (16, body)
    } else if let Some(body) = lower.strip_prefix("0o") {
        (8, body)
    } else if let Some(body) = lower.strip_prefix("0b") {
        (2, body)
    } else if lower.len() > 1 && lower.starts_with('0') {
        (8, &lower[1..])
    } else {
        (10, &*lower)
    };
    let is_body = !body.is_empty() && body.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if let Some(magnitude) = u64::from_str_radix(body, radix).ok().filter(|_| is_body) {
        return integer(negative, magnitude).or_else(|| float(text));
    }
    is_yaml_float(text).then(|| float(text)).flatten()
}

#[allow(clippy::cast_precision_loss)]
fn integer(negative: bool, magnitude: u64) -> Option<Value> {
    if negative {
        return 0i64.checked_sub_unsigned(magnitude).map(Value::Int);
    }
    Some(i64::try_from(magnitude).map_or(Value::Float(magnitude as f64), Value::Int))
}

fn float(text: &str) -> Option<Value> {
    let parsed =
        text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)).then(|| text.parse().ok());
    parsed.flatten().filter(|number: &f64| number.is_finite()).map(Value::Float)
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn is_yaml_float(text: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['-', '+']).unwrap_or(exponent))),
        None => (text, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let is_mantissa = digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty());
    is_mantissa && exponent.is_none_or(|exponent| !exponent.is_empty() && digits(exponent))
}

/// Whether go-yaml reads a timestamp, which it keeps as text: `2006-1-2`, alone or with a time.
fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let year = bytes.len() > 4 && bytes[..4].iter().all(u8::is_ascii_digit) && bytes[4] == b'-';
    year && {
        let date = text.split(['T', 't', ' ']).next().unwrap_or(text);
        let parts: Vec<_> = date.split('-').collect();
        let in_range = |part: &str, max: u8| {
            part.len() <= 2 && part.parse::<u8>().is_ok_and(|number| (1..=max).contains(&number))
        };
        parts.len() == 3 && in_range(parts[1], 12) && in_range(parts[2], 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_mean_what_kubectl_sends() {
        let text = |text: &str| Some(Value::String(text.into()));
        let table = [
            ("yes", Some(Value::Bool(true))),
            ("On", Some(Value::Bool(true))),
            ("n", Some(Value::Bool(false))),
            ("off", Some(Value::Bool(false))),
            ("tRue", text("tRue")),
            ("~", Some(Value::Null)),
            ("", Some(Value::Null)),
            ("0777", Some(Value::Int(511))),
            ("0o777", Some(Value::Int(511))),
            ("0x1F", Some(Value::Int(31))),
            ("0b101", Some(Value::Int(5))),
            ("-0b101", Some(Value::Int(-5))),
            ("08", Some(Value::Float(8.0))),
            ("1_000", Some(Value::Int(1000))),
            ("+5", Some(Value::Int(5))),
            ("1e3", Some(Value::Float(1000.0))),
            ("1.", Some(Value::Float(1.0))),
            (".5", Some(Value::Float(0.5))),
            ("-9223372036854775808", Some(Value::Int(i64::MIN))),
            ("18446744073709551615", Some(Value::Float(18_446_744_073_709_551_615.0))),
            ("2026-11-30", text("2026-11-30")),
            ("2026-11-30T10:00:00Z", text("2026-11-30T10:00:00Z")),
            ("1:30", text("1:30")),
            ("40Gi", text("40Gi")),
            ("1.2.3", text("1.2.3")),
            ("-", text("-")),
            ("0x", text("0x")),
            ("1e", text("1e")),
            (".inf", None),
            ("-.INF", None),
            (".nan", None),
        ];
        for (plain, value) in table {
            assert_eq!(resolve(plain), value, "{plain:?}");
        }
    }

    #[test]
    fn tagged_scalars_are_held_to_their_tag() {
        assert_eq!(resolve_tagged("str", "5"), Some(Value::String("5".into())));
        assert_eq!(resolve_tagged("int", "5"), Some(Value::Int(5)));
        assert_eq!(resolve_tagged("float", "5"), Some(Value::Float(5.0)));
        assert_eq!(resolve_tagged("int", "five"), None);
    }
}
