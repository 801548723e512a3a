//! Named formats (Kubernetes' `cel/library/format.go`), with the words in which upstream says why a
//! text has another form.

use super::{calendar, url};
use crate::cel::functions::Function;
use crate::cel::value::{Outcome, Value};

/// A format of texts.
#[derive(Debug)]
pub struct NamedFormat {
    /// How expressions call it.
    name: &'static str,
    /// What an API server takes for the length of its pattern.
    pub(in crate::cel) pattern: u64,
    /// What is wrong with a text.
    validate: fn(&str) -> Vec<String>,
}

impl PartialEq for NamedFormat {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

const FORMATS: [NamedFormat; 13] = [
    NamedFormat { name: "dns1123Label", pattern: 30, validate: dns1123_label },
    NamedFormat { name: "dns1123Subdomain", pattern: 60, validate: dns1123_subdomain },
    NamedFormat { name: "dns1035Label", pattern: 30, validate: dns1035_label },
    NamedFormat { name: "qualifiedName", pattern: 60, validate: qualified_name },
    NamedFormat { name: "dns1123LabelPrefix", pattern: 30, validate: |text| dns1123_label(&prefix(text)) },
    NamedFormat {
        name: "dns1123SubdomainPrefix",
        pattern: 60,
        validate: |text| dns1123_subdomain(&prefix(text)),
    },
    NamedFormat { name: "dns1035LabelPrefix", pattern: 30, validate: |text| dns1035_label(&prefix(text)) },
    NamedFormat { name: "labelValue", pattern: 40, validate: label_value },
    NamedFormat { name: "uri", pattern: 1103, validate: |text| url::complaint(text).into_iter().collect() },
    NamedFormat {
        name: "uuid",
        pattern: 70,
        validate: |text| unless(is_uuid(text), "does not match the UUID format"),
    },
    NamedFormat { name: "byte", pattern: 84, validate: |text| unless(is_base64(text), "invalid base64") },
    NamedFormat { name: "date", pattern: 71, validate: |text| unless(is_date(text), "invalid date") },
    NamedFormat {
        name: "datetime",
        pattern: 71,
        validate: |text| unless(is_datetime(text), "invalid datetime"),
    },
];

fn named(name: &str) -> Option<&'static NamedFormat> {
    FORMATS.iter().find(|format| format.name == name)
}

/// A function that makes or takes a named format. `None` if it takes no such values.
pub(super) fn call<'a>(function: Function, args: &[Value<'a>]) -> Option<Outcome<'a>> {
    Some(Ok(match (function, args) {
        (Function::FormatNamed, [Value::String(name)]) => {
            named(name).map_or(Value::Optional(None), |format| Value::some(Value::Format(format)))
        }
        (Function::Validate, [Value::Format(format), Value::String(text)]) => match (format.validate)(text) {
            complaints if complaints.is_empty() => Value::Optional(None),
            complaints => Value::some(Value::list(complaints.into_iter().map(Value::text).collect())),
        },
        (function, []) => Value::Format(named(function.name().strip_prefix("format.")?)?),
        _ => return None,
    }))
}

fn unless(fits: bool, complaint: &str) -> Vec<String> {
    if fits { Vec::new() } else { vec![complaint.to_owned()] }
}

/// What a name that is made from the prefix may look like.
fn prefix(text: &str) -> String {
    match text.strip_suffix('-') {
        Some(rest) if !rest.is_empty() => {
            // Upstream drops a whole byte before the dash; where that cuts a character, no form fits.
            let kept = rest.len() - 1;
            rest.get(..kept).map_or_else(|| text.to_owned(), |kept| format!("{kept}a"))
        }
        _ => text.to_owned(),
    }
}

/// The newer of upstream's checks, those of labels, say `bytes`; the others `characters`.
fn too_long(text: &str, most: usize, unit: &str) -> Option<String> {
    (text.len() > most).then(|| format!("must be no more than {most} {unit}"))
}

fn pattern(message: &str, examples: &[&str], pattern: &str) -> String {
    let examples: Vec<_> = examples.iter().map(|example| format!("'{example}', ")).collect();
    format!("{message} (e.g. {}regex used for validation is '{pattern}')", examples.join(" or "))
}

fn lower(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

fn label(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

/// Whether a text begins with one of `first`, ends with one of `ends`, and has only those and `within`
/// between.
fn is_bounded(text: &str, first: fn(u8) -> bool, ends: fn(u8) -> bool, within: &[u8]) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|byte| first(*byte))
        && bytes.last().is_some_and(|byte| ends(*byte))
        && bytes.iter().all(|byte| ends(*byte) || within.contains(byte))
}

fn is_label(text: &str) -> bool {
    is_bounded(text, lower, lower, b"-")
}

const DNS1123_LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const DNS1123_SUBDOMAIN: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const DNS1035_LABEL: &str = "[a-z]([-a-z0-9]*[a-z0-9])?";
const LABEL_KEY: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

