//! Kubernetes quantities.

use std::cmp::Ordering;
use std::fmt;

/// An exact number with the suffix family it was written in (`resource.Quantity`).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Quantity {
    nano: i128,
}

impl Quantity {
    /// The integer part, rounded away from zero where there is a fraction (Go's `Value()`).
    pub fn value(&self) -> i64 {
        i64::try_from(self.nano.div_euclid(1_000_000_000)).unwrap_or(i64::MAX)
    }

    /// The value in thousandths, rounded up (Go's `MilliValue()`).
    pub fn milli_value(&self) -> i64 {
        i64::try_from(self.nano.div_euclid(1_000_000)).unwrap_or(i64::MAX)
    }

    /// Zero.
    pub fn zero() -> Self {
        Self::default()
    }

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        self.nano == 0
    }

    /// Whether it is below zero.
    pub fn is_negative(&self) -> bool {
        self.nano < 0
    }

    /// The exact sum, in the format of `self`.
    pub fn add(&self, other: &Self) -> Self {
        Self { nano: self.nano.saturating_add(other.nano) }
    }

    /// The exact difference, in the format of `self`.
    pub fn sub(&self, other: &Self) -> Self {
        Self { nano: self.nano.saturating_sub(other.nano) }
    }

    /// Numeric comparison, whatever the suffixes.
    pub fn compare(&self, other: &Self) -> Ordering {
        self.nano.cmp(&other.nano)
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}n", self.nano)
    }
}

/// The text is no quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseQuantityError;

impl std::str::FromStr for Quantity {
    type Err = ParseQuantityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text).ok_or(ParseQuantityError)
    }
}

fn parse(text: &str) -> Option<Quantity> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = digits.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(digits.len());
    let (number, suffix) = digits.split_at(end);
    let scale: i128 = match suffix {
        "n" => 1,
        "u" => 1_000,
        "m" => 1_000_000,
        "" => 1_000_000_000,
        _ => {
            let binary = suffix.strip_suffix('i');
            let (letter, base) = binary.map_or((suffix, 1000i128), |letter| (letter, 1024));
            let power = ["k", "M", "G", "T", "P", "E"].iter().position(|l| {
                *l == letter && !(*l == "k" && binary.is_some())
                    || *l == "k" && letter == "K" && binary.is_some()
            });
            match power {
                Some(power) => 1_000_000_000 * base.pow(u32::try_from(power).ok()? + 1),
                None => {
                    let exponent: i32 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
                    10i128.checked_pow(u32::try_from(exponent + 9).ok()?)?
                }
            }
        }
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return None;
    }
    let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let mut nano = whole.checked_mul(scale)?;
    let mut part = scale;
    for digit in fraction.chars() {
        let value = i128::from(digit.to_digit(10)?);
        nano += value * part / 10;
        part /= 10;
    }
    Some(Quantity { nano: if negative { -nano } else { nano } })
}
