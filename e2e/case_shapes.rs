//! Every shape of case that the allocator must get right is shown by something: `case_shapes.yaml`
//! says by what, and `docs/case-shapes.md` is made of it (`STOWPLAN_BLESS=1 cargo test --test
//! case_shapes` writes it anew).
#![allow(missing_docs, clippy::disallowed_methods, clippy::panic, reason = "a test")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Topic {
    topic: String,
    shapes: Vec<Shape>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shape {
    /// The name, unique in the file.
    #[serde(rename = "shape")]
    name: String,
    what: String,
    #[serde(default)]
    conformance: Vec<String>,
    #[serde(default)]
    scenarios: Vec<String>,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn topics() -> Vec<Topic> {
    serde_saphyr::from_str(&read(&root().join("e2e/case_shapes.yaml"))).expect("topics with shapes")
}

fn shapes(topics: &[Topic]) -> impl Iterator<Item = &Shape> {
    topics.iter().flat_map(|topic| &topic.shapes)
}

fn entries(folder: &str) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).expect("a folder of the package");
    entries.map(|entry| entry.expect("a readable folder").path())
}

/// The cases that ask for an allocation; those of `refused_*` are wrong answers for the judge.
fn recorded_cases() -> BTreeSet<String> {
    let files = entries("e2e/conformance").filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        path.extension().is_some_and(|extension| extension == "cases") && !name.starts_with("refused_")
    });
    let mut cases = BTreeSet::new();
    for file in files {
        let text = read(&file);
        let of_file = text.lines().filter_map(|line| line.strip_prefix("case "));
        cases.extend(of_file.map(|name| name.trim().to_owned()));
    }
    cases
}

#[test]
fn every_shape_is_shown_by_something_that_is_there() {
    let (topics, cases) = (topics(), recorded_cases());
    let mut names = BTreeSet::new();
    for shape in shapes(&topics) {
        let name = &shape.name;
        assert!(names.insert(name), "{name} stands twice");
        assert!(!shape.what.trim().is_empty(), "{name} says nothing");
        assert!(!shape.conformance.is_empty() || !shape.scenarios.is_empty(), "nothing shows {name}");
        for case in &shape.conformance {
            assert!(cases.contains(case), "{name}: there is no conformance case {case}");
        }
        for scenario in &shape.scenarios {
            let expected = root().join("e2e/scenarios").join(scenario).join("expected.yaml");
            assert!(expected.is_file(), "{name}: there is no scenario {scenario}");
        }
    }
}

#[test]
fn every_recorded_case_is_of_one_shape() {
    let topics = topics();
    let mut named: Vec<_> = shapes(&topics).flat_map(|shape| shape.conformance.iter().cloned()).collect();
    named.sort();
    assert_eq!(named, recorded_cases().into_iter().collect::<Vec<_>>());
}

#[test]
fn the_table_is_that_of_the_shapes() {
    let path = root().join("docs/case-shapes.md");
    let table = table(&topics());
    if std::env::var_os("STOWPLAN_BLESS").is_some() {
        std::fs::write(&path, table).expect("a writable folder");
        return;
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == table, "docs/case-shapes.md is stale: STOWPLAN_BLESS=1 cargo test --test case_shapes");
}

fn table(topics: &[Topic]) -> String {
    let (mut cases, mut scenarios) = (0, BTreeSet::new());
    for shape in shapes(topics) {
        cases += shape.conformance.len();
        scenarios.extend(&shape.scenarios);
    }
    let mut text = format!(
        "# Case shapes\n\n\
         What the allocator must get right, and what shows each: a case of `e2e/conformance`, recorded from upstream's\n\
         code, or a folder of `e2e/scenarios`. {} shapes, {cases} cases, {} scenarios. Made of `e2e/case_shapes.yaml`.\n",
        shapes(topics).count(),
        scenarios.len(),
    );
    for Topic { topic, shapes } in topics {
        let _ = write!(text, "\n## {topic}\n\n| shape | what | shown by |\n|---|---|---|\n");
        for Shape { name, what, conformance, scenarios } in shapes {
            let cases = conformance.iter().map(|case| format!("`{case}`"));
            let linked = |scenario: &String| format!("[{scenario}](../e2e/scenarios/{scenario})");
            let shown: Vec<_> = cases.chain(scenarios.iter().map(linked)).collect();
            let _ = writeln!(text, "| {name} | {} | {} |", what.trim(), shown.join(", "));
        }
    }
    text
}