fn dns1123_label(text: &str) -> Vec<String> {
    let mut complaints: Vec<_> = too_long(text, 63, "characters").into_iter().collect();
    if !is_label(text) {
        complaints.push(if text.split('.').all(is_label) {
            "must not contain dots".to_owned()
        } else {
            let message = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', \
                           and must start and end with an alphanumeric character";
            pattern(message, &["my-name", "123-abc"], DNS1123_LABEL)
        });
    }
    complaints
}

fn dns1123_subdomain(text: &str) -> Vec<String> {
    subdomain(text, "characters")
}

fn subdomain(text: &str, unit: &str) -> Vec<String> {
    let mut complaints: Vec<_> = too_long(text, 253, unit).into_iter().collect();
    if !text.split('.').all(is_label) {
        let message = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or \
                       '.', and must start and end with an alphanumeric character";
        complaints.push(pattern(message, &["example.com"], DNS1123_SUBDOMAIN));
    }
    complaints
}

fn dns1035_label(text: &str) -> Vec<String> {
    let mut complaints: Vec<_> = too_long(text, 63, "characters").into_iter().collect();
    if !is_bounded(text, |byte| byte.is_ascii_lowercase(), lower, b"-") {
        let message = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an \
                       alphabetic character, and end with an alphanumeric character";
        complaints.push(pattern(message, &["my-name", "abc-123"], DNS1035_LABEL));
    }
    complaints
}

fn qualified_name(text: &str) -> Vec<String> {
    let complaint = || {
        let message = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                       alphanumeric character";
        pattern(message, &["MyName", "my.name", "123-abc"], LABEL_KEY)
    };
    let (domain, name) = match text.split_once('/') {
        None => (None, text),
        Some((domain, name)) if !name.contains('/') => (Some(domain), name),
        Some(_) => {
            let optional = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return vec![format!("a valid label key {} {optional}", complaint())];
        }
    };
    let mut complaints = Vec::new();
    match domain {
        Some("") => complaints.push("prefix part must be non-empty".to_owned()),
        Some(domain) => {
            complaints.extend(subdomain(domain, "bytes").iter().map(|why| format!("prefix part {why}")));
        }
        None => {}
    }
    if name.is_empty() {
        complaints.push("name part must be non-empty".to_owned());
    }
    complaints.extend(too_long(name, 63, "bytes").map(|why| format!("name part {why}")));
    if !is_bounded(name, label, label, b"-_.") {
        complaints.push(format!("name part {}", complaint()));
    }
    complaints
}

fn label_value(text: &str) -> Vec<String> {
    let mut complaints: Vec<_> = too_long(text, 63, "bytes").into_iter().collect();
    if !text.is_empty() && !is_bounded(text, label, label, b"-_.") {
        let message = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or \
                       '.', and must start and end with an alphanumeric character";
        complaints.push(pattern(message, &["MyValue", "my_value", "12345"], &format!("({LABEL_KEY})?")));
    }
    complaints
}

/// Groups of hexadecimal digits, each dash optional.
fn is_uuid(text: &str) -> bool {
    let mut rest = text.as_bytes();
    for (at, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if at > 0 {
            rest = rest.strip_prefix(b"-").unwrap_or(rest);
        }
        let Some((group, after)) = rest.split_at_checked(length) else { return false };
        if !group.iter().all(u8::is_ascii_hexdigit) {
            return false;
        }
        rest = after;
    }
    rest.is_empty()
}

/// Groups of four, the last one padded; not empty.
fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    let alphabet = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
    !text.is_empty() && text.len().is_multiple_of(4) && padding <= 2 && digits.bytes().all(alphabet)
}

/// A number of exactly so many digits.
fn number(text: &str, digits: usize) -> Option<i64> {
    let plain = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| plain)
}

fn is_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let mut next = |digits| number(parts.next()?, digits);
    let date = next(4).and_then(|year| calendar::days(year, next(2)?, next(2)?));
    date.is_some()
}

/// A date, `t` and a time with a zone, in any case. What follows another `t` does not count.
fn is_datetime(text: &str) -> bool {
    let text = text.to_lowercase();
    let mut parts = text.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else { return false };
    is_date(date) && is_time(time)
}

fn is_time(text: &str) -> bool {
    let clock = |at: usize, most: i64| {
        let digits = text.get(at..at + 2).and_then(|digits| number(digits, 2));
        digits.is_some_and(|number| number <= most)
    };
    let colons = text.get(2..3) == Some(":") && text.get(5..6) == Some(":");
    if !(colons && clock(0, 23) && clock(3, 59) && clock(6, 59)) {
        return false;
    }
    let rest = &text[8..];
    if is_zone(rest) {
        return true;
    }
    // Any character may stand for the point.
    let mut fraction = rest.chars();
    let is_line_end = fraction.next().is_none_or(|point| point == '\n');
    let digits = fraction.as_str();
    let zone = digits.trim_start_matches(|c: char| c.is_ascii_digit());
    !is_line_end && zone.len() < digits.len() && is_zone(zone)
}

fn is_zone(text: &str) -> bool {
    let offset = |text: &str| {
        let (hours, minutes) = text.split_once(':')?;
        number(hours, 2).and(number(minutes, 2))
    };
    text == "z" || text.strip_prefix(['+', '-']).and_then(offset).is_some()
}
