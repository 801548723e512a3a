//! Is this project's allocator upstream's equal? From one printed seed, random worlds are given to
//! both: `e2e/oracle` runs the structured allocator of k8s.io/dynamic-resource-allocation 0.37.2.
//! Compared are feasibility per node, the devices in order, the whole allocation result but random
//! ids, and the texts of errors. A difference that `tolerance` does not list is made smaller and
//! printed as a scenario.
//!
//! Every run draws other worlds: `STOWPLAN_SEED` repeats those of a printed seed, `STOWPLAN_WORLDS`
//! says how many.
#![allow(clippy::disallowed_methods, reason = "a test runs a process and reads its environment")]
#![allow(clippy::panic, clippy::print_stderr, reason = "its helpers are part of the test")]

#[path = "differential/chance.rs"]
mod chance;
#[path = "differential/cluster.rs"]
mod cluster;
#[path = "differential/devices.rs"]
mod devices;
#[path = "differential/differences.rs"]
mod differences;
#[path = "differential/oracle.rs"]
mod oracle;
#[path = "differential/ours.rs"]
mod ours;
#[path = "differential/requests.rs"]
mod requests;
#[path = "differential/scenario.rs"]
mod scenario;
#[path = "differential/shrink.rs"]
mod shrink;
#[path = "differential/tolerance.rs"]
mod tolerance;
#[path = "differential/world.rs"]
mod world;

use std::collections::BTreeMap;

use chance::Chance;
use differences::tolerated;
use oracle::Oracle;
use ours::{Answer, Ours, read_upstream};
use serde_json::{Value, json};
use stowplan::config::{OutputFormat, SimulateSettings};
use stowplan::k8s::Reader;
use stowplan::simulate::simulate;
use tolerance::{Case, DIFFERENCES};

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

/// A seed that no run before had.
fn fresh_seed() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    u64::try_from(since.expect("a time after 1970").as_nanos() % 1_000_000_000_000).unwrap_or(0)
}

/// One world in so many is a realistic cluster.
const BIG: u64 = 250;

fn draw(seed: u64, stream: u64) -> Value {
    let mut chance = Chance::new(seed, stream);
    if stream % BIG == BIG - 1 { cluster::cluster(&mut chance) } else { world::world(&mut chance) }
}

