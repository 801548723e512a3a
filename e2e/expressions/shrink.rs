//! Makes an expression smaller while it shows the same difference.

use crate::grammar::Tree;

/// Asks of a list of expressions which show the difference.
pub trait Ask: FnMut(&[String]) -> Vec<bool> {}
impl<F: FnMut(&[String]) -> Vec<bool>> Ask for F {}

/// What stands for an expression whose content does not matter.
const PLAIN: &[&str] = &["1", "true", "\"a\"", "[1]", "x", "dyn(1)"];
/// How many rounds there are at most; each is one question.
const ROUNDS: usize = 400;
/// How many expressions are asked about at a time.
const BATCH: usize = 64;

/// The smallest expression found.
pub fn shrink(tree: &Tree, mut shows: impl Ask) -> String {
    let mut rounds = ROUNDS;
    let tree = by_parts(tree.clone(), &mut shows, &mut rounds);
    by_text(tree.to_string(), &mut shows, &mut rounds)
}

/// The first of the candidates that shows the difference.
fn first<T: ToString>(candidates: Vec<T>, shows: &mut impl Ask, rounds: &mut usize) -> Option<T> {
    let mut candidates = candidates.into_iter().peekable();
    while candidates.peek().is_some() && *rounds > 0 {
        *rounds -= 1;
        let some: Vec<T> = candidates.by_ref().take(BATCH).collect();
        let texts: Vec<String> = some.iter().map(ToString::to_string).collect();
        if let Some(at) = shows(&texts).iter().position(|shows| *shows) {
            return some.into_iter().nth(at);
        }
    }
    None
}

/// Puts parts of expressions, or plain ones, in their place.
fn by_parts(mut tree: Tree, shows: &mut impl Ask, rounds: &mut usize) -> Tree {
    loop {
        let size = tree.to_string().len();
        let mut candidates = Vec::new();
        for place in std::iter::once(Vec::new()).chain(tree.places()) {
            let part = tree.at(&place);
            candidates.extend(part.places().iter().map(|inner| tree.with(&place, part.at(inner))));
            candidates.extend(PLAIN.iter().map(|text| tree.with(&place, &Tree::text(*text))));
        }
        candidates.retain(|candidate| candidate.to_string().len() < size);
        candidates.sort_by_key(|candidate| candidate.to_string().len());
        match first(candidates, shows, rounds) {
            Some(smaller) => tree = smaller,
            None => return tree,
        }
    }
}

/// Cuts pieces out of the text.
fn by_text(mut text: String, shows: &mut impl Ask, rounds: &mut usize) -> String {
    loop {
        let characters: Vec<char> = text.chars().collect();
        let mut candidates = Vec::new();
        for length in (1..=characters.len().min(24)).rev() {
            for start in 0..=characters.len() - length {
                let kept = characters[..start].iter().chain(&characters[start + length..]);
                candidates.push(kept.collect::<String>());
            }
        }
        match first(candidates, shows, rounds) {
            Some(smaller) => text = smaller,
            None => return text,
        }
    }
}
