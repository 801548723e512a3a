//! Shapes on which a plain depth-first search takes exponentially many steps: each must be answered
//! within 10,000, and as the plain search would answer.

use super::world::*;
use crate::allocator::Outcome;
use crate::model::{AttributeValue, ClaimSpec, Device, FeatureGate, Features, ResourceSlice};

const LIMIT: u64 = 10_000;
const SIZES: [usize; 7] = [2, 5, 8, 12, 16, 24, 32];

fn answer(slices: impl IntoIterator<Item = ResourceSlice>, specs: &[ClaimSpec]) -> Outcome {
    let features = Features::default().with(FeatureGate::DRAListTypeAttributes, true);
    let outcome = allocate(&world(features, slices), specs);
    assert!(outcome.steps < LIMIT, "{} steps", outcome.steps);
    outcome
}

fn fits(slices: impl IntoIterator<Item = ResourceSlice>, specs: &[ClaimSpec]) -> Vec<Vec<String>> {
    names(&answer(slices, specs)).expect("it fits")
}

fn fails(slices: impl IntoIterator<Item = ResourceSlice>, specs: &[ClaimSpec]) {
    assert_eq!(names(&answer(slices, specs)), None);
}

fn range(from: usize, to: usize) -> Vec<String> {
    (from..to).map(|at| format!("dev-{at}")).collect()
}

/// The first device takes twice as much of the memory as each of the others.
fn greedy_first(n: usize) -> Vec<Device> {
    let with = |at: usize| {
        let memory = if at == 0 { "20Gi" } else { "10Gi" };
        consuming(device(&format!("dev-{at}"), &[]), &[(&format!("cpu{at}"), "1"), ("mem", memory)])
    };
    (0..=n).map(with).collect()
}

fn cpus_and_memory(n: usize, memory: usize) -> Vec<(String, String)> {
    let cpus = (0..=n).map(|at| (format!("cpu{at}"), "1".to_string()));
    cpus.chain([("mem".to_string(), format!("{memory}Gi"))]).collect()
}

fn greedy_pool(n: usize, memory: usize) -> [ResourceSlice; 2] {
    let counters = cpus_and_memory(n, memory);
    let counters: Vec<_> = counters.iter().map(|(name, value)| (&name[..], &value[..])).collect();
    partitioned(greedy_first(n), &counters)
}

#[test]
fn p1_one_request_for_all_but_the_device_that_takes_too_much() {
    for n in SIZES.into_iter().filter(|n| *n < 32) {
        let spec = || [claim(vec![request("r", requirement(i64::try_from(n).unwrap()))])];
        assert_eq!(fits(greedy_pool(n, n * 10), &spec()), [range(1, n + 1)]);
        fails(greedy_pool(n, n * 10 - 1), &spec());
    }
}

#[test]
fn p2_many_requests_for_all_but_the_device_that_takes_too_much() {
    for n in SIZES.into_iter().filter(|n| *n < 32) {
        assert_eq!(fits(greedy_pool(n, n * 10), &[claim(single_requests(n))]), [range(1, n + 1)]);
        fails(greedy_pool(n, n * 10 - 1), &[claim(single_requests(n))]);
        let claims: Vec<_> = (0..n).map(|_| claim(single_requests(1))).collect();
        assert_eq!(fits(greedy_pool(n, n * 10), &claims).concat(), range(1, n + 1));
        fails(greedy_pool(n, n * 10 - 1), &claims);
    }
}

#[test]
fn p3_one_device_too_few_for_one_request() {
    for n in SIZES {
        let spec = || [claim(vec![request("r", requirement(i64::try_from(n).unwrap()))])];
        fails([slice("s", devices(n - 1))], &spec());
        assert_eq!(fits([slice("s", devices(n))], &spec()), [range(0, n)]);
    }
}

#[test]
fn p4_one_device_too_few_for_many_requests_or_claims() {
    for n in SIZES {
        fails([slice("s", devices(n - 1))], &[claim(single_requests(n))]);
        let claims: Vec<_> = (0..n).map(|_| claim(single_requests(1))).collect();
        fails([slice("s", devices(n - 1))], &claims);
        let pairs: Vec<_> = (0..n).map(|_| claim(vec![request("r", requirement(2))])).collect();
        fails([slice("s", devices(2 * n - 1))], &pairs);
        assert_eq!(fits([slice("s", devices(2 * n))], &pairs).concat(), range(0, 2 * n));
    }
}

#[test]
fn p4_requests_that_differ_compete_for_the_same_devices() {
    // Request i takes devices up to i only: just one assignment, the last device for the last.
    for n in SIZES {
        let with = |at: usize| device(&format!("dev-{at}"), &[]);
        let spec = claim((0..n).map(|at| request(&format!("r{at}"), requirement(1))).collect());
        let outcome = answer([slice("s", (0..n).map(with).collect())], std::slice::from_ref(&spec));
        assert_eq!(names(&outcome), Some(vec![range(0, n)]));
    }
}

/// `unique` devices of a value each, then `shared` ones of one value.
fn groups(unique: usize, shared: usize) -> Vec<Device> {
    let value = |at: usize| if at < unique { at } else { 1000 };
    let with = |at: usize| {
        let value = i64::try_from(value(at)).unwrap();
        device(&format!("dev-{at}"), &[("numa", AttributeValue::Int(value))])
    };
    (0..unique + shared).map(with).collect()
}

