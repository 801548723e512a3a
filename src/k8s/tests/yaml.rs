//! YAML and JSON texts as trees.

use std::fmt::Write as _;

use crate::k8s::read;
use crate::k8s::tree::{Documents, MAX_DEPTH, Node, SyntaxError, Value};
use crate::model::Features;

fn all(text: &str) -> Result<Vec<serde_json::Value>, SyntaxError> {
    Documents::new(text).map(|node| node.map(|node| node.to_json())).collect()
}

fn one(text: &str) -> Node {
    Documents::new(text).next().unwrap().unwrap()
}

fn error(text: &str) -> SyntaxError {
    all(text).unwrap_err()
}

#[test]
fn every_value_knows_its_place() {
    let node = one("a: 1\nb:\n  - x: yes\n    w: [2, \"z\"]\n");
    let b = node.entry("b").unwrap();
    assert_eq!((b.place.line, b.place.column), (2, 1));
    let item = &b.node.items()[0];
    assert_eq!((item.place.line, item.place.column), (3, 5));
    let w = item.entry("w").unwrap();
    assert_eq!((w.place.line, w.place.column), (4, 5));
    assert_eq!((w.node.items()[1].place.line, w.node.items()[1].place.column), (4, 12));
    assert_eq!(item.get("x").unwrap().value, Value::Bool(true));
}

#[test]
fn documents_come_one_after_another_and_empty_ones_are_left_out() {
    let text = "---\na: 1\n---\n---\n# nothing\n---\nb: 2\n...\n";
    assert_eq!(all(text).unwrap(), [serde_json::json!({"a": 1}), serde_json::json!({"b": 2})]);
    assert_eq!(all("").unwrap(), [] as [serde_json::Value; 0]);
}

#[test]
fn json_is_read_as_well() {
    let text = r#"{"kind": "Pod", "n": 1e3, "s": "a\u0026b\/", "l": [true, null]}"#;
    let json = serde_json::json!({"kind": "Pod", "n": 1000.0, "s": "a&b/", "l": [true, null]});
    assert_eq!(all(text).unwrap(), [json]);
}

#[test]
fn items_of_lists_come_out_one_by_one_with_the_kind_that_the_list_implies() {
    let list =
        "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod}\n- {kind: Node}\nmetadata: {}\n";
    assert_eq!(all(list).unwrap().len(), 2);
    let typed = "apiVersion: v1\nitems:\n- {metadata: {name: a}}\n- {metadata: {name: b}}\nkind: PodList\n";
    let pods = all(typed).unwrap();
    assert_eq!(pods[0], serde_json::json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}));
    assert_eq!(pods.len(), 2);
    let other = "kind: Recipe\nitems:\n- {kind: egg}\n";
    assert_eq!(all(other).unwrap(), [serde_json::json!({"kind": "Recipe", "items": [{"kind": "egg"}]})]);
    let late = "items: [1, 2]\nkind: Recipe\n";
    assert_eq!(all(late).unwrap(), [serde_json::json!({"items": [1, 2], "kind": "Recipe"})]);
    assert_eq!(all("kind: PodList\nitems: []\n").unwrap(), [] as [serde_json::Value; 0]);
}

#[test]
fn an_em_dash_at_the_place_of_a_list_item_is_named() {
    let texts = [
        ("requests:\n— name: gpu\n  exactly: {}\n", 2, 1),
        ("requests:\n  — name: gpu\n    count: 1\n", 2, 3),
        ("values:\n  – a\n  – b\n", 2, 3),
        ("values:\n– a\n", 2, 1),
        ("a: 1\nvalues:\n   − name: x\n", 3, 4),
    ];
    for (text, line, column) in texts {
        let error = error(text);
        assert_eq!((error.place.line, error.place.column), (line, column), "{text}: {error}");
        assert!(error.message.contains("which is not YAML"), "{error}");
        assert!(error.hint.as_ref().unwrap().contains("`- "), "{error}");
    }
    assert!(all("note: — just a text\nother: 'x'\n").is_ok());
    assert!(all("note: |\n  — a poem\n").is_ok());
}

#[test]
fn duplicate_keys_are_refused_with_both_places() {
    let error = error("a: 1\nb: 2\na: 3\n");
    assert_eq!((error.place.line, error.message.as_str()), (3, "key \"a\" is already set in line 1"));
}

