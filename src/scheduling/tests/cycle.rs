use std::collections::BTreeSet;
use std::sync::Arc;

use super::world::{
    CLASS, allocated, claim, decide, decide_with, exactly, first_available, pod, result, tainted_node, world,
};
use crate::cel::{Environment, Programs};
use crate::model::{
    Allocation, ClaimKey, DeviceStatus, Name, NodeName, NodeSelector, Pod, ResourceClaim, ShareId, Snapshot,
    Timestamp, Uid,
};
use crate::scheduling::assume::{Commit, assume};
use crate::scheduling::decision::{Cause, ClaimDevices, CycleError, Diagnosis, PostFilter};
use crate::scheduling::rejection::{DeviceRejection, Rejection, Unavailability, UnavailableClaim};
use crate::scheduling::reserve::judge;
use crate::scheduling::{Decision, Options, Placement, QueryError};

fn placed(decision: Decision) -> Placement {
    match decision {
        Decision::Placed(placement) => placement,
        other => unreachable!("{other:?}"),
    }
}

fn pending(decision: Decision) -> Diagnosis {
    match decision {
        Decision::Unschedulable(diagnosis) => diagnosis,
        other => unreachable!("{other:?}"),
    }
}

fn rejections(diagnosis: &Diagnosis) -> Vec<(Vec<&str>, &Rejection)> {
    let Cause::Nodes { rejected, .. } = &diagnosis.cause else { unreachable!("{diagnosis:?}") };
    rejected
        .iter()
        .map(|group| (group.nodes.iter().map(NodeName::as_str).collect(), &group.rejection))
        .collect()
}

/// A claim whose device is on `n1`, used by these pods.
fn held_on_n1(users: &[&str]) -> ResourceClaim {
    let allocation = Allocation {
        results: Box::new([result("r", "n1", "gpu-0")]),
        node_selector: Some(NodeSelector::of_node(&"n1".into())),
        ..Allocation::default()
    };
    allocated(claim("c", [exactly("r", 1)]), allocation, users)
}

fn with_claim(mut snapshot: Snapshot, claim: ResourceClaim) -> Snapshot {
    snapshot.set_claim(Arc::new(claim));
    snapshot
}

#[test]
fn without_nodes_there_is_nothing_to_choose() {
    assert_eq!(pending(decide(&world(0, 0), &pod("p", &[]))).cause, Cause::NoNodes);
    let missing = pending(decide(&world(0, 0), &pod("p", &[("g", "gone")])));
    assert!(matches!(missing.cause, Cause::Query(QueryError::ClaimNotFound { .. })), "gates come first");
}

#[test]
fn devices_are_chosen_in_the_order_of_the_pool_and_reported_per_claim() {
    let snapshot = with_claim(world(1, 3), claim("c", [exactly("r", 2)]));
    let placement = placed(decide(&snapshot, &pod("p", &[("g", "c")])));
    assert_eq!(placement.node.as_str(), "n1");
    let [placed] = &*placement.claims else { unreachable!() };
    assert_eq!(placed.pod_claim, "g");
    let ClaimDevices::Chosen(allocation) = &placed.devices else { unreachable!() };
    assert_eq!(*allocation.results, [result("r", "n1", "gpu-0"), result("r", "n1", "gpu-1")]);
    assert!(placement.scores.is_empty(), "one node needs no score");
}

#[test]
fn nodes_that_cannot_give_the_devices_are_grouped_by_reason() {
    let mut snapshot = with_claim(world(3, 1), claim("c", [exactly("r", 2)]));
    snapshot.set_node(tainted_node("n2"));
    let diagnosis = pending(decide(&snapshot, &pod("p", &[("g", "c")])));
    assert_eq!(diagnosis.nodes, 3);
    assert_eq!(diagnosis.post_filter, None);
    let [(full, cannot), (tainted, taint)] = &rejections(&diagnosis)[..] else { unreachable!() };
    assert_eq!((&full[..], &tainted[..]), (&["n1", "n3"][..], &["n2"][..]));
    assert!(matches!(cannot, Rejection::DynamicResources(DeviceRejection::CannotAllocate)));
    assert!(matches!(taint, Rejection::TaintToleration { .. }));
}