#[test]
fn p5_unique_devices_first_then_one_too_few_that_match() {
    for n in SIZES {
        let one = || [matching(claim(vec![request("r", requirement(i64::try_from(n).unwrap()))]), "numa")];
        let many = || [matching(claim(single_requests(n)), "numa")];
        fails([slice("s", groups(n, n - 1))], &one());
        fails([slice("s", groups(n, n - 1))], &many());
        assert_eq!(fits([slice("s", groups(n, n))], &one()), [range(n, 2 * n)]);
        assert_eq!(fits([slice("s", groups(n, n))], &many()), [range(n, 2 * n)]);
    }
}

/// `groups` groups of `size` devices each, one after the other in turn.
fn alternating(groups: usize, size: usize) -> Vec<Device> {
    let with = |at: usize| {
        let value = i64::try_from(at % groups).unwrap();
        device(&format!("dev-{at}"), &[("numa", AttributeValue::Int(value))])
    };
    (0..groups * size).map(with).collect()
}

#[test]
fn p6_two_groups_of_which_neither_is_large_enough() {
    for g in [1, 4, 8, 12, 16, 20, 31] {
        let one = |n| matching(claim(vec![request("r", requirement(i64::try_from(n).unwrap()))]), "numa");
        let many = |n| matching(claim(single_requests(n)), "numa");
        fails([slice("s", alternating(2, g))], &[one(g + 1)]);
        fails([slice("s", alternating(2, g))], &[many(g + 1)]);
        fits([slice("s", alternating(2, g))], &[one(g), many(g)]);
        fails([slice("s", alternating(2, g))], &[one(g), many(g), one(1)]);
    }
}

#[test]
fn p6_three_claims_want_more_than_half_of_two_groups() {
    for g in [4, 8, 12, 20] {
        let half = |_| matching(claim(single_requests(g / 2 + 1)), "numa");
        fails([slice("s", alternating(2, g))], &(0..3).map(half).collect::<Vec<_>>());
        fits([slice("s", alternating(3, g))], &(0..3).map(half).collect::<Vec<_>>());
    }
}

#[test]
fn p7_lists_of_which_only_the_last_half_have_an_element_in_common() {
    for n in SIZES {
        let with = |at: usize| {
            let own = (0..47).map(|k| format!("value-{at}-{k}"));
            let shared = (at >= n).then(|| "shared".to_string());
            let values = own.chain(shared).map(|value| value.as_str().into()).collect();
            device(&format!("dev-{at}"), &[("link", AttributeValue::Strings(values))])
        };
        let pool = |count: usize| [slice("s", (0..count).map(with).collect())];
        let one = || [matching(claim(vec![request("r", requirement(i64::try_from(n).unwrap()))]), "link")];
        let many = || [matching(claim(single_requests(n)), "link")];
        assert_eq!(fits(pool(2 * n), &one()), [range(n, 2 * n)]);
        assert_eq!(fits(pool(2 * n), &many()), [range(n, 2 * n)]);
        fails(pool(2 * n - 1), &one());
        fails(pool(2 * n - 1), &many());
    }
}

#[test]
fn distinct_values_run_out_before_devices_do() {
    for n in SIZES {
        let spec = || [distinct(claim(single_requests(n)), "numa")];
        fails([slice("s", alternating(n - 1, 8))], &spec());
        fits([slice("s", alternating(n, 8))], &spec());
    }
}

#[test]
fn alternatives_do_not_multiply() {
    for n in SIZES {
        let choices = |_| first_available("r", vec![requirement(2), requirement(1)]);
        let named = |(at, mut request): (usize, crate::model::DeviceRequest)| {
            request.name = format!("r{at}").as_str().into();
            request
        };
        let spec = claim((0..n).map(choices).enumerate().map(named).collect());
        fails([slice("s", devices(n - 1))], std::slice::from_ref(&spec));
        fits([slice("s", devices(n))], std::slice::from_ref(&spec));
    }
}

#[test]
fn two_scarce_counters_make_a_knapsack() {
    for n in [4, 8, 12, 16, 20, 24, 30] {
        let with = |at: usize| {
            let (a, b) = if at.is_multiple_of(2) { ("2", "1") } else { ("1", "2") };
            consuming(device(&format!("dev-{at}"), &[]), &[("a", a), ("b", b)])
        };
        let pool = |limit: usize| {
            partitioned(
                (0..2 * n).map(with).collect(),
                &[("a", &limit.to_string()), ("b", &limit.to_string())],
            )
        };
        let one = || [claim(vec![request("r", requirement(i64::try_from(n).unwrap()))])];
        fits(pool(n + n / 2), &one());
        fails(pool(n + n / 2 - 1), &one());
        fails(pool(n + n / 2 - 1), &[claim(single_requests(n))]);
    }
}

#[test]
fn shares_run_out_before_devices_do() {
    for n in SIZES {
        // Each device has room for three shares.
        let share = |at: usize| shareable(device(&format!("dev-{at}"), &[]), &[("memory", "35Gi")]);
        let pool = |devices: usize| [slice("s", (0..devices).map(share).collect())];
        let ten = || {
            let mut ten = requirement(1);
            ten.capacity = Some(Box::new([("memory".into(), quantity("10Gi"))]));
            ten
        };
        let spec = || [claim((0..n).map(|at| request(&format!("r{at}"), ten())).collect())];
        fits(pool(n.div_ceil(3)), &spec());
        fails(pool((n - 1) / 3), &spec());
    }
}
