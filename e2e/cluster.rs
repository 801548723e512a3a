//! `stowplan run` against a real API server, with upstream's kube-scheduler beside it to compare
//! with. Needs Go for the control plane (see e2e/controlplane); only loopback is used.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "this test starts processes")]
#![allow(clippy::print_stderr, clippy::unwrap_used, clippy::panic, reason = "this is a test")]
#![allow(missing_docs, reason = "this is a test")]

#[path = "cluster/plane.rs"]
mod plane;
#[path = "cluster/report.rs"]
mod report;
#[path = "cluster/rights.rs"]
mod rights;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use plane::{Plane, built, root};
use report::{placements, status_line};
use serde_json::Value;

const OURS: &str = "stowplan";
const UPSTREAM: &str = "default-scheduler";

/// A node with two GPUs, a claim template, and whatever pods are appended.
const WORLD: &str = r#"
apiVersion: v1
kind: Node
metadata: {name: n1}
status:
  capacity: {cpu: "16", memory: 64Gi, pods: "110"}
  allocatable: {cpu: "16", memory: 64Gi, pods: "110"}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.example.com}
spec:
  extendedResourceName: example.com/gpu
  selectors: [{cel: {expression: device.driver == "gpu.example.com"}}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: n1-gpus}
spec:
  driver: gpu.example.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0}, {name: gpu-1}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com}}]}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: shared}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com}}]}}
"#;

fn pod_with(name: &str, claim: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec:\n  containers: [{{name: c, image: i, \
         resources: {{claims: [{{name: gpu}}]}}}}]\n  resourceClaims: [{{name: gpu, {claim}}}]\n"
    )
}

fn templated(name: &str) -> String {
    pod_with(name, "resourceClaimTemplateName: one")
}

fn sharing(name: &str) -> String {
    pod_with(name, "resourceClaimName: shared")
}

/// Starts a plane with our scheduler alone, applies the world with these pods.
fn live(name: &str, pods: &[String]) -> Option<(Plane, plane::Stowplan)> {
    let plane = Plane::start(built()?, name, false);
    let stowplan = plane.stowplan(OURS);
    let manifest = plane.file("world.yaml", &format!("{WORLD}{}", pods.concat()));
    plane.apply(&manifest, OURS);
    Some((plane, stowplan))
}

fn devices(report: &Value, pod: &str, claim: &str) -> Vec<String> {
    let placements = placements(report);
    placements[pod].claims.get(claim).cloned().unwrap_or_default()
}

/// Looks again until it holds: the clock of backing off is the scheduler's.
fn eventually(plane: &Plane, what: &str, holds: impl Fn(&Value) -> bool) {
    let start = Instant::now();
    while !holds(&plane.placements()) {
        assert!(start.elapsed() < Duration::from_secs(30), "{what} did not come true");
    }
}

#[test]
fn pods_get_devices_by_template_and_the_next_one_as_soon_as_one_is_free() {
    let pods = [templated("a"), templated("b"), templated("c")];
    let Some((plane, stowplan)) = live("templates", &pods) else { return };
    let report = plane.placements();
    assert_eq!(devices(&report, "default/a", "gpu"), ["gpu: gpu.example.com/n1/gpu-0"]);
    assert_eq!(devices(&report, "default/b", "gpu"), ["gpu: gpu.example.com/n1/gpu-1"]);
    let waits = status_line(&report, "default/c");
    assert_eq!(waits.as_deref(), Some("0/1 nodes are available: 1 cannot allocate all claims."));
    let reserved = report["pods"].as_array().unwrap().iter().filter(|pod| pod["node"].is_string());
    assert!(
        reserved.flat_map(|pod| pod["claims"].as_array().unwrap()).all(|claim| claim["reserved"] == true)
    );

    plane.delete_pod("default/a");
    eventually(&plane, "the third pod's device", |report| {
        devices(report, "default/c", "gpu") == ["gpu: gpu.example.com/n1/gpu-0"]
    });
    stowplan.stop();
}

#[test]
fn pods_that_share_a_claim_get_the_same_device() {
    let names = ["a", "b", "c", "d", "e", "f"];
    let Some((plane, stowplan)) = live("shared", &names.map(sharing)) else { return };
    let report = plane.placements();
    for name in names {
        let pod = format!("default/{name}");
        assert_eq!(devices(&report, &pod, "gpu"), ["gpu: gpu.example.com/n1/gpu-0"], "{pod}");
    }
    stowplan.stop();
}

