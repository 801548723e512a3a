//! Reading quantities (`ParseQuantity`).

use std::cmp::Ordering;

use num_bigint::BigInt;

use super::decimal::{Decimal, PLACES_MAX, pow10};
use super::integer::Integer;
use super::{Format, Quantity, QuantityError};

/// The scale that finer numbers are rounded to.
const NANO: i32 = -9;

/// The parts of a text of the right shape.
struct Parts<'a> {
    negative: bool,
    /// The digits before the point without leading zeros; `0` if there are none left.
    integer: &'a str,
    /// The digits after the point.
    fraction: &'a str,
    /// Whether there is any digit before the suffix.
    has_digits: bool,
    suffix: &'a str,
}

impl Parts<'_> {
    /// The digits before and after the point in one.
    fn digits(&self) -> String {
        format!("{}{}", self.integer, self.fraction)
    }
}

/// What a suffix multiplies the number by.
enum Multiplier {
    PowerOfTen(i32),
    PowerOfTwo(u32),
}

pub(super) fn parse(text: &str) -> Result<Quantity, QuantityError> {
    if text.is_empty() {
        return Err(QuantityError::Format);
    }
    let parts = split(text)?;
    let (multiplier, format) = interpret(parts.suffix).ok_or(QuantityError::Suffix)?;
    match as_integer(&parts, &multiplier) {
        Some(integer) => Ok(keep_spelling(&parts, integer, format, text)),
        None if parts.has_digits => Ok(as_decimal(&parts, &multiplier, format)),
        None => Err(QuantityError::Numeric),
    }
}

/// Splits sign, digits and suffix: `[+-]?[0-9]*(\.[0-9]*)?[eEinumkKMGTP]*[+-]?[0-9]*`.
fn split(text: &str) -> Result<Parts<'_>, QuantityError> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let significant = unsigned.trim_start_matches('0');
    let (integer, rest) = significant.split_at(digits(significant));
    let (fraction, suffix) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(digits(rest)),
        None => ("", rest),
    };
    let exponent = suffix.trim_start_matches(|c| "eEinumkKMGTP".contains(c));
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    if digits(exponent) < exponent.len() {
        return Err(QuantityError::Format);
    }
    Ok(Parts {
        negative: text.starts_with('-'),
        integer: if integer.is_empty() { "0" } else { integer },
        fraction,
        has_digits: significant.len() < unsigned.len() || !integer.is_empty() || !fraction.is_empty(),
        suffix,
    })
}

/// How many bytes of decimal digits `text` starts with.
fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

fn interpret(suffix: &str) -> Option<(Multiplier, Format)> {
    use Multiplier::{PowerOfTen, PowerOfTwo};
    let known = match suffix {
        "n" => (PowerOfTen(-9), Format::DecimalSI),
        "u" => (PowerOfTen(-6), Format::DecimalSI),
        "m" => (PowerOfTen(-3), Format::DecimalSI),
        "" => (PowerOfTen(0), Format::DecimalSI),
        "k" => (PowerOfTen(3), Format::DecimalSI),
        "M" => (PowerOfTen(6), Format::DecimalSI),
        "G" => (PowerOfTen(9), Format::DecimalSI),
        "T" => (PowerOfTen(12), Format::DecimalSI),
        "P" => (PowerOfTen(15), Format::DecimalSI),
        "E" => (PowerOfTen(18), Format::DecimalSI),
        "Ki" => (PowerOfTwo(10), Format::BinarySI),
        "Mi" => (PowerOfTwo(20), Format::BinarySI),
        "Gi" => (PowerOfTwo(30), Format::BinarySI),
        "Ti" => (PowerOfTwo(40), Format::BinarySI),
        "Pi" => (PowerOfTwo(50), Format::BinarySI),
        "Ei" => (PowerOfTwo(60), Format::BinarySI),
        _ => {
            let exponent: i64 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
            #[expect(clippy::cast_possible_truncation, reason = "upstream keeps the low 32 bits")]
            let exponent = exponent as i32;
            (PowerOfTen(exponent), Format::DecimalExponent)
        }
    };
    Some(known)
}

/// The number in machine integers, if it is short enough by upstream's count of digits.
fn as_integer(parts: &Parts<'_>, multiplier: &Multiplier) -> Option<Integer> {
    let fraction = i32::try_from(parts.fraction.len()).ok()?;
    let (factor, exponent, digits_max) = match *multiplier {
        Multiplier::PowerOfTen(exponent) => (1, exponent, 18),
        // 2^10 takes three digits.
        Multiplier::PowerOfTwo(power) if fraction == 0 => {
            (1_i64 << power, 0, 14_usize.checked_sub(power as usize * 3 / 10)?)
        }
        Multiplier::PowerOfTwo(_) => return None,
    };
    if parts.integer.len() + parts.fraction.len() > digits_max {
        return None;
    }
    // The difference wraps around at the ends of the range, as upstream's does.
    let scale = exponent.wrapping_sub(fraction);
    if scale < NANO {
        return None;
    }
    let value = parts.digits().parse::<i64>().ok()?.checked_mul(factor)?;
    Some(Integer { value: if parts.negative { -value } else { value }, scale })
}

