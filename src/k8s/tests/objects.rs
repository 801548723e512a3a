//! What is decoded, from files and from a server's JSON.

use std::sync::Arc;

use serde_json::json;

use super::cases::{findings, read_text};
use crate::k8s::tree::Node;
use crate::k8s::{Interner, WorkloadKind, decode, encode, read};
use crate::model::pod::UnservedFeature;
use crate::model::{AllocationMode, AttributeValue, Features, KubernetesVersion, RequestKind};

#[test]
fn older_versions_become_what_v1_says() {
    let v1 = "\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: c}
spec:
  devices:
    requests:
    - name: gpu
      exactly: {deviceClassName: gpu.example.com, count: 2, adminAccess: false, tolerations: [{operator: Exists}]}
    - name: alt
      firstAvailable: [{name: a, deviceClassName: x, allocationMode: All}]
";
    let v1beta1 = "\
apiVersion: resource.k8s.io/v1beta1
kind: ResourceClaim
metadata: {name: c}
spec:
  devices:
    requests:
    - {name: gpu, deviceClassName: gpu.example.com, count: 2, adminAccess: false, tolerations: [{operator: Exists}]}
    - name: alt
      firstAvailable: [{name: a, deviceClassName: x, allocationMode: All}]
";
    let spec = |text: &str| read_text(text).claims.remove(0).object.spec;
    assert_eq!(spec(v1), spec(v1beta1));
    assert_eq!(spec(v1), spec(&v1.replace("/v1\n", "/v1beta2\n")));
}

#[test]
fn devices_of_v1beta1_are_taken_out_of_basic() {
    let slice = |version: &str, device: &str| {
        let text = format!(
            "\
apiVersion: resource.k8s.io/{version}
kind: ResourceSlice
metadata: {{name: s}}
spec:
  driver: gpu.example.com
  pool: {{name: p, generation: 3, resourceSliceCount: 1}}
  nodeName: n1
  devices: [{device}]
"
        );
        read_text(&text).slices.remove(0).object
    };
    let content = "attributes: {model: {string: a100}}, capacity: {memory: {value: 80Gi}}, taints: [{key: a, effect: None}]";
    let old = slice("v1beta1", &format!("{{name: gpu-0, basic: {{{content}}}}}"));
    assert_eq!(old, slice("v1", &format!("{{name: gpu-0, {content}}}")));
    assert_eq!(old.devices[0].content.attributes[0].1, AttributeValue::String("a100".into()));
}

#[test]
fn defaults_are_those_of_an_api_server() {
    let objects = read_text(
        "\
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  hostNetwork: true
  containers:
  - name: m
    image: i
    resources: {limits: {cpu: 1, example.com/gpu: 2}, requests: {cpu: 500m}}
    ports: [{containerPort: 80}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: c}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: a}}]}}
---
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {capacity: {cpu: 4, pods: 10}}
",
    );
    assert_eq!(objects.invalid, []);
    let pod = &objects.pods[0].object;
    assert_eq!(
        (pod.key.to_string().as_str(), pod.scheduler_name.as_str()),
        ("default/p", "default-scheduler")
    );
    assert_eq!(pod.requests().milli_cpu, 500);
    assert_eq!(pod.requests().get("example.com/gpu"), 2);
    let port = &pod.containers[0].host_ports[0];
    assert_eq!((port.ip.as_str(), port.protocol.as_str(), port.port), ("0.0.0.0", "TCP", 80));
    let RequestKind::Exactly(requirement) = &objects.claims[0].object.spec.requests[0].kind else { panic!() };
    assert_eq!(requirement.mode, AllocationMode::ExactCount(1));
    let node = &objects.nodes[0].object;
    assert_eq!((node.allocatable.milli_cpu, node.allocatable_pods), (4000, 10));
}

#[test]
fn a_running_pod_says_what_it_has_while_it_is_resized() {
    let pod = |status: &str| {
        let text = format!(
            "\
apiVersion: v1
kind: Pod
metadata: {{name: p}}
spec:
  nodeName: n1
  containers: [{{name: a, image: i, resources: {{requests: {{cpu: 4}}}}}}, {{name: b, image: i, resources: {{requests: {{cpu: 1}}}}}}]
  initContainers: [{{name: s, image: i, restartPolicy: Always, resources: {{requests: {{cpu: 1}}}}}}]
status: {{phase: Running, {status}}}
"
        );
        let objects = read_text(&text);
        assert_eq!(objects.invalid, []);
        objects.pods[0].object.clone()
    };
    let of = |name: &str, allocated: &str, actual: &str| {
        format!(
            "{{name: {name}, allocatedResources: {{cpu: {allocated}}}, resources: {{requests: {{cpu: {actual}}}}}}}"
        )
    };
    let containers = format!("containerStatuses: [{}, {}]", of("a", "2", "3"), of("b", "1", "1"));
    let growing = pod(&containers);
    assert_eq!((growing.requests().milli_cpu, growing.usage().milli_cpu), (6000, 6000));
    assert!(growing.containers[1].allocated.is_empty(), "it has what it asks for");
    let shrinking = pod(&format!("initContainerStatuses: [{}]", of("s", "1", "3")));
    assert_eq!(shrinking.usage().milli_cpu, 8000);
    let refused = "conditions: [{type: Ready, status: 'False'}, {type: PodResizePending, status: 'True', reason: REASON}]";
    let refused =
        |reason| pod(&format!("{containers}, {}", refused.replace("REASON", reason))).usage().milli_cpu;
    assert_eq!((refused("Deferred"), refused("Infeasible")), (6000, 4000));
    let whole = pod("allocatedResources: {cpu: 9}, resources: {requests: {cpu: 2}}");
    assert_eq!(whole.usage().milli_cpu, 9000);
}

