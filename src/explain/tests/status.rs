use std::sync::Arc;

use crate::explain::{DecisionView, message, status_line, text};
use crate::model::pod::UnservedFeature;
use crate::model::{
    Allocation, ClaimKey, DeviceSelector, HostPort, KubernetesVersion, Name, NodeName, Pod, RequestKind,
    Taint, TaintEffect,
};
use crate::scheduling::decision::{Cause, CycleError, DeviceFindings, Diagnosis, PostFilter};
use crate::scheduling::options::Absence;
use crate::scheduling::rejection::{
    DeviceRejection, Rejection, Shortage, Unavailability, UnavailableClaim, group,
};
use crate::scheduling::tests::world::{allocated, claim, decide, exactly, owner, pod, world};
use crate::scheduling::{Decision, Plugin, QueryError};

fn rejected(rejections: &[(&str, Rejection)]) -> Diagnosis {
    let of_node = |(node, rejection): &(&str, Rejection)| (NodeName::from(*node), rejection.clone());
    Diagnosis {
        pod: Arc::new(pod("p", &[])),
        version: KubernetesVersion::default(),
        nodes: rejections.len(),
        cause: Cause::Nodes {
            rejected: group(rejections.iter().map(of_node)),
            devices: DeviceFindings::default(),
        },
        post_filter: None,
    }
}

fn taint(key: &str) -> Rejection {
    let (value, effect) = (Name::from("infra"), TaintEffect::NoSchedule);
    Rejection::TaintToleration { taint: Taint { key: key.into(), value, effect, time_added: None } }
}

fn cannot() -> Rejection {
    Rejection::DynamicResources(DeviceRejection::CannotAllocate)
}

fn line(diagnosis: Diagnosis) -> String {
    status_line(&Decision::Unschedulable(diagnosis)).expect("the pod is pending")
}

fn query(error: QueryError) -> Decision {
    Decision::Unschedulable(Diagnosis { cause: Cause::Query(error), nodes: 3, ..rejected(&[]) })
}

#[test]
fn reasons_are_counted_over_nodes_and_sorted_as_texts() {
    let diagnosis = rejected(&[("n1", cannot()), ("n2", taint("a")), ("n3", cannot())]);
    assert_eq!(
        line(diagnosis),
        "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 cannot allocate all claims."
    );

    let many: Vec<(&str, Rejection)> = (0..10).map(|_| ("n", cannot())).collect();
    let two = [("a", taint("x")), ("b", taint("y"))];
    assert_eq!(
        line(rejected(&[&many[..], &two].concat())),
        "0/12 nodes are available: 10 cannot allocate all claims, 2 node(s) had untolerated taint(s).",
        "taints of any key count together"
    );
}

#[test]
fn before_1_35_each_taint_is_counted_by_itself() {
    let diagnosis = rejected(&[("n1", taint("a")), ("n2", taint("b"))]);
    let diagnosis = Diagnosis { version: KubernetesVersion::V1_34, ..diagnosis };
    assert_eq!(
        line(diagnosis),
        "0/2 nodes are available: 1 node(s) had untolerated taint {a: infra}, 1 node(s) had untolerated taint {b: infra}."
    );
}

