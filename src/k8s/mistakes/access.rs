//! Finds where a selector looks at a device, without parsing all of it: an expression that does
//! not compile needs a hint the most.

/// One of the two maps of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Map {
    Attributes,
    Capacity,
}

impl Map {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Attributes => "attributes",
            Self::Capacity => "capacity",
        }
    }
}

/// `device.attributes[domain].name`, and what it is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Access<'e> {
    pub map: Map,
    pub domain: &'e str,
    pub name: Option<&'e str>,
    pub comparison: Option<Comparison<'e>>,
}

/// A comparison with a literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Comparison<'e> {
    pub operator: &'static str,
    pub literal: &'e str,
}

impl Comparison<'_> {
    /// Whether the literal is an amount such as `40Gi`.
    pub(super) fn is_quantity(&self) -> bool {
        let unit = self.literal.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        unit.len() < self.literal.len()
            && matches!(unit, "" | "k" | "M" | "G" | "T" | "Ki" | "Mi" | "Gi" | "Ti")
    }
}

/// Every access in the expression, in order.
pub(super) fn accesses(expression: &str) -> Vec<Access<'_>> {
    let mut found = Vec::new();
    let mut rest = expression;
    while let Some(at) = rest.find("device.") {
        rest = &rest[at + "device.".len()..];
        if let Some(access) = access(rest) {
            found.push(access);
        }
    }
    found
}

fn access(text: &str) -> Option<Access<'_>> {
    let (map, rest) = match (text.strip_prefix("attributes"), text.strip_prefix("capacity")) {
        (Some(rest), _) => (Map::Attributes, rest),
        (_, Some(rest)) => (Map::Capacity, rest),
        _ => return None,
    };
    let (domain, rest) = member(rest)?;
    let (name, rest) = match member(rest) {
        // A method such as `exists(…)` is no name.
        Some((name, rest)) if !rest.trim_start().starts_with('(') => (Some(name), rest),
        _ => (None, rest),
    };
    Some(Access { map, domain, name, comparison: comparison(rest) })
}

/// The key of `['key']`, `[?'key']`, `.key` or `.?key`, and what follows.
fn member(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    if let Some(rest) = text.strip_prefix('[') {
        let (key, rest) = quoted(rest.trim_start().trim_start_matches('?').trim_start())?;
        return Some((key, rest.trim_start().strip_prefix(']')?));
    }
    let rest = text.strip_prefix('.')?.trim_start().trim_start_matches('?');
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    (end > 0).then(|| rest.split_at(end))
}

fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let (inside, rest) = text[1..].split_once(quote)?;
    Some((inside, rest))
}

fn comparison(text: &str) -> Option<Comparison<'_>> {
    let text = text.trim_start();
    let (operator, rest) =
        [">=", "<=", "==", "!=", ">", "<"].iter().find_map(|op| Some((*op, text.strip_prefix(op)?)))?;
    let rest = rest.trim_start();
    let literal = if let Some((literal, _)) = quoted(rest) {
        literal
    } else {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        Some(&rest[..end]).filter(|literal| !literal.is_empty())?
    };
    Some(Comparison { operator, literal })
}
