//! A plan against an API server that answers by script: what is written, in which order, and what
//! is taken back.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::server::{Answer, Script};
use crate::cluster::api::RequestError;
use crate::cluster::commit::{CommitError, Outcome, carry_out};
use crate::cluster::untyped::Untyped;
use crate::model::{
    Allocation, ClaimKey, ClaimSpec, ConsumerReference, DeviceId, DeviceResult, Name, NodeName,
};
use crate::model::{PodKey, Uid};
use crate::scheduling::CommitPlan;
use crate::scheduling::commit_plan::{ClaimTarget, Step};

const CLAIM: &str = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/claim";
const POD: &str = "/api/v1/namespaces/default/pods/pod";

fn allocation(device: &str) -> Allocation {
    let result = DeviceResult::plain("gpu", DeviceId::new("gpu.example.com", "n1", device));
    Allocation { results: Box::new([result]), ..Allocation::default() }
}

fn consumer() -> ConsumerReference {
    ConsumerReference {
        api_group: Name::default(),
        resource: "pods".into(),
        name: "pod".into(),
        uid: Uid::from("pod-uid"),
    }
}

fn existing() -> ClaimTarget {
    ClaimTarget::Existing {
        claim: ClaimKey::new("default", "claim"),
        uid: Uid::from("claim-uid"),
        resource_version: "1".into(),
    }
}

fn write(target: ClaimTarget) -> Step {
    Step::WriteAllocation {
        target,
        allocation: Arc::new(allocation("gpu-0")),
        consumer: consumer(),
        timestamp: true,
    }
}

fn join() -> Step {
    Step::AddReservedFor { target: existing(), consumer: consumer() }
}

fn bind() -> Step {
    Step::BindPod { node: NodeName::from("n1") }
}

fn claim(version: &str) -> Value {
    json!({
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"namespace": "default", "name": "claim", "uid": "claim-uid", "resourceVersion": version},
        "spec": {"unheardOf": "stays"},
    })
}

/// A claim that another pod holds this device with.
fn held(version: &str, device: &str) -> Value {
    let mut claim = claim(version);
    claim["status"] = json!({
        "allocation": {"devices": {"results": [{"device": device}]}},
        "reservedFor": [{"resource": "pods", "name": "other", "uid": "other-uid"}],
    });
    claim
}

/// Carries steps out against a server that gives these answers, and says what was requested.
async fn carried_out(
    steps: Vec<Step>,
    claim: Value,
    answers: Vec<Answer>,
) -> (Outcome, Vec<(String, Value)>) {
    let script = Script::start(answers);
    let plan = CommitPlan { pod: PodKey::new("default", "pod"), pod_uid: Uid::from("pod-uid"), steps };
    let objects = BTreeMap::from([(ClaimKey::new("default", "claim"), Arc::new(Untyped::new(claim)))]);
    let outcome = carry_out(script.client(), plan, objects, Duration::from_secs(1)).await;
    (outcome, script.requests())
}

fn lines(requests: &[(String, Value)]) -> Vec<&str> {
    requests.iter().map(|(line, _)| line.as_str()).collect()
}

#[tokio::test]
async fn the_finalizer_is_written_before_the_devices_and_the_binding_last() {
    let steps = vec![Step::AddFinalizer { target: existing() }, write(existing()), bind()];
    let answers = vec![Answer::ok(claim("2")), Answer::ok(claim("3")), Answer::created()];
    let (outcome, requests) = carried_out(steps, claim("1"), answers).await;
    outcome.result.unwrap();
    let expected = [format!("PUT {CLAIM}"), format!("PUT {CLAIM}/status"), format!("POST {POD}/binding")];
    assert_eq!(lines(&requests), expected);

    let [(_, finalizer), (_, status), (_, binding)] = &requests[..] else { panic!("three requests") };
    assert_eq!(finalizer["metadata"]["resourceVersion"], "1");
    assert_eq!(finalizer["metadata"]["finalizers"], json!(["resource.kubernetes.io/delete-protection"]));
    assert_eq!(status["metadata"]["resourceVersion"], "2");
    assert_eq!(status["spec"], json!({"unheardOf": "stays"}));
    assert_eq!(status["status"]["allocation"]["devices"]["results"][0]["device"], "gpu-0");
    assert!(status["status"]["allocation"]["allocationTimestamp"].is_string());
    assert_eq!(status["status"]["reservedFor"][0]["uid"], "pod-uid");
    assert_eq!(binding["metadata"]["uid"], "pod-uid");
    assert_eq!(binding["target"]["name"], "n1");
}

#[tokio::test]
async fn a_claim_that_changed_ends_the_plan_and_nothing_is_overwritten() {
    let steps = vec![write(existing()), bind()];
    let (outcome, requests) = carried_out(steps, claim("1"), vec![Answer::conflict()]).await;
    assert!(matches!(outcome.result, Err(CommitError::Request(RequestError::Changed { .. }))));
    assert_eq!(lines(&requests), [format!("PUT {CLAIM}/status")]);
}

