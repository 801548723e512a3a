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
