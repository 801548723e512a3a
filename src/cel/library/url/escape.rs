//! Which characters each part of a URL may hold as they are.

use std::fmt::Write as _;

use crate::cel::library::strings::go_quoted;

/// A part of a URL.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    User,
    Host,
    /// The zone of an IPv6 address.
    Zone,
    Path,
    Query,
    Fragment,
}

/// Whether a character needs no escape.
fn is_plain(byte: u8, part: Part) -> bool {
    let others: &[u8] = match part {
        Part::User => b"$&+,;=",
        Part::Host | Part::Zone => b"!\"$&'()*+,:;<=>[]",
        Part::Path => b"$&+,/:;=@",
        Part::Query => b"",
        Part::Fragment => b"!$&()*+,/:;=?@",
    };
    byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) || others.contains(&byte)
}

/// Escapes whatever needs it.
pub(super) fn escape(bytes: &[u8], part: Part) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len()), |mut text, byte| {
        if is_plain(*byte, part) {
            text.push(char::from(*byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(text, "%{byte:02X}");
        }
        text
    })
}

/// Whether a text can be the escaped form of a part.
pub(super) fn is_valid(text: &str, part: Part) -> bool {
    text.bytes().all(|byte| b"!$&'()*+,;=:@[]%".contains(&byte) || is_plain(byte, part))
}

/// Takes escapes back.
///
/// # Errors
/// Go's words for an escape or character that cannot stand there.
pub(super) fn unescape(text: &str, part: Part) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        if first != b'%' {
            if matches!(part, Part::Host | Part::Zone) && first.is_ascii() && !is_plain(first, part) {
                let name = go_quoted(&char::from(first).to_string());
                return Err(format!("invalid character {name} in host name"));
            }
            bytes.push(if first == b'+' && part == Part::Query { b' ' } else { first });
            rest = after;
            continue;
        }
        let refused = || {
            // At most three characters, which may end within one of UTF-8.
            let escape = String::from_utf8_lossy(&rest[..rest.len().min(3)]);
            Err(format!("invalid URL escape {}", go_quoted(&escape)))
        };
        let digit = |at: usize| after.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        let (Some(high), Some(low)) = (digit(0), digit(1)) else { return refused() };
        let byte = u8::try_from(high * 16 + low).unwrap_or(0);
        let zone = byte == b'%' || byte == b' ' || is_plain(byte, Part::Host);
        if part == Part::Host && high < 8 && byte != b'%' || part == Part::Zone && !zone {
            return refused();
        }
        bytes.push(byte);
        rest = &after[2..];
    }
    Ok(bytes)
}