#[tokio::test]
async fn devices_are_never_written_over_devices() {
    let (outcome, requests) = carried_out(vec![write(existing()), bind()], held("1", "gpu-1"), vec![]).await;
    assert!(matches!(outcome.result, Err(CommitError::ClaimChanged { .. })));
    assert!(requests.is_empty());
}

#[tokio::test]
async fn a_binding_that_is_refused_gives_the_reservation_back_and_keeps_the_devices() {
    let answers = vec![Answer::ok(claim("2")), Answer::refused(), Answer::ok(claim("3"))];
    let (outcome, requests) = carried_out(vec![write(existing()), bind()], claim("1"), answers).await;
    assert!(matches!(outcome.result, Err(CommitError::Request(RequestError::Refused { .. }))));
    let (line, patch) = requests.last().unwrap();
    assert_eq!(*line, format!("PATCH {CLAIM}/status"));
    let expected = json!({
        "metadata": {"uid": "claim-uid"},
        "status": {"reservedFor": [{"$patch": "delete", "uid": "pod-uid"}]},
    });
    assert_eq!(*patch, expected);
    assert_eq!(outcome.answers.last().unwrap().version(), 3);
}

#[tokio::test]
async fn a_binding_without_an_answer_counts_when_the_pod_says_so() {
    let bound = json!({"metadata": {"name": "pod", "uid": "pod-uid"}, "spec": {"nodeName": "n1"}});
    let answers = vec![Answer::ok(claim("2")), Answer::Silence, Answer::ok(bound)];
    let (outcome, requests) = carried_out(vec![write(existing()), bind()], claim("1"), answers).await;
    outcome.result.unwrap();
    assert_eq!(lines(&requests)[2], format!("GET {POD}"));
}

#[tokio::test]
async fn a_pod_that_was_bound_elsewhere_gives_the_reservation_back() {
    let elsewhere = json!({"metadata": {"name": "pod", "uid": "pod-uid"}, "spec": {"nodeName": "n2"}});
    let answers =
        vec![Answer::ok(claim("2")), Answer::conflict(), Answer::ok(elsewhere), Answer::ok(claim("3"))];
    let (outcome, requests) = carried_out(vec![write(existing()), bind()], claim("1"), answers).await;
    assert!(outcome.result.is_err());
    assert_eq!(lines(&requests)[3], format!("PATCH {CLAIM}/status"));
}

#[tokio::test]
async fn a_pod_joins_a_claim_that_others_join_at_the_same_time() {
    let answers = vec![
        Answer::conflict(),
        Answer::ok(held("2", "gpu-0")),
        Answer::ok(held("3", "gpu-0")),
        Answer::created(),
    ];
    let (outcome, requests) = carried_out(vec![join(), bind()], held("1", "gpu-0"), answers).await;
    outcome.result.unwrap();
    let (line, second) = &requests[2];
    assert_eq!(*line, format!("PUT {CLAIM}/status"));
    assert_eq!(second["metadata"]["resourceVersion"], "2");
    let users = second["status"]["reservedFor"].as_array().unwrap();
    assert_eq!(users.iter().map(|user| &user["uid"]).collect::<Vec<_>>(), ["other-uid", "pod-uid"]);
    assert!(second["status"]["allocation"].get("allocationTimestamp").is_none());
}

#[tokio::test]
async fn a_pod_does_not_join_a_claim_that_got_other_devices() {
    let answers = vec![Answer::conflict(), Answer::ok(held("2", "gpu-7"))];
    let (outcome, requests) = carried_out(vec![join(), bind()], held("1", "gpu-0"), answers).await;
    assert!(matches!(outcome.result, Err(CommitError::ClaimChanged { .. })));
    assert_eq!(requests.len(), 2);
}

#[tokio::test]
async fn a_claim_made_for_extended_resources_goes_when_the_placement_fails() {
    let steps = vec![
        Step::CreateClaim {
            namespace: "default".into(),
            generate_name: "pod-extended-resources-".into(),
            owner: PodKey::new("default", "pod"),
            owner_uid: Uid::from("pod-uid"),
            spec: Arc::new(ClaimSpec::default()),
        },
        Step::AddFinalizer { target: ClaimTarget::Created },
        write(ClaimTarget::Created),
    ];
    let answers = vec![
        Answer::ok(claim("1")),
        Answer::ok(claim("2")),
        Answer::refused(),
        Answer::ok(claim("2")),
        Answer::ok(claim("3")),
        Answer::ok(claim("3")),
    ];
    let (outcome, requests) = carried_out(steps, claim("0"), answers).await;
    assert!(outcome.result.is_err());
    let created = &requests[0].1;
    assert_eq!(created["metadata"]["generateName"], "pod-extended-resources-");
    assert_eq!(created["metadata"]["ownerReferences"][0]["uid"], "pod-uid");
    let expected = [format!("GET {CLAIM}"), format!("PUT {CLAIM}"), format!("DELETE {CLAIM}")];
    assert_eq!(lines(&requests)[3..], expected);
    assert_eq!(requests[5].1["preconditions"]["uid"], "claim-uid");
}
