//! Runs a case: allocates, compares with upstream's answer, and has both answers judged.

use std::collections::BTreeSet;

use stowplan::allocator::check::{CheckedClaim, Violation, check};
use stowplan::allocator::{Allocator, ClaimToAllocate, Outcome};
use stowplan::model::Allocation;

use super::case::{self, Case, Expected};
use super::given;
use super::text::parse;

/// Runs the case whose name is that of the test.
pub fn run(text: &str, name: &str) {
    let blocks = parse(text);
    let block = blocks.iter().find(|block| test_name(block.rest()) == name).expect("a case of that name");
    assert_conforms(&case::read(block));
}

fn test_name(case: &str) -> String {
    case.replace('-', "_")
}

/// Asserts that the tests are for all cases of a file.
pub fn assert_complete(text: &str, tests: &[&str]) {
    let cases: Vec<String> = parse(text).iter().map(|block| test_name(block.rest())).collect();
    let distinct: BTreeSet<&str> = cases.iter().map(String::as_str).collect();
    assert_eq!(distinct.len(), cases.len(), "two cases have the same name");
    assert_eq!(distinct, tests.iter().copied().collect());
}

fn assert_conforms(case: &Case) {
    if let Expected::Refused(allocations, parts) = &case.expected {
        let violation = judge(case, allocations).expect_err("a violation");
        return assert_has_parts(&violation.to_string(), parts);
    }
    let outcome = allocate(case);
    match (&case.expected, &outcome.result) {
        (Expected::Given(expected), Ok(Some(given))) => {
            assert_eq!(lines(case, given), lines(case, expected));
            assert_eq!(judge(case, &given::with_new_shares(given)), Ok(()), "the answer is refused");
            assert_eq!(judge(case, expected), Ok(()), "upstream's answer is refused");
        }
        (Expected::Nothing, Ok(None)) => {}
        (Expected::Error(parts), Err(error)) => assert_has_parts(&error.to_string(), parts),
        (expected, Ok(Some(given))) => panic!("{expected:?} is upstream's, ours {:#?}", lines(case, given)),
        (Expected::Given(expected), ours) => {
            panic!("{:#?} is upstream's, ours {ours:?}", lines(case, expected))
        }
        (expected, ours) => panic!("{expected:?} is upstream's, ours {ours:?}"),
    }
    // Upstream's steps are positions entered. Ours count a proof at each besides.
    if let Some(steps) = case.steps {
        assert!(outcome.steps <= 2 * steps, "{} steps for upstream's {steps} positions", outcome.steps);
    }
}

fn allocate(case: &Case) -> Outcome {
    let claims = case.claims.iter().map(|claim| ClaimToAllocate {
        key: &claim.key,
        uid: &claim.uid,
        spec: &claim.spec,
    });
    let claims: Vec<_> = claims.collect();
    let mut allocator = Allocator::new(case.snapshot.features());
    if let Some(budget) = case.budget {
        allocator.set_step_budget(budget);
    }
    allocator.allocate(&case.snapshot, &case.node, &claims)
}

fn lines(case: &Case, allocations: &[Allocation]) -> Vec<String> {
    assert_eq!(case.claims.len(), allocations.len());
    let pairs = case.claims.iter().zip(allocations);
    pairs.flat_map(|(claim, allocation)| given::lines(&claim.key, allocation)).collect()
}

fn assert_has_parts(text: &str, parts: &[String]) {
    let mut rest = text;
    for part in parts {
        let at = rest.find(part.as_str()).unwrap_or_else(|| panic!("{part:?} is not in {text:?}"));
        rest = &rest[at + part.len()..];
    }
}

fn judge(case: &Case, allocations: &[Allocation]) -> Result<(), Violation> {
    assert_eq!(case.claims.len(), allocations.len());
    let checked = case.claims.iter().zip(allocations).map(|(claim, allocation)| CheckedClaim {
        key: &claim.key,
        uid: &claim.uid,
        spec: &claim.spec,
        allocation,
    });
    check(&case.snapshot, &case.node, &checked.collect::<Vec<_>>())
}