#[test]
fn aliases_are_followed_within_a_budget() {
    let text = "a: &x {k: [1, 2]}\nb: *x\nc:\n  <<: *x\n  k: own\n  m: 1\n";
    let json = serde_json::json!({"a": {"k": [1, 2]}, "b": {"k": [1, 2]}, "c": {"k": "own", "m": 1}});
    assert_eq!(all(text).unwrap(), [json]);
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..10 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        let _ = writeln!(bomb, "a{level}: &a{level} [{aliases}]");
    }
    assert!(error(&bomb).message.contains("aliases add more than"));
    assert!(error("a: &a [*a]\n").message.contains("contains itself"));
    assert!(all("a: *nothing\n").is_err());
}

#[test]
fn deep_nesting_and_broken_text_are_errors_with_a_place() {
    let deep = "[".repeat(MAX_DEPTH + 100);
    assert!(all(&deep).is_err());
    let deep = (0..MAX_DEPTH + 100).fold(String::new(), |text, level| text + &" ".repeat(level) + "a:\n");
    assert!(all(&deep).is_err());
    for (text, line) in [("a: [1, 2\nb: 3\n", 2), ("a: \"x\n", 1), ("a: b: c\n", 1), ("{a: 1", 1)] {
        let error = error(text);
        assert!(error.place.line >= line, "{text:?}: {error}");
    }
    assert!(error("a: .nan\n").message.contains("JSON cannot carry"));
    assert!(error("[1]: x\n").message.contains("a key must be a text"));
    assert!(error("a:\n\t- b\n").hint.unwrap().contains("not with tabs"));
}

#[test]
fn a_file_that_is_no_yaml_is_named_with_line_and_column() {
    let error = read([("bad.yaml", "kind: Pod\n  x: [\n")], &Features::default()).unwrap_err();
    assert!(error.to_string().starts_with("bad.yaml:2:"), "{error}");
}

#[test]
fn keys_of_other_types_become_texts() {
    let json = serde_json::json!({"true": 1, "5": 2, "1.5": 3});
    assert_eq!(all("yes: 1\n5: 2\n1.5: 3\n").unwrap(), [json]);
    assert!(error("~: 1\n").message.contains("not null"));
}

#[test]
fn managed_fields_of_a_dump_are_read() {
    let text = "\
managedFields:
- fieldsType: FieldsV1
  fieldsV1:
    f:metadata:
      f:labels:
        .: {}
        f:app.kubernetes.io/name: {}
      f:finalizers:
        v:\"resource.kubernetes.io/delete-protection\": {}
    f:spec:
      f:containers:
        k:{\"name\":\"main\"}:
          .: {}
          f:image: {}
      f:ports:
        k:{\"containerPort\":80,\"protocol\":\"TCP\"}:
          .: {}
";
    let node = one(text);
    let fields = node.get("managedFields").unwrap().items()[0].get("fieldsV1").unwrap();
    let spec = fields.get("f:spec").unwrap();
    assert!(spec.get("f:containers").unwrap().get("k:{\"name\":\"main\"}").is_some());
    assert!(spec.get("f:ports").unwrap().get("k:{\"containerPort\":80,\"protocol\":\"TCP\"}").is_some());
}

mod no_text_makes_the_reader_panic {
    use proptest::prelude::*;

    use crate::k8s::read;
    use crate::model::Features;

    /// Pieces of manifests in any order make texts that reach deeper than chance would.
    fn pieces() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c}\n".to_owned()),
            Just(
                "apiVersion: resource.k8s.io/v1beta1\nkind: ResourceSlice\nmetadata:\n  name: s\n".to_owned()
            ),
            Just("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n".to_owned()),
            Just("spec:\n  devices:\n    requests:\n    - ".to_owned()),
            Just("spec: {devices: [{name: d, basic: {capacity: {m: {value: ".to_owned()),
            Just("spec:\n  containers:\n  - resources: {requests: {cpu: ".to_owned()),
            Just("---\n".to_owned()),
            Just("}}}]}\n".to_owned()),
            "[ \\n:{}\\[\\],'\"&*!|>%@`#—a-z0-9_~<.-]{0,12}",
            any::<String>(),
        ];
        proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn whatever_it_says(text in pieces()) {
            let _ = read([("f.yaml", &*text)], &Features::default());
        }
    }
}
