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
