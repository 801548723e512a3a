//! URLs (Kubernetes' `cel/library/urls.go`), read and written as Go's package `net/url` does.

mod escape;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use self::escape::{Part, escape, is_valid, unescape};
use super::net;
use super::strings::go_quoted;
use crate::cel::error::EvalError;
use crate::cel::functions::Function;
use crate::cel::value::{Key, Map, Outcome, Value};

/// A URL in its parts. Those that were unescaped need not be UTF-8.
#[derive(Clone, Debug, Default)]
pub struct Url {
    scheme: String,
    opaque: String,
    /// User and password.
    user: Option<(Vec<u8>, Option<Vec<u8>>)>,
    host: Vec<u8>,
    /// Whether there is a scheme and no `//` after it.
    omits_host: bool,
    path: Vec<u8>,
    /// As written, if that is not how `escape` would write it.
    raw_path: Option<String>,
    query: Option<String>,
    fragment: Vec<u8>,
    raw_fragment: Option<String>,
}

/// A failure in Go's words.
type Parsed<T> = Result<T, String>;

/// Reads what may stand in a request: an absolute URL or path. Upstream reads it once more for the
/// fragment.
pub(super) fn parse(text: &str) -> Parsed<Url> {
    let failed = |url: &str, reason: String| format!("parse {}: {reason}", go_quoted(url));
    check(text).map_err(|reason| failed(text, reason))?;
    let (rest, fragment) = text.split_once('#').unwrap_or((text, ""));
    let mut url = parse_parts(rest, false).map_err(|reason| failed(rest, reason))?;
    url.fragment = unescape(fragment, Part::Fragment).map_err(|reason| failed(text, reason))?;
    url.raw_fragment = (escape(&url.fragment, Part::Fragment) != fragment).then(|| fragment.to_owned());
    Ok(url)
}

/// Whether it may stand in a request.
///
/// # Errors
/// Go's complaint, without the URL.
fn check(text: &str) -> Parsed<()> {
    if text.is_empty() {
        return Err("empty url".to_owned());
    }
    parse_parts(text, true).map(|_| ())
}

/// What is wrong with a URL in a request, in Go's words.
pub(super) fn complaint(text: &str) -> Option<String> {
    let reason = check(text).err()?;
    Some(format!("parse {}: {reason}", go_quoted(text)))
}

fn parse_parts(text: &str, for_request: bool) -> Parsed<Url> {
    let mut url = Url::default();
    if text.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
        return Err("net/url: invalid control character in URL".to_owned());
    }
    if text == "*" {
        url.path = b"*".to_vec();
        return Ok(url);
    }
    let (scheme, rest) = scheme(text)?;
    url.scheme = scheme.to_ascii_lowercase();
    let (rest, query) = match rest.split_once('?') {
        Some((rest, query)) => (rest, Some(query.to_owned())),
        None => (rest, None),
    };
    url.query = query;
    let mut path = rest;
    if !path.starts_with('/') {
        if !url.scheme.is_empty() {
            rest.clone_into(&mut url.opaque);
            return Ok(url);
        }
        if for_request {
            return Err("invalid URI for request".to_owned());
        }
        if path.split('/').next().is_some_and(|segment| segment.contains(':')) {
            return Err("first path segment in URL cannot contain colon".to_owned());
        }
    }
    let has_scheme = !url.scheme.is_empty();
    if let Some(after) = path.strip_prefix("//")
        && (has_scheme || !for_request && !after.starts_with('/'))
    {
        let (authority, rest) = after.split_at(after.find('/').unwrap_or(after.len()));
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        url.host = parse_host(&url.scheme, host)?;
        url.user = user.map(parse_user).transpose()?;
        path = rest;
    } else {
        url.omits_host = has_scheme && path.starts_with('/');
    }
    url.path = unescape(path, Part::Path)?;
    url.raw_path = (escape(&url.path, Part::Path) != path).then(|| path.to_owned());
    Ok(url)
}

