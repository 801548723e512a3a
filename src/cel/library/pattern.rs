//! Regular expressions of Go's RE2 dialect, compiled by the `regex` crate: checked and rewritten
//! where the two differ, above all in that Go's `\d`, `\w`, `\s` and `\b` know ASCII only.

use std::fmt::Write as _;

use regex::{Regex, RegexBuilder};

/// The most repetitions that nested counts may multiply to, as in Go.
const REPEAT_MAX: u32 = 1000;

/// Compiles a pattern.
///
/// # Errors
/// Go would refuse it too, or this crate cannot express it.
pub(in crate::cel) fn compile(pattern: &str) -> Result<Regex, String> {
    let mut translator = Translator { rest: pattern, out: String::new() };
    let failed = |reason: &str| format!("error parsing regexp: {reason}: `{pattern}`");
    translator.whole().map_err(failed)?;
    RegexBuilder::new(&translator.out).build().map_err(|_| failed("invalid or too large regular expression"))
}

struct Translator<'p> {
    rest: &'p str,
    out: String,
}

type Step<T> = Result<T, &'static str>;

impl Translator<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn take(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn literal(&mut self, c: char) {
        self.out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
    }

    /// Goes through the pattern atom by atom. A group knows the product of the counts within.
    fn whole(&mut self) -> Step<()> {
        let mut groups: Vec<u32> = Vec::new();
        let mut inner = 1;
        while let Some(c) = self.bump() {
            let mut weight = 1;
            match c {
                '(' => {
                    if self.open()? {
                        groups.push(inner);
                        inner = 1;
                    }
                    continue;
                }
                ')' => {
                    self.out.push(')');
                    weight = inner;
                    inner = groups.pop().ok_or("unexpected )")?;
                }
                '|' => {
                    self.out.push('|');
                    continue;
                }
                '[' => self.class()?,
                '\\' => self.escape()?,
                '*' | '+' | '?' => return Err("missing argument to repetition operator"),
                '.' | '^' | '$' => self.out.push(c),
                _ => self.literal(c),
            }
            weight = self.repetition(weight)?;
            inner = inner.max(weight);
        }
        if groups.is_empty() { Ok(()) } else { Err("missing closing )") }
    }

    /// What follows `(`. False if it only sets flags and opens no group.
    fn open(&mut self) -> Step<bool> {
        self.out.push('(');
        if !self.take("?") {
            return Ok(true);
        }
        let end = self.rest.find([')', ':', '>']).ok_or("missing closing )")?;
        let (flags, rest) = self.rest.split_at(end + 1);
        let name = flags.strip_prefix("P<").or_else(|| flags.strip_prefix('<'));
        let named = name.is_some_and(|name| {
            let name = name.strip_suffix('>').unwrap_or("");
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        });
        let letters = &flags[..flags.len() - 1];
        let plain = !flags.ends_with('>') && letters.chars().all(|c| "imsU-".contains(c));
        let plain = plain && letters.matches('-').count() <= 1 && !letters.ends_with('-');
        if !(named || plain) {
            return Err("invalid or unsupported Perl syntax");
        }
        self.out.push('?');
        self.out.push_str(flags);
        self.rest = rest;
        Ok(!flags.ends_with(')'))
    }

    /// A repetition after an atom: the product of counts that the atom has now.
    fn repetition(&mut self, weight: u32) -> Step<u32> {
        let mut weight = weight;
        let mut repeated = false;
        loop {
            let count = match self.peek() {
                Some(c @ ('*' | '+' | '?')) => {
                    self.bump();
                    Some((c.to_string(), None))
                }
                Some('{') => self.count()?,
                _ => None,
            };
            let Some((text, most)) = count else { return Ok(weight) };
            if repeated {
                return Err("invalid nested repetition operator");
            }
            repeated = true;
            self.out.push_str(&text);
            if self.take("?") {
                self.out.push('?');
            }
            if let Some(most) = most {
                weight = weight.saturating_mul(most);
                if weight > REPEAT_MAX {
                    return Err("invalid repeat count");
                }
            }
        }
    }

    /// `{n}`, `{n,}` or `{n,m}`; anything else in braces is literal.
    fn count(&mut self) -> Step<Option<(String, Option<u32>)>> {
        let Some(end) = self.rest.find('}') else { return Ok(None) };
        let body = &self.rest[1..end];
        let (least, most) = body.split_once(',').unwrap_or((body, body));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if least.is_empty() || !digits(least) || !digits(most) {
            return Ok(None);
        }
        let parse = |text: &str| text.parse::<u32>().ok().filter(|count| *count <= REPEAT_MAX);
        let least = parse(least).ok_or("invalid repeat count")?;
        let most = if most.is_empty() { None } else { Some(parse(most).ok_or("invalid repeat count")?) };
        if most.is_some_and(|most| most < least) {
            return Err("invalid repeat count");
        }
        let text = self.rest[..=end].to_owned();
        self.rest = &self.rest[end + 1..];
        Ok(Some((text, Some(most.unwrap_or(least).max(1)))))
    }

    /// What follows a backslash outside of a class.
    fn escape(&mut self) -> Step<()> {
        match self.peek() {
            Some('A') => self.emit(1, r"\A"),
            Some('z') => self.emit(1, r"\z"),
            Some('b') => self.emit(1, r"(?-u:\b)"),
            Some('B') => self.emit(1, r"(?-u:\B)"),
            Some('Q') => {
                self.bump();
                let (quoted, rest) = self.rest.split_once("\\E").unwrap_or((self.rest, ""));
                // Group the literal, so that a repetition takes the last character only.
                self.out.push_str(&regex::escape(quoted));
                self.rest = rest;
            }
            _ => {
                if !self.class_escape(false)? {
                    let c = self.character_escape()?;
                    self.literal(c);
                }
            }
        }
        Ok(())
    }

    fn emit(&mut self, skipped: usize, text: &str) {
        self.rest = &self.rest[skipped..];
        self.out.push_str(text);
    }

    /// `\d`, `\pL` and their like. False if it is none.
    fn class_escape(&mut self, within: bool) -> Step<bool> {
        let (set, negated) = match self.peek() {
            Some('d') => ("0-9", false),
            Some('D') => ("0-9", true),
            Some('w') => ("0-9A-Za-z_", false),
            Some('W') => ("0-9A-Za-z_", true),
            Some('s') => (r"\t\n\x0c\r ", false),
            Some('S') => (r"\t\n\x0c\r ", true),
            Some('p' | 'P') => {
                let negative = self.bump() == Some('P');
                let name = if self.take("{") {
                    let end = self.rest.find('}').ok_or("invalid character class range")?;
                    let name = self.rest[..end].to_owned();
                    self.rest = &self.rest[end + 1..];
                    name
                } else {
                    self.bump().ok_or("invalid character class range")?.to_string()
                };
                if !name
                    .trim_start_matches('^')
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
                {
                    return Err("invalid character class range");
                }
                let inverted = negative != name.starts_with('^');
                let letter = if inverted { 'P' } else { 'p' };
                let _ = write!(self.out, "\\{letter}{{{}}}", name.trim_start_matches('^'));
                return Ok(true);
            }
            _ => return Ok(false),
        };
        self.bump();
        let caret = if negated { "^" } else { "" };
        let plain = within && !negated;
        if plain {
            self.out.push_str(set);
        } else {
            let _ = write!(self.out, "[{caret}{set}]");
        }
        Ok(true)
    }

    /// The character that an escape stands for.
    fn character_escape(&mut self) -> Step<char> {
        const BAD: &str = "invalid escape sequence";
        let c = self.bump().ok_or("trailing backslash at end of expression")?;
        Ok(match c {
            'a' => '\u{7}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            '0'..='7' => {
                let more = self.rest.bytes().take(2).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
                if c != '0' && more == 0 {
                    return Err(BAD);
                }
                let digits = format!("{c}{}", &self.rest[..more]);
                self.rest = &self.rest[more..];
                u32::from_str_radix(&digits, 8).ok().and_then(char::from_u32).ok_or(BAD)?
            }
            'x' => {
                let digits = if self.take("{") {
                    let end = self.rest.find('}').ok_or(BAD)?;
                    let digits = &self.rest[..end];
                    self.rest = &self.rest[end + 1..];
                    digits
                } else {
                    let digits = self.rest.get(..2).ok_or(BAD)?;
                    self.rest = &self.rest[2..];
                    digits
                };
                let hex = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
                hex.then(|| u32::from_str_radix(digits, 16).ok().and_then(char::from_u32))
                    .flatten()
                    .ok_or(BAD)?
            }
            c if c.is_ascii_punctuation() || c == ' ' || c.is_ascii_control() => c,
            _ => return Err(BAD),
        })
    }

    fn class(&mut self) -> Step<()> {
        const NAMES: [&str; 14] = [
            "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
            "space", "upper", "word", "xdigit",
        ];
        self.out.push('[');
        if self.take("^") {
            self.out.push('^');
        }
        let mut first = true;
        while first || self.peek() != Some(']') {
            first = false;
            // Without an end it is no name: `[[:]` is a bracket or a colon.
            if let Some((name, rest)) = self.rest.strip_prefix("[:").and_then(|rest| rest.split_once(":]")) {
                if !NAMES.contains(&name.strip_prefix('^').unwrap_or(name)) {
                    return Err("invalid character class range");
                }
                let _ = write!(self.out, "[:{name}:]");
                self.rest = rest;
                continue;
            }
            let escaped = self.take("\\");
            if escaped && self.class_escape(true)? {
                continue;
            }
            let low = self.class_character(escaped)?;
            self.literal_in_class(low);
            let ahead = self.rest.strip_prefix('-').unwrap_or("]");
            if !ahead.is_empty() && !ahead.starts_with(']') {
                self.bump();
                let escaped = self.take("\\");
                let high = self.class_character(escaped)?;
                if high < low {
                    return Err("invalid character class range");
                }
                self.out.push('-');
                self.literal_in_class(high);
            }
        }
        self.bump();
        self.out.push(']');
        Ok(())
    }

    fn class_character(&mut self, escaped: bool) -> Step<char> {
        if escaped { self.character_escape() } else { self.bump().ok_or("missing closing ]") }
    }

    fn literal_in_class(&mut self, c: char) {
        let _ = write!(self.out, "\\x{{{:x}}}", u32::from(c));
    }
}
