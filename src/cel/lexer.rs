//! Cuts an expression into tokens, by the grammar of cel-spec (`doc/langdef.md`, as in cel-go's
//! `parser/gen/CEL.g4`).

/// What a token is. Texts are taken from the source by the token's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Ident,
    /// An identifier in back quotes.
    Quoted,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    True,
    False,
    Null,
    /// An operator or bracket.
    Symbol(&'static str),
    /// A character that begins no token.
    Unknown,
    End,
}

/// A token and its place in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Longest first, so that the first that fits is the longest.
const SYMBOLS: [&str; 25] = [
    "==", "!=", "<=", ">=", "&&", "||", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":", "+", "*",
    "/", "%", "<", ">", "=",
];

/// The tokens of a source text, one after another.
pub(super) struct Lexer<'s> {
    source: &'s str,
    at: usize,
}

impl<'s> Lexer<'s> {
    pub(super) fn new(source: &'s str) -> Self {
        Self { source, at: 0 }
    }

    fn rest(&self) -> &'s [u8] {
        &self.source.as_bytes()[self.at..]
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.rest().get(ahead).copied().unwrap_or(0)
    }

    fn skip_while(&mut self, accept: impl Fn(u8) -> bool) {
        let skipped = self.rest().iter().take_while(|byte| accept(**byte)).count();
        self.at += skipped;
    }

    /// The next token; `End` for ever once the source is used up.
    pub(super) fn next(&mut self) -> Token {
        loop {
            self.skip_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x0c));
            if !self.rest().starts_with(b"//") {
                break;
            }
            self.skip_while(|byte| byte != b'\n');
        }
        let start = self.at;
        let kind = self.kind();
        Token { kind, start, end: self.at }
    }

    fn kind(&mut self) -> Kind {
        match self.byte(0) {
            _ if self.rest().is_empty() => Kind::End,
            b'0'..=b'9' => self.number(),
            b'.' if self.byte(1).is_ascii_digit() => self.number(),
            b'"' | b'\'' => self.string(0),
            b'`' => self.quoted(),
            byte if byte.is_ascii_alphabetic() || byte == b'_' => self.word(),
            _ => self.symbol(),
        }
    }

    fn symbol(&mut self) -> Kind {
        match SYMBOLS.iter().find(|symbol| self.rest().starts_with(symbol.as_bytes())) {
            Some(symbol) if *symbol != "=" => {
                self.at += symbol.len();
                Kind::Symbol(symbol)
            }
            _ => self.unknown(),
        }
    }

    fn unknown(&mut self) -> Kind {
        self.at += self.source[self.at..].chars().next().map_or(0, char::len_utf8);
        Kind::Unknown
    }

    fn number(&mut self) -> Kind {
        if self.byte(0) == b'0' && self.byte(1) == b'x' && self.byte(2).is_ascii_hexdigit() {
            self.at += 2;
            self.skip_while(|byte| byte.is_ascii_hexdigit());
            return self.integral();
        }
        self.skip_while(|byte| byte.is_ascii_digit());
        let mut double = false;
        if self.byte(0) == b'.' && self.byte(1).is_ascii_digit() {
            double = true;
            self.at += 1;
            self.skip_while(|byte| byte.is_ascii_digit());
        }
        let sign = usize::from(matches!(self.byte(1), b'+' | b'-'));
        if matches!(self.byte(0), b'e' | b'E') && self.byte(1 + sign).is_ascii_digit() {
            double = true;
            self.at += 1 + sign;
            self.skip_while(|byte| byte.is_ascii_digit());
        }
        if double { Kind::Double } else { self.integral() }
    }

    fn integral(&mut self) -> Kind {
        if matches!(self.byte(0), b'u' | b'U') {
            self.at += 1;
            return Kind::Uint;
        }
        Kind::Int
    }

    fn word(&mut self) -> Kind {
        let prefix =
            self.rest().iter().take(2).take_while(|byte| matches!(byte, b'r' | b'R' | b'b' | b'B')).count();
        let letters = &self.rest()[..prefix];
        let twice = prefix == 2 && letters[0].eq_ignore_ascii_case(&letters[1]);
        if prefix > 0 && !twice && matches!(self.byte(prefix), b'"' | b'\'') {
            return self.string(prefix);
        }
        let start = self.at;
        self.skip_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        match &self.source[start..self.at] {
            "true" => Kind::True,
            "false" => Kind::False,
            "null" => Kind::Null,
            "in" => Kind::Symbol("in"),
            _ => Kind::Ident,
        }
    }

    fn quoted(&mut self) -> Kind {
        let start = self.at;
        self.at += 1;
        self.skip_while(|byte| byte.is_ascii_alphanumeric() || b"_.-/ ".contains(&byte));
        if self.byte(0) == b'`' && self.at > start + 1 {
            self.at += 1;
            return Kind::Quoted;
        }
        self.at = start;
        self.unknown()
    }

    /// A string or bytes literal of which `prefix` letters precede the quote.
    fn string(&mut self, prefix: usize) -> Kind {
        let start = self.at;
        let letters = &self.rest()[..prefix];
        let raw = letters.iter().any(|letter| matches!(letter, b'r' | b'R'));
        let bytes = letters.iter().any(|letter| matches!(letter, b'b' | b'B'));
        self.at += prefix;
        let quote = [self.byte(0); 3];
        let triple = self.rest().starts_with(&quote);
        let quote = if triple { &quote[..] } else { &quote[..1] };
        self.at += quote.len();
        loop {
            if self.rest().starts_with(quote) {
                self.at += quote.len();
                return if bytes { Kind::Bytes } else { Kind::String };
            }
            match self.byte(0) {
                b'\n' | b'\r' if !triple => break,
                b'\\' if !raw => match escape_length(&self.rest()[1..]) {
                    Some(length) => self.at += 1 + length,
                    None => break,
                },
                _ if self.rest().is_empty() => break,
                _ => self.at += 1,
            }
        }
        self.at = start;
        self.unknown()
    }
}

