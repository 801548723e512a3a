//! Quantities and versions of every form.

use serde_json::{Value, json};
use stowplan::cel::semver;
use stowplan::model::Quantity;
use stowplan::model::quantity::Format;

use crate::chance::Chance;

/// A text that is a quantity, or nearly.
pub fn quantity(chance: &mut Chance) -> String {
    let mut text = chance.pick(&["", "", "", "", "", "-", "+"]).to_string();
    text.push_str(&digits(chance));
    if chance.percent(25) {
        text.push('.');
        if chance.percent(90) {
            text.push_str(&digits(chance));
        }
    }
    text.push_str(&suffix(chance));
    if chance.percent(3) { garble(chance, &text) } else { text }
}

fn digits(chance: &mut Chance) -> String {
    match chance.below(20) {
        0 => String::new(),
        1 => "0".repeat(chance.between(1, 4)),
        2 => format!("{}{}", "0".repeat(chance.between(1, 3)), chance.below(1000)),
        3 => format!("{}{}", chance.between(1, 99), "0".repeat(chance.between(1, 20))),
        4 => chance
            .pick(&[
                "9223372036854775807",
                "9223372036854775808",
                "999999999999999999",
                "1000000000000000000",
                "18446744073709551616",
            ])
            .to_string(),
        5 => (0..chance.between(15, 40)).map(|_| char::from(b'0' + low(chance))).collect(),
        6..=9 => (1_u64 << chance.below(63)).to_string(),
        10..=13 => chance.below(10).to_string(),
        _ => chance.below(100_000).to_string(),
    }
}

/// A decimal digit.
fn low(chance: &mut Chance) -> u8 {
    u8::try_from(chance.below(10)).unwrap_or(0)
}

fn suffix(chance: &mut Chance) -> String {
    match chance.below(12) {
        0..=3 => String::new(),
        4..=6 => chance.pick(&["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]).to_string(),
        7..=9 => chance.pick(&["n", "u", "m", "k", "M", "G", "T", "P", "E"]).to_string(),
        10 => {
            let sign = *chance.pick(&["", "", "-", "+"]);
            let digits = match chance.below(6) {
                0 => String::new(),
                1 => chance.pick(&["00", "007", "18", "19", "27", "300", "4000", "-3"]).to_string(),
                _ => chance.below(25).to_string(),
            };
            format!("{}{sign}{digits}", chance.pick(&["e", "E"]))
        }
        _ => chance
            .pick(&["K", "ki", "mm", "Zi", "i", "g", "e3.5", "eE3", "Ei3", "m-", " ", "µ", "e1e1"])
            .to_string(),
    }
}

/// A text that is a semantic version, or nearly.
pub fn version(chance: &mut Chance) -> String {
    let number = |chance: &mut Chance| match chance.below(40) {
        0 => "00".to_owned(),
        1 => format!("0{}", chance.below(12)),
        2 => chance.pick(&["18446744073709551615", "18446744073709551616", "", "a", "-1", "v1"]).to_string(),
        _ => chance.below(12).to_string(),
    };
    let count = *chance.pick(&[3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 2, 1, 4]);
    let numbers: Vec<_> = (0..count).map(|_| number(chance)).collect();
    let mut text = format!("{}{}", chance.pick(&["", "", "", "", "", "", "", "", "v"]), numbers.join("."));
    let identifiers = |chance: &mut Chance| {
        let odd = chance.percent(15);
        let known: &[&str] = if odd {
            &["01", "", "x_y", "é"]
        } else {
            &["alpha", "rc", "1", "2", "11", "0", "a-b", "-", "1a", "A"]
        };
        let count = chance.between(1, 3);
        (0..count).map(|_| *chance.pick(known)).collect::<Vec<_>>().join(".")
    };
    if chance.percent(30) {
        text = format!("{text}-{}", identifiers(chance));
    }
    if chance.percent(20) {
        text = format!("{text}+{}", identifiers(chance));
    }
    if chance.percent(3) { garble(chance, &text) } else { text }
}

/// The text with one character more, less or changed: nothing that JSON or CEL would escape, and no
/// exponent out of the digits of a number, which upstream would write out.
fn garble(chance: &mut Chance, text: &str) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    let at = chance.below(characters.len());
    let odd = *chance.pick(&['.', '-', '+', 'k', ' ', '_', '0', 'i', '٣']);
    match chance.below(3) {
        0 if !characters.is_empty() => drop(characters.remove(at)),
        1 if !characters.is_empty() => characters[at] = odd,
        _ => characters.insert(at, odd),
    }
    characters.into_iter().collect()
}

/// What this project says of two quantities, as the oracle says it.
pub fn about_quantities(a: &str, b: &str) -> Value {
    let a = match Quantity::parse(a) {
        Ok(a) => a,
        Err(error) => return json!({"error": error.to_string()}),
    };
    match Quantity::parse(b) {
        Ok(b) => json!({"a": view(&a), "compare": a.compare(&b) as i8,
            "sum": view(&a.add(&b)), "difference": view(&a.sub(&b))}),
        Err(_) => json!({"a": view(&a)}),
    }
}

fn view(number: &Quantity) -> Value {
    let format = match number.format() {
        Format::DecimalSI => "DecimalSI",
        Format::BinarySI => "BinarySI",
        Format::DecimalExponent => "DecimalExponent",
    };
    let scaled: Vec<_> = [-9, -6, -3, 0, 3, 6, 9].iter().map(|scale| number.scaled_value(*scale)).collect();
    json!({"canonical": number.to_string(), "format": format, "sign": number.sign(), "scaled": scaled,
        "integer": number.as_i64(), "float": number.as_approximate_f64().to_bits(),
        "negative": number.neg().to_string()})
}

/// What this project says of two versions, as the oracle says it.
pub fn about_versions(a: &str, b: &str) -> Value {
    match (semver::parse(a), semver::parse(b)) {
        (Err(error), _) => json!({"error": error}),
        (Ok(a), Err(_)) => json!({"numbers": [a.major, a.minor, a.patch]}),
        (Ok(a), Ok(b)) => json!({"numbers": [a.major, a.minor, a.patch], "compare": a.compare(&b) as i8}),
    }
}
