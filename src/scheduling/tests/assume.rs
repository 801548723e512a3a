use std::sync::Arc;

use super::world::{allocated, claim, decide, exactly, pod, result, world};
use crate::model::{Allocation, ClaimKey, DeviceId, NodeName, Pod, Snapshot};
use crate::scheduling::assume::{Commit, assume, committed, forget, post_filter};
use crate::scheduling::decision::PostFilter;
use crate::scheduling::{Decision, Placement};

fn placement(snapshot: &Snapshot, pod: &Pod) -> Placement {
    match decide(snapshot, pod) {
        Decision::Placed(placement) => placement,
        other => unreachable!("{other:?}"),
    }
}

fn key(name: &str) -> ClaimKey {
    ClaimKey::new("default", name)
}

fn gpu(index: usize) -> DeviceId {
    DeviceId::new(super::world::DRIVER, "n1", format!("gpu-{index}"))
}

fn pods_on(snapshot: &Snapshot, node: &str) -> usize {
    snapshot.nodes().get(&NodeName::from(node)).map_or(0, |info| info.pods.len())
}

#[test]
fn the_next_snapshot_has_the_pod_on_its_node_and_its_claims_allocated_and_reserved() {
    let mut before = world(1, 2);
    before.set_claim(Arc::new(claim("c", [exactly("r", 1)])));
    let pod = pod("p", &[("g", "c")]);
    let after = assume(&before, &placement(&before, &pod), Commit::Done);

    let claim = &after.claims()[&key("c")];
    assert!(claim.allocation.is_some() && claim.has_finalizer && claim.is_reserved_for(&pod.uid));
    assert!(!after.is_in_flight(&claim.uid));
    assert_eq!(pods_on(&after, "n1"), 1);
    assert!(after.usage().device(&gpu(0)).is_some(), "upstream's first choice is the first device");
    assert!(after.usage().device(&gpu(1)).is_none());
    assert!(before.usage().device(&gpu(0)).is_none(), "the snapshot before is another value");
}

#[test]
fn forgetting_gives_back_what_was_only_assumed() {
    let mut before = world(1, 2);
    before.set_claim(Arc::new(claim("c", [exactly("r", 1)])));
    let placement = placement(&before, &pod("p", &[("g", "c")]));
    let assumed = assume(&before, &placement, Commit::InFlight);
    assert!(assumed.is_in_flight(&placement.claims[0].claim.uid));

    let after = forget(&assumed, &placement);
    assert_eq!(after.claims()[&key("c")], before.claims()[&key("c")]);
    assert_eq!(after.usage(), before.usage());
    assert_eq!(pods_on(&after, "n1"), 0);
    assert!(!after.is_in_flight(&placement.claims[0].claim.uid));
}

#[test]
fn forgetting_keeps_an_allocation_that_was_written_and_drops_the_reservation() {
    let mut before = world(1, 2);
    before.set_claim(Arc::new(claim("c", [exactly("r", 1)])));
    let pod = pod("p", &[("g", "c")]);
    let placement = placement(&before, &pod);
    let mut assumed = assume(&before, &placement, Commit::InFlight);
    let mut written = (*assumed.claims()[&key("c")]).clone();
    let mut allocation = (**written.allocation.as_ref().expect("it is allocated")).clone();
    allocation.timestamp = Some(crate::model::Timestamp(1));
    written.allocation = Some(Arc::new(allocation));
    assumed.set_claim(Arc::new(written));

    let after = forget(&assumed, &placement);
    let claim = &after.claims()[&key("c")];
    assert!(claim.allocation.is_some() && !claim.is_reserved_for(&pod.uid));
}

#[test]
fn forgetting_keeps_users_that_were_there_before_and_came_in_between() {
    let mut before = world(1, 1);
    let allocation = Allocation { results: Box::new([result("r", "n1", "gpu-0")]), ..Allocation::default() };
    before.set_claim(Arc::new(allocated(claim("c", [exactly("r", 1)]), allocation, &["first"])));
    let placement = placement(&before, &pod("second", &[("g", "c")]));
    let assumed = assume(&before, &placement, Commit::InFlight);
    let names = |snapshot: &Snapshot| -> Vec<String> {
        snapshot.claims()[&key("c")].reserved_for.iter().map(|user| user.name.to_string()).collect()
    };
    assert_eq!(names(&assumed), ["first", "second"]);
    assert_eq!(names(&forget(&assumed, &placement)), ["first"]);
    assert!(forget(&assumed, &placement).usage().device(&gpu(0)).is_some());
}

#[test]
fn nothing_is_on_its_way_once_committed() {
    let mut before = world(1, 1);
    before.set_claim(Arc::new(claim("c", [exactly("r", 1)])));
    let placement = placement(&before, &pod("p", &[("g", "c")]));
    let after = committed(&assume(&before, &placement, Commit::InFlight), &placement);
    let claim = &after.claims()[&key("c")];
    assert!(!after.is_in_flight(&claim.uid) && claim.allocation.is_some());
}

#[test]
fn deallocating_frees_the_devices_and_forgets_their_state() {
    let mut before = world(1, 1);
    let allocation = Allocation { results: Box::new([result("r", "n1", "gpu-0")]), ..Allocation::default() };
    let held = Arc::new(allocated(claim("c", [exactly("r", 1)]), allocation, &["p"]));
    before.set_claim(Arc::clone(&held));
    let after = post_filter(&before, &PostFilter::Deallocate { claim: held });
    let claim = &after.claims()[&key("c")];
    assert!(claim.allocation.is_none() && claim.reserved_for.is_empty() && claim.devices.is_empty());
    assert!(claim.has_finalizer, "the claim's controller removes it");
    assert!(after.usage().device(&gpu(0)).is_none());
}