/// How many bytes after a backslash belong to the escape.
fn escape_length(rest: &[u8]) -> Option<usize> {
    let hex = |digits: usize| {
        (rest.len() > digits && rest[1..=digits].iter().all(u8::is_ascii_hexdigit)).then_some(1 + digits)
    };
    match rest.first()? {
        b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v' | b'"' | b'\'' | b'\\' | b'?' | b'`' => Some(1),
        b'x' | b'X' => hex(2),
        b'u' => hex(4),
        b'U' => hex(8),
        b'0'..=b'3' => {
            (rest.len() > 2 && rest[1..3].iter().all(|digit| (b'0'..=b'7').contains(digit))).then_some(3)
        }
        _ => None,
    }
}

/// The text of a string literal, or the bytes of a bytes literal, given with its quotes.
///
/// `None` if an escape names no character, or bytes are asked for one by number.
pub(super) fn unescape(literal: &str, bytes: bool) -> Option<Vec<u8>> {
    let quote = literal.find(['"', '\''])?;
    let raw = literal[..quote].contains(['r', 'R']);
    let body = &literal[quote..];
    let width = if body.len() >= 6 && body.as_bytes()[..3] == [body.as_bytes()[0]; 3] { 3 } else { 1 };
    let body = body.get(width..body.len() - width)?.replace("\r\n", "\n").replace('\r', "\n");
    let mut out = Vec::with_capacity(body.len());
    let mut rest = body.as_str();
    while let Some(at) = rest.find('\\').filter(|_| !raw) {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        rest = &rest[at + 1..];
        let length = escape_length(rest.as_bytes())?;
        push_escape(&mut out, &rest[..length], bytes)?;
        rest = &rest[length..];
    }
    out.extend_from_slice(rest.as_bytes());
    Some(out)
}

fn push_escape(out: &mut Vec<u8>, escape: &str, bytes: bool) -> Option<()> {
    let simple = match escape.as_bytes()[0] {
        b'a' => 0x07,
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 0x0b,
        b'x' | b'X' | b'u' | b'U' | b'0'..=b'3' => 0,
        other => other,
    };
    if simple != 0 {
        out.push(simple);
        return Some(());
    }
    let octal = escape.as_bytes()[0].is_ascii_digit();
    let value = if octal { u32::from_str_radix(escape, 8) } else { u32::from_str_radix(&escape[1..], 16) };
    let value = value.ok()?;
    if bytes {
        if escape.starts_with(['u', 'U']) {
            return None;
        }
        out.push(u8::try_from(value).ok()?);
    } else {
        out.extend_from_slice(char::from_u32(value)?.encode_utf8(&mut [0; 4]).as_bytes());
    }
    Some(())
}
