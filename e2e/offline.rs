//! The binary as its users meet it, without a cluster: every scenario of e2e/scenarios, the
//! examples, and the manners of the command line.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "this test runs the binary")]

#[path = "offline/command.rs"]
mod command;
#[path = "offline/command_line.rs"]
mod command_line;
#[path = "offline/expectation.rs"]
mod expectation;
#[path = "offline/inputs.rs"]
mod inputs;

use std::path::PathBuf;

use expectation::{Misses, check};

/// The folders of e2e/scenarios, sorted by name.
fn scenarios() -> Vec<PathBuf> {
    let folder = command::root().join("e2e/scenarios");
    let entries = std::fs::read_dir(&folder).expect("e2e/scenarios is there").filter_map(Result::ok);
    let mut found: Vec<_> =
        entries.map(|entry| entry.path()).filter(|path| path.join("expected.yaml").is_file()).collect();
    found.sort();
    found
}

#[test]
fn every_scenario_ends_as_expected() {
    let scenarios = scenarios();
    assert!(scenarios.len() > 30, "only {} scenarios found", scenarios.len());
    let mut hard = Vec::new();
    let mut soft = Vec::new();
    for scenario in &scenarios {
        let name = scenario.file_name().expect("a folder").to_string_lossy().into_owned();
        let Misses { hard: broken, soft: weak } = check(scenario);
        hard.extend(broken.into_iter().map(|miss| format!("{name}: {miss}")));
        soft.extend(weak.into_iter().map(|miss| format!("{name}: {miss}")));
    }
    eprintln!("{} scenarios, {} hard misses, {} soft misses", scenarios.len(), hard.len(), soft.len());
    for miss in &soft {
        eprintln!("soft: {miss}");
    }
    assert!(hard.is_empty(), "\n{}", hard.join("\n"));
}

#[test]
fn every_example_has_an_expectation() {
    let folder = command::root().join("docs/examples");
    let entries = std::fs::read_dir(folder).expect("docs/examples is there").filter_map(Result::ok);
    for entry in entries.filter(|entry| entry.path().extension().is_some_and(|e| e == "yaml")) {
        let stem = entry.path().file_stem().expect("a file").to_string_lossy().into_owned();
        let scenario = command::root().join("e2e/scenarios").join(format!("example-{stem}"));
        assert!(scenario.join("expected.yaml").is_file(), "no {}", scenario.display());
        let overview = std::fs::read_to_string(command::root().join("docs/examples/README.md"));
        assert!(overview.expect("an overview").contains(&format!("({stem}.yaml)")), "{stem} is not listed");
    }
}
