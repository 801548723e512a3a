//! Where manifests come from: files, folders, globs, standard input, lists and dumps.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::command::{root, stowplan, stowplan_reading};

const NUMA: &str = "docs/examples/numa-aligned-gpus.yaml";

/// A fresh folder below the build's own temporary folder.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the folder can be made");
    folder
}

fn documents(text: &str) -> Vec<Value> {
    serde_saphyr::from_multiple(text).expect("YAML")
}

fn numa() -> String {
    fs::read_to_string(root().join(NUMA)).expect("the example can be read")
}

/// Node and devices of every pod.
fn placements(report: &Value) -> Vec<(String, String, Vec<String>)> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let pods = report["pods"].as_array().expect("pods");
    pods.iter()
        .map(|pod| {
            let claims = pod["claims"].as_array().expect("claims").iter();
            let devices = claims.flat_map(|claim| claim["devices"].as_array().expect("devices"));
            (text(&pod["pod"]), text(&pod["node"]), devices.map(|d| text(&d["device"])).collect())
        })
        .collect()
}

#[test]
fn a_file_standard_input_a_glob_and_a_folder_give_one_answer() {
    let folder = folder("one-answer");
    let text = numa();
    for (at, document) in text.split("\n---\n").enumerate() {
        fs::write(folder.join(format!("{at:02}.yaml")), document).expect("written");
    }
    fs::write(folder.join("notes.txt"), "not a manifest: [").expect("written");
    fs::write(folder.join(".hidden.yaml"), "not a manifest: [").expect("written");
    let file = stowplan(&["simulate", "-f", NUMA, "-o", "json"]);
    assert_eq!(file.code, 0, "{}", file.stderr);
    let expected = placements(&file.json());
    assert_eq!(expected.len(), 2);
    let folder = folder.display().to_string();
    for source in [folder.clone(), format!("{folder}/*.yaml")] {
        let run = stowplan(&["simulate", "-f", &source, "-o", "json"]);
        assert_eq!(placements(&run.json()), expected, "{source}");
    }
    let run = stowplan_reading(&["simulate", "-f", "-", "-o", "json"], &text);
    assert_eq!(placements(&run.json()), expected, "standard input");
    assert!(run.stdout.contains("\"invalid\": []"));
}

#[test]
fn a_dump_is_read_as_the_objects_in_it() {
    let expected = placements(&stowplan(&["simulate", "-f", NUMA, "-o", "json"]).json());
    let list = json!({"apiVersion": "v1", "kind": "List", "items": documents(&numa())});
    let json = serde_json::to_string_pretty(&list).expect("JSON");
    let yaml = serde_saphyr::to_string(&list).expect("YAML");
    for dump in [json, yaml] {
        let run = stowplan_reading(&["simulate", "-f", "-", "-o", "json"], &dump);
        assert_eq!(placements(&run.json()), expected, "{}", run.stderr);
    }
}

#[test]
fn a_list_of_one_kind_is_read_too() {
    let mut slices = Vec::new();
    let mut others = Vec::new();
    for document in documents(&numa()) {
        if document["kind"] == "ResourceSlice" { slices.push(document) } else { others.push(document) }
    }
    let list = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSliceList", "items": slices});
    let mut input = serde_saphyr::to_string(&list).expect("YAML");
    for other in others {
        input.push_str("---\n");
        input.push_str(&serde_saphyr::to_string(&other).expect("YAML"));
    }
    let expected = placements(&stowplan(&["simulate", "-f", NUMA, "-o", "json"]).json());
    let run = stowplan_reading(&["simulate", "-f", "-", "-o", "json"], &input);
    assert_eq!(placements(&run.json()), expected, "{}", run.stderr);
}

#[test]
fn a_file_that_is_no_yaml_stops_everything_and_its_place_is_named() {
    let folder = folder("no-yaml");
    fs::write(folder.join("a.yaml"), numa()).expect("written");
    fs::write(folder.join("b.yaml"), "kind: Pod\nmetadata:\n  name: [unclosed\n").expect("written");
    let run = stowplan(&["simulate", "-f", &folder.display().to_string()]);
    assert_eq!(run.code, 2, "{}{}", run.stdout, run.stderr);
    assert_eq!(run.stdout, "", "nothing is done");
    assert!(run.stderr.contains("b.yaml:"), "{}", run.stderr);
}

#[test]
fn input_that_is_not_text_or_not_there_is_named() {
    let folder = folder("not-text");
    fs::write(folder.join("a.yaml"), [0xff, 0xfe, 0x00]).expect("written");
    let empty = folder.join("empty");
    fs::create_dir_all(&empty).expect("made");
    let missing = folder.join("missing.yaml");
    for path in [folder.join("a.yaml"), empty, missing] {
        let path = path.display().to_string();
        let run = stowplan(&["simulate", "-f", &path]);
        assert_eq!(run.code, 2, "{path}");
        assert!(run.stderr.contains(&path), "{}", run.stderr);
    }
}

#[test]
fn empty_input_is_a_world_without_pods() {
    for text in ["", "---\n---\n", "# a remark only\n"] {
        let run = stowplan_reading(&["simulate", "-f", "-", "-o", "json"], text);
        assert_eq!(run.code, 0, "{text:?}: {}", run.stderr);
        assert_eq!(run.json()["pods"], json!([]), "{text:?}");
    }
}

#[test]
fn other_kinds_are_counted_and_are_no_fault() {
    let extra = "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n---\napiVersion: v1\nkind: Service\nmetadata:\n  name: s\n";
    let run = stowplan_reading(&["simulate", "-f", "-"], &format!("{}{extra}", numa()));
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("ConfigMap") && run.stdout.contains("Service"), "{}", run.stdout);
    let run = stowplan_reading(&["simulate", "-f", "-", "-o", "json"], &format!("{}{extra}", numa()));
    assert!(run.json()["pods"].as_array().is_some_and(|pods| pods.len() == 2));
}
