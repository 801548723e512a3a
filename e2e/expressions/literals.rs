//! Words and literals of expressions: common ones, odd ones and malformed ones.

use crate::chance::Chance;
use crate::numbers;
use crate::texts::{
    CIDRS, DURATIONS, FORMATS, IPS, NAMES, REGEXES, SPELLINGS, TEXTS, TIMESTAMPS, URLS, VERBS,
};

/// Domains that devices have attributes in, and one that they have not.
pub const DOMAINS: &[&str] = &["gpu.example.com", "gpu.example.com", "net.example.com", "nope"];
/// Names of attributes and capacities, and two that no device has.
pub const IDS: &[&str] = &[
    "model",
    "count",
    "ecc",
    "version",
    "ints",
    "strings",
    "bools",
    "versions",
    "memory",
    "bandwidth",
    "other",
    "missing",
    "size",
];

/// A word by its name in `grammar.txt`.
pub fn draw(chance: &mut Chance, word: &str) -> String {
    let quoted = |text: &str| format!("\"{text}\"");
    match word {
        "int" => int(chance),
        "uint" => chance.pick(&["0u", "1u", "2u", "3U", "10u", "0x1Fu", "18446744073709551615u"]).to_string(),
        "double" => double(chance),
        "string" => string(chance),
        "bytes" => chance
            .pick(&[
                "b\"\"",
                "b\"abc\"",
                "b'\\xff\\x00'",
                "b\"\\303\\277\"",
                "b\"ÿ\"",
                "br\"\\n\"",
                "B'''a\nb'''",
            ])
            .to_string(),
        "duration" => literal(chance, DURATIONS),
        "timestamp" => literal(chance, TIMESTAMPS),
        "quantity" => quoted(&numbers::quantity(chance)),
        "semver" | "version" => quoted(&numbers::version(chance)),
        "ip" => literal(chance, IPS),
        "cidr" => literal(chance, CIDRS),
        "url" => literal(chance, URLS),
        "type" => chance
            .pick(&["int", "uint", "double", "bool", "string", "bytes", "list", "map", "null_type", "type"])
            .to_string(),
        "attribute" => format!("device.attributes[\"{}\"].{}", one(chance, DOMAINS), one(chance, IDS)),
        "integer-text" => literal(
            chance,
            &["", "0", "-1", "+5", "07", "0x1f", "9223372036854775808", "1.5", "a", " 1", "1_0"],
        ),
        "number-text" => literal(
            chance,
            &["", "1.5", "-0", "1e400", "nan", "Inf", "-infinity", "0x1p-2", "1_0.5", ".5", "5.", "x"],
        ),
        "bool-text" => {
            literal(chance, &["true", "TRUE", "True", "t", "1", "false", "F", "0", "yes", "tRUE", ""])
        }
        "field" => chance.pick(&["a", "b", "model", "driver", "key", "in_list", "A", "gpu"]).to_string(),
        "domain" => quoted(one(chance, DOMAINS)),
        "id" => chance.pick(IDS).to_string(),
        "id-text" => quoted(one(chance, IDS)),
        "regex" => literal(chance, REGEXES),
        "separator" => literal(chance, &["", " ", ",", ".", "a", "ab", "é"]),
        "format" => format(chance),
        "zone" => literal(
            chance,
            &[
                "UTC",
                "America/New_York",
                "+01:30",
                "-08:00",
                "02:00",
                "Local",
                "",
                "Nowhere/Land",
                "+25:00",
                "-1:5",
            ],
        ),
        "format-name" => {
            literal(chance, &["dns1123Label", "uri", "uuid", "byte", "date", "datetime", "nope", ""])
        }
        "format-name-word" => chance.pick(FORMATS).to_string(),
        "name" => literal(chance, NAMES),
        "many" => chance.pick(&["50", "100", "300", "700", "1000", "1500"]).to_string(),
        "some" => chance.pick(&["0", "5", "20", "60", "120"]).to_string(),
        "letter" => literal(chance, &["a", "c", "0", ""]),
        "filler" => quoted(&"fedcba987".repeat(chance.between(1, 30))),
        other => panic!("grammar.txt names {other}, which is no word"),
    }
}

/// A name for a variable; seldom one that means something else already.
pub fn variable(chance: &mut Chance, name: char) -> String {
    match chance.below(40) {
        0 => chance.pick(&["device", "x", "size", "cel", "_a", "in", "optional"]).to_string(),
        1..=8 => format!("{name}{}", chance.below(3)),
        _ => name.to_string(),
    }
}

/// One of these texts.
pub fn one(chance: &mut Chance, texts: &[&'static str]) -> &'static str {
    texts[chance.below(texts.len())]
}

/// A text in one of the spellings of string literals.
fn literal(chance: &mut Chance, texts: &[&str]) -> String {
    let text = *chance.pick(texts);
    match chance.below(8) {
        0 if !text.contains(['\'', '\n', '\\']) => format!("'{text}'"),
        1 if !text.contains(['"', '\n']) => format!("r\"{text}\""),
        2 if !text.contains('\\') => format!("\"\"\"{text}\"\"\""),
        _ => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")),
    }
}

fn int(chance: &mut Chance) -> String {
    match chance.below(20) {
        0 => chance
            .pick(&[
                "9223372036854775807",
                "-9223372036854775808",
                "9223372036854775808",
                "0x7fffffffffffffff",
            ])
            .to_string(),
        1 => chance
            .pick(&["-0", "0x0A", "-0x1", "1000000", "-1000000000000", "1700000000", "4294967296"])
            .to_string(),
        2..=5 => format!("-{}", chance.between(1, 9)),
        _ => chance.below(8).to_string(),
    }
}

fn double(chance: &mut Chance) -> String {
    let fixed =
        ["0.0", "-0.0", "1e308", "1e309", "5e-324", "1.5e-7", ".25", "1.7976931348623157e308", "0.1", "3.0"];
    match chance.below(3) {
        0 => chance.pick(&fixed).to_string(),
        1 => format!("{}.{}e{}", chance.below(10), chance.below(1000), chance.below(25)),
        _ => format!("{}.{}", chance.below(100), chance.below(100)),
    }
}

fn string(chance: &mut Chance) -> String {
    if chance.percent(10) {
        return chance.pick(SPELLINGS).to_string();
    }
    literal(chance, TEXTS)
}

/// A format string: verbs that are right for few arguments, and wrong ones.
fn format(chance: &mut Chance) -> String {
    let mut text = String::new();
    for _ in 0..chance.between(1, 3) {
        text.push_str(one(chance, &["", "a ", "é", "%%", "-"]));
        text.push_str(one(chance, VERBS));
    }
    format!("\"{text}\"")
}
