//! Funnels: what is named is what happened.

use super::world::*;
use crate::allocator::funnel::{Competition, DeviceObstacle};
use crate::model::{AttributeValue, Features, Taint, TaintEffect};
use std::sync::Arc;

#[test]
fn each_device_falls_once_and_the_step_that_emptied_the_funnel_is_named() {
    let numa = |at: usize, value: i64| device(&format!("dev-{at}"), &[("numa", AttributeValue::Int(value))]);
    let mut tainted = numa(2, 1);
    let taint =
        Taint { key: "bad".into(), value: "".into(), effect: TaintEffect::NoSchedule, time_added: None };
    tainted.taints = Box::new([taint.clone()]);
    let slices = [slice("s", vec![numa(0, 0), numa(1, 1), tainted, numa(3, 1)])];
    let mut world = world(Features::default(), slices);
    let wanted = selecting(requirement(2), "device.attributes['d.example.com'].numa == 1");
    let holder = allocate(&world, &[claim(vec![request("r", requirement(2))])]);
    occupy(&mut world, 50, &holder);
    let funnel = &funnel(&world, &[claim(vec![request("r", wanted)])])[0];
    assert_eq!((funnel.in_reach, funnel.remaining), (4, 1));
    let steps: Vec<_> = funnel.steps.iter().map(|step| (&step.obstacle, step.devices)).collect();
    let expression = Arc::from("device.attributes['d.example.com'].numa == 1");
    assert_eq!(
        steps,
        [
            (&DeviceObstacle::RequestSelector { index: 0, expression }, 1),
            (&DeviceObstacle::Taint { taint }, 1),
            (&DeviceObstacle::InUse { claims: vec![key(50)] }, 1),
        ]
    );
    assert_eq!(funnel.first_empty, Some(2));
    assert!(funnel.is_short() && funnel.conflict.is_none());
}

#[test]
fn a_conflict_names_no_more_than_it_takes() {
    let numa =
        |at: usize| device(&format!("dev-{at}"), &[("numa", AttributeValue::Int(at.try_into().unwrap()))]);
    let world = world(Features::default(), [slice("s", (0..4).map(numa).collect())]);
    let pair = matching(distinct(claim(single_requests(3)), "numa"), "numa");
    let funnels = funnel(&world, &[claim(single_requests(1)), pair]);
    let conflict = funnels[1].conflict.clone().unwrap();
    // Two requests that must match are enough to fail; which two is not important.
    assert_eq!(conflict.requests.len(), 2);
    assert_eq!(conflict.constraints, [(key(1), 1)]);
    assert!(funnels[0].conflict.is_none());
}

#[test]
fn competition_over_counters_is_told_from_competition_over_devices() {
    let with = |at: usize| consuming(device(&format!("dev-{at}"), &[]), &[("mem", "6Gi")]);
    let pool = partitioned(vec![with(0), with(1)], &[("mem", "8Gi")]);
    let world = world(Features::default(), pool);
    let funnels = funnel(&world, &[claim(single_requests(2))]);
    assert_eq!(funnels[0].conflict.as_ref().unwrap().over, Competition::Counters);
    let funnels = funnel(&world, &[claim(single_requests(3))]);
    assert_eq!(funnels[0].conflict.as_ref().unwrap().requests.len(), 2);
}
