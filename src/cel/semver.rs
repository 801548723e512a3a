//! Semantic versions, read and ordered as `github.com/blang/semver/v4` does, which Kubernetes uses:
//! strict, and without regard to build metadata.

use std::cmp::Ordering;

/// A version, borrowing from its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version<'a> {
    /// MAJOR
    pub major: u64,
    /// MINOR
    pub minor: u64,
    /// PATCH
    pub patch: u64,
    /// What follows `-`, if anything.
    pub prerelease: Option<&'a str>,
}

/// Reads a version.
///
/// # Errors
/// The text is no semantic version; the message is blang's.
pub fn parse(text: &str) -> Result<Version<'_>, String> {
    if text.is_empty() {
        return Err("Version string empty".to_owned());
    }
    let mut parts = text.splitn(3, '.');
    let (Some(major), Some(minor), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
        return Err("No Major.Minor.Patch elements found".to_owned());
    };
    let major = number(major, "major", "Major")?;
    let minor = number(minor, "minor", "Minor")?;
    let (rest, build) = split_at(rest, '+');
    let (patch, prerelease) = split_at(rest, '-');
    let patch = number(patch, "patch", "Patch")?;
    for identifier in prerelease.iter().flat_map(|text| text.split('.')) {
        check_prerelease(identifier)?;
    }
    for identifier in build.iter().flat_map(|text| text.split('.')) {
        if identifier.is_empty() {
            return Err("Build meta data is empty".to_owned());
        }
        if !identifier.bytes().all(is_identifier_byte) {
            return Err(format!("Invalid character(s) found in build meta data {identifier:?}"));
        }
    }
    Ok(Version { major, minor, patch, prerelease })
}

fn split_at(text: &str, separator: char) -> (&str, Option<&str>) {
    match text.split_once(separator) {
        Some((before, after)) => (before, Some(after)),
        None => (text, None),
    }
}

fn is_identifier_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn has_leading_zero(text: &str) -> bool {
    text.len() > 1 && text.starts_with('0')
}

fn number(text: &str, name: &str, title: &str) -> Result<u64, String> {
    if !is_number(text) {
        return Err(format!("Invalid character(s) found in {name} number {text:?}"));
    }
    if has_leading_zero(text) {
        return Err(format!("{title} number must not contain leading zeroes {text:?}"));
    }
    unsigned(text)
}

/// Go's `strconv.ParseUint` on digits.
fn unsigned(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| {
        let reason = if text.is_empty() { "invalid syntax" } else { "value out of range" };
        format!("strconv.ParseUint: parsing {text:?}: {reason}")
    })
}

fn check_prerelease(identifier: &str) -> Result<(), String> {
    if identifier.is_empty() {
        return Err("Prerelease is empty".to_owned());
    }
    if is_number(identifier) {
        if has_leading_zero(identifier) {
            return Err(format!("Numeric PreRelease version must not contain leading zeroes {identifier:?}"));
        }
        return unsigned(identifier).map(drop);
    }
    if !identifier.bytes().all(is_identifier_byte) {
        return Err(format!("Invalid character(s) found in prerelease {identifier:?}"));
    }
    Ok(())
}

/// The order of two texts that are versions. A text that is none comes first.
pub fn compare(a: &str, b: &str) -> Ordering {
    match (parse(a), parse(b)) {
        (Ok(a), Ok(b)) => a.compare(&b),
        (a, b) => a.is_ok().cmp(&b.is_ok()),
    }
}

impl Version<'_> {
    /// Precedence by semver.org.
    pub fn compare(&self, other: &Self) -> Ordering {
        let numbers = |version: &Self| (version.major, version.minor, version.patch);
        numbers(self).cmp(&numbers(other)).then_with(|| match (self.prerelease, other.prerelease) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(a), Some(b)) => compare_prereleases(a, b),
        })
    }
}

fn compare_prereleases(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a.split('.'), b.split('.'));
    loop {
        let order = match (a.next(), b.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(a), Some(b)) => match (is_number(a), is_number(b)) {
                (true, true) => a.parse::<u64>().unwrap_or(0).cmp(&b.parse().unwrap_or(0)),
                (true, false) => Ordering::Less,
                (false, true) => Ordering::Greater,
                (false, false) => a.cmp(b),
            },
        };
        if order.is_ne() {
            return order;
        }
    }
}

/// The strict form of a lax version: without `v`, with minor and patch, without leading zeroes.
///
/// # Errors
/// The text is no version even so; the message is upstream's.
pub fn normalize(text: &str) -> Result<String, String> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let mut parts: Vec<String> = text.splitn(3, '.').map(without_leading_zeroes).collect();
    if parts.len() < 3 && parts.last().is_some_and(|last| last.contains(['+', '-'])) {
        return Err("short version cannot contain PreRelease/Build meta data".to_owned());
    }
    parts.resize(3, "0".to_owned());
    let strict = parts.join(".");
    parse(&strict)?;
    Ok(strict)
}

fn without_leading_zeroes(part: &str) -> String {
    if part.len() <= 1 {
        return part.to_owned();
    }
    let trimmed = part.trim_start_matches('0');
    let zero = if trimmed.starts_with(|c: char| c.is_ascii_digit()) { "" } else { "0" };
    format!("{zero}{trimmed}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_by_precedence() {
        let ascending = [
            "1.0.0-1",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-beta.2",
            "1.0.0-beta.11",
            "1.0.0-rc.1",
            "1.0.0",
            "1.0.1",
            "1.2.0",
            "1.10.0",
            "2.0.0",
        ];
        for (at, a) in ascending.iter().enumerate() {
            for (other, b) in ascending.iter().enumerate() {
                assert_eq!(compare(a, b), at.cmp(&other), "{a} and {b}");
            }
        }
        assert_eq!(compare("1.0.0+a", "1.0.0+b"), Ordering::Equal, "build metadata does not count");
    }

    #[test]
    fn malformed_versions_are_refused_in_the_words_of_blang() {
        for (text, reason) in [
            ("", "Version string empty"),
            ("1.2", "No Major.Minor.Patch elements found"),
            ("v1.2.3", "Invalid character(s) found in major number \"v1\""),
            ("01.2.3", "Major number must not contain leading zeroes \"01\""),
            ("1.2.", "strconv.ParseUint: parsing \"\": invalid syntax"),
            (
                "99999999999999999999.0.0",
                "strconv.ParseUint: parsing \"99999999999999999999\": value out of range",
            ),
            ("1.2.3-", "Prerelease is empty"),
            ("1.2.3-01", "Numeric PreRelease version must not contain leading zeroes \"01\""),
            ("1.2.3-a_b", "Invalid character(s) found in prerelease \"a_b\""),
            ("1.2.3+", "Build meta data is empty"),
            ("1.2.3+a+b", "Invalid character(s) found in build meta data \"a+b\""),
        ] {
            assert_eq!(parse(text), Err(reason.to_owned()), "{text}");
        }
    }

    #[test]
    fn lax_versions_are_made_strict() {
        assert_eq!(normalize("v1"), Ok("1.0.0".to_owned()));
        assert_eq!(normalize("01.002.3-rc"), Ok("1.2.3-rc".to_owned()));
        assert_eq!(normalize("1.0.00"), Ok("1.0.0".to_owned()));
        assert!(normalize("1.0-rc").is_err());
        assert!(normalize(" 1.0.0").is_err());
    }
}
