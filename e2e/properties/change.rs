//! Changes of a world, one small thing at a time.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::Index;
use stowplan::model::taint_rule::{DeviceTaintRule, DeviceTaintSelector};
use stowplan::model::{DeviceClass, DeviceId, Labels, Name, ResourceSlice, Taint, TaintEffect};

use super::build::{World, class, holding_claim};

/// What happens to a world.
#[derive(Clone, Debug)]
pub enum Change {
    /// A device is given to some claim, which may have had another one.
    Hold { holder: usize, device: Index, share: Option<u8> },
    /// A claim gives back what it holds.
    Free { holder: usize },
    /// A slice is withdrawn.
    Withdraw(Index),
    /// A slice lists its devices the other way round.
    Reverse(Index),
    /// A slice becomes one of a newer generation.
    Renew(Index),
    /// A class selects every device, or is what it was.
    Class { index: usize, open: bool },
    /// An administrator taints a device, or takes that taint away.
    Taint(Option<Index>),
    /// A node changes its labels.
    Relabel { node: Index, even: bool },
    /// The claims are asked for in another order.
    Swap,
}

/// Any change.
pub fn changes() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => (0usize..3, any::<Index>(), proptest::option::of(0u8..=2))
            .prop_map(|(holder, device, share)| Change::Hold { holder, device, share }),
        2 => (0usize..3).prop_map(|holder| Change::Free { holder }),
        1 => any::<Index>().prop_map(Change::Withdraw),
        1 => any::<Index>().prop_map(Change::Reverse),
        1 => any::<Index>().prop_map(Change::Renew),
        1 => (0usize..3, any::<bool>()).prop_map(|(index, open)| Change::Class { index, open }),
        1 => proptest::option::of(any::<Index>()).prop_map(Change::Taint),
        1 => (any::<Index>(), any::<bool>()).prop_map(|(node, even)| Change::Relabel { node, even }),
        1 => Just(Change::Swap),
    ]
}

/// Makes a change. One for which the world has nothing changes nothing.
pub fn apply(world: &mut World, change: &Change) {
    let snapshot = &mut world.snapshot;
    let slices: Vec<Arc<ResourceSlice>> = snapshot.slices().all.values().cloned().collect();
    let slice = |index: &Index| (!slices.is_empty()).then(|| (**index.get(&slices)).clone());
    match change {
        Change::Hold { holder, device, share } => {
            if let Some(device) = some_device(&slices, *device) {
                snapshot.set_claim(Arc::new(holding_claim(*holder, device, *share)));
            }
        }
        Change::Free { holder } => {
            let key = holding_claim(*holder, DeviceId::default(), None).key;
            snapshot.remove_claim(&key);
        }
        Change::Withdraw(index) => slice(index).into_iter().for_each(|it| snapshot.remove_slice(&it.name)),
        Change::Reverse(index) => slice(index).into_iter().for_each(|mut it| {
            it.devices.reverse();
            snapshot.set_slice(it);
        }),
        Change::Renew(index) => slice(index).into_iter().for_each(|mut it| {
            it.generation += 1;
            snapshot.set_slice(it);
        }),
        Change::Class { index, open } => {
            let class = class(*index);
            let selectors = if *open { Box::default() } else { class.selectors.clone() };
            snapshot.set_class(DeviceClass { selectors, ..class });
        }
        Change::Taint(index) => match index.and_then(|index| some_device(&slices, index)) {
            Some(device) => snapshot.set_taint_rule(taint_rule(&device)),
            None => snapshot.remove_taint_rule(&Name::from("rule")),
        },
        Change::Relabel { node, even } => {
            let number = node.index(world.nodes.len());
            let node = &mut world.nodes[number];
            let parity = if *even { "even" } else { "odd" };
            node.labels = [(Name::from("parity"), Name::from(parity))].into_iter().collect::<Labels>();
            snapshot.set_node(node.clone());
        }
        Change::Swap => world.claims.reverse(),
    }
}

fn some_device(slices: &[Arc<ResourceSlice>], index: Index) -> Option<DeviceId> {
    let devices: Vec<DeviceId> = slices
        .iter()
        .flat_map(|slice| slice.devices.iter().map(|device| slice.pool.device(device.name.clone())))
        .collect();
    (!devices.is_empty()).then(|| index.get(&devices).clone())
}

fn taint_rule(device: &DeviceId) -> DeviceTaintRule {
    DeviceTaintRule {
        name: Name::from("rule"),
        selector: Some(DeviceTaintSelector {
            driver: Some(device.pool.driver.clone()),
            pool: Some(device.pool.pool.clone()),
            device: Some(device.device.clone()),
        }),
        taint: Taint {
            key: Name::from("taint-0"),
            value: Name::default(),
            effect: TaintEffect::NoSchedule,
            time_added: None,
        },
    }
}
