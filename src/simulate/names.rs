//! Names and identities that a cluster would draw at random, here the same for the same input.

use std::collections::BTreeSet;

use crate::model::{Name, PodKey, Uid};

/// The letters of generated names: no vowels, so that no words arise.
const LETTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// How many of them a generated name ends with.
const SUFFIX: usize = 5;

/// Longest `metadata.generateName` of a claim, its last `-` not counted, so that name and suffix stay
/// a DNS label.
const CLAIM_BASE: usize = 57;

/// A suffix of `length` letters for a seed text; equal seeds give equal suffixes.
pub fn suffix(seed: &str, length: usize) -> String {
    let mut hash = fnv(seed.as_bytes());
    let count = LETTERS.len() as u64;
    let letters = std::iter::repeat_with(|| {
        let letter = usize::try_from(hash % count).unwrap_or_default();
        hash = (hash / count) ^ hash.rotate_left(23);
        char::from(LETTERS[letter % LETTERS.len()])
    });
    letters.take(length).collect()
}

/// A name that begins with `base` and that `taken` does not have yet.
pub fn generate(base: &str, seed: &str, taken: impl Fn(&str) -> bool) -> Name {
    let mut name = format!("{base}{}", suffix(seed, SUFFIX));
    for attempt in 1_u32.. {
        if !taken(&name) {
            break;
        }
        name = format!("{base}{}", suffix(&format!("{seed}#{attempt}"), SUFFIX));
    }
    Name::from(name)
}

/// `metadata.generateName` of a claim made for `claim` of `pod`: `POD-CLAIM-`, where both are cut in
/// proportion when the whole would be too long (as the `ResourceClaim` controller does).
pub fn claim_base(pod: &str, claim: &str) -> String {
    let whole = pod.len() + 1 + claim.len();
    if whole <= CLAIM_BASE {
        return format!("{pod}-{claim}-");
    }
    let cut = |text: &str| {
        let end = text.len() * CLAIM_BASE / whole;
        let end = (0..=end).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text[..end].to_owned()
    };
    format!("{}-{}-", cut(pod), cut(claim))
}

/// The identity of an object that came without one.
pub fn uid(kind: &str, key: &PodKey) -> Uid {
    let low = fnv(format!("{kind}/{key}").as_bytes());
    let high = fnv(format!("{key}/{kind}").as_bytes());
    Uid::from(format!(
        "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xfff,
        (low >> 48) & 0xfff,
        low & 0xffff_ffff_ffff
    ))
}

/// A set of names per namespace, to see which are taken.
pub type TakenNames = BTreeSet<PodKey>;

/// The 64-bit FNV-1a hash: the same on every machine and in every release.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_name_is_stable_and_avoids_what_is_taken() {
        let first = generate("web-", "seed", |_| false);
        assert_eq!(first, generate("web-", "seed", |_| false));
        let second = generate("web-", "seed", |name| name == &*first);
        assert_ne!(first, second);
        assert_eq!(second.len(), "web-".len() + SUFFIX);
    }

    #[test]
    fn the_base_of_a_claim_is_cut_in_proportion() {
        assert_eq!(claim_base("p", "gpu"), "p-gpu-");
        let base = claim_base(&"p".repeat(60), &"c".repeat(20));
        assert_eq!(base, format!("{}-{}-", "p".repeat(60 * 57 / 81), "c".repeat(20 * 57 / 81)));
        assert!(base.len() <= CLAIM_BASE + 1);
        assert!(claim_base(&"ü".repeat(60), "c").len() <= CLAIM_BASE + 1);
    }

    #[test]
    fn an_identity_looks_like_one() {
        let uid = uid("Pod", &PodKey::new("default", "p"));
        assert_eq!(uid.as_str().len(), 36);
        assert_ne!(uid, super::uid("ResourceClaim", &PodKey::new("default", "p")));
    }
}
