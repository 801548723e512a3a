//! One feature at a time.

use super::world::*;
use crate::model::{AttributeValue, FeatureGate, Features};

#[test]
fn the_first_devices_in_order_are_taken() {
    let world = world(Features::default(), [slice("s", devices(4))]);
    let outcome = allocate(&world, &[claim(vec![request("r", requirement(2))]), claim(single_requests(1))]);
    assert_eq!(names(&outcome), Some(vec![vec!["dev-0".into(), "dev-1".into()], vec!["dev-2".into()]]));
}

#[test]
fn devices_in_use_are_passed_over_and_free_again_later() {
    let mut world = world(Features::default(), [slice("s", devices(2))]);
    let one = [claim(single_requests(1))];
    let mut allocator = crate::allocator::Allocator::new(world.features());
    let first = ask(&mut allocator, &world, "n1", &one);
    occupy(&mut world, 10, &first);
    let second = ask(&mut allocator, &world, "n1", &one);
    assert_eq!(names(&second), Some(vec![vec!["dev-1".into()]]));
    occupy(&mut world, 20, &second);
    assert_eq!(names(&ask(&mut allocator, &world, "n1", &one)), None);
    world.remove_claim(&key(10));
    assert_eq!(names(&ask(&mut allocator, &world, "n1", &one)), Some(vec![vec!["dev-0".into()]]));
}

#[test]
fn a_constraint_takes_a_device_back() {
    let with = |at: usize, numa: i64| device(&format!("dev-{at}"), &[("numa", AttributeValue::Int(numa))]);
    let world = world(Features::default(), [slice("s", vec![with(0, 0), with(1, 1), with(2, 1)])]);
    let outcome = allocate(&world, &[matching(claim(single_requests(2)), "numa")]);
    assert_eq!(names(&outcome), Some(vec![vec!["dev-1".into(), "dev-2".into()]]));
}

#[test]
fn the_second_alternative_is_taken_when_the_first_does_not_fit() {
    let world = world(Features::default(), [slice("s", devices(2))]);
    let spec = claim(vec![first_available("r", vec![requirement(3), requirement(2)])]);
    let outcome = allocate(&world, &[spec]);
    assert_eq!(names(&outcome), Some(vec![vec!["dev-0".into(), "dev-1".into()]]));
    let allocation = &outcome.result.unwrap().unwrap()[0];
    assert_eq!(allocation.results[0].request, "r/sub-1");
}

#[test]
fn shares_of_one_device_consume_its_capacity() {
    let share = |at: usize| shareable(device(&format!("dev-{at}"), &[]), &[("memory", "10Gi")]);
    let world = world(Features::default(), [slice("s", vec![share(0), share(1)])]);
    let mut six = requirement(1);
    six.capacity = Some(Box::new([("memory".into(), quantity("6Gi"))]));
    let mut four = six.clone();
    four.capacity = Some(Box::new([("memory".into(), quantity("4Gi"))]));
    let spec = claim(vec![request("a", six.clone()), request("b", six), request("c", four)]);
    let outcome = allocate(&world, &[spec]);
    assert_eq!(names(&outcome), Some(vec![vec!["dev-0".into(), "dev-1".into(), "dev-0".into()]]));
    let allocation = &outcome.result.unwrap().unwrap()[0];
    let ids: Vec<_> = allocation.results.iter().map(|r| r.share_id.clone().unwrap()).collect();
    assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2]);
}

#[test]
fn an_error_is_worded_as_upstream_words_it() {
    let world = world(Features::default(), [slice("s", devices(1))]);
    let mut missing = requirement(1);
    missing.class = "none".into();
    assert_eq!(
        error(&allocate(&world, &[claim(vec![request("r", missing)])])),
        "claim default/claim-0, request r: could not retrieve device class none: deviceclass.resource.k8s.io \"none\" not found"
    );
    assert_eq!(
        error(&allocate(
            &world,
            &[claim(vec![request("a", requirement(20)), request("b", requirement(20))])]
        )),
        "claim default/claim-0, request b: adding 20 devices exceeds the claim limit of 32, with 20 already accounted for"
    );
    let off = Features::default().with(FeatureGate::DRAPrioritizedList, false);
    let world = super::world::world(off, [slice("s", devices(1))]);
    assert_eq!(
        error(&allocate(&world, &[claim(vec![first_available("r", vec![requirement(1)])])])),
        "claim default/claim-0, request r: has subrequests, but the DRAPrioritizedList feature is disabled"
    );
}
