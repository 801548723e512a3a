//! `matchAttribute` and `distinctAttribute`: what the devices of a claim have in common, or not.
//!
//! Every value becomes a set of numbered elements. A scalar is a set of one; lists are sets only if
//! the gate `DRAListTypeAttributes` is on. Then "equal" and "have an element in common" are one
//! test, and so are "different" and "disjoint". Elements of different types have different numbers.
//!
//! Source: KEP-5491 (lists), KEP-5075 (distinct).

use std::sync::Arc;

use crate::model::{AttributeValue, Name};

use super::bits::Bits;

/// The value of an attribute, as constraints compare it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Attribute {
    /// The device does not have it, which violates every constraint.
    Absent,
    /// Of a kind that cannot be compared.
    Unsupported,
    /// The elements, ascending, at least one.
    Elements(Arc<[usize]>),
    /// The expression that gives the value does not compile.
    Broken(Name),
    /// The expression that gives the value failed.
    Failed(Name),
}

impl Attribute {
    /// The set of a value; `number` gives elements their numbers.
    pub fn new(value: &AttributeValue, lists: bool, mut number: impl FnMut(AttributeValue) -> usize) -> Self {
        use AttributeValue as V;
        let elements: Vec<V> = match value {
            V::Int(_) | V::Bool(_) | V::String(_) | V::Version(_) => vec![value.clone()],
            V::Ints(list) if lists => list.iter().map(|v| V::Int(*v)).collect(),
            V::Bools(list) if lists => list.iter().map(|v| V::Bool(*v)).collect(),
            V::Strings(list) if lists => list.iter().map(|v| V::String(v.clone())).collect(),
            V::Versions(list) if lists => list.iter().map(|v| V::Version(v.clone())).collect(),
            _ => Vec::new(),
        };
        let mut numbers: Vec<usize> = elements.into_iter().map(&mut number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        if numbers.is_empty() { Self::Unsupported } else { Self::Elements(numbers.into()) }
    }
}

/// What a constraint asks of its devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Rule {
    /// All have an element in common.
    Match,
    /// No two have an element in common.
    Distinct,
}

/// A constraint and the devices that it has seen.
///
/// Invariant: one entry of `seen` for each device placed under it, in order. For `Match` an entry is
/// what all devices up to it have in common; for `Distinct` it is what that device has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Constraint {
    pub rule: Rule,
    /// Whether lists are compared; then a value that cannot be compared is refused at once.
    lists: bool,
    seen: Vec<Attribute>,
}

impl Constraint {
    pub fn new(rule: Rule, lists: bool) -> Self {
        Self { rule, lists, seen: Vec::new() }
    }

    /// What the devices so far have in common, or have used up.
    pub fn seen(&self) -> &[Attribute] {
        &self.seen
    }

    /// Whether a device with this value may join; if so it does.
    pub fn add(&mut self, value: &Attribute) -> bool {
        let entry = match (self.rule, value) {
            (_, Attribute::Absent | Attribute::Broken(_) | Attribute::Failed(_)) => return false,
            (_, Attribute::Unsupported) => {
                if self.lists || !self.seen.is_empty() {
                    return false;
                }
                Attribute::Unsupported
            }
            (Rule::Match, Attribute::Elements(own)) => match self.seen.last() {
                None => value.clone(),
                Some(Attribute::Elements(common)) if common == own => value.clone(),
                Some(Attribute::Elements(common)) => match shared(common, own) {
                    Some(common) => Attribute::Elements(common),
                    None => return false,
                },
                Some(_) => return false,
            },
            (Rule::Distinct, Attribute::Elements(own)) => {
                let collides = |other: &Attribute| matches!(other, Attribute::Elements(other) if shared(other, own).is_some());
                if self.seen.iter().any(collides) {
                    return false;
                }
                value.clone()
            }
        };
        self.seen.push(entry);
        true
    }

