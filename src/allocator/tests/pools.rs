//! Slices to pools, and what the memo keeps of them.

use super::world::*;
use crate::allocator::Allocator;
use crate::model::slice::Placement;
use crate::model::{FeatureGate, Features, KubernetesVersion, Node, NodeName, PoolId, ResourceSlice};

fn of_pool(name: &str, pool: &str, count: i64, generation: i64, devices: usize) -> ResourceSlice {
    let mut slice = slice(name, super::world::devices(devices));
    for (at, device) in slice.devices.iter_mut().enumerate() {
        device.name = format!("{name}-{at}").as_str().into();
    }
    slice.pool = PoolId::new(DRIVER, pool);
    slice.slice_count = count;
    slice.generation = generation;
    slice
}

fn on(node: &str, mut slice: ResourceSlice) -> ResourceSlice {
    slice.placement = Placement { node_name: Some(NodeName::from(node)), ..Placement::default() };
    slice
}

fn first(slices: impl IntoIterator<Item = ResourceSlice>) -> Option<String> {
    let world = world(Features::default(), slices);
    names(&allocate(&world, &[claim(single_requests(1))])).map(|names| names[0][0].clone())
}

#[test]
fn pools_are_tried_by_name_and_slices_by_name() {
    let slices = [of_pool("z", "b", 1, 1, 1), of_pool("y", "a", 2, 1, 1), of_pool("x", "a", 2, 1, 1)];
    assert_eq!(first(slices).as_deref(), Some("x-0"));
}

#[test]
fn a_pool_with_binding_conditions_comes_last() {
    let mut waiting = of_pool("s", "a", 1, 1, 1);
    waiting.devices[0].binding_conditions = Some(Box::new(["ready".into()]));
    waiting.devices[0].binding_failure_conditions = Some(Box::new(["broken".into()]));
    assert_eq!(first([waiting.clone(), of_pool("t", "b", 1, 1, 1)]).as_deref(), Some("t-0"));
    assert_eq!(first([waiting]).as_deref(), Some("s-0"));
}

#[test]
fn an_incomplete_pool_is_passed_over_since_1_35() {
    let slices = || [of_pool("s", "a", 2, 1, 1)];
    assert_eq!(first(slices()), None);
    let old = world(Features::of(KubernetesVersion::V1_34), slices());
    assert_eq!(names(&allocate(&old, &[claim(single_requests(1))])), Some(vec![vec!["s-0".into()]]));
    let everything = allocate(&world(Features::default(), slices()), &[claim(vec![request("r", all())])]);
    assert_eq!(
        error(&everything),
        "claim default/claim-0, request r: asks for all devices, but resource pool d.example.com/a is currently being updated"
    );
}

#[test]
fn only_the_newest_generation_counts_wherever_it_is() {
    assert_eq!(first([of_pool("s", "a", 1, 1, 1), of_pool("t", "a", 1, 2, 1)]).as_deref(), Some("t-0"));
    let elsewhere = on("n2", of_pool("t", "a", 2, 2, 1));
    assert_eq!(first([of_pool("s", "a", 2, 1, 1), elsewhere]), None);
}

#[test]
fn a_pool_that_contradicts_itself_is_named_only_if_nothing_else_fits() {
    let mut twice = of_pool("s", "a", 1, 1, 2);
    twice.devices[1].name = twice.devices[0].name.clone();
    assert_eq!(first([twice.clone(), of_pool("t", "b", 1, 1, 1)]).as_deref(), Some("t-0"));
    let world = world(Features::default(), [twice]);
    let outcome = allocate(&world, &[claim(single_requests(1))]);
    assert_eq!(error(&outcome), "invalid resource pools were encountered");
}

#[test]
fn a_changed_slice_or_node_is_seen_and_nothing_else_is_asked_again() {
    let mut world = world(Features::default(), [of_pool("s", "a", 1, 1, 1)]);
    let mut allocator = Allocator::new(world.features());
    let one = [claim(single_requests(1))];
    let mut now = |world: &crate::model::Snapshot| {
        let warm = ask(&mut allocator, world, "n1", &one);
        assert_eq!(warm, allocate(world, &one), "a new allocator says the same");
        names(&warm).map(|names| names[0][0].clone())
    };
    assert_eq!(now(&world).as_deref(), Some("s-0"));
    world.remove_slice(&"s".into());
    assert_eq!(now(&world), None);
    let mut labelled = of_pool("t", "b", 1, 1, 1);
    let in_zone = crate::model::selection::Requirement {
        key: "zone".into(),
        operator: crate::model::selection::SelectorOperator::In,
        values: Box::new(["z1".into()]),
    };
    let term = crate::model::NodeSelectorTerm {
        match_expressions: Box::new([in_zone]),
        match_fields: Box::default(),
    };
    let selector = crate::model::NodeSelector { terms: Box::new([term]) };
    labelled.placement = Placement { node_selector: Some(selector), ..Placement::default() };
    world.set_slice(labelled);
    assert_eq!(now(&world), None);
    let labels = [("zone".into(), "z1".into())].into_iter().collect();
    world.set_node(Node { name: NodeName::from("n1"), labels, ..Node::default() });
    assert_eq!(now(&world).as_deref(), Some("t-0"));
}

#[test]
fn equal_nodes_share_one_search_and_each_gets_its_own_devices() {
    let mut second = on("n2", of_pool("u", "b", 1, 1, 2));
    second.devices[0].name = "other-0".into();
    let mut world = world(Features::default(), [of_pool("s", "a", 1, 1, 2), second]);
    world.set_node(Node { name: NodeName::from("n2"), ..Node::default() });
    let mut allocator = Allocator::new(world.features());
    let two = [claim(vec![request("r", requirement(2))])];
    let on_first = ask(&mut allocator, &world, "n1", &two);
    let on_second = ask(&mut allocator, &world, "n2", &two);
    assert_eq!(names(&on_first), Some(vec![vec!["s-0".into(), "s-1".into()]]));
    assert_eq!(names(&on_second), Some(vec![vec!["other-0".into(), "u-1".into()]]));
    let nodes = on_second.result.unwrap().unwrap()[0].node_selector.clone().unwrap();
    assert_eq!(nodes, crate::model::NodeSelector::of_node(&"n2".into()));
}

#[test]
fn kubelet_calls_are_left_out_only_where_the_node_declares_it() {
    let mut bare = of_pool("s", "a", 1, 1, 1);
    bare.skip_node_operations = Box::new(["*".into()]);
    let features = Features::default().with(FeatureGate::DRAOptionalNodeOperations, true);
    let mut world = world(features, [bare.clone()]);
    let mut allocator = Allocator::new(world.features());
    let one = [claim(single_requests(1))];
    assert_eq!(names(&ask(&mut allocator, &world, "n1", &one)), None);
    let declared_features = Box::new(["DRAOptionalNodeOperations".into()]);
    world.set_node(Node { name: NodeName::from("n1"), declared_features, ..Node::default() });
    let outcome = ask(&mut allocator, &world, "n1", &one);
    assert_eq!(
        outcome.result.unwrap().unwrap()[0].results[0].skip_node_operations,
        bare.skip_node_operations
    );
    assert_eq!(first([bare]).as_deref(), Some("s-0"), "without the gate the field is not known");
}
