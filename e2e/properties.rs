//! What must hold of every answer of the allocator, shown on random tiny worlds.
//!
//! `PROPTEST_CASES` sets how many worlds each property sees; a failure prints the smallest world that it
//! found and keeps its seed.
#![allow(missing_docs, reason = "a test")]

#[path = "properties/build.rs"]
mod build;
#[path = "properties/change.rs"]
mod change;
#[path = "properties/meaning.rs"]
mod meaning;
#[path = "properties/oracle.rs"]
mod oracle;
#[path = "properties/pools.rs"]
mod pools;
#[path = "properties/reasons.rs"]
mod reasons;
#[path = "properties/recipe.rs"]
mod recipe;

use std::sync::Arc;

use build::{Order, World, build, build_ordered};
use change::{apply, changes};
use oracle::{Answer, Assignment};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use reasons::{only_conflict, only_request, short_requests};
use recipe::{plain_recipes, recipes};
use stowplan::allocator::check::{CheckedClaim, Violation, check};
use stowplan::allocator::{AllocateError, Allocator, ClaimToAllocate, NodeError, Outcome, RequestFunnel};
use stowplan::model::{Allocation, Node, ResourceClaim, ResourceSlice, ShareId, Snapshot};

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("proptest-regressions"))),
        ..ProptestConfig::default()
    }
}

fn allocate(
    allocator: &mut Allocator,
    snapshot: &Snapshot,
    node: &Node,
    claims: &[ResourceClaim],
) -> Outcome {
    allocator.allocate(snapshot, node, &to_allocate(claims))
}

fn funnels(world: &World, node: &Node) -> Vec<RequestFunnel> {
    Allocator::new(world.snapshot.features()).funnel(&world.snapshot, node, &to_allocate(&world.claims))
}

fn to_allocate(claims: &[ResourceClaim]) -> Vec<ClaimToAllocate<'_>> {
    let claims = claims.iter();
    claims.map(|claim| ClaimToAllocate { key: &claim.key, uid: &claim.uid, spec: &claim.spec }).collect()
}

fn allocate_afresh(snapshot: &Snapshot, node: &Node, claims: &[ResourceClaim]) -> Outcome {
    allocate(&mut Allocator::new(snapshot.features()), snapshot, node, claims)
}

/// The allocations of a node, if the claims fit there.
fn allocations(world: &World, node: &Node) -> Option<Arc<[Allocation]>> {
    allocate_afresh(&world.snapshot, node, &world.claims).result.ok().flatten()
}

/// What the judge says, once shares have identities that nobody has.
fn judge(world: &World, node: &Node, allocations: &[Allocation]) -> Result<(), Violation> {
    let mut allocations = allocations.to_vec();
    let results = allocations.iter_mut().flat_map(|allocation| &mut allocation.results);
    for (number, share) in results.filter_map(|result| result.share_id.as_mut()).enumerate() {
        *share = ShareId::from(format!("new-{number}"));
    }
    let checked = world.claims.iter().zip(&allocations).map(|(claim, allocation)| CheckedClaim {
        key: &claim.key,
        uid: &claim.uid,
        spec: &claim.spec,
        allocation,
    });
    check(&world.snapshot, node, &checked.collect::<Vec<_>>())
}

