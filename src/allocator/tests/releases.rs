//! What changed from release to release.

use super::world::*;
use crate::allocator::{AllocateError, NodeError, WantedDevices};
use crate::model::{DeviceRequirement, Features, KubernetesVersion, Snapshot};

/// Two shareable devices, the first of which has 6 of 10 Gi taken.
fn partly_taken(features: Features) -> Snapshot {
    let share = |at: usize| shareable(device(&format!("dev-{at}"), &[]), &[("memory", "10Gi")]);
    let mut world = world(features, [slice("s", vec![share(0), share(1)])]);
    let six = claim(vec![request("r", asking(requirement(1), "6Gi"))]);
    let taken = allocate(&world, &[six]);
    occupy(&mut world, 10, &taken);
    world
}

fn asking(requirement: DeviceRequirement, memory: &str) -> DeviceRequirement {
    DeviceRequirement { capacity: Some(Box::new([("memory".into(), quantity(memory))])), ..requirement }
}

#[test]
fn all_devices_are_all_that_suffice_when_unused_and_before_1_37_all_that_suffice_now() {
    let all_with = |memory| [claim(vec![request("r", asking(all(), memory))])];
    let new = partly_taken(Features::default());
    assert_eq!(names(&allocate(&new, &all_with("4Gi"))), Some(vec![vec!["dev-0".into(), "dev-1".into()]]));
    assert_eq!(names(&allocate(&new, &all_with("5Gi"))), None);
    let old = partly_taken(Features::of(KubernetesVersion::V1_36));
    assert_eq!(names(&allocate(&old, &all_with("4Gi"))), Some(vec![vec!["dev-0".into(), "dev-1".into()]]));
    let outcome = allocate(&old, &all_with("5Gi"));
    assert_eq!(names(&outcome), Some(vec![vec!["dev-1".into()]]));
    assert_eq!(names(&allocate(&old, &all_with("11Gi"))), None, "nothing is no answer");
    assert_eq!(verdict(&old, &all_with("5Gi"), &outcome), Ok(()));
    assert!(verdict(&new, &all_with("5Gi"), &outcome).is_err(), "the judge follows the release too");
}

#[test]
fn a_request_for_all_devices_that_fails_counts_the_exhausted_ones_by_its_release() {
    let wanted = |features| {
        let world = partly_taken(features);
        let beside = [claim(vec![request("r", asking(all(), "5Gi")), request("s", requirement(3))])];
        funnel(&world, &beside)[0].wanted
    };
    assert_eq!(wanted(Features::default()), WantedDevices::All(2));
    assert_eq!(wanted(Features::of(KubernetesVersion::V1_36)), WantedDevices::All(1));
}

#[test]
fn issue_141898_an_unusable_pool_ends_the_attempt_or_its_node_only() {
    let mut incomplete = slice("s", devices(1));
    incomplete.slice_count = 2;
    let everything = [claim(vec![request("r", all())])];
    let ended = allocate(&world(Features::default(), [incomplete.clone()]), &everything);
    assert!(matches!(ended.result, Err(AllocateError::Fatal(_))), "{ended:?}");
    let mut features = Features::default();
    features.follow(141_898).expect("a known change");
    let local = allocate(&world(features, [incomplete]), &everything);
    assert!(matches!(local.result, Err(AllocateError::Node(NodeError::UnusablePool(_)))), "{local:?}");
    assert_eq!(error(&local), error(&ended));
}
