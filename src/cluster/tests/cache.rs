//! Whatever the order of events and answers, a device that is given away never looks free.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::cluster::cache::Cache;
use crate::cluster::effect::Effect;
use crate::cluster::untyped::{ObjectKey, Untyped};
use crate::cluster::watch::{Change, Kind};
use crate::model::{Allocation, ClaimKey, DeviceId, DeviceResult, Features, Name, NodeName, PodKey, Uid};
use crate::scheduling::Placement;
use crate::scheduling::decision::{ClaimDevices, PlacedClaim};
use crate::scheduling::scores::Scores;

fn device() -> DeviceId {
    DeviceId::new("gpu.example.com", "n1", "gpu-0")
}

fn allocation() -> Allocation {
    let result = DeviceResult::plain("gpu", device());
    Allocation { results: Box::new([result]), ..Allocation::default() }
}

fn pod(name: &str, uid: &str, node: Option<&str>) -> Value {
    let mut pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"namespace": "default", "name": name, "uid": uid, "resourceVersion": "5"},
        "spec": {
            "schedulerName": "stowplan",
            "containers": [{"name": "c", "resources": {"claims": [{"name": "g"}]}}],
            "resourceClaims": [{"name": "g", "resourceClaimName": "claim"}],
        },
    });
    if let Some(node) = node {
        pod["spec"]["nodeName"] = node.into();
    }
    pod
}

fn claim(version: &str, allocated: bool) -> Value {
    let mut claim = json!({
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"namespace": "default", "name": "claim", "uid": "claim-uid", "resourceVersion": version},
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}]}},
    });
    if allocated {
        claim["status"] = json!({
            "allocation": {"devices": {"results": [
                {"request": "gpu", "driver": "gpu.example.com", "pool": "n1", "device": "gpu-0"},
            ]}},
            "reservedFor": [{"resource": "pods", "name": "a", "uid": "a-uid"}],
        });
    }
    claim
}

fn set(cache: &mut Cache, kind: Kind, object: Value) -> Vec<Effect> {
    cache.take(Change::Set(kind, Untyped::new(object)))
}

fn removed(cache: &mut Cache, kind: Kind, name: &str) -> Vec<Effect> {
    let key = ObjectKey { namespace: "default".into(), name: name.into() };
    cache.take(Change::Removed(kind, key))
}

/// A world with a node, a claim and the pods a and b that name it.
fn world() -> Cache {
    let mut cache = Cache::new(Features::default(), [Name::from("stowplan")]);
    set(&mut cache, Kind::Node, json!({"metadata": {"name": "n1"}}));
    set(&mut cache, Kind::ResourceClaim, claim("1", false));
    for (name, uid) in [("a", "a-uid"), ("b", "b-uid")] {
        let effects = set(&mut cache, Kind::Pod, pod(name, uid, None));
        assert!(matches!(&effects[..], [Effect::Waits(_)]), "{effects:?}");
    }
    cache
}

/// The pod goes to n1, with the devices of the claim chosen now or held already.
fn place(cache: &mut Cache, name: &str) -> Uid {
    let pod = Arc::clone(&cache.pod(&PodKey::new("default", name)).unwrap().pod);
    let claim = Arc::clone(&cache.snapshot().claims()[&ClaimKey::new("default", "claim")]);
    let devices = match &claim.allocation {
        Some(held) => ClaimDevices::Held(Arc::clone(held)),
        None => ClaimDevices::Chosen(Arc::new(allocation())),
    };
    let placed = PlacedClaim { pod_claim: "g".into(), claim, devices };
    let placement = Placement {
        pod: Arc::clone(&pod),
        node: NodeName::from("n1"),
        claims: Box::new([placed]),
        extended: None,
        scores: Scores::default(),
    };
    cache.assume(&Arc::new(placement));
    pod.uid.clone()
}

fn is_held(cache: &Cache) -> bool {
    cache.snapshot().usage().device(&device()).is_some()
}

fn pods_on_node(cache: &Cache) -> usize {
    cache.snapshot().nodes()[&NodeName::from("n1")].pods.len()
}

fn is_in_flight(cache: &Cache) -> bool {
    cache.snapshot().is_in_flight(&Uid::from("claim-uid"))
}

#[test]
fn an_event_that_does_not_know_the_allocation_yet_does_not_free_the_device() {
    let mut cache = world();
    place(&mut cache, "a");
    assert!(is_held(&cache) && is_in_flight(&cache));
    set(&mut cache, Kind::ResourceClaim, claim("2", false)); // the finalizer, for example
    assert!(is_held(&cache) && is_in_flight(&cache));
}