#[test]
fn the_node_of_an_earlier_alternative_wins() {
    let mut snapshot = world(2, 1);
    snapshot.set_class(super::world::class_of("fast", "fast.example.com"));
    snapshot.set_slice(super::world::slice_of("fast.example.com", "n2", 1));
    let request = first_available("r", &[("fast", "fast"), ("slow", CLASS)]);
    let snapshot = with_claim(snapshot, claim("c", [request]));

    let placement = placed(decide(&snapshot, &pod("p", &[("g", "c")])));
    assert_eq!(placement.node.as_str(), "n2");
    let scores: Vec<_> =
        placement.scores.iter().map(|score| (score.node.as_str(), score.by_plugin[3])).collect();
    assert_eq!(scores, [("n1", 87), ("n2", 100)], "7 of 8, and 8 of 8");
    assert_eq!(placement.claims[0].devices.allocation().results[0].request, "r/fast");
}

#[test]
fn an_allocated_claim_binds_the_pod_to_where_its_devices_are() {
    let snapshot = with_claim(world(3, 1), held_on_n1(&["first"]));
    let placement = placed(decide(&snapshot, &pod("second", &[("g", "c")])));
    assert_eq!(placement.node.as_str(), "n1");
    assert!(matches!(placement.claims[0].devices, ClaimDevices::Held(_)));
}

#[test]
fn a_claim_in_use_elsewhere_is_not_freed_for_a_pod_that_cannot_reach_it() {
    let mut snapshot = with_claim(world(2, 1), held_on_n1(&["first"]));
    snapshot.remove_node(&"n1".into());
    let diagnosis = pending(decide(&snapshot, &pod("second", &[("g", "c")])));
    let reason = UnavailableClaim { claim: ClaimKey::new("default", "c"), why: Unavailability::OutOfReach };
    let expected =
        Rejection::DynamicResources(DeviceRejection::ClaimsNotAvailable { claims: Box::new([reason]) });
    assert_eq!(rejections(&diagnosis)[0], (vec!["n2"], &expected));
    assert_eq!(diagnosis.post_filter, None);
}

#[test]
fn a_claim_that_nobody_else_uses_is_freed_if_it_keeps_its_pod_from_all_nodes() {
    for users in [&[][..], &["p"][..]] {
        let mut snapshot = with_claim(world(2, 1), held_on_n1(users));
        snapshot.remove_node(&"n1".into());
        let diagnosis = pending(decide(&snapshot, &pod("p", &[("g", "c")])));
        let claim = Arc::clone(&snapshot.claims()[&ClaimKey::new("default", "c")]);
        assert_eq!(diagnosis.post_filter, Some(PostFilter::Deallocate { claim }));
    }
}

/// A claim with a binding condition, allocated at second 1000, and what its driver reports.
fn prepared(true_conditions: Option<&[&str]>, timestamp: Option<i64>) -> ResourceClaim {
    let mut held = held_on_n1(&[]);
    let mut allocation = (**held.allocation.as_ref().expect("it is allocated")).clone();
    allocation.timestamp = timestamp.map(|seconds| Timestamp(seconds * 1_000_000_000));
    let device = &mut allocation.results[0];
    device.binding_conditions = Some(Box::new([Name::from("ready")]));
    device.binding_failure_conditions = Some(Box::new([Name::from("broken")]));
    held.devices = true_conditions
        .map(|conditions| DeviceStatus {
            device: device.device.clone(),
            share_id: None,
            true_conditions: conditions.iter().copied().map(Name::from).collect(),
        })
        .into_iter()
        .collect();
    held.allocation = Some(Arc::new(allocation));
    held
}

#[test]
fn devices_that_failed_or_took_too_long_are_given_up() {
    let at = |seconds: i64| Options { now: Timestamp(seconds * 1_000_000_000), ..Options::default() };
    let why = |claim: ResourceClaim, options: &Options| {
        let snapshot = with_claim(world(1, 1), claim);
        match decide_with(&snapshot, &pod("p", &[("g", "c")]), options) {
            Decision::Placed(_) => None,
            other => {
                let diagnosis = pending(other);
                assert!(matches!(diagnosis.post_filter, Some(PostFilter::Deallocate { .. })));
                match rejections(&diagnosis)[0].1 {
                    Rejection::DynamicResources(DeviceRejection::ClaimsNotAvailable { claims }) => {
                        Some(claims[0].why)
                    }
                    other => unreachable!("{other:?}"),
                }
            }
        }
    };
    let ready: &[&str] = &["ready"];
    assert_eq!(why(prepared(Some(ready), Some(1000)), &at(9000)), None);
    assert_eq!(why(prepared(None, Some(1000)), &at(1600)), None, "ten minutes have not passed");
    assert_eq!(why(prepared(None, Some(1000)), &at(1601)), Some(Unavailability::BindingTimedOut));
    assert_eq!(why(prepared(Some(&[]), Some(1000)), &at(1601)), Some(Unavailability::BindingTimedOut));
    assert_eq!(why(prepared(None, None), &at(9000)), None, "without a timestamp nothing runs out");
    let broken: &[&str] = &["ready", "broken"];
    assert_eq!(why(prepared(Some(broken), Some(1000)), &at(1001)), Some(Unavailability::BindingFailed));
}

