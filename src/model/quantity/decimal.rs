//! The form of a quantity that machine integers cannot hold: `unscaled × 10^scale` in arbitrary
//! precision.

use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};

use super::integer::{Integer, scale_f64};

/// How many decimal places a number may be written out by. Numbers further apart are not brought to
/// one scale: the smaller one makes no difference that anybody could use.
pub(super) const PLACES_MAX: i64 = 4096;

/// `unscaled × 10^scale` (upstream's `inf.Dec`, whose scale has the other sign).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Decimal {
    pub(super) unscaled: BigInt,
    pub(super) scale: i32,
}

impl From<Integer> for Decimal {
    fn from(integer: Integer) -> Self {
        Self { unscaled: BigInt::from(integer.value), scale: integer.scale }
    }
}

impl Decimal {
    pub(super) fn sign(&self) -> i32 {
        match self.unscaled.sign() {
            Sign::Minus => -1,
            Sign::NoSign => 0,
            Sign::Plus => 1,
        }
    }

    pub(super) fn neg(&self) -> Self {
        Self { unscaled: -&self.unscaled, scale: self.scale }
    }

    pub(super) fn sub(&self, other: &Self) -> Self {
        self.add(&other.neg())
    }

    /// The sum, on the finer of the two scales.
    pub(super) fn add(&self, other: &Self) -> Self {
        if self.scale < other.scale {
            return other.add(self);
        }
        let places = i64::from(self.scale) - i64::from(other.scale);
        if places > PLACES_MAX && self.outweighs(other, places) {
            return self.clone();
        }
        if places > PLACES_MAX && self.sign() == 0 {
            return other.clone();
        }
        Self { unscaled: &self.unscaled * pow10(places) + &other.unscaled, scale: other.scale }
    }

    /// Numeric comparison. Numbers are written out to one scale only as far as the finer one
    /// already is.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        if self.sign() != other.sign() {
            return self.sign().cmp(&other.sign());
        }
        if self.scale < other.scale {
            return other.compare(self).reverse();
        }
        let places = i64::from(self.scale) - i64::from(other.scale);
        if self.sign() == 0 {
            return Ordering::Equal;
        }
        if self.outweighs(other, places) {
            return self.sign().cmp(&0);
        }
        (&self.unscaled * pow10(places)).cmp(&other.unscaled)
    }

    /// Whether `self`, which is not zero and `places` coarser than `other`, is larger in magnitude
    /// by the number of places alone.
    fn outweighs(&self, other: &Self, places: i64) -> bool {
        self.sign() != 0
            && u64::try_from(places).is_ok_and(|places| places >= digits_at_most(&other.unscaled))
    }

    /// The value in units of `10^scale`, in upstream's arithmetic: rounded up, where negative
    /// numbers of up to 64 bits are cut towards zero first, and wrapping around at 64 bits.
    pub(super) fn scaled(&self, scale: i32) -> i64 {
        let down = i64::from(scale) - i64::from(self.scale);
        let low = low_bits(&self.unscaled);
        if down <= 0 {
            let power = u32::try_from(-down).ok().and_then(|up| 10_i64.checked_pow(up));
            // A power beyond 64 bits is the least integer once converted from floating point.
            return low.wrapping_mul(power.unwrap_or(i64::MIN));
        }
        let small = u32::try_from(down).ok().and_then(|down| 10_i64.checked_pow(down));
        match small {
            Some(divisor) if self.unscaled < BigInt::from(i64::MAX) => {
                (low / divisor).wrapping_add(i64::from(low % divisor != 0))
            }
            _ => low_bits(&self.ceil_div(down)),
        }
    }

    /// `unscaled / 10^places`, rounded up.
    fn ceil_div(&self, places: i64) -> BigInt {
        if u64::try_from(places).is_ok_and(|places| places > digits_at_most(&self.unscaled)) {
            return BigInt::from(i32::from(self.sign() > 0));
        }
        let divisor = pow10(places);
        let (quotient, remainder) = (&self.unscaled / &divisor, &self.unscaled % &divisor);
        // The division cuts towards zero, which already is up for negative numbers.
        quotient + i32::from(remainder.sign() == Sign::Plus)
    }

    /// The value in units of `10^scale` if it is a whole number of them and fits.
    pub(super) fn exact_scaled(&self, scale: i32) -> Option<i64> {
        let up = i64::from(self.scale) - i64::from(scale);
        if self.sign() == 0 {
            return Some(0);
        }
        if up >= 0 {
            return i64::try_from(&self.unscaled).ok()?.checked_mul(10_i64.checked_pow(up.try_into().ok()?)?);
        }
        let scaled = self.ceil_div(-up);
        let whole = Self { unscaled: scaled, scale };
        (whole.compare(self) == Ordering::Equal).then(|| i64::try_from(whole.unscaled).ok()).flatten()
    }

    /// The number if it is whole and not too long to write out.
    pub(super) fn whole(&self) -> Option<BigInt> {
        let places = i64::from(self.scale);
        match places {
            0..=PLACES_MAX => Some(&self.unscaled * pow10(places)),
            i64::MIN..=-1 => {
                let whole = Self { unscaled: self.ceil_div(-places), scale: 0 };
                (whole.compare(self) == Ordering::Equal).then_some(whole.unscaled)
            }
            _ => None,
        }
    }

    pub(super) fn as_f64(&self) -> f64 {
        let base = match self.unscaled.bits() {
            // Beyond the range of floats; no need to write the digits out.
            1025.. => f64::from(self.sign()) * f64::INFINITY,
            _ => self.unscaled.to_string().parse().unwrap_or(f64::NAN),
        };
        scale_f64(base, i64::from(self.scale))
    }
}

/// `10^places`; one for negative places.
pub(super) fn pow10(places: i64) -> BigInt {
    BigInt::from(10).pow(u32::try_from(places).unwrap_or(0))
}

/// A number of decimal digits that `number` does not exceed.
fn digits_at_most(number: &BigInt) -> u64 {
    // log10(2) is a little under 0.30103.
    number.bits().saturating_mul(30_103) / 100_000 + 1
}

/// The lowest 64 bits in two's complement.
fn low_bits(number: &BigInt) -> i64 {
    let low = number.iter_u64_digits().next().unwrap_or(0).cast_signed();
    if number.sign() == Sign::Minus { low.wrapping_neg() } else { low }
}
