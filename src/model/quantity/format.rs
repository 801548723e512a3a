//! Writing quantities in canonical form (`String()`).

use std::fmt;

use num_bigint::BigInt;

use super::{Amount, Form, Format, Quantity};

impl fmt::Display for Quantity {
    /// The canonical form: the largest suffix without a fraction; `1500m`, `1536Mi`.
    ///
    /// As upstream, a text that was parsed with canonical digits is given back as it came, a
    /// number without a suffix that is large enough loses it (`1000E` prints as `1`), and a binary
    /// quantity below 1024 or with a fraction is written as a decimal one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Form::Spelled(spelled) = &self.0 {
            return f.pad(&spelled.text);
        }
        if self.is_zero() {
            return f.pad("0");
        }
        match self.format() {
            Format::BinarySI => match self.whole().filter(|whole| whole.bits() > 10) {
                Some(whole) => f.pad(&binary(whole)),
                None => f.pad(&self.decimal_text(Format::DecimalSI)),
            },
            format => f.pad(&self.decimal_text(format)),
        }
    }
}

impl Quantity {
    fn whole(&self) -> Option<BigInt> {
        self.to_decimal().whole()
    }

    fn decimal_text(&self, format: Format) -> String {
        let (digits, scale) = match self.amount() {
            Amount::Integer(integer) => (integer.value.to_string(), integer.scale),
            Amount::Decimal(decimal) => (decimal.unscaled.to_string(), decimal.scale),
        };
        let significant = digits.trim_end_matches('0');
        let stripped = i64::try_from(digits.len() - significant.len()).unwrap_or(i64::MAX);
        let exponent = i64::from(scale).saturating_add(stripped);
        let (zeros, exponent) = match exponent.rem_euclid(3) {
            1 => ("0", exponent - 1),
            2 => ("00", exponent - 2),
            _ => ("", exponent),
        };
        match format {
            Format::DecimalExponent if exponent != 0 => format!("{significant}{zeros}e{exponent}"),
            Format::DecimalExponent => format!("{significant}{zeros}"),
            _ => format!("{significant}{zeros}{}", decimal_suffix(exponent)),
        }
    }
}

fn decimal_suffix(exponent: i64) -> &'static str {
    match exponent {
        -9 => "n",
        -6 => "u",
        -3 => "m",
        3 => "k",
        6 => "M",
        9 => "G",
        12 => "T",
        15 => "P",
        18 => "E",
        _ => "",
    }
}

/// A whole number as a multiple of the largest power of 1024.
fn binary(whole: BigInt) -> String {
    let times = whole.trailing_zeros().unwrap_or(0) / 10;
    let suffix = match times {
        1 => "Ki",
        2 => "Mi",
        3 => "Gi",
        4 => "Ti",
        5 => "Pi",
        6 => "Ei",
        _ => "",
    };
    format!("{}{suffix}", whole >> (times * 10))
}
