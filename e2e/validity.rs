//! Is what we refuse what a real API server refuses? Mutated objects of every kind that is read are
//! given to both: kube-apiserver 1.37 answers a strict dry run. Compared are the verdict, the fields
//! it names, and unknown fields. A difference is made smaller and printed.
//!
//! Not drawn: what a server sets in `metadata`, namespaces, and statuses but those of nodes, claims,
//! pods and taint rules.
//!
//! Each run draws other objects and prints its seed. `STOWPLAN_SEED` repeats a run,
//! `STOWPLAN_OBJECTS` says how many objects each of the two API servers judges.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "this test starts processes")]
#![allow(
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    reason = "this is a test"
)]
#![allow(missing_docs, reason = "this is a test")]

#[path = "validity/bases.rs"]
mod bases;
#[path = "validity/campaign.rs"]
mod campaign;
#[allow(dead_code, reason = "shared with another test")]
#[path = "differential/chance.rs"]
mod chance;
#[path = "validity/differences.rs"]
mod differences;
#[path = "validity/mutate.rs"]
mod mutate;
#[path = "validity/ours.rs"]
mod ours;
#[allow(dead_code, reason = "shared with another test")]
#[path = "cluster/plane.rs"]
mod plane;
#[path = "validity/pools.rs"]
mod pools;
#[path = "validity/server.rs"]
mod server;
#[path = "validity/shrink.rs"]
mod shrink;
#[path = "validity/verdict.rs"]
mod verdict;

use std::time::SystemTime;

use stowplan::model::{FeatureGate, Features};

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

fn fresh() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.subsec_nanos().into())
}

/// Objects before an API server with these gates, and before ours.
fn judged_alike(name: &str, features: &Features, gates: &str) {
    let Some(binary) = plane::built() else { return };
    let seed = number("STOWPLAN_SEED").unwrap_or_else(fresh);
    let objects = number("STOWPLAN_OBJECTS").unwrap_or(1500);
    println!("{name}: STOWPLAN_SEED={seed} STOWPLAN_OBJECTS={objects}");
    let versions = server::SERVED.join(",");
    let flags = ["--runtime-config", &versions, "--feature-gates", gates];
    let plane = plane::Plane::start_with(binary, name, &flags);
    let threads = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let outcome = threads.unwrap().block_on(campaign::run(&plane, features, seed, objects));
    println!("{name}: {outcome}");
    outcome.assert_no_difference();
}

#[test]
fn objects_are_refused_as_kube_apiserver_refuses_them() {
    judged_alike("validity", &Features::default(), "AllAlpha=false");
}

#[test]
fn so_they_are_with_every_feature_on() {
    let off = Features::default();
    let all = FeatureGate::ALL.iter().copied();
    let features = all.clone().fold(off.clone(), |features, gate| features.with(gate, true));
    let gates: Vec<_> =
        all.filter(|gate| !off.has(*gate)).map(|gate| format!("{}=true", gate.name())).collect();
    // These are no gates of a scheduler.
    let more = "NodeDeclaredFeatures=true,DRAResourcePoolStatus=true,DRAPartitionableDevicesType=true,\
                DRANodeAllocatableResources=true";
    judged_alike("validity-all", &features, &format!("{},{more}", gates.join(",")));
}

#[test]
fn every_difference_on_purpose_is_told() {
    let decision = std::fs::read_to_string(plane::root().join("docs/adr/003-input-checks.md")).unwrap();
    for differences::Difference { name, what, why, link, .. } in &differences::DIFFERENCES {
        assert!(plane::root().join(link).exists(), "{name}: {link}");
        let row = format!("| {name} | {what} | {why} |");
        assert!(decision.contains(&row), "{row}");
    }
}
