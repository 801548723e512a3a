//! What must hold of every answer of the allocator, shown on random tiny worlds.
//!
//! `PROPTEST_CASES` sets how many worlds each property sees; a failure prints the smallest world that it
//! found and keeps its seed.
#![allow(missing_docs, reason = "a test")]

#[path = "properties/ask.rs"]
mod ask;
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

use ask::{allocate, allocate_afresh, allocations, answer, assignment, funnels, judge};
use build::{Order, World, build, build_ordered};
use change::{apply, changes};
use oracle::Answer;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use reasons::{only_conflict, only_request, short_requests};
use recipe::{plain_recipes, recipes};
use stowplan::allocator::Allocator;
use stowplan::model::{Allocation, ResourceClaim, ResourceSlice, Snapshot};

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("proptest-regressions"))),
        ..ProptestConfig::default()
    }
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
            let answer = answer(&outcome).map_err(|error| TestCaseError::fail(error.to_string()))?;
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