/// What stands before the first colon, if it can be a scheme, and what follows.
fn scheme(text: &str) -> Parsed<(&str, &str)> {
    let in_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let end = text.find(|c| !in_scheme(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    match rest.strip_prefix(':') {
        Some(_) if name.is_empty() => Err("missing protocol scheme".to_owned()),
        Some(rest) if name.starts_with(|c: char| c.is_ascii_alphabetic()) => Ok((name, rest)),
        _ => Ok(("", text)),
    }
}

fn parse_user(text: &str) -> Parsed<(Vec<u8>, Option<Vec<u8>>)> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
    if !text.chars().all(allowed) {
        return Err("net/url: invalid userinfo".to_owned());
    }
    let (name, password) = match text.split_once(':') {
        Some((name, password)) => (name, Some(password)),
        None => (text, None),
    };
    let name = unescape(name, Part::User)?;
    Ok((name, password.map(|password| unescape(password, Part::User)).transpose()?))
}

fn parse_host(scheme: &str, host: &str) -> Parsed<Vec<u8>> {
    let invalid_port = |port: &str| format!("invalid port {} after host", go_quoted(port));
    match host.rfind('[') {
        None => {}
        Some(0) => {
            let end = host.rfind(']').ok_or("missing ']' in host")?;
            let (address, port) = (&host[1..end], &host[end + 1..]);
            if !is_port(port) {
                return Err(invalid_port(port));
            }
            let (name, zone) = address.split_at(address.find("%25").unwrap_or(address.len()));
            let mut bare = unescape(name, Part::Host)?;
            bare.extend(unescape(zone, Part::Zone)?);
            net::check_ipv6(&String::from_utf8_lossy(&bare))?;
            return Ok([b"[", &bare[..], b"]", port.as_bytes()].concat());
        }
        Some(_) => return Err("invalid IP-literal".to_owned()),
    }
    let strict = matches!(scheme, "http" | "https");
    if let Some(colon) = if strict { host.find(':') } else { host.rfind(':') }
        && !is_port(&host[colon..])
    {
        return Err(invalid_port(&host[colon..]));
    }
    unescape(host, Part::Host)
}

/// Whether it is nothing, or a colon and digits, of which there may be none.
fn is_port(text: &str) -> bool {
    let digits = text.strip_prefix(':');
    text.is_empty() || digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

impl Url {
    /// Host and port.
    fn split_host(&self) -> (Cow<'_, str>, Cow<'_, str>) {
        let host = &self.host[..];
        let colon = host.iter().rposition(|byte| *byte == b':');
        let colon = colon.filter(|at| host[at + 1..].iter().all(u8::is_ascii_digit));
        let (name, port) = match colon {
            Some(at) => (&host[..at], &host[at + 1..]),
            None => (host, &[][..]),
        };
        let bare = name.strip_prefix(b"[").and_then(|name| name.strip_suffix(b"]"));
        (String::from_utf8_lossy(bare.unwrap_or(name)), String::from_utf8_lossy(port))
    }

    fn escaped_path(&self) -> Cow<'_, str> {
        match &self.raw_path {
            Some(raw) if is_valid(raw, Part::Path) => Cow::Borrowed(raw),
            _ if self.path == b"*" => Cow::Borrowed("*"),
            _ => Cow::Owned(escape(&self.path, Part::Path)),
        }
    }

    fn parameters(&self) -> BTreeMap<String, Vec<String>> {
        let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let query = self.query.as_deref().unwrap_or("");
        if query.matches('&').count() >= PARAMETERS_MAX {
            return found;
        }
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            let (key, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let lossy =
                |text| unescape(text, Part::Query).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            // Go leaves out what it cannot read.
            if let (false, Ok(key), Ok(value)) = (parameter.contains(';'), lossy(key), lossy(value)) {
                found.entry(key).or_default().push(value);
            }
        }
        found
    }

    /// The text by which URLs are compared.
    pub(in crate::cel) fn text(&self) -> String {
        let mut text = String::new();
        if !self.scheme.is_empty() {
            text = format!("{}:", self.scheme);
        }
        if self.opaque.is_empty() {
            let bare = self.host.is_empty() && self.user.is_none();
            let only_path = self.scheme.is_empty() || self.omits_host || self.path.is_empty();
            if !bare || !only_path {
                text.push_str("//");
            }
            if let Some((name, password)) = &self.user {
                text.push_str(&escape(name, Part::User));
                if let Some(password) = password {
                    text.push(':');
                    text.push_str(&escape(password, Part::User));
                }
                text.push('@');
            }
            text.push_str(&escape(&self.host, Part::Host));
            let path = self.escaped_path();
            if !path.is_empty() && !path.starts_with('/') && !self.host.is_empty() {
                text.push('/');
            }
            if text.is_empty() && path.split('/').next().is_some_and(|segment| segment.contains(':')) {
                text.push_str("./");
            }
            text.push_str(&path);
        } else {
            text.push_str(&self.opaque);
        }
        if let Some(query) = &self.query {
            text.push('?');
            text.push_str(query);
        }
        if !self.fragment.is_empty() {
            text.push('#');
            match &self.raw_fragment {
                Some(raw) if is_valid(raw, Part::Fragment) => text.push_str(raw),
                _ => text.push_str(&escape(&self.fragment, Part::Fragment)),
            }
        }
        text
    }
}

impl PartialEq for Url {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

/// The most parameters that Go reads.
const PARAMETERS_MAX: usize = 10_000;

/// A function that makes or takes a URL. `None` if it takes no such values.
pub(super) fn call<'a>(function: Function, args: &[Value<'a>]) -> Option<Outcome<'a>> {
    match (function, args) {
        (Function::Url, [Value::String(text)]) => Some(match parse(text) {
            Ok(url) => Ok(Value::Url(Arc::new(url))),
            Err(reason) => {
                EvalError::operation(format!("URL parse error during conversion from string: {reason}"))
            }
        }),
        (Function::IsUrl, [Value::String(text)]) => Some(Ok(Value::Bool(check(text).is_ok()))),
        (_, [Value::Url(url)]) => {
            let text = |text: Cow<'_, str>| Value::text(text.into_owned());
            Some(Ok(match function {
                Function::GetScheme => Value::text(url.scheme.as_str()),
                Function::GetHost => text(String::from_utf8_lossy(&url.host)),
                Function::GetHostname => text(url.split_host().0),
                Function::GetPort => text(url.split_host().1),
                Function::GetEscapedPath => text(url.escaped_path()),
                Function::GetQuery => query(url),
                _ => return None,
            }))
        }
        _ => None,
    }
}

fn query<'a>(url: &Url) -> Value<'a> {
    let entries = url.parameters().into_iter().map(|(name, values)| {
        let name: Arc<str> = name.into();
        let values = Value::list(values.into_iter().map(Value::text).collect());
        (Key::String(Arc::clone(&name)), (Value::text(name), values))
    });
    Value::Map(Map::new(entries.collect()))
}
