//! Identities of device shares, without randomness: the same decision gives the same ids.

use crate::model::{ClaimKey, DeviceId, Name, ShareId, Uid};

/// The id of one share, formatted as a UUID (version 8, RFC 9562), as the API demands.
///
/// `ordinal` is the place in the claim's results; `nonce` tells decisions apart.
pub fn share_id(
    claim: &ClaimKey,
    uid: &Uid,
    request: &Name,
    device: &DeviceId,
    ordinal: usize,
    nonce: u64,
) -> ShareId {
    let ordinal = ordinal as u64;
    let mut hash = Fnv128::new();
    for text in [
        claim.namespace.as_str(),
        &claim.name,
        uid.as_str(),
        request,
        &device.pool.driver,
        &device.pool.pool,
        &device.device,
    ] {
        hash.write(text.as_bytes());
        hash.write(&[0]);
    }
    hash.write(&ordinal.to_le_bytes());
    hash.write(&nonce.to_le_bytes());
    ShareId::from(uuid(hash.finish()))
}

/// A number that orders nodes of equal score for a pod.
pub(super) fn tie_break(seed: u64, texts: &[&str]) -> u128 {
    let mut hash = Fnv128::new();
    hash.write(&seed.to_le_bytes());
    for text in texts {
        hash.write(text.as_bytes());
        hash.write(&[0]);
    }
    hash.finish()
}

fn uuid(bits: u128) -> String {
    let bits = (bits & !(0xf << 76) | (8 << 76)) & !(0b11 << 62) | (0b10 << 62);
    let hex = format!("{bits:032x}");
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// FNV-1a over 128 bits, its halves mixed at the end so that every input bit reaches every output
/// bit.
struct Fnv128(u128);

impl Fnv128 {
    fn new() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }

    fn finish(self) -> u128 {
        let mut bits = self.0;
        for _ in 0..2 {
            bits ^= bits >> 67;
            bits = bits.wrapping_mul(0xff51_afd7_ed55_8ccd_c4ce_b9fe_1a85_ec53);
        }
        bits ^ (bits >> 61)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn id(claim: &str, ordinal: usize, nonce: u64) -> ShareId {
        let device = DeviceId::new("gpu.example.com", "n1", "gpu-0");
        let request = Name::from("gpu");
        share_id(&ClaimKey::new("default", claim), &Uid::from("u1"), &request, &device, ordinal, nonce)
    }

    #[test]
    fn ids_are_uuids_of_version_8() {
        for ordinal in 0..100 {
            let id = id("c", ordinal, 7);
            let parts: Vec<&str> = id.as_str().split('-').collect();
            assert_eq!(parts.iter().map(|part| part.len()).collect::<Vec<_>>(), [8, 4, 4, 4, 12]);
            assert!(parts.iter().all(|part| part.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'))));
            assert!(
                parts[2].starts_with('8') && matches!(parts[3].chars().next(), Some('8'..='9' | 'a'..='b'))
            );
        }
    }

    #[test]
    fn ids_differ_by_claim_ordinal_and_nonce_and_are_the_same_again() {
        let mut ids = BTreeSet::new();
        for claim in ["a", "b"] {
            for ordinal in 0..50 {
                for nonce in 0..50 {
                    ids.insert(id(claim, ordinal, nonce));
                    assert_eq!(id(claim, ordinal, nonce), id(claim, ordinal, nonce));
                }
            }
        }
        assert_eq!(ids.len(), 2 * 50 * 50);
    }
}