#[test]
fn every_plugin_has_upstreams_words() {
    let shortage =
        |resource: &str| Shortage { resource: resource.into(), requested: 2, used: 7, allocatable: 8 };
    let port = HostPort { ip: "0.0.0.0".into(), protocol: "TCP".into(), port: 80 };
    let unavailable =
        UnavailableClaim { claim: ClaimKey::new("default", "c"), why: Unavailability::OutOfReach };
    let words = [
        (
            Rejection::NotSelected { plugins: Box::new([Plugin::NodeAffinity]) },
            "1 node(s) didn't satisfy plugin(s) [NodeAffinity]",
        ),
        (Rejection::NodeName { wanted: "x".into() }, "1 node(s) didn't match the requested node name"),
        (Rejection::NodeUnschedulable, "1 node(s) were unschedulable"),
        (Rejection::NodeAffinity { label: None }, "1 node(s) didn't match Pod's node affinity/selector"),
        (Rejection::NodePorts { port }, "1 node(s) didn't have free ports for the requested pod ports"),
        (
            Rejection::NodeResourcesFit { shortages: Box::new([shortage("pods"), shortage("cpu")]) },
            "1 Insufficient cpu, 1 Too many pods",
        ),
        (
            Rejection::DynamicResources(DeviceRejection::InvalidPools),
            "1 invalid resource pools were encountered",
        ),
        (
            Rejection::DynamicResources(DeviceRejection::ClaimsNotAvailable {
                claims: Box::new([unavailable]),
            }),
            "1 resourceclaim not available on the node",
        ),
        (
            Rejection::DynamicResources(DeviceRejection::ResourceNotOffered { resource: "a/b".into() }),
            "1 cannot fit resource",
        ),
    ];
    for (rejection, text) in words {
        assert_eq!(line(rejected(&[("n1", rejection)])), format!("0/1 nodes are available: {text}."));
    }
}

#[test]
fn what_was_freed_is_said_after_the_counts() {
    let free = Arc::new(claim("c", [exactly("r", 1)]));
    let diagnosis = rejected(&[("n1", cannot())]);
    let deallocated = Diagnosis {
        post_filter: Some(PostFilter::Deallocate { claim: Arc::clone(&free) }),
        ..diagnosis.clone()
    };
    assert_eq!(
        line(deallocated),
        "0/1 nodes are available: 1 cannot allocate all claims. deallocation of ResourceClaim completed"
    );
    let deleted =
        Diagnosis { post_filter: Some(PostFilter::DeleteExtendedClaim { claim: free }), ..diagnosis };
    assert_eq!(
        line(deleted),
        "0/1 nodes are available: 1 cannot allocate all claims. deletion of ResourceClaim completed"
    );
}

#[test]
fn without_nodes_there_are_no_counts() {
    let diagnosis = Diagnosis { cause: Cause::NoNodes, ..rejected(&[]) };
    assert_eq!(line(diagnosis), "no nodes available to schedule pods");
}

#[test]
fn a_pod_that_no_node_was_tried_for_gets_the_one_reason() {
    let claim = || ClaimKey::new("default", "c");
    let of = |error| status_line(&query(error)).expect("the pod is pending");
    let lines = [
        (
            QueryError::ClaimNotCreated { pod_claim: "g".into(), template: claim(), absence: None },
            "0/3 nodes are available: pod \"default/p\": ResourceClaim not created yet.",
        ),
        (
            QueryError::NoClaimSource { pod_claim: "g".into() },
            "0/3 nodes are available: pod \"default/p\", spec.resourceClaim \"g\": none of the supported fields are set.",
        ),
        (
            QueryError::ClaimNotFound { pod_claim: "g".into(), claim: claim(), absence: None },
            "0/3 nodes are available: could not find ResourceClaim \"default/c\".",
        ),
        (
            QueryError::ClaimDeleting { claim: claim() },
            "0/3 nodes are available: resourceclaim \"c\" is being deleted.",
        ),
        (
            QueryError::NotOwner { claim: claim(), owner: None },
            "0/3 nodes are available: ResourceClaim default/c was not created for Pod default/p (Pod is not owner).",
        ),
        (
            QueryError::ClaimInUse { claim: claim(), users: 256 },
            "0/3 nodes are available: resourceclaim in use.",
        ),
        (
            QueryError::ClaimInFlight { claim: claim() },
            "0/3 nodes are available: resource claim default/c is in the process of being allocated.",
        ),
        (
            QueryError::PrioritizedListDisabled { claim: claim(), request: "r".into() },
            "0/3 nodes are available: resource claim default/c, request r: has subrequests, but the DRAPrioritizedList feature is disabled.",
        ),
        (
            QueryError::UnknownRequestType { claim: claim(), request: "r".into() },
            "0/3 nodes are available: resource claim default/c, request r: unknown request type.",
        ),
        (
            QueryError::ClassNotFound {
                claim: claim(),
                request: "r/a".into(),
                class: "x".into(),
                absence: None,
            },
            "0/3 nodes are available: request r/a: device class x does not exist.",
        ),
        (QueryError::AffinityTermsConflict, "0/3 nodes are available: pod affinity terms conflict."),
        (
            QueryError::SchedulingGates { gates: Box::new(["a".into(), "b".into()]) },
            "waiting for scheduling gates: [a b]",
        ),
        (
            QueryError::Unserved {
                features: Box::new([UnservedFeature::Volume("data".into()), UnservedFeature::TopologySpread]),
            },
            "0/3 nodes are available: the pod asks for what this scheduler does not judge: volume \"data\", a topology spread constraint with DoNotSchedule.",
        ),
    ];
    for (error, text) in lines {
        assert_eq!(of(error), text);
    }
}