#[test]
fn devices_for_a_kubelet_of_today_do_not_go_to_an_older_one() {
    let mut held = held_on_n1(&["first"]);
    let mut allocation = (**held.allocation.as_ref().expect("it is allocated")).clone();
    allocation.results[0].skip_node_operations = Box::new([Name::from("NodePrepareResources")]);
    held.allocation = Some(Arc::new(allocation));
    let mut snapshot = with_claim(world(1, 1), held);
    let pod = pod("p", &[("g", "c")]);
    pending(decide(&snapshot, &pod));
    let features = Box::new([Name::from("DRAOptionalNodeOperations")]);
    snapshot.set_node(crate::model::Node { declared_features: features, ..super::world::node("n1") });
    placed(decide(&snapshot, &pod));
}

#[test]
fn equal_nodes_are_told_apart_by_name_or_by_the_seed() {
    let snapshot = world(8, 1);
    let seeded = |name: &str, seed| {
        let options = Options { seed, ..Options::default() };
        placed(decide_with(&snapshot, &pod(name, &[]), &options)).node
    };
    assert_eq!(seeded("p", 0).as_str(), "n1");
    let chosen: BTreeSet<NodeName> = (0..40).map(|index| seeded(&format!("p{index}"), 1)).collect();
    assert!(chosen.len() > 4, "{chosen:?}");
    assert_eq!(seeded("p", 7), seeded("p", 7));
}

#[test]
fn shares_get_ids_that_differ_between_decisions_and_repeat_with_them() {
    let claim = claim("c", [exactly("r", 1)]);
    let ids = |nonce| {
        let mut shared = result("r", "n1", "gpu-0");
        shared.share_id = Some(ShareId::from(""));
        let other = shared.clone();
        let allocation = Allocation { results: Box::new([shared, other]), ..Allocation::default() };
        let allocation = super::super::reserve::identified(&claim.key, &claim.uid, &allocation, nonce);
        allocation.results.iter().map(|result| result.share_id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(1), ids(1));
    let all: BTreeSet<_> = ids(1).into_iter().chain(ids(2)).collect();
    assert_eq!(all.len(), 4);
}

#[test]
fn the_same_input_gives_the_same_decision_whatever_is_remembered() {
    let snapshot = with_claim(world(5, 2), claim("c", [exactly("r", 2)]));
    let mut memo = crate::scheduling::Memo::new(snapshot.features());
    let other = with_claim(snapshot.clone(), claim("d", [exactly("r", 1)]));
    let options = Options { seed: 3, ..Options::default() };
    let pods =
        [pod("p", &[("g", "c")]), pod("q", &[("g", "d")]), Pod { uid: Uid::from("x"), ..pod("p", &[]) }];
    for pod in pods.iter().chain(&pods) {
        let remembered = crate::scheduling::schedule(&other, &Arc::new(pod.clone()), &mut memo, &options);
        assert_eq!(remembered, decide_with(&other, pod, &options));
    }
}

#[test]
fn devices_that_break_a_rule_are_never_placed() {
    let snapshot = with_claim(world(1, 1), claim("c", [exactly("r", 1)]));
    let placement = placed(decide(&snapshot, &pod("p", &[("g", "c")])));
    let taken = assume(&snapshot, &placement, Commit::Done);
    let second = with_claim(taken.clone(), claim("d", [exactly("r", 1)]));
    let info = &second.nodes()[&NodeName::from("n1")];
    let pending = [Arc::clone(&second.claims()[&ClaimKey::new("default", "d")])];
    let mut stolen = placement.clone();
    stolen.claims[0].claim = Arc::clone(&pending[0]);
    let mut selectors = Programs::new(Environment::new(snapshot.features()));
    let error = judge(&mut selectors, &second, info, &pending, &stolen).expect_err("the device is in use");
    assert!(matches!(*error, CycleError::Violation { .. }), "{error:?}");
    assert!(
        judge(&mut selectors, &snapshot, info, &[Arc::clone(&placement.claims[0].claim)], &placement).is_ok()
    );
}
