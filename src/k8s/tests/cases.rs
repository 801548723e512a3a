//! Whole files in, objects and findings out.

use crate::k8s::{Objects, read};
use crate::model::Features;

pub(super) fn read_text(text: &str) -> Objects {
    read([("input.yaml", text)], &Features::default()).unwrap()
}

/// `object field: message` of every finding.
pub(super) fn findings(text: &str) -> Vec<String> {
    let objects = read_text(text);
    let line = |f: &crate::k8s::Finding| format!("{} {}: {}", f.object, f.field, f.message);
    objects.invalid.iter().map(line).collect()
}

#[test]
fn a_flat_request_of_v1_is_refused_with_the_right_form() {
    let objects = read_text(
        "\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata:
  name: flat
spec:
  devices:
    requests:
    - name: gpu
      deviceClassName: gpu.example.com
      count: 1
",
    );
    assert!(objects.claims.is_empty());
    let finding = &objects.invalid[0];
    assert_eq!(finding.object, "ResourceClaim/default/flat");
    assert_eq!(finding.field, "spec.devices.requests[0].deviceClassName");
    assert_eq!(
        finding.message,
        "unknown field \"spec.devices.requests[0].deviceClassName\": it belongs under `exactly`"
    );
    assert_eq!((finding.file.as_str(), finding.line), ("input.yaml", 9));
    assert_eq!(
        finding.hint.as_deref(),
        Some("write:\n- name: gpu\n  exactly:\n    deviceClassName: gpu.example.com\n    count: 1")
    );
    assert_eq!(objects.invalid[1].hint, None);
    assert!(objects.refusal("ResourceClaim/default/flat").is_some());
}

#[test]
fn the_mistakes_of_articles_get_their_right_form() {
    let claim = |request: &str, version: &str| {
        format!(
            "apiVersion: resource.k8s.io/{version}\nkind: ResourceClaimTemplate\nmetadata: {{name: t}}\n\
             spec: {{spec: {{devices: {{requests: [{request}]}}}}}}\n"
        )
    };
    let table = [
        (
            claim("{name: g, deviceClassName: x}", "v1"),
            "it belongs under `exactly`",
            "  exactly:\n    deviceClassName: x",
        ),
        (
            claim("{name: g, exactly: {deviceClassName: x}, count: 2}", "v1beta2"),
            "it belongs under `exactly`",
            "    deviceClassName: x\n    count: 2",
        ),
        (
            claim("{name: g, exactly: {deviceClassName: x}}", "v1beta1"),
            "requests of resource.k8s.io/v1beta1 have no `exactly`",
            "- name: g\n  deviceClassName: x",
        ),
        (
            claim("{name: g, firstAvailable: [{name: a, exactly: {deviceClassName: x}}]}", "v1"),
            "entries of `firstAvailable` have no `exactly`",
            "- name: a\n  deviceClassName: x",
        ),
        (
            claim("{name: g, exactly: {deviceClassName: x, selectors: [{expression: 'true'}]}}", "v1"),
            "it belongs under `cel`",
            "- cel:\n    expression:",
        ),
        (
            claim("{name: g, exactly: {deviceClassName: x, selectors: [{cel: 'true'}]}}", "v1"),
            "expected a map, found the string \"true\"",
            "as `expression:`",
        ),
        (
            claim("{name: g, exactly: {deviceClass: x}}", "v1"),
            "unknown field",
            "did you mean `deviceClassName`?",
        ),
        (claim("{name: g, exactly: {deviceClassName: 5}}", "v1"), "found the number 5", "put it in quotes"),
    ];
    for (text, message, hint) in table {
        let finding = read_text(&text).invalid.remove(0);
        assert!(finding.message.contains(message), "{text}: {finding:?}");
        assert!(finding.hint.as_ref().is_some_and(|found| found.contains(hint)), "{text}: {finding:?}");
    }
}

#[test]
fn fields_of_a_later_release_are_let_pass_in_what_a_server_stored() {
    let node = "apiVersion: v1\nkind: Node\nmetadata: {name: n1, VERSION}\nspec: {quantumLink: true}\n";
    assert_eq!(findings(&node.replace("VERSION", "resourceVersion: '5'")), [] as [String; 0]);
    assert_eq!(findings(&node.replace("VERSION", "uid: u")).len(), 1);
    let misspelt = node.replace("quantumLink", "unscheduleable").replace("VERSION", "resourceVersion: '5'");
    assert_eq!(findings(&misspelt).len(), 1);
}
