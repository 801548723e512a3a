//! Inputs that nobody writes: whatever bytes come, the program ends in an answer, always in the same one,
//! and its promises hold. Each entry is held to them on the inputs that the project has and on random
//! changes of them; `fuzz/` drives the very same entries by coverage.
//!
//! `STOWPLAN_SEED` draws the changes of another run (a run prints its seed), `STOWPLAN_INPUTS` says how many
//! inputs each entry gets. An input that fails is kept in the build's temporary folder.
#![allow(clippy::disallowed_methods, reason = "a test reads files, the environment and the clock")]
#![allow(clippy::panic, clippy::print_stdout, reason = "its helpers are part of the test")]

#[path = "robustness/allocator.rs"]
mod allocator;
#[path = "properties/ask.rs"]
mod ask;
#[allow(dead_code, reason = "another test uses the rest")]
#[path = "properties/build.rs"]
mod build;
#[path = "robustness/cel.rs"]
mod cel;
#[allow(dead_code, reason = "another test uses the rest")]
#[path = "differential/chance.rs"]
mod chance;
#[path = "robustness/decode.rs"]
mod decode;
#[path = "robustness/input.rs"]
mod input;
#[path = "properties/meaning.rs"]
mod meaning;
#[path = "robustness/mutate.rs"]
mod mutate;
#[allow(dead_code, reason = "another test uses the rest")]
#[path = "properties/oracle.rs"]
mod oracle;
#[path = "properties/pools.rs"]
mod pools;
#[path = "robustness/quantity.rs"]
mod quantity;
#[allow(dead_code, reason = "another test uses the rest")]
#[path = "properties/recipe.rs"]
mod recipe;
#[path = "robustness/seeds.rs"]
mod seeds;

use std::collections::BTreeMap;
use std::panic::catch_unwind;
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use chance::Chance;

/// Long beyond doubt for one input, on a slow machine that is busy with other things.
const LONGEST_SECONDS: u64 = 300;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

/// Holds an entry to its promises on the seeds and on so many changes of them, unless the environment
/// says how many. At least one input of a hundred must have each of these verdicts.
fn hold(name: &str, entry: fn(&[u8]) -> &'static str, seeds: &[Vec<u8>], inputs: u64, verdicts: &[&str]) {
    let now =
        || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| u64::from(time.subsec_nanos()));
    let seed = number("STOWPLAN_SEED").unwrap_or_else(now);
    let inputs = number("STOWPLAN_INPUTS").unwrap_or(inputs);
    println!("{name}: STOWPLAN_SEED={seed} STOWPLAN_INPUTS={inputs}");
    assert!(seeds.len() > 10, "only {} seeds of {name}", seeds.len());
    let words = seeds::words(seeds);
    let mutated = (0..inputs).map(|stream| mutate::mutate(&mut Chance::new(seed, stream), seeds, &words));
    let mut tally: BTreeMap<_, u64> = BTreeMap::new();
    for input in seeds.iter().cloned().chain(mutated) {
        let start = Instant::now();
        let verdict = catch_unwind(|| entry(&input)).unwrap_or_else(|_| {
            let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("robustness-{name}"));
            std::fs::write(&kept, &input).expect("a file can be written");
            panic!(
                "{name}: seed {seed}; the input is {}:\n{}",
                kept.display(),
                String::from_utf8_lossy(&input)
            );
        });
        assert!(
            start.elapsed().as_secs() < LONGEST_SECONDS,
            "{name} takes long: {:?}",
            String::from_utf8_lossy(&input)
        );
        *tally.entry(verdict).or_default() += 1;
    }
    println!("{name}: {tally:?}");
    for verdict in verdicts {
        let count = tally.get(verdict).copied().unwrap_or(0);
        assert!(count * 100 >= inputs, "only {count} inputs of {name} say {verdict:?}: {tally:?}");
    }
}

#[test]
fn any_manifest_is_simulated_or_refused() {
    hold("input", input::check, &seeds::manifests(), 300, &["no YAML", "no pods", "pods"]);
}

#[test]
fn any_expression_is_evaluated_or_refused() {
    hold("cel", cel::check, &seeds::expressions(), 20_000, &["compiles", "refused"]);
}

#[test]
fn any_quantity_obeys_the_laws_or_is_refused() {
    hold("quantity", quantity::check, &seeds::quantities(), 20_000, &["quantity", "no quantity"]);
}

#[test]
fn any_tiny_world_is_answered_as_brute_force_does() {
    hold("allocator", allocator::check, &seeds::worlds(), 1_000, &["fits", "does not fit", "error"]);
}
