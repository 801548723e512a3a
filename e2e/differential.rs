//! Is this project's allocator upstream's equal? From one printed seed, random worlds are given to
//! both: `e2e/oracle` runs the structured allocator of k8s.io/dynamic-resource-allocation 0.37.2.
//! Compared are feasibility per node, the devices in order, the whole allocation result but random
//! ids, and the texts of errors. A difference is made smaller and printed as a question to the oracle.
//!
//! `STOWPLAN_SEED` draws other worlds than those of every run, `STOWPLAN_WORLDS` says how many.
#![allow(clippy::disallowed_methods, reason = "a test runs a process and reads its environment")]
#![allow(clippy::panic, clippy::print_stderr, reason = "its helpers are part of the test")]

#[path = "differential/chance.rs"]
mod chance;
#[path = "differential/oracle.rs"]
mod oracle;
#[path = "differential/ours.rs"]
mod ours;
#[path = "differential/shrink.rs"]
mod shrink;
#[path = "differential/world.rs"]
mod world;

use chance::Chance;
use oracle::Oracle;
use ours::{Answer, Ours, read_upstream};
use serde_json::{Value, json};

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

/// The seed of a run without `STOWPLAN_SEED`.
const SEED: u64 = 2026;

/// Both answers, if they differ. A search that one side cut off says nothing.
fn difference(oracle: &mut Oracle, world: &Value) -> Option<(Vec<Answer>, Vec<Answer>)> {
    let ours = Ours::read(world)?.answer();
    let upstream = oracle.ask(&json!({"allocate": world}));
    if !upstream["nodes"].is_array() {
        return None;
    }
    let upstream = read_upstream(&upstream);
    let differs = ours.len() != upstream.len()
        || ours.iter().zip(&upstream).any(|(o, u)| o != u && *u != Answer::CutOff && *o != Answer::CutOff);
    differs.then_some((ours, upstream))
}

/// What a difference is about: a smaller world must show the same one, not another.
fn kinds(ours: &[Answer], upstream: &[Answer]) -> Vec<(&'static str, &'static str)> {
    let pairs = ours.iter().zip(upstream);
    pairs.filter(|(ours, upstream)| ours != upstream).map(|(o, u)| (o.class(), u.class())).collect()
}

#[test]
fn the_allocator_answers_as_upstream_does() {
    let Some(mut oracle) = Oracle::start() else { return };
    let seed = number("STOWPLAN_SEED").unwrap_or(SEED);
    let worlds = number("STOWPLAN_WORLDS").unwrap_or(3000);
    println!("STOWPLAN_SEED={seed} STOWPLAN_WORLDS={worlds}");
    let mut tally = std::collections::BTreeMap::new();
    for stream in 0..worlds {
        let world = world::world(&mut Chance::new(seed, stream));
        if let Some((ours, upstream)) = difference(&mut oracle, &world) {
            let kind = kinds(&ours, &upstream);
            let small = shrink::shrink(&world, |world| {
                difference(&mut oracle, world).is_some_and(|(ours, upstream)| kinds(&ours, &upstream) == kind)
            });
            let (ours, upstream) = difference(&mut oracle, &small).unwrap_or((ours, upstream));
            panic!(
                "seed {seed}, world {stream}\nours:     {ours:#?}\nupstream: {upstream:#?}\n{}",
                json!({"allocate": small})
            );
        }
        for answer in Ours::read(&world).expect("a generated world can be read").answer() {
            *tally.entry(answer.class()).or_insert(0_u64) += 1;
        }
    }
    println!("{worlds} worlds, no difference: {tally:?}");
    // A generator that only makes hopeless or only easy worlds would prove nothing.
    if worlds >= 1000 {
        for class in ["fits", "does not fit", "error of the node", "fatal error"] {
            let share = tally.get(class).copied().unwrap_or(0) * 100 / (2 * worlds);
            assert!(share >= 2, "only {share} % of the answers are {class:?}: {tally:?}");
        }
    }
}
