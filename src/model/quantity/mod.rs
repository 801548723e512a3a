//! Kubernetes quantities (`k8s.io/apimachinery/pkg/api/resource`, v0.37), exact to the last digit.
//!
//! A quantity is a decimal number and the family of suffixes it is written with. Like upstream's it
//! has two forms: machine integers `value × 10^scale`, and arbitrary precision for what does not
//! fit them. Which form a number has is visible from outside ([`Quantity::as_i64`],
//! [`Quantity::as_approximate_f64`]), so the rules for the choice are upstream's.
//!
//! Where upstream would spend memory and time in proportion to a written exponent (`1e999999999`
//! plus one), this type answers at once: see [`Quantity::add`].

mod decimal;
mod format;
mod integer;
mod parse;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use decimal::Decimal;
use integer::Integer;

/// The family of suffixes that a quantity is written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Format {
    /// Powers of ten by letter: `n u m k M G T P E`, or no suffix.
    #[default]
    DecimalSI,
    /// Powers of 1024: `Ki Mi Gi Ti Pi Ei`.
    BinarySI,
    /// Powers of ten by number: `12e6`.
    DecimalExponent,
}

/// Why a text is not a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QuantityError {
    /// The text is empty, or does not have the shape sign, digits, suffix.
    Format,
    /// There is no digit before a suffix that needs one.
    Numeric,
    /// The suffix is none of those known, or its exponent is no 64-bit integer.
    Suffix,
}

impl fmt::Display for QuantityError {
    /// Upstream's literal texts.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Format => {
                "quantities must match the regular expression \
                 '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
            }
            Self::Numeric => "unable to parse numeric part of quantity",
            Self::Suffix => "unable to parse quantity's suffix",
        })
    }
}

impl std::error::Error for QuantityError {}