#[test]
fn an_error_names_the_plugin_and_the_step() {
    let error = QueryError::NoClassName { claim: ClaimKey::new("default", "c"), request: "r".into() };
    let decision = Decision::Error(CycleError::Query { pod: Arc::new(pod("p", &[])), error });
    assert_eq!(
        message(&decision).as_deref(),
        Some(
            "running PreFilter plugin \"DynamicResources\": request r: unsupported request type. The request is in ResourceClaim default/c."
        )
    );
}

#[test]
fn the_message_names_the_object_that_is_missing_and_why() {
    let template = ClaimKey::new("default", "not-there");
    let of = |absence| {
        let template = template.clone();
        message(&query(QueryError::ClaimNotCreated { pod_claim: "g".into(), template, absence }))
    };
    let line = "0/3 nodes are available: pod \"default/p\": ResourceClaim not created yet.";
    let made = "Claim \"g\" is to be made from ResourceClaimTemplate default/not-there";
    assert_eq!(of(None), Some(format!("{line} {made}.")));
    assert_eq!(of(Some(Absence::NotFound)), Some(format!("{line} {made}, which does not exist.")));
    assert_eq!(
        of(Some(Absence::Invalid)),
        Some(format!("{line} {made}, which is invalid and was left out."))
    );
}

#[test]
fn a_claim_with_as_many_users_as_can_be_says_the_number() {
    let users: Vec<String> = (0..256).map(|index| format!("user-{index}")).collect();
    let users: Vec<&str> = users.iter().map(String::as_str).collect();
    let mut snapshot = world(1, 1);
    snapshot.set_claim(Arc::new(allocated(claim("c", [exactly("r", 1)]), Allocation::default(), &users)));
    let message = message(&decide(&snapshot, &pod("late", &[("g", "c")])));
    assert_eq!(
        message.as_deref(),
        Some(
            "0/1 nodes are available: resourceclaim in use. ResourceClaim default/c has 256 users, and no claim can have more."
        )
    );
}

#[test]
fn a_claim_of_somebody_else_says_whose_it_is() {
    let other = Pod { uid: "u2".into(), ..pod("other", &[]) };
    let error = QueryError::NotOwner { claim: ClaimKey::new("default", "c"), owner: Some(owner(&other)) };
    let message = message(&query(error)).expect("the pod is pending");
    assert!(message.ends_with("It belongs to Pod other (uid u2)."), "{message}");
}

fn short_of_cpu(used: i64) -> Rejection {
    let shortage = Shortage { resource: "cpu".into(), requested: 4000, used, allocatable: 8000 };
    Rejection::NodeResourcesFit { shortages: Box::new([shortage]) }
}