#[test]
fn unknown_members_of_unions_stay_unknown() {
    let claim = json!({
        "metadata": {"name": "c", "namespace": "d", "futureField": 1},
        "spec": {"devices": {
            "requests": [{"name": "r", "byMagic": {}}],
            "constraints": [{"sameColour": true}],
        }},
    });
    let claim = decode::claim(&Node::from(&claim), &mut Interner::default()).unwrap();
    assert_eq!(claim.spec.requests[0].kind, RequestKind::Unknown);
    assert_eq!(claim.spec.constraints[0].kind, crate::model::ConstraintKind::Unknown);
    let slice = json!({"spec": {"devices": [{"name": "d", "attributes": {"a": {"colour": 1}}}]}});
    let slice = decode::slice(&Node::from(&slice), &mut Interner::default()).unwrap();
    assert_eq!(slice.devices[0].content.attributes[0].1, AttributeValue::Unsupported);
    let rule = json!({
        "metadata": {"name": "r"},
        "spec": {"deviceSelector": {"deviceClassName": "x"}, "taint": {"key": "a", "effect": "NoExecute"}},
    });
    let rule = decode::taint_rule(&Node::from(&rule), &mut Interner::default()).unwrap();
    assert_eq!(rule.selector, None, "a criterion that is not known must not taint every device");
}

#[test]
fn a_wrong_type_from_a_server_is_an_error_with_its_field() {
    let pod = json!({"metadata": {"name": "p"}, "spec": {"priority": "high"}});
    let error = decode::pod(&Node::from(&pod), &mut Interner::default()).unwrap_err();
    assert_eq!(error.to_string(), "spec.priority: expected an integer");
}

#[test]
fn an_allocation_comes_back_as_it_went() {
    let text = "\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: c, namespace: default, uid: u1}
spec:
  devices:
    requests: [{name: r, exactly: {deviceClassName: a, allocationMode: ExactCount, count: 1, capacity: {requests: {m: 1Gi}}}}]
    constraints: [{matchAttribute: a.com/b}]
    config: [{opaque: {driver: d.example.com, parameters: {k: [1, x]}}}]
status:
  allocation:
    devices:
      results:
      - request: r
        driver: d.example.com
        pool: p
        device: d0
        adminAccess: true
        tolerations: [{key: a, operator: Exists, effect: NoSchedule, tolerationSeconds: 5}]
        bindingConditions: [ready]
        bindingFailureConditions: [failed]
        shareID: 11111111-1111-4111-8111-111111111111
        consumedCapacity: {m: 1Gi}
      config: [{source: FromClaim, requests: [r], opaque: {driver: d.example.com, parameters: {k: 1}}}]
    nodeSelector: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]}
    allocationTimestamp: '2026-11-30T10:00:00Z'
  reservedFor: [{resource: pods, name: p, uid: u2}]
";
    let objects = read_text(text);
    assert_eq!(objects.invalid, []);
    let claim = &objects.claims[0].object;
    let encoded = encode::claim(claim);
    let written: serde_json::Value = crate::k8s::Documents::new(text).next().unwrap().unwrap().to_json();
    assert_eq!(encoded, written);
    let again = decode::claim(&Node::from(&encoded), &mut Interner::default()).unwrap();
    assert_eq!(again, *claim);
}

#[test]
fn devices_of_one_model_share_their_content() {
    let device = "{name: NAME, attributes: {model: {string: h100}}, capacity: {memory: {value: 80Gi}}}";
    let devices: Vec<_> = (0..8).map(|index| device.replace("NAME", &format!("gpu-{index}"))).collect();
    let slice = |name: &str| {
        format!(
            "\
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {{name: {name}}}
spec:
  driver: gpu.example.com
  pool: {{name: {name}, generation: 1, resourceSliceCount: 1}}
  nodeName: {name}
  devices: [{}]
---
",
            devices.join(", ")
        )
    };
    let objects = read_text(&(slice("n1") + &slice("n2")));
    let first = &objects.slices[0].object.devices[0].content;
    for slice in &objects.slices {
        assert!(slice.object.devices.iter().all(|device| Arc::ptr_eq(&device.content, first)));
    }
}

