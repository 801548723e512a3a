//! One pool as a node sees it, read from the published slices alone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::violation::PoolFault;
use crate::model::{CounterSet, Device, FeatureGate, Name, Node, Placement, PoolId, ResourceSlice, Snapshot};

/// A complete and valid pool.
pub(super) struct Pool<'a> {
    /// Slices with devices for the node, by name.
    pub slices: Vec<&'a ResourceSlice>,
    /// Slices with devices for other nodes only; they consume counters too.
    pub elsewhere: Vec<&'a ResourceSlice>,
    /// Counter sets by name.
    pub counter_sets: BTreeMap<&'a Name, &'a CounterSet>,
}

impl<'a> Pool<'a> {
    /// The pool's newest generation that has something for `node`.
    pub fn gather(snapshot: &'a Snapshot, node: &Node, id: &PoolId) -> Result<Self, PoolFault> {
        let all: Vec<&ResourceSlice> = snapshot
            .slices()
            .by_pool
            .get(id)
            .into_iter()
            .flat_map(|slices| slices.values())
            .map(Arc::as_ref)
            .collect();
        let relevant = relevant_slices(snapshot, node, &all)?;
        let Some(first) = relevant.first() else { return Err(PoolFault::NotInReach) };
        let wanted = first.slice_count;
        if is_count(relevant.len(), wanted) {
            return Self::build(snapshot, relevant, Vec::new());
        }
        if all.iter().any(|slice| slice.generation > first.generation) {
            return Err(PoolFault::Obsolete);
        }
        let same: Vec<&ResourceSlice> = all
            .iter()
            .copied()
            .filter(|slice| slice.generation == first.generation && !has_unknown_groups(snapshot, slice))
            .collect();
        if !is_count(same.len(), wanted) {
            return Err(PoolFault::Incomplete { wanted, found: same.len() });
        }
        let names: BTreeSet<&Name> = relevant.iter().map(|slice| &slice.name).collect();
        let others = same.into_iter().filter(|slice| !names.contains(&slice.name)).collect();
        Self::build(snapshot, relevant, others)
    }

    fn build(
        snapshot: &Snapshot,
        mut relevant: Vec<&'a ResourceSlice>,
        others: Vec<&'a ResourceSlice>,
    ) -> Result<Self, PoolFault> {
        relevant.sort_by(|a, b| a.name.cmp(&b.name));
        let partitionable = snapshot.features().has(FeatureGate::DRAPartitionableDevices);
        let has_counters = |slice: &&ResourceSlice| partitionable && !slice.shared_counters.is_empty();
        let (counters, slices): (Vec<_>, Vec<_>) = relevant.into_iter().partition(has_counters);
        let (more_counters, elsewhere): (Vec<_>, Vec<_>) = others.into_iter().partition(has_counters);
        let mut pool = Self { slices, elsewhere, counter_sets: BTreeMap::new() };

        let mut names = BTreeSet::new();
        if let Some((_, device)) = pool.devices().find(|(_, device)| !names.insert(&device.name)) {
            return Err(PoolFault::DuplicateDevice(device.name.clone()));
        }
        for set in counters.iter().chain(&more_counters).flat_map(|slice| &slice.shared_counters) {
            if pool.counter_sets.insert(&set.name, set).is_some() {
                return Err(PoolFault::DuplicateCounterSet(set.name.clone()));
            }
        }
        if partitionable {
            pool.slices.iter().chain(&pool.elsewhere).try_for_each(|slice| pool.check_references(slice))?;
        }
        Ok(pool)
    }

    /// Devices that are listed for the node, each with its slice.
    pub fn devices(&self) -> impl Iterator<Item = (&'a ResourceSlice, &'a Device)> + use<'a, '_> {
        self.slices.iter().flat_map(|slice| slice.devices.iter().map(|device| (*slice, device)))
    }

    /// All devices that may consume counters of the pool.
    pub fn devices_of_all_nodes(&self) -> impl Iterator<Item = &'a Device> + use<'a, '_> {
        self.slices.iter().chain(&self.elsewhere).flat_map(|slice| &slice.devices)
    }

    fn check_references(&self, slice: &ResourceSlice) -> Result<(), PoolFault> {
        for device in &slice.devices {
            for consumption in &device.consumes_counters {
                let Some(set) = self.counter_sets.get(&consumption.counter_set) else {
                    return Err(PoolFault::NoSuchCounterSet {
                        device: device.name.clone(),
                        counter_set: consumption.counter_set.clone(),
                    });
                };
                let known = |counter: &Name| set.counters.iter().any(|(name, _)| name == counter);
                if let Some((counter, _)) = consumption.counters.iter().find(|(name, _)| !known(name)) {
                    return Err(PoolFault::NoSuchCounter {
                        device: device.name.clone(),
                        counter_set: set.name.clone(),
                        counter: counter.clone(),
                    });
                }
            }
        }
        Ok(())
    }
}

/// Whether something placed like this is in reach of `node`.
pub(super) fn in_reach(node: &Node, placement: &Placement) -> Result<bool, PoolFault> {
    if let Some(name) = placement.node_name.as_ref().filter(|name| !name.as_str().is_empty()) {
        return Ok(*name == node.name);
    }
    if placement.all_nodes {
        return Ok(true);
    }
    placement
        .node_selector
        .as_ref()
        .map_or(Ok(false), |selector| selector.matches_strictly(&node.name, &node.labels))
        .map_err(PoolFault::Selector)
}

/// The slices of the newest generation that are for the node: its own ones first, then shared ones.
fn relevant_slices<'a>(
    snapshot: &Snapshot,
    node: &Node,
    all: &[&'a ResourceSlice],
) -> Result<Vec<&'a ResourceSlice>, PoolFault> {
    let mut relevant = Vec::new();
    for slice in all {
        if is_relevant(snapshot, node, slice)? {
            relevant.push(*slice);
        }
    }
    let newest = relevant.iter().map(|slice| slice.generation).max();
    relevant.retain(|slice| Some(slice.generation) == newest);
    relevant
        .sort_by_key(|slice| slice.placement.node_name.as_ref().is_none_or(|name| name.as_str().is_empty()));
    Ok(relevant)
}

fn is_relevant(snapshot: &Snapshot, node: &Node, slice: &ResourceSlice) -> Result<bool, PoolFault> {
    let partitionable = snapshot.features().has(FeatureGate::DRAPartitionableDevices);
    if !partitionable && (slice.per_device_node_selection.is_some() || !slice.shared_counters.is_empty()) {
        return Ok(false);
    }
    if has_unknown_groups(snapshot, slice) {
        return Ok(false);
    }
    let placement = &slice.placement;
    let has_node_name = placement.node_name.as_ref().is_some_and(|name| !name.as_str().is_empty());
    if has_node_name || placement.all_nodes || placement.node_selector.is_some() {
        return in_reach(node, placement);
    }
    if slice.per_device_node_selection == Some(true) {
        for device in &slice.devices {
            if in_reach(node, &device.placement)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Slices with compatibility groups are not there while the gate is off.
fn has_unknown_groups(snapshot: &Snapshot, slice: &ResourceSlice) -> bool {
    !snapshot.features().has(FeatureGate::DRADeviceCompatibilityGroups)
        && slice
            .devices
            .iter()
            .flat_map(|device| &device.consumes_counters)
            .any(|consumption| !consumption.compatibility_groups.is_empty())
}

fn is_count(found: usize, wanted: i64) -> bool {
    i64::try_from(found) == Ok(wanted)
}
