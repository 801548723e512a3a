//! Bytes as a manifest: read, checked and simulated, they end in a report that is always the same, and
//! whatever is wrong with them has a place.

use std::collections::BTreeMap;

use stowplan::cli::OutputFormat;
use stowplan::config::SimulateSettings;
use stowplan::k8s::{Finding, Objects, ReadError, read};
use stowplan::model::{FeatureGate, Features, KubernetesVersion};
use stowplan::simulate::report::SimulationReport;
use stowplan::simulate::simulate;
use stowplan::simulate::table::{self, Detail};

const FILE: &str = "input.yaml";

/// Holds reader, rules and simulation to their promises, in the oldest release or in the newest one with
/// every gate, as the length has it. Says how far the text comes.
pub fn check(bytes: &[u8]) -> &'static str {
    let Ok(text) = std::str::from_utf8(bytes) else { return "no text" };
    if bytes.len().is_multiple_of(2) {
        return check_with(text, Features::of(KubernetesVersion::V1_34));
    }
    let every =
        FeatureGate::ALL.iter().fold(Features::default(), |features, gate| features.with(*gate, true));
    check_with(text, every)
}

fn check_with(text: &str, features: Features) -> &'static str {
    let once = read([(FILE, text)], &features);
    let again = read([(FILE, text)], &features);
    assert_eq!(format!("{once:?}"), format!("{again:?}"), "read twice");
    let (once, again) = match (once, again) {
        (Ok(once), Ok(again)) => (once, again),
        (Err(error), _) | (_, Err(error)) => {
            has_place(text, &error);
            return "no YAML";
        }
    };
    once.invalid.iter().for_each(|finding| has_a_place(text, finding));
    let verdict = if once.pods.is_empty() && once.workloads.is_empty() { "no pods" } else { "pods" };
    let settings = settings(features);
    let report = simulate(bounded(once), &settings, &[FILE.to_owned()]);
    assert_eq!(report, simulate(bounded(again), &settings, &[FILE.to_owned()]), "simulated twice");
    prints(&report);
    verdict
}

fn has_place(text: &str, error: &ReadError) {
    let place = error.error.place;
    assert!(is_line(text, place.line) && place.column > 0, "{error}");
    assert!(!error.error.message.is_empty(), "{error}");
}

fn has_a_place(text: &str, finding: &Finding) {
    assert!(is_line(text, finding.line), "{finding:?}");
    assert_eq!(finding.file, FILE, "{finding:?}");
    assert!(!finding.object.is_empty() && !finding.message.is_empty(), "{finding:?}");
}

/// Whether there is such a line; what is missing at the end may be found after the last one.
fn is_line(text: &str, line: u32) -> bool {
    let breaks = text.chars().filter(|c| matches!(c, '\n' | '\r')).count();
    (1..=breaks + 2).contains(&(line as usize))
}

fn settings(features: Features) -> SimulateSettings {
    SimulateSettings {
        sources: Vec::new(),
        output: OutputFormat::Json,
        scheduler_names: Vec::new(),
        features,
        seed: 0,
        colour: false,
        remarks: false,
        progress: false,
    }
}

/// A world of a size that is simulated at once. A text of a few bytes may ask for all pods of a cluster.
fn bounded(mut objects: Objects) -> Objects {
    objects.nodes.truncate(8);
    objects.pods.truncate(16);
    objects.workloads.truncate(4);
    for workload in &mut objects.workloads {
        workload.object.replicas = workload.object.replicas.map(|replicas| replicas.min(4));
    }
    objects
}

fn prints(report: &SimulationReport) {
    let json = serde_json::to_value(report).expect("a report as JSON");
    let yaml = serde_saphyr::to_string(report).expect("a report as YAML");
    let read: serde_json::Value = serde_saphyr::from_str(&yaml).expect("YAML that was written");
    assert_eq!(read, json, "the report as YAML, and as JSON");
    for detail in [Detail::Short, Detail::Wide] {
        assert!(!table::render(report, &BTreeMap::new(), detail, false).is_empty());
    }
}