#[test]
fn workloads_carry_their_template_and_their_number_of_pods() {
    let template = "template: {metadata: {labels: {a: b}}, spec: {restartPolicy: POLICY, containers: [{name: m, image: i}]}}";
    let workload = |api: &str, kind: &str, spec: &str, policy: &str| {
        let template = template.replace("POLICY", policy);
        format!("apiVersion: {api}\nkind: {kind}\nmetadata: {{name: w}}\nspec: {{{spec}, {template}}}\n---\n")
    };
    let apps = "selector: {matchLabels: {a: b}}";
    let text = workload("apps/v1", "Deployment", &format!("replicas: 3, {apps}"), "Always")
        + &workload("apps/v1", "ReplicaSet", apps, "Always")
        + &workload("apps/v1", "DaemonSet", apps, "Always")
        + &workload("batch/v1", "Job", "parallelism: 4, completions: 2", "Never")
        + &workload(
            "apps/v1",
            "StatefulSet",
            &format!("{apps}, ordinals: {{start: 5}}, volumeClaimTemplates: [{{metadata: {{name: data}}}}]"),
            "Always",
        );
    let objects = read_text(&text);
    assert_eq!(objects.invalid, []);
    let replicas: Vec<_> =
        objects.workloads.iter().map(|read| (read.object.kind, read.object.replicas)).collect();
    assert_eq!(
        replicas,
        [
            (WorkloadKind::Deployment, Some(3)),
            (WorkloadKind::ReplicaSet, Some(1)),
            (WorkloadKind::DaemonSet, None),
            (WorkloadKind::Job, Some(2)),
            (WorkloadKind::StatefulSet, Some(1)),
        ]
    );
    assert_eq!(objects.workloads[0].object.template.key.namespace, "default");
    assert_eq!(*objects.workloads[4].object.template.unserved, [UnservedFeature::Volume("data".into())]);
    let ordinals: Vec<_> = objects.workloads.iter().map(|read| read.object.first_ordinal).collect();
    assert_eq!(ordinals, [0, 0, 0, 0, 5]);
}

#[test]
fn what_a_release_does_not_have_is_refused_with_what_it_has() {
    let rule = "\
apiVersion: resource.k8s.io/v1
kind: DeviceTaintRule
metadata: {name: r}
spec: {taint: {key: a, effect: NoSchedule}}
";
    let of = |version| read([("f.yaml", rule)], &Features::of(version)).unwrap();
    assert_eq!(of(KubernetesVersion::V1_37).invalid, []);
    let invalid = of(KubernetesVersion::V1_36).invalid;
    assert!(invalid[0].message.starts_with("no matches for kind \"DeviceTaintRule\" in version"));
    assert!(invalid[0].hint.as_ref().unwrap().contains("resource.k8s.io/v1beta2"));
    let list = rule.replace("DeviceTaintRule", "ResourceSlice").replace(
        "taint: {key: a, effect: NoSchedule}",
        "driver: d.io, pool: {name: p, resourceSliceCount: 1}, allNodes: true, devices: [{name: d, attributes: {a: {ints: [1]}}}]",
    );
    let found = findings(&list);
    assert!(found[0].contains("feature gate DRAListTypeAttributes is off"), "{found:?}");
}

#[test]
fn admin_access_needs_the_label_of_its_namespace() {
    let claim = "\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: c, namespace: ops}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: a, adminAccess: true}}]}}
---
apiVersion: v1
kind: Namespace
metadata: {name: ops, labels: {LABEL: 'true'}}
";
    let permitted = claim.replace("LABEL", "resource.kubernetes.io/admin-access");
    assert_eq!(findings(&permitted), [] as [String; 0]);
    let found = read_text(&claim.replace("LABEL", "other"));
    assert!(found.claims.is_empty());
    assert!(found.invalid[0].message.contains("admin access to devices requires the"));
    assert_eq!(found.invalid[0].field, "spec.devices.requests[0].exactly.adminAccess");
}

#[test]
fn other_kinds_are_counted_and_doubles_are_named() {
    let text = "\
apiVersion: v1
kind: Service
metadata: {name: s}
---
apiVersion: v1
kind: Node
metadata: {name: n1}
---
apiVersion: v1
kind: Node
metadata: {name: n1}
---
metadata: {name: x}
";
    let objects = read_text(text);
    assert_eq!(objects.other_kinds.get("Service"), Some(&1));
    assert_eq!(objects.nodes.len(), 1);
    assert_eq!(objects.invalid[0].message, "already exists: input.yaml:5");
    assert_eq!(objects.invalid[1].message, "Object 'Kind' is missing");
}