#[test]
fn nodes_are_named_one_by_one_up_to_three() {
    let one = rejected(&[("n1", taint("dedicated"))]);
    assert_eq!(
        text(&Decision::Unschedulable(one)),
        "0/1 nodes are available: 1 node(s) had untolerated taint(s).\n  On node n1: taint dedicated=infra:NoSchedule is not tolerated."
    );
    let four = rejected(&["n1", "n2", "n3", "n4"].map(|node| (node, taint("dedicated"))));
    let text = text(&Decision::Unschedulable(four));
    assert!(text.contains("On 4 nodes (n1, n2, n3, …): taint dedicated=infra:NoSchedule"), "{text}");
}

#[test]
fn nodes_short_of_the_same_are_told_together_however_much_they_have() {
    let one = rejected(&[("n1", short_of_cpu(6000))]);
    let detail = |diagnosis| text(&Decision::Unschedulable(diagnosis)).lines().nth(1).map(str::to_owned);
    assert_eq!(detail(one).as_deref(), Some("  On node n1: cpu: 4000m requested, 2000m of 8000m free."));
    let two = rejected(&[("n1", short_of_cpu(6000)), ("n2", short_of_cpu(5000))]);
    assert_eq!(
        detail(two).as_deref(),
        Some("  On 2 nodes (n1, n2): cpu: 4000m requested, at most 3000m of 8000m free.")
    );
}

#[test]
fn of_many_reasons_those_of_the_most_nodes_are_told() {
    let names: Vec<String> = (0..100).map(|index| format!("n{index:03}")).collect();
    let nodes: Vec<_> = names.iter().map(|name| (&**name, taint(name))).collect();
    let diagnosis = rejected(&[&nodes[..], &[("a", taint("x")), ("b", taint("x"))]].concat());
    let text = text(&Decision::Unschedulable(diagnosis));
    assert_eq!(text.lines().count(), 1 + 12 + 1, "{text}");
    assert!(text.contains("On 2 nodes (a, b): taint x="), "{text}");
    assert!(text.ends_with("89 more nodes have other reasons."), "{text}");
}

#[test]
fn the_view_says_what_the_text_says() {
    let snapshot = world(2, 1);
    let placed_pod = pod("p", &[]);
    let view = DecisionView::new(&placed_pod.key, &decide(&snapshot, &placed_pod));
    assert_eq!((view.node.as_deref(), view.status), (Some("n1"), None));
    assert_eq!(view.scores.len(), 2);

    let decision = Decision::Unschedulable(rejected(&[("n1", cannot()), ("n2", taint("a"))]));
    let json = serde_json::to_value(DecisionView::new(&placed_pod.key, &decision)).expect("plain data");
    assert_eq!(json["outcome"], "Unschedulable");
    assert_eq!(json["rejections"][0]["plugin"], "DynamicResources");
    assert_eq!(json["rejections"][0]["code"], "UnschedulableAndUnresolvable");
    assert_eq!(json["rejections"][1]["reasons"][0], "node(s) had untolerated taint(s)");
    assert_eq!(json["details"][0]["nodes"][0], "n2");
}

#[test]
fn a_selector_that_fails_on_a_device_ends_the_attempt_and_is_shown() {
    let mut snapshot = world(2, 1);
    let mut request = exactly("r", 1);
    let selector = "device.attributes['memory'].quantity >= '40Gi'";
    if let RequestKind::Exactly(requirement) = &mut request.kind {
        requirement.selectors = Box::new([DeviceSelector { expression: Some(selector.into()) }]);
    }
    snapshot.set_claim(Arc::new(claim("c", [request])));
    let message = message(&decide(&snapshot, &pod("p", &[("g", "c")]))).expect("the attempt failed");
    let start = "running \"DynamicResources\" filter plugin: claim default/c: selector #0 on device gpu.example.com/n1/gpu-0: CEL runtime error: ";
    assert!(message.starts_with(start), "{message}");
    assert!(message.ends_with(&format!(". The selector is `{selector}`.")), "{message}");
}
