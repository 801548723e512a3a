//! What is remembered between cycles changes no decision, whatever happens in between.

use std::sync::Arc;

use proptest::prelude::*;

use super::world::{
    CLASS, claim, class_of, decide, exactly, first_available, node, pod, slice, slice_of, tainted_node, world,
};
use crate::model::{ClaimKey, Pod, ResourceSlice, Snapshot};
use crate::scheduling::assume::{Commit, assume};
use crate::scheduling::{Decision, Memo, Options, schedule};

/// Something that happens between two cycles, and mostly also a cycle.
#[derive(Clone, Debug)]
enum Event {
    /// A pod of one of the kinds is scheduled.
    Pod(usize),
    /// A pod that was placed ends.
    End(usize),
    /// A claim that a pod made goes, which may be before the pod does.
    Free(usize),
    /// A node gets or loses a taint.
    Taint(usize, bool),
    /// A node is cordoned or not.
    Cordon(usize, bool),
    /// A node comes back or goes.
    Node(usize, bool),
    /// A node publishes so many devices.
    Slice(usize, usize),
    /// A pool that all nodes reach publishes so many devices.
    Shared(usize),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        6 => (0..5_usize).prop_map(Event::Pod),
        2 => (0..8_usize).prop_map(Event::End),
        3 => (1..12_usize).prop_map(Event::Free),
        1 => (1..4_usize, any::<bool>()).prop_map(|(node, on)| Event::Taint(node, on)),
        1 => (1..4_usize, any::<bool>()).prop_map(|(node, on)| Event::Cordon(node, on)),
        1 => (1..5_usize, any::<bool>()).prop_map(|(node, on)| Event::Node(node, on)),
        1 => (1..4_usize, 0..4_usize).prop_map(|(node, devices)| Event::Slice(node, devices)),
        1 => (0..3_usize).prop_map(Event::Shared),
    ];
    proptest::collection::vec(event, 1..40)
}

/// A pod of a kind; those of one kind ask the same of a node. Its claim is put into the snapshot.
fn new_pod(snapshot: &mut Snapshot, kind: usize, number: usize) -> Arc<Pod> {
    let name = format!("p{number}");
    let requests = match kind {
        0 => return Arc::new(pod(&name, &[])),
        1 => exactly("r", 1),
        2 => exactly("r", 2),
        3 => first_available("r", &[("net", "net"), ("local", CLASS)]),
        _ => return Arc::new(pod(&name, &[("g", "shared")])),
    };
    snapshot.set_claim(Arc::new(claim(&name, [requests])));
    Arc::new(pod(&name, &[("g", &name)]))
}

fn shared_slice(devices: usize) -> ResourceSlice {
    let mut slice = slice_of("net", "net", devices);
    slice.placement.node_name = None;
    slice.placement.all_nodes = true;
    slice
}

/// The snapshot after everything but a cycle.
fn happen(snapshot: &mut Snapshot, placed: &mut Vec<Arc<Pod>>, event: &Event) {
    let name = |number: &usize| format!("n{number}");
    match event {
        Event::End(at) if *at < placed.len() => {
            let pod = placed.remove(*at);
            snapshot.remove_pod(&pod);
        }
        Event::Pod(_) | Event::End(_) => {}
        Event::Free(number) => snapshot.remove_claim(&ClaimKey::new("default", format!("p{number}"))),
        Event::Taint(at, true) => snapshot.set_node(tainted_node(&name(at))),
        Event::Taint(at, false) | Event::Node(at, true) => snapshot.set_node(node(&name(at))),
        Event::Cordon(at, on) => {
            snapshot.set_node(crate::model::Node { unschedulable: *on, ..node(&name(at)) });
        }
        Event::Node(at, false) => snapshot.remove_node(&name(at).as_str().into()),
        Event::Slice(at, devices) => snapshot.set_slice(slice(&name(at), *devices)),
        Event::Shared(devices) => snapshot.set_slice(shared_slice(*devices)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_remembered_changes_no_decision(events in events()) {
        let mut snapshot = world(3, 3);
        snapshot.set_class(class_of("net", "net"));
        snapshot.set_claim(Arc::new(claim("shared", [exactly("r", 1)])));
        let mut memo = Memo::new(snapshot.features());
        let (mut placed, mut number) = (Vec::new(), 0);
        for event in events {
            happen(&mut snapshot, &mut placed, &event);
            let Event::Pod(kind) = event else { continue };
            number += 1;
            let pod = new_pod(&mut snapshot, kind, number);
            let decision = schedule(&snapshot, &pod, &mut memo, &Options::default());
            prop_assert_eq!(&decision, &decide(&snapshot, &pod));
            if let Decision::Placed(placement) = decision {
                snapshot = assume(&snapshot, &placement, Commit::Done);
                let node_name = Some(placement.node.clone());
                placed.push(Arc::new(Pod { node_name, ..(*pod).clone() }));
            }
        }
    }
}
