//! Sizes and costs of which only the least and the most are known.

/// The least and the most that something costs or measures. What is too much to count is
/// [`u64::MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// At least so much.
    pub min: u64,
    /// At most so much.
    pub max: u64,
}

impl Bounds {
    /// Nothing is known.
    pub(super) const UNKNOWN: Self = Self { min: 0, max: u64::MAX };

    pub(super) const fn exactly(value: u64) -> Self {
        Self { min: value, max: value }
    }

    pub(super) const fn up_to(max: u64) -> Self {
        Self { min: 0, max }
    }

    pub(super) const fn plus(self, other: Self) -> Self {
        Self { min: self.min.saturating_add(other.min), max: self.max.saturating_add(other.max) }
    }

    pub(super) const fn times(self, other: Self) -> Self {
        Self { min: self.min.saturating_mul(other.min), max: self.max.saturating_mul(other.max) }
    }

    /// Each bound times a factor, rounded up.
    pub(super) fn scaled(self, factor: f64) -> Self {
        Self { min: scale(self.min, factor), max: scale(self.max, factor) }
    }

    /// Holds where `self` or `other` holds.
    pub(super) fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }
}

/// Go's arithmetic: in doubles, and all that exceeds 64 bits is the largest number.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn scale(value: u64, factor: f64) -> u64 {
    // A conversion from a double saturates in Rust.
    (value as f64 * factor).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_round_up_and_saturate() {
        let scaled = Bounds { min: 11, max: u64::MAX }.scaled(0.1);
        assert_eq!(scaled, Bounds { min: 2, max: 1_844_674_407_370_955_264 });
        assert_eq!(Bounds::UNKNOWN.scaled(2.0), Bounds::UNKNOWN);
        assert_eq!(Bounds::exactly(u64::MAX).plus(Bounds::exactly(1)), Bounds::exactly(u64::MAX));
    }
}
