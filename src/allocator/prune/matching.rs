//! Devices are given out once: can everybody get enough of them, and at what least cost?
//!
//! Sets of devices that can be matched are the independent sets of a transversal matroid, so taking
//! devices greedily by cost, each if it still can be matched, gives a cheapest full matching
//! (Edmonds, Fulkerson 1965). Requests with the same candidates are one node of the graph, which
//! makes Hall's condition (Hall 1935) for many equal requests a comparison of two numbers.

use super::super::bits::Bits;

/// So many of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Need {
    pub count: usize,
    pub from: Bits,
}

/// The needs, those with equal candidates joined, those for nothing dropped.
pub(super) fn joined(needs: impl IntoIterator<Item = Need>) -> Vec<Need> {
    let mut joined: Vec<Need> = Vec::new();
    for need in needs {
        match joined.iter_mut().find(|known| known.from == need.from) {
            _ if need.count == 0 => {}
            Some(known) => known.count += need.count,
            None => joined.push(need),
        }
    }
    joined
}

/// Matches every need, trying things in the order given. Returns those that were matched; none if
/// some need stays unmet. In ascending order of cost the result is a cheapest one.
pub(super) fn assign(needs: &[Need], order: impl IntoIterator<Item = usize>) -> Option<Vec<usize>> {
    let mut missing: usize = needs.iter().map(|need| need.count).sum();
    let mut given: Vec<Vec<usize>> = vec![Vec::new(); needs.len()];
    let mut matched = Vec::with_capacity(missing);
    for thing in order {
        if missing == 0 {
            break;
        }
        if augment(needs, &mut given, thing, &mut Bits::new(needs.len())) {
            matched.push(thing);
            missing -= 1;
        }
    }
    (missing == 0).then_some(matched)
}

/// Gives the thing to somebody, if need be by moving others. Depth is bounded by the needs.
fn augment(needs: &[Need], given: &mut [Vec<usize>], thing: usize, tried: &mut Bits) -> bool {
    for (at, need) in needs.iter().enumerate() {
        if tried.has(at) || !need.from.has(thing) {
            continue;
        }
        if given[at].len() < need.count {
            given[at].push(thing);
            return true;
        }
        tried.insert(at);
        for slot in 0..given[at].len() {
            let moved = given[at][slot];
            if augment(needs, given, moved, tried) {
                given[at][slot] = thing;
                return true;
            }
        }
    }
    false
}

/// Whether every need can be met.
pub(super) fn can_meet(needs: &[Need]) -> bool {
    if needs.iter().any(|need| need.from.count() < need.count) {
        return false;
    }
    if needs.len() < 2 {
        return true;
    }
    let mut union = needs[0].from.clone();
    for need in &needs[1..] {
        union.add_all(&need.from);
    }
    needs.iter().map(|need| need.count).sum::<usize>() <= union.count()
        && assign(needs, union.iter()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn need(count: usize, from: &[usize]) -> Need {
        let mut bits = Bits::new(64);
        for at in from {
            bits.insert(*at);
        }
        Need { count, from: bits }
    }

    #[test]
    fn one_device_too_few_is_seen_whoever_asks() {
        assert!(can_meet(&joined([need(1, &[0, 1]), need(1, &[0, 1])])));
        assert!(!can_meet(&joined([need(1, &[0, 1]), need(1, &[0, 1]), need(1, &[0, 1])])));
        assert!(!can_meet(&[need(1, &[0]), need(1, &[0, 1]), need(1, &[1])]));
        assert!(can_meet(&[need(1, &[0, 1]), need(2, &[1, 2, 3]), need(1, &[0])]));
    }

    #[test]
    fn the_cheapest_matching_may_move_devices() {
        // Costs ascend with the number: 0 and 2 suffice although 1 comes before 2.
        let needs = [need(1, &[0, 1]), need(1, &[2, 3])];
        assert_eq!(assign(&needs, 0..4), Some(vec![0, 2]));
        let needs = [need(1, &[0, 1]), need(1, &[0])];
        assert_eq!(assign(&needs, 0..2), Some(vec![0, 1]));
        assert_eq!(assign(&needs, [0]), None);
    }
}