    /// What decides about the next device: equal for states that admit the same ones.
    pub fn summary(&self) -> Vec<Attribute> {
        match self.rule {
            Rule::Match => self.seen.last().cloned().into_iter().collect(),
            Rule::Distinct => {
                let mut seen = self.seen.clone();
                seen.sort_unstable();
                seen
            }
        }
    }

    /// Takes back the last device.
    pub fn remove(&mut self) {
        self.seen.pop();
    }
}

/// The elements of both ascending lists, if any.
fn shared(a: &[usize], b: &[usize]) -> Option<Arc<[usize]>> {
    if let ([a], [b]) = (a, b) {
        return (a == b).then(|| Arc::from([*a]));
    }
    let common: Vec<usize> = a.iter().copied().filter(|element| b.binary_search(element).is_ok()).collect();
    (!common.is_empty()).then(|| common.into())
}

/// The devices of each element, for pruning.
pub(super) fn by_element(
    values: impl Iterator<Item = (usize, Attribute)>,
    limit: usize,
) -> Vec<(usize, Bits)> {
    let mut table: std::collections::BTreeMap<usize, Bits> = std::collections::BTreeMap::new();
    for (device, value) in values {
        if let Attribute::Elements(elements) = value {
            for element in elements.iter() {
                table.entry(*element).or_insert_with(|| Bits::new(limit)).insert(device);
            }
        }
    }
    table.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(elements: &[usize]) -> Attribute {
        Attribute::Elements(elements.into())
    }

    #[test]
    fn a_match_narrows_and_widens_again() {
        let mut constraint = Constraint::new(Rule::Match, true);
        assert!(constraint.add(&set(&[1, 2])) && constraint.add(&set(&[1])));
        assert!(!constraint.add(&set(&[2])));
        constraint.remove();
        assert!(constraint.add(&set(&[2])));
        assert_eq!(constraint.summary(), [set(&[2])]);
    }

    #[test]
    fn distinct_devices_differ_from_all_before_them() {
        let mut constraint = Constraint::new(Rule::Distinct, true);
        assert!(constraint.add(&set(&[1])) && constraint.add(&set(&[2, 3])));
        assert!(!constraint.add(&set(&[1])) && !constraint.add(&set(&[3, 4])));
        assert!(constraint.add(&set(&[4])));
    }

    #[test]
    fn a_value_of_no_known_kind_may_only_come_first_and_only_where_lists_are_unknown() {
        for rule in [Rule::Match, Rule::Distinct] {
            assert!(Constraint::new(rule, false).add(&Attribute::Unsupported));
            assert!(!Constraint::new(rule, true).add(&Attribute::Unsupported));
            let mut constraint = Constraint::new(rule, false);
            assert!(!constraint.add(&Attribute::Absent) && constraint.add(&set(&[1])));
            assert!(!constraint.add(&Attribute::Unsupported));
        }
    }

    #[test]
    fn a_list_is_a_set_only_behind_its_gate() {
        let list = AttributeValue::Ints([4, 4, 1].into());
        let mut known = Vec::new();
        let mut number = |value: AttributeValue| {
            known.iter().position(|other| *other == value).unwrap_or_else(|| {
                known.push(value);
                known.len() - 1
            })
        };
        assert_eq!(Attribute::new(&list, true, &mut number), set(&[0, 1]));
        assert_eq!(Attribute::new(&list, false, &mut number), Attribute::Unsupported);
        assert_eq!(Attribute::new(&AttributeValue::Int(4), false, &mut number), set(&[0]));
        // The same text as a string and as a version are two elements.
        assert_eq!(Attribute::new(&AttributeValue::String("1.0.0".into()), true, &mut number), set(&[2]));
        assert_eq!(Attribute::new(&AttributeValue::Version("1.0.0".into()), true, &mut number), set(&[3]));
        assert_eq!(
            Attribute::new(&AttributeValue::Ints([].into()), true, &mut number),
            Attribute::Unsupported
        );
    }
}
