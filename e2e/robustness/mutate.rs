//! Small changes of bytes, drawn at random.

use super::chance::Chance;

/// A seed with some changes: bytes, words and lines go, come, or change their place.
pub fn mutate(chance: &mut Chance, seeds: &[Vec<u8>], words: &[String]) -> Vec<u8> {
    let mut bytes = chance.pick(seeds).clone();
    for _ in 0..chance.between(1, (bytes.len() / 20).clamp(1, 6)) {
        if bytes.is_empty() {
            return bytes;
        }
        let (from, to) = range(chance, &bytes);
        match chance.below(7) {
            0 => bytes[from] = *chance.pick(b"\0\t\n\r\"'#&*-,:<>[]{}()|0\x7f\x80\xff"),
            1 => bytes[from] ^= 1 << chance.below(8),
            2 => drop(bytes.drain(from..to)),
            3 => {
                let copy = bytes[from..to].to_vec();
                let at = chance.below(bytes.len());
                drop(bytes.splice(at..at, copy));
            }
            4 if !words.is_empty() => drop(bytes.splice(from..to, chance.pick(words).bytes())),
            5 => {
                let other = chance.pick(seeds);
                let (first, last) = range(chance, other);
                drop(bytes.splice(from..to, other[first..last].iter().copied()));
            }
            _ => {
                let number =
                    *chance.pick(&["0", "-1", "1", "2147483648", "-9223372036854775808", "1e400", "null"]);
                drop(bytes.splice(from..to, number.bytes()));
            }
        }
    }
    bytes.truncate(1 << 14);
    bytes
}

/// A word, a line or any other piece, never empty where there are bytes.
fn range(chance: &mut Chance, bytes: &[u8]) -> (usize, usize) {
    if bytes.is_empty() {
        return (0, 0);
    }
    let at = chance.below(bytes.len());
    let is_edge: fn(&u8) -> bool = match chance.below(3) {
        0 => |byte| *byte == b'\n',
        1 => |byte| !byte.is_ascii_alphanumeric(),
        _ => return (at, (at + chance.between(1, 40)).min(bytes.len())),
    };
    let from = bytes[..at].iter().rposition(is_edge).map_or(0, |edge| edge + 1);
    let to =
        bytes[at..].iter().position(is_edge).map_or(bytes.len(), |edge| (at + edge + 1).min(bytes.len()));
    (from, to.max(from + 1).min(bytes.len()))
}
