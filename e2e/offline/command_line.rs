//! The manners of the command line: formats, colour, exit codes and words of advice.

use std::process::Command;

use serde_json::Value;

use super::command::{command, root, run, stowplan};

const NUMA: &str = "docs/examples/numa-aligned-gpus.yaml";
const SHARED: &str = "docs/examples/shared-gpu.yaml";
const FLAT: &str = "e2e/scenarios/B21-flat-deviceclassname-v1/input.yaml";

#[test]
fn exit_codes_tell_placed_from_pending_from_unusable() {
    for (arguments, code) in [
        (vec!["simulate", "-f", NUMA], 0),
        (vec!["simulate", "-f", SHARED], 1),
        (vec!["simulate", "-f", FLAT], 1),
        (vec!["simulate"], 2),
        (vec!["simulate", "-f", "no/such/file.yaml"], 2),
        (vec!["simulate", "-f", NUMA, "-o", "xml"], 2),
        (vec!["simulate", "-f", NUMA, "--kubernetes-version", "1.2"], 2),
        (vec!["simulate", "-f", NUMA, "--feature-gates", "NoSuchGate=true"], 2),
        (vec!["simulate", "-f", "-", "-f", "-"], 2),
        (vec!["stow"], 2),
        (vec!["--version"], 0),
        (vec!["simulate", "--help"], 0),
    ] {
        let run = stowplan(&arguments);
        assert_eq!(run.code, code, "{arguments:?}: {}{}", run.stdout, run.stderr);
        assert_eq!(run.stdout.is_empty(), code == 2, "{arguments:?}");
    }
}

#[test]
fn errors_say_what_is_possible_instead() {
    let run = stowplan(&["simulate", "-f", NUMA, "--kubernetes-version", "1.2"]);
    assert!(run.stderr.contains("1.34") && run.stderr.contains("1.37"), "{}", run.stderr);
    let run = stowplan(&["simulate", "-f", NUMA, "--feature-gates", "NoSuchGate=true"]);
    assert!(run.stderr.contains("DRADeviceTaints"), "{}", run.stderr);
}

#[test]
fn yaml_says_what_json_says() {
    let json = stowplan(&["simulate", "-f", SHARED, "-o", "json"]).json();
    let yaml = stowplan(&["simulate", "-f", SHARED, "-o", "yaml"]);
    let yaml: Value = serde_saphyr::from_str(&yaml.stdout).expect("YAML");
    assert_eq!(json, yaml);
    assert_eq!(json["apiVersion"], "stowplan.dev/v1alpha1");
    assert_eq!(json["kind"], "SimulationReport");
}

#[test]
fn the_fields_of_the_report_are_those_promised() {
    let json = stowplan(&["simulate", "-f", SHARED, "-o", "json"]).json();
    let keys = |value: &Value| -> Vec<String> { value.as_object().expect("a map").keys().cloned().collect() };
    assert_eq!(keys(&json), ["apiVersion", "kind", "pods", "invalid"]);
    let pod = &json["pods"][1];
    assert_eq!(keys(pod), ["pod", "node", "claims", "message"]);
    assert_eq!(keys(&pod["claims"][0]), ["podClaim", "claim", "devices"]);
    let device = &pod["claims"][0]["devices"][0];
    let promised =
        ["request", "driver", "pool", "device", "shareID", "consumedCapacity", "adminAccess", "tolerations"];
    assert_eq!(keys(device), promised);
    assert_eq!(device["consumedCapacity"]["memory"], "35Gi");
    assert!(device["shareID"].is_string());
    let json = stowplan(&["simulate", "-f", FLAT, "-o", "json"]).json();
    assert_eq!(keys(&json["invalid"][0]), ["object", "field", "message", "hint", "file", "line"]);
}

#[test]
fn the_table_names_pods_nodes_devices_and_reasons() {
    let table = stowplan(&["simulate", "-f", SHARED]);
    for words in ["POD", "NODE", "default/b-serve", "shared-node-1", "gpu-0", "0/2 nodes are available"] {
        assert!(table.stdout.contains(words), "{words} is not in\n{}", table.stdout);
    }
    let wide = stowplan(&["simulate", "-f", SHARED, "-o", "wide"]);
    assert!(wide.stdout.contains("35Gi"), "{}", wide.stdout);
    let findings = stowplan(&["simulate", "-f", FLAT]);
    for words in ["input.yaml:", "ResourceClaim/default/flat", "exactly"] {
        assert!(findings.stdout.contains(words), "{words} is not in\n{}", findings.stdout);
    }
}

#[test]
fn what_is_not_a_terminal_gets_no_colour_and_no_progress() {
    for no_colour in [None, Some("1")] {
        let mut command = command();
        if let Some(value) = no_colour {
            command.env("NO_COLOR", value);
        }
        let run = run(command.args(["simulate", "-f", SHARED]), "");
        assert!(!run.stdout.contains('\u{1b}') && !run.stderr.contains('\u{1b}'), "{}", run.stdout);
        assert_eq!(run.stderr, "");
    }
}

/// A terminal of util-linux' `script`, where there is one.
#[test]
fn a_terminal_gets_colour_unless_no_color_is_set() {
    let binary = env!("CARGO_BIN_EXE_stowplan");
    let line = format!("{binary} simulate -f {SHARED}");
    for (no_color, coloured) in [("", true), ("1", false)] {
        let mut terminal = Command::new("script");
        terminal.args(["-qec", &line, "/dev/null"]).current_dir(root());
        terminal.env("NO_COLOR", no_color).env("TERM", "xterm");
        let Ok(output) = terminal.output() else {
            eprintln!("no `script` here: the terminal was not tried");
            return;
        };
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("shared-node-1"), "{text}");
        assert_eq!(text.contains("\u{1b}["), coloured, "NO_COLOR={no_color:?}: {text}");
    }
}

#[test]
fn a_scheduler_name_narrows_the_pods_taken() {
    let all = stowplan(&["simulate", "-f", NUMA, "-o", "json"]).json();
    assert_eq!(all["pods"].as_array().map(Vec::len), Some(2));
    let none = stowplan(&["simulate", "-f", NUMA, "-o", "json", "--scheduler-name", "another"]);
    assert_eq!(none.json()["pods"].as_array().map(Vec::len), Some(0));
    assert_eq!(none.code, 0);
    let both = ["simulate", "-f", NUMA, "-o", "json", "--scheduler-name", "another", "--scheduler-name"];
    let run = stowplan(&[&both[..], &["default-scheduler"]].concat());
    assert_eq!(run.json()["pods"].as_array().map(Vec::len), Some(2));
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    for output in ["json", "table", "wide", "yaml"] {
        let first = stowplan(&["simulate", "-f", "docs/examples", "-o", output]);
        let second = stowplan(&["simulate", "-f", "docs/examples", "-o", output]);
        assert_eq!(first.stdout, second.stdout, "{output}");
    }
}

#[cfg(unix)]
#[test]
fn kubectl_finds_it_as_a_plugin() {
    let plugin = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("kubectl-stowplan");
    let _ = std::fs::remove_file(&plugin);
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_stowplan"), &plugin).expect("a link");
    let help = Command::new(&plugin).args(["simulate", "--help"]).output().expect("it starts");
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    assert!(help.contains("kubectl stowplan simulate"), "{help}");
}
