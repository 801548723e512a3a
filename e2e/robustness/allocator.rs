//! Bytes that make a tiny world: what the allocator answers is what brute force finds, passes the judge,
//! and does not depend on what was asked before or on the order in which devices are published.

use stowplan::allocator::Allocator;
use stowplan::model::Node;

use super::ask::{allocate, allocate_afresh, allocations, answer, funnels, judge};
use super::build::{Order, World, build, build_ordered};
use super::decode::{Bytes, recipe};
use super::oracle::{Answer, solve};
use super::recipe::plain;

/// Holds the allocator to its promises in the world of these bytes. Says what becomes of the claims.
pub fn check(bytes: &[u8]) -> &'static str {
    let (recipe, seed) = recipe(&mut Bytes::new(bytes));
    let world = build(&recipe);
    let mut warm = Allocator::new(world.snapshot.features());
    let answers: Vec<_> = world.nodes.iter().map(|node| on_node(&mut warm, &world, node)).collect();
    let plain = plain(recipe);
    let (given, shuffled) = (build(&plain), build_ordered(&plain, Order::Shuffled(seed)));
    for (node, same) in given.nodes.iter().zip(&shuffled.nodes) {
        let fits = matches!(on_node(&mut warm, &given, node), Answer::Given(_));
        assert_eq!(
            fits,
            allocations(&shuffled, same).is_some(),
            "{}, with devices in another order",
            node.name
        );
    }
    if answers.iter().any(|answer| matches!(answer, Answer::Given(_))) {
        "fits"
    } else if answers.contains(&Answer::Nothing) {
        "does not fit"
    } else {
        "error"
    }
}

fn on_node(warm: &mut Allocator, world: &World, node: &Node) -> Answer {
    let World { snapshot, claims, .. } = world;
    let outcome = allocate_afresh(snapshot, node, claims);
    assert_eq!(allocate(warm, snapshot, node, claims), outcome, "with what was learnt, and afresh");
    let found = answer(&outcome).expect("an answer that brute force may have, too");
    assert_eq!(found, solve(snapshot, node, claims), "the allocator, and brute force");
    if let Ok(Some(allocations)) = &outcome.result {
        assert_eq!(judge(world, node, allocations), Ok(()));
    } else {
        for funnel in funnels(world, node) {
            let fallen: usize = funnel.steps.iter().map(|step| step.devices).sum();
            assert_eq!(fallen + funnel.remaining, funnel.in_reach, "{funnel:?}");
        }
    }
    found
}
