//! Sets of small numbers, as bits.

use smallvec::SmallVec;

/// A set of numbers below some limit. Sets of up to 128 members need no allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Bits(SmallVec<[u64; 2]>);

impl Bits {
    /// The empty set of numbers below `limit`.
    pub fn new(limit: usize) -> Self {
        Self(SmallVec::from_elem(0, limit.div_ceil(64)))
    }

    /// Whether the number is in the set.
    pub fn has(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    /// Adds a number.
    pub fn insert(&mut self, at: usize) {
        if let Some(word) = self.0.get_mut(at / 64) {
            *word |= 1 << (at % 64);
        }
    }

    /// Removes a number.
    pub fn remove(&mut self, at: usize) {
        if let Some(word) = self.0.get_mut(at / 64) {
            *word &= !(1 << (at % 64));
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// How many the sets have in common.
    pub fn shared_with(&self, other: &Self) -> usize {
        self.0.iter().zip(&other.0).map(|(a, b)| (a & b).count_ones() as usize).sum()
    }

    /// The numbers of both sets.
    pub fn and(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }

    /// Keeps what `other` has, too.
    pub fn keep(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word &= other;
        }
    }

    /// Drops what `other` has.
    pub fn drop_all(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word &= !other;
        }
    }

    /// Adds what `other` has.
    pub fn add_all(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word |= other;
        }
    }

    /// Whether the sets have a number in common.
    pub fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    /// The numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(at, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                if rest == 0 {
                    return None;
                }
                let bit = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                Some(at * 64 + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_gives_back_its_members_in_order() {
        let mut set = Bits::new(200);
        for at in [199, 0, 64, 63, 64] {
            set.insert(at);
        }
        set.remove(63);
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 64, 199]);
        assert_eq!(set.count(), 3);
        assert!(set.has(64) && !set.has(63) && !set.has(1000));
    }

    #[test]
    fn sets_are_intersected_united_and_subtracted() {
        let of = |members: &[usize]| {
            let mut set = Bits::new(130);
            for at in members {
                set.insert(*at);
            }
            set
        };
        let (a, b) = (of(&[1, 70, 129]), of(&[70, 128]));
        assert_eq!(a.and(&b), of(&[70]));
        assert!(a.meets(&b) && !of(&[1]).meets(&b));
        let mut c = a.clone();
        c.drop_all(&b);
        assert_eq!(c, of(&[1, 129]));
        c.add_all(&b);
        assert_eq!(c, of(&[1, 70, 128, 129]));
        c.keep(&a);
        assert_eq!(c, a);
    }
}
