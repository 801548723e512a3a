//! The common form of a quantity: `value × 10^scale` in machine integers.

use std::cmp::Ordering;

/// `value × 10^scale` (upstream's `int64Amount`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Integer {
    pub(super) value: i64,
    pub(super) scale: i32,
}

impl Integer {
    /// The sum, unless a number overflows on the way.
    pub(super) fn add(self, other: Self) -> Option<Self> {
        if other.value == 0 {
            return Some(self);
        }
        if self.value == 0 {
            return Some(other);
        }
        let scale = self.scale.min(other.scale);
        let value = scale_up(self.value, self.scale.wrapping_sub(scale))?
            .checked_add(scale_up(other.value, other.scale.wrapping_sub(scale))?)?;
        Some(Self { value, scale })
    }

    /// The difference, unless a number overflows on the way. As upstream, the least integer is its
    /// own negative.
    pub(super) fn sub(self, other: Self) -> Option<Self> {
        self.add(other.neg())
    }

    pub(super) fn neg(self) -> Self {
        Self { value: self.value.wrapping_neg(), ..self }
    }

    pub(super) fn compare(self, other: Self) -> Ordering {
        if self.scale < other.scale {
            return other.compare(self).reverse();
        }
        let apart = i64::from(self.scale) - i64::from(other.scale);
        match u32::try_from(apart) {
            // An i64 times 10^19 fits an i128.
            Ok(apart) if apart <= 19 => {
                (i128::from(self.value) * 10_i128.pow(apart)).cmp(&i128::from(other.value))
            }
            _ if self.value == 0 => 0.cmp(&other.value),
            _ => self.value.cmp(&0),
        }
    }

    /// The value in units of `10^scale`, rounded away from zero.
    ///
    /// What overflows is as upstream has it: wrapped around for the powers of ten that it
    /// multiplies by at once, and 0 for those that it reaches step by step.
    pub(super) fn scaled(self, scale: i32) -> i64 {
        if self.scale < scale {
            return scale_down(self.value, scale.wrapping_sub(self.scale)).0;
        }
        let by = self.scale.wrapping_sub(scale);
        scale_up(self.value, by).unwrap_or_else(|| match by {
            1 | 2 | 3 | 6 | 9 if self.value != i64::MIN => {
                self.value.wrapping_mul(10_i64.pow(by.unsigned_abs()))
            }
            _ => 0,
        })
    }

    /// The value in units of `10^scale` if it is a whole number of them and fits.
    pub(super) fn exact_scaled(self, scale: i32) -> Option<i64> {
        let up = i64::from(self.scale) - i64::from(scale);
        if up >= 0 {
            return scale_up(self.value, i32::try_from(up).unwrap_or(i32::MAX));
        }
        let (value, exact) = scale_down(self.value, i32::try_from(-up).unwrap_or(i32::MAX));
        exact.then_some(value)
    }

    /// The value as an integer, unless it is held in fractions or overflows.
    pub(super) fn as_i64(self) -> Option<i64> {
        if self.scale < 0 { None } else { scale_up(self.value, self.scale) }
    }

    #[expect(clippy::cast_precision_loss, reason = "the nearest float is asked for")]
    pub(super) fn as_f64(self) -> f64 {
        scale_f64(self.value as f64, i64::from(self.scale))
    }
}

/// `base × 10^by`, or `None` if it overflows. Nothing is done for a negative `by`, which only comes
/// from a scale that wrapped around; upstream does the same.
fn scale_up(base: i64, by: i32) -> Option<i64> {
    match u32::try_from(by) {
        Ok(by) if base != 0 => base.checked_mul(10_i64.checked_pow(by)?),
        _ => Some(base),
    }
}

/// `base / 10^by`, rounded away from zero, and whether nothing was lost.
fn scale_down(base: i64, by: i32) -> (i64, bool) {
    let Ok(by) = u32::try_from(by) else { return (base, true) };
    let Some(divisor) = 10_i64.checked_pow(by) else { return (base.signum(), base == 0) };
    let lost = base % divisor != 0;
    (base / divisor + if lost { base.signum() } else { 0 }, !lost)
}

/// `base × 10^exponent` in upstream's way: one multiplication by a power of ten that may itself be
/// zero or infinite.
pub(super) fn scale_f64(base: f64, exponent: i64) -> f64 {
    base * pow10_f64(exponent)
}

/// `10^exponent` as Go's `math.Pow10` has it: from two tables, so that the last bit may differ from
/// the nearest float.
fn pow10_f64(exponent: i64) -> f64 {
    const FINE: [f64; 32] = [
        1e00, 1e01, 1e02, 1e03, 1e04, 1e05, 1e06, 1e07, 1e08, 1e09, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
        1e17, 1e18, 1e19, 1e20, 1e21, 1e22, 1e23, 1e24, 1e25, 1e26, 1e27, 1e28, 1e29, 1e30, 1e31,
    ];
    const UP: [f64; 10] = [1e00, 1e32, 1e64, 1e96, 1e128, 1e160, 1e192, 1e224, 1e256, 1e288];
    const DOWN: [f64; 11] =
        [1e00, 1e-32, 1e-64, 1e-96, 1e-128, 1e-160, 1e-192, 1e-224, 1e-256, 1e-288, 1e-320];
    let Ok(size) = usize::try_from(exponent.unsigned_abs()) else {
        return if exponent < 0 { 0.0 } else { f64::INFINITY };
    };
    match exponent {
        0..=308 => UP[size / 32] * FINE[size % 32],
        -323..=-1 => DOWN[size / 32] / FINE[size % 32],
        i64::MIN..-323 => 0.0,
        309.. => f64::INFINITY,
    }
}