/// Upstream prints a text back as it came when digits and scale look canonical, though sign,
/// leading zeros, point and exponent may not be.
fn keep_spelling(parts: &Parts<'_>, integer: Integer, format: Format, text: &str) -> Quantity {
    let digits = parts.digits();
    let kept = match format {
        Format::BinarySI => digits.parse::<i64>().is_ok_and(|value| value % 8 != 0),
        _ => integer.scale % 3 == 0 && !digits.ends_with("000") && !digits.starts_with('0'),
    };
    let quantity = Quantity::integer(integer, format);
    if kept && quantity.to_string() != text {
        return Quantity::spelled(integer, format, text);
    }
    quantity
}

/// The number in arbitrary precision: rounded away from zero to whole nanos, and capped if its
/// suffix is binary.
fn as_decimal(parts: &Parts<'_>, multiplier: &Multiplier, format: Format) -> Quantity {
    let digits = parts.digits();
    let fraction = i64::try_from(parts.fraction.len()).unwrap_or(i64::MAX);
    let (mut decimal, mut format) = match *multiplier {
        Multiplier::PowerOfTen(exponent) => (round_to_nano(&digits, i64::from(exponent) - fraction), format),
        Multiplier::PowerOfTwo(power) => (shift_and_round_to_nano(&digits, power, fraction), format),
    };
    if format == Format::BinarySI {
        let max = Decimal { unscaled: BigInt::from(i64::MAX), scale: 0 };
        let one = Decimal { unscaled: BigInt::from(1), scale: 0 };
        if decimal.compare(&max) == Ordering::Greater {
            decimal = max;
        } else if decimal.sign() > 0 && decimal.compare(&one) == Ordering::Less {
            format = Format::DecimalSI;
        }
    }
    if parts.negative {
        decimal = decimal.neg();
    }
    Quantity::decimal(decimal, format)
}

/// `digits × 10^scale`, rounded up to whole nanos. What is finer is cut off from the text, so that
/// a huge negative exponent costs nothing.
fn round_to_nano(digits: &str, scale: i64) -> Decimal {
    let finer = i64::from(NANO) - scale;
    let zero = digits.bytes().all(|digit| digit == b'0');
    if zero || finer < -PLACES_MAX {
        return Decimal { unscaled: number(digits), scale: clamp(scale) };
    }
    if finer <= 0 {
        return Decimal { unscaled: number(digits) * pow10(-finer), scale: NANO };
    }
    let kept = digits.len().saturating_sub(usize::try_from(finer).unwrap_or(usize::MAX));
    let (kept, cut) = digits.split_at(kept);
    let up = i32::from(cut.bytes().any(|digit| digit != b'0'));
    Decimal { unscaled: number(kept) + up, scale: NANO }
}

/// `digits × 2^power × 10^-fraction`, rounded up to whole nanos.
fn shift_and_round_to_nano(digits: &str, power: u32, fraction: i64) -> Decimal {
    let shifted = number(digits) << power;
    if shifted == BigInt::ZERO {
        return Decimal { unscaled: shifted, scale: clamp(-fraction) };
    }
    let finer = i64::from(NANO) + fraction;
    if finer <= 0 {
        return Decimal { unscaled: shifted * pow10(-finer), scale: NANO };
    }
    let divisor = pow10(finer);
    let rounded = (shifted + (&divisor - 1)) / divisor;
    Decimal { unscaled: rounded, scale: NANO }
}

/// The number that a text of digits writes. Long texts are read by halves, in less than quadratic
/// time.
fn number(digits: &str) -> BigInt {
    const DIRECT: usize = 2000;
    if digits.len() <= DIRECT {
        return BigInt::parse_bytes(digits.as_bytes(), 10).unwrap_or_default();
    }
    let (high, low) = digits.split_at(digits.len() / 2);
    number(high) * pow10(i64::try_from(low.len()).unwrap_or(i64::MAX)) + number(low)
}

fn clamp(scale: i64) -> i32 {
    i32::try_from(scale).unwrap_or(if scale < 0 { i32::MIN } else { i32::MAX })
}

impl std::str::FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        parse(text)
    }
}