/// A world with the answers of both sides: the same, tolerated, or a difference.
enum Verdict {
    Same(Vec<Answer>),
    Tolerated(&'static str),
    Different(Case),
}

/// Compares; upstream's answer is received while this project's is made. `None` if the world is none.
fn judge(oracle: &mut Oracle, world: &Value) -> Option<Verdict> {
    oracle.send(&json!({"allocate": world}));
    let ours = Ours::read(world).map(|ours| ours.answer());
    let upstream = oracle.receive();
    let ours = ours?;
    if !upstream["nodes"].is_array() {
        return None;
    }
    let upstream = read_upstream(&upstream);
    if ours == upstream {
        return Some(Verdict::Same(ours));
    }
    let mut question = world.clone();
    world::merge(&mut question, json!({"afresh": true}));
    let afresh = read_upstream(&oracle.ask(&json!({"allocate": question})));
    let is_stable = world::is_stable(world);
    let has_contradicting_counts = world::has_contradicting_counts(world);
    let case = Case { ours, upstream, afresh, is_stable, has_contradicting_counts };
    Some(match tolerated(DIFFERENCES, &case) {
        Some(difference) => Verdict::Tolerated(difference.name),
        None => Verdict::Different(case),
    })
}

/// What a difference is about: a smaller world must show the same one, not another.
fn kinds(case: &Case) -> Vec<(&'static str, &'static str)> {
    let pairs = case.ours.iter().zip(&case.upstream).filter(|(ours, upstream)| ours != upstream);
    let mut kinds: Vec<_> = pairs.map(|(o, u)| (o.class(), u.class())).collect();
    kinds.dedup();
    kinds
}

fn fail(oracle: &mut Oracle, world: &Value, case: &Case, origin: &str) -> ! {
    let kind = kinds(case);
    let small = shrink::shrink(
        world,
        |world| matches!(judge(oracle, world), Some(Verdict::Different(case)) if kinds(&case) == kind),
    );
    let Some(Verdict::Different(found)) = judge(oracle, &small) else {
        panic!("{origin}: a difference that does not show again: {:#?}\n{:#?}", case.ours, case.upstream)
    };
    panic!(
        "{origin}: a difference\nours:     {:#?}\nupstream: {:#?}\nThe question to e2e/oracle:\n{}\n{}",
        found.ours,
        found.upstream,
        json!({"allocate": small}),
        scenario::files(&small, &found.upstream)
    );
}

#[test]
fn the_allocator_answers_as_upstream_does() {
    let Some(mut oracle) = Oracle::start() else { return };
    let seed = number("STOWPLAN_SEED").unwrap_or_else(fresh_seed);
    let worlds = number("STOWPLAN_WORLDS").unwrap_or(3000);
    println!("STOWPLAN_SEED={seed} STOWPLAN_WORLDS={worlds}");
    let mut tally: BTreeMap<&str, u64> = BTreeMap::new();
    let mut allowed: BTreeMap<&str, u64> = BTreeMap::new();
    for stream in 0..worlds {
        let world = draw(seed, stream);
        match judge(&mut oracle, &world) {
            Some(Verdict::Same(answers)) => {
                for answer in answers {
                    *tally.entry(answer.class()).or_default() += 1;
                }
            }
            Some(Verdict::Tolerated(name)) => *allowed.entry(name).or_default() += 1,
            Some(Verdict::Different(case)) => {
                fail(&mut oracle, &world, &case, &format!("STOWPLAN_SEED={seed}, world {stream}"))
            }
            None => panic!("STOWPLAN_SEED={seed}: world {stream} cannot be read: {world}"),
        }
    }
    println!("{worlds} worlds, no difference: {tally:?}; tolerated: {allowed:?}");
    // A generator that only makes hopeless or only easy worlds would prove nothing.
    if worlds >= 1000 {
        for class in ["fits", "does not fit", "error of the node", "fatal error"] {
            let share = tally.get(class).copied().unwrap_or(0) * 100 / (2 * worlds);
            assert!(share >= 2, "only {share} % of the answers are {class:?}: {tally:?}");
        }
    }
}

#[test]
fn the_differences_are_documented() {
    differences::assert_documented("allocator", DIFFERENCES);
}

/// The devices of each request.
type Devices = BTreeMap<String, Vec<String>>;

/// Where the pod of a world's manifests is placed, and with which devices; `None` if a manifest is refused.
fn simulated(world: &Value) -> Option<(Option<String>, Devices)> {
    let settings = SimulateSettings {
        sources: Vec::new(),
        output: OutputFormat::Json,
        scheduler_names: Vec::new(),
        features: ours::features(world),
        seed: 0,
        colour: false,
        remarks: false,
        progress: false,
    };
    let mut reader = Reader::new(settings.features.clone());
    reader.add("input.yaml", &scenario::manifests(world)).expect("the manifests are YAML");
    let objects = reader.finish();
    if !objects.invalid.is_empty() {
        return None;
    }
    let report = simulate(objects, &settings, &["input.yaml".to_owned()]);
    let pod = report.pods.into_iter().find(|pod| pod.pod == "default/p").expect("the pod is reported");
    let mut devices = Devices::new();
    for claim in &pod.claims {
        for held in &claim.devices {
            let request = format!("{}/{}", claim.pod_claim.as_deref().unwrap_or_default(), held.request);
            let device = format!("{}/{}/{}", held.driver, held.pool, held.device);
            devices.entry(request).or_default().push(device);
        }
    }
    Some((pod.node, devices))
}

#[test]
fn a_world_as_a_scenario_ends_as_the_allocator_answers() {
    let seed = number("STOWPLAN_SEED").unwrap_or_else(fresh_seed);
    println!("STOWPLAN_SEED={seed}");
    let (mut placed, mut pending) = (0, 0);
    for stream in 0..300 {
        let mut world = draw(seed, stream);
        // With stock gates, or else most worlds have fields that an API server drops.
        world["features"] = cluster::features();
        let Some((node, devices)) = simulated(&world) else { continue };
        let answers = Ours::read(&world).expect("a generated world can be read").answer();
        let right = scenario::placements(&world, &answers);
        let told = || format!("STOWPLAN_SEED={seed}, world {stream}:\n{}", scenario::files(&world, &answers));
        if let Some(node) = node {
            placed += 1;
            assert_eq!(right.get(&node), Some(&devices), "{}", told());
        } else {
            pending += 1;
            assert!(right.is_empty(), "{}", told());
        }
    }
    assert!(placed > 15 && pending > 15, "{placed} placed and {pending} pending show little");
}
