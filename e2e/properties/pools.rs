//! The pools of a node, as the oracle sees them.

use stowplan::model::{CounterSet, Device, FeatureGate, Node, Placement, PoolId, ResourceSlice, Snapshot};

/// A pool with something for the node.
pub struct Pool<'a> {
    pub id: PoolId,
    pub state: PoolState,
    /// Devices for the node, in order.
    pub devices: Vec<(&'a ResourceSlice, &'a Device)>,
    /// All devices, for counters.
    pub everywhere: Vec<&'a Device>,
    pub counter_sets: Vec<&'a CounterSet>,
}

/// Whether devices of a pool can be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolState {
    Fine,
    Incomplete,
    Invalid,
}

/// The pools of a node, in the order in which their devices are tried.
pub fn pools<'a>(snapshot: &'a Snapshot, node: &Node) -> Vec<Pool<'a>> {
    let all: Vec<&ResourceSlice> = snapshot.slices().all.values().map(|slice| &**slice).collect();
    let mut ids: Vec<&PoolId> = all.iter().map(|slice| &slice.pool).collect();
    ids.sort();
    ids.dedup();
    let mut pools: Vec<_> = ids.into_iter().filter_map(|id| pool(snapshot, node, id, &all)).collect();
    let waits = |pool: &Pool<'_>| pool.devices.iter().any(|(_, device)| device.binding_conditions.is_some());
    pools.sort_by_key(|pool| (waits(pool), pool.id.clone()));
    pools
}

fn pool<'a>(snapshot: &Snapshot, node: &Node, id: &PoolId, all: &[&'a ResourceSlice]) -> Option<Pool<'a>> {
    let partitionable = snapshot.features().has(FeatureGate::DRAPartitionableDevices);
    let groups = snapshot.features().has(FeatureGate::DRADeviceCompatibilityGroups);
    let uses_groups = |slice: &ResourceSlice| {
        let mut uses = slice.devices.iter().flat_map(|device| &device.consumes_counters);
        uses.any(|consumption| !consumption.compatibility_groups.is_empty())
    };
    let known = |slice: &&&ResourceSlice| {
        let partitions = slice.per_device_node_selection.is_some() || !slice.shared_counters.is_empty();
        (partitionable || !partitions) && (groups || !uses_groups(slice))
    };
    let published: Vec<&ResourceSlice> = all.iter().copied().filter(|slice| slice.pool == *id).collect();
    let reached = |slice: &&&ResourceSlice| match slice.per_device_node_selection {
        Some(true) => slice.devices.iter().any(|device| reaches(node, &device.placement)),
        _ => reaches(node, &slice.placement),
    };
    let here: Vec<&ResourceSlice> = published.iter().filter(known).filter(reached).copied().collect();
    let generation = here.iter().map(|slice| slice.generation).max()?;
    let mut here: Vec<_> = here.into_iter().filter(|slice| slice.generation == generation).collect();
    here.sort_by(|a, b| a.name.cmp(&b.name));
    let mut pool = Pool {
        id: id.clone(),
        state: PoolState::Fine,
        devices: Vec::new(),
        everywhere: Vec::new(),
        counter_sets: Vec::new(),
    };
    let mut counted = here.clone();
    let count = usize::try_from(here[0].slice_count).ok();
    if Some(here.len()) != count {
        if published.iter().any(|slice| slice.generation > generation) {
            return None;
        }
        counted = published
            .into_iter()
            .filter(|it| it.generation == generation && (groups || !uses_groups(it)))
            .collect();
        if Some(counted.len()) != count {
            pool.state = PoolState::Incomplete;
            return Some(pool);
        }
    }
    let with_devices = here.into_iter().filter(|slice| slice.shared_counters.is_empty() || !partitionable);
    pool.devices = with_devices.flat_map(|slice| slice.devices.iter().map(move |it| (slice, it))).collect();
    pool.everywhere = counted.iter().flat_map(|slice| &slice.devices).collect();
    pool.counter_sets = counted.iter().flat_map(|slice| &slice.shared_counters).collect();
    if !is_valid(&pool, partitionable) {
        pool = Pool { state: PoolState::Invalid, devices: Vec::new(), ..pool };
    }
    Some(pool)
}

fn is_valid(pool: &Pool<'_>, partitionable: bool) -> bool {
    let mut names: Vec<_> = pool.devices.iter().map(|(_, device)| &device.name).collect();
    names.sort();
    let unique = names.windows(2).all(|pair| pair[0] != pair[1]);
    let references = pool.everywhere.iter().flat_map(|device| &device.consumes_counters).all(|consumption| {
        let set = pool.counter_sets.iter().find(|set| set.name == consumption.counter_set);
        set.is_some_and(|set| {
            consumption.counters.iter().all(|(name, _)| set.counters.iter().any(|(known, _)| known == name))
        })
    });
    unique && (references || !partitionable)
}

/// Whether something placed like this is in reach of the node.
pub fn reaches(node: &Node, placement: &Placement) -> bool {
    match (&placement.node_name, &placement.node_selector) {
        (Some(name), _) => *name == node.name,
        _ if placement.all_nodes => true,
        (None, Some(selector)) => selector.matches_strictly(&node.name, &node.labels) == Ok(true),
        (None, None) => false,
    }
}