#[test]
fn between_the_answer_and_the_event_the_device_stays_held() {
    let mut cache = world();
    let uid = place(&mut cache, "a");
    cache.answered(vec![Untyped::new(claim("3", true))]);
    cache.written(&uid);
    assert!(is_held(&cache) && !is_in_flight(&cache));
    set(&mut cache, Kind::ResourceClaim, claim("2", false)); // an event from before the write
    assert!(is_held(&cache));
    assert_eq!(pods_on_node(&cache), 1);
}

#[test]
fn a_placement_that_is_given_up_leaves_nothing_behind() {
    let mut cache = world();
    let uid = place(&mut cache, "a");
    cache.forget(&uid);
    assert!(!is_held(&cache) && !is_in_flight(&cache));
    assert_eq!(pods_on_node(&cache), 0);
    assert!(cache.snapshot().claims()[&ClaimKey::new("default", "claim")].reserved_for.is_empty());
}

#[test]
fn a_placement_given_up_after_its_claim_was_written_leaves_the_claim_as_the_server_has_it() {
    let mut cache = world();
    let uid = place(&mut cache, "a");
    cache.answered(vec![Untyped::new(claim("3", true))]);
    cache.forget(&uid);
    assert!(is_held(&cache) && !is_in_flight(&cache));
}

#[test]
fn an_answer_does_not_bring_a_deleted_claim_back() {
    let mut cache = world();
    let uid = place(&mut cache, "a");
    removed(&mut cache, Kind::ResourceClaim, "claim");
    cache.answered(vec![Untyped::new(claim("3", true))]);
    cache.forget(&uid);
    assert!(!is_held(&cache));
    assert!(cache.snapshot().claims().is_empty());
}

#[test]
fn both_pods_that_join_a_claim_are_counted_until_the_server_shows_them() {
    let mut cache = world();
    let first = place(&mut cache, "a");
    cache.answered(vec![Untyped::new(claim("3", true))]);
    cache.written(&first);
    place(&mut cache, "b");
    set(&mut cache, Kind::ResourceClaim, claim("4", true));
    let users = &cache.snapshot().claims()[&ClaimKey::new("default", "claim")].reserved_for;
    let users: Vec<_> = users.iter().map(|user| user.uid.as_str()).collect();
    assert_eq!(users, ["a-uid", "b-uid"]);
    assert!(!is_in_flight(&cache));
}

#[test]
fn a_pod_on_its_way_gets_no_second_turn_by_its_own_events() {
    let mut cache = world();
    let uid = place(&mut cache, "a");
    let mut changed = pod("a", "a-uid", None);
    changed["metadata"]["labels"] = json!({"new": "label"});
    assert_eq!(set(&mut cache, Kind::Pod, changed.clone()), []);
    cache.written(&uid);
    changed["metadata"]["labels"] = json!({});
    assert_eq!(set(&mut cache, Kind::Pod, changed), []);
    let effects = set(&mut cache, Kind::Pod, pod("a", "a-uid", Some("n1")));
    assert_eq!(effects, [Effect::Settled(PodKey::new("default", "a"))]);
    assert_eq!(pods_on_node(&cache), 1);
}

#[test]
fn a_new_pod_of_the_same_name_is_not_taken_for_the_one_on_its_way() {
    let mut cache = world();
    let old = place(&mut cache, "a");
    let effects = set(&mut cache, Kind::Pod, pod("a", "another-uid", None));
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Waits(_))), "{effects:?}");
    assert_eq!(pods_on_node(&cache), 0);
    cache.forget(&old);
    assert_eq!(pods_on_node(&cache), 0);
    assert!(!is_held(&cache));
}

#[test]
fn the_end_of_a_pod_and_the_release_of_a_claim_may_help_any_pod() {
    let mut cache = world();
    set(&mut cache, Kind::Pod, pod("a", "a-uid", Some("n1")));
    set(&mut cache, Kind::ResourceClaim, claim("3", true));
    assert!(removed(&mut cache, Kind::Pod, "a").contains(&Effect::MayHelpAny));
    assert_eq!(set(&mut cache, Kind::ResourceClaim, claim("4", false)), [Effect::MayHelpAny]);
    assert!(!is_held(&cache));
}

#[test]
fn a_condition_or_a_heartbeat_wakes_nobody() {
    let mut cache = world();
    let mut told = pod("a", "a-uid", None);
    told["metadata"]["resourceVersion"] = "6".into();
    told["status"] =
        json!({"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]});
    assert_eq!(set(&mut cache, Kind::Pod, told), []);
    let beat = json!({"metadata": {"name": "n1", "resourceVersion": "9"}, "status": {"conditions": []}});
    assert_eq!(set(&mut cache, Kind::Node, beat), []);
}
