//! Which nodes are equal but for names: every device, slice and pool gets a number by content, and
//! the list of these numbers is the node's shape. Of contents only what claims can tell apart counts.

use rustc_hash::FxHashMap;

use crate::model::selection::NodeSelector;
use crate::model::slice::Placement;
use crate::model::{CounterConsumption, CounterSet, Device, Name, ResourceSlice, Taint};

use super::book::{Book, ProjectionId};
use super::pool::{NodePools, Pool, PoolStatus, Reach};

/// The number of a shape.
pub(super) type ShapeId = usize;

/// A placement without the name of the node.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Site {
    is_named: bool,
    selector: Option<NodeSelector>,
    all_nodes: bool,
}

impl Site {
    fn of(placement: &Placement) -> Self {
        Self {
            is_named: placement.node_name.is_some(),
            selector: placement.node_selector.clone(),
            all_nodes: placement.all_nodes,
        }
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Kind {
    /// The number of what the projection leaves of the content.
    content: usize,
    counters: Box<[CounterConsumption]>,
    site: Option<Site>,
    taints: Box<[Taint]>,
    binds_to_node: bool,
    conditions: [Option<Box<[Name]>>; 2],
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct SliceTraits {
    site: Site,
    per_device: Option<bool>,
    skip_node_operations: Box<[Name]>,
}

/// Numbers by content.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    kinds: FxHashMap<Kind, usize>,
    slices: FxHashMap<SliceTraits, usize>,
    counters: FxHashMap<Vec<CounterSet>, usize>,
    known: FxHashMap<Vec<usize>, ShapeId>,
}

fn number<K: std::hash::Hash + Eq>(numbers: &mut FxHashMap<K, usize>, key: K) -> usize {
    let next = numbers.len();
    *numbers.entry(key).or_insert(next)
}

impl Shapes {
    /// How many shapes and parts of shapes are known.
    pub fn len(&self) -> usize {
        self.known.len() + self.kinds.len() / 8
    }

    /// The number of a node's shape under a projection; none if an error there would name something.
    pub fn number(
        &mut self,
        book: &mut Book,
        projection: ProjectionId,
        pools: &NodePools,
        node_operations: bool,
    ) -> Option<ShapeId> {
        let mut key = vec![projection, usize::from(node_operations)];
        let mut devices = pools.devices.iter();
        for pool in &pools.pools {
            key.push(self.pool(pool));
            for slice in &pool.slices {
                key.push(self.slice(slice));
                key.push(slice.devices.len());
                for (device, location) in slice.devices.iter().zip(devices.by_ref()) {
                    key.push(match location.reach {
                        Reach::Yes => 0,
                        Reach::No => 1,
                        Reach::Unknown(_) => return None,
                    });
                    let per_device = slice.per_device_node_selection == Some(true);
                    let content = book.projected(projection, location.content);
                    key.push(self.kind(device, content, per_device));
                }
            }
        }
        Some(number(&mut self.known, key))
    }

    fn pool(&mut self, pool: &Pool) -> usize {
        let status = match pool.status {
            PoolStatus::Usable => 0,
            PoolStatus::Incomplete => 1,
            PoolStatus::Invalid(_) => 2,
        };
        let sets = pool.counters.as_ref().map(|counters| counters.sets.clone()).unwrap_or_default();
        number(&mut self.counters, sets) * 3 + status
    }

    fn slice(&mut self, slice: &ResourceSlice) -> usize {
        let traits = SliceTraits {
            site: Site::of(&slice.placement),
            per_device: slice.per_device_node_selection,
            skip_node_operations: slice.skip_node_operations.clone(),
        };
        number(&mut self.slices, traits)
    }

    fn kind(&mut self, device: &Device, content: usize, per_device: bool) -> usize {
        let kind = Kind {
            content,
            counters: device.consumes_counters.clone(),
            site: per_device.then(|| Site::of(&device.placement)),
            taints: device.taints.clone(),
            binds_to_node: device.binds_to_node,
            conditions: [device.binding_conditions.clone(), device.binding_failure_conditions.clone()],
        };
        number(&mut self.kinds, kind)
    }
}