#[test]
fn many_pods_at_once_that_share_a_claim_all_join_it() {
    let Some(binary) = built() else { return };
    let plane = Plane::start(binary, "crowd", false);
    let names: Vec<_> = (0..40).map(|n| format!("p{n:02}")).collect();
    let pods: String = names.iter().map(|name| sharing(name)).collect();
    let manifest = plane.file("world.yaml", &format!("{WORLD}{pods}"));
    plane.create(&manifest, OURS);
    let stowplan = plane.stowplan(OURS);
    eventually(&plane, "every pod's reservation", |report| {
        let pods = report["pods"].as_array().unwrap();
        pods.len() == names.len()
            && pods.iter().all(|pod| pod["claims"][0]["reserved"] == true && pod["node"] == "n1")
    });
    stowplan.stop();
}

#[test]
fn extended_resources_are_served_by_a_claim_that_the_scheduler_makes() {
    let pod = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: classic}\nspec:\n  containers: [{name: c, image: i, \
               resources: {limits: {example.com/gpu: 2}}}]\n";
    let Some((plane, stowplan)) = live("extended", &[pod.to_owned()]) else { return };
    let report = plane.placements();
    let request = "container-0-request-0";
    let expected = ["gpu-0", "gpu-1"].map(|gpu| format!("{request}: gpu.example.com/n1/{gpu}"));
    assert_eq!(devices(&report, "default/classic", ""), expected);
    stowplan.stop();
}

#[test]
fn a_scheduler_that_was_killed_goes_on_where_it_was() {
    let Some((plane, stowplan)) = live("killed", &[templated("a"), templated("b"), templated("c")]) else {
        return;
    };
    let before = placements(&plane.placements());
    stowplan.kill();
    plane.delete_pod("default/b");
    let stowplan = plane.stowplan(OURS);
    eventually(&plane, "the waiting pod's device", |report| {
        devices(report, "default/c", "gpu") == ["gpu: gpu.example.com/n1/gpu-1"]
    });
    assert_eq!(placements(&plane.placements())["default/a"], before["default/a"]);
    stowplan.stop();
}

fn examples() -> Vec<PathBuf> {
    let folder = root().join("docs/examples");
    let entries = std::fs::read_dir(folder).expect("the examples are there").filter_map(Result::ok);
    let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    files.sort();
    assert!(files.len() >= 9, "examples are missing");
    files
}

fn simulated(example: &Path) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_stowplan"))
        .args(["simulate", "-o", "json", "-f"])
        .arg(example)
        .output()
        .expect("stowplan runs");
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}: {}", example.display(), String::from_utf8_lossy(&output.stderr)))
}

/// Each example is scheduled three times on the real API server: by us, by kube-scheduler, and by
/// us on the nodes that kube-scheduler chose. Between nodes of equal score it chooses at random, so
/// what must be equal is the devices, given the node, and whether a pod fits at all.
#[test]
fn every_example_ends_as_simulated_and_as_kube_scheduler_has_it() {
    let Some(binary) = built() else { return };
    let plane = Plane::start(binary, "examples", true);
    let stowplan = plane.stowplan(OURS);
    let (mut differences, mut pods) = (Vec::new(), 0);
    for example in examples() {
        let live = |scheduler: &str, pins: Option<&Value>| {
            match pins {
                Some(pins) => plane.apply_pinned(&example, scheduler, pins),
                None => plane.apply(&example, scheduler),
            }
            let report = plane.placements();
            plane.wipe();
            report
        };
        let ours = live(OURS, None);
        let upstream = live(UPSTREAM, None);
        let pinned = live(OURS, Some(&upstream));
        let simulated = simulated(&example);
        let name = example.file_name().unwrap_or_default().to_string_lossy().into_owned();

        // `simulate` lists the pods that were to be scheduled; a cluster has others too.
        let (wanted, mut found) = (placements(&simulated), placements(&ours));
        found.retain(|pod, _| wanted.contains_key(pod));
        pods += wanted.len();
        if found != wanted {
            differences.push(format!("{name}: live {found:#?}\nsimulated {wanted:#?}"));
        }
        if placements(&pinned) != placements(&upstream) {
            let (pinned, upstream) = (placements(&pinned), placements(&upstream));
            differences.push(format!("{name}: on the same nodes {pinned:#?}\nkube-scheduler {upstream:#?}"));
        }
        if placements(&ours) == placements(&upstream) {
            for pod in wanted.keys() {
                let (said, expected) = (status_line(&ours, pod), status_line(&upstream, pod));
                if said != expected {
                    differences.push(format!("{name}: {pod}: said {said:?}, kube-scheduler {expected:?}"));
                }
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
    assert!(pods >= 20, "only {pods} pods were compared");
    stowplan.stop();
}