fn assignment(allocations: &[Allocation]) -> Assignment {
    let devices = |allocation: &Allocation| {
        allocation.results.iter().map(|result| (result.request.clone(), result.device.clone())).collect()
    };
    allocations.iter().map(devices).collect()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn what_was_learnt_before_does_not_change_the_answer(recipes in proptest::collection::vec(recipes(), 1..4)) {
        let worlds: Vec<World> = recipes.iter().map(build).collect();
        let mut warm = Allocator::new(worlds[0].snapshot.features());
        let same_rules = worlds.iter().filter(|world| world.snapshot.features() == worlds[0].snapshot.features());
        for world in same_rules {
            for node in world.nodes.iter().chain(&world.nodes) {
                let learnt = allocate(&mut warm, &world.snapshot, node, &world.claims);
                let afresh = allocate_afresh(&world.snapshot, node, &world.claims);
                prop_assert_eq!(learnt, afresh);
            }
        }
    }

    #[test]
    fn what_was_learnt_does_not_outlive_a_change(
        recipe in recipes(),
        changes in proptest::collection::vec(changes(), 1..6),
    ) {
        let mut world = build(&recipe);
        let mut warm = Allocator::new(world.snapshot.features());
        for change in &changes {
            let before = world.clone();
            apply(&mut world, change);
            // An old world may be asked about again, as by a simulation that starts anew.
            for world in [&world, &before] {
                for node in &world.nodes {
                    let learnt = allocate(&mut warm, &world.snapshot, node, &world.claims);
                    prop_assert_eq!(learnt, allocate_afresh(&world.snapshot, node, &world.claims), "{:?}", change);
                }
            }
        }
    }

    #[test]
    fn every_allocation_passes_the_judge(recipe in recipes()) {
        let world = build(&recipe);
        for node in &world.nodes {
            if let Some(allocations) = allocations(&world, node) {
                prop_assert_eq!(judge(&world, node, &allocations), Ok(()));
            }
        }
    }

    #[test]
    fn the_answer_is_the_first_that_brute_force_finds(recipe in recipes()) {
        let world = build(&recipe);
        for node in &world.nodes {
            let outcome = allocate_afresh(&world.snapshot, node, &world.claims);
            let answer = match outcome.result {
                Ok(Some(allocations)) => Answer::Given(assignment(&allocations)),
                Ok(None) => Answer::Nothing,
                Err(AllocateError::Node(NodeError::InvalidPools)) => Answer::InvalidPools,
                Err(AllocateError::Fatal(_)) => Answer::Fatal,
                Err(error) => return Err(TestCaseError::fail(format!("{error}"))),
            };
            prop_assert_eq!(answer, oracle::solve(&world.snapshot, node, &world.claims));
        }
    }

    #[test]
    fn the_order_of_candidates_does_not_change_whether_claims_fit(recipe in plain_recipes(), seed: u64) {
        let given = build(&recipe);
        let shuffled = build_ordered(&recipe, Order::Shuffled(seed));
        for (node, same) in given.nodes.iter().zip(&shuffled.nodes) {
            let fits = allocations(&given, node).is_some();
            prop_assert_eq!(fits, allocations(&shuffled, same).is_some());
        }
    }

    #[test]
    fn a_device_that_nobody_uses_can_go(recipe in plain_recipes(), pick in any::<prop::sample::Index>()) {
        let world = build(&recipe);
        for node in &world.nodes {
            let Some(before) = allocations(&world, node) else { continue };
            let Some(snapshot) = without_unused_device(&world, &before, pick) else { continue };
            let after = allocate_afresh(&snapshot, node, &world.claims).result.ok().flatten();
            prop_assert_eq!(after.map(|after| assignment(&after)), Some(assignment(&before)));
        }
    }

    #[test]
    fn what_the_reasons_name_is_enough_to_fail(recipe in recipes()) {
        let world = build(&recipe);
        for node in &world.nodes {
            let solve = |claims: &[ResourceClaim]| oracle::solve(&world.snapshot, node, claims);
            if !matches!(solve(&world.claims), Answer::Nothing | Answer::InvalidPools) {
                continue;
            }
            let fails = |claims: &[ResourceClaim]| !matches!(solve(claims), Answer::Given(_));
            let funnels = funnels(&world, node);
            for funnel in &funnels {
                let fallen: usize = funnel.steps.iter().map(|step| step.devices).sum();
                prop_assert_eq!(fallen + funnel.remaining, funnel.in_reach);
            }
            let short = short_requests(&funnels);
            for request in &short {
                prop_assert!(fails(&only_request(&world.claims, request)), "{request:?} can be met alone");
            }
            if short.is_empty() {
                let conflict = funnels.iter().find_map(|funnel| funnel.conflict.clone());
                let conflict = conflict.ok_or_else(|| TestCaseError::fail(format!("no reason in {funnels:?}")))?;
                prop_assert!(fails(&only_conflict(&world.claims, &conflict)), "{conflict:?} can be met");
            }
        }
    }

    #[test]
    fn what_the_judge_lets_pass_is_a_solution(
        recipe in recipes(),
        which in any::<prop::sample::Index>(),
        other in any::<prop::sample::Index>(),
    ) {
        let world = build(&recipe);
        for node in &world.nodes {
            let Some(allocations) = allocations(&world, node) else { continue };
            let changed = with_another_device(&world, &allocations, which, other);
            if judge(&world, node, &changed).is_ok() {
                let assignment = assignment(&changed);
                prop_assert!(oracle::accepts(&world.snapshot, node, &world.claims, &assignment), "{assignment:?}");
            }
        }
    }
}

/// The world without one of the devices that are neither given nor held. A device with conditions stays,
/// since it decides when its pool is tried.
fn without_unused_device(world: &World, given: &[Allocation], pick: prop::sample::Index) -> Option<Snapshot> {
    let results = || given.iter().flat_map(|allocation| &allocation.results);
    let unused: Vec<_> = world
        .snapshot
        .slices()
        .all
        .values()
        .flat_map(|slice| slice.devices.iter().map(move |device| (slice, device)))
        .filter(|(slice, device)| {
            let id = slice.pool.device(device.name.clone());
            device.binding_conditions.is_none()
                && world.snapshot.usage().device(&id).is_none()
                && !results().any(|result| result.device == id)
        })
        .collect();
    if unused.is_empty() {
        return None;
    }
    let (slice, device) = unused[pick.index(unused.len())];
    let kept = slice.devices.iter().filter(|other| other.name != device.name).cloned();
    let mut snapshot = world.snapshot.clone();
    snapshot.set_slice(ResourceSlice { devices: kept.collect(), ..(**slice).clone() });
    Some(snapshot)
}

/// The allocations with one of their devices replaced by any device of the world.
fn with_another_device(
    world: &World,
    given: &[Allocation],
    which: prop::sample::Index,
    other: prop::sample::Index,
) -> Vec<Allocation> {
    let mut given = given.to_vec();
    let slices = world.snapshot.slices().all.values();
    let devices: Vec<_> = slices
        .flat_map(|slice| slice.devices.iter().map(|device| slice.pool.device(device.name.clone())))
        .collect();
    let mut results: Vec<_> = given.iter_mut().flat_map(|allocation| &mut allocation.results).collect();
    if !results.is_empty() && !devices.is_empty() {
        let which = which.index(results.len());
        results[which].device = devices[other.index(devices.len())].clone();
    }
    given
}