/// An exact number with the suffix family it was written in (`resource.Quantity`).
///
/// Equality and hashing are structural: equal quantities are the same number in the same format and
/// form, and no operation tells them apart, so that a cache may be keyed by them. `1`, `1000m` and
/// `1e0` are unequal. Numbers are compared with [`Quantity::compare`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Quantity(Form);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Form {
    /// The common case, 16 bytes in all.
    Integer { value: i64, scale: i32, format: Format },
    /// As above, parsed from a text that is printed back as it came though it is not canonical
    /// (`+5`, `1.500`).
    Spelled(Box<Spelled>),
    /// What machine integers cannot hold, and what parsing and sums leave in this form.
    Decimal(Box<(Decimal, Format)>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Spelled {
    integer: Integer,
    format: Format,
    text: Box<str>,
}

/// The number alone, in the form it has.
enum Amount<'a> {
    Integer(Integer),
    Decimal(&'a Decimal),
}

impl Default for Quantity {
    fn default() -> Self {
        Self::zero()
    }
}

impl Quantity {
    /// Reads a quantity; accepts and refuses what upstream's `ParseQuantity` does.
    ///
    /// Numbers finer than `1n` are rounded away from zero to a multiple of it, and those with a
    /// binary suffix are capped at the ends of the 64-bit range when they come that way.
    ///
    /// # Errors
    /// When the text is not a quantity.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        parse::parse(text)
    }

    /// A whole number.
    pub fn from_i64(value: i64, format: Format) -> Self {
        Self::integer(Integer { value, scale: 0 }, format)
    }

    /// So many thousandths.
    pub fn from_milli(value: i64, format: Format) -> Self {
        Self::integer(Integer { value, scale: -3 }, format)
    }

    /// Zero.
    pub fn zero() -> Self {
        Self::from_i64(0, Format::DecimalSI)
    }

    fn integer(integer: Integer, format: Format) -> Self {
        Self(Form::Integer { value: integer.value, scale: integer.scale, format })
    }

    fn decimal(decimal: Decimal, format: Format) -> Self {
        Self(Form::Decimal(Box::new((decimal, format))))
    }

    fn spelled(integer: Integer, format: Format, text: &str) -> Self {
        Self(Form::Spelled(Box::new(Spelled { integer, format, text: text.into() })))
    }

    fn amount(&self) -> Amount<'_> {
        match &self.0 {
            Form::Integer { value, scale, .. } => Amount::Integer(Integer { value: *value, scale: *scale }),
            Form::Spelled(spelled) => Amount::Integer(spelled.integer),
            Form::Decimal(decimal) => Amount::Decimal(&decimal.0),
        }
    }

    fn to_decimal(&self) -> Cow<'_, Decimal> {
        match self.amount() {
            Amount::Integer(integer) => Cow::Owned(Decimal::from(integer)),
            Amount::Decimal(decimal) => Cow::Borrowed(decimal),
        }
    }

    /// The family of suffixes that it is written with.
    pub fn format(&self) -> Format {
        match &self.0 {
            Form::Integer { format, .. } => *format,
            Form::Spelled(spelled) => spelled.format,
            Form::Decimal(decimal) => decimal.1,
        }
    }

    /// The integer part, rounded away from zero where there is a fraction (`Value()`).
    ///
    /// Like upstream's it does not report numbers beyond 64 bits: they read as 0 or wrap around,
    /// by their form. [`Quantity::exact_scaled_value`] does report them.
    pub fn value(&self) -> i64 {
        self.scaled_value(0)
    }

    /// The value in thousandths (`MilliValue()`), with the limits of [`Quantity::value`].
    pub fn milli_value(&self) -> i64 {
        self.scaled_value(-3)
    }

    /// The value in units of `10^scale` (`ScaledValue()`), with the limits of [`Quantity::value`].
    pub fn scaled_value(&self, scale: i32) -> i64 {
        match self.amount() {
            Amount::Integer(integer) => integer.scaled(scale),
            Amount::Decimal(decimal) => decimal.scaled(scale),
        }
    }

    /// The value in units of `10^scale`, if it is a whole number of them and fits.
    pub fn exact_scaled_value(&self, scale: i32) -> Option<i64> {
        match self.amount() {
            Amount::Integer(integer) => integer.exact_scaled(scale),
            Amount::Decimal(decimal) => decimal.exact_scaled(scale),
        }
    }

    /// The value as an integer if upstream converts it (`AsInt64()`; CEL's `isInteger` and
    /// `asInteger`): not when it is held as thousandths or in arbitrary precision, whole or not.
    pub fn as_i64(&self) -> Option<i64> {
        match self.amount() {
            Amount::Integer(integer) => integer.as_i64(),
            Amount::Decimal(_) => None,
        }
    }

    /// The nearest floating-point number, or one near it (`AsApproximateFloat64()`); infinite
    /// outside of the range.
    pub fn as_approximate_f64(&self) -> f64 {
        match self.amount() {
            Amount::Integer(integer) => integer.as_f64(),
            Amount::Decimal(decimal) => decimal.as_f64(),
        }
    }

    /// -1, 0 or 1.
    pub fn sign(&self) -> i32 {
        match self.amount() {
            Amount::Integer(integer) => match integer.value.signum() {
                0 => 0,
                1 => 1,
                _ => -1,
            },
            Amount::Decimal(decimal) => decimal.sign(),
        }
    }

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        self.sign() == 0
    }

    /// Whether it is below zero.
    pub fn is_negative(&self) -> bool {
        self.sign() < 0
    }

    /// The exact sum, in the format of `self`, or in that of `other` if `self` is zero.
    ///
    /// When the summands are more than 4,096 decimal places apart, the sum is the one that is
    /// larger in magnitude.
    pub fn add(&self, other: &Self) -> Self {
        self.combine(other, Integer::add, Decimal::add)
    }

    /// The exact difference, in the format of `self`, or in that of `other` if `self` is zero, with
    /// the limit of [`Quantity::add`].
    pub fn sub(&self, other: &Self) -> Self {
        self.combine(other, Integer::sub, Decimal::sub)
    }

    fn combine(
        &self,
        other: &Self,
        integers: fn(Integer, Integer) -> Option<Integer>,
        decimals: fn(&Decimal, &Decimal) -> Decimal,
    ) -> Self {
        let format = if self.is_zero() { other.format() } else { self.format() };
        if let (Amount::Integer(a), Amount::Integer(b)) = (self.amount(), other.amount())
            && let Some(result) = integers(a, b)
        {
            return Self::integer(result, format);
        }
        Self::decimal(decimals(&self.to_decimal(), &other.to_decimal()), format)
    }

    /// The same number with the other sign.
    pub fn neg(&self) -> Self {
        match self.amount() {
            Amount::Integer(integer) => Self::integer(integer.neg(), self.format()),
            Amount::Decimal(decimal) => Self::decimal(decimal.neg(), self.format()),
        }
    }

    /// Numeric comparison, whatever the suffixes (`Cmp()`).
    pub fn compare(&self, other: &Self) -> Ordering {
        match (self.amount(), other.amount()) {
            (Amount::Integer(a), Amount::Integer(b)) => a.compare(b),
            _ => self.to_decimal().compare(&other.to_decimal()),
        }
    }
}
