//! What was probably meant.

/// Letters that make a beginning worth a guess.
const BEGINNING: usize = 4;

/// The candidate that is nearest to `word`, if one is near enough to be a slip of the pen.
///
/// A word that only one candidate continues is near to it (`deviceClass` to `deviceClassName`).
/// Distance counts letters changed, added, left out or swapped with their neighbour, whatever
/// their case; a third of the word may be wrong. Of equally near ones the first wins.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let allowed = (word.chars().count() / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    let mut longer = Vec::new();
    for candidate in candidates {
        if word.len() >= BEGINNING && candidate.starts_with(word) {
            longer.push(candidate);
        }
        let distance = distance(word, candidate);
        if distance <= allowed && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    let only = || longer.first().copied().filter(|_| longer.len() == 1);
    best.map(|(_, candidate)| candidate).or_else(only)
}

/// The optimal string alignment distance.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) =
        (a.to_lowercase().chars().collect(), b.to_lowercase().chars().collect());
    // Names are short; a text that is not cannot be near.
    if a.len().abs_diff(b.len()) > 64 || a.len() > 256 {
        return usize::MAX;
    }
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.iter().enumerate() {
        let mut row = vec![i + 1; b.len() + 1];
        for (j, to) in b.iter().enumerate() {
            let mut cost = (last[j] + usize::from(from != to)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i - 1] == *to && *from == b[j - 1] {
                cost = cost.min(before[j - 1] + 1);
            }
            row[j + 1] = cost;
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_pen_are_found() {
        let names = ["deviceClassName", "selectors", "count"];
        assert_eq!(nearest("deviceclassname", names), Some("deviceClassName"));
        assert_eq!(nearest("slectors", names), Some("selectors"));
        assert_eq!(nearest("conut", names), Some("count"));
        assert_eq!(nearest("deviceClass", names), Some("deviceClassName"));
        assert_eq!(nearest("replicas", names), None);
        assert_eq!(nearest("", names), None);
    }
}
