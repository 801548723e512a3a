use std::sync::Arc;

use super::world::{allocated, claim, decide, exactly, pod, result, world};
use crate::model::{Allocation, ClaimKey, FeatureGate, Features, Name, Pod, Snapshot};
use crate::scheduling::assume::consumer;
use crate::scheduling::commit_plan::{ClaimTarget, Step, Undo};
use crate::scheduling::{CommitPlan, Decision};

fn plan(snapshot: &Snapshot, pod: &Pod) -> CommitPlan {
    match decide(snapshot, pod) {
        Decision::Placed(placement) => CommitPlan::new(&placement, snapshot.features()),
        other => unreachable!("{other:?}"),
    }
}

fn target(name: &str) -> ClaimTarget {
    ClaimTarget::Existing {
        claim: ClaimKey::new("default", name),
        uid: format!("uid-{name}").into(),
        resource_version: "7".into(),
    }
}

fn held(conditions: Option<&[&str]>) -> Allocation {
    let mut device = result("r", "n1", "gpu-0");
    device.binding_conditions = conditions.map(|list| list.iter().copied().map(Name::from).collect());
    Allocation { results: Box::new([device]), ..Allocation::default() }
}

#[test]
fn the_finalizer_comes_before_the_allocation_and_the_binding_last() {
    let mut snapshot = world(1, 1);
    snapshot.set_claim(Arc::new(claim("c", [exactly("r", 1)])));
    let pod = pod("p", &[("g", "c")]);
    let plan = plan(&snapshot, &pod);
    let [Step::AddFinalizer { target: first }, write, Step::BindPod { node }] = &plan.steps[..] else {
        unreachable!("{plan:?}")
    };
    assert_eq!((first, node.as_str()), (&target("c"), "n1"));
    let Step::WriteAllocation { target: second, allocation, consumer: user, timestamp } = write else {
        unreachable!("{write:?}")
    };
    assert_eq!((second, user, *timestamp), (&target("c"), &consumer(&pod), true));
    assert_eq!(*allocation.results, [result("r", "n1", "gpu-0")]);
}

#[test]
fn a_claim_with_a_finalizer_needs_one_write() {
    let mut snapshot = world(1, 1);
    let mut protected = claim("c", [exactly("r", 1)]);
    protected.has_finalizer = true;
    snapshot.set_claim(Arc::new(protected));
    let plan = plan(&snapshot, &pod("p", &[("g", "c")]));
    assert!(matches!(plan.steps[..], [Step::WriteAllocation { .. }, Step::BindPod { .. }]), "{plan:?}");
}

#[test]
fn joining_an_allocated_claim_writes_the_reservation_and_nothing_else() {
    let mut snapshot = world(1, 1);
    snapshot.set_claim(Arc::new(allocated(claim("c", [exactly("r", 1)]), held(None), &["first"])));
    let second = pod("second", &[("g", "c")]);
    let plan = plan(&snapshot, &second);
    let join = Step::AddReservedFor { target: target("c"), consumer: consumer(&second) };
    assert_eq!(plan.steps, [join.clone(), Step::BindPod { node: "n1".into() }]);
    assert_eq!(
        plan.undo(&join),
        Some(Undo::RemoveReservedFor {
            claim: ClaimKey::new("default", "c"),
            claim_uid: "uid-c".into(),
            pod_uid: "uid-second".into()
        })
    );
}

#[test]
fn a_claim_reserved_for_the_pod_already_is_not_written_again() {
    let mut snapshot = world(1, 1);
    snapshot.set_claim(Arc::new(allocated(claim("c", [exactly("r", 1)]), held(None), &["p"])));
    let plan = plan(&snapshot, &pod("p", &[("g", "c")]));
    assert_eq!(plan.steps, [Step::BindPod { node: "n1".into() }]);
}

#[test]
fn a_claim_named_twice_is_allocated_and_written_once() {
    let mut snapshot = world(1, 2);
    snapshot.set_claim(Arc::new(claim("c", [exactly("r", 1)])));
    let plan = plan(&snapshot, &pod("p", &[("a", "c"), ("b", "c")]));
    assert_eq!(plan.steps.len(), 3, "{plan:?}");
}

#[test]
fn the_binding_waits_for_conditions_of_all_claims_even_those_not_written() {
    let mut snapshot = world(1, 1);
    let conditions: &[&str] = &["ready"];
    snapshot.set_claim(Arc::new(allocated(claim("c", [exactly("r", 1)]), held(Some(conditions)), &["p"])));
    let pod = pod("p", &[("g", "c")]);
    let wait = Step::WaitForBindingConditions { targets: Box::new([target("c")]) };
    assert_eq!(plan(&snapshot, &pod).steps, [wait, Step::BindPod { node: "n1".into() }]);

    let off = Features::default().with(FeatureGate::DRADeviceBindingConditions, false);
    let Decision::Placed(placement) = decide(&snapshot, &pod) else { unreachable!() };
    assert_eq!(CommitPlan::new(&placement, &off).steps, [Step::BindPod { node: "n1".into() }]);
}

#[test]
fn the_timestamp_is_written_only_where_binding_conditions_are_served() {
    let mut snapshot = world(1, 1);
    snapshot.set_claim(Arc::new(claim("c", [exactly("r", 1)])));
    let Decision::Placed(placement) = decide(&snapshot, &pod("p", &[("g", "c")])) else { unreachable!() };
    let off = Features::default().with(FeatureGate::DRADeviceBindingConditions, false);
    let plan = CommitPlan::new(&placement, &off);
    assert!(matches!(plan.steps[1], Step::WriteAllocation { timestamp: false, .. }), "{plan:?}");
}

#[test]
fn a_pod_without_claims_is_just_bound() {
    let plan = plan(&world(1, 0), &pod("p", &[]));
    assert_eq!(plan.steps, [Step::BindPod { node: "n1".into() }]);
    assert_eq!(plan.undo(&plan.steps[0]), None);
}
